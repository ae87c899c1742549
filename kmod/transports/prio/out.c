// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: outgoing messages.
 *
 * The protocol gets a whole message, with its call and, through that, its blocks in the
 * application's send heap. It has them until the peer has all of the message. Messages have no
 * order. If one must not come before another, it waits here until that has arrived. A CANCEL waits
 * for its request, the client's BYE for all messages. If the CANCEL of a request is here, the
 * request is aborted, in any state. The CANCEL follows when the receiver knows of the abort, or has
 * the request.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <net/dst.h>

#include "core/call.h"
#include "core/heap.h"
#include "core/rpc.h"
#include "egress/unit.h"
#include "exec/kick.h"
#include "lib/prio/prio.h"
#include "lib/prio/wire.h"
#include "transports/prio/egress.h"
#include "transports/prio/links.h"
#include "transports/prio/out.h"
#include "transports/prio/packet.h"
#include "transports/prio/peers.h"

#define PRIO_SEGMENTS	64U	/* datagrams of one packet */
#define PRIO_BYES	512	/* ends of connections that a peer has not acknowledged */
#define PRIO_BYES_ALL	4096	/* of all peers of a host */
#define PRIO_BYES_FEW	4	/* of a peer, when others have used that up */

static struct kmem_cache *prio_out_cache;

static struct prio_out *prio_out_of(struct mrpc_prio_tx *core)
{
	return container_of(core, struct prio_out, core);
}

/* prio_out_new() - allocate a message, or NULL */
struct prio_out *prio_out_new(gfp_t gfp)
{
	struct prio_out *out = kmem_cache_alloc(prio_out_cache, gfp | __GFP_ACCOUNT);

	if (!out)
		return NULL;
	memset(out, 0, offsetof(struct prio_out, unit));
	out->unit.domain = NULL;
	return out;
}

/* Frees the memory of a message, which has no references of its own. */
void prio_out_delete(struct prio_out *out)
{
	kvfree(out->segs.marks);
	kmem_cache_free(prio_out_cache, out);
}

/* -- its life: under host->lock ------------------------------------------------------------ */

/* Adds @nr to the counts of messages that say that a connection ends. */
static void prio_byes_add(struct prio_link *link, int nr)
{
	link->key.peer->nr_byes += nr;
	link->host->nr_byes += nr;
}

/* A message has ended, sent or not. */
static void prio_out_end(struct prio_out *out)
{
	struct prio_link *link = out->link;

	if (out->core.urgent)
		prio_byes_add(link, -1);
	mrpc_unit_leave(&out->unit);
	if (out->call)
		out->call->sending = NULL;
	WRITE_ONCE(link->nr_outs, link->nr_outs - 1);
	WRITE_ONCE(link->out_bytes, link->out_bytes - out->core.total);
	if (link->full && link->nr_outs < PRIO_OUTS / 2) {
		link->full = false;
		if (link->upper)
			mrpc_link_kick_tx(link->upper);
	}
	list_move_tail(&out->of_link, &link->host->ended);
	out->link = NULL;
	prio_link_put(link);
}

void prio_out_go(struct prio_out *out)
{
	struct prio_link *link = out->link;
	int err = mrpc_prio_submit(&link->host->ep, &link->key.peer->core, &out->core,
				   ktime_get_ns());

	out->gone = !err;
	if (!err) {
		prio_egress_join(out);
		return;
	}
	prio_link_fail(link, err);
	prio_out_end(out);
}

/*
 * Messages that waited for @out are sent now, or end. If it was given up, its CANCEL is sent, and
 * no message of its stream.
 */
static void prio_out_follow(struct prio_out *out, bool arrived, bool given_up)
{
	struct prio_out *then = out->then, *next;

	out->then = NULL;
	for (; then; then = next) {
		next = then->then;
		then->then = NULL;
		if (arrived && !(given_up && then->call->rpc.frame.type == MRPC_WIRE_MESSAGE))
			prio_out_go(then);
		else
			prio_out_end(then);
	}
}

