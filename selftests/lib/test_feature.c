// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/feature */
/* The agreement of two ends on features: kmod/lib/message/feature.c. */
#include "lib/message/feature.h"
#include "rnd.h"
#include "tap.h"

#define CHANGE	MRPC_FEATURE_CHANGE
#define CRC	MRPC_FEATURE_CRC

TEST(handshake)
{
	static const struct {
		u64 client, server, both;
	} cases[] = {
		{ 0, 0, 0 }, { CRC, 0, 0 }, { 0, CRC, 0 }, { CRC, CRC, CRC },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct mrpc_features c = { .want = cases[i].client };
		struct mrpc_features s = { .want = cases[i].server };
		u64 offered = mrpc_features_offer(&c), chosen;

		CHECK_EQ(offered, CHANGE | cases[i].client);
		chosen = mrpc_features_choose(&s, offered);
		CHECK_EQ(chosen, CHANGE | cases[i].both);
		CHECK_EQ(mrpc_features_chosen(&c, chosen), 0);
		CHECK_EQ(c.may, cases[i].both);
		CHECK_EQ(s.may, cases[i].both);
		CHECK_EQ(mrpc_features_due(&c), c.want != cases[i].both);
		CHECK_EQ(mrpc_features_due(&s), s.want != cases[i].both);
	}
}

/* A peer that does not know FEATURES is never sent one, whatever changes. */
TEST(old_peers)
{
	struct mrpc_features f = { .want = CRC };
	u64 answer;

	CHECK_EQ(mrpc_features_choose(&f, 0), 0);
	CHECK(!mrpc_features_due(&f));
	CHECK_EQ(mrpc_features_hear(&f, CRC, &answer), -EPROTO);
	f = (struct mrpc_features){ .want = CRC };
	mrpc_features_offer(&f);
	CHECK_EQ(mrpc_features_chosen(&f, 0), 0);
	CHECK(!mrpc_features_due(&f));
	CHECK(!mrpc_features_accept(&f, CRC));
	CHECK_EQ(mrpc_features_ack(&f, 0), -EPROTO);
}

TEST(newer_peers)
{
	struct mrpc_features f = { .want = CRC };
	u64 answer;

	CHECK_EQ(mrpc_features_choose(&f, ~0ULL), CHANGE | CRC);
	CHECK_EQ(mrpc_features_hear(&f, ~0ULL, &answer), 0);
	CHECK_EQ(answer, CRC);
	/* What is of the connection stays. */
	f = (struct mrpc_features){ .want = MRPC_FEATURE_ABORT };
	CHECK_EQ(mrpc_features_choose(&f, ~0ULL), CHANGE | MRPC_FEATURE_ABORT);
	CHECK_EQ(mrpc_features_hear(&f, CRC, &answer), 0);
	mrpc_features_answer(&f, answer);
	CHECK_EQ(f.may, MRPC_FEATURE_ABORT | CRC);
	f = (struct mrpc_features){ .want = CRC };
	mrpc_features_offer(&f);
	CHECK_EQ(mrpc_features_chosen(&f, CHANGE | CRC << 1), -EPROTO);
	f = (struct mrpc_features){};
	mrpc_features_offer(&f);
	CHECK_EQ(mrpc_features_chosen(&f, CHANGE | CRC), -EPROTO);
}

TEST(out_of_turn)
{
	struct mrpc_features f = {};
	u64 answer;

	mrpc_features_choose(&f, CHANGE);
	CHECK_EQ(mrpc_features_ack(&f, 0), -EPROTO);		/* nothing was asked */
	CHECK_EQ(mrpc_features_hear(&f, CRC, &answer), 0);
	CHECK_EQ(f.may, 0);
	mrpc_features_answer(&f, answer);
	CHECK_EQ(f.may, CRC);
	CHECK_EQ(mrpc_features_hear(&f, 0, &answer), 0);	/* it may have been read */
	CHECK_EQ(mrpc_features_hear(&f, CRC, &answer), -EPROTO);
	CHECK_EQ(answer, 0);
	mrpc_features_answer(&f, answer);
	CHECK_EQ(mrpc_features_hear(&f, CRC, &answer), -EPROTO);	/* both wait to be sent */
	mrpc_features_answered(&f);
	mrpc_features_answered(&f);
	CHECK_EQ(f.may, 0);

	f.want = CRC;
	CHECK(mrpc_features_due(&f));
	mrpc_features_announced(&f);
	CHECK(!mrpc_features_due(&f));
	CHECK(mrpc_features_accept(&f, CRC));			/* at once */
	CHECK_EQ(mrpc_features_ack(&f, CHANGE), -EPROTO);	/* not asked for */
	CHECK_EQ(mrpc_features_ack(&f, CRC), 0);
	CHECK_EQ(mrpc_features_ack(&f, CRC), -EPROTO);		/* twice */
	f.want = 0;
	mrpc_features_announced(&f);
	CHECK(mrpc_features_accept(&f, CRC));			/* until the answer */
	f.want = CRC;
	CHECK(!mrpc_features_due(&f));				/* one at a time */
	CHECK_EQ(mrpc_features_ack(&f, 0), 0);
	CHECK(!mrpc_features_accept(&f, CRC));
	CHECK(mrpc_features_due(&f));
}

