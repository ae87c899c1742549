// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/change/link_version kmod/lib/message/feature kmod/call/handshake */
/*
 * Another version of the transport under connections to a peer that the test plays by hand.
 * Messages are half transferred. Peers are silent or break the agreement on features. Checksums
 * are wrong.
 */
#include <errno.h>
#include <sys/socket.h>

#include "tap.h"
#include "lib/message/feature.h"
#include "operator.h"
#include "peer.h"

#define CHANGE	MRPC_FEATURE_CHANGE
#define CRC	MRPC_FEATURE_CRC
#define WAIT	20000	/* ms */
#define LARGE	(900 << 10)
#define ERRORS	"/sys/class/misc/mrpc/checksum_errors"

static struct raw_server srv;
static struct raw c;		/* a client of @w, where that is the server */
static struct raw_qp qp;
static struct peer w;
static int conn;

static int64_t version(const struct raw *s, uint32_t id)
{
	return op_conn(s->setup.session, id, MRPC_A_CONN_TRANSPORT_VERSION);
}

/* -- the peer is a client ----------------------------------------------------------- */

static uint32_t server_conn;

static void seen(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)msg;
	__atomic_store_n(&server_conn, cqe->conn, __ATOMIC_RELEASE);
}

/* Starts a server with the engine parameters @words. */
static void serve(const char *words)
{
	op_del_all();
	memset(&w, 0, sizeof(w));
	if (words)
		op_must_add("tcp", words, NULL);
	raw_server_open(&srv, 16 << 20, 16 << 20);
	srv.seen = seen;
	raw_server_start(&srv, "tcp:127.0.0.1:0", 2);
}

/* Offers @features in a handshake. The server must choose @chosen. */
static void shake(u64 features, u64 chosen)
{
	struct mrpc_hello_hdr hdr;

	w.features = features;
	w.sums = false;
	peer_shake(&w, srv.s.port);
	memcpy(&hdr, w.body, sizeof(hdr));
	if (le64_to_cpu(hdr.features) != chosen)
		raw_die("features %llx are chosen, not %llx",
			(unsigned long long)le64_to_cpu(hdr.features), (unsigned long long)chosen);
	w.sums = chosen & CRC;
}

static void stop(void)
{
	op_del_all();
	raw_server_stop(&srv);
	CHECK(raw_sessions(0, 10000));
}

/* Expects the peer's features, and answers with what it may use. */
static void expect_features(u64 mask)
{
	peer_expect(&w, MRPC_WIRE_FEATURES);
	if (w.frame.call_id != mask)
		raw_die("features %llx are announced", (unsigned long long)w.frame.call_id);
}

TEST(handshake)
{
	serve("version=2");
	shake(0, 0);
	peer_echo(&w, 0, 1, 100);
	peer_close(&w);
	shake(CHANGE, CHANGE);
	expect_features(CRC);
	peer_close(&w);
	shake(CHANGE | CRC, CHANGE | CRC);
	peer_echo(&w, 0, 1, 100);
	peer_echo(&w, 0, 2, 50000);
	peer_close(&w);
	shake(~0ULL, CHANGE | CRC | MRPC_FEATURE_STREAM | MRPC_FEATURE_GROUP);
	peer_echo(&w, 0, 1, 20000);
	peer_close(&w);
	op_must_set("tcp", "type=tcp version=1", NULL);
	shake(CHANGE | CRC, CHANGE);
	peer_echo(&w, 0, 1, 20000);
	peer_close(&w);
	stop();
}

/* A peer that does not know FEATURES is never sent it, and must not send it. */
TEST(old_peer)
{
	serve(NULL);
	shake(0, 0);
	peer_echo(&w, 0, 1, 100);
	op_must_add("tcp", "version=2 checksum=1", NULL);
	peer_echo(&w, 0, 2, 50000);
	CHECK(!(w.frame.flags & MRPC_WIRE_CRC));
	op_must_del("tcp");
	peer_echo(&w, 0, 3, 100);
	CHECK_EQ(peer_recv(&w, 100), -1);
	peer_send_control(&w, MRPC_WIRE_FEATURES, CRC);
	CHECK(peer_closed(&w, WAIT));
	peer_close(&w);
	stop();
}

