// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: adding, changing and removing engines.
 *
 * A request is converted to a configuration (struct mrpc_group) and a scope, and given to
 * control/place.c. The reply says what the change did. If a change failed at a datapath, the reply
 * says that, too, and the error follows.
 */
#include <linux/ctype.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <net/netlink.h>

#include "control/place.h"
#include "core/engine.h"
#include "core/engine_config.h"
#include "core/notify.h"
#include "core/placement.h"
#include "lib/message/schema.h"
#include "netlink/engine.h"
#include "netlink/engine_change.h"
#include "netlink/msg.h"
#include "netlink/netlink.h"
#include "netlink/session.h"

#define MRPC_NL_NAME	{ .type = NLA_NUL_STRING }

static const struct nla_policy mrpc_nl_value_policy[] = {
	[MRPC_A_VALUE_NAME] = { .type = NLA_NUL_STRING },
	[MRPC_A_VALUE_NUM] = { .type = NLA_UINT },
	[MRPC_A_VALUE_TEXT] = { .type = NLA_NUL_STRING },
	[MRPC_A_VALUE_DATA] = { .type = NLA_BINARY },
};

static const struct nla_policy mrpc_nl_scope_policy[] = {
	[MRPC_A_SCOPE_SERVICE] = { .type = NLA_NUL_STRING, .len = MRPC_SCHEMA_MAX_NAME },
	[MRPC_A_SCOPE_SESSION] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_SCOPE_PID] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_SCOPE_UID] = { .type = NLA_U32 },
	[MRPC_A_SCOPE_CGROUP] = { .type = NLA_UINT },
	[MRPC_A_SCOPE_DATAPATH] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_SCOPE_SIDE] = NLA_POLICY_MASK(NLA_U32, MRPC_SIDE_BOTH),
};

const struct nla_policy mrpc_nl_add_policy[] = {
	[MRPC_A_ENGINE_NAME] = MRPC_NL_NAME,
	[MRPC_A_ENGINE_TYPE] = MRPC_NL_NAME,
	[MRPC_A_ENGINE_VERSION] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_ENGINE_SCOPE] = NLA_POLICY_NESTED(mrpc_nl_scope_policy),
	[MRPC_A_ENGINE_BEFORE] = MRPC_NL_NAME,
	[MRPC_A_ENGINE_AFTER] = MRPC_NL_NAME,
	[MRPC_A_ENGINE_VALUE] = NLA_POLICY_NESTED(mrpc_nl_value_policy),
	[MRPC_A_ENGINE_PERCENT] = { .type = NLA_U32 },
};

/* For all commands but adding. Each command refuses attributes that it does not take. */
const struct nla_policy mrpc_nl_set_policy[] = {
	[MRPC_A_ENGINE_NAME] = MRPC_NL_NAME,
	[MRPC_A_ENGINE_TYPE] = MRPC_NL_NAME,
	[MRPC_A_ENGINE_VERSION] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_ENGINE_VALUE] = NLA_POLICY_NESTED(mrpc_nl_value_policy),
	[MRPC_A_ENGINE_PERCENT] = { .type = NLA_U32 },
};

/* -- values ------------------------------------------------------------------ */

static const struct mrpc_param *mrpc_nl_param(const struct mrpc_group *g, const char *name,
					      u32 *index)
{
	for (*index = 0; *index < g->nr; ++*index)
		if (!strcmp(g->ops->params[*index].name, name))
			return &g->ops->params[*index];
	return NULL;
}

/* The index of a choice; the number of choices if the word is none of them. */
static u32 mrpc_nl_choice(const struct mrpc_param *p, const char *word)
{
	u32 i = 0;

	while (p->choices[i] && strcmp(p->choices[i], word))
		i++;
	return i;
}

static int mrpc_nl_set_choice(struct mrpc_group *g, const struct mrpc_param *p,
			      struct nlattr *text, struct netlink_ext_ack *extack)
{
	u32 choice = mrpc_nl_choice(p, nla_data(text));

	if (p->choices[choice])
		return mrpc_group_set(g, p->name, NULL, 0, choice, true, extack);
	NL_SET_ERR_MSG_ATTR_FMT(extack, text, "%s: '%.16s' is no choice; '%s' is one of %u",
				p->name, (char *)nla_data(text), p->choices[0], choice);
	return -EINVAL;
}

