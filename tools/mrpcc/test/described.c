// SPDX-License-Identifier: GPL-2.0
/* Copies, texts and JSON of messages, whether they are equal, and arrays that grow. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "described.mrpc.h"
#include "google/protobuf/duration.mrpc.h"
#include "google/protobuf/field_mask.mrpc.h"
#include "google/protobuf/struct.mrpc.h"
#include "google/protobuf/timestamp.mrpc.h"
#include "google/protobuf/wrappers.mrpc.h"
#include "heap.h"
#include "tap.h"

static void has_json(unsigned int line, const struct mrpc_message_desc *desc, const void *m,
		     const char *want)
{
	char *text = mrpc_to_json(desc, m, m);

	CHECK_MSG(text && !strcmp(text, want), "line %u: %s", line, text ? text : "none");
	free(text);
}

static void has_text(unsigned int line, const struct mrpc_message_desc *desc, const void *m,
		     const char *want)
{
	char *text = mrpc_to_text(desc, m, m);

	CHECK_MSG(text && !strcmp(text, want), "line %u: %s", line, text ? text : "none");
	free(text);
}

static struct d_All *begin(struct mrpc_msg *msg)
{
	heap_reset();
	return d_All_new(msg, NULL);
}

static struct d_Known *begin_known(struct mrpc_msg *msg)
{
	heap_reset();
	return d_Known_new(msg, NULL);
}

static struct d_All *everything(struct mrpc_msg *msg)
{
	static const double doubles[] = { 0.1, 1e300, -INFINITY, NAN };
	static const bool bits[] = { true, false };
	struct d_All *all = begin(msg);
	struct d_All_ByNumberEntry *e;
	struct d_Inner *inner;

	all->b = true;
	all->i32 = INT32_MIN;
	all->u32 = UINT32_MAX;
	all->i64 = INT64_MIN;
	all->u64 = UINT64_MAX;
	all->f = 0.1f;
	all->d = 0.1;
	d_All_set_s(msg, all, "a \"quoted\"\\\n\x01 \xc3\xa9");
	d_All_set_raw(msg, all, "\0\xff" "ab", 4);
	all->mood = d_WILD;
	d_All_set_maybe(all, 0);
	inner = d_All_alloc_inner(msg, all);
	inner->a = 7;
	d_Inner_add_words(msg, inner, "x");
	d_All_add_many(msg, all, 1);
	d_All_add_many(msg, all, -2);
	d_All_add_words(msg, all, "one");
	d_All_add_words(msg, all, "");
	d_All_add_blobs(msg, all, "a", 1);
	d_All_add_inners(msg, all)->a = 1;
	d_All_add_inners(msg, all)->a = 2;
	{
		struct d_All_ByNameEntry *name = d_All_add_by_name(msg, all);

		d_All_ByNameEntry_set_key(msg, name, "k");
		name->value = -5;
	}
	e = d_All_add_by_number(msg, all);
	e->key = 3;
	d_All_ByNumberEntry_alloc_value(msg, e)->a = 9;
	d_All_ByBoolEntry_set_value(msg, d_All_add_by_bool(msg, all), "no");
	d_Inner_add_words(msg, d_All_alloc_right(msg, all), "r");
	d_All_alloc_self(msg, all)->mood = 99;
	d_All_set_doubles(msg, all, doubles, 4);
	all->snake_case_name = 1;
	all->renamed = 2;
	d_All_set_desc(msg, all, "d");
	d_All_set_bits(msg, all, bits, 2);
	CHECK_EQ(msg->err, 0);
	return all;
}

static const char everything_json[] =
	"{\"b\":true,\"i32\":-2147483648,\"u32\":4294967295,\"i64\":\"-9223372036854775808\","
	"\"u64\":\"18446744073709551615\",\"f\":0.1,\"d\":0.1,"
	"\"s\":\"a \\\"quoted\\\"\\\\\\n\\u0001 \xc3\xa9\",\"raw\":\"AP9hYg==\",\"mood\":\"WILD\","
	"\"maybe\":0,\"inner\":{\"a\":7,\"words\":[\"x\"]},\"many\":[1,-2],\"words\":[\"one\",\"\"],"
	"\"blobs\":[\"YQ==\"],\"inners\":[{\"a\":1},{\"a\":2}],\"byName\":{\"k\":\"-5\"},"
	"\"byNumber\":{\"3\":{\"a\":9}},\"byBool\":{\"false\":\"no\"},\"right\":{\"words\":[\"r\"]},"
	"\"self\":{\"mood\":99},\"doubles\":[0.1,1e+300,\"-Infinity\",\"NaN\"],"
	"\"snakeCaseName\":1,\"other-name\":2,\"desc\":\"d\",\"bits\":[true,false]}";

TEST(json)
{
	struct mrpc_msg msg;

	has_json(__LINE__, &d_All__desc, begin(&msg), "{}");
	has_json(__LINE__, &d_All__desc, everything(&msg), everything_json);
	{
		struct d_All *all = begin(&msg);

		all->d = -0.0;
		d_All_add_by_number(&msg, all);
		has_json(__LINE__, &d_All__desc, all, "{\"d\":-0.0,\"byNumber\":{\"0\":{}}}");
	}
	/* Whatever the program's locale has for a point */
	if (setlocale(LC_ALL, "de_DE.UTF-8"))
		has_json(__LINE__, &d_All__desc, everything(&msg), everything_json);
	setlocale(LC_ALL, "C");
}

