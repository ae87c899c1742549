// SPDX-License-Identifier: GPL-2.0
/*
 * Messages made with generated builders go through the kernel's snapshot and
 * verifier, and are read back, as the receiver would, with generated readers.
 */
#include <mrpc.h>

#include "all_types.mrpc.h"
#include "heap.h"
#include "lib/message/message.h"
#include "tap.h"

/* -- sending and receiving ----------------------------------------------------------- */

static unsigned char received[HEAP_SIZE] __attribute__((aligned(8)));

static const void *at(void *ctx, u64 off, u64 len)
{
	(void)ctx;
	return off <= HEAP_SIZE && len <= HEAP_SIZE - off ? heap + off : NULL;
}

static int no_room(struct mrpc_msg_buf *buf, u32 need)
{
	(void)buf;
	(void)need;
	return -ENOMEM;
}

static const struct mrpc_schema_plan *plan_of(const struct mrpc_service_desc *service)
{
	static u64 plan[65536];
	struct mrpc_schema_error err;

	CHECK(mrpc_schema_size(service->schema, service->schema_len, &err) <= (s64)sizeof(plan));
	CHECK_MSG(!mrpc_schema_compile(service->schema, service->schema_len, plan, sizeof(plan),
				       &err), "%s %u: %s", err.table, err.index, err.what);
	return (const struct mrpc_schema_plan *)plan;
}

/* The request of @method, as its server would get it. */
static const void *deliver(const struct mrpc_service_desc *service, unsigned int method,
			   const struct mrpc_msg *msg)
{
	const struct mrpc_schema_plan *plan = plan_of(service);
	u32 type = plan->methods[method].request;
	struct mrpc_msg_src src = { .at = at };
	struct mrpc_msg_seg segs[64];
	struct mrpc_msg_buf buf = {
		.head = received,
		.head_cap = sizeof(received) / 2,
		.segs = segs,
		.segs_cap = ARRAY_SIZE(segs),
		.max_total = sizeof(received),
		.grow_head = no_room,
		.grow_segs = no_room,
	};
	struct mrpc_msg_error err;
	unsigned char *to;
	char text[256];
	u32 i;

	memset(received, 0x5a, sizeof(received));
	CHECK_EQ(msg->err, 0);
	if (mrpc_msg_snapshot(plan, type, &src, heap_offset(msg->root), &buf, &err)) {
		mrpc_msg_explain(plan, &err, text, sizeof(text));
		CHECK_MSG(false, "%s", text);
	}
	CHECK(!mrpc_msg_verify(plan, type, received, &buf.len, &err));
	to = received + mrpc_msg_head_len(&buf.len);
	for (i = 0; i < buf.nr_segs; i++) {
		memcpy(to, heap + segs[i].src, segs[i].len);
		to += ALIGN(segs[i].len, 8);
	}
	CHECK_EQ(to - received, mrpc_msg_total(&buf.len));
	heap_reset();	/* nothing received may depend on it */
	return received;
}

static const struct test_all_Everybody *mirror(const struct mrpc_msg *msg)
{
	return deliver(&test_all_Everything_service, test_all_Everything_METHOD_Mirror, msg);
}

static struct test_all_Everybody *begin(struct mrpc_msg *msg)
{
	heap_reset();
	return test_all_Everybody_new(msg, NULL);
}

/* -- tests --------------------------------------------------------------------------- */

