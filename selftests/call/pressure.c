// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/receive_staged kmod/call/receive kmod/call/stream kmod/core/heap */
/*
 * Everything that can be full: call slots, submission and completion queues,
 * heaps. Either a clear status, or waiting; nothing is lost.
 */
#include <errno.h>
#include <sys/mman.h>

#include "tap.h"
#include "operator.h"
#include "raw.h"

static struct raw_pair p;
static struct raw_qp qp;

static void check_echo(struct raw *s, int conn)
{
	uint32_t root = raw_blob(s, 1, 1000, NULL);
	struct mrpc_sqe sqe = raw_sqe(conn, RAW_ECHO, root);
	struct mrpc_cqe cqe;

	CHECK_EQ(raw_call(s, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(s, &cqe);
	raw_free(s, root);
}

static void push(uint32_t method, uint64_t tag, uint32_t len)
{
	raw_push_blob(&qp, &p, method, tag, len);
}

static void expect_blob(uint64_t tag, uint32_t len)
{
	struct mrpc_cqe cqe;

	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
	CHECK_EQ(cqe.user_data, tag);
	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, tag, len));
	raw_done(&p.c, &cqe);
}

/* One call more than the connection takes. */
static void too_many(const char *how)
{
	char detail[MRPC_MAX_DETAIL + 1];
	struct mrpc_cqe cqe;
	struct raw_qp sq;
	uint32_t max, i;

	raw_pair(&p, how, 1);
	raw_qp(&qp, &p.c, 512, 2048, 0);
	raw_qp(&sq, &p.srv.s, 512, 1024, 0);
	max = p.c.setup.max_calls;
	for (i = 0; i < max; i++)
		push(RAW_HANG, i, 10);
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK_EQ(qp.submitted, max);
	for (i = 0; i < 3; i++) {
		push(RAW_ECHO, max, 10);
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_RESOURCE_EXHAUSTED);
		CHECK_EQ(cqe.user_data, max);
		CHECK(strstr(raw_detail(&p.c, &cqe, detail, sizeof(detail)), "in flight"));
		raw_done(&p.c, &cqe);
	}
	/* One answer, one more call. */
	CHECK(raw_server_hangs(&p.srv, max));
	raw_server_answer(&sq, &p.srv.hung[7], MRPC_ABORTED);
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_ABORTED);
	CHECK_EQ(cqe.user_data, 7);
	raw_done(&p.c, &cqe);
	check_echo(&p.c, p.conn);
	for (i = 0; i < max; i++) {
		if (i == 7)
			continue;
		raw_server_answer(&sq, &p.srv.hung[i], MRPC_ABORTED);
		raw_expect(&sq, &cqe, MRPC_CQE_SENT, 5 * RAW_S);
	}
	for (i = 1; i < max; i++) {
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_ABORTED);
	}
	check_echo(&p.c, p.conn);
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(too_many, too_many)
TEST_GRPC(too_many, too_many)

/* An entry whose completions have no room stays in the submission queue. */
TEST(completion_queue)
{
	unsigned int i, n;
	struct mrpc_cqe cqe;

	raw_pair(&p, "tcp4", 1);
	raw_qp(&qp, &p.c, 8, 16, 0);
	for (i = 0; i < 8; i++)
		push(RAW_ECHO, i, 100);
	CHECK_EQ(raw_enter(&qp, 8, 20 * RAW_S), 0);
	CHECK_EQ(qp.submitted, 8);
	CHECK_EQ(raw_ready(&qp), 8);
	/* 8 are there and not reaped; each call reserves two. */
	for (; i < 16; i++)
		push(RAW_ECHO, i, 100);
	CHECK_EQ(raw_enter(&qp, 12, 20 * RAW_S), 0);
	CHECK(qp.submitted >= 4 && qp.submitted < 8);
	for (i = 0; i < 8; i++)
		expect_blob(i, 100);
	for (n = 0; n < 8; n++)
		expect_blob(i++, 100);
	CHECK(!raw_next(&qp, &cqe, 50 * RAW_MS));
	/* NOPs need one each. */
	for (i = 0; i < 3; i++) {
		for (n = 0; n < 8; n++)
			CHECK(raw_push(&qp, &(struct mrpc_sqe){ .op = MRPC_OP_NOP, .user_data = n }));
		CHECK_EQ(raw_enter(&qp, 0, 0), 0);
		CHECK_EQ(qp.submitted, i < 2 ? 8 : 0);
	}
	CHECK_EQ(raw_ready(&qp), 16);
	for (i = 0; i < 24; i++) {
		raw_expect(&qp, &cqe, MRPC_CQE_NOP, 5 * RAW_S);
		CHECK_EQ(cqe.user_data, i % 8);
	}
	raw_pair_end(&p);
}

