// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/app/poll kmod/core/waiters kmod/core/qp */
/*
 * Waiting for completions: in enter, with poll and epoll, by an eventfd.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tap.h"
#include "raw.h"

static struct raw_pair p;
static struct raw_qp qp;

static void push_call(uint32_t method, uint64_t user_data)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, method, raw_blob(&p.c, 1, 10, NULL));

	sqe.user_data = user_data;
	CHECK(raw_push(&qp, &sqe));
}

static void push_nop(void)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_NOP };

	CHECK(raw_push(&qp, &sqe));
}

static bool readable(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	int n = poll(&pfd, 1, ms < 0 ? ms : ms * (int)raw_patience());

	CHECK(n >= 0);
	CHECK(!n || pfd.revents == POLLIN);
	return n;
}

TEST(timeout)
{
	uint64_t before, ns;
	unsigned int i;

	raw_pair(&p, "tcp4", 1);
	raw_qp(&qp, &p.c, 8, 16, 0);
	push_call(RAW_HANG, 1);
	before = raw_now();
	CHECK_EQ(raw_enter(&qp, 1, 0), -ETIME);
	CHECK(raw_now() - before < RAW_S * raw_patience());
	CHECK_EQ(qp.submitted, 1);
	for (i = 0; i < 3; i++) {
		push_nop();
		before = raw_now();
		/* The NOPs have completed. There is no further completion. */
		CHECK_EQ(raw_enter(&qp, i + 2, 100 * RAW_MS), -ETIME);
		ns = raw_now() - before;
		CHECK_EQ(qp.submitted, 1);
		CHECK(ns >= 100 * RAW_MS && ns < RAW_S * raw_patience());
		CHECK_EQ(raw_enter(&qp, i + 1, ~0ULL), 0);
		CHECK_EQ(raw_enter(&qp, i + 1, 0), 0);
	}
	raw_pair_end(&p);
}

static int got_signal;

static void handler(int sig)
{
	got_signal = sig;
}

static bool enough;

/* Signals again and again: the first signal may come before the wait has begun. */
static void *interrupt(void *arg)
{
	do {
		raw_sleep(200 * RAW_MS * raw_scale());
		pthread_kill(*(pthread_t *)arg, SIGUSR2);
	} while (!__atomic_load_n(&enough, __ATOMIC_ACQUIRE));
	return NULL;
}

static int enter_masked(const sigset_t *mask, uint64_t ns)
{
	struct mrpc_enter e = {
		.size = sizeof(e), .qp = qp.id, .min_complete = 1, .until_ns = raw_until(ns),
		.sigmask = (uintptr_t)mask, .sigset_size = mask ? 8 : 0,
	};

	return raw_ioctl(p.c.fd, MRPC_IOC_ENTER, &e);
}

/* A wait that another thread wants to end. */
static void interrupted(const sigset_t *mask, uint64_t ns, int err)
{
	pthread_t self = pthread_self(), t;

	got_signal = 0;
	enough = false;
	CHECK(!pthread_create(&t, NULL, interrupt, &self));
	CHECK_EQ(enter_masked(mask, ns), err);
	__atomic_store_n(&enough, true, __ATOMIC_RELEASE);
	pthread_join(t, NULL);
	CHECK_EQ(got_signal, SIGUSR2);
}

TEST(signal_mask)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	sigset_t none, usr2, now;

	raw_pair(&p, "tcp4", 1);
	raw_qp(&qp, &p.c, 8, 16, 0);
	CHECK_SYS(sigaction(SIGUSR2, &sa, NULL));
	sigemptyset(&none);
	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);

	/* Without a mask, the handler's SA_RESTART decides whether the wait goes on. */
	interrupted(NULL, RAW_S * raw_scale(), -ETIME);
	sa.sa_flags = 0;
	CHECK_SYS(sigaction(SIGUSR2, &sa, NULL));
	interrupted(NULL, 20 * RAW_S * raw_scale(), -EINTR);
	sa.sa_flags = SA_RESTART;
	CHECK_SYS(sigaction(SIGUSR2, &sa, NULL));

	/* A mask that blocks the signal: the wait goes on, and the handler runs afterwards. */
	interrupted(&usr2, RAW_S * raw_scale(), -ETIME);

	/* The thread blocks it, the mask allows it, and it is blocked again afterwards. */
	CHECK(!pthread_sigmask(SIG_BLOCK, &usr2, NULL));
	interrupted(&none, 20 * RAW_S * raw_scale(), -EINTR);
	CHECK(!pthread_sigmask(SIG_SETMASK, NULL, &now));
	CHECK(sigismember(&now, SIGUSR2));
	got_signal = 0;
	pthread_kill(pthread_self(), SIGUSR2);
	CHECK_EQ(got_signal, 0);
	/* The signal is pending: the next masked wait ends at once. */
	CHECK_EQ(enter_masked(&none, 5 * RAW_S), -EINTR);
	CHECK_EQ(got_signal, SIGUSR2);
	CHECK(!pthread_sigmask(SIG_UNBLOCK, &usr2, NULL));
	raw_pair_end(&p);
}

