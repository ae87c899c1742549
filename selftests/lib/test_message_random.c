// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshot and verification of random messages: against the model, changed, at the
 * limits, without memory, and in heaps that change meanwhile.
 */
#include <assert.h>
#include <pthread.h>

#include "gen.h"
#include "tap.h"

#define MAX_TOTAL	(64U << 20)

/* A message of a random schema, as a tree and in a heap. */
struct given {
	struct gen g;
	struct mrpc_schema_plan *plan;
	struct model_pool pool;
	struct model_msg *msg;
	struct gen_heap heap;
	struct mrpc_msg_src src;
	u32 root;
};

static void given_schema(struct given *t, u32 seed)
{
	*t = (struct given){ .g = gen_seeded(seed), .src = { gen_heap_at, &t->heap } };
	t->plan = gen_plan(&t->g);
}

/* About so many blocks. */
static void given_message(struct given *t, u32 type, u32 budget)
{
	t->msg = gen_message(&t->g, &t->pool, t->plan, type, budget);
	t->root = gen_heap_write(&t->g, &t->heap, t->plan, t->msg);
}

static void given_end(struct given *t)
{
	gen_heap_free(&t->heap);
	model_free(&t->pool);
	free(t->plan);
}

/* -- limits and failures --------------------------------------------------- */

TEST(largest_message)
{
	u32 seed, n = 0;

	for (seed = 0; seed < 300; seed++) {
		struct mrpc_msg_error err;
		struct mrpc_msg_len len;
		struct gen_buf b;
		struct given t;

		given_schema(&t, seed);
		given_message(&t, 0, 20);
		free(model_encode(t.plan, t.msg, &len));
		gen_buf_init(&b, mrpc_msg_total(&len));
		CHECK_EQ(mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &b.buf, &err), 0);
		b.buf.max_total--;
		CHECK_EQ(mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &b.buf, &err), -EMSGSIZE);
		n += b.buf.max_total > 100;
		gen_buf_free(&b);
		given_end(&t);
	}
	CHECK(n > 100);
}

TEST(growers_and_accesses_that_fail)
{
	u32 seed, failures = 0;

	for (seed = 0; seed < 100; seed++) {
		struct mrpc_msg_error err;
		struct gen_buf b;
		struct given t;
		char text[200];
		int ret;
		u32 i;

		given_schema(&t, seed);
		given_message(&t, 0, 10);
		for (i = 1; ; i++) {
			gen_buf_init(&b, MAX_TOTAL);
			b.fail_at = i;
			ret = mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &b.buf, &err);
			gen_buf_free(&b);
			if (!ret)
				break;
			CHECK_EQ(ret, -ENOMEM);
			CHECK(strstr(err.what, "lack of memory"));
			CHECK(mrpc_msg_explain(t.plan, &err, text, sizeof(text)) > 0);
			failures++;
		}
		for (i = 1; ; i++) {
			gen_buf_init(&b, MAX_TOTAL);
			t.heap.accesses = 0;
			t.heap.fail_at = i;
			ret = mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &b.buf, &err);
			gen_buf_free(&b);
			if (!ret)
				break;
			CHECK_EQ(ret, -EINVAL);
			CHECK_STR(err.what, "is outside the send heap");
			CHECK(err.type < t.plan->nr_types);
			failures++;
		}
		given_end(&t);
	}
	CHECK(failures > 1000);
}

/* -- against the model ----------------------------------------------------- */

