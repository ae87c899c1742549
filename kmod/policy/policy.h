/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies: engine types, choosers and egress disciplines whose functions are BPF programs.
 * See uapi/linux/mrpc_policy.h for what authors see.
 *
 * policy/registry.c	they come and go with struct_ops links, of whatever class
 * policy/declare.c	what all classes declare, and what the verifier asks
 * policy/class_judge.c	the class that judges messages: struct mrpc_policy_ops
 * policy/fields.c	the fields that a policy declares, in the schemas of connections
 * policy/instance.c	datapaths under a policy: what they are bound to
 * policy/judge.c	the engine: programs judge rpcs
 * policy/class_choose.c	the class that chooses among replicas: struct mrpc_lb_ops
 * policy/choose.c	its programs at work, for the lb engine
 * policy/class_rank.c	the class that ranks the datapaths of egress domains, and its programs at work:
 *	struct mrpc_sched_ops
 * policy/kfunc.c	what programs may call
 */
#ifndef MRPC_POLICY_POLICY_H
#define MRPC_POLICY_POLICY_H

#include <linux/bpf.h>
#include <linux/jiffies.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mrpc_netlink.h>
#include <linux/mrpc_policy.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched/clock.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "chain/delay.h"
#include "core/engine.h"
#include "core/rpc.h"
#include "lib/message/field.h"
#include "policy/registry.h"

struct bpf_link;
struct btf;
struct mrpc_conn;
struct mrpc_policy_decl;
struct mrpc_schema;
struct type;
struct workqueue_struct;

/**
 * struct mrpc_policy_paths - the declared fields in messages of one type; immutable
 * @content: one of them is in the byte section
 * @path: for each declared field, or NULL: such messages do not have it
 */
struct mrpc_policy_paths {
	bool content;
	const struct mrpc_field_path *path[MRPC_POLICY_FIELDS];
};

/**
 * struct mrpc_policy_bound - a program's fields in one schema; immutable but for @ref
 *
 * Shared by the datapaths that have this schema; ends with the last of them.
 *
 * @list: entry of mrpc_policy_prog.bound; under its lock
 * @ref: datapaths' directions that use it; under the same lock
 * @schema: a reference
 * @found: the fields that any message has, a bit for each
 * @types: for each type of the schema, or NULL: no message of a method, or without
 *	any of the fields
 */
struct mrpc_policy_bound {
	struct list_head list;
	u32 ref;
	struct mrpc_schema *schema;
	u32 found;
	struct mrpc_policy_paths *types[];
};

/* Where what policies of all classes declare begins in the struct of one. */
#define MRPC_POLICY_DECL_AT(type)						\
	(offsetof(struct type, name) +						\
	 BUILD_BUG_ON_ZERO(sizeof(struct type) !=				\
			   offsetof(struct type, name) + sizeof(struct mrpc_policy_decl) ||	\
			   offsetof(struct type, counters) - offsetof(struct type, name) !=	\
			   offsetof(struct mrpc_policy_decl, counters)))

/**
 * struct mrpc_policy_class - a struct_ops type that policies are of
 * @type: enum mrpc_policy_type
 * @size: bytes of the struct
 * @decl: where its struct mrpc_policy_decl begins: MRPC_POLICY_DECL_AT()
 * @flags: MRPC_POLICY_* that it may have
 * @budget: ns that a run may take, unless programs declare it
 * @budget_max: the most that they may declare
 * @arranged: MRPC_POLICY_HOOKS_* that things are arranged for where a policy of this class
 *	is in use: programs that follow have none that the first had not
 * @engine: what the engine types of this class have in common
 * @take: set @hooks, @init, @exit and @tick of programs by their copy of the struct
 */
struct mrpc_policy_class {
	u32 type;
	u32 size;
	u32 decl;
	u32 flags;
	u32 budget;
	u32 budget_max;
	u32 arranged;
	const struct mrpc_engine_ops *engine;
	void (*take)(struct mrpc_policy_prog *prog);
};

/**
 * struct mrpc_policy_prog - the programs that a policy has, or had, at one time
 *
 * Reference counted: one of the policy as long as they are its present ones,
 * one of each direction of a datapath that is bound to them. What @ops points to may be
 * called only under RCU, and only while they are the present ones.
 *
 * @ref: references
 * @rcu: for the free
 * @generation: counted from 1 in the policy
 * @decl: in the copy of what was registered
 * @flags: that it declares
 * @hooks: functions that there are, MRPC_POLICY_HOOKS_*
 * @init, @exit, @tick: or NULL
 * @nr_fields: declared
 * @nr_counters: declared
 * @budget: ns that a run may take
 * @faults: see MRPC_POLICY_FAULT; races lose some, which does not matter
 * @lock: @bound; short
 * @bound: struct mrpc_policy_bound
 * @nr_bound: how many
 * @ops, @sched, @lb: the copy of what was registered: that of the policy's class
 */
