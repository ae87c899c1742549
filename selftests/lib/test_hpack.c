// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/http2/hpack_decode kmod/lib/http2/hpack_encode kmod/lib/http2/hpack_table kmod/lib/http2/hpack_static */
/*
 * HPACK: the examples of RFC 7541, appendix C, byte by byte both ways.
 */
#include "hpack_sink.h"
#include "lib/http2/hpack_static.h"
#include "lib/http2/hpack_table.h"
#include "tap.h"

#define NR_BLOCKS	3
#define NR_FIELDS	6
#define DATE_21		"Mon, 21 Oct 2013 20:13:21 GMT"
#define DATE_22		"Mon, 21 Oct 2013 20:13:22 GMT"
#define COOKIE		"foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"
#define EXAMPLE		"www.example.com"
#define LOCATION	"https://www.example.com"

/* Text that is a field: name and value. */
struct pair {
	const char *name, *value;
};

/**
 * struct block - a block of an example
 * @fields: its fields
 * @hex: the block
 * @huffman: the same in the Huffman code; NULL: the RFC does not have it
 * @size: of the table behind it
 * @table: entries behind it, the newest first
 */
struct block {
	struct pair fields[NR_FIELDS];
	const char *hex, *huffman;
	u32 size;
	struct pair table[NR_FIELDS];
};

/**
 * struct example - blocks of a connection, one behind the other
 * @max: size of the table
 * @mode: how the fields are encoded
 */
struct example {
	const char *name;
	u32 max;
	enum mrpc_hpack_mode mode;
	struct block blocks[NR_BLOCKS];
};

static const struct example examples[] = {
	{ "C.2.1", 4096, MRPC_HPACK_INDEX, { {
		{ { "custom-key", "custom-header" } },
		"400a637573746f6d2d6b65790d637573746f6d2d686561646572", NULL,
		55, { { "custom-key", "custom-header" } },
	} } },
	{ "C.2.2", 4096, MRPC_HPACK_PLAIN, { {
		{ { ":path", "/sample/path" } }, "040c2f73616d706c652f70617468", NULL, 0, { },
	} } },
	{ "C.2.3", 4096, MRPC_HPACK_NEVER, { {
		{ { "password", "secret" } }, "100870617373776f726406736563726574", NULL, 0, { },
	} } },
	{ "C.2.4", 4096, MRPC_HPACK_INDEX, { {
		{ { ":method", "GET" } }, "82", NULL, 0, { },
	} } },
	{ "C.3, C.4", 4096, MRPC_HPACK_INDEX, { {
		{ { ":method", "GET" }, { ":scheme", "http" }, { ":path", "/" },
		  { ":authority", EXAMPLE } },
		"828684410f7777772e6578616d706c652e636f6d",
		"828684418cf1e3c2e5f23a6ba0ab90f4ff",
		57, { { ":authority", EXAMPLE } },
	}, {
		{ { ":method", "GET" }, { ":scheme", "http" }, { ":path", "/" },
		  { ":authority", EXAMPLE }, { "cache-control", "no-cache" } },
		"828684be58086e6f2d6361636865",
		"828684be5886a8eb10649cbf",
		110, { { "cache-control", "no-cache" }, { ":authority", EXAMPLE } },
	}, {
		{ { ":method", "GET" }, { ":scheme", "https" }, { ":path", "/index.html" },
		  { ":authority", EXAMPLE }, { "custom-key", "custom-value" } },
		"828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
		"828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
		164, { { "custom-key", "custom-value" }, { "cache-control", "no-cache" },
		       { ":authority", EXAMPLE } },
	} } },
	{ "C.5, C.6", 256, MRPC_HPACK_INDEX, { {
		{ { ":status", "302" }, { "cache-control", "private" }, { "date", DATE_21 },
		  { "location", LOCATION } },
		"4803333032580770726976617465611d"
		"4d6f6e2c203231204f63742032303133"
		"2032303a31333a323120474d546e1768"
		"747470733a2f2f7777772e6578616d70"
		"6c652e636f6d",
		"488264025885aec3771a4b6196d07abe"
		"941054d444a8200595040b8166e082a6"
		"2d1bff6e919d29ad171863c78f0b97c8"
		"e9ae82ae43d3",
		222, { { "location", LOCATION }, { "date", DATE_21 },
		       { "cache-control", "private" }, { ":status", "302" } },
	}, {
		{ { ":status", "307" }, { "cache-control", "private" }, { "date", DATE_21 },
		  { "location", LOCATION } },
		"4803333037c1c0bf",
		"4883640effc1c0bf",
		222, { { ":status", "307" }, { "location", LOCATION }, { "date", DATE_21 },
		       { "cache-control", "private" } },
	}, {
		{ { ":status", "200" }, { "cache-control", "private" }, { "date", DATE_22 },
		  { "location", LOCATION }, { "content-encoding", "gzip" },
		  { "set-cookie", COOKIE } },
		"88c1611d4d6f6e2c203231204f637420"
		"323031332032303a31333a323220474d"
		"54c05a04677a69707738666f6f3d4153"
		"444a4b48514b425a584f5157454f5049"
		"5541585157454f49553b206d61782d61"
		"67653d333630303b2076657273696f6e"
		"3d31",
		"88c16196d07abe941054d444a8200595"
		"040b8166e084a62d1bffc05a839bd9ab"
		"77ad94e7821dd7f2e6c7b335dfdfcd5b"
		"3960d5af27087f3672c1ab270fb5291f"
		"9587316065c003ed4ee5b1063d5007",
		215, { { "set-cookie", COOKIE }, { "content-encoding", "gzip" },
		       { "date", DATE_22 } },
	} } },
};

