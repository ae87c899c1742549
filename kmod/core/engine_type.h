/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Engine types: the stages that can lie between the application and the transport.
 *
 * An engine type is a module of its own: it registers one struct mrpc_engine_ops, exports nothing,
 * and carries its version in its name (mrpc_ratelimit_1.ko), so that two versions can be loaded at
 * once. An operator places a type on a scope, and every datapath in that scope gets an instance:
 * core/engine.h. Documentation/engines.rst is the guide for authors of engines.
 */
#ifndef MRPC_CORE_ENGINE_TYPE_H
#define MRPC_CORE_ENGINE_TYPE_H

#include <linux/device/driver.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "core/rpc.h"
#include "lib/ds/hist.h"

struct module;
struct mrpc_call;
struct mrpc_engine;
struct mrpc_placement;
struct mrpc_schema_plan;
struct mrpc_scope;
struct mrpc_transport_ops;
struct net;
struct netlink_ext_ack;
struct sk_buff;

/* -- configuration --------------------------------------------------------- */

enum mrpc_param_type {
	MRPC_PARAM_U64,
	MRPC_PARAM_BOOL,
	MRPC_PARAM_CHOICE,	/* index into @choices */
	MRPC_PARAM_STRING,	/* without NUL in the attribute, with one in memory */
	MRPC_PARAM_RULES,	/* binary rule set, lib/rule/rule.h */
};

#define MRPC_PARAM_REQUIRED	BIT(0)

/* The number may be given as "unlimited": U64_MAX, whatever @max says */
#define MRPC_PARAM_UNLIMITED	BIT(1)

/**
 * struct mrpc_param - one parameter of an engine type
 * @name: name for the operator, e.g. "rate"
 * @type: enum mrpc_param_type
 * @flags: MRPC_PARAM_*
 * @unit: unit, for people and for the command: "/s", "bytes", "ns", "%",
 *	"0.01%" (hundredths), or NULL
 * @doc: half a sentence
 * @min: U64: smallest value; STRING and RULES: least bytes
 * @max: U64: largest value; STRING and RULES: most bytes
 * @def: U64, BOOL, CHOICE: default value
 * @choices: CHOICE: the words, ends with NULL
 */
struct mrpc_param {
	const char *name;
	u8 type;
	u8 flags;
	const char *unit;
	const char *doc;
	u64 min;
	u64 max;
	u64 def;
	const char *const *choices;
};

/**
 * struct mrpc_value - the value of one parameter
 * @set: the operator gave it
 * @num: value of U64, BOOL, CHOICE
 * @data: value of STRING, RULES; or NULL
 * @len: bytes of @data
 */
struct mrpc_value {
	bool set;
	u64 num;
	const void *data;
	u32 len;
};

/**
 * struct mrpc_group - the common part of the instances of one placement
 *
 * A placement has one for each configuration that it has had. The core never changes it once it is
 * published. Reference counted: the placement holds one reference, each instance holds one. The
 * last put ends it, in process context.
 *
 * @ref: references
 * @ops: the type; a module reference
 * @priv: data of the type, from group_create()
 * @ready: group_create() has succeeded
 * @also: another type that it uses; a reference, which group_create() takes and the core
 *	drops; or NULL
 * @net: the namespace of the placement
 * @scope: scope of the placement; only for group_create()
 * @nr: number of parameters
 * @values: one for each of @ops->params, in that order
 */
struct mrpc_group {
	refcount_t ref;
	const struct mrpc_engine_ops *ops;
	void *priv;
	bool ready;
	const struct mrpc_engine_ops *also;
	struct net *net;
	const struct mrpc_scope *scope;
	u32 nr;
	struct mrpc_value values[] __counted_by(nr);
};

static inline bool mrpc_group_uses(const struct mrpc_group *g, const struct mrpc_engine_ops *ops)
{
	return g->ops == ops || g->also == ops;
}

/* -- the type ---------------------------------------------------------------- */

/* mrpc_engine_ops.flags */

/* Reads byte blocks of received messages: they are held back until complete */
#define MRPC_ENGINE_RX_BYTES	BIT(0)

/* Wants stage time stamps in mrpc_call.times of every call */
#define MRPC_ENGINE_TIMES	BIT(1)

/* Must not be bypassed when it misbehaves (it enforces something) */
#define MRPC_ENGINE_MANDATORY	BIT(2)

