/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transports carry links: the operations of a transport, and the functions that the core offers to
 * it.
 */
#ifndef MRPC_CORE_TRANSPORT_H
#define MRPC_CORE_TRANSPORT_H

#include <linux/device/driver.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <linux/uio.h>

#include "core/rpc.h"

struct module;
struct mrpc_link;
struct mrpc_engine_ops;
struct mrpc_group;
struct mrpc_listener;
struct mrpc_sender;
struct net;
struct netlink_ext_ack;

/**
 * enum mrpc_stat_kind - kind of a number of a transport
 * @MRPC_STAT_COUNTER: a count of events: it only grows
 * @MRPC_STAT_DROP: a count of packets that were dropped; the name tells the reason
 * @MRPC_STAT_GAUGE: a present value
 * @MRPC_STAT_SETTING: a setting
 */
enum mrpc_stat_kind {
	MRPC_STAT_COUNTER,
	MRPC_STAT_DROP,
	MRPC_STAT_GAUGE,
	MRPC_STAT_SETTING,
};

/* Takes one number. @name: unique in its kind. Return: not 0: no more numbers are wanted. */
typedef int (*mrpc_stat_emit)(void *ctx, enum mrpc_stat_kind kind, const char *name, u64 value);

/*
 * Its links speak a protocol that is not mrpc's own: there is no handshake, and features and probes
 * are not sent. The transport calls mrpc_link_agree() instead. send() is given frames of mrpc, and
 * recv() gives such frames to the sink. recv() is also called after each keepalive interval, and
 * when mrpc_link_arm() says.
 */
#define MRPC_TRANSPORT_FOREIGN	BIT(0)

/**
 * struct mrpc_transport_ops - a transport, of one version
 *
 * Connections and listeners begin with version 1. An operator places @type to give connections
 * another version. Then the link changes from version to version, with its contents, between two
 * messages.
 *
 * @name: as in struct mrpc_connect.transport
 * @version: 1 or more
 * @flags: MRPC_TRANSPORT_*
 * @features: MRPC_FEATURE_* that its links accept in received frames
 * @type: the engine type of the same name and version. An operator places it to choose this
 *	version; no rpc passes it. Optional: without it there are no other versions
 * @owner: its module; each connection and listener holds a reference
 * @list: entry of the registry; for the core
 * @connect: begins a link for @conn to @addr. It does not wait: send returns -EAGAIN until the
 *	link stands; send or recv fails if it cannot be made. Returns a negative errno, and sets
 *	*@why (static) if it can tell more than the errno
 * @adopt: begins a link with the connected socket @fd of the calling process. Returns as @connect;
 *	writes -1 to @fd when it has taken the descriptor away, also if it fails after that. It may
 *	sleep. Optional: no sockets are taken
 * @listen: makes @l accept links at @addr; writes the bound address to l->addr.
 *	Returns as @connect
 * @listen_on: as @listen, with the listening socket @fd; as @adopt. Optional, with @adopt only
 * @waiting: returns true if a link waits at @l; a hint
 * @accept: takes one link that waits at @l and gives it to @conn, or drops it if @conn is
 *	NULL. Runs in the context that owns @l's claim; -EAGAIN if none
 *	waits
 * @unlisten: stops accepting; no callback into @l after it returns
 * @send: gives the first rpc of @q (marshalled) to the link, and any number of those after it
 *	that mrpc_tx_next() returns; owner of the transmit claim. It advances rpc->done, and the
 *	caller takes the rpcs that are whole off @q. @limit: U64_MAX, or a chunk's bytes in an
 *	egress domain: at most so many are sent, all of the first rpc, and nothing that is sent
 *	later joins them in one packet. 0: the first rpc, or the chunk, is taken; -EAGAIN: less,
 *	mrpc_link_kick_tx() or, with a limit, mrpc_link_kick_room() will be called when there is
 *	room; else the link is dead
 * @flush: sends off what @send has taken in this round of the transmit direction. Called after
 *	one or more calls of @send, whatever ends the round. Owner of the transmit claim. Optional
 * @pump: sends what the link itself keeps, at the end of each round of the transmit direction, also
 *	if no rpc waits. Owner of the transmit claim. Returns 0: nothing is left, or
 *	mrpc_link_kick_tx() will be called; 1: it wants another turn; else the link is dead.
 *	Optional
 * @recv: receives at most @budget frames and hands them to the sink; owner of the
 *	receive claim. Returns the number of frames (== @budget: call again),
 *	-EAGAIN when it stopped for lack of room in the receive heap (the sink
 *	has arranged for a kick), else the link is dead (0 frames and end of
 *	stream is -ESHUTDOWN)
 * @shutdown: make the peer see the end; send and recv fail from now on. With
 *	@abort unsent data is thrown away and zero-copy pages come back at once
 * @busy: after a @shutdown in order: has the peer still something to take, or to acknowledge?
 *	Asked again and again, for 800 ms at most, before @release. No thread is in send or recv;
 *	callbacks may come. Context: process; may sleep
 * @release: free the link; no thread is in send or recv, no callback follows
 * @backlog: bytes given to @send that the peer has not acknowledged
 * @slow: does a message take longer than @patience (ns) to arrive, or to get on, by the
 *	peer's fault? By anybody, also while the link ends or changes its version: it
 *	must see that itself. Under RCU: does not sleep. Optional: mrpc_conn.receive.since says it
 * @uses: MRPC_FEATURE_* that a configuration of @type wants used in what is sent.
 *	Optional: none
 * @decompose: returns the state of @conn's link, for another version's @restore: memory
 *	without pointers into module code. The link stays as it is, and stays @conn's,
 *	unless @restore succeeds. Both claims are held, or only the caller knows @conn.
 *	With @type only
 * @restore: makes @state, from @decompose of @from, a link of this version that can
 *	send what @uses returns. The link then owns the state, or it is freed. On failure
 *	nothing has changed. Also called when only @uses changes, with this version as
 *	@from. Returns the link or an ERR_PTR. Both claims are held: be quick, do not
 *	wait. With @type only
 * @stats: gives @emit, with @ctx, all numbers of @net, a hundred at most; none if there is no state
 *	in it. Stops when @emit wants no more, and returns what it returned, else 0. It and
 *	@emit may sleep: no lock of the data path is held meanwhile.
 *	Optional
 * The rest is for egress domains. A transport with neither @credit nor @sender is in none:
 * @credit: returns the bytes that the link would take, for a @chunk; 0: wait for
 *	mrpc_link_kick_room(), which will be called although there may be room meanwhile.
 *	Takes no lock and never waits; any context
 * @below: returns the bytes sent that have not left the device, and that others must wait for,
 *	without those that wait for the peer. Context as @credit. Optional: none
 * @device: returns the name of the device that the link leaves by, IFNAMSIZ bytes, "" for none.
 *	Optional: without it the domain of loop links is used
 * @sender: sender of the messages of @conn's link, which it has taken whole. The messages are
 *	ordered one by one (egress/unit.c), and neither @credit nor @below is called. They stay
 *	in its domain until @release calls mrpc_domain_leave()
 * @egress: @conn has a domain now, which its messages join; or it has none any more, and they leave
 *	theirs. Both claims are held, as with @device. With @sender only
 */
