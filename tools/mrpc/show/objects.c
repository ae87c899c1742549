// SPDX-License-Identifier: GPL-2.0
/* Sessions, queue pairs, connections, services, datapaths and groups: show and dump. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/conn_filter.h"
#include "show/group.h"
#include "show/objects.h"
#include "show/print.h"

/* -- what a line of show has ------------------------------------------------ */

static char *text_ratio(struct json_object *object, const char *part, const char *whole)
{
	if (!json_at(object, whole))
		return text_printf("-");
	return text_printf("%llu/%llu", (unsigned long long)number_at(object, part),
			   (unsigned long long)number_at(object, whole));
}

static char *text_bytes_ratio(struct json_object *object, const char *part, const char *whole)
{
	char *a, *b, *text;

	if (!json_at(object, whole))
		return text_printf("-");
	a = text_bytes(number_at(object, part));
	b = text_bytes(number_at(object, whole));
	text = text_printf("%s/%s", a, b);
	free(a);
	free(b);
	return text;
}

static char *session_send(struct json_object *object)
{
	return text_bytes_ratio(object, "send.bytes", "send.limit");
}

static char *session_recv(struct json_object *object)
{
	return text_bytes_ratio(object, "recv.used", "recv.bytes");
}

static const struct column session_columns[] = {
	{ "SESSION", "id" },
	{ "NAME", "name" },
	{ "PID", "pid" },
	{ "UID", "uid" },
	{ "QUEUE-PAIRS", "qps" },
	{ "CONNS", "conns" },
	{ "LISTENERS", "listeners" },
	{ "SCHEMAS", "schemas" },
	{ "PENDING", "pending" },
	{ "SEND/LIMIT", .text = session_send, .right = true },
	{ "RECV-USED/SIZE", .text = session_recv, .right = true },
	{ "RECV-LIMIT", "recv.limit", .stats = true },
	{ "RECV-FAILED", "recv.failed", .stats = true },
	{ "AGE", "age_ns" },
	{ }
};

static char *qp_sq(struct json_object *object)
{
	return text_ratio(object, "sq_used", "sq_entries");
}

static char *qp_cq(struct json_object *object)
{
	return text_ratio(object, "cq_used", "cq_entries");
}

static const struct column qp_columns[] = {
	{ "SESSION", "session" },
	{ "QP", "id" },
	{ "SQ-USED/SIZE", .text = qp_sq, .right = true },
	{ "CQ-USED/SIZE", .text = qp_cq, .right = true },
	{ "CQ-RESERVED", "cq_reserved" },
	{ "SERVING", "serving" },
	{ "SUBMITTED", "submitted", .stats = true },
	{ "COMPLETED", "completed", .stats = true },
	{ "FLAGS", "flags" },
	{ }
};

static char *conn_role(struct json_object *object)
{
	if (json_at(object, "parent"))
		return text_printf("link:%s", string_at(object, "parent"));
	return text_printf(json_at(object, "listener") ? "server" : "client");
}

/* As operators write it: "tcp@2". */
static char *datapath_transport(struct json_object *object)
{
	return text_printf("%s@%llu", string_at(object, "transport") ?: "?",
			   (unsigned long long)number_at(object, "transport_version"));
}

/* As applications write it: "tcp:10.0.0.2:7000". */
char *text_end(struct json_object *object, const char *key)
{
	struct json_object *address = json_at(object, key);
	static const struct attr attr = { .kind = ATTR_ADDR };
	char *text, *end;

	if (!address)
		return text_printf("-");
	end = text_of(&attr, address);
	text = text_printf("%s:%s", string_at(object, "transport") ?: "?", end);
	free(end);
	return text;
}

static char *conn_local(struct json_object *object)
{
	return text_end(object, "local");
}

/* With TLS also that, and the peer's name: "grpc:10.0.0.2:7000 tls spiffe://example/kv". */
static char *conn_peer(struct json_object *object)
{
	char *address = text_end(object, "peer"), *text;
	const char *name = string_at(object, "identity");

	if (!string_at(object, "tls") && !name)
		return address;
	text = text_printf("%s%s%s%s", address, string_at(object, "tls") ? " tls" : "",
			   name ? " " : "", name ?: "");
	free(address);
	return text;
}

/* "kv.Store+1": the first one, and how many more. */
char *conn_services(struct json_object *conn)
{
	struct json_object *list = json_at(conn, "services");
	size_t nr = list ? json_object_array_length(list) : 0;
	const char *first;

	if (!nr)
		return text_printf("-");
	first = string_at(json_object_array_get_idx(list, 0), "name") ?: "?";
	return nr == 1 ? text_printf("%s", first) : text_printf("%s+%zu", first, nr - 1);
}

