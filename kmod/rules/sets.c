// SPDX-License-Identifier: GPL-2.0
/*
 * Named sets; see sets.h.
 *
 * The keys of a set are edited in place while calls look them up. A full set is copied to a larger
 * one, and the rules that use it get the new one. The old one is freed after a grace period.
 */
#include <linux/list.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "lib/ds/set.h"
#include "lib/message/schema.h"
#include "lib/rule/rule.h"
#include "rules/sets.h"

#define MRPC_SET_FIRST_KEYS	64
#define MRPC_SET_FIRST_BYTES	1024

static DEFINE_MUTEX(mrpc_sets_lock);
static LIST_HEAD(mrpc_sets);	/* under mrpc_sets_lock */

static u32 mrpc_sets_id;	/* under mrpc_sets_lock */

static struct mrpc_set_body *mrpc_set_body_new(u32 kind, u32 keys, u64 bytes)
{
	size_t size = mrpc_set_size(keys, bytes);
	struct mrpc_set_body *body;
	u64 hash_key[2];

	if (!size)
		return NULL;
	body = kvmalloc(offsetof(struct mrpc_set_body, set) + size,
			GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!body)
		return NULL;
	get_random_bytes(hash_key, sizeof(hash_key));
	mrpc_set_init(&body->set, kind, keys, bytes, hash_key);
	return body;
}

void mrpc_named_set_put(struct mrpc_named_set *ns)
{
	if (!refcount_dec_and_test(&ns->ref))
		return;
	kvfree(ns->body);
	kfree(ns);
}

/* Under mrpc_sets_lock. */
static struct mrpc_named_set *mrpc_sets_lookup(const struct net *net, const char *name)
{
	struct mrpc_named_set *ns;

	list_for_each_entry(ns, &mrpc_sets, list)
		if (ns->net == net && !strcmp(ns->name, name))
			return ns;
	return NULL;
}

static int mrpc_sets_insert(struct mrpc_named_set *ns, struct netlink_ext_ack *extack)
{
	struct mrpc_named_set *other;
	u32 nr = 0;

	if (mrpc_sets_lookup(ns->net, ns->name)) {
		NL_SET_ERR_MSG_FMT(extack, "there is a set named '%s' already", ns->name);
		return -EEXIST;
	}
	list_for_each_entry(other, &mrpc_sets, list)
		nr += other->net == ns->net;
	if (nr >= MRPC_SETS_MAX) {
		NL_SET_ERR_MSG_FMT(extack, "this network namespace has %u sets, the most it takes",
				   nr);
		return -ENOSPC;
	}
	ns->id = ++mrpc_sets_id;
	list_add_tail(&ns->list, &mrpc_sets);
	return 0;
}

/**
 * mrpc_sets_create() - make an empty set
 * @net: the network namespace
 * @name: its name: 1 to MRPC_RULES_SET_NAME of [A-Za-z0-9_.-]
 * @kind: enum mrpc_set_kind
 * @extack: why not
 *
 * Context: process; may sleep. Return: 0 or a negative errno.
 */
int mrpc_sets_create(const struct net *net, const char *name, u32 kind,
		     struct netlink_ext_ack *extack)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
	size_t len = strlen(name);
	struct mrpc_named_set *ns;
	int err = -ENOMEM;

	if (!len || len > MRPC_RULES_SET_NAME || strspn(name, letters) != len) {
		NL_SET_ERR_MSG_FMT(extack, "a set's name has 1 to %d letters, digits or _.-",
				   MRPC_RULES_SET_NAME);
		return -EINVAL;
	}
	if (kind != MRPC_SET_TEXT && kind != MRPC_SET_INT) {
		NL_SET_ERR_MSG_FMT(extack, "%u is not a kind of sets", kind);
		return -EINVAL;
	}
	ns = kzalloc(sizeof(*ns), GFP_KERNEL_ACCOUNT);
	if (!ns)
		return -ENOMEM;
	refcount_set(&ns->ref, 1);
	ns->net = net;
	ns->kind = kind;
	strscpy(ns->name, name, sizeof(ns->name));
	mutex_init(&ns->lock);
	INIT_LIST_HEAD(&ns->uses);
	ns->body = mrpc_set_body_new(kind, MRPC_SET_FIRST_KEYS, MRPC_SET_FIRST_BYTES);
	if (ns->body) {
		mutex_lock(&mrpc_sets_lock);
		err = mrpc_sets_insert(ns, extack);
		mutex_unlock(&mrpc_sets_lock);
	}
	if (err)
		mrpc_named_set_put(ns);
	return err;
}

