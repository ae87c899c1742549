// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/receive kmod/call/server kmod/exec/pause */
/*
 * A server with a peer that is slow, floods, does not read, or goes away.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "tap.h"
#include "peer.h"
#include "gen.h"
#include "prio_tells.h"

static struct raw_pair p;
static struct peer w;

static void open_both(void)
{
	raw_server_open(&p.srv, 48 << 20, 8 << 20);
	raw_open(&p.c, 1 << 20, 1 << 20);
}

static void begin(uint64_t keepalive_us, uint32_t max_message)
{
	open_both();
	p.srv.keepalive_us = keepalive_us;
	p.srv.max_message = max_message;
	raw_pair_start(&p, "tcp4", 1);
}

TEST(no_handshake)
{
	uint64_t start;

	begin(0, 0);
	peer_connect(&w, p.srv.s.port);
	start = raw_now();
	while (raw_now() - start < 5 * RAW_S)
		raw_pair_alive(&p);
	CHECK(peer_closed(&w, 15000));
	CHECK(raw_now() - start > 8 * RAW_S);
	peer_close(&w);
	raw_pair_end_alone(&p);
}

TEST(byte_by_byte)
{
	u8 bytes[sizeof(struct mrpc_wire_hdr) + 256];
	struct mrpc_msg_len len;
	struct mrpc_frame f;
	u32 size, i;

	begin(0, 0);
	peer_shake(&w, p.srv.s.port);
	size = peer_blob(bytes + sizeof(struct mrpc_wire_hdr), &len, 5, 40, "text");
	f = peer_call_frame(peer_id(&w, 0), RAW_ECHO, &len);
	mrpc_wire_encode(&f, (void *)bytes);
	for (i = 0; i < sizeof(struct mrpc_wire_hdr) + size; i++) {
		CHECK(peer_send(&w, bytes + i, 1));
		raw_sleep(RAW_MS);
		if (i % 50 == 0)
			raw_pair_alive(&p);
	}
	peer_expect(&w, MRPC_WIRE_REPLY);
	CHECK_EQ(w.frame.status, MRPC_OK);
	CHECK(raw_is_blob(w.body, w.body_len, 5, 40));
	peer_echo(&w, 0, 6, 100);
	peer_close(&w);
	raw_pair_end_alone(&p);
}

/* A peer that begins a frame and then sends nothing is given up. */
TEST(never_ends)
{
	static const u32 parts[] = { 1, 63, 64, 80, 88, 100, 3000 };
	u8 bytes[sizeof(struct mrpc_wire_hdr) + 8192];
	struct mrpc_msg_len len;
	struct mrpc_frame f;
	u32 i;

	begin(700000 * raw_scale(), 0);
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		peer_shake(&w, p.srv.s.port);
		peer_blob(bytes + sizeof(struct mrpc_wire_hdr), &len, 5, 8000, NULL);
		f = peer_call_frame(peer_id(&w, 0), RAW_ECHO, &len);
		mrpc_wire_encode(&f, (void *)bytes);
		CHECK(peer_send(&w, bytes, parts[i]));
		CHECK(peer_closed(&w, 5000));
		peer_close(&w);
	}
	CHECK_EQ(raw_server_requests(&p.srv), 0);
	raw_pair_end_alone(&p);
}

/* Sends without waiting. Return: number of sends within @ns. */
static u32 flood(const void *bytes, u32 len, u32 max, uint64_t ns)
{
	uint64_t until = raw_now() + ns;
	u32 part = 0, n = 0;
	ssize_t sent;

	while (n < max && raw_now() < until) {
		sent = send(w.fd, (const u8 *)bytes + part, len - part, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0) {
			CHECK_EQ(errno, EAGAIN);
			raw_sleep(10 * RAW_MS);
			continue;
		}
		part += sent;
		if (part == len) {
			part = 0;
			n++;
		}
	}
	/* Completes a partial send, and reads meanwhile if necessary. */
	while (part) {
		sent = send(w.fd, (const u8 *)bytes + part, len - part, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent > 0)
			part += sent;
		else
			recv(w.fd, w.body, 64, MSG_DONTWAIT);
		if (part == len) {
			part = 0;
			n++;
		}
	}
	return n;
}