/* Sends the last message of a connection, if there is no message before it any more. */
void prio_out_last(struct prio_link *link)
{
	struct prio_out *last = link->last;

	if (!last || (link->nr_outs > 1 && !link->err))
		return;
	link->last = NULL;
	if (link->err)
		prio_out_end(last);
	else
		prio_out_go(last);
}

/* The error of the connection that follows from the end of a message, or 0. */
static int prio_out_verdict(const struct mrpc_prio_tx *tx)
{
	switch (tx->status) {
	case MRPC_PRIO_DONE:
	case MRPC_PRIO_ABORTED:
		return 0;
	case MRPC_PRIO_REFUSED:
		if (tx->kind == MRPC_PRIO_OPEN)
			return -ECONNREFUSED;
		/* Too large: the receiver has answered the message with a status. */
		return tx->code == MRPC_PRIO_REJECTED ? 0 : -ECONNRESET;
	case MRPC_PRIO_SILENT:
		return -ETIMEDOUT;
	default:
		return -ECONNRESET;
	}
}

/*
 * Asks for a connection again, over the next association. The peer has restarted and knows nothing
 * of an OPEN to its last incarnation. Once for each link: a peer may restart without end. A link
 * that has failed or is released asks for nothing: its call may be gone.
 */
static bool prio_out_reopen(struct prio_out *out)
{
	struct prio_link *link = out->link;

	if (out->core.kind != MRPC_PRIO_OPEN || out->core.status != MRPC_PRIO_RESTARTED ||
	    !out->call || link->err || link->reopened ||
	    mrpc_prio_submit(&link->host->ep, &link->key.peer->core, &out->core, ktime_get_ns()))
		return false;
	link->reopened = true;
	mrpc_unit_leave(&out->unit);
	prio_egress_join(out);
	return true;
}

/*
 * The OPEN of a link has arrived: the link belongs to the association that it was sent over. If
 * that has ended in the meantime, so has the link.
 */
static void prio_out_opened(struct prio_out *out)
{
	struct prio_link *link = out->link;
	const struct mrpc_prio_peer *core = &link->key.peer->core;

	link->token = core->local;
	if (core->state != MRPC_PRIO_PEER_UP || (u32)core->local != out->core.association)
		prio_link_fail(link, -ECONNRESET);
}

/**
 * prio_out_ended() - handle messages that have ended
 * @host: the host; under its lock
 */
void prio_out_ended(struct prio_host *host)
{
	struct mrpc_prio_tx *tx;

	while ((tx = mrpc_prio_tx_ended(&host->ep))) {
		struct prio_out *out = prio_out_of(tx);
		struct prio_link *link = out->link;
		int err = prio_out_verdict(tx);

		if (prio_out_reopen(out))
			continue;
		link->ref++;	/* until prio_out_last() */
		if (tx->kind == MRPC_PRIO_OPEN && tx->status == MRPC_PRIO_DONE)
			prio_out_opened(out);
		if (err)
			prio_link_fail(link, err);
		prio_out_follow(out, !link->err, tx->status == MRPC_PRIO_ABORTED);
		prio_out_end(out);
		prio_out_last(link);
		prio_link_put(link);
	}
}

/*
 * The message is not sent any more, and its receiver will be told. So the application gets its
 * blocks back, unless the pump is reading them.
 */
void prio_out_let_go(struct prio_out *out)
{
	struct mrpc_call *call = out->call;

	if (!call || out->core.state != MRPC_PRIO_TX_ABORTING || out->core.out)
		return;
	prio_egress_leave(out);
	call->sending = NULL;
	out->call = NULL;
	list_add_tail(&call->freed, &out->link->host->freed);
}

/**
 * prio_out_sent() - handle a message after the pump has made packets of it
 * @core: the message; under host->lock
 */
void prio_out_sent(struct mrpc_prio_tx *core)
{
	prio_out_let_go(prio_out_of(core));
}

/**
 * prio_out_free() - free a message and drop its references
 * @out: a message that has ended
 *
 * Context: any but hard interrupt, no lock.
 */
