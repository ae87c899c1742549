// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/grant kmod/lib/prio/rank */
/*
 * The prio transport: one endpoint that receives from several peers, or from very many: whom it
 * grants first and how much, in how many packets, and what it keeps of what is missing.
 */
#include "tap.h"
#include "lib/prio/prio.h"

#define BUCKETS		8192
#define PEERS		10000
#define PIECE		1000U	/* bytes of a chunk and of a packet */

static struct mrpc_prio ep;
static struct mrpc_order_link hash[BUCKETS];
static struct mrpc_prio_peer peers[PEERS];
static struct mrpc_prio_rx rxs[PEERS];
static u32 nr_peers, nr_rxs;
static u64 now;

/* Memory that the endpoint has */
static u32 maps, levels;

static void *small_alloc(void *ctx, size_t size)
{
	(void)ctx;
	*(size == sizeof(struct mrpc_prio_gaps) ? &maps : &levels) += 1;
	return malloc(size);
}

static void small_free(void *ctx, void *p, size_t size)
{
	(void)ctx;
	*(size == sizeof(struct mrpc_prio_gaps) ? &maps : &levels) -= 1;
	free(p);
}

static const struct mrpc_prio_ops ops = { .alloc = small_alloc, .free = small_free };

static void start_rule(struct mrpc_prio_rule *r)
{
	mrpc_prio_rule_default(r);
	r->chunk = PIECE;
	r->step = PIECE;
	r->unscheduled = 64 * PIECE;
	r->window = 4 * PIECE;
	r->outstanding = 64 * PIECE;
	r->overcommit = 1;
}

static void start(const struct mrpc_prio_rule *r)
{
	static const u64 key[2] = { 3, 4 };

	now = 1000000;
	nr_peers = nr_rxs = maps = levels = 0;
	memset(peers, 0, sizeof(peers));
	CHECK_EQ(mrpc_prio_init(&ep, r, &ops, NULL, hash, BUCKETS, key, now), 0);
}

static void stop(void)
{
	while (nr_peers)
		mrpc_prio_peer_remove(&ep, &peers[--nr_peers]);
	mrpc_prio_fini(&ep);
	CHECK_EQ(maps + levels, 0);
	CHECK_EQ(ep.nr_gaps + ep.nr_rx, 0);
}

/* A peer that has an association. */
static struct mrpc_prio_peer *peer_new(void)
{
	const struct mrpc_prio_packet hello = {
		.token = nr_peers + 1, .budget = U32_MAX, .max_total = U32_MAX,
	};
	struct mrpc_prio_peer *peer = &peers[nr_peers++];

	mrpc_prio_welcome(&ep, peer, PIECE, &hello, now);
	return peer;
}

/* One that @rx is of, or is to be of */
static struct mrpc_prio_rx *came(struct mrpc_prio_peer *peer, struct mrpc_prio_rx *rx, u64 msg,
				 u32 total, u32 unscheduled, u32 offset, u32 len)
{
	struct mrpc_prio_packet p = {
		.type = MRPC_PRIO_DATA,
		.kind = MRPC_PRIO_REQUEST,
		.to = peer->local,
		.from = peer->remote,
		.conn = 1,
		.msg = msg,
		.behind = msg - 1,
		.priority = 5,
		.total = total,
		.unscheduled = unscheduled,
		.offset = offset,
		.len = len,
	};
	struct mrpc_prio_event ev;

	mrpc_prio_receive(&ep, peer, "address", 7, &p, false, now, &ev);
	if (ev.type == MRPC_PRIO_EVENT_MESSAGE) {
		CHECK(!rx && nr_rxs < PEERS);
		rx = &rxs[nr_rxs++];
		mrpc_prio_accept(&ep, peer, rx, &p, U32_MAX, now, &ev);
	}
	CHECK_EQ(ev.type, MRPC_PRIO_EVENT_DATA);
	CHECK(ev.rx == rx);
	mrpc_prio_taken(&ep, &ev, now);
	return rx;
}

/* A message of which so much is here, and nothing is under way */
static struct mrpc_prio_rx *got(struct mrpc_prio_peer *peer, u64 msg, u32 total, u32 here)
{
	struct mrpc_prio_rx *rx = NULL;
	u32 at;

	for (at = 0; at < here; at += PIECE)
		rx = came(peer, rx, msg, total, here, at, min(here - at, PIECE));
	CHECK_EQ(rx->got, rx->granted);
	return rx;
}

