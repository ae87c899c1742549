/* SPDX-License-Identifier: GPL-2.0 */
/* What a peer of the prio transport says, without the peer. */
#ifndef PRIO_HEAR_H
#define PRIO_HEAR_H

#include "lib/prio/prio.h"

/* The receiver of @tx answers @op: all may be sent (MRPC_PRIO_GRANT), or has come (_ACK). */
static inline void prio_hear(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u8 op, u64 now)
{
	struct mrpc_prio_note note = {
		.op = op, .msg = tx->msg, .to = op == MRPC_PRIO_GRANT ? tx->total : 0,
	};
	u8 entry[sizeof(struct mrpc_prio_entry)];
	struct mrpc_prio_packet p = {
		.type = MRPC_PRIO_CONTROL,
		.to = tx->peer->local,
		.from = tx->peer->remote,
		.nr = 1,
		.entries = entry,
	};
	struct mrpc_prio_event ev;

	mrpc_prio_note_put(&note, entry);
	mrpc_prio_receive(ep, tx->peer, "", 0, &p, false, now, &ev);
}

#endif /* PRIO_HEAR_H */
