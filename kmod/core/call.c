// SPDX-License-Identifier: GPL-2.0
/* Calls: objects, references, spares. */
#include <linux/list.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "core/call.h"
#include "core/conn.h"
#include "core/flow.h"
#include "core/member.h"
#include "core/qp.h"
#include "core/rpc.h"
#include "core/session.h"

static struct kmem_cache *mrpc_call_cache;

#define MRPC_CALL_SPARES	128	/* objects that a session keeps, about 1 KiB each */

/*
 * Drops one reference of the network stack to the pages: at the ACK, or when the socket dies. May
 * run in softirq. The module text stays, because the call's connection holds the session and the
 * session holds the module.
 */
static void mrpc_ubuf_complete(struct sk_buff *skb, struct ubuf_info *ubuf, bool success)
{
	struct mrpc_call *call = container_of(ubuf, struct mrpc_call, ubuf);

	/* Where the stack copies, the receiver's clone reports it. The original, when it is
	 * acknowledged, still reports success, which does not prove the contrary.
	 */
	if (!success)
		atomic_inc(&(call->via ?: call->conn)->link.copied);
	mrpc_call_sent_put(call);
}

static const struct ubuf_info_ops mrpc_ubuf_ops = {
	.complete = mrpc_ubuf_complete,
};

/**
 * mrpc_call_free_spares() - give unused objects back to the allocator
 * @spares: the first of them, by mrpc_call.spare, or NULL
 *
 * Context: any but hard interrupt.
 */
void mrpc_call_free_spares(struct mrpc_call *spares)
{
	struct mrpc_call *next;

	for (; spares; spares = next) {
		next = spares->spare;
		kmem_cache_free(mrpc_call_cache, spares);
	}
}

/*
 * Calls reuse the objects of ended calls. This saves the work of the allocator, mostly zeroing and
 * accounting. It is off under KASAN, which must see a use after the end. A thread that takes or
 * gives an object takes the whole chain for a moment. So there is no lock, and no two threads see
 * an object. The exchanges are full barriers: the taker of a chain sees its links. A thread that
 * gives its chain back may find another thread's chain, usually a short one: it goes to the
 * allocator.
 */
static struct mrpc_call *mrpc_call_spares_take(struct mrpc_session *session)
{
	return READ_ONCE(session->call_spares) ? xchg(&session->call_spares, NULL) : NULL;
}

static void mrpc_call_spares_give(struct mrpc_session *session, struct mrpc_call *spares)
{
	mrpc_call_free_spares(xchg(&session->call_spares, spares));
}

static struct mrpc_call *mrpc_call_alloc(struct mrpc_session *session, gfp_t gfp)
{
	struct mrpc_call *call = mrpc_call_spares_take(session);

	if (!call)
		return kmem_cache_alloc(mrpc_call_cache, gfp | __GFP_ACCOUNT);
	if (call->spare)
		mrpc_call_spares_give(session, call->spare);
	return call;
}

static void mrpc_call_free(struct mrpc_call *call)
{
	struct mrpc_session *session = call->session;
	struct mrpc_call *spares = mrpc_call_spares_take(session);
	u32 nr = spares ? spares->spares : 0;

	if (IS_ENABLED(CONFIG_KASAN) || nr == MRPC_CALL_SPARES) {
		kmem_cache_free(mrpc_call_cache, call);
	} else {
		call->spare = spares;
		call->spares = nr + 1;
		spares = call;
	}
	if (spares)
		mrpc_call_spares_give(session, spares);
}

/**
 * mrpc_call_new() - make a call object
 * @conn: its connection, of which it takes a reference
 * @role: enum mrpc_call_role
 * @gfp: allocation context
 *
 * Return: the call with one reference, or NULL. The queue takes over the reference when the call is
 * submitted.
 */
struct mrpc_call *mrpc_call_new(struct mrpc_conn *conn, u8 role, gfp_t gfp)
{
	struct mrpc_call *call = mrpc_call_alloc(conn->session, gfp);

