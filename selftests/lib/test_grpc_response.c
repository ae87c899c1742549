// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/grpc/response kmod/lib/grpc/status kmod/lib/grpc/prefix */
/*
 * Responses: header fields that a client hears, and those that a server puts; what ends a call
 * without trailers; and prefixes of messages.
 *
 * A list of fields is written "name|value\n" for each.
 */
#include "grpc_fields.h"
#include "lib/grpc/prefix.h"
#include "lib/message/meta.h"
#include "rnd.h"
#include "tap.h"

static struct fields list;
static struct mrpc_grpc_answer_block b;
static struct mrpc_grpc_response r;
static struct mrpc_grpc_meta meta;

static void hear(const char *text)
{
	while (*text) {
		const char *bar = strchr(text, '|'), *end = strchr(bar, '\n');
		u8 *n = fields_copy(text, bar - text), *v = fields_copy(bar + 1, end - bar - 1);

		mrpc_grpc_answer_field(&b, n, bar - text, v, end - bar - 1);
		free(n);
		free(v);
		text = end + 1;
	}
}

static void begin(void)
{
	free(meta.buf);
	meta = fields_meta(MRPC_MAX_META);
	memset(&r, 0, sizeof(r));
	memset(&b, 0xee, sizeof(b));
}

static enum mrpc_grpc_answer answer(const char *text, bool end)
{
	mrpc_grpc_answer_begin(&b, &r, &meta);
	hear(text);
	return mrpc_grpc_answer_end(&b, end, false);
}

static bool detail_is(const char *text)
{
	return b.detail_len == strlen(text) && !memcmp(b.detail, text, b.detail_len);
}

#define OK	":status|200\ncontent-type|application/grpc\n"

struct row {
	const char *fields;
	bool end;
	enum mrpc_grpc_answer what;
	u16 status;
	const char *detail;	/* NULL: any */
};

static void check_rows(const char *before, const struct row *rows, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		enum mrpc_grpc_answer what;

		begin();
		if (before)
			CHECK_EQ(answer(before, false), MRPC_GRPC_HEADERS);
		what = answer(rows[i].fields, rows[i].end);
		CHECK_MSG(what == rows[i].what, "%s: %u, status %u: %.*s", rows[i].fields, what,
			  b.status, b.detail_len, b.detail);
		if (what < MRPC_GRPC_END)
			continue;
		CHECK_MSG(b.status == rows[i].status, "%s: status %u", rows[i].fields, b.status);
		CHECK_MSG(!rows[i].detail || detail_is(rows[i].detail), "%s: '%.*s'",
			  rows[i].fields, b.detail_len, b.detail);
	}
}

