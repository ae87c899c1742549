// SPDX-License-Identifier: GPL-2.0
/*
 * What an operator does to engines, runtimes and transports; see operator.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operator.h"
#include "operator_nl.h"

/* -- engines -------------------------------------------------------------------- */

/* Return: that @key is about the scope, and has been put. */
static bool op_put_scope(const char *key, const char *value)
{
	static const struct {
		const char *key;
		uint16_t attr;
	} keys[] = {
		{ "session", MRPC_A_SCOPE_SESSION }, { "pid", MRPC_A_SCOPE_PID },
		{ "uid", MRPC_A_SCOPE_UID }, { "datapath", MRPC_A_SCOPE_DATAPATH },
	};
	uint64_t cgroup;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!strcmp(key, keys[i].key)) {
			op_put_u32(keys[i].attr, strtoul(value, NULL, 0));
			return true;
		}
	}
	if (!strcmp(key, "cgroup")) {
		cgroup = strtoull(value, NULL, 0);
		op_put(MRPC_A_SCOPE_CGROUP, &cgroup, sizeof(cgroup));
	} else if (!strcmp(key, "side")) {
		op_put_u32(MRPC_A_SCOPE_SIDE, !strcmp(value, "client") ?
			   MRPC_SCOPE_SIDE_CLIENT : MRPC_SCOPE_SIDE_SERVER);
	} else if (!strcmp(key, "service")) {
		op_put_text(MRPC_A_SCOPE_SERVICE, value);
	} else {
		return false;
	}
	return true;
}

static bool op_put_place(const char *key, const char *value)
{
	if (!strcmp(key, "name"))
		op_put_text(MRPC_A_ENGINE_NAME, value);
	else if (!strcmp(key, "type"))
		op_put_text(MRPC_A_ENGINE_TYPE, value);
	else if (!strcmp(key, "before"))
		op_put_text(MRPC_A_ENGINE_BEFORE, value);
	else if (!strcmp(key, "after"))
		op_put_text(MRPC_A_ENGINE_AFTER, value);
	else if (!strcmp(key, "version"))
		op_put_u32(MRPC_A_ENGINE_VERSION, strtoul(value, NULL, 0));
	else if (!strcmp(key, "percent"))
		op_put_u32(MRPC_A_ENGINE_PERCENT, strtoul(value, NULL, 0));
	else
		return false;
	return true;
}

static void op_put_param(const char *key, const char *value)
{
	uint32_t nest = op_nest(MRPC_A_ENGINE_VALUE);
	uint64_t number;
	char *end;

	op_put_text(MRPC_A_VALUE_NAME, key);
	number = !strcmp(value, "unlimited") ? UINT64_MAX : strtoull(value, &end, 0);
	if (number != UINT64_MAX && (end == value || *end))
		op_put_text(MRPC_A_VALUE_TEXT, value);
	else
		op_put(MRPC_A_VALUE_NUM, &number, sizeof(number));
	op_nest_end(nest);
}

static void op_put_scope_only(const char *key, const char *value)
{
	op_put_scope(key, value);
}

static void op_put_but_scope(const char *key, const char *value)
{
	uint32_t before = op.len;

	if (op_put_scope(key, value))
		op.len = before;
	else if (!op_put_place(key, value))
		op_put_param(key, value);
}

static void op_put_all(const char *words, const struct op_rules *rules)
{
	uint32_t nest;

	/* Those about the scope stand together: two rounds. */
	op_put_pairs(words, op_put_but_scope);
	nest = op_nest(MRPC_A_ENGINE_SCOPE);
	op_put_pairs(words, op_put_scope_only);
	op_nest_end(nest);
	if (op.len == nest + NLA_HDRLEN)
		op.len = nest;
	if (!rules)
		return;
	nest = op_nest(MRPC_A_ENGINE_VALUE);
	op_put_text(MRPC_A_VALUE_NAME, "rules");
	op_put(MRPC_A_VALUE_DATA, rules->buf, rules->len);
	op_nest_end(nest);
}