struct mrpc_transport_ops {
	const char *name;
	u32 version;
	u32 flags;
	u64 features;
	struct mrpc_engine_ops *type;
	struct module *owner;
	struct list_head list;
	int (*connect)(struct mrpc_link *link, const void *addr, u32 addr_len, const char **why);
	int (*adopt)(struct mrpc_link *link, int *fd, const char **why);
	int (*listen)(struct mrpc_listener *l, const void *addr, u32 addr_len, u32 backlog,
		      const char **why);
	int (*listen_on)(struct mrpc_listener *l, int *fd, const char **why);
	bool (*waiting)(struct mrpc_listener *l);
	int (*accept)(struct mrpc_listener *l, struct mrpc_link *link);
	void (*unlisten)(struct mrpc_listener *l);
	int (*send)(struct mrpc_link *link, struct mrpc_queue *q, u64 limit);
	void (*flush)(struct mrpc_link *link);
	int (*pump)(struct mrpc_link *link);
	int (*recv)(struct mrpc_link *link, int budget);
	void (*shutdown)(struct mrpc_link *link, bool abort);
	bool (*busy)(struct mrpc_link *link);
	void (*release)(struct mrpc_link *link);
	u64 (*backlog)(struct mrpc_link *link);
	bool (*slow)(struct mrpc_link *link, u64 now, u64 patience);
	u64 (*uses)(const struct mrpc_group *g);
	void *(*decompose)(struct mrpc_link *link);
	void *(*restore)(struct mrpc_link *link, const struct mrpc_transport_ops *from,
			 void *state, u64 uses, struct netlink_ext_ack *extack);
	int (*stats)(struct net *net, mrpc_stat_emit emit, void *ctx);
	u32 (*credit)(struct mrpc_link *link, u32 chunk);
	u64 (*below)(struct mrpc_link *link);
	void (*device)(struct mrpc_link *link, char *name);
	struct mrpc_sender *(*sender)(struct mrpc_link *link);
	void (*egress)(struct mrpc_link *link, bool joins);
};

/* A module that is one version of a transport. */
#define module_mrpc_transport(__ops) \
	module_driver(__ops, mrpc_transport_register, mrpc_transport_unregister)

int mrpc_transport_register(struct mrpc_transport_ops *ops);
void mrpc_transport_unregister(struct mrpc_transport_ops *ops);
const struct mrpc_transport_ops *mrpc_transport_get(const char *name);
void mrpc_transport_put(const struct mrpc_transport_ops *ops);
const struct mrpc_transport_ops *mrpc_transport_next(const char *name, u32 version);

extern struct mrpc_transport_ops mrpc_loop_ops;

/* CRC-32C, to be inverted when all of it is in. */
#define MRPC_CHECKSUM_INIT	(~0U)

#endif /* MRPC_CORE_TRANSPORT_H */
