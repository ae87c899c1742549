// SPDX-License-Identifier: GPL-2.0
/*
 * The class of policies that judges messages: struct mrpc_policy_ops.
 */
#include <linux/btf.h>

#include "policy/class_judge.h"
#include "policy/declare.h"
#include "policy/policy.h"
#include "policy/registry.h"

#define POLICY_JUDGES	(MRPC_POLICY_HOOKS_REQUEST_TX | MRPC_POLICY_HOOKS_REQUEST_RX |	\
			 MRPC_POLICY_HOOKS_REPLY_TX | MRPC_POLICY_HOOKS_REPLY_RX)

static u32 policy_judges(const struct mrpc_policy_ops *ops)
{
	return (ops->request_tx ? MRPC_POLICY_HOOKS_REQUEST_TX : 0) |
	       (ops->request_rx ? MRPC_POLICY_HOOKS_REQUEST_RX : 0) |
	       (ops->reply_tx ? MRPC_POLICY_HOOKS_REPLY_TX : 0) |
	       (ops->reply_rx ? MRPC_POLICY_HOOKS_REPLY_RX : 0);
}

static void policy_take(struct mrpc_policy_prog *prog)
{
	const struct mrpc_policy_ops *ops = &prog->ops;

	prog->hooks = policy_judges(ops);
	prog->init = ops->init;
	prog->exit = ops->exit;
	prog->tick = ops->tick;
}

static const struct mrpc_policy_class policy_class = {
	.type		= MRPC_POLICY_TYPE_POLICY,
	.size		= sizeof(struct mrpc_policy_ops),
	.decl		= MRPC_POLICY_DECL_AT(mrpc_policy_ops),
	.flags		= MRPC_POLICY_FLAGS,
	.budget		= MRPC_POLICY_BUDGET,
	.budget_max	= NSEC_PER_SEC,
	.arranged	= POLICY_JUDGES,
	.engine		= &mrpc_policy_engine,
	.take		= policy_take,
};

static int policy_reg(void *kdata, struct bpf_link *link)
{
	return mrpc_policy_attach(&policy_class, kdata, link);
}

static int policy_validate(void *kdata)
{
	const struct mrpc_policy_ops *ops = kdata;

	return mrpc_policy_valid(&policy_class, ops, ops->tick) && policy_judges(ops) ? 0 : -EINVAL;
}

static int policy_init_member(const struct btf_type *t, const struct btf_member *member,
			      void *kdata, const void *udata)
{
	return mrpc_policy_init_member(&policy_class, t, member, kdata, udata);
}

static int policy_stub_judge(struct mrpc_policy_ctx *ctx)
{
	return MRPC_POLICY_PASS;
}

static void policy_stub_void(struct mrpc_policy_ctx *ctx)
{
}

static struct mrpc_policy_ops policy_stubs = {
	.request_tx	= policy_stub_judge,
	.request_rx	= policy_stub_judge,
	.reply_tx	= policy_stub_judge,
	.reply_rx	= policy_stub_judge,
	.init		= policy_stub_judge,
	.exit		= policy_stub_void,
	.tick		= policy_stub_void,
};

static struct bpf_struct_ops bpf_mrpc_policy_ops = {
	.verifier_ops	= &mrpc_policy_verifier_ops,
	.init		= mrpc_policy_btf_init,
	.check_member	= mrpc_policy_check_member,
	.init_member	= policy_init_member,
	.validate	= policy_validate,
	.reg		= policy_reg,
	.unreg		= mrpc_policy_detach,
	.update		= mrpc_policy_update,
	.cfi_stubs	= &policy_stubs,
	.name		= "mrpc_policy_ops",
	.owner		= THIS_MODULE,
};

int __init mrpc_policy_ops_init(void)
{
	return register_bpf_struct_ops(&bpf_mrpc_policy_ops, mrpc_policy_ops);
}