/* No rpc passes it: it sets something for the datapath as a whole */
#define MRPC_ENGINE_NO_STAGE	BIT(3)

/* Another configuration needs a new instance, made before the datapath stands still */
#define MRPC_ENGINE_REMAKE	BIT(4)

/* Says what rank messages have, and in mrpc_conn.exec.hint that of the latest */
#define MRPC_ENGINE_RANKS	BIT(5)

/* Writes to received messages: they are copied first, whatever their contents */
#define MRPC_ENGINE_RX_WRITES	BIT(6)
/* The values of dump() only grow: the placement keeps them when the instance ends */
#define MRPC_ENGINE_COUNTS	BIT(7)

/**
 * struct mrpc_call_end - how a call ended
 * @call: the call; its times are valid with MRPC_ENGINE_TIMES
 * @sent: bytes of the sent message: the request, or the reply
 * @received: bytes of the received message, 0 for none
 * @status: enum mrpc_status
 * @local: this host gave the status
 */
struct mrpc_call_end {
	const struct mrpc_call *call;
	u32 sent;
	u32 received;
	u16 status;
	bool local;
};

/**
 * struct mrpc_series - a histogram of an engine, with its labels
 * @name: name of what is counted, static
 * @unit: unit of the values, static: "ns" or "bytes"
 * @plan: schema of the service; valid as long as the group
 * @method: index of the method in it
 * @status: enum mrpc_status
 * @server: it counts received calls, not sent ones
 * @hist: the values
 */
struct mrpc_series {
	const char *name;
	const char *unit;
	const struct mrpc_schema_plan *plan;
	u32 method;
	u16 status;
	bool server;
	struct mrpc_hist hist;
};

/**
 * struct mrpc_engine_ops - a type of engine, of one version
 * @name: "ratelimit"
 * @version: 1 or more
 * @oldest: restore() takes state of versions of the same name from this one on
 * @takes: names of other types that restore() takes state of, in any version with the
 *	same @state_version: NULL-terminated, or NULL
 * @state_version: version of the state that decompose() makes
 * @owner: its module
 * @flags: MRPC_ENGINE_*
 * @dirs: BIT(MRPC_TX) | BIT(MRPC_RX): directions in which it has something to do; 0: it
 *	is only told of the end of calls
 * @params: its parameters
 * @nr_params: number of @params
 * @doc: a sentence
 * @group_create: makes a configuration: fills g->priv from g->values.
 *	@prev is the configuration that it replaces (of the same type and
 *	version), or NULL. May sleep. Optional
 * @group_destroy: frees g->priv. May sleep. Optional
 * @create: makes an instance for a datapath: fills e->priv. No rpc passes yet. May
 *	sleep. Optional
 * @destroy: ends the instance; its queues are empty. A grace period has passed
 *	since the last call_end(). May sleep. Optional
 * @configure: prepares for e->group to become @group; on failure nothing has
 *	changed. Both claims are held: be quick, do not wait. Optional: without it
 *	do_work() finds the new e->group by itself
 * @settle: begins what cannot be taken back. Another configuration is in force now, or this
 *	instance on an existing datapath is, and stays so. Both claims are held.
 *	Not called for the instances of a new connection. Optional
 * @do_work: processes some of the rpcs in @in, in order or not. Each ends in @out, is rejected
 *	(mrpc_engine_reject()), or stays, preferably in @in. The operator sees and counts the
 *	rpcs that stay there. They move on when the engine is removed, and go away when
 *	their call is given up. Called with the direction's claim held, in process context,
 *	when something arrives, when the time that it returned has come, or at any other
 *	time. Takes at most @budget rpcs (the rest comes in the next turn). Takes no lock
 *	except for state that a group shares, and only shortly; never waits; GFP_KERNEL
 *	allocations are allowed.
 *	Returns the latest time of the next call: CLOCK_MONOTONIC ns, 0 for "when
 *	something arrives"; later than KTIME_MAX is never
 * @pass: lets @rpc pass at once, without a turn, if this is known at a glance.
 *	Called only if the input queue is empty; otherwise as do_work(), but it is not
 *	measured. Return: true: it passes; false: it goes to the queue. Optional
 * @flush: moves the rpcs that are kept outside of @in to @out. The direction's claim is
 *	held. Only for engines that keep rpcs elsewhere
 * @call_end: a call of this datapath has ended, in any way. Any context but
 *	hard interrupt, concurrent with everything else, under RCU. It must not use e->group,
 *	which may be replaced and freed meanwhile. Optional
 * @decompose: takes the state out of an instance, for restore() of another one:
 *	allocated memory without pointers into module code, or an ERR_PTR. The instance
 *	stays as it is until destroy(); if restoring fails it goes on. Both claims
 *	are held. Optional: without it there is no state
 * @restore: takes over the state from another instance's decompose(); @from is the type of
 *	that instance. On failure nothing has changed. The core frees the state
 *	(kvfree). Both claims are held. Optional: without it state is dropped
 * @hold: takes another reference to a type that comes and goes without its module. Any
 *	context. Return: false: it is going. Optional
 * @drop: drops that reference. May sleep. Set together with @hold
 * @transport: it chooses this version of a transport for the datapaths that have it; set
 *	by the core (mrpc_transport_ops.type)
 * @dump: puts the counters of the instance (or with @e NULL of the group), by
 *	mrpc_engine_put_u64(). Process context, no claim held. Optional
 * @series: returns the histogram of the instance (or with @e NULL of the group) at *@pos or
 *	after it. *@pos is 0 at first, and becomes the place after it. Return: 0 or
 *	-ENOENT: no more. Process context, no claim held. Optional
 *
 * For one instance each of these functions runs at most once at a time, except do_work()
 * (once for each direction), call_end(), dump() and series().
 */
