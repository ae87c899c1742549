// SPDX-License-Identifier: GPL-2.0
/* The struct_ops types that policies are of. */
#include <string.h>

#include "cli/util.h"
#include "policy/object.h"
#include "policy/type.h"

static const char *const policy_hooks[] = {
	"request_tx", "request_rx", "reply_tx", "reply_rx", "init", "exit", "tick",
};

static const char *const lb_hooks[] = { "pick", "done", "init", "exit", "tick" };

static char *check_policy(const struct policy *p)
{
	uint32_t wrong = p->decl->flags & ~MRPC_POLICY_FLAGS;

	if (wrong)
		return text_printf("flags is %#x, of which %#x has no meaning: "
				   "MRPC_POLICY_WRITES, _RANKS and _AGES have",
				   p->decl->flags, wrong);
	if (!policy_has(p, "request_tx") && !policy_has(p, "request_rx") &&
	    !policy_has(p, "reply_tx") && !policy_has(p, "reply_rx"))
		return text_printf("it has no program that judges messages: it must have one of "
				   "request_tx, request_rx, reply_tx and reply_rx");
	return NULL;
}

static const char *const sched_hooks[] = { "rank", "dequeue", "charge" };

static char *check_sched(const struct policy *p)
{
	static const char *const ours[] = { "fifo", "strict", "small-first", "deadline" };
	size_t i;

	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!strcmp(p->decl->name, ours[i]))
			return text_printf("'%s' is the name of a discipline that is no policy",
					   ours[i]);
	if (p->decl->flags)
		return text_printf("flags is %#x: of an egress discipline it must be 0",
				   p->decl->flags);
	if (p->decl->storage)
		return text_printf("storage is %u: an egress discipline has bpf_mrpc_own()",
				   p->decl->storage);
	if (*p->decl->fields[0] || *p->decl->counters[0])
		return text_printf("an egress discipline has neither fields nor counters");
	if (!policy_has(p, "rank") && !policy_has(p, "dequeue") && !policy_has(p, "charge"))
		return text_printf("it has no program: it must have one of rank, dequeue and charge");
	return NULL;
}

static char *check_lb(const struct policy *p)
{
	uint32_t wrong = p->decl->flags & ~MRPC_POLICY_AGES;

	if (wrong)
		return text_printf("flags is %#x, of which %#x has no meaning where replicas are "
				   "chosen: MRPC_POLICY_AGES has",
				   p->decl->flags, wrong);
	if (!policy_has(p, "pick") && !policy_has(p, "done"))
		return text_printf("it has no program that chooses: it must have pick, or done");
	return NULL;
}

#define TYPE(word, hook_names, most) {						\
	.name		= #word,						\
	.budget		= (most),						\
	.ops		= "mrpc_" #word "_ops",					\
	.size		= sizeof(struct mrpc_##word##_ops),			\
	.nr_hooks	= sizeof(hook_names) / sizeof(hook_names[0]),		\
	.hooks		= hook_names,						\
	.check		= check_##word,						\
}

const struct policy_type policy_types[] = {
	TYPE(policy, policy_hooks, 1000000000),
	TYPE(sched, sched_hooks, MRPC_SCHED_BUDGET_MAX),
	TYPE(lb, lb_hooks, 1000000000),
	{ }
};

bool policy_has(const struct policy *p, const char *hook)
{
	void *const *functions = p->ops;
	size_t i;

	for (i = 0; i < p->type->nr_hooks; i++)
		if (!strcmp(p->type->hooks[i], hook))
			return functions[i];
	return false;
}
