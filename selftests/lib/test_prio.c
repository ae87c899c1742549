// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio */
/*
 * The prio transport: associations.
 */
#include "tap.h"
#include "prio_pair.h"

TEST(prio_sizes)
{
	CHECK(sizeof(struct mrpc_prio_peer) <= 856);
	CHECK_EQ(MRPC_PRIO_DATA_HDR, 64);
	CHECK_EQ(MRPC_PRIO_BODY_LEN, 64);
}

TEST(prio_rules)
{
	struct mrpc_prio_rule ok, r;
	u64 key[2] = { 1, 2 };
	struct mrpc_prio ep;
	struct mrpc_order_link hash[8];

	mrpc_prio_rule_default(&ok);
	CHECK_EQ(mrpc_prio_init(&ep, &ok, &pair_ops, NULL, hash, 8, key, 0), 0);
	CHECK_EQ(mrpc_prio_init(&ep, &ok, &pair_ops, NULL, hash, 1, key, 0), -EINVAL);
	CHECK_EQ(mrpc_prio_init(&ep, &ok, &pair_ops, NULL, hash, 6, key, 0), -EINVAL);
	CHECK_EQ(mrpc_prio_deadline(&ep), -1LL);
#define REFUSES(field, value)	({					\
		r = ok;							\
		r.field = (value);					\
		CHECK_EQ(mrpc_prio_set(&ep, &r), -EINVAL);		\
	})
	REFUSES(chunk, 0);
	REFUSES(chunk, U32_MAX);
	REFUSES(step, 0);
	REFUSES(step, ok.window + 1);
	REFUSES(window, ok.outstanding + 1);
	REFUSES(outstanding, MRPC_PRIO_MAX_TOTAL + 1);
	REFUSES(unscheduled, U32_MAX);
	REFUSES(overcommit, 0);
	REFUSES(overcommit, MRPC_PRIO_MAX_OVERCOMMIT + 1);
	REFUSES(order, MRPC_PRIO_NR_ORDERS);
	REFUSES(max_total, MRPC_PRIO_MAX_TOTAL + 1);
	REFUSES(max_rx, 0);
	REFUSES(max_rx_peer, 0);
	REFUSES(max_rx_peer, (1U << 31) / ok.step + 1);
	REFUSES(rto_min, 0);
	REFUSES(ack_delay, ok.rto_min);
	REFUSES(rto_max, ok.rto_min - 1);
	REFUSES(silence, 1);
	REFUSES(silence, U64_MAX);
	CHECK_EQ(mrpc_prio_set(&ep, &ok), 0);
}

/* What a path takes is more than any packet has. */
TEST(prio_wide_path)
{
	struct mrpc_prio_peer peer;

	pair_start();
	mrpc_prio_peer_add(&a->ep, &peer, 65536, now);
	CHECK_EQ(peer.payload, U16_MAX);
	CHECK_EQ(peer.path, U16_MAX);
	mrpc_prio_peer_payload(&peer, 1000);
	CHECK_EQ(peer.payload, 1000);
	mrpc_prio_peer_payload(&peer, 65536 + 1000);
	CHECK_EQ(peer.payload, U16_MAX);
	mrpc_prio_peer_remove(&a->ep, &peer);
	pair_stop();
}

/* -- associations -------------------------------------------------------------- */

TEST(prio_handshake)
{
	struct packet p;

	pair_start();
	submit(a, 0, 100, 5);
	CHECK(out(a, &p));
	CHECK_EQ(p.p.type, MRPC_PRIO_HELLO);
	CHECK_EQ(p.p.cookie, 0);
	in(b, &p);
	CHECK_EQ(b->event, MRPC_PRIO_EVENT_ANSWER);
	CHECK_EQ(b->answer.p.type, MRPC_PRIO_COOKIE);
	CHECK_EQ(b->answer.len, p.len);
	CHECK_EQ(b->ep.nr_peers, 0);
	CHECK_EQ(b->allocs, 0);
	now += 50 * PAIR_US;
	in(a, &b->answer);
	CHECK(!out_data(a, &p));
	CHECK(out(a, &p));
	CHECK_EQ(p.p.type, MRPC_PRIO_HELLO);
	CHECK_EQ(p.p.cookie, b->answer.p.cookie);
	in(b, &p);
	CHECK_EQ(b->event, MRPC_PRIO_EVENT_PEER);
	CHECK_EQ(b->peer.state, MRPC_PRIO_PEER_UP);
	CHECK(out(b, &p));
	CHECK_EQ(p.p.type, MRPC_PRIO_WELCOME);
	now += 50 * PAIR_US;
	in(a, &p);
	CHECK_EQ(a->peer.state, MRPC_PRIO_PEER_UP);
	CHECK(a->peer.srtt >= 50 * PAIR_US);
	CHECK(out(a, &p));
	CHECK_EQ(p.p.type, MRPC_PRIO_DATA);
	in(b, &p);
	CHECK_EQ(b->completed, 1);
	pair_stop();
}

