// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/client kmod/call/server kmod/lib/message/calltable */
/*
 * Calls over prio that end while their requests are being sent. The callers do not wait, and
 * their blocks come back at once. Nothing more of the requests is sent. The server never runs a
 * request of which it has a part. The slots are free again.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "lib/message/feature.h"
#include "gen.h"
#include "hosts.h"
#include "lo.h"
#include "operator.h"
#include "peer.h"
#include "prio_tells.h"
#include "stranger.h"

#define LARGE	(4 << 20)
#define WAIT	(10 * RAW_S)

static struct raw_pair p;
static struct raw_qp qp;

static void bend(const char *qdisc)
{
	if (!lo_bend(qdisc))
		SKIP("there is no '%s' here", qdisc);
}

/* Begins with a limit of @calls calls at a time. */
static void begin(const char *qdisc, const char *calls)
{
	op_del_all();
	op_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);	/* left by a failed test */
	bend(qdisc);
	CHECK(raw_file_write(RAW_KNOBS "max_calls", calls));
	raw_server_open(&p.srv, 8 << 20, 32 << 20);
	raw_open(&p.c, 32 << 20, 32 << 20);
	raw_pair_start(&p, "prio", 1);
	CHECK(raw_file_write(RAW_KNOBS "max_calls", "256"));
	raw_qp(&qp, &p.c, 64, 256, 0);
}

static void end(void)
{
	raw_pair_end(&p);
	CHECK(raw_sessions(0, 10000));
}

static struct mrpc_sqe request(uint64_t tag, uint32_t len, uint64_t timeout_us)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ACK, raw_blob(&p.c, tag, len, NULL));

	sqe.user_data = tag;
	sqe.timeout_us = timeout_us;
	return sqe;
}

static void start(const struct mrpc_sqe *sqe)
{
	CHECK(raw_push(&qp, sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
}

static void cancel(uint64_t tag)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_CANCEL, .conn = p.conn, .call = tag };

	start(&sqe);
}

/* A call completes once, and its blocks come back, long before a peer counts as silent. */
static void completes(uint64_t tag, uint32_t status)
{
	uint64_t until = raw_now() + 300 * RAW_MS * raw_patience();

	raw_ends(&qp, tag, status, WAIT);
	CHECK_MSG(raw_now() < until, "%llu ms late",
		  (unsigned long long)((raw_now() - until) / RAW_MS));
}

/* The connection works, and a slot is free, possibly after a while. */
static void works(void)
{
	uint64_t until = raw_now() + WAIT * raw_patience();
	struct mrpc_cqe cqe;

	do {
		struct mrpc_sqe sqe = request(999, 100, 0);

		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		raw_done(&p.c, &cqe);
		raw_free(&p.c, sqe.root);
		CHECK_MSG(raw_now() < until, "the slot does not come back: status %u", cqe.status);
	} while (cqe.status == MRPC_RESOURCE_EXHAUSTED);
	CHECK_EQ(cqe.status, MRPC_OK);
}

/* The server has run @nr requests and no others. */
static void has_run(uint64_t nr)
{
	CHECK(raw_server_calls(&p.srv, 0, 10000));
	CHECK_EQ(raw_server_requests(&p.srv), nr);
}

/* Neither end has a message left. */
static void nothing_left(void)
{
	CHECK(gauge_becomes("messages_out", 0, 5000));
	CHECK(gauge_becomes("messages_in", 0, 5000));
	CHECK(gauge_becomes("staged", 0, 5000));
	CHECK(gauge_becomes("outstanding", 0, 5000));
}

/* Bytes that leave lo in half a second. */
static uint64_t leaves_lo(const char *kind)
{
	uint64_t before = host_queue(getpid(), "lo", kind).bytes;

	raw_sleep(500 * RAW_MS);
	return host_queue(getpid(), "lo", kind).bytes - before;
}

/* -- a peer that is dead --------------------------------------------------------------------- */

