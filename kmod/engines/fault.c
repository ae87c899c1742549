// SPDX-License-Identifier: GPL-2.0
/*
 * fault: makes some requests fail and others late, to test applications.
 *
 * Rules come first. The first rule that matches applies to its share of the requests that it
 * matches. The percentages are for requests that no rule matches.
 */
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "chain/delay.h"
#include "core/engine.h"
#include "core/engine_count.h"
#include "core/rpc.h"
#include "lib/rule/rule.h"
#include "rules/rules.h"

enum {
	PARAM_ABORT_PERCENT,
	PARAM_ABORT_STATUS,
	PARAM_DELAY_PERCENT,
	PARAM_DELAY,
	PARAM_RULES,
};

/* mrpc_rule.action */
enum {
	FAULT_NONE,
	FAULT_ABORT,	/* with mrpc_rule.status and detail, or as the parameters say */
	FAULT_DELAY,	/* by mrpc_rule.arg ns, or as the parameters say */
};

#define FAULT_PERCENT_ALL	10000		/* hundredths of a percent */
#define FAULT_DELAY_MAX		(3600ULL * NSEC_PER_SEC)

static const char *const fault_statuses[] = {
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
	"ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
	"ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
	"UNAUTHENTICATED", NULL
};

static const struct mrpc_param fault_params[] = {
	[PARAM_ABORT_PERCENT] = {
		.name	= "abort_percent",
		.type	= MRPC_PARAM_U64,
		.unit	= "0.01%",
		.doc	= "of requests that fail",
		.max	= FAULT_PERCENT_ALL,
	},
	[PARAM_ABORT_STATUS] = {
		.name	 = "abort_status",
		.type	 = MRPC_PARAM_CHOICE,
		.doc	 = "with which they fail",
		.def	 = MRPC_UNAVAILABLE,
		.choices = fault_statuses,
	},
	[PARAM_DELAY_PERCENT] = {
		.name	= "delay_percent",
		.type	= MRPC_PARAM_U64,
		.unit	= "0.01%",
		.doc	= "of the other requests that are late",
		.max	= FAULT_PERCENT_ALL,
	},
	[PARAM_DELAY] = {
		.name	= "delay",
		.type	= MRPC_PARAM_U64,
		.unit	= "ns",
		.doc	= "by which they are late",
		.max	= FAULT_DELAY_MAX,
	},
	[PARAM_RULES] = {
		.name	= "rules",
		.type	= MRPC_PARAM_RULES,
		.doc	= "what goes before the percentages: 0 nothing, 1 abort, 2 delay",
		.max	= MRPC_RULES_MAX_LEN,
	},
};

struct fault_group {
	u32 abort_percent;
	u32 delay_percent;
	u16 abort_status;
	u64 delay;
	struct mrpc_ruleset *rules;
};

/**
 * struct fault - an instance; only the owner of the requests' claim writes it
 * @bound: the rules, if there are any
 * @late: requests that wait
 * @aborted: number of aborted requests
 * @delayed: number of delayed requests
 */
struct fault {
	struct mrpc_bound_conn bound;
	struct mrpc_late late;
	u64 aborted;
	u64 delayed;
};

/**
 * struct fault_plan - what to do with a request
 * @status: it fails with this, or MRPC_OK
 * @delay: ns to delay it
 */
struct fault_plan {
	u16 status;
	u64 delay;
};

/* -- configuration ------------------------------------------------------------ */