/* The GRANTs of the next packet. Return: how many it has; -1: there is no packet */
static int grants(struct mrpc_prio_note *notes, u32 max)
{
	u8 buf[MRPC_PRIO_MAX_CONTROL * 24 + 24] __attribute__((__aligned__(8)));
	struct mrpc_prio_packet p;
	struct mrpc_prio_peer *peer;
	u32 len, why, i;
	int n = 0;

	do {
		len = mrpc_prio_control_next(&ep, now, buf, sizeof(buf), &peer);
		if (!len)
			return -1;
		CHECK(!mrpc_prio_parse(buf, len, len, &p, &why));
	} while (p.type != MRPC_PRIO_CONTROL);		/* a WELCOME */
	for (i = 0; i < p.nr; i++) {
		struct mrpc_prio_note note;

		mrpc_prio_note_get(&p, i, &note);
		if (note.op != MRPC_PRIO_GRANT)
			continue;
		CHECK((u32)n < max);
		notes[n++] = note;
	}
	return n;
}

/* -- which comes first --------------------------------------------------------- */

/*
 * Three that have begun, as they came: the second one has the least left, the last one is the
 * smallest, and the smallest part of it is here.
 */
static const struct {
	u32 total;
	u32 here;
} begun[] = { { 30000, 9000 }, { 25000, 20000 }, { 20000, 2000 } };

static const u8 firsts[MRPC_PRIO_NR_ORDERS] = {
	[MRPC_PRIO_SRPT] = 1,
	[MRPC_PRIO_FIFO] = 0,
	[MRPC_PRIO_FAIR] = 2,
};

/* Of one peer, or each of a peer of its own; that of another peer is another order's business. */
static void grant_first(bool apart)
{
	struct mrpc_prio_peer *peer = NULL;
	struct mrpc_prio_rx *rx[3];
	struct mrpc_prio_rule r;
	struct mrpc_prio_note note;
	u32 order, i;

	for (order = 0; order < MRPC_PRIO_NR_ORDERS; order++) {
		start_rule(&r);
		r.order = order;
		start(&r);
		for (i = 0; i < 3; i++) {
			if (apart || !peer)
				peer = peer_new();
			rx[i] = got(peer, apart ? 1 : i + 1, begun[i].total, begun[i].here);
		}
		CHECK_EQ(grants(&note, 1), 1);
		for (i = 0; i < 3; i++)
			CHECK_MSG((rx[i]->granted > rx[i]->got) == (i == firsts[order]),
				  "order %u: %u of message %u are granted", order,
				  rx[i]->granted - rx[i]->got, i);
		CHECK_EQ(note.to, begun[firsts[order]].here + r.window);
		CHECK_EQ(note.class, 3);
		peer = NULL;
		stop();
	}
}

TEST(prio_grant_first_of_a_peer)
{
	grant_first(false);
}

TEST(prio_grant_first_of_peers)
{
	grant_first(true);
}

/* Of two that are alike, the one that came first: none overtakes. */
TEST(prio_grant_fifo_stays)
{
	struct mrpc_prio_rx *rx[2];
	struct mrpc_prio_peer *peer;
	struct mrpc_prio_note note;
	struct mrpc_prio_rule r;

	start_rule(&r);
	r.order = MRPC_PRIO_FIFO;
	start(&r);
	peer = peer_new();
	rx[0] = got(peer, 1, 30000, 1000);
	CHECK_EQ(grants(&note, 1), 1);
	rx[1] = got(peer, 2, 5000, 4000);
	came(peer, rx[0], 1, 30000, 1000, 1000, PIECE);
	CHECK_EQ(grants(&note, 1), 1);
	CHECK_EQ(note.msg, 1);
	CHECK_EQ(note.to, 2000 + r.window);
	CHECK_EQ(rx[1]->granted, 4000);
	stop();
}

/* -- how much ------------------------------------------------------------------ */