TEST(text)
{
	struct mrpc_msg msg;

	has_text(__LINE__, &d_All__desc, begin(&msg), "");
	has_text(__LINE__, &d_All__desc, everything(&msg),
		 "b: true\ni32: -2147483648\nu32: 4294967295\ni64: -9223372036854775808\n"
		 "u64: 18446744073709551615\nf: 0.1\nd: 0.1\n"
		 "s: \"a \\\"quoted\\\"\\\\\\n\\001 \\303\\251\"\nraw: \"\\000\\377ab\"\nmood: WILD\n"
		 "maybe: 0\ninner {\n  a: 7\n  words: \"x\"\n}\nmany: 1\nmany: -2\n"
		 "words: \"one\"\nwords: \"\"\nblobs: \"a\"\ninners {\n  a: 1\n}\ninners {\n  a: 2\n}\n"
		 "by_name {\n  key: \"k\"\n  value: -5\n}\n"
		 "by_number {\n  key: 3\n  value {\n    a: 9\n  }\n}\nby_bool {\n  value: \"no\"\n}\n"
		 "right {\n  words: \"r\"\n}\nself {\n  mood: 99\n}\n"
		 "doubles: 0.1\ndoubles: 1e+300\ndoubles: -inf\ndoubles: nan\n"
		 "snake_case_name: 1\nrenamed: 2\ndesc: \"d\"\nbits: true\nbits: false\n");
}

TEST(copy)
{
	struct mrpc_msg msg, other;
	struct d_All *all = everything(&msg), *whole, *copy;

	/* A message of its own, and a part of another. */
	copy = d_All_new(&other, NULL);
	mrpc_msg_copy(&other, copy, &d_All__desc, all, all);
	whole = d_All_alloc_self(&other, d_All_new(&other, NULL));
	mrpc_msg_copy(&other, whole, &d_All__desc, all, all);
	CHECK_EQ(other.err, 0);
	memset(all, 0xff, sizeof(*all));	/* nothing is shared with what was copied */
	has_json(__LINE__, &d_All__desc, copy, everything_json);
	{
		char *text = mrpc_to_json(&d_All__desc, other.root, whole);

		CHECK(text && !strcmp(text, everything_json));
		free(text);
	}
}

/* The place of a oneof holds another member's bits: they are no reference. */
TEST(copy_of_a_number_where_a_reference_can_be)
{
	struct mrpc_msg msg, other;
	struct d_All *all = begin(&msg), *copy;

	d_All_set_number(all, UINT64_MAX);
	copy = d_All_new(&other, NULL);
	mrpc_msg_copy(&other, copy, &d_All__desc, all, all);
	has_json(__LINE__, &d_All__desc, copy, "{\"number\":\"18446744073709551615\"}");
	d_All_clear_number(copy);
	has_json(__LINE__, &d_All__desc, copy, "{}");
}