static void must_close(u64 features, u64 chosen, u8 type, u64 mask)
{
	shake(features, chosen);
	peer_echo(&w, 0, 1, 100);
	peer_send_control(&w, type, mask);
	CHECK(peer_closed(&w, WAIT));
	peer_close(&w);
}

TEST(broken_agreements)
{
	struct mrpc_wire_hdr hdrs[64];
	unsigned int i;

	serve("version=2");
	must_close(0, 0, MRPC_WIRE_FEATURES, CRC);
	must_close(0, 0, MRPC_WIRE_FEATURES_ACK, 0);
	/* An answer without a question. */
	must_close(CHANGE | CRC, CHANGE | CRC, MRPC_WIRE_FEATURES_ACK, CRC);
	/* An answer with other features than announced. */
	shake(CHANGE, CHANGE);
	expect_features(CRC);
	peer_send_control(&w, MRPC_WIRE_FEATURES_ACK, CRC << 1 | CRC);
	CHECK(peer_closed(&w, WAIT));
	peer_close(&w);
	/* An answer twice. */
	shake(CHANGE, CHANGE);
	expect_features(CRC);
	peer_send_control(&w, MRPC_WIRE_FEATURES_ACK, CRC);
	peer_echo(&w, 0, 1, 100);
	peer_send_control(&w, MRPC_WIRE_FEATURES_ACK, CRC);
	CHECK(peer_closed(&w, WAIT));
	peer_close(&w);
	/* A second FEATURES before the peer can have read the answer to the first. */
	shake(CHANGE | CRC, CHANGE | CRC);
	for (i = 0; i < ARRAY_SIZE(hdrs); i++) {
		const struct mrpc_frame f = { .type = MRPC_WIRE_FEATURES, .call_id = CRC };

		mrpc_wire_encode(&f, &hdrs[i]);
	}
	peer_send(&w, hdrs, sizeof(hdrs));
	CHECK(peer_closed(&w, WAIT));
	peer_close(&w);
	/* A right checksum that was not agreed on. */
	op_must_set("tcp", "type=tcp version=1", NULL);
	shake(CHANGE | CRC, CHANGE);
	w.sums = true;
	peer_call(&w, peer_id(&w, 0), RAW_ECHO, 1, 100);	/* may be cut off */
	CHECK(peer_closed(&w, WAIT));
	peer_close(&w);
	CHECK_EQ(srv.bad, 0);
	stop();
}

/* A peer that reads nothing cannot pile up answers by a question now and then. */
TEST_LIMIT(unread_answers, 120)
{
	unsigned int i;

	serve("version=2");
	shake(CHANGE | CRC, CHANGE | CRC);
	for (i = 0; i < 12; i++)	/* more in replies than sockets hold */
		CHECK(peer_call(&w, peer_id(&w, i), RAW_ECHO, i, LARGE));
	for (i = 0; i < 300 && peer_send_control(&w, MRPC_WIRE_FEATURES, CRC); i++)
		raw_sleep(10 * RAW_MS);
	CHECK(peer_closed(&w, WAIT));
	peer_close(&w);
	stop();
}

/* Unknown features are not answered, and do no harm. */
TEST(unknown_features)
{
	serve("version=2 checksum=1");
	shake(CHANGE, CHANGE);
	expect_features(CRC);
	peer_send_control(&w, MRPC_WIRE_FEATURES, ~0ULL);
	peer_expect(&w, MRPC_WIRE_FEATURES_ACK);
	CHECK_EQ(w.frame.call_id, CRC);
	peer_echo(&w, 0, 1, 50000);
	CHECK(w.frame.flags & MRPC_WIRE_CRC);
	peer_send_control(&w, MRPC_WIRE_FEATURES, ~0ULL << 2);
	peer_expect(&w, MRPC_WIRE_FEATURES_ACK);
	CHECK_EQ(w.frame.call_id, 0);
	peer_echo(&w, 0, 2, 50000);
	CHECK(!(w.frame.flags & MRPC_WIRE_CRC));
	peer_close(&w);
	stop();
}

