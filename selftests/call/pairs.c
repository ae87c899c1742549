// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call kmod/exec kmod/app/poll */
/*
 * Queue pairs of one session: one may take a request, and another one may answer it.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tap.h"
#include "raw.h"

#define CALLS	400
#define FLIGHT	40	/* more than the taker's completion queue holds */
#define WATCHES	6000
#define REPLY	4096	/* bytes: by reference */

static struct raw_pair p;
static struct raw_qp taker, answerer, caller;

/* Requests in the order in which they were first seen, and replies by the same numbers. */
static struct {
	uint64_t id;
	bool taken;
	bool answered;
	bool sent;
} requests[CALLS];
static unsigned int seen, said;
static unsigned int begun, ended;

/* Many epoll watches for every completion: so posting one takes a while. */
static void watch(void)
{
	struct rlimit many = { WATCHES + 200, WATCHES + 200 };
	struct epoll_event in = { .events = EPOLLIN };
	int i, fd;

	CHECK_SYS(setrlimit(RLIMIT_NOFILE, &many));
	for (i = 0; i < WATCHES; i++) {
		fd = epoll_create1(0);
		CHECK_SYS(fd);
		CHECK_SYS(epoll_ctl(fd, EPOLL_CTL_ADD, p.srv.s.fd, &in));
	}
}

static void on_processor(int nr)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(nr, &set);
	CHECK_SYS(sched_setaffinity(0, sizeof(set), &set));
}

/* The client: always a fixed number of calls in flight. Each call ends once. */
static void call_on(void)
{
	static uint32_t root;
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;

	if (!begun)
		root = raw_blob(&p.c, 1, 100, NULL);
	while (raw_reap(&caller, &cqe)) {
		if (cqe.type != MRPC_CQE_REPLY)
			continue;
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
		ended++;
	}
	for (; begun < CALLS && begun - ended < FLIGHT; begun++) {
		sqe = raw_sqe(p.conn, RAW_ECHO, root);
		CHECK(raw_push(&caller, &sqe));
	}
	CHECK_EQ(raw_enter(&caller, 0, 0), 0);
}

/* The number of a request. */
static unsigned int request(const struct mrpc_cqe *cqe)
{
	unsigned int i;

	CHECK_EQ(cqe->type, MRPC_CQE_REQUEST);
	for (i = 0; i < seen; i++)
		if (requests[i].id == cqe->call)
			return i;
	CHECK(seen < CALLS);
	requests[seen].id = cqe->call;
	return seen++;
}

/* Takes the next request from the taker's queue. Return: false: there is none. */
static bool take(struct mrpc_cqe *cqe, unsigned int *nr)
{
	if (!raw_reap(&taker, cqe))
		return false;
	*nr = request(cqe);
	CHECK_MSG(!requests[*nr].taken, "request %u comes twice", *nr);
	requests[*nr].taken = true;
	return true;
}

static void answer(const struct mrpc_cqe *cqe, unsigned int nr)
{
	static uint32_t root;
	struct mrpc_sqe sqe = raw_reply_to(cqe, MRPC_OK);

	if (!root)
		root = raw_blob(&p.srv.s, 1, REPLY, NULL);
	sqe.root = root;
	sqe.user_data = nr;
	CHECK(!requests[nr].answered);
	requests[nr].answered = true;
	CHECK(raw_push(&answerer, &sqe));
}

static void reap_sent(void)
{
	struct mrpc_cqe cqe;

	while (raw_reap(&answerer, &cqe)) {
		if (cqe.type == MRPC_CQE_NOP)
			continue;
		CHECK_EQ(cqe.type, MRPC_CQE_SENT);
		CHECK(!requests[cqe.user_data].sent);
		requests[cqe.user_data].sent = true;
		said++;
	}
}

/* Fills the answerer's completion queue, except one place. */
static void fill(void)
{
	static const struct mrpc_sqe nop = { .op = MRPC_OP_NOP };

	while (raw_ready(&answerer) < answerer.cq_entries - 1) {
		CHECK(raw_push(&answerer, &nop));
		CHECK_EQ(raw_enter(&answerer, 0, 0), 0);
	}
}