TEST(first_block)
{
	static const char missing[] = ":status is missing";
	static const char digits[] = ":status is not a number of three digits";
	static const char other[] = "a pseudo-header field is not one of responses";
	static const char type[] = "the response's content-type is not application/grpc";
	static const char info[] =
		"an informational response ends the stream or changes the protocol";
	static const struct row rows[] = {
		{ OK, false, MRPC_GRPC_HEADERS, 0, NULL },
		{ ":status|200\ncontent-type|application/grpc+proto\nserver|x\n", false,
		  MRPC_GRPC_HEADERS, 0, NULL },
		/* Trailers-Only */
		{ OK "grpc-status|0\n", true, MRPC_GRPC_END, MRPC_OK, "" },
		{ OK "grpc-status|5\ngrpc-message|no%20such\n", true, MRPC_GRPC_END, MRPC_NOT_FOUND,
		  "no such" },
		{ ":status|200\ngrpc-status|12\n", true, MRPC_GRPC_END, MRPC_UNIMPLEMENTED, "" },
		{ ":status|503\ngrpc-status|8\n", true, MRPC_GRPC_END, MRPC_RESOURCE_EXHAUSTED,
		  "" },
		{ OK, true, MRPC_GRPC_END, MRPC_UNKNOWN,
		  "HTTP status 200: the response has no grpc-status" },
		/* A status before the messages does not count. */
		{ OK "grpc-status|5\ngrpc-message|x\n", false, MRPC_GRPC_HEADERS, 0, NULL },
		/* Informational */
		{ ":status|100\n", false, MRPC_GRPC_SKIP, 0, NULL },
		{ ":status|103\nlink|x\n", false, MRPC_GRPC_SKIP, 0, NULL },
		{ ":status|199\n", false, MRPC_GRPC_SKIP, 0, NULL },
		{ ":status|100\n", true, MRPC_GRPC_BROKEN, MRPC_INTERNAL, info },
		{ ":status|101\n", false, MRPC_GRPC_BROKEN, MRPC_INTERNAL, info },
		/* Not gRPC */
		{ ":status|200\n", false, MRPC_GRPC_REFUSED, MRPC_UNKNOWN, type },
		{ ":status|200\ncontent-type|text/html\n", false, MRPC_GRPC_REFUSED, MRPC_UNKNOWN,
		  type },
		{ ":status|404\ncontent-type|text/html\n", false, MRPC_GRPC_REFUSED,
		  MRPC_UNIMPLEMENTED, "HTTP status 404: not found" },
		{ ":status|502\n", true, MRPC_GRPC_END, MRPC_UNAVAILABLE,
		  "HTTP status 502: bad gateway" },
		{ ":status|404\ncontent-type|application/grpc\n", false, MRPC_GRPC_HEADERS, 0,
		  NULL },
		/* Malformed */
		{ "", false, MRPC_GRPC_BROKEN, MRPC_INTERNAL, missing },
		{ "content-type|application/grpc\n", false, MRPC_GRPC_BROKEN, MRPC_INTERNAL,
		  missing },
		{ ":status|\n", false, MRPC_GRPC_BROKEN, MRPC_INTERNAL, digits },
		{ ":status|20\n", false, MRPC_GRPC_BROKEN, MRPC_INTERNAL, digits },
		{ ":status|2000\n", false, MRPC_GRPC_BROKEN, MRPC_INTERNAL, digits },
		{ ":status|099\n", false, MRPC_GRPC_BROKEN, MRPC_INTERNAL, digits },
		{ ":status|2x0\n", false, MRPC_GRPC_BROKEN, MRPC_INTERNAL, digits },
		{ ":status|200\n:status|200\n", false, MRPC_GRPC_BROKEN, MRPC_INTERNAL, NULL },
		{ "content-type|application/grpc\n:status|200\n", false, MRPC_GRPC_BROKEN,
		  MRPC_INTERNAL, NULL },
		{ OK ":path|/x\n", false, MRPC_GRPC_BROKEN, MRPC_INTERNAL, NULL },
		{ ":status|200\n:path|/x\n", false, MRPC_GRPC_BROKEN, MRPC_INTERNAL, other },
		{ ":status|200\n:method|POST\n", false, MRPC_GRPC_BROKEN, MRPC_INTERNAL, other },
		{ OK "Key|v\n", true, MRPC_GRPC_BROKEN, MRPC_INTERNAL, NULL },
		{ OK "connection|close\n", true, MRPC_GRPC_BROKEN, MRPC_INTERNAL, NULL },
		{ OK "k| v\n", true, MRPC_GRPC_BROKEN, MRPC_INTERNAL, NULL },
	};

	check_rows(NULL, rows, ARRAY_SIZE(rows));
}

