// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/group/strategy */
/* What ranks report of a strategy: kmod/lib/group/strategy.c. */
#include "lib/group/strategy.h"
#include "tap.h"

#define RANKS	4
#define PEER	2
#define KEY	0x1122334455667788

union body {
	struct mrpc_wire_strategy wire;
	u8 bytes[MRPC_WIRE_STRATEGY_MAX];
};

union strategy {
	struct mrpc_strategy s;
	u8 bytes[8192];
};

static const struct mrpc_report report = { .last = 0x1234, .version = 7, .proposer = 3 };
static char why[160];

/* Ranks in the reverse order, and a ring for Broadcast. */
static void make_strategy(union strategy *u, u32 ranks)
{
	u32 place;

	mrpc_strategy_init(&u->s, ranks);
	for (place = 0; place < ranks; place++)
		u->s.order[place] = ranks - 1 - place;
	u->s.algorithm[MRPC_BROADCAST] = MRPC_RING;
}

static void make_body(union body *b, u32 ranks)
{
	union strategy s;

	make_strategy(&s, ranks);
	mrpc_report_encode(&report, &s.s, KEY, ranks, PEER, &b->wire);
}

static bool decode(const union body *b, u32 len, u32 ranks)
{
	struct mrpc_report r;
	union strategy s;

	why[0] = 0;
	return mrpc_report_decode(&b->wire, len, KEY, ranks, PEER, &r, &s.s, why, sizeof(why));
}

TEST(layout)
{
	static const u8 bytes[56] = {
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,  0x34, 0x12, 0, 0, 0, 0, 0, 0,
		7, 0, 0, 0, 4, 0, 0, 0,  2, 0, 0, 0, 3, 0, 0, 0,
		0, 0, 0, 1, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0,
		3, 0, 2, 0, 1, 0, 0, 0,
	};
	union body b;

	make_body(&b, RANKS);
	CHECK_EQ(mrpc_report_bytes(RANKS), sizeof(bytes));
	CHECK(!memcmp(&b, bytes, sizeof(bytes)));
}

TEST(there_and_back)
{
	static const u32 ranks[] = { 4, 5, 63, 64, 65, MRPC_GROUP_RANKS };
	union strategy want, got;
	struct mrpc_report r;
	union body b;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ranks); i++) {
		u32 len = mrpc_report_bytes(ranks[i]);

		CHECK(len <= MRPC_WIRE_STRATEGY_MAX);
		make_strategy(&want, ranks[i]);
		make_body(&b, ranks[i]);
		CHECK_MSG(mrpc_report_decode(&b.wire, len, KEY, ranks[i], PEER, &r, &got.s, why,
					     sizeof(why)), "%s", why);
		CHECK(r.last == report.last && r.version == 7 && r.proposer == 3);
		CHECK(!memcmp(got.s.order, want.s.order, ranks[i] * sizeof(u32)));
		CHECK(!memcmp(got.s.algorithm, want.s.algorithm, sizeof(want.s.algorithm)));
	}
}

#define REFUSED(change, text)							\
	do {									\
		union body b;							\
										\
		make_body(&b, RANKS);						\
		change;								\
		CHECK(!decode(&b, mrpc_report_bytes(RANKS), RANKS));		\
		CHECK_STR(why, text);						\
	} while (0)

TEST(refused)
{
	union body b;

	REFUSED(b.wire.key = 1, "the connection to rank 2 leads to another group");
	REFUSED(b.wire.ranks = cpu_to_le32(5),
		"rank 2 says that the group has 5 ranks, this one 4");
	REFUSED(b.wire.rank = cpu_to_le32(1), "the connection to rank 2 leads to rank 1");
	REFUSED(b.wire.proposer = cpu_to_le32(4),
		"rank 2 sends a strategy of rank 4, but ranks go to 3");
	REFUSED(b.wire.algorithm[MRPC_NR_COLLECTIVES] = 1,
		"rank 2 sends a strategy with reserved bytes that are not zero");
	REFUSED(b.wire.order[1] = cpu_to_le16(4),
		"the order has rank 4 at place 1, but ranks go to 3");
	REFUSED(b.wire.order[1] = cpu_to_le16(3), "the order has rank 3 twice, at place 1 again");
	REFUSED(b.wire.algorithm[MRPC_ALLTOALL] = MRPC_RING, "AllToAll is not done by ring");
	REFUSED(b.wire.algorithm[MRPC_ALLREDUCE] = MRPC_NR_ALGORITHMS,
		"AllReduce has no algorithm 5, at most 4");
	make_body(&b, RANKS);
	CHECK(!decode(&b, mrpc_report_bytes(RANKS) + 2, RANKS));
	CHECK_STR(why, "rank 2 sends a strategy of 58 bytes, not 56");
	CHECK(!decode(&b, MRPC_WIRE_STRATEGY_BODY, RANKS));
}

/* Any byte: the body is refused with a sentence, or is a report with a permutation. */
TEST(every_byte_changed)
{
	u32 at, value, len = mrpc_report_bytes(RANKS);
	union body b;

	make_body(&b, RANKS);
	for (at = 0; at < len; at++) {
		u8 was = b.bytes[at];

		for (value = 0; value < 256; value++) {
			b.bytes[at] = value;
			CHECK_EQ(decode(&b, len, RANKS), !why[0]);
			/* Any byte of the group, its ranks and the order matters. */
			if (value != was && (at < 8 || (at >= 20 && at < 28) || at >= 48))
				CHECK(why[0]);
		}
		b.bytes[at] = was;
	}
}
