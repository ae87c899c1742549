// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/http2/hpack_decode kmod/lib/http2/hpack_encode kmod/lib/http2/hpack_table kmod/lib/http2/hpack_static */
/*
 * HPACK against a simple model. The model's table is a list of strings. Its encoder uses every form
 * that the RFC allows, at random; the decoder must find the same fields and the same table. The
 * encoder's blocks go through the decoder.
 */
#include "hpack_sink.h"
#include "lib/http2/hpack_static.h"
#include "lib/http2/hpack_table.h"
#include "rnd.h"
#include "tap.h"

#define MAX_STRING	6000
#define MAX_FIELDS	80

struct string {
	u8 bytes[MAX_STRING];
	u32 len;
};

struct pair {
	struct string name, value;
};

/* The model's table; the newest entry is the first. */
static struct pair *table[MRPC_HPACK_SLOTS + 1];
static u32 nr_table, size_table, max_table;

/* A block's fields, and the block. */
static struct pair fields[MAX_FIELDS];
static u32 flags[MAX_FIELDS];
static u8 block[1 << 20];
static u32 len;

static struct hpack_sink s;
static u64 rnd;

static u32 size_of(const struct pair *p)
{
	return p->name.len + p->value.len + 32;
}

static void model_evict(u32 size)
{
	while (size_table > size) {
		nr_table--;
		size_table -= size_of(table[nr_table]);
		free(table[nr_table]);
	}
}

static void model_add(const struct pair *p)
{
	u32 size = size_of(p);

	model_evict(size > max_table ? 0 : max_table - size);
	if (size > max_table)
		return;
	memmove(table + 1, table, nr_table * sizeof(*table));
	table[0] = malloc(sizeof(*p));
	*table[0] = *p;
	nr_table++;
	size_table += size;
}

static void model_begin(void)
{
	max_table = size_table;
	model_evict(0);
	max_table = MRPC_HPACK_TABLE_SIZE;
	hpack_sink_init(&s);
}

static void set_string(struct string *to, const char *text)
{
	to->len = strlen(text);
	memcpy(to->bytes, text, to->len);
}