TEST(scalars)
{
	const struct test_all_Everybody *all;
	const struct test_all_Scalars *r;
	struct test_all_Scalars *s;
	struct mrpc_msg msg;
	size_t len;

	s = test_all_Everybody_alloc_scalars(&msg, begin(&msg));
	*s = (struct test_all_Scalars){
		.b = true, .i32 = INT32_MIN, .s32 = -2, .u32 = UINT32_MAX, .f32 = 4, .sf32 = -5,
		.flt = 1.5f, .level = test_all_LEVEL_BELOW, .i64 = INT64_MIN, .odd = true,
		.s64 = -11, .u64 = UINT64_MAX, .f64 = 13, .sf64 = -14, .dbl = 0.1,
		.before_last = true,
	};
	test_all_Scalars_set_str(&msg, s, "hello");
	test_all_Scalars_set_raw(&msg, s, "a\0b", 3);

	all = mirror(&msg);
	CHECK(test_all_Everybody_has_scalars(all));
	r = test_all_Everybody_scalars(all, all);
	CHECK(r && r->b && r->odd && r->before_last && !r->last);
	CHECK_EQ(r->i32, INT32_MIN);
	CHECK_EQ(r->s32, -2);
	CHECK_EQ(r->u32, UINT32_MAX);
	CHECK_EQ(r->f32, 4);
	CHECK_EQ(r->sf32, -5);
	CHECK(r->flt == 1.5f && r->dbl == 0.1);
	CHECK_EQ(r->level, test_all_LEVEL_BELOW);
	CHECK_EQ(r->i64, INT64_MIN);
	CHECK_EQ(r->s64, -11);
	CHECK_EQ(r->u64, UINT64_MAX);
	CHECK_EQ(r->f64, 13);
	CHECK_EQ(r->sf64, -14);
	CHECK_STR(test_all_Scalars_str(all, r), "hello");
	CHECK(!memcmp(test_all_Scalars_raw(all, r, &len), "a\0b", 3));
	CHECK_EQ(len, 3);
}

TEST(nothing_set)
{
	const struct test_all_Everybody *all;
	struct mrpc_msg msg;

	begin(&msg);
	all = mirror(&msg);
	CHECK(!test_all_Everybody_has_scalars(all) && !test_all_Everybody_scalars(all, all));
	CHECK(!test_all_Everybody_when(all, all) && !test_all_Everybody_has_nothing(all));
	CHECK(!test_all_Everybody_choices(all, all, 0));
	CHECK_EQ(all->colour, test_common_COLOUR_NONE);
}

TEST(optionals)
{
	const struct test_all_Everybody *all;
	const struct test_all_Optionals *r;
	struct test_all_Optionals *o;
	struct mrpc_msg msg;
	size_t len = 7;

	o = test_all_Everybody_alloc_optionals(&msg, begin(&msg));
	test_all_Optionals_set_b(o, false);
	test_all_Optionals_set_u64(o, 1);
	test_all_Optionals_clear_u64(o);
	test_all_Optionals_set_str(&msg, o, "");
	test_all_Optionals_set_raw(&msg, o, "x", 1);
	test_all_Optionals_clear_raw(o);
	test_all_Optionals_alloc_nothing(&msg, o);
	test_all_Optionals_set_n27(o, 2.5f);
	o->dbl = 9;	/* without its bit: not set */

	all = mirror(&msg);
	r = test_all_Everybody_optionals(all, all);
	CHECK(test_all_Optionals_has_b(r) && !r->b);
	CHECK(!test_all_Optionals_has_i32(r));
	CHECK(!test_all_Optionals_has_u64(r));
	CHECK(!test_all_Optionals_has_dbl(r) && r->dbl == 0);
	CHECK(test_all_Optionals_has_str(r));
	CHECK_STR(test_all_Optionals_str(all, r), "");
	CHECK(!test_all_Optionals_has_raw(r) && !test_all_Optionals_raw(all, r, &len) && !len);
	CHECK(test_all_Optionals_has_nothing(r) && test_all_Optionals_nothing(all, r));
	CHECK(!test_all_Optionals_has_n26(r));
	CHECK(test_all_Optionals_has_n27(r) && r->n27 == 2.5f);
}

