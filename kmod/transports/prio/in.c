// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: incoming messages. All but the caches is under host->lock.
 *
 * Softirq adds packets to messages, wherever their bytes belong. transports/prio/deliver.c handles
 * them there.
 *
 * Memory. Before the sink has accepted a message, at most PRIO_STAGE bytes of it are granted. After
 * that, at most PRIO_AHEAD beyond what has been placed. So nothing is sent to a reader that does
 * not read. A larger head is copied as it comes, to accounted memory. This is done for one message
 * of a connection at a time; the others wait for their turn.
 *
 * Bytes can come in packets that are mostly empty. So the memory of waiting packets is bounded,
 * too: for all messages of a connection that wait to be accepted, for each accepted message, and
 * for the host. Packets beyond that count as lost. One message of a connection always has some
 * memory; otherwise waiting messages could keep each other incomplete. If the host's memory is used
 * up, this is too little for a head of about 100 KiB that comes in small packets.
 */
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "exec/kick.h"
#include "lib/prio/prio.h"
#include "lib/prio/wire.h"
#include "transports/prio/in.h"
#include "transports/prio/links.h"
#define PRIO_STAGED	SZ_8M	/* memory of a connection's messages that wait to be accepted */
#define PRIO_PLACING	SZ_4M	/* memory of an accepted message's packets that wait to be placed */
#define PRIO_STAGED_ALL	SZ_256M	/* of a host */
#define PRIO_GIVEN_UP	256	/* given-up messages of a connection that its owner has to drop */
#define PRIO_STAGED_FEW	SZ_256K	/* replaces the first two when the host's is used up */

static struct kmem_cache *prio_in_cache;

static struct prio_in *prio_in_of(struct mrpc_prio_rx *core)
{
	return container_of(core, struct prio_in, core);
}

/* Tells the owner of the receive claim to look at the message. */
void prio_in_tell(struct prio_in *in)
{
	struct prio_link *link = in->link;

	in->told = in->core.got;
	if (list_empty(&in->ready))
		list_add_tail(&in->ready, &link->ready);
	if (link->upper)
		mrpc_link_kick_rx(link->upper);
}

u64 prio_pieces_free(struct sk_buff *skb)
{
	struct sk_buff *next;
	u64 bytes = 0;

	for (; skb; skb = next) {
		next = skb->next;
		skb->next = NULL;
		bytes += skb->truesize;
		consume_skb(skb);
	}
	return bytes;
}

void prio_in_unstage(struct prio_in *in, u64 bytes)
{
	in->staged -= bytes;
	if (!in->accepted)
		in->link->staged -= bytes;
	in->link->host->staged -= bytes;
}

/* The message does not need to be the first any more: gives the turn to another one. */
static void prio_in_not_first(struct prio_in *in)
{
	struct prio_link *link = in->link;

	if (link->first != in)
		return;
	link->first = list_first_entry_or_null(&link->heads, struct prio_in, ready);
	if (link->first)
		list_move_tail(&link->first->ready, &link->ready);
}

/* The sink has accepted the message: it no longer counts among those that wait. */
void prio_in_accepted(struct prio_in *in)
{
	in->accepted = true;
	in->since = ktime_get_ns();
	in->link->staged -= in->staged;
	prio_in_not_first(in);
}

/* Removes a message from its connection. */
static void prio_in_unlist(struct prio_in *in)
{
	prio_in_unstage(in, prio_pieces_free(in->came) + prio_pieces_free(in->pieces));
	prio_in_not_first(in);
	in->link->nr_given_up -= in->given_up;
	list_del(&in->of_link);
	list_del(&in->ready);
}

/* Frees a message. */
void prio_in_free(struct prio_in *in)
{
	struct prio_link *link = in->link;

	if (link) {
		prio_in_unlist(in);
		prio_link_put(link);
	}
	kmem_cache_free(prio_in_cache, in);
}

/* The connection drops the message, but the protocol may still know it. */
void prio_in_leave(struct prio_in *in)
{
	struct prio_link *link = in->link;

	if (in->complete || in->cut) {
		prio_in_free(in);
		return;
	}
	prio_in_unlist(in);
	in->came = NULL;
	in->pieces = NULL;
	in->link = NULL;
	mrpc_prio_rx_reject(&link->host->ep, &in->core, ktime_get_ns());
	prio_link_put(link);
}

