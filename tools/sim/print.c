// SPDX-License-Identifier: GPL-2.0
/* Results as text: a table for people, JSON for programs. */
#include "result.h"

static void row_of_bytes(FILE *out, const char *name, const struct sim_result *r, u32 nr,
			 size_t offset)
{
	u32 i;

	fprintf(out, "%-28s", name);
	for (i = 0; i < nr; i++)
		fprintf(out, " %18llu",
			(unsigned long long)*(const u64 *)((const char *)(r + i) + offset));
	fprintf(out, "\n");
}

static void row_of_parts(FILE *out, const char *name, const struct sim_result *r, u32 nr,
			 size_t offset)
{
	u32 i;

	fprintf(out, "%-28s", name);
	for (i = 0; i < nr; i++)
		fprintf(out, " %16.1f %%",
			100 * *(const double *)((const char *)(r + i) + offset));
	fprintf(out, "\n");
}

static void row_of_slowdown(FILE *out, const char *name, const struct sim_result *r, u32 nr,
			    size_t offset)
{
	const struct sim_percentiles *p;
	u32 i;

	fprintf(out, "%-28s", name);
	for (i = 0; i < nr; i++) {
		p = (const struct sim_percentiles *)((const char *)(r + i) + offset);
		fprintf(out, " %8.2f %9.2f", p->p50, p->p99);
	}
	fprintf(out, "\n");
}

static void headings(FILE *out, const struct sim_result *r, u32 nr)
{
	char name[64];
	u32 i;

	fprintf(out, "%-28s", "");
	for (i = 0; i < nr; i++) {
		if (r[i].overcommit)
			snprintf(name, sizeof(name), "%s %u", r[i].transport, r[i].overcommit);
		else
			snprintf(name, sizeof(name), "%s", r[i].transport);
		fprintf(out, " %18s", name);
	}
	fprintf(out, "\n%-28s", "slowdown of messages");
	for (i = 0; i < nr; i++)
		fprintf(out, " %8s %9s", "P50", "P99");
	fprintf(out, "\n");
}

#define ROW(kind, name, field)	\
	row_of_##kind(out, name, r, nr, offsetof(struct sim_result, field))

static void slowdowns(FILE *out, const struct sim_result *r, u32 nr)
{
	char name[64];
	u32 i;

	for (i = 0; i < SIM_DECILES; i++) {
		snprintf(name, sizeof(name), "  %u to %u %%, up to %u B", 10 * i, 10 * i + 10,
			 r->deciles[i].up_to);
		row_of_slowdown(out, name, r, nr, offsetof(struct sim_result, deciles) +
				i * sizeof(r->deciles[0]));
	}
	ROW(slowdown, "  smaller half", small);
	ROW(slowdown, "  larger half", large);
	ROW(slowdown, "  all", all);
}

static void row_of_counts(FILE *out, const char *name, const struct sim_result *r, u32 nr,
			  size_t offset)
{
	u32 i;

	fprintf(out, "%-28s", name);
	for (i = 0; i < nr; i++)
		fprintf(out, " %18u", *(const u32 *)((const char *)(r + i) + offset));
	fprintf(out, "\n");
}

static void row_of_times(FILE *out, const char *name, const struct sim_result *r, u32 nr)
{
	u32 i;

	fprintf(out, "%-28s", name);
	for (i = 0; i < nr; i++)
		fprintf(out, " %15.3f ms", r[i].milliseconds);
	fprintf(out, "\n");
}

void sim_print_results(FILE *out, const struct sim_result *r, u32 nr)
{
	headings(out, r, nr);
	slowdowns(out, r, nr);
	ROW(counts, "messages", messages);
	ROW(counts, "  not finished", unfinished);
	row_of_times(out, "time", r, nr);
	ROW(parts, "utilisation", utilisation);
	ROW(parts, "goodput", goodput);
	ROW(bytes, "queue to host, P99 bytes", edge_p99);
	ROW(bytes, "queue to host, max", edge_max);
	ROW(bytes, "queue in core, P99", core_p99);
	ROW(bytes, "queue in core, max", core_max);
	ROW(bytes, "packets dropped", dropped);
	ROW(bytes, "packets marked", marked);
	ROW(bytes, "packets lost", lost);
	ROW(bytes, "grants", counters.grants);
	ROW(bytes, "resends", counters.resends);
	ROW(bytes, "bytes sent again", counters.again);
	ROW(bytes, "timeouts", counters.timeouts);
	ROW(bytes, "bitmaps at the end", counters.bitmaps);
	ROW(bytes, "bitmaps, max", counters.max_bitmaps);
	ROW(bytes, "memory of a host, max bytes", counters.memory);
}

/* ---- JSON ------------------------------------------------------------------- */

static void json_percentiles(FILE *out, const char *name, const struct sim_percentiles *p)
{
	if (name)
		fprintf(out, "\"%s\":", name);
	fprintf(out, "{\"up_to\":%u,\"p50\":%.4f,\"p99\":%.4f}", p->up_to, p->p50, p->p99);
}

static void json_u64(FILE *out, const char *name, u64 value)
{
	fprintf(out, ",\"%s\":%llu", name, (unsigned long long)value);
}

static void json_result(FILE *out, const struct sim_result *r)
{
	u32 i;

	fprintf(out, "{\"transport\":\"%s\",\"overcommit\":%u,\"messages\":%u,\"unfinished\":%u,",
		r->transport, r->overcommit, r->messages, r->unfinished);
	fprintf(out, "\"slowdown\":{\"deciles\":[");
	for (i = 0; i < SIM_DECILES; i++) {
		fprintf(out, "%s", i ? "," : "");
		json_percentiles(out, NULL, &r->deciles[i]);
	}
	fprintf(out, "],");
	json_percentiles(out, "smaller_half", &r->small);
	fprintf(out, ",");
	json_percentiles(out, "larger_half", &r->large);
	fprintf(out, ",");
	json_percentiles(out, "all", &r->all);
	fprintf(out, "},\"milliseconds\":%.6f,\"utilisation\":%.4f,\"goodput\":%.4f",
		r->milliseconds, r->utilisation, r->goodput);
	json_u64(out, "queue_edge_p99", r->edge_p99);
	json_u64(out, "queue_edge_max", r->edge_max);
	json_u64(out, "queue_core_p99", r->core_p99);
	json_u64(out, "queue_core_max", r->core_max);
	json_u64(out, "dropped", r->dropped);
	json_u64(out, "marked", r->marked);
	json_u64(out, "lost", r->lost);
	json_u64(out, "grants", r->counters.grants);
	json_u64(out, "resends", r->counters.resends);
	json_u64(out, "bytes_again", r->counters.again);
	json_u64(out, "timeouts", r->counters.timeouts);
	json_u64(out, "bitmaps", r->counters.bitmaps);
	json_u64(out, "bitmaps_max", r->counters.max_bitmaps);
	json_u64(out, "memory", r->counters.memory);
	fprintf(out, "}");
}

void sim_print_json(FILE *out, const struct sim_config *c, const struct sim_result *r, u32 nr)
{
	u32 i;

	fprintf(out, "{\"hosts\":%u,\"racks\":%u,\"spines\":%u,\"seed\":%llu,\"workload\":\"%s\",",
		c->topology.hosts, c->topology.racks, c->topology.spines,
		(unsigned long long)c->seed, c->workload ? c->workload->name : "");
	fprintf(out, "\"load\":%.4f,\"runs\":[", c->load);
	for (i = 0; i < nr; i++) {
		fprintf(out, "%s", i ? "," : "");
		json_result(out, &r[i]);
	}
	fprintf(out, "]}\n");
}
