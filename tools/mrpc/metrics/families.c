// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel knows, in Prometheus' text format 0.0.4, with names
 * and units that OpenMetrics has, too: seconds, bytes, _total.
 *
 * Tables say what of which object is a sample of which family. All samples of a
 * family stand together, so an object is gone through once for each.
 */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/util.h"
#include "engine/find.h"
#include "engine/queue.h"
#include "engine/scope.h"
#include "metrics/families.h"
#include "metrics/group.h"
#include "metrics/hist.h"
#include "metrics/text.h"
#include "metrics/transport.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/objects.h"
#include "show/print.h"

/* -- sessions ------------------------------------------------------------------------- */

static const struct label no_labels[] = { { } };

static const struct label session_labels[] = {
	{ "session", "id" }, { "name", "name" }, { }
};

static const struct family session_families[] = {
	TIME("mrpc_session_age", "age_ns", "Time since the session was opened."),
	GAUGE("mrpc_session_queue_pairs", "qps", "Queue pairs of the session."),
	GAUGE("mrpc_session_connections", "conns", "Connections of the session."),
	GAUGE("mrpc_session_listeners", "listeners", "Listeners of the session."),
	GAUGE("mrpc_session_pending_requests", "pending",
	      "Requests that wait for room in a completion queue."),
	GAUGE("mrpc_session_send_heap_bytes", "send.bytes", "Size of the send heap."),
	GAUGE("mrpc_session_send_heap_limit_bytes", "send.limit",
	      "Size up to which the send heap may grow."),
	GAUGE("mrpc_session_recv_heap_bytes", "recv.bytes", "Size of the receive heap."),
	GAUGE("mrpc_session_recv_heap_limit_bytes", "recv.limit",
	      "Size up to which the receive heap may grow."),
	GAUGE("mrpc_session_recv_heap_used_bytes", "recv.used",
	      "Bytes of the receive heap that hold messages."),
	COUNTER("mrpc_session_recv_heap_failures", "recv.failed",
		"How often the receive heap had no room."),
	{ }
};

static const struct label qp_labels[] = { { "session", "session" }, { "qp", "id" }, { } };

static const struct family qp_families[] = {
	GAUGE("mrpc_qp_submissions", "sq_used", "Submissions that the kernel has not taken."),
	GAUGE("mrpc_qp_completions", "cq_used", "Completions that the application has not taken."),
	GAUGE("mrpc_qp_completions_reserved", "cq_reserved",
	      "Completions that calls in flight have been promised room for."),
	GAUGE("mrpc_qp_serving_requests", "serving", "Requests delivered and not answered."),
	COUNTER("mrpc_qp_submitted", "submitted", "Submissions taken."),
	COUNTER("mrpc_qp_completed", "completed", "Completions posted."),
	{ }
};

/* -- connections and services ----------------------------------------------------------- */

static char *role_of(struct json_object *object)
{
	return text_printf(json_at(object, "listener") ? "server" : "client");
}

static char *peer_of(struct json_object *conn)
{
	return text_end(conn, "peer");
}

static const struct label conn_labels[] = {
	{ "session", "session" }, { "conn", "id" }, { }
};

static const struct label conn_info_labels[] = {
	{ "session", "session" }, { "conn", "id" }, { "datapath", "datapath" },
	{ "role", .text = role_of }, { "state", "state" }, { "peer", .text = peer_of },
	{ "services", .text = conn_services }, { }
};

static const struct family conn_info[] = {
	INFO("mrpc_connection", "What a connection is; always 1."), { }
};

