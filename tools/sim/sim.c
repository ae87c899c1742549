// SPDX-License-Identifier: GPL-2.0
/* A run: which hosts call which, and when; and its results. */
#include "memory.h"
#include "random.h"
#include "sim.h"

#define BURST_GAP	SIM_MS		/* of SIM_MIXED */
#define WARM_UP		10		/* the first of so many parts of the messages is not measured */

static const struct sim_transport *const transports[] = {
	&sim_prio, &sim_dctcp, &sim_srpt, &sim_sr, &sim_gbn,
};

const struct sim_transport *sim_transport_find(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(transports); i++)
		if (!strcmp(transports[i]->name, name))
			return transports[i];
	return NULL;
}

const struct sim_transport *sim_transport_at(u32 i)
{
	return i < ARRAY_SIZE(transports) ? transports[i] : NULL;
}

/* ---- yardsticks ------------------------------------------------------------- */

u64 sim_alone(const struct sim *sim, u32 from, u32 to, u32 bytes)
{
	u32 packets = sim_packets(bytes), last = bytes - (packets - 1) * sim_segment();

	return sim_net_alone(&sim->net, from, to, sim_packet_bytes(sim_segment()),
			     sim_packet_bytes(last), packets);
}

u64 sim_round_trip(const struct sim *sim)
{
	u32 far = sim->config.topology.hosts - 1;

	return sim_alone(sim, 0, far, sim_segment()) + sim_alone(sim, far, 0, 0);
}

static u64 wire_bytes(const struct sim *sim)
{
	u64 sum = 0;
	u32 i;

	if (sim->config.pattern == SIM_INCAST)
		return sim->net.down[0].sent;
	for (i = 0; i < sim->config.topology.hosts; i++)
		sum += sim->net.down[i].sent;
	return sum;
}

static double wire_size(u32 bytes, void *arg)
{
	u32 packets = sim_packets(bytes), full = sim_segment();

	(void)arg;
	return (packets - 1.0) * sim_packet_bytes(full) +
	       sim_packet_bytes(bytes - (packets - 1) * full);
}

/* ---- messages --------------------------------------------------------------- */

/* Rates are taken from when the first counted message begins until the last one does. */
static void mark_time(struct sim *sim, const struct sim_message *m)
{
	if (!sim->from_time && m->counted) {
		sim->from_time = sim->clock.now;
		sim->from_wire = wire_bytes(sim);
	}
	if (sim->begun == sim->config.messages && !sim->to_time) {
		sim->to_time = sim->clock.now;
		sim->to_wire = wire_bytes(sim);
	}
}

/* @request: of a reply */
static void begin(struct sim *sim, u32 from, u32 to, u32 bytes, u32 answer,
		  struct sim_message *request)
{
	struct sim_message *m = sim_zalloc(sizeof(*m));

	m->number = sim->begun;
	m->from = from;
	m->to = to;
	m->bytes = bytes;
	m->answer = answer;
	m->begun = sim->clock.now;
	m->other = request;
	if (request)
		request->other = m;
	m->after = sim->all;
	if (sim->all)
		sim->all->before = m;
	sim->all = m;
	m->counted = sim->begun >= sim->warm_up && !sim->to_time;
	sim->begun++;
	mark_time(sim, m);
	sim->config.transport->begin(sim, m);
}

static void release(struct sim *sim, struct sim_message *m)
{
	if (m->before)
		m->before->after = m->after;
	else
		sim->all = m->after;
	if (m->after)
		m->after->before = m->before;
	free(m);
}

static void sample(struct sim *sim, const struct sim_message *m)
{
	struct sim_sample *s = &sim->samples[sim->nr_samples++];

	s->bytes = m->bytes;
	s->slowdown = (double)(sim->clock.now - m->begun) /
		      sim_alone(sim, m->from, m->to, m->bytes);
}

void sim_delivered(struct sim *sim, struct sim_message *m)
{
	struct sim_message *request = m->other;

	m->came = true;
	sim->ended++;
	if (sim->from_time && !sim->to_time)
		sim->payload += m->bytes;
	if (m->counted)
		sample(sim, m);
	if (!request) {
		begin(sim, m->to, m->from, m->answer, 0, m);
		return;
	}
	release(sim, request);
	release(sim, m);
}

/* ---- traffic ---------------------------------------------------------------- */

static u32 other_host(struct sim *sim, u32 host)
{
	u32 other = rnd_below(&sim->traffic, sim->config.topology.hosts - 1);

	return other + (other >= host);
}

/* A call at a random time from a random host to another. */
static void next_call(void *who, void *what)
{
	struct sim *sim = who;
	const struct sim_config *c = &sim->config;
	u32 from, to, bytes, answer;

	(void)what;
	if (sim->to_time)
		return;
	from = rnd_below(&sim->traffic, c->topology.hosts);
	to = other_host(sim, from);
	bytes = sim_workload_draw(c->workload, &sim->traffic);
	answer = sim_workload_draw(c->workload, &sim->traffic);
	begin(sim, from, to, bytes, answer, NULL);
	sim_at(&sim->clock, sim->clock.now + sim_exponential(&sim->traffic, sim->gap), next_call,
	       sim, NULL);
}

static void incast(void *who, void *what)
{
	struct sim *sim = who;
	u32 hosts = sim->config.topology.hosts, to = 0, i;

	(void)what;
	if (sim->config.pattern == SIM_MIXED)
		to = rnd_below(&sim->traffic, hosts);
	for (i = 1; i <= sim->config.fan; i++)
		begin(sim, (to + i) % hosts, to, sim->config.size, 0, NULL);
}

