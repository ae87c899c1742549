// SPDX-License-Identifier: GPL-2.0
/*
 * acl: lets requests (and replies) pass or not, by rules. A message that the rules cannot decide
 * about does not pass.
 */
#include <linux/slab.h>

#include "core/engine.h"
#include "core/engine_count.h"
#include "core/rpc.h"
#include "lib/message/wire.h"
#include "lib/rule/rule.h"
#include "rules/rules.h"

enum {
	PARAM_RULES,
	PARAM_DEFAULT,
	PARAM_REPLIES,
};

/* mrpc_rule.action, and the choices of "default" */
enum {
	ACL_ALLOW,
	ACL_DENY,
};

static const char *const acl_verdicts[] = { "allow", "deny", NULL };

static const struct mrpc_param acl_params[] = {
	[PARAM_RULES] = {
		.name	= "rules",
		.type	= MRPC_PARAM_RULES,
		.doc	= "the first that matches decides: 0 allow, 1 deny",
		.max	= MRPC_RULES_MAX_LEN,
	},
	[PARAM_DEFAULT] = {
		.name	 = "default",
		.type	 = MRPC_PARAM_CHOICE,
		.doc	 = "what no rule matches",
		.def	 = ACL_ALLOW,
		.choices = acl_verdicts,
	},
	[PARAM_REPLIES] = {
		.name	= "replies",
		.type	= MRPC_PARAM_BOOL,
		.doc	= "judge replies too, not requests only",
	},
};

/**
 * struct acl_text - text for a caller that a rule denies
 * @status: enum mrpc_status
 * @detail: a sentence
 */
struct acl_text {
	u16 status;
	const char *detail;
};

/* Counters. The owner of the direction's claim writes them. */
struct acl_stats {
	u64 allowed;
	u64 denied;
	u64 undecided;
};

/**
 * struct acl_group - a configuration
 * @rules: or NULL: no rules
 * @deny: deny messages that no rule matches
 * @replies: judge replies, too
 * @texts: for each rule
 * @strings: memory that @texts point to
 */
struct acl_group {
	struct mrpc_ruleset *rules;
	bool deny;
	bool replies;
	struct acl_text *texts;
	char *strings;
};

/**
 * struct acl - an instance
 * @bound: the rules, if there are any
 * @stats: counters
 */
struct acl {
	struct mrpc_bound_conn bound;
	struct acl_stats stats[MRPC_DIRS];
};

/* -- configuration ------------------------------------------------------------ */

static int acl_check_rule(const struct mrpc_rule *rule, u32 number, struct netlink_ext_ack *extack)
{
	if (rule->action != ACL_ALLOW && rule->action != ACL_DENY) {
		NL_SET_ERR_MSG_FMT(extack, "rule %u: action %u; acl knows 0 (allow) and 1 (deny)",
				   number, rule->action);
		return -EINVAL;
	}
	if (rule->share != MRPC_RULE_SHARE_ALL || rule->arg) {
		NL_SET_ERR_MSG_FMT(extack, "rule %u: acl takes no share and no argument", number);
		return -EINVAL;
	}
	if (rule->action == ACL_ALLOW && (rule->status || rule->detail_len)) {
		NL_SET_ERR_MSG_FMT(extack, "rule %u: allow takes no status and no detail",
				   number);
		return -EINVAL;
	}
	return 0;
}

#define ACL_NUMBERED	"denied by rule %u"

