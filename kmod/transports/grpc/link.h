/* SPDX-License-Identifier: GPL-2.0 */
/* Links of the transport grpc: HTTP/2 connections to peers that speak gRPC. */
#ifndef MRPC_TRANSPORTS_GRPC_LINK_H
#define MRPC_TRANSPORTS_GRPC_LINK_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "lib/http2/connection.h"
#include "lib/http2/hpack.h"
#include "lib/http2/owed.h"
#include "lib/http2/parser.h"
#include "transports/grpc/deliver.h"
#include "transports/sock.h"
#include "transports/sock_direct.h"
#include "transports/sock_tls.h"

struct grpc_out_work;
struct grpc_stream;
struct grpc_work;
struct mrpc_link;
struct mrpc_listener;
struct socket;

/**
 * struct grpc_in - what has come: of the owner of the receive claim
 * @parser: of frames
 * @table: HPACK's table of the peer's header blocks; its ring is made with the first of them
 * @work: memory that is only needed while something comes, or NULL; see grpc_in_rest()
 * @at: position of the next byte in @work->buf
 * @len: end of what was read there
 * @backlog: bytes in the backlogs of all streams
 * @unmade: server: streams whose call is still to be made
 * @emptied: the latest read of this grpc_recv() got less than it wanted
 * @small_taken: a stream has its message in @work->small
 * @stalled: a message had to wait for the sink
 * @drained: server: the client opens no more streams
 * @stream: the stream that the content at @piece belongs to, a reference; or NULL
 * @piece: content that is not taken yet, part of @work->buf
 * @piece_len: bytes of it
 * @piece_end: it is the last of its stream
 * @assembling: streams with a message that is not whole, the oldest first, by grpc_stream.assembly;
 *	each is a reference
 * @block_since: when a header block began that is not whole, ns; 0: there is none
 * @now: when grpc_recv() began, ns
 * @look: when to look at the clock next, ns
 * @due: when HTTP/2 does something by itself, ns; MRPC_H2_NEVER: never
 * @congested: as grpc_link.congested, after the latest frame
 * @used: when something came last, ns; 0: the memory that it needed was given back
 * @delivery: the message that the sink takes next
 */
struct grpc_in {
	struct mrpc_h2_parser parser;
	struct mrpc_hpack_table table;
	struct grpc_work *work;
	u32 at;
	u32 len;
	u32 backlog;
	u32 unmade;
	bool emptied;
	bool small_taken;
	bool stalled;
	bool drained;
	struct grpc_stream *stream;
	const u8 *piece;
	u32 piece_len;
	bool piece_end;
	struct list_head assembling;
	u64 block_since;
	u64 now;
	u64 look;
	u64 due;
	bool congested;
	u64 used;
	struct grpc_delivery delivery;
};

/**
 * struct grpc_out - what goes out: of the owner of the transmit claim
 * @table: HPACK's table of our header blocks; its ring is made with the first of them
 * @work: memory that is only needed while something goes out, or NULL; see grpc_rest()
 * @at: position of the first byte of the stage that the socket has not taken
 * @len: end of what waits in the stage
 * @cur: the stream of a DATA frame with its header in the stage, and its content elsewhere; or NULL
 * @cur_left: bytes of that content that the socket has not taken
 * @kept: the link counts as keeping something, because of what is in the stage
 * @broken: the socket takes nothing any more
 * @sending: streams that have something to send, in turn, by grpc_stream.send; each is a reference
 * @blocked: streams that wait for the peer's flow control, by grpc_stream.send; as @sending
 */
struct grpc_out {
	struct mrpc_hpack_table table;
	struct grpc_out_work *work;
	u32 at;
	u32 len;
	struct grpc_stream *cur;
	u32 cur_left;
	bool kept;
	bool broken;
	struct list_head sending;
	struct list_head blocked;
};

/**
 * struct grpc_link - one link
 *
 * Its connection owns it. @sock->sk->sk_user_data refers back to the connection's link, under
 * sk_callback_lock, until release.
 *
 * @link: the connection's link; immutable
 * @sock: the socket; immutable
 * @hooks: the socket's own callbacks, put back at release; immutable
 * @tls: TLS of the socket
 * @direct: how the layers above TCP are left out
 * @nr_slots: entries of @slots; immutable
 * @spare: the latest stream that has ended, for the next one; or NULL. Atomic
 * @down: send and receive fail
 * @rest: nothing has come for a while: the owner of the transmit claim gives memory back
 * @in: receive claim
 * @out: transmit claim
 * The rest is under @lock, which is taken in process context. No lock is taken inside:
 * @h2: the HTTP/2 connection
 * @slots: the stream of each call that the core knows, by the slot of its id; each is a reference
 * @used: bits of slots that are taken; only at a server
 * @seq: the last sequence number of a call id; only at a server
 * @fresh: streams that the receive side gives to the transmit side, by grpc_stream.fresh; each is a
 *	reference
 * @gone: streams whose call the receive side must end, by grpc_stream.gone; each is a reference
 * @resumed: streams whose messages may go on to the application, by grpc_stream.resume; as @fresh
 * @credits: streams of which the socket has taken messages, by grpc_stream.credit; as @fresh
 * @blocked: there may be streams in @out.blocked
 * @woken: a stream of @out.blocked may go on, and the transmit side looks at all of them; or a turn
 *	has made RST_STREAM due
 * @congested: the receive side waits until the peer takes answers
 */
struct grpc_link {
	struct mrpc_link *link;
	struct socket *sock;
	struct mrpc_sock_hooks hooks;
	struct mrpc_sock_tls tls;
	struct mrpc_sock_direct direct;
	u32 nr_slots;
	struct grpc_stream *spare;
	bool down;
	bool rest;
	struct grpc_in in;
	struct grpc_out out;

	spinlock_t lock;
	struct mrpc_h2_conn h2;
	struct mrpc_h2_stream **buckets;
	struct mrpc_h2_gone *resets;
	struct grpc_stream **slots;
	unsigned long *used;
	u64 seq;
	struct list_head fresh;
	struct list_head gone;
	struct list_head resumed;
	struct list_head credits;
	bool blocked;
	bool woken;
	bool congested;
};

int grpc_connect(struct mrpc_link *link, const void *addr, u32 addr_len, const char **why);
int grpc_adopt(struct mrpc_link *link, int *fd, const char **why);
int grpc_accept(struct mrpc_listener *l, struct mrpc_link *link);
void grpc_shutdown(struct mrpc_link *link, bool abort);
bool grpc_busy(struct mrpc_link *link);
void grpc_release(struct mrpc_link *link);
u64 grpc_backlog(struct mrpc_link *link);

#endif /* MRPC_TRANSPORTS_GRPC_LINK_H */