static void sync_late(uint32_t len, uint64_t timeout_us)
{
	struct mrpc_sqe sqe = request(1, len, timeout_us);
	uint64_t before = raw_now(), ns;
	struct mrpc_cqe cqe;

	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	ns = raw_now() - before;
	CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
	CHECK(cqe.flags & MRPC_CQE_FREED);
	CHECK_MSG(ns + RAW_MS >= timeout_us * 1000 &&
		  ns < timeout_us * 1000 + 300 * RAW_MS * raw_patience(),
		  "%u bytes: it took %llu ms", len, (unsigned long long)(ns / RAW_MS));
	raw_done(&p.c, &cqe);
	raw_free(&p.c, sqe.root);
}

/* A synchronous call ends at its deadline, however much of it has been sent. */
TEST_LIMIT(dead_sync, 120)
{
	begin("netem limit 10000 delay 0", "64");
	works();
	bend("netem limit 10000 loss 100%");
	sync_late(100, 200000);
	sync_late(20000, 200000);	/* all of it is sent at once */
	sync_late(LARGE, 200000);	/* waits for grants */
	sync_late(20000, 1000);
	bend("netem limit 10000 delay 0");
	works();
	works();
	has_run(3);
	nothing_left();
	end();
}

static void nothing(int sig)
{
	(void)sig;
}

/* The same after a signal. */
TEST_LIMIT(dead_signal, 120)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	uint64_t before, ns;

	begin("netem limit 10000 delay 0", "64");
	bend("netem limit 10000 loss 100%");
	CHECK_SYS(sigaction(SIGALRM, &sa, NULL));
	sqe = request(1, 20000, 0);
	before = raw_now();
	alarm(1);
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), -EINTR);
	ns = raw_now() - before;
	CHECK_MSG(ns < RAW_S + 300 * RAW_MS * raw_patience(), "it took %llu ms",
		  (unsigned long long)(ns / RAW_MS));
	bend("netem limit 10000 delay 0");
	works();
	has_run(1);
	end();
}

/* The same with a queue pair: the blocks come back at once. */
TEST_LIMIT(dead_ring, 120)
{
	struct mrpc_sqe sqe;
	unsigned int i;

	begin("netem limit 10000 delay 0", "64");
	bend("netem limit 10000 loss 100%");
	for (i = 0; i < 4; i++) {
		sqe = request(1, i % 2 ? LARGE : 20000, i / 2 ? 0 : 100000);
		start(&sqe);
		if (i / 2) {
			raw_sleep(20 * RAW_MS);
			cancel(1);
		} else {
			raw_sleep(100 * RAW_MS);
		}
		completes(1, i / 2 ? MRPC_CANCELLED : MRPC_DEADLINE_EXCEEDED);
		raw_free(&p.c, sqe.root);
	}
	bend("netem limit 10000 delay 0");
	works();
	has_run(1);
	nothing_left();
	end();
}

/* -- a line that is slow ---------------------------------------------------------------------- */

#define SLOW	"tbf rate 8mbit burst 20000 limit 4m"

/* The line is free as soon as the message on it is given up. */
TEST_LIMIT(line_is_free, 120)
{
	struct mrpc_sqe sqe;
	uint64_t busy, idle;

	begin(SLOW, "1");
	sqe = request(1, LARGE, 0);
	start(&sqe);
	busy = leaves_lo("tbf");
	cancel(1);
	completes(1, MRPC_CANCELLED);
	works();
	idle = leaves_lo("tbf");
	NOTE("%llu bytes leave while it is sent, %llu when it has been given up",
	     (unsigned long long)busy, (unsigned long long)idle);
	CHECK(busy > 100000);
	CHECK(idle < busy / 4);
	has_run(1);
	nothing_left();
	end();
}