TEST(repeated)
{
	static const int64_t numbers[] = { 1, -2, INT64_MAX };
	static const bool truths[] = { true, false, true };
	const struct test_all_Everybody *all;
	const struct test_all_Repeated *r;
	struct test_all_Repeated_Inner *inner;
	struct test_all_Repeated *m;
	struct mrpc_msg msg;
	double *doubles;
	size_t nr, len;

	m = test_all_Everybody_alloc_repeated_ones(&msg, begin(&msg));
	test_all_Repeated_set_b(&msg, m, truths, 3);
	test_all_Repeated_set_i64(&msg, m, numbers, 3);
	doubles = test_all_Repeated_alloc_dbl(&msg, m, 2);
	doubles[1] = 0.5;
	test_all_Repeated_alloc_level(&msg, m, 1)[0] = test_all_LEVEL_TOP;
	test_all_Repeated_alloc_str(&msg, m, 3);
	test_all_Repeated_set_str(&msg, m, 0, "zero");
	test_all_Repeated_setn_str(&msg, m, 2, "two and more", 3);
	test_all_Repeated_alloc_raw(&msg, m, 2);
	test_all_Repeated_set_raw(&msg, m, 1, "raw", 4);
	inner = test_all_Repeated_alloc_inner(&msg, m, 2);
	inner[0].mood = test_all_Repeated_Inner_WILD;
	test_all_Repeated_Inner_set_note(&msg, &inner[1], "second");

	all = mirror(&msg);
	r = test_all_Everybody_repeated_ones(all, all);
	CHECK(!memcmp(test_all_Repeated_b(all, r, &nr), truths, sizeof(truths)));
	CHECK_EQ(nr, 3);
	CHECK(!memcmp(test_all_Repeated_i64(all, r, NULL), numbers, sizeof(numbers)));
	CHECK(test_all_Repeated_dbl(all, r, &nr)[1] == 0.5);
	CHECK_EQ(nr, 2);
	CHECK_EQ(test_all_Repeated_level(all, r, NULL)[0], 5);
	CHECK(!test_all_Repeated_flt(all, r, &nr) && !nr);
	CHECK_STR(test_all_Repeated_str(all, r, 0), "zero");
	CHECK_STR(test_all_Repeated_str(all, r, 1), "");
	CHECK_STR(test_all_Repeated_str(all, r, 2), "two");
	CHECK(!test_all_Repeated_str(all, r, 3));
	CHECK(!test_all_Repeated_raw(all, r, 0, &len) && !len);
	CHECK_STR((const char *)test_all_Repeated_raw(all, r, 1, &len), "raw");
	CHECK_EQ(len, 4);
	CHECK(!test_all_Repeated_raw(all, r, 2, &len) && !len);
	CHECK_EQ(r->inner.len, 2);
	CHECK_EQ(test_all_Repeated_inner(all, r, 0)->mood, test_all_Repeated_Inner_WILD);
	CHECK_STR(test_all_Repeated_Inner_note(all, test_all_Repeated_inner(all, r, 1)), "second");
	CHECK(!test_all_Repeated_inner(all, r, 2));
}

TEST(index_beyond_array)
{
	struct test_all_Repeated *m;
	struct mrpc_msg msg;

	m = test_all_Everybody_alloc_repeated_ones(&msg, begin(&msg));
	test_all_Repeated_alloc_str(&msg, m, 3);
	test_all_Repeated_set_str(&msg, m, 2, "fits");
	CHECK_EQ(mrpc_msg_error(&msg), 0);
	test_all_Repeated_set_str(&msg, m, 3, "does not");
	CHECK_EQ(mrpc_msg_error(&msg), -ERANGE);
}