/* The file is readable while a completion is not reaped, though no thread is in ENTER. */
static void polls(const char *how)
{
	struct mrpc_cqe cqe;
	unsigned int i;

	raw_pair(&p, how, 1);
	raw_qp(&qp, &p.c, 8, 16, 0);
	for (i = 0; i < 5; i++) {
		CHECK(!readable(p.c.fd, 0));
		push_call(i % 2 ? RAW_ECHO : RAW_ACK, i);
		CHECK_EQ(raw_enter(&qp, 0, 0), 0);
		CHECK(readable(p.c.fd, 5000));
		CHECK(readable(p.c.fd, 0));
		CHECK(raw_reap(&qp, &cqe));
		CHECK_EQ(cqe.user_data, i);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
	}
	CHECK(!readable(p.c.fd, 50));
	/* A passed deadline and an ended connection are reported, too. */
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_HANG, raw_blob(&p.c, 1, 10, NULL));

	sqe.timeout_us = 100000;
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK(readable(p.c.fd, 5000));
	CHECK(raw_reap(&qp, &cqe));
	CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
	raw_done(&p.c, &cqe);
	push_call(RAW_HANG, 9);
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK(!readable(p.c.fd, 50));
	raw_server_stop(&p.srv);
	CHECK(readable(p.c.fd, 5000));
	CHECK(raw_reap(&qp, &cqe));
	CHECK_EQ(cqe.status, MRPC_UNAVAILABLE);
	raw_close(&p.c);
	CHECK(raw_sessions(0, 5000));
}

TEST_EACH_TRANSPORT(poll, polls)

/* Edge-triggered: after all completions are reaped, each new one is an event. */
TEST(epoll_edge)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	struct mrpc_cqe cqe;
	unsigned int i;
	int ep;

	raw_pair(&p, "tcp4", 1);
	raw_qp(&qp, &p.c, 8, 16, 0);
	ep = CHECK_SYS(epoll_create1(EPOLL_CLOEXEC));
	CHECK_SYS(epoll_ctl(ep, EPOLL_CTL_ADD, p.c.fd, &ev));
	for (i = 0; i < 10; i++) {
		push_call(RAW_ACK, i);
		CHECK_EQ(raw_enter(&qp, 0, 0), 0);
		CHECK_EQ(epoll_wait(ep, &ev, 1, 5000 * raw_patience()), 1);
		CHECK(ev.events & EPOLLIN);
		CHECK(raw_reap(&qp, &cqe));
		raw_done(&p.c, &cqe);
	}
	close(ep);
	raw_pair_end(&p);
}