static int fault_check_rules(const struct mrpc_rules *rules, struct netlink_ext_ack *extack)
{
	u32 i;

	for (i = 0; i < rules->nr_rules; i++) {
		const struct mrpc_rule *rule = &rules->rules[i];

		if (rule->action > FAULT_DELAY) {
			NL_SET_ERR_MSG_FMT(extack, "rule %u: action %u; fault knows 0 (nothing), 1 (abort) and 2 (delay)",
					   i + 1, rule->action);
			return -EINVAL;
		}
		if (rule->detail_len || (rule->status && rule->action != FAULT_ABORT)) {
			NL_SET_ERR_MSG_FMT(extack, "rule %u: fault takes a status to abort with, and no detail",
					   i + 1);
			return -EINVAL;
		}
		if (rule->arg > (rule->action == FAULT_DELAY ? FAULT_DELAY_MAX : 0)) {
			NL_SET_ERR_MSG_FMT(extack, "rule %u: argument %llu; only a delay has one, of at most %llu ns",
					   i + 1, rule->arg, FAULT_DELAY_MAX);
			return -EINVAL;
		}
	}
	return 0;
}

static int fault_group_create(struct mrpc_group *group, const struct mrpc_group *prev,
			      struct netlink_ext_ack *extack)
{
	const struct fault_group *old = prev ? prev->priv : NULL;
	const struct mrpc_value *v = group->values;
	struct fault_group *g;
	int err = 0;

	if (v[PARAM_ABORT_STATUS].num == MRPC_OK) {
		NL_SET_ERR_MSG(extack, "abort_status is OK, which is no failure");
		return -EINVAL;
	}
	if (v[PARAM_DELAY_PERCENT].num && !v[PARAM_DELAY].num) {
		NL_SET_ERR_MSG(extack, "delay_percent is given, but delay is 0");
		return -EINVAL;
	}
	g = kzalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);
	if (!g)
		return -ENOMEM;
	g->abort_percent = v[PARAM_ABORT_PERCENT].num;
	g->abort_status = v[PARAM_ABORT_STATUS].num;
	g->delay_percent = v[PARAM_DELAY_PERCENT].num;
	g->delay = v[PARAM_DELAY].num;
	g->rules = mrpc_ruleset_new(group, PARAM_RULES, old ? old->rules : NULL, extack);
	if (IS_ERR(g->rules)) {
		err = PTR_ERR(g->rules);
		g->rules = NULL;
	} else if (g->rules) {
		err = fault_check_rules(g->rules->rules, extack);
	}
	if (err) {
		mrpc_ruleset_free(g->rules);
		kfree(g);
	} else {
		group->priv = g;
	}
	return err;
}

static void fault_group_destroy(struct mrpc_group *group)
{
	struct fault_group *g = group->priv;

	mrpc_ruleset_free(g->rules);
	kfree(g);
}

static int fault_attach(struct fault *f, struct mrpc_engine *e, const struct fault_group *g)
{
	int err = mrpc_ruleset_attach(g->rules, e, &f->bound);

	if (!err)
		e->dirs = BIT(e->requests);
	return err;
}

static int fault_create(struct mrpc_engine *e, struct netlink_ext_ack *extack)
{
	struct fault *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	const struct fault_group *g = e->group->priv;
	int err;

	if (!f)
		return -ENOMEM;
	mrpc_late_init(&f->late);
	err = fault_attach(f, e, g);
	if (err)
		kfree(f);
	else
		e->priv = f;
	return err;
}

static void fault_destroy(struct mrpc_engine *e)
{
	struct fault *f = e->priv;

	mrpc_ruleset_detach(&f->bound);
	kfree(f);
}

static int fault_configure(struct mrpc_engine *e, struct mrpc_group *group,
			   struct netlink_ext_ack *extack)
{
	const struct fault_group *g = group->priv;
	struct fault *f = e->priv;

	return fault_attach(f, e, g);
}

/* -- the datapath ----------------------------------------------------------------- */

static bool fault_hit(u32 percent)
{
	return percent && get_random_u32_below(FAULT_PERCENT_ALL) < percent;
}

static struct fault_plan fault_by_rule(const struct fault_group *g, const struct mrpc_rule *rule)
{
	struct fault_plan plan = {};