/* A rule set can be longer than an attribute. Then further pieces follow the first one. */
static int mrpc_nl_set_rules(struct mrpc_group *g, const char *name, const struct mrpc_value *v,
			     struct nlattr *data, struct netlink_ext_ack *extack)
{
	u32 have = v->set ? v->len : 0, len = have + nla_len(data);
	u8 *whole = kvmalloc(len + 1, GFP_KERNEL);
	int err;

	if (!whole)
		return -ENOMEM;
	memcpy(whole, v->data, have);
	memcpy(whole + have, nla_data(data), nla_len(data));
	err = mrpc_group_set(g, name, whole, len, 0, false, extack);
	kvfree(whole);
	return err;
}

/* Checks that @p takes this kind of value, and that it is given once. */
static int mrpc_nl_check_value(const struct mrpc_param *p, const struct mrpc_value *v,
			       struct nlattr *nest, bool data, struct netlink_ext_ack *extack)
{
	bool rules = p->type == MRPC_PARAM_RULES;

	if (v->set && !rules) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, nest, "%s is given twice", p->name);
		return -EINVAL;
	}
	if (rules == data)
		return 0;
	if (rules)
		NL_SET_ERR_MSG_ATTR_FMT(extack, nest, "%s takes data: a binary rule set", p->name);
	else
		NL_SET_ERR_MSG_ATTR_FMT(extack, nest, "%s takes a %s, not data", p->name,
					p->type == MRPC_PARAM_STRING ? "text" : "number");
	return -EINVAL;
}

static int mrpc_nl_set_value(struct mrpc_group *g, struct nlattr *nest,
			     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[MRPC_A_VALUE_DATA + 1], *num, *text, *data;
	const struct mrpc_param *p;
	const char *name;
	int err;
	u32 i;

	err = nla_parse_nested(tb, MRPC_A_VALUE_DATA, nest, mrpc_nl_value_policy, extack);
	if (err)
		return err;
	num = tb[MRPC_A_VALUE_NUM];
	text = tb[MRPC_A_VALUE_TEXT];
	data = tb[MRPC_A_VALUE_DATA];
	if (!tb[MRPC_A_VALUE_NAME]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "a value without the name of its parameter");
		return -EINVAL;
	}
	err = mrpc_nl_check_name(tb[MRPC_A_VALUE_NAME], extack);
	if (err)
		return err;
	name = nla_data(tb[MRPC_A_VALUE_NAME]);
	if (!!num + !!text + !!data != 1) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, nest, "%s needs one of num, text and data", name);
		return -EINVAL;
	}
	p = mrpc_nl_param(g, name, &i);
	if (!p)	/* the core reports the error */
		return mrpc_group_set(g, name, NULL, 0, 0, true, extack);
	err = mrpc_nl_check_value(p, &g->values[i], nest, data, extack);
	if (err)
		return err;
	if (data)
		return mrpc_nl_set_rules(g, name, &g->values[i], data, extack);
	if (p->type == MRPC_PARAM_CHOICE && text)
		return mrpc_nl_set_choice(g, p, text, extack);
	if (num)
		return mrpc_group_set(g, name, NULL, 0, nla_get_uint(num), true, extack);
	return mrpc_group_set(g, name, nla_data(text), nla_len(text) - 1, 0, false, extack);
}

/*
 * Makes the configuration that a request describes. Takes over a module reference of @ops.
 */
static struct mrpc_group *mrpc_nl_group(const struct genl_info *info,
					const struct mrpc_scope *scope,
					const struct mrpc_engine_ops *ops,
					const struct mrpc_group *prev)
{
	struct mrpc_group *g = mrpc_group_alloc(genl_info_net(info), ops);
	struct nlattr *attr;
	int err = 0, left;

	if (!g) {
		mrpc_engine_put(ops);
		return ERR_PTR(-ENOMEM);
	}
	nlmsg_for_each_attr_type(attr, MRPC_A_ENGINE_VALUE, info->nlhdr, GENL_HDRLEN, left) {
		err = mrpc_nl_set_value(g, attr, info->extack);
		if (err)
			break;
	}
	g->scope = scope;
	err = err ?: mrpc_group_ready(g, prev, info->extack);
	g->scope = NULL;
	if (!err)
		return g;
	mrpc_group_put(g);
	return ERR_PTR(err);
}