/* A server that sleeps only in epoll_wait(). It accepts and serves. */
static void epoll_server(const char *addr)
{
	struct mrpc_sqe reply = { .op = MRPC_OP_REPLY };
	struct epoll_event ev = { .events = EPOLLIN };
	struct mrpc_sqe release = { .op = MRPC_OP_RELEASE, .nr = 1 };
	struct raw srv;
	struct raw_qp sq;
	unsigned int served = 0;
	struct mrpc_cqe cqe;
	int ep, status;
	char text[64];
	pid_t pid;

	raw_open(&srv, 65536, 1 << 20);
	raw_qp(&sq, &srv, 16, 64, MRPC_QP_SERVE);
	CHECK(raw_serve(&srv, addr) > 0);
	ep = CHECK_SYS(epoll_create1(EPOLL_CLOEXEC));
	CHECK_SYS(epoll_ctl(ep, EPOLL_CTL_ADD, srv.fd, &ev));
	snprintf(text, sizeof(text), "tcp:127.0.0.1:%u", srv.port);
	if (!strncmp(addr, "loop", 4))
		snprintf(text, sizeof(text), "%s", addr);
	pid = CHECK_SYS(fork());
	if (!pid) {
		unsigned int i;

		raw_open(&p.c, 65536, 65536);
		p.conn = raw_connect(&p.c, text);
		CHECK(p.conn > 0);
		for (i = 0; i < 20; i++) {
			struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ACK, raw_blob(&p.c, i, 10, NULL));

			CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
			CHECK_EQ(cqe.status, MRPC_ABORTED);
		}
		_exit(0);
	}
	while (served < 20) {
		CHECK_EQ(epoll_wait(ep, &ev, 1, 10000 * raw_patience()), 1);
		CHECK_EQ(raw_enter(&sq, 0, 0), 0);
		while (raw_reap(&sq, &cqe)) {
			if (cqe.type != MRPC_CQE_REQUEST)
				continue;
			served++;
			reply.conn = cqe.conn;
			reply.call = cqe.call;
			reply.status = MRPC_ABORTED;
			release.blocks[0] = cqe.block;
			CHECK(raw_push(&sq, &reply));
			CHECK(raw_push(&sq, &release));
			CHECK_EQ(raw_enter(&sq, 0, 0), 0);
		}
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	close(ep);
	raw_close(&srv);
	CHECK(raw_sessions(0, 5000));
}

TEST(epoll_server_tcp)
{
	epoll_server("tcp:127.0.0.1:0");
}

TEST(epoll_server_loop)
{
	epoll_server("loop:epoll");
}

/* The eventfd is signalled only when the queue goes from empty to non-empty. */
TEST(eventfd)
{
	struct mrpc_cqe cqe;
	eventfd_t value;
	unsigned int i;
	int fd;

	raw_pair(&p, "tcp4", 1);
	fd = CHECK_SYS(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
	CHECK_EQ(raw_qp_setup(&qp, &p.c, 8, 16, MRPC_QP_EVENTFD, fd), 0);
	CHECK_EQ(eventfd_read(fd, &value), -1);
	for (i = 0; i < 4; i++)
		push_nop();
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK_SYS(eventfd_read(fd, &value));
	CHECK_EQ(value, 1);
	/* The queue is not empty: no further signal. */
	push_nop();
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK_EQ(eventfd_read(fd, &value), -1);
	CHECK(raw_reap(&qp, &cqe));
	push_nop();
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK_EQ(eventfd_read(fd, &value), -1);
	while (raw_reap(&qp, &cqe))
		;
	/* The queue is empty: the next completion signals, from any context. */
	push_call(RAW_ACK, 5);
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK(readable(fd, 5000));
	CHECK_SYS(eventfd_read(fd, &value));
	CHECK_EQ(value, 1);
	CHECK(raw_reap(&qp, &cqe));
	CHECK_EQ(cqe.user_data, 5);
	raw_done(&p.c, &cqe);
	raw_pair_end(&p);
	close(fd);
}

/* Threads wait in ENTER and in calls at the same time. Each gets its own completions. */
static void *waiter(void *arg)
{
	unsigned long nr = (unsigned long)arg, i;
	struct raw_qp mine;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;

	raw_qp(&mine, &p.c, 8, 16, 0);
	for (i = 0; i < 60; i++) {
		sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, nr * 1000 + i, 10, NULL));
		if (nr % 2) {
			CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		} else {
			CHECK(raw_push(&mine, &sqe));
			CHECK_EQ(raw_enter(&mine, 1, ~0ULL), 0);
			CHECK(raw_reap(&mine, &cqe));
		}
		CHECK_EQ(cqe.status, MRPC_OK);
		CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, nr * 1000 + i, 10));
		raw_done(&p.c, &cqe);
		raw_free(&p.c, sqe.root);
	}
	return NULL;
}

TEST(threads)
{
	pthread_t t[8];
	unsigned long i;

	raw_pair(&p, "tcp4", 2);
	for (i = 0; i < ARRAY_SIZE(t); i++)
		CHECK(!pthread_create(&t[i], NULL, waiter, (void *)i));
	for (i = 0; i < ARRAY_SIZE(t); i++)
		pthread_join(t[i], NULL);
	CHECK_EQ(raw_server_requests(&p.srv), 8 * 60);
	raw_pair_end(&p);
}