static bool equal(const struct d_All *a, const struct d_All *b)
{
	int there = mrpc_msg_equal(&d_All__desc, a, a, b, b);

	CHECK_EQ(there, mrpc_msg_equal(&d_All__desc, b, b, a, a));
	CHECK(there == 0 || there == 1);
	return there;
}

static struct d_All *copy_of(struct mrpc_msg *msg, const struct d_All *all)
{
	struct d_All *copy = d_All_new(msg, NULL);

	mrpc_msg_copy(msg, copy, &d_All__desc, all, all);
	CHECK(equal(all, copy));
	return copy;
}

/* A copy is equal; each of these changes makes it another message. */
TEST(equal)
{
	struct mrpc_msg msg, other;
	struct d_All *all = everything(&msg), *copy = copy_of(&other, all);

#define DIFFERS(...)					\
	do {						\
		copy = copy_of(&other, all);		\
		__VA_ARGS__;				\
		CHECK(!equal(all, copy));		\
	} while (0)
	DIFFERS(copy->b = false);
	DIFFERS(copy->i32++);
	DIFFERS(copy->u64--);
	DIFFERS(copy->f = -copy->f);
	DIFFERS(copy->d = NAN);
	DIFFERS(d_All_set_s(&other, copy, "a"));
	DIFFERS(d_All_set_s(&other, copy, ""));
	DIFFERS(d_All_set_raw(&other, copy, "\0\xff" "ac", 4));
	DIFFERS(copy->mood = d_CALM);
	DIFFERS(d_All_clear_maybe(copy));
	DIFFERS(copy->inner = (struct mrpc_ref){ 0 });
	DIFFERS(d_All_alloc_inner(&other, copy)->a = 7);
	DIFFERS(d_All_add_many(&other, copy, 0));
	DIFFERS(copy->words.len--);
	DIFFERS(d_All_add_inners(&other, copy));
	DIFFERS(d_All_clear_right(copy));
	DIFFERS(d_All_set_number(copy, 0));
	DIFFERS(d_All_add_by_name(&other, copy));
	DIFFERS(copy->by_bool = (struct mrpc_ref){ 0 });
#undef DIFFERS
}

TEST(equal_numbers)
{
	static const double numbers[] = { 0, -0.0, 1, NAN, INFINITY, -INFINITY };
	struct d_All *a, *b;
	struct mrpc_msg msg;
	int i, j;

	for (i = 0; i < 6; i++)
		for (j = 0; j < 6; j++) {
			a = begin(&msg);
			b = d_All_new(&msg, NULL);
			a->d = numbers[i];
			b->d = numbers[j];
			CHECK_EQ(equal(a, b), i == j);
			a->d = 0;
			b->d = 0;
			a->f = (float)numbers[i];
			b->f = (float)numbers[j];
			CHECK_EQ(equal(a, b), i == j);
		}
	a->f = NAN;
	b->f = -NAN;
	CHECK(equal(a, b));
}

static void add_name(struct mrpc_msg *msg, struct d_All *all, const char *key, int64_t value)
{
	struct d_All_ByNameEntry *e = d_All_add_by_name(msg, all);

	d_All_ByNameEntry_set_key(msg, e, key);
	e->value = value;
}

/* In any order; of those with one key the last one counts. */
TEST(equal_maps)
{
	struct mrpc_msg msg, other;
	struct d_All *a = begin(&msg), *b = d_All_new(&other, NULL);
	int i;

	for (i = 0; i < 26; i++) {
		add_name(&msg, a, (const char[]){ 'a' + i, '\0' }, i);
		add_name(&other, b, (const char[]){ 'z' - i, '\0' }, 25 - i);
	}
	add_name(&msg, a, "", 1);
	CHECK(!equal(a, b));
	add_name(&other, b, "", 0);
	CHECK(!equal(a, b));
	add_name(&other, b, "", 1);
	CHECK(equal(a, b));
	add_name(&msg, a, "b", 7);
	CHECK(!equal(a, b));
	add_name(&msg, a, "b", 1);
	CHECK(equal(a, b));

	/* An entry without a value has an empty one. */
	d_All_add_by_number(&msg, a)->key = 5;
	d_All_add_by_number(&other, b)->key = 5;
	d_All_ByNumberEntry_alloc_value(&msg, d_All_add_by_number(&msg, a));
	d_All_add_by_number(&other, b);
	CHECK(equal(a, b));
	d_All_ByNumberEntry_alloc_value(&other, d_All_add_by_number(&other, b))->a = 1;
	CHECK(!equal(a, b));
}