/**
 * mrpc_sets_remove() - remove a set that no rules use
 * @net: the network namespace
 * @name: its name
 * @extack: why not
 *
 * Context: process; may sleep. Return: 0, -ENOENT or -EBUSY.
 */
int mrpc_sets_remove(const struct net *net, const char *name, struct netlink_ext_ack *extack)
{
	struct mrpc_named_set *ns;
	int err = 0;

	mutex_lock(&mrpc_sets_lock);
	ns = mrpc_sets_lookup(net, name);
	if (!ns) {
		NL_SET_ERR_MSG_FMT(extack, "there is no set '%s'", name);
		err = -ENOENT;
	} else {
		/* Uses are added under mrpc_sets_lock. */
		mutex_lock(&ns->lock);
		if (list_empty(&ns->uses)) {
			list_del(&ns->list);
		} else {
			NL_SET_ERR_MSG_FMT(extack, "%zu engines have rules that use the set '%s'",
					   list_count_nodes(&ns->uses), name);
			err = -EBUSY;
		}
		mutex_unlock(&ns->lock);
	}
	mutex_unlock(&mrpc_sets_lock);
	if (!err)
		mrpc_named_set_put(ns);
	return err;
}

/**
 * mrpc_sets_find() - find a set
 * @net: the network namespace
 * @name: its name
 * @extack: why not
 *
 * Context: process; may sleep. Return: the set with a reference, or NULL.
 */
struct mrpc_named_set *mrpc_sets_find(const struct net *net, const char *name,
				      struct netlink_ext_ack *extack)
{
	struct mrpc_named_set *ns;

	mutex_lock(&mrpc_sets_lock);
	ns = mrpc_sets_lookup(net, name);
	if (ns)
		refcount_inc(&ns->ref);
	mutex_unlock(&mrpc_sets_lock);
	if (!ns)
		NL_SET_ERR_MSG_FMT(extack, "there is no set '%s'", name);
	return ns;
}

/**
 * mrpc_sets_next() - walk over the sets of a namespace, for dumps
 * @net: the network namespace
 * @after: id of the one before, 0 for the first
 *
 * The set's lock protects its keys while the caller reads them. Context: process; may sleep.
 * Return: the set with a reference, or NULL.
 */
struct mrpc_named_set *mrpc_sets_next(const struct net *net, u32 after)
{
	struct mrpc_named_set *ns, *found = NULL;

	mutex_lock(&mrpc_sets_lock);
	list_for_each_entry(ns, &mrpc_sets, list) {
		if (ns->net == net && ns->id > after) {
			refcount_inc(&ns->ref);
			found = ns;
			break;
		}
	}
	mutex_unlock(&mrpc_sets_lock);
	return found;
}

/* -- keys ------------------------------------------------------------------------ */

/* Makes room for twice the present keys, and for one more. Under ns->lock. */
static int mrpc_named_set_grow(struct mrpc_named_set *ns, u32 len)
{
	struct mrpc_set_body *old = ns->body, *body;
	struct mrpc_set_use *use;
	u64 bytes;
	u32 keys;

	keys = mrpc_set_need(&old->set, &bytes);
	if (keys >= MRPC_SET_MAX_KEYS || bytes + len > MRPC_SET_MAX_BYTES)
		return -ENOSPC;
	body = mrpc_set_body_new(ns->kind, min(max(2 * keys, 64U), MRPC_SET_MAX_KEYS),
				 min_t(u64, 2 * (bytes + len), MRPC_SET_MAX_BYTES));
	if (!body)
		return -ENOMEM;
	if (mrpc_set_copy(&body->set, &old->set)) {
		kvfree(body);
		return -ENOSPC;
	}
	ns->body = body;
	ns->grown++;
	list_for_each_entry(use, &ns->uses, list)
		mrpc_rules_set_put(use->rules, use->index, &body->set);
	kvfree_rcu(old, rcu);
	return 0;
}

/**
 * mrpc_named_set_add() - add a key
 * @ns: the set
 * @key: as for mrpc_set_add()
 * @len: its bytes
 * @extack: why not
 *
 * Context: process; may sleep.
 * Return: 0, -EEXIST, -EINVAL, -ENOSPC or -ENOMEM.
 */