/*
 * One thread calls in turn over more connections than one ENTER keeps apart. All calls arrive
 * without a second ENTER, and in order on transports that keep the order.
 */
#define MANY_CONNS	32
#define MANY_CALLS	(MANY_CONNS * 8)

static struct {
	unsigned int requests;
	unsigned int out_of_order;
	uint32_t next[MANY_CONNS];
} many;

static void many_seen(const struct mrpc_cqe *cqe, const void *msg)
{
	const struct test_Blob *blob = msg;

	(void)cqe;
	many.out_of_order += many.next[blob->tag % MANY_CONNS]++ != blob->tag / MANY_CONNS;
	__atomic_add_fetch(&many.requests, 1, __ATOMIC_RELEASE);
}

static void many_connections(const char *how)
{
	int conns[MANY_CONNS];
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	uint32_t i, root;

	memset(&many, 0, sizeof(many));
	raw_server_open(&p.srv, 4 << 20, 4 << 20);
	raw_open(&p.c, 4 << 20, 4 << 20);
	p.srv.seen = many_seen;
	p.srv.keepalive_us = RAW_HOUR_US;	/* no probe sends calls that ENTER has left */
	raw_pair_start(&p, how, 1);
	raw_qp(&qp, &p.c, 512, 1024, 0);
	for (i = 0; i < MANY_CONNS; i++) {
		conns[i] = raw_connect_quiet(&p.c, p.addr);
		CHECK(conns[i] > 0);
	}
	/* Nor does the timer, after its first look within a second. */
	raw_sleep(3 * RAW_S / 2);
	for (i = 0; i < MANY_CALLS; i++) {
		root = raw_blob(&p.c, i, 10, NULL);
		sqe = raw_sqe(conns[i % MANY_CONNS], RAW_ECHO, root);
		sqe.flags = MRPC_SQE_COPY;
		sqe.user_data = root;
		CHECK(raw_push(&qp, &sqe));
	}
	CHECK_EQ(raw_enter(&qp, MANY_CALLS, 5 * RAW_S * raw_patience()), 0);
	CHECK_EQ(qp.submitted, MANY_CALLS);
	for (i = 0; i < MANY_CALLS; i++) {
		CHECK(raw_reap(&qp, &cqe));
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
		raw_free(&p.c, cqe.user_data);
	}
	CHECK_EQ(__atomic_load_n(&many.requests, __ATOMIC_ACQUIRE), MANY_CALLS);
	if (strcmp(how, "prio"))	/* on prio a lost packet delays only its own messages */
		CHECK_EQ(many.out_of_order, 0);
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(many_connections, many_connections)

/* -- requests that wait for room ------------------------------------------------------------ */

static uint64_t cpu_now(void)
{
	struct timespec t;

	CHECK_SYS(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t));
	return t.tv_sec * RAW_S + t.tv_nsec;
}

/* Waits in ENTER for completions that do not come. It must sleep until the time limit. */
static void sleeps(struct raw_qp *in, unsigned int min)
{
	uint64_t ns = RAW_S * raw_scale(), before = raw_now(), busy = cpu_now();

	CHECK_EQ(raw_enter(in, min, ns), -ETIME);
	busy = cpu_now() - busy;
	NOTE("%llu of %llu ms busy", (unsigned long long)(busy / RAW_MS),
	     (unsigned long long)(ns / RAW_MS));
	CHECK(busy < ns / 4);
	CHECK(raw_now() - before < ns + RAW_S * raw_patience());
}

static void *enter_for_8(void *arg)
{
	CHECK_EQ(raw_enter(arg, 8, 20 * RAW_S * raw_patience()), 0);
	return NULL;
}

/* Waits in ENTER while other threads use the queue pair. */
static void *enter_for_9(void *arg)
{
	const struct raw_qp *in = arg;
	struct mrpc_enter e = {
		.size = sizeof(e), .qp = in->id, .min_complete = 9,
		.until_ns = raw_until(20 * RAW_S * raw_patience()),
	};

	CHECK_EQ(raw_ioctl(in->s->fd, MRPC_IOC_ENTER, &e), 0);
	return NULL;
}

