// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/conn/close kmod/call/stream */
/*
 * A client with a server that is slow, floods, does not read, or goes away at the worst time.
 * Calls complete with UNAVAILABLE, and their memory comes back in bounded time.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "peer.h"

#define BOUND	(5 * RAW_S)

static struct raw c;
static struct raw_qp qp;
static struct peer w;
static int listener;
static u16 port;

static void begin(void)
{
	raw_open(&c, 48 << 20, 16 << 20);
	raw_qp(&qp, &c, 64, 256, 0);
	listener = peer_listen(&port);
}

static void end(void)
{
	raw_close(&c);
	close(listener);
	/* Closing the file ends everything soon. */
	CHECK(raw_sessions(0, 20000));
}

static void *welcome(void *arg)
{
	(void)arg;
	if (!peer_accept(&w, listener, 10000))
		raw_die("the client does not connect");
	peer_welcome(&w);
	return NULL;
}

static int shake(uint64_t keepalive_us)
{
	struct mrpc_connect target;
	pthread_t t;
	char addr[64];
	int conn;

	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", port);
	target = raw_target(&c, addr);
	target.keepalive_us = keepalive_us;
	CHECK(!pthread_create(&t, NULL, welcome, NULL));
	conn = raw_connect_to(&c, &target);
	pthread_join(t, NULL);
	CHECK_MSG(conn > 0, "connect: %s: %s", strerror(-conn), c.why);
	return conn;
}

static void start(int conn, uint64_t user_data, uint32_t len, uint64_t timeout_us)
{
	struct mrpc_sqe sqe = raw_sqe(conn, RAW_ECHO, raw_blob(&c, 1, len, NULL));

	sqe.user_data = user_data;
	sqe.timeout_us = timeout_us;
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK_EQ(qp.submitted, 1);
}

/* Each of @nr calls completes with @status, and its blocks come back. */
static void all_end(unsigned int nr, u16 status)
{
	unsigned int replies = 0, freed = 0;
	struct mrpc_cqe cqe;

	while (replies < nr || freed < nr) {
		CHECK_MSG(raw_next(&qp, &cqe, BOUND * raw_patience()),
			  "%u of %u calls completed, the blocks of %u came back", replies, nr, freed);
		freed += cqe.type == MRPC_CQE_SENT || cqe.flags & MRPC_CQE_FREED;
		if (cqe.type == MRPC_CQE_REPLY) {
			CHECK_EQ(cqe.status, status);
			CHECK(cqe.flags & MRPC_CQE_LOCAL);
			replies++;
		}
		raw_done(&c, &cqe);
	}
	CHECK(!raw_reap(&qp, &cqe));
	CHECK_EQ(replies, nr);
	CHECK_EQ(freed, nr);
}

/* The server goes away while small and large calls are under way. */
static void vanish(bool reset, bool read)
{
	int conn;
	u32 i;

	begin();
	conn = shake(0);
	for (i = 0; i < 8; i++)
		start(conn, i, i % 2 ? 900000 : 100, 0);
	for (i = 0; read && i < 3; i++)
		peer_expect(&w, MRPC_WIRE_CALL);
	if (reset)
		peer_reset(&w);
	else
		peer_close(&w);
	all_end(8, MRPC_UNAVAILABLE);
	/* Later calls are told why. */
	start(conn, 99, 10, 0);
	all_end(1, MRPC_UNAVAILABLE);
	end();
}

TEST(fin_unread)
{
	vanish(false, false);
}

TEST(reset_unread)
{
	vanish(true, false);
}

TEST(reset_read)
{
	vanish(true, true);
}

/* The caller is told how the link ended. The socket reports it once, long after the last read. */
static void told(void (*go)(struct peer *p), const char *why)
{
	char detail[MRPC_MAX_DETAIL + 1];
	struct mrpc_cqe cqe;

	begin();
	start(shake(0), 1, 100, 0);
	peer_expect(&w, MRPC_WIRE_CALL);
	usleep(50000);
	go(&w);
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, BOUND);
	CHECK_EQ(cqe.status, MRPC_UNAVAILABLE);
	CHECK_STR(raw_detail(&c, &cqe, detail, sizeof(detail)), why);
	raw_done(&c, &cqe);
	end();
}

TEST(fin_told)
{
	told(peer_close, "the peer closed the connection");
}

TEST(reset_told)
{
	told(peer_reset, "the peer reset the connection");
}

/* The server ends in order and does not read. The link lingers, but no call waits for that. */
TEST(half_closed)
{
	struct mrpc_cqe cqe;

	begin();
	start(shake(0), 1, 900000, 0);
	CHECK_SYS(shutdown(w.fd, SHUT_WR));
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, BOUND);
	CHECK_EQ(cqe.status, MRPC_UNAVAILABLE);
	CHECK(!(cqe.flags & MRPC_CQE_FREED));
	raw_done(&c, &cqe);
	raw_expect(&qp, &cqe, MRPC_CQE_SENT, BOUND);
	peer_close(&w);
	end();
}