TEST(trailers)
{
	static const struct row rows[] = {
		{ "grpc-status|0\n", true, MRPC_GRPC_END, MRPC_OK, "" },
		{ "grpc-status|16\n", true, MRPC_GRPC_END, MRPC_UNAUTHENTICATED, "" },
		{ "grpc-message|caf%C3%A9 100%\ngrpc-status|13\n", true, MRPC_GRPC_END,
		  MRPC_INTERNAL, "caf\xc3\xa9 100%" },
		/* Not a number, or not gRPC's */
		{ "grpc-status|17\n", true, MRPC_GRPC_END, MRPC_UNKNOWN, "" },
		{ "grpc-status|-1\n", true, MRPC_GRPC_END, MRPC_UNKNOWN, "" },
		{ "grpc-status|\n", true, MRPC_GRPC_END, MRPC_UNKNOWN, "" },
		{ "grpc-status|OK\n", true, MRPC_GRPC_END, MRPC_UNKNOWN, "" },
		{ "grpc-status|4294967296\n", true, MRPC_GRPC_END, MRPC_UNKNOWN, "" },
		{ "grpc-status|18446744073709551616\ngrpc-message|m\n", true, MRPC_GRPC_END,
		  MRPC_UNKNOWN, "m" },
		{ "grpc-status|007\n", true, MRPC_GRPC_END, MRPC_PERMISSION_DENIED, "" },
		/* None */
		{ "", true, MRPC_GRPC_END, MRPC_UNKNOWN,
		  "HTTP status 200: the response has no grpc-status" },
		{ "grpc-message|lost\n", true, MRPC_GRPC_END, MRPC_UNKNOWN,
		  "HTTP status 200: the response has no grpc-status" },
		{ "grpc-status|0\n", false, MRPC_GRPC_BROKEN, MRPC_INTERNAL,
		  "trailers do not end the stream" },
		{ ":status|200\ngrpc-status|0\n", true, MRPC_GRPC_BROKEN, MRPC_INTERNAL,
		  "trailers have a pseudo-header field" },
		{ "grpc-status|0\nte|x\n", true, MRPC_GRPC_BROKEN, MRPC_INTERNAL, NULL },
	};
	static const struct row late[] = {
		{ "", true, MRPC_GRPC_END, MRPC_UNIMPLEMENTED, "HTTP status 404: not found" },
		{ "grpc-status|3\n", true, MRPC_GRPC_END, MRPC_INVALID_ARGUMENT, "" },
	};

	check_rows(OK, rows, ARRAY_SIZE(rows));
	check_rows(":status|404\ncontent-type|application/grpc\n", late, ARRAY_SIZE(late));
}

TEST(every_status)
{
	char text[40];
	u32 i;

	for (i = 0; i < 100; i++) {
		begin();
		CHECK_EQ(answer(OK "grpc-encoding|deflate\n", false), MRPC_GRPC_HEADERS);
		CHECK_EQ(r.encoding, MRPC_GRPC_DEFLATE);
		snprintf(text, sizeof(text), "grpc-status|%u\n", i);
		CHECK_EQ(answer(text, true), MRPC_GRPC_END);
		CHECK_EQ(b.status, i <= MRPC_STATUS_MAX ? i : MRPC_UNKNOWN);
		CHECK_EQ(r.encoding, MRPC_GRPC_DEFLATE);
	}
}

/* Only where metadata came from says what it is. */
TEST(initial_and_trailing_metadata)
{
	static const char head[] = "\3\0\1\0keyi\5\0\1\0x-binf\4\0\1\0hosth";
	static const char tail[] =
		"\3\0\1\0keyt\27\0\2\0grpc-status-details-bin\1\2"
		"\26\0\1\0grpc-retry-pushback-ms7\11\0\1\0authorityx";
	u32 head_len = sizeof(head) - 1, tail_len = sizeof(tail) - 1;

	begin();
	CHECK_EQ(answer(":status|100\nkey|lost\nx-bin|-\n", false), MRPC_GRPC_SKIP);
	CHECK_EQ(meta.len, 0);
	CHECK_EQ(answer(OK "key|i\nx-bin|Zg\ngrpc-x|lost\nhost|h\nmrpc-x|lost\n", false),
		 MRPC_GRPC_HEADERS);
	CHECK_EQ(r.head_meta_len, head_len);
	CHECK_EQ(meta.len, head_len);
	CHECK(!memcmp(meta.buf, head, head_len));
	CHECK_EQ(answer("grpc-status|0\nkey|t\ngrpc-status-details-bin|AQI\n"
			"grpc-retry-pushback-ms|7\ngrpc-previous-rpc-attempts|lost\nauthority|x\n"
			"mrpc-schema|x\n", true), MRPC_GRPC_END);
	CHECK_EQ(r.head_meta_len, head_len);
	CHECK_EQ(meta.len, head_len + tail_len);
	CHECK(!memcmp(meta.buf + head_len, tail, tail_len));
	CHECK_EQ(meta.dropped, 3);
	begin();
	CHECK_EQ(answer(OK "grpc-status|0\nkey|t\n", true), MRPC_GRPC_END);
	CHECK_EQ(r.head_meta_len, 0);
	CHECK_EQ(meta.len, 8);
}