/* Heads and tails that an application may not write, and does: its own loss. */
TEST(forged_rings)
{
	static const uint32_t values[] = { 1, 8, 16, 17, 1000, 0x80000000, 0xffffffff, 0xfffffff0 };
	struct mrpc_cqe cqe;
	struct raw_qp bad;
	uint32_t i, root;
	struct raw other;

	raw_pair(&p, "tcp4", 1);
	raw_open(&other, 1 << 20, 1 << 20);
	for (i = 0; i < 4 * ARRAY_SIZE(values); i++) {
		uint32_t value = values[i / 4];
		int conn = raw_connect(&other, p.addr);
		struct mrpc_sqe sqe;

		CHECK(conn > 0);
		raw_qp(&bad, &other, 8, 16, MRPC_QP_SERVE);
		root = raw_blob(&other, 1, 100, NULL);
		sqe = raw_sqe(conn, RAW_ECHO, root);
		raw_push(&bad, &sqe);
		*(i % 4 == 0 ? &bad.head->sq.head : i % 4 == 1 ? &bad.head->sq.tail :
		  i % 4 == 2 ? &bad.head->cq.head : &bad.head->cq.tail) += value;
		raw_enter(&bad, 1, 20 * RAW_MS);
		bad.head->flags = ~0U;
		raw_enter(&bad, 1, 20 * RAW_MS);
		CHECK_EQ(raw_close_id(&other, conn, 0, 0), 0);
		raw_free(&other, root);
	}
	/* A head that runs while completions come. */
	raw_qp(&bad, &p.c, 64, 128, 0);
	for (i = 0; i < 64; i++) {
		struct mrpc_sqe sqe = { .op = MRPC_OP_NOP };

		raw_push(&bad, &sqe);
		bad.head->cq.head += i * 7;
		raw_enter(&bad, 0, 0);
		raw_reap(&bad, &cqe);
	}
	raw_close(&other);
	check_echo(&p.c, p.conn);
	raw_pair_end(&p);
}

static void *enter_once(void *arg)
{
	raw_enter(arg, 1, 40 * RAW_S);
	return NULL;
}

/* Forty requests on their way to a serving queue pair of that size. */
static void forty_begin(struct raw *srv, struct raw_qp *sq, uint32_t sq_entries,
			uint32_t cq_entries)
{
	unsigned int i;
	char addr[64];
	pthread_t t;

	raw_open(srv, 1 << 20, 1 << 20);
	raw_qp(sq, srv, sq_entries, cq_entries, MRPC_QP_SERVE);
	CHECK(raw_serve(srv, "tcp:127.0.0.1:0") > 0);
	raw_open(&p.c, 1 << 20, 1 << 20);
	raw_qp(&qp, &p.c, 64, 256, 0);
	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", srv->port);
	CHECK(!pthread_create(&t, NULL, enter_once, sq));
	p.conn = raw_connect(&p.c, addr);
	CHECK(p.conn > 0);
	for (i = 0; i < 40; i++)
		push(RAW_ACK, i, 50);
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	pthread_join(t, NULL);
}

static void forty_end(struct raw *srv)
{
	raw_close(srv);
	raw_close(&p.c);
	CHECK(raw_sessions(0, 5000));
}

/* A serving queue pair with room for one: the others wait, in order. */
TEST(requests_wait)
{
	struct mrpc_sqe release = { .op = MRPC_OP_RELEASE, .nr = 1 };
	struct mrpc_cqe cqe;
	struct raw_qp sq;
	struct raw srv;
	unsigned int i, n;

	forty_begin(&srv, &sq, 1, 2);
	for (i = 0; i < 40;) {
		CHECK(raw_next(&sq, &cqe, 5 * RAW_S * raw_patience()));
		CHECK(raw_ready(&sq) <= 1);
		if (cqe.type != MRPC_CQE_REQUEST)
			continue;
		CHECK(raw_is_blob(raw_msg(&srv, &cqe), cqe.msg_len, i++, 50));
		release.blocks[0] = cqe.block;
		for (n = 0; !raw_push(&sq, &release); n++) {
			CHECK(n < 1000);
			raw_enter(&sq, 0, 0);
		}
	}
	forty_end(&srv);
}

