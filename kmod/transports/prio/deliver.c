// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: incoming messages, handled by the owner of the receive claim.
 *
 * The owner passes a message to the sink when its head is complete. From then on it copies bytes
 * straight to their place, in any order of arrival. Several messages of a connection can be on
 * their way. Each has a sink.
 */
#include <linux/sizes.h>

#include "call/receive.h"
#include "call/receive_parked.h"
#include "core/link.h"
#include "core/memcopy.h"
#include "core/receive.h"
#include "core/rx_buffer.h"
#include "lib/message/message.h"
#include "lib/message/wire.h"
#include "lib/prio/prio.h"
#include "transports/prio/deliver.h"
#include "transports/prio/in.h"
#include "transports/prio/pump.h"

#define PRIO_AHEAD	SZ_1M	/* granted beyond what has been placed */
#define PRIO_FRAME	SZ_256K	/* so many bytes count as one more frame */

/* Copies bytes [@from, @to) of the message, all of them in @skb. */
static void prio_piece_copy(struct sk_buff *skb, u32 from, u32 to, u8 *dst)
{
	const struct prio_piece *p = prio_piece(skb);

	while (from < to) {
		u32 datagram = (from - p->from) / p->each, in = (from - p->from) % p->each;
		u32 n = min(p->each - in, to - from);

		mrpc_block_from_skb(skb, p->at + datagram * p->stride + in, dst, n);
		dst += n;
		from += n;
	}
}

/* Copies the first @len bytes of the message, all of which are received. */
static void prio_in_gather(struct prio_in *in, u32 len, u8 *dst)
{
	struct sk_buff *skb;

	for (skb = in->pieces; skb; skb = skb->next) {
		const struct prio_piece *p = prio_piece(skb);

		if (p->from < len)
			prio_piece_copy(skb, p->from, min(p->to, len), dst + p->from);
	}
}

/* Allows the sender to send up to @limit. */
static void prio_in_allow(struct prio_in *in, u32 limit)
{
	struct prio_host *host = in->link->host;

	spin_lock_bh(&host->lock);
	in->limit = limit;
	if (!in->complete && !in->cut)
		mrpc_prio_rx_limit(&host->ep, &in->core, in->limit, ktime_get_ns());
	prio_unlock(host);
	prio_pump_run(host);
}

/* Raises the limit, up to @end, but not so far that too much waits to be placed. */
static void prio_in_go_on(struct prio_in *in, u32 end)
{
	if (in->limit < end && in->placed + PRIO_AHEAD >= in->limit + PRIO_TELL)
		prio_in_allow(in, min_t(u64, (u64)in->placed + PRIO_AHEAD, end));
}

/* Gives up the rest of the message, which is not wanted. */
static void prio_in_skip(struct prio_in *in)
{
	struct prio_host *host = in->link->host;

	spin_lock_bh(&host->lock);
	prio_in_leave(in);
	prio_unlock(host);
	prio_pump_run(host);
}

/* Reads the header. Return: 1: done; 0: the message has been refused; or -errno. */
static int prio_in_header(struct mrpc_link *upper, struct prio_in *in)
{
	struct mrpc_frame *f = &in->frame;
	struct mrpc_wire_hdr hdr;
	const char *why;
	bool too_big;
	int err;

	prio_in_gather(in, sizeof(hdr), (u8 *)&hdr);
	err = mrpc_wire_decode(&hdr, upper->max_message, f, &why);
	if (err && err != -EMSGSIZE)
		return err;
	/* Messages have no order: one sent behind the handshake can come before it. */
	if (mrpc_sink_early(upper, f))
		return -EINPROGRESS;
	too_big = err || mrpc_msg_head_len(&f->msg) > MRPC_MAX_HEAD;
	if (!mrpc_sink_expects(upper, f) ||
	    sizeof(hdr) + mrpc_frame_head(f) + f->msg.bytes != in->core.total)
		return -EPROTO;
	if (too_big) {
		err = mrpc_sink_too_big(upper, f);
		if (!err)
			prio_in_skip(in);
		return err;
	}
	WRITE_ONCE(in->head, sizeof(hdr) + mrpc_frame_head(f));
	return 1;
}

