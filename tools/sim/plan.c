// SPDX-License-Identifier: GPL-2.0
/* What happens in a world with faults, and when: drawn before it begins. */
#include "memory.h"
#include "random.h"
#include "world.h"

#define MIN_CALLS	8
#define MAX_CALLS	40
#define BEGIN_SPAN	(5 * SIM_MS)	/* in which calls begin */
#define MAX_STALL	(10 * SIM_MS)

static u32 below(struct world *w, u32 n)
{
	return rnd_below(&w->random, n);
}

static u64 some_time(struct world *w, u64 span)
{
	return 1 + span / 65536 * below(w, 65536);
}

/* True in @percent of cases. */
static bool maybe(struct world *w, u32 percent)
{
	return below(w, 100) < percent;
}

/* ---- calls ------------------------------------------------------------------ */

static u32 some_length(struct world *w)
{
	static const u32 limits[] = { 1, 2, 100, 1500, 3000, 3000, 20000, 20000, 60000, 200000 };

	return below(w, limits[below(w, ARRAY_SIZE(limits))]);
}

static void submit(void *who, void *what)
{
	(void)what;
	world_submit(((struct world_message *)who)->world, who);
}

static struct world_message *add(struct world *w, u32 from, u32 to, u32 bytes)
{
	struct world_message *m = &w->messages[w->nr_messages++];

	*m = (struct world_message){ .world = w, .from = from, .to = to, .bytes = bytes,
				     .priority = 64 * below(w, WORLD_PRIORITIES) };
	return m;
}

static u32 other(struct world *w, u32 host)
{
	return (host + 1 + below(w, w->hosts - 1)) % w->hosts;
}

/* The reply to a message is the one after it. */
static void plan_calls(struct world *w)
{
	u32 nr = MIN_CALLS + below(w, MAX_CALLS - MIN_CALLS), i, from, to, receiver = below(w, w->hosts);
	bool incast = maybe(w, 20);
	struct world_message *m;
	u64 at;

	for (i = 0; i < nr; i++) {
		to = incast ? receiver : below(w, w->hosts);
		from = other(w, to);
		at = incast ? 1 : some_time(w, BEGIN_SPAN);
		m = add(w, from, to, some_length(w));
		add(w, to, from, some_length(w))->reply = true;
		sim_at(&w->clock, at, submit, m, NULL);
	}
}

/*
 * When all is calm each pair talks again. An end that does not know yet that the other has
 * restarted learns it from the first message; the second one must come.
 */
static void plan_probes(struct world *w, u64 at)
{
	struct world_message *m;
	u32 i, k, round;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < w->hosts; i++) {
			for (k = 0; k < w->hosts; k++) {
				if (i == k || w->nr_messages == WORLD_MESSAGES)
					continue;
				m = add(w, i, k, below(w, 3000));
				m->probe = round == 1;
				sim_at(&w->clock, at + round * SIM_S, submit, m, NULL);
			}
		}
	}
}

/* ---- hosts ------------------------------------------------------------------ */

static void restart(void *who, void *what)
{
	struct world *w = who;
	u32 host = (uintptr_t)what, i;
	struct endpoint *e = &w->endpoints[host];
	u64 seed = w->random;

	world_say(w, "host %u restarts", host);
	w->report->restarts++;
	for (i = 0; i < w->hosts; i++)
		world_excuse(w, host, i);
	endpoint_fini(e);
	below(w, 2);
	endpoint_init(e, &w->net, host, &w->rule, &world_user, w, seed);
}

static void stall(void *who, void *what)
{
	struct world *w = who;
	u32 host = (uintptr_t)what;

	w->report->stalls++;
	endpoint_stall(&w->endpoints[host], w->clock.now + some_time(w, MAX_STALL));
	world_say(w, "host %u stands still", host);
}

static void cut(void *who, void *what)
{
	struct world *w = who;
	u32 a = (uintptr_t)what % WORLD_HOSTS, b = (uintptr_t)what / WORLD_HOSTS;
	u64 until = w->clock.now + some_time(w, 3 * w->rule.silence * SIM_NS);

	until = min(until, w->calm);
	w->report->cuts++;
	world_excuse(w, a, b);
	w->cut[a][b] = until;
	if (maybe(w, 50))
		w->cut[b][a] = until;
	world_say(w, "nothing passes from host %u to %u", a, b);
}

