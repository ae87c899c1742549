// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/protobuf/decode kmod/lib/protobuf/encode kmod/lib/protobuf/scan */
/*
 * Protobuf of random messages: there and back, in other encodings, cut short, changed, with byte
 * blocks where they are, and in memory that changes meanwhile.
 */
#include <assert.h>

#include "proto.h"
#include "tap.h"

#define ARENA	(16U << 20)

/* A message of a random schema, as a tree and in canonical form. */
struct given {
	struct gen g;
	struct mrpc_schema_plan *plan;
	struct model_pool pool;
	struct model_msg *msg;
	u32 type;
	u8 *wire;
	struct mrpc_msg_len len;
};

/* False: a schema whose message is too deep to have all that the decoder adds. */
static bool given_message(struct given *t, u32 seed, u32 budget)
{
	bool fits;

	*t = (struct given){ .g = gen_seeded(seed) };
	t->plan = gen_plan(&t->g);
	t->type = gen_below(&t->g, t->plan->nr_types);
	t->msg = gen_message(&t->g, &t->pool, t->plan, t->type, gen_below(&t->g, budget));
	fits = proto_season(&t->g, &t->pool, t->plan, t->msg);
	t->wire = model_encode(t->plan, t->msg, &t->len);
	return fits;
}

static void given_end(struct given *t)
{
	free(t->wire);
	model_free(&t->pool);
	free(t->plan);
}

/* Is it the message? */
static void check_same(const struct given *t, const struct proto_decoded *d, u32 seed)
{
	CHECK_MSG(!d->ret, "seed %u: %d, %lld %s", seed, d->ret, (long long)d->err.off, d->err.what);
	CHECK_MSG(!memcmp(&d->len, &t->len, sizeof(d->len)), "seed %u: lengths", seed);
	CHECK_MSG(!memcmp(d->wire, t->wire, mrpc_msg_total(&d->len)), "seed %u: bytes", seed);
}

TEST_LIMIT(there_and_back, 60)
{
	u32 seed, large = 0;

	for (seed = 0; seed < 500; seed++) {
		struct proto_bytes b, again;
		struct proto_decoded d;
		struct given t;

		if (given_message(&t, seed, 100)) {
			b = proto_encode_wire(t.plan, t.type, t.wire, &t.len);
			CHECK(b.p);
			d = proto_decode(t.plan, t.type, b.p, b.len, ARENA);
			check_same(&t, &d, seed);
			CHECK_EQ(d.unknown, 0);
			again = proto_encode_wire(t.plan, t.type, d.wire, &d.len);
			CHECK(again.len == b.len && !memcmp(again.p, b.p, b.len));
			large += b.len > 1000;
			free(again.p);
			free(d.wire);
			free(b.p);
		}
		given_end(&t);
	}
	CHECK(large > 50);
}

TEST_LIMIT(other_encodings, 60)
{
	u32 seed, other = 0, unknown = 0, merges = 0;

	for (seed = 0; seed < 500; seed++) {
		struct proto_bytes b, varied;
		struct proto_decoded d;
		struct given t;

		if (given_message(&t, seed, 60)) {
			struct proto_vary v = {
				.g = &t.g, .plan = t.plan, .merges = MRPC_PB_MAX_MERGES,
			};

			b = proto_encode_wire(t.plan, t.type, t.wire, &t.len);
			varied = proto_vary(&v, t.type, b.p, b.len);
			d = proto_decode(t.plan, t.type, varied.p, varied.len, ARENA);
			check_same(&t, &d, seed);
			CHECK_EQ(d.unknown, v.unknown);
			other += varied.len != b.len || memcmp(varied.p, b.p, b.len);
			unknown += v.unknown;
			merges += MRPC_PB_MAX_MERGES - v.merges;
			free(d.wire);
			free(varied.p);
			free(b.p);
		}
		given_end(&t);
	}
	NOTE("%u other encodings, %u unknown fields, %u merges", other, unknown, merges);
	CHECK(other > 200);
	CHECK(unknown > 500);
	CHECK(merges > 200);
}