/* -- beside others ------------------------------------------------------------- */

#define OTHERS		600
#define OTHERS_REPLY	(64 << 10)

/* A peer with little room that asks for more than it has room for. Return: the socket. */
static int other(u16 at)
{
	static struct peer p;

	peer_connect_small(&p, at, 4096);
	peer_hello(&p);
	peer_expect(&p, MRPC_WIRE_HELLO_ACK);
	CHECK(peer_call(&p, peer_id(&p, 0), RAW_MAKE, OTHERS_REPLY, 0));
	return p.fd;
}

/* Number of a server's connections that have not ended, or that linger. */
static unsigned int others(struct raw_server *srv, bool linger)
{
	unsigned int nr = 0, id;

	for (id = 1; id <= OTHERS + 1; id++) {
		struct mrpc_conn_info info = { .size = sizeof(info), .conn = id };

		if (!raw_ioctl(srv->s.fd, MRPC_IOC_CONN_INFO, &info))
			nr += (info.state == MRPC_CONN_CLOSED) == linger;
	}
	return nr;
}

/*
 * Hundreds of peers end in order and never acknowledge the last of their replies. The end of an
 * unrelated connection does not wait for them.
 */
TEST_LIMIT(beside_others, 120)
{
	static struct raw_server srv;
	static int fds[OTHERS];
	struct pollfd pfd = { .events = POLLIN };
	uint64_t until, before, took;
	struct mrpc_cqe cqe;
	int conn, i;

	begin();
	raw_server(&srv, "tcp:127.0.0.1:0", 2);
	for (i = 0; i < OTHERS; i++)
		fds[i] = other(srv.s.port);
	for (i = 0; i < OTHERS; i++) {
		pfd.fd = fds[i];
		CHECK_EQ(poll(&pfd, 1, 10000 * raw_patience()), 1);
	}
	CHECK_EQ(others(&srv, false), OTHERS);
	conn = shake(0);
	start(conn, 1, 100, 0);
	peer_expect(&w, MRPC_WIRE_CALL);
	for (i = 0; i < OTHERS; i++)
		CHECK_SYS(shutdown(fds[i], SHUT_WR));
	for (until = raw_now() + BOUND * raw_patience(); others(&srv, false);)
		CHECK(raw_now() < until);
	NOTE("%u of %u linger", others(&srv, true), OTHERS);
	before = raw_now();
	peer_reset(&w);
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, BOUND);
	CHECK_EQ(cqe.status, MRPC_UNAVAILABLE);
	raw_done(&c, &cqe);
	CHECK_EQ(raw_close_id(&c, conn, 0, 0), 0);
	took = raw_now() - before;
	NOTE("a call over a link that is reset, and its connection, end after %llu ms",
	     (unsigned long long)(took / RAW_MS));
	CHECK(took < RAW_S * raw_scale());
	CHECK(raw_server_conns(&srv, 0, 5000));
	for (i = 0; i < OTHERS; i++)
		close(fds[i]);
	raw_server_stop(&srv);
	end();
}

/* The server goes in the middle of a reply, at any byte of it. */
TEST_LIMIT(cut_reply, 120)
{
	static u8 bytes[sizeof(struct mrpc_wire_hdr) + 40000];
	struct mrpc_msg_len len;
	u32 size, cut;
	int conn;

	begin();
	size = sizeof(struct mrpc_wire_hdr) +
	       peer_blob(bytes + sizeof(struct mrpc_wire_hdr), &len, 1, 30000, "text");
	for (cut = 1; cut < size; cut += cut < 120 ? 17 : 4999) {
		struct mrpc_frame f = {
			.type = MRPC_WIRE_REPLY, .flags = MRPC_WIRE_END | MRPC_WIRE_MSG, .msg = len,
		};

		conn = shake(0);
		start(conn, 1, 100, 0);
		peer_expect(&w, MRPC_WIRE_CALL);
		f.call_id = w.frame.call_id;
		mrpc_wire_encode(&f, (void *)bytes);
		CHECK(peer_send(&w, bytes, cut));
		if (cut % 2)
			peer_reset(&w);
		else
			peer_close(&w);
		all_end(1, MRPC_UNAVAILABLE);
		CHECK_EQ(raw_close_id(&c, conn, 0, 0), 0);
	}
	end();
}

