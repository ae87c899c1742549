// SPDX-License-Identifier: GPL-2.0
/* A world with faults: hosts, settings, beginning and end. */
#include <stdarg.h>
#include <stdio.h>

#include "memory.h"
#include "random.h"
#include "world.h"

void world_fail(struct world *w, const char *format, ...)
{
	va_list ap;

	if (w->report->failed)
		return;
	w->report->failed = true;
	va_start(ap, format);
	vsnprintf(w->report->why, sizeof(w->report->why), format, ap);
	va_end(ap);
	world_say(w, "WRONG: %s", w->report->why);
}

void world_say(const struct world *w, const char *format, ...)
{
	va_list ap;

	if (!w->verbose)
		return;
	fprintf(stderr, "%12.3f us  ", (double)w->clock.now / SIM_US);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\n");
}

void world_excuse(struct world *w, u32 a, u32 b)
{
	w->excused[a][b] = true;
	w->excused[b][a] = true;
}

/* ---- settings --------------------------------------------------------------- */

#define ONE_OF(w, ...)							\
	({								\
		static const u32 of[] = { __VA_ARGS__ };		\
									\
		of[rnd_below(&(w)->random, ARRAY_SIZE(of))];		\
	})

static void draw_rule(struct world *w, struct mrpc_prio_rule *r)
{
	mrpc_prio_rule_default(r);
	r->chunk = ONE_OF(w, 700, ENDPOINT_PAYLOAD, 5000, MRPC_PRIO_CHUNK);
	r->unscheduled = ONE_OF(w, 1, 1000, 10000, 60000);
	r->window = ONE_OF(w, 3000, 10000, 50000);
	r->proportional = ONE_OF(w, 0, 0, 0, 1);
	r->overcommit = ONE_OF(w, 1, 2, 4, 8);
	r->outstanding = max(ONE_OF(w, 1, 2, 8) * r->window, r->chunk);
	r->order = ONE_OF(w, MRPC_PRIO_SRPT, MRPC_PRIO_SRPT, MRPC_PRIO_FIFO, MRPC_PRIO_FAIR);
	r->crc = ONE_OF(w, 0, 1);
	r->step = min(r->window, ONE_OF(w, 1, ENDPOINT_PAYLOAD, 5000));
	r->reorder = ONE_OF(w, 0, 1, 3000, 30000);
	r->max_rx = ONE_OF(w, 2, 8, 100, 100);
	r->max_rx_peer = min(r->max_rx, ONE_OF(w, 1, 4, 100, 100));
	r->ack_delay = 20000;
	r->rto_min = 200000;
	r->rto_max = 4000000;
	r->silence = 100000000;
}

static void draw_faults(struct world *w)
{
	w->lose = ONE_OF(w, 0, 1000, 10000, 50000, 200000);
	w->repeat = ONE_OF(w, 0, 0, 1000, 50000, 300000);
	w->delay = ONE_OF(w, 0, 0, 1000, 50000, 300000);
	w->damage = ONE_OF(w, 0, 0, 1000, 50000);
	w->no_place = ONE_OF(w, 0, 0, 0, 10000);
	w->no_memory = ONE_OF(w, 0, 0, 0, 20000);
	w->later = ONE_OF(w, 0, 0, 0, 100000);
	w->limited = ONE_OF(w, 0, 0, 0, 200000);
}

/* ---- beginning and end ------------------------------------------------------ */

void world_init(struct world *w, u64 seed, struct fault_report *report, bool verbose)
{
	struct sim_topology t = {
		.racks = 1, .host_mbps = 10000, .core_mbps = 10000, .wire_ns = 500,
		.host_ns = 1000,
	};
	u32 i;

	*report = (struct fault_report){};
	*w = (struct world){ .random = sim_seed(seed, 0), .report = report, .verbose = verbose };
	w->hosts = 2 + rnd_below(&w->random, WORLD_HOSTS - 1);
	t.hosts = w->hosts;
	t.fifo = ONE_OF(w, 0, 1);
	t.buffer = ONE_OF(w, 0, 0, 10000, 100000);
	t.mark = ONE_OF(w, 0, 0, 8000);
	draw_rule(w, &w->rule);
	draw_faults(w);
	t.below = 2 * endpoint_chunk_bytes(w->rule.chunk);
	sim_net_init(&w->net, &w->clock, &t, seed);
	w->net.room = world_room;
	w->net.receive = world_receive;
	w->net.context = w;
	sim_net_pull(&w->net);
	for (i = 0; i < w->hosts; i++)
		endpoint_init(&w->endpoints[i], &w->net, i, &w->rule, &world_user, w,
			      sim_seed(seed, 20 + i));
	world_plan(w);
}

void world_fini(struct world *w)
{
	u32 i;

	for (i = 0; i < w->hosts; i++)
		endpoint_fini(&w->endpoints[i]);
	world_free_late(w);
	sim_net_fini(&w->net);
	sim_clock_fini(&w->clock);
}
