// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/grpc/request kmod/lib/grpc/field kmod/lib/grpc/path kmod/lib/grpc/encoding */
/*
 * Requests: header fields that a server hears, and those that a client puts.
 *
 * A list of fields is written "name|value\n" for each.
 */
#include "grpc_fields.h"
#include "lib/grpc/encoding.h"
#include "lib/message/meta.h"
#include "rnd.h"
#include "tap.h"

static struct fields list;
static struct mrpc_grpc_request r;
static struct mrpc_grpc_meta meta;

static void hear_field(const char *name, u32 nlen, const char *value, u32 vlen)
{
	u8 *n = fields_copy(name, nlen), *v = fields_copy(value, vlen);

	mrpc_grpc_request_field(&r, n, nlen, v, vlen);
	free(n);
	free(v);
}

static void hear(const char *text)
{
	while (*text) {
		const char *bar = strchr(text, '|'), *end = strchr(bar, '\n');

		hear_field(text, bar - text, bar + 1, end - bar - 1);
		text = end + 1;
	}
}

static void begin(void)
{
	free(meta.buf);
	meta = fields_meta(MRPC_MAX_META);
	mrpc_grpc_request_begin(&r, &meta);
}

#define PSEUDO	":method|POST\n:scheme|http\n:path|/p.S/M\n"
#define TYPE	"content-type|application/grpc\n"

/* What follows a list of fields that is in order up to there. */
struct row {
	const char *fields;
	u8 kind;
	u16 code;
	const char *why;
};

static void check_rows(const struct row *rows, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		const struct mrpc_grpc_verdict *v;

		begin();
		hear(rows[i].fields);
		v = mrpc_grpc_request_end(&r, false);
		CHECK_MSG(v->kind == rows[i].kind && v->code == rows[i].code,
			  "%s: kind %u, code %u: %s", rows[i].fields, v->kind, v->code, v->why);
		CHECK_EQ(!v->why, !rows[i].kind);
		if (rows[i].why)
			CHECK_STR(v->why, rows[i].why);
	}
}

#define FINE		MRPC_GRPC_FINE, 0, NULL
#define HTTP(code)	MRPC_GRPC_HTTP, code, NULL
#define MALFORMED(why)	MRPC_GRPC_MALFORMED, 0, why
#define STATUS(code, why) MRPC_GRPC_STATUS, code, why