static const struct family conn_families[] = {
	TIME("mrpc_connection_age", "age_ns", "Time since the connection was made."),
	TIME("mrpc_connection_idle", "idle_ns", "Time since the peer was heard."),
	GAUGE("mrpc_connection_calls_active", "calls_active", "Calls in flight."),
	GAUGE("mrpc_connection_calls_limit", "calls_limit", "Most calls in flight."),
	COUNTER("mrpc_connection_calls", "stats.calls", "Calls started (client) or received."),
	COUNTER("mrpc_connection_calls_done", "stats.done", "Calls that ended with the status OK."),
	COUNTER("mrpc_connection_calls_failed", "stats.failed",
		"Calls that ended with another status."),
	COUNTER("mrpc_connection_transmit_frames", "stats.tx_frames", "Frames sent."),
	COUNTER("mrpc_connection_transmit_bytes", "stats.tx_bytes", "Bytes sent."),
	COUNTER("mrpc_connection_receive_frames", "stats.rx_frames", "Frames received."),
	COUNTER("mrpc_connection_receive_bytes", "stats.rx_bytes", "Bytes received."),
	COUNTER("mrpc_connection_refused_messages", "stats.rx_refused",
		"Messages of the peer that were answered with an error."),
	COUNTER("mrpc_connection_heap_stalls", "stats.heap_stalls",
		"How often receiving stopped for want of room in the receive heap."),
	{ }
};

static const struct label service_labels[] = {
	{ "service", "name" }, { "role", .text = role_of }, { "session", "session" },
	{ "listener", "listener" }, { "conn", "conn" }, { }
};

static const struct family service_families[] = {
	COUNTER("mrpc_service_calls", "calls", "Calls of a service, at one of its ends."),
	COUNTER("mrpc_service_accepted_connections", "accepted",
		"Connections that the listener has accepted."),
	GAUGE("mrpc_service_handshakes", "handshakes",
	      "Accepted connections whose handshake is not complete."),
	{ }
};

/* -- datapaths and queues ------------------------------------------------------------------ */

static const struct label datapath_labels[] = { { "datapath", "id" }, { } };

static const struct family datapath_families[] = {
	GAUGE("mrpc_datapath_backlog_bytes", "tx.backlog",
	      "Bytes given to the link that the peer has not acknowledged."),
	GAUGE("mrpc_datapath_partial_bytes", "rx.partial",
	      "Bytes that are missing of a message being received."),
	GAUGE("mrpc_datapath_zombie_calls", "calls.zombies",
	      "Calls that ended here while the peer still owes its last word."),
	GAUGE("mrpc_datapath_deadline_calls", "calls.deadlines", "Calls that have a deadline."),
	{ }
};

static const struct label queue_labels[] = {
	{ "datapath", "datapath" }, { "queue", .text = queue_name }, { "dir", "dir" }, { }
};

static const struct family queue_families[] = {
	GAUGE("mrpc_queue_messages", "depth", "Messages in a queue of a datapath."),
	GAUGE("mrpc_queue_bytes", "bytes", "Bytes of the messages in a queue."),
	GAUGE("mrpc_queue_kept_messages", "kept",
	      "Messages that the engine has taken out of its queue and not given back."),
	TIME("mrpc_queue_oldest", "age_ns",
	     "Time since the oldest message of a queue came to the first engine."),
	GAUGE("mrpc_queue_paused", "paused", "1 if the operator holds the queue."),
	{ }
};

/* -- engines ---------------------------------------------------------------------------------- */

static char *scope_of(struct json_object *engine)
{
	return text_scope(json_at(engine, "scope"));
}

static const struct label engine_info_labels[] = {
	{ "engine", "name" }, { "type", "type" }, { "version", "version" },
	{ "scope", .text = scope_of }, { }
};

static const struct family engine_info[] = {
	INFO("mrpc_engine", "What an engine is; always 1."), { }
};

static const struct label engine_labels[] = { { "engine", "name" }, { } };

static const struct family engine_families[] = {
	GAUGE("mrpc_engine_datapaths", "datapaths", "Datapaths that have the engine."),
	GAUGE("mrpc_engine_bypassed_datapaths", "bypassed",
	      "Datapaths on which messages go past the engine because it misbehaved."),
	{ }
};

