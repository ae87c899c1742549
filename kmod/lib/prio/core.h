/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the files of the prio transport's protocol; prio.h is for everybody else.
 */
#ifndef MRPC_LIB_PRIO_CORE_H
#define MRPC_LIB_PRIO_CORE_H

#include "lib/prio/prio.h"

/* mrpc_timer.kind */
enum {
	MRPC_PRIO_TIMER_TX,
	MRPC_PRIO_TIMER_RX,
	MRPC_PRIO_TIMER_PEER,
	MRPC_PRIO_TIMER_PLACES,
};

#define MRPC_PRIO_SCALE		1024	/* of windows and budgets: all of it */
#define MRPC_PRIO_MIN_SCALE	64
#define MRPC_PRIO_TARDY		255	/* parts of a step */
#define MRPC_PRIO_MAX_TRIES	20
#define MRPC_PRIO_VAIN_TRIES	2	/* after so many in vain, repeats share what there is of them */
#define MRPC_PRIO_SMALL_TRIES	2	/* announcements, until the first packet is made small */

/* prio.c */
struct mrpc_order_link *mrpc_prio_bucket(const struct mrpc_prio *ep,
					 const struct mrpc_prio_peer *peer, u64 msg, bool rx);
bool mrpc_prio_rank_ready(struct mrpc_prio *ep, struct mrpc_prio_rank *r, u8 priority);

static inline void mrpc_prio_drop(struct mrpc_prio *ep, u32 drop)
{
	ep->stats.drops[drop]++;
}

/* lib/prio/peer.c */
void mrpc_prio_peer_timer(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now);
void mrpc_prio_peer_want(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now);
void mrpc_prio_peer_busy(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now);
void mrpc_prio_peer_arm(struct mrpc_prio *ep, struct mrpc_prio_peer *peer);
void mrpc_prio_peer_rtt(struct mrpc_prio_peer *peer, u64 sample, u64 now);
void mrpc_prio_peer_late(const struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 tries,
			 u64 now);
void mrpc_prio_peer_cut(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u16 *scale,
			u64 *last, u64 now);
void mrpc_prio_peer_grow(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u16 *scale,
			 u64 *last, u64 now);
u64 mrpc_prio_rto(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries);
u64 mrpc_prio_rto_apart(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries);
u64 mrpc_prio_rto_vain(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries,
		       u32 nr);
u64 mrpc_prio_pto(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries);

/* lib/prio/control.c */
void mrpc_prio_due(struct mrpc_prio *ep, struct mrpc_prio_peer *peer);
void mrpc_prio_note(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u8 op, u64 msg, u16 code);
void mrpc_prio_ack(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 msg, bool urge, u64 now);
u64 mrpc_prio_ack_take(struct mrpc_prio_peer *peer);
void mrpc_prio_control(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
		       const struct mrpc_prio_packet *p, u64 now);

/* lib/prio/tx.c */
void mrpc_prio_tx_update(struct mrpc_prio *ep, struct mrpc_prio_tx *tx);
void mrpc_prio_tx_release(struct mrpc_prio_tx *tx);
void mrpc_prio_tx_refill(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 nr);
void mrpc_prio_tx_mark(struct mrpc_prio *ep, struct mrpc_prio_tx *tx);
void mrpc_prio_tx_end(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u8 status);
void mrpc_prio_tx_timer(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u64 now);
void mrpc_prio_tx_say(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u16 say);
void mrpc_prio_tx_arm(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u64 now);

/* lib/prio/tx_heard.c */
void mrpc_prio_tx_heard(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
			const struct mrpc_prio_note *note, u64 now);
bool mrpc_prio_tx_acked(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 msg, u64 now);
void mrpc_prio_again_cut(struct mrpc_prio_tx *tx, u32 from, u32 to);
void mrpc_prio_again_earn(const struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 bytes);

/* lib/prio/path.c */
u32 mrpc_prio_path_first(const struct mrpc_prio_tx *tx);
u32 mrpc_prio_path_len(const struct mrpc_prio_tx *tx, u32 from, u32 len);
void mrpc_prio_path_raise(struct mrpc_prio_peer *peer, u64 now);
void mrpc_prio_path_seen(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u32 here, u64 now);
void mrpc_prio_path_missing(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u32 from, u32 to,
			    u64 now);

/* lib/prio/rx.c */
void mrpc_prio_rx_data(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
		       const struct mrpc_prio_packet *p, u64 now, struct mrpc_prio_event *ev);
void mrpc_prio_rx_heard(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
			const struct mrpc_prio_note *note, u64 now);
void mrpc_prio_rx_end(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u8 status);
void mrpc_prio_rx_timer(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now);
void mrpc_prio_rx_arm(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now);
void mrpc_prio_rx_say(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u16 say);

/* lib/prio/gaps.c */
bool mrpc_prio_gaps_new(const struct mrpc_prio_rx *rx, struct mrpc_prio_range *r);
bool mrpc_prio_gaps_add(struct mrpc_prio *ep, struct mrpc_prio_rx *rx,
			const struct mrpc_prio_range *r);
void mrpc_prio_gaps_free(struct mrpc_prio *ep, struct mrpc_prio_rx *rx);
u32 mrpc_prio_gaps_far(const struct mrpc_prio *ep, const struct mrpc_prio_rx *rx);
u32 mrpc_prio_gaps_missing(const struct mrpc_prio_rx *rx, u32 from, u32 to);
u32 mrpc_prio_gaps_ranges(const struct mrpc_prio_rx *rx, u32 from, u32 to,
			  struct mrpc_prio_range *r, u32 max);

/* lib/prio/grant.c */
void mrpc_prio_rx_update(struct mrpc_prio *ep, struct mrpc_prio_rx *rx);
void mrpc_prio_rx_ask(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u32 bytes, u64 now);
void mrpc_prio_peer_rank(struct mrpc_prio *ep, struct mrpc_prio_peer *peer);
void mrpc_prio_grant(struct mrpc_prio *ep, u64 now);

/* lib/prio/places.c */
void mrpc_prio_places_came(struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 bytes,
			   u64 now);
void mrpc_prio_places_hold(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 bytes);
void mrpc_prio_places_pay(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 bytes);
void mrpc_prio_places_back(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 bytes);
void mrpc_prio_places_wait(struct mrpc_prio *ep, bool waits, bool more, u64 now);
void mrpc_prio_places_timer(struct mrpc_prio *ep, u64 now);

#endif /* MRPC_LIB_PRIO_CORE_H */