/* -- the scope ----------------------------------------------------------------- */

static int mrpc_nl_scope_of_pid(struct mrpc_scope *scope, struct nlattr *attr,
				struct netlink_ext_ack *extack)
{
	struct pid *pid;

	rcu_read_lock();
	pid = find_vpid(nla_get_u32(attr));
	scope->pid = pid_nr(pid);
	rcu_read_unlock();
	if (scope->pid)
		return 0;
	NL_SET_ERR_MSG_ATTR_FMT(extack, attr, "the scope matches nothing: there is no process %u",
				nla_get_u32(attr));
	return -ESRCH;
}

static int mrpc_nl_scope_of_uid(struct mrpc_scope *scope, struct net *net, struct nlattr *attr,
				struct netlink_ext_ack *extack)
{
	scope->uid = make_kuid(net->user_ns, nla_get_u32(attr));
	scope->has_uid = true;
	if (uid_valid(scope->uid))
		return 0;
	NL_SET_ERR_MSG_ATTR_FMT(extack, attr, "user %u does not exist in this user namespace",
				nla_get_u32(attr));
	return -EINVAL;
}

static int mrpc_nl_scope_of_cgroup(struct mrpc_scope *scope, struct nlattr *attr,
				   struct netlink_ext_ack *extack)
{
	u64 id = nla_get_uint(attr);
	struct cgroup *cgroup = cgroup_get_from_id(id);

	if (IS_ERR(cgroup)) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"the scope matches nothing: there is no cgroup %llu", id);
		return -ENOENT;
	}
	cgroup_put(cgroup);
	scope->cgroup = id;
	return 0;
}

/* The strings of @scope are those of the request. */
static int mrpc_nl_scope(const struct genl_info *info, struct mrpc_scope *scope)
{
	struct nlattr *nest = info->attrs[MRPC_A_ENGINE_SCOPE];
	struct netlink_ext_ack *extack = info->extack;
	struct nlattr *tb[MRPC_A_SCOPE_MAX + 1];
	int err;

	BUILD_BUG_ON(MRPC_SIDE_CLIENT - MRPC_SCOPE_SIDE_CLIENT ||
		     MRPC_SIDE_SERVER - MRPC_SCOPE_SIDE_SERVER);
	scope->side = MRPC_SIDE_BOTH;
	scope->service = "";
	if (!nest)
		return 0;
	err = nla_parse_nested(tb, MRPC_A_SCOPE_MAX, nest, mrpc_nl_scope_policy, extack);
	if (err)
		return err;
	if (tb[MRPC_A_SCOPE_SERVICE])
		scope->service = nla_data(tb[MRPC_A_SCOPE_SERVICE]);
	if (tb[MRPC_A_SCOPE_SESSION])
		scope->session = nla_get_u32(tb[MRPC_A_SCOPE_SESSION]);
	if (tb[MRPC_A_SCOPE_DATAPATH])
		scope->datapath = nla_get_u32(tb[MRPC_A_SCOPE_DATAPATH]);
	if (tb[MRPC_A_SCOPE_SIDE])
		scope->side = nla_get_u32(tb[MRPC_A_SCOPE_SIDE]) ?: MRPC_SIDE_BOTH;
	if (tb[MRPC_A_SCOPE_PID])
		err = mrpc_nl_scope_of_pid(scope, tb[MRPC_A_SCOPE_PID], extack);
	if (!err && tb[MRPC_A_SCOPE_UID])
		err = mrpc_nl_scope_of_uid(scope, genl_info_net(info), tb[MRPC_A_SCOPE_UID],
					   extack);
	if (!err && tb[MRPC_A_SCOPE_CGROUP])
		err = mrpc_nl_scope_of_cgroup(scope, tb[MRPC_A_SCOPE_CGROUP], extack);
	return err;
}

/* -- results --------------------------------------------------------------------- */