TEST(too_large)
{
	static const char why[] = "the header fields of the response are too large";

	begin();
	mrpc_grpc_answer_begin(&b, &r, &meta);
	hear(OK);
	CHECK_EQ(mrpc_grpc_answer_end(&b, false, true), MRPC_GRPC_REFUSED);
	CHECK_EQ(b.status, MRPC_RESOURCE_EXHAUSTED);
	CHECK(detail_is(why));
	begin();
	meta.room = 10;
	CHECK_EQ(answer(":status|103\nkey|very long\n", false), MRPC_GRPC_SKIP);
	CHECK_EQ(answer(OK "key|abc\n", false), MRPC_GRPC_HEADERS);
	CHECK_EQ(answer("grpc-status|0\nkey|abc\n", true), MRPC_GRPC_REFUSED);
	CHECK_EQ(b.status, MRPC_RESOURCE_EXHAUSTED);
	CHECK(detail_is(why));
	CHECK_EQ(meta.len, 10);
}

TEST(detail_of_512_bytes)
{
	char text[1700] = "grpc-status|2\ngrpc-message|";
	u32 i;

	for (i = 0; i < 511; i++)
		strcat(text, "d");
	strcat(text, "%C3%A9\n");
	begin();
	CHECK_EQ(answer(OK, false), MRPC_GRPC_HEADERS);
	CHECK_EQ(answer(text, true), MRPC_GRPC_END);
	CHECK_EQ(b.detail_len, 511);
}

/* -- what ends a call without trailers ------------------------------------- */

TEST(resets)
{
	static const struct {
		u32 code;
		u16 status;
		bool not_run;
	} rows[] = {
		{ 0x0, MRPC_INTERNAL, false }, { 0x1, MRPC_INTERNAL, false },
		{ 0x2, MRPC_INTERNAL, false }, { 0x3, MRPC_INTERNAL, false },
		{ 0x4, MRPC_INTERNAL, false }, { 0x5, MRPC_INTERNAL, false },
		{ 0x6, MRPC_INTERNAL, false }, { 0x7, MRPC_UNAVAILABLE, true },
		{ 0x8, MRPC_CANCELLED, false }, { 0x9, MRPC_INTERNAL, false },
		{ 0xa, MRPC_INTERNAL, false }, { 0xb, MRPC_RESOURCE_EXHAUSTED, false },
		{ 0xc, MRPC_PERMISSION_DENIED, false }, { 0xd, MRPC_INTERNAL, false },
		{ 0xe, MRPC_INTERNAL, false }, { U32_MAX, MRPC_INTERNAL, false },
	};
	u32 i, late;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (late = 0; late < 2; late++) {
			struct mrpc_grpc_end e = mrpc_grpc_reset_end(rows[i].code, late);
			u16 want = rows[i].code == 8 && late ? MRPC_DEADLINE_EXCEEDED :
							       rows[i].status;

			CHECK_MSG(e.status == want && e.not_run == rows[i].not_run && e.why,
				  "code %u: %u", rows[i].code, e.status);
		}
	}
	CHECK_EQ(mrpc_grpc_goaway_end().status, MRPC_UNAVAILABLE);
	CHECK(mrpc_grpc_goaway_end().not_run);
}