/* Thousands of PINGs with answers unread; then all are read. */
TEST_LIMIT(ping_flood, 120)
{
	struct mrpc_wire_hdr hdrs[256];
	long long before;
	u32 n, i;

	begin(0, 0);
	peer_shake(&w, p.srv.s.port);
	for (i = 0; i < ARRAY_SIZE(hdrs); i++) {
		const struct mrpc_frame f = { .type = MRPC_WIRE_PING, .call_id = i };

		mrpc_wire_encode(&f, &hdrs[i]);
	}
	before = raw_meminfo("MemAvailable");
	n = flood(hdrs, sizeof(hdrs), 4000, 5 * RAW_S);
	raw_pair_alive(&p);
	NOTE("%u PINGs went out, %lld MiB are gone", n * 256,
	     (before - raw_meminfo("MemAvailable")) >> 10);
	CHECK(before - raw_meminfo("MemAvailable") < 100 << 10);
	peer_close(&w);

	/* A limited number: the PINGs are answered in order. Of too many, some are dropped. */
	peer_shake(&w, p.srv.s.port);
	for (n = 0; n < 12; n++)
		CHECK(peer_send(&w, hdrs, sizeof(hdrs)));
	CHECK(peer_call(&w, peer_id(&w, 0), RAW_ACK, 1, 10));
	for (n = i = 0;; n++) {
		CHECK_EQ(peer_recv(&w, 10000), 1);
		if (w.frame.type != MRPC_WIRE_PONG)
			break;
		while (i % 256 != w.frame.call_id)
			i++;
		i++;
	}
	CHECK_EQ(w.frame.type, MRPC_WIRE_REPLY);
	CHECK_EQ(w.frame.status, MRPC_OK);
	NOTE("%u PONGs for %u PINGs", n, 12 * 256);
	CHECK(n >= 256 && i <= 12 * 256);
	peer_close(&w);
	raw_pair_end_alone(&p);
}

TEST(cancel_flood)
{
	struct mrpc_wire_hdr hdrs[256];
	u64 id;
	u32 i;

	begin(0, 0);
	peer_shake(&w, p.srv.s.port);
	id = peer_id(&w, 9);
	CHECK(peer_call(&w, id, RAW_HANG, 1, 100));
	CHECK(raw_server_hangs(&p.srv, 1));
	for (i = 0; i < ARRAY_SIZE(hdrs); i++) {
		/* None of them is for the call. */
		const struct mrpc_frame f = {
			.type = MRPC_WIRE_CANCEL, .call_id = (u64)(i / 16 + 2) << 16 | i % 16,
		};

		mrpc_wire_encode(&f, &hdrs[i]);
	}
	for (i = 0; i < 100; i++)
		CHECK(peer_send(&w, hdrs, sizeof(hdrs)));
	peer_echo(&w, 0, 1, 100);
	CHECK(peer_send_control(&w, MRPC_WIRE_CANCEL, id));
	peer_expect(&w, MRPC_WIRE_REPLY);
	CHECK_EQ(w.frame.call_id, id);
	CHECK_EQ(w.frame.status, MRPC_CANCELLED);
	/* A call is cancelled only once. */
	CHECK(peer_send_control(&w, MRPC_WIRE_CANCEL, id));
	peer_echo(&w, 9, 2, 100);
	peer_close(&w);
	raw_pair_end_alone(&p);
}

#define UNREAD_BYTES	(PEER_BUF - 4096)

/* Large unread replies stop only their own connection, and take no memory from others. */
static void unread_replies(uint32_t entries)
{
	u32 i;

	open_both();
	p.srv.entries = entries;
	raw_pair_start(&p, "tcp4", 1);
	peer_shake(&w, p.srv.s.port);
	for (i = 0; i < 30; i++)
		CHECK(peer_call(&w, peer_id(&w, i), RAW_MAKE, UNREAD_BYTES, 0));
	for (i = 0; i < 10; i++)
		raw_pair_alive(&p);
	CHECK(!raw_server_idle(&p.srv, 100));
	peer_reset(&w);
	CHECK(raw_server_idle(&p.srv, 5000));
	raw_pair_end_alone(&p);
}

TEST_LIMIT(unread_replies, 120)
{
	unread_replies(0);
}