/* Decodes anything: what is accepted has an encoding that gives the same message. */
static bool try_decode(const struct given *t, const u8 *in, u32 len, u32 seed)
{
	struct proto_decoded d = proto_decode(t->plan, t->type, in, len, ARENA), same;
	struct proto_bytes b;
	char text[200];

	if (d.ret) {
		CHECK(d.ret == -EINVAL || d.ret == -EMSGSIZE || d.ret == -EFBIG);
		CHECK(mrpc_msg_explain(t->plan, &d.err, text, sizeof(text)) > 0);
		return false;
	}
	b = proto_encode_wire(t->plan, t->type, d.wire, &d.len);
	same = proto_decode(t->plan, t->type, b.p, b.len, ARENA);
	CHECK_MSG(!same.ret, "seed %u: %s", seed, same.err.what);
	CHECK(!memcmp(&same.len, &d.len, sizeof(d.len)));
	CHECK(!memcmp(same.wire, d.wire, mrpc_msg_total(&d.len)));
	free(same.wire);
	free(b.p);
	free(d.wire);
	return true;
}

TEST_LIMIT(cut_short, 60)
{
	u32 seed, accepted = 0, refused = 0;

	for (seed = 0; seed < 100; seed++) {
		struct proto_bytes b;
		struct given t;
		u32 len;

		given_message(&t, seed, 10);
		b = proto_encode_wire(t.plan, t.type, t.wire, &t.len);
		for (len = 0; len < b.len && len < 300; len++) {
			if (try_decode(&t, b.p, len, seed))
				accepted++;
			else
				refused++;
		}
		free(b.p);
		given_end(&t);
	}
	NOTE("%u accepted, %u refused", accepted, refused);
	CHECK(accepted > 100);
	CHECK(refused > 1000);
}

TEST_LIMIT(changed, 60)
{
	u32 seed, accepted = 0, refused = 0;

	for (seed = 0; seed < 200; seed++) {
		struct proto_bytes b;
		struct given t;
		u32 i;

		given_message(&t, seed, 10);
		b = proto_encode_wire(t.plan, t.type, t.wire, &t.len);
		for (i = 0; b.len && i < 40; i++) {
			u32 at = gen_below(&t.g, min_t(size_t, b.len, 300));
			u8 was = b.p[at];

			b.p[at] = gen_chance(&t.g, 50) ? gen_u64(&t.g) :
				  was ^ 1U << gen_below(&t.g, 8);
			if (try_decode(&t, b.p, b.len, seed))
				accepted++;
			else
				refused++;
			if (gen_chance(&t.g, 70))
				b.p[at] = was;
		}
		free(b.p);
		given_end(&t);
	}
	NOTE("%u accepted, %u refused", accepted, refused);
	CHECK(accepted > 500);
	CHECK(refused > 1000);
}

/* -- byte blocks ----------------------------------------------------------- */

/* Has it an array that needs to be copied first? */
static bool has_varints(const struct given *t, const struct model_msg *msg)
{
	const struct mrpc_type *type = &t->plan->types[msg->type];
	u32 i, j;

	for (i = 0; i < type->nr_fields; i++) {
		const struct mrpc_field *f = &t->plan->fields[type->first_field + i];
		const struct model_field *v = &msg->fields[i];

		switch (f->kind) {
		case MRPC_KIND_MESSAGE:
			for (j = 0; j < v->n; j++)
				if (has_varints(t, v->msgs[j]))
					return true;
			break;
		case MRPC_KIND_INT32:
		case MRPC_KIND_SINT32:
		case MRPC_KIND_UINT32:
		case MRPC_KIND_ENUM:
		case MRPC_KIND_INT64:
		case MRPC_KIND_SINT64:
		case MRPC_KIND_UINT64:
			if (f->flags & MRPC_FIELD_REPEATED && v->n)
				return true;
		}
	}
	return false;
}

