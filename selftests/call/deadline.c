// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/ds/deadline kmod/call/client kmod/call/server kmod/conn */
/*
 * Calls that end before their reply, by deadline and by cancellation, at both ends.
 */
#include <errno.h>
#include <signal.h>

#include "tap.h"
#include "peer.h"

static struct raw_pair p;
static struct raw_qp qp;

static void begin(const char *how)
{
	raw_pair(&p, how, 1);
	raw_qp(&qp, &p.c, 64, 256, 0);
}

static void start(uint64_t user_data, uint32_t method, uint64_t timeout_us)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, method, raw_blob(&p.c, user_data, 10, NULL));

	sqe.user_data = user_data;
	sqe.timeout_us = timeout_us;
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK_EQ(qp.submitted, 1);
}

static void check_echo(void)
{
	uint32_t root = raw_blob(&p.c, 1, 1000, NULL);
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ECHO, root);
	struct mrpc_cqe cqe;

	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&p.c, &cqe);
	raw_free(&p.c, root);
}

/* Sends the server's late reply. Only the server is told that it is late. */
static void late_reply(unsigned int nr)
{
	struct mrpc_cqe cqe;
	struct raw_qp sq;

	raw_qp(&sq, &p.srv.s, 4, 8, 0);
	/* The server gets the news some time later. */
	CHECK(raw_server_calls(&p.srv, 0, 5000));
	raw_server_answer(&sq, &p.srv.hung[nr], MRPC_ABORTED);
	raw_expect(&sq, &cqe, MRPC_CQE_SENT, 5 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_CANCELLED);
	CHECK_EQ(cqe.user_data, p.srv.hung[nr].call);
	CHECK(!raw_next(&qp, &cqe, 50 * RAW_MS));
}

/* Checks that it took at least the timeout, and not much longer. */
static void check_time(uint64_t before, uint64_t timeout_us)
{
	uint64_t ns = raw_now() - before;

	CHECK_MSG(ns >= timeout_us * 1000 - RAW_MS &&
		  ns < timeout_us * 1000 + 2 * RAW_S * raw_patience(), "it took %llu ms",
		  (unsigned long long)(ns / RAW_MS));
}

/* On a busy machine some calls time out before they are served. */
static bool served(void)
{
	CHECK(raw_server_calls(&p.srv, 0, 5000));
	raw_sleep(20 * RAW_MS);
	return __atomic_load_n(&p.srv.nr_hung, __ATOMIC_ACQUIRE);
}

static void sync_deadline(const char *how, uint32_t len)
{
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	uint64_t before;

	begin(how);
	sqe = raw_sqe(p.conn, RAW_HANG, raw_blob(&p.c, 1, len, NULL));
	sqe.timeout_us = 300000;
	do {
		CHECK(sqe.timeout_us < 10000000);
		before = raw_now();
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		check_time(before, sqe.timeout_us);
		CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
		/* Either the client's kernel is first, or the server's, which sends the status. */
		CHECK(cqe.flags & MRPC_CQE_FREED);
		raw_done(&p.c, &cqe);
		sqe.timeout_us *= 2;
	} while (!served());
	late_reply(0);
	check_echo();
	raw_pair_end(&p);
}

TEST(sync_tcp)
{
	sync_deadline("tcp4", 10);
}

TEST(sync_tcp_large)
{
	sync_deadline("tcp4", 1 << 20);
}

TEST(sync_loop)
{
	sync_deadline("loop", 10);
}

TEST(sync_prio)
{
	sync_deadline("prio", 10);
}

TEST(sync_loop_large)
{
	sync_deadline("loop", 1 << 20);
}

#define RING	40

static uint32_t ring_ms(unsigned int i)
{
	return 300 + i * 27 % RING * 10;
}

/*
 * Many deadlines, set in any order, pass in order. Neighbours may be reported together.
 * Return: false: the order was wrong.
 */