/* prio_in_forget() - drop the messages of a link that has never had a connection */
void prio_in_forget(struct prio_link *link)
{
	struct prio_in *in, *next;

	list_for_each_entry_safe(in, next, &link->ins, of_link)
		prio_in_leave(in);
}

static bool prio_in_crowded(const struct prio_host *host)
{
	return host->staged > PRIO_STAGED_ALL;
}

/* Is there room for more, when @staged bytes wait and @bound is their limit? */
static bool prio_in_room(const struct prio_host *host, u64 staged, u64 bound)
{
	return staged <= (prio_in_crowded(host) ? PRIO_STAGED_FEW : bound);
}

/**
 * prio_in_begin() - accept a message that has been announced
 * @link: its connection
 * @ev: out: what is to be done about the packet's bytes
 * @p: the packet
 * @now: ns
 *
 * Return: 0, or why it is refused: enum mrpc_prio_refusal.
 */
u32 prio_in_begin(struct prio_link *link, struct mrpc_prio_event *ev,
		  const struct mrpc_prio_packet *p, u64 now)
{
	struct prio_host *host = link->host;
	struct prio_in *in;

	if (link->err)
		return MRPC_PRIO_UNKNOWN;
	/* A message without content takes no room. So the end of a connection is not put off. */
	if (p->total && (link->nr_given_up >= PRIO_GIVEN_UP ||
			 !prio_in_room(host, link->staged, PRIO_STAGED / 2)))
		return MRPC_PRIO_LATER;
	in = kmem_cache_zalloc(prio_in_cache, GFP_ATOMIC | __GFP_NOWARN);
	if (!in)
		return MRPC_PRIO_LATER;
	/* The peer answers an OPEN before its acknowledgement comes: the OPEN has arrived. */
	if (!link->token)
		link->token = link->key.peer->core.local;
	in->link = link;
	link->ref++;
	list_add_tail(&in->of_link, &link->ins);
	INIT_LIST_HEAD(&in->ready);
	in->limit = min_t(u32, p->total, PRIO_STAGE);
	in->since = now;
	mrpc_prio_accept(&host->ep, &link->key.peer->core, &in->core, p, in->limit, now,
			 ev);
	return 0;
}

/* Do the new bytes continue what the message already has of this packet? */
static bool prio_in_continues(const struct prio_in *in, const struct prio_bytes *bytes,
			      const struct mrpc_prio_event *ev, u32 at)
{
	const struct prio_piece *piece;
	u32 len;

	if (bytes->last != in || !in->came || ev->skip)
		return false;
	piece = prio_piece(in->came);
	len = piece->to - piece->from;
	if (ev->packets > 1 ? ev->each != piece->each : ev->len > piece->each)
		return false;
	return ev->offset == piece->to && len % piece->each == 0 &&
	       at == piece->at + len / piece->each * piece->stride;
}

/* Copies the @len bytes of a packet from @at into a packet of their own. */
static struct sk_buff *prio_in_copy(const struct sk_buff *from, u32 at, u32 len)
{
	struct sk_buff *skb = alloc_skb(len, GFP_ATOMIC | __GFP_NOWARN);

	if (skb)
		skb_copy_bits(from, at, skb_put(skb, len), len);
	return skb;
}

/* May more of it wait? The first message without room, before it is accepted, has some. */
static bool prio_in_may(struct prio_in *in)
{
	struct prio_link *link = in->link;

	if (!in->accepted) {
		if (prio_in_room(link->host, link->staged, PRIO_STAGED))
			return true;
		if (!link->first)
			link->first = in;
		if (link->first != in)
			return false;
	}
	return prio_in_room(link->host, in->staged, PRIO_PLACING);
}

/* Can it be placed, and does it take much memory for few bytes, or is little memory left? */
bool prio_in_heavy(const struct prio_in *in)
{
	return (in->accepted || (in->link->first == in && READ_ONCE(in->head) > PRIO_STAGE)) &&
	       (in->staged > PRIO_STAGED_FEW || prio_in_crowded(in->link->host));
}

/*
 * Returns the packet, if no message has it yet, or another reference to its content, or NULL. If a
 * message has only few bytes of it, as of many in a datagram, it gets a copy. Otherwise the whole
 * packet would count for each message. @at: in: of the first new byte; out: where that is in the
 * returned packet
 */
