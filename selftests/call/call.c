// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call kmod/core/rpc kmod/core/qp */
/*
 * Calls that succeed: over each transport, by each way into the kernel, with
 * every part of a descriptor and of a completion.
 */
#include <errno.h>

#include "tap.h"
#include "raw.h"

static struct raw_pair p;

/* Around the inline buffer, the copy threshold, the largest copy; odd ones. */
static const uint32_t sizes[] = {
	0, 1, 7, 8, 9, 100, 384, 448, 4096, 4097, 16384 - 64, 16384 - 24, 16384 - 16, 16384, 16385,
	65536 - 24, 65536, 65537, 100001, 262144, 1 << 20, (4 << 20) + 3, 16 << 20,
};

static void sync_sizes(const char *how)
{
	struct mrpc_cqe cqe;
	unsigned int i;

	raw_pair(&p, how, 1);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint32_t root = raw_blob(&p.c, i, sizes[i], i % 2 ? "t\xc3\xa9xt" : NULL);
		struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ECHO, root);

		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_MSG(cqe.status == MRPC_OK, "%u bytes: status %u", sizes[i], cqe.status);
		CHECK_EQ(cqe.type, MRPC_CQE_REPLY);
		CHECK_EQ(cqe.flags, MRPC_CQE_BLOCK | MRPC_CQE_FREED);
		CHECK_EQ(cqe.user_data, sqe.user_data);
		CHECK_EQ(cqe.conn, p.conn);
		CHECK_EQ(cqe.msg_len, raw_blob_size(sizes[i], i % 2 ? "t\xc3\xa9xt" : NULL));
		CHECK_MSG(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, i, sizes[i]),
			  "%u bytes came back wrong", sizes[i]);
		CHECK(!raw_verify(raw_plan(RAW_BULK), 0, raw_msg(&p.c, &cqe), cqe.msg_len));
		raw_done(&p.c, &cqe);
		raw_free(&p.c, root);
	}
	CHECK_EQ(raw_server_requests(&p.srv), ARRAY_SIZE(sizes));
	raw_pair_end(&p);
}

TEST(sync_tcp4)
{
	sync_sizes("tcp4");
}

TEST(sync_tcp6)
{
	sync_sizes("tcp6");
}

TEST(sync_loop)
{
	sync_sizes("loop");
}

TEST(sync_prio6)
{
	sync_sizes("prio6");
}

TEST(sync_prio)
{
	sync_sizes("prio");
}

/* -- the largest message that the machine has memory for ---------------------------------------- */

#define LARGE_TAG	4711

static const uint32_t large[] = { MRPC_MAX_MESSAGE, 256U << 20, 64U << 20 };
static uint32_t large_len;	/* bytes of data in it, which begin behind the Blob */
static bool large_came;

static void large_seen(const struct mrpc_cqe *cqe, const void *msg)
{
	large_came = raw_is_blob(msg, cqe->msg_len, LARGE_TAG, large_len);
}

/* A pair whose heaps hold one such message, on its way there or back. */
static void large_pair(const char *how, bool there)
{
	uint32_t small = 1 << 20, large = large_len + sizeof(struct test_Blob);
	struct mrpc_connect to;

	raw_server_open(&p.srv, there ? small : large, there ? large : small);
	raw_open(&p.c, there ? large : small, there ? small : large);
	p.srv.max_message = MRPC_MAX_MESSAGE;
	p.srv.seen = large_seen;
	raw_pair_start(&p, how, 1);
	CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
	to = raw_target(&p.c, p.addr);
	to.max_message = MRPC_MAX_MESSAGE;
	p.conn = raw_connect_to(&p.c, &to);
	CHECK_MSG(p.conn > 0, "%s: %s", p.addr, p.c.why);
}

static void large_call(uint32_t method, uint32_t root, uint64_t tag, uint32_t len)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, method, root);
	uint64_t begin = raw_now();
	struct mrpc_cqe cqe;

	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	NOTE("%u MiB %s in %llu ms", (large_len + 32) >> 20, len ? "back" : "there",
	     (unsigned long long)((raw_now() - begin) / RAW_MS));
	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, tag, len));
	raw_done(&p.c, &cqe);
}

