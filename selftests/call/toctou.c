// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/snapshot kmod/core/rpc kmod/call kmod/core/memcopy */
/*
 * Another thread changes messages and descriptors while the kernel reads them. A
 * call may fail or carry other values, but what is delivered always verifies.
 * TOCTOU_SECONDS says how long each test runs; 8 without.
 */
#include <errno.h>

#include "tap.h"
#include "raw.h"
#include "rnd.h"
#include "gen.h"

static struct raw_pair p;
static struct raw_qp qp;
static bool stop;

static void *flip_area;		/* what the other thread works on */
static u32 flip_len;
static u32 flip_word;		/* now and then a word becomes this, plus or minus a little */

static uint64_t seconds(void)
{
	const char *text = getenv("TOCTOU_SECONDS");

	return (text && *text ? atoi(text) : 8) * RAW_S;
}

/* Changes a word, and soon puts it back, so that most of the message stays good. */
static void *flip_words(void *arg)
{
	uint64_t rnd = raw_now() | 1;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		u32 *area = __atomic_load_n(&flip_area, __ATOMIC_ACQUIRE);
		volatile u32 *word = area + rnd_below(&rnd, flip_len / 4);
		u32 old = *word, spin;

		switch (rnd_below(&rnd, 5)) {
		case 0:
			*word = old ^ 1 << rnd_below(&rnd, 32);
			break;
		case 1:
			*word = rnd_next(&rnd);
			break;
		case 2:
			*word = old + rnd_below(&rnd, 16) - 8;
			break;
		case 3:
			*word = 0;
			break;
		default:
			*word = flip_word + rnd_below(&rnd, 64) - 32;
		}
		for (spin = rnd_below(&rnd, 400); spin; spin--)
			__asm__ __volatile__("" ::: "memory");
		*word = old;
	}
	return NULL;
}

struct tally {
	unsigned int ok;
	unsigned int refused;
	unsigned int other;
};

static void count(struct tally *t, const struct mrpc_cqe *cqe)
{
	if (cqe->status == MRPC_OK)
		t->ok++;
	else if (cqe->status == MRPC_INVALID_ARGUMENT)
		t->refused++;
	else
		t->other++;
}

static void report(const struct tally *t)
{
	NOTE("%u calls went well, %u were refused, %u ended otherwise; %llu requests came", t->ok,
	     t->refused, t->other, (unsigned long long)raw_server_requests(&p.srv));
	CHECK(t->ok && t->refused);
	CHECK_EQ(p.srv.bad, 0);
}

static void check_reply(const struct mrpc_schema_plan *plan, const struct mrpc_cqe *cqe)
{
	const char *why;

	if (cqe->status != MRPC_OK)
		return;
	why = raw_verify(plan, 0, raw_msg(&p.c, cqe), cqe->msg_len);
	CHECK_MSG(!why, "a reply: %s", why);
}