struct mrpc_engine_ops {
	const char *name;
	u32 version;
	u32 oldest;
	const char *const *takes;
	u32 state_version;
	struct module *owner;
	u32 flags;
	u32 dirs;
	const struct mrpc_param *params;
	u32 nr_params;
	const char *doc;
	const struct mrpc_transport_ops *transport;
	struct list_head list;	/* the core's */

	bool (*hold)(const struct mrpc_engine_ops *ops);
	void (*drop)(const struct mrpc_engine_ops *ops);

	int (*group_create)(struct mrpc_group *g, const struct mrpc_group *prev,
			    struct netlink_ext_ack *extack);
	void (*group_destroy)(struct mrpc_group *g);
	int (*create)(struct mrpc_engine *e, struct netlink_ext_ack *extack);
	void (*destroy)(struct mrpc_engine *e);
	int (*configure)(struct mrpc_engine *e, struct mrpc_group *group,
			 struct netlink_ext_ack *extack);
	void (*settle)(struct mrpc_engine *e);
	u64 (*do_work)(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *in,
		       struct mrpc_queue *out, int budget);
	bool (*pass)(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_rpc *rpc);
	void (*flush)(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *out);
	void (*call_end)(struct mrpc_engine *e, const struct mrpc_call_end *end);
	void *(*decompose)(struct mrpc_engine *e);
	int (*restore)(struct mrpc_engine *e, const struct mrpc_engine_ops *from, u32 version,
		       const void *state, struct netlink_ext_ack *extack);
	int (*dump)(const struct mrpc_engine *e, const struct mrpc_group *g, struct sk_buff *skb);
	int (*series)(const struct mrpc_engine *e, const struct mrpc_group *g, u32 *pos,
		      struct mrpc_series *out);
};

int mrpc_engine_register(struct mrpc_engine_ops *ops);
void mrpc_engine_unregister(struct mrpc_engine_ops *ops);

/* A module that is one engine type. */
#define module_mrpc_engine(__ops) \
	module_driver(__ops, mrpc_engine_register, mrpc_engine_unregister)

/*
 * The alias for loading it on demand: "name-version", and once more without a version. Without a
 * version all modules of the name are loaded, and the newest is taken.
 */
#define MODULE_ALIAS_MRPC_ENGINE(name)	MODULE_ALIAS("mrpc-engine-" name)

bool mrpc_engine_hold(const struct mrpc_engine_ops *ops);

const struct mrpc_engine_ops *mrpc_engine_try(const char *name, u32 version);
const struct mrpc_engine_ops *mrpc_engine_get(const char *name, u32 version,
					      struct netlink_ext_ack *extack);
void mrpc_engine_put(const struct mrpc_engine_ops *ops);
const struct mrpc_engine_ops *mrpc_engine_next(const char *name, u32 version);

#endif /* MRPC_CORE_ENGINE_TYPE_H */