static int op_do(struct op_change *change)
{
	int err = op_ask();
	const struct nlattr *nest = op_find(op.buf, op.len, MRPC_A_ENGINE_CHANGE, NULL);

	if (!change)
		return err;
	*change = (struct op_change){};
	if (!nest)
		return err;
	change->matched = op_value(op_inside(nest, MRPC_A_CHANGE_MATCHED));
	change->changed = op_value(op_inside(nest, MRPC_A_CHANGE_CHANGED));
	if (op_inside(nest, MRPC_A_CHANGE_FAILED))
		change->failed = op_value(op_inside(nest, MRPC_A_CHANGE_FAILED));
	change->leaked = op_value(op_inside(nest, MRPC_A_CHANGE_LEAKED));
	if (change->changed) {
		change->pause_p50 = op_value(op_inside(nest, MRPC_A_CHANGE_PAUSE_P50));
		change->pause_p99 = op_value(op_inside(nest, MRPC_A_CHANGE_PAUSE_P99));
		change->pause_max = op_value(op_inside(nest, MRPC_A_CHANGE_PAUSE_MAX));
	}
	change->rolled_back = op_inside(nest, MRPC_A_CHANGE_ROLLED_BACK);
	return err;
}

int op_add(const char *type, const char *words, const struct op_rules *rules,
	   struct op_change *change)
{
	op_request(MRPC_CMD_ENGINE_ADD, 0);
	op_put_text(MRPC_A_ENGINE_TYPE, type);
	op_put_all(words, rules);
	return op_do(change);
}

int op_set(const char *name, const char *words, const struct op_rules *rules,
	   struct op_change *change)
{
	op_request(MRPC_CMD_ENGINE_SET, 0);
	op_put_text(MRPC_A_ENGINE_NAME, name);
	op_put_all(words, rules);
	return op_do(change);
}

int op_del(const char *name, struct op_change *change)
{
	return op_del_some(name, 100, change);
}

int op_del_some(const char *name, unsigned int percent, struct op_change *change)
{
	op_request(MRPC_CMD_ENGINE_DEL, 0);
	op_put_text(MRPC_A_ENGINE_NAME, name);
	if (percent != 100)
		op_put_u32(MRPC_A_ENGINE_PERCENT, percent);
	return op_do(change);
}

int op_step(const char *name, unsigned int percent, struct op_change *change)
{
	op_request(MRPC_CMD_ENGINE_STEP, 0);
	op_put_text(MRPC_A_ENGINE_NAME, name);
	op_put_u32(MRPC_A_ENGINE_PERCENT, percent);
	return op_do(change);
}

int op_pause(const char *name, unsigned int dirs, bool paused)
{
	uint8_t value = paused;

	op_request(MRPC_CMD_QUEUE_SET, 0);
	op_put_text(MRPC_A_QUEUE_ENGINE, name);
	op_put(MRPC_A_QUEUE_PAUSED, &value, sizeof(value));
	if (dirs != 3)
		op_put_u32(MRPC_A_QUEUE_DIR, dirs == 1 ? MRPC_QUEUE_DIR_TX : MRPC_QUEUE_DIR_RX);
	return op_ask();
}

int op_runtime_add(const char *name)
{
	op_request(MRPC_CMD_RUNTIME_ADD, 0);
	op_put_text(MRPC_A_RUNTIME_NAME, name);
	return op_ask();
}

int op_runtime_del(const char *name)
{
	op_request(MRPC_CMD_RUNTIME_DEL, 0);
	op_put_text(MRPC_A_RUNTIME_NAME, name);
	return op_ask();
}

void op_must_add(const char *type, const char *words, const struct op_rules *rules)
{
	int err = op_add(type, words, rules, NULL);

	if (err)
		op_die("add %s %s: %s: %s", type, words, strerror(-err), op_why);
}

void op_must_set(const char *name, const char *words, const struct op_rules *rules)
{
	int err = op_set(name, words, rules, NULL);

	if (err)
		op_die("set %s %s: %s: %s", name, words, strerror(-err), op_why);
}

void op_must_del(const char *name)
{
	int err = op_del(name, NULL);

	if (err)
		op_die("del %s: %s: %s", name, strerror(-err), op_why);
}

