// SPDX-License-Identifier: GPL-2.0
/*
 * What live changes do to calls: those of several connections, some of them in flight all the
 * time, are counted by when they end, while an operator changes what they pass.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "operator.h"
#include "place.h"

#define BUCKET_MS	10
#define BUCKETS		6000
#define WARM_MS		200

/* -- the changes -------------------------------------------------------------------- */

enum does { ADD, SET, PROGRAMS, REMOVE };

/* What the operator does to the engine @object; @server: where the servers are. */
struct step {
	const char *name;
	enum does does;
	bool server;
	const char *object;
	const char *words;
};

static const struct step steps[] = {
	{ "insert",	ADD,	  false, "null",      "version=1" },
	{ "upgrade",	SET,	  false, "null",      "type=null version=2" },
	{ "limit",	ADD,	  false, "ratelimit", "" },
	{ "configure",	SET,	  false, "ratelimit", "rate=1000000000" },
#ifdef PLACE_POLICIES
	{ "policy",	ADD,	  false, "bpf_empty", "" },
	{ "programs",	PROGRAMS, false, NULL,	      NULL },
#endif
	{ "receiver",	ADD,	  true,	 "tcp",	      "version=2 checksum=1" },
	{ "transport",	ADD,	  false, "tcp",	      "version=2 checksum=1" },
	{ "remove",	REMOVE,	  false, NULL,	      NULL },
};

#define STEPS	(sizeof(steps) / sizeof(steps[0]))

/* The next requests of this thread are about the network namespace at @path. */
static void enter_netns(const char *path)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(1, "the network namespace '%s'", path ?: "");
	close(fd);
	op_forget();
}

static void enter_servers(void)
{
	enter_netns(getenv("MRPC_BENCH_SERVER_NETNS"));
}

/* No other thread ever leaves it. */
static void enter_own(void)
{
	enter_netns("/proc/self/ns/net");
}

/* Adds to @all how long datapaths stood still. */
static void must(const char *name, int error, const struct op_change *c, struct op_change *all)
{
	if (error)
		errx(1, "change '%s': %s: %s", name, strerror(-error), op_why);
	if (c->leaked)
		errx(1, "change '%s': engines have lost %u messages", name, c->leaked);
	if (c->pause_max > all->pause_max)
		all->pause_max = c->pause_max;
}

static void remove_all(bool server, struct op_change *all)
{
	struct op_change c;
	unsigned int i;

	for (i = 0; i < STEPS; i++)
		if (steps[i].does == ADD && steps[i].server == server)
			must(steps[i].name, op_del(steps[i].object, &c), &c, all);
}

static void apply(const struct step *s, struct op_change *all)
{
	struct op_change c = {};

	*all = c;
	if (s->server)
		enter_servers();
	switch (s->does) {
	case ADD:
		must(s->name, op_add(s->object, s->words, NULL, &c), &c, all);
		break;
	case SET:
		must(s->name, op_set(s->object, s->words, NULL, &c), &c, all);
		break;
	case PROGRAMS:
		replace_policy("bpf_empty");
		break;
	case REMOVE:
		remove_all(false, all);
		enter_servers();
		remove_all(true, all);
		enter_own();
		break;
	}
	if (s->server)
		enter_own();
}

/* -- the operator ------------------------------------------------------------------- */

/* What the thread of the calls has counted; the operator's only reads the clock. */
static struct {
	uint64_t start;			/* ticks */
	double ticks_per_ms;
	bool stop;			/* atomic: the operator has done all */
	uint64_t calls[BUCKETS];	/* that ended then */
	uint64_t longest[BUCKETS];	/* of these, ticks */
} series;

/* Of the operator until it has been joined. */
static struct {
	double begin;		/* ms from the start of the series */
	double end;
	struct op_change change;
} done[STEPS];

static const struct options *options;
static pthread_barrier_t together;

static double now_ms(void)
{
	return (double)(ticks() - series.start) / series.ticks_per_ms;
}

static void wait_until(double ms)
{
	double left;

	while ((left = ms - now_ms()) > 0)
		usleep((useconds_t)(left * 1000) + 1);
}