TEST(maps)
{
	const struct test_all_Maps_DeeperEntry *deeper;
	const struct test_all_Everybody *all;
	struct test_all_Maps_TextEntry *text;
	struct test_all_Maps_InnerEntry *inner;
	const struct test_all_Maps *r;
	struct test_all_Maps *m;
	struct mrpc_msg msg;

	m = test_all_Everybody_alloc_maps(&msg, begin(&msg));
	text = test_all_Maps_alloc_text(&msg, m, 4);
	test_all_Maps_TextEntry_set_key(&msg, &text[0], "a");
	test_all_Maps_TextEntry_set_value(&msg, &text[0], "first");
	test_all_Maps_TextEntry_set_key(&msg, &text[1], "ab");
	test_all_Maps_TextEntry_set_key(&msg, &text[2], "a");
	test_all_Maps_TextEntry_set_value(&msg, &text[2], "last");
	inner = test_all_Maps_alloc_inner(&msg, m, 2);
	inner[1].key = UINT64_MAX;
	inner[1].value = inner[0].value;
	test_all_Repeated_Inner_set_note(&msg,
			test_all_Maps_InnerEntry_alloc_value(&msg, &inner[1]), "deep");
	test_all_Maps_alloc_truth(&msg, m, 1)[0].key = true;
	test_all_Maps_alloc_deeper(&msg, m, 1)[0].key = -3;

	all = mirror(&msg);
	r = test_all_Everybody_maps(all, all);
	CHECK_STR(test_all_Maps_TextEntry_value(all, test_all_Maps_find_text(all, r, "a")), "last");
	CHECK_STR(test_all_Maps_TextEntry_value(all, test_all_Maps_find_text(all, r, "ab")), "");
	CHECK_STR(test_all_Maps_TextEntry_key(all, test_all_Maps_text(all, r, 0)), "a");
	CHECK(test_all_Maps_find_text(all, r, "") == test_all_Maps_text(all, r, 3));
	CHECK(!test_all_Maps_find_text(all, r, "abc"));
	CHECK(test_all_Maps_find_inner(all, r, UINT64_MAX) == test_all_Maps_inner(all, r, 1));
	CHECK_STR(test_all_Repeated_Inner_note(all, test_all_Maps_InnerEntry_value(all,
			test_all_Maps_find_inner(all, r, UINT64_MAX))), "deep");
	CHECK(!test_all_Maps_InnerEntry_has_value(test_all_Maps_find_inner(all, r, 0)));
	CHECK(test_all_Maps_find_truth(all, r, true) && !test_all_Maps_find_truth(all, r, false));
	deeper = test_all_Maps_find_deeper(all, r, -3);
	CHECK(deeper && !test_all_Maps_DeeperEntry_value(all, deeper));
	CHECK(!test_all_Maps_find_raw(all, r, 0));
}

TEST(oneofs)
{
	const struct test_all_Everybody *all;
	const struct test_all_Choice *r;
	struct test_all_Choice *c;
	struct mrpc_msg msg;
	size_t len = 1;

	c = test_all_Everybody_alloc_choices(&msg, begin(&msg), 5);
	test_all_Choice_set_number(&c[0], 1e300);
	test_all_Choice_set_text(&msg, &c[0], "text wins");
	test_all_Choice_set_no(&c[0], true);
	test_all_Choice_set_raw(&msg, &c[1], NULL, 0);
	test_all_Choice_clear_text(&c[1]);	/* is not set: no effect */
	test_all_Tree_set_name(&msg, test_all_Choice_alloc_tree(&msg, &c[2]), "oak");
	test_all_Choice_set_number(&c[3], 7);
	test_all_Choice_set_level(&c[4], 5);
	test_all_Choice_clear_level(&c[4]);

	all = mirror(&msg);
	r = test_all_Everybody_choices(all, all, 0);
	CHECK_EQ(r->body_case, test_all_Choice_CASE_text);
	CHECK(test_all_Choice_has_text(r) && !test_all_Choice_has_number(r));
	CHECK_STR(test_all_Choice_text(all, r), "text wins");
	CHECK(!test_all_Choice_raw(all, r, &len) && !len);
	CHECK(!test_all_Choice_tree(all, r));
	CHECK_EQ(r->other_case, test_all_Choice_CASE_no);
	CHECK(r->no);

	r = test_all_Everybody_choices(all, all, 1);
	CHECK(test_all_Choice_has_raw(r) && !test_all_Choice_raw(all, r, &len) && !len);
	CHECK_STR(test_all_Choice_text(all, r), "");
	CHECK_EQ(r->other_case, test_all_Choice_other_NOT_SET);

	r = test_all_Everybody_choices(all, all, 2);
	CHECK_STR(test_all_Tree_name(all, test_all_Choice_tree(all, r)), "oak");
	r = test_all_Everybody_choices(all, all, 3);
	CHECK_EQ(r->body_case, 6);
	CHECK(r->number == 7);
	CHECK_STR(test_all_Choice_text(all, r), "");
	r = test_all_Everybody_choices(all, all, 4);
	CHECK_EQ(r->body_case, test_all_Choice_body_NOT_SET);
}