static const struct label engine_dir_labels[] = { { "engine", "name" }, { "dir", "dir" }, { } };

static const struct family engine_dir_families[] = {
	GAUGE("mrpc_engine_queued_messages", "queued", "Messages in the engine's queues."),
	GAUGE("mrpc_engine_kept_messages", "kept",
	      "Messages that the engine has taken and not given back."),
	GAUGE("mrpc_engine_paused_datapaths", "paused",
	      "Datapaths on which the engine's queue is held."),
	COUNTER("mrpc_engine_messages", "rpcs", "Messages that came out of the engine."),
	COUNTER("mrpc_engine_bytes", "bytes", "Bytes of the messages that came out of the engine."),
	COUNTER("mrpc_engine_rejected_messages", "rejected", "Messages that the engine rejected."),
	COUNTER("mrpc_engine_turns", "turns", "How often the engine was called."),
	COUNTER("mrpc_engine_slow_turns", "slow", "Turns, of those measured, that took too long."),
	{ }
};

static const struct label engine_value_labels[] = {
	{ "engine", "of.name" }, { "type", "of.type" }, { "name", "name" }, { }
};

static const struct family engine_value_families[] = {
	{ "mrpc_engine_value", "untyped", "value", "What an engine of this type counts itself." },
	{ }
};

/* An object for each direction of each engine, with what is known of it. */
static struct json_object *engine_dirs(struct json_object *engines)
{
	static const char *const dirs[] = { "tx", "rx" };
	struct json_object *array = json_object_new_array(), *engine, *dir;
	size_t i;

	for (i = 0; i < 2 * json_object_array_length(engines); i++) {
		engine = json_object_array_get_idx(engines, i / 2);
		dir = json_at(engine, dirs[i % 2]);
		if (!dir)
			continue;
		json_object_object_add(dir, "name", json_object_get(json_at(engine, "name")));
		json_object_object_add(dir, "dir", json_object_new_string(dirs[i % 2]));
		json_object_array_add(array, json_object_get(dir));
	}
	return array;
}

/* With the counters of their types' own, which have to be asked for one by one. */
static struct json_object *whole_engines(void)
{
	struct json_object *all = engine_array(), *array = json_object_new_array();
	struct answer a;
	size_t i;

	for (i = 0; i < json_object_array_length(all); i++) {
		struct body body = { };

		body_text(&body, MRPC_A_ENGINE_NAME,
			  string_at(json_object_array_get_idx(all, i), "name"));
		a = ask(MRPC_CMD_ENGINE_GET, false, &set_engine, &body);
		/* One that was removed meanwhile is left out. */
		if (!a.err)
			json_object_array_add(array, json_object_get(
					      json_object_array_get_idx(a.array, 0)));
		free(a.why);
		json_object_put(a.array);
		body_free(&body);
	}
	json_object_put(all);
	return array;
}

static void print_engines(FILE *out)
{
	struct json_object *engines = whole_engines();
	struct json_object *dirs = engine_dirs(engines), *values = entries_of(engines, "counters");

	print_families(out, engine_info, engine_info_labels, engines);
	print_families(out, engine_families, engine_labels, engines);
	print_families(out, engine_dir_families, engine_dir_labels, dirs);
	print_families(out, engine_value_families, engine_value_labels, values);
	json_object_put(values);
	json_object_put(dirs);
	json_object_put(engines);
}

/* -- runtimes and sets ----------------------------------------------------------------------------- */

static const struct label runtime_labels[] = { { "runtime", "name" }, { } };

static const struct family runtime_families[] = {
	GAUGE("mrpc_runtime_datapaths", "datapaths", "Datapaths on a runtime."),
	GAUGE("mrpc_runtime_waiting_datapaths", "waiting",
	      "Datapaths on a runtime that have something to do."),
	COUNTER("mrpc_runtime_turns", "turns", "Turns that a runtime has given."),
	COUNTER("mrpc_runtime_wakeups", "wakeups", "How often a runtime has slept."),
	{ "mrpc_runtime_run_seconds_total", "counter", "ran_ns",
	  "Time that the datapaths of a runtime have run.", true },
	{ }
};