/*
 * Twenty requests, and room for eight. A thread that waits for more than can come sleeps, and so
 * does one on a queue pair that gets none. When room is made, the other requests come in order.
 */
TEST(no_room)
{
	struct mrpc_sqe release = { .op = MRPC_OP_RELEASE, .nr = 1 };
	struct mrpc_sqe nop = { .op = MRPC_OP_NOP };
	struct raw_qp sq, idle;
	struct mrpc_cqe cqe;
	struct raw srv;
	unsigned int i;
	char addr[64];
	pthread_t t;

	raw_open(&srv, 1 << 20, 1 << 20);
	raw_qp(&sq, &srv, 8, 16, MRPC_QP_SERVE);
	raw_qp(&idle, &srv, 8, 16, 0);
	CHECK(raw_serve(&srv, "tcp:127.0.0.1:0") > 0);
	raw_open(&p.c, 1 << 20, 1 << 20);
	raw_qp(&qp, &p.c, 64, 256, 0);
	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", srv.port);
	CHECK(!pthread_create(&t, NULL, enter_for_8, &sq));
	p.conn = raw_connect(&p.c, addr);
	CHECK(p.conn > 0);
	for (i = 0; i < 20; i++) {
		struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ACK, raw_blob(&p.c, i, 10, NULL));

		CHECK(raw_push(&qp, &sqe));
	}
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	pthread_join(t, NULL);
	raw_sleep(200 * RAW_MS * raw_scale());
	CHECK(sq.head->flags & MRPC_QP_PENDING);
	sleeps(&sq, 16);
	sleeps(&idle, 1);
	CHECK_EQ(raw_ready(&sq), 8);
	/* Requests never leave less room than this. The last of nine NOPs wakes the thread. */
	CHECK(!pthread_create(&t, NULL, enter_for_9, &sq));
	raw_sleep(200 * RAW_MS * raw_scale());
	for (i = 0; i < 20; i++) {
		CHECK(raw_next(&sq, &cqe, 5 * RAW_S * raw_patience()));
		CHECK_EQ(cqe.type, MRPC_CQE_REQUEST);
		CHECK(raw_is_blob(raw_msg(&srv, &cqe), cqe.msg_len, i, 10));
		release.blocks[0] = cqe.block;
		CHECK(raw_push(&sq, &release));
		CHECK_EQ(raw_enter(&sq, 0, 0), 0);
	}
	for (i = 0; i < 9; i++) {
		CHECK(raw_push(&sq, &nop));
		CHECK_EQ(raw_enter(&sq, 0, 0), 0);
	}
	pthread_join(t, NULL);
	raw_close(&srv);
	raw_close(&p.c);
	CHECK(raw_sessions(0, 5000));
}

/* -- work that a thread leaves -------------------------------------------------------------- */

#define LEFT_ROUNDS	200

static void left_client(const char *addr)
{
	int conns[MANY_CONNS];
	struct mrpc_cqe cqe;
	unsigned int i, k;
	struct mrpc_sqe sqe;

	raw_open(&p.c, 1 << 20, 1 << 20);
	raw_qp(&qp, &p.c, 64, 128, 0);
	for (i = 0; i < MANY_CONNS; i++)
		CHECK((conns[i] = raw_connect(&p.c, addr)) > 0);
	for (k = 0; k < LEFT_ROUNDS; k++) {
		for (i = 0; i < MANY_CONNS; i++) {
			sqe = raw_sqe(conns[i], RAW_ACK, raw_blob(&p.c, i, 10, NULL));
			sqe.user_data = sqe.root;
			CHECK(raw_push(&qp, &sqe));
		}
		CHECK_EQ(raw_enter(&qp, MANY_CONNS, 20 * RAW_S * raw_patience()), 0);
		for (i = 0; i < MANY_CONNS; i++) {
			CHECK(raw_reap(&qp, &cqe));
			CHECK_EQ(cqe.status, MRPC_ABORTED);
			raw_free(&p.c, cqe.user_data);
		}
	}
}

