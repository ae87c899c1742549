/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an operator does to engines, over netlink, without a library.
 */
#ifndef OPERATOR_H
#define OPERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/mrpc_netlink.h>

#include "lib/rule/rule.h"

/*
 * Why the last request was refused, or ""; OP_UNHEARD: it failed with -ENOMEM or -ENOBUFS
 * before or after the kernel did it, which is not known.
 */
extern char op_why[512];
#define OP_UNHEARD	"(unheard)"

/**
 * struct op_change - what a change did
 * @matched, @changed: datapaths
 * @failed: the datapath at which it failed, or 0
 * @rolled_back: what had been changed was changed back
 * @leaked: messages that engines had lost
 * @pause_p50, @pause_p99, @pause_max: ns that one datapath stood still
 */
struct op_change {
	uint32_t matched;
	uint32_t changed;
	uint32_t failed;
	bool rolled_back;
	uint32_t leaked;
	uint64_t pause_p50;
	uint64_t pause_p99;
	uint64_t pause_max;
};

/**
 * struct op_rules - a rule set in the making
 * @buf: the binary form so far
 * @len: its bytes
 * @sets: names of the sets so far
 * @nr_sets: how many
 * @rule: offset of the last rule
 */
struct op_rules {
	uint8_t buf[4096];
	uint32_t len;
	uint32_t rule;
	uint16_t nr_rules;
	uint16_t nr_sets;
};

/*
 * Words "key=value": for add name, version, before, after, percent, service,
 * session, pid, uid, cgroup, datapath, side (client, server); everything else is a
 * parameter: a number, "unlimited", or a text. Return: 0 or -errno, and op_why.
 */
int op_add(const char *type, const char *words, const struct op_rules *rules,
	   struct op_change *change);
/* words: type, version, percent, parameters. */
int op_set(const char *name, const char *words, const struct op_rules *rules,
	   struct op_change *change);
int op_del(const char *name, struct op_change *change);
/* From so many percent of the datapaths; op_step() goes on. */
int op_del_some(const char *name, unsigned int percent, struct op_change *change);
/* After fork() or unshare(): the next request has a socket of its own. */
void op_forget(void);
/* Takes a change further, or at 0 back. */
int op_step(const char *name, unsigned int percent, struct op_change *change);
/* Holds an engine's queues, or lets them go; dirs: 1 transmit, 2 receive. */
int op_pause(const char *name, unsigned int dirs, bool paused);
int op_runtime_add(const char *name);
int op_runtime_del(const char *name);
/* Those that must succeed. */
void op_must_add(const char *type, const char *words, const struct op_rules *rules);
void op_must_set(const char *name, const char *words, const struct op_rules *rules);
void op_must_del(const char *name);
/* All that there are, as when a test has failed before. */
void op_del_all(void);

/* Is there an engine, a runtime, an egress domain of this name? */
bool op_has(const char *engine);
bool op_has_runtime(const char *name);
bool op_has_egress(const char *dev);

/* A counter of the type's own, or of @dir's attribute; -1: there is none. */
int64_t op_counter(const char *name, const char *counter);
int64_t op_dir(const char *name, bool rx, unsigned int attr);
/* MRPC_A_ENGINE_VERSION and the like. */
int64_t op_number(const char *name, unsigned int attr);

/* MRPC_A_SESSION_*, or MRPC_A_HEAP_* of the heap @nest; -1: there is no such session. */
int64_t op_session(uint32_t session, unsigned int nest, unsigned int attr);
/*
 * A dump that nothing is read from: 0 or -errno. @name is a key set, an egress domain's device, an
 * engine with series, or the engine whose queue MRPC_CMD_RPC_GET dumps; @id is that queue's datapath, or a schema.
 */
int op_dump(uint8_t cmd, const char *name, uint32_t id);
/* The id of one that is bound; -1: there is none. */
int64_t op_any_schema(void);

/* MRPC_A_CONN_* or MRPC_A_CONN_STATS_* of a connection; -1: it has none. */
int64_t op_conn(uint32_t session, uint32_t conn, unsigned int attr);
int64_t op_conn_stat(uint32_t session, uint32_t conn, unsigned int attr);