struct mrpc_policy_prog {
	refcount_t ref;
	struct rcu_head rcu;
	u64 generation;
	const struct mrpc_policy_decl *decl;
	u32 flags;
	u32 hooks;
	int (*init)(struct mrpc_policy_ctx *ctx);
	void (*exit)(struct mrpc_policy_ctx *ctx);
	void (*tick)(struct mrpc_policy_ctx *ctx);
	u32 nr_fields;
	u32 nr_counters;
	u32 budget;
	u32 faults;
	spinlock_t lock;
	struct list_head bound;
	u32 nr_bound;
	union {
		struct mrpc_policy_ops ops;
		struct mrpc_sched_ops sched;
		struct mrpc_lb_ops lb;
	};
};

/* What programs have done too often: each fault counts this much, a good run takes one off. */
#define MRPC_POLICY_FAULT	8

#define MRPC_POLICY_FAULTS	32

/**
 * struct mrpc_policy - an engine type in eBPF
 *
 * Exists as long as it has programs, or a configuration or an egress domain uses it. Without
 * programs one that judges does with messages what the operator has said, where one chooses
 * the engine goes by its own policy, and a discipline ranks by priority. It gets new ones when
 * a policy of its name, version and class is attached.
 *
 * @class: what it is
 * @engine: the type; its callbacks are the class's
 * @ref: one of the link, one of each configuration of it, one of each that makes use of it
 *	(mrpc_group.also), one of each egress domain that goes by it
 * @list: entry of the list of policies; under mrpc_policies_lock
 * @name: memory of @engine.name
 * @storage: bytes of a datapath's storage
 * @hooks: functions that the first programs had, MRPC_POLICY_HOOKS_*
 * @flags: likewise MRPC_POLICY_*
 * @prog: present programs, or NULL
 * @link: by which they are attached, or NULL; under mrpc_policies_lock, not a reference
 * @generations: of programs so far; under mrpc_policies_lock
 * @evicted: programs that were thrown out
 * @why: why the latest were thrown out, or others refused since; under @why_lock
 * @why_lock: @why; short
 * @thrown: the latest programs were thrown out; they have not simply been detached
 * @evict: detaches the link
 * @tick: runs the programs' tick
 */
struct mrpc_policy {
	const struct mrpc_policy_class *class;
	struct mrpc_engine_ops engine;
	struct kref ref;
	struct list_head list;
	char name[MRPC_POLICY_NAME];
	u32 storage;
	u32 hooks;
	u32 flags;
	struct mrpc_policy_prog __rcu *prog;
	struct bpf_link *link;
	u64 generations;
	u32 evicted;
	char why[96];
	spinlock_t why_lock;
	bool thrown;
	struct work_struct evict;
	struct delayed_work tick;
};

/**
 * struct mrpc_policy_look - a policy at one moment
 * @prog: its present programs, a reference, or NULL
 * @link: id of its link, or 0
 * @generation: of its latest programs
 * @thrown: as in struct mrpc_policy
 * @why: likewise
 */
struct mrpc_policy_look {
	struct mrpc_policy_prog *prog;
	u32 link;
	u64 generation;
	bool thrown;
	char why[96];
};

static inline struct mrpc_policy *mrpc_policy_of(const struct mrpc_engine_ops *ops)
{
	return container_of(ops, struct mrpc_policy, engine);
}

typedef int (*mrpc_policy_hook_t)(struct mrpc_policy_ctx *ctx);

/**
 * struct mrpc_policy_run - a direction of a datapath under a policy
 *
 * Of the owner of the direction's claim. Of a chooser, that of MRPC_RX is done's, under
 * mrpc_replicas.chooser_lock. That of a tick is its own.
 *
 * @ctx: what programs see
 * @policy: the policy
 * @conn: whose datapath; NULL in tick
 * @services: of those of @conn, a bit for each that the policy is there for
 * @e: the instance that judges, or NULL
 * @dir: enum mrpc_direction
 * @storage: the datapath's, or NULL
 * @prog: the programs that it is bound to, a reference, or NULL
 * @hook: of them, what judges in this direction; NULL: nothing, or it must not run
 * @bound: for each service of the connection: references
 * @unfit: the datapath has not what the programs need: they do not run
 * @rpc: the message at hand, or NULL
 * @paths: the fields in it, or NULL: it has none
 * @view: it
 * @status: what bpf_mrpc_status() said
 * @detail: likewise, NUL-terminated
 * @delay: what bpf_mrpc_delay() said, ns
 * @judged: the rpc that was judged without a turn, and goes to the queue
 * @judged_call: the call that it is of
 * @verdict: its verdict
 * @late: those that are to pass later
 * @details: of those rejected in this turn: MRPC_POLICY_DETAILS of them, or NULL
 * @nr_details: used
 * @thrown: the programs have been thrown out because of this run, which is not told yet
 * @runs: of programs
 * @ran: ns, of those measured
 * @measured: how many
 * @rejected, @delayed, @errors, @fallbacks: rpcs
 * @counters: of the programs
 */
