// SPDX-License-Identifier: GPL-2.0
/*
 * The generator: its figures, its moments, and that a stall is seen. Time is virtual.
 */
#include "load.h"
#include "random.h"
#include "tap.h"

/* -- the histogram ------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Against all samples, sorted: the value that the share of them does not exceed. */
TEST(quantiles_of_samples)
{
	static const double shares[] = { 0.0001, 0.1, 0.5, 0.9, 0.99, 0.999, 1 };
	uint64_t random = sim_seed(7, 0), samples[5000], wanted, got, sum = 0;
	static struct histogram h;
	unsigned int i, round;

	for (round = 0; round < 20; round++) {
		memset(&h, 0, sizeof(h));
		for (i = 0; i < 5000; i++) {
			/* All sizes, from nanoseconds to minutes. */
			samples[i] = (uint64_t)rnd_next(&random) << 6 >> rnd_below(&random, 38);
			histogram_add(&h, samples[i]);
			sum += samples[i];
		}
		qsort(samples, 5000, sizeof(*samples), by_value);
		for (i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
			wanted = samples[(unsigned int)(ceil(shares[i] * 5000)) - 1];
			got = histogram_quantile(&h, shares[i]);
			CHECK(got <= wanted + wanted / 100 && got + got / 100 + 1 >= wanted);
		}
		CHECK_EQ(h.max, samples[4999]);
		CHECK_EQ(h.nr, 5000);
		CHECK_EQ(h.sum, sum);
		sum = 0;
	}
}

TEST(quantiles_of_few)
{
	static struct histogram h;

	CHECK_EQ(histogram_quantile(&h, 0.5), 0);
	histogram_add(&h, 1000003);
	CHECK(histogram_quantile(&h, 0.01) <= 1000003);
	CHECK(histogram_quantile(&h, 0.99) >= 990000);
	histogram_add(&h, UINT64_MAX);
	CHECK_EQ(h.max, UINT64_MAX);
	CHECK(histogram_quantile(&h, 1) > 1000000000000);
	histogram_add(&h, 0);
	CHECK_EQ(histogram_quantile(&h, 0.3), 0);
}

/* -- a server with virtual time ------------------------------------------------------ */

/* It takes calls one after the other. */
static struct {
	uint64_t now;
	uint64_t service;	/* ns of a call */
	uint64_t stall_from;	/* it does nothing meanwhile */
	uint64_t stall_until;
	uint64_t free;		/* when it has done all it has */
	struct load_call *calls[LOAD_IN_FLIGHT];
	uint64_t ends[LOAD_IN_FLIGHT];
	unsigned int nr;
	unsigned int most;	/* in flight */
	unsigned int submitted;
	unsigned int kinds[REQUEST_KINDS];
	bool dead;		/* it answers nothing */
} server;

static uint64_t virtual_now(void)
{
	return server.now;
}

static void virtual_submit(struct load_call *call)
{
	uint64_t begin = server.now > server.free ? server.now : server.free;

	if (begin >= server.stall_from && begin < server.stall_until)
		begin = server.stall_until;
	server.free = begin + server.service;
	server.calls[server.nr] = call;
	server.ends[server.nr++] = server.dead ? UINT64_MAX : server.free;
	server.submitted++;
	server.kinds[call->request.kind]++;
	if (server.nr > server.most)
		server.most = server.nr;
}

static void virtual_wait(uint64_t until)
{
	struct load_call *call;
	unsigned int i;

	while (server.nr && server.ends[0] <= until) {
		if (server.ends[0] > server.now)
			server.now = server.ends[0];
		call = server.calls[0];
		server.nr--;
		for (i = 0; i < server.nr; i++) {
			server.calls[i] = server.calls[i + 1];
			server.ends[i] = server.ends[i + 1];
		}
		load_done(call, call->request.kind == REQUEST_LOGIN);
	}
	if (until > server.now)
		server.now = until;
}

static const struct load_peer peer = {
	.submit = virtual_submit, .wait = virtual_wait, .now = virtual_now,
};

#define MS	1000000ULL
#define SECOND	1000000000ULL
#define NEVER	UINT64_MAX

static uint64_t stall_at, stall_for;

/* From the fifth second on, with a new server. */
static struct load_result *run_with(const struct load_options *o, uint64_t service)
{
	memset(&server, 0, sizeof(server));
	server.now = 5 * SECOND;
	server.service = service;
	server.dead = service == NEVER;
	server.stall_from = 5 * SECOND + stall_at;
	server.stall_until = server.stall_from + stall_for;
	stall_for = 0;
	return load_run(&peer, o);
}

static struct load_result *run(double rate, uint64_t ns, uint64_t service)
{
	struct load_options o = { .rate = rate, .ns = ns, .seed = 3 };

	return run_with(&o, service);
}

/* Of the next run; times from its start. */
static void stall(uint64_t at, uint64_t ns)
{
	stall_at = at;
	stall_for = ns;
}

TEST(moments_are_those_of_a_poisson_process)
{
	struct load_result *r = run(1000, 20 * SECOND, 1);

	CHECK(server.submitted > 19400 && server.submitted < 20600);
	CHECK_EQ(r->all.nr, server.submitted);
	CHECK_EQ(r->unanswered, 0);
	CHECK(r->rate > 970 && r->rate < 1030);
	CHECK(histogram_quantile(&r->all, 0.99) <= 1);
	CHECK(r->offered > 970 && r->offered < 1030);
	CHECK_EQ(r->errors, server.kinds[REQUEST_LOGIN]);
	CHECK_EQ(r->kinds[REQUEST_LOGIN].nr, server.kinds[REQUEST_LOGIN]);
	free(r);
}