TEST(statuses_of_http)
{
	static const u16 rows[][2] = {
		{ 400, MRPC_INTERNAL }, { 431, MRPC_INTERNAL }, { 401, MRPC_UNAUTHENTICATED },
		{ 403, MRPC_PERMISSION_DENIED }, { 404, MRPC_UNIMPLEMENTED },
		{ 429, MRPC_UNAVAILABLE }, { 502, MRPC_UNAVAILABLE }, { 503, MRPC_UNAVAILABLE },
		{ 504, MRPC_UNAVAILABLE },
	};
	u32 http, i;

	for (http = 200; http < 1000; http++) {
		struct mrpc_grpc_end e = mrpc_grpc_http_end(http);
		u16 want = MRPC_UNKNOWN;

		for (i = 0; i < ARRAY_SIZE(rows); i++)
			if (rows[i][0] == http)
				want = rows[i][1];
		CHECK_MSG(e.status == want && !e.not_run && e.why, "%u: %u", http, e.status);
	}
}

/* -- the server ------------------------------------------------------------ */

TEST(lists)
{
	static const u8 entries[] = "\3\0\5\0keyvalue\27\0\1\0grpc-status-details-bin\xff";
	struct mrpc_grpc_reply reply = {
		.status = MRPC_UNIMPLEMENTED, .detail = (const u8 *)"caf\xc3\xa9", .detail_len = 5,
		.meta = entries, .meta_len = sizeof(entries) - 1, .accept = 5,
	};
	struct mrpc_grpc_reply headers = { .meta = entries, .meta_len = 12 };
	struct mrpc_grpc_reply ok = { .status = MRPC_OK };
	struct mrpc_grpc_out out = fields_out(&list);

	CHECK_EQ(mrpc_grpc_put_headers(&out, &headers), 0);
	CHECK_STR(fields_text(&list),
		  ":status|200|0\ncontent-type|application/grpc|0\nkey|value|1\n");
	headers.encoding = MRPC_GRPC_GZIP;
	out = fields_out(&list);
	CHECK_EQ(mrpc_grpc_put_headers(&out, &headers), 0);
	CHECK_STR(fields_text(&list), ":status|200|0\ncontent-type|application/grpc|0\n"
			       "grpc-encoding|gzip|0\nkey|value|1\n");
	out = fields_out(&list);
	CHECK_EQ(mrpc_grpc_put_trailers(&out, &reply), 0);
	CHECK_STR(fields_text(&list), "grpc-status|12|0\ngrpc-message|caf%C3%A9|2\nkey|value|1\n"
			       "grpc-status-details-bin|/w|2\n");
	out = fields_out(&list);
	CHECK_EQ(mrpc_grpc_put_trailers(&out, &ok), 0);
	CHECK_STR(fields_text(&list), "grpc-status|0|0\n");
	out = fields_out(&list);
	CHECK_EQ(mrpc_grpc_put_trailers_only(&out, &reply), 0);
	CHECK_STR(fields_text(&list), ":status|200|0\ncontent-type|application/grpc|0\n"
			       "grpc-status|12|0\ngrpc-message|caf%C3%A9|2\n"
			       "grpc-accept-encoding|identity,gzip|0\nkey|value|1\n"
			       "grpc-status-details-bin|/w|2\n");
	out = fields_out(&list);
	CHECK_EQ(mrpc_grpc_put_http(&out, 405), 0);
	CHECK_STR(fields_text(&list), ":status|405|0\nallow|POST|0\n");
	out = fields_out(&list);
	CHECK_EQ(mrpc_grpc_put_http(&out, 415), 0);
	CHECK_STR(fields_text(&list), ":status|415|0\n");
	out = fields_out(&list);
	out.room = 2;
	CHECK_EQ(mrpc_grpc_put_http(&out, 415), -ENOSPC);
	out = fields_out(&list);
	out.room = 16;
	CHECK_EQ(mrpc_grpc_put_trailers(&out, &reply), -ENOSPC);
	CHECK_EQ(list.nr, 1);
}