static bool ring_in_order(void)
{
	uint64_t before[RING], last = 0, now, due;
	bool in_order = true;
	struct mrpc_cqe cqe;
	unsigned int i;

	for (i = 0; i < RING; i++) {
		before[i] = raw_now();
		start(i, RAW_HANG, ring_ms(i) * 1000);
	}
	for (i = 0; i < RING; i++) {
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
		now = raw_now();
		CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
		CHECK(cqe.flags & MRPC_CQE_FREED);
		CHECK(cqe.user_data < RING);
		due = before[cqe.user_data] + ring_ms(cqe.user_data) * RAW_MS;
		CHECK_MSG(due <= now + RAW_MS, "%u ms were over after %llu", ring_ms(cqe.user_data),
			  (unsigned long long)((now - before[cqe.user_data]) / RAW_MS));
		in_order &= due + 100 * RAW_MS * raw_scale() > last;
		last = due;
		raw_done(&p.c, &cqe);
	}
	return in_order;
}

/* A machine that stops meanwhile mixes the order, so the test has several tries. */
static void ring_deadlines(const char *how)
{
	unsigned int i;

	begin(how);
	for (i = 0; i < 5 && !ring_in_order(); i++)
		;
	CHECK(i < 5);
	check_echo();
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(ring, ring_deadlines)
TEST_GRPC(ring, ring_deadlines)

/* More calls than a connection has slots. Each call gives its slot back. */
TEST_LIMIT(slots, 120)
{
	struct mrpc_cqe cqe;
	unsigned int i, n;

	begin("tcp4");
	for (i = 0; i < 10; i++) {
		for (n = 0; n < 40; n++)
			start(n, RAW_HANG, 1000 + n * 100);
		for (n = 0; n < 40; n++) {
			raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
			CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
			raw_done(&p.c, &cqe);
		}
		check_echo();
	}
	raw_pair_end(&p);
}

TEST(at_once)
{
	struct mrpc_cqe cqe;

	begin("tcp4");
	start(1, RAW_HANG, 1);
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
	raw_done(&p.c, &cqe);
	check_echo();
	raw_pair_end(&p);
}

/* A reply in time completes the call, and the deadline has no effect. */
TEST(in_time)
{
	struct mrpc_cqe cqe;
	unsigned int i;

	begin("tcp4");
	for (i = 0; i < 50; i++) {
		start(i, RAW_ECHO, 20000000);
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
	}
	raw_pair_end(&p);
}

/* The server's kernel enforces the deadline, too, independently of the client's. */
TEST(at_server)
{
	static struct peer w;
	struct mrpc_msg_len len;
	uint64_t before, us;
	struct mrpc_frame f;
	u8 body[256];
	u32 size;

	begin("tcp4");
	peer_shake(&w, p.srv.s.port);
	size = peer_blob(body, &len, 1, 10, NULL);
	us = 300000;
	do {
		CHECK(us < 10000000);
		f = peer_call_frame(peer_id(&w, 0), RAW_HANG, &len);
		f.remaining_us = us;
		before = raw_now();
		CHECK(peer_send_frame(&w, &f, body, size));
		peer_expect(&w, MRPC_WIRE_REPLY);
		check_time(before, us);
		CHECK_EQ(w.frame.status, MRPC_DEADLINE_EXCEEDED);
		CHECK_EQ(w.frame.call_id, f.call_id);
		us *= 2;
	} while (!served());
	CHECK(p.srv.hung[0].deadline_ns && p.srv.hung[0].deadline_ns <= raw_until(us / 2 * 1000));
	late_reply(0);
	/* The slot is free again. */
	peer_echo(&w, 0, 1, 10);
	peer_close(&w);
	raw_pair_end(&p);
}

static void cancel(uint64_t user_data, struct raw_qp *q)
{
	struct mrpc_sqe sqe = {
		.op = MRPC_OP_CANCEL, .conn = p.conn, .call = user_data, .user_data = 555,
	};

	CHECK(raw_push(q, &sqe));
	CHECK_EQ(raw_enter(q, 0, 0), 0);
}

static void cancels(const char *how)
{
	struct mrpc_cqe cqe;
	struct raw_qp other;
	unsigned int i;

	begin(how);
	raw_qp(&other, &p.c, 4, 8, 0);
	for (i = 0; i < 5; i++) {
		start(10 + i, RAW_HANG, 0);
		CHECK(raw_server_hangs(&p.srv, i + 1));
		/* A queue pair cannot cancel a call of another one. */
		cancel(10 + i, &other);
		raw_expect(&other, &cqe, MRPC_CQE_ERROR, 5 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_NOT_FOUND);
		CHECK_EQ(cqe.user_data, 555);
		cancel(10 + i, &qp);
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_CANCELLED);
		CHECK_EQ(cqe.user_data, 10 + i);
		raw_done(&p.c, &cqe);
		late_reply(i);
		/* A call can be cancelled only once. */
		cancel(10 + i, &qp);
		raw_expect(&qp, &cqe, MRPC_CQE_ERROR, 5 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_NOT_FOUND);
	}
	check_echo();
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(cancel, cancels)
TEST_GRPC(cancel, cancels)
TEST_TLS(cancel, cancels)

/* Cancelled at once, or while the reply is on its way: there is one completion. */
TEST(cancel_race)
{
	unsigned int i, replies, errors, ok = 0;
	struct mrpc_cqe cqe;

	begin("tcp4");
	for (i = 0; i < 100; i++) {
		start(i, RAW_ECHO, 0);
		if (i % 3)
			raw_sleep(i * 20000);
		cancel(i, &qp);
		for (replies = errors = 0; replies < 1;) {
			CHECK(raw_next(&qp, &cqe, 5 * RAW_S * raw_patience()));
			if (cqe.type == MRPC_CQE_ERROR) {
				CHECK_EQ(cqe.status, MRPC_NOT_FOUND);
				errors++;
				continue;
			}
			CHECK_EQ(cqe.type, MRPC_CQE_REPLY);
			CHECK_EQ(cqe.user_data, i);
			CHECK(cqe.status == MRPC_CANCELLED || cqe.status == MRPC_OK);
			ok += cqe.status == MRPC_OK;
			replies++;
			raw_done(&p.c, &cqe);
		}
		if (cqe.status == MRPC_CANCELLED)
			CHECK_EQ(errors, 0);
		else if (!errors)
			raw_expect(&qp, &cqe, MRPC_CQE_ERROR, 5 * RAW_S);
	}
	NOTE("%u of 100 were not cancelled in time", ok);
	check_echo();
	raw_pair_end(&p);
}

static void nothing(int sig)
{
	(void)sig;
}

struct waiting {
	uint32_t len;
	int err;
	struct mrpc_cqe cqe;
	bool done;
};

static void *sync_hang(void *arg)
{
	struct waiting *w = arg;
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_HANG, raw_blob(&p.c, 1, w->len, NULL));

	w->err = raw_call(&p.c, &sqe, &w->cqe);
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* A signal with a handler that does not restart cancels a synchronous call. */
static void signals(const char *how)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct waiting w;
	unsigned int i;
	pthread_t t;

	begin(how);
	CHECK_SYS(sigaction(SIGUSR1, &sa, NULL));
	for (i = 0; i < 2; i++) {
		w = (struct waiting){ .len = i % 2 ? 1 << 20 : 10 };
		CHECK(!pthread_create(&t, NULL, sync_hang, &w));
		CHECK(raw_server_hangs(&p.srv, i + 1));
		CHECK(!__atomic_load_n(&w.done, __ATOMIC_ACQUIRE));
		CHECK(!pthread_kill(t, SIGUSR1));
		CHECK(!pthread_join(t, NULL));
		CHECK_EQ(w.err, -EINTR);
		late_reply(i);
		check_echo();
	}
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(signal, signals)
TEST_TLS(signal, signals)
