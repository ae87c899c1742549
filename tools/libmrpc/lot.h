/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_LOT_H
#define LIBMRPC_LOT_H

#include "channel.h"
#include "op.h"
#include "timers.h"

struct parked;

/**
 * enum lot_list - what a parked call waits for
 * @LOT_PAUSED: a time
 * @LOT_CANCEL: room in the submission queue, for its CANCEL
 * @LOT_WAIT: a connection with room, and room in the queue, or an attempt to make one that fails
 * @LOT_WAIT_READY: the same, whatever fails
 */
enum lot_list {
	LOT_PAUSED,
	LOT_CANCEL,
	LOT_WAIT,
	LOT_WAIT_READY,
	LOT_LISTS,
};

/**
 * struct parked_ops - how a parked call goes on
 * @go: looks whether it can. Return: false: it stays, and all behind it; true: it has left the list
 * @due: its time has come, or it is paused and its channel was closed. It leaves the list
 */
struct parked_ops {
	bool (*go)(struct parked *p);
	void (*due)(struct parked *p);
};

/**
 * struct parked - a call that waits
 * @ops: how it goes on
 * @lot: where it waits; set while it is parked
 * @list: for what
 * @next: in that list
 * @prev: what points here; NULL: it is not parked
 * @timer: when it waits no longer
 */
struct parked {
	const struct parked_ops *ops;
	struct lot *lot;
	enum lot_list list;
	struct parked *next;
	struct parked **prev;
	struct timer timer;
};

/**
 * struct lot - the calls of a queue pair over a channel
 *
 * All of a list wait for the same, so that the first one says whether any can go on. The calls have
 * a reference each, and the lot has one to the memory of the channel.
 *
 * @next: in mrpc_qp.lots
 * @qp: the queue pair
 * @channel: the channel
 * @refs: references
 * @waiter: if the queue pair has an eventfd: in the channel's list, with the earliest of @timers
 * @lists: parked calls, for each enum lot_list, in the order in which they came
 * @timers: of all of them
 */
struct lot {
	struct lot *next;
	struct mrpc_qp *qp;
	struct channel *channel;
	u32 refs;
	struct channel_waiter waiter;
	struct {
		struct parked *first;
		struct parked **last;
	} lists[LOT_LISTS];
	struct timer *timers;
};

/* That of a channel, with a reference more. NULL: without memory. */
struct lot *lot_get(struct mrpc_qp *qp, struct channel *ch);
void lot_put(struct lot *lot);

/* A call waits from now on. @until: FOR_EVER: it waits for no time. */
void lot_park(struct lot *lot, struct parked *p, enum lot_list list, u64 until);
void lot_unpark(struct parked *p);

static inline bool is_parked(const struct parked *p)
{
	return p->prev;
}

#endif /* LIBMRPC_LOT_H */