/* HELLO and WELCOME are lost, again and again. */
TEST(prio_handshake_losses)
{
	u32 hellos = 0, i;
	struct packet p;

	pair_start();
	submit(a, 0, 100, 5);
	for (i = 0; i < 6; i++) {
		while (out(a, &p))
			hellos++;
		pass((a->ep.rule.rto_min << i) + 2 * PAIR_US);
	}
	CHECK_EQ(hellos, 6);
	CHECK(out(a, &p));
	in(b, &p);
	in(a, &b->answer);
	CHECK(out(a, &p));
	in(b, &p);
	CHECK(out(b, &p));	/* WELCOME, lost */
	CHECK(!out(b, &p));
	pass(400000 * PAIR_US);
	CHECK(out(a, &p));
	CHECK_EQ(p.p.type, MRPC_PRIO_HELLO);
	in(b, &p);
	CHECK_EQ(b->ep.nr_peers, 1);
	CHECK(out(b, &p));
	CHECK_EQ(p.p.type, MRPC_PRIO_WELCOME);
	in(a, &p);
	in(a, &p);		/* twice */
	CHECK_EQ(drops(a, MRPC_PRIO_DROP_STATE), 1);
	talk();
	CHECK_EQ(b->completed, 1);
	pair_stop();
}

TEST(prio_handshake_unanswered)
{
	u64 start;
	struct packet p;

	pair_start();
	submit(a, 0, 100, 5);
	start = now;
	while (a->peer.state == MRPC_PRIO_PEER_HELLO) {
		while (out(a, &p))
			;
		pass(mrpc_prio_deadline(&a->ep) - now);
	}
	CHECK(now - start >= a->ep.rule.silence);
	CHECK(now - start <= a->ep.rule.silence + a->ep.rule.rto_max + PAIR_US * 2);
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[0]);
	CHECK_EQ(a->tx[0].status, MRPC_PRIO_SILENT);
	CHECK(mrpc_prio_peer_event(&a->ep) == &a->peer);
	CHECK_EQ(a->peer.status, MRPC_PRIO_SILENT);
	CHECK_EQ(mrpc_prio_deadline(&a->ep), -1LL);
	pair_stop();
}

TEST(prio_cookies)
{
	struct packet hello, first, p;

	pair_start();
	submit(a, 0, 100, 5);
	CHECK(out(a, &hello));
	in(b, &hello);
	in(a, &b->answer);
	CHECK(out(a, &hello));

	/* A wrong one, one of another epoch, one for another token */
	in_changed(b, &hello, 32, hello.buf[32] ^ 1);
	in_changed(b, &hello, 40, hello.buf[40] ^ 1);
	in_changed(b, &hello, 24, hello.buf[24] ^ 1);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_COOKIE), 4);
	CHECK_EQ(b->ep.nr_peers, 0);

	/* Too old */
	now += 20ULL << 30;
	in(b, &hello);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_COOKIE), 5);
	CHECK_EQ(b->ep.nr_peers, 0);

	/* A COOKIE that was not asked for */
	first = b->answer;
	in_changed(a, &first, 8, first.buf[8] ^ 1);
	CHECK_EQ(drops(a, MRPC_PRIO_DROP_TOKEN), 1);
	CHECK(!out(a, &p));
	in(a, &first);
	talk();
	CHECK_EQ(b->completed, 1);
	in(a, &first);
	CHECK_EQ(drops(a, MRPC_PRIO_DROP_STATE), 1);

	/* The HELLO that made the association is good for nothing else. */
	a->there = false;
	mrpc_prio_peer_remove(&a->ep, &a->peer);
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[0]);
	mrpc_prio_peer_add(&a->ep, &a->peer, PAIR_PAYLOAD, now);
	a->there = true;
	submit(a, 1, 100, 5);
	talk();
	CHECK_EQ(b->completed, 2);
	in(b, &hello);
	CHECK_EQ(b->event, MRPC_PRIO_EVENT_ANSWER);
	CHECK_EQ(b->peer.remote, a->peer.local);
	pair_stop();
}