/* An accepted feature stays accepted until the peer has answered, and not longer. */
TEST(withdrawn)
{
	serve("version=2");
	shake(CHANGE | CRC, CHANGE | CRC);
	peer_echo(&w, 0, 1, 5000);
	op_must_set("tcp", "type=tcp version=1", NULL);
	expect_features(0);
	peer_echo(&w, 0, 2, 5000);
	CHECK_EQ(version(&srv.s, server_conn), 1);
	peer_send_control(&w, MRPC_WIRE_FEATURES_ACK, 0);
	w.sums = false;
	peer_echo(&w, 0, 3, 5000);
	w.sums = true;
	peer_call(&w, peer_id(&w, 0), RAW_ECHO, 4, 100);
	CHECK(peer_closed(&w, WAIT));
	peer_close(&w);
	stop();
}

/* A peer that never answers cannot delay a change, or make the kernel forget the last one. */
TEST(silent_peer)
{
	unsigned int i;

	serve(NULL);
	shake(CHANGE, CHANGE);
	peer_echo(&w, 0, 1, 100);
	for (i = 0; i < 20; i++) {
		op_must_add("tcp", "version=2 checksum=1", NULL);
		CHECK_EQ(version(&srv.s, server_conn), 2);
		op_must_del("tcp");
		CHECK_EQ(version(&srv.s, server_conn), 1);
	}
	op_must_add("tcp", "version=2", NULL);
	expect_features(CRC);	/* of the first one; no other comes before the answer */
	peer_echo(&w, 0, 2, 100);
	op_must_del("tcp");
	peer_send_control(&w, MRPC_WIRE_FEATURES_ACK, CRC);
	expect_features(0);
	peer_close(&w);
	stop();
}

/* -- checksums that are wrong ------------------------------------------------------- */

static void spoilt(int how, u32 data, bool counted)
{
	long long before = raw_file_number(ERRORS);
	uint64_t requests;

	shake(CHANGE | CRC, CHANGE | CRC);
	peer_echo(&w, 0, 1, data);
	requests = raw_server_requests(&srv);
	w.spoil = how;
	peer_call(&w, peer_id(&w, 0), RAW_ECHO, 2, data);	/* may be cut off */
	CHECK(peer_closed(&w, WAIT));
	peer_close(&w);
	CHECK_EQ(raw_server_requests(&srv), requests);
	CHECK_EQ(raw_file_number(ERRORS), before + counted);
}

TEST(wrong_requests)
{
	static const u32 lens[] = { 100, 5000, 50000, LARGE };
	unsigned int i;

	serve("version=2");
	spoilt(PEER_HEAD, 0, true);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		spoilt(PEER_HEAD, lens[i], true);
		spoilt(PEER_BYTES, lens[i], true);
		spoilt(PEER_RESV, lens[i], false);
	}
	stop();
}

/* A change of any byte of a message is noticed. */
TEST_LIMIT(every_byte, 120)
{
	u8 frame[sizeof(struct mrpc_wire_hdr) + 256];
	struct peer to = { .sums = true };
	u32 len, at;
	int fd[2];

	serve("version=2");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		raw_die("socketpair: %m");
	to.fd = fd[0];
	CHECK(peer_call(&to, 1 << 16, RAW_ECHO, 7, 40));
	len = recv(fd[1], frame, sizeof(frame), 0);
	CHECK(len > sizeof(struct mrpc_wire_hdr) + 40 && len < sizeof(frame));
	for (at = 0; at < len; at++) {
		u8 was = frame[at];

		/* The flags and lengths say how much comes. So the server may wait for the rest. */
		frame[at] ^= 1 << at % 8;
		shake(CHANGE | CRC, CHANGE | CRC);
		peer_send(&w, frame, len);	/* may be cut off */
		shutdown(w.fd, SHUT_WR);
		CHECK_MSG(peer_closed(&w, WAIT), "byte %u changed, and nobody minds", at);
		peer_close(&w);
		frame[at] = was;
	}
	CHECK_EQ(raw_server_requests(&srv), 0);
	shake(CHANGE | CRC, CHANGE | CRC);
	CHECK(peer_send(&w, frame, len));
	peer_expect(&w, MRPC_WIRE_REPLY);
	peer_close(&w);
	close(fd[0]);
	close(fd[1]);
	stop();
}