static void next_incast(void *who, void *what)
{
	struct sim *sim = who;

	(void)what;
	if (sim->to_time)
		return;
	incast(sim, NULL);
	sim_at(&sim->clock, sim->clock.now + BURST_GAP, next_incast, sim, NULL);
}

static void all_to_all(void *who, void *what)
{
	struct sim *sim = who;
	u32 hosts = sim->config.topology.hosts, i, k;

	(void)what;
	for (k = 1; k < hosts; k++)
		for (i = 0; i < hosts; i++)
			begin(sim, i, (i + k) % hosts, sim->config.size, 0, NULL);
}

static void traffic(struct sim *sim)
{
	const struct sim_config *c = &sim->config;

	if (c->pattern == SIM_RANDOM || c->pattern == SIM_MIXED) {
		/* A call is two messages. */
		sim->gap = 2 * 8 * SIM_US * sim_workload_mean(c->workload, wire_size, NULL) /
			   ((double)c->topology.host_mbps * c->topology.hosts * c->load);
		sim_at(&sim->clock, sim->clock.now + 1, next_call, sim, NULL);
	}
	if (c->pattern == SIM_MIXED)
		sim_at(&sim->clock, sim->clock.now + BURST_GAP, next_incast, sim, NULL);
	if (c->pattern == SIM_INCAST)
		sim_at(&sim->clock, sim->clock.now + 1, incast, sim, NULL);
	if (c->pattern == SIM_ALL_TO_ALL)
		sim_at(&sim->clock, sim->clock.now + 1, all_to_all, sim, NULL);
}

/* Hosts that will talk to each other have done so before. */
static void greet(struct sim *sim)
{
	const struct sim_transport *t = sim->config.transport;
	u32 hosts = sim->config.topology.hosts, i, k;

	if (!t->greet)
		return;
	if (sim->config.pattern == SIM_INCAST) {
		for (i = 1; i <= sim->config.fan; i++)
			t->greet(sim, i, 0);
	} else {
		/* One of each host at a time. */
		for (k = 1; k <= hosts / 2; k++) {
			for (i = 0; i < hosts; i++)
				t->greet(sim, i, (i + k) % hosts);
			while (!t->ready(sim) && sim_step(&sim->clock))
				;
		}
	}
	while (!t->ready(sim) && sim_step(&sim->clock))
		;
	t->start(sim);
}

/* What the network has counted was of greetings. */
static void start(struct sim *sim)
{
	sim->start_time = sim->clock.now;
	memset(&sim->net.edge, 0, sizeof(sim->net.edge));
	memset(&sim->net.spine, 0, sizeof(sim->net.spine));
	sim->net.dropped = 0;
	sim->net.marked = 0;
	sim->lost = 0;
}

/* ---- the run ---------------------------------------------------------------- */

static void room(void *context, u32 host)
{
	struct sim *sim = context;

	sim->config.transport->room(sim, host);
}

static void receive(void *context, u32 host, struct sim_packet *p)
{
	struct sim *sim = context;

	if (sim_chance(&sim->faults, sim->config.lose)) {
		sim->lost++;
		sim_packet_free(&sim->net, p);
		return;
	}
	sim->config.transport->receive(sim, host, p);
}

/* Bursts say how many messages there are, and all of them are measured. */
static void count_messages(struct sim *sim)
{
	struct sim_config *c = &sim->config;

	if (c->pattern == SIM_INCAST)
		c->messages = 2 * c->fan;
	else if (c->pattern == SIM_ALL_TO_ALL)
		c->messages = 2 * c->topology.hosts * (c->topology.hosts - 1);
	else
		sim->warm_up = c->messages / WARM_UP;
}

static bool over(const struct sim *sim)
{
	if (!sim->to_time)
		return false;
	return sim->ended == sim->begun ||
	       sim->clock.now - sim->to_time >
	       (sim->to_time - sim->start_time) * sim->config.drain;
}

void sim_run(struct sim *sim, const struct sim_config *config)
{
	struct sim_message *m;

	*sim = (struct sim){ .config = *config, .traffic = sim_seed(config->seed, 2),
			     .faults = sim_seed(config->seed, 3) };
	count_messages(sim);
	sim->config.topology.fifo |= config->transport->fifo;
	if (!config->topology.mark)
		sim->config.topology.mark = (u64)config->transport->mark *
					    config->topology.host_mbps / 10000;
	if (config->transport->srpt) {
		sim->config.topology.buffer = 0;
		sim->config.topology.shared = 0;
	}
	if (!config->topology.below)
		sim->config.topology.below = config->transport->below;
	sim_net_init(&sim->net, &sim->clock, &sim->config.topology, config->seed);
	sim->net.room = room;
	sim->net.receive = receive;
	sim->net.context = sim;
	sim->net.srpt = config->transport->srpt;
	sim_net_pull(&sim->net);
	sim->samples = sim_zalloc((sim->config.messages + 1) * sizeof(*sim->samples));
	sim->transport_state = config->transport->create(sim);
	greet(sim);
	start(sim);
	traffic(sim);
	while (!over(sim) && sim_step(&sim->clock))
		;
	for (m = sim->all; m; m = m->after) {
		if (!m->counted || m->came)
			continue;
		sim->unfinished++;
		sample(sim, m);
	}
}

void sim_fini(struct sim *sim)
{
	sim->config.transport->destroy(sim);
	while (sim->all)
		release(sim, sim->all);
	sim_net_fini(&sim->net);
	sim_clock_fini(&sim->clock);
	free(sim->samples);
}
