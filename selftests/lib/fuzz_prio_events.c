// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio */
/*
 * The prio transport, hostile events: two endpoints whose packets are lost, repeated and held back,
 * whose messages are aborted and rejected, and which get packets of a host that knows the tokens and
 * follows no rule. Nothing that the endpoints count may be wrong, and no message may come twice.
 */
#include "fuzz.h"
#include "prio_net.h"
#include "prio_net_check.h"

/* The bytes that decide, 0 when they are used up. */
struct input {
	const u8 *at;
	const u8 *end;
};

static u8 next(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

/* A packet of host @from's association, with fuzzed fields. */
static void fuzz_control(struct pnet_net *n, struct input *in, u32 from)
{
	const struct mrpc_prio_peer *peer = &n->host[from].peers[!from].peer;
	struct mrpc_prio_packet p = {
		.type = MRPC_PRIO_CONTROL,
		.flags = MRPC_PRIO_CRC | (next(in) & MRPC_PRIO_ECN),
		.to = peer->remote,
		.from = peer->local,
		.nr = 1 + next(in) % 3,
	};
	u8 buf[PNET_PACKET];
	u32 len = mrpc_prio_encode(&p, buf), i;

	for (i = 0; i < p.nr; i++, len += sizeof(struct mrpc_prio_entry)) {
		u8 scale = next(in);
		struct mrpc_prio_note note = {
			.op = next(in) % (MRPC_PRIO_OP_MAX + 2),
			.msg = (u64)next(in) << (scale & 1 ? 8 : 0),
			.from = next(in) << (scale >> 1 & 15),
			.to = next(in) << (scale >> 3 & 15),
			.code = next(in) % 6,
			.class = next(in) % 9,
		};

		/* These would be believed, as they should: the peer says that it has all. */
		if (note.op == MRPC_PRIO_ACK || note.op == MRPC_PRIO_REFUSE)
			note.msg += 1000;
		mrpc_prio_note_put(&note, buf + len);
	}
	pnet_set_sum(buf, len);
	pnet_inject(n, from, !from, buf, len);
}

static void fuzz_data(struct pnet_net *n, struct input *in, u32 from)
{
	const struct mrpc_prio_peer *peer = &n->host[from].peers[!from].peer;
	struct mrpc_prio_packet p = {
		.type = MRPC_PRIO_DATA,
		.flags = MRPC_PRIO_CRC | (next(in) & (MRPC_PRIO_URGE | MRPC_PRIO_AGAIN)),
		.priority = next(in),
		.to = peer->remote,
		.from = peer->local,
		.conn = 1 + next(in),
		/* Unused numbers: what is known is not to be changed by this. */
		.msg = 900 + ((u64)next(in) << (next(in) & 3)),
		.total = next(in) << (next(in) & 23),
		.offset = next(in) << (next(in) & 15),
		.kind = next(in),
		.behind = 890,
	};
	u8 buf[PNET_PACKET] = { 0 };
	u32 len;

	/* Refused: it is of no connection that there is. */
	p.conn = 1000 + next(in);
	p.unscheduled = next(in) & 1 ? p.total : next(in);
	len = mrpc_prio_encode(&p, buf) + next(in) * 5;
	pnet_set_sum(buf, len);
	pnet_inject(n, from, !from, buf, len);
}

static void fuzz_action(struct pnet_net *n, struct input *in)
{
	u32 host = next(in) & 1, what = next(in) % 12;
	struct pnet_msg *m = n->nr_msgs ? n->msgs[next(in) % n->nr_msgs] : NULL;
	struct pnet_peer *peer = &n->host[host].peers[!host];

	switch (what) {
	case 0:
	case 1:
	case 2:
		if (n->nr_msgs < 20)
			pnet_send(n, host, !host, next(in) << (next(in) % 7), next(in),
				  next(in) & 1);
		break;
	case 3:
		if (m)
			pnet_abort(n, m);
		break;
	case 4:
		if (n->all_rx)
			pnet_reject(n, n->all_rx);
		break;
	case 5:
		n->faults.loss = next(in) * 39;
		n->faults.dup = next(in) * 20;
		break;
	case 6:
		n->faults.jitter = next(in) << 11;
		n->faults.defer = next(in) * 39;
		break;
	case 7:
		pnet_restart(n, host);
		break;
	case 8:
		if (peer->there)
			mrpc_prio_peer_payload(&peer->peer, 100 + next(in) * 5);
		break;
	case 9:
		fuzz_data(n, in, host);
		break;
	default:
		fuzz_control(n, in, host);
	}
	pnet_pump(n, 0);
	pnet_pump(n, 1);
	pnet_run(n, n->now + ((u64)next(in) << 12));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct input in = { data, data + len };
	static struct pnet_net net;
	struct mrpc_prio_rule rule;
	u32 i;

	mrpc_prio_rule_default(&rule);
	rule.chunk = 1000 + next(&in) * 64;
	rule.step = 1 + next(&in) * 50;
	rule.window = rule.step + next(&in) * 100;
	rule.outstanding = rule.window + rule.chunk;
	rule.unscheduled = next(&in) * 100;
	rule.order = next(&in) % MRPC_PRIO_NR_ORDERS;
	rule.max_rx = 1 + next(&in);
	rule.crc = true;
	rule.silence = 100000000;
	pnet_init(&net, 2, next(&in), &rule);
	net.hostile = true;
	for (i = 0; in.at < in.end && i < 60; i++) {
		fuzz_action(&net, &in);
		pnet_check(&net);
		check(!net.wrong[0], net.wrong);
	}
	net.faults = (struct pnet_faults){ .jitter = 1 };
	pnet_pump(&net, 0);
	pnet_pump(&net, 1);
	pnet_run(&net, net.now + 100000000000ULL);
	pnet_check(&net);
	check(!net.wrong[0], net.wrong);
	pnet_fini(&net);
	check(!net.wrong[0], net.wrong);
	return 0;
}