/* -- what is asked for --------------------------------------------------------------- */

/* Of each deck 60, 39, 0.5 and 0.5 of a hundred; in an order that is each time another. */
TEST(each_deck_has_the_mix)
{
	unsigned int deck, i, kinds[REQUEST_KINDS], login = 0, moved = 0;
	struct request_mix mix;
	struct request r;

	mix_init(&mix, sim_seed(9, 0));
	for (deck = 0; deck < 100; deck++) {
		unsigned int before = login;

		memset(kinds, 0, sizeof(kinds));
		for (i = 0; i < MIX_DECK; i++) {
			request_next(&r, &mix);
			kinds[r.kind]++;
			if (r.kind == REQUEST_LOGIN)
				login = i;
		}
		moved += login != before;
		CHECK_EQ(kinds[REQUEST_HOTELS], 120);
		CHECK_EQ(kinds[REQUEST_RECOMMEND], 78);
		CHECK_EQ(kinds[REQUEST_LOGIN], 1);
		CHECK_EQ(kinds[REQUEST_RESERVE], 1);
	}
	CHECK(moved > 90);
}

/* Each place of the deck is a search in 240 of 400, within six standard deviations. */
TEST(decks_are_shuffled_well)
{
	unsigned int deck, i, searches[MIX_DECK] = { 0 };
	struct request_mix mix;
	struct request r;

	mix_init(&mix, sim_seed(11, 0));
	for (deck = 0; deck < 400; deck++) {
		for (i = 0; i < MIX_DECK; i++) {
			request_next(&r, &mix);
			searches[i] += r.kind == REQUEST_HOTELS;
		}
	}
	for (i = 0; i < MIX_DECK; i++)
		CHECK(searches[i] > 240 - 60 && searches[i] < 240 + 60);
}

/* Whatever was asked for while it was warming up. */
TEST(requests_that_count_are_whole_decks)
{
	struct load_options o = { .rate = 20, .warm_ns = SECOND, .requests = 2 * MIX_DECK };
	struct load_result *r;

	for (o.seed = 1; o.seed <= 20; o.seed++) {
		r = run_with(&o, 1);
		CHECK_EQ(r->all.nr, 400);
		CHECK(server.submitted > 400);
		CHECK_EQ(r->kinds[REQUEST_HOTELS].nr, 240);
		CHECK_EQ(r->kinds[REQUEST_RECOMMEND].nr, 156);
		CHECK_EQ(r->kinds[REQUEST_LOGIN].nr, 2);
		CHECK_EQ(r->kinds[REQUEST_RESERVE].nr, 2);
		CHECK(r->offered > 16 && r->offered < 24);
		free(r);
	}
}

/* -- servers that are late ----------------------------------------------------------- */

/* A queue of Poisson arrivals and constant service at load 1/2: half a service of wait. */
TEST(queueing_is_seen)
{
	struct load_result *r = run(500, 60 * SECOND, MS);
	double mean = (double)r->all.sum / (double)r->all.nr / MS;

	CHECK(mean > 1.4 && mean < 1.6);
	free(r);
}

/*
 * A second without answers in ten: nine in ten are fast, but a tenth was due meanwhile. A
 * generator that measures from when a call was made, and makes none meanwhile, sees one slow call.
 */
TEST(a_stall_is_in_p99)
{
	struct load_result *r;

	stall(3 * SECOND, SECOND);
	r = run(200, 10 * SECOND, MS / 100);
	CHECK(histogram_quantile(&r->all, 0.5) < MS);
	CHECK(histogram_quantile(&r->all, 0.99) > 850 * MS);
	CHECK(histogram_quantile(&r->all, 0.99) < 1000 * MS);
	CHECK_EQ(r->unanswered, 0);
	free(r);
}

/* The same when the calls in flight have reached their limit: what waits here is late, too. */
TEST(a_stall_beyond_the_limit_is_in_p99)
{
	struct load_result *r;

	stall(3 * SECOND, SECOND);
	r = run(5000, 10 * SECOND, MS / 100);
	CHECK_EQ(server.most, LOAD_IN_FLIGHT);
	CHECK_EQ(r->all.nr, server.submitted);
	/* Half of those that were due meanwhile are later than half a second. */
	CHECK(histogram_quantile(&r->all, 0.95) > 450 * MS);
	CHECK(histogram_quantile(&r->all, 0.99) > 850 * MS);
	free(r);
}

/* Twice what the server can: half of it is done, ever later. */
TEST(overload_is_seen)
{
	struct load_result *r = run(200, 4 * SECOND, 10 * MS);

	CHECK(r->rate > 90 && r->rate < 110);
	CHECK(r->offered > 180 && r->offered < 220);
	CHECK(histogram_quantile(&r->all, 0.99) > 3 * SECOND);
	free(r);
}

TEST(no_answer_is_late)
{
	struct load_result *r;

	r = run(100, SECOND, NEVER);
	CHECK_EQ(r->unanswered, server.submitted);
	CHECK_EQ(r->all.nr, server.submitted);
	CHECK(histogram_quantile(&r->all, 0.01) >= 9 * SECOND);
	free(r);
}

TEST(warming_up_does_not_count)
{
	struct load_options o = { .rate = 100, .warm_ns = SECOND, .ns = SECOND, .seed = 3 };
	struct load_result *r;

	stall(0, 500 * MS);
	r = run_with(&o, 1);
	CHECK(r->all.nr > 60 && r->all.nr < 140 && server.submitted > r->all.nr + 60);
	CHECK(r->all.max < MS);
	free(r);
}