/* The largest of everything fits into the scratch memory. */
TEST(largest_trailers)
{
	static u8 entries[MRPC_MAX_META], detail[MRPC_MAX_DETAIL + 1];
	struct mrpc_meta_entry e = { .klen = 4, .vlen = MRPC_MAX_META - 8 };
	struct mrpc_grpc_reply reply = { .status = 16, .detail = detail,
					 .detail_len = sizeof(detail), .meta = entries,
					 .meta_len = sizeof(entries), .accept = 7 };
	struct mrpc_grpc_out out = fields_out(&list);

	memcpy(entries, &e, sizeof(e));
	memcpy(entries + sizeof(e), "-bin", 4);
	CHECK_EQ(mrpc_grpc_put_trailers_only(&out, &reply), 0);
	begin();
	mrpc_grpc_answer_begin(&b, &r, &meta);
	fields_to_answer(&list, &b);
	CHECK_EQ(mrpc_grpc_answer_end(&b, true, false), MRPC_GRPC_END);
	CHECK_EQ(b.detail_len, MRPC_MAX_DETAIL);
	CHECK_EQ(meta.len, MRPC_MAX_META);
	CHECK(!memcmp(meta.buf, entries, MRPC_MAX_META));
	fields_clear(&list);
}

/* What a server says, with headers or without, a client hears. */
TEST(round_trip)
{
	u64 rnd = 13;
	u32 i, j;

	for (i = 0; i < 20000; i++) {
		static const char *const characters[] = { "a", " ", "%", "\n", "\xc3\xa9", "~",
							  "\xe2\x98\xba", "\xf0\x9f\x98\x88" };
		u8 entry[40] = { 1, 0, rnd_below(&rnd, 30), 0, 'k' };
		struct mrpc_grpc_out out = fields_out(&list);
		struct mrpc_grpc_reply reply = { .status = rnd_below(&rnd, 17) };
		bool head = rnd_below(&rnd, 2);
		char detail[80] = "";

		for (j = rnd_below(&rnd, 20); j; j--)
			strcat(detail, characters[rnd_below(&rnd, ARRAY_SIZE(characters))]);
		for (j = 0; j < entry[2]; j++)
			entry[5 + j] = '!' + rnd_below(&rnd, 94);
		reply.detail = (u8 *)detail;
		reply.detail_len = strlen(detail);
		reply.meta = entry;
		reply.meta_len = 5 + entry[2];
		begin();
		mrpc_grpc_answer_begin(&b, &r, &meta);
		if (head) {
			CHECK_EQ(mrpc_grpc_put_headers(&out, &reply), 0);
			fields_to_answer(&list, &b);
			CHECK_EQ(mrpc_grpc_answer_end(&b, false, false), MRPC_GRPC_HEADERS);
			out = fields_out(&list);
			CHECK_EQ(mrpc_grpc_put_trailers(&out, &reply), 0);
			mrpc_grpc_answer_begin(&b, &r, &meta);
		} else {
			CHECK_EQ(mrpc_grpc_put_trailers_only(&out, &reply), 0);
		}
		fields_to_answer(&list, &b);
		CHECK_EQ(mrpc_grpc_answer_end(&b, true, false), MRPC_GRPC_END);
		CHECK_EQ(b.status, reply.status);
		CHECK(detail_is(detail));
		CHECK_EQ(r.head_meta_len, head ? reply.meta_len : 0);
		CHECK_EQ(meta.len, reply.meta_len * (1 + head));
		CHECK(!memcmp(meta.buf + r.head_meta_len, entry, reply.meta_len));
	}
	fields_clear(&list);
	free(meta.buf);
	meta.buf = NULL;
}

/* -- prefixes -------------------------------------------------------------- */