TEST_LIMIT(unread_replies_few_entries, 120)
{
	unread_replies(2);
}

#define UNREAD		200000		/* bytes of a reply */
#define UNREAD_CALLS	30
#define STAGED		(8 << 20)	/* memory of a connection for messages without a place */

/*
 * The same over prio, where all clients share an association. One session's application takes
 * nothing from its queue, beside an honest one. Its receive heap has room for few of its replies.
 */
static void unread_replies_prio(uint32_t entries)
{
	static struct raw unread;
	struct mrpc_sqe sqe;
	struct raw_qp qp;
	u64 before;
	u32 i;
	int conn;

	open_both();
	p.srv.entries = entries;
	raw_pair_start(&p, "prio", 1);
	raw_open(&unread, 1 << 20, 1 << 20);
	conn = raw_connect(&unread, p.addr);
	CHECK_MSG(conn > 0, "%s: %s", p.addr, unread.why);
	raw_qp(&qp, &unread, 64, 256, 0);
	for (i = 0; i < UNREAD_CALLS; i++) {
		sqe = raw_sqe(conn, RAW_MAKE, raw_blob(&unread, UNREAD, 0, NULL));
		CHECK(raw_push(&qp, &sqe));
	}
	CHECK(raw_enter(&qp, 0, 0) >= 0);
	before = raw_server_requests(&p.srv);
	for (i = 0; i < 100; i++)
		raw_pair_alive(&p);
		/* Replies without room wait at the sender, in its application's memory. */
	CHECK(!raw_server_idle(&p.srv, 100));
	CHECK(raw_server_requests(&p.srv) >= before + 100);
	NOTE("%lld KiB wait in its receiver's kernel, %u replies in its queue",
	     (long long)gauge("staged") >> 10, raw_ready(&qp));
	CHECK(raw_ready(&qp) > 0 && raw_ready(&qp) < UNREAD_CALLS);
	CHECK(gauge("staged") <= STAGED);
	raw_close(&unread);
	CHECK(raw_server_idle(&p.srv, 5000));
	raw_pair_end_alone(&p);
}

TEST_LIMIT(unread_replies_prio, 120)
{
	unread_replies_prio(0);
}

TEST_LIMIT(unread_replies_few_entries_prio, 120)
{
	unread_replies_prio(2);
}

#define LATE_CALLS	16		/* calls; all their replies exceed what sockets hold */

/* Adds the number of replies whose blocks are free to @sent. */
static void reap_sent(struct raw_qp *sq, u32 *sent)
{
	struct mrpc_cqe cqe;

	while (raw_reap(sq, &cqe)) {
		CHECK_EQ(cqe.type, MRPC_CQE_SENT);
		CHECK_EQ(cqe.status, MRPC_OK);
		CHECK(!(*sent & 1U << cqe.user_data));
		*sent |= 1U << cqe.user_data;
	}
}

/* Answers LATE_CALLS calls with more than the peer takes. Return: number of replies sent. */
static u32 answer_unread(struct raw *srv, struct raw_qp *sq)
{
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	u32 i, sent = 0;

	for (i = 0; i < LATE_CALLS; i++) {
		CHECK(peer_call(&w, peer_id(&w, i), RAW_ECHO, i, 10));
		raw_expect(sq, &cqe, MRPC_CQE_REQUEST, 5 * RAW_S);
		sqe = raw_reply_to(&cqe, MRPC_OK);
		sqe.root = raw_blob(srv, i, UNREAD_BYTES, NULL);
		sqe.user_data = i;
		CHECK(raw_push(sq, &sqe));
		raw_sleep(50 * RAW_MS * raw_scale());
		CHECK_EQ(raw_enter(sq, 0, 0), 0);
		raw_sleep(50 * RAW_MS * raw_scale());
		reap_sent(sq, &sent);
	}
	NOTE("sent: 0x%x", sent);
	CHECK(__builtin_popcount(sent) < LATE_CALLS - 1);
	return sent;
}

/*
 * A peer reads its replies while the server's completion queue is full. The SENTs come when there
 * is room, before another reply is taken. An application that no longer looks never gets them.
 */