	if (!call)
		return NULL;
	/* The fields before and behind this range are written before they are read. */
	memset((u8 *)call + offsetof(struct mrpc_call, flags), 0,
	       offsetof(struct mrpc_call, rpc.segs) - offsetof(struct mrpc_call, flags));
	refcount_set(&call->ref, 1);
	call->role = role;
	mrpc_conn_get(conn);
	call->conn = conn;
	call->session = conn->session;
	INIT_LIST_HEAD(&call->pending);
	refcount_set(&call->ubuf.refcnt, 1);
	call->ubuf.ops = &mrpc_ubuf_ops;
	call->ubuf.flags = SKBFL_ZEROCOPY_FRAG | SKBFL_DONT_ORPHAN;
	call->rpc.call = call;
	mrpc_rpc_setup(&call->rpc);
	return call;
}

static noinline void mrpc_call_end(struct mrpc_call *call)
{
	struct mrpc_conn *conn = call->conn;

	if (unlikely(call->flow) && call->role != MRPC_ROLE_MESSAGE)
		mrpc_flow_free(call->flow);
	if (call->target)
		mrpc_call_put(call->target);
	if (call->via)
		mrpc_conn_put(call->via);
	mrpc_rpc_free(&call->rpc);
	mrpc_call_free(call);
	mrpc_conn_put(conn);
}

/**
 * mrpc_call_put() - drop a reference
 * @call: the call
 *
 * Context: any but hard interrupt.
 */
void mrpc_call_put(struct mrpc_call *call)
{
	mrpc_call_put_some(call, 1);
}
EXPORT_SYMBOL_GPL(mrpc_call_put);

/**
 * mrpc_call_put_some() - drop several references at once
 * @call: the call
 * @nr: number of references
 *
 * Context: any but hard interrupt.
 */
void mrpc_call_put_some(struct mrpc_call *call, int nr)
{
	if (refcount_sub_and_test(nr, &call->ref))
		mrpc_call_end(call);
}

int __init mrpc_rpc_init(void)
{
	mrpc_call_cache = KMEM_CACHE(mrpc_call, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	return mrpc_call_cache ? 0 : -ENOMEM;
}

void mrpc_rpc_exit(void)
{
	kmem_cache_destroy(mrpc_call_cache);
}

void mrpc_call_set(struct mrpc_call *call, int bit)
{
	struct task_struct *waiter;

	/* A waiter that runs the datapath itself checks the flags before it sleeps. */
	if (READ_ONCE(call->waiter) == current && in_task()) {
		set_bit(bit, &call->flags);
		return;
	}
	/* The waiter can leave, and exit, at any time: when both bits are set, or when a signal
	 * interrupts it. Its task is freed after a grace period.
	 */
	rcu_read_lock();
	set_bit(bit, &call->flags);
	/* Pairs with set_current_state() of the waiter, which comes before its check. */
	smp_mb__after_atomic();
	waiter = READ_ONCE(call->waiter);
	if (waiter)
		wake_up_process(waiter);
	rcu_read_unlock();
}

/* Tells the application that its send blocks are no longer read by reference. */
static noinline void mrpc_call_sent(struct mrpc_call *call)
{
	struct mrpc_qp *qp = call->qp;
	bool post;

	if (call->role == MRPC_ROLE_MESSAGE)
		atomic_dec(&call->flow->unsent);
	if (call->role == MRPC_ROLE_CHUNK) {
		mrpc_member_ops->sent(call);
		mrpc_call_put(call);
		return;
	}
	if (call->role != MRPC_ROLE_CLIENT) {
		mrpc_qp_sent(qp, call);
		return;
	}
	if (!qp) {
		mrpc_call_set(call, MRPC_CALL_SENT);
	} else {
		spin_lock_bh(&qp->lock);
		__set_bit(MRPC_CALL_SENT, &call->flags);
		post = test_bit(MRPC_CALL_FINAL, &call->flags);
		if (post)
			mrpc_qp_post_sent(qp, call);
		spin_unlock_bh(&qp->lock);
		if (post)
			mrpc_qp_wake(qp);
	}
	mrpc_call_put(call);	/* the reference that mrpc_call_by_ref() took */
}

/**
 * mrpc_call_sent_put() - drop one user of the send blocks
 * @call: the call
 *
 * The last user tells the application. Context: any but hard interrupt.
 */
void mrpc_call_sent_put(struct mrpc_call *call)
{
	if (call->by_ref && refcount_dec_and_test(&call->ubuf.refcnt))
		mrpc_call_sent(call);
}
EXPORT_SYMBOL_GPL(mrpc_call_sent_put);
