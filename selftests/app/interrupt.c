// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/app/call kmod/app/connect kmod/app/poll */
/*
 * Signals while a thread waits: what only stops it for a while, or has a handler with
 * SA_RESTART, leaves a call alone; another handler leaves it to the application.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "tap.h"
#include "raw.h"

static struct raw_pair p;
static unsigned int handled;

static void on_signal(int sig)
{
	(void)sig;
	__atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
}

static void begin(int flags)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = flags };

	raw_pair(&p, "tcp4", 1);
	CHECK_SYS(sigaction(SIGUSR2, &sa, NULL));
	handled = 0;
}

static void answer(unsigned int nr)
{
	struct raw_qp qp;

	raw_qp(&qp, &p.srv.s, 4, 8, 0);
	raw_server_answer(&qp, &p.srv.hung[nr], MRPC_ABORTED);
}

/* -- a thread whose wait others disturb ---------------------------------------------- */

struct caller {
	pthread_t thread;
	struct mrpc_call_sync args;
	int err;
	uint64_t took;
	bool done;
};

static void *call(void *arg)
{
	struct caller *c = arg;
	uint64_t start = raw_now();

	c->err = raw_ioctl(p.c.fd, MRPC_IOC_CALL, &c->args);
	c->took = raw_now() - start;
	__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void call_begin(struct caller *c, uint32_t len, uint64_t timeout_us)
{
	memset(c, 0, sizeof(*c));
	c->args.size = sizeof(c->args);
	c->args.sqe = raw_sqe(p.conn, RAW_HANG, raw_blob(&p.c, 1, len, NULL));
	c->args.sqe.timeout_us = timeout_us;
	CHECK(!pthread_create(&c->thread, NULL, call, c));
}

/* Until its handler has run so often, or it is no longer there. */
static void disturb(struct caller *c, unsigned int times)
{
	while (__atomic_load_n(&handled, __ATOMIC_RELAXED) < times &&
	       !__atomic_load_n(&c->done, __ATOMIC_ACQUIRE)) {
		pthread_kill(c->thread, SIGUSR2);
		raw_sleep(RAW_MS);
	}
}

static void call_end(struct caller *c)
{
	pthread_join(c->thread, NULL);
	raw_free(&p.c, c->args.sqe.root);
}

/* One call, one request, whatever comes between; with what is copied and what is not. */
TEST(restarted)
{
	static const uint32_t lengths[] = { 10, 500000 };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct caller c;

		begin(SA_RESTART);
		call_begin(&c, lengths[i], 0);
		CHECK(raw_server_hangs(&p.srv, 1));
		disturb(&c, 20);
		CHECK_EQ(handled, 20);
		CHECK(!c.done);
		answer(0);
		call_end(&c);
		CHECK_EQ(c.err, 0);
		CHECK_EQ(c.args.cqe.status, MRPC_ABORTED);
		CHECK_EQ(c.args.token, 0);
		CHECK_EQ(raw_server_requests(&p.srv), 1);
		raw_pair_end(&p);
	}
}

/* The time limit is that of the call, not of each wait for it. */
TEST(deadline)
{
	struct caller c;

	begin(SA_RESTART);
	call_begin(&c, 10, 1000000);
	disturb(&c, UINT32_MAX);
	call_end(&c);
	CHECK_EQ(c.err, 0);
	CHECK_EQ(c.args.cqe.status, MRPC_DEADLINE_EXCEEDED);
	CHECK(c.took > 990 * RAW_MS && c.took < 3 * RAW_S * raw_patience());
	CHECK(handled > 1);
	raw_pair_end(&p);
}

/* The application learns of it, and cancels the call or goes on with it. */
TEST(not_restarted)
{
	struct mrpc_call_sync again;
	struct caller c;

	begin(0);
	call_begin(&c, 10, 0);
	CHECK(raw_server_hangs(&p.srv, 1));
	disturb(&c, 1);
	pthread_join(c.thread, NULL);
	CHECK_EQ(c.err, -EINTR);
	CHECK(c.args.token);
	/* It is still under way. */
	CHECK(raw_server_calls(&p.srv, 1, 0));
	again = c.args;
	again.flags = MRPC_CALL_CANCEL;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CALL, &again), 0);
	CHECK_EQ(again.cqe.status, MRPC_CANCELLED);
	CHECK_EQ(again.token, 0);
	raw_done(&p.c, &again.cqe);
	CHECK(raw_server_calls(&p.srv, 0, 5000));
	/* No second ioctl finds it. */
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CALL, &c.args), -ENOENT);

	handled = 0;
	call_begin(&c, 10, 0);
	CHECK(raw_server_hangs(&p.srv, 2));
	disturb(&c, 1);
	pthread_join(c.thread, NULL);
	CHECK_EQ(c.err, -EINTR);
	answer(1);
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CALL, &c.args), 0);
	CHECK_EQ(c.args.cqe.status, MRPC_ABORTED);
	CHECK_EQ(raw_server_requests(&p.srv), 2);
	raw_pair_end(&p);
}

