// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/grpc/metadata kmod/lib/message/meta */
/* Metadata of applications and header fields, both ways. */
#include "grpc_fields.h"
#include "lib/message/meta.h"
#include "rnd.h"
#include "tap.h"

static struct fields list;
static u8 block[MRPC_MAX_META];
static u32 used;

static void add(const char *key, const void *value, u32 vlen)
{
	struct mrpc_meta_entry e = { .klen = strlen(key), .vlen = vlen };

	memcpy(block + used, &e, sizeof(e));
	memcpy(block + used + sizeof(e), key, e.klen);
	memcpy(block + used + sizeof(e) + e.klen, value, vlen);
	used += sizeof(e) + e.klen + vlen;
}

static void hear(struct mrpc_grpc_meta *m, const char *key, const char *value)
{
	u8 *name = fields_copy(key, strlen(key)), *copy = fields_copy(value, strlen(value));

	mrpc_grpc_meta_hear(m, name, strlen(key), copy, strlen(value));
	free(name);
	free(copy);
}

/* What @m has is what was added. */
static bool same(const struct mrpc_grpc_meta *m)
{
	return m->len == used && !memcmp(m->buf, block, used);
}

TEST(fields_become_entries)
{
	struct mrpc_grpc_meta m = fields_meta(MRPC_MAX_META);

	used = 0;
	hear(&m, "key", "value");
	add("key", "value", 5);
	hear(&m, "key", "");
	add("key", "", 0);
	hear(&m, "key", "a, b,c");
	add("key", "a, b,c", 6);
	hear(&m, "k_.-9", " ~");
	add("k_.-9", " ~", 2);
	hear(&m, "x-bin", "AAECAw");
	add("x-bin", "\0\1\2\3", 4);
	hear(&m, "x-bin", "AAECAw==");
	add("x-bin", "\0\1\2\3", 4);
	hear(&m, "x-bin", "");
	add("x-bin", "", 0);
	hear(&m, "-bin", "Zg");
	add("-bin", "f", 1);
	/* Each part is an entry; some have padding, some blanks around them. */
	hear(&m, "x-bin", "Zg,Zm8=, Zm9v\t,,Zg==,");
	add("x-bin", "f", 1);
	add("x-bin", "fo", 2);
	add("x-bin", "foo", 3);
	add("x-bin", "", 0);
	add("x-bin", "f", 1);
	add("x-bin", "", 0);
	CHECK(same(&m));
	CHECK(mrpc_meta_valid(m.buf, m.len) > 0);
	CHECK_EQ(m.dropped, 0);
	CHECK(!m.full);
	free(m.buf);
}

TEST(fields_dropped)
{
	static const struct {
		const char *key;
		const char *value;
	} rows[] = {
		{ "key", "tab\there" }, { "key", "caf\xc3\xa9" }, { "key", "\x7f" },
		{ "key", "\x1f" }, { "x!y", "v" }, { "a b", "v" }, { "Key", "v" }, { "k:y", "v" },
		{ "", "v" }, { "mrpc-x", "v" }, { "mrpc-x-bin", "Zg" }, { "x-bin", "A" },
		{ "x-bin", "Zg=" }, { "x-bin", "Z-" }, { "x-bin", "Zg,A,Zg" }, { "x-bin", "a b" },
		{ "key\xff", "v" },
	};
	struct mrpc_grpc_meta m = fields_meta(MRPC_MAX_META);
	char longest[257];
	u32 i;

	used = 0;
	hear(&m, "first", "1");
	add("first", "1", 1);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		hear(&m, rows[i].key, rows[i].value);
		CHECK_MSG(m.dropped == i + 1 && same(&m), "'%s': '%s'", rows[i].key,
			  rows[i].value);
	}
	memset(longest, 'k', 256);
	longest[256] = 0;
	hear(&m, longest, "v");
	CHECK_EQ(m.dropped, i + 1);
	longest[255] = 0;
	hear(&m, longest, "v");
	add(longest, "v", 1);
	CHECK_EQ(m.dropped, i + 1);
	CHECK(same(&m));
	for (i = 0; i < U16_MAX + 10; i++)
		mrpc_grpc_meta_drop(&m);
	CHECK_EQ(m.dropped, U16_MAX);
	free(m.buf);
}

/* Every room: an entry fits whole, or not at all, and nothing is taken behind it. */
TEST(rooms)
{
	static const struct {
		const char *value;
		u32 size;	/* of all entries with the key "x-bin" */
	} rows[] = { { "", 9 }, { "Zg", 10 }, { "Zm9v", 12 }, { "Zg,Zm8", 21 }, { ",,", 27 } };
	u32 room, i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (room = 0; room < 45; room++) {
			struct mrpc_grpc_meta m = fields_meta(room);
			bool fits = rows[i].size <= room;

			hear(&m, "x-bin", rows[i].value);
			CHECK_EQ(m.full, !fits);
			CHECK_EQ(m.len, fits ? rows[i].size : 0);
			CHECK_EQ(m.dropped, 0);
			hear(&m, "k", "v");
			if (!fits)
				CHECK_EQ(m.len, 0);
			else
				CHECK_EQ(m.len, rows[i].size + (rows[i].size + 6 <= room) * 6);
			CHECK(mrpc_meta_valid(m.buf, m.len) >= 0);
			free(m.buf);
		}
	}
	for (room = 0; room < 20; room++) {
		struct mrpc_grpc_meta m = fields_meta(room);

		hear(&m, "key", "value");
		CHECK_EQ(m.full, room < 12);
		free(m.buf);
	}
}