/* Every byte is compared, by the server and then by the client. */
static void largest(const char *how)
{
	unsigned int i = raw_scale() == 1 ? 0 : ARRAY_SIZE(large) - 1;

	while (i < ARRAY_SIZE(large) - 1 && raw_meminfo("MemAvailable") < 3 * (large[i] >> 10))
		i++;
	large_len = large[i] - sizeof(struct test_Blob);
	large_pair(how, true);
	large_call(RAW_ACK, raw_blob(&p.c, LARGE_TAG, large_len, NULL), LARGE_TAG, 0);
	CHECK(large_came);
	raw_pair_end(&p);
	large_pair(how, false);
	large_call(RAW_MAKE, raw_blob(&p.c, large_len, 0, NULL), large_len, large_len);
	raw_pair_end(&p);
}

TEST_LIMIT(large_tcp, 180)
{
	largest("tcp4");
}

TEST_LIMIT(large_prio, 180)
{
	largest("prio");
}

/* Each call has one REPLY, and one of FREED and SENT. */
static void ring_sizes(const char *how, unsigned int threads)
{
	unsigned int total = 4 * ARRAY_SIZE(sizes), started = 0, replies = 0, freed = 0, i;
	uint32_t roots[4 * ARRAY_SIZE(sizes)];
	struct mrpc_cqe cqe;
	struct raw_qp qp;

	raw_pair(&p, how, threads);
	raw_qp(&qp, &p.c, 8, 32, 0);
	while (replies < total || freed < total) {
		/* The last sizes are large: a few at a time. */
		while (started < total && started - replies < 6) {
			uint32_t len = sizes[started % ARRAY_SIZE(sizes)];
			struct mrpc_sqe sqe;

			if (len > 1 << 20 && started > ARRAY_SIZE(sizes))
				len = 3000;
			roots[started] = raw_blob(&p.c, started, len, "text");
			sqe = raw_sqe(p.conn, RAW_ECHO, roots[started]);
			sqe.user_data = started++;
			CHECK(raw_push(&qp, &sqe));
		}
		CHECK(raw_next(&qp, &cqe, 20 * RAW_S * raw_patience()));
		i = cqe.user_data;
		CHECK(i < started);
		CHECK_EQ(cqe.status, MRPC_OK);
		if (cqe.type == MRPC_CQE_REPLY) {
			const struct test_Blob *blob = raw_msg(&p.c, &cqe);

			replies++;
			CHECK(raw_is_blob(blob, cqe.msg_len, i, blob->data.len));
			raw_done(&p.c, &cqe);
		} else {
			CHECK_EQ(cqe.type, MRPC_CQE_SENT);
		}
		if (cqe.type == MRPC_CQE_SENT || cqe.flags & MRPC_CQE_FREED) {
			freed++;
			raw_free(&p.c, roots[i]);	/* dies if it is not the first time */
		}
	}
	CHECK_EQ(replies, total);
	CHECK_EQ(freed, total);
	CHECK(!raw_next(&qp, &cqe, 50 * RAW_MS));
	raw_pair_end(&p);
}

TEST(ring_tcp4)
{
	ring_sizes("tcp4", 2);
}

TEST(ring_tcp6)
{
	ring_sizes("tcp6", 1);
}

TEST(ring_loop)
{
	ring_sizes("loop", 2);
}

TEST(ring_prio)
{
	ring_sizes("prio", 2);
}

static void metadata(const char *how)
{
	uint32_t root, meta, len, i;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	uint8_t junk[MRPC_MAX_META];

	raw_pair(&p, how, 1);
	memset(junk, 0xfe, sizeof(junk));
	root = raw_blob(&p.c, 1, 50, "x");
	meta = raw_alloc(&p.c, MRPC_MAX_META);
	for (i = 0; i < 40; i++) {
		/* Not aligned, of every length modulo 8; the last as long as may be. */
		uint8_t *at = p.c.send + meta + i % 5;

		len = raw_put_meta(at, "key.a-b_c", "value", 5 - i % 3);
		len += raw_put_meta(at + len, "k", junk,
				i == 39 ? MRPC_MAX_META - i % 5 - len - 5 : i * 13);
		sqe = raw_sqe(p.conn, RAW_ECHO, root);
		sqe.meta = meta + i % 5;
		sqe.meta_len = len;
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_OK);
		CHECK_EQ(cqe.meta_len, len);
		CHECK(!memcmp(raw_meta(&p.c, &cqe), at, len));
		CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, 1, 50));
		raw_done(&p.c, &cqe);
	}
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(metadata, metadata)