static void late_words(bool leaves)
{
	static const struct mrpc_sqe nop = { .op = MRPC_OP_NOP };
	struct pollfd in = { .events = POLLIN };
	struct mrpc_sqe reply;
	struct mrpc_cqe cqe;
	struct raw_qp sq;
	struct raw srv;
	u32 i, sent;

	raw_open(&srv, 48 << 20, 1 << 20);
	raw_qp(&sq, &srv, 8, 16, MRPC_QP_SERVE);
	CHECK(raw_serve(&srv, "tcp:127.0.0.1:0") > 0);
	peer_connect(&w, srv.port);
	peer_hello(&w);
	CHECK_EQ(raw_enter(&sq, 1, 200 * RAW_MS * raw_scale()), -ETIME);
	peer_expect(&w, MRPC_WIRE_HELLO_ACK);
	sent = answer_unread(&srv, &sq);
	CHECK(peer_call(&w, peer_id(&w, LATE_CALLS), RAW_ECHO, 1, 10));
	raw_expect(&sq, &cqe, MRPC_CQE_REQUEST, 5 * RAW_S);
	reply = raw_reply_to(&cqe, MRPC_NOT_FOUND);
	reply.flags = MRPC_SQE_COPY;
	for (i = 0; i < 16; i++) {
		CHECK(raw_push(&sq, &nop));
		CHECK_EQ(raw_enter(&sq, 0, 0), 0);
	}
	CHECK_EQ(raw_ready(&sq), 16);
	CHECK(!(sq.head->flags & MRPC_QP_PENDING));
	for (i = 0; i < LATE_CALLS; i++) {
		peer_expect(&w, MRPC_WIRE_REPLY);
		CHECK(raw_is_blob(w.body, w.body_len, i, UNREAD_BYTES));
	}
	raw_sleep(300 * RAW_MS * raw_scale());
	CHECK_EQ(raw_ready(&sq), 16);
	CHECK(sq.head->flags & MRPC_QP_PENDING);
	raw_expect(&sq, &cqe, MRPC_CQE_NOP, RAW_S);
	CHECK(raw_push(&sq, &reply));
	CHECK_EQ(raw_enter(&sq, 0, 0), 0);
	CHECK_EQ(sq.submitted, 0);
	CHECK_EQ(raw_ready(&sq), 16);
	if (!leaves) {
		for (i = 1; i < 16; i++)
			raw_expect(&sq, &cqe, MRPC_CQE_NOP, RAW_S);
		reap_sent(&sq, &sent);
		in.fd = srv.fd;
		CHECK_EQ(poll(&in, 1, 0), 1);
		CHECK_EQ(raw_enter(&sq, LATE_CALLS - __builtin_popcount(sent), 5 * RAW_S), 0);
		reap_sent(&sq, &sent);
		CHECK_EQ(sent, (1U << LATE_CALLS) - 1);
		peer_expect(&w, MRPC_WIRE_REPLY);
		CHECK_EQ(w.frame.status, MRPC_NOT_FOUND);
		CHECK(!(sq.head->flags & MRPC_QP_PENDING));
	}
	raw_close(&srv);
	peer_close(&w);
	CHECK(raw_sessions(0, 5000));
}

TEST_LIMIT(sent_late, 60)
{
	late_words(false);
}

TEST_LIMIT(sent_too_late, 60)
{
	late_words(true);
}

/* FIN and RST after each number of bytes of a conversation. */
TEST_LIMIT(gone, 180)
{
	u8 bytes[2 * 1024 + 8192] = { 0 };
	struct mrpc_frame f = { .type = MRPC_WIRE_HELLO };
	struct mrpc_msg_len len;
	u32 size, hello, i, rst;

	begin(0, 0);
	f.meta_len = peer_hello_body(bytes + sizeof(struct mrpc_wire_hdr));
	mrpc_wire_encode(&f, (void *)bytes);
	hello = sizeof(struct mrpc_wire_hdr) + ALIGN(f.meta_len, 8);
	size = hello + sizeof(struct mrpc_wire_hdr) +
	       peer_blob(bytes + hello + sizeof(struct mrpc_wire_hdr), &len, 1, 6000, "text");
	f = peer_call_frame(1 << 16, RAW_HANG, &len);
	mrpc_wire_encode(&f, (void *)(bytes + hello));
	for (i = 0; i <= size; i += i < hello + 128 ? 13 : 1301) {
		for (rst = 0; rst < 2; rst++) {
			peer_connect(&w, p.srv.s.port);
			CHECK(peer_send(&w, bytes, i));
			if (i % 2)
				raw_sleep(RAW_MS);
			if (rst)
				peer_reset(&w);
			else
				peer_close(&w);
		}
	}
	/* The peer goes when the request is served, or the reply is on its way. */
	for (i = 0; i < 6; i++) {
		peer_shake(&w, p.srv.s.port);
		CHECK(peer_call(&w, peer_id(&w, 0), i % 3 ? RAW_MAKE : RAW_HANG, 900000, 10));
		if (i % 3 == 2)
			peer_recv(&w, 5000);
		raw_sleep(20 * RAW_MS);
		if (i < 3)
			peer_close(&w);
		else
			peer_reset(&w);
	}
	CHECK(raw_server_idle(&p.srv, 10000));
	raw_pair_end_alone(&p);
}