/* The requests of a round: those of an ENTER that waits for one, and later ones. */
static unsigned int left_requests(struct raw_qp *sq, struct mrpc_cqe *requests)
{
	uint64_t end = raw_now() + 5 * RAW_S * raw_patience();
	unsigned int nr = 0;
	struct mrpc_cqe cqe;

	while (nr < MANY_CONNS && raw_now() < end) {
		if (!raw_reap(sq, &cqe)) {
			if (nr)
				raw_sleep(RAW_MS);
			else
				CHECK_EQ(raw_enter(sq, 1, 20 * RAW_S * raw_patience()), 0);
		} else if (cqe.type == MRPC_CQE_REQUEST) {
			requests[nr++] = cqe;
		}
	}
	return nr;
}

/* A thread that has what it waited for, and does not come back, leaves no work undone. */
TEST(left_to_others)
{
	struct mrpc_sqe release = { .op = MRPC_OP_RELEASE, .nr = 1 };
	struct mrpc_sqe reply = { .op = MRPC_OP_REPLY, .status = MRPC_ABORTED };
	struct mrpc_cqe requests[MANY_CONNS];
	unsigned int i, k;
	struct raw_qp sq;
	struct raw srv;
	char addr[64];
	int status;
	pid_t pid;

	raw_open(&srv, 65536, 1 << 20);
	raw_qp(&sq, &srv, 128, 256, MRPC_QP_SERVE);
	CHECK(raw_serve(&srv, "tcp:127.0.0.1:0") > 0);
	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", srv.port);
	pid = CHECK_SYS(fork());
	if (!pid) {
		left_client(addr);
		_exit(0);
	}
	for (k = 0; k < LEFT_ROUNDS; k++) {
		CHECK_EQ(left_requests(&sq, requests), MANY_CONNS);
		for (i = 0; i < MANY_CONNS; i++) {
			reply.conn = requests[i].conn;
			reply.call = requests[i].call;
			release.blocks[0] = requests[i].block;
			CHECK(raw_push(&sq, &reply));
			CHECK(raw_push(&sq, &release));
		}
		CHECK_EQ(raw_enter(&sq, 0, 0), 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	raw_close(&srv);
}

#define BUSY_CALLS	200
#define BUSY_TRIES	10

/* Number of times that this thread sleeps in calls to a server that answers at once. */
static long busy_sleeps(void)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ACK, raw_blob(&p.c, 1, 10, NULL));
	struct rusage before, after;
	struct mrpc_cqe cqe;
	unsigned int i;

	CHECK_SYS(getrusage(RUSAGE_THREAD, &before));
	for (i = 0; i < BUSY_CALLS; i++) {
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
	}
	CHECK_SYS(getrusage(RUSAGE_THREAD, &after));
	return after.ru_nvcsw - before.ru_nvcsw;
}

static void busy_poll(const char *us)
{
	CHECK(raw_file_write(RAW_KNOBS "busy_poll", us));
}

/*
 * With busy_poll a thread polls for its reply instead of sleeping, on every transport. The time
 * limit and signals end the polling, too. Work that the thread runs meanwhile is completed.
 */
static void busy(const char *how)
{
	struct sigaction sa = { .sa_handler = handler };
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	unsigned int i;
	uint64_t before;
	long slept;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP("one processor: who does not sleep keeps others from answering");
	raw_pair(&p, how, 1);
	raw_qp(&qp, &p.c, 8, 16, 0);
	CHECK_SYS(sigaction(SIGUSR2, &sa, NULL));
	slept = busy_sleeps();
	CHECK(slept >= BUSY_CALLS / 2);
	busy_poll("10000");
	/* A busy host runs other tasks. Then the answer is late, and some calls sleep. */
	for (i = 0, slept = BUSY_CALLS; i < BUSY_TRIES && slept > BUSY_CALLS / 2; i++)
		slept = busy_sleeps();
	CHECK_MSG(slept <= BUSY_CALLS / 2, "slept %ld times in %d calls", slept, BUSY_CALLS);
	push_call(RAW_HANG, 1);
	before = raw_now();
	CHECK_EQ(raw_enter(&qp, 1, 3 * RAW_MS), -ETIME);
	CHECK(raw_now() - before >= 3 * RAW_MS);
	busy_poll("1000000");	/* the maximum */
	interrupted(NULL, 20 * RAW_S * raw_scale(), -EINTR);
	/* The thread that polls reports the deadline of a call. */
	sqe = raw_sqe(p.conn, RAW_HANG, raw_blob(&p.c, 1, 10, NULL));
	sqe.timeout_us = 5000;
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
	busy_poll("0");
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(busy, busy)
