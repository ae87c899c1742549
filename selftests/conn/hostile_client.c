// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/handshake kmod/call/server kmod/lib/message/handshake */
/*
 * A client whose server sends what it should not, or goes away. Calls complete
 * once and in time, whatever happens, and another connection of the same session
 * still works.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"
#include "peer.h"
#include "gen.h"

static struct raw_pair p;	/* the honest connection */
static struct raw_qp qp;
static struct peer w;		/* the dishonest server */
static int listener;
static u16 port;
static char now[32] = "reply";	/* for messages */

static void begin(void)
{
	raw_pair(&p, "tcp4", 1);
	raw_qp(&qp, &p.c, 64, 256, 0);
	listener = peer_listen(&port);
}

static void end(void)
{
	raw_pair_alive(&p);
	close(listener);
	raw_pair_end(&p);
}

static void *welcome(void *arg)
{
	(void)arg;
	if (!peer_accept(&w, listener, 10000))
		raw_die("the client does not connect");
	peer_welcome(&w);
	return NULL;
}

/* A connection to the peer, ready. */
static int shake_opts(uint32_t max_message, uint64_t keepalive_us)
{
	struct mrpc_connect c;
	pthread_t t;
	char addr[64];
	int conn;

	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", port);
	c = raw_target(&p.c, addr);
	c.max_message = max_message;
	c.keepalive_us = keepalive_us;
	CHECK(!pthread_create(&t, NULL, welcome, NULL));
	conn = raw_connect_to(&p.c, &c);
	pthread_join(t, NULL);
	CHECK_MSG(conn > 0, "connect: %s: %s", strerror(-conn), p.c.why);
	return conn;
}

static int shake(void)
{
	return shake_opts(0, 0);
}