/*
 * However many requests come, a server that has not reaped them can submit as much
 * as its submission queue holds.
 */
TEST(requests_leave_room)
{
	struct mrpc_sqe nop = { .op = MRPC_OP_NOP };
	struct mrpc_cqe cqe;
	struct raw_qp sq;
	struct raw srv;
	unsigned int i;

	forty_begin(&srv, &sq, 8, 32);
	CHECK_EQ(raw_enter(&sq, 24, 10 * RAW_S * raw_scale()), 0);
	CHECK_EQ(raw_ready(&sq), 24);
	for (i = 0; i < 8; i++)
		CHECK(raw_push(&sq, &nop));
	CHECK_EQ(raw_enter(&sq, 0, 0), 0);
	CHECK_EQ(sq.submitted, 8);
	CHECK_EQ(raw_ready(&sq), 32);
	for (i = 0; i < 32; i++) {
		CHECK(raw_reap(&sq, &cqe));
		CHECK_EQ(cqe.type, i < 24 ? MRPC_CQE_REQUEST : MRPC_CQE_NOP);
	}
	forty_end(&srv);
}

/* A receive heap that is full stops its connections; room lets them go on. */
static void heap_full(const char *how)
{
	struct mrpc_release r = { .size = sizeof(r), .nr = 1 };
	uint64_t base, off;
	uint32_t i;
	int first;

	raw_server_open(&p.srv, 1 << 20, 131072);
	raw_open(&p.c, 8 << 20, 1 << 20);
	p.srv.keep = true;
	raw_pair_start(&p, how, 1);
	raw_qp(&qp, &p.c, 64, 256, 0);
	for (i = 0; i < 19; i++)
		push(RAW_HANG, i, 16000);
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK(raw_server_hangs(&p.srv, 8));
	raw_sleep(200 * RAW_MS);
	CHECK_EQ(p.srv.nr_hung, 8);	/* 16 KiB each */
	/* Back with one block, forth with one call; by ioctl and by queue. */
	for (i = 0; i < 4; i++) {
		r.blocks[0] = p.srv.hung[i].block;
		CHECK_EQ(raw_ioctl(p.srv.s.fd, MRPC_IOC_RELEASE, &r), 0);
		CHECK(raw_server_hangs(&p.srv, 9 + i));
		raw_sleep(20 * RAW_MS);
		CHECK_EQ(p.srv.nr_hung, 9 + i);
	}
	/* A new region is room, too, but only when the server can look into it. */
	CHECK_EQ(raw_region(&p.srv.s, MRPC_REGION_RECV, 65536, &base, &off), 0);
	first = p.conn;
	p.conn = raw_connect(&p.c, p.addr);
	CHECK(p.conn > 0);
	push(RAW_HANG, 19, 16000);
	p.conn = first;
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	raw_sleep(100 * RAW_MS);
	CHECK_EQ(p.srv.nr_hung, 12);
	raw_map(&p.srv.s, MRPC_REGION_RECV, 65536, base, off);
	CHECK(raw_server_hangs(&p.srv, 16));
	raw_sleep(100 * RAW_MS);
	CHECK_EQ(p.srv.nr_hung, 16);
	for (i = 4; i < 8; i++) {
		r.blocks[0] = p.srv.hung[i].block;
		CHECK_EQ(raw_ioctl(p.srv.s.fd, MRPC_IOC_RELEASE, &r), 0);
	}
	CHECK(raw_server_hangs(&p.srv, 20));
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(heap_full, heap_full)
TEST_GRPC(heap_full, heap_full)
TEST_TLS(heap_full, heap_full)

/*
 * A request that waits for a completion queue holds its block. When its deadline passes, a
 * request that waits for the heap gets it, though nothing else happens.
 */
TEST(heap_of_one_that_waits)
{
	struct mrpc_connect at;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	struct raw_qp sq;
	struct raw srv;
	char addr[64];
	pthread_t t;
	int other;

	raw_open(&srv, 1 << 20, 131072);
	raw_qp(&sq, &srv, 1, 2, MRPC_QP_SERVE);
	at = raw_target(&srv, "tcp:127.0.0.1:0");
	at.keepalive_us = RAW_HOUR_US;
	CHECK(raw_serve_at(&srv, &at) > 0);
	raw_open(&p.c, 1 << 20, 1 << 20);
	raw_qp(&qp, &p.c, 64, 256, 0);
	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", srv.port);
	CHECK(!pthread_create(&t, NULL, enter_once, &sq));
	p.conn = raw_connect_quiet(&p.c, addr);
	other = raw_connect_quiet(&p.c, addr);
	CHECK(p.conn > 0 && other > 0);
	raw_sleep(2500 * RAW_MS);	/* connections look after themselves in their first second */
	push(RAW_ACK, 0, 50);		/* has the only place */
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	pthread_join(t, NULL);
	sqe = raw_sqe(p.conn, RAW_ACK, raw_blob(&p.c, 1, 33000, NULL));
	sqe.timeout_us = 1000000 * raw_scale();
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	raw_sleep(200 * RAW_MS * raw_scale());
	p.conn = other;
	push(RAW_ACK, 2, 33000);
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
	raw_sleep(200 * RAW_MS * raw_scale());
	CHECK(raw_reap(&sq, &cqe));
	CHECK(raw_is_blob(raw_msg(&srv, &cqe), cqe.msg_len, 0, 50));
	CHECK_MSG(raw_next(&sq, &cqe, 3 * RAW_S * raw_patience()), "nobody told it of the room");
	CHECK(raw_is_blob(raw_msg(&srv, &cqe), cqe.msg_len, 2, 33000));
	forty_end(&srv);
}

/* Replies wait for the caller's heap, too; nothing else of the session does. */
static void reply_heap_full(const char *how)
{
	bool ordered = strcmp(how, "prio");
	struct mrpc_cqe cqes[16];
	unsigned int i, came = 0;
	struct mrpc_sqe sqe;

	raw_server_open(&p.srv, 8 << 20, 1 << 20);
	raw_open(&p.c, 1 << 20, 131072);
	raw_pair_start(&p, how, 1);
	raw_qp(&qp, &p.c, 64, 256, 0);
	for (i = 0; i < 16; i++) {
		sqe = raw_sqe(p.conn, RAW_MAKE, raw_blob(&p.c, 30000, 0, NULL));
		sqe.user_data = i;
		CHECK(raw_push(&qp, &sqe));
	}
	CHECK_EQ(raw_enter(&qp, 4, 20 * RAW_S), 0);
	raw_sleep(200 * RAW_MS);
	CHECK_EQ(raw_ready(&qp), 4);	/* 32 KiB each */
	/* Deadlines are kept meanwhile. */
	sqe.user_data = 99;
	sqe.timeout_us = 100000;
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 5, 20 * RAW_S), 0);
	for (i = 0; i < 5; i++) {
		CHECK(raw_reap(&qp, &cqes[i]));
		CHECK_EQ(cqes[i].status, i < 4 ? MRPC_OK : MRPC_DEADLINE_EXCEEDED);
	}
	CHECK_EQ(cqes[4].user_data, 99);
	for (i = 0; i < 4; i++) {
		came |= 1U << cqes[i].user_data;
		raw_done(&p.c, &cqes[i]);
	}
	for (i = 4; i < 16; i++) {
		raw_expect(&qp, &cqes[i], MRPC_CQE_REPLY, 5 * RAW_S);
		CHECK(!ordered || cqes[i].user_data == i);
		came |= 1U << cqes[i].user_data;
		CHECK(raw_is_blob(raw_msg(&p.c, &cqes[i]), cqes[i].msg_len, 30000, 30000));
		raw_done(&p.c, &cqes[i]);
	}
	CHECK_EQ(came, 0xffff);
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(reply_heap_full, reply_heap_full)
TEST_GRPC(reply_heap_full, reply_heap_full)
TEST_TLS(reply_heap_full, reply_heap_full)