/* -- two ends, and streams that keep their order --------------------------------- */

#define QUEUE	64

struct msg {
	enum { DATA, FEATURES, ACK } type;
	u64 mask;
};

struct end {
	struct mrpc_features f;
	struct msg txq[QUEUE];		/* to be sent by the owner of the transmit claim */
	struct msg wire[QUEUE];		/* sent, not received by the other */
	u32 nr_txq, nr_wire;
};

static void push(struct msg *q, u32 *nr, struct msg m)
{
	CHECK(*nr < QUEUE);
	q[(*nr)++] = m;
}

static struct msg pop(struct msg *q, u32 *nr)
{
	struct msg m = q[0];

	memmove(q, q + 1, --*nr * sizeof(*q));
	return m;
}

static void announce(struct end *e)
{
	if (!mrpc_features_due(&e->f))
		return;
	push(e->txq, &e->nr_txq, (struct msg){ FEATURES, e->f.want });
	mrpc_features_announced(&e->f);
}

static void send_one(struct end *e)
{
	struct msg m;

	if (!e->nr_txq || e->nr_wire == QUEUE)
		return;
	m = pop(e->txq, &e->nr_txq);
	if (m.type == DATA)
		m.mask = e->f.may;
	if (m.type == ACK) {
		mrpc_features_answer(&e->f, m.mask);
		mrpc_features_answered(&e->f);
	}
	push(e->wire, &e->nr_wire, m);
}

static void receive_one(struct end *e, struct end *from)
{
	struct msg m;
	u64 answer;

	if (!from->nr_wire || e->nr_txq > QUEUE - 4)
		return;
	m = pop(from->wire, &from->nr_wire);
	switch (m.type) {
	case DATA:
		CHECK(!m.mask || mrpc_features_accept(&e->f, m.mask));
		break;
	case FEATURES:
		CHECK_EQ(mrpc_features_hear(&e->f, m.mask, &answer), 0);
		push(e->txq, &e->nr_txq, (struct msg){ ACK, answer });
		break;
	case ACK:
		CHECK_EQ(mrpc_features_ack(&e->f, m.mask), 0);
		announce(e);
		break;
	}
}

/* Whatever the order in which both ends change, send and receive. */
TEST(two_ends)
{
	u64 rnd = 0x9e3779b97f4a7c15;
	u32 round, i, k;

	for (round = 0; round < 2000; round++) {
		struct end e[2] = {};

		e[0].f.want = rnd_below(&rnd, 2) ? CRC : 0;
		e[1].f.want = rnd_below(&rnd, 2) ? CRC : 0;
		CHECK_EQ(mrpc_features_chosen(&e[0].f, mrpc_features_choose(&e[1].f,
				mrpc_features_offer(&e[0].f))), 0);
		announce(&e[0]);
		announce(&e[1]);
		for (i = 0; i < 300; i++) {
			k = rnd_below(&rnd, 2);
			switch (rnd_below(&rnd, 8)) {
			case 0:
				e[k].f.want ^= CRC;
				announce(&e[k]);
				break;
			case 1 ... 2:
				if (e[k].nr_txq < QUEUE - 4)
					push(e[k].txq, &e[k].nr_txq, (struct msg){ DATA, 0 });
				break;
			case 3 ... 4:
				send_one(&e[k]);
				break;
			default:
				receive_one(&e[k], &e[!k]);
			}
		}
		for (i = 0; i < 1000; i++) {
			send_one(&e[i & 1]);
			receive_one(&e[i & 1], &e[!(i & 1)]);
		}
		for (k = 0; k < 2; k++) {
			CHECK_EQ(e[k].f.said, e[k].f.want);
			CHECK(!e[k].f.waiting && e[k].f.heard == e[k].f.answered);
			CHECK_EQ(e[k].f.may, e[!k].f.want);
		}
	}
}