int mrpc_named_set_add(struct mrpc_named_set *ns, const void *key, u32 len,
		       struct netlink_ext_ack *extack)
{
	int err;

	mutex_lock(&ns->lock);
	err = mrpc_set_add(&ns->body->set, key, len);
	if (err == -ENOSPC) {
		err = mrpc_named_set_grow(ns, len);
		if (!err)
			err = mrpc_set_add(&ns->body->set, key, len);
	}
	mutex_unlock(&ns->lock);
	if (err == -EEXIST)
		NL_SET_ERR_MSG_FMT(extack, "the set '%s' has this key already", ns->name);
	else if (err == -EINVAL)
		NL_SET_ERR_MSG_FMT(extack, "a key of %u bytes; the set '%s' takes %s", len,
				   ns->name, ns->kind == MRPC_SET_INT ?
				   "integers of 8" : "at most " __stringify(MRPC_SET_MAX_KEY_LEN));
	else if (err == -ENOSPC)
		NL_SET_ERR_MSG_FMT(extack, "the set '%s' is full: %u keys, or %u bytes of them",
				   ns->name, MRPC_SET_MAX_KEYS, MRPC_SET_MAX_BYTES);
	return err;
}

/**
 * mrpc_named_set_del() - delete a key
 * @ns: the set
 * @key: as for mrpc_set_add()
 * @len: its bytes
 * @extack: why not
 *
 * Context: process; may sleep. Return: 0 or -ENOENT.
 */
int mrpc_named_set_del(struct mrpc_named_set *ns, const void *key, u32 len,
		       struct netlink_ext_ack *extack)
{
	int err;

	mutex_lock(&ns->lock);
	err = mrpc_set_del(&ns->body->set, key, len);
	mutex_unlock(&ns->lock);
	if (err)
		NL_SET_ERR_MSG_FMT(extack, "the set '%s' does not have this key", ns->name);
	return err;
}

/* -- uses ------------------------------------------------------------------------ */

/**
 * mrpc_set_use() - give rules a set, and every later version of it
 * @use: valid until mrpc_set_unuse()
 * @net: the network namespace
 * @rules: the rules
 * @index: of the set in them
 * @extack: why not
 *
 * Context: process; may sleep. Return: 0 or -ENOENT.
 */
int mrpc_set_use(struct mrpc_set_use *use, const struct net *net, struct mrpc_rules *rules,
		 u32 index, struct netlink_ext_ack *extack)
{
	const char *name = rules->set_names[index];
	struct mrpc_named_set *ns;

	mutex_lock(&mrpc_sets_lock);
	ns = mrpc_sets_lookup(net, name);
	if (ns) {
		refcount_inc(&ns->ref);
		use->set = ns;
		use->rules = rules;
		use->index = index;
		mutex_lock(&ns->lock);
		list_add(&use->list, &ns->uses);
		mrpc_rules_set_put(rules, index, &ns->body->set);
		mutex_unlock(&ns->lock);
	}
	mutex_unlock(&mrpc_sets_lock);
	if (ns)
		return 0;
	NL_SET_ERR_MSG_FMT(extack, "the rules refer to a set '%s', which there is not", name);
	return -ENOENT;
}

/**
 * mrpc_set_unuse() - end the use of a set by rules that are not evaluated any more
 * @use: zero, or from mrpc_set_use()
 *
 * Context: process; may sleep.
 */
void mrpc_set_unuse(struct mrpc_set_use *use)
{
	struct mrpc_named_set *ns = use->set;

	if (!ns)
		return;
	mutex_lock(&ns->lock);
	list_del(&use->list);
	mutex_unlock(&ns->lock);
	mrpc_named_set_put(ns);
}

static void __net_exit mrpc_sets_net_exit(struct net *net)
{
	struct mrpc_named_set *ns, *next;

	mutex_lock(&mrpc_sets_lock);
	list_for_each_entry_safe(ns, next, &mrpc_sets, list) {
		if (ns->net != net)
			continue;
		list_del(&ns->list);
		mrpc_named_set_put(ns);
	}
	mutex_unlock(&mrpc_sets_lock);
}

static struct pernet_operations mrpc_sets_ops = {
	.exit = mrpc_sets_net_exit,
};

int __init mrpc_sets_init(void)
{
	return register_pernet_subsys(&mrpc_sets_ops);
}

void mrpc_sets_exit(void)
{
	unregister_pernet_subsys(&mrpc_sets_ops);
}