TEST(slow_reply)
{
	u8 bytes[sizeof(struct mrpc_wire_hdr) + 512];
	struct mrpc_frame f = { .type = MRPC_WIRE_REPLY, .flags = MRPC_WIRE_END | MRPC_WIRE_MSG };
	struct mrpc_cqe cqe;
	u32 size, i;
	int conn;

	begin();
	conn = shake(0);
	start(conn, 1, 100, 0);
	peer_expect(&w, MRPC_WIRE_CALL);
	f.call_id = w.frame.call_id;
	size = peer_blob(bytes + sizeof(struct mrpc_wire_hdr), &f.msg, 1, 100, "text");
	mrpc_wire_encode(&f, (void *)bytes);
	for (i = 0; i < sizeof(struct mrpc_wire_hdr) + size; i++) {
		CHECK_EQ(raw_ready(&qp), 0);
		CHECK(peer_send(&w, bytes + i, 1));
		raw_sleep(RAW_MS);
	}
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, BOUND);
	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK(raw_is_blob(raw_msg(&c, &cqe), cqe.msg_len, 1, 100));
	raw_done(&c, &cqe);
	peer_close(&w);
	end();
}

/* The server takes what is sent, and sends nothing any more. */
TEST(silent)
{
	uint64_t before;
	int conn;
	u32 i;

	begin();
	before = raw_now();
	conn = shake(200000 * raw_scale());
	for (i = 0; i < 4; i++)
		start(conn, i, i % 2 ? 100000 : 100, 0);
	all_end(4, MRPC_UNAVAILABLE);
	CHECK(raw_now() - before > 400 * RAW_MS);
	peer_close(&w);
	end();
}

/* The server does not read. Deadlines still hold; blocks come back at the end. */
TEST(not_reading)
{
	struct mrpc_cqe cqe;
	unsigned int i, replies = 0, freed = 0;
	uint64_t before;
	int conn;

	begin();
	conn = shake(0);
	before = raw_now();
	for (i = 0; i < 8; i++)
		start(conn, i, 4 << 20, 300000);
	while (replies < 8) {
		CHECK(raw_next(&qp, &cqe, BOUND * raw_patience()));
		if (cqe.type == MRPC_CQE_REPLY) {
			CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
			CHECK(raw_now() - before >= 300 * RAW_MS);
			replies++;
		}
		freed += cqe.type == MRPC_CQE_SENT || cqe.flags & MRPC_CQE_FREED;
		raw_done(&c, &cqe);
	}
	CHECK(raw_now() - before < 2 * RAW_S * raw_patience());
	CHECK(freed < 8);
	CHECK_EQ(raw_close_id(&c, conn, 0, 0), 0);
	while (freed < 8) {
		CHECK_MSG(raw_next(&qp, &cqe, 20 * RAW_S * raw_patience()),
			  "the blocks of %u of 8 calls came back", freed);
		CHECK_EQ(cqe.type, MRPC_CQE_SENT);
		freed++;
	}
	peer_close(&w);
	end();
}

/* The peer does not read the data that a dead process has left behind. */
static void left_behind(bool half_closed)
{
	char addr[64];
	int status;
	pid_t pid;

	listener = peer_listen(&port);
	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", port);
	pid = CHECK_SYS(fork());
	if (!pid) {
		raw_open(&c, 16 << 20, 1 << 20);
		raw_qp(&qp, &c, 64, 256, 0);
		start(raw_connect(&c, addr), 1, 8 << 20, 0);
		for (;;)
			pause();
	}
	CHECK(peer_accept(&w, listener, 10000));
	peer_welcome(&w);
	raw_sleep(RAW_S * raw_scale());
	if (half_closed) {
		shutdown(w.fd, SHUT_WR);
		raw_sleep(RAW_S * raw_scale());
	}
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
	close(listener);
	CHECK_MSG(raw_sessions(0, 20000), "the session outlives its process by 20 s");
	peer_close(&w);
}

TEST(left_open)
{
	left_behind(false);
}

TEST(left_half_closed)
{
	left_behind(true);
}

/* Thousands of PINGs, and the peer does not read the answers. */
TEST(ping_flood)
{
	struct mrpc_wire_hdr hdrs[64];
	uint64_t until;
	size_t part = 0;
	ssize_t n;
	int conn;
	u32 i;

	begin();
	conn = shake(0);
	for (i = 0; i < ARRAY_SIZE(hdrs); i++) {
		const struct mrpc_frame f = { .type = MRPC_WIRE_PING, .call_id = i };

		mrpc_wire_encode(&f, &hdrs[i]);
	}
	start(conn, 1, 100, 0);
	for (until = raw_now() + 3 * RAW_S; raw_now() < until;) {
		n = send(w.fd, (u8 *)hdrs + part, sizeof(hdrs) - part, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0)
			part = (part + n) % sizeof(hdrs);
		else
			raw_sleep(10 * RAW_MS);
		CHECK(n > 0 || errno == EAGAIN);
	}
	peer_reset(&w);
	all_end(1, MRPC_UNAVAILABLE);
	end();
}

