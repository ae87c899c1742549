// SPDX-License-Identifier: GPL-2.0
/*
 * qos: sets the rank and the tenant of messages. It orders nothing itself: egress domains and
 * runtimes order by rank and tenant.
 *
 * The rank of a request travels in its header. So its reply has the same rank, unless a qos engine
 * on the other host sets another one.
 */
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "core/engine.h"
#include "core/engine_count.h"
#include "core/rpc.h"
#include "egress/domain.h"
#include "lib/ds/order.h"
#include "lib/message/wire.h"
#include "lib/rule/rule.h"
#include "rules/rules.h"

enum {
	PARAM_RULES,
	PARAM_SMALL,
	PARAM_SMALL_RANK,
	PARAM_RANK,
	PARAM_MOST,
	PARAM_TENANT,
	PARAM_WEIGHT,
};

/* mrpc_rule.action */
enum {
	QOS_KEEP,	/* the rank that the application set, or that the request has */
	QOS_RANK,	/* mrpc_rule.arg */
	QOS_DEADLINE,	/* the less time is left, the higher the rank */
};

#define QOS_RANK_MAX	255
#define QOS_URGENT	254	/* control frames rank higher */

static const struct mrpc_param qos_params[] = {
	[PARAM_RULES] = {
		.name	= "rules",
		.type	= MRPC_PARAM_RULES,
		.doc	= "what goes before all else: 0 keep, 1 rank, 2 deadline",
		.max	= MRPC_RULES_MAX_LEN,
	},
	[PARAM_SMALL] = {
		.name	= "small",
		.type	= MRPC_PARAM_U64,
		.unit	= "bytes",
		.doc	= "messages up to this size have small_rank",
		.max	= MRPC_MAX_MESSAGE,
	},
	[PARAM_SMALL_RANK] = {
		.name	= "small_rank",
		.type	= MRPC_PARAM_U64,
		.doc	= "see small",
		.max	= QOS_RANK_MAX,
		.def	= QOS_URGENT,
	},
	[PARAM_RANK] = {
		.name	= "rank",
		.type	= MRPC_PARAM_U64,
		.doc	= "of the others; if not given, the application's priority",
		.max	= QOS_RANK_MAX,
	},
	[PARAM_MOST] = {
		.name	= "most",
		.type	= MRPC_PARAM_U64,
		.doc	= "the highest rank that an application's priority gets",
		.max	= QOS_RANK_MAX,
		.def	= QOS_RANK_MAX,
	},
	[PARAM_TENANT] = {
		.name	= "tenant",
		.type	= MRPC_PARAM_STRING,
		.doc	= "whose the datapath is, where tenants share",
		.min	= 1,
		.max	= MRPC_TENANT_NAME - 1,
	},
	[PARAM_WEIGHT] = {
		.name	= "weight",
		.type	= MRPC_PARAM_U64,
		.doc	= "the tenant's share, in proportion to others'",
		.min	= 1,
		.max	= MRPC_ORDER_MAX_WEIGHT,
		.def	= MRPC_ORDER_WEIGHT,
	},
};

/**
 * struct qos - an instance; of the owner of the transmit claim
 * @bound: the rules, if there are any
 * @ranked: messages that the engine has given a rank
 * @lowered: messages that wanted more than the operator allows
 * @kept: the other messages
 */
struct qos {
	struct mrpc_bound_conn bound;
	u64 ranked;
	u64 lowered;
	u64 kept;
};

/* -- configuration ------------------------------------------------------------ */

static int qos_check_rules(const struct mrpc_rules *rules, struct netlink_ext_ack *extack)
{
	u32 i;

	for (i = 0; i < rules->nr_rules; i++) {
		const struct mrpc_rule *rule = &rules->rules[i];

		if (rule->action > QOS_DEADLINE) {
			NL_SET_ERR_MSG_FMT(extack, "rule %u: action %u; qos knows 0 (keep), 1 (rank) and 2 (deadline)",
					   i + 1, rule->action);
			return -EINVAL;
		}
		if (rule->share != MRPC_RULE_SHARE_ALL || rule->status || rule->detail_len) {
			NL_SET_ERR_MSG_FMT(extack, "rule %u: qos takes no share, status or detail",
					   i + 1);
			return -EINVAL;
		}
		if (rule->arg > (rule->action == QOS_RANK ? QOS_RANK_MAX : 0)) {
			NL_SET_ERR_MSG_FMT(extack, "rule %u: argument %llu; only a rank has one, of at most %u",
					   i + 1, rule->arg, QOS_RANK_MAX);
			return -EINVAL;
		}
	}
	return 0;
}

static int qos_group_create(struct mrpc_group *group, const struct mrpc_group *prev,
			    struct netlink_ext_ack *extack)
{
	const struct mrpc_value *v = group->values;
	struct mrpc_ruleset *rules;
	int err = 0;

	if (v[PARAM_WEIGHT].set && !v[PARAM_TENANT].set) {
		NL_SET_ERR_MSG(extack, "weight is given, but no tenant that has it");
		return -EINVAL;
	}
	if (v[PARAM_SMALL_RANK].set && !v[PARAM_SMALL].num) {
		NL_SET_ERR_MSG(extack, "small_rank is given, but small is 0");
		return -EINVAL;
	}
	rules = mrpc_ruleset_new(group, PARAM_RULES, prev ? prev->priv : NULL, extack);
	if (IS_ERR(rules))
		return PTR_ERR(rules);
	if (rules)
		err = qos_check_rules(rules->rules, extack);
	if (err)
		mrpc_ruleset_free(rules);
	else
		group->priv = rules;
	return err;
}

