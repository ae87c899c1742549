/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The prio transport: the layer between the protocol (kmod/lib/prio/prio.h), the network stack and
 * connections.
 *
 *  struct prio_host	a network namespace: one endpoint of the protocol. So one order
 *			decides what leaves next, for all senders
 *  struct prio_port	a UDP port of it: a listener's, or the one that all clients share
 *  struct prio_peer	the other end of a port's packets: one association
 *  struct prio_link	one end of a connection
 *  struct prio_out	a message being sent; struct prio_in: one being received
 *
 * One lock per host, host->lock, protects the protocol's state and all lists here. Softirq takes
 * packets in, under it. The pump (transports/prio/pump.c) does the resulting work, one context at a
 * time. It builds and sends packets without the lock. The owner of a connection's receive claim
 * copies bytes to their place.
 *
 * The files, of which each calls only those before it: params.c, reaper.c, owner.c and packet.c;
 * peers.c and links.c, the tables; egress.c, out.c and in.c, messages; host.c, the work that
 * follows any change under the lock; pump.c; forget.c, submit.c, deliver.c and receive.c, which
 * make changes under it; port.c, stats.c, link.c and main.c, which other code calls.
 */
#ifndef MRPC_TRANSPORTS_PRIO_HOST_H
#define MRPC_TRANSPORTS_PRIO_HOST_H

#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/rhashtable-types.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

#include "core/receive.h"
#include "core/transport.h"
#include "egress/domain.h"
#include "exec/kick.h"
#include "lib/ds/ring.h"
#include "lib/message/segs.h"
#include "lib/message/wire.h"
#include "lib/prio/prio.h"
#include "lib/prio/rule.h"
#include "lib/prio/wire.h"

#define PRIO_FEW	256	/* a message with at most so many bytes of a packet copies them */
#define PRIO_SMALL	2048	/* so does a message of at most so many bytes */

/**
 * struct prio_path - the addresses of a peer's packets; the key of a peer, no padding
 * @local: local address; zero: as the route says. IPv4 addresses are in the first word
 * @remote: the other end's
 * @lport: local port
 * @rport: its port
 * @family: AF_INET or AF_INET6 of the packets
 * @resv: zero
 * @scope: device of link-local addresses, or 0
 */
struct prio_path {
	struct in6_addr local;
	struct in6_addr remote;
	__be16 lport;
	__be16 rport;
	u16 family;
	u16 resv;
	u32 scope;
};

static_assert(sizeof(struct prio_path) == 44 &&
	      sizeof(struct prio_path) <= sizeof_field(struct sk_buff, cb));

#define PRIO_MAX_PACKET	60000U	/* below UDP's limit */
#define PRIO_TOGETHER	16	/* messages that share a datagram, at most */
#define PRIO_FIRST_PAYLOAD 1200	/* until the path to a new peer is known */
/* The largest packet without payload; and the largest that this end makes, for any path. */
#define PRIO_CONTROL	(sizeof(struct mrpc_prio_hdr) + \
			 MRPC_PRIO_MAX_CONTROL * sizeof(struct mrpc_prio_entry))
#define PRIO_SAYS	(sizeof(struct mrpc_prio_hdr) + 49 * sizeof(struct mrpc_prio_entry))