/* One that is being built can be in itself. */
TEST(no_end)
{
	struct mrpc_msg msg, other;
	struct d_All *all = begin(&msg);

	mrpc_msg_set_ref(&msg, &all->self, all, 1);
	all->self.len = 1;	/* a reference to the root */
	errno = 0;
	CHECK(!mrpc_to_json(&d_All__desc, all, all) && errno == EINVAL);
	errno = 0;
	CHECK(!mrpc_to_text(&d_All__desc, all, all) && errno == EINVAL);
	CHECK_EQ(mrpc_msg_equal(&d_All__desc, all, all, all, all), -EINVAL);
	mrpc_msg_copy(&other, d_All_new(&other, NULL), &d_All__desc, all, all);
	CHECK_EQ(other.err, -EINVAL);
}

TEST(append)
{
	struct mrpc_msg msg;
	struct d_All *all = begin(&msg);
	char word[16];
	size_t nr;
	int i;

	/* In turn, so that neither can grow where it stands */
	for (i = 0; i < 1000; i++) {
		d_All_add_many(&msg, all, i);
		snprintf(word, sizeof(word), "word %d", i);
		d_All_add_words(&msg, all, word);
		d_All_add_inners(&msg, all)->a = i;
	}
	CHECK_EQ(msg.err, 0);
	CHECK_EQ(all->words.len, 1000);
	CHECK_EQ(all->inners.len, 1000);
	for (i = 0; i < 1000; i++) {
		snprintf(word, sizeof(word), "word %d", i);
		CHECK(!strncmp(d_All_words(all, all, i), word, strlen(word)));
		CHECK_EQ(d_All_many(all, all, &nr)[i], i);
		CHECK_EQ(d_All_inners(all, all, i)->a, i);
	}
	CHECK_EQ(nr, 1000);
	/* One that was made with a length has no room behind it. */
	d_All_alloc_many(&msg, all, 5)[4] = 4;
	memset((char *)mrpc_msg_alloc(&msg, 64, 8), 0x55, 64);
	d_All_add_many(&msg, all, 5);
	CHECK_EQ(all->many.len, 6);
	CHECK_EQ(d_All_many(all, all, NULL)[4], 4);
	CHECK_EQ(d_All_many(all, all, NULL)[5], 5);
}

static void time_is(unsigned int line, int64_t seconds, int32_t nanos, const char *want)
{
	struct google_protobuf_Timestamp *t;
	struct mrpc_msg msg;
	struct d_Known *k = begin_known(&msg);
	char text[64];

	t = d_Known_alloc_t(&msg, k);
	t->seconds = seconds;
	t->nanos = nanos;
	snprintf(text, sizeof(text), "{\"t\":\"%s\"}", want ? want : "");
	if (want)
		has_json(line, &d_Known__desc, k, text);
	else
		CHECK_MSG(!mrpc_to_json(&d_Known__desc, k, k), "line %u", line);
}

static void span_is(unsigned int line, int64_t seconds, int32_t nanos, const char *want)
{
	struct google_protobuf_Duration *d;
	struct mrpc_msg msg;
	struct d_Known *k = begin_known(&msg);
	char text[64];

	d = d_Known_alloc_d(&msg, k);
	d->seconds = seconds;
	d->nanos = nanos;
	snprintf(text, sizeof(text), "{\"d\":\"%s\"}", want ? want : "");
	if (want)
		has_json(line, &d_Known__desc, k, text);
	else
		CHECK_MSG(!mrpc_to_json(&d_Known__desc, k, k), "line %u", line);
}