static void qos_group_destroy(struct mrpc_group *group)
{
	mrpc_ruleset_free(group->priv);
}

static int qos_attach(struct qos *qos, struct mrpc_engine *e, const struct mrpc_group *group)
{
	int err = mrpc_ruleset_attach(group->priv, e, &qos->bound);

	if (err)
		return err;
	e->tenant = group->values[PARAM_TENANT].data;
	e->weight = group->values[PARAM_WEIGHT].num;
	return 0;
}

static int qos_create(struct mrpc_engine *e, struct netlink_ext_ack *extack)
{
	struct qos *qos = kzalloc(sizeof(*qos), GFP_KERNEL_ACCOUNT);
	int err;

	if (!qos)
		return -ENOMEM;
	err = qos_attach(qos, e, e->group);
	if (err)
		kfree(qos);
	else
		e->priv = qos;
	return err;
}

static void qos_destroy(struct mrpc_engine *e)
{
	struct qos *qos = e->priv;

	mrpc_ruleset_detach(&qos->bound);
	kfree(qos);
}

static int qos_configure(struct mrpc_engine *e, struct mrpc_group *group,
			 struct netlink_ext_ack *extack)
{
	return qos_attach(e->priv, e, group);
}

/* -- the datapath ----------------------------------------------------------------- */

/* Four ranks for each power of two of microseconds: less time left gives a higher rank. */
static u8 qos_deadline_rank(const struct mrpc_rpc *rpc)
{
	u64 at = mrpc_rpc_deadline(rpc), now = ktime_get_ns(), us;
	u32 log;

	if (!at)
		return 0;
	us = at > now ? div_u64(at - now, NSEC_PER_USEC) : 0;
	if (us < 4)
		return QOS_URGENT;
	log = ilog2(us);
	return QOS_URGENT - 1 - (4 * (log - 2) + (us >> (log - 2) & 3));
}

/* Return: the rank, or -1: unchanged. */
static int qos_rank(const struct mrpc_engine *e, const struct qos *qos, struct mrpc_rpc *rpc)
{
	const struct mrpc_value *v = e->group->values;
	const struct mrpc_rule *rule = NULL;

	if (e->group->priv)
		rule = mrpc_ruleset_judge(&qos->bound, rpc).rule;
	if (rule) {
		switch (rule->action) {
		case QOS_RANK:
			return rule->arg;
		case QOS_DEADLINE:
			return qos_deadline_rank(rpc);
		default:
			return -1;
		}
	}
	if (v[PARAM_SMALL].num && mrpc_rpc_size(rpc) <= v[PARAM_SMALL].num)
		return v[PARAM_SMALL_RANK].num;
	return v[PARAM_RANK].set ? v[PARAM_RANK].num : -1;
}

static void qos_judge(const struct mrpc_engine *e, struct qos *qos, struct mrpc_rpc *rpc)
{
	u64 most = e->group->values[PARAM_MOST].num;
	int rank = qos_rank(e, qos, rpc);

	if (rank >= 0) {
		mrpc_rpc_set_rank(rpc, rank);
		WRITE_ONCE(qos->ranked, qos->ranked + 1);
	} else if (mrpc_rpc_rank(rpc) > most) {
		mrpc_rpc_set_rank(rpc, most);
		WRITE_ONCE(qos->lowered, qos->lowered + 1);
	} else {
		WRITE_ONCE(qos->kept, qos->kept + 1);
	}
	mrpc_engine_hint(e, mrpc_rpc_rank(rpc));
}

static bool qos_pass(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_rpc *rpc)
{
	qos_judge(e, e->priv, rpc);
	return true;
}

/* For messages that waited while the operator had paused the queue. */
static u64 qos_do_work(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *in,
		       struct mrpc_queue *out, int budget)
{
	struct mrpc_rpc *rpc;

	for (; budget && (rpc = mrpc_queue_peek(in)); budget--) {
		qos_judge(e, e->priv, rpc);
		mrpc_queue_move(in, rpc, out);
	}
	return 0;
}

static int qos_dump(const struct mrpc_engine *e, const struct mrpc_group *group,
		    struct sk_buff *skb)
{
	const struct qos *qos;

	if (!e)
		return 0;
	qos = e->priv;
	if (mrpc_engine_put_u64(skb, "ranked", READ_ONCE(qos->ranked)) ||
	    mrpc_engine_put_u64(skb, "lowered", READ_ONCE(qos->lowered)) ||
	    mrpc_engine_put_u64(skb, "kept", READ_ONCE(qos->kept)))
		return -EMSGSIZE;
	return 0;
}

static struct mrpc_engine_ops qos_ops = {
	.name		= "qos",
	.version	= 1,
	.oldest		= 1,
	.owner		= THIS_MODULE,
	.flags		= MRPC_ENGINE_RANKS | MRPC_ENGINE_COUNTS,
	.dirs		= BIT(MRPC_TX),
	.params		= qos_params,
	.nr_params	= ARRAY_SIZE(qos_params),
	.doc		= "Says how urgent messages are, and whose.",
	.group_create	= qos_group_create,
	.group_destroy	= qos_group_destroy,
	.create		= qos_create,
	.destroy	= qos_destroy,
	.configure	= qos_configure,
	.do_work	= qos_do_work,
	.pass		= qos_pass,
	.dump		= qos_dump,
};

module_mrpc_engine(qos_ops);
MODULE_ALIAS_MRPC_ENGINE("qos");
MODULE_ALIAS_MRPC_ENGINE("qos-1");
MODULE_DESCRIPTION("mrpc engine that says how urgent messages are");
MODULE_LICENSE("GPL");
