// SPDX-License-Identifier: GPL-2.0
/*
 * The class of policies that ranks the datapaths of egress domains: struct mrpc_sched_ops.
 *
 * Programs run under the domain's lock and RCU, after a check that the policy has any. A policy
 * that has lost them ranks by priority, so that nothing waits for ever for lack of a program.
 */
#include <linux/btf.h>
#include <linux/rcupdate.h>

#include "core/engine.h"
#include "egress/domain.h"
#include "lib/egress.h"
#include "policy/class_rank.h"
#include "policy/declare.h"
#include "policy/policy.h"
#include "policy/rank.h"
#include "policy/registry.h"

/* -- running ---------------------------------------------------------------------- */

static struct mrpc_unit *sched_unit(struct mrpc_order_entity *e)
{
	return container_of(mrpc_egress_of(e), struct mrpc_unit, queue);
}

/* Updates the values that programs see; they change with each turn. */
static struct mrpc_sched_queue *sched_show(struct mrpc_unit *u)
{
	struct mrpc_sched_queue *q = &u->seen;

	q->left = u->queue.order.left;
	q->priority = u->queue.order.priority;
	q->begun = u->queue.begun;
	q->sent = u->port->sent;
	return q;
}

static void sched_end(struct mrpc_domain *d, struct mrpc_policy_prog *prog,
		      struct mrpc_policy_clock clock)
{
	s64 ns = mrpc_policy_end(clock);

	if (likely(ns < 0))
		return;
	d->measured++;
	d->ran += ns;
	mrpc_policy_took(d->sched, prog, "run", ns);
}

static u64 sched_rank(struct mrpc_order_entity *e)
{
	struct mrpc_unit *u = sched_unit(e);
	struct mrpc_domain *d = u->domain;
	struct mrpc_policy_prog *prog;
	u64 rank = U8_MAX - e->priority;
	struct mrpc_policy_clock clock;

	rcu_read_lock();
	prog = rcu_dereference(d->sched->prog);
	if (prog && prog->sched.rank) {
		clock = mrpc_policy_begin(prog, d->runs++);
		rank = prog->sched.rank(sched_show(u));
		sched_end(d, prog, clock);
	}
	rcu_read_unlock();
	return rank;
}

static bool sched_again(struct mrpc_order_entity *e)
{
	struct mrpc_unit *u = sched_unit(e);
	struct mrpc_domain *d = u->domain;
	struct mrpc_policy_prog *prog;
	bool again = false;
	struct mrpc_policy_clock clock;

	rcu_read_lock();
	prog = rcu_dereference(d->sched->prog);
	if (prog && prog->sched.dequeue) {
		clock = mrpc_policy_begin(prog, d->runs++);
		again = prog->sched.dequeue(sched_show(u));
		sched_end(d, prog, clock);
	}
	rcu_read_unlock();
	return again;
}

static void sched_charge(struct mrpc_order_entity *e, s64 cost)
{
	struct mrpc_unit *u = sched_unit(e);
	struct mrpc_domain *d = u->domain;
	struct mrpc_policy_prog *prog;
	struct mrpc_policy_clock clock;

	rcu_read_lock();
	prog = rcu_dereference(d->sched->prog);
	if (prog && prog->sched.charge) {
		clock = mrpc_policy_begin(prog, d->runs++);
		prog->sched.charge(sched_show(u), cost);
		sched_end(d, prog, clock);
	}
	rcu_read_unlock();
}

/* Ranker of domains that have a policy; called under their lock. */
const struct mrpc_order_ranker mrpc_sched_ranker = {
	.rank	= sched_rank,
	.again	= sched_again,
	.charge	= sched_charge,
};

__bpf_kfunc_start_defs();

/**
 * bpf_mrpc_own() - get the discipline's memory for a datapath in its domain
 * @q: the program's
 * @rdwr_buf_size: its bytes, a constant, at most MRPC_SCHED_OWN
 *
 * It is zero when the datapath joins the domain, or the domain gets the discipline. It stays when
 * programs are replaced. Return: the memory, or NULL.
 */
__bpf_kfunc u8 *bpf_mrpc_own(struct mrpc_sched_queue *q, const size_t rdwr_buf_size)
{
	struct mrpc_port *port = container_of(q, struct mrpc_unit, seen)->port;

	return rdwr_buf_size && rdwr_buf_size <= sizeof(port->own) ? port->own : NULL;
}

__bpf_kfunc_end_defs();

/**
 * mrpc_sched_generation() - which programs does a policy rank by now?
 * @policy: the policy, referenced
 *
 * Return: their generation; 0: it has none.
 */
u64 mrpc_sched_generation(struct mrpc_policy *policy)
{
	const struct mrpc_policy_prog *prog;
	u64 generation;

	rcu_read_lock();
	prog = rcu_dereference(policy->prog);
	generation = prog ? prog->generation : 0;
	rcu_read_unlock();
	return generation;
}

/* -- the type ---------------------------------------------------------------------- */

