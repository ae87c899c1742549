// SPDX-License-Identifier: GPL-2.0
/* The memory of the tables of calls, which grow with their use. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

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
 * Context: process; may sleep; the connection's lock is not held.
 * Return: 0 or -ENOMEM.
 */
int mrpc_calls_grow(struct mrpc_conn *conn, u32 need)
{
	struct mrpc_calls *calls = &conn->calls;
	u32 limit = conn->accepted ? calls->server.limit : calls->client.limit;
	u32 nr = min_t(u64, limit, roundup_pow_of_two((u64)need));
	struct mrpc_deadline **heap;
	void *slots;

	if (mrpc_calls_arrays(conn->accepted, nr, &slots, &heap))
		return -ENOMEM;
	spin_lock(&conn->lock);
	/* Another thread may have been faster. */
	if (nr > calls->deadlines.cap) {
		if (conn->accepted)
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