/* Copies received bytes to their place. Head bytes have one only if the head is large: in->buf. */
static void prio_in_place(struct prio_in *in)
{
	struct prio_host *host = in->link->host;
	struct sk_buff *skb, *pieces = in->pieces;
	u64 bytes;

	for (skb = pieces; skb; skb = skb->next) {
		const struct prio_piece *p = prio_piece(skb);
		u32 from = max_t(u32, p->from, in->head);

		if (in->buf && p->from < in->head)
			prio_piece_copy(skb, p->from, min_t(u32, p->to, in->head),
					in->buf + p->from);
		if (in->base && from < p->to)
			prio_piece_copy(skb, from, p->to, in->base + (from - in->head));
		in->placed += p->to - p->from;
		in->written = max(in->written, p->to);
	}
	in->pieces = NULL;
	bytes = prio_pieces_free(pieces);
	spin_lock_bh(&host->lock);
	if (in->open && !in->accepted)
		prio_in_accepted(in);
	prio_in_unstage(in, bytes);
	/* Bytes that came meanwhile could not be placed, so the owner was not told of them. */
	if (in->came && prio_in_heavy(in))
		prio_in_tell(in);
	spin_unlock_bh(&host->lock);
}

/* Is @in the link's first message? If not, it waits to become that. */
static bool prio_in_turn(struct prio_in *in)
{
	struct prio_link *link = in->link;
	bool first;

	spin_lock_bh(&link->host->lock);
	if (!link->first)
		link->first = in;
	first = link->first == in;
	if (!first)
		list_move_tail(&in->ready, &link->heads);
	spin_unlock_bh(&link->host->lock);
	return first;
}

/* Makes room for @need bytes of the head; in->buf grows step by step. Return: 0 or -ENOMEM. */
static int prio_in_grow(struct mrpc_link *upper, struct prio_in *in, u32 need)
{
	u32 cap = min_t(u64, in->head, max(need, 2 * in->cap));
	u8 *buf;

	if (need <= in->cap)
		return 0;
	buf = mrpc_stream_alloc(upper, &cap);
	if (!buf)
		return -ENOMEM;
	if (in->buf) {
		memcpy(buf, in->buf, in->limit);
		mrpc_stream_recycle(upper, in->buf, in->cap);
	}
	in->buf = buf;
	in->cap = cap;
	return 0;
}

/* Handles a head that is incomplete. Return: 0 or -errno. */
static int prio_in_part(struct mrpc_link *upper, struct prio_in *in)
{
	int err;

	/* A small head completes without any action here. */
	if (in->head <= PRIO_STAGE || !prio_in_turn(in))
		return 0;
	err = prio_in_grow(upper, in, min_t(u64, (u64)in->limit + PRIO_AHEAD, in->head));
	if (err)
		return err;
	prio_in_place(in);
	prio_in_go_on(in, in->head);
	return 0;
}

/* The head is complete: passes it to the sink. Return: 0 or -errno. */
static int prio_in_head(struct mrpc_link *upper, struct prio_in *in)
{
	u32 cap = in->head;
	u8 *buf = in->buf ?: mrpc_stream_alloc(upper, &cap);
	int err;

	if (!buf)
		return -ENOMEM;
	if (in->buf)
		prio_in_place(in);
	else
		prio_in_gather(in, in->head, buf);
	err = mrpc_sink_head(upper, &in->frame, buf + sizeof(struct mrpc_wire_hdr));
	if (err == -EAGAIN && in->buf)
		return err;
	mrpc_stream_recycle(upper, buf, in->buf ? in->cap : cap);
	in->buf = NULL;
	if (err)
		return err;
	in->open = true;
	in->base = upper->receive->sink.addr;
	return 0;
}

static void prio_in_deliver(struct mrpc_link *upper, struct prio_in *in)
{
	struct prio_host *host = in->link->host;

	upper->receive->sink.left = 0;
	mrpc_sink_done(upper);
	spin_lock_bh(&host->lock);
	prio_in_free(in);
	spin_unlock_bh(&host->lock);
}

/* More of the message is to come: is it still wanted? */
static bool prio_in_wanted(const struct mrpc_link *upper, const struct prio_in *in, bool fresh)
{
	const struct mrpc_sink *sink = fresh ? &upper->receive->sink : &in->sink;

	/* A message without bytes behind its head is complete at once. */
	return !sink->a.frame.msg.bytes || mrpc_sink_wanted(sink);
}

/* For the code that drops the message: how many of its last bytes were never written. */
static void prio_in_untouched(const struct prio_in *in, struct mrpc_sink *sink)
{
	u64 end = in->head + sink->a.frame.msg.bytes;

	sink->left = end - clamp_t(u64, in->written, in->head, end);
}

