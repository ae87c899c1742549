// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: what a peer is to be told, and waits for a packet without payload.
 */
#include "lib/prio/say.h"
#include "lib/prio/table.h"
#include "lib/prio/time.h"

/* The peer is to get a packet. */
void mrpc_prio_due(struct mrpc_prio *ep, struct mrpc_prio_peer *peer)
{
	if (mrpc_link_empty(&peer->control))
		mrpc_link_add(&ep->controls, &peer->control);
}

/*
 * An answer about a message that is not there, or to PING. If there is no room it is not
 * given: the peer will ask again.
 */
void mrpc_prio_note_add(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u8 op, u64 msg, u16 code)
{
	u32 i;

	for (i = 0; i < peer->nr_notes; i++)
		if (peer->note_op[i] == op && peer->note_msg[i] == msg)
			break;
	if (i == MRPC_PRIO_NR_NOTES || peer->state != MRPC_PRIO_PEER_UP)
		return;
	peer->note_msg[i] = msg;
	peer->note_code[i] = code;
	peer->note_op[i] = op;
	if (i == peer->nr_notes)
		peer->nr_notes++;
	mrpc_prio_due(ep, peer);
}

/* Adds @msg to the group of @first and @more, if it is near. */
static bool ack_join(u64 *first, u64 *more, u64 msg)
{
	u64 off;

	if (msg >= *first) {
		off = msg - *first;
		if (off > 64)
			return false;
		if (off)
			*more |= 1ULL << (off - 1);
		return true;
	}
	off = *first - msg;
	if (off > 64 || fls64(*more) + off > 64)
		return false;
	*more = (off < 64 ? *more << off : 0) | 1ULL << (off - 1);
	*first = msg;
	return true;
}

/* @msg is here completely. It waits a while for DATA that can say so, unless @urge. */
void mrpc_prio_ack(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 msg, bool urge, u64 now)
{
	u32 i;

	if (peer->state != MRPC_PRIO_PEER_UP)
		return;
	for (i = 0; i < peer->nr_acks; i++)
		if (ack_join(&peer->acks[i].msg, &peer->acks[i].more, msg))
			break;
	if (i == peer->nr_acks && i < MRPC_PRIO_NR_ACKS) {
		peer->acks[i].msg = msg;
		peer->acks[i].more = 0;
		if (!peer->nr_acks++) {
			peer->ack_due = now + ep->rule.ack_delay;
			mrpc_prio_peer_arm(ep, peer);
		}
	}
	if (urge || !ep->rule.ack_delay || i >= MRPC_PRIO_NR_ACKS - 1)
		mrpc_prio_due(ep, peer);
}

/* Return: a message to be acknowledged by other means, or 0. */
u64 mrpc_prio_ack_take(struct mrpc_prio_peer *peer)
{
	u64 msg, off;

	if (!peer->nr_acks)
		return 0;
	msg = peer->acks[0].msg;
	if (peer->acks[0].more) {
		off = __ffs64(peer->acks[0].more) + 1;
		peer->acks[0].msg += off;
		peer->acks[0].more = off < 64 ? peer->acks[0].more >> off : 0;
	} else {
		peer->acks[0] = peer->acks[--peer->nr_acks];
	}
	return msg;
}