void op_del_all(void)
{
	char name[64];
	const struct nlattr *nla;

	for (;;) {
		op_request(MRPC_CMD_ENGINE_GET, NLM_F_DUMP);
		if (op_ask())
			op_die("engines: %s", op_why);
		nla = op_find(op.buf, op.len, MRPC_A_ENGINE_NAME, NULL);
		if (!nla)
			return;
		snprintf(name, sizeof(name), "%s", (const char *)(nla + 1));
		if (op_del(name, NULL) == -EBUSY)	/* a change of it is in progress */
			op_step(name, 0, NULL);
	}
}

/* -- counters --------------------------------------------------------------------- */

bool op_has(const char *engine)
{
	return !op_ask_name(MRPC_CMD_ENGINE_GET, MRPC_A_ENGINE_NAME, engine);
}

bool op_has_runtime(const char *name)
{
	return !op_ask_name(MRPC_CMD_RUNTIME_GET, MRPC_A_RUNTIME_NAME, name);
}

bool op_has_egress(const char *dev)
{
	return !op_ask_name(MRPC_CMD_EGRESS_GET, MRPC_A_EGRESS_DEV, dev);
}

static void op_get_engine(const char *name)
{
	op_get(MRPC_CMD_ENGINE_GET, MRPC_A_ENGINE_NAME, name);
}

int64_t op_number(const char *name, unsigned int attr)
{
	op_get_engine(name);
	return op_value(op_find(op.buf, op.len, attr, NULL));
}

int64_t op_session(uint32_t session, unsigned int nest, unsigned int attr)
{
	const struct nlattr *nla;

	op_request(MRPC_CMD_SESSION_GET, 0);
	op_put_u32(MRPC_A_SESSION_ID, session);
	if (op_ask())
		return -1;
	nla = op_find(op.buf, op.len, nest ?: attr, NULL);
	return op_value(nest && nla ? op_inside(nla, attr) : nla);
}

int op_dump(uint8_t cmd, const char *name, uint32_t id)
{
	op_request(cmd, NLM_F_DUMP);
	if (cmd == MRPC_CMD_METHOD_GET) {
		op_put_u32(MRPC_A_METHOD_SCHEMA, id);
	} else if (cmd == MRPC_CMD_SERIES_GET) {
		op_put_text(MRPC_A_SERIES_ENGINE, name);
	} else if (cmd == MRPC_CMD_KEY_GET) {
		op_put_text(MRPC_A_KEYSET_NAME, name);
	} else if (cmd == MRPC_CMD_EGRESS_QUEUE_GET) {
		op_put_text(MRPC_A_EGRESS_QUEUE_DEV, name);
	} else if (cmd == MRPC_CMD_RPC_GET) {
		op_put_u32(MRPC_A_RPC_DATAPATH, id);
		op_put_u32(MRPC_A_RPC_DIR, MRPC_QUEUE_DIR_TX);
		op_put_text(MRPC_A_RPC_ENGINE, name);
	}
	return op_ask();
}

int64_t op_any_schema(void)
{
	op_request(MRPC_CMD_SCHEMA_GET, NLM_F_DUMP);
	return op_ask() ? -1 : op_value(op_find(op.buf, op.len, MRPC_A_SCHEMA_ID, NULL));
}

/* Leaves the attributes of a connection at op.buf; without it none. */
static void op_get_conn(uint32_t session, uint32_t conn)
{
	op_request(MRPC_CMD_CONN_GET, 0);
	op_put_u32(MRPC_A_CONN_SESSION, session);
	op_put_u32(MRPC_A_CONN_ID, conn);
	if (op_ask())
		op.len = 0;
}

int64_t op_conn(uint32_t session, uint32_t conn, unsigned int attr)
{
	op_get_conn(session, conn);
	return op_value(op_find(op.buf, op.len, attr, NULL));
}

int64_t op_conn_stat(uint32_t session, uint32_t conn, unsigned int attr)
{
	const struct nlattr *nest;

	op_get_conn(session, conn);
	nest = op_find(op.buf, op.len, MRPC_A_CONN_STATS, NULL);
	return nest ? op_value(op_inside(nest, attr)) : -1;
}