static void prio_in_resume(struct mrpc_link *upper, struct prio_in *in)
{
	prio_in_untouched(in, &in->sink);
	mrpc_sink_resume(upper->receive, &in->sink);
}

/* Refuses a message, the rest of which is not wanted. Return: 1, or -errno. */
static int prio_in_refuse(struct mrpc_link *upper, struct prio_in *in, bool fresh)
{
	int err;

	if (fresh)
		prio_in_untouched(in, &upper->receive->sink);
	else
		prio_in_resume(upper, in);
	err = mrpc_sink_give_up(upper);
	prio_in_skip(in);
	return err ?: 1;
}

/* Drops a message that its sender has given up; none of it was delivered. Return: 1, or -errno. */
static int prio_in_abandon(struct mrpc_link *upper, struct prio_in *in)
{
	struct prio_host *host = in->link->host;
	int err = 0;

	if (in->open) {
		prio_in_resume(upper, in);
		err = mrpc_sink_abort(upper);
	}
	if (in->buf)
		mrpc_stream_recycle(upper, in->buf, in->cap);
	spin_lock_bh(&host->lock);
	prio_in_free(in);
	spin_unlock_bh(&host->lock);
	return err ?: 1;
}

/* Makes messages ready that came before the handshake. */
static void prio_in_late(struct prio_link *link)
{
	struct prio_host *host = link->host;

	if (list_empty(&link->early))
		return;
	spin_lock_bh(&host->lock);
	list_splice_tail_init(&link->early, &link->ready);
	spin_unlock_bh(&host->lock);
}

/* Takes the packets that have come. Return: bytes from 0 that are received. */
static u32 prio_in_fetch(struct prio_in *in, bool *complete)
{
	struct prio_host *host = in->link->host;
	struct sk_buff *came, *skb;
	u32 here;

	spin_lock_bh(&host->lock);
	came = in->came;
	in->came = NULL;
	*complete = in->complete;
	here = in->complete ? in->core.total : in->core.next;
	spin_unlock_bh(&host->lock);
	if (!came)
		return here;
	for (skb = came; skb->next; skb = skb->next)
		;
	skb->next = in->pieces;
	in->pieces = came;
	return here;
}

/*
 * Handles new bytes of a message. Return: 1: the message is finished; 0: not yet; -EINPROGRESS: the
 * handshake is not complete; otherwise as mrpc_transport_ops.recv.
 */
static int prio_in_step(struct mrpc_link *upper, struct prio_link *link, struct prio_in *in)
{
	bool complete, fresh = !in->open;
	u32 here;
	int err;

	if (READ_ONCE(in->given_up))
		return prio_in_abandon(upper, in);
	here = prio_in_fetch(in, &complete);
	if (!in->head) {
		if (here < sizeof(struct mrpc_wire_hdr))
			return complete ? -EPROTO : 0;
		err = prio_in_header(upper, in);
		if (err <= 0)
			return err ?: 1;
	}
	if (here < in->head)
		return prio_in_part(upper, in);
	if (fresh) {
		err = prio_in_head(upper, in);
		if (err)
			return err;
		if (in->frame.type <= MRPC_WIRE_HELLO_ACK)
			prio_in_late(link);
	}
	prio_in_place(in);
	if (complete) {
		if (!fresh)
			mrpc_sink_resume(upper->receive, &in->sink);
		prio_in_deliver(upper, in);
		return 1;
	}
	if (!prio_in_wanted(upper, in, fresh))
		return prio_in_refuse(upper, in, fresh);
	if (fresh)
		mrpc_sink_park(upper->receive, &in->sink);
	prio_in_go_on(in, in->core.total);
	return 0;
}

/* The next ready message, or NULL. @err: out: why there will be no more, or 0. */
static struct prio_in *prio_in_next(struct prio_link *link, int *err)
{
	struct prio_host *host = link->host;
	struct prio_in *in;

	spin_lock_bh(&host->lock);
	in = list_first_entry_or_null(&link->ready, struct prio_in, ready);
	if (in)
		list_del_init(&in->ready);
	*err = link->err;
	spin_unlock_bh(&host->lock);
	return in;
}

/* Puts a message off: it becomes ready again together with those on @list. */
static void prio_in_put_off(struct prio_link *link, struct prio_in *in, struct list_head *list)
{
	struct prio_host *host = link->host;

	spin_lock_bh(&host->lock);
	list_move_tail(&in->ready, list);	/* new packets may have put it on a list again */
	spin_unlock_bh(&host->lock);
}