static void forget(void *who, void *what)
{
	struct world *w = who;
	u32 a = (uintptr_t)what % WORLD_HOSTS, b = (uintptr_t)what / WORLD_HOSTS;

	world_say(w, "host %u forgets host %u", a, b);
	world_excuse(w, a, b);
	endpoint_forget(&w->endpoints[a], b);
}

/* ---- messages --------------------------------------------------------------- */

static void abort_message(void *who, void *what)
{
	struct world *w = who;
	struct world_message *m = what;
	struct endpoint *e = &w->endpoints[m->from];

	if (!m->tx)
		return;
	world_say(w, "host %u gives message %td up", m->from, m - w->messages);
	m->aborted = true;
	mrpc_prio_tx_abort(&e->ep, &m->tx->tx, w->clock.now / SIM_NS);
	endpoint_work(e);
}

static void reject_message(void *who, void *what)
{
	struct world *w = who;
	struct endpoint *e = &w->endpoints[(uintptr_t)what];

	if (!e->rxs)
		return;
	w->messages[e->rxs->rx.conn - 1].rejected = true;
	world_say(w, "host %u throws message %llu away", e->host,
		  (unsigned long long)e->rxs->rx.conn - 1);
	mrpc_prio_rx_reject(&e->ep, &e->rxs->rx, w->clock.now / SIM_NS);
	endpoint_work(e);
}

static void rank_message(void *who, void *what)
{
	struct world *w = who;
	struct world_message *m = what;
	struct endpoint *e = &w->endpoints[m->from];

	if (!m->tx)
		return;
	mrpc_prio_tx_priority(&e->ep, &m->tx->tx, 64 * below(w, WORLD_PRIORITIES));
	endpoint_work(e);
}

static void change_mtu(void *who, void *what)
{
	struct world *w = who;
	struct endpoint_tx *tx = w->endpoints[(uintptr_t)what].txs;

	if (tx && tx->tx.peer)
		mrpc_prio_peer_payload(tx->tx.peer, 100 + below(w, ENDPOINT_PAYLOAD - 99));
}

/* ---- the plan --------------------------------------------------------------- */

static void plan_hosts(struct world *w, u64 span)
{
	u32 i, a;

	for (i = maybe(w, 30) ? 1 + below(w, 2) : 0; i; i--)
		sim_at(&w->clock, some_time(w, span), restart, w,
		       (void *)(uintptr_t)below(w, w->hosts));
	for (i = maybe(w, 40) ? 1 + below(w, 4) : 0; i; i--)
		sim_at(&w->clock, some_time(w, span), stall, w,
		       (void *)(uintptr_t)below(w, w->hosts));
	for (i = maybe(w, 15) ? 1 + below(w, 3) : 0; i; i--) {
		a = below(w, w->hosts);
		sim_at(&w->clock, some_time(w, span), cut, w,
		       (void *)(uintptr_t)(a + WORLD_HOSTS * other(w, a)));
	}
	for (i = maybe(w, 15); i; i--) {
		a = below(w, w->hosts);
		sim_at(&w->clock, some_time(w, span), forget, w,
		       (void *)(uintptr_t)(a + WORLD_HOSTS * other(w, a)));
	}
}

static void plan_messages(struct world *w, u64 span)
{
	u32 i;

	for (i = maybe(w, 30) ? 1 + below(w, 6) : 0; i; i--)
		sim_at(&w->clock, some_time(w, span), abort_message, w,
		       &w->messages[below(w, w->nr_messages)]);
	for (i = maybe(w, 30) ? 1 + below(w, 4) : 0; i; i--)
		sim_at(&w->clock, some_time(w, span), reject_message, w,
		       (void *)(uintptr_t)below(w, w->hosts));
	for (i = maybe(w, 30) ? 1 + below(w, 6) : 0; i; i--)
		sim_at(&w->clock, some_time(w, span), rank_message, w,
		       &w->messages[below(w, w->nr_messages)]);
	for (i = maybe(w, 30) ? 1 + below(w, 4) : 0; i; i--)
		sim_at(&w->clock, some_time(w, span), change_mtu, w,
		       (void *)(uintptr_t)below(w, w->hosts));
}

void world_plan(struct world *w)
{
	u64 span = 2 * BEGIN_SPAN;

	w->calm = span + some_time(w, 4 * w->rule.silence * SIM_NS);
	plan_calls(w);
	plan_hosts(w, span);
	plan_messages(w, span);
	/* What failed silently has ended long before. */
	plan_probes(w, w->calm + 10 * w->rule.silence * SIM_NS);
}