TEST(prio_both_ask)
{
	struct packet p, q;

	pair_start();
	mrpc_prio_peer_add(&b->ep, &b->peer, PAIR_PAYLOAD, now);
	b->there = true;
	submit(a, 0, 100, 5);
	submit(b, 0, 100, 5);
	CHECK(out(a, &p));
	CHECK(out(b, &q));
	in(b, &p);
	in(a, &b->answer);
	in(a, &q);
	in(b, &a->answer);
	talk();
	CHECK_EQ(a->completed + b->completed, 2);
	CHECK_EQ(a->peer.remote, b->peer.local);
	CHECK_EQ(b->peer.remote, a->peer.local);
	pair_stop();
}

/* Settings change while an association is made: what was said to the other end counts. */
TEST(prio_offer_is_kept)
{
	struct mrpc_prio_rule r;
	struct packet p;

	pair_start();
	submit(a, 0, 100, 5);
	CHECK(out(a, &p));
	CHECK_EQ(p.p.budget, 4000);
	in(b, &p);
	in(a, &b->answer);
	CHECK(out(a, &p));
	in(b, &p);
	r = a->ep.rule;
	r.unscheduled = 1000;
	CHECK_EQ(mrpc_prio_set(&a->ep, &r), 0);
	talk();
	CHECK_EQ(b->peer.budget, 4000);
	CHECK_EQ(a->peer.offered, 4000);
	submit(b, 0, 3000, 5);
	talk();
	CHECK_EQ(a->completed, 1);
	CHECK_EQ(drops(a, MRPC_PRIO_DROP_RANGE), 0);
	pair_stop();
}

/* b has lost its state: what was sent ends, what was not is sent in the next association. */
TEST(prio_restart_is_told)
{
	struct mrpc_prio_rule r = { 0 };
	struct packet p, reset;

	pair_up();
	submit(a, 1, 100, 5);
	CHECK(out(a, &p));
	r = b->ep.rule;
	end_stop(b);
	end_start(b, &r);
	submit(a, 2, 3000, 5);
	in(b, &p);
	CHECK_EQ(b->event, MRPC_PRIO_EVENT_ANSWER);
	reset = b->answer;
	CHECK_EQ(reset.p.type, MRPC_PRIO_RESET);
	CHECK(reset.len <= p.len);
	in_changed(a, &reset, 8, reset.buf[8] ^ 1);
	CHECK_EQ(drops(a, MRPC_PRIO_DROP_TOKEN), 1);
	CHECK(!mrpc_prio_tx_ended(&a->ep));
	in(a, &reset);
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[1]);
	CHECK_EQ(a->tx[1].status, MRPC_PRIO_RESTARTED);
	CHECK(!mrpc_prio_tx_ended(&a->ep));
	CHECK(mrpc_prio_peer_event(&a->ep) == &a->peer);
	CHECK_EQ(a->peer.status, MRPC_PRIO_RESTARTED);
	in(a, &reset);
	CHECK_EQ(drops(a, MRPC_PRIO_DROP_TOKEN), 2);
	talk();
	CHECK_EQ(b->completed, 1);
	CHECK_EQ(b->bytes, 3000);
	pair_stop();
}

/* a has lost its state and asks again: b ends what it had. */
TEST(prio_restart_asks)
{
	struct mrpc_prio_rule r;

	pair_up();
	submit(b, 0, 100, 5);
	r = a->ep.rule;
	end_stop(a);
	end_start(a, &r);
	mrpc_prio_peer_add(&a->ep, &a->peer, PAIR_PAYLOAD, now);
	a->there = true;
	submit(a, 1, 100, 5);
	talk();
	CHECK(mrpc_prio_peer_event(&b->ep) == &b->peer);
	CHECK_EQ(b->peer.status, MRPC_PRIO_RESTARTED);
	CHECK_EQ(b->completed, 1);
	CHECK_EQ(a->completed, 1);	/* the one that had not been sent */
	/* Though b had begun to ask, too. */
	CHECK_EQ(a->peer.budget, b->ep.rule.unscheduled);
	CHECK_EQ(b->peer.budget, a->ep.rule.unscheduled);
	pair_stop();
}