TEST_LIMIT(random_messages, 120)
{
	u32 seed, blocks = 0;

	for (seed = 0; seed < 4000; seed++) {
		struct mrpc_msg_error err;
		struct mrpc_msg_len len;
		u8 *model, *wire, *head;
		struct gen_buf b;
		struct given t;
		const char *why;
		u32 type;
		int ret;

		given_schema(&t, seed);
		type = gen_below(&t.g, t.plan->nr_types);
		given_message(&t, type, gen_below(&t.g, 120));
		model = model_encode(t.plan, t.msg, &len);
		gen_buf_init(&b, MAX_TOTAL);
		ret = mrpc_msg_snapshot(t.plan, type, &t.src, t.root, &b.buf, &err);
		CHECK_MSG(!ret, "seed %u: %d, %s", seed, ret, err.what);
		CHECK_MSG(!memcmp(&len, &b.buf.len, sizeof(len)), "seed %u: lengths", seed);
		wire = gen_assemble(&b, &t.heap);
		CHECK_MSG(!memcmp(model, wire, mrpc_msg_total(&len)), "seed %u: bytes", seed);
		head = gen_head_copy(wire, &len);
		ret = mrpc_msg_verify(t.plan, type, head, &len, &err);
		CHECK_MSG(!ret, "seed %u: refused: %s", seed, err.what);
		CHECK_MSG(model_equal(t.plan, t.msg, model_decode(&t.pool, t.plan, type, wire, &len)),
			  "seed %u: the model reads something else", seed);
		why = gen_check_canonical(t.plan, type, head, &len);
		CHECK_MSG(!why, "seed %u: %s", seed, why);
		blocks += t.heap.accesses;
		free(head);
		free(wire);
		free(model);
		gen_buf_free(&b);
		given_end(&t);
	}
	CHECK(blocks > 100000);
}

/* A small message is copied with its byte section: the same bytes, and no block is left behind. */
TEST(copied_whole)
{
	u32 seed, whole = 0, recorded = 0;

	for (seed = 0; seed < 2000; seed++) {
		struct gen_buf parts, b;
		struct mrpc_msg_error err;
		struct given t;
		u8 *want, *got;
		u64 total;

		given_schema(&t, seed);
		given_message(&t, 0, 20);
		gen_buf_init(&parts, MAX_TOTAL);
		CHECK_EQ(mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &parts.buf, &err), 0);
		total = mrpc_msg_total(&parts.buf.len);
		want = gen_assemble(&parts, &t.heap);
		gen_buf_init(&b, MAX_TOTAL);
		/* Exactly enough, or one byte too few. */
		b.buf.max_whole = total - seed % 2;
		CHECK_EQ(mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &b.buf, &err), 0);
		CHECK(!memcmp(&b.buf.len, &parts.buf.len, sizeof(b.buf.len)));
		CHECK_EQ(b.buf.nr_segs, seed % 2 ? parts.buf.nr_segs : 0);
		got = gen_assemble(&b, &t.heap);
		CHECK_MSG(!memcmp(got, want, total), "seed %u: bytes", seed);
		whole += parts.buf.nr_segs && !(seed % 2);
		recorded += parts.buf.nr_segs && seed % 2;
		free(want);
		free(got);
		gen_buf_free(&parts);
		gen_buf_free(&b);
		given_end(&t);
	}
	CHECK(whole > 500);
	CHECK(recorded > 500);
}

/* What lies near the root is reached without a call: a copy that ends where it says it does. */
TEST(near_the_root)
{
	u32 seed, saved = 0, asked = 0;

	for (seed = 0; seed < 1000; seed++) {
		struct gen_buf far, near;
		struct mrpc_msg_error err;
		u8 *copy, *a, *b;
		struct given t;
		u32 from, len, calls;

		given_schema(&t, seed);
		given_message(&t, 0, 40);
		gen_buf_init(&far, MAX_TOTAL);
		CHECK_EQ(mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &far.buf, &err), 0);
		calls = t.heap.accesses;
		t.heap.accesses = 0;
		from = gen_below(&t.g, t.heap.size);
		len = 1 + gen_below(&t.g, t.heap.size - from);
		copy = malloc(len);
		assert(copy);
		memcpy(copy, t.heap.mem + from, len);
		t.src.near = copy;
		t.src.near_off = from;
		t.src.near_len = len;
		gen_buf_init(&near, MAX_TOTAL);
		CHECK_EQ(mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &near.buf, &err), 0);
		asked += t.heap.accesses;
		saved += calls - t.heap.accesses;
		CHECK(!memcmp(&far.buf.len, &near.buf.len, sizeof(far.buf.len)));
		a = gen_assemble(&far, &t.heap);
		b = gen_assemble(&near, &t.heap);
		CHECK_MSG(!memcmp(a, b, mrpc_msg_total(&far.buf.len)), "seed %u: bytes", seed);
		free(a);
		free(b);
		free(copy);
		gen_buf_free(&far);
		gen_buf_free(&near);
		given_end(&t);
	}
	CHECK(saved > 1000);
	CHECK(asked > 1000);
}