static struct sk_buff *prio_in_packet(struct prio_in *in, const struct prio_bytes *bytes, u32 *at,
				      u32 len)
{
	u32 from = *at;

	if (!prio_in_may(in))
		return NULL;
	if (!bytes->taken)
		return bytes->skb;
	if (len > PRIO_FEW && in->core.total > PRIO_SMALL)
		return skb_clone(bytes->skb, GFP_ATOMIC | __GFP_NOWARN);
	*at = 0;
	return prio_in_copy(bytes->skb, from, len);
}

static void prio_in_stage(struct prio_in *in, struct prio_bytes *bytes, struct sk_buff *skb,
			  const struct mrpc_prio_event *ev, u32 at)
{
	*prio_piece(skb) = (struct prio_piece){
		.from	= ev->offset,
		.to	= ev->offset + ev->len,
		.at	= at,
		.each	= ev->each,
		.stride	= bytes->stride,
	};
	skb->next = in->came;
	in->came = skb;
	in->staged += skb->truesize;
	if (!in->accepted)
		in->link->staged += skb->truesize;
	in->link->host->staged += skb->truesize;
	bytes->taken = true;
	bytes->last = in;
}

/* All of it is received. A message without content says that the connection ends. */
static void prio_in_complete(struct prio_in *in)
{
	struct prio_link *link = in->link;

	in->complete = true;
	if (in->core.total) {
		prio_in_tell(in);
		return;
	}
	prio_link_fail(link, in->core.kind == MRPC_PRIO_OTHER ? -ESHUTDOWN : -EPROTO);
	prio_in_free(in);
}

/**
 * prio_in_data() - handle new bytes of a message
 * @host: the host
 * @ev: the event with the bytes
 * @bytes: the packet
 * @at: where the payload of their datagram begins in it
 * @now: ns
 */
void prio_in_data(struct prio_host *host, const struct mrpc_prio_event *ev,
		  struct prio_bytes *bytes, u32 at, u64 now)
{
	struct prio_in *in = prio_in_of(ev->rx);
	bool continues = prio_in_continues(in, bytes, ev, at);
	struct sk_buff *skb = NULL;
	u32 got = in->core.got, i;
	bool complete;

	if (ev->len && !continues) {
		at += ev->skip;
		skb = prio_in_packet(in, bytes, &at, ev->len);
		if (!skb) {
			for (i = 0; i < ev->packets; i++)
				mrpc_prio_count(&host->ep, MRPC_PRIO_DROP_MEMORY);
			return;
		}
	}
	if (got / PRIO_TELL != (got + ev->len) / PRIO_TELL)
		in->since = now;
	complete = mrpc_prio_taken(&host->ep, ev, now);
	if (in->core.got != got + ev->len) {	/* not now: there are too many gaps */
		if (skb && skb != bytes->skb)
			kfree_skb(skb);
		return;
	}
	if (skb)
		prio_in_stage(in, bytes, skb, ev, at);
	else if (continues)
		prio_piece(in->came)->to += ev->len;
	if (complete)
		prio_in_complete(in);
	else if (in->core.got - in->told >= PRIO_TELL || in->core.got >= in->limit ||
		 prio_in_heavy(in))
		prio_in_tell(in);
}

/* The sender has given up this message only: the owner of the receive claim has to drop it. */
static void prio_in_given_up(struct prio_in *in)
{
	struct prio_link *link = in->link;

	in->cut = true;
	WRITE_ONCE(in->given_up, true);
	link->nr_given_up++;
	list_move_tail(&in->ready, &link->ready);	/* it no longer waits */
	if (link->upper)
		mrpc_link_kick_rx(link->upper);
}

/**
 * prio_in_ended() - handle messages that have ended incomplete
 * @host: the host; under its lock
 */
void prio_in_ended(struct prio_host *host)
{
	struct mrpc_prio_rx *rx;

	while ((rx = mrpc_prio_rx_ended(&host->ep))) {
		struct prio_in *in = prio_in_of(rx);

		if (!in->link) {
			prio_in_free(in);
			continue;
		}
		if (rx->status == MRPC_PRIO_ABORTED && rx->kind == MRPC_PRIO_REQUEST) {
			prio_in_given_up(in);
			continue;
		}
		/* Other messages are given up only when their connection ends. */
		in->cut = true;
		prio_link_fail(in->link, rx->status == MRPC_PRIO_SILENT ? -ETIMEDOUT : -ECONNRESET);
	}
}

int prio_in_init(void)
{
	prio_in_cache = KMEM_CACHE(prio_in, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	return prio_in_cache ? 0 : -ENOMEM;
}

void prio_in_exit(void)
{
	kmem_cache_destroy(prio_in_cache);
}