/* The same in an egress domain, where the message may just have its turn. */
TEST_LIMIT(line_is_free_domain, 120)
{
	struct mrpc_sqe sqe;
	unsigned int i;

	begin("netem limit 10000 delay 0", "1");
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "rate=1000000");
	for (i = 0; i < 20; i++) {
		sqe = request(1, LARGE, 0);
		start(&sqe);
		raw_sleep(i * 5 * RAW_MS);
		cancel(1);
		completes(1, MRPC_CANCELLED);
		raw_free(&p.c, sqe.root);
		works();
	}
	CHECK(leaves_lo("netem") < 100000);
	has_run(20);
	nothing_left();
	op_must_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
	end();
}

/* A paused domain grants no turns. A call that waits there ends at once, and is never sent. */
TEST_LIMIT(domain_is_paused, 120)
{
	struct mrpc_sqe sqe;

	begin("netem limit 10000 delay 0", "2");
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "paused=1");
	sqe = request(1, LARGE, 100000);
	start(&sqe);
	completes(1, MRPC_DEADLINE_EXCEEDED);
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "paused=0");
	works();
	has_run(1);
	nothing_left();
	op_must_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
	end();
}

/* -- the part that the server has ------------------------------------------------------------- */

static void queued(unsigned int nr)
{
	uint64_t until = raw_now() + WAIT * raw_patience();

	while (op_dir("null", true, MRPC_A_ENGINE_DIR_QUEUED) != nr) {
		CHECK_MSG(raw_now() < until, "%lld rpcs are queued, not %u",
			  (long long)op_dir("null", true, MRPC_A_ENGINE_DIR_QUEUED), nr);
		raw_sleep(RAW_MS);
	}
}

/* The head of the request is in the server's engines while its bytes still come. */
TEST_LIMIT(among_engines, 120)
{
	struct mrpc_sqe sqe;

	begin(SLOW, "1");
	op_must_add("null", "side=server", NULL);
	CHECK_EQ(op_pause("null", 2, true), 0);
	sqe = request(1, LARGE, 0);
	start(&sqe);
	queued(1);
	cancel(1);
	completes(1, MRPC_CANCELLED);
	queued(0);
	CHECK_EQ(op_pause("null", 2, false), 0);
	works();
	has_run(1);
	nothing_left();
	CHECK(!raw_visible(&p.srv.s, 1));
	op_must_del("null");
	end();
}

/* An engine delays the request. After that the request goes to no application. */
TEST_LIMIT(kept_by_engine, 120)
{
	struct mrpc_sqe sqe;

	begin(SLOW, "1");
	op_must_add("fault", "delay_percent=10000 delay=1000000000 side=server", NULL);
	sqe = request(1, LARGE, 0);
	start(&sqe);
	raw_sleep(300 * RAW_MS);
	cancel(1);
	completes(1, MRPC_CANCELLED);
	works();
	raw_sleep(1500 * RAW_MS);
	has_run(1);
	nothing_left();
	CHECK(!raw_visible(&p.srv.s, 1));
	op_must_del("fault");
	end();
}

/* The blocks of the request in the receive heap come back. */
TEST_LIMIT(heap_comes_back, 120)
{
	struct mrpc_sqe sqe;
	unsigned int i;

	begin(SLOW, "1");
	for (i = 0; i < 30; i++) {
		sqe = request(1, LARGE, 0);
		start(&sqe);
		raw_sleep(30 * RAW_MS);
		cancel(1);
		completes(1, MRPC_CANCELLED);
		raw_free(&p.c, sqe.root);
		works();
	}
	has_run(30);
	nothing_left();
	CHECK(!raw_visible(&p.srv.s, 1));
	end();
}

/* -- replies ------------------------------------------------------------------------------------- */

