/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_CHANNEL_H
#define LIBMRPC_CHANNEL_H

#include "conn.h"

struct channel;

/**
 * struct channel_waiter - a call that waits until its channel changes
 * @next: in the channel's list, under its lock
 * @prev: what points here; NULL: it is not in the list
 * @eventfd: what a change makes readable, and the time; -1: nothing
 * @until: that time
 */
struct channel_waiter {
	struct channel_waiter *next;
	struct channel_waiter **prev;
	int eventfd;
	u64 until;
};

void channel_get(struct channel *ch);
void channel_put(struct channel *ch);

/* Ends it: its connections, its thread, and the waits of calls. 0 or -errno. Puts the reference. */
int channel_close(struct channel *ch, u64 drain_us);

/*
 * The same at the end of its session: the kernel ends the connections. In a forked child the
 * channel only gives up its memory.
 */
void channel_end(struct channel *ch);

/* The kernel's number of its connection, 0: it has none. */
u32 channel_peek(struct channel *ch);

/*
 * Finds the connection for a call, and begins to make one if there is none. Return: MRPC_OK, and
 * its number in @id; -EAGAIN: not now; any other status: with the reason in @res.
 */
int channel_try(struct channel *ch, bool wait_ready, u32 *id, struct mrpc_result *res);

/* The same, and waits for it until a time. Return: as channel_try(), but not -EAGAIN. */
int channel_link(struct channel *ch, bool wait_ready, u64 until, u32 *id,
		 struct mrpc_result *res);

/* A call over connection @id was not sent. Return: the channel has, or makes, another one. */
bool channel_lost(struct channel *ch, u32 id);

void channel_add_waiter(struct channel *ch, struct channel_waiter *w);
/* Harmless if it is not in the list. */
void channel_del_waiter(struct channel *ch, struct channel_waiter *w);

#endif /* LIBMRPC_CHANNEL_H */