static void make(uint64_t user_data, uint32_t len, uint64_t timeout_us)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_MAKE, raw_blob(&p.c, len, 0, NULL));

	sqe.user_data = user_data;
	sqe.timeout_us = timeout_us;
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
}

static void give_up(uint64_t user_data)
{
	struct mrpc_sqe sqe = {
		.op = MRPC_OP_CANCEL, .conn = p.conn, .call = user_data,
	};

	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
}

/*
 * A reply waits for the caller's heap. When its call is given up, what has come behind it and
 * finds room is delivered, though nothing else happens: no release, no byte, no keepalive.
 */
static void reply_given_up(const char *how, bool balanced)
{
	uint64_t timeout_us = 1000000 * raw_scale();
	char words[96];
	struct mrpc_cqe cqe, status;
	unsigned int i;

	op_del_all();
	raw_server_open(&p.srv, 8 << 20, 1 << 20);
	raw_open(&p.c, 1 << 20, 131072);
	p.srv.keepalive_us = RAW_HOUR_US;
	raw_pair_start(&p, how, 1);
	p.conn = raw_connect_quiet(&p.c, p.addr);
	CHECK(p.conn > 0);
	snprintf(words, sizeof(words), "members=%s side=client", p.addr);
	if (balanced)
		op_must_add("lb", words, NULL);
	raw_qp(&qp, &p.c, 64, 256, 0);
	for (i = 0; i < 3; i++)
		make(i, 30000, 0);	/* three quarters of the heap, and kept */
	CHECK_EQ(raw_enter(&qp, 3, 5 * RAW_S), 0);
	raw_sleep(2500 * RAW_MS);	/* connections look after themselves in their first second */
	for (i = 0; i < 3; i++)
		CHECK(raw_reap(&qp, &cqe) && cqe.status == MRPC_OK);
	for (i = 0; i < 2; i++) {
		make(10, 40000, i ? 0 : timeout_us);
		raw_sleep(timeout_us * 250);
		make(11, 100, 0);
		raw_sleep(timeout_us * 250);
		CHECK_EQ(raw_ready(&qp), 0);
		if (i)
			give_up(10);
		raw_expect(&qp, &status, MRPC_CQE_REPLY, 5 * RAW_S);
		CHECK_EQ(status.user_data, 10);
		CHECK_EQ(status.status, i ? MRPC_CANCELLED : MRPC_DEADLINE_EXCEEDED);
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
		CHECK_EQ(cqe.user_data, 11);
		CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, 100, 100));
		raw_done(&p.c, &cqe);
		raw_done(&p.c, &status);
	}
	op_del_all();
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(reply_given_up, reply_given_up, false)