static char *conn_calls(struct json_object *object)
{
	return text_ratio(object, "calls_active", "calls_limit");
}

static const struct column conn_columns[] = {
	{ "SESSION", "session" },
	{ "CONN", "id" },
	{ "STATE", "state" },
	{ "ROLE", .text = conn_role },
	{ "LOCAL", .text = conn_local },
	{ "PEER", .text = conn_peer },
	{ "SERVICES", .text = conn_services },
	{ "ACTIVE/LIMIT", .text = conn_calls, .right = true },
	{ "CALLS", "stats.calls" },
	{ "DONE", "stats.done", .stats = true },
	{ "FAILED", "stats.failed" },
	{ "TX-FRAMES", "stats.tx_frames", .stats = true },
	{ "TX-BYTES", "stats.tx_bytes", .stats = true },
	{ "RX-FRAMES", "stats.rx_frames", .stats = true },
	{ "RX-BYTES", "stats.rx_bytes", .stats = true },
	{ "REFUSED", "stats.rx_refused", .stats = true },
	{ "TX-SUMS", "stats.tx_checksums", .stats = true },
	{ "RX-SUMS", "stats.rx_checksums", .stats = true },
	{ "STALLS", "stats.heap_stalls", .stats = true },
	{ "GROUP", "group", .stats = true },
	{ "RANK", "rank", .stats = true },
	{ "IDLE", "idle_ns" },
	{ "AGE", "age_ns" },
	{ }
};

static char *service_end(struct json_object *object)
{
	if (json_at(object, "listener"))
		return text_printf("%llu/%llu", (unsigned long long)number_at(object, "session"),
				   (unsigned long long)number_at(object, "listener"));
	return text_printf("%llu/%llu", (unsigned long long)number_at(object, "session"),
			   (unsigned long long)number_at(object, "conn"));
}

static char *service_address(struct json_object *object)
{
	return text_end(object, "address");
}

static char *service_hash(struct json_object *object)
{
	return text_printf("%.12s", string_at(object, "hash") ?: "-");
}

static const struct column service_columns[] = {
	{ "SERVICE", "name" },
	{ "ROLE", .text = conn_role },
	{ "SESSION/ID", .text = service_end, .right = true },
	{ "ADDRESS", .text = service_address },
	{ "METHODS", "methods" },
	{ "CALLS", "calls" },
	{ "ACCEPTED", "accepted" },
	{ "HANDSHAKES", "handshakes", .stats = true },
	{ "SCHEMA", "schema" },
	{ "HASH", .text = service_hash },
	{ }
};

static char *datapath_calls(struct json_object *object)
{
	return text_ratio(object, "calls.active", "calls.limit");
}

static char *datapath_engines(struct json_object *object)
{
	struct json_object *stages = json_at(object, "stages");
	size_t i, nr = stages ? json_object_array_length(stages) : 0, len = 0;
	char *text = NULL;
	FILE *out;

	if (!nr)
		return text_printf("-");
	out = open_text(&text, &len);
	for (i = 0; i < nr; i++) {
		struct json_object *stage = json_object_array_get_idx(stages, i);

		fprintf(out, "%s%s%s", i ? "," : "", string_at(stage, "name") ?: "?",
			json_at(stage, "bypassed") ? "(bypassed)" : "");
	}
	fclose(out);
	return text;
}

static const struct column datapath_columns[] = {
	{ "DATAPATH", "id" },
	{ "SESSION", "session" },
	{ "CONN", "conn" },
	{ "TRANSPORT", .text = datapath_transport },
	{ "STATE", "state" },
	{ "ENGINES", .text = datapath_engines },
	{ "TX-QUEUE", "tx.queued" },
	{ "BACKLOG", "tx.backlog" },
	{ "RX-PARTIAL", "rx.partial" },
	{ "ACTIVE/LIMIT", .text = datapath_calls, .right = true },
	{ "ZOMBIES", "calls.zombies" },
	{ "DEADLINES", "calls.deadlines" },
	{ "STALLS", "stats.heap_stalls" },
	{ "TX-FRAMES", "stats.tx_frames", .stats = true },
	{ "TX-BYTES", "stats.tx_bytes", .stats = true },
	{ "RX-FRAMES", "stats.rx_frames", .stats = true },
	{ "RX-BYTES", "stats.rx_bytes", .stats = true },
	{ "REFUSED", "stats.rx_refused", .stats = true },
	{ "TIMER", "timer_ns" },
	{ "TX", "tx.flags" },
	{ "RX", "rx.flags" },
	{ }
};