static const struct label set_labels[] = { { "set", "name" }, { } };

static const struct family set_families[] = {
	GAUGE("mrpc_set_keys", "keys", "Keys in a set that rules refer to."),
	GAUGE("mrpc_set_users", "users", "Configurations of engines that refer to a set."),
	{ }
};

/* -- sums --------------------------------------------------------------------------------------------- */

static const struct family sum_families[] = {
	GAUGE("mrpc_sessions", "sessions", "Applications that have /dev/mrpc open."),
	GAUGE("mrpc_queue_pairs", "queue_pairs", "Queue pairs of all sessions."),
	GAUGE("mrpc_connections", "connections", "Connections of all sessions."),
	GAUGE("mrpc_listeners", "listeners", "Listeners of all sessions."),
	GAUGE("mrpc_calls_active", "calls_active", "Calls in flight on all connections."),
	GAUGE("mrpc_send_heap_bytes", "send_heap_bytes", "Size of all send heaps."),
	GAUGE("mrpc_recv_heap_bytes", "recv_heap_bytes", "Size of all receive heaps."),
	GAUGE("mrpc_recv_heap_used_bytes", "recv_heap_used_bytes",
	      "Bytes of all receive heaps that hold messages."),
	GAUGE("mrpc_schemas", "schemas", "Schemas that the kernel keeps compiled."),
	{ }
};

static void add_sum(struct json_object *sums, const char *name, struct json_object *array,
		    const char *path)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++)
		sum += number_at(json_object_array_get_idx(array, i), path);
	json_object_object_add(sums, name, json_object_new_uint64(sum));
}

static void add_count(struct json_object *sums, const char *name, struct json_object *array)
{
	json_object_object_add(sums, name,
			       json_object_new_uint64(json_object_array_length(array)));
}

/* What /sys/class/misc/mrpc has, too. */
static void print_sums(FILE *out, struct json_object *sessions, struct json_object *conns)
{
	struct json_object *array = json_object_new_array(), *sums = json_object_new_object();
	struct json_object *schemas = ask_all(MRPC_CMD_SCHEMA_GET, &set_schema, NULL);

	add_count(sums, "sessions", sessions);
	add_sum(sums, "queue_pairs", sessions, "qps");
	add_count(sums, "connections", conns);
	add_sum(sums, "listeners", sessions, "listeners");
	add_sum(sums, "calls_active", conns, "calls_active");
	add_sum(sums, "send_heap_bytes", sessions, "send.bytes");
	add_sum(sums, "recv_heap_bytes", sessions, "recv.bytes");
	add_sum(sums, "recv_heap_used_bytes", sessions, "recv.used");
	add_count(sums, "schemas", schemas);
	json_object_array_add(array, sums);
	print_families(out, sum_families, no_labels, array);
	json_object_put(schemas);
	json_object_put(array);
}

/* -- egress domains -------------------------------------------------------------------------------- */

/* Of loop links it is empty, which no device's name is. */
static const struct label egress_labels[] = { { "dev", "dev" }, { } };

static const struct label egress_info_labels[] = {
	{ "dev", "dev" }, { "discipline", "discipline" }, { }
};

static const struct family egress_info[] = {
	INFO("mrpc_egress", "What an egress domain is; always 1."), { }
};

