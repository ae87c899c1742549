// SPDX-License-Identifier: GPL-2.0
/*
 * Runs with the prio transport: kmod/lib's code on every host, without payload. Pairs of
 * hosts know each other when the traffic begins, as those do that have talked before.
 */
#include "endpoint.h"
#include "memory.h"
#include "random.h"
#include "sim.h"

#define OVERCOMMIT	6
#define ACK_DELAY	300000	/* ns that an acknowledgement waits for a packet to travel with */

/**
 * struct prio_transport - sim->transport_state
 * @endpoints: of each host
 * @greetings: messages that make associations, and have not come
 */
struct prio_transport {
	struct endpoint *endpoints;
	u64 greetings;
};

u32 sim_segment(void)
{
	return ENDPOINT_PAYLOAD;
}

u32 sim_packet_bytes(u32 payload)
{
	return SIM_FRAME + ENDPOINT_IP + MRPC_PRIO_DATA_HDR + payload;
}

/* ---- messages --------------------------------------------------------------- */

static void came(void *context, struct endpoint *e, struct endpoint_rx *rx, u32 from)
{
	struct sim *sim = context;
	struct prio_transport *t = sim->transport_state;

	(void)e;
	(void)from;
	if (rx->rx.kind == MRPC_PRIO_OTHER)
		t->greetings--;
	else
		sim_delivered(sim, (struct sim_message *)(uintptr_t)rx->rx.conn);
}

static void sent(void *context, struct endpoint *e, struct endpoint_tx *tx)
{
	(void)context;
	if (tx->tx.status != MRPC_PRIO_DONE && tx->tx.status != MRPC_PRIO_REMOVED)
		fprintf(stderr, "mrpc-sim: host %u gave a message up: status %u\n", e->host,
			tx->tx.status);
}

static const struct endpoint_user user = { .came = came, .sent = sent };

static void begin(struct sim *sim, struct sim_message *m)
{
	struct prio_transport *t = sim->transport_state;

	endpoint_submit(&t->endpoints[m->from], m->to, (uintptr_t)m,
			m->other ? MRPC_PRIO_REPLY : MRPC_PRIO_REQUEST, 0, m->bytes);
}

static void room(struct sim *sim, u32 host)
{
	struct prio_transport *t = sim->transport_state;

	endpoint_room(&t->endpoints[host]);
}

static void receive(struct sim *sim, u32 host, struct sim_packet *p)
{
	struct prio_transport *t = sim->transport_state;

	endpoint_receive(&t->endpoints[host], p);
}

/* ---- beginning and end ------------------------------------------------------ */

/*
 * Sizes follow the network's round trip, which an operator would know or measure.
 * A large message may take three quarters of the unscheduled budget of its pair of hosts: twice
 * a round trip's worth is enough for one to begin beside others.
 */
static void rule(const struct sim *sim, struct mrpc_prio_rule *r)
{
	const struct sim_prio_knobs *k = &sim->config.prio;
	u64 round_trip = sim_round_trip(sim);
	u32 bytes = round_trip * sim->config.topology.host_mbps / (8 * SIM_US);

	mrpc_prio_rule_default(r);
	bytes = (bytes / ENDPOINT_PAYLOAD + 1) * ENDPOINT_PAYLOAD;
	r->chunk = k->chunk ? k->chunk : ENDPOINT_PAYLOAD;
	r->unscheduled = k->unscheduled ? k->unscheduled : 2 * bytes;
	r->window = k->window ? k->window : bytes;
	r->overcommit = k->overcommit ? k->overcommit : OVERCOMMIT;
	r->outstanding = max(r->overcommit * r->window, r->chunk);
	r->step = ENDPOINT_PAYLOAD;
	r->ack_delay = ACK_DELAY;
	r->rto_min = max(r->rto_min, 2 * r->ack_delay);
	r->rto_max = max(r->rto_max, r->rto_min);
}

static void *create(struct sim *sim)
{
	u32 hosts = sim->config.topology.hosts, i;
	struct prio_transport *t = sim_zalloc(sizeof(*t));
	struct mrpc_prio_rule r;

	rule(sim, &r);
	if (!sim->config.topology.below)
		sim->net.t.below = 2 * endpoint_chunk_bytes(r.chunk);
	t->endpoints = sim_zalloc(hosts * sizeof(*t->endpoints));
	for (i = 0; i < hosts; i++)
		endpoint_init(&t->endpoints[i], &sim->net, i, &r, &user, sim,
			      sim_seed(sim->config.seed, 100 + i));
	return t;
}

static void greet(struct sim *sim, u32 from, u32 to)
{
	struct prio_transport *t = sim->transport_state;

	t->greetings++;
	endpoint_submit(&t->endpoints[from], to, 1, MRPC_PRIO_OTHER, 0, 0);
}

static bool ready(struct sim *sim)
{
	struct prio_transport *t = sim->transport_state;

	return !t->greetings;
}

/* What was counted until now was of the greetings. */
static void start(struct sim *sim)
{
	struct prio_transport *t = sim->transport_state;
	u32 i;

	for (i = 0; i < sim->config.topology.hosts; i++)
		memset(&t->endpoints[i].ep.stats, 0, sizeof(t->endpoints[i].ep.stats));
}

static void counters(struct sim *sim, struct sim_counters *c)
{
	struct prio_transport *t = sim->transport_state;
	struct endpoint *e;
	u32 i;

	for (i = 0; i < sim->config.topology.hosts; i++) {
		e = &t->endpoints[i];
		c->grants += e->ep.stats.grants;
		c->resends += e->ep.stats.resends;
		c->again += e->ep.stats.resent;
		c->timeouts += e->ep.stats.timeouts;
		c->bitmaps += e->ep.nr_gaps;
		c->max_bitmaps = max_t(u64, c->max_bitmaps, e->max_gaps);
		c->memory = max(c->memory, e->max_memory);
	}
}

static void destroy(struct sim *sim)
{
	struct prio_transport *t = sim->transport_state;
	u32 i;

	for (i = 0; i < sim->config.topology.hosts; i++)
		endpoint_fini(&t->endpoints[i]);
	free(t->endpoints);
	free(t);
}

const struct sim_transport sim_prio = {
	.name = "prio",
	.what = "the transport of kmod/lib",
	.create = create,
	.greet = greet,
	.ready = ready,
	.start = start,
	.begin = begin,
	.room = room,
	.receive = receive,
	.counters = counters,
	.destroy = destroy,
};