static u32 unhex(u8 *out, const char *hex)
{
	u32 len = 0;
	int used;

	for (; sscanf(hex, "%2hhx%n", &out[len], &used) == 1; hex += used)
		len++;
	return len;
}

static void check_table(const struct mrpc_hpack_table *t, const struct block *b)
{
	const struct mrpc_hpack_slot *slot;
	u8 text[200];
	u32 i;

	CHECK_EQ(t->size, b->size);
	for (i = 0; i < NR_FIELDS && b->table[i].name; i++) {
		slot = mrpc_hpack_table_slot(t, i);
		CHECK(slot && slot->nlen == strlen(b->table[i].name) &&
		      slot->vlen == strlen(b->table[i].value));
		mrpc_hpack_table_read(t, slot->at, text, slot->nlen + slot->vlen);
		CHECK(!memcmp(text, b->table[i].name, slot->nlen));
		CHECK(!memcmp(text + slot->nlen, b->table[i].value, slot->vlen));
	}
	CHECK_EQ(t->nr, i);
}

/* Decodes one form of an example's blocks. */
static void check_decode(const struct example *e, bool huffman)
{
	struct hpack_sink s;
	u8 in[300];
	u32 i, j;

	hpack_sink_init(&s);
	CHECK(!hpack_sink_decode(&s, in, hpack_int(in, 0x20, 5, e->max, 0)));
	for (i = 0; i < NR_BLOCKS && e->blocks[i].hex; i++) {
		const struct block *b = &e->blocks[i];
		u32 len = unhex(in, huffman ? b->huffman : b->hex);

		CHECK_EQ(hpack_sink_decode(&s, in, len), 0);
		CHECK(!s.wrong);
		for (j = 0; j < NR_FIELDS && b->fields[j].name; j++) {
			const struct hpack_sink_field *f = &s.fields[j];

			CHECK(j < s.nr && f->nlen == strlen(b->fields[j].name) &&
			      f->vlen == strlen(b->fields[j].value));
			CHECK(!memcmp(f->name, b->fields[j].name, f->nlen));
			CHECK(!memcmp(f->value, b->fields[j].value, f->vlen));
			CHECK_EQ(f->flags, e->mode == MRPC_HPACK_NEVER);
		}
		CHECK_EQ(s.nr, j);
		check_table(&s.table, b);
	}
	hpack_sink_free(&s);
}

TEST(examples_decoded)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(examples); i++) {
		check_decode(&examples[i], false);
		if (examples[i].blocks[0].huffman)
			check_decode(&examples[i], true);
	}
}

/* Rewrites the literals of a block with one-byte integers in the Huffman code. */
static u32 to_huffman(u8 *out, const u8 *in, u32 len)
{
	u32 at = 0, strings;

	while (len) {
		u8 first = out[at++] = *in;

		in++;
		len--;
		strings = first & 0x80 ? 0 : first & (first & 0x40 ? 0x3f : 0x0f) ? 1 : 2;
		for (; strings; strings--) {
			at += hpack_string(out + at, in + 1, in[0], true, 0);
			len -= in[0] + 1;
			in += in[0] + 1;
		}
	}
	return at;
}

static u32 set_fields(const struct example *e, const struct pair *pairs,
		      struct mrpc_hpack_field *fields)
{
	u32 i;