/* Verifies; what is accepted must be canonical. Returns whether it was. */
static bool try_verify(const struct mrpc_schema_plan *plan, u32 type, const u8 *head,
		       const struct mrpc_msg_len *len, u32 seed)
{
	struct mrpc_msg_error err;
	const char *why;
	char text[300];

	if (mrpc_msg_verify(plan, type, head, len, &err)) {
		CHECK(err.what);
		CHECK(mrpc_msg_explain(plan, &err, text, sizeof(text)) > 0);
		return false;
	}
	why = gen_check_canonical(plan, type, head, len);
	CHECK_MSG(!why, "seed %u: accepted, but %s", seed, why);
	return true;
}

static const u8 interesting[] = { 0, 1, 2, 8, 0x7f, 0x80, 0xff };

TEST_LIMIT(changed_messages, 240)
{
	u32 seed, accepted = 0, refused = 0;

	for (seed = 0; seed < 100; seed++) {
		struct mrpc_msg_len len;
		u32 head_len, i, j;
		u8 *wire, *head;
		struct given t;

		given_schema(&t, seed);
		given_message(&t, 0, gen_below(&t.g, 12));
		wire = model_encode(t.plan, t.msg, &len);
		head = gen_head_copy(wire, &len);
		head_len = mrpc_msg_head_len(&len);
		CHECK(try_verify(t.plan, 0, head, &len, seed));
		for (i = 0; i < head_len; i++) {
			u8 was = head[i];

			/* Far into a long text a few will do. */
			if (i > 800 && !gen_chance(&t.g, 3))
				continue;
			for (j = 0; j < 5; j++) {
				head[i] = j < 3 ? was ^ (1 << gen_below(&t.g, 8)) :
				  interesting[gen_below(&t.g, ARRAY_SIZE(interesting))];
				if (head[i] == was)
					continue;
				if (try_verify(t.plan, 0, head, &len, seed))
					accepted++;
				else
					refused++;
			}
			head[i] = was;
		}
		free(head);
		free(wire);
		given_end(&t);
	}
	/* Scalars and text may change; most else may not. */
	CHECK(accepted > 1000);
	CHECK(refused > 1000);
}

/* Lengths that do not fit the message, with a head of exactly that size. */
TEST_LIMIT(changed_lengths, 120)
{
	static const int deltas[] = { -16, -9, -8, -7, -1, 1, 7, 8, 9, 16, 1024 };
	u32 seed, refused = 0;

	for (seed = 0; seed < 400; seed++) {
		struct mrpc_msg_len was, len;
		struct given t;
		u32 i, j, n;
		u8 *wire;

		given_schema(&t, seed);
		given_message(&t, 0, gen_below(&t.g, 12));
		wire = model_encode(t.plan, t.msg, &was);
		for (i = 0; i < 3; i++) {
			for (j = 0; j < ARRAY_SIZE(deltas); j++) {
				u32 *value;
				u8 *head;

				len = was;
				value = i == 0 ? &len.structs : i == 1 ? &len.text : &len.bytes;
				if (deltas[j] < 0 && *value < (u32)-deltas[j])
					continue;
				*value += deltas[j];
				n = min(mrpc_msg_head_len(&len), mrpc_msg_head_len(&was));
				head = calloc(1, mrpc_msg_head_len(&len) + !n);
				memcpy(head, wire, n);
				if (try_verify(t.plan, 0, head, &len, seed))
					CHECK_MSG(0, "seed %u: accepted with lengths %u %u %u",
						  seed, len.structs, len.text, len.bytes);
				refused++;
				free(head);
			}
		}
		free(wire);
		given_end(&t);
	}
	CHECK(refused > 5000);
}

