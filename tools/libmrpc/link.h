/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_LINK_H
#define LIBMRPC_LINK_H

#include "addr.h"
#include "conn.h"
#include "waiters.h"

struct link;

/**
 * struct link_ops - what a link asks of its channel
 * @addresses: finds what the next attempt may connect to; without the lock. Return: how many, or
 *	-errno with the error set; -ECANCELED: the link is not wanted any more
 * @changed: the link has another state, or reason; under the lock
 * @look: now and then, in the threads of links, under the lock, which it may drop. Return: when to be
 *	called again
 */
struct link_ops {
	int (*addresses)(struct link *link, struct address list[ADDRESSES_MAX]);
	void (*changed)(struct link *link);
	u64 (*look)(struct link *link, u64 now);
};

/**
 * struct former - a connection that takes no new calls
 * @next: the next of the channel
 * @id: the kernel's number
 * @since: when it was given up
 */
struct former {
	struct former *next;
	u32 id;
	u64 since;
};

#define SWEEP_NS	1000000000u	/* between looks at former connections */

/**
 * struct links - what the links of a channel have in common
 * @ops: the channel's part
 * @session: the session that the connections belong to; it outlives the channel
 * @target: the target
 * @opts: with the defaults filled in
 * @arg: what all attempts ask of the kernel
 * @waiters: those that wait for a change; its lock protects what follows, and the links
 * @former: connections that take no new calls
 * @stop: the channel was closed
 */
struct links {
	const struct link_ops *ops;
	struct mrpc_session *session;
	char *target;
	struct mrpc_channel_opts opts;
	struct mrpc_connect arg;
	struct waiters waiters;
	struct former *former;
	bool stop;
};

/**
 * struct link - one connection of a channel, that comes back
 *
 * A thread makes the connection. It lives from the first attempt until the link ends. The lock of
 * @all protects everything but @all and @has_address.
 *
 * @all: the channel's
 * @next: for the channel, when it is not wanted any more
 * @has_address: it has one of the target's addresses; else it tries them all
 * @address: that one; else the one of its latest connection
 * @state: enum mrpc_channel_state
 * @id: with MRPC_CHANNEL_READY: the kernel's number of the connection
 * @max_calls: with @id: calls that it takes at a time
 * @wanted: the thread makes a connection
 * @ends: the thread is to end
 * @thread: the thread
 * @has_thread: @thread is to be joined
 * @has_ended: it does not wait to be joined
 * @begin_ns: when the next attempt may begin; 0: at once, and it is the first
 * @cut: the attempt was told to end
 * @why: the reason of the last failure; "": a connection was made since
 */
struct link {
	struct links *all;
	struct link *next;
	bool has_address;
	struct address address;
	int state;
	u32 id;
	u32 max_calls;
	bool wanted;
	bool ends;
	pthread_t thread;
	bool has_thread;
	bool has_ended;
	bool cut;
	u64 begin_ns;
	char why[MRPC_MAX_DETAIL];
};

/* NULL: no memory. @address: NULL: all of the target's. */
struct link *link_new(struct links *all, const struct address *address);

/* These under the lock. */

/*
 * Begins to connect, unless that is done or under way. Return: 0, or what keeps the thread from
 * being started, a positive errno.
 */
int link_begin(struct link *link);

/* Gives up the connection if it takes no calls any more. */
void link_check(struct link *link);

/* Gives up the connection, and makes none until link_begin(). It ends after its last call. */
void link_rest(struct link *link);

/* The same for ever: the thread ends, by and by. */
void link_leave(struct link *link);

/* Without the lock, after link_leave() or links.stop: waits for the thread, and frees the link. */
void link_free(struct link *link);

/*
 * Gives back a former connection whose calls have ended: one, because that may take a while. This
 * function drops the lock meanwhile.
 */
void links_sweep(struct links *all);

#endif /* LIBMRPC_LINK_H */