void prio_out_free(struct prio_out *out)
{
	if (out->call) {
		mrpc_call_sent_put(out->call);
		mrpc_call_put(out->call);
	}
	prio_out_delete(out);
}

void prio_out_add(struct prio_link *link, struct prio_out *out)
{
	out->link = link;
	link->ref++;
	list_add_tail(&out->of_link, &link->outs);
	out->moved = link->moves;
	WRITE_ONCE(link->nr_outs, link->nr_outs + 1);
	WRITE_ONCE(link->out_bytes, link->out_bytes + out->core.total);
}

/**
 * prio_out_bye() - tell the peer that the connection ends
 * @link: a link on which no other message is sent any more
 * @out: from prio_out_new()
 *
 * The link lives until this has ended; no user is charged for it. If there are already too many,
 * the peer is not told. It finds out when it sends something.
 *
 * Return: false: it is not told, and the caller still owns @out.
 */
bool prio_out_bye(struct prio_link *link, struct prio_out *out)
{
	const struct prio_peer *peer = link->key.peer;
	u32 most = link->host->nr_byes < PRIO_BYES_ALL ? PRIO_BYES : PRIO_BYES_FEW;

	if (peer->nr_byes >= most)
		return false;
	prio_byes_add(link, 1);
	out->core.conn = link->key.id;
	out->core.priority = MRPC_RANK_CONTROL;
	out->core.kind = MRPC_PRIO_OTHER;
	out->core.urgent = true;	/* only these messages are urgent */
	prio_out_add(link, out);
	prio_out_go(out);
	return true;
}

/* -- packets: of the context that pumps ---------------------------------------------------- */

/**
 * struct prio_fill - destination of the bytes of a packet
 * @skb: the packet
 * @at: offset of the next byte
 * @sum: crc32c of the bytes so far, if @summed
 * @summed: a checksum is wanted
 */
struct prio_fill {
	struct sk_buff *skb;
	u32 at;
	u32 sum;
	bool summed;
};

static void prio_fill_put(struct prio_fill *f, const void *data, u32 len)
{
	prio_packet_put(f->skb, f->at, data, len);
	f->at += len;
	if (f->summed)
		f->sum = mrpc_checksum(f->sum, data, len);
}

/* Copies from the heap. The application can write there, so the sum covers the copied bytes. */
static void prio_fill_put_heap(struct prio_fill *f, const u8 *data, u32 len)
{
	u8 piece[256];

	if (!f->summed) {
		prio_fill_put(f, data, len);
		return;
	}
	while (len) {
		u32 n = min_t(u32, len, sizeof(piece));

		memcpy(piece, data, n);
		barrier();	/* not read again */
		prio_fill_put(f, piece, n);
		data += n;
		len -= n;
	}
}

/* Copies bytes [@offset, @offset + @len) of a message, which is long enough. */
static void prio_out_copy(struct prio_out *out, u64 offset, u32 len, struct prio_fill *f)
{
	static const u8 padding[8];
	const struct mrpc_rpc *rpc = &out->call->rpc;

	while (len) {
		const struct mrpc_msg_seg *seg;
		u32 n, in;

		if (offset < rpc->data_len) {
			n = min_t(u64, len, rpc->data_len - offset);
			prio_fill_put(f, rpc->data + offset, n);
		} else {
			mrpc_seg_seek(&out->segs, &out->at, offset - rpc->data_len);
			seg = &out->segs.segs[out->at.seg];
			in = offset - rpc->data_len - out->at.from;
			if (in < seg->len) {
				n = min(len, seg->len - in);
				prio_fill_put_heap(f, mrpc_heap_at(rpc->heap, seg->src + in, n),
						   n);
			} else {
				n = min(len, ALIGN(seg->len, 8) - in);
				prio_fill_put(f, padding, n);
			}
		}
		offset += n;
		len -= n;
	}
}

/* Makes one packet of the protocol: header, and @len bytes of the message from @offset. */
static void prio_out_datagram(struct prio_out *out, u8 *head, u32 offset, u32 len,
			      struct prio_fill *f)
{
	u32 begin = f->at;

