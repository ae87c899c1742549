// SPDX-License-Identifier: GPL-2.0
/*
 * Choosers: see policy/choose.h.
 *
 * A chooser belongs to a set of replicas. It stays with the set if another configuration of the
 * engine names the same policy, so that the state of its programs survives. Its two runs are those
 * of a datapath under a policy. MRPC_TX is for pick: the owner of the transmit claim uses it.
 * MRPC_RX is for done, under the set's chooser_lock. If programs are missing, fail or return
 * nonsense, the engine's own policy chooses.
 */
#include "core/engine.h"
#include "core/engine_count.h"
#include "core/rpc.h"
#include "policy/choose.h"
#include "policy/instance.h"
#include "policy/judge.h"
#include "policy/policy.h"
#include "replica/replica.h"
#include "replica/show.h"

/**
 * struct mrpc_chooser - a policy that chooses among the replicas of a set
 * @users: instances; under @set->chooser_lock
 * @list: entry of @set->choosers; under @set->chooser_lock
 * @set: its set; an instance keeps it
 * @policy: the policy; the instance's group keeps it
 * @dp: its runs and storage
 * @candidates: what pick sees; of the owner of the transmit claim, as is the next
 * @unfit: choices of replicas that were not fit
 */
struct mrpc_chooser {
	u32 users;
	struct list_head list;
	struct mrpc_replicas *set;
	struct mrpc_policy *policy;
	struct mrpc_policy_dp *dp;
	struct mrpc_candidates candidates;
	u64 unfit;
};

/* -- configuration ---------------------------------------------------------------- */

/* "NAME" or "NAME@VERSION", split in place. Return: the version; 0: the newest; -EINVAL. */
static int chooser_version(char *name, struct netlink_ext_ack *extack)
{
	char *at = strchr(name, '@');
	int version;

	if (!at)
		return 0;
	*at++ = 0;
	if (!kstrtoint(at, 10, &version) && version > 0)
		return version;
	NL_SET_ERR_MSG_FMT(extack, "'%.20s' is no version of a chooser: it must be 1 or more", at);
	return -EINVAL;
}

static int chooser_find(struct mrpc_group *group, const char *name, u32 version,
			struct netlink_ext_ack *extack)
{
	const struct mrpc_engine_ops *ops = mrpc_engine_try(name, version);

	if (!ops) {
		NL_SET_ERR_MSG_FMT(extack, "there is no policy '%.18s'%s to choose: load it first",
				   name, version ? " of that version" : "");
		return -ENOENT;
	}
	if (mrpc_policy_of_type(ops, MRPC_POLICY_TYPE_LB)) {
		group->also = ops;
		return 0;
	}
	NL_SET_ERR_MSG_FMT(extack, "'%.31s' cannot choose: it must be a policy of type lb", name);
	mrpc_engine_put(ops);
	return -EINVAL;
}

/**
 * mrpc_chooser_use() - set the chooser of a configuration
 * @group: the configuration being made; its group_create() calls this
 * @prev: the one that it replaces, or NULL. If both give the same name, the policy stays, even if
 *	there is a newer version now
 * @param: number of the parameter, at most MRPC_CHOOSER_NAME bytes: "NAME" or
 *	"NAME@VERSION"; "none" or nothing
 * @extack: why not
 *
 * Context: process; may sleep. Return: 0 or a negative errno.
 */
int mrpc_chooser_use(struct mrpc_group *group, const struct mrpc_group *prev, u32 param,
		     struct netlink_ext_ack *extack)
{
	const struct mrpc_value *value = &group->values[param];
	char name[MRPC_CHOOSER_NAME + 1];
	int version;

	if (!value->len || !strcmp(value->data, "none"))
		return 0;
	if (prev && prev->also && !strcmp(prev->values[param].data, value->data) &&
	    mrpc_engine_hold(prev->also)) {
		group->also = prev->also;
		return 0;
	}
	strscpy(name, value->data);
	version = chooser_version(name, extack);
	return version < 0 ? version : chooser_find(group, name, version, extack);
}
EXPORT_SYMBOL_GPL(mrpc_chooser_use);

/* -- instances --------------------------------------------------------------------- */

/* It begins even without programs: meanwhile the engine's own policy chooses. */
static struct mrpc_chooser *chooser_new(struct mrpc_replicas *set, struct mrpc_policy *policy,
					const struct mrpc_engine *e, struct netlink_ext_ack *extack)
{
	struct mrpc_chooser *chooser = kzalloc(sizeof(*chooser), GFP_KERNEL_ACCOUNT);
	int err;

	if (!chooser)
		return ERR_PTR(-ENOMEM);
	chooser->users = 1;
	chooser->set = set;
	chooser->policy = policy;
	chooser->dp = mrpc_policy_dp_new(policy, e->conn, e->services);
	err = chooser->dp ? mrpc_policy_dp_begin(chooser->dp, extack) : -ENOMEM;
	if (!err || (err == -ENOENT && !chooser->dp->run[MRPC_TX].prog)) {
		chooser->dp->run[MRPC_RX].ctx.kind = MRPC_POLICY_NO_MESSAGE;
		return chooser;
	}
	if (chooser->dp)
		mrpc_policy_dp_free(chooser->dp);
	kfree(chooser);
	return ERR_PTR(err);
}

