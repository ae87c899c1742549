// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/server kmod/lib/message/calltable */
/*
 * Calls over prio that their CANCELs overtake: the server answers a CANCEL whose call has not come,
 * and does not run the call when it comes.
 */
#include <string.h>

#include "tap.h"
#include "lib/message/feature.h"
#include "peer.h"
#include "prio_calls.h"
#include "stranger.h"

#define EACH	1000U		/* bytes of a message in a datagram */
#define LOOKED_AT	100000U	/* bytes of a message received when it is examined */
#define SLOT	3
#define NEVER	777		/* tag of a call that must not run */

static struct stranger s;
static struct stranger_train train;
static u8 message[sizeof(struct mrpc_wire_hdr) + 101000], datagram[1 << 16];
static u64 sequence;		/* of the last call in SLOT */

/* Replies that the stranger has got. */
static struct {
	u64 msg;
	u64 id;
	u16 status;
} replies[64];
static unsigned int nr_replies;

static void never(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)cqe;
	if (((const struct test_Blob *)msg)->tag == NEVER)
		raw_die("the server runs a call that was answered before it came");
}

/* Handles a packet of a reply. All of the reply is in one packet. */
static void hear_data(const struct mrpc_prio_packet *packet, const u8 *payload)
{
	const struct mrpc_prio_note ack = { .op = MRPC_PRIO_ACK, .msg = packet->msg };
	struct mrpc_wire_hdr hdr;
	struct mrpc_frame f;
	const char *why;
	unsigned int i;

	if (packet->len < sizeof(hdr))
		return;
	stranger_say(&s, &ack);
	memcpy(&hdr, payload, sizeof(hdr));
	CHECK_EQ(mrpc_wire_decode(&hdr, MRPC_MAX_MESSAGE, &f, &why), 0);
	for (i = 0; i < nr_replies && replies[i].msg != packet->msg; i++)
		;
	if (f.type != MRPC_WIRE_REPLY || i < nr_replies)
		return;
	CHECK(nr_replies < ARRAY_SIZE(replies));
	replies[nr_replies].msg = packet->msg;
	replies[nr_replies].id = f.call_id;
	replies[nr_replies++].status = f.status;
}

/* Answers as a live peer, and aborts messages that are refused. */
static void hear_control(const struct mrpc_prio_packet *packet)
{
	struct mrpc_prio_note note, answer = { 0 };
	unsigned int i;

	for (i = 0; i < packet->nr; i++) {
		mrpc_prio_note_get(packet, i, &note);
		if (note.op != MRPC_PRIO_PING && note.op != MRPC_PRIO_REFUSE)
			continue;
		answer.op = note.op == MRPC_PRIO_PING ? MRPC_PRIO_PONG : MRPC_PRIO_ABORT;
		answer.msg = note.msg;
		stranger_say(&s, &answer);
	}
}

/* Handles all packets for the stranger. Return: replies to a call; @status: of the last. */
static unsigned int hear(u64 id, u16 *status)
{
	struct mrpc_prio_packet one;
	unsigned int i, nr = 0;
	ssize_t len, at;
	u32 why;

	while ((len = recv(s.fd, datagram, sizeof(datagram), MSG_DONTWAIT)) >= 0) {
		for (at = 0; at < len; at += one.size) {
			CHECK_EQ(mrpc_prio_parse(datagram + at, len - at, len - at, &one, &why), 0);
			if (one.type == MRPC_PRIO_CONTROL)
				hear_control(&one);
			else if (one.type == MRPC_PRIO_DATA && one.conn == s.conn)
				hear_data(&one, datagram + at + MRPC_PRIO_DATA_HDR);
		}
	}
	for (i = 0; i < nr_replies; i++) {
		if (replies[i].id != id)
			continue;
		*status = replies[i].status;
		nr++;
	}
	return nr;
}

static void is_answered(u64 id, u16 want)
{
	uint64_t until = raw_now() + WAIT * raw_patience();
	u16 status;

	while (!hear(id, &status)) {
		CHECK_MSG(raw_now() < until, "call %llu in its slot is not answered",
			  (unsigned long long)id >> 16);
		raw_sleep(RAW_MS);
	}
	CHECK_EQ(status, want);
}

/* Bytes [@from, @to) of the message. */
static void send_part(struct mrpc_prio_packet one, u32 from, u32 to)
{
	while (from < to) {
		stranger_train(&train, MRPC_PRIO_DATA_HDR + EACH);
		one.offset = from;
		one.len = min(EACH, to - from);
		stranger_put(&train, &one, message);
		stranger_send(&s, &train, true);
		from += one.len;
	}
}