/*
 * Runtimes: @cmd is MRPC_CMD_RUNTIME_ADD, _SET or _DEL; @words "key=value" of cpus,
 * nice, fifo, busy, order (its number), turn, dedicated. Return: 0 or -errno, and
 * op_why.
 */
int op_runtime(uint8_t cmd, const char *name, const char *words);
/* MRPC_A_RUNTIME_DATAPATHS and the like. */
int64_t op_runtime_number(const char *name, unsigned int attr);

/*
 * What a transport of which one version is loaded knows of this network namespace: @attr is
 * MRPC_A_TRANSPORT_COUNTER, _DROP, _GAUGE or _SETTING; -1: it has no such number here, or is
 * not loaded.
 */
int64_t op_transport(const char *name, unsigned int attr, const char *number);

/*
 * Egress domains: @cmd is MRPC_CMD_EGRESS_SET or _DEL; @dev "" for loop links; @words
 * "key=value" of discipline, fair, paused, chunk, limit, rate. Return: 0 or
 * -errno, and op_why.
 */
int op_egress(uint8_t cmd, const char *dev, const char *words);
void op_must_egress(uint8_t cmd, const char *dev, const char *words);
/* The device whose domain has the connections of a raw_pair() over @how. */
const char *op_egress_dev(const char *how);
/* MRPC_A_EGRESS_SENT and the like. */
int64_t op_egress_number(const char *dev, unsigned int attr);
bool op_egress_is(const char *dev, const char *discipline);
/* Waits, a minute at most, until a number of the domain is at least @least. Return: it is. */
bool op_egress_reaches(const char *dev, unsigned int attr, int64_t least);

/**
 * struct op_queue - a datapath in an egress domain
 * @value: of the attributes that are numbers; -1: it is not there
 * @tenant: whose it is
 */
struct op_queue {
	int64_t value[MRPC_A_EGRESS_QUEUE_MAX + 1];
	char tenant[32];
};

/* The datapaths of a domain, those that wait in their order first. Return: how many. */
unsigned int op_egress_queues(const char *dev, struct op_queue *all, unsigned int cap);
/*
 * Were these connections, of the latest session that has them, granted in this order since they
 * were made? The later, the more went before. In what order messages arrive is not told by that.
 */
bool op_egress_went(const char *dev, const int *conns, unsigned int nr);

/**
 * struct op_rpc - a message in a queue
 * @index: its place
 * @call: id of its call
 * @flags: MRPC_RPC_FLAGS_*
 */
struct op_rpc {
	uint32_t index;
	uint64_t call;
	uint32_t flags;
};

/* What is in an engine's queue on a datapath. Return: how many. */
unsigned int op_rpcs(uint32_t datapath, const char *engine, bool rx, struct op_rpc *all,
		     unsigned int cap);

/* Sets of keys. op_keys() puts in, or takes out, the keys that @format makes of [from, to). */
int op_keyset_new(const char *name, bool integers);
int op_keyset_del(const char *name);
int op_keys(const char *name, bool insert, const char *format, uint32_t from, uint32_t to);
/* How many keys it has; -1: there is no such set. */
int64_t op_keyset_keys(const char *name);

/* -- rules ------------------------------------------------------------------------ */

void op_rules_begin(struct op_rules *r);
/* Before all rules; its index is returned. */
uint32_t op_rules_set(struct op_rules *r, const char *name);
void op_rule(struct op_rules *r, uint32_t action, uint16_t status, const char *detail);
void op_rule_more(struct op_rules *r, uint32_t share, uint64_t arg);
void op_cond(struct op_rules *r, uint8_t what, uint8_t op, const char *name, const void *value,
	     uint16_t len);
void op_cond_text(struct op_rules *r, uint8_t what, uint8_t op, const char *name,
		  const char *text);
void op_cond_range(struct op_rules *r, uint8_t what, const char *name, uint64_t from,
		   uint64_t to);
void op_cond_in(struct op_rules *r, const char *name, uint32_t set);
void op_cond_net(struct op_rules *r, const char *addr, uint8_t prefix);

#endif /* OPERATOR_H */