/* Blocks in an application's heap, found by their segments. */
TEST_LIMIT(blocks_by_reference, 60)
{
	u32 seed, by_reference = 0, refused = 0;

	for (seed = 0; seed < 300; seed++) {
		struct gen_heap heap = { 0 };
		const struct mrpc_msg_src src = { .at = gen_heap_at, .ctx = &heap };
		struct mrpc_seg_index segs = { 0 };
		struct proto_bytes b, want;
		struct mrpc_msg_error err;
		struct mrpc_pb_input in;
		struct gen_buf buf;
		struct given t;
		u32 root;

		if (!given_message(&t, seed, 200)) {
			given_end(&t);
			continue;
		}
		root = gen_heap_write(&t.g, &heap, t.plan, t.msg);
		gen_buf_init(&buf, 64 << 20);
		CHECK_EQ(mrpc_msg_snapshot(t.plan, t.type, &src, root, &buf.buf, &err), 0);
		segs.segs = buf.buf.segs;
		segs.nr_marks = mrpc_seg_marks(buf.buf.nr_segs);
		segs.marks = calloc(segs.nr_marks + 1, sizeof(*segs.marks));
		mrpc_seg_index(&segs);
		in = (struct mrpc_pb_input){
			.plan = t.plan, .type = t.type, .len = buf.buf.len,
			.head = buf.buf.head, .segs = &segs, .src = &src,
		};
		b = proto_encode(&in);
		CHECK_EQ(!b.p, has_varints(&t, t.msg));
		if (b.p) {
			want = proto_encode_wire(t.plan, t.type, t.wire, &t.len);
			CHECK_MSG(b.len == want.len && !memcmp(b.p, want.p, b.len),
				  "seed %u: bytes", seed);
			by_reference += buf.buf.nr_segs > 3;
			free(want.p);
			free(b.p);
		} else {
			refused++;
		}
		free(segs.marks);
		gen_buf_free(&buf);
		gen_heap_free(&heap);
		given_end(&t);
	}
	NOTE("%u by reference, %u refused", by_reference, refused);
	CHECK(by_reference > 20);
	CHECK(refused > 50);
}

/* -- what changes meanwhile ------------------------------------------------ */

/* The byte section changes between the two walks. */
TEST_LIMIT(bytes_change, 60)
{
	static struct mrpc_pb_levels levels;
	u32 seed, good = 0, bad = 0;

	for (seed = 0; seed < 300; seed++) {
		struct mrpc_pb_size size;
		struct mrpc_pb_cut *cuts;
		struct mrpc_pb_input in;
		struct given t;
		u32 head_len, i;
		u8 *buf;
		int ret;

		given_message(&t, seed, 30);
		head_len = mrpc_msg_head_len(&t.len);
		in = (struct mrpc_pb_input){
			.plan = t.plan, .type = t.type, .len = t.len, .head = t.wire,
			.bytes = t.wire + head_len,
		};
		CHECK_EQ(mrpc_pb_size(&in, &levels, U32_MAX, &size), 0);
		for (i = gen_below(&t.g, 10); i && t.len.bytes; i--)
			gen_bytes(&t.g, t.wire + head_len + gen_below(&t.g, t.len.bytes), 1);
		buf = malloc(size.buf_len);
		cuts = malloc(size.nr_cuts * sizeof(*cuts));
		ret = mrpc_pb_encode(&in, &levels, &size, buf, cuts);
		CHECK(!ret || ret == -EINVAL);
		good += !ret;
		bad += !!ret;
		free(buf);
		free(cuts);
		given_end(&t);
	}
	NOTE("%u encoded, %u refused", good, bad);
	CHECK(good > 100);
	CHECK(bad > 10);
}

/* Room that is not what the message needs. */
TEST(wrong_sizes)
{
	static struct mrpc_pb_levels levels;
	u32 seed;

	for (seed = 0; seed < 200; seed++) {
		struct mrpc_pb_size size, wrong;
		struct mrpc_pb_cut *cuts;
		struct mrpc_pb_input in;
		struct given t;
		u32 i;
		u8 *buf;

		given_message(&t, seed, 30);
		in = (struct mrpc_pb_input){
			.plan = t.plan, .type = t.type, .len = t.len, .head = t.wire,
			.bytes = t.wire + mrpc_msg_head_len(&t.len),
		};
		CHECK_EQ(mrpc_pb_size(&in, &levels, U32_MAX, &size), 0);
		for (i = 0; i < 6; i++) {
			u32 *value = i % 3 == 0 ? &wrong.total : i % 3 == 1 ? &wrong.buf_len :
				     &wrong.nr_cuts;

			wrong = size;
			if (i >= 3 && !*value)
				continue;
			*value += i < 3 ? 1 : -1;
			buf = malloc(wrong.buf_len);
			cuts = malloc(wrong.nr_cuts * sizeof(*cuts));
			CHECK_EQ(mrpc_pb_encode(&in, &levels, &wrong, buf, cuts), -EINVAL);
			free(buf);
			free(cuts);
		}
		given_end(&t);
	}
}