/* Submits a call; its id on the wire. */
static u64 start_sqe(struct mrpc_sqe *sqe)
{
	CHECK(raw_push(&qp, sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK_EQ(qp.submitted, 1);
	peer_expect(&w, MRPC_WIRE_CALL);
	return w.frame.call_id;
}

static u64 start(int conn, uint32_t method)
{
	uint32_t root = raw_blob(&p.c, 1, 100, NULL);
	struct mrpc_sqe sqe = raw_sqe(conn, method, root);
	u64 id = start_sqe(&sqe);

	raw_free(&p.c, root);	/* small: copied */
	return id;
}

#define ANY_FAILURE	0xffff

/* The call under way ends, with one of two statuses. */
static void ends_with(u16 status, u16 other)
{
	struct mrpc_cqe cqe;

	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
	CHECK_MSG(cqe.status == status || cqe.status == other ||
		  (cqe.status && status == ANY_FAILURE),
		  "%s: status %u instead of %u", now, cqe.status, status);
	if (cqe.status == MRPC_OK)
		CHECK(!raw_verify(raw_plan(RAW_BULK), 0, raw_msg(&p.c, &cqe), cqe.msg_len));
	raw_done(&p.c, &cqe);
}

static void drop(int conn)
{
	peer_close(&w);
	CHECK_EQ(raw_close_id(&p.c, conn, 0, 0), 0);
}

TEST(no_handshake)
{
	struct mrpc_connect c;
	uint64_t before;
	char addr[64];

	begin();
	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", port);
	c = raw_target(&p.c, addr);
	c.until_ns = raw_until(500 * RAW_MS);
	before = raw_now();
	CHECK_EQ(raw_connect_to(&p.c, &c), -ETIMEDOUT);
	CHECK(raw_now() - before < 5 * RAW_S * raw_patience());
	CHECK_STR(p.c.why, "the peer did not answer the handshake");
	end();
}

static void *answer(void *arg)
{
	const struct mrpc_frame *f = arg;

	if (!peer_accept(&w, listener, 10000))
		raw_die("the client does not connect");
	peer_expect(&w, MRPC_WIRE_HELLO);
	peer_send_frame(&w, f, f + 1, ALIGN(f->meta_len, 8));
	peer_closed(&w, 10000);
	peer_close(&w);
	return NULL;
}

/* An answer to HELLO with something wrong in it. */
static int refused(const struct mrpc_frame *f)
{
	struct mrpc_connect c;
	pthread_t t;
	char addr[64];
	int conn;

	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", port);
	c = raw_target(&p.c, addr);
	CHECK(!pthread_create(&t, NULL, answer, (void *)f));
	conn = raw_connect_to(&p.c, &c);
	/* What is not a refusal is a connection, which we end. */
	if (conn > 0)
		raw_close_id(&p.c, conn, 0, 0);
	pthread_join(t, NULL);
	return conn;
}

TEST_LIMIT(bad_ack, 180)
{
	static struct {
		struct mrpc_frame f;
		u8 body[1024];
	} a;
	static u8 good[1024];
	u32 len, i;
	int err;

	begin();
	len = peer_hello_body(good);
	for (i = 0; i < len; i += i < 24 ? 1 : 11) {
		a.f = (struct mrpc_frame){ .type = MRPC_WIRE_HELLO_ACK, .meta_len = len };
		memcpy(a.body, good, sizeof(a.body));
		a.body[i] ^= 0xff;
		err = refused(&a.f);
		/* Limits are free; the rest must be told from it. */
		if (err < 0)
			CHECK_MSG(p.c.why[0], "byte %u: %s, and no reason", i, strerror(-err));
		else
			CHECK_MSG(i >= 4, "byte %u changed, and nobody minds", i);
	}
	memcpy(a.body, good, sizeof(a.body));
	for (i = MRPC_WIRE_HELLO; i <= MRPC_WIRE_TYPE_MAX; i++) {
		if (i == MRPC_WIRE_HELLO_ACK)
			continue;
		a.f = (struct mrpc_frame){ .type = i, .meta_len = i == MRPC_WIRE_HELLO ? len : 0 };
		CHECK(refused(&a.f) < 0);
		CHECK(p.c.why[0]);
	}
	end();
}

/* What the handshake says of a mismatch names the service and both hashes. */
TEST(verdicts)
{
	static struct {
		struct mrpc_frame f;
		u8 body[1024];
	} a;
	char hex[2 * MRPC_HASH_LEN + 1];
	u8 hash[MRPC_HASH_LEN];
	u32 i, k;

	begin();
	for (i = 0; i < 2; i++) {
		u8 *service = a.body + sizeof(struct mrpc_hello_hdr);

		a.f = (struct mrpc_frame){
			.type = MRPC_WIRE_HELLO_ACK, .meta_len = peer_hello_body(a.body),
		};
		service[0] ^= 1;
		service[MRPC_HASH_LEN] = i ? MRPC_VERDICT_UNKNOWN : MRPC_VERDICT_MISMATCH;
		CHECK_EQ(refused(&a.f), -EPROTO);
		CHECK(strstr(p.c.why, "test.Bulk"));
		if (i)
			continue;
		peer_hash(RAW_BULK, hash);
		for (k = 0; k < MRPC_HASH_LEN; k++)
			sprintf(hex + 2 * k, "%02x", hash[k]);
		CHECK_MSG(strstr(p.c.why, hex), "not in: %s", p.c.why);
		sprintf(hex, "%02x", hash[0] ^ 1);
		hex[2] = "0123456789abcdef"[hash[1] >> 4];
		CHECK_MSG(strstr(p.c.why, hex), "not in: %s", p.c.why);
	}
	end();
}

/* Every bit of a reply's header. The call ends in any case. */
TEST_LIMIT(header_bits, 300)
{
	u8 bytes[1024], good[1024];
	struct mrpc_msg_len len;
	struct mrpc_frame f;
	u32 size, bit;
	int conn;

	begin();
	size = sizeof(struct mrpc_wire_hdr) +
	       peer_blob(good + sizeof(struct mrpc_wire_hdr), &len, 1, 200, "text");
	for (bit = 0; bit < 8 * sizeof(struct mrpc_wire_hdr); bit++) {
		conn = shake();
		f = (struct mrpc_frame){
			.type = MRPC_WIRE_REPLY, .flags = MRPC_WIRE_END | MRPC_WIRE_MSG,
			.call_id = start(conn, RAW_ECHO), .msg = len,
		};
		memcpy(bytes, good, size);
		mrpc_wire_encode(&f, (void *)bytes);
		bytes[bit / 8] ^= 1 << bit % 8;
		peer_send(&w, bytes, size);
		shutdown(w.fd, SHUT_WR);
		snprintf(now, sizeof(now), "bit %u of the header", bit);
		ends_with(ANY_FAILURE, ANY_FAILURE);
		drop(conn);
	}
	end();
}

/* Bits of a reply's head: MRPC_INTERNAL, and the connection goes on. */
TEST_LIMIT(head_bits, 120)
{
	struct mrpc_msg_len len;
	u8 good[512], body[512];
	struct mrpc_frame f;
	u32 size, bit;
	int conn;

	begin();
	conn = shake();
	size = peer_blob(good, &len, 3, 50, "t\xc3\xa9xt");
	for (bit = 0; bit < 8 * mrpc_msg_head_len(&len); bit++) {
		memcpy(body, good, size);
		body[bit / 8] ^= 1 << bit % 8;
		f = (struct mrpc_frame){
			.type = MRPC_WIRE_REPLY, .flags = MRPC_WIRE_END | MRPC_WIRE_MSG,
			.call_id = start(conn, RAW_ECHO), .msg = len,
		};
		CHECK(peer_send_frame(&w, &f, body, size));
		ends_with(MRPC_INTERNAL, MRPC_OK);
	}
	drop(conn);
	end();
}

/*
 * A reply waits for the receive heap until its call is given up. Then we wait for the peer
 * again, no longer it for us: so its silence ends the connection.
 */
TEST_LIMIT(silent_when_given_up, 120)
{
	uint64_t keepalive_us = 500000 * raw_scale();
	struct mrpc_cqe kept, cqe;
	struct mrpc_sqe sqe;
	u64 id;
	int conn;

	raw_open(&p.c, 1 << 20, 131072);
	raw_qp(&qp, &p.c, 64, 256, 0);
	listener = peer_listen(&port);
	conn = shake_opts(0, keepalive_us);
	id = start(conn, RAW_ECHO);
	peer_reply(&w, id, 1, 70000);
	raw_expect(&qp, &kept, MRPC_CQE_REPLY, 5 * RAW_S);
	CHECK_EQ(kept.status, MRPC_OK);
	sqe = raw_sqe(conn, RAW_ECHO, raw_blob(&p.c, 1, 100, NULL));
	sqe.timeout_us = keepalive_us;
	id = start_sqe(&sqe);
	peer_reply(&w, id, 1, 70000);
	CHECK(!raw_next(&qp, &cqe, 0));
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
	CHECK(peer_closed(&w, 6 * keepalive_us / 1000));
	drop(conn);
	close(listener);
	raw_close(&p.c);
}

/* Replies to calls that were never made, have ended, or were given up twice. */
TEST(unknown_ids)
{
	struct mrpc_sqe sqe;
	uint32_t root;
	int conn, i;
	u64 id;

	begin();
	for (i = 0; i < 6; i++) {
		conn = shake();
		id = start(conn, RAW_ECHO);
		if (i == 0) {
			peer_reply(&w, id + 1, 1, 10);
		} else if (i == 1) {
			peer_reply(&w, id + (1 << 16), 1, 10);
		} else if (i == 2) {
			peer_reply(&w, 0, 1, 10);
		} else if (i == 3) {
			peer_reply(&w, ~0ULL, 1, 10);
		} else if (i == 4) {	/* twice */
			peer_reply(&w, id, 1, 10);
			ends_with(MRPC_OK, MRPC_OK);
			start(conn, RAW_ECHO);
			peer_reply(&w, id, 1, 10);
		} else {		/* after its deadline: once is right */
			peer_reply(&w, id, 1, 10);
			ends_with(MRPC_OK, MRPC_OK);
			root = raw_blob(&p.c, 1, 10, NULL);
			sqe = raw_sqe(conn, RAW_ECHO, root);
			sqe.timeout_us = 500000;
			id = start_sqe(&sqe);
			ends_with(MRPC_DEADLINE_EXCEEDED, MRPC_DEADLINE_EXCEEDED);
			peer_expect(&w, MRPC_WIRE_CANCEL);
			CHECK_EQ(w.frame.call_id, id);
			peer_reply(&w, id, 1, 10);
			start(conn, RAW_ECHO);
			peer_reply(&w, id, 1, 10);
		}
		ends_with(MRPC_UNAVAILABLE, MRPC_UNAVAILABLE);
		CHECK(peer_closed(&w, 5000));
		drop(conn);
	}
	end();
}

/* Frames that only a client sends. */
TEST(wrong_direction)
{
	int conn;
	u8 type;

	begin();
	for (type = MRPC_WIRE_HELLO; type <= MRPC_WIRE_CANCEL; type++) {
		static u8 body[1024];
		struct mrpc_frame f = { .type = type };

		if (type == MRPC_WIRE_REPLY)
			continue;
		conn = shake();
		start(conn, RAW_ECHO);
		if (type == MRPC_WIRE_CALL) {
			peer_call(&w, 1 << 16, RAW_ECHO, 1, 10);
		} else {
			if (type != MRPC_WIRE_CANCEL)
				f.meta_len = peer_hello_body(body);
			peer_send_frame(&w, &f, body, ALIGN(f.meta_len, 8));
		}
		ends_with(MRPC_UNAVAILABLE, MRPC_UNAVAILABLE);
		CHECK(peer_closed(&w, 5000));
		drop(conn);
	}
	end();
}

/* More than was wanted, than the connection or the heap takes: one call fails. */
TEST(too_large)
{
	struct mrpc_sqe sqe;
	uint32_t root;
	int conn, i;
	u64 id;

	begin();
	conn = shake_opts(1 << 20, 0);
	root = raw_blob(&p.c, 1, 10, NULL);
	for (i = 0; i < 4; i++) {
		sqe = raw_sqe(conn, RAW_ECHO, root);
		sqe.max_reply = i % 2 ? 50000 : 0;
		id = start_sqe(&sqe);
		CHECK(peer_reply(&w, id, 1, i % 2 ? 60000 : 1 << 20));
		ends_with(MRPC_RESOURCE_EXHAUSTED, MRPC_RESOURCE_EXHAUSTED);
		id = start_sqe(&sqe);
		CHECK(peer_reply(&w, id, 1, 40000));
		ends_with(MRPC_OK, MRPC_OK);
	}
	drop(conn);
	conn = shake_opts(MRPC_MAX_MESSAGE, 0);
	sqe = raw_sqe(conn, RAW_ECHO, root);
	id = start_sqe(&sqe);
	CHECK(peer_reply(&w, id, 1, 60 << 20));
	ends_with(MRPC_RESOURCE_EXHAUSTED, MRPC_RESOURCE_EXHAUSTED);
	id = start_sqe(&sqe);
	CHECK(peer_reply(&w, id, 1, 40000));
	ends_with(MRPC_OK, MRPC_OK);
	drop(conn);
	end();
}