/* Under set->chooser_lock. */
static struct mrpc_chooser *chooser_of(struct mrpc_replicas *set, const struct mrpc_policy *policy)
{
	struct mrpc_chooser *chooser;

	list_for_each_entry(chooser, &set->choosers, list) {
		if (chooser->policy == policy) {
			chooser->users++;
			return chooser;
		}
	}
	return NULL;
}

/**
 * mrpc_chooser_get() - get the chooser that an instance's configuration names
 * @set: the replicas of the instance
 * @e: the instance; its create() calls this
 * @extack: why not
 *
 * Context: process; may sleep. Return: the chooser, to be put before the set; NULL: the
 * configuration names none; or an ERR_PTR: it does not fit the connection, or refuses it.
 */
struct mrpc_chooser *mrpc_chooser_get(struct mrpc_replicas *set, struct mrpc_engine *e,
				      struct netlink_ext_ack *extack)
{
	struct mrpc_chooser *chooser;
	struct mrpc_policy *policy;

	if (!e->group->also)
		return NULL;
	policy = mrpc_policy_of(e->group->also);
	if (policy->flags & MRPC_POLICY_AGES)
		e->flags |= MRPC_ENGINE_TIMES;
	mutex_lock(&set->chooser_lock);
	chooser = chooser_of(set, policy);
	if (!chooser) {
		chooser = chooser_new(set, policy, e, extack);
		if (!IS_ERR(chooser)) {
			if (!set->done)	/* once set, it is read without the lock */
				set->done = mrpc_chooser_done;
			list_add(&chooser->list, &set->choosers);
		}
	}
	mutex_unlock(&set->chooser_lock);
	return chooser;
}
EXPORT_SYMBOL_GPL(mrpc_chooser_get);

/**
 * mrpc_chooser_put() - drop an instance's reference to its chooser
 * @chooser: the chooser
 *
 * Context: process; may sleep.
 */
void mrpc_chooser_put(struct mrpc_chooser *chooser)
{
	struct mrpc_replicas *set = chooser->set;
	bool last;

	mutex_lock(&set->chooser_lock);
	last = !--chooser->users;
	if (last) {
		list_del(&chooser->list);
		/* The chooser of another configuration may just have replaced it. */
		cmpxchg(&set->chooser, chooser, NULL);
	}
	mutex_unlock(&set->chooser_lock);
	if (!last)
		return;
	mrpc_policy_dp_end(chooser->dp);
	kfree(chooser);
}
EXPORT_SYMBOL_GPL(mrpc_chooser_put);

/* -- programs ------------------------------------------------------------------------ */

/*
 * Enters the section in which a program runs, with preemption disabled. So it is not replaced, and
 * its time is its own. @rpc: the message, or NULL. Return: false: there are no programs, or they do
 * not fit the connection.
 */
static __always_inline bool chooser_enter(struct mrpc_policy_run *run, struct mrpc_rpc *rpc)
{
	const struct mrpc_policy *policy = run->policy;

	for (;;) {
		if (unlikely(rcu_access_pointer(policy->prog) != run->prog) &&
		    mrpc_policy_rebind(run))
			return false;
		if (unlikely(!run->prog || run->unfit))
			return false;
		if (rpc)
			mrpc_policy_show(run, rpc);
		mrpc_policy_enter();
		if (likely(rcu_access_pointer(policy->prog) == run->prog))
			return true;
		mrpc_policy_leave();
	}
}

static struct mrpc_policy_clock chooser_start(struct mrpc_policy_run *run)
{
	u64 runs = run->runs;

	mrpc_policy_count(&run->runs);
	return mrpc_policy_begin(run->prog, runs);
}

static void chooser_stop(struct mrpc_policy_run *run, struct mrpc_policy_clock clock)
{
	s64 ns = mrpc_policy_end(clock);

	if (unlikely(ns >= 0))
		mrpc_policy_ran(run, ns);
}