TEST(prefixes)
{
	static const struct {
		u8 bytes[5];
		u8 encoding;
		u8 accept;
		u8 kind;
		u16 code;
	} rows[] = {
		{ { 0, 0, 0, 0, 0 }, MRPC_GRPC_IDENTITY, 1, MRPC_GRPC_FINE, 0 },
		{ { 0, 0, 0, 4, 0 }, MRPC_GRPC_IDENTITY, 1, MRPC_GRPC_FINE, 0 },
		{ { 0, 0, 0, 4, 1 }, MRPC_GRPC_IDENTITY, 1, MRPC_GRPC_STATUS,
		  MRPC_RESOURCE_EXHAUSTED },
		{ { 0, 255, 255, 255, 255 }, MRPC_GRPC_IDENTITY, 1, MRPC_GRPC_STATUS,
		  MRPC_RESOURCE_EXHAUSTED },
		{ { 0, 0, 1, 0, 0 }, MRPC_GRPC_GZIP, 7, MRPC_GRPC_STATUS, MRPC_RESOURCE_EXHAUSTED },
		{ { 0, 0, 0, 0, 9 }, MRPC_GRPC_ENCODING_UNKNOWN, 1, MRPC_GRPC_FINE, 0 },
		{ { 1, 0, 0, 0, 9 }, MRPC_GRPC_IDENTITY, 7, MRPC_GRPC_STATUS, MRPC_INTERNAL },
		{ { 1, 0, 0, 0, 9 }, MRPC_GRPC_GZIP, 7, MRPC_GRPC_FINE, 0 },
		{ { 1, 0, 0, 0, 9 }, MRPC_GRPC_GZIP, 5, MRPC_GRPC_FINE, 0 },
		{ { 1, 0, 0, 0, 9 }, MRPC_GRPC_GZIP, 3, MRPC_GRPC_STATUS, MRPC_UNIMPLEMENTED },
		{ { 1, 0, 0, 0, 9 }, MRPC_GRPC_DEFLATE, 3, MRPC_GRPC_FINE, 0 },
		{ { 1, 0, 0, 0, 9 }, MRPC_GRPC_DEFLATE, 1, MRPC_GRPC_STATUS, MRPC_UNIMPLEMENTED },
		{ { 1, 0, 0, 0, 9 }, MRPC_GRPC_ENCODING_UNKNOWN, 255, MRPC_GRPC_STATUS,
		  MRPC_UNIMPLEMENTED },
		{ { 2, 0, 0, 0, 9 }, MRPC_GRPC_GZIP, 7, MRPC_GRPC_STATUS, MRPC_INTERNAL },
		{ { 0x80, 0, 0, 0, 9 }, MRPC_GRPC_IDENTITY, 7, MRPC_GRPC_STATUS, MRPC_INTERNAL },
		{ { 0x81, 0, 0, 0, 9 }, MRPC_GRPC_GZIP, 7, MRPC_GRPC_STATUS, MRPC_INTERNAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mrpc_grpc_prefix p = { 0 };
		struct mrpc_grpc_verdict v;

		CHECK_EQ(mrpc_grpc_prefix_take(&p, rows[i].bytes, 5), 5);
		mrpc_grpc_prefix_check(&p, 1024, rows[i].encoding, rows[i].accept, &v);
		CHECK_MSG(v.kind == rows[i].kind && v.code == rows[i].code, "row %u: %u, %u: %s",
			  i, v.kind, v.code, v.why);
		CHECK_EQ(!v.why, !v.kind);
	}
}

/* Messages in pieces of every size are found where they are. */
TEST(prefix_in_pieces)
{
	u64 rnd = 17;
	u32 i;

	for (i = 0; i < 100000; i++) {
		u32 len = rnd_next(&rnd) >> rnd_below(&rnd, 32), at = 0;
		struct mrpc_grpc_prefix p = { 0 };
		u8 bytes[9] = { 0 };
		bool flag = i & 1;

		mrpc_grpc_prefix_write(bytes, flag, len);
		while (!mrpc_grpc_prefix_whole(&p)) {
			u32 n = rnd_below(&rnd, 5);
			u32 took = mrpc_grpc_prefix_take(&p, bytes + at, n);

			CHECK_EQ(took, min(n, 5 - at));
			at += took;
		}
		CHECK_EQ(at, 5);
		CHECK_EQ(mrpc_grpc_prefix_take(&p, bytes, 4), 0);
		CHECK_EQ(mrpc_grpc_prefix_len(&p), len);
		CHECK_EQ(mrpc_grpc_prefix_compressed(&p), flag);
	}
}
