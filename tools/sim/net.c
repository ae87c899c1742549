// SPDX-License-Identifier: GPL-2.0
/* The network: topology, queues, paths. */
#include "memory.h"
#include "net.h"
#include "random.h"

static void port_kick(struct sim_port *port);

struct sim_packet *sim_packet_new(struct sim_net *net)
{
	struct sim_packet *p = net->free;

	if (p)
		net->free = p->next;
	else
		p = sim_realloc(NULL, sizeof(*p) + SIM_PACKET_DATA);
	memset(p, 0, sizeof(*p));
	net->live++;
	return p;
}

void sim_packet_free(struct sim_net *net, struct sim_packet *p)
{
	p->next = net->free;
	net->free = p;
	net->live--;
}

/* ---- a port ----------------------------------------------------------------- */

static void queue_put(struct sim_port *port, struct sim_packet *p)
{
	u8 level = port->net->t.fifo ? 0 : p->level;

	p->next = NULL;
	if (port->head[level])
		port->tail[level]->next = p;
	else
		port->head[level] = p;
	port->tail[level] = p;
	port->used |= BIT(level);
}

static struct sim_packet *queue_take(struct sim_port *port)
{
	u8 level = fls64(port->used) - 1;
	struct sim_packet *p = port->head[level];

	port->head[level] = p->next;
	if (!p->next)
		port->used &= ~BIT(level);
	return p;
}

/* The bound of a switch is for all its queues, that of a port for one. */
static bool has_room(const struct sim_port *port, const struct sim_packet *p)
{
	const struct sim_net *net = port->net;

	if (port->owner == U32_MAX)
		return true;
	if (net->t.buffer && port->queued + p->bytes > net->t.buffer)
		return false;
	return !net->t.shared || net->used[port->owner] + p->bytes <= net->t.shared;
}

static void port_put(struct sim_port *port, struct sim_packet *p)
{
	struct sim_net *net = port->net;

	if (!has_room(port, p)) {
		net->dropped++;
		sim_packet_free(net, p);
		return;
	}
	if (port->owner != U32_MAX) {
		mrpc_hist_record(port->device < net->t.hosts ? &net->edge : &net->spine,
				 port->queued);
		net->used[port->owner] += p->bytes;
		if (net->t.mark && port->queued >= net->t.mark) {
			p->marked = true;
			net->marked++;
		}
	}
	port->queued += p->bytes;
	if (port->queued > port->max)
		port->max = port->queued;
	if (net->srpt)
		sim_fabric_put(port, p);
	else
		queue_put(port, p);
	port_kick(port);
}

/* ---- the way of a packet ---------------------------------------------------- */

static struct sim_port *next_port(struct sim_net *net, u32 sw, const struct sim_packet *p)
{
	u32 rack = sim_net_rack(net, p->to), spine;

	if (sw >= net->t.racks)
		return &net->core[(sw - net->t.racks) * net->t.racks + rack];
	if (sw == rack)
		return &net->down[p->to];
	if (net->t.spray)
		spine = rnd_below(&net->random, net->t.spines);
	else
		spine = (p->flow * 0x9e3779b1U >> 16) % net->t.spines;
	return &net->up[sw * net->t.spines + spine];
}

static void arrive(void *who, void *what)
{
	struct sim_port *port = who;
	struct sim_net *net = port->net;
	struct sim_packet *p = what;

	if (port->device < net->t.hosts)
		net->receive(net->context, port->device, p);
	else
		port_put(next_port(net, port->device - net->t.hosts, p), p);
}

static void port_wake(void *who, void *what)
{
	struct sim_port *port = who;

	(void)what;
	port->waking = false;
	port->sending = 0;
	/* Asking a host for a packet is a kick: it may send. */
	if (port->pulls)
		port->net->room(port->net->context, port - port->net->host_ports);
	port_kick(port);
}

/* Sends the next packet, now or when the one before it has left. */
static void port_kick(struct sim_port *port)
{
	struct sim_net *net = port->net;
	struct sim_packet *p;

	if (port->waking || !port->queued)
		return;
	if (net->clock->now >= port->free_at) {
		p = net->srpt ? sim_fabric_take(port) : queue_take(port);
		port->queued -= p->bytes;
		if (port->owner != U32_MAX)
			net->used[port->owner] -= p->bytes;
		port->sent += p->bytes;
		port->sending = p->bytes;
		port->free_at = net->clock->now + sim_wire_time(p->bytes, port->mbps);
		sim_at(net->clock, port->free_at + port->delay, arrive, port, p);
	}
	if (port->queued || port->pulls) {
		port->waking = true;
		sim_at(net->clock, port->free_at, port_wake, port, NULL);
	}
}

void sim_net_send(struct sim_net *net, struct sim_packet *p)
{
	port_put(&net->host_ports[p->from], p);
}