/* The reply is on its way. The rest of it is not sent, and the server's blocks come back. */
static void reply_comes(unsigned int nr)
{
	struct mrpc_sqe sqe = request(LARGE, 10, 0);
	unsigned int i;

	sqe.method = RAW_MAKE;
	for (i = 1; i <= nr; i++) {
		start(&sqe);
		CHECK(leaves_lo("tbf") > 50000);
		cancel(LARGE);
		completes(LARGE, MRPC_CANCELLED);
		works();
		CHECK(leaves_lo("tbf") < 50000);
		CHECK(raw_server_idle(&p.srv, 100));
		has_run(2 * i);
	}
	nothing_left();
}

TEST_LIMIT(reply_comes_not, 120)
{
	begin(SLOW, "1");
	reply_comes(3);
	end();
}

/* The head of the reply is in the client's engines. */
TEST_LIMIT(reply_among_engines, 120)
{
	struct mrpc_sqe sqe;

	begin(SLOW, "1");
	op_must_add("null", "side=client", NULL);
	reply_comes(1);
	CHECK_EQ(op_pause("null", 2, true), 0);
	sqe = request(LARGE, 10, 0);
	sqe.method = RAW_MAKE;
	start(&sqe);
	queued(1);
	cancel(LARGE);
	completes(LARGE, MRPC_CANCELLED);
	queued(0);
	CHECK_EQ(op_pause("null", 2, false), 0);
	works();
	nothing_left();
	op_must_del("null");
	end();
}

/* -- calls overtaken by their CANCELs --------------------------------------------------------- */

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

/* -- at any moment -------------------------------------------------------------------------------- */

static const uint32_t sizes[] = { 100, 2000, 20000, 100000, 1000000 };

static uint32_t size_of(uint64_t tag)
{
	return tag == 999 ? 100 : sizes[tag % 5];
}

/* The bytes of each request that the server runs belong to its tag. */
static void is_whole(const struct mrpc_cqe *cqe, const void *msg)
{
	const struct test_Blob *blob = msg;

	if (!raw_is_blob(msg, cqe->msg_len, blob->tag, size_of(blob->tag)))
		raw_die("the server runs a request whose content is another's");
}

/*
 * Requests of all sizes are given up at random moments. Their blocks are used again as soon as
 * they come back. The line loses, repeats and reorders packets.
 */
TEST_LIMIT(at_any_moment, 300)
{
	struct gen g = gen_seeded(1);
	unsigned int i, ok = 0;
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;

	begin("netem limit 10000 delay 2ms 1ms loss 3% duplicate 3% reorder 10%", "4");
	p.srv.seen = is_whole;
	for (i = 1; i <= 150; i++) {
		bool freed = false, done = false;

		sqe = request(i, size_of(i), gen_below(&g, 3) ? 0 : 1 + gen_below(&g, 30000));
		start(&sqe);
		raw_sleep(gen_below(&g, 30) * RAW_MS);
		cancel(i);
		while (!done || !freed) {
			CHECK_MSG(raw_next(&qp, &cqe, WAIT), "%u: done %d, freed %d", i, done, freed);
			if (cqe.type == MRPC_CQE_ERROR) {	/* it had already ended */
				CHECK_EQ(cqe.status, MRPC_NOT_FOUND);
				continue;
			}
			CHECK_EQ(cqe.user_data, i);
			if (cqe.type == MRPC_CQE_REPLY) {
				CHECK(!done);
				done = true;
				ok += cqe.status == MRPC_OK;
				CHECK(cqe.status == MRPC_OK || cqe.status == MRPC_CANCELLED ||
				      cqe.status == MRPC_DEADLINE_EXCEEDED);
				raw_done(&p.c, &cqe);
			}
			if (cqe.type == MRPC_CQE_SENT || cqe.flags & MRPC_CQE_FREED) {
				CHECK(!freed);
				freed = true;
			}
		}
		memset(p.c.send + sqe.root, 0xee, raw_blob_size(size_of(i), NULL));
		raw_free(&p.c, sqe.root);
		works();
	}
	NOTE("%u of 150 were answered", ok);
	nothing_left();
	end();
}
