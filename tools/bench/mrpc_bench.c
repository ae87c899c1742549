// SPDX-License-Identifier: GPL-2.0
/*
 * Calls through mrpc, measured: client and server.
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "memory.h"
#include "place.h"

static const char usage[] =
	"Usage: mrpc_bench [OPTION...] MODE [ADDRESS]\n"
	"\n"
	"  serve ADDRESS  answer calls until SIGTERM\n"
	"  sync ADDRESS   one call at a time, each one system call\n"
	"  ring ADDRESS   several calls in flight on a queue pair\n"
	"  chat ADDRESS   messages of one stream, each of which is answered by one: -f of\n"
	"                 them in flight\n"
	"  collect ADDRESS  messages of one stream, which are read and not answered. The\n"
	"                 cost is a mean over 2 * -f of them\n"
	"  more ADDRESS   as sync: what a call costs more with ENGINE. It comes and\n"
	"                 goes, for -n CALLS each time (128)\n"
	"  connect ADDRESS  as sync, each call over a new connection\n"
	"  idle ADDRESS   memory of -n connections over which one call was made\n"
	"  timeline ADDRESS  several calls in flight, counted every 10 ms, while an operator\n"
	"                 makes changes (-e changes) or none. Each takes -t MS\n"
	"  urgent ADDRESS  one urgent call at a time, beside bulk: on the same connection,\n"
	"                 or, with -c 2, on another. With -e ranks urgent ones go first: by\n"
	"                 a qos engine and an egress domain on the device veth0\n"
	"  bind           time to bind a schema -n times (20), for the first time and again\n"
	"\n"
	"ADDRESS is tcp:HOST:PORT or loop:NAME.\n"
	"\n"
	"  -c NUMBER  of connections of each thread, which calls take in turn (1)\n"
	"  -k BYTES   copy_threshold to set once connected: when it was 0 before, the\n"
	"             kernel alone decides whether to copy\n"
	"  -e ENGINE  to place at the client: null; ratelimit (unlimited); acl (a text\n"
	"             looked up among 100000); metrics; bpf_empty, bpf_acl (policies);\n"
	"             several of these with commas; or none. Requests have that text\n"
	"  -v         idle: also by kind of memory\n";

/* Receive heap of the server: 16 calls of 1 MiB, and those not yet released. */
#define SERVER_HEAP	(128 << 20)

/* -- server ------------------------------------------------------------------------ */

static struct mrpc_server *server;

static void on_term(int sig)
{
	(void)sig;
	mrpc_server_stop(server);
}

static int do_call(struct mrpc_call *call, const struct bench_Request *req,
		   struct bench_Reply *reply)
{
	const struct options *o = mrpc_call_ctx(call);

	(void)req;
	bench_Reply_set_payload(mrpc_call_msg(call), reply, content, o->reply);
	return MRPC_OK;
}

static const struct bench_Bench_ops ops = {
	.Call = do_call, .Chat = do_chat, .Collect = do_collect,
};

static int serve(struct options *o)
{
	const struct mrpc_conn_opts opts = { .tls = tls_of(o, true) };
	int ret;

	session = open_session(0, SERVER_HEAP);
	if (o->reply > CONTENT)
		errx(1, "a reply has at most %d bytes", CONTENT);
	server = mrpc_server_new(session);
	if (!server || bench_Bench_add(server, &ops, o) ||
	    mrpc_server_listen(server, o->address, &opts))
		errx(1, "%s", mrpc_last_error());
	signal(SIGTERM, on_term);
	puts("ready");
	fflush(stdout);
	ret = mrpc_server_run(server, o->threads);
	if (ret)
		warnx("%s", mrpc_last_error());
	mrpc_session_close(session);
	return ret != 0;
}

/* -- client ------------------------------------------------------------------------ */

struct client {
	const struct options *o;
	struct mrpc_conn **conns;	/* as many as the options say */
	uint64_t calls;			/* started */
	struct measure *measure;
	uint64_t *began;	/* of the calls in flight, by slot */
	bool done;
};

static struct mrpc_conn *next_conn(struct client *c)
{
	return c->conns[c->calls++ % c->o->conns];
}