/**
 * struct prio_host - the transport in a network namespace
 *
 * Made for the first port, ends with the last one (transports/prio/port.c), under prio_ports_lock.
 *
 * @net: the namespace, a reference
 * @list: entry of prio_hosts; under prio_ports_lock
 * @ports: all of its ports; under prio_ports_lock
 * @owner: the socket that owns outgoing payload, bound to nothing. Its sk_wmem_alloc is the memory
 *	below; its write_space reports that this gets less
 * @other: a second socket like @owner; the two change roles: see prio_below()
 * @write_space: the sockets' own callback
 * @gated: a socket for payload that domains have granted. The domains limit what is below
 * @control: a socket for packets without payload. Nothing waits until they have gone, as some may
 *	wait for neighbours that do not answer
 * @lock: protects what follows
 * @ep: the protocol
 * @hash: of @ep
 * @peers: by path
 * @links: by peer and id
 * @nr_peers: in @peers
 * @nr_strangers: strangers in @peers of each remote host, see prio_path_host()
 * @nr_crowded: remote hosts with half as many strangers as they may have, or more
 * @nr_byes: messages that say that a connection ends
 * @heard: for a packet's head that is not in one piece
 * @says: the pump's: a packet that is being made
 * @chunks: the pump's: chunks that are being sent
 * @staged: bytes of packets that wait to be placed, all links together
 * @ended: messages that have ended; the context that unlocks gives them back
 * @freed: calls of messages that are not sent any more, by mrpc_call.freed; given back like @ended
 * @answers: packets for hosts that are not peers; a path in skb->cb
 * @timer: fires at @timer_at at the latest
 * @timer_at: U64_MAX: not armed
 * @timer_due: it has fired
 * @wants_room: the pump stopped because of the bytes below; set by it, cleared by write_space
 * @full_since: time since when there is no room, and nothing has gone; 0: there was some
 * @full_with: bytes below at that time, without @stuck
 * @stuck: bytes of @owner below that do not move
 * @sender: the interface of egress domains to the host
 * @starved_until: no packet is made for a domain's grant before this time, ns: there was no memory
 * @told: the peer for which a packet without payload is being made, without the lock: it is not
 *	freed now. A peer with data under way has links
 * @gated_last: of two messages of one priority, a domain granted the one that went last
 * @pumping: a context pumps
 * @again: it must go on: there is new work
 * @pump: work that pumps in softirq
 * @thread: work that pumps in a thread
 * @threaded: @thread pumps: softirq has pumped for long
 * @busy: since when the pump always has work, jiffies, if @threaded or @more
 * @more: the last pumping context left work
 * @next_id: of the next connection made here
 */
struct prio_host {
	struct net *net;
	struct list_head list;
	struct list_head ports;
	struct socket *owner;
	struct socket *other;
	void (*write_space)(struct sock *sk);
	struct socket *gated;
	struct socket *control;

	spinlock_t lock;
	struct mrpc_prio ep;
	struct mrpc_order_link *hash;
	struct rhashtable peers;
	struct rhashtable links;
	u32 nr_peers;
	u32 nr_strangers[MRPC_PRIO_HOSTS];
	u32 nr_crowded;
	u32 nr_byes;
	u64 staged;
	struct list_head ended;
	struct list_head freed;
	struct sk_buff_head answers;
	struct hrtimer timer;
	u64 timer_at;
	bool timer_due;
	bool wants_room;
	u64 full_since;
	u32 full_with;
	u32 stuck;
	struct mrpc_sender sender;
	u64 starved_until;
	struct prio_peer *told;
	bool gated_last;
	bool pumping;
	bool again;
	struct work_struct pump;
	struct work_struct thread;
	unsigned long busy;
	bool threaded;
	bool more;
	u64 next_id;
	u8 heard[PRIO_CONTROL];
	u8 says[PRIO_SAYS];
	struct mrpc_prio_chunk chunks[PRIO_TOGETHER];
};

/**
 * struct prio_port - a bound UDP socket
 *
 * @users are its listener and its links. A port without users is closed, with its peers. That
 * happens at once, or a moment later if it is for clients (transports/prio/port.c). New users come
 * under prio_ports_lock, or under host->lock if there is a listener.
 *
 * @host: its host
 * @list: entry of host->ports; under prio_ports_lock
 * @users: see above
 * @unused: since when there are none, jiffies; under prio_ports_lock
 * @sock: the socket; under prio_ports_lock
 * @data_ready, @error_report: the socket's own callbacks
 * @number: port, as bound
 * @family: of the socket: AF_INET6 may have IPv4 peers
 * @addr: bound address, as getsockname() gives it
 * @connects: for clients: the paths of its peers have no local address
 * @taken: a listener is here, or is about to be; set under prio_ports_lock
 * @linked: peers with links; under host->lock
 * @idle: peers without links, the longest idle first; under host->lock
 * @l: the listener that accepts here, or NULL; under host->lock
 * @waiting: links that wait to be accepted; under host->lock
 * @nr_waiting: number of @waiting; read without a lock
 * @backlog: maximum of @nr_waiting
 */
struct prio_port {
	struct prio_host *host;
	struct list_head list;
	atomic_t users;
	unsigned long unused;
	struct socket *sock;
	void (*data_ready)(struct sock *sk);
	void (*error_report)(struct sock *sk);
	__be16 number;
	u16 family;
	struct sockaddr_storage addr;
	bool connects;
	bool taken;
	struct list_head linked;
	struct list_head idle;
	struct mrpc_listener *l;
	struct list_head waiting;
	u32 nr_waiting;
	u32 backlog;
};