/* -- objects ---------------------------------------------------------------- */

const struct object object_kinds[] = {
	{ "session", MRPC_CMD_SESSION_GET, &set_session, session_columns,
	  .attr_id = MRPC_A_SESSION_ID, .id = "id" },
	{ "qp", MRPC_CMD_QP_GET, &set_qp, qp_columns,
	  .attr_session = MRPC_A_QP_SESSION, .attr_id = MRPC_A_QP_ID, .id = "id" },
	{ "conn", MRPC_CMD_CONN_GET, &set_conn, conn_columns,
	  .attr_session = MRPC_A_CONN_SESSION, .attr_id = MRPC_A_CONN_ID, .id = "id" },
	{ "service", MRPC_CMD_SERVICE_GET, &set_service, service_columns,
	  .attr_session = MRPC_A_SERVICE_SESSION },
	{ "datapath", MRPC_CMD_DATAPATH_GET, &set_datapath, datapath_columns,
	  .attr_session = MRPC_A_DATAPATH_SESSION, .attr_id = MRPC_A_DATAPATH_CONN,
	  .id = "conn" },
	{ "group", MRPC_CMD_GROUP_GET, &set_group, group_columns,
	  .attr_session = MRPC_A_GROUP_SESSION, .attr_id = MRPC_A_GROUP_ID, .id = "id" },
	{ }
};

static struct json_object *select_objects(const struct object *o, struct args *args)
{
	bool session = false, id = false;
	struct json_object *array;
	struct word words[6] = { };
	struct body body = { };
	const struct conn_filter *filters = conn_filters, *f;
	const char *wanted[NR_CONN_FILTERS] = { };
	const char *word;
	int n = 0;

	if (o->attr_session)
		words[n++].name = "session";
	if (o->attr_id)
		words[n++].name = o->id;
	for (f = filters; o->cmd == MRPC_CMD_CONN_GET && f->name; f++)
		words[n++] = (struct word){ .name = f->name, .whole = true };
	while ((word = next_word(args))) {
		const char *name = find_word(words, word, "a filter")->name;
		bool is_session = !strcmp(name, "session");
		int attr = is_session ? o->attr_session : o->attr_id;
		uint32_t value;

		f = conn_filter(name);
		if (f) {
			if (wanted[f - filters])
				usage("'%s' is given twice", name);
			wanted[f - filters] = need_word(args, text_printf("what follows '%s'", name));
			f->check(wanted[f - filters]);
			continue;
		}
		if (is_session ? session : id)
			usage("'%s' is given twice", name);
		*(is_session ? &session : &id) = true;
		value = need_number(args, text_printf("the number after '%s'", name));
		if (!value && (attr != MRPC_A_QP_ID || o->attr_id != MRPC_A_QP_ID))
			usage("numbers after '%s' begin at 1", name);
		body_u32(&body, attr, value);
	}
	if (id && o->attr_session && !session)
		usage("'%s' needs 'session', because it is a number within a session", o->id);
	array = id ? ask_one(o->cmd, o->set, &body) : ask_all(o->cmd, o->set, &body);
	body_free(&body);
	return o->cmd == MRPC_CMD_CONN_GET ? conn_select(array, wanted) : array;
}

void print_blocks(const char *name, const struct set *set, struct json_object *array)
{
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		printf("%s%s:\n", i ? "\n" : "", name);
		print_block(set, json_object_array_get_idx(array, i), 4);
	}
}

/* What 'show' and 'dump' of an object print. */
int show_object(const char *name, struct args *args, bool dump)
{
	const struct object *o = object_kinds;
	struct json_object *array;

	while (strcmp(o->name, name))
		o++;
	array = select_objects(o, args);
	if (options.json)
		print_json(array);
	else if (dump)
		print_blocks(o->name, o->set, array);
	else
		print_table(o->set, o->columns, array);
	json_object_put(array);
	return 0;
}

static int run_object(const char *name, struct args *args)
{
	static const struct word commands[] = {
		{ "show", .also = "list" }, { "dump" }, { "help" }, { }
	};
	const char *word = next_word(args), *command;

	command = is_help(word) ? "help" :
		  find_word(commands, word ?: "show", "a command")->name;
	if (!strcmp(command, "help") || is_help(peek_word(args))) {
		help_object(name);
		return 0;
	}
	return show_object(name, args, !strcmp(command, "dump"));
}

int do_session(struct args *args)
{
	return run_object("session", args);
}

int do_qp(struct args *args)
{
	return run_object("qp", args);
}

int do_service(struct args *args)
{
	return run_object("service", args);
}

int do_datapath(struct args *args)
{
	return run_object("datapath", args);
}
