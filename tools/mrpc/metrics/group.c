// SPDX-License-Identifier: GPL-2.0
/*
 * mrpc metrics: groups. A series is one rank of this host, or one of its collectives. Numbers of
 * operations and of other ranks are no labels: there would be more and more series.
 */
#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "metrics/group.h"
#include "metrics/text.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"

static const struct label no_labels[] = { { } };

static const struct family sum_families[] = {
	GAUGE("mrpc_group_ranks", "ranks", "Ranks of groups, of all sessions."), { }
};

static const struct label group_labels[] = { { "session", "session" }, { "group", "id" }, { } };

static const struct label info_labels[] = {
	{ "session", "session" }, { "group", "id" }, { "name", "name" }, { "rank", "rank" },
	{ "ranks", "ranks" }, { "state", "state" }, { }
};

static const struct family info[] = {
	INFO("mrpc_group", "What a rank of a group is; always 1."), { }
};

static const struct family group_families[] = {
	TIME("mrpc_group_age", "age_ns", "Time since the rank joined."),
	GAUGE("mrpc_group_connections", "conns", "Other ranks that there is a connection to."),
	GAUGE("mrpc_group_waiting_operations", "waiting", "Operations that have not begun."),
	TIME("mrpc_group_operation_age", "operation.age_ns",
	     "Time since the operation that runs began."),
	COUNTER("mrpc_group_transmit_bytes", "tx_bytes", "Bytes of chunks sent."),
	COUNTER("mrpc_group_receive_bytes", "rx_bytes", "Bytes of chunks received."),
	{ }
};

static const struct label total_labels[] = {
	{ "session", "session" }, { "group", "group" }, { "collective", "collective" }, { }
};

static const struct family total_families[] = {
	COUNTER("mrpc_group_operations_completed", "completed",
		"Operations that ended with the status OK."),
	COUNTER("mrpc_group_operations_failed", "failed",
		"Operations that ended with another status."),
	COUNTER("mrpc_group_operation_bytes", "bytes",
		"Bytes of the buffers, or blocks, of the operations that ended with OK."),
	{ "mrpc_group_operation_seconds_total", "counter", "time_ns",
	  "Time that the operations took that ended with OK.", true },
	{ }
};

/* An object for each collective that a rank has done. */
static struct json_object *group_totals(struct json_object *groups)
{
	struct json_object *array = json_object_new_array(), *group, *list, *total;
	size_t i, j;

	for (i = 0; i < json_object_array_length(groups); i++) {
		group = json_object_array_get_idx(groups, i);
		list = json_at(group, "totals");
		for (j = 0; list && j < json_object_array_length(list); j++) {
			total = json_object_array_get_idx(list, j);
			json_object_object_add(total, "session",
					       json_object_get(json_at(group, "session")));
			json_object_object_add(total, "group",
					       json_object_get(json_at(group, "id")));
			json_object_array_add(array, json_object_get(total));
		}
	}
	return array;
}

static struct json_object *sums_of(struct json_object *groups)
{
	struct json_object *array = json_object_new_array(), *sums = json_object_new_object();

	json_object_object_add(sums, "ranks",
			       json_object_new_uint64(json_object_array_length(groups)));
	json_object_array_add(array, sums);
	return array;
}

/* print_groups() - the ranks of groups that sessions of this network namespace are */
void print_groups(FILE *out)
{
	struct json_object *groups = ask_all(MRPC_CMD_GROUP_GET, &set_group, NULL);
	struct json_object *sums = sums_of(groups), *totals = group_totals(groups);

	print_families(out, sum_families, no_labels, sums);
	print_families(out, info, info_labels, groups);
	print_families(out, group_families, group_labels, groups);
	print_families(out, total_families, total_labels, totals);
	json_object_put(totals);
	json_object_put(sums);
	json_object_put(groups);
}
