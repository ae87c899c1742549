// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/engines/ratelimit kmod/lib/ds/bucket kmod/chain/delay */
/*
 * The ratelimit engine: the resulting rate, and the calls that wait.
 */
#include <errno.h>

#include "tap.h"
#include "load.h"
#include "operator.h"

static struct raw_pair p;
static struct load l, other;

/* Calls of @l per second, over about @ms. */
static double rate_over(const struct load *load, unsigned int ms)
{
	uint64_t from = load_done(load, MRPC_OK), start = raw_now();

	raw_sleep(ms * RAW_MS);
	return (load_done(load, MRPC_OK) - from) * 1e9 / (raw_now() - start);
}

/* Waits until at least @nr rpcs are in the engine's queue. */
static bool queued(bool server, unsigned int nr)
{
	uint64_t until = raw_now() + 5 * RAW_S * raw_patience();

	while (op_dir("ratelimit", server, MRPC_A_ENGINE_DIR_QUEUED) < nr) {
		if (raw_now() > until)
			return false;
		raw_sleep(RAW_MS);
	}
	return true;
}

/*
 * If a machine stops for a while, the burst makes up for it: so bursts here are of a second. A stop
 * at the end of the measurement is not made up for. So the best of some attempts counts.
 */
static void check_rate(const struct load *load, double want, double low, double high)
{
	double got = 0;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		got = rate_over(load, 4000) / want;
		if (got >= low && got <= high)
			return;
		printf("# %.3f of %.0f calls/s\n", got, want);
	}
	CHECK_MSG(0, "%.3f of %.0f calls/s", got, want);
}

/* The burst is used up when a call waits. */
static void drain(unsigned int calls)
{
	CHECK(load_more(&l, calls, 30000));
	CHECK(queued(false, 1) || queued(true, 1));
}

static void start(const char *how, unsigned int in_flight)
{
	op_del_all();	/* if a test before this one failed */
	raw_pair(&p, how, 2);
	load_start(&l, &p.c, p.conn, in_flight);
	CHECK(load_more(&l, 100, 30000));
}

static void end(void)
{
	load_stop(&l);
	raw_pair_end(&p);
}

/*
 * A limit holds 100 ms after it was placed, within 2 %. If the machine stops for longer than the
 * burst lasts, it does not. So the best of some attempts counts.
 */
TEST_LIMIT(at_once, 120)
{
	double got = 0;
	unsigned int i;

	start("tcp4", 32);
	for (i = 0; i < 20 && !(got > 0.98 && got < 1.02); i++) {
		op_must_add("ratelimit", "rate=1000 burst=200 side=client", NULL);
		raw_sleep(100 * RAW_MS);
		got = rate_over(&l, 1000) / 1000;
		NOTE("%.3f of the limit, from 100 ms on", got);
		op_must_del("ratelimit");
		CHECK(load_more(&l, 100, 30000));
	}
	CHECK(got > 0.98 && got < 1.02);
	end();
}

/* The engine is added, changed, made unlimited, and removed: no call is lost. */
static void live(const char *how, const char *side)
{
	char words[64];

	start(how, 32);
	snprintf(words, sizeof(words), "rate=150 burst=150 side=%s", side);
	op_must_add("ratelimit", words, NULL);
	drain(160);
	check_rate(&l, 150, 0.98, 1.02);
	CHECK(queued(!strcmp(side, "server"), 20));
	CHECK(op_counter("ratelimit", "waited") > 100);
	/* Earned tokens stay; there are almost none. */
	op_must_set("ratelimit", "rate=250 burst=250", NULL);
	check_rate(&l, 250, 0.98, 1.02);
	op_must_set("ratelimit", "rate=unlimited", NULL);
	/* The rate now depends on whether calls happen to go in batches. */
	check_rate(&l, 250, 2, 1e9);
	/* Removed with many calls in its queue. */
	op_must_set("ratelimit", "rate=1", NULL);
	CHECK(queued(!strcmp(side, "server"), 31));
	op_must_del("ratelimit");
	CHECK(load_more(&l, 200, 20000));
	end();
	CHECK_EQ(load_failed(&l), 0);
}

TEST_LIMIT(live_client, 240)
{
	live("tcp4", "client");
}

TEST_LIMIT(live_server, 240)
{
	live("tcp4", "server");
}

TEST_LIMIT(live_loop, 240)
{
	live("loop", "client");
}

/* Lateness is not made up for, but it does not add up either. */
TEST_LIMIT(burst_of_one, 180)
{
	start("tcp4", 8);
	op_must_add("ratelimit", "rate=20 burst=1 side=client", NULL);
	drain(9);
	check_rate(&l, 20, 0.5, 1.02);
	op_must_del("ratelimit");
	end();
}

TEST_LIMIT(bytes, 240)
{
	l.len = 10000;
	start("tcp4", 32);
	op_must_add("ratelimit", "bytes=1500000 byte_burst=1500000 side=client", NULL);
	drain(160);
	check_rate(&l, 1500000.0 / raw_blob_size(10000, NULL), 0.98, 1.02);
	/* Messages larger than the burst. */
	op_must_set("ratelimit", "bytes=200000 byte_burst=1000", NULL);
	drain(2);
	check_rate(&l, 200000.0 / raw_blob_size(10000, NULL), 0.5, 1.02);
	op_must_del("ratelimit");
	end();
}

