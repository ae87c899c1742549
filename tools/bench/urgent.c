// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent small calls beside bulk over one line: how long they take, and what of the bulk is
 * left, with and without ranks.
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "operator.h"
#include "place.h"

#define BULK		32768	/* bytes of a call */
#define BULK_CALLS	64	/* in flight */
#define PERIOD_US	10000	/* from one urgent call to the next, if it has ended */
#define WARM		4
#define PRIORITY	250
#define DEV		"veth0"

/* -- bulk --------------------------------------------------------------------------- */

/* The bulk's thread has it; others read or set what is atomic. */
static struct {
	const struct options *o;
	struct mrpc_conn *conn;
	uint64_t ended;		/* atomic */
	bool stop;		/* atomic */
} bulk;

static void on_done(void *user, struct mrpc_result *res);

static void start_bulk(void)
{
	struct mrpc_msg msg;

	make_request(bulk.o, BULK, &msg);
	if (bench_Bench_Call_async(bulk.conn, &msg, NULL, on_done, NULL, NULL) != MRPC_OK)
		errx(1, "%s", mrpc_last_error());
}

static void on_done(void *user, struct mrpc_result *res)
{
	(void)user;
	check(res);
	__atomic_add_fetch(&bulk.ended, 1, __ATOMIC_RELAXED);
	if (!__atomic_load_n(&bulk.stop, __ATOMIC_ACQUIRE))
		start_bulk();
}

static void *run_bulk(void *arg)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	unsigned int i;

	(void)arg;
	if (!qp)
		errx(1, "%s", mrpc_last_error());
	for (i = 0; i < BULK_CALLS; i++)
		start_bulk();
	if (mrpc_run_all(qp, -1))
		errx(1, "%s", mrpc_last_error());
	return NULL;
}

static uint64_t bulk_ended(void)
{
	return __atomic_load_n(&bulk.ended, __ATOMIC_RELAXED);
}

/* -- urgent calls ------------------------------------------------------------------- */

static struct mrpc_conn *conn;
static double bulk_rate;	/* bytes per second, beside the urgent calls */

static uint64_t call_once(const struct options *o)
{
	const struct mrpc_call_opts opts = {
		.flags = MRPC_CALL_PRIORITY,
		.priority = PRIORITY,
	};
	uint64_t began = ticks();
	struct mrpc_result res;
	struct mrpc_msg msg;

	make_request(o, o->request, &msg);
	bench_Bench_Call(conn, &msg, &opts, &res);
	check(&res);
	mrpc_result_release(&res);
	return began;
}

/* Waits until it is time for the next of the calls that began at @start. */
static void pace(uint64_t start, uint64_t nr)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC), at = start + nr * PERIOD_US * 1000;

	if (now < at)
		usleep((useconds_t)((at - now) / 1000));
}

static void run_urgent(struct measure *m, const struct options *o)
{
	uint64_t i, from, start;

	/* The line is full. */
	while (bulk_ended() < 2 * BULK_CALLS)
		usleep(PERIOD_US);
	for (i = 0; i < WARM; i++)
		call_once(o);
	measure_init(m, o);
	from = bulk_ended();
	start = now_ns(CLOCK_MONOTONIC);
	for (i = 0; measure_call(m, call_once(o)); i++)
		pace(start, i + 1);
	bulk_rate = (double)(bulk_ended() - from) * BULK * 1e9 /
		(double)(now_ns(CLOCK_MONOTONIC) - start);
	measure_end(m);
}

/* By what is small, at the client, and for the line. */
static void rank(void)
{
	op_must_add("qos", "small=1000 rank=1 side=client", NULL);
	op_must_egress(MRPC_CMD_EGRESS_SET, DEV, "discipline=strict");
}

int urgent(const struct options *o)
{
	struct options calls = *o;
	pthread_t thread;

	calls.warm = 0;
	calls.in_flight = 1;
	calls.threads = 1;
	calls.engine = NULL;
	bulk.o = &calls;
	op_del_all();
	if (o->engine)
		rank();
	session = open_session(3 * BULK_CALLS * BULK, 1 << 20);
	bulk.conn = connect_one(&calls);
	conn = o->conns > 1 ? connect_one(&calls) : bulk.conn;
	if (pthread_create(&thread, NULL, run_bulk, NULL))
		errx(1, "a thread does not start");
	measure_run(&calls, run_urgent);
	printf("bulk_bytes_per_s=%.0f\n", bulk_rate);
	__atomic_store_n(&bulk.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	mrpc_session_close(session);
	if (o->engine) {
		op_del_all();
		op_must_egress(MRPC_CMD_EGRESS_DEL, DEV, NULL);
	}
	return 0;
}