/* A server ends without closing. An idle connection ends in order. */
static void left(bool busy)
{
	begin(0, 0);
	peer_shake(&w, p.srv.s.port);
	peer_echo(&w, 0, 1, 100);
	if (busy)
		CHECK(peer_call(&w, peer_id(&w, 0), RAW_HANG, 1, 10));
	raw_sleep(300 * RAW_MS);	/* until all is acknowledged */
	raw_pair_end(&p);
	CHECK_EQ(peer_end(&w), busy ? ECONNRESET : 0);
	peer_close(&w);
}

TEST(left_idle)
{
	left(false);
}

TEST(left_busy)
{
	left(true);
}

/* Valid conversations with some bytes changed, sent in random pieces. */
TEST_LIMIT(mutations, 180)
{
	uint64_t until = raw_now() + 20 * RAW_S;
	struct gen g = gen_seeded(raw_now());
	u8 *bytes = malloc(1 << 20);
	u32 rounds = 0, hello, i, n, at;

	NOTE("seed %llu", (unsigned long long)g.state);
	begin(0, 1 << 20);
	while (raw_now() < until) {
		struct mrpc_frame f = { .type = MRPC_WIRE_HELLO };
		struct mrpc_msg_len len;
		u32 size;

		memset(bytes, 0, 4096);
		f.meta_len = peer_hello_body(bytes + sizeof(struct mrpc_wire_hdr));
		mrpc_wire_encode(&f, (void *)bytes);
		hello = sizeof(struct mrpc_wire_hdr) + ALIGN(f.meta_len, 8);
		size = hello;
		n = 1 + gen_below(&g, 6);
		for (i = 0; i < n; i++) {
			f = (struct mrpc_frame){ .type = MRPC_WIRE_CANCEL + gen_below(&g, 4) };
			at = size + sizeof(struct mrpc_wire_hdr);
			len = (struct mrpc_msg_len){ 0 };
			if (gen_chance(&g, 75)) {
				at += peer_blob(bytes + at, &len, 1, gen_below(&g, 60000), "text");
				f = peer_call_frame((u64)(i + 1) << 16 | gen_below(&g, 2),
						    gen_below(&g, 5), &len);
			}
			mrpc_wire_encode(&f, (void *)(bytes + size));
			size = at;
		}
		for (i = gen_below(&g, 8); i; i--) {
			at = gen_chance(&g, 20) ? gen_below(&g, size) :
			     hello + gen_below(&g, 128) % (size - hello);
			gen_bytes(&g, bytes + at, 1 + gen_below(&g, min(4U, size - at)));
		}
		peer_connect(&w, p.srv.s.port);
		for (at = 0; at < size; at += n) {
			n = min(size - at, 1 + gen_below(&g, gen_chance(&g, 50) ? 100 : 60000));
			if (!peer_send(&w, bytes + at, n))
				break;
		}
		shutdown(w.fd, SHUT_WR);
		CHECK(peer_closed(&w, 10000));
		if (gen_chance(&g, 50))
			peer_reset(&w);
		else
			peer_close(&w);
		if (++rounds % 10 == 0)
			raw_pair_alive(&p);
	}
	NOTE("%u rounds", rounds);
	free(bytes);
	p.srv.errors = 0;	/* Make with a huge tag */
	raw_pair_end_alone(&p);
}