/* Synchronous calls with random messages of all types under change. */
static void messages(const char *how)
{
	const struct mrpc_schema_plan *plan = raw_plan(RAW_TYPES);
	struct gen g = gen_seeded(raw_now());
	uint64_t until = raw_now() + seconds();
	struct tally tally = { 0 };
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	unsigned int i;
	pthread_t t;

	NOTE("seed %llu", (unsigned long long)g.state);
	raw_pair(&p, how, 1);
	flip_area = p.c.send;
	flip_len = 64;
	CHECK(!pthread_create(&t, NULL, flip_words, NULL));
	while (raw_now() < until) {
		struct model_pool pool = { 0 };
		struct gen_heap heap = { 0 };
		u32 block, root;

		root = gen_heap_write(&g, &heap, plan, gen_message(&g, &pool, plan, 0, 40));
		block = raw_alloc(&p.c, heap.used + 20000);
		memcpy(p.c.send + block, heap.mem, heap.used);
		flip_len = ALIGN(heap.used, 4);
		flip_word = heap.used;
		__atomic_store_n(&flip_area, p.c.send + block, __ATOMIC_RELEASE);
		for (i = 0; i < 30; i++) {
			sqe = raw_sqe(p.conn, RAW_ECHO_ALL, block + root);
			if (i % 3 == 0)
				sqe.flags = MRPC_SQE_COPY;
			CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
			check_reply(plan, &cqe);
			count(&tally, &cqe);
			raw_done(&p.c, &cqe);
		}
		flip_len = 64;
		__atomic_store_n(&flip_area, p.c.send, __ATOMIC_RELEASE);
		raw_free(&p.c, block);
		gen_heap_free(&heap);
		model_free(&pool);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	report(&tally);
	raw_pair_end(&p);
}

TEST_LIMIT_EACH_TRANSPORT(messages, 600, messages)

/* Large fields by reference, whose references and lengths change. */
TEST_LIMIT(large, 600)
{
	uint64_t until = raw_now() + seconds();
	struct tally tally = { 0 };
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	u32 root, i = 0;
	pthread_t t;

	raw_pair(&p, "tcp4", 1);
	root = raw_blob(&p.c, 1, 300000, "some text");
	flip_area = p.c.send + root;
	flip_len = 40;
	flip_word = 300000;
	CHECK(!pthread_create(&t, NULL, flip_words, NULL));
	while (raw_now() < until) {
		/* It may ask for a reply of any size: then the kernel refuses. */
		sqe = raw_sqe(p.conn, RAW_ECHO, root);
		sqe.timeout_us = 5000000 * raw_scale();
		if (++i % 4 == 0)
			sqe.flags = MRPC_SQE_COPY;
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		check_reply(raw_plan(RAW_BULK), &cqe);
		count(&tally, &cqe);
		raw_done(&p.c, &cqe);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	report(&tally);
	raw_pair_end(&p);
}

/* Descriptors in the queue change; one thread pushes, one spoils. */
TEST_LIMIT(descriptors, 600)
{
	uint64_t until = raw_now() + seconds();
	struct tally tally = { 0 };
	unsigned int others = 0, i;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	u32 roots[4];
	pthread_t t;

	raw_pair(&p, "tcp4", 1);
	raw_qp(&qp, &p.c, 4, 16, 0);
	for (i = 0; i < 4; i++)
		roots[i] = raw_blob(&p.c, i, 1000 << 2 * i, "text");
	flip_area = qp.sq;
	flip_len = 4 * sizeof(struct mrpc_sqe);
	flip_word = roots[2];
	CHECK(!pthread_create(&t, NULL, flip_words, NULL));
	while (raw_now() < until) {
		for (i = 0; i < 4; i++) {
			sqe = raw_sqe(p.conn, i % 2 ? RAW_ECHO : RAW_ACK, roots[i % 4]);
			sqe.timeout_us = 1000000;
			if (!raw_push(&qp, &sqe))
				break;
		}
		raw_enter(&qp, 1, 20 * RAW_MS);
		while (raw_reap(&qp, &cqe)) {
			if (cqe.type == MRPC_CQE_REPLY)
				count(&tally, &cqe);
			else
				others++;
			raw_done(&p.c, &cqe);
		}
		/* Hanging calls without a deadline would in the end take all slots. */
		if (p.srv.nr_hung > 100) {
			CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
			p.conn = raw_connect(&p.c, p.addr);
			CHECK(p.conn > 0);
			p.srv.nr_hung = 0;
		}
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	NOTE("%u other completions", others);
	report(&tally);
	/* The queue pair is as good as new. */
	while (raw_next(&qp, &cqe, 200 * RAW_MS))
		raw_done(&p.c, &cqe);
	sqe = raw_sqe(p.conn, RAW_ECHO, roots[0]);
	sqe.user_data = 4242;
	CHECK(raw_push(&qp, &sqe));
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK_EQ(cqe.user_data, 4242);
	p.srv.errors = 0;	/* replies larger than the changed descriptor wanted */
	raw_pair_end(&p);
}