static void call_once(struct client *c)
{
	struct mrpc_result res;
	struct mrpc_msg msg;

	make_request(c->o, c->o->request, &msg);
	bench_Bench_Call(next_conn(c), &msg, NULL, &res);
	check(&res);
	mrpc_result_release(&res);
}

static void run_sync(struct client *c)
{
	uint64_t began;

	do {
		began = ticks();
		call_once(c);
	} while (measure_call(c->measure, began));
}

/*
 * Calls of one connection with an engine and without it, in turns. What else a connection
 * and a process happen to cost is the same in both, and more than the engine.
 */
#define TURNS		24
#define SETTLE_US	30000	/* what a change leaves to be freed is not to be measured */
#define SETTLE_CALLS	32

static double ticks_per_call(struct client *c)
{
	uint64_t i, calls = c->o->calls ? c->o->calls : 128, start;

	usleep(SETTLE_US);
	for (i = 0; i < SETTLE_CALLS; i++)
		call_once(c);
	start = ticks();
	for (i = 0; i < calls; i++)
		call_once(c);
	return (double)(ticks() - start) / (double)calls;
}

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void run_more(struct client *c)
{
	double without[TURNS + 1], more[TURNS];
	unsigned int i;

	without[0] = ticks_per_call(c);
	for (i = 0; i < TURNS; i++) {
		place(c->o->engine);
		more[i] = ticks_per_call(c);
		displace();
		without[i + 1] = ticks_per_call(c);
		more[i] -= (without[i] + without[i + 1]) / 2;
	}
	qsort(more, TURNS, sizeof(*more), compare_doubles);
	qsort(without, TURNS + 1, sizeof(*without), compare_doubles);
	printf("turns=%d without=%.1f cost=%.1f more=%.1f\n", TURNS, without[TURNS / 2],
	       without[TURNS / 2] + more[TURNS / 2], more[TURNS / 2]);
}

static void on_done(void *user, struct mrpc_result *res);

static __thread struct client *ring_client;

static void start_call(uint64_t *slot)
{
	struct client *c = ring_client;
	struct mrpc_msg msg;

	*slot = ticks();
	make_request(c->o, c->o->request, &msg);
	if (bench_Bench_Call_async(next_conn(c), &msg, NULL, on_done, slot, NULL) != MRPC_OK)
		errx(1, "%s", mrpc_last_error());
}

static void on_done(void *user, struct mrpc_result *res)
{
	struct client *c = ring_client;
	uint64_t *slot = user;

	check(res);
	if (c->done)
		return;
	if (measure_call(c->measure, *slot))
		start_call(slot);
	else
		c->done = true;
}

static void run_ring(struct client *c)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	unsigned int i;
	int ret;

	if (!qp)
		errx(1, "%s", mrpc_last_error());
	c->began = calloc(c->o->in_flight, sizeof(*c->began));
	if (!c->began)
		err(1, "calls");
	ring_client = c;
	for (i = 0; i < c->o->in_flight; i++)
		start_call(&c->began[i]);
	while (!c->done) {
		ret = mrpc_run(qp, -1);
		if (ret < 0)
			errx(1, "%s", mrpc_last_error());
	}
}

static void set_copy_threshold(const char *value)
{
	FILE *f = fopen("/sys/module/mrpc/parameters/copy_threshold", "w");

	if (!f || fputs(value, f) < 0 || fclose(f))
		err(1, "copy_threshold");
}

/* A connection's first call is part of the time that it takes. */
static void run_connect(struct measure *m, const struct options *o)
{
	struct mrpc_conn *conn;
	struct client c = { .o = o, .conns = &conn };
	uint64_t began;
	bool more;

	measure_init(m, o);
	do {
		began = ticks();
		conn = connect_one(o);
		call_once(&c);
		more = measure_call(m, began);
		if (mrpc_conn_close(conn, 0))
			errx(1, "%s", mrpc_last_error());
	} while (more);
	measure_end(m);
}

/* One thread's calls. */
static void run_calls(struct measure *m, const struct options *o)
{
	struct client c = { .o = o, .measure = m };

	c.conns = connect_all(o);
	if (o->copy_threshold)
		set_copy_threshold(o->copy_threshold);
	measure_init(m, o);
	if (!strcmp(o->mode, "sync"))
		run_sync(&c);
	else
		run_ring(&c);
	measure_end(m);
	if (c.began)
		mrpc_run_all(mrpc_qp_self(session), -1);
	free(c.began);
	free(c.conns);
}