/* A message that is skipped for its size is skipped with its trailer. */
TEST(too_large)
{
	op_del_all();
	memset(&w, 0, sizeof(w));
	op_must_add("tcp", "version=2 checksum=1", NULL);
	raw_server_open(&srv, 4 << 20, 4 << 20);
	srv.max_message = 10000;
	raw_server_start(&srv, "tcp:127.0.0.1:0", 1);
	shake(CHANGE | CRC, CHANGE | CRC);
	CHECK(peer_call(&w, peer_id(&w, 0), RAW_ECHO, 1, 20000));
	peer_expect(&w, MRPC_WIRE_REPLY);
	CHECK_EQ(w.frame.status, MRPC_RESOURCE_EXHAUSTED);
	peer_echo(&w, 0, 2, 5000);
	peer_close(&w);
	stop();
	srv.max_message = 0;
}

/* -- the peer is a server ------------------------------------------------------------ */

struct connecting {
	char addr[64];
	int ret;
	pthread_t thread;
};

static void *connect_to(void *arg)
{
	struct connecting *t = arg;

	t->ret = raw_connect(&c, t->addr);
	return NULL;
}

/* The kernel's client has sent HELLO. Then @words are placed. Then HELLO is answered. */
static int connect_with(const char *words, u64 features)
{
	struct connecting t;
	int fd;
	u16 port;

	memset(&w, 0, sizeof(w));
	raw_open(&c, 16 << 20, 16 << 20);
	raw_qp(&qp, &c, 64, 256, 0);
	fd = peer_listen(&port);
	snprintf(t.addr, sizeof(t.addr), "tcp:127.0.0.1:%u", port);
	if (pthread_create(&t.thread, NULL, connect_to, &t))
		raw_die("no thread");
	CHECK(peer_accept(&w, fd, WAIT));
	close(fd);
	if (words)
		op_must_add("tcp", words, NULL);
	w.features = features;
	peer_welcome(&w);
	pthread_join(t.thread, NULL);
	return t.ret;
}

static void hang_up(void)
{
	peer_close(&w);
	op_del_all();
	raw_close(&c);
	CHECK(raw_sessions(0, 10000));
}

static bool becomes(uint32_t nr)
{
	uint64_t until = raw_now() + WAIT * RAW_MS * raw_scale();

	while (version(&c, conn) != nr && raw_now() < until)
		raw_sleep(RAW_MS);
	return version(&c, conn) == nr;
}

static uint64_t call(uint32_t len)
{
	static uint64_t tag;
	struct mrpc_sqe sqe = raw_sqe(conn, RAW_ECHO, raw_blob(&c, ++tag, len, NULL));

	sqe.user_data = tag;
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	return tag;
}

/* The request comes to the peer. The peer answers, and the caller gets the reply. */
static void answered(uint64_t tag, uint32_t len)
{
	struct mrpc_cqe cqe;

	peer_expect(&w, MRPC_WIRE_CALL);
	if (!raw_is_blob(w.body + mrpc_frame_prefix(&w.frame), mrpc_msg_total(&w.frame.msg), tag,
			 len))
		raw_die("a request of %u bytes has changed on its way", len);
	CHECK(peer_reply(&w, w.frame.call_id, tag, len));
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 20 * RAW_S);
	CHECK_EQ(cqe.user_data, tag);
	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK(raw_is_blob(raw_msg(&c, &cqe), cqe.msg_len, tag, len));
	raw_done(&c, &cqe);
}

