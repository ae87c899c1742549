// SPDX-License-Identifier: GPL-2.0
/*
 * What one user may have: sessions, connections, listeners, heap.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>

#include "core/globals.h"
#include "core/user.h"

/**
 * struct mrpc_user - what the sessions of one user have
 *
 * Reference counted by its sessions; all fields under mrpc_users_lock.
 *
 * @node: entry of mrpc_users
 * @uid: the user
 * @ref: sessions that refer to it
 * @sessions: sessions
 * @conns: connections
 * @listeners: listeners
 * @heap: bytes of all regions
 */
struct mrpc_user {
	struct hlist_node node;
	kuid_t uid;
	u32 ref;
	u32 sessions;
	u32 conns;
	u32 listeners;
	u64 heap;
};

static DEFINE_SPINLOCK(mrpc_users_lock);
static DEFINE_HASHTABLE(mrpc_users, 6);

/**
 * mrpc_user_get() - the record of a user, with a reference
 * @uid: the user
 *
 * Context: process; may sleep. Return: the record, or NULL.
 */
struct mrpc_user *mrpc_user_get(kuid_t uid)
{
	struct mrpc_user *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	struct mrpc_user *user;

	if (!fresh)
		return NULL;
	fresh->uid = uid;
	spin_lock(&mrpc_users_lock);
	hash_for_each_possible(mrpc_users, user, node, __kuid_val(uid))
		if (uid_eq(user->uid, uid))
			break;
	if (!user) {
		user = fresh;
		fresh = NULL;
		hash_add(mrpc_users, &user->node, __kuid_val(uid));
	}
	user->ref++;
	spin_unlock(&mrpc_users_lock);
	kfree(fresh);
	return user;
}

/**
 * mrpc_user_put() - drop a reference
 * @user: the record
 */
void mrpc_user_put(struct mrpc_user *user)
{
	bool last;

	spin_lock(&mrpc_users_lock);
	last = !--user->ref;
	if (last)
		hash_del(&user->node);
	spin_unlock(&mrpc_users_lock);
	if (last)
		kfree(user);
}

/* CAP_SYS_RESOURCE lifts the limits, as it does elsewhere. */
static bool mrpc_unlimited(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
}

static int mrpc_charge(u32 *count, u32 limit)
{
	bool unlimited = mrpc_unlimited();
	int err = -EDQUOT;

	spin_lock(&mrpc_users_lock);
	if (*count < limit || unlimited) {
		++*count;
		err = 0;
	}
	spin_unlock(&mrpc_users_lock);
	return err;
}

static void mrpc_uncharge(u32 *count)
{
	spin_lock(&mrpc_users_lock);
	--*count;
	spin_unlock(&mrpc_users_lock);
}

int mrpc_user_charge_session(struct mrpc_user *user)
{
	return mrpc_charge(&user->sessions, READ_ONCE(mrpc_knobs.max_sessions));
}

void mrpc_user_uncharge_session(struct mrpc_user *user)
{
	mrpc_uncharge(&user->sessions);
}

int mrpc_user_charge_conn(struct mrpc_user *user)
{
	return mrpc_charge(&user->conns, READ_ONCE(mrpc_knobs.max_conns));
}

void mrpc_user_uncharge_conn(struct mrpc_user *user)
{
	mrpc_uncharge(&user->conns);
}

int mrpc_user_charge_listener(struct mrpc_user *user)
{
	return mrpc_charge(&user->listeners, READ_ONCE(mrpc_knobs.max_listeners));
}

void mrpc_user_uncharge_listener(struct mrpc_user *user)
{
	mrpc_uncharge(&user->listeners);
}

int mrpc_user_charge_heap(struct mrpc_user *user, u64 bytes)
{
	u64 limit = READ_ONCE(mrpc_knobs.max_heap);
	bool unlimited = mrpc_unlimited();
	int err = -EDQUOT;

	spin_lock(&mrpc_users_lock);
	if (unlimited || (bytes <= limit && user->heap <= limit - bytes)) {
		user->heap += bytes;
		err = 0;
	}
	spin_unlock(&mrpc_users_lock);
	return err;
}

void mrpc_user_uncharge_heap(struct mrpc_user *user, u64 bytes)
{
	spin_lock(&mrpc_users_lock);
	user->heap -= bytes;
	spin_unlock(&mrpc_users_lock);
}
