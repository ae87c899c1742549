// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Asynchronous calls, with the module: queue pairs, deferred replies, threads, and servers that are
 * busy or end; over tcp and over loop.
 */
#include <errno.h>

#include "guest_pair.h"

struct tally {
	unsigned int done;
	unsigned int ok;
	unsigned int cancelled;
	size_t len;
};

static void on_done(void *user, struct mrpc_result *res)
{
	struct tally *t = user;
	const struct guest_Reply *reply = guest_Echo_Say_reply(res);
	size_t got;
	const void *data;

	t->done++;
	t->cancelled += res->status == MRPC_CANCELLED;
	if (res->status) {
		if (res->status != MRPC_CANCELLED)
			NOTE("%s: %s", mrpc_status_name(res->status), res->detail);
		return;
	}
	data = guest_Reply_data(reply, reply, &got);
	t->ok += got == t->len && same(data, got, (uint32_t)got);
}

static void start(enum what what, struct tally *t, const struct mrpc_call_opts *opts,
		  mrpc_call_id *id)
{
	struct mrpc_msg msg;

	build(&msg, what, t->len);
	CHECK_MSG(!guest_Echo_Say_async(conn, &msg, opts, on_done, t, id), "%s",
		  mrpc_last_error());
}

static void asynchronous(void)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	size_t i;
	int j;

	CHECK_MSG(qp, "%s", mrpc_last_error());
	for (i = 0; i < NR_LENS; i++) {
		struct tally t = { .len = lens[i] };
		int nr = lens[i] > 100000 ? 8 : 100;

		for (j = 0; j < nr; j++)
			start(ECHO, &t, NULL, NULL);
		CHECK_EQ(mrpc_run_all(qp, 20000000), 0);
		CHECK_EQ(t.done, nr);
		CHECK_EQ(t.ok, nr);
	}
	CHECK_EQ(mrpc_qp_in_flight(qp), 0);
}

static void small_queue(void)
{
	struct mrpc_qp_opts qo = { .sq_entries = 2, .cq_entries = 4 };
	struct mrpc_call_opts opts = { 0 };
	size_t small[] = { 50, 50000 }, i;
	int j;

	opts.qp = mrpc_qp_new(session, &qo);
	CHECK_MSG(opts.qp, "%s", mrpc_last_error());
	for (i = 0; i < 2; i++) {
		struct tally t = { .len = small[i] };

		for (j = 0; j < 200; j++)
			start(ECHO, &t, &opts, NULL);
		CHECK_EQ(mrpc_run_all(opts.qp, 20000000), 0);
		CHECK_EQ(t.ok, 200);
	}
	mrpc_qp_free(opts.qp);
}

static void deferred(void)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct tally t = { .len = 100 }, big = { .len = 200000 };
	int i;

	for (i = 0; i < 20; i++) {
		start(LATER, &t, NULL, NULL);
		start(LATER, &big, NULL, NULL);
	}
	CHECK_EQ(mrpc_run_all(qp, 20000000), 0);
	CHECK_EQ(t.ok, 20);
	CHECK_EQ(big.ok, 20);
}

static void cancelled(void)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct tally t = { .len = 100 };
	mrpc_call_id id[4];
	double begin = now();
	int i;

	for (i = 0; i < 3; i++)
		start(SLEEP, &t, NULL, &id[i]);
	CHECK_EQ(mrpc_submit(qp), 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(mrpc_cancel(qp, id[i]), 0);
	CHECK_EQ(mrpc_run_all(qp, 20000000), 0);
	CHECK(now() - begin < SLEEP_US / 1e6);
	CHECK_EQ(t.cancelled, 3);
	CHECK_EQ(mrpc_cancel(qp, id[0]), -ENOENT);
	start(ECHO, &t, NULL, &id[3]);
	CHECK_EQ(mrpc_run_all(qp, 20000000), 0);
	CHECK_EQ(mrpc_cancel(qp, id[3]), -ENOENT);
	CHECK_EQ(t.ok, 1);
	usleep(SLEEP_US + 100000);	/* the late replies find nothing, and harm nothing */
}

/* Handlers that ask end soon after their calls: by a cancel, by a deadline. */
static void handlers_ask(void)
{
	struct mrpc_call_opts opts = { .timeout_us = 1000000 };
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct tally t = { .len = 100 };
	mrpc_call_id id;

	CHECK_EQ(sem_init(&begun, 0, 0), 0);
	CHECK_EQ(sem_init(&ends, 0, 0), 0);
	start(UNTIL_CANCELLED, &t, NULL, &id);
	CHECK_EQ(mrpc_submit(qp), 0);
	sem_wait(&begun);
	CHECK(sem_trywait(&ends) < 0);
	CHECK_EQ(mrpc_cancel(qp, id), 0);
	CHECK_EQ(mrpc_run_all(qp, 20000000), 0);
	CHECK_EQ(t.cancelled, 1);
	sem_wait(&ends);
	start(UNTIL_CANCELLED, &t, &opts, NULL);
	CHECK_EQ(mrpc_run_all(qp, 20000000), 0);
	sem_wait(&ends);
	CHECK_EQ(t.ok, 0);
}

static void times_out_waiting(void)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct tally t = { .len = 100 };

	start(SLEEP, &t, NULL, NULL);
	CHECK_EQ(mrpc_run(qp, 50000), -ETIME);
	CHECK_EQ(mrpc_run(qp, -1), 1);
	CHECK_EQ(t.ok, 1);
}