static struct gen meddler;
static u8 *meddled;
static u32 meddled_len;

/* Changes the input each time when the decoder needs memory, which is always too small. */
static int grow_and_meddle(struct mrpc_pb_message *m, u32 need)
{
	u32 n = gen_chance(&meddler, 30) ? gen_below(&meddler, 4) : 0;
	u8 *arena = malloc(need);

	assert(arena);
	memset(arena, 0xa5, need);
	if (m->arena_len)
		memcpy(arena, m->arena, m->arena_len);
	free(m->arena);
	m->arena = arena;
	m->arena_cap = need;
	while (n--)
		gen_bytes(&meddler, meddled + gen_below(&meddler, meddled_len), 1);
	return 0;
}

/* The input changes while it is decoded: nothing is read or written where it must not be. */
TEST_LIMIT(input_changes, 60)
{
	static struct mrpc_pb_scratch scratch;
	u32 seed, good = 0, bad = 0, seen = 0, round;

	meddler = gen_seeded(1);
	for (seed = 0; seed < 150; seed++) {
		struct proto_bytes b, varied;
		struct given t;

		given_message(&t, seed, 30);
		b = proto_encode_wire(t.plan, t.type, t.wire, &t.len);
		for (round = 0; b.len && round < 10; round++) {
			struct proto_vary v = { .g = &t.g, .plan = t.plan, .merges = 8 };
			struct mrpc_pb_message m = { .arena_max = ARENA, .grow = grow_and_meddle };
			struct mrpc_msg_error err;
			struct mrpc_msg_src src;
			struct gen_buf buf;
			int ret;

			varied = proto_vary(&v, t.type, b.p, b.len);
			meddled = malloc(varied.len);
			memcpy(meddled, varied.p, varied.len);
			meddled_len = varied.len;
			m.in = meddled;
			m.in_len = meddled_len;
			ret = mrpc_pb_decode(&m, &scratch, t.plan, t.type, &err);
			seen += ret && strstr(err.what, "the input has changed");
			if (!ret) {
				gen_buf_init(&buf, 64 << 20);
				mrpc_pb_source(&m, &src);
				ret = mrpc_msg_snapshot(t.plan, t.type, &src, 0, &buf.buf, &err);
				if (!ret)
					CHECK_EQ(mrpc_msg_verify(t.plan, t.type, buf.buf.head,
								 &buf.buf.len, &err), 0);
				gen_buf_free(&buf);
			}
			good += !ret;
			bad += !!ret;
			free(m.arena);
			free(meddled);
			free(varied.p);
		}
		free(b.p);
		given_end(&t);
	}
	NOTE("%u good, %u bad, %u changes seen", good, bad, seen);
	CHECK(good > 100);
	CHECK(bad > 100);
	CHECK(seen > 0);
}

/* Memory that is not there, at each place in turn. */
static u32 grow_left;

static int grow_fails(struct mrpc_pb_message *m, u32 need)
{
	u8 *arena;

	if (!grow_left--)
		return -ENOMEM;
	arena = realloc(m->arena, need);
	assert(arena);
	m->arena = arena;
	m->arena_cap = need;
	return 0;
}

TEST(memory_is_lacking)
{
	static struct mrpc_pb_scratch scratch;
	u32 seed, failures = 0;

	for (seed = 0; seed < 100; seed++) {
		struct proto_bytes b;
		struct given t;
		u32 i;

		given_message(&t, seed, 20);
		b = proto_encode_wire(t.plan, t.type, t.wire, &t.len);
		for (i = 0; i < 1000; i++) {
			struct mrpc_pb_message m = {
				.in = b.p, .in_len = b.len, .arena_max = ARENA, .grow = grow_fails,
			};
			struct mrpc_msg_error err;
			int ret;

			grow_left = i;
			ret = mrpc_pb_decode(&m, &scratch, t.plan, t.type, &err);
			free(m.arena);
			if (!ret)
				break;
			CHECK_EQ(ret, -ENOMEM);
			CHECK_STR(err.what, "is where memory is lacking");
			failures++;
		}
		free(b.p);
		given_end(&t);
	}
	CHECK(failures > 300);
}