struct mrpc_policy_run {
	struct mrpc_policy_ctx ctx;
	struct mrpc_policy *policy;
	struct mrpc_conn *conn;
	u32 services;
	struct mrpc_engine *e;
	u8 dir;
	u8 *storage;
	struct mrpc_policy_prog *prog;
	mrpc_policy_hook_t hook;
	struct mrpc_policy_bound *bound[MRPC_MAX_SERVICES];
	bool unfit;
	struct mrpc_rpc *rpc;
	const struct mrpc_policy_paths *paths;
	struct mrpc_view view;
	u16 status;
	char detail[MRPC_POLICY_DETAIL];
	u64 delay;
	const struct mrpc_rpc *judged;
	u64 judged_call;
	int verdict;
	struct mrpc_late late;
	char (*details)[MRPC_POLICY_DETAIL];
	u32 nr_details;
	bool thrown;
	u64 runs;
	u64 ran;
	u64 measured;
	u64 rejected;
	u64 delayed;
	u64 errors;
	u64 fallbacks;
	u64 counters[MRPC_POLICY_COUNTERS];
};

/**
 * struct mrpc_policy_dp - a datapath under a policy
 * @run: its directions
 * @begun: it has had an init, and is to have an exit. One that began without programs has
 *	neither; set before anybody uses it
 * @storage: mrpc_policy.storage bytes, for programs of both directions
 */
struct mrpc_policy_dp {
	struct mrpc_policy_run run[MRPC_DIRS];
	bool begun;
	u8 storage[] __aligned(8);
};

/*
 * Around programs that judge or choose: a section of RCU. Without preemption that costs less,
 * and their time is their own; where spinlocks sleep, functions that they call might.
 */
static inline void mrpc_policy_enter(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rcu_read_lock();
	else
		rcu_read_lock_sched();
}

static inline void mrpc_policy_leave(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rcu_read_unlock();
	else
		rcu_read_unlock_sched();
}

/* Counters of a datapath have one writer; others read them at any time. */
static inline void mrpc_policy_count(u64 *count)
{
	WRITE_ONCE(*count, *count + 1);
}

/* One run in 64 is measured, and the next ones after one that took too long. */
#define MRPC_POLICY_MEASURE	64

/**
 * struct mrpc_policy_clock - how long a run takes
 * @start: ns; 0: it is not measured
 * @tick: the kernel's: one in the midst of a run that is not measured tells those that
 *	take very long
 */
struct mrpc_policy_clock {
	u64 start;
	unsigned long tick;
};

/* A run of @prog begins, after @runs others. */
static inline struct mrpc_policy_clock mrpc_policy_begin(const struct mrpc_policy_prog *prog,
							 u64 runs)
{
	bool measure = !(runs % MRPC_POLICY_MEASURE) || READ_ONCE(prog->faults);

	return (struct mrpc_policy_clock){
		.start = measure ? local_clock() : 0,
		.tick = jiffies,
	};
}

/* It ends. Return: ns that it took; negative: that is not known, but it was not very long. */
static inline s64 mrpc_policy_end(struct mrpc_policy_clock clock)
{
	if (clock.start)
		return max_t(s64, local_clock() - clock.start, 0);
	return unlikely(jiffies - clock.tick > 1) ? jiffies_to_nsecs(jiffies - clock.tick - 1) : -1;
}

extern const struct bpf_verifier_ops mrpc_policy_verifier_ops;

extern struct btf *mrpc_policy_btf;

static inline const struct mrpc_policy_decl *
mrpc_policy_decl(const struct mrpc_policy_class *class, const void *ops)
{
	return ops + class->decl;
}

extern const struct mrpc_engine_ops mrpc_policy_engine;

static inline bool mrpc_engine_is_policy(const struct mrpc_engine_ops *ops)
{
	return ops->drop == mrpc_policy_drop;
}

/* NULL: it is another type, or no policy. */
static inline struct mrpc_policy *mrpc_policy_of_type(const struct mrpc_engine_ops *ops, u32 type)
{
	struct mrpc_policy *policy = mrpc_policy_of(ops);

	return mrpc_engine_is_policy(ops) && policy->class->type == type ? policy : NULL;
}

extern struct workqueue_struct *mrpc_policy_wq;	/* evicts policies, looks at their faults */

#endif /* MRPC_POLICY_POLICY_H */