/* Sends a call, first the bytes from @first on, then those before. */
static void send_call(u64 id, u64 tag, u32 len, u32 first)
{
	struct mrpc_prio_packet one;
	struct mrpc_msg_len lens;
	struct mrpc_wire_hdr hdr;
	struct mrpc_frame f;
	u32 total;

	total = sizeof(hdr) + peer_blob(message + sizeof(hdr), &lens, tag, len, NULL);
	f = peer_call_frame(id, RAW_ACK, &lens);
	mrpc_wire_encode(&f, &hdr);
	memcpy(message, &hdr, sizeof(hdr));
	one = stranger_message(&s, MRPC_PRIO_REQUEST, total, EACH);
	send_part(one, first, total);
	send_part(one, 0, first);
}

static void send_cancel(u64 id)
{
	const struct mrpc_frame f = { .type = MRPC_WIRE_CANCEL, .call_id = id };
	struct mrpc_wire_hdr hdr;

	mrpc_wire_encode(&f, &hdr);
	memcpy(message, &hdr, sizeof(hdr));
	send_part(stranger_message(&s, MRPC_PRIO_OTHER, sizeof(hdr), sizeof(hdr)), 0, sizeof(hdr));
}

static u64 next_id(void)
{
	return ++sequence << 16 | SLOT;
}

/* The connection works: the next call in the slot is run and answered. */
static void next_is_run(void)
{
	u64 id = next_id();

	send_call(id, 1, 100, 0);
	is_answered(id, MRPC_OK);
}

static void stranger_comes(void)
{
	begin("netem limit 10000 delay 0", "64");
	p.srv.seen = never;
	nr_replies = 0;
	stranger_new(&s, AF_INET, p.srv.s.port);
	s.features = MRPC_FEATURE_ABORT;
	stranger_meet(&s);
}

/* The stranger leaves. The server has run @nr calls of it. */
static void stranger_goes(unsigned int nr)
{
	works();
	has_run(nr + 1);
	stranger_leave(&s);
	nothing_left();
	end();
}

static void overtaken(u32 len, u32 first)
{
	u64 id = next_id();
	u16 status;

	send_cancel(id);
	is_answered(id, MRPC_CANCELLED);
	send_call(id, NEVER, len, first);
	next_is_run();
	/* Sends the call once more, as a new message. By now another call uses the slot. */
	send_call(id, NEVER, len, first);
	next_is_run();
	raw_sleep(100 * RAW_MS);
	CHECK_EQ(hear(id, &status), 1);
}

/* A call that has already been answered is dropped when it comes. The connection goes on. */
TEST_LIMIT(cancel_overtakes, 120)
{
	static const struct {
		u32 len;
		u32 first;
	} of[] = { { 100, 0 }, { 100000, 0 }, { 60000, 30000 }, { 0, 0 } };
	unsigned int i;

	stranger_comes();
	for (i = 0; i < ARRAY_SIZE(of); i++) {
		NOTE("%u bytes, from %u on", of[i].len, of[i].first);
		overtaken(of[i].len, of[i].first);
	}
	CHECK_EQ(nr_replies, 3 * ARRAY_SIZE(of));
	stranger_goes(2 * ARRAY_SIZE(of));
}

/* The call is too large, which is known before all of it has come. */
TEST_LIMIT(cancel_overtakes_too_big, 120)
{
	const struct mrpc_msg_len lens = {
		.structs = sizeof(struct test_Blob), .text = MRPC_MAX_HEAD,
	};
	struct mrpc_frame f = peer_call_frame(0, RAW_ACK, &lens);
	struct mrpc_prio_packet one;
	struct mrpc_wire_hdr hdr;
	unsigned int i;
	u16 status;

	stranger_comes();
	for (i = 0; i < 2; i++) {
		f.call_id = next_id();
		if (i) {
			send_cancel(f.call_id);
			is_answered(f.call_id, MRPC_CANCELLED);
		}
		mrpc_wire_encode(&f, &hdr);
		memcpy(message, &hdr, sizeof(hdr));
		one = stranger_message(&s, MRPC_PRIO_REQUEST, sizeof(hdr) + mrpc_msg_total(&lens),
				       EACH);
		one.unscheduled = LOOKED_AT;
		send_part(one, 0, LOOKED_AT);
		if (!i)
			is_answered(f.call_id, MRPC_RESOURCE_EXHAUSTED);
		next_is_run();
	}
	raw_sleep(100 * RAW_MS);
	CHECK_EQ(hear(f.call_id, &status), 1);
	stranger_goes(2);
}
