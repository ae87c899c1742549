/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings of an endpoint of the prio transport: how much it sends and grants, to how many peers,
 * in which order, and how long it waits.
 */
#ifndef MRPC_LIB_PRIO_RULE_H
#define MRPC_LIB_PRIO_RULE_H

#include "lib/prio/wire.h"

#define MRPC_PRIO_CHUNK		(16U << 10)
#define MRPC_PRIO_MAX_OVERCOMMIT 64

/**
 * enum mrpc_prio_order - rank of messages of the same priority at the receiver
 * @MRPC_PRIO_SRPT: the fewest remaining bytes first
 * @MRPC_PRIO_FIFO: in the order of arrival
 * @MRPC_PRIO_FAIR: the greatest remaining fraction first
 */
enum mrpc_prio_order {
	MRPC_PRIO_SRPT,
	MRPC_PRIO_FIFO,
	MRPC_PRIO_FAIR,
	MRPC_PRIO_NR_ORDERS,
};

/**
 * struct mrpc_prio_rule - settings of an endpoint
 * @chunk: bytes of one turn of a message at most
 * @unscheduled: bytes that each peer may have under way to this end without a grant, of all
 *	its messages together: about the bytes of one round trip
 * @window: bytes granted ahead of what is received, for each message: at least those of a round
 *	trip
 * @proportional: instead of @window, share @outstanding in proportion to the remaining bytes of
 *	each message, but not less than @chunk
 * @outstanding: limit of bytes granted and not received, of all messages together. Unscheduled
 *	bytes count, but are not held back. A peer that holds none of it still gets @step,
 *	@overcommit peers at a time. So no peer keeps others out by holding all of it
 * @overcommit: peers that are granted at a time, one message each, 1 to
 *	MRPC_PRIO_MAX_OVERCOMMIT. Slow peers do not count: they do not send what they were
 *	granted, while others wait and less comes than could
 * @order: enum mrpc_prio_order
 * @crc: ask peers for checksums
 * @step: a grant is for at least so many more bytes, or the rest of the message
 * @reorder: bytes received beyond a gap before the gap counts as lost; 0: only time decides
 * @max_total: largest message accepted, at most MRPC_PRIO_MAX_TOTAL
 * @max_rx: messages being received; twice as many for peers that have few
 * @max_rx_peer: of one peer, at least 1; times @step at most 2 GiB
 * @ack_delay: ns that an acknowledgement waits for a packet to travel with
 * @rto_min: ns until something is asked for again, at least 2 * @ack_delay. Longer if round trips
 *	are longer; doubles with each try
 * @rto_max: limit of that; up to half as much is added where repeats must not coincide
 * @silence: ns without any packet of a peer that owes one, until it is given up
 */
struct mrpc_prio_rule {
	u32 chunk;
	u32 unscheduled;
	u32 window;
	bool proportional;
	u32 outstanding;
	u32 overcommit;
	u8 order;
	bool crc;
	u32 step;
	u32 reorder;
	u32 max_total;
	u32 max_rx;
	u32 max_rx_peer;
	u64 ack_delay;
	u64 rto_min;
	u64 rto_max;
	u64 silence;
};

/* Suited to a link of 10 Gb/s and 100 us. Every value can be changed. */
#define MRPC_PRIO_RULE_DEFAULT {					\
	.chunk = MRPC_PRIO_CHUNK,					\
	.unscheduled = 128U << 10,					\
	.window = 128U << 10,						\
	.outstanding = 512U << 10,					\
	.overcommit = 4,						\
	.order = MRPC_PRIO_SRPT,					\
	.step = 16U << 10,						\
	.reorder = 32U << 10,						\
	.max_total = MRPC_PRIO_MAX_TOTAL,				\
	.max_rx = 16384,						\
	.max_rx_peer = 1024,						\
	.ack_delay = 100000,						\
	.rto_min = 2000000,						\
	.rto_max = 200000000,						\
	.silence = 3000000000ULL,					\
}

/** mrpc_prio_rule_default() - the default settings */
static inline void mrpc_prio_rule_default(struct mrpc_prio_rule *rule)
{
	*rule = (struct mrpc_prio_rule)MRPC_PRIO_RULE_DEFAULT;
}

/** mrpc_prio_rule_ok() - are all settings in range, and consistent? */
bool mrpc_prio_rule_ok(const struct mrpc_prio_rule *rule);

#endif /* MRPC_LIB_PRIO_RULE_H */