TEST(reply_given_up_lb)
{
	reply_given_up("tcp4", true);
}

/* What can never fit is refused, and the connection goes on. */
static void too_large(const char *how)
{
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	unsigned int i;

	raw_server_open(&p.srv, 8 << 20, 131072);
	raw_open(&p.c, 8 << 20, 65536);
	raw_pair_start(&p, how, 1);
	for (i = 0; i < 3; i++) {
		/* The request for the server's heap, then the reply for ours. */
		sqe = raw_sqe(p.conn, RAW_ACK, raw_blob(&p.c, 1, 200000, NULL));
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_RESOURCE_EXHAUSTED);
		CHECK(!(cqe.flags & MRPC_CQE_LOCAL));
		CHECK(cqe.detail_len);
		raw_done(&p.c, &cqe);
		sqe = raw_sqe(p.conn, RAW_MAKE, raw_blob(&p.c, 70000, 0, NULL));
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_RESOURCE_EXHAUSTED);
		CHECK(cqe.flags & MRPC_CQE_LOCAL);
		raw_done(&p.c, &cqe);
		check_echo(&p.c, p.conn);
	}
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(too_large, too_large)
TEST_GRPC(too_large, too_large)
TEST_TLS(too_large, too_large)

/* A caller without a receive heap gets statuses, if nothing else. */
TEST(no_heap)
{
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;

	raw_server_open(&p.srv, 1 << 20, 1 << 20);
	raw_open(&p.c, 1 << 20, 0);
	raw_pair_start(&p, "tcp4", 1);
	sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, 1, 10, NULL));
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_RESOURCE_EXHAUSTED);
	CHECK_EQ(cqe.flags, MRPC_CQE_FREED | MRPC_CQE_LOCAL | MRPC_CQE_FULL);
	sqe = raw_sqe(p.conn, RAW_FAIL, raw_blob(&p.c, MRPC_ABORTED, 10, NULL));
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_ABORTED);
	CHECK_EQ(cqe.flags, MRPC_CQE_FREED);
	raw_pair_end(&p);
}