static void statuses(const char *how)
{
	static const char text[] = "because \xe2\x82\xac";
	char detail[MRPC_MAX_DETAIL + 1];
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	uint32_t root, i;

	raw_pair(&p, how, 1);
	for (i = 1; i <= MRPC_STATUS_MAX; i++) {
		root = raw_blob(&p.c, i, 0, i % 2 ? text : NULL);
		sqe = raw_sqe(p.conn, RAW_FAIL, root);
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, i);
		CHECK_EQ(cqe.msg_len, 0);
		CHECK(!(cqe.flags & MRPC_CQE_LOCAL));
		CHECK_EQ(!!(cqe.flags & MRPC_CQE_BLOCK), i % 2);
		if (i % 2)
			CHECK_STR(raw_detail(&p.c, &cqe, detail, sizeof(detail)), text);
		raw_done(&p.c, &cqe);
		raw_free(&p.c, root);
	}
	memset(detail, 'd', sizeof(detail) - 1);
	detail[sizeof(detail) - 1] = 0;
	root = raw_blob(&p.c, MRPC_ABORTED, 0, detail);
	sqe = raw_sqe(p.conn, RAW_FAIL, root);
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.detail_len, MRPC_MAX_DETAIL);
	raw_done(&p.c, &cqe);
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(status, statuses)
TEST_GRPC(status, statuses)

/* With MRPC_SQE_COPY the blocks are ours again when enter returns. */
static void copies(const char *how)
{
	static const uint32_t lens[] = { 0, 100, 16384, 40000, MRPC_MAX_COPY - 24 };
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	struct raw_qp qp;
	uint32_t i, root;

	raw_pair(&p, how, 1);
	p.srv.copy = true;
	raw_qp(&qp, &p.c, 4, 8, 0);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		root = raw_blob(&p.c, i, lens[i], NULL);
		sqe = raw_sqe(p.conn, RAW_ECHO, root);
		sqe.flags = MRPC_SQE_COPY;
		CHECK(raw_push(&qp, &sqe));
		CHECK_EQ(raw_enter(&qp, 0, 0), 0);
		CHECK_EQ(qp.submitted, 1);
		memset(p.c.send + root, 0xee, raw_blob_size(lens[i], NULL));
		raw_free(&p.c, root);
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 10 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_OK);
		CHECK(cqe.flags & MRPC_CQE_FREED);
		CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, i, lens[i]));
		raw_done(&p.c, &cqe);
	}
	CHECK(!raw_next(&qp, &cqe, 50 * RAW_MS));

	root = raw_blob(&p.c, 0, MRPC_MAX_COPY, NULL);
	sqe = raw_sqe(p.conn, RAW_ECHO, root);
	sqe.flags = MRPC_SQE_COPY;
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_RESOURCE_EXHAUSTED);
	CHECK(cqe.flags & MRPC_CQE_LOCAL);
	raw_done(&p.c, &cqe);
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(copy, copies)
TEST_GRPC(copy, copies)
TEST_TLS(copy, copies)

/* Time stamps are in the order of the stages, on both sides of the answer. */
static void stamps(const char *how)
{
	static const uint32_t lens[] = { 10, 100000 };
	const struct mrpc_times *t;
	uint64_t before, after;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	uint32_t i, root;

	raw_pair(&p, how, 1);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		root = raw_blob(&p.c, i, lens[i], NULL);
		sqe = raw_sqe(p.conn, RAW_ECHO, root);
		sqe.flags = MRPC_SQE_TIMES;
		before = raw_now();
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		after = raw_now();
		CHECK_EQ(cqe.status, MRPC_OK);
		CHECK(cqe.flags & MRPC_CQE_TIMES);
		CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, i, lens[i]));
		t = raw_times(&p.c, &cqe);
		CHECK(before <= t->submit && t->submit <= t->marshal);
		CHECK(t->marshal <= t->receive && t->receive <= t->deliver);
		CHECK(t->deliver <= after);
		/* A reply can be quicker than the return from the last send. */
		CHECK(!t->transmit || (t->marshal <= t->transmit && t->transmit <= after));
		raw_done(&p.c, &cqe);
		raw_free(&p.c, root);
	}
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(times, stamps)
TEST_GRPC(times, stamps)