/* An engine placed during the handshake applies to the connection. */
TEST(during_the_handshake)
{
	uint64_t tag;

	op_del_all();
	conn = connect_with("version=2 checksum=1", CHANGE);
	CHECK(conn > 0);
	CHECK(becomes(2));
	expect_features(CRC);
	peer_send_control(&w, MRPC_WIRE_FEATURES_ACK, CRC);
	peer_send_control(&w, MRPC_WIRE_FEATURES, CRC);
	peer_expect(&w, MRPC_WIRE_FEATURES_ACK);
	tag = call(50000);
	answered(tag, 50000);
	CHECK(w.frame.flags & MRPC_WIRE_CRC);
	hang_up();
}

TEST(chosen_but_not_offered)
{
	op_del_all();
	conn = connect_with(NULL, CHANGE | CRC);
	CHECK(conn < 0);
	CHECK(strstr(c.why, "the peer broke the protocol"));
	hang_up();
}

/*
 * A message is half sent, and stuck, when its link gets another version. Some messages wait
 * behind it. @up: change to checksums, else from them.
 */
static void half_sent(bool up, u32 len)
{
	uint64_t tag[8];
	unsigned int i, summed = 0;

	op_del_all();
	if (!up)
		op_must_add("tcp", "version=2 checksum=1", NULL);
	conn = connect_with(NULL, CHANGE | (up ? 0 : CRC));
	CHECK(conn > 0);
	if (up) {
		peer_send_control(&w, MRPC_WIRE_FEATURES, CRC);
		peer_expect(&w, MRPC_WIRE_FEATURES_ACK);
	}
	for (i = 0; i < ARRAY_SIZE(tag); i++)
		tag[i] = call(len);
	if (up)
		op_must_add("tcp", "version=2 checksum=1", NULL);
	else
		op_must_del("tcp");
	CHECK_EQ(version(&c, conn), up ? 2 : 1);
	if (len == LARGE)	/* the peer has not read anything: it is stuck */
		CHECK(op_conn_stat(c.setup.session, conn, MRPC_A_CONN_STATS_TX_FRAMES) <
		      (int)ARRAY_SIZE(tag));
	for (i = 0; i < ARRAY_SIZE(tag); i++) {
		peer_expect(&w, MRPC_WIRE_CALL);
		CHECK(raw_is_blob(w.body + mrpc_frame_prefix(&w.frame),
				  mrpc_msg_total(&w.frame.msg), tag[i], len));
		summed += !!(w.frame.flags & MRPC_WIRE_CRC);
	}
	CHECK_EQ(summed, up ? 0 : ARRAY_SIZE(tag));
	expect_features(up ? CRC : 0);
	tag[0] = call(len);
	answered(tag[0], len);
	CHECK_EQ(!!(w.frame.flags & MRPC_WIRE_CRC), up);
	hang_up();
}

TEST(half_sent_by_reference)
{
	half_sent(true, LARGE);
}

TEST(half_sent_with_a_checksum)
{
	half_sent(false, LARGE);
}

TEST(half_sent_small)
{
	half_sent(true, 1000);
	half_sent(false, 1000);
}