/* Both loads have the rate together, and each has its half. */
static bool share_fairly(void)
{
	uint64_t from = load_done(&l, MRPC_OK), from_other = load_done(&other, MRPC_OK);
	double mine, others, seconds = raw_now();

	raw_sleep(4 * RAW_S);
	mine = load_done(&l, MRPC_OK) - from;
	others = load_done(&other, MRPC_OK) - from_other;
	seconds = (raw_now() - seconds) / RAW_S;
	NOTE("%.0f and %.0f calls in %.2f s", mine, others, seconds);
	return mine + others > 90 * seconds && mine + others < 110 * seconds &&
	       mine < 1.5 * others && others < 1.5 * mine;
}

/* Two connections share one bucket. */
TEST_LIMIT(shared, 300)
{
	unsigned int i;
	int conn;

	start("tcp4", 40);
	conn = raw_connect(&p.c, p.addr);
	CHECK(conn > 0);
	load_start(&other, &p.c, conn, 40);
	CHECK(load_more(&other, 10, 10000));
	op_must_add("ratelimit", "rate=100 burst=100 shared=1 side=client", NULL);
	drain(100);
	for (i = 0; i < 10 && !share_fairly(); i++)
		;
	CHECK(i < 10);
	/* One of two users of the bucket ends. The other one gets all. */
	load_stop(&other);
	check_rate(&l, 100, 0.98, 1.02);
	op_must_set("ratelimit", "rate=150 burst=150", NULL);
	check_rate(&l, 150, 0.98, 1.02);
	op_must_set("ratelimit", "shared=0", NULL);
	drain(150);
	check_rate(&l, 150, 0.98, 1.02);
	op_must_del("ratelimit");
	end();
}

/*
 * New rpcs are in the queue, too, until the engine's turn. The limit is what the engine leaves in
 * the queue.
 */
static bool seen_short(const char *name, int64_t limit)
{
	for (int i = 0; i < 3000; i++) {
		int64_t queued = op_dir(name, false, MRPC_A_ENGINE_DIR_QUEUED);

		if (queued >= 0 && queued <= limit)
			return true;
		raw_sleep(10 * RAW_MS);
	}
	return false;
}

TEST(queue_limit)
{
	start("tcp4", 64);
	op_must_add("ratelimit", "rate=20 burst=1 queue=8 side=client name=gate", NULL);
	CHECK(load_until(&l, MRPC_RESOURCE_EXHAUSTED, 500, 30000));
	CHECK(seen_short("gate", 8));
	CHECK(op_dir("gate", false, MRPC_A_ENGINE_DIR_REJECTED) > 400);
	op_must_set("gate", "rate=unlimited", NULL);
	CHECK(load_more(&l, 200, 30000));
	op_must_del("gate");
	end();
	CHECK_STR(l.detail, "gate: 8 requests wait already, the limit is 20 calls/s");
	CHECK_EQ(load_except(&l, 1 << MRPC_OK | 1 << MRPC_RESOURCE_EXHAUSTED), 0);
}

TEST(no_queue)
{
	start("tcp4", 4);
	op_must_add("ratelimit", "rate=20 bytes=1000000 queue=0 side=server", NULL);
	CHECK(load_until(&l, MRPC_RESOURCE_EXHAUSTED, 500, 30000));
	op_must_del("ratelimit");
	CHECK(load_more(&l, 100, 30000));
	end();
	CHECK_STR(l.detail, "ratelimit: 0 requests wait already, the limit is 20 calls/s and 1000000 bytes/s");
}

static bool come_to_server(double low, double high)
{
	uint64_t before = raw_server_requests(&p.srv), start = raw_now();
	double came, seconds;

	raw_sleep(5 * RAW_S);
	came = raw_server_requests(&p.srv) - before;
	seconds = (double)(raw_now() - start) / RAW_S;
	NOTE("%.0f came in %.2f s", came, seconds);
	return came > low * seconds && came < high * seconds;
}

/*
 * A call that ends while it waits is not sent, and uses no tokens. The server gets all requests
 * that the rate allows, though some come too late for their callers.
 */
TEST_LIMIT(deadlines, 180)
{
	unsigned int i;

	l.timeout_us = 2000000;
	start("tcp4", 128);
	op_must_add("ratelimit", "rate=20 burst=20 side=client", NULL);
	drain(400);
	CHECK(load_done(&l, MRPC_DEADLINE_EXCEEDED) > 50);
	for (i = 0; i < 8 && !come_to_server(18, 22); i++)
		;
	CHECK(i < 8);
	op_must_del("ratelimit");
	CHECK(load_more(&l, 500, 30000));
	end();
}

/* The connection ends with calls in the queue. */
TEST(ends_while_they_wait)
{
	start("tcp4", 32);
	op_must_add("ratelimit", "rate=1", NULL);
	raw_sleep(200 * RAW_MS);
	CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
	CHECK(load_more(&l, 32, 20000));
	op_must_del("ratelimit");
	load_stop(&l);
	CHECK_EQ(op_del("ratelimit", NULL), -ENOENT);
	raw_pair_end(&p);
}

static void refused(int err, const char *why, const char *words)
{
	int got = op_add("ratelimit", words, NULL, NULL);

	CHECK_MSG(got == err, "%s: %d, not %d: %s", words, got, err, op_why);
	CHECK_MSG(strstr(op_why, why), "%s: '%s', not '%s'", words, op_why, why);
}

TEST(bad_input)
{
	refused(-ERANGE, "rate is 0, allowed is 1 to 1000000000000", "rate=0");
	refused(-ERANGE, "queue is 65537, allowed is 0 to 65536", "queue=65537");
	refused(-ERANGE, "shared", "shared=2");
	refused(-EINVAL, "rate", "rate=fast");
}