static int acl_write_texts(struct acl_group *g, struct netlink_ext_ack *extack)
{
	const struct mrpc_rules *rules = g->rules->rules;
	size_t room = 0;
	char *at;
	u32 i;
	int err;

	for (i = 0; i < rules->nr_rules; i++) {
		err = acl_check_rule(&rules->rules[i], i + 1, extack);
		if (err)
			return err;
		room += max_t(size_t, rules->rules[i].detail_len, sizeof(ACL_NUMBERED) + 8) + 1;
	}
	g->texts = kvcalloc(rules->nr_rules, sizeof(*g->texts), GFP_KERNEL_ACCOUNT);
	g->strings = kvmalloc(room, GFP_KERNEL_ACCOUNT);
	if (!g->texts || !g->strings)
		return -ENOMEM;
	for (i = 0, at = g->strings; i < rules->nr_rules; i++) {
		const struct mrpc_rule *rule = &rules->rules[i];

		g->texts[i].status = rule->status ?: MRPC_PERMISSION_DENIED;
		g->texts[i].detail = at;
		if (rule->detail_len)
			at += sprintf(at, "%.*s", rule->detail_len, rule->detail) + 1;
		else
			at += sprintf(at, ACL_NUMBERED, i + 1) + 1;
	}
	return 0;
}

static void acl_group_destroy(struct mrpc_group *group)
{
	struct acl_group *g = group->priv;

	mrpc_ruleset_free(g->rules);
	kvfree(g->texts);
	kvfree(g->strings);
	kfree(g);
}

static int acl_group_create(struct mrpc_group *group, const struct mrpc_group *prev,
			    struct netlink_ext_ack *extack)
{
	const struct acl_group *old = prev ? prev->priv : NULL;
	struct acl_group *g = kzalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);
	int err = 0;

	if (!g)
		return -ENOMEM;
	group->priv = g;
	g->deny = group->values[PARAM_DEFAULT].num == ACL_DENY;
	g->replies = group->values[PARAM_REPLIES].num;
	g->rules = mrpc_ruleset_new(group, PARAM_RULES, old ? old->rules : NULL, extack);
	if (IS_ERR(g->rules)) {
		err = PTR_ERR(g->rules);
		g->rules = NULL;
	} else if (g->rules) {
		err = acl_write_texts(g, extack);
	}
	if (err)
		acl_group_destroy(group);
	return err;
}

static int acl_attach(struct acl *acl, struct mrpc_engine *e, const struct acl_group *g)
{
	int err = mrpc_ruleset_attach(g->rules, e, &acl->bound);

	if (!err)
		e->dirs = g->replies ? e->ops->dirs : BIT(e->requests);
	return err;
}

static int acl_create(struct mrpc_engine *e, struct netlink_ext_ack *extack)
{
	struct acl *acl = kzalloc(sizeof(*acl), GFP_KERNEL_ACCOUNT);
	const struct acl_group *g = e->group->priv;
	int err;

	if (!acl)
		return -ENOMEM;
	err = acl_attach(acl, e, g);
	if (err)
		kfree(acl);
	else
		e->priv = acl;
	return err;
}

static void acl_add(struct acl_stats *to, const struct acl *acl)
{
	int dir;

	for (dir = 0; dir < MRPC_DIRS; dir++) {
		to->allowed += READ_ONCE(acl->stats[dir].allowed);
		to->denied += READ_ONCE(acl->stats[dir].denied);
		to->undecided += READ_ONCE(acl->stats[dir].undecided);
	}
}

static void acl_destroy(struct mrpc_engine *e)
{
	struct acl *acl = e->priv;

	mrpc_ruleset_detach(&acl->bound);
	kfree(acl);
}

static int acl_configure(struct mrpc_engine *e, struct mrpc_group *group,
			 struct netlink_ext_ack *extack)
{
	const struct acl_group *g = group->priv;
	struct acl *acl = e->priv;

	return acl_attach(acl, e, g);
}

/* -- the datapath ----------------------------------------------------------------- */

static const struct acl_text acl_undecided = {
	MRPC_PERMISSION_DENIED, "what the rules look at is not at hand",
};

static const struct acl_text acl_default = {
	MRPC_PERMISSION_DENIED, "no rule allows it",
};

/* Return: NULL if it passes. */
static const struct acl_text *acl_judge(const struct acl_group *g, const struct acl *acl,
					struct mrpc_rpc *rpc)
{
	bool message = rpc->frame.flags & MRPC_WIRE_MSG;
	struct mrpc_rule_verdict v = {};