	mrpc_prio_set_offset(head, offset);
	f->summed = mrpc_prio_has_crc(head);
	if (f->summed)
		mrpc_prio_set_crc(head, 0);
	f->sum = MRPC_CHECKSUM_INIT;
	prio_fill_put(f, head, MRPC_PRIO_DATA_HDR);
	if (len)
		prio_out_copy(out, offset, len, f);
	if (!f->summed)
		return;
	mrpc_prio_set_crc(head, ~f->sum);
	prio_packet_put(f->skb, begin, head, MRPC_PRIO_DATA_HDR);
}

/* Puts the first @len bytes of @chunk, in packets of at most @payload bytes of them. */
static void prio_out_put(const struct mrpc_prio_chunk *chunk, u32 len, u32 payload,
			 struct prio_fill *f)
{
	struct prio_out *out = prio_out_of(chunk->tx);
	u8 head[MRPC_PRIO_DATA_HDR];
	u32 at = 0, n;

	if (!out->begun && !chunk->offset && chunk->len) {
		/* Time has passed since submission, so the header gets the time that remains. */
		mrpc_rpc_marshal(&out->call->rpc);
		out->begun = true;
	}
	mrpc_prio_chunk_header(chunk, 0, head);		/* the same for all, except the offset */
	do {
		n = min(payload, len - at);
		prio_out_datagram(out, head, chunk->offset + at, n, f);
		at += n;
	} while (at < len);
}

/* Bytes of @chunk that go into one packet, of as many datagrams as necessary. */
static u32 prio_out_most(const struct mrpc_prio_chunk *chunk, u32 payload)
{
	u32 most = clamp(PRIO_MAX_PACKET / (payload + MRPC_PRIO_DATA_HDR), 1U, PRIO_SEGMENTS);

	return min(chunk->len, payload * most);
}

/**
 * prio_out_chunks() - send a chunk, or several in one datagram
 * @host: the host
 * @chunks: the chunks; the first may need several datagrams if it is the only one
 * @nr: number of @chunks
 * @owner: the socket that is to own the packet
 * @size: out: bytes of memory of the packet; 0: no packet was sent
 *
 * Context: softirq, no lock; pumps. Return: bytes of the first chunk that were sent; then all of
 * the others were. Or -ENOMEM: nothing was sent, not even a header.
 */
int prio_out_chunks(struct prio_host *host, const struct mrpc_prio_chunk *chunks, u32 nr,
		    struct socket *owner, u32 *size)
{
	struct prio_peer *peer = prio_peer_of(chunks->peer);
	struct dst_entry *dst = prio_peer_route(host, peer);
	/* The size of a shared datagram was checked before. It is not cut. */
	u32 payload = nr > 1 ? MRPC_PRIO_BASE_PAYLOAD : READ_ONCE(peer->core.payload), i;
	u32 sent = prio_out_most(chunks, payload);
	u32 segments = max(DIV_ROUND_UP(sent, payload), 1U);
	u32 bytes = sent + segments * MRPC_PRIO_DATA_HDR;
	struct prio_fill f = {};

	*size = 0;
	if (!dst)	/* as if it were lost: there may be a route later */
		return chunks->len;
	for (i = 1; i < nr; i++)
		bytes += MRPC_PRIO_DATA_HDR + chunks[i].len;
	f.skb = prio_packet_new(owner, bytes, chunks->class);
	if (!f.skb) {
		dst_release(dst);
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++)
		prio_out_put(&chunks[i], i ? chunks[i].len : sent, payload, &f);
	*size = f.skb->truesize;
	prio_packet_send(f.skb, &peer->path, dst, segments > 1 ? payload + MRPC_PRIO_DATA_HDR : 0,
			 chunks->class);
	return sent;
}

int prio_out_init(void)
{
	prio_out_cache = KMEM_CACHE(prio_out, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	return prio_out_cache ? 0 : -ENOMEM;
}

void prio_out_exit(void)
{
	kmem_cache_destroy(prio_out_cache);
}