static const struct family egress_families[] = {
	GAUGE("mrpc_egress_fair", "fair", "1 if tenants share by weight."),
	GAUGE("mrpc_egress_paused", "paused", "1 if the operator lets nothing out."),
	GAUGE("mrpc_egress_datapaths", "datapaths", "Datapaths in an egress domain."),
	GAUGE("mrpc_egress_tenants", "tenants", "Tenants that these belong to."),
	GAUGE("mrpc_egress_waiting_datapaths", "waiting", "Datapaths that could send."),
	GAUGE("mrpc_egress_chunk_bytes", "chunk", "Most bytes that are sent in one turn."),
	GAUGE("mrpc_egress_limit_bytes", "limit",
	      "Most bytes that may be granted, or sent and still on this host."),
	GAUGE("mrpc_egress_out_bytes", "out",
	      "Bytes that are granted, or sent and still on this host."),
	GAUGE("mrpc_egress_below_bytes", "below", "Bytes that are sent and still on this host."),
	GAUGE("mrpc_egress_left_bytes", "left",
	      "Bytes that are not sent of the next messages of all datapaths."),
	COUNTER("mrpc_egress_turns", "grants", "Turns granted."),
	COUNTER("mrpc_egress_expired_turns", "expired", "Turns that were not used in time."),
	COUNTER("mrpc_egress_wasted_turns", "wasted", "Turns in which nothing was sent."),
	COUNTER("mrpc_egress_sent_bytes", "sent", "Bytes sent."),
	{ }
};

/* What the kernel says of a domain's datapaths only. */
static void add_queues(struct json_object *domain)
{
	struct body body = { };
	struct answer a;

	body_text(&body, MRPC_A_EGRESS_QUEUE_DEV, string_at(domain, "dev"));
	a = ask(MRPC_CMD_EGRESS_QUEUE_GET, true, &set_egress_queue, &body);
	/* Of one that was deleted meanwhile nothing is known. */
	if (!a.err) {
		add_sum(domain, "below", a.array, "below");
		add_sum(domain, "left", a.array, "left");
	}
	free(a.why);
	json_object_put(a.array);
	body_free(&body);
}

static void print_egress(FILE *out)
{
	struct json_object *domains = ask_all(MRPC_CMD_EGRESS_GET, &set_egress, NULL);
	size_t i;

	for (i = 0; i < json_object_array_length(domains); i++)
		add_queues(json_object_array_get_idx(domains, i));
	print_families(out, egress_info, egress_info_labels, domains);
	print_families(out, egress_families, egress_labels, domains);
	json_object_put(domains);
}

/* -- everything ------------------------------------------------------------------------------------------ */

static void print_all(FILE *out, int cmd, const struct set *set, const struct family *families,
		      const struct label *labels)
{
	struct json_object *array = ask_all(cmd, set, NULL);

	print_families(out, families, labels, array);
	json_object_put(array);
}

/**
 * print_metrics() - everything that the kernel knows of this network namespace
 * @out: gets it
 *
 * Does not return if the kernel cannot be asked.
 */
void print_metrics(FILE *out)
{
	struct json_object *sessions = ask_all(MRPC_CMD_SESSION_GET, &set_session, NULL);
	struct json_object *conns = ask_all(MRPC_CMD_CONN_GET, &set_conn, NULL);
	struct json_object *series;

	print_sums(out, sessions, conns);
	print_families(out, session_families, session_labels, sessions);
	print_all(out, MRPC_CMD_QP_GET, &set_qp, qp_families, qp_labels);
	print_families(out, conn_info, conn_info_labels, conns);
	print_families(out, conn_families, conn_labels, conns);
	print_all(out, MRPC_CMD_SERVICE_GET, &set_service, service_families, service_labels);
	print_all(out, MRPC_CMD_DATAPATH_GET, &set_datapath, datapath_families, datapath_labels);
	print_all(out, MRPC_CMD_QUEUE_GET, &set_queue, queue_families, queue_labels);
	print_groups(out);
	print_engines(out);
	print_all(out, MRPC_CMD_RUNTIME_GET, &set_runtime, runtime_families, runtime_labels);
	print_egress(out);
	print_transports(out);
	print_all(out, MRPC_CMD_KEYSET_GET, &set_keyset, set_families, set_labels);
	series = metrics_series();
	print_histograms(out, series);
	json_object_put(series);
	json_object_put(sessions);
	json_object_put(conns);
}