static int mrpc_nl_put_change(struct sk_buff *skb, const struct mrpc_change_result *r)
{
	struct nlattr *nest = nla_nest_start(skb, MRPC_A_ENGINE_CHANGE);

	if (!nest ||
	    nla_put_u32(skb, MRPC_A_CHANGE_MATCHED, r->matched) ||
	    nla_put_u32(skb, MRPC_A_CHANGE_CHANGED, r->changed) ||
	    (r->failed_dp && nla_put_u32(skb, MRPC_A_CHANGE_FAILED, r->failed_dp)) ||
	    (r->rolled_back && nla_put_flag(skb, MRPC_A_CHANGE_ROLLED_BACK)) ||
	    nla_put_u32(skb, MRPC_A_CHANGE_LEAKED, r->leaked) ||
	    nla_put_uint(skb, MRPC_A_CHANGE_DURATION, r->duration))
		return -EMSGSIZE;
	if (r->changed &&
	    (nla_put_uint(skb, MRPC_A_CHANGE_PAUSE_P50, r->pause_p50) ||
	     nla_put_uint(skb, MRPC_A_CHANGE_PAUSE_P99, r->pause_p99) ||
	     nla_put_uint(skb, MRPC_A_CHANGE_PAUSE_MAX, r->pause_max) ||
	     nla_put_uint(skb, MRPC_A_CHANGE_PAUSE_TOTAL, r->pause_total)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int mrpc_nl_put_changed(struct sk_buff *skb, u32 id, const char *name,
			       const struct mrpc_group *g, u32 percent,
			       const struct mrpc_change_result *r)
{
	return nla_put_u32(skb, MRPC_A_ENGINE_ID, id) ||
	       nla_put_string(skb, MRPC_A_ENGINE_NAME, name) ||
	       (g && (nla_put_string(skb, MRPC_A_ENGINE_TYPE, g->ops->name) ||
		      nla_put_u32(skb, MRPC_A_ENGINE_VERSION, g->ops->version))) ||
	       nla_put_u32(skb, MRPC_A_ENGINE_PERCENT, percent) ||
	       mrpc_nl_put_change(skb, r);
}

/*
 * Completes the reply in @skb. It was allocated before the change, so that a change that was made
 * does not fail for lack of memory for the reply. @err is the result of the change. If the change
 * was not begun, there is no reply.
 */
static int mrpc_nl_changed(struct sk_buff *skb, struct genl_info *info, u32 id, const char *name,
			   const struct mrpc_group *g, u32 percent,
			   const struct mrpc_change_result *r, int err)
{
	void *hdr;

	if (err == -EINTR)
		NL_SET_ERR_MSG(info->extack, "interrupted; what had been changed was changed back");
	err = mrpc_nl_errno(err);
	if (err && !r->failed_dp) {
		nlmsg_free(skb);
		return err;
	}
	hdr = mrpc_nl_begin(skb, info);
	mrpc_nl_reply(skb, info, hdr ? mrpc_nl_end(skb, hdr, mrpc_nl_put_changed(skb, id, name, g,
										 percent, r)) :
				       -EMSGSIZE);
	return err;
}

/* Notifies listeners of the new state of a placement, or that it is gone. */
static void mrpc_nl_tell(struct net *net, struct mrpc_placement *gone, u32 id, u8 event)
{
	struct mrpc_placement *p = mrpc_placement_by_id(net, id);

	if (p) {
		mrpc_notify_engine(net, p, event);
		mrpc_placement_put(p);
	} else if (gone) {
		mrpc_notify_engine(net, gone, MRPC_EVENT_ENGINE_DEL);
	}
}

/* -- requests ---------------------------------------------------------------------- */

/* Return: 0, and the attribute's value or 100; or -ERANGE. */
static int mrpc_nl_percent(const struct genl_info *info, u32 min, u8 *percent)
{
	struct nlattr *attr = info->attrs[MRPC_A_ENGINE_PERCENT];
	u32 value = attr ? nla_get_u32(attr) : 100;

	*percent = value;
	if (value >= min && value <= 100)
		return 0;
	NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr, "percent is %u, allowed is %u to 100", value,
				min);
	return -ERANGE;
}

/* A name must be typed as one word, and must not look like an option. */
static int mrpc_nl_name(const struct genl_info *info, const char *name)
{
	const char *c;

	for (c = name; isalnum(*c) || (c > name && *c && strchr("._:-", *c)); c++)
		;
	if (c > name && !*c)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[MRPC_A_ENGINE_NAME],
			    "a name has letters, digits and then . _ : or -");
	return -EINVAL;
}

static int mrpc_nl_only(const struct genl_info *info, int attr, const char *what)
{
	if (!info->attrs[attr])
		return 0;
	NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[attr], "%s is not for this request",
				what);
	return -EINVAL;
}

