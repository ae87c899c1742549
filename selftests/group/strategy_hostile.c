// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/group/strategy kmod/lib/group/strategy kmod/lib/group/change kmod/lib/message/wire */
/*
 * Reports for a change of the strategy that are wrong, late, or missing: the group ends with a
 * sentence that says which rank it is.
 */
#include <linux/mrpc_netlink.h>
#include <string.h>

#include "tap.h"
#include "operator.h"
#include "operator_group.h"
#include "peer_rank.h"

#include "lib/group/operation.h"
#include "lib/group/strategy.h"

#define HEAP	(1 << 20)
#define OUT	(1 << 19)
#define KEY	5
#define COUNT	1000

static struct peer p;
static union {
	struct mrpc_strategy s;
	u8 bytes[64];
} strategy;

static void begin(void)
{
	peer_rank_begin(&p, KEY, HEAP);
}

/* A broadcast of rank 1. */
static void submit(uint64_t limit_us)
{
	rank_submit(0, (struct mrpc_sqe){
		.collective = MRPC_BROADCAST, .elem = MRPC_ELEM_I32, .count = COUNT, .root_rank = 1,
		.output = OUT, .limit_us = limit_us * raw_patience(),
	});
}

static void chunk(u64 seq, u32 strategy)
{
	const struct mrpc_operation_form f = {
		.key = KEY, .count = COUNT, .ranks = 2, .rank = 1, .root = 1, .chunk = 65536,
		.collective = MRPC_BROADCAST, .algorithm = MRPC_DIRECT, .elem = MRPC_ELEM_I32,
		.strategy = strategy,
	};
	static u8 body[sizeof(struct mrpc_wire_operation) + COUNT * 4];
	const struct mrpc_frame frame = {
		.type = MRPC_WIRE_CHUNK, .call_id = seq, .meta_len = MRPC_WIRE_CHUNK_BODY,
		.msg.bytes = COUNT * 4,
	};

	mrpc_operation_encode(&f, (void *)body);
	peer_send_frame(&p, &frame, body, sizeof(body));
}

/**
 * struct body - a report of rank 1, which has an order of two ranks
 * @wire: the report
 * @places: its order, and padding
 */
struct body {
	struct mrpc_wire_strategy wire;
	__le16 places[4];
};

static void make_report(struct body *b, u64 last, u32 version)
{
	const struct mrpc_report r = { .last = last, .version = version, .proposer = 1 };

	memset(b, 0, sizeof(*b));
	mrpc_strategy_init(&strategy.s, 2);
	strategy.s.order[0] = 1;
	strategy.s.order[1] = 0;
	mrpc_report_encode(&r, &strategy.s, KEY, 2, 1, &b->wire);
}

static void send_body(const struct body *b)
{
	const struct mrpc_frame frame = {
		.type = MRPC_WIRE_STRATEGY, .meta_len = mrpc_report_bytes(2),
	};

	peer_send_frame(&p, &frame, b, sizeof(*b));
}

static void send_report(u64 last, u32 version)
{
	struct body b;

	make_report(&b, last, version);
	send_body(&b);
}

static void ends(u32 status, const char *why)
{
	CHECK_MSG(rank_complete(0) == status, "status %u, not %u: %s", ranks[0].cqe.status, status,
		  ranks[0].why);
	CHECK_MSG(strstr(ranks[0].why, why), "'%s', not '%s'", ranks[0].why, why);
	peer_rank_end(&p);
}

static void reaches(unsigned int attr, int64_t want)
{
	uint64_t until = raw_now() + 20 * RAW_S * raw_patience();

	while (op_strategy(0, attr) != want) {
		CHECK_MSG(raw_now() < until, "attribute %u is %lld", attr,
			  (long long)op_strategy(0, attr));
		raw_sleep(2 * RAW_MS);
	}
}

/* Rank 0 reports, too, and the strategy is used. */
TEST(honest)
{
	struct mrpc_report r;
	char why[160];

	begin();
	send_report(0, 1);
	peer_expect(&p, MRPC_WIRE_STRATEGY);
	CHECK(mrpc_report_decode((const void *)p.body, p.frame.meta_len, KEY, 2, 0, &r,
				 &strategy.s, why, sizeof(why)));
	CHECK(r.version == 1 && r.last == 0 && r.proposer == 1 && strategy.s.order[0] == 1);
	reaches(MRPC_A_GROUP_STRATEGY_VERSION, 1);
	submit(5000000);
	chunk(1, 1);
	CHECK_EQ(rank_complete(0), MRPC_OK);
	peer_rank_end(&p);
}

/* It says that it goes on to a strategy, and uses the one before. */
TEST(uses_another)
{
	begin();
	send_report(0, 1);
	reaches(MRPC_A_GROUP_STRATEGY_VERSION, 1);
	submit(5000000);
	chunk(1, 0);
	ends(MRPC_FAILED_PRECONDITION, "rank 1 uses strategy 0, this one 1");
}