/* Before, during and after a change: each takes so long. */
static double third(void)
{
	return (double)(options->ms / 3 / BUCKET_MS * BUCKET_MS);
}

static void *operate(void *arg)
{
	bool changes = options->engine;
	double at = third() + BUCKET_MS;
	unsigned int i;

	(void)arg;
	/* Load modules and programs before, because reading files takes its time. */
	for (i = 0; changes && i < STEPS; i++)
		apply(&steps[i], &done[i].change);
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	for (i = 0; i < STEPS; i++) {
		wait_until(at);
		done[i].begin = now_ms();
		if (changes)
			apply(&steps[i], &done[i].change);
		done[i].end = now_ms();
		at = BUCKET_MS * (uint64_t)(done[i].begin / BUCKET_MS + 1) + 3 * third();
		if (at < done[i].end + 2 * third())
			at = done[i].end + 2 * third();
	}
	wait_until(at);
	__atomic_store_n(&series.stop, true, __ATOMIC_RELEASE);
	return NULL;
}

/* -- the calls ---------------------------------------------------------------------- */

/* A call in flight, or one that may be. */
struct slot {
	uint64_t began;
	bool busy;
};

static struct {
	struct options o;	/* without an engine, so that all requests are alike */
	struct mrpc_conn **conns;
	uint64_t started;
	uint64_t ended;		/* with the reply that is theirs */
	uint64_t twice;
} calls;

static void on_done(void *user, struct mrpc_result *res);

static void start_call(struct slot *slot)
{
	struct mrpc_msg msg;

	make_request(&calls.o, calls.o.request, &msg);
	slot->busy = true;
	slot->began = ticks();
	if (bench_Bench_Call_async(calls.conns[calls.started++ % calls.o.conns], &msg, NULL, on_done,
				   slot, NULL) != MRPC_OK)
		errx(1, "%s", mrpc_last_error());
}

static void count(uint64_t began)
{
	uint64_t now = ticks(), bucket;

	if (!series.start)
		return;
	bucket = (uint64_t)((double)(now - series.start) / series.ticks_per_ms / BUCKET_MS);
	if (bucket >= BUCKETS)
		errx(1, "changes take too long");
	series.calls[bucket]++;
	if (series.longest[bucket] < now - began)
		series.longest[bucket] = now - began;
}

static void on_done(void *user, struct mrpc_result *res)
{
	struct slot *slot = user;

	check(res);
	if (slot->busy)
		calls.ended++;
	else
		calls.twice++;
	slot->busy = false;
	count(slot->began);
	if (!__atomic_load_n(&series.stop, __ATOMIC_ACQUIRE))
		start_call(slot);
}

/* Runs calls for a while, and finds out how long a tick is. */
static void warm_up(struct mrpc_qp *qp)
{
	uint64_t from = now_ns(CLOCK_MONOTONIC), began = ticks(), ns;

	do {
		if (mrpc_run(qp, -1) < 0)
			errx(1, "%s", mrpc_last_error());
		ns = now_ns(CLOCK_MONOTONIC) - from;
	} while (ns < WARM_MS * 1000000);
	series.ticks_per_ms = (double)(ticks() - began) * 1e6 / (double)ns;
}

/* Return: whether none was lost, and none ended twice. */
static bool run_calls(void)
{
	struct slot *slots = calloc(calls.o.in_flight, sizeof(*slots));
	struct mrpc_qp *qp = mrpc_qp_self(session);
	unsigned int i;

	if (!slots || !qp)
		errx(1, "%s", slots ? mrpc_last_error() : "no memory");
	for (i = 0; i < calls.o.in_flight; i++)
		start_call(&slots[i]);
	warm_up(qp);
	series.start = ticks();
	pthread_barrier_wait(&together);
	while (!__atomic_load_n(&series.stop, __ATOMIC_ACQUIRE))
		if (mrpc_run(qp, -1) < 0)
			errx(1, "%s", mrpc_last_error());
	if (mrpc_run_all(qp, -1))
		errx(1, "%s", mrpc_last_error());
	free(slots);
	return calls.started == calls.ended && !calls.twice;
}