/* Half of the right tokens is not enough. */
TEST(prio_wrong_tokens)
{
	struct packet p, q;

	pair_up();
	submit(a, 1, 100, 5);
	CHECK(out(a, &p));
	in_changed(b, &p, 8, p.buf[8] ^ 1);
	in_changed(b, &p, 20, p.buf[20] ^ 1);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_TOKEN), 2);
	CHECK_EQ(b->ep.nr_rx, 0);
	in(b, &p);
	CHECK_EQ(b->completed, 1);

	/* DATA and CONTROL of a stranger are answered by 24 bytes; else nothing is. */
	end_stop(b);
	end_start(b, &a->ep.rule);
	in(b, &p);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_STRANGER), 1);
	CHECK_EQ(b->answer.len, 24);
	q = b->answer;
	in(b, &q);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_STRANGER), 2);
	CHECK_EQ(b->answer.len, 0);
	pair_stop();
}

TEST(prio_crc_is_agreed_on)
{
	struct mrpc_prio_rule r;
	struct packet p;

	pair_start();
	pair_rule(&r);
	r.crc = true;
	end_stop(b);
	end_start(b, &r);
	submit(a, 0, 100, 5);
	while (out(a, &p) && p.p.type != MRPC_PRIO_DATA) {
		in(b, &p);
		if (b->answer.len)
			in(a, &b->answer);
		flow(b);
	}
	CHECK(p.p.flags & MRPC_PRIO_CRC);
	p.buf[4] &= ~MRPC_PRIO_CRC;
	in(b, &p);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_CRC), 1);
	p.buf[4] |= MRPC_PRIO_CRC;
	in(b, &p);
	CHECK_EQ(b->completed, 1);
	pair_stop();
}

/* An idle association has no timers and sends nothing. */
TEST(prio_idle)
{
	pair_up();
	pass(3600ULL * 1000000000);
	CHECK_EQ(mrpc_prio_deadline(&a->ep), -1LL);
	CHECK_EQ(mrpc_prio_deadline(&b->ep), -1LL);
	CHECK_EQ(talk(), 0);
	submit(b, 1, 3000, 5);
	talk();
	CHECK_EQ(a->completed, 1);
	pair_stop();
}

/* A peer that falls silent is given up in bounded time, from either side. */
TEST(prio_silence)
{
	struct packet p;
	u64 start;

	pair_up();
	submit(a, 1, 100000, 5);
	flow(a);		/* unscheduled bytes come, then the path is dead */
	start = now;
	while (a->ep.nr_tx || b->ep.nr_rx) {
		u64 next = min(mrpc_prio_deadline(&a->ep), mrpc_prio_deadline(&b->ep));

		CHECK(next != U64_MAX);
		pass(max(next, now) - now);
		while (out(a, &p) || out(b, &p))
			;
	}
	CHECK(now - start <= 2 * a->ep.rule.silence);
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[1]);
	CHECK_EQ(a->tx[1].status, MRPC_PRIO_SILENT);
	CHECK(mrpc_prio_rx_ended(&b->ep) == &b->rx[0]);
	CHECK_EQ(b->rx[0].status, MRPC_PRIO_SILENT);
	CHECK_EQ(b->ep.outstanding, 0);
	pair_stop();
}

/* What the last association told of time is no word about the next one. */
TEST(prio_times_end_with_it)
{
	struct packet p;
	u32 i;

	pair_up();
	submit(a, 1, 100, 5);
	for (i = 0; i < 2000 && a->peer.state == MRPC_PRIO_PEER_UP; i++) {
		while (out(a, &p))
			;
		pass(10000 * PAIR_US);
	}
	CHECK_EQ(a->peer.status, MRPC_PRIO_SILENT);
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[1]);
	CHECK(!out(a, &p));
	submit(a, 2, 100, 5);
	CHECK(out_control(a, &p));
	CHECK_EQ(p.p.type, MRPC_PRIO_HELLO);
	CHECK(!out(a, &p));
	pass(a->ep.rule.rto_min + PAIR_US);
	CHECK(out_control(a, &p));
	CHECK_EQ(p.p.type, MRPC_PRIO_HELLO);
	pair_stop();
}
