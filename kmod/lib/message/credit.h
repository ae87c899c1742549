/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credit: how far the sender of a stream may be ahead of the application that reads it.
 *
 * Each direction of a stream has its own. Both ends count the same cost for each message. Both
 * begin with MRPC_STREAM_WINDOW. A message may begin while less has been sent than is allowed. So a
 * message of any size passes, and the reader's end holds at most a window and one message.
 *
 * Not locked: the owner's lock protects each of them.
 */
#ifndef MRPC_LIB_MESSAGE_CREDIT_H
#define MRPC_LIB_MESSAGE_CREDIT_H

#include <linux/mrpc.h>
#include "lib/ds/types.h"
#include "lib/message/wire.h"

/**
 * struct mrpc_credit_tx - the sender's side
 * @sum: cost of all messages that were sent
 * @may: what the receiver allows in all
 */
struct mrpc_credit_tx {
	u64 sum;
	u64 may;
};

/**
 * struct mrpc_credit_rx - the receiver's side
 * @sum: cost of all messages that have come
 * @granted: of these, what the application has consumed
 * @said: what the sender was allowed last
 */
struct mrpc_credit_rx {
	u64 sum;
	u64 granted;
	u64 said;
};

/* What a message costs: empty ones cost something, too. */
static inline u64 mrpc_credit_cost(const struct mrpc_frame *f)
{
	return MRPC_STREAM_MESSAGE + (u64)f->meta_len + mrpc_msg_total(&f->msg);
}

static inline void mrpc_credit_init(struct mrpc_credit_tx *tx, struct mrpc_credit_rx *rx)
{
	*tx = (struct mrpc_credit_tx){ .may = MRPC_STREAM_WINDOW };
	*rx = (struct mrpc_credit_rx){ .said = MRPC_STREAM_WINDOW };
}

/** mrpc_credit_take() - Return: true: a message of @cost may go now, and is counted */
static inline bool mrpc_credit_take(struct mrpc_credit_tx *tx, u64 cost)
{
	if (tx->sum >= tx->may)
		return false;
	tx->sum += cost;
	return true;
}

/** mrpc_credit_hear() - the receiver allows @may in all; an older announcement changes nothing */
static inline void mrpc_credit_hear(struct mrpc_credit_tx *tx, u64 may)
{
	tx->may = max(tx->may, may);
}

/** mrpc_credit_covers() - Return: false: the sender was not allowed to send a message now */
static inline bool mrpc_credit_covers(const struct mrpc_credit_rx *rx)
{
	return rx->sum < rx->said;
}

/** mrpc_credit_arrived() - count a message that mrpc_credit_covers() */
static inline void mrpc_credit_arrived(struct mrpc_credit_rx *rx, u64 cost)
{
	rx->sum += cost;
}

/** mrpc_credit_grant() - the application has consumed @bytes. Return: false: more than came */
static inline bool mrpc_credit_grant(struct mrpc_credit_rx *rx, u64 bytes)
{
	if (bytes > rx->sum - rx->granted)
		return false;
	rx->granted += bytes;
	return true;
}

/**
 * mrpc_credit_due() - is it time to tell the sender?
 *
 * An announcement for each message would cost as much as the messages. A sender that stands has
 * used up all it was told. Then everything consumed beyond a quarter of the window is due.
 *
 * Return: what to allow in all, for mrpc_credit_said(); 0: not now.
 */
static inline u64 mrpc_credit_due(const struct mrpc_credit_rx *rx)
{
	u64 may = rx->granted + MRPC_STREAM_WINDOW;

	return may - rx->said >= MRPC_STREAM_WINDOW / 4 ? may : 0;
}

/** mrpc_credit_said() - the announcement of @may is on its way */
static inline void mrpc_credit_said(struct mrpc_credit_rx *rx, u64 may)
{
	rx->said = may;
}

#endif /* MRPC_LIB_MESSAGE_CREDIT_H */
