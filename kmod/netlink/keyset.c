// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: the operator's sets of keys, which rules refer to.
 */
#include <net/netlink.h>

#include "lib/ds/set.h"
#include "lib/message/schema.h"
#include "netlink/keyset.h"
#include "netlink/netlink.h"
#include "netlink/session.h"
#include "rules/sets.h"

const struct nla_policy mrpc_nl_keyset_policy[] = {
	[MRPC_A_KEYSET_ID] = { .type = NLA_REJECT },
	[MRPC_A_KEYSET_NAME] = { .type = NLA_NUL_STRING, .len = MRPC_RULES_SET_NAME },
	[MRPC_A_KEYSET_KIND] = NLA_POLICY_RANGE(NLA_U32, MRPC_SET_TEXT, MRPC_SET_INT),
	[MRPC_A_KEYSET_KEYS] = { .type = NLA_REJECT },
	[MRPC_A_KEYSET_USERS] = { .type = NLA_REJECT },
	[MRPC_A_KEYSET_KEY] = { .type = NLA_BINARY, .len = MRPC_SET_MAX_KEY_LEN },
};

/* The name that a request must have, or NULL. */
static const char *mrpc_nl_keyset_name(struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_KEYSET_NAME))
		return NULL;
	return nla_data(info->attrs[MRPC_A_KEYSET_NAME]);
}

int mrpc_nl_keyset_new(struct sk_buff *request, struct genl_info *info)
{
	const char *name = mrpc_nl_keyset_name(info);

	if (!name || GENL_REQ_ATTR_CHECK(info, MRPC_A_KEYSET_KIND))
		return -EINVAL;
	return mrpc_sets_create(genl_info_net(info), name,
				nla_get_u32(info->attrs[MRPC_A_KEYSET_KIND]), info->extack);
}

int mrpc_nl_keyset_del(struct sk_buff *request, struct genl_info *info)
{
	const char *name = mrpc_nl_keyset_name(info);

	if (!name)
		return -EINVAL;
	return mrpc_sets_remove(genl_info_net(info), name, info->extack);
}

/* Keys that are there already, or not there, are no mistake. */
static int mrpc_nl_keyset_edit(struct genl_info *info, int none,
			       int (*edit)(struct mrpc_named_set *ns, const void *key, u32 len,
					   struct netlink_ext_ack *extack))
{
	const char *name = mrpc_nl_keyset_name(info);
	struct mrpc_named_set *ns;
	struct nlattr *attr;
	int err = 0, left;

	if (!name)
		return -EINVAL;
	ns = mrpc_sets_find(genl_info_net(info), name, info->extack);
	if (!ns)
		return -ENOENT;
	nlmsg_for_each_attr_type(attr, MRPC_A_KEYSET_KEY, info->nlhdr, GENL_HDRLEN, left) {
		err = edit(ns, nla_data(attr), nla_len(attr), info->extack);
		if (err == none)
			err = 0;
		if (err)
			break;
	}
	mrpc_named_set_put(ns);
	return err;
}

int mrpc_nl_keyset_insert(struct sk_buff *request, struct genl_info *info)
{
	return mrpc_nl_keyset_edit(info, -EEXIST, mrpc_named_set_add);
}

int mrpc_nl_keyset_remove(struct sk_buff *request, struct genl_info *info)
{
	return mrpc_nl_keyset_edit(info, -ENOENT, mrpc_named_set_del);
}

/* -- dumps ----------------------------------------------------------------------- */

static int mrpc_nl_fill_keyset(struct sk_buff *skb, const struct genl_info *info,
			       struct mrpc_named_set *ns)
{
	void *hdr = mrpc_nl_begin(skb, info);
	u32 keys, users;

	if (!hdr)
		return -EMSGSIZE;
	mutex_lock(&ns->lock);
	keys = ns->body->set.nr_keys;
	users = list_count_nodes(&ns->uses);
	mutex_unlock(&ns->lock);
	return mrpc_nl_end(skb, hdr, nla_put_u32(skb, MRPC_A_KEYSET_ID, ns->id) ||
			   nla_put_string(skb, MRPC_A_KEYSET_NAME, ns->name) ||
			   nla_put_u32(skb, MRPC_A_KEYSET_KIND, ns->kind) ||
			   nla_put_u32(skb, MRPC_A_KEYSET_KEYS, keys) ||
			   nla_put_u32(skb, MRPC_A_KEYSET_USERS, users));
}

int mrpc_nl_keyset_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genl_info *info = genl_info_dump(cb);
	struct mrpc_named_set *ns;
	int err;

	while ((ns = mrpc_sets_next(genl_info_net(info), cb->args[0]))) {
		err = mrpc_nl_fill_keyset(skb, info, ns);
		if (!err)
			cb->args[0] = ns->id;
		mrpc_named_set_put(ns);
		if (err)
			return err;
	}
	return 0;
}

/* Where a dump of keys is: args[0] behind that key; args[1]: the set. */
int mrpc_nl_key_start(struct netlink_callback *cb)
{
	const struct genl_info *info = genl_info_dump(cb);
	const struct nlattr *name = info->attrs[MRPC_A_KEYSET_NAME];
	struct mrpc_named_set *ns;

	if (!name) {
		NL_SET_ERR_MSG(cb->extack, "which set? A name is needed");
		return -EINVAL;
	}
	ns = mrpc_sets_find(genl_info_net(info), nla_data(name), cb->extack);
	cb->args[1] = (unsigned long)ns;
	return ns ? 0 : -ENOENT;
}

static int mrpc_nl_put_key(struct sk_buff *skb, struct netlink_callback *cb, const void *key,
			   u32 len)
{
	void *hdr = mrpc_nl_begin(skb, genl_info_dump(cb));

	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, hdr);
	return mrpc_nl_end(skb, hdr, nla_put(skb, MRPC_A_KEYSET_KEY, len, key));
}

/* A set that grows meanwhile has another order: the reader is told to come again. */
int mrpc_nl_key_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_named_set *ns = (void *)cb->args[1];
	u32 pos = cb->args[0], len;
	const void *key;
	int err = 0;

	mutex_lock(&ns->lock);
	cb->seq = ns->grown + 1;
	while (!err && (key = mrpc_set_next(&ns->body->set, &pos, &len))) {
		err = mrpc_nl_put_key(skb, cb, key, len);
		if (!err)
			cb->args[0] = pos;
	}
	mutex_unlock(&ns->lock);
	return err;
}

int mrpc_nl_key_done(struct netlink_callback *cb)
{
	struct mrpc_named_set *ns = (void *)cb->args[1];

	if (ns)
		mrpc_named_set_put(ns);
	return 0;
}