/* Makes the messages on @list ready again, before others. */
static void prio_in_again(struct prio_link *link, struct list_head *list)
{
	struct prio_host *host = link->host;

	if (list_empty(list))
		return;
	spin_lock_bh(&host->lock);
	list_splice(list, &link->ready);
	spin_unlock_bh(&host->lock);
}

/* Handles ready messages until nothing is left to do. @full: out: those without room. */
static int prio_in_steps(struct prio_link *link, int budget, struct list_head *full)
{
	struct mrpc_link *upper = link->upper;
	struct prio_in *in;
	int frames = 0, n;

	while (frames < budget) {
		u32 total;

		if (mrpc_recv_stops(upper, budget, &frames))
			return frames;
		if (READ_ONCE(link->down))
			return -ESHUTDOWN;
		in = prio_in_next(link, &n);
		/* If the peer has ended in order, complete messages can still be delivered. */
		if (!in && !list_empty(full))
			return n && n != -ESHUTDOWN ? n : -EAGAIN;
		if (!in)
			return n ?: frames;
		/* If one finds no room, messages that have room go on, but no new one begins. */
		if (!list_empty(full) && !in->open && !READ_ONCE(in->given_up)) {
			prio_in_put_off(link, in, full);
			continue;
		}
		WRITE_ONCE(upper->last_rx, get_jiffies_64());
		total = in->core.total;
		n = prio_in_step(upper, link, in);
		if (n == -EAGAIN)
			prio_in_put_off(link, in, full);
		else if (n == -EINPROGRESS)
			prio_in_put_off(link, in, &link->early);
		else if (n < 0)
			return n;
		frames += n > 0 ? 1 + total / PRIO_FRAME : 1;
	}
	return budget;
}

/**
 * prio_in_run() - place and deliver what has come
 * @link: a link with a connection
 * @budget: frames
 *
 * Context: owner of the receive claim; may sleep. Return: as mrpc_transport_ops.recv.
 */
int prio_in_run(struct prio_link *link, int budget)
{
	LIST_HEAD(full);
	int n = prio_in_steps(link, budget, &full);

	prio_in_again(link, &full);
	return n;
}

/*
 * Does the message wait for this end, or for its reader? Then nothing that its sender sends would
 * help. The sink wants the head first; bytes behind it are only staged until then. A message that
 * is not the first may have no room.
 */
static bool prio_in_ours(const struct prio_in *in)
{
	u32 may = min(in->core.granted, in->limit);

	if (in->accepted)
		return in->core.got >= may;
	if (in->link->first && in->link->first != in)
		return true;
	return in->core.next >= min_t(u64, READ_ONCE(in->head) ?: sizeof(struct mrpc_wire_hdr), may);
}

/**
 * prio_in_slow() - does a message take too long to arrive?
 * @link: a link with a connection
 * @now: ns
 * @patience: ns in which PRIO_TELL more bytes must come, if they may
 *
 * Context: any but hard interrupt.
 */
bool prio_in_slow(struct prio_link *link, u64 now, u64 patience)
{
	struct prio_host *host = link->host;
	bool slow = false;
	struct prio_in *in;

	spin_lock_bh(&host->lock);
	list_for_each_entry(in, &link->ins, of_link) {
		if (in->complete || in->cut)
			continue;
		if (prio_in_ours(in))
			in->since = now;
		slow |= now > in->since && now - in->since > patience;
	}
	spin_unlock_bh(&host->lock);
	return slow;
}

/**
 * prio_in_drop() - drop all incoming messages of a connection that ends
 * @link: the link; not @known any more
 * @upper: the link; the caller owns both claims
 *
 * Context: process; may sleep.
 */
void prio_in_drop(struct prio_link *link, struct mrpc_link *upper)
{
	struct prio_host *host = link->host;
	struct prio_in *in;

	if (upper->receive->sink.active || upper->receive->sink.rx)
		mrpc_sink_drop(upper, &upper->receive->sink);
	for (;;) {
		u8 *buf = NULL;
		u32 cap = 0;

		spin_lock_bh(&host->lock);
		in = list_first_entry_or_null(&link->ins, struct prio_in, of_link);
		if (in) {
			if (in->sink.active)
				prio_in_resume(upper, in);
			buf = in->buf;
			cap = in->cap;
			prio_in_leave(in);
		}
		prio_unlock(host);
		if (!in)
			return;
		if (buf)
			mrpc_stream_recycle(upper, buf, cap);
		if (upper->receive->sink.active)
			mrpc_sink_drop(upper, &upper->receive->sink);
	}
}