	if (rule->share < MRPC_RULE_SHARE_ALL &&
	    get_random_u32_below(MRPC_RULE_SHARE_ALL) >= rule->share)
		return plan;
	if (rule->action == FAULT_ABORT)
		plan.status = rule->status ?: g->abort_status;
	else if (rule->action == FAULT_DELAY)
		plan.delay = rule->arg ?: g->delay;
	return plan;
}

static struct fault_plan fault_plan(const struct fault_group *g, const struct fault *f,
				    struct mrpc_rpc *rpc)
{
	struct fault_plan plan = {};

	if (g->rules) {
		const struct mrpc_rule *rule = mrpc_ruleset_judge(&f->bound, rpc).rule;

		if (rule)
			return fault_by_rule(g, rule);
	}
	if (fault_hit(g->abort_percent))
		plan.status = g->abort_status;
	else if (fault_hit(g->delay_percent))
		plan.delay = g->delay;
	return plan;
}

/* Delays a request. Return: false: there is no memory; then it is not late. */
static bool fault_keep(struct fault *f, struct mrpc_queue *in, struct mrpc_rpc *rpc, u64 delay)
{
	if (!mrpc_late_keep(&f->late, in, rpc, ktime_get_ns() + delay))
		return false;
	WRITE_ONCE(f->delayed, f->delayed + 1);
	return true;
}

static u64 fault_do_work(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *in,
			 struct mrpc_queue *out, int budget)
{
	const struct fault_group *g = e->group->priv;
	struct fault *f = e->priv;
	struct mrpc_rpc *rpc;

	if (dir != e->requests) {
		mrpc_queue_pass(in, out, budget);
		return 0;
	}
	if (!mrpc_late_empty(&f->late))
		mrpc_late_release(&f->late, out, ktime_get_ns());
	for (; budget && (rpc = mrpc_queue_peek(in)); budget--) {
		struct fault_plan plan = fault_plan(g, f, rpc);

		if (plan.status) {
			WRITE_ONCE(f->aborted, f->aborted + 1);
			mrpc_engine_reject(e, dir, in, rpc, plan.status,
					   "made to fail by the operator");
		} else if (!plan.delay || !fault_keep(f, in, rpc, plan.delay)) {
			mrpc_queue_move(in, rpc, out);
		}
	}
	return mrpc_late_next(&f->late);
}

static void fault_flush(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *out)
{
	if (dir == e->requests)
		mrpc_late_release(&((struct fault *)e->priv)->late, out, U64_MAX);
}

static int fault_dump(const struct mrpc_engine *e, const struct mrpc_group *group,
		      struct sk_buff *skb)
{
	const struct fault *f;

	if (!e)
		return 0;
	f = e->priv;
	if (mrpc_engine_put_u64(skb, "aborted", READ_ONCE(f->aborted)) ||
	    mrpc_engine_put_u64(skb, "delayed", READ_ONCE(f->delayed)))
		return -EMSGSIZE;
	return 0;
}

static struct mrpc_engine_ops fault_ops = {
	.name		= "fault",
	.version	= 1,
	.oldest		= 1,
	.owner		= THIS_MODULE,
	.flags		= MRPC_ENGINE_COUNTS,
	.dirs		= BIT(MRPC_TX) | BIT(MRPC_RX),
	.params		= fault_params,
	.nr_params	= ARRAY_SIZE(fault_params),
	.doc		= "Makes some requests fail and others late.",
	.group_create	= fault_group_create,
	.group_destroy	= fault_group_destroy,
	.create		= fault_create,
	.destroy	= fault_destroy,
	.configure	= fault_configure,
	.do_work	= fault_do_work,
	.flush		= fault_flush,
	.dump		= fault_dump,
};

module_mrpc_engine(fault_ops);
MODULE_ALIAS_MRPC_ENGINE("fault");
MODULE_ALIAS_MRPC_ENGINE("fault-1");
MODULE_DESCRIPTION("mrpc engine that makes some requests fail and others late");
MODULE_LICENSE("GPL");