static int sched_place(struct mrpc_group *g, const struct mrpc_group *prev,
		       struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG_FMT(extack, "policy '%.29s' is an egress discipline: mrpc egress set",
			   g->ops->name);
	return -EOPNOTSUPP;
}

/* It cannot be placed among engines. */
static const struct mrpc_engine_ops sched_engine = {
	.flags		= MRPC_ENGINE_NO_STAGE,
	.doc		= "A policy in eBPF that is an egress discipline.",
	.group_create	= sched_place,
};

static void sched_take(struct mrpc_policy_prog *prog)
{
	const struct mrpc_sched_ops *ops = &prog->sched;

	prog->hooks = (ops->rank ? MRPC_POLICY_HOOKS_RANK : 0) |
		      (ops->dequeue ? MRPC_POLICY_HOOKS_DEQUEUE : 0) |
		      (ops->charge ? MRPC_POLICY_HOOKS_CHARGE : 0);
}

static const struct mrpc_policy_class sched_class = {
	.type		= MRPC_POLICY_TYPE_SCHED,
	.size		= sizeof(struct mrpc_sched_ops),
	.decl		= MRPC_POLICY_DECL_AT(mrpc_sched_ops),
	.budget		= MRPC_SCHED_BUDGET,
	.budget_max	= MRPC_SCHED_BUDGET_MAX,
	.engine		= &sched_engine,
	.take		= sched_take,
};

/**
 * mrpc_sched_get() - find the policy that is the discipline of this name
 * @name: its name
 * @extack: why not
 *
 * Context: process; may sleep. Return: the policy, with a reference, or an ERR_PTR.
 */
struct mrpc_policy *mrpc_sched_get(const char *name, struct netlink_ext_ack *extack)
{
	const struct mrpc_engine_ops *ops = mrpc_engine_try(name, 0);
	struct mrpc_policy *policy;

	if (!ops) {
		NL_SET_ERR_MSG_FMT(extack, "no discipline '%.12s': fifo, strict, small-first, deadline or a policy",
				   name);
		return ERR_PTR(-ENOENT);
	}
	policy = mrpc_policy_of_type(ops, MRPC_POLICY_TYPE_SCHED);
	if (!policy) {
		NL_SET_ERR_MSG_FMT(extack, "'%s' is an engine type, not a discipline", name);
		mrpc_engine_put(ops);
		return ERR_PTR(-EINVAL);
	}
	if (!mrpc_sched_generation(policy)) {
		NL_SET_ERR_MSG_FMT(extack, "policy '%s' has no program any more", name);
		mrpc_engine_put(ops);
		return ERR_PTR(-ENOENT);
	}
	return policy;
}

/**
 * mrpc_sched_put() - end of mrpc_sched_get()
 * @policy: the policy, or NULL
 *
 * Context: process; may sleep.
 */
void mrpc_sched_put(struct mrpc_policy *policy)
{
	if (policy)
		mrpc_engine_put(&policy->engine);
}

const struct mrpc_discipline_ops mrpc_sched_discipline = {
	.put		= mrpc_sched_put,
	.generation	= mrpc_sched_generation,
};

/* -- struct_ops ---------------------------------------------------------------------- */

static int sched_reg(void *kdata, struct bpf_link *link)
{
	return mrpc_policy_attach(&sched_class, kdata, link);
}

static int sched_validate(void *kdata)
{
	const struct mrpc_sched_ops *ops = kdata;

	if (!mrpc_policy_valid(&sched_class, ops, false) || ops->storage || *ops->fields[0] ||
	    *ops->counters[0] || mrpc_discipline_of(ops->name) >= 0)
		return -EINVAL;
	return ops->rank || ops->dequeue || ops->charge ? 0 : -EINVAL;
}

static int sched_init_member(const struct btf_type *t, const struct btf_member *member,
			     void *kdata, const void *udata)
{
	return mrpc_policy_init_member(&sched_class, t, member, kdata, udata);
}

static u64 sched_stub_rank(struct mrpc_sched_queue *q)
{
	return 0;
}

static int sched_stub_dequeue(struct mrpc_sched_queue *q)
{
	return 0;
}

static void sched_stub_charge(struct mrpc_sched_queue *q, s64 bytes)
{
}

static struct mrpc_sched_ops sched_stubs = {
	.rank		= sched_stub_rank,
	.dequeue	= sched_stub_dequeue,
	.charge		= sched_stub_charge,
};

static struct bpf_struct_ops bpf_mrpc_sched_ops = {
	.verifier_ops	= &mrpc_policy_verifier_ops,
	.init		= mrpc_policy_btf_init,
	.check_member	= mrpc_policy_check_member,
	.init_member	= sched_init_member,
	.validate	= sched_validate,
	.reg		= sched_reg,
	.unreg		= mrpc_policy_detach,
	.update		= mrpc_policy_update,
	.cfi_stubs	= &sched_stubs,
	.name		= "mrpc_sched_ops",
	.owner		= THIS_MODULE,
};

int __init mrpc_sched_ops_init(void)
{
	return register_bpf_struct_ops(&bpf_mrpc_sched_ops, mrpc_sched_ops);
}