TEST(recursion_and_imports)
{
	const struct test_all_Everybody *all;
	struct google_protobuf_Timestamp *when;
	const struct test_all_Tree *r;
	struct test_all_Everybody *m;
	struct test_all_Tree *t;
	struct mrpc_msg msg;
	int depth;

	m = begin(&msg);
	when = test_all_Everybody_alloc_when(&msg, m);
	when->seconds = 1LL << 40;
	when->nanos = 999999999;
	test_all_Everybody_alloc_point(&msg, m)->y = -1;
	m->colour = test_common_COLOUR_DEEP;
	t = test_all_Everybody_alloc_tree(&msg, m);
	for (depth = 0; depth < 20; depth++) {
		test_all_Tree_alloc_children(&msg, t, 2);
		test_all_Tree_set_name(&msg, t, "branch");
		t = test_all_Tree_alloc_left(&msg, t);
	}
	test_all_Tree_set_leaf(t, true);

	all = mirror(&msg);
	CHECK_EQ(test_all_Everybody_when(all, all)->seconds, 1LL << 40);
	CHECK_EQ(test_all_Everybody_when(all, all)->nanos, 999999999);
	CHECK_EQ(test_all_Everybody_point(all, all)->y, -1);
	CHECK_EQ(all->colour, INT32_MIN);
	r = test_all_Everybody_tree(all, all);
	for (depth = 0; test_all_Tree_has_left(r); depth++) {
		CHECK_STR(test_all_Tree_name(all, r), "branch");
		CHECK_EQ(r->children.len, 2);
		r = test_all_Tree_left(all, r);
	}
	CHECK_EQ(depth, 20);
	CHECK(test_all_Tree_has_leaf(r) && r->leaf);
}

TEST(filled_in_place_and_attached)
{
	const struct test_all_Everybody *all;
	const struct test_all_Scalars *r;
	struct test_all_Scalars *s;
	unsigned char *block;
	struct mrpc_msg msg;
	const char *raw;
	size_t len;

	s = test_all_Everybody_alloc_scalars(&msg, begin(&msg));
	memcpy(test_all_Scalars_alloc_str(&msg, s, 8), "in place", 8);
	block = mrpc_alloc(NULL, 100000);
	memset(block, 'x', 100000);
	test_all_Scalars_attach_raw(&msg, s, block, 1, 99999);

	all = mirror(&msg);
	r = test_all_Everybody_scalars(all, all);
	CHECK_STR(test_all_Scalars_str(all, r), "in place");
	raw = test_all_Scalars_raw(all, r, &len);
	CHECK_EQ(len, 99999);
	CHECK(raw[0] == 'x' && raw[99998] == 'x');
}

/* -- descriptions ---------------------------------------------------------------------- */

static int mirror_op(struct mrpc_call *call, const struct test_all_Everybody *req,
		     struct test_all_Everybody *reply)
{
	reply->colour = req->colour;
	return call ? MRPC_OK : MRPC_ABORTED;
}

TEST(description)
{
	static const struct test_all_Everything_ops ops = { .Mirror = mirror_op };
	const struct mrpc_service_desc *desc = &test_all_Everything_service;
	const struct mrpc_schema_plan *plan = plan_of(desc);
	struct test_all_Everybody req = { .colour = 3 }, reply = { .colour = 0 };
	unsigned int i;

	CHECK_STR(desc->name, "test.all.Everything");
	CHECK_STR(mrpc_schema_service(plan), desc->name);
	CHECK_EQ(desc->nr_methods, plan->nr_methods);
	for (i = 0; i < desc->nr_methods; i++) {
		CHECK_STR(desc->methods[i].name, plan->names + plan->methods[i].name);
		CHECK_EQ(desc->methods[i].request_size,
			 plan->types[plan->methods[i].request].size);
		CHECK_EQ(desc->methods[i].reply_size, plan->types[plan->methods[i].reply].size);
	}
	CHECK_EQ(test_all_Everything_METHOD_Mirror, 2);
	CHECK_EQ(desc->methods[2].invoke(&ops, NULL, &req, &reply), MRPC_ABORTED);
	CHECK_EQ(reply.colour, 3);
	CHECK_EQ(desc->methods[0].invoke(&ops, NULL, &req, &reply), MRPC_UNIMPLEMENTED);
}