static void eventfd(void)
{
	struct mrpc_qp_opts qo = { .flags = MRPC_QP_OPT_EVENTFD };
	struct mrpc_call_opts opts = { 0 };
	struct tally t = { .len = 100 };
	fd_set set;
	int i;

	opts.qp = mrpc_qp_new(session, &qo);
	CHECK_MSG(opts.qp, "%s", mrpc_last_error());
	for (i = 0; i < 200; i++) {
		start(ECHO, &t, &opts, NULL);
		CHECK_EQ(mrpc_submit(opts.qp), 0);
		while (t.done <= (unsigned int)i) {
			struct timeval limit = { .tv_sec = 10 };

			FD_ZERO(&set);
			FD_SET(mrpc_qp_fd(opts.qp), &set);
			CHECK_EQ(select(mrpc_qp_fd(opts.qp) + 1, &set, NULL, NULL, &limit), 1);
			CHECK(mrpc_poll(opts.qp) >= 0);
		}
	}
	CHECK_EQ(t.ok, 200);
	mrpc_qp_free(opts.qp);
}

static void *caller(void *arg)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct tally t = { .len = (size_t)(uintptr_t)arg };
	struct mrpc_result res;
	int i;

	for (i = 0; i < 50; i++) {
		start(ECHO, &t, NULL, NULL);
		call(ECHO, t.len + (size_t)i, NULL, &res);
		check_echo(&res, t.len + (size_t)i);
		mrpc_result_release(&res);
	}
	CHECK_EQ(mrpc_run_all(qp, 20000000), 0);
	CHECK_EQ(t.ok, 50);
	return NULL;
}

static void threads(void)
{
	pthread_t t[4];
	int round;
	uintptr_t i;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < 4; i++)
			CHECK_EQ(pthread_create(&t[i], NULL, caller, (void *)(i * 3000)), 0);
		for (i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
	}
}

BOTH(asynchronous)
BOTH(small_queue)
BOTH(deferred)
BOTH(cancelled)
BOTH(handlers_ask)
BOTH(times_out_waiting)
BOTH(eventfd)
BOTH(threads)

static void server_gone(void)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct tally t = { .len = 100 };
	struct mrpc_result res;
	int i;

	for (i = 0; i < 10; i++)
		start(ECHO, &t, NULL, NULL);
	CHECK_EQ(mrpc_submit(qp), 0);
	mrpc_server_stop(srv.server);
	pthread_join(srv.thread, NULL);
	CHECK_EQ(srv.ret, 0);
	mrpc_session_close(srv.session);
	CHECK_EQ(mrpc_run_all(qp, 20000000), 0);
	CHECK_EQ(t.done, 10);
	CHECK_EQ(call(ECHO, 10, NULL, &res), MRPC_UNAVAILABLE);
	NOTE("%u of 10 answered; then: %s", t.ok, res.detail);
	mrpc_result_release(&res);
	CHECK_EQ(mrpc_conn_close(conn, 0), 0);
	mrpc_session_close(session);
}

TEST(server_gone_tcp)
{
	up("tcp:127.0.0.1:0");
	server_gone();
}

TEST(server_gone_loop)
{
	up("loop:guest-test");
	server_gone();
}

static void ended(void *user, struct mrpc_result *res)
{
	(void)user;
	CHECK_EQ(res->status, MRPC_OK);
}

/* A client can connect while all workers are in handlers; what expires meanwhile is not served. */
static void busy_workers(const char *address)
{
	static const struct mrpc_service_desc *const services[] = { &guest_Echo_service };
	struct mrpc_conn_opts wait = { .timeout_us = 20000000 };
	struct mrpc_call_opts soon = { .timeout_us = 100000 };
	char text[MRPC_ADDR_TEXT];
	struct mrpc_conn *other;
	struct mrpc_msg msg;
	unsigned int i;

	sem_init(&begun, 0, 0);
	sem_init(&ends, 0, 0);
	up(address);
	for (i = 0; i < WORKERS; i++) {
		build(&msg, BUSY, 0);
		CHECK_EQ(guest_Echo_Say_async(conn, &msg, NULL, ended, NULL, NULL), 0);
	}
	CHECK_EQ(mrpc_submit(mrpc_qp_self(session)), 0);
	for (i = 0; i < WORKERS; i++)
		sem_wait(&begun);
	mrpc_server_address(srv.server, text, sizeof(text));
	other = mrpc_connect(session, text, services, 1, &wait);
	CHECK_MSG(other, "%s", mrpc_last_error());
	build(&msg, BUSY, 0);
	CHECK_EQ(guest_Echo_Say(other, &msg, &soon, NULL), MRPC_DEADLINE_EXCEEDED);
	/* At the server its time begins when it arrives, which is later on a busy host. */
	usleep(1000000);
	for (i = 0; i < WORKERS; i++)
		sem_post(&ends);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(session), 20000000), 0);
	CHECK_EQ(call(ECHO, 0, NULL, NULL), MRPC_OK);
	/* It may be another worker's than the last one's. */
	for (i = 0; i < 2000 && !mrpc_server_expired(srv.server); i++)
		usleep(10000);
	CHECK_EQ(mrpc_server_expired(srv.server), 1);
	CHECK_EQ(sem_trywait(&begun), -1);
	down();
}

TEST(busy_workers_tcp)
{
	busy_workers("tcp:127.0.0.1:0");
}

TEST(busy_workers_loop)
{
	busy_workers("loop:busy");
}

TEST(busy_workers_prio)
{
	busy_workers("prio:127.0.0.1:0");
}