u32 sim_net_room(const struct sim_net *net, u32 host)
{
	const struct sim_port *port = &net->host_ports[host];
	u64 below = port->queued + (port->waking ? port->sending : 0);

	return below < net->t.below ? net->t.below - below : 0;
}

void sim_net_poke(struct sim_net *net, u32 host)
{
	if (sim_net_room(net, host))
		net->room(net->context, host);
}

void sim_net_pull(struct sim_net *net)
{
	u32 i;

	for (i = 0; i < net->t.hosts; i++)
		net->host_ports[i].pulls = true;
}

/* ---- building --------------------------------------------------------------- */

static void port_init(struct sim_net *net, struct sim_port *port, u32 mbps, u64 delay, u32 device,
		      u32 owner)
{
	*port = (struct sim_port){ .net = net, .mbps = mbps, .delay = delay, .device = device,
				   .owner = owner };
}

void sim_net_init(struct sim_net *net, struct sim_clock *clock, const struct sim_topology *t,
		  u64 seed)
{
	u64 wire = t->wire_ns * SIM_NS;
	u32 i, spine, rack;

	*net = (struct sim_net){ .clock = clock, .t = *t, .random = sim_seed(seed, 1) };
	net->host_ports = sim_zalloc(t->hosts * sizeof(*net->host_ports));
	net->down = sim_zalloc(t->hosts * sizeof(*net->down));
	net->up = sim_zalloc((t->racks * t->spines + 1) * sizeof(*net->up));
	net->core = sim_zalloc((t->racks * t->spines + 1) * sizeof(*net->core));
	net->used = sim_zalloc((t->racks + t->spines) * sizeof(*net->used));
	for (i = 0; i < t->hosts; i++) {
		rack = sim_net_rack(net, i);
		port_init(net, &net->host_ports[i], t->host_mbps, wire, t->hosts + rack, U32_MAX);
		port_init(net, &net->down[i], t->host_mbps, wire + t->host_ns * SIM_NS, i, rack);
	}
	for (rack = 0; rack < t->racks; rack++) {
		for (spine = 0; spine < t->spines; spine++) {
			port_init(net, &net->up[rack * t->spines + spine], t->core_mbps, wire,
				  t->hosts + t->racks + spine, rack);
			port_init(net, &net->core[spine * t->racks + rack], t->core_mbps, wire,
				  t->hosts + rack, t->racks + spine);
		}
	}
}

static void port_fini(struct sim_port *port)
{
	struct sim_packet *p;

	if (port->net->srpt)
		sim_fabric_fini(port);
	else
		while (port->used) {
			p = queue_take(port);
			sim_packet_free(port->net, p);
		}
}

/* Packets that are on a cable are known to the clock only. */
static void free_packet(void *context, void *who, void *what)
{
	(void)who;
	sim_packet_free(context, what);
}

void sim_net_fini(struct sim_net *net)
{
	struct sim_packet *p;
	u32 i;

	for (i = 0; i < net->t.hosts; i++) {
		port_fini(&net->host_ports[i]);
		port_fini(&net->down[i]);
	}
	for (i = 0; i < net->t.racks * net->t.spines; i++) {
		port_fini(&net->up[i]);
		port_fini(&net->core[i]);
	}
	sim_each(net->clock, arrive, free_packet, net);
	while (net->free) {
		p = net->free;
		net->free = p->next;
		free(p);
	}
	free(net->host_ports);
	free(net->down);
	free(net->up);
	free(net->core);
	free(net->used);
}

/* ---- the yardstick ---------------------------------------------------------- */

/*
 * Packets follow each other through stations at the pace of the slowest; the last packet, being
 * shorter, catches up with the one before it, but for in the core, if packets take different
 * ways through it. So the last few tell the time, after the others have passed.
 */
u64 sim_net_alone(const struct sim_net *net, u32 from, u32 to, u32 full, u32 last, u64 packets)
{
	const struct sim_topology *t = &net->t;
	bool near = sim_net_rack(net, from) == sim_net_rack(net, to);
	u32 mbps[4] = { t->host_mbps, t->core_mbps, t->core_mbps, t->host_mbps };
	u64 free_at[4] = {}, at = 0, skipped;
	u32 i, k, n = min_t(u64, packets, 4), bytes, slowest;
	bool core;

	slowest = near || t->spray ? t->host_mbps : min(t->host_mbps, t->core_mbps);
	skipped = (packets - n) * sim_wire_time(full, slowest);
	for (i = 0; i < n; i++) {
		bytes = i + 1 < n ? full : last;
		at = 0;
		for (k = 0; k < 4; k++) {
			core = k == 1 || k == 2;
			if (near && core)
				continue;
			if (!core || !t->spray)
				at = max(at, free_at[k]);
			at += sim_wire_time(bytes, mbps[k]);
			free_at[k] = at;
			at += t->wire_ns * SIM_NS;
		}
	}
	return skipped + at + t->host_ns * SIM_NS;
}