/* -- a heap that changes --------------------------------------------------- */

/* At each access some bytes change, and the piece handed out before is gone. */
TEST_LIMIT(heap_changes_between_accesses, 120)
{
	u32 seed, good = 0, bad = 0, round;

	for (seed = 0; seed < 1500; seed++) {
		struct gen flip = gen_seeded(~seed);
		struct given t;

		given_schema(&t, seed);
		given_message(&t, 0, gen_below(&t.g, 30));
		t.heap.flip = &flip;
		for (round = 0; round < 6; round++) {
			struct mrpc_msg_error err;
			struct gen_buf b;
			u8 *head;

			gen_buf_init(&b, 1 << 20);
			if (mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &b.buf, &err)) {
				bad++;
				gen_buf_free(&b);
				continue;
			}
			good++;
			head = gen_head_copy(b.buf.head, &b.buf.len);
			CHECK(try_verify(t.plan, 0, head, &b.buf.len, seed));
			free(head);
			free(gen_assemble(&b, &t.heap));
			gen_buf_free(&b);
		}
		given_end(&t);
	}
	CHECK(good > 1000);
	CHECK(bad > 100);
}

/* Hands out the heap itself, as the module does. */
static const void *shared_at(void *ctx, u64 off, u64 len)
{
	struct gen_heap *heap = ctx;

	if (off > heap->size || len > heap->size - off)
		return NULL;
	return heap->mem + off;
}

struct disturber {
	struct gen_heap *heap;
	const u8 *good;
	bool stop;
};

/* Spoils a byte and puts it back, so that there is always something to read. */
static void *disturb(void *arg)
{
	struct disturber *d = arg;
	struct gen g = gen_seeded(1);

	while (!__atomic_load_n(&d->stop, __ATOMIC_RELAXED)) {
		u32 at = gen_below(&g, d->heap->size);

		__atomic_store_n(&d->heap->mem[at], gen_u64(&g), __ATOMIC_RELAXED);
		__atomic_store_n(&d->heap->mem[at], d->good[at], __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Another thread writes all the time: whatever is taken is a message. */
TEST_LIMIT(heap_changes_during_accesses, 120)
{
	u32 seed, good = 0, bad = 0, round;

	for (seed = 0; seed < 40; seed++) {
		struct given t;
		struct disturber d = { .heap = &t.heap };
		const char *why = NULL;
		pthread_t thread;
		u8 *copy;

		given_schema(&t, seed);
		given_message(&t, 0, 30);
		t.src.at = shared_at;
		copy = malloc(t.heap.size);
		memcpy(copy, t.heap.mem, t.heap.size);
		d.good = copy;
		CHECK_EQ(pthread_create(&thread, NULL, disturb, &d), 0);
		for (round = 0; round < 500; round++) {
			struct mrpc_msg_error err;
			struct gen_buf b;

			gen_buf_init(&b, 1 << 20);
			b.buf.head_cap = 4096;
			b.buf.head = malloc(b.buf.head_cap);
			if (mrpc_msg_snapshot(t.plan, 0, &t.src, t.root, &b.buf, &err))
				bad++;
			else if (!mrpc_msg_verify(t.plan, 0, b.buf.head, &b.buf.len, &err))
				good++;
			else
				why = err.what;
			gen_buf_free(&b);
		}
		__atomic_store_n(&d.stop, true, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
		CHECK_MSG(!why, "seed %u: %s", seed, why);
		free(copy);
		given_end(&t);
	}
	CHECK(good > 1000);
	CHECK(bad);
}