static int call(struct options *o)
{
	struct client c = { .o = o };

	open_client_session(o);
	if (o->engine)
		place_prepare(o->engine);
	if (!strcmp(o->mode, "more")) {
		c.conns = connect_all(o);
		run_more(&c);
		free(c.conns);
	} else {
		if (o->engine)
			place(o->engine);
		measure_run(o, !strcmp(o->mode, "connect") ? run_connect :
			    !strcmp(o->mode, "chat") || !strcmp(o->mode, "collect") ? run_stream :
			    run_calls);
	}
	if (o->engine)
		unplace();
	mrpc_session_close(session);
	return 0;
}

/* Calls once over a connection that stays. */
static void add_idle(const struct options *o)
{
	struct mrpc_conn *conn = connect_one(o);
	struct client c = { .o = o, .conns = &conn };

	call_once(&c);
}

static int idle(const struct options *o)
{
	struct memory *kinds = o->kinds ? memory_now() : NULL;
	uint64_t i, before;

	open_client_session(o);
	add_idle(o);
	before = memory_used();
	for (i = 0; i < o->calls; i++)
		add_idle(o);
	memory_report(before, o->calls);
	if (kinds)
		memory_more(kinds, o->calls);
	free(kinds);
	mrpc_session_close(session);
	return 0;
}

/* -- binding ----------------------------------------------------------------------- */

static void bind_once(struct mrpc_session *session, const struct mrpc_service_desc *desc)
{
	struct mrpc_bind_info info;

	if (mrpc_session_bind(session, desc, &info))
		errx(1, "%s", mrpc_last_error());
	printf("%s=%llu\n", info.hit ? "hit_ns" : "miss_ns", (unsigned long long)info.bind_ns);
}

/*
 * The kernel keeps unused schemas for a while. So each time it gets a new one: the
 * service has another name.
 */
static int bind_times(struct options *o)
{
	static const char name[] = "bench.Bench";
	const struct mrpc_service_desc *bench = &bench_Bench_service;
	struct mrpc_session *first = open_session(0, 0), *second = open_session(0, 0);
	uint64_t i, nr = o->calls ? o->calls : 20;
	struct mrpc_service_desc *descs;
	char *schemas, *at;

	/* The library knows services by their descriptions' addresses. */
	descs = calloc(nr, sizeof(*descs));
	schemas = calloc(nr, bench->schema_len);
	if (!descs || !schemas)
		err(1, "schemas");
	for (i = 0; i < nr; i++) {
		descs[i] = *bench;
		descs[i].schema = memcpy(schemas + i * bench->schema_len, bench->schema,
					 bench->schema_len);
		at = memmem(descs[i].schema, bench->schema_len, name, strlen(name));
		if (!at)
			errx(1, "the schema does not have the service's name");
		at[strlen(name) - 2] = (char)('a' + i / 26 % 26);
		at[strlen(name) - 1] = (char)('A' + i % 26);
		bind_once(first, &descs[i]);
		bind_once(second, &descs[i]);
	}
	mrpc_session_close(first);
	mrpc_session_close(second);
	free(schemas);
	free(descs);
	return 0;
}

int main(int argc, char **argv)
{
	struct options o;

	options_parse(&o, argc, argv, usage);
	memset(content, 'm', sizeof(content));
	if (!strcmp(o.mode, "bind"))
		return bind_times(&o);
	if (!o.address)
		errx(2, "which address?");
	if (!strcmp(o.mode, "serve"))
		return serve(&o);
	if (!strcmp(o.mode, "sync") || !strcmp(o.mode, "ring") || !strcmp(o.mode, "connect") ||
	    !strcmp(o.mode, "chat") || !strcmp(o.mode, "collect") ||
	    (!strcmp(o.mode, "more") && o.engine))
		return call(&o);
	if (!strcmp(o.mode, "idle"))
		return idle(&o);
	if (!strcmp(o.mode, "timeline"))
		return timeline(&o);
	if (!strcmp(o.mode, "urgent"))
		return urgent(&o);
	fputs(usage, stderr);
	return 2;
}