/* Orders to the other thread about the taker's queue. */
enum { NOTHING, ENTER_ONCE, WAIT_THERE, END };
static int order = WAIT_THERE;

static int ordered(void)
{
	return __atomic_load_n(&order, __ATOMIC_ACQUIRE);
}

static void give_order(int what)
{
	__atomic_store_n(&order, what, __ATOMIC_RELEASE);
}

static void *puller(void *arg)
{
	int err;

	(void)arg;
	on_processor(0);
	while (ordered() == WAIT_THERE) {	/* until the connection exists */
		err = raw_enter(&taker, 1, 50 * RAW_MS);
		CHECK(!err || err == -ETIME);
	}
	while (ordered() != END) {
		if (ordered() != ENTER_ONCE)
			continue;
		CHECK_EQ(raw_enter(&taker, 0, 0), 0);
		give_order(NOTHING);
	}
	return NULL;
}

/* Orders the other thread to fill the taker's queue. Return: its first completion has come. */
static bool pulled(uint32_t *at)
{
	uint64_t until = raw_now() + RAW_S;

	*at = taker.head->cq.tail;
	give_order(ENTER_ONCE);
	while (__atomic_load_n(&taker.head->cq.tail, __ATOMIC_ACQUIRE) == *at)
		if (raw_now() > until)
			return false;
	return true;
}

/*
 * Answers a request as soon as it is visible, while the thread that posted it is still busy with
 * that. There is no room for the SENT of the reply. Return: there was a request.
 */
static bool answer_at_once(void)
{
	struct mrpc_cqe cqe;
	unsigned int nr;
	uint32_t at;

	do {
		if (!take(&cqe, &nr))
			return false;
	} while (requests[nr].answered);
	fill();
	answer(&cqe, nr);
	if (pulled(&at)) {
		cqe = taker.cq[at & (taker.cq_entries - 1)];
		answer(&cqe, request(&cqe));
	}
	CHECK_EQ(raw_enter(&answerer, 0, 0), 0);
	while (ordered() != NOTHING)
		;
	reap_sent();
	CHECK_EQ(raw_enter(&answerer, 0, 0), 0);
	reap_sent();
	return true;
}

static void answer_the_rest(void)
{
	uint64_t until = raw_now() + 20 * RAW_S * raw_patience();
	struct mrpc_cqe cqe;
	unsigned int nr;

	while (ended < CALLS || said < CALLS) {
		CHECK_MSG(raw_now() < until, "%u requests, %u replies sent, %u calls of %u",
			  seen, said, ended, CALLS);
		call_on();
		CHECK_EQ(raw_enter(&taker, 0, 0), 0);
		while (take(&cqe, &nr))
			if (!requests[nr].answered) {
				answer(&cqe, nr);
				CHECK_EQ(raw_enter(&answerer, 0, 0), 0);
				reap_sent();
			}
		CHECK_EQ(raw_enter(&answerer, 0, 0), 0);
		reap_sent();
	}
}

TEST(answered_at_once)
{
	unsigned int i, rounds = 0;
	pthread_t thread;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP("one who posts and one who answers need two processors");
	raw_server_open(&p.srv, 4 << 20, 4 << 20);
	raw_open(&p.c, 1 << 20, 4 << 20);
	raw_qp(&taker, &p.srv.s, 4, 16, MRPC_QP_SERVE);
	raw_qp(&answerer, &p.srv.s, 4, 8, 0);
	raw_qp(&caller, &p.c, 64, 256, 0);
	CHECK(!pthread_create(&thread, NULL, puller, NULL));
	raw_pair_start(&p, "tcp4", 0);
	give_order(NOTHING);
	watch();
	on_processor(1);
	for (i = 0; begun < CALLS; i++) {
		call_on();
		rounds += answer_at_once();
		CHECK_EQ(raw_enter(&taker, 0, 0), 0);
	}
	give_order(END);
	pthread_join(thread, NULL);
	answer_the_rest();
	NOTE("%u of %u rounds, %u requests", rounds, i, seen);
	CHECK_EQ(seen, CALLS);
	raw_pair_end(&p);
	CHECK(raw_sessions(0, 5000));
}