static void wrong(void (*play)(struct body *b), u32 status, const char *why)
{
	struct body b;

	make_report(&b, 0, 1);
	begin();
	submit(5000000);
	play(&b);
	send_body(&b);
	ends(status, why);
}

static void other_key(struct body *b) { b->wire.key = 0; }
static void other_rank(struct body *b) { b->wire.rank = 0; }
static void future(struct body *b) { b->wire.version = cpu_to_le32(3); }
static void past(struct body *b) { b->wire.version = 0; }
static void rank_twice(struct body *b) { b->wire.order[1] = b->wire.order[0]; }
static void no_rank(struct body *b) { b->wire.order[1] = cpu_to_le16(2); }
static void no_algorithm(struct body *b) { b->wire.algorithm[MRPC_GATHER] = 77; }
static void twice(struct body *b) { send_body(b); }

#define WRONG(play, why)							\
	TEST(play) { wrong(play, MRPC_FAILED_PRECONDITION, "rank 0: " why); }

WRONG(other_key, "the connection to rank 1 leads to another group")
WRONG(other_rank, "the connection to rank 1 leads to rank 0")
WRONG(future, "rank 1 reports for strategy 3, this one uses 0")
WRONG(past, "rank 1 reports for strategy 0, this one uses 0")
WRONG(rank_twice, "the order has rank 1 twice, at place 1 again")
WRONG(no_rank, "the order has rank 2 at place 1, but ranks go to 1")
WRONG(no_algorithm, "Gather has no algorithm 77, at most 4")
WRONG(twice, "rank 1 reports for strategy 1, this one uses 0")

/* Header fields that a report does not have. */
TEST(bad_header)
{
	const struct mrpc_frame frame = {
		.type = MRPC_WIRE_STRATEGY, .call_id = 1, .meta_len = mrpc_report_bytes(2),
	};
	struct body b;

	make_report(&b, 0, 1);
	begin();
	submit(5000000);
	peer_send_frame(&p, &frame, &b, sizeof(b));
	ends(MRPC_UNAVAILABLE, "rank 1 is lost: the peer broke the protocol");
}

/* It never reports: an operation that is held has its limit. */
TEST(silent)
{
	begin();
	CHECK_EQ(op_strategy_set(0, NULL, 0, MRPC_RING), 0);
	peer_expect(&p, MRPC_WIRE_STRATEGY);
	CHECK_EQ(op_strategy(0, MRPC_A_GROUP_STRATEGY_AWAITS), 1);
	submit(300000);
	ends(MRPC_DEADLINE_EXCEEDED,
	     "operation 1 takes longer than it may: rank 0 waits for rank 1, which has not reported for strategy 1");
}

/* The chunk shows that rank 1 has begun the operation before it reports. */
TEST(chunk_before_report)
{
	begin();
	CHECK_EQ(op_strategy_set(0, NULL, 0, MRPC_RING), 0);
	peer_expect(&p, MRPC_WIRE_STRATEGY);
	submit(20000000);
	chunk(1, 0);
	CHECK_EQ(rank_complete(0), MRPC_OK);
	CHECK_EQ(op_strategy(0, MRPC_A_GROUP_STRATEGY_VERSION), 0);
	peer_rank_end(&p);
}

/* It leaves instead of reporting. What is held then needs it. */
TEST(leaves)
{
	static const struct mrpc_frame frame = {
		.type = MRPC_WIRE_CHUNK, .status = MRPC_CANCELLED, .msg_no = MRPC_WIRE_LEFT,
		.detail_len = 8,
	};

	begin();
	CHECK_EQ(op_strategy_set(0, NULL, 0, MRPC_RING), 0);
	submit(20000000);
	raw_enter(&ranks[0].qp, 1, 50 * RAW_MS);
	peer_send_frame(&p, &frame, "whatever", 8);
	ends(MRPC_CANCELLED, "rank 1 has left the group");
}

/* It is lost while the change is under way. */
TEST(lost)
{
	begin();
	CHECK_EQ(op_strategy_set(0, NULL, 0, MRPC_RING), 0);
	submit(20000000);
	peer_reset(&p);
	CHECK_EQ(rank_complete(0), MRPC_UNAVAILABLE);
	CHECK_MSG(strstr(ranks[0].why, "rank 1 is lost"), "%s", ranks[0].why);
	CHECK(op_strategy_set(0, NULL, 0, MRPC_RING) < 0);
	CHECK_MSG(strstr(op_why, "the group has ended"), "%s", op_why);
	peer_connect(&p, ranks[0].s.port);	/* for the end */
	peer_rank_end(&p);
}