/* Checks that names are short: they are part of explanations. */
static int mrpc_nl_check_names(const struct genl_info *info)
{
	return mrpc_nl_check_name(info->attrs[MRPC_A_ENGINE_NAME], info->extack) ?:
	       mrpc_nl_check_name(info->attrs[MRPC_A_ENGINE_TYPE], info->extack) ?:
	       mrpc_nl_check_name(info->attrs[MRPC_A_ENGINE_BEFORE], info->extack) ?:
	       mrpc_nl_check_name(info->attrs[MRPC_A_ENGINE_AFTER], info->extack);
}

static const struct mrpc_engine_ops *mrpc_nl_ops(const struct genl_info *info, const char *type)
{
	struct nlattr *name = info->attrs[MRPC_A_ENGINE_TYPE];
	struct nlattr *version = info->attrs[MRPC_A_ENGINE_VERSION];

	return mrpc_engine_get(name ? nla_data(name) : type, version ? nla_get_u32(version) : 0,
			       info->extack);
}

int mrpc_nl_engine_add(struct sk_buff *request, struct genl_info *info)
{
	struct nlattr *name = info->attrs[MRPC_A_ENGINE_NAME];
	struct nlattr *before = info->attrs[MRPC_A_ENGINE_BEFORE];
	struct nlattr *after = info->attrs[MRPC_A_ENGINE_AFTER];
	struct mrpc_change_result result = { };
	const struct mrpc_engine_ops *ops;
	struct mrpc_placement_args args = {
		.name = name ? nla_data(name) : NULL,
		.before = before ? nla_data(before) : NULL,
		.after = after ? nla_data(after) : NULL,
	};
	struct sk_buff *reply;
	struct mrpc_group *g;
	u32 id = 0;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_ENGINE_TYPE))
		return -EINVAL;
	if (before && after) {
		NL_SET_ERR_MSG_ATTR(info->extack, after, "before and after exclude each other");
		return -EINVAL;
	}
	err = mrpc_nl_check_names(info) ?: mrpc_nl_percent(info, 1, &args.percent);
	if (!err && name)
		err = mrpc_nl_name(info, args.name);
	if (!err)
		err = mrpc_nl_scope(info, &args.scope);
	if (err)
		return err;
	ops = mrpc_nl_ops(info, NULL);
	if (IS_ERR(ops))
		return PTR_ERR(ops);
	g = mrpc_nl_group(info, &args.scope, ops, NULL);
	if (IS_ERR(g))
		return PTR_ERR(g);
	reply = mrpc_nl_new(0);
	if (!reply) {
		mrpc_group_put(g);
		return -ENOMEM;
	}
	mrpc_group_get(g);	/* for the reply */
	err = mrpc_placement_add(genl_info_net(info), &args, g, &result, &id, info->extack);
	if (!err)
		mrpc_nl_tell(genl_info_net(info), NULL, id, MRPC_EVENT_ENGINE_ADD);
	err = mrpc_nl_changed(reply, info, id, args.name ?: g->ops->name, g, args.percent, &result,
			      err);
	mrpc_group_put(g);
	return err;
}

/* The type of an engine's next configuration: another one, or that of @prev. */
static const struct mrpc_engine_ops *mrpc_nl_next_ops(const struct genl_info *info,
						      const struct mrpc_group *prev)
{
	if (info->attrs[MRPC_A_ENGINE_TYPE] || info->attrs[MRPC_A_ENGINE_VERSION])
		return mrpc_nl_ops(info, prev->ops->name);
	/* @prev uses the type, so it still exists. */
	mrpc_engine_hold(prev->ops);
	return prev->ops;
}

/*
 * Makes a configuration based on the present one, and applies it.
 * -ESTALE: another request came in between.
 */
