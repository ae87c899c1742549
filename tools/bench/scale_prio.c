// SPDX-License-Identifier: GPL-2.0
/*
 * An endpoint of the prio transport and its peers, one for each entry, as far as it is in kmod/lib:
 * the kernel's hash table, which finds a packet's peer, is not. The benchmark makes the packets of
 * the peers itself.
 */
#include "lib/prio/prio.h"
#include "prio_hear.h"
#include "scale.h"
#include "../../selftests/lib/prio_malloc.h"

#define BUCKETS	8192	/* as in prio_port.c */
#define SMALL	64	/* bytes of a call's messages */
#define LARGE	(4 * MRPC_PRIO_CHUNK)
#define TURN_NS	10000

static struct mrpc_prio ep;
static struct mrpc_order_link hash[BUCKETS];
static u64 now;

static struct scale_peer {
	struct mrpc_prio_peer peer;
	struct mrpc_prio_rx rx;
	struct mrpc_prio_tx tx;
	struct scale_peer *next;	/* of those that may send */
	u64 msg;
	bool granted;
} *peers, *first, **last;

/* -- what the peers send ----------------------------------------------------------- */

/* Bytes of the message of @s. Return: all of it is here */
static bool data_in(struct scale_peer *s, u32 total, u32 unscheduled, u32 offset, u32 len)
{
	struct mrpc_prio_packet p = {
		.type = MRPC_PRIO_DATA,
		.kind = MRPC_PRIO_REQUEST,
		.to = s->peer.local,
		.from = s->peer.remote,
		.conn = 1,
		.msg = s->msg,
		.behind = s->msg > 1,
		.total = total,
		.unscheduled = unscheduled,
		.offset = offset,
		.len = len,
	};
	struct mrpc_prio_event ev;

	mrpc_prio_receive(&ep, &s->peer, "", 0, &p, false, now, &ev);
	if (ev.type == MRPC_PRIO_EVENT_MESSAGE)
		mrpc_prio_accept(&ep, &s->peer, &s->rx, &p, U32_MAX, now, &ev);
	return ev.type == MRPC_PRIO_EVENT_DATA && mrpc_prio_taken(&ep, &ev, now);
}

/* -- what is sent to them ---------------------------------------------------------- */

static bool may_send(const struct scale_peer *s)
{
	return s->rx.granted > s->rx.next;
}

static void line_up(struct scale_peer *s)
{
	s->granted = true;
	s->next = NULL;
	*last = s;
	last = &s->next;
}

/* Each control packet with a grant lets its peer send. */
static void controls_out(void)
{
	u8 buf[MRPC_PRIO_MAX_CONTROL * sizeof(struct mrpc_prio_entry) + sizeof(struct mrpc_prio_hdr)];
	struct mrpc_prio_peer *peer;

	while (mrpc_prio_control_next(&ep, now, buf, sizeof(buf), &peer)) {
		struct scale_peer *s = container_of(peer, struct scale_peer, peer);

		if (!s->granted && s->rx.state == MRPC_PRIO_RX_ACTIVE && may_send(s))
			line_up(s);
	}
}

static void submit(struct scale_peer *s, u32 total)
{
	s->tx.conn = 1;
	s->tx.total = total;
	s->tx.kind = MRPC_PRIO_REPLY;
	expect(!mrpc_prio_submit(&ep, &s->peer, &s->tx, now));
}

/* The next chunk. Return: whose */
static struct scale_peer *chunk_out(void)
{
	struct mrpc_prio_chunk chunk;

	expect(mrpc_prio_tx_next(&ep, now, &chunk));
	mrpc_prio_tx_sent(&ep, &chunk, chunk.len, true, now);
	return container_of(chunk.tx, struct scale_peer, tx);
}

/* -- cases ------------------------------------------------------------------------- */

/* Each peer has sent a step, so that no peer is new. */
static void set_up(u32 n)
{
	struct mrpc_prio_packet hello = { .budget = U32_MAX, .max_total = U32_MAX };
	static const u64 key[2] = { 1, 2 };
	struct mrpc_prio_rule rule;
	struct scale_peer *s;

	mrpc_prio_rule_default(&rule);
	expect(!mrpc_prio_init(&ep, &rule, &prio_malloc_ops, NULL, hash, BUCKETS, key, now));
	peers = scale_alloc(n, sizeof(*peers));
	first = NULL;
	last = &first;
	for (s = peers; s < peers + n; s++) {
		hello.token = s - peers + 1;
		mrpc_prio_welcome(&ep, &s->peer, 1400, &hello, now);
		s->msg++;
		expect(data_in(s, rule.step, rule.step, 0, rule.step) && !s->peer.tardy);
		expect(mrpc_prio_peer_event(&ep) == &s->peer);
	}
	controls_out();
}

/* A request, its reply, and the acknowledgement. */
static void calls_turn(u32 i, u32 r)
{
	struct scale_peer *s = &peers[i];

	(void)r;
	now += TURN_NS;
	while (mrpc_prio_timeout(&ep, now))
		;
	s->msg++;
	expect(data_in(s, SMALL, SMALL, 0, SMALL));
	submit(s, SMALL);
	expect(chunk_out() == s);
	prio_hear(&ep, &s->tx, MRPC_PRIO_ACK, now);
	expect(mrpc_prio_tx_ended(&ep) == &s->tx);
	controls_out();
}

static void receive_set_up(u32 n)
{
	struct scale_peer *s;

	set_up(n);
	for (s = peers; s < peers + n; s++) {
		s->msg++;
		data_in(s, LARGE, 0, 0, 0);
	}
	controls_out();
}

/* A chunk comes from a peer that was granted one, and other peers are granted theirs. */
static void receive_turn(u32 i, u32 r)
{
	struct scale_peer *s = first;
	u32 at = s->rx.next;

	(void)i;
	(void)r;
	now += TURN_NS;
	while (mrpc_prio_timeout(&ep, now))
		;
	if (data_in(s, LARGE, 0, at, min(s->rx.granted - at, MRPC_PRIO_CHUNK))) {
		s->msg++;
		data_in(s, LARGE, 0, 0, 0);
	}
	first = s->next;
	if (!first)
		last = &first;
	s->granted = false;
	if (may_send(s))
		line_up(s);
	controls_out();
}

static void send_set_up(u32 n)
{
	struct scale_peer *s;

	set_up(n);
	for (s = peers; s < peers + n; s++)
		submit(s, LARGE);
}

/* A chunk goes to the next peer, which grants more, or has all; then a new message begins. */
static void send_turn(u32 i, u32 r)
{
	struct scale_peer *s;

	(void)i;
	(void)r;
	now += TURN_NS;
	s = chunk_out();
	if (s->tx.granted < s->tx.total)
		prio_hear(&ep, &s->tx, MRPC_PRIO_GRANT, now);
	if (s->tx.sent < s->tx.total)
		return;
	prio_hear(&ep, &s->tx, MRPC_PRIO_ACK, now);
	expect(mrpc_prio_tx_ended(&ep) == &s->tx);
	submit(s, LARGE);
}

const struct scale_case scale_prio_calls = {
	"prio-calls", set_up, calls_turn, SCALE_FLAT, 38
};
const struct scale_case scale_prio_receive = {
	"prio-receive", receive_set_up, receive_turn, SCALE_FLAT, 14
};
const struct scale_case scale_prio_send = {
	"prio-send", send_set_up, send_turn, SCALE_FLAT, 5
};