/**
 * struct prio_peer - one association; at most a KiB
 *
 * Under host->lock, except the pump's fields. Freed when it has had no link for a while, or its
 * port is closed.
 *
 * @core: the protocol's part
 * @path: its addresses
 * @port: the port through which it is reached
 * @node: in host->peers
 * @links: connections over it
 * @of_port: entry of port->linked or, while it has no links, of port->idle
 * @rcu: when it is freed
 * @since: when it became idle, jiffies
 * @nr_byes: messages to it that say that a connection ends
 * @dst: route of packets, or NULL; the pump's
 * @dst_cookie: of @dst; the pump's
 */
struct prio_peer {
	struct mrpc_prio_peer core;
	struct prio_path path;
	u32 dst_cookie;
	struct prio_port *port;
	struct rhash_head node;
	struct hlist_head links;
	union {
		struct list_head of_port;
		struct rcu_head rcu;
	};
	u32 since;
	u32 nr_byes;
	struct dst_entry *dst;
};

/* So 17 peers fit into four pages. */
static_assert(sizeof(struct prio_peer) <= 960);

/* The key of a link; no padding. */
struct prio_link_key {
	struct prio_peer *peer;
	u64 id;
};

/**
 * struct prio_link - one end of a connection
 *
 * Under host->lock, except where stated. Its connection holds a reference; before that, the port's
 * list of waiting links does. Each message in either direction holds one, too.
 *
 * @ref: references
 * @host: immutable
 * @port: a user of it, immutable
 * @key: its peer, immutable while the link exists: a peer with links is not freed
 * @node: in host->links, while @known
 * @known: messages for it are accepted
 * @token: this end's token in the association that it belongs to; 0: its OPEN has not arrived yet
 * @reopened: its OPEN was sent again, because the peer had restarted
 * @upper: the link; NULL before it is accepted, and from release on
 * @waiting: entry of port->waiting until accepted
 * @of_peer: entry of peer->links
 * @outs: messages being sent
 * @nr_outs: number of @outs; read without the lock
 * @moves: number of times that its messages have joined or left a domain
 * @out_bytes: bytes of @outs; read without the lock
 * @full: the core waits for fewer @outs
 * @last: a message to be sent when all others have arrived, or NULL
 * @ins: messages being received, and those that are complete and not delivered
 * @ready: of these, those with something new for the owner of the receive claim
 * @early: those that came before the handshake's; for that owner only
 * @heads: of these, those with large heads that wait to be @first
 * @first: the message that has room even when @staged is used up, or NULL. Without it, messages
 *	that wait to be accepted could keep each other incomplete
 * @staged: memory of messages that wait to be accepted
 * @nr_given_up: of @ins, those that their sender has given up: the protocol does not count them
 * @err: negative: nothing more comes. -ESHUTDOWN: the peer has ended it in order
 * @down: send and receive fail; set by shutdown
 * @rcu: when it is freed
 */
struct prio_link {
	u32 ref;
	struct prio_host *host;
	struct prio_port *port;
	struct prio_link_key key;
	struct rhash_head node;
	bool known;
	bool reopened;
	u64 token;
	struct mrpc_link *upper;
	struct list_head waiting;
	struct hlist_node of_peer;
	struct list_head outs;
	u32 nr_outs;
	u32 moves;
	u64 out_bytes;
	bool full;
	struct prio_out *last;
	struct list_head ins;
	struct list_head ready;
	struct list_head early;
	struct list_head heads;
	struct prio_in *first;
	u64 staged;
	u32 nr_given_up;
	int err;
	bool down;
	struct rcu_head rcu;
};

/**
 * struct prio_out - a message being sent
 *
 * The protocol owns it until it has ended; then it is on host->ended. Before that it can wait for
 * another message to arrive. Then it is that message's @then, or the link's last.
 *
 * @core: the protocol's part
 * @link: a reference
 * @call: the message; holds a reference, and one to its blocks in the send heap. NULL: the
 *	message says that the connection ends
 * @of_link: entry of link->outs; or of host->ended
 * @then: message to be sent when this has arrived: its CANCEL, or one of its stream; more follow it
 * @moved: the last of @link's moves that it has taken part in, or has come after
 * @gone: the protocol has it, or has had it
 * @begun: its first bytes have been sent, and no longer change; the pump's, as the next one
 * @at: segment of the byte section, where the pump was
 * @segs: all of them; immutable
 * @unit: its place in an egress domain
 */