static bool same(const struct string *a, const struct string *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

/* An entry of both tables by its index. */
static const struct pair *entry(u32 index)
{
	const struct mrpc_hpack_entry *e;
	static struct pair p;

	if (index > MRPC_HPACK_STATIC)
		return table[index - MRPC_HPACK_STATIC - 1];
	e = mrpc_hpack_static_get(index);
	set_string(&p.name, e->text);
	p.name.len = e->nlen;
	set_string(&p.value, e->text + e->nlen);
	return &p;
}

static void random_string(struct string *to, u32 max)
{
	bool binary = !rnd_below(&rnd, 8);
	u32 i;

	to->len = rnd_below(&rnd, max + 1);
	for (i = 0; i < to->len; i++)
		to->bytes[i] = binary ? rnd_next(&rnd) : (u8)"abceiostu019-=/"[rnd_below(&rnd, 15)];
}

/* Names and values that often occur again; seldom long ones. */
static void random_pair(struct pair *p)
{
	static const char *const names[] = {
		":path", ":authority", "content-type", "te", "x-a", "x-b", "trace", "", "via",
		"x-c", "some-long-name-of-a-field",
	};

	if (!rnd_below(&rnd, 3)) {
		*p = *entry(1 + rnd_below(&rnd, MRPC_HPACK_STATIC + nr_table));
		if (rnd_below(&rnd, 2))
			return;
	} else if (rnd_below(&rnd, 8)) {
		set_string(&p->name, names[rnd_below(&rnd, ARRAY_SIZE(names))]);
	} else {
		random_string(&p->name, rnd_below(&rnd, 40) ? 20 : 4100);
	}
	if (rnd_below(&rnd, 2))
		random_string(&p->value, 1);
	else
		random_string(&p->value, rnd_below(&rnd, 40) ? 60 : rnd_below(&rnd, 8) ? 700 : 6000);
}

static void put_int(u8 first, u32 prefix, u32 value)
{
	u32 need = hpack_int(block + len, first, prefix, value, 0);

	/* Up to five bytes in all are allowed. */
	if (need > 1 && !rnd_below(&rnd, 16))
		need = hpack_int(block + len, first, prefix, value, rnd_below(&rnd, 6 - need));
	len += need;
}

static void put_string(const struct string *p)
{
	len += hpack_string(block + len, p->bytes, p->len, rnd_below(&rnd, 2), 0);
}

/* Index of an entry with the same name, and the same value if @whole; 0: none, or not wanted. */
static u32 random_index(const struct pair *p, bool whole)
{
	u32 from = rnd_below(&rnd, MRPC_HPACK_STATIC + nr_table), i, index;

	if (!rnd_below(&rnd, 4))
		return 0;
	for (i = 0; i < MRPC_HPACK_STATIC + nr_table; i++) {
		index = 1 + (from + i) % (MRPC_HPACK_STATIC + nr_table);
		if (same(&entry(index)->name, &p->name) &&
		    (!whole || same(&entry(index)->value, &p->value)))
			return index;
	}
	return 0;
}

/* Writes a field in one of its forms. Return: flags of the field. */
static u32 model_put(const struct pair *p)
{
	static const struct {
		u8 first, prefix;
	} literals[] = { { 0x40, 6 }, { 0x00, 4 }, { 0x10, 4 } };
	u32 index = random_index(p, true), form = rnd_below(&rnd, 4) % 3;

	if (index) {
		put_int(0x80, 7, index);
		return 0;
	}
	index = random_index(p, false);
	put_int(literals[form].first, literals[form].prefix, index);
	if (!index)
		put_string(&p->name);
	put_string(&p->value);
	if (!form)
		model_add(p);
	return form == 2 ? MRPC_HPACK_NEVER_INDEXED : 0;
}

static void model_update(void)
{
	max_table = rnd_below(&rnd, 3) ? MRPC_HPACK_TABLE_SIZE :
					 rnd_below(&rnd, MRPC_HPACK_TABLE_SIZE + 1);
	put_int(0x20, 5, max_table);
	model_evict(max_table);
}

static void check_table(const struct mrpc_hpack_table *t)
{
	u8 text[MRPC_HPACK_TABLE_SIZE];
	u32 i;

	CHECK_EQ(t->nr, nr_table);
	CHECK_EQ(t->size, size_table);
	CHECK_EQ(t->max, max_table);
	CHECK(!mrpc_hpack_table_slot(t, nr_table));
	for (i = 0; i < nr_table; i++) {
		const struct mrpc_hpack_slot *slot = mrpc_hpack_table_slot(t, i);

		CHECK(slot->nlen == table[i]->name.len && slot->vlen == table[i]->value.len);
		mrpc_hpack_table_read(t, slot->at, text, slot->nlen + slot->vlen);
		CHECK(!memcmp(text, table[i]->name.bytes, slot->nlen));
		CHECK(!memcmp(text + slot->nlen, table[i]->value.bytes, slot->vlen));
	}
}

/* The fields that were decoded are the first of those that were encoded. */
static void check_fields(void)
{
	u32 i;

	CHECK(!s.wrong);
	for (i = 0; i < s.nr; i++) {
		CHECK(s.fields[i].nlen == fields[i].name.len &&
		      s.fields[i].vlen == fields[i].value.len);
		CHECK(!memcmp(s.fields[i].name, fields[i].name.bytes, fields[i].name.len));
		CHECK(!memcmp(s.fields[i].value, fields[i].value.bytes, fields[i].value.len));
		CHECK_EQ(s.fields[i].flags, flags[i]);
	}
}

/* Half of the blocks are small, so that limits are not always passed. */
static u32 random_nr(void)
{
	return rnd_below(&rnd, rnd_below(&rnd, 2) ? 8 : MAX_FIELDS);
}

TEST(decoder)
{
	u32 round, nr, i, list, too_large = 0;

	rnd = 1;
	for (round = 0; round < 2000; round++) {
		if (round % 100 == 0)
			model_begin();
		len = 0;
		list = 0;
		for (i = rnd_below(&rnd, 8); i >= 6; i--)
			model_update();
		nr = random_nr();
		for (i = 0; i < nr && list < 65536 - 11000; i++) {
			random_pair(&fields[i]);
			flags[i] = model_put(&fields[i]);
			list += size_of(&fields[i]);
		}
		nr = i;
		if (nr > MRPC_HPACK_MAX_FIELDS || list > MRPC_HPACK_MAX_LIST) {
			CHECK_EQ(hpack_sink_decode(&s, block, len), -E2BIG);
			CHECK(s.nr < nr);
			too_large++;
		} else {
			CHECK_EQ(hpack_sink_decode(&s, block, len), 0);
			CHECK_EQ(s.nr, nr);
		}
		check_fields();
		check_table(&s.table);
		if (round % 100 == 99)
			hpack_sink_free(&s);
	}
	CHECK(too_large > 100 && too_large < 1000);
}

static u32 random_fields(struct mrpc_hpack_field *f)
{
	u32 nr = random_nr(), list = 0, i;

	for (i = 0; i < nr && list < 65536 - 11000; i++) {
		random_pair(&fields[i]);
		list += size_of(&fields[i]);
		f[i] = (struct mrpc_hpack_field){
			fields[i].name.bytes, fields[i].value.bytes,
			fields[i].name.len, fields[i].value.len, rnd_below(&rnd, 4) % 3,
		};
		flags[i] = f[i].mode == MRPC_HPACK_NEVER ? MRPC_HPACK_NEVER_INDEXED : 0;
	}
	return i;
}

/* Both ends have the same table; the encoder's is the model for random_pair(), too. */
static void check_both(const struct mrpc_hpack_table *t)
{
	u8 a[MRPC_HPACK_TABLE_SIZE], b[MRPC_HPACK_TABLE_SIZE];
	u32 i;

	CHECK(t->nr == s.table.nr && t->size == s.table.size && t->max == s.table.max);
	for (i = 0; i < t->nr; i++) {
		const struct mrpc_hpack_slot *x = mrpc_hpack_table_slot(t, i);
		const struct mrpc_hpack_slot *y = mrpc_hpack_table_slot(&s.table, i);

		CHECK(x->nlen == y->nlen && x->vlen == y->vlen);
		mrpc_hpack_table_read(t, x->at, a, x->nlen + x->vlen);
		mrpc_hpack_table_read(&s.table, y->at, b, x->nlen + x->vlen);
		CHECK(!memcmp(a, b, x->nlen + x->vlen));
	}
}

TEST(encoder)
{
	u32 round, nr, i, indexed = 0;

	rnd = 2;
	for (round = 0; round < 100; round++) {
		struct mrpc_hpack_field f[MAX_FIELDS];
		u8 ring[MRPC_HPACK_TABLE_SIZE];
		struct mrpc_hpack_table t;
		u32 step;

		model_begin();
		mrpc_hpack_table_init(&t);
		if (rnd_below(&rnd, 8))
			mrpc_hpack_table_give(&t, ring);
		for (step = 0; step < 40; step++) {
			int ret;

			for (i = rnd_below(&rnd, 8); i >= 5; i--)
				mrpc_hpack_encoder_limit(&t, rnd_below(&rnd, 6000));
			nr = random_fields(f);
			i = rnd_below(&rnd, nr + 1);
			/* In two pieces. */
			len = mrpc_hpack_encode(&t, f, i, block, sizeof(block));
			len += mrpc_hpack_encode(&t, f + i, nr - i, block + len, sizeof(block) - len);
			ret = hpack_sink_decode(&s, block, len);
			CHECK(ret == -E2BIG || (!ret && s.nr == nr));
			check_fields();
			check_both(&t);
			indexed += t.nr;
		}
		hpack_sink_free(&s);
	}
	CHECK(indexed > 1000);
}

/* A block may be sent again while the generation is the same, whatever else is sent between. */
TEST(templates)
{
	static u8 template[1 << 16], ring[MRPC_HPACK_TABLE_SIZE];
	struct mrpc_hpack_field f[3], other;
	static struct pair kept[3], pair;
	u32 i, step, template_len = 0, used = 0, made = 0;
	struct mrpc_hpack_table t;
	u64 generation = 0;

	rnd = 3;
	hpack_sink_init(&s);
	mrpc_hpack_table_init(&t);
	mrpc_hpack_table_give(&t, ring);
	for (i = 0; i < 3; i++) {
		set_string(&kept[i].name, i ? "x-kept" : ":path");
		random_string(&kept[i].value, 40);
		f[i] = (struct mrpc_hpack_field){ kept[i].name.bytes, kept[i].value.bytes,
						  kept[i].name.len, kept[i].value.len, 0 };
	}
	for (step = 0; step < 20000; step++) {
		if (template_len && generation == t.generation) {
			len = template_len;
			memcpy(block, template, len);
			used++;
		} else {
			generation = t.generation;
			len = mrpc_hpack_encode(&t, f, 3, block, sizeof(block));
			template_len = generation == t.generation ? len : 0;
			memcpy(template, block, len);
			made++;
		}
		random_string(&pair.value, 30);
		other = (struct mrpc_hpack_field){ "x-other", pair.value.bytes, 7, pair.value.len,
			rnd_below(&rnd, 8) ? MRPC_HPACK_PLAIN : MRPC_HPACK_INDEX };
		len += mrpc_hpack_encode(&t, &other, 1, block + len, sizeof(block) - len);
		CHECK_EQ(hpack_sink_decode(&s, block, len), 0);
		CHECK_EQ(s.nr, 4);
		for (i = 0; i < 3; i++)
			CHECK(s.fields[i].vlen == f[i].vlen &&
			      !memcmp(s.fields[i].value, f[i].value, f[i].vlen));
		CHECK(!memcmp(s.fields[3].value, pair.value.bytes, pair.value.len));
		if (!rnd_below(&rnd, 200))
			mrpc_hpack_encoder_limit(&t, rnd_below(&rnd, 5000));
	}
	hpack_sink_free(&s);
	CHECK(used > 1000 && made > 100);
}