/* Return: the index of a candidate that may get the call, or -1. */
static int chooser_choice(struct mrpc_chooser *chooser, u32 fit, int choice)
{
	struct mrpc_policy_run *run = &chooser->dp->run[MRPC_TX];
	u32 nr = chooser->candidates.nr;

	if (choice >= 0 && choice < nr && fit & BIT(choice))
		return choice;
	if (choice >= 0 && choice < nr) {
		mrpc_policy_count(&chooser->unfit);
	} else if (choice != MRPC_LB_ANY) {
		mrpc_policy_count(&run->errors);
		run->thrown |= mrpc_policy_fault(run->policy, run->prog,
						 "it chose %d of %u candidates", choice, nr);
	}
	return -1;
}

/* If programs were evicted because of one of the two runs, one instance reports it. */
static void chooser_tell(struct mrpc_chooser *chooser, struct mrpc_engine *e)
{
	bool thrown = false;
	int dir;

	for (dir = 0; dir < MRPC_DIRS; dir++)
		thrown |= xchg(&chooser->dp->run[dir].thrown, false);
	if (thrown)
		mrpc_policy_tell(chooser->policy, e);
}

static void chooser_wants(struct mrpc_replicas *set, bool outcomes)
{
	if (unlikely(READ_ONCE(set->outcomes) != outcomes))
		WRITE_ONCE(set->outcomes, outcomes);
}

/**
 * mrpc_chooser_pick() - let the programs choose a replica for a call
 * @chooser: the chooser
 * @e: the instance
 * @rpc: the request
 *
 * Context: owner of the transmit claim of the set's connection.
 * Return: the index of a replica, as mrpc_replicas_pick() takes it; -1: any.
 */
int mrpc_chooser_pick(struct mrpc_chooser *chooser, struct mrpc_engine *e, struct mrpc_rpc *rpc)
{
	struct mrpc_policy_run *run = &chooser->dp->run[MRPC_TX];
	struct mrpc_candidates *c = &chooser->candidates;
	struct mrpc_policy_clock clock;
	int choice = MRPC_LB_ANY;
	u32 fit;

	if (unlikely(READ_ONCE(chooser->set->chooser) != chooser))
		/* Pairs with mrpc_replica_outcome(), which reads set->done. */
		smp_store_release(&chooser->set->chooser, chooser);
	if (!mrpc_replicas_show(chooser->set, c))
		return -1;
	fit = c->set.fit;
	if (unlikely(!chooser_enter(run, rpc))) {
		mrpc_policy_count(&run->fallbacks);
		chooser_tell(chooser, e);
		return -1;
	}
	chooser_wants(chooser->set, run->prog->lb.done);
	if (likely(run->prog->lb.pick)) {
		clock = chooser_start(run);
		choice = run->prog->lb.pick(&run->ctx, &c->set);
		chooser_stop(run, clock);
	}
	mrpc_policy_leave();
	run->rpc = NULL;
	choice = chooser_choice(chooser, fit, choice);
	if (unlikely(run->thrown))
		chooser_tell(chooser, e);
	return choice;
}
EXPORT_SYMBOL_GPL(mrpc_chooser_pick);

/* Under set->chooser_lock. */
static void chooser_done(struct mrpc_chooser *chooser, const struct mrpc_call *call,
			 struct mrpc_lb_done *end)
{
	struct mrpc_policy_run *run = &chooser->dp->run[MRPC_RX];
	struct mrpc_policy_ctx *ctx = &run->ctx;
	struct mrpc_policy_clock clock;

	if (!chooser_enter(run, NULL))
		return;
	if (run->prog->lb.done) {
		ctx->call = call->id;
		ctx->service = call->method >> 16;
		ctx->method = call->method & 0xffff;
		ctx->status = end->status;
		clock = chooser_start(run);
		run->prog->lb.done(ctx, end);
		chooser_stop(run, clock);
	}
	mrpc_policy_leave();
}

/**
 * mrpc_chooser_done() - tell the programs that a replica no longer has a call
 * @set: the set of the replica
 * @call: the call
 * @end: data for the programs
 *
 * Context: process; may sleep.
 */
void mrpc_chooser_done(struct mrpc_replicas *set, const struct mrpc_call *call,
		       struct mrpc_lb_done *end)
{
	struct mrpc_chooser *chooser;

	mutex_lock(&set->chooser_lock);
	chooser = READ_ONCE(set->chooser);	/* it can change; no chooser ends under the lock */
	if (chooser)
		chooser_done(chooser, call, end);
	mutex_unlock(&set->chooser_lock);
}

/**
 * mrpc_chooser_dump() - put the counters of the programs on a datapath
 * @chooser: the chooser
 * @skb: destination
 *
 * Return: 0 or -EMSGSIZE.
 */
int mrpc_chooser_dump(const struct mrpc_chooser *chooser, struct sk_buff *skb)
{
	return mrpc_engine_put_u64(skb, "unfit", READ_ONCE(chooser->unfit)) ?:
	       mrpc_policy_dump(chooser->dp, skb);
}
EXPORT_SYMBOL_GPL(mrpc_chooser_dump);
