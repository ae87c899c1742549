/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies: engine types, choosers and egress disciplines whose functions are BPF programs.
 * uapi/linux/mrpc_policy.h has the interface for authors.
 *
 * policy/registry.c	attaching and detaching by struct_ops links, for all classes
 * policy/declare.c	the common declaration of all classes, and checks for the verifier
 * policy/class_judge.c	the class that judges messages: struct mrpc_policy_ops
 * policy/fields.c	the fields that a policy declares, in the schemas of connections
 * policy/instance.c	datapaths under a policy: what they are bound to
 * policy/judge.c	the engine: programs judge rpcs
 * policy/class_choose.c	the class that chooses among replicas: struct mrpc_lb_ops
 * policy/choose.c	runs its programs, for the lb engine
 * policy/class_rank.c	the class that ranks the datapaths of egress domains, and runs its programs:
 *	struct mrpc_sched_ops
 * policy/kfunc.c	functions that programs may call
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
 * @found: bits of the fields that any message has
 * @types: for each type of the schema, or NULL: no method uses the type, or it has none of the
 *	fields
 */
struct mrpc_policy_bound {
	struct list_head list;
	u32 ref;
	struct mrpc_schema *schema;
	u32 found;
	struct mrpc_policy_paths *types[];
};

/* Offset of the common declaration in the struct of a class. */
#define MRPC_POLICY_DECL_AT(type)						\
	(offsetof(struct type, name) +						\
	 BUILD_BUG_ON_ZERO(sizeof(struct type) !=				\
			   offsetof(struct type, name) + sizeof(struct mrpc_policy_decl) ||	\
			   offsetof(struct type, counters) - offsetof(struct type, name) !=	\
			   offsetof(struct mrpc_policy_decl, counters)))

/**
 * struct mrpc_policy_class - a struct_ops type of policies
 * @type: enum mrpc_policy_type
 * @size: bytes of the struct
 * @decl: offset of its struct mrpc_policy_decl: MRPC_POLICY_DECL_AT()
 * @flags: MRPC_POLICY_* that it may have
 * @budget: ns that a run may take, unless programs declare it
 * @budget_max: the maximum that they may declare
 * @arranged: MRPC_POLICY_HOOKS_* that need preparations where a policy of this class is in use.
 *	Later programs must not have more of them than the first ones
 * @engine: common part of the engine types of this class
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
 * Reference counted: one reference of the policy while they are its present programs, one of each
 * direction of a datapath that is bound to them. The functions in @ops may be called only under
 * RCU, and only while these are the present programs.
 *
 * @ref: references
 * @rcu: for the free
 * @generation: counted from 1 in the policy
 * @decl: in the copy of the registered struct
 * @flags: declared flags
 * @hooks: functions that exist, MRPC_POLICY_HOOKS_*
 * @init, @exit, @tick: or NULL
 * @nr_fields: declared
 * @nr_counters: declared
 * @budget: ns that a run may take
 * @faults: see MRPC_POLICY_FAULT; races lose some, which does not matter
 * @lock: protects @bound; held shortly
 * @bound: struct mrpc_policy_bound
 * @nr_bound: number of @bound
 * @ops, @sched, @lb: the copy of the registered struct, by the policy's class
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

/* Programs with too many faults are evicted: a fault adds this much, a good run subtracts one. */
#define MRPC_POLICY_FAULT	8

#define MRPC_POLICY_FAULTS	32