/* A message is half received when its link gets another version. @cut: 0: near its end. */
static void half_received(bool sums, u32 cut)
{
	static u8 frame[LARGE + 4096];
	struct peer to = { .sums = sums };
	u32 len = 0, i;
	int fd[2];

	serve(sums ? "version=2" : "version=1");
	shake(CHANGE | CRC, sums ? CHANGE | CRC : CHANGE);
	peer_echo(&w, 0, 1, 100);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		raw_die("socketpair: %m");
	to.fd = fd[0];
	CHECK(peer_call(&to, peer_id(&w, 0), RAW_ECHO, 7, 30000));
	len = recv(fd[1], frame, sizeof(frame), 0);
	CHECK(len > 30000);
	cut = cut ?: len - 4;
	CHECK(peer_send(&w, frame, cut));
	for (i = 0; i < 3; i++) {
		raw_sleep(5 * RAW_MS);
		op_must_set("tcp", "type=tcp version=1", NULL);
		op_must_set("tcp", "type=tcp version=2", NULL);
	}
	CHECK(peer_send(&w, frame + cut, len - cut));
	do {
		CHECK_EQ(peer_recv(&w, WAIT), 1);
	} while (w.frame.type == MRPC_WIRE_FEATURES);
	CHECK_EQ(w.frame.type, MRPC_WIRE_REPLY);
	CHECK_EQ(w.frame.status, MRPC_OK);
	peer_close(&w);
	close(fd[0]);
	close(fd[1]);
	stop();
}

TEST(half_received)
{
	static const u32 cuts[] = { 30, 70, 100, 5000, 30000, 0 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cuts); i++) {
		half_received(false, cuts[i]);
		half_received(true, cuts[i]);
	}
}

static struct {
	volatile uint8_t *at;
	uint32_t len;
	bool stop;
} scribble;

static void *write_on(void *arg)
{
	uint8_t value = 0;
	uint32_t i;

	(void)arg;
	while (!__atomic_load_n(&scribble.stop, __ATOMIC_RELAXED))
		for (i = 0, value++; i < scribble.len; i += 61)
			scribble.at[i] = value;
	return NULL;
}

/* The sum covers the bytes that are sent, even if the application changes them meanwhile. */
TEST(written_meanwhile)
{
	uint64_t sums;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	pthread_t thread;
	unsigned int i;
	uint32_t root;

	op_del_all();
	op_must_add("tcp", "version=2 checksum=1", NULL);
	conn = connect_with(NULL, CHANGE | CRC);
	CHECK(conn > 0);
	root = raw_blob(&c, 1, LARGE, NULL);
	scribble.at = c.send + root + LARGE / 2;
	scribble.len = LARGE / 2;
	scribble.stop = false;
	if (pthread_create(&thread, NULL, write_on, NULL))
		raw_die("no thread");
	for (i = 0; i < 10; i++) {
		sqe = raw_sqe(conn, RAW_ECHO, root);
		CHECK(raw_push(&qp, &sqe));
		CHECK_EQ(raw_enter(&qp, 0, 0), 0);
		peer_expect(&w, MRPC_WIRE_CALL);	/* dies if the sum is wrong */
		CHECK(w.frame.flags & MRPC_WIRE_CRC);
		CHECK(peer_reply(&w, w.frame.call_id, 1, 10));
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 20 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&c, &cqe);
	}
	__atomic_store_n(&scribble.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	sums = op_conn_stat(c.setup.session, conn, MRPC_A_CONN_STATS_TX_CHECKSUMS);
	CHECK(sums >= 10);
	hang_up();
}

/* The caller is told why its calls have ended. */
TEST(wrong_reply)
{
	long long before = raw_file_number(ERRORS);
	char detail[MRPC_MAX_DETAIL + 1];
	struct mrpc_cqe cqe;

	op_del_all();
	op_must_add("tcp", "version=2 checksum=1", NULL);
	conn = connect_with(NULL, CHANGE | CRC);
	CHECK(conn > 0);
	w.sums = true;
	answered(call(5000), 5000);
	call(5000);
	peer_expect(&w, MRPC_WIRE_CALL);
	w.spoil = PEER_BYTES;
	CHECK(peer_reply(&w, w.frame.call_id, 2, 5000));
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 20 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_UNAVAILABLE);
	CHECK_STR(raw_detail(&c, &cqe, detail, sizeof(detail)),
		  "a checksum was wrong: what the peer sent is not what came");
	raw_done(&c, &cqe);
	CHECK_EQ(raw_file_number(ERRORS), before + 1);
	hang_up();
}