/* A value of commas only makes many entries: no more than there is room for. */
TEST(commas)
{
	struct mrpc_grpc_meta m = fields_meta(MRPC_MAX_META);
	char commas[16001];

	memset(commas, ',', sizeof(commas) - 1);
	commas[16000] = 0;
	hear(&m, "-bin", commas);
	CHECK(m.full);
	CHECK_EQ(m.len, 0);
	m.full = false;
	commas[1023] = 0;
	hear(&m, "-bin", commas);
	CHECK(!m.full);
	CHECK_EQ(m.len, MRPC_MAX_META);
	CHECK_EQ(mrpc_meta_valid(m.buf, m.len), 1024);
	free(m.buf);
}

#define OWN		"keys that begin with \"grpc-\" are gRPC's own"
#define TRANSPORT	"the transport itself sends or reads this field"
#define CONNECTION	"HTTP/2 has no fields of a connection"
#define ASCII		"the value is not printable ASCII, and the key does not end in \"-bin\""
#define SPACE		"the value begins or ends with a space, which HTTP/2 does not carry"
#define AUTHORITY	"servers find the connection's authority under this key"

TEST(admit)
{
	static const struct {
		const char *key;
		const char *value;
		const char *call;	/* why a client's is refused, or NULL */
		const char *reply;	/* why a server's is */
	} rows[] = {
		{ "key", "value", NULL, NULL }, { "key", "", NULL, NULL },
		{ "key", " !~a b", SPACE, SPACE }, { "key", "a ", SPACE, SPACE },
		{ "key", "a b!~", NULL, NULL }, { "key", "\t", ASCII, ASCII },
		{ "key", "a\tb", ASCII, ASCII }, { "key", "\x7f", ASCII, ASCII },
		{ "key", "caf\xc3\xa9", ASCII, ASCII }, { "key-bin", "\xff ", NULL, NULL },
		{ "-bin", "\n", NULL, NULL }, { "bin", "\n", ASCII, ASCII },
		{ "grpc-timeout", "1S", OWN, OWN }, { "grpc-encoding", "gzip", OWN, OWN },
		{ "grpc-accept-encoding", "gzip", OWN, OWN }, { "grpc-status", "0", OWN, OWN },
		{ "grpc-message", "m", OWN, OWN }, { "grpc-x", "v", OWN, OWN },
		{ "grpc-", "v", OWN, OWN }, { "grpc-x-bin", "v", OWN, OWN },
		{ "grpc-status-details-bin", "\1", OWN, NULL }, { "grpc", "v", NULL, NULL },
		{ "grpc-retry-pushback-ms", "1", OWN, NULL },
		{ "grpc-previous-rpc-attempts", "1", NULL, OWN },
		{ "grpc.x", "v", NULL, NULL }, { "xgrpc-", "v", NULL, NULL },
		{ "te", "trailers", TRANSPORT, TRANSPORT },
		{ "content-type", "x", TRANSPORT, TRANSPORT },
		{ "content-length", "5", TRANSPORT, TRANSPORT },
		{ "user-agent", "me", TRANSPORT, TRANSPORT }, { "host", "h", TRANSPORT, TRANSPORT },
		{ "connection", "close", CONNECTION, CONNECTION },
		{ "keep-alive", "5", CONNECTION, CONNECTION },
		{ "proxy-connection", "x", CONNECTION, CONNECTION },
		{ "transfer-encoding", "chunked", CONNECTION, CONNECTION },
		{ "upgrade", "h2c", CONNECTION, CONNECTION },
		{ "authority", "h", AUTHORITY, NULL }, { "authorization", "Bearer x", NULL, NULL },
		{ "cookie", "a=b", NULL, NULL }, { "ten", "v", NULL, NULL },
		{ "trailers", "v", NULL, NULL },
	};
	u32 i, reply;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (reply = 0; reply < 2; reply++) {
			const char *want = reply ? rows[i].reply : rows[i].call;
			char why[MRPC_GRPC_ADMIT_TEXT] = "", text[MRPC_GRPC_ADMIT_TEXT] = "";
			u8 *copy;
			int err;

			used = 0;
			add("before", "1", 1);
			add(rows[i].key, rows[i].value, strlen(rows[i].value));
			add("after", "1", 1);
			copy = fields_copy(block, used);
			err = mrpc_grpc_admit(copy, used, reply, why, sizeof(why));
			if (want)
				snprintf(text, sizeof(text), "metadata \"%s\": %s", rows[i].key,
					 want);
			CHECK_MSG(err == (want ? -EINVAL : 0) && !strcmp(why, text),
				  "%s: %d, '%s'", rows[i].key, err, why);
			free(copy);
		}
	}
}

