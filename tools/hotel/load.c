// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <stdlib.h>

#include "load.h"
#include "random.h"

/**
 * struct load - a run
 * @result: first, so that it is what the caller gets
 * @peer: the caller's
 * @lock: protects what follows; calls end in any thread
 * @free: calls that can be made
 * @in_flight: calls that are made
 * @last: when the last one that counts has ended
 * @from: those due from here on count
 * @over: what ends now does not count
 * @calls: all
 *
 * Lives as long as the process: calls that were given up may end at any time.
 */
struct load {
	struct load_result result;
	const struct load_peer *peer;
	pthread_mutex_t lock;
	struct load_call *free;
	unsigned int in_flight;
	uint64_t last;
	uint64_t from;
	int over;
	struct load_call calls[LOAD_IN_FLIGHT];
};

static struct load *load_new(const struct load_peer *peer)
{
	struct load *load = calloc(1, sizeof(*load));
	int i;

	if (!load)
		return NULL;
	pthread_mutex_init(&load->lock, NULL);
	load->peer = peer;
	for (i = 0; i < LOAD_IN_FLIGHT; i++) {
		load->calls[i].load = load;
		load->calls[i].next = load->free;
		load->free = &load->calls[i];
	}
	return load;
}

static void count(struct load *load, const struct load_call *call, uint64_t now)
{
	histogram_add(&load->result.all, now - call->due);
	histogram_add(&load->result.kinds[call->request.kind], now - call->due);
}

void load_done(struct load_call *call, int failed)
{
	struct load *load = call->load;
	uint64_t now = load->peer->now();

	pthread_mutex_lock(&load->lock);
	if (!load->over && call->due >= load->from) {
		load->result.errors += !!failed;
		load->last = now;
		count(load, call, now);
	}
	call->due = 0;
	call->next = load->free;
	load->free = call;
	load->in_flight--;
	pthread_mutex_unlock(&load->lock);
}

/* A call that can be made, when one is there. */
static struct load_call *get_call(struct load *load)
{
	struct load_call *call;

	for (;;) {
		pthread_mutex_lock(&load->lock);
		call = load->free;
		if (call) {
			load->free = call->next;
			load->in_flight++;
		}
		pthread_mutex_unlock(&load->lock);
		if (call)
			return call;
		load->peer->wait(load->peer->now() + 1000000);
	}
}

static unsigned int in_flight(struct load *load)
{
	unsigned int nr;

	pthread_mutex_lock(&load->lock);
	nr = load->in_flight;
	pthread_mutex_unlock(&load->lock);
	return nr;
}

static void drain(struct load *load)
{
	uint64_t now = load->peer->now(), until = now + LOAD_DRAIN_NS;
	int i;

	for (; in_flight(load) && now < until; now = load->peer->now())
		load->peer->wait(now + 1000000);
	pthread_mutex_lock(&load->lock);
	load->over = 1;
	for (i = 0; i < LOAD_IN_FLIGHT; i++) {
		if (!load->calls[i].due || load->calls[i].due < load->from)
			continue;
		load->result.unanswered++;
		count(load, &load->calls[i], now);
	}
	pthread_mutex_unlock(&load->lock);
}

struct load_result *load_run(const struct load_peer *peer, const struct load_options *o)
{
	struct load *load = load_new(peer);
	uint64_t random = sim_seed(o->seed, 0);
	uint64_t start, due, now, last = 0;
	struct request_mix warm, mix;
	struct load_call *call;
	unsigned int nr = 0;
	double at = 0;

	if (!load)
		return NULL;
	start = peer->now();
	load->from = start + o->warm_ns;
	/* Those that count begin with a deck of their own. */
	mix_init(&warm, sim_seed(o->seed, 1));
	mix_init(&mix, sim_seed(o->seed, 2));
	for (;;) {
		at += sim_exponential(&random, 1e9 / o->rate);
		due = start + (uint64_t)at;
		if (o->requests ? nr == o->requests : due >= load->from + o->ns)
			break;
		for (now = peer->now(); now < due; now = peer->now())
			peer->wait(due);
		call = get_call(load);
		request_next(&call->request, due < load->from ? &warm : &mix);
		if (due >= load->from) {
			nr++;
			last = due;
		}
		call->due = due;
		peer->submit(call);
	}
	drain(load);
	if (last > load->from)
		load->result.offered = nr / ((double)(last - load->from) / 1e9);
	if (load->last > load->from)
		load->result.rate = (double)(load->result.all.nr - load->result.unanswered) /
				    ((double)(load->last - load->from) / 1e9);
	return &load->result;
}

void load_print(const struct load_result *result, FILE *out)
{
	static const char *const names[REQUEST_KINDS] = {
		"hotels", "recommend", "login", "reserve",
	};
	int i;

	fprintf(out, "load offered=%.1f rate=%.1f errors=%llu unanswered=%llu\n", result->offered,
		result->rate, (unsigned long long)result->errors,
		(unsigned long long)result->unanswered);
	histogram_print(&result->all, "end-to-end", out);
	for (i = 0; i < REQUEST_KINDS; i++)
		histogram_print(&result->kinds[i], names[i], out);
}