TEST(method_and_content_type)
{
	static const struct row rows[] = {
		{ PSEUDO TYPE, FINE },
		{ ":method|GET\n:scheme|http\n:path|/p.S/M\n" TYPE, HTTP(405) },
		{ ":method|post\n:scheme|http\n:path|/p.S/M\n" TYPE, HTTP(405) },
		{ ":method|PUT\n:scheme|http\n:path|/p.S/M\n" TYPE, HTTP(405) },
		{ ":method|\n:scheme|http\n:path|/p.S/M\n" TYPE, HTTP(405) },
		{ ":method|POSTS\n:scheme|http\n:path|/p.S/M\n" TYPE, HTTP(405) },
		{ ":method|OPTIONS\n:scheme|http\n:path|*\n" TYPE, HTTP(405) },
		{ ":method|CONNECT\n:authority|h:1\n", HTTP(405) },
		{ PSEUDO, HTTP(415) },
		{ PSEUDO "content-type|application/grpc+proto\n", FINE },
		{ PSEUDO "content-type|application/grpc;charset=utf-8\n", FINE },
		{ PSEUDO "content-type|application/grpc+proto;v=1\n", FINE },
		{ PSEUDO "content-type|application/grpc+json\n", HTTP(415) },
		{ PSEUDO "content-type|application/grpc+protobuf\n", HTTP(415) },
		{ PSEUDO "content-type|application/grpc+\n", HTTP(415) },
		{ PSEUDO "content-type|application/grpc-web\n", HTTP(415) },
		{ PSEUDO "content-type|application/grp\n", HTTP(415) },
		{ PSEUDO "content-type|application/json\n", HTTP(415) },
		{ PSEUDO "content-type|\n", HTTP(415) },
		{ PSEUDO TYPE "content-type|text/plain\n", HTTP(415) },
		/* The first of two of one weight; the heavier of two. */
		{ ":method|GET\n:scheme|http\n:path|/p.S/M\n", HTTP(405) },
		{ PSEUDO "grpc-timeout|x\n", HTTP(415) },
		{ PSEUDO "content-type|x\nKey|v\n", MALFORMED(NULL) },
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

TEST(pseudo_header_fields)
{
	static const char twice[] = "a pseudo-header field comes twice";
	static const char behind[] = "a pseudo-header field comes behind another field";
	static const char other[] = "a pseudo-header field is not one of requests";
	static const char missing[] = "a pseudo-header field of requests is missing";
	static const struct row rows[] = {
		{ ":path|/p.S/M\n:authority|h\n:method|POST\n:scheme|https\n" TYPE, FINE },
		{ "", MALFORMED(missing) },
		{ ":scheme|http\n:path|/p.S/M\n" TYPE, MALFORMED(missing) },
		{ ":method|POST\n:path|/p.S/M\n" TYPE, MALFORMED(missing) },
		{ ":method|POST\n:scheme|http\n" TYPE, MALFORMED(missing) },
		{ ":method|GET\n" TYPE, MALFORMED(missing) },
		{ PSEUDO ":method|POST\n" TYPE, MALFORMED(twice) },
		{ PSEUDO ":scheme|http\n" TYPE, MALFORMED(twice) },
		{ PSEUDO ":path|/p.S/M\n" TYPE, MALFORMED(twice) },
		{ PSEUDO ":authority|h\n:authority|h\n" TYPE, MALFORMED(twice) },
		{ PSEUDO TYPE ":authority|h\n", MALFORMED(behind) },
		{ "te|trailers\n" PSEUDO TYPE, MALFORMED(behind) },
		{ PSEUDO "x|y\n:authority|h\n" TYPE, MALFORMED(behind) },
		{ PSEUDO ":status|200\n" TYPE, MALFORMED(other) },
		{ PSEUDO ":protocol|x\n" TYPE, MALFORMED("a pseudo-header field is unknown") },
		{ PSEUDO ":|x\n" TYPE, MALFORMED("a pseudo-header field is unknown") },
		{ PSEUDO TYPE ":x|x\n", MALFORMED("a pseudo-header field is unknown") },
		{ ":method|POST\n:scheme|http\n:path|\n" TYPE, MALFORMED(":path is empty") },
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

TEST(fields_of_http)
{
	static const char of_connection[] = "a field is one of a connection";
	static const char upper[] = "a field's name has an upper-case letter";
	static const char name[] = "a field's name has a character that names cannot have";
	static const char blank[] = "a field's value begins or ends with a blank";
	static const char te[] = "te is not \"trailers\"";
	static const char length[] = "content-length is not one number";
	static const struct row rows[] = {
		{ PSEUDO TYPE "te|trailers\n", FINE },
		{ PSEUDO TYPE "te|Trailers\n", MALFORMED(te) },
		{ PSEUDO TYPE "te|trailers, deflate\n", MALFORMED(te) },
		{ PSEUDO TYPE "te|gzip\n", MALFORMED(te) },
		{ PSEUDO TYPE "te|\n", MALFORMED(te) },
		{ PSEUDO TYPE "connection|close\n", MALFORMED(of_connection) },
		{ PSEUDO TYPE "keep-alive|1\n", MALFORMED(of_connection) },
		{ PSEUDO TYPE "proxy-connection|x\n", MALFORMED(of_connection) },
		{ PSEUDO TYPE "transfer-encoding|chunked\n", MALFORMED(of_connection) },
		{ PSEUDO TYPE "upgrade|h2c\n", MALFORMED(of_connection) },
		{ PSEUDO TYPE "Key|v\n", MALFORMED(upper) },
		{ PSEUDO TYPE "keY|v\n", MALFORMED(upper) },
		{ PSEUDO TYPE "Te|trailers\n", MALFORMED(upper) },
		{ PSEUDO TYPE "k y|v\n", MALFORMED(name) },
		{ PSEUDO TYPE "k\x7f|v\n", MALFORMED(name) },
		{ PSEUDO TYPE "k\xc3\xa9|v\n", MALFORMED(name) },
		{ PSEUDO TYPE "k:|v\n", MALFORMED(name) },
		{ PSEUDO TYPE "|v\n", MALFORMED("a field has no name") },
		{ PSEUDO TYPE "k| v\n", MALFORMED(blank) },
		{ PSEUDO TYPE "k|v\t\n", MALFORMED(blank) },
		{ PSEUDO TYPE "k| \n", MALFORMED(blank) },
		{ PSEUDO TYPE "k|a\tb c\n", FINE },
		{ PSEUDO TYPE "content-length|0\n", FINE },
		{ PSEUDO TYPE "content-length|5\ncontent-length|5\n", FINE },
		{ PSEUDO TYPE "content-length|5\ncontent-length|6\n", MALFORMED(length) },
		{ PSEUDO TYPE "content-length|\n", MALFORMED(length) },
		{ PSEUDO TYPE "content-length|-1\n", MALFORMED(length) },
		{ PSEUDO TYPE "content-length|5,5\n", MALFORMED(length) },
		{ PSEUDO TYPE "content-length|99999999999999999999\n", MALFORMED(length) },
		{ PSEUDO TYPE "host|a\nhost|a\n", MALFORMED("host comes twice") },
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

/* RFC 9113, 8.2.1, for every byte of a name and a value. */
TEST(characters)
{
	static const struct {
		u8 at;
		bool value;
	} places[] = { { 0, false }, { 1, false }, { 0, true }, { 1, true } };
	u32 c, i;

	for (c = 0; c < 256; c++) {
		for (i = 0; i < ARRAY_SIZE(places); i++) {
			char name[3] = "kk", value[4] = "vvv";
			bool good;

			if (places[i].value) {
				value[places[i].at] = c;
				good = c && c != '\n' && c != '\r';
				if (!places[i].at)
					good &= c != ' ' && c != '\t';
			} else {
				name[places[i].at] = c;
				good = c > ' ' && c < 0x7f && !(c >= 'A' && c <= 'Z') && c != ':';
			}
			begin();
			hear(PSEUDO TYPE);
			hear_field(name, 2, value, 3);
			mrpc_grpc_request_end(&r, false);
			CHECK_MSG(r.verdict.kind == (good ? MRPC_GRPC_FINE : MRPC_GRPC_MALFORMED),
				  "byte %u at %u of %s: %s", c, places[i].at,
				  places[i].value ? "a value" : "a name", r.verdict.why);
		}
	}
}

TEST(statuses)
{
	static const char path[] = ":path does not name a method";
	static const struct row rows[] = {
		{ ":method|POST\n:scheme|http\n:path|p.S/M\n" TYPE,
		  STATUS(MRPC_UNIMPLEMENTED, path) },
		{ ":method|POST\n:scheme|http\n:path|/\n" TYPE, STATUS(MRPC_UNIMPLEMENTED, path) },
		{ ":method|POST\n:scheme|http\n:path|*\n" TYPE, STATUS(MRPC_UNIMPLEMENTED, path) },
		{ ":method|POST\n:scheme|http\n:path|/x\n" TYPE, STATUS(MRPC_UNIMPLEMENTED, path) },
		{ ":method|POST\n:scheme|http\n:path|/x/\n" TYPE,
		  STATUS(MRPC_UNIMPLEMENTED, path) },
		{ ":method|POST\n:scheme|http\n:path|//x\n" TYPE,
		  STATUS(MRPC_UNIMPLEMENTED, path) },
		{ PSEUDO TYPE "grpc-timeout|x\n", STATUS(MRPC_INTERNAL, "bad grpc-timeout") },
		{ PSEUDO TYPE "grpc-timeout|\n", STATUS(MRPC_INTERNAL, "bad grpc-timeout") },
		{ PSEUDO TYPE "grpc-timeout|1S\ngrpc-timeout|1S\n",
		  STATUS(MRPC_INTERNAL, "bad grpc-timeout") },
		{ PSEUDO TYPE "grpc-timeout|0S\n",
		  STATUS(MRPC_DEADLINE_EXCEEDED, "the deadline has passed") },
		{ PSEUDO TYPE "grpc-timeout|1n\n", FINE },
		{ PSEUDO TYPE "grpc-timeout|99999999H\n", FINE },
		/* An encoding matters with the first compressed message. */
		{ PSEUDO TYPE "grpc-encoding|snappy\n", FINE },
		{ PSEUDO TYPE "grpc-anything|x\ngrpc-status|5\ngrpc-message|m\n", FINE },
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

/* Nothing but what came before: then fields were lost, and one that is missing may be of these. */
TEST(too_large)
{
	static const char why[] = "the header fields are too large";
	u32 i;

	begin();
	hear(":method|POST\n");
	mrpc_grpc_request_end(&r, true);
	CHECK_EQ(r.verdict.kind, MRPC_GRPC_STATUS);
	CHECK_EQ(r.verdict.code, MRPC_RESOURCE_EXHAUSTED);
	CHECK_STR(r.verdict.why, why);
	begin();
	hear(":method|GET\n");
	CHECK_EQ(mrpc_grpc_request_end(&r, true)->kind, MRPC_GRPC_HTTP);
	begin();
	hear("Key|v\n");
	CHECK_EQ(mrpc_grpc_request_end(&r, true)->kind, MRPC_GRPC_MALFORMED);
	begin();
	hear(PSEUDO TYPE);
	for (i = 0; i < MRPC_MAX_META / 6; i++)
		hear("k|v\n");
	CHECK(!meta.full);
	hear("k|v\n");
	CHECK(meta.full);
	hear("k|v\n");
	mrpc_grpc_request_end(&r, false);
	CHECK_EQ(r.verdict.kind, MRPC_GRPC_STATUS);
	CHECK_EQ(r.verdict.code, MRPC_RESOURCE_EXHAUSTED);
	CHECK_EQ(meta.dropped, 0);
}

/* What is in the metadata, as "key|value\n" for each. */
static const char *meta_text(const struct mrpc_grpc_meta *m)
{
	static char text[MRPC_MAX_META];
	u32 at = 0, n = 0;

	while (at < m->len) {
		struct mrpc_meta_entry e;

		memcpy(&e, m->buf + at, sizeof(e));
		at += sizeof(e);
		n += snprintf(text + n, sizeof(text) - n, "%.*s|%.*s\n", e.klen, m->buf + at,
			      e.vlen, m->buf + at + e.klen);
		at += e.klen + e.vlen;
	}
	text[n] = 0;
	return text;
}

TEST(everything_that_a_request_says)
{
	static const u8 schema[] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };

	begin();
	hear(PSEUDO ":authority|host:50051\nte|trailers\ngrpc-timeout|250m\n" TYPE
	     "user-agent|grpc-c++/1.51\ngrpc-encoding|gzip\n"
	     "grpc-accept-encoding|identity, deflate\ngrpc-accept-encoding|br\n"
	     "content-length|77\nmrpc-schema|0123456789abcdef\nmrpc-other|x\nhost|other\n"
	     "authority|forged\nkey|value\nx-bin|Zm9v\ngrpc-trace-bin|AA\nbad|\xc3\xa9\n"
	     "grpc-previous-rpc-attempts|2\ngrpc-retry-pushback-ms|1\n");
	CHECK_EQ(mrpc_grpc_request_end(&r, false)->kind, MRPC_GRPC_FINE);
	CHECK_EQ(r.timeout_us, 250000);
	CHECK_EQ(r.encoding, MRPC_GRPC_GZIP);
	CHECK_EQ(r.accept, MRPC_GRPC_ACCEPT_IDENTITY | MRPC_GRPC_ACCEPT_DEFLATE);
	CHECK_EQ(r.content_length, 77);
	CHECK(r.has_schema && !memcmp(r.schema, schema, 8));
	CHECK(r.path.service_len == 3 && !memcmp(r.path.service, "p.S", 3));
	CHECK(r.path.method_len == 1 && r.path.method[0] == 'M');
	CHECK_STR(meta_text(&meta),
		  "authority|host:50051\nuser-agent|grpc-c++/1.51\nkey|value\nx-bin|foo\n"
		  "grpc-previous-rpc-attempts|2\n");
	CHECK_EQ(meta.dropped, 3);
	begin();
	hear(PSEUDO TYPE "host|other\n");
	CHECK_EQ(mrpc_grpc_request_end(&r, false)->kind, MRPC_GRPC_FINE);
	CHECK_STR(meta_text(&meta), "authority|other\n");
	/* Nothing of the request before is left. */
	CHECK(!r.timeout_us && !r.encoding && !r.has_schema && r.content_length == -1);
	CHECK_EQ(r.accept, MRPC_GRPC_ACCEPT_IDENTITY);
}

TEST(schema)
{
	static const char *const bad[] = {
		"", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF",
		"0123456789abcdeg", "/123456789abcdef", "0123456789abcde:", "`123456789abcdef",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		begin();
		hear(PSEUDO TYPE);
		hear_field("mrpc-schema", 11, bad[i], strlen(bad[i]));
		CHECK_EQ(mrpc_grpc_request_end(&r, false)->kind, MRPC_GRPC_FINE);
		CHECK_MSG(!r.has_schema && meta.dropped == 1, "'%s'", bad[i]);
	}
	begin();
	hear(PSEUDO TYPE "mrpc-schema|0123456789abcdef\nmrpc-schema|0123456789abcdef\n");
	mrpc_grpc_request_end(&r, false);
	CHECK(!r.has_schema);
}

TEST(encodings)
{
	static const struct {
		const char *text;
		u8 accept;
	} rows[] = {
		{ "", 1 }, { "identity", 1 }, { "gzip", 5 }, { "deflate", 3 },
		{ "identity,deflate,gzip", 7 }, { " gzip ,\tdeflate ", 7 }, { ",,,gzip,", 5 },
		{ "GZIP", 1 }, { "gzi", 1 }, { "gzipp", 1 }, { "gzip;q=0", 1 }, { "br,zstd", 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u8 *copy = fields_copy(rows[i].text, strlen(rows[i].text));

		CHECK_MSG(mrpc_grpc_accept_parse(copy, strlen(rows[i].text)) == rows[i].accept,
			  "'%s'", rows[i].text);
		free(copy);
	}
	CHECK_EQ(mrpc_grpc_encoding_parse((const u8 *)"identity", 8), MRPC_GRPC_IDENTITY);
	CHECK_EQ(mrpc_grpc_encoding_parse((const u8 *)"deflate", 7), MRPC_GRPC_DEFLATE);
	CHECK_EQ(mrpc_grpc_encoding_parse((const u8 *)"gzip", 4), MRPC_GRPC_GZIP);
	CHECK_EQ(mrpc_grpc_encoding_parse((const u8 *)"gzip2", 5), MRPC_GRPC_ENCODING_UNKNOWN);
	CHECK_EQ(mrpc_grpc_encoding_parse((const u8 *)"", 0), MRPC_GRPC_ENCODING_UNKNOWN);
	for (i = 1; i < 8; i += 2) {
		struct mrpc_grpc_out out = fields_out(&list);

		mrpc_grpc_put_accept(&out, i);
		CHECK_EQ(list.nr, 1);
		CHECK_EQ(mrpc_grpc_accept_parse(list.f[0].value, list.f[0].vlen), i);
	}
}

TEST(paths)
{
	enum { MOST = MRPC_SCHEMA_MAX_NAME, OVER = MOST + 3 };
	static char name[2 + 2 * OVER];
	char text[300];
	struct mrpc_grpc_path p;
	u32 s, m;

	CHECK_EQ(mrpc_grpc_path_split("/a/b/c", 6, &p), 0);
	CHECK(p.service_len == 3 && p.method_len == 1);
	CHECK_EQ(mrpc_grpc_path_split("", 0, &p), -EINVAL);
	for (s = 0; s < OVER; s += s < 130 || s > MOST - 3 ? 1 : 31) {
		for (m = 0; m < OVER; m += m < 3 || m > MOST - 3 ? 1 : 31) {
			bool good = s && m && s <= MOST && m <= MOST;
			u8 *copy;

			name[0] = '/';
			memset(name + 1, 's', s);
			name[1 + s] = '/';
			memset(name + 2 + s, 'm', m);
			copy = fields_copy(name, 2 + s + m);
			CHECK_MSG(!mrpc_grpc_path_split((char *)copy, 2 + s + m, &p) == good,
				  "%u and %u", s, m);
			if (good)
				CHECK(p.service_len == s && p.method_len == m && *p.method == 'm');
			free(copy);
		}
	}
	CHECK_EQ(mrpc_grpc_path_split("/p.S/M\xff", 7, &p), 0);
	CHECK_EQ(mrpc_grpc_path_unknown(&p, true, text, sizeof(text)), 21);
	CHECK_STR(text, "unknown method p.S/M?");
	mrpc_grpc_path_unknown(&p, false, text, sizeof(text));
	CHECK_STR(text, "unknown service p.S");
	CHECK_EQ(mrpc_grpc_path_unknown(&p, false, text, 10), 9);
	CHECK_STR(text, "unknown s");
	CHECK_EQ(mrpc_grpc_path_unknown(&p, false, text, 1), 0);
}

TEST(authorities)
{
	static const char *const good[] = { "a", "host:50051", "[::1]:80", "127.0.0.1", "!~" };
	static const char *const bad[] = { "", "a b", "a/b", "u@h", "h?x", "h#x", "h\n", "h\x7f",
					   "\xc3\xa9" };
	char longest[256];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		CHECK(mrpc_grpc_authority_valid(good[i], strlen(good[i])));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_MSG(!mrpc_grpc_authority_valid(bad[i], strlen(bad[i])), "'%s'", bad[i]);
	memset(longest, 'h', sizeof(longest));
	CHECK(mrpc_grpc_authority_valid(longest, 255));
	CHECK(!mrpc_grpc_authority_valid(longest, 256));
}

/* -- the client ------------------------------------------------------------ */

TEST(list_of_a_request)
{
	static const u8 schema[] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };
	static const u8 entries[] = "\3\0\5\0keyvalue\5\0\1\0x-bin\xff";
	struct mrpc_grpc_call call = {
		.https = true,
		.path = { .service = "p.S", .service_len = 3, .method = "M", .method_len = 1 },
		.authority = "host:1", .authority_len = 6, .timeout_us = 2500000000ULL,
		.encoding = MRPC_GRPC_GZIP, .accept = 7, .schema = schema, .meta = entries, .meta_len = sizeof(entries) - 1,
	};
	struct mrpc_grpc_out out = fields_out(&list);
	u32 i;

	CHECK_EQ(mrpc_grpc_put_request(&out, &call), 0);
	CHECK_STR(fields_text(&list),
		  ":method|POST|0\n:scheme|https|0\n:path|/p.S/M|0\n:authority|host:1|0\n"
		  "te|trailers|0\ncontent-type|application/grpc|0\n"
		  "user-agent|grpc-mrpc/1.0 (linux)|0\n"
		  "grpc-accept-encoding|identity,deflate,gzip|0\n"
		  "grpc-timeout|2500000m|2\ngrpc-encoding|gzip|0\n"
		  "mrpc-schema|0123456789abcdef|2\nkey|value|1\nx-bin|/w|2\n");
	call = (struct mrpc_grpc_call){ .path = call.path, .authority = "h", .authority_len = 1,
					.accept = 1 };
	out = fields_out(&list);
	CHECK_EQ(mrpc_grpc_put_request(&out, &call), 0);
	CHECK_STR(fields_text(&list),
		  ":method|POST|0\n:scheme|http|0\n:path|/p.S/M|0\n:authority|h|0\n"
		  "te|trailers|0\ncontent-type|application/grpc|0\n"
		  "user-agent|grpc-mrpc/1.0 (linux)|0\ngrpc-accept-encoding|identity|0\n");
	for (i = 1; i <= 8; i++) {
		out = fields_out(&list);
		list.fail_at = i;
		CHECK_EQ(mrpc_grpc_put_request(&out, &call), -E2BIG);
		CHECK_EQ(list.nr, i - 1);
	}
	list.fail_at = 0;
	call.timeout_us = 1;
	call.schema = schema;
	/* The path needs 6 bytes, the time-out 9, the schema 16. */
	for (i = 0; i < 32; i++) {
		out = fields_out(&list);
		out.room = i;
		CHECK_EQ(mrpc_grpc_put_request(&out, &call), i < 31 ? -ENOSPC : 0);
	}
}

/* The largest of everything fits into the scratch memory. */
TEST(largest_request)
{
	static const u8 schema[8];
	static u8 entries[MRPC_MAX_META];
	struct mrpc_meta_entry e = { .klen = 4, .vlen = MRPC_MAX_META - 8 };
	static char name[MRPC_SCHEMA_MAX_NAME];
	struct mrpc_grpc_call call = {
		.path = { name, name, sizeof(name), sizeof(name) }, .authority = name,
		.authority_len = 255, .timeout_us = U64_MAX, .accept = 7,
		.schema = schema, .meta = entries, .meta_len = sizeof(entries),
	};
	struct mrpc_grpc_out out = fields_out(&list);

	memset(name, 'n', sizeof(name));
	memcpy(entries, &e, sizeof(e));
	memcpy(entries + sizeof(e), "-bin", 4);
	CHECK_EQ(mrpc_grpc_put_request(&out, &call), 0);
	begin();
	fields_to_request(&list, &r);
	CHECK_EQ(mrpc_grpc_request_end(&r, false)->code, MRPC_RESOURCE_EXHAUSTED);
	fields_clear(&list);
}

/*
 * The same fields in any order, or one missing, or one twice: in order if the pseudo-header fields
 * come first, each is there once, and so on. The model counts, and knows no code.
 */
TEST(random_lists)
{
	static const char *const pool[] = {
		":method|POST\n", ":scheme|http\n", ":path|/p.S/M\n", ":authority|h\n",
		TYPE, "te|trailers\n", "key|value\n", "x-bin|Zg\n",
	};
	u64 rnd = 9;
	u32 i, j, fine = 0;

	for (i = 0; i < 100000; i++) {
		u32 count[ARRAY_SIZE(pool)] = { 0 }, nr = 3 + rnd_below(&rnd, 5);
		bool regular = false, good = true;

		begin();
		for (j = 0; j < nr; j++) {
			/* Mostly in order. */
			u32 n = rnd_below(&rnd, 6) ? j : rnd_below(&rnd, ARRAY_SIZE(pool));

			good &= !(n < 4 && (regular || count[n]));
			regular |= n >= 4;
			count[n]++;
			hear(pool[n]);
		}
		good &= count[0] && count[1] && count[2];
		mrpc_grpc_request_end(&r, false);
		if (!good)
			CHECK_EQ(r.verdict.kind, MRPC_GRPC_MALFORMED);
		else if (!count[4])
			CHECK_EQ(r.verdict.code, 415);
		else
			CHECK_EQ(r.verdict.kind, MRPC_GRPC_FINE);
		fine += good;
	}
	CHECK(fine > 10000 && fine < 90000);
	free(meta.buf);
	meta.buf = NULL;
}
