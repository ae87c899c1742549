/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which features of the wire format two ends use, and how they agree on others
 * while calls pass.
 *
 * Each end announces what it accepts in what it receives, and uses in what it
 * sends at most what the other one has announced. The handshake is the first
 * announcement of both. Later ones are FEATURES frames; each is answered by
 * FEATURES_ACK, behind which the answerer's frames follow it. So an end that
 * announces more accepts more from then on, and one that announces less still
 * accepts what it accepted before until the answer has come.
 */
#ifndef MRPC_LIB_MESSAGE_FEATURE_H
#define MRPC_LIB_MESSAGE_FEATURE_H

#include "lib/ds/types.h"

/* FEATURES and FEATURES_ACK are understood. Of the connection, not of a link */
#define MRPC_FEATURE_CHANGE	BIT(0)
/* Frames may have a CRC-32C */
#define MRPC_FEATURE_CRC	BIT(1)
/* A CANCEL may come although its call does not: it is answered. As the handshake has chosen */
#define MRPC_FEATURE_ABORT	BIT(2)
/* Frames MESSAGE and CREDIT. As the handshake has chosen */
#define MRPC_FEATURE_STREAM	BIT(3)
/* Frames CHUNK. As the handshake has chosen */
#define MRPC_FEATURE_GROUP	BIT(4)
/* Those that a link may have, and that FEATURES is about */
#define MRPC_FEATURES_LINK	MRPC_FEATURE_CRC

/**
 * struct mrpc_features - one end's side of the agreement
 *
 * Of the owner of the receive claim, but for what is said.
 *
 * @want: what the link can accept; changes with both claims held
 * @said: what this end has announced last
 * @before: what it had announced before that, until the peer has answered
 * @change: both ends understand FEATURES
 * @waiting: for the answer to FEATURES
 * @heard: how many FEATURES of the peer's have come
 * @answered: how many answers have been sent; of the owner of the transmit claim
 * @may: what the peer accepts; of the owner of the transmit claim, once calls pass
 */
struct mrpc_features {
	u64 want;
	u64 said;
	u64 before;
	u64 may;
	bool change;
	bool waiting;
	u32 heard;
	u32 answered;
};

/**
 * mrpc_features_fix() - the link's protocol is not mrpc's own, and there is no hello
 * Both use what the link accepts, for ever.
 */
void mrpc_features_fix(struct mrpc_features *f);

/**
 * mrpc_features_offer() - the client's hello goes out
 * Return: what it offers.
 */
u64 mrpc_features_offer(struct mrpc_features *f);

/**
 * mrpc_features_choose() - the server answers a hello that offers @offered
 * Return: what both use.
 */
u64 mrpc_features_choose(struct mrpc_features *f, u64 offered);

/**
 * mrpc_features_chosen() - the client hears what both use
 * Return: 0; -EPROTO: more than was offered.
 */
int mrpc_features_chosen(struct mrpc_features *f, u64 chosen);

/* What there is to announce: of the link; the rest stays as the handshake has chosen. */
static inline u64 mrpc_features_wanted(const struct mrpc_features *f)
{
	return (f->want & MRPC_FEATURES_LINK) | (f->said & ~(u64)MRPC_FEATURES_LINK);
}

/**
 * mrpc_features_due() - is there something to announce?
 * The caller sends FEATURES of mrpc_features_wanted(), and says so by mrpc_features_announced().
 */
bool mrpc_features_due(const struct mrpc_features *f);
void mrpc_features_announced(struct mrpc_features *f);

/**
 * mrpc_features_hear() - FEATURES of @mask has come
 * @answer: out: of the FEATURES_ACK to be sent
 * Bits that are not known here are not answered, and harmless.
 * Return: 0; -EPROTO: it was not to come now.
 */
int mrpc_features_hear(struct mrpc_features *f, u64 mask, u64 *answer);

/**
 * mrpc_features_answer() - FEATURES_ACK of @answer is next on its way out
 * From here on frames use at most that. Owner of the transmit claim.
 */
void mrpc_features_answer(struct mrpc_features *f, u64 answer);

/**
 * mrpc_features_answered() - FEATURES_ACK has been sent
 * Not while it waits behind what the peer does not read. Owner of the transmit claim.
 */
void mrpc_features_answered(struct mrpc_features *f);

/**
 * mrpc_features_ack() - FEATURES_ACK of @mask has come
 * Return: 0; -EPROTO: nothing was asked, or not for that.
 */
int mrpc_features_ack(struct mrpc_features *f, u64 mask);

/* Answers that wait. A peer may have read one before its sender has said so, and ask again. */
#define MRPC_FEATURES_OWED	2

/* May the peer use it in a frame that comes now? */
static inline bool mrpc_features_accept(const struct mrpc_features *f, u64 feature)
{
	return (f->said | f->before) & feature;
}

#endif /* MRPC_LIB_MESSAGE_FEATURE_H */
