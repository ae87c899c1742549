// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of calls: their memory, which grows with their use, and how a call leaves them.
 *
 * A call leaves its table once, and takes its deadline along. The thread that takes it out ends the
 * call, and gets the table's reference.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "core/call.h"
#include "core/calls.h"
#include "core/conn.h"
#include "core/globals.h"

/* Slots of a connection that has few calls at a time, or none. */
#define MRPC_CALLS_SLOTS	4

/* Arrays for @nr calls. Return: 0 or -ENOMEM. */
static int mrpc_calls_arrays(bool accepted, u32 nr, void **slots, struct mrpc_deadline ***heap)
{
	*slots = kvcalloc(nr, accepted ? sizeof(struct mrpc_serve_slot) :
					 sizeof(struct mrpc_call_slot), GFP_KERNEL_ACCOUNT);
	*heap = kvmalloc_array(nr, sizeof(**heap), GFP_KERNEL_ACCOUNT);
	if (*slots && *heap)
		return 0;
	kvfree(*slots);
	kvfree(*heap);
	return -ENOMEM;
}

/**
 * mrpc_calls_init() - make the tables of a connection
 * @calls: the tables, all zero
 * @accepted: true at the server's end
 *
 * Context: process; may sleep. Return: 0 or -ENOMEM.
 */
int mrpc_calls_init(struct mrpc_calls *calls, bool accepted)
{
	u32 limit = mrpc_max_calls(), nr = min(limit, MRPC_CALLS_SLOTS);
	void *slots;

	if (mrpc_calls_arrays(accepted, nr, &slots, &calls->deadlines.heap))
		return -ENOMEM;
	calls->deadlines.cap = nr;
	if (accepted) {
		mrpc_serve_init(&calls->server, slots, nr);
		calls->server.limit = limit;
	} else {
		mrpc_call_init(&calls->client, slots, nr);
		calls->client.limit = limit;
	}
	return 0;
}

/**
 * mrpc_calls_free() - free what mrpc_calls_init() has made, as it has grown
 * @calls: the tables
 */
void mrpc_calls_free(struct mrpc_calls *calls)
{
	kvfree(calls->client.slots);
	kvfree(calls->server.slots);
	kvfree(calls->deadlines.heap);
}

/**
 * mrpc_calls_grow() - make room in the tables for more calls
 * @conn: the connection
 * @need: slots, at most the limit
 *
 * Cold and never inlined: it is rare, and tests make its allocations fail by its address.
 *
 * Context: process; may sleep; the connection's lock is not held.
 * Return: 0 or -ENOMEM.
 */
noinline __cold int mrpc_calls_grow(struct mrpc_conn *conn, u32 need)
{
	struct mrpc_calls *calls = &conn->calls;
	u32 limit = conn->link.accepted ? calls->server.limit : calls->client.limit;
	u32 nr = min_t(u64, limit, roundup_pow_of_two((u64)need));
	struct mrpc_deadline **heap;
	void *slots;

	if (mrpc_calls_arrays(conn->link.accepted, nr, &slots, &heap))
		return -ENOMEM;
	spin_lock(&conn->lock);
	/* Another thread may have been faster. */
	if (nr > calls->deadlines.cap) {
		if (conn->link.accepted)
			slots = mrpc_serve_grow(&calls->server, slots, nr);
		else
			slots = mrpc_call_grow(&calls->client, slots, nr);
		heap = mrpc_deadlines_grow(&calls->deadlines, heap, nr);
	}
	spin_unlock(&conn->lock);
	kvfree(slots);
	kvfree(heap);
	return 0;
}

/* Takes a call's deadline along. That of a call over a replica's link is its own connection's. */
static void mrpc_calls_left(struct mrpc_conn *conn, struct mrpc_call *call)
{
	lockdep_assert_held(&conn->lock);
	if (call && !conn->replica)
		mrpc_deadlines_del(&conn->calls.deadlines, &call->deadline);
}

/**
 * mrpc_calls_finish() - take out a call with a reply that has come, or that will never come
 * @conn: the client's connection, its lock held
 * @id: call id
 * @status: enum mrpc_status; decides how the statistics count the call
 * @known: out: false: no such call is in flight, and the peer broke the protocol
 *
 * Its slot is free then.
 *
 * Return: the call, or NULL: the application does not wait for it any more.
 */
struct mrpc_call *mrpc_calls_finish(struct mrpc_conn *conn, u64 id, u16 status, bool *known)
{
	struct mrpc_call *call = mrpc_call_finish(&conn->calls.client, id, known);

	mrpc_calls_left(conn, call);
	if (call)
		mrpc_conn_count(conn, status);
	return call;
}

/**
 * mrpc_calls_abandon() - take out a call that the application or the deadline ends
 * @conn: the client's connection, its lock held
 * @id: call id
 *
 * Its slot stays in use until the peer's reply comes. The statistics count it as failed.
 *
 * Return: the call, or NULL: it has left.
 */
struct mrpc_call *mrpc_calls_abandon(struct mrpc_conn *conn, u64 id)
{
	struct mrpc_call *call = mrpc_call_abandon(&conn->calls.client, id);

	mrpc_calls_left(conn, call);
	if (call)
		conn->stats.failed++;
	return call;
}

/**
 * mrpc_calls_answer() - take out a call that is being served: the caller answers it
 * @conn: the server's connection, its lock held
 * @id: call id
 *
 * Return: the call, or NULL: another thread answers it, or has answered.
 */
struct mrpc_call *mrpc_calls_answer(struct mrpc_conn *conn, u64 id)
{
	struct mrpc_call *call = mrpc_serve_end(&conn->calls.server, id);

	mrpc_calls_left(conn, call);
	return call;
}