/**
 * struct mrpc_policy - an engine type in eBPF
 *
 * It exists while it has programs, or a configuration or an egress domain uses it. Without
 * programs, a policy that judges follows the operator's fallback. For one that chooses, the
 * engine's own policy decides. A discipline ranks by priority. It gets new programs when a policy
 * of its name, version and class is attached.
 *
 * @class: its class
 * @engine: the type; its callbacks are the class's
 * @ref: one of the link, one of each configuration of it, one of each that makes use of it
 *	(mrpc_group.also), one of each egress domain that uses it
 * @list: entry of the list of policies; under mrpc_policies_lock
 * @name: memory of @engine.name
 * @storage: bytes of a datapath's storage
 * @hooks: functions that the first programs had, MRPC_POLICY_HOOKS_*
 * @flags: flags that the first programs had, MRPC_POLICY_*
 * @prog: present programs, or NULL
 * @link: link by which they are attached, or NULL; under mrpc_policies_lock, not a reference
 * @generations: of programs so far; under mrpc_policies_lock
 * @evicted: number of programs that were evicted
 * @why: why the latest were evicted, or others refused since; under @why_lock
 * @why_lock: protects @why; held shortly
 * @thrown: the latest programs were evicted, not just detached
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
 * @why: as in struct mrpc_policy
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
 * The owner of the direction's claim uses it. For a chooser, MRPC_RX is for done, under
 * mrpc_replicas.chooser_lock. A tick has a run of its own.
 *
 * @ctx: what programs see
 * @policy: the policy
 * @conn: the connection of the datapath; NULL in tick
 * @services: bits of the services of @conn that the policy applies to
 * @e: the instance that judges, or NULL
 * @dir: enum mrpc_direction
 * @storage: the datapath's, or NULL
 * @prog: the programs that it is bound to, a reference, or NULL
 * @hook: their function that judges in this direction; NULL: there is none, or it must not run
 * @bound: for each service of the connection: references
 * @unfit: the datapath lacks what the programs need: they do not run
 * @rpc: the present message, or NULL
 * @paths: the fields in it, or NULL: it has none
 * @view: view of the message
 * @status: set by bpf_mrpc_status()
 * @detail: set by bpf_mrpc_status(), NUL-terminated
 * @delay: set by bpf_mrpc_delay(), ns
 * @judged: the rpc that was judged outside of a turn, and goes to the queue
 * @judged_call: id of its call
 * @verdict: its verdict
 * @late: delayed messages
 * @details: details of messages rejected in this turn: MRPC_POLICY_DETAILS of them, or NULL
 * @nr_details: number of details in use
 * @thrown: the programs were evicted because of this run, which is not reported yet
 * @runs: of programs
 * @ran: ns, of the measured runs
 * @measured: number of measured runs
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
 * @begun: it has had an init, and must have an exit. One that began without programs has neither;
 *	set before it is in use
 * @storage: mrpc_policy.storage bytes, for programs of both directions
 */
struct mrpc_policy_dp {
	struct mrpc_policy_run run[MRPC_DIRS];
	bool begun;
	u8 storage[] __aligned(8);
};

/*
 * An RCU section around programs that judge or choose. With preemption off it costs less, and the
 * measured time is the programs' own. On PREEMPT_RT spinlocks sleep, so functions that programs
 * call might sleep.
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

/* One run in 64 is measured; after a run that took too long, the next ones are, too. */
#define MRPC_POLICY_MEASURE	64

/**
 * struct mrpc_policy_clock - measures the time of a run
 * @start: ns; 0: it is not measured
 * @tick: kernel tick. In runs that are not measured, ticks during the run reveal those that take
 *	very long
 */
struct mrpc_policy_clock {
	u64 start;
	unsigned long tick;
};

/* Begins the measurement of a run of @prog, after @runs others. */
static inline struct mrpc_policy_clock mrpc_policy_begin(const struct mrpc_policy_prog *prog,
							 u64 runs)
{
	bool measure = !(runs % MRPC_POLICY_MEASURE) || READ_ONCE(prog->faults);

	return (struct mrpc_policy_clock){
		.start = measure ? local_clock() : 0,
		.tick = jiffies,
	};
}

/* Ends it. Return: ns of the run; negative: not known, but it was not very long. */
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

/* Return: the policy; NULL: it is of another type, or not a policy. */
static inline struct mrpc_policy *mrpc_policy_of_type(const struct mrpc_engine_ops *ops, u32 type)
{
	struct mrpc_policy *policy = mrpc_policy_of(ops);

	return mrpc_engine_is_policy(ops) && policy->class->type == type ? policy : NULL;
}

extern struct workqueue_struct *mrpc_policy_wq;	/* evicts policies, runs their ticks */

#endif /* MRPC_POLICY_POLICY_H */