/* A thread that has left its call may end, and then its session. */
TEST(left_behind)
{
	struct caller c;

	begin(0);
	call_begin(&c, 10, 0);
	CHECK(raw_server_hangs(&p.srv, 1));
	disturb(&c, 1);
	pthread_join(c.thread, NULL);
	CHECK_EQ(c.err, -EINTR);
	answer(0);
	CHECK(raw_server_calls(&p.srv, 0, 5000));

	handled = 0;
	call_begin(&c, 500000, 0);
	CHECK(raw_server_hangs(&p.srv, 2));
	disturb(&c, 1);
	pthread_join(c.thread, NULL);
	CHECK_EQ(c.err, -EINTR);
	raw_pair_end(&p);
	CHECK(raw_sessions(0, 10000));
}

TEST(bad_arguments)
{
	struct mrpc_call_sync args = { .size = sizeof(args), .sqe.op = MRPC_OP_CALL };

	begin(0);
	args.token = 1;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CALL, &args), -ENOENT);
	args.token = UINT32_MAX;
	args.flags = MRPC_CALL_CANCEL;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CALL, &args), -ENOENT);
	args.token = 0;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CALL, &args), -EINVAL);
	args.flags = 2;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CALL, &args), -EINVAL);
	raw_pair_end(&p);
}

/* -- a process that is stopped -------------------------------------------------------- */

static void stopped_child(void)
{
	struct mrpc_call_sync args = { .size = sizeof(args) };
	struct raw s;
	int err;

	raw_open(&s, 1 << 20, 1 << 20);
	args.sqe = raw_sqe(raw_connect(&s, p.addr), RAW_HANG, raw_blob(&s, 1, 10, NULL));
	err = raw_ioctl(s.fd, MRPC_IOC_CALL, &args);
	_exit(err ? 100 - err : args.cqe.status);
}

/* What was answered while it was stopped is there when it goes on, too. */
static void stopped(bool while_stopped)
{
	int status;
	pid_t pid;

	begin(0);
	pid = CHECK_SYS(fork());
	if (!pid)
		stopped_child();
	CHECK(raw_server_hangs(&p.srv, 1));
	CHECK_SYS(kill(pid, SIGSTOP));
	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	CHECK(WIFSTOPPED(status));
	if (while_stopped)
		answer(0);
	CHECK_SYS(kill(pid, SIGCONT));
	if (!while_stopped)
		answer(0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), MRPC_ABORTED);
	CHECK_EQ(raw_server_requests(&p.srv), 1);
	raw_pair_end(&p);
}

TEST(stopped)
{
	stopped(false);
}

TEST(answered_while_stopped)
{
	stopped(true);
}

/* -- MRPC_IOC_ENTER --------------------------------------------------------------------- */

static struct raw_qp qp;
static struct mrpc_enter enter_args;

static void *enter(void *arg)
{
	struct caller *c = arg;
	uint64_t start = raw_now();

	c->err = raw_ioctl(p.c.fd, MRPC_IOC_ENTER, &enter_args);
	c->took = raw_now() - start;
	__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* What was submitted before the signal is counted, and is not submitted again. */
TEST(enter_restarted)
{
	struct mrpc_sqe nop = { .op = MRPC_OP_NOP };
	struct caller c = { 0 };

	begin(SA_RESTART);
	raw_qp(&qp, &p.c, 8, 16, 0);
	CHECK(raw_push(&qp, &nop));
	CHECK(raw_push(&qp, &nop));
	enter_args = (struct mrpc_enter){
		.size = sizeof(enter_args), .qp = qp.id, .to_submit = 2, .min_complete = 3,
		.until_ns = raw_until(RAW_S),
	};
	CHECK(!pthread_create(&c.thread, NULL, enter, &c));
	disturb(&c, UINT32_MAX);
	pthread_join(c.thread, NULL);
	CHECK_EQ(c.err, -ETIME);
	CHECK(handled > 1);
	CHECK(c.took > 990 * RAW_MS && c.took < 3 * RAW_S * raw_patience());
	CHECK_EQ(enter_args.submitted, 2);
	CHECK_EQ(raw_ready(&qp), 2);
	/* More taken than there was to take. */
	enter_args.submitted = 3;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_ENTER, &enter_args), -EINVAL);
	raw_pair_end(&p);
}

