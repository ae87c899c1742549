/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An endpoint of prio on a simulated host: what the module's glue is to kmod/lib. Packets
 * have real headers; they have payload if the user makes and takes it.
 */
#ifndef SIM_ENDPOINT_H
#define SIM_ENDPOINT_H

#include "net.h"
#include "lib/prio/prio.h"

#define ENDPOINT_IP	28	/* IPv4 and UDP */
#define ENDPOINT_MTU	1500
#define ENDPOINT_PAYLOAD (ENDPOINT_MTU - ENDPOINT_IP - (u32)MRPC_PRIO_DATA_HDR)

struct endpoint;

/**
 * struct endpoint_tx - a message being sent; freed by the endpoint when it has ended
 * @tx: the core's
 * @e: whose
 * @before, @after: in the endpoint's list
 */
struct endpoint_tx {
	struct mrpc_prio_tx tx;
	struct endpoint *e;
	struct endpoint_tx *before;
	struct endpoint_tx *after;
};

/**
 * struct endpoint_rx - a message being received; freed by the endpoint when it has ended
 * @rx: the core's
 * @before, @after: in the endpoint's list
 * @content: its bytes, if the user takes them
 */
struct endpoint_rx {
	struct mrpc_prio_rx rx;
	struct endpoint_rx *before;
	struct endpoint_rx *after;
	u8 *content;
};

/**
 * struct endpoint_user - sends and receives messages
 * @fill: payload of a packet; NULL: there is none, only its length
 * @place: that came; false: it cannot be now, and counts as lost. NULL with @fill
 * @admit: a message is announced: 0, or enum mrpc_prio_refusal, and the bytes that it may be
 *	granted. NULL: all are welcome
 * @spare: whether there is small memory now. NULL: always
 * @came: a message is complete
 * @sent: one is over, for the sender; @tx->tx.status says how
 */
struct endpoint_user {
	void (*fill)(void *context, const struct endpoint_tx *tx, u32 offset, u32 len, u8 *to);
	bool (*place)(void *context, struct endpoint_rx *rx, u32 offset, u32 len, const u8 *from);
	u32 (*admit)(void *context, struct endpoint *e, const struct mrpc_prio_packet *p,
		     u32 *limit);
	bool (*spare)(void *context);
	void (*came)(void *context, struct endpoint *e, struct endpoint_rx *rx, u32 from);
	void (*sent)(void *context, struct endpoint *e, struct endpoint_tx *tx);
};

struct endpoint_peer;

/**
 * struct endpoint - of one host
 * @ep: the core's
 * @net: the network
 * @user, @context: the sender and receiver
 * @host: number
 * @nr_peers: room in @peers
 * @peers: by host; NULL: none yet
 * @hash: of @ep
 * @wake: when the timer goes off, of those that were set; U64_MAX: none
 * @stalled: does nothing until then
 * @busy: something is being done: what happens meanwhile is seen at the end of it
 * @txs, @rxs: messages
 * @memory, @max_memory: bytes of state
 * @max_gaps: greatest ep.nr_gaps
 */
struct endpoint {
	struct mrpc_prio ep;
	struct sim_net *net;
	const struct endpoint_user *user;
	void *context;
	u32 host;
	u32 nr_peers;
	struct endpoint_peer **peers;
	struct mrpc_order_link *hash;
	u64 wake;
	u64 stalled;
	bool busy;
	struct endpoint_tx *txs;
	struct endpoint_rx *rxs;
	u64 memory;
	u64 max_memory;
	u32 max_gaps;
};

/** endpoint_init() - at host @host; @seed: of its secrets; a rule that is refused is fatal */
void endpoint_init(struct endpoint *e, struct sim_net *net, u32 host,
		  const struct mrpc_prio_rule *rule, const struct endpoint_user *user,
		  void *context, u64 seed);

/** endpoint_fini() - forgets all at once, as a host that fails; @sent hears of it */
void endpoint_fini(struct endpoint *e);

/** endpoint_submit() - Return: the message, or NULL: the core refused it */
struct endpoint_tx *endpoint_submit(struct endpoint *e, u32 to, u64 conn, u8 kind, u8 priority,
				    u32 bytes);

/** endpoint_receive() - a packet came; frees it */
void endpoint_receive(struct endpoint *e, struct sim_packet *p);

/** endpoint_room() - the port wants packets */
void endpoint_room(struct endpoint *e);

/** endpoint_work() - after the user called the core itself */
void endpoint_work(struct endpoint *e);

/** endpoint_stall() - does nothing for some time; what comes meanwhile is the caller's concern */
void endpoint_stall(struct endpoint *e, u64 until);

/** endpoint_forget() - drops the association with a host, as an operator would */
void endpoint_forget(struct endpoint *e, u32 host);

/** endpoint_chunk_bytes() - of a chunk on the wire */
u32 endpoint_chunk_bytes(u32 chunk);

/** endpoint_crc() - crc32c of a packet, its own field taken as zero */
u32 endpoint_crc(const u8 *packet, u32 len);

#endif /* SIM_ENDPOINT_H */