/* BYE: calls under way finish, new calls end with UNAVAILABLE. */
TEST(bye)
{
	struct mrpc_cqe cqe;
	int conn;
	u64 id;

	begin();
	conn = shake(0);
	start(conn, 1, 100, 0);
	peer_expect(&w, MRPC_WIRE_CALL);
	id = w.frame.call_id;
	CHECK(peer_send_control(&w, MRPC_WIRE_BYE, 0));
	CHECK(peer_send_control(&w, MRPC_WIRE_PING, 5));
	CHECK(!raw_next(&qp, &cqe, 100 * RAW_MS));
	peer_expect(&w, MRPC_WIRE_BYE);	/* nothing but the call came before it */
	peer_expect(&w, MRPC_WIRE_PONG);
	start(conn, 2, 100, 0);
	all_end(1, MRPC_UNAVAILABLE);
	CHECK(peer_reply(&w, id, 1, 100));
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, BOUND);
	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK_EQ(cqe.user_data, 1);
	raw_done(&c, &cqe);
	peer_close(&w);
	end();
}

/* -- instead of an answer to HELLO ------------------------------------------------------- */

static void *turn_away(void *arg)
{
	void (*const *go)(struct peer *p) = arg;

	if (!peer_accept(&w, listener, 10000))
		raw_die("the client does not connect");
	peer_expect(&w, MRPC_WIRE_HELLO);
	(*go)(&w);
	return NULL;
}

/* The caller is told what came, and what may be wrong. */
static void turned_away(void (*go)(struct peer *p), const char *why)
{
	struct mrpc_connect target;
	char addr[64];
	pthread_t t;

	begin();
	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", port);
	target = raw_target(&c, addr);
	CHECK(!pthread_create(&t, NULL, turn_away, &go));
	CHECK_EQ(raw_connect_to(&c, &target), -ECONNRESET);
	CHECK_STR(c.why, why);
	pthread_join(t, NULL);
	end();
}

#define NO_ANSWER ": it may expect TLS, or another transport"

TEST(closed_early)
{
	turned_away(peer_close, "handshake: the peer closed the connection" NO_ANSWER);
}

TEST(reset_early)
{
	turned_away(peer_reset, "handshake: the peer reset the connection" NO_ANSWER);
}

static void say_bye(struct peer *p)
{
	CHECK(peer_send_control(p, MRPC_WIRE_BYE, 0));
	CHECK(peer_closed(p, 10000));
	peer_close(p);
}

/* A server that is stopped before it has answered. */
TEST(bye_early)
{
	turned_away(say_bye, "handshake: the peer is shutting down");
}

static void say_pong(struct peer *p)
{
	CHECK(peer_send_control(p, MRPC_WIRE_PONG, 1));
	peer_close(p);
}

TEST(wrong_early)
{
	turned_away(say_pong, "handshake: the peer broke the protocol: "
		    "it may have another transport at this address");
}

/*
 * A process ends without closing. Its idle connection ends in order, and does not wait for the
 * server, which keeps its end open. A connection with calls under way is reset. Return: it was so.
 */
static bool left_in_order(unsigned int unanswered)
{
	struct mrpc_cqe cqe;
	uint64_t before;
	unsigned int i;
	int conn, end;

	begin();
	conn = shake(0);
	for (i = 0; i < 2; i++) {
		start(conn, i, i ? 900000 : 100, 0);
		peer_expect(&w, MRPC_WIRE_CALL);
		CHECK(peer_reply(&w, w.frame.call_id, 1, 100));
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, BOUND);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&c, &cqe);
	}
	for (i = 0; i < unanswered; i++) {
		start(conn, 9, 100, 0);
		peer_expect(&w, MRPC_WIRE_CALL);
	}
	raw_sleep(300 * RAW_MS);	/* until all is acknowledged */
	before = raw_now();
	raw_close(&c);
	CHECK(raw_sessions(0, 5000));
	before = raw_now() - before;
	end = peer_end(&w);
	peer_close(&w);
	close(listener);
	NOTE("the session has gone after %llu ms; the stream ends with %s",
	     (unsigned long long)(before / RAW_MS), strerror(end));
	/* For unacknowledged data it would wait 800 ms. */
	return before < 700 * RAW_MS && end == (unanswered ? ECONNRESET : 0);
}

/* A machine that stops for a while may need several attempts. */
static void left_alone(unsigned int unanswered)
{
	unsigned int i;

	for (i = 0; i < 6 && !left_in_order(unanswered); i++)
		;
	CHECK(i < 6);
}

TEST(left_idle)
{
	left_alone(0);
}

TEST(left_busy)
{
	left_alone(1);
}