/* -- MRPC_IOC_CONNECT ------------------------------------------------------------------- */

static struct mrpc_connect connect_args;

static void *connects(void *arg)
{
	struct caller *c = arg;
	uint64_t start = raw_now();

	c->err = raw_ioctl(p.c.fd, MRPC_IOC_CONNECT, &connect_args);
	c->took = raw_now() - start;
	__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* A server that accepts only when a thread of it is in ENTER. */
static void idle_server(int flags, uint64_t ns)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = flags };

	raw_open(&p.srv.s, 65536, 65536);
	raw_qp(&qp, &p.srv.s, 4, 8, MRPC_QP_SERVE);
	CHECK(raw_serve(&p.srv.s, "tcp:127.0.0.1:0") > 0);
	raw_open(&p.c, 65536, 65536);
	snprintf(p.addr, sizeof(p.addr), "tcp:127.0.0.1:%u", p.srv.s.port);
	connect_args = raw_target(&p.c, p.addr);
	connect_args.until_ns = raw_until(ns);
	CHECK_SYS(sigaction(SIGUSR2, &sa, NULL));
	handled = 0;
}

static void idle_server_end(void)
{
	raw_close(&p.c);
	raw_close(&p.srv.s);
	CHECK(raw_sessions(0, 10000));
}

/* The server's thread is there from now on, for as long as it takes. */
static void serve_until(const bool *done)
{
	uint64_t end = raw_until(20 * RAW_S * raw_patience());

	while (!__atomic_load_n(done, __ATOMIC_ACQUIRE) && raw_now() < end)
		raw_enter(&qp, 1, 10 * RAW_MS);
}

TEST(connect_restarted)
{
	struct caller c = { 0 };

	idle_server(SA_RESTART, 20 * RAW_S * raw_patience());
	CHECK(!pthread_create(&c.thread, NULL, connects, &c));
	disturb(&c, 20);
	CHECK(!c.done);
	serve_until(&c.done);
	pthread_join(c.thread, NULL);
	CHECK_MSG(!c.err, "%d: %s", c.err, p.c.why);
	CHECK(connect_args.max_calls);
	idle_server_end();
}

TEST(connect_time_limit)
{
	struct caller c = { 0 };

	idle_server(SA_RESTART, 500 * RAW_MS);
	CHECK(!pthread_create(&c.thread, NULL, connects, &c));
	disturb(&c, UINT32_MAX);
	pthread_join(c.thread, NULL);
	CHECK_EQ(c.err, -ETIMEDOUT);
	CHECK(handled > 1);
	CHECK(c.took > 490 * RAW_MS && c.took < 3 * RAW_S * raw_patience());
	idle_server_end();
}

/* The attempt goes on by itself, and the application comes back to it. */
TEST(connect_not_restarted)
{
	struct caller c = { 0 };
	uint32_t id;

	idle_server(0, 20 * RAW_S * raw_patience());
	CHECK(!pthread_create(&c.thread, NULL, connects, &c));
	disturb(&c, UINT32_MAX);	/* the first may come before the call */
	pthread_join(c.thread, NULL);
	CHECK_EQ(c.err, -EINTR);
	id = connect_args.id;
	CHECK(id);
	connect_args.until_ns = raw_until(50 * RAW_MS);
	connect_args.flags = MRPC_CONNECT_KEEP;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CONNECT, &connect_args), -ETIME);
	CHECK_EQ(connect_args.id, id);

	c.done = false;
	connect_args.until_ns = raw_until(20 * RAW_S * raw_patience());
	CHECK(!pthread_create(&c.thread, NULL, connects, &c));
	serve_until(&c.done);
	pthread_join(c.thread, NULL);
	CHECK_MSG(!c.err, "%d: %s", c.err, p.c.why);
	CHECK_EQ(connect_args.id, id);
	/* The number of anything else is none. */
	connect_args.max_calls = 0;
	connect_args.id = id + 1000;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CONNECT, &connect_args), -ENOENT);
	CHECK_EQ(raw_close_id(&p.c, id, 0, 0), 0);
	idle_server_end();
}