	for (i = 0; i < NR_FIELDS && pairs[i].name; i++)
		fields[i] = (struct mrpc_hpack_field){
			pairs[i].name, pairs[i].value, strlen(pairs[i].name),
			strlen(pairs[i].value), e->mode,
		};
	return i;
}

static void check_encode(const struct example *e)
{
	u8 out[400], want[300], coded[300], ring[MRPC_HPACK_TABLE_SIZE];
	struct mrpc_hpack_field fields[NR_FIELDS];
	struct mrpc_hpack_table t;
	u32 i;

	mrpc_hpack_table_init(&t);
	mrpc_hpack_table_give(&t, ring);
	mrpc_hpack_encoder_limit(&t, e->max);
	CHECK_EQ(mrpc_hpack_encode(&t, NULL, 0, out, sizeof(out)), e->max == 4096 ? 0 : 3);
	for (i = 0; i < NR_BLOCKS && e->blocks[i].hex; i++) {
		const struct block *b = &e->blocks[i];
		u32 nr = set_fields(e, b->fields, fields);
		u32 len = unhex(want, b->hex);

		CHECK_EQ(mrpc_hpack_encode(&t, fields, nr, out, sizeof(out)), len);
		CHECK(!memcmp(out, want, len));
		check_table(&t, b);
		if (!b->huffman)
			continue;
		len = to_huffman(coded, out, len);
		CHECK_EQ(unhex(want, b->huffman), len);
		CHECK(!memcmp(coded, want, len));
	}
}

TEST(examples_encoded)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(examples); i++)
		check_encode(&examples[i]);
}

/* C.1, by size updates and a string's length. */
TEST(integers)
{
	struct hpack_sink s;

	hpack_sink_init(&s);
	CHECK(!hpack_sink_decode(&s, (const u8 *)"\x2a", 1));
	CHECK_EQ(s.table.max, 10);
	CHECK(!hpack_sink_decode(&s, (const u8 *)"\x3f\x9a\x0a", 3));
	CHECK_EQ(s.table.max, 1337);
	CHECK(!hpack_sink_decode(&s, (const u8 *)"\x3f\x9a\x8a\x80\x00", 5));
	CHECK_EQ(s.table.max, 1337);
	hpack_sink_free(&s);
}

/* Each entry is found by its name and value, and by its name only with another value. */
TEST(static_table)
{
	u32 i, first = 0;
	bool whole;

	for (i = 1; i <= MRPC_HPACK_STATIC; i++) {
		const struct mrpc_hpack_entry *e = mrpc_hpack_static_get(i);
		const u8 *name = (const u8 *)e->text;
		u8 near[32];
		u32 j;

		CHECK_EQ(mrpc_hpack_static_find(name, e->nlen, name + e->nlen, e->vlen, &whole), i);
		CHECK(whole);
		if (i == 1 || e->nlen != e[-1].nlen || memcmp(name, e[-1].text, e->nlen))
			first = i;
		CHECK_EQ(mrpc_hpack_static_find(name, e->nlen, (const u8 *)"x", 1, &whole), first);
		CHECK(!whole);
		/* Shorter, longer, and with another byte. */
		memcpy(near, name, e->nlen);
		near[e->nlen] = 'x';
		CHECK_EQ(mrpc_hpack_static_find(near, e->nlen + 1, near, 0, &whole), 0);
		CHECK(mrpc_hpack_static_find(near, e->nlen - 1, near, 0, &whole) != i);
		for (j = 0; j < e->nlen; j++) {
			near[j] ^= 0x20;
			CHECK_EQ(mrpc_hpack_static_find(near, e->nlen, near, 0, &whole), 0);
			near[j] ^= 0x20;
		}
	}
	CHECK_EQ(mrpc_hpack_static_find((const u8 *)"", 0, (const u8 *)"", 0, &whole), 0);
}

/* Some entries of appendix A by their numbers. */
TEST(static_indexes)
{
	static const struct {
		u32 index;
		const char *text;
	} some[] = {
		{ 1, ":authority" }, { 3, ":methodPOST" }, { 7, ":schemehttps" }, { 8, ":status200" },
		{ 14, ":status500" }, { 15, "accept-charset" }, { 16, "accept-encodinggzip, deflate" },
		{ 19, "accept" }, { 31, "content-type" }, { 44, "last-modified" }, { 58, "user-agent" },
		{ 61, "www-authenticate" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(some); i++)
		CHECK_STR(mrpc_hpack_static_get(some[i].index)->text, some[i].text);
}
