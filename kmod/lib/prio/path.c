// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: how much a path takes in one packet. The caller knows the path's MTU, but
 * a path may drop large packets and not say so. That shows when large packets of ours are
 * lost again and again while small ones come; so when they are, a small one is sent before them.
 */
#include "lib/prio/path.h"
#include "lib/prio/path.h"
#include "lib/prio/prio.h"
#include "lib/prio/table.h"

/* Of a path of 1500 bytes, below IPv6 and UDP: what is tried before MRPC_PRIO_BASE_PAYLOAD. */
#define ETHERNET_PAYLOAD	(1500 - 40 - 8 - 64)
#define LOST_IN_A_ROW		4
#define ASKED_TWICE		2
/* As RFC 8899 has it: paths change, but not often. */
#define RAISE_AFTER		600000000000ULL

static bool is_large(u32 len)
{
	return len > MRPC_PRIO_BASE_PAYLOAD;
}

/* Bytes of the first packet of @tx when it is repeated: it was lost, perhaps for its size. */
u32 mrpc_prio_path_first(const struct mrpc_prio_tx *tx)
{
	u32 len = min(tx->sent, tx->peer->payload);

	return tx->tries >= MRPC_PRIO_SMALL_TRIES ? min(len, MRPC_PRIO_BASE_PAYLOAD) : len;
}

/* Bytes of the chunk [@from, @from + @len): a small packet first where large ones were lost. */
u32 mrpc_prio_path_len(const struct mrpc_prio_tx *tx, u32 from, u32 len)
{
	if (tx->stuck < ASKED_TWICE || from != tx->stuck_from || !is_large(tx->peer->payload))
		return len;
	return min(len, MRPC_PRIO_BASE_PAYLOAD);
}

/* Two more large packets were lost where a small one came. */
static void path_lost(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now)
{
	peer->lost_full += 2;
	peer->lost_at = now;
	if (peer->lost_full < LOST_IN_A_ROW || !is_large(peer->payload))
		return;
	peer->payload = peer->payload > ETHERNET_PAYLOAD ? ETHERNET_PAYLOAD :
			MRPC_PRIO_BASE_PAYLOAD;
	peer->lost_full = 0;
	peer->shrunk = now;
	ep->stats.shrinks++;
}

/* The path may have become better: if it has not, that costs a few packets. */
void mrpc_prio_path_raise(struct mrpc_prio_peer *peer, u64 now)
{
	if (peer->payload < peer->path && now - peer->shrunk >= RAISE_AFTER) {
		peer->payload = peer->path;
		peer->lost_full = 0;
	}
}

void mrpc_prio_peer_payload(struct mrpc_prio_peer *peer, u32 payload)
{
	payload = min_t(u32, payload, U16_MAX);
	if (payload == peer->path)
		return;
	peer->path = payload;
	peer->payload = payload;
	peer->lost_full = 0;
}

/*
 * The peer says something about @tx: all before @here came. Of a message that was never
 * repeated, the first packet is known to have come as it was. Of one of which only the small
 * packet came at last, the large ones were lost: for their size, if they were sent when small
 * ones came, and not because the path was dead for all.
 */
void mrpc_prio_path_seen(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u32 here, u64 now)
{
	struct mrpc_prio_peer *peer = tx->peer;
	u32 first = min(tx->most, peer->payload);

	if (tx->stuck && here >= tx->stuck_from && here - tx->stuck_from >= peer->payload) {
		tx->stuck = 0;
		peer->lost_full = 0;
	}
	if (!is_large(first))
		return;
	if (!tx->tries && !tx->resent && here >= first)
		peer->lost_full = 0;
	else if (!tx->seen && tx->tries >= MRPC_PRIO_SMALL_TRIES &&
		 (!peer->lost_full || tx->begun_at > peer->lost_at))
		path_lost(ep, peer, now);
}

/* Whether @at is still to be sent again: then it was asked for before it could come. */
static bool is_pending(const struct mrpc_prio_tx *tx, u32 at)
{
	u32 i;

	for (i = 0; i < tx->nr_again; i++)
		if (at >= tx->again[i].from && at < tx->again[i].to)
			return true;
	return false;
}

/*
 * [@from, @to) of @tx was sent and is missing. The first range of a report may begin with the
 * first byte that is missing of all; only that one tells whether anything gets on.
 */
void mrpc_prio_path_missing(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u32 from, u32 to,
			    u64 now)
{
	struct mrpc_prio_peer *peer = tx->peer;
	bool same = tx->stuck && from >= tx->stuck_from &&
		    from - tx->stuck_from < peer->payload;

	if (!is_large(min(to - from, peer->payload)) || (tx->stuck && now == tx->stuck_at) ||
	    is_pending(tx, from))
		return;
	if (tx->stuck >= ASKED_TWICE && from - tx->stuck_from == MRPC_PRIO_BASE_PAYLOAD)
		path_lost(ep, peer, now);
	tx->stuck = same ? ASKED_TWICE : 1;
	tx->stuck_from = from;
	tx->stuck_at = now;
}