TEST(admit_says_as_much_as_fits)
{
	char why[20], longest[256], all[MRPC_GRPC_ADMIT_TEXT];

	used = 0;
	add("te", "trailers", 8);
	CHECK_EQ(mrpc_grpc_admit(block, used, false, why, sizeof(why)), -EINVAL);
	CHECK_STR(why, "metadata \"te\": the ");
	memset(longest, 'k', 255);
	longest[255] = 0;
	used = 0;
	add(longest, "\n", 1);
	CHECK_EQ(mrpc_grpc_admit(block, used, false, all, sizeof(all)), -EINVAL);
	CHECK(strstr(all, "does not end in \"-bin\""));
}

TEST(entries_become_fields)
{
	static const struct {
		const char *key;
		u32 vlen;
		enum mrpc_grpc_mode mode;
	} rows[] = {
		{ "key", 0, MRPC_GRPC_SEEN }, { "key", 64, MRPC_GRPC_SEEN },
		{ "key", 65, MRPC_GRPC_WITHOUT }, { "key-bin", 5, MRPC_GRPC_WITHOUT },
		{ "cookie", 5, MRPC_GRPC_WITHOUT }, { "authorization", 5, MRPC_GRPC_NEVER },
		{ "authorization", 500, MRPC_GRPC_NEVER },
		{ "proxy-authorization", 5, MRPC_GRPC_NEVER },
		{ "authorizatio", 5, MRPC_GRPC_SEEN },
	};
	struct mrpc_grpc_out out = fields_out(&list);
	char value[600];
	u32 i;

	memset(value, 'v', sizeof(value));
	used = 0;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		add(rows[i].key, value, rows[i].vlen);
	mrpc_grpc_put_meta(&out, block, used);
	CHECK_EQ(out.err, 0);
	CHECK_EQ(list.nr, ARRAY_SIZE(rows));
	for (i = 0; i < list.nr; i++) {
		CHECK(list.f[i].nlen == strlen(rows[i].key) &&
		      !memcmp(list.f[i].name, rows[i].key, list.f[i].nlen));
		CHECK_MSG(list.f[i].mode == rows[i].mode, "%s: mode %u", rows[i].key,
			  list.f[i].mode);
	}
	CHECK(list.f[3].vlen == 7 && !memcmp(list.f[3].value, "dnZ2dnY", 7));
	CHECK_EQ(list.f[2].vlen, 65);
}

TEST(errors_end_the_list)
{
	struct mrpc_grpc_out out = fields_out(&list);

	used = 0;
	add("a", "1", 1);
	add("b-bin", "123", 3);
	add("c", "1", 1);
	list.fail_at = 2;
	mrpc_grpc_put_meta(&out, block, used);
	list.fail_at = 0;
	CHECK_EQ(out.err, -E2BIG);
	CHECK_EQ(list.nr, 1);
	out = fields_out(&list);
	out.room = 3;
	mrpc_grpc_put_meta(&out, block, used);
	CHECK_EQ(out.err, -ENOSPC);
	CHECK_EQ(list.nr, 1);
	out = fields_out(&list);
	out.room = 4;
	mrpc_grpc_put_meta(&out, block, used);
	CHECK_EQ(out.err, 0);
	CHECK_EQ(list.nr, 3);
}

/* Any metadata that is admitted is the same at the other end, and scratch memory does for it. */
TEST(round_trip)
{
	static const char *const keys[] = { "a", "key", "k-bin", "-bin", "long.key_with-all9",
					    "authorization" };
	u64 rnd = 5;
	u32 i, j;

	for (i = 0; i < 3000; i++) {
		struct mrpc_grpc_meta m = fields_meta(MRPC_MAX_META);
		struct mrpc_grpc_out out = fields_out(&list);
		u32 most = rnd_below(&rnd, 4) ? 30 : 4000;
		char why[MRPC_GRPC_ADMIT_TEXT];

		used = 0;
		for (;;) {
			const char *key = keys[rnd_below(&rnd, ARRAY_SIZE(keys))];
			bool bin = strstr(key, "-bin");
			u32 len = rnd_below(&rnd, most);
			u8 value[4000];

			if (used + 4 + strlen(key) + len > MRPC_MAX_META ||
			    !rnd_below(&rnd, most > 30 ? 100 : 8))
				break;
			for (j = 0; j < len; j++)
				value[j] = bin ? rnd_next(&rnd) : '!' + rnd_below(&rnd, 94);
			add(key, value, len);
		}
		CHECK_EQ(mrpc_grpc_admit(block, used, false, why, sizeof(why)), 0);
		mrpc_grpc_put_meta(&out, block, used);
		CHECK_EQ(out.err, 0);
		for (j = 0; j < list.nr; j++)
			mrpc_grpc_meta_hear(&m, list.f[j].name, list.f[j].nlen, list.f[j].value,
					    list.f[j].vlen);
		CHECK(same(&m) && !m.dropped && !m.full);
		free(m.buf);
	}
	fields_clear(&list);
}