	/* A status without a message needs no rule. A call that is given up sends nothing. */
	if (rpc->drop || (!message && rpc->frame.type != MRPC_WIRE_CALL))
		return NULL;
	if (g->rules)
		v = mrpc_ruleset_judge(&acl->bound, rpc);
	/* Where a client streams, its CALL has no message. What rules look at comes with the first. */
	if (v.undecided)
		return message ? &acl_undecided : NULL;
	if (v.rule ? v.rule->action == ACL_ALLOW : !g->deny)
		return NULL;
	return v.rule ? &g->texts[mrpc_ruleset_number(g->rules, v.rule) - 1] : &acl_default;
}

static void acl_count(u64 *count)
{
	WRITE_ONCE(*count, *count + 1);
}

/* Handles only what passes. Other messages are judged again in their turn, which is rare. */
static bool acl_pass(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_rpc *rpc)
{
	const struct acl_group *g = e->group->priv;
	struct acl *acl = e->priv;

	if (dir != e->requests && !g->replies)
		return true;
	if (acl_judge(g, acl, rpc))
		return false;
	acl_count(&acl->stats[dir].allowed);
	return true;
}

static u64 acl_do_work(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *in,
		       struct mrpc_queue *out, int budget)
{
	bool replies = dir != e->requests;
	const struct acl_group *g = e->group->priv;
	struct acl *acl = e->priv;
	const struct acl_text *text;
	struct mrpc_rpc *rpc;

	if (replies && !g->replies) {
		mrpc_queue_pass(in, out, budget);
		return 0;
	}
	for (; budget && (rpc = mrpc_queue_peek(in)); budget--) {
		text = acl_judge(g, acl, rpc);
		/* Its bytes have not come, as it waited elsewhere; nor have those behind it. */
		if (text == &acl_undecided && dir == MRPC_RX && !rpc->have_bytes)
			break;
		if (!text) {
			acl_count(&acl->stats[dir].allowed);
			mrpc_queue_move(in, rpc, out);
			continue;
		}
		acl_count(text == &acl_undecided ? &acl->stats[dir].undecided :
			  &acl->stats[dir].denied);
		mrpc_engine_reject(e, dir, in, rpc, text->status, text->detail);
	}
	return 0;
}

static int acl_dump(const struct mrpc_engine *e, const struct mrpc_group *group,
		    struct sk_buff *skb)
{
	const struct acl_group *g = group->priv;
	struct acl_stats all = {};

	if (!e && g->rules && READ_ONCE(g->rules->bound) &&
	    mrpc_engine_put_u64(skb, "unfit_rules", mrpc_ruleset_unfit(g->rules)))
		return -EMSGSIZE;
	if (e)
		acl_add(&all, e->priv);
	if (mrpc_engine_put_u64(skb, "allowed", all.allowed) ||
	    mrpc_engine_put_u64(skb, "denied", all.denied) ||
	    mrpc_engine_put_u64(skb, "undecided", all.undecided))
		return -EMSGSIZE;
	return 0;
}

static struct mrpc_engine_ops acl_ops = {
	.name		= "acl",
	.version	= 1,
	.oldest		= 1,
	.owner		= THIS_MODULE,
	.flags		= MRPC_ENGINE_MANDATORY | MRPC_ENGINE_COUNTS,
	.dirs		= BIT(MRPC_TX) | BIT(MRPC_RX),
	.params		= acl_params,
	.nr_params	= ARRAY_SIZE(acl_params),
	.doc		= "Lets pass what its rules allow.",
	.group_create	= acl_group_create,
	.group_destroy	= acl_group_destroy,
	.create		= acl_create,
	.destroy	= acl_destroy,
	.configure	= acl_configure,
	.do_work	= acl_do_work,
	.pass		= acl_pass,
	.dump		= acl_dump,
};

module_mrpc_engine(acl_ops);
MODULE_ALIAS_MRPC_ENGINE("acl");
MODULE_ALIAS_MRPC_ENGINE("acl-1");
MODULE_DESCRIPTION("mrpc engine that lets pass what its rules allow");
MODULE_LICENSE("GPL");
