// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: messages are given to the protocol, or given up.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "core/call.h"
#include "core/link.h"
#include "core/rpc.h"
#include "lib/message/feature.h"
#include "lib/message/wire.h"
#include "lib/prio/prio.h"
#include "lib/prio/wire.h"
#include "transports/prio/out.h"
#include "transports/prio/submit.h"

/* Where the segments of its byte section are. Return: 0 or -ENOMEM */
static int prio_out_index(struct prio_out *out, const struct mrpc_rpc *rpc)
{
	struct mrpc_seg_index *x = &out->segs;

	x->segs = rpc->buf.segs;
	x->nr_marks = mrpc_seg_marks(rpc->buf.nr_segs);
	if (!x->nr_marks)
		return 0;
	x->marks = kvmalloc_array(x->nr_marks, sizeof(*x->marks), GFP_KERNEL_ACCOUNT);
	if (!x->marks)
		return -ENOMEM;
	mrpc_seg_index(x);
	return 0;
}

static u8 prio_out_kind(const struct mrpc_rpc *rpc)
{
	switch (rpc->frame.type) {
	case MRPC_WIRE_HELLO:
		return MRPC_PRIO_OPEN;
	case MRPC_WIRE_CALL:
		return MRPC_PRIO_REQUEST;
	case MRPC_WIRE_REPLY:
		return MRPC_PRIO_REPLY;
	default:
		return MRPC_PRIO_OTHER;
	}
}

/*
 * The caller of a request has gone, and its CANCEL waits for it. Whether all of it has come is the
 * receiver's to know, which answers CANCEL in either case.
 */
static void prio_out_give_up(struct prio_out *out)
{
	mrpc_prio_tx_abort(&out->link->host->ep, &out->core, ktime_get_ns());
	prio_out_let_go(out);
}

/*
 * Places a message. A CANCEL, or a message of a stream, goes when its request has arrived. A BYE is
 * the last. @aborts: the peer answers a CANCEL whose call does not come.
 */
static void prio_out_place(struct prio_link *link, struct prio_out *out, bool accepted, bool aborts)
{
	const struct mrpc_call *target = out->call->target;
	struct prio_out *at = target ? target->sending : NULL;

	if (at && at->link == link) {
		out->then = at->then;
		at->then = out;
		if (aborts && at->gone && out->call->rpc.frame.type == MRPC_WIRE_CANCEL)
			prio_out_give_up(at);
	} else if (out->call->rpc.frame.type == MRPC_WIRE_BYE && !accepted && !link->last) {
		link->last = out;
		prio_out_last(link);
	} else {
		prio_out_go(out);
	}
}

/**
 * prio_out_submit() - send a message
 * @upper: the link
 * @rpc: the message, marshalled
 *
 * A client has as many as it has calls. Where it does not let go of what it is answered, no more
 * of its calls are read: the core sees to that.
 *
 * Context: owner of the transmit claim; may sleep. Return: 0; -EAGAIN: mrpc_link_kick_tx() will be
 * called, or the end of the connection comes to light as it receives; -ENOMEM.
 */
int prio_out_submit(struct mrpc_link *upper, struct mrpc_rpc *rpc)
{
	bool accepted = upper->accepted, aborts = upper->features.may & MRPC_FEATURE_ABORT;
	struct prio_out *out = prio_out_new(GFP_KERNEL);
	struct mrpc_call *call = mrpc_rpc_call(rpc);
	struct prio_link *link = upper->priv;
	struct prio_host *host = link->host;
	int err = 0;

	if (!out)
		return -ENOMEM;
	if (prio_out_index(out, rpc)) {
		prio_out_delete(out);
		return -ENOMEM;
	}
	out->core.conn = link->key.id;
	out->core.total = mrpc_rpc_total(rpc);
	out->core.priority = mrpc_rpc_rank(rpc);
	out->core.kind = prio_out_kind(rpc);
	spin_lock_bh(&host->lock);
	if (link->err || (accepted && link->nr_outs >= PRIO_OUTS)) {
		link->full = !link->err;
		err = -EAGAIN;
		prio_out_delete(out);
	} else {
		mrpc_call_get(call);
		mrpc_call_sent_get(call);
		out->call = call;
		call->sending = out;
		prio_out_add(link, out);
		prio_out_place(link, out, accepted, aborts);
	}
	prio_unlock(host);
	return err;
}

/**
 * prio_out_abort() - a connection ends: what the peer does not have is not wanted
 * @link: the link; under host->lock
 */
void prio_out_abort(struct prio_link *link)
{
	struct prio_out *out;
	u64 now = ktime_get_ns();

	/* What was never given to the protocol goes with what it waits for. */
	list_for_each_entry(out, &link->outs, of_link)
		if (out->gone)
			mrpc_prio_tx_abort(&link->host->ep, &out->core, now);
}

/* A call whose bytes are not wanted any more. @wait: out: they are being read just now. */
static struct mrpc_call *prio_out_strip_one(struct prio_link *link, bool *wait)
{
	struct mrpc_call *call = NULL;
	struct prio_out *out;

	*wait = false;
	spin_lock_bh(&link->host->lock);
	list_for_each_entry(out, &link->outs, of_link) {
		if (!out->call)
			continue;
		if (out->core.out) {
			*wait = true;
			continue;
		}
		call = out->call;
		call->sending = NULL;
		out->call = NULL;
		list_move_tail(&out->of_link, &link->outs);
		break;
	}
	spin_unlock_bh(&link->host->lock);
	return call;
}

/**
 * prio_out_strip() - give back the calls of messages that were aborted
 * @link: a link that was aborted
 *
 * When the peer has heard of it is its own business: no session is kept by that.
 *
 * Context: process; may sleep; no lock.
 */
void prio_out_strip(struct prio_link *link)
{
	struct mrpc_call *call;
	bool wait;

	do {
		call = prio_out_strip_one(link, &wait);
		if (call) {
			mrpc_call_sent_put(call);
			mrpc_call_put(call);
		} else if (wait) {
			usleep_range(20, 100);
		}
	} while (call || wait);
}