/* What the server sees of a call besides its message. */
TEST(request_fields)
{
	const struct mrpc_cqe *c;
	struct mrpc_sqe sqe;
	struct raw_qp qp;
	uint32_t root, i;

	raw_pair(&p, "tcp4", 1);
	raw_qp(&qp, &p.c, 4, 8, 0);
	root = raw_blob(&p.c, 1, 10, NULL);
	for (i = 0; i < 2; i++) {
		sqe = raw_sqe(p.conn, RAW_HANG, root);
		sqe.priority = i ? 255 : 0;
		sqe.timeout_us = i ? 30000000 : 0;
		CHECK(raw_push(&qp, &sqe));
		CHECK_EQ(raw_enter(&qp, 0, 0), 0);
		CHECK(raw_server_hangs(&p.srv, i + 1));
		c = &p.srv.hung[i];
		CHECK_EQ(c->user_data, 0);
		CHECK_EQ(c->method, RAW_HANG);
		CHECK_EQ(c->priority, sqe.priority);
		CHECK_EQ(c->flags, MRPC_CQE_BLOCK);
		CHECK_EQ(c->status, 0);
		CHECK_EQ(c->meta_len, 0);
		CHECK_EQ(c->detail_len, 0);
		CHECK_EQ(c->msg_len, raw_blob_size(10, NULL));
		if (i)
			CHECK(c->deadline_ns > raw_until(10 * RAW_S) &&
			      c->deadline_ns <= raw_until(30 * RAW_S));
		else
			CHECK_EQ(c->deadline_ns, 0);
	}
	raw_pair_end(&p);
}

static void max_reply(const char *how)
{
	struct mrpc_cqe cqe;
	uint64_t until;
	struct mrpc_sqe sqe;
	uint32_t root, max;

	raw_pair(&p, how, 1);
	root = raw_blob(&p.c, 50000, 0, NULL);
	for (max = raw_blob_size(50000, NULL) - 1; max <= raw_blob_size(50000, NULL); max++) {
		sqe = raw_sqe(p.conn, RAW_MAKE, root);
		sqe.max_reply = max;
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, max < raw_blob_size(50000, NULL) ? MRPC_RESOURCE_EXHAUSTED :
									 MRPC_OK);
		raw_done(&p.c, &cqe);
	}
	/* The server is told that its reply did not go out. */
	for (until = raw_now() + 5 * RAW_S * raw_patience();
	     __atomic_load_n(&p.srv.errors, __ATOMIC_RELAXED) != 1; raw_sleep(RAW_MS))
		CHECK_MSG(raw_now() < until, "the server has heard of %llu errors, not 1",
			  (unsigned long long)p.srv.errors);
	p.srv.errors = 0;
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(max_reply, max_reply)

/* Many small calls one after the other, as sync ones from four threads at once. */
static void *many(void *arg)
{
	unsigned long nr = (unsigned long)arg, i;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	uint32_t root;

	for (i = 0; i < 400; i++) {
		root = raw_blob(&p.c, nr * 1000 + i, i % 300, NULL);
		sqe = raw_sqe(p.conn, RAW_ECHO, root);
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_OK);
		CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, nr * 1000 + i, i % 300));
		raw_done(&p.c, &cqe);
		raw_free(&p.c, root);
	}
	return NULL;
}

static void threads(const char *how)
{
	pthread_t t[4];
	unsigned long i;

	raw_pair(&p, how, 2);
	for (i = 0; i < ARRAY_SIZE(t); i++)
		CHECK(!pthread_create(&t[i], NULL, many, (void *)i));
	for (i = 0; i < ARRAY_SIZE(t); i++)
		pthread_join(t[i], NULL);
	CHECK_EQ(raw_server_requests(&p.srv), 1600);
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(threads, threads)
TEST_GRPC(threads, threads)
TEST_TLS(threads, threads)
