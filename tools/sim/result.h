/* SPDX-License-Identifier: GPL-2.0 */
/* What a run has shown, as numbers, tables, JSON and pictures. */
#ifndef SIM_RESULT_H
#define SIM_RESULT_H

#include <stdio.h>

#include "sim.h"

#define SIM_DECILES	10

/** struct sim_percentiles - slowdowns of some messages; the largest is @up_to bytes long */
struct sim_percentiles {
	u32 up_to;
	double p50;
	double p99;
};

/**
 * struct sim_result - of a run
 * @transport: which
 * @overcommit: as configured; 0: its default
 * @messages, @unfinished: measured
 * @deciles: of messages, by length
 * @small, @large: halves of the messages
 * @all: messages
 * @milliseconds: until the last message had begun
 * @utilisation: part of the cables to hosts that was in use
 * @goodput: the same, messages' bytes only
 * @edge_max, @edge_p99, @core_max, @core_p99: queues before ports to hosts, and others; bytes
 * @dropped, @marked, @lost: packets
 * @counters: of the transport
 */
struct sim_result {
	const char *transport;
	u32 overcommit;
	u32 messages;
	u32 unfinished;
	struct sim_percentiles deciles[SIM_DECILES];
	struct sim_percentiles small;
	struct sim_percentiles large;
	struct sim_percentiles all;
	double milliseconds;
	double utilisation;
	double goodput;
	u64 edge_max;
	u64 edge_p99;
	u64 core_max;
	u64 core_p99;
	u64 dropped;
	u64 marked;
	u64 lost;
	struct sim_counters counters;
};

/** sim_result_of() - sorts what @sim has measured and sums it up */
void sim_result_of(struct sim *sim, struct sim_result *r);

/** sim_print_results() - aligned columns, one for each run */
void sim_print_results(FILE *out, const struct sim_result *r, u32 nr);
void sim_print_json(FILE *out, const struct sim_config *c, const struct sim_result *r, u32 nr);

/**
 * sim_draw_slowdown() - P99 and P50 by decile, a line for each run
 * sim_draw_use() - utilisation and goodput by overcommitment
 * Return: 0, or 1: an error, printed
 */
int sim_draw_slowdown(const char *path, const char *title, const struct sim_result *r, u32 nr);
int sim_draw_use(const char *path, const char *title, const struct sim_result *r, u32 nr);

#endif /* SIM_RESULT_H */
