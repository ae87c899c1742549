/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_CHANNEL_H
#define LIBMRPC_CHANNEL_H

#include "config.h"
#include "conn.h"
#include "waiters.h"

struct avoid;
struct channel;

/**
 * struct channel_conn - a connection that a call can go over
 * @id: the kernel's number
 * @max_calls: calls that it takes at a time, as both ends have agreed
 */
struct channel_conn {
	u32 id;
	u32 max_calls;
};

/* Its memory stays until it is dropped as often. */
void channel_hold(struct channel *ch);
void channel_drop(struct channel *ch);

/* A call comes, and keeps the channel from being idle, and its memory, until it leaves. */
void channel_enter(struct channel *ch);
void channel_leave(struct channel *ch);

/* What the service config says of a method, by its number in entries. */
const struct method_config *channel_config(const struct channel *ch, u32 method);
struct throttle *channel_throttle(struct channel *ch);

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
 * Finds the connection for a call, and begins to make one if there is none. @avoid: NULL, or those
 * that are taken only if there are no others. Return: MRPC_OK, and it in @conn; -EAGAIN: not now;
 * any other status: with the reason in @res.
 */
int channel_try(struct channel *ch, bool wait_ready, const struct avoid *avoid,
		struct channel_conn *conn, struct mrpc_result *res);

/* Waits for it until a time, and tells its number. Return: as channel_try(), but not -EAGAIN. */
int channel_link(struct channel *ch, bool wait_ready, u64 until, u32 *id,
		 struct mrpc_result *res);

/* A call over connection @id was not sent. Return: the channel has, or makes, another one. */
bool channel_lost(struct channel *ch, u32 id);

/* Waits for a time, or the end of the channel. 0 or -EINTR. */
int channel_pause(struct channel *ch, u64 until);

bool channel_is_closed(struct channel *ch);

void channel_add_waiter(struct channel *ch, struct channel_waiter *w);
void channel_set_waiter(struct channel *ch, struct channel_waiter *w, u64 until);
/* Harmless if it is not in the list. */
void channel_del_waiter(struct channel *ch, struct channel_waiter *w);

#endif /* LIBMRPC_CHANNEL_H */
