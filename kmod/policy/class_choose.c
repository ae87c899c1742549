// SPDX-License-Identifier: GPL-2.0
/*
 * The class of policies that chooses among replicas: struct mrpc_lb_ops. It is an engine type
 * like the others, by name and version, but is not placed: an engine that balances has it as
 * its chooser.
 */
#include <linux/btf.h>

#include "core/engine.h"
#include "policy/class_choose.h"
#include "policy/declare.h"
#include "policy/policy.h"
#include "policy/registry.h"

static void lb_take(struct mrpc_policy_prog *prog)
{
	const struct mrpc_lb_ops *ops = &prog->lb;

	prog->hooks = (ops->pick ? MRPC_POLICY_HOOKS_PICK : 0) |
		      (ops->done ? MRPC_POLICY_HOOKS_DONE : 0);
	prog->init = ops->init;
	prog->exit = ops->exit;
	prog->tick = ops->tick;
}

static int lb_group_create(struct mrpc_group *group, const struct mrpc_group *prev,
			   struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG_FMT(extack, "'%.31s' is not placed: it is a chooser for lb",
			   group->ops->name);
	return -EINVAL;
}

static const struct mrpc_engine_ops lb_engine = {
	.flags		= MRPC_ENGINE_NO_STAGE,
	.doc		= "A policy in eBPF that chooses among replicas, for the engine lb.",
	.group_create	= lb_group_create,
};

static const struct mrpc_policy_class lb_class = {
	.type		= MRPC_POLICY_TYPE_LB,
	.size		= sizeof(struct mrpc_lb_ops),
	.decl		= MRPC_POLICY_DECL_AT(mrpc_lb_ops),
	.flags		= MRPC_POLICY_AGES,
	.budget		= MRPC_POLICY_BUDGET,
	.budget_max	= NSEC_PER_SEC,
	.engine		= &lb_engine,
	.take		= lb_take,
};

static int lb_reg(void *kdata, struct bpf_link *link)
{
	return mrpc_policy_attach(&lb_class, kdata, link);
}

static int lb_validate(void *kdata)
{
	const struct mrpc_lb_ops *ops = kdata;

	return mrpc_policy_valid(&lb_class, ops, ops->tick) && (ops->pick || ops->done) ?
	       0 : -EINVAL;
}

static int lb_init_member(const struct btf_type *t, const struct btf_member *member,
			  void *kdata, const void *udata)
{
	return mrpc_policy_init_member(&lb_class, t, member, kdata, udata);
}

static int lb_stub_pick(struct mrpc_policy_ctx *ctx, struct mrpc_lb_set *set)
{
	return MRPC_LB_ANY;
}

static void lb_stub_done(struct mrpc_policy_ctx *ctx, struct mrpc_lb_done *end)
{
}

static int lb_stub_init(struct mrpc_policy_ctx *ctx)
{
	return 0;
}

static void lb_stub_void(struct mrpc_policy_ctx *ctx)
{
}

static struct mrpc_lb_ops lb_stubs = {
	.pick	= lb_stub_pick,
	.done	= lb_stub_done,
	.init	= lb_stub_init,
	.exit	= lb_stub_void,
	.tick	= lb_stub_void,
};

static struct bpf_struct_ops bpf_mrpc_lb_ops = {
	.verifier_ops	= &mrpc_policy_verifier_ops,
	.init		= mrpc_policy_btf_init,
	.check_member	= mrpc_policy_check_member,
	.init_member	= lb_init_member,
	.validate	= lb_validate,
	.reg		= lb_reg,
	.unreg		= mrpc_policy_detach,
	.update		= mrpc_policy_update,
	.cfi_stubs	= &lb_stubs,
	.name		= "mrpc_lb_ops",
	.owner		= THIS_MODULE,
};

int __init mrpc_policy_lb_init(void)
{
	return register_bpf_struct_ops(&bpf_mrpc_lb_ops, mrpc_lb_ops);
}
