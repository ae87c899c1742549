// SPDX-License-Identifier: GPL-2.0
/*
 * What one user may have: sessions, connections, listeners, heap.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>

#include "core/globals.h"
#include "core/session.h"
#include "core/user.h"

/**
 * struct mrpc_user - what the sessions of one user have
 *
 * Reference counted by its sessions; all fields but @memory under mrpc_users_lock.
 *
 * @node: entry of mrpc_users
 * @uid: the user
 * @ref: sessions that refer to it
 * @sessions: sessions
 * @conns: connections
 * @listeners: listeners
 * @memory: bytes of regions, queue pairs, bound schemas and copies of messages
 */
struct mrpc_user {
	struct hlist_node node;
	kuid_t uid;
	u32 ref;
	u32 sessions;
	u32 conns;
	u32 listeners;
	atomic64_t memory;
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

/*
 * CAP_SYS_RESOURCE lifts the limits, as it does elsewhere. The kernel's own threads have it,
 * but work for a session: that counts as its opener.
 */
static bool mrpc_unlimited(const struct mrpc_session *session)
{
	if (current->flags & PF_KTHREAD)
		return session->unlimited;
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
}

static int mrpc_charge(u32 *count, u32 limit, bool unlimited)
{
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

/**
 * mrpc_user_charge_session() - one more session
 * @session: in the making, with its user
 *
 * Context: process, of the opener. Return: 0 or -EDQUOT.
 */
int mrpc_user_charge_session(struct mrpc_session *session)
{
	session->unlimited = mrpc_unlimited(session);
	return mrpc_charge(&session->user->sessions, READ_ONCE(mrpc_knobs.max_sessions),
			   session->unlimited);
}

void mrpc_user_uncharge_session(struct mrpc_user *user)
{
	mrpc_uncharge(&user->sessions);
}

/**
 * mrpc_user_charge_conn() - one more connection
 * @session: whose
 *
 * Context: process. Return: 0 or -EDQUOT.
 */
int mrpc_user_charge_conn(struct mrpc_session *session)
{
	return mrpc_charge(&session->user->conns, READ_ONCE(mrpc_knobs.max_conns),
			   mrpc_unlimited(session));
}

void mrpc_user_uncharge_conn(struct mrpc_user *user)
{
	mrpc_uncharge(&user->conns);
}

/**
 * mrpc_user_charge_listener() - one more listener
 * @session: whose
 *
 * Context: process. Return: 0 or -EDQUOT.
 */
int mrpc_user_charge_listener(struct mrpc_session *session)
{
	return mrpc_charge(&session->user->listeners, READ_ONCE(mrpc_knobs.max_listeners),
			   mrpc_unlimited(session));
}

void mrpc_user_uncharge_listener(struct mrpc_user *user)
{
	mrpc_uncharge(&user->listeners);
}

/**
 * mrpc_user_charge_memory() - memory is made for a session's user
 * @session: the session
 * @bytes: how much
 *
 * Context: process. Return: 0 or -EDQUOT.
 */
int mrpc_user_charge_memory(struct mrpc_session *session, u64 bytes)
{
	atomic64_t *memory = &session->user->memory;
	u64 limit = READ_ONCE(mrpc_knobs.max_heap);

	if (!bytes)	/* allowed also to a user beyond the limit */
		return 0;
	if ((u64)atomic64_add_return(bytes, memory) <= limit || mrpc_unlimited(session))
		return 0;
	atomic64_sub(bytes, memory);
	return -EDQUOT;
}

/**
 * mrpc_user_uncharge_memory() - it is there no more
 * @user: the user
 * @bytes: as it was charged
 *
 * Context: any.
 */
void mrpc_user_uncharge_memory(struct mrpc_user *user, u64 bytes)
{
	atomic64_sub(bytes, &user->memory);
}
