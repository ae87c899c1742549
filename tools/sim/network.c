// SPDX-License-Identifier: GPL-2.0
/* What packets suffer at the end of their way, in a world with faults. */
#include "memory.h"
#include "random.h"
#include "world.h"

#define MAX_DELAY	(500 * SIM_US)
#define MAX_HELD	64	/* packets, as a socket's buffer would */

static void drop(struct world *w, struct sim_packet *p)
{
	w->report->lost++;
	sim_packet_free(&w->net, p);
}

static void deliver(void *who, void *what);

static void hand_over(struct world *w, struct sim_packet *p)
{
	struct endpoint *e = &w->endpoints[p->to];

	if (w->clock.now < e->stalled) {
		if (w->held[p->to] == MAX_HELD) {
			drop(w, p);
			return;
		}
		w->held[p->to]++;
		sim_at(&w->clock, e->stalled, deliver, w, p);
		return;
	}
	w->report->packets++;
	endpoint_receive(e, p);
	world_look(w, e);
}

static void deliver(void *who, void *what)
{
	struct world *w = who;
	struct sim_packet *p = what;

	if (w->held[p->to])
		w->held[p->to]--;
	hand_over(w, p);
}

static void arrive_late(void *who, void *what)
{
	hand_over(who, what);
}

static void repeat(struct world *w, const struct sim_packet *p)
{
	struct sim_packet *copy = sim_packet_new(&w->net);

	w->report->repeated++;
	memcpy(copy, p, sizeof(*p) + p->bytes_of_data);
	sim_at(&w->clock, w->clock.now + (u64)rnd_below(&w->random, 1000) * MAX_DELAY / 1000,
	       arrive_late, w, copy);
}

/* What has no checksum of its own has UDP's, and would be dropped by that. */
static bool survives_damage(struct world *w, struct sim_packet *p)
{
	u32 bit = rnd_below(&w->random, 8 * p->bytes_of_data);
	bool checked = p->data[offsetof(struct mrpc_prio_hdr, flags)] & MRPC_PRIO_CRC;

	w->report->damaged++;
	p->data[bit / 8] ^= 1 << bit % 8;
	return checked;
}

void world_receive(void *context, u32 host, struct sim_packet *p)
{
	struct world *w = context;
	bool calm = w->clock.now >= w->calm;

	if (w->clock.now < w->cut[p->from][host] ||
	    (!calm && sim_chance(&w->random, w->lose))) {
		drop(w, p);
		return;
	}
	if (!calm && sim_chance(&w->random, w->repeat))
		repeat(w, p);
	if (!calm && sim_chance(&w->random, w->damage) && !survives_damage(w, p)) {
		drop(w, p);
		return;
	}
	if (!calm && sim_chance(&w->random, w->delay)) {
		w->report->delayed++;
		sim_at(&w->clock, w->clock.now +
		       (u64)rnd_below(&w->random, 1000) * MAX_DELAY / 1000, arrive_late, w, p);
		return;
	}
	hand_over(w, p);
}

void world_room(void *context, u32 host)
{
	struct world *w = context;

	endpoint_room(&w->endpoints[host]);
}

static void free_packet(void *context, void *who, void *what)
{
	struct world *w = context;

	(void)who;
	sim_packet_free(&w->net, what);
}

/* Packets that are late or held are known to the clock only. */
void world_free_late(struct world *w)
{
	sim_each(&w->clock, arrive_late, free_packet, w);
	sim_each(&w->clock, deliver, free_packet, w);
}