TEST(times)
{
	time_is(__LINE__, 0, 0, "1970-01-01T00:00:00Z");
	time_is(__LINE__, 951827696, 120000000, "2000-02-29T12:34:56.120Z");
	time_is(__LINE__, -62135596800, 1, "0001-01-01T00:00:00.000000001Z");
	time_is(__LINE__, 253402300799, 999999000, "9999-12-31T23:59:59.999999Z");
	time_is(__LINE__, 4107542399, 0, "2100-02-28T23:59:59Z");
	time_is(__LINE__, 4107542400, 0, "2100-03-01T00:00:00Z");
	time_is(__LINE__, 1798761599, 0, "2026-12-31T23:59:59Z");
	time_is(__LINE__, 1735603200, 0, "2024-12-31T00:00:00Z");
	time_is(__LINE__, 253402300800, 0, NULL);
	time_is(__LINE__, -62135596801, 0, NULL);
	time_is(__LINE__, 0, 1000000000, NULL);
	time_is(__LINE__, 0, -1, NULL);
	span_is(__LINE__, 0, 0, "0s");
	span_is(__LINE__, 1, 340012, "1.000340012s");
	span_is(__LINE__, -3, -500000000, "-3.500s");
	span_is(__LINE__, 0, -1000, "-0.000001s");
	span_is(__LINE__, 315576000000, 0, "315576000000s");
	span_is(__LINE__, 315576000001, 0, NULL);
	span_is(__LINE__, 1, -1, NULL);
	span_is(__LINE__, -1, 1, NULL);
}

TEST(known_types)
{
	struct google_protobuf_Struct_FieldsEntry *e;
	struct google_protobuf_FieldMask *mask;
	struct google_protobuf_ListValue *list;
	struct google_protobuf_Any *any;
	struct google_protobuf_Value *v;
	struct mrpc_msg msg;
	struct d_Known *k = begin_known(&msg);

	mask = d_Known_alloc_m(&msg, k);
	google_protobuf_FieldMask_add_paths(&msg, mask, "a.foo_bar");
	google_protobuf_FieldMask_add_paths(&msg, mask, "b");
	e = google_protobuf_Struct_add_fields(&msg, d_Known_alloc_s(&msg, k));
	google_protobuf_Struct_FieldsEntry_set_key(&msg, e, "x");
	v = google_protobuf_Struct_FieldsEntry_alloc_value(&msg, e);
	list = google_protobuf_Value_alloc_list_value(&msg, v);
	google_protobuf_Value_set_number_value(google_protobuf_ListValue_add_values(&msg, list),
					       1.5);
	google_protobuf_Value_set_null_value(google_protobuf_ListValue_add_values(&msg, list), 0);
	google_protobuf_Value_set_bool_value(d_Known_alloc_v(&msg, k), false);
	d_Known_alloc_w(&msg, k)->value = -1;
	d_Known_alloc_sv(&msg, k);
	d_Known_alloc_e(&msg, k);
	has_json(__LINE__, &d_Known__desc, k,
		 "{\"m\":\"a.fooBar,b\",\"s\":{\"x\":[1.5,null]},\"v\":false,\"w\":\"-1\",\"sv\":\"\",\"e\":{}}");
	google_protobuf_FieldMask_add_paths(&msg, mask, "notSnake");
	CHECK(!mrpc_to_json(&d_Known__desc, k, k) && errno == EINVAL);

	k = begin_known(&msg);
	v = d_Known_alloc_v(&msg, k);
	CHECK(!mrpc_to_json(&d_Known__desc, k, k));	/* no kind is set */
	google_protobuf_Value_set_number_value(v, NAN);
	CHECK(!mrpc_to_json(&d_Known__desc, k, k));
	google_protobuf_Value_set_number_value(v, 3);
	has_json(__LINE__, &d_Known__desc, k, "{\"v\":3}");
	any = d_Known_alloc_any(&msg, k);
	has_json(__LINE__, &d_Known__desc, k, "{\"v\":3,\"any\":{}}");
	CHECK_EQ(mrpc_any_pack(&msg, any, &d_Known__desc, k, k), 0);
	has_json(__LINE__, &d_Known__desc, k, "{\"v\":3,\"any\":{\"@type\":\"type.googleapis.com/d.Known\","
		 "\"v\":3,\"any\":{}}}");
	google_protobuf_Any_set_type_url(&msg, any, "x/d.Unknown");
	CHECK(!mrpc_to_json(&d_Known__desc, k, k) && errno == EINVAL);
}