/* -- the figures -------------------------------------------------------------------- */

/* Calls per millisecond from bucket @from on, up to @to. */
static double rate(uint64_t from, uint64_t to)
{
	uint64_t sum = 0, i;

	for (i = from; i < to; i++)
		sum += series.calls[i];
	return to > from ? (double)sum / (double)((to - from) * BUCKET_MS) : 0;
}

/* The least that @len buckets in a row have. */
static double worst(uint64_t from, uint64_t to, uint64_t len)
{
	double least = rate(from, from + len);
	uint64_t i;

	for (i = from + 1; i + len <= to; i++)
		if (rate(i, i + len) < least)
			least = rate(i, i + len);
	return least;
}

static uint64_t longest(uint64_t from, uint64_t to)
{
	uint64_t most = 0, i;

	for (i = from; i < to; i++)
		if (series.longest[i] > most)
			most = series.longest[i];
	return most;
}

/* The buckets: those before, from the one in which the change begins, and after it. */
static void report_step(unsigned int i)
{
	uint64_t len = (uint64_t)third() / BUCKET_MS;
	uint64_t begin = (uint64_t)(done[i].begin / BUCKET_MS), from = begin - len;
	uint64_t end = (uint64_t)(done[i].end / BUCKET_MS) + 1;
	double before = rate(from, begin);

	if (!before)
		errx(1, "no call has ended before change '%s'", steps[i].name);
	if (end < begin + len)
		end = begin + len;
	printf("of=%s at_ms=%.1f", steps[i].name, done[i].begin);
	if (options->engine)
		printf(" took_us=%.0f pause_us=%.1f", (done[i].end - done[i].begin) * 1000,
		       (double)done[i].change.pause_max / 1000);
	printf(" before=%.0f worst_10ms=%.4f worst_100ms=%.4f after=%.4f longest_us=%.0f\n",
	       before * 1000, worst(begin, end, 1) / before, worst(begin, end, 100 / BUCKET_MS) / before,
	       rate(end, end + len) / before,
	       (double)longest(begin, end) * 1000 / series.ticks_per_ms);
}

static void report(void)
{
	uint64_t i, nr = (uint64_t)(now_ms() / BUCKET_MS);
	double us = 1000 / series.ticks_per_ms;

	for (i = 0; i < STEPS; i++)
		report_step((unsigned int)i);
	while (nr > 0 && !series.calls[nr - 1])
		nr--;
	printf("calls=%llu lost=%llu twice=%llu rate=%.1f calls_per_10ms=",
	       (unsigned long long)calls.started,
	       (unsigned long long)(calls.started - calls.ended), (unsigned long long)calls.twice,
	       rate(0, nr) * 1000);
	for (i = 0; i < nr; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)series.calls[i]);
	printf(" longest_us_per_10ms=");
	for (i = 0; i < nr; i++)
		printf("%s%.0f", i ? "," : "", (double)series.longest[i] * us);
	putchar('\n');
}

int timeline(const struct options *o)
{
	pthread_t operator;
	bool whole;

	if (o->ms < 3 * 100)
		errx(2, "each change takes 300 ms or more: -t");
	options = o;
	calls.o = *o;
	calls.o.engine = NULL;
	if (o->engine)
		place_prepare("bpf_empty");
	pthread_barrier_init(&together, NULL, 2);
	if (pthread_create(&operator, NULL, operate, NULL))
		errx(1, "a thread does not start");
	pthread_barrier_wait(&together);
	open_client_session(o);
	calls.conns = connect_all(o);
	whole = run_calls();
	pthread_join(operator, NULL);
	report();
	mrpc_session_close(session);
	free(calls.conns);
	if (o->engine)
		unplace();
	if (!whole)
		warnx("of %llu calls %llu have ended, %llu twice", (unsigned long long)calls.started,
		      (unsigned long long)calls.ended, (unsigned long long)calls.twice);
	return !whole;
}