TEST(prio_grant_proportional)
{
	static const u32 left[] = { 21000, 5000, 18000 };
	struct mrpc_prio_rx *rx[3];
	struct mrpc_prio_note note;
	struct mrpc_prio_rule r;
	u32 i;

	start_rule(&r);
	r.proportional = true;
	r.outstanding = 22 * PIECE;
	r.overcommit = 3;
	start(&r);
	for (i = 0; i < 3; i++)
		rx[i] = got(peer_new(), 1, left[i] + 2000, 2000);
	CHECK_EQ(ep.remaining, 44000);
	while (grants(&note, 1) >= 0)
		;
	for (i = 0; i < 3; i++)
		CHECK_EQ(rx[i]->granted - rx[i]->got, r.outstanding / 1000 * left[i] / 44);
	CHECK_EQ(ep.outstanding, r.outstanding);
	stop();
}

/* A share of less than a chunk is a chunk; the other one has the rest. */
TEST(prio_grant_proportional_least)
{
	struct mrpc_prio_rx *rx[2];
	struct mrpc_prio_note note;
	struct mrpc_prio_rule r;

	start_rule(&r);
	r.proportional = true;
	r.outstanding = 10 * PIECE;
	r.chunk = 2 * PIECE;
	r.overcommit = 2;
	start(&r);
	rx[0] = got(peer_new(), 1, 61 * PIECE, PIECE);
	rx[1] = got(peer_new(), 1, 6 * PIECE, 3 * PIECE);
	while (grants(&note, 1) >= 0)
		;
	CHECK_EQ(rx[1]->granted - rx[1]->got, r.chunk);
	CHECK_EQ(rx[0]->granted - rx[0]->got, r.outstanding - r.chunk);
	stop();
}

/* -- in how many packets ------------------------------------------------------- */

/* Datagrams that come together, three of each of four messages, are answered together. */
TEST(prio_grants_share_a_packet)
{
	static const u32 totals[] = { 6000, 7000, 100000, 6500 };
	struct mrpc_prio_rx *rx[4] = { NULL };
	struct mrpc_prio_note notes[5];
	struct mrpc_prio_peer *peer;
	struct mrpc_prio_rule r;
	u32 i, k;

	start_rule(&r);
	start(&r);
	peer = peer_new();
	while (grants(notes, 0) >= 0)
		;
	for (i = 0; i < 12; i++)
		rx[i % 4] = came(peer, rx[i % 4], 1 + i % 4, totals[i % 4], 3 * PIECE,
				 i / 4 * PIECE, PIECE);
	CHECK_EQ(grants(notes, 5), 4);
	for (i = 0; i < 4; i++) {
		for (k = 0; k < i; k++)
			CHECK(notes[k].msg != notes[i].msg);
		CHECK(notes[i].msg >= 1 && notes[i].msg <= 4);
		CHECK_EQ(notes[i].from, 3 * PIECE);
		CHECK_EQ(notes[i].to, min(totals[notes[i].msg - 1], 3 * PIECE + r.window));
	}
	CHECK_EQ(grants(notes, 0), -1);
	stop();
}

/* -- what is missing ----------------------------------------------------------- */

/* A map exists as long as something is missing before what is here, and no longer. */
TEST(prio_gaps_of_many_peers)
{
	const u32 total = 5 * PIECE;
	struct mrpc_prio_rule r;
	u32 i;

	start_rule(&r);
	start(&r);
	for (i = 0; i < PEERS; i++)
		came(peer_new(), NULL, 1, total, total, 0, PIECE);
	CHECK_EQ(maps, 0);
	for (i = 0; i < PEERS; i++) {
		came(&peers[i], &rxs[i], 1, total, total, 3 * PIECE, PIECE);
		CHECK_EQ(maps, i + 1);
	}
	/* What is nearer takes no second one, and leaves the gap. */
	for (i = 0; i < PEERS; i++)
		came(&peers[i], &rxs[i], 1, total, total, i & 1 ? PIECE : 2 * PIECE, PIECE);
	CHECK_EQ(maps, PEERS);
	CHECK_EQ(ep.nr_gaps, PEERS);
	for (i = 0; i < PEERS; i++) {
		came(&peers[i], &rxs[i], 1, total, total, i & 1 ? 2 * PIECE : PIECE, PIECE);
		CHECK_EQ(maps, PEERS - 1 - i);
		CHECK_EQ(ep.nr_gaps, maps);
		CHECK_EQ(rxs[i].next, 4 * PIECE);
	}
	for (i = 0; i < PEERS; i++)
		came(&peers[i], &rxs[i], 1, total, total, 4 * PIECE, PIECE);
	CHECK_EQ(ep.nr_rx, 0);
	CHECK_EQ(maps, 0);
	stop();
}
