// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: messages on their way in. All but the caches is under host->lock.
 *
 * Softirq adds packets to messages, wherever in them their bytes belong. What is done with them
 * there is transports/prio/deliver.c's.
 *
 * Memory: a message is granted no more than PRIO_STAGE bytes before the sink has accepted
 * it, and PRIO_AHEAD beyond what has been placed after that. So who does not read is not
 * sent to. A head that is larger is copied as it comes, to memory that has an owner, one of a
 * connection at a time: the others wait for their turn. Bytes can come in packets that are mostly
 * empty, so what waits is bounded in memory besides: for all messages of a connection that wait to
 * be accepted, for each that has been, and for the host. Beyond that packets count as lost. But one
 * message of a connection always has some, or those that wait could keep each other incomplete:
 * where the host's is used up, too little for a head of about 100 KiB that comes in small packets.
 */
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "exec/kick.h"
#include "lib/prio/prio.h"
#include "lib/prio/wire.h"
#include "transports/prio/in.h"
#include "transports/prio/links.h"
#define PRIO_STAGED	SZ_8M	/* memory of what waits to be accepted, of a connection */
#define PRIO_PLACING	SZ_4M	/* of what waits to be placed, of a message */
#define PRIO_STAGED_ALL	SZ_256M	/* of a host */
#define PRIO_GIVEN_UP	256	/* messages of a connection that are to be dropped by its owner */
#define PRIO_STAGED_FEW	SZ_256K	/* of either: so much when others have used that up */

static struct kmem_cache *prio_in_cache;

static struct prio_in *prio_in_of(struct mrpc_prio_rx *core)
{
	return container_of(core, struct prio_in, core);
}

/* Who owns the receive claim is to look. */
void prio_in_tell(struct prio_in *in)
{
	struct prio_link *link = in->link;

	in->told = in->core.got;
	if (list_empty(&in->ready))
		list_add_tail(&in->ready, &link->ready);
	if (link->conn)
		mrpc_kick_rx(link->conn);
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

/* It does not need to be the first any more: another one's turn. */
static void prio_in_not_first(struct prio_in *in)
{
	struct prio_link *link = in->link;

	if (link->first != in)
		return;
	link->first = list_first_entry_or_null(&link->heads, struct prio_in, ready);
	if (link->first)
		list_move_tail(&link->first->ready, &link->ready);
}

/* The sink has it: it is not one of those any more that wait. */
void prio_in_accepted(struct prio_in *in)
{
	in->accepted = true;
	in->since = ktime_get_ns();
	in->link->staged -= in->staged;
	prio_in_not_first(in);
}

/* Its connection is done with it. */
static void prio_in_unlist(struct prio_in *in)
{
	prio_in_unstage(in, prio_pieces_free(in->came) + prio_pieces_free(in->pieces));
	prio_in_not_first(in);
	in->link->nr_given_up -= in->given_up;
	list_del(&in->of_link);
	list_del(&in->ready);
}

/* Nothing is left of it. */
void prio_in_free(struct prio_in *in)
{
	struct prio_link *link = in->link;

	if (link) {
		prio_in_unlist(in);
		prio_link_put(link);
	}
	kmem_cache_free(prio_in_cache, in);
}

/* Its connection does not want it any more, but the protocol still knows it. */
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

/* prio_in_forget() - of a link that has never had a connection */
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

/* Whether there is room where @staged waits, which has a bound of its own. */
static bool prio_in_room(const struct prio_host *host, u64 staged, u64 bound)
{
	return staged <= (prio_in_crowded(host) ? PRIO_STAGED_FEW : bound);
}

/**
 * prio_in_begin() - a message has been announced
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
	/* What has no content takes no room: who ends the connection does not try for ever. */
	if (p->total && (link->nr_given_up >= PRIO_GIVEN_UP ||
			 !prio_in_room(host, link->staged, PRIO_STAGED / 2)))
		return MRPC_PRIO_LATER;
	in = kmem_cache_zalloc(prio_in_cache, GFP_ATOMIC | __GFP_NOWARN);
	if (!in)
		return MRPC_PRIO_LATER;
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

/* Is it the continuation of what the message has of this packet? */
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

/* The @len bytes of a packet from @at, alone. */
static struct sk_buff *prio_in_copy(const struct sk_buff *from, u32 at, u32 len)
{
	struct sk_buff *skb = alloc_skb(len, GFP_ATOMIC | __GFP_NOWARN);

	if (skb)
		skb_copy_bits(from, at, skb_put(skb, len), len);
	return skb;
}

/* Whether more of it may wait. The first that finds no room before it is accepted has some. */
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

/* It could be placed, and takes much memory for few bytes; or there is little left for anybody. */
bool prio_in_heavy(const struct prio_in *in)
{
	return (in->accepted || (in->link->first == in && READ_ONCE(in->head) > PRIO_STAGE)) &&
	       (in->staged > PRIO_STAGED_FEW || prio_in_crowded(in->link->host));
}

/*
 * The packet, if no message has it yet, or another reference to its content; or NULL. A message
 * of which it has little, as of many in a datagram, has its own: else each would count for all.
 * @at: in: of the first new byte; out: where that is in what is returned
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

/* All of it is here. A message without content says that the connection ends. */
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
 * prio_in_data() - new bytes of a message have come
 * @host: the host
 * @ev: which
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

/* Its sender has given it up, and it only: who owns the receive claim is to drop it. */
static void prio_in_given_up(struct prio_in *in)
{
	struct prio_link *link = in->link;

	in->cut = true;
	WRITE_ONCE(in->given_up, true);
	link->nr_given_up++;
	list_move_tail(&in->ready, &link->ready);	/* it waits for nothing any more */
	if (link->conn)
		mrpc_kick_rx(link->conn);
}

/**
 * prio_in_ended() - see which messages have ended incomplete
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
		/* Anything else is given up only when its connection ends. */
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