struct prio_out {
	struct mrpc_prio_tx core;
	struct prio_link *link;
	struct mrpc_call *call;
	struct list_head of_link;
	struct prio_out *then;
	u32 moved;
	bool gone;
	bool begun;
	struct mrpc_seg_at at;
	struct mrpc_seg_index segs;
	struct mrpc_unit unit;
};

/**
 * struct prio_in - a message being received
 *
 * The protocol owns it until it is complete or has ended; then its link does. Received packets wait
 * in @came until the owner of the receive claim places them. Under host->lock, except that owner's
 * fields.
 *
 * @core: the protocol's part
 * @link: a reference; NULL: it is not wanted any more
 * @of_link: entry of link->ins
 * @ready: entry of link->ready, link->early or link->heads
 * @came: packets, by skb->next, the latest first; see transports/prio/in.c
 * @staged: memory that waits to be placed
 * @accepted: the sink has it
 * @since: time when PRIO_TELL more bytes last came, or when nothing could come, ns
 * @told: bytes received when the owner was last told
 * @complete: all of it has come
 * @cut: it has ended incomplete
 * @given_up: it is @cut, and its connection goes on
 * @pieces: packets taken from @came and not placed; the owner's field, as are the next
 * @frame: its header
 * @head: bytes before the byte section; 0: the header has not been read. prio_in_slow() reads it
 * @buf: placed bytes of a large head; NULL: not yet, not any more, or the head is small
 * @cap: bytes that it has room for
 * @open: the sink has accepted it
 * @base: where the byte section goes, NULL: nowhere
 * @placed: bytes that have been handled
 * @written: end of the last of them
 * @limit: what the sender may be granted; host->lock
 * @sink: the core's, while it is not the connection's
 */
struct prio_in {
	struct mrpc_prio_rx core;
	struct prio_link *link;
	struct list_head of_link;
	struct list_head ready;
	struct sk_buff *came;
	u64 staged;
	bool accepted;
	u64 since;
	u32 told;
	bool complete;
	bool cut;
	bool given_up;

	struct sk_buff *pieces;
	struct mrpc_frame frame;
	u64 head;
	u8 *buf;
	u32 cap;
	bool open;
	u8 *base;
	u32 placed;
	u32 written;
	u32 limit;
	struct mrpc_sink sink;
};

/**
 * struct prio_bytes - a packet of one or several datagrams, while it is handled
 * @skb: the packet; its messages own it once @taken
 * @stride: bytes of each datagram but the last
 * @taken: a message has it
 * @last: the message that has the bytes of the datagram before, or NULL
 */
struct prio_bytes {
	struct sk_buff *skb;
	u32 stride;
	bool taken;
	struct prio_in *last;
};

/**
 * struct prio_look - the state of the transport in a namespace, at one moment
 * @rule: its settings
 * @stats: its counters since the module was loaded
 * @peers: associations, of any state
 * @links: links for which messages are accepted
 * @messages_out: being sent
 * @messages_in: being received
 * @gap_maps: struct mrpc_prio_gaps that exist
 * @staged: bytes of packets that wait to be placed
 * @outstanding: bytes granted, or announced as unscheduled, and not received
 * @below: bytes of memory of packets that have not left
 */
struct prio_look {
	struct mrpc_prio_rule rule;
	struct mrpc_prio_stats stats;
	u32 peers;
	u32 links;
	u32 messages_out;
	u32 messages_in;
	u32 gap_maps;
	u64 staged;
	u64 outstanding;
	u64 below;
};

void prio_settle(struct prio_host *host);
void prio_unlock(struct prio_host *host) __releases(&host->lock);

/**
 * prio_pump_kick() - make the pump run, as there may be work
 * @host: the host
 *
 * Context: any; in softirq the pump runs after this one.
 */
static inline void prio_pump_kick(struct prio_host *host)
{
	if (READ_ONCE(host->threaded))
		queue_work(system_unbound_wq, &host->thread);
	else
		queue_work(system_bh_wq, &host->pump);
}

/**
 * prio_link_fail() - end a link: nothing more comes
 * @link: the link
 * @err: why; only the first error counts
 */
static inline void prio_link_fail(struct prio_link *link, int err)
{
	if (link->err)
		return;
	WRITE_ONCE(link->err, err);
	if (link->upper)
		mrpc_link_kick_rx(link->upper);
}

static inline struct prio_peer *prio_peer_of(struct mrpc_prio_peer *core)
{
	return container_of(core, struct prio_peer, core);
}

#endif /* MRPC_TRANSPORTS_PRIO_HOST_H */
