// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshot and verification of random messages: against the model, changed, at the
 * limits, without memory, and in heaps that change meanwhile.
 */
#include <pthread.h>

#include "gen.h"
#include "tap.h"

#define MAX_TOTAL	(64U << 20)

/* -- limits and failures --------------------------------------------------- */

TEST(largest_message)
{
	u32 seed, n = 0;

	for (seed = 0; seed < 300; seed++) {
		struct gen g = gen_seeded(seed);
		struct mrpc_schema_plan *plan = gen_plan(&g);
		struct model_pool pool = { 0 };
		struct model_msg *msg = gen_message(&g, &pool, plan, 0, 20);
		struct gen_heap heap = { 0 };
		const struct mrpc_msg_src src = { gen_heap_at, &heap };
		u32 root = gen_heap_write(&g, &heap, plan, msg);
		struct mrpc_msg_error err;
		struct mrpc_msg_len len;
		struct gen_buf b;

		free(model_encode(plan, msg, &len));
		gen_buf_init(&b, mrpc_msg_total(&len));
		CHECK_EQ(mrpc_msg_snapshot(plan, 0, &src, root, &b.buf, &err), 0);
		b.buf.max_total--;
		CHECK_EQ(mrpc_msg_snapshot(plan, 0, &src, root, &b.buf, &err), -EMSGSIZE);
		n += b.buf.max_total > 100;
		gen_buf_free(&b);
		gen_heap_free(&heap);
		model_free(&pool);
		free(plan);
	}
	CHECK(n > 100);
}

TEST(growers_and_accesses_that_fail)
{
	u32 seed, failures = 0;

	for (seed = 0; seed < 100; seed++) {
		struct gen g = gen_seeded(seed);
		struct mrpc_schema_plan *plan = gen_plan(&g);
		struct model_pool pool = { 0 };
		struct model_msg *msg = gen_message(&g, &pool, plan, 0, 10);
		struct gen_heap heap = { 0 };
		const struct mrpc_msg_src src = { gen_heap_at, &heap };
		u32 root = gen_heap_write(&g, &heap, plan, msg);
		struct mrpc_msg_error err;
		struct gen_buf b;
		char text[200];
		int ret;
		u32 i;

		for (i = 1; ; i++) {
			gen_buf_init(&b, MAX_TOTAL);
			b.fail_at = i;
			ret = mrpc_msg_snapshot(plan, 0, &src, root, &b.buf, &err);
			gen_buf_free(&b);
			if (!ret)
				break;
			CHECK_EQ(ret, -ENOMEM);
			CHECK(strstr(err.what, "lack of memory"));
			CHECK(mrpc_msg_explain(plan, &err, text, sizeof(text)) > 0);
			failures++;
		}
		for (i = 1; ; i++) {
			gen_buf_init(&b, MAX_TOTAL);
			heap.accesses = 0;
			heap.fail_at = i;
			ret = mrpc_msg_snapshot(plan, 0, &src, root, &b.buf, &err);
			gen_buf_free(&b);
			if (!ret)
				break;
			CHECK_EQ(ret, -EINVAL);
			CHECK_STR(err.what, "is outside the send heap");
			CHECK(err.type < plan->nr_types);
			failures++;
		}
		gen_heap_free(&heap);
		model_free(&pool);
		free(plan);
	}
	CHECK(failures > 1000);
}

/* -- against the model ----------------------------------------------------- */