static int mrpc_nl_set_once(struct genl_info *info, struct mrpc_placement *p, u8 percent)
{
	struct mrpc_change_result result = { };
	struct net *net = genl_info_net(info);
	const struct mrpc_engine_ops *ops;
	struct mrpc_group *prev, *g;
	struct sk_buff *reply;
	int err;

	prev = mrpc_placement_group(net, p->name, info->extack);
	if (IS_ERR(prev))
		return PTR_ERR(prev);
	ops = mrpc_nl_next_ops(info, prev);
	g = IS_ERR(ops) ? ERR_CAST(ops) : mrpc_nl_group(info, &p->scope, ops, prev);
	if (IS_ERR(g)) {
		err = PTR_ERR(g);
		goto out;
	}
	reply = mrpc_nl_new(0);
	if (!reply) {
		err = -ENOMEM;
		mrpc_group_put(g);
		goto out;
	}
	mrpc_group_get(g);	/* for the reply */
	err = mrpc_placement_set(net, p->name, prev, g, percent, &result, info->extack);
	if (!err)
		mrpc_nl_tell(net, p, p->id, MRPC_EVENT_ENGINE_SET);
	if (err == -ESTALE)
		nlmsg_free(reply);
	else
		err = mrpc_nl_changed(reply, info, p->id, p->name, g, percent, &result, err);
	mrpc_group_put(g);
out:
	mrpc_group_put(prev);
	return err;
}

int mrpc_nl_engine_set(struct sk_buff *request, struct genl_info *info)
{
	struct mrpc_placement *p;
	u8 percent;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_ENGINE_NAME))
		return -EINVAL;
	if (!info->attrs[MRPC_A_ENGINE_VALUE] && !info->attrs[MRPC_A_ENGINE_TYPE] &&
	    !info->attrs[MRPC_A_ENGINE_VERSION]) {
		NL_SET_ERR_MSG(info->extack, "nothing to set: give a value, a type or a version");
		return -EINVAL;
	}
	err = mrpc_nl_check_names(info) ?: mrpc_nl_percent(info, 1, &percent);
	if (err)
		return err;
	p = mrpc_nl_placement(info, MRPC_A_ENGINE_NAME);
	if (!p)
		return -ENOENT;
	do {	/* each time another request came in between */
		err = mrpc_nl_set_once(info, p, percent);
	} while (err == -ESTALE && !signal_pending(current));
	mrpc_placement_put(p);
	return err == -ESTALE ? -ECANCELED : err;
}

/* Common part of removing and stepping: both only need a name and a percentage. */
static int mrpc_nl_move(struct genl_info *info, u32 min,
			int (*move)(struct net *net, const char *name, u8 percent,
				    struct mrpc_change_result *result,
				    struct netlink_ext_ack *extack))
{
	struct mrpc_change_result result = { };
	struct mrpc_placement *p;
	struct sk_buff *reply;
	u8 percent;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_ENGINE_NAME))
		return -EINVAL;
	err = mrpc_nl_only(info, MRPC_A_ENGINE_TYPE, "a type") ?:
	      mrpc_nl_only(info, MRPC_A_ENGINE_VERSION, "a version") ?:
	      mrpc_nl_only(info, MRPC_A_ENGINE_VALUE, "a value") ?:
	      mrpc_nl_percent(info, min, &percent);
	if (err)
		return err;
	p = mrpc_nl_placement(info, MRPC_A_ENGINE_NAME);
	if (!p)
		return -ENOENT;
	reply = mrpc_nl_new(0);
	if (!reply) {
		mrpc_placement_put(p);
		return -ENOMEM;
	}
	err = move(genl_info_net(info), p->name, percent, &result, info->extack);
	if (!err)
		mrpc_nl_tell(genl_info_net(info), p, p->id, MRPC_EVENT_ENGINE_SET);
	err = mrpc_nl_changed(reply, info, p->id, p->name, NULL, percent, &result, err);
	mrpc_placement_put(p);
	return err;
}

int mrpc_nl_engine_del(struct sk_buff *request, struct genl_info *info)
{
	return mrpc_nl_move(info, 1, mrpc_placement_del);
}

int mrpc_nl_engine_step(struct sk_buff *request, struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_ENGINE_PERCENT))
		return -EINVAL;
	return mrpc_nl_move(info, 0, mrpc_placement_step);
}