/* Of the last answer, in which @attr is that of a number with a name. */
static int64_t op_named(unsigned int attr, const char *name)
{
	const struct nlattr *nla = NULL;

	while ((nla = op_find(op.buf, op.len, attr, nla)))
		if (!strcmp((const char *)(op_inside(nla, MRPC_A_COUNTER_NAME) + 1), name))
			return op_value(op_inside(nla, MRPC_A_COUNTER_VALUE));
	return -1;
}

int64_t op_counter(const char *name, const char *counter)
{
	op_get_engine(name);
	return op_named(MRPC_A_ENGINE_COUNTER, counter);
}

int64_t op_dir(const char *name, bool rx, unsigned int attr)
{
	const struct nlattr *nest;

	op_get_engine(name);
	nest = op_find(op.buf, op.len, rx ? MRPC_A_ENGINE_RX : MRPC_A_ENGINE_TX, NULL);
	return nest ? op_value(op_inside(nest, attr)) : -1;
}

struct op_all_rpcs {
	struct op_rpc *all;
	unsigned int nr;
	unsigned int cap;
};

static void op_rpc(const void *attrs, uint32_t len, void *arg)
{
	struct op_all_rpcs *r = arg;

	if (r->nr++ >= r->cap)
		return;
	r->all[r->nr - 1] = (struct op_rpc) {
		.index = op_value(op_find(attrs, len, MRPC_A_RPC_INDEX, NULL)),
		.call = op_value(op_find(attrs, len, MRPC_A_RPC_CALL_ID, NULL)),
		.flags = op_value(op_find(attrs, len, MRPC_A_RPC_FLAGS, NULL)),
	};
}

unsigned int op_rpcs(uint32_t datapath, const char *engine, bool rx, struct op_rpc *all,
		     unsigned int cap)
{
	struct op_all_rpcs r = { all, 0, cap };
	int err;

	op_request(MRPC_CMD_RPC_GET, NLM_F_DUMP);
	op_put_u32(MRPC_A_RPC_DATAPATH, datapath);
	op_put_u32(MRPC_A_RPC_DIR, rx ? MRPC_QUEUE_DIR_RX : MRPC_QUEUE_DIR_TX);
	op_put_text(MRPC_A_RPC_ENGINE, engine);
	err = op_ask_each(op_rpc, &r);
	if (err)
		op_die("queue of '%s': %s: %s", engine, strerror(-err), op_why);
	if (r.nr > cap)
		op_die("%u messages in the queue of '%s', room for %u", r.nr, engine, cap);
	return r.nr;
}

/* -- runtimes --------------------------------------------------------------------- */

static void op_put_runtime(const char *word, const char *value)
{
	static const struct op_key keys[] = {
		{ "cpus", MRPC_A_RUNTIME_CPUS, 0 },
		{ "nice", MRPC_A_RUNTIME_NICE, 4 },
		{ "fifo", MRPC_A_RUNTIME_FIFO, 1 },
		{ "busy", MRPC_A_RUNTIME_BUSY, 8 },
		{ "order", MRPC_A_RUNTIME_ORDER, 4 },
		{ "turn", MRPC_A_RUNTIME_TURN, 4 },
		{ "dedicated", MRPC_A_RUNTIME_DEDICATED, 1 },
	};

	op_put_key(keys, ARRAY_SIZE(keys), word, value);
}

int op_runtime(uint8_t cmd, const char *name, const char *words)
{
	op_request(cmd, 0);
	op_put_text(MRPC_A_RUNTIME_NAME, name);
	op_put_pairs(words, op_put_runtime);
	return op_ask();
}

int64_t op_runtime_number(const char *name, unsigned int attr)
{
	op_get(MRPC_CMD_RUNTIME_GET, MRPC_A_RUNTIME_NAME, name);
	return op_value(op_find(op.buf, op.len, attr, NULL));
}

/* -- transports ------------------------------------------------------------------- */

int64_t op_transport(const char *name, unsigned int attr, const char *number)
{
	int err;

	op_request(MRPC_CMD_TRANSPORT_GET, NLM_F_DUMP);
	op_put_text(MRPC_A_TRANSPORT_NAME, name);
	err = op_ask();
	if (err == -ENOENT)
		return -1;
	if (err)
		op_die("get transport %s: %s: %s", name, strerror(-err), op_why);
	return op_named(attr, number);
}