TEST_LIMIT(random_messages, 120)
{
	u32 seed, blocks = 0;

	for (seed = 0; seed < 4000; seed++) {
		struct gen g = gen_seeded(seed);
		struct mrpc_schema_plan *plan = gen_plan(&g);
		struct model_pool pool = { 0 };
		u32 type = gen_below(&g, plan->nr_types);
		struct model_msg *msg = gen_message(&g, &pool, plan, type, gen_below(&g, 120));
		struct gen_heap heap = { 0 };
		const struct mrpc_msg_src src = { gen_heap_at, &heap };
		u32 root = gen_heap_write(&g, &heap, plan, msg);
		struct mrpc_msg_error err;
		struct mrpc_msg_len len;
		struct gen_buf b;
		u8 *model = model_encode(plan, msg, &len), *wire, *head;
		const char *why;
		int ret;

		gen_buf_init(&b, MAX_TOTAL);
		ret = mrpc_msg_snapshot(plan, type, &src, root, &b.buf, &err);
		CHECK_MSG(!ret, "seed %u: %d, %s", seed, ret, err.what);
		CHECK_MSG(!memcmp(&len, &b.buf.len, sizeof(len)), "seed %u: lengths", seed);
		wire = gen_assemble(&b, &heap);
		CHECK_MSG(!memcmp(model, wire, mrpc_msg_total(&len)), "seed %u: bytes", seed);
		head = gen_head_copy(wire, &len);
		ret = mrpc_msg_verify(plan, type, head, &len, &err);
		CHECK_MSG(!ret, "seed %u: refused: %s", seed, err.what);
		CHECK_MSG(model_equal(plan, msg, model_decode(&pool, plan, type, wire, &len)),
			  "seed %u: the model reads something else", seed);
		why = gen_check_canonical(plan, type, head, &len);
		CHECK_MSG(!why, "seed %u: %s", seed, why);
		blocks += heap.accesses;
		free(head);
		free(wire);
		free(model);
		gen_buf_free(&b);
		gen_heap_free(&heap);
		model_free(&pool);
		free(plan);
	}
	CHECK(blocks > 100000);
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
		struct gen g = gen_seeded(seed);
		struct mrpc_schema_plan *plan = gen_plan(&g);
		struct model_pool pool = { 0 };
		struct model_msg *msg = gen_message(&g, &pool, plan, 0, gen_below(&g, 12));
		struct mrpc_msg_len len;
		u8 *wire = model_encode(plan, msg, &len);
		u8 *head = gen_head_copy(wire, &len);
		u32 head_len = mrpc_msg_head_len(&len), i, j;

		CHECK(try_verify(plan, 0, head, &len, seed));
		for (i = 0; i < head_len; i++) {
			u8 was = head[i];

			/* Far into a long text a few will do. */
			if (i > 800 && !gen_chance(&g, 3))
				continue;
			for (j = 0; j < 5; j++) {
				head[i] = j < 3 ? was ^ (1 << gen_below(&g, 8)) :
				  interesting[gen_below(&g, ARRAY_SIZE(interesting))];
				if (head[i] == was)
					continue;
				if (try_verify(plan, 0, head, &len, seed))
					accepted++;
				else
					refused++;
			}
			head[i] = was;
		}
		free(head);
		free(wire);
		model_free(&pool);
		free(plan);
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
		struct gen g = gen_seeded(seed);
		struct mrpc_schema_plan *plan = gen_plan(&g);
		struct model_pool pool = { 0 };
		struct model_msg *msg = gen_message(&g, &pool, plan, 0, gen_below(&g, 12));
		struct mrpc_msg_len was, len;
		u8 *wire = model_encode(plan, msg, &was);
		u32 i, j, n;

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
				if (try_verify(plan, 0, head, &len, seed))
					CHECK_MSG(0, "seed %u: accepted with lengths %u %u %u",
						  seed, len.structs, len.text, len.bytes);
				refused++;
				free(head);
			}
		}
		free(wire);
		model_free(&pool);
		free(plan);
	}
	CHECK(refused > 5000);
}

/* -- a heap that changes --------------------------------------------------- */

/* At each access some bytes change, and the piece handed out before is gone. */
TEST_LIMIT(heap_changes_between_accesses, 120)
{
	u32 seed, good = 0, bad = 0, round;

	for (seed = 0; seed < 1500; seed++) {
		struct gen g = gen_seeded(seed), flip = gen_seeded(~seed);
		struct mrpc_schema_plan *plan = gen_plan(&g);
		struct model_pool pool = { 0 };
		struct model_msg *msg = gen_message(&g, &pool, plan, 0, gen_below(&g, 30));
		struct gen_heap heap = { 0 };
		const struct mrpc_msg_src src = { gen_heap_at, &heap };
		u32 root = gen_heap_write(&g, &heap, plan, msg);

		heap.flip = &flip;
		for (round = 0; round < 6; round++) {
			struct mrpc_msg_error err;
			struct gen_buf b;
			u8 *head;

			gen_buf_init(&b, 1 << 20);
			if (mrpc_msg_snapshot(plan, 0, &src, root, &b.buf, &err)) {
				bad++;
				gen_buf_free(&b);
				continue;
			}
			good++;
			head = gen_head_copy(b.buf.head, &b.buf.len);
			CHECK(try_verify(plan, 0, head, &b.buf.len, seed));
			free(head);
			free(gen_assemble(&b, &heap));
			gen_buf_free(&b);
		}
		gen_heap_free(&heap);
		model_free(&pool);
		free(plan);
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
		struct gen g = gen_seeded(seed);
		struct mrpc_schema_plan *plan = gen_plan(&g);
		struct model_pool pool = { 0 };
		struct model_msg *msg = gen_message(&g, &pool, plan, 0, 30);
		struct gen_heap heap = { 0 };
		const struct mrpc_msg_src src = { shared_at, &heap };
		u32 root = gen_heap_write(&g, &heap, plan, msg);
		struct disturber d = { .heap = &heap };
		const char *why = NULL;
		pthread_t thread;
		u8 *copy = malloc(heap.size);

		memcpy(copy, heap.mem, heap.size);
		d.good = copy;
		CHECK_EQ(pthread_create(&thread, NULL, disturb, &d), 0);
		for (round = 0; round < 500; round++) {
			struct mrpc_msg_error err;
			struct gen_buf b;

			gen_buf_init(&b, 1 << 20);
			b.buf.head_cap = 4096;
			b.buf.head = malloc(b.buf.head_cap);
			if (mrpc_msg_snapshot(plan, 0, &src, root, &b.buf, &err))
				bad++;
			else if (!mrpc_msg_verify(plan, 0, b.buf.head, &b.buf.len, &err))
				good++;
			else
				why = err.what;
			gen_buf_free(&b);
		}
		__atomic_store_n(&d.stop, true, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
		CHECK_MSG(!why, "seed %u: %s", seed, why);
		free(copy);
		gen_heap_free(&heap);
		model_free(&pool);
		free(plan);
	}
	CHECK(good > 1000);
	CHECK(bad);
}
