// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/change/link_version kmod/lib/message/feature */
/*
 * Another version of the transport under live connections: which connection has which version, old
 * and new ends together, and that no call is lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "tap.h"
#include "load.h"
#include "operator.h"
#include "peer.h"

#define OLD	1
#define NEW	2
#define WAIT	20000	/* ms */

static struct raw_pair p;
static uint32_t server_conn;	/* of the request that came last */

static void seen(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)msg;
	__atomic_store_n(&server_conn, cqe->conn, __ATOMIC_RELEASE);
}

/* Begins with a pair. Engines that are already placed apply to it. */
static void begin(const char *how)
{
	raw_server_open(&p.srv, 16 << 20, 16 << 20);
	p.srv.seen = seen;
	raw_open(&p.c, 16 << 20, 16 << 20);
	raw_pair_start(&p, how, 1);
}

static void end(void)
{
	op_del_all();
	raw_pair_end(&p);
	CHECK(raw_sessions(0, 10000));
}

static int64_t version(const struct raw *s, uint32_t conn)
{
	return op_conn(s->setup.session, conn, MRPC_A_CONN_TRANSPORT_VERSION);
}

static void echo(struct raw *c, int conn, uint32_t len)
{
	uint64_t tag = raw_now();
	uint32_t root = raw_blob(c, tag, len, "a text");
	struct mrpc_sqe sqe = raw_sqe(conn, RAW_ECHO, root);
	struct mrpc_cqe cqe;

	if (raw_call(c, &sqe, &cqe) || cqe.status != MRPC_OK ||
	    !raw_is_blob(raw_msg(c, &cqe), cqe.msg_len, tag, len))
		raw_die("a call with %u bytes: status %u", len, cqe.status);
	raw_done(c, &cqe);
	raw_free(c, root);
}

/* Sends a message in all possible ways: whole, copied, by reference, in pieces. */
static void echo_all(struct raw *c, int conn)
{
	static const uint32_t lens[] = { 0, 1, 100, 1000, 5000, 16384, 16385, 300000, 3000001 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++)
		echo(c, conn, lens[i]);
}

static uint64_t sums(const struct raw *s, uint32_t conn, bool rx)
{
	int64_t n = op_conn_stat(s->setup.session, conn, rx ? MRPC_A_CONN_STATS_RX_CHECKSUMS :
				 MRPC_A_CONN_STATS_TX_CHECKSUMS);

	return n < 0 ? 0 : n;
}

/* Calls until requests (or replies) come with checksums, or without. */
static bool becomes(bool requests, bool on)
{
	uint64_t until = raw_now() + WAIT * RAW_MS * raw_scale(), before, now;

	do {
		before = requests ? sums(&p.srv.s, server_conn, true) : sums(&p.c, p.conn, true);
		echo(&p.c, p.conn, 100);
		now = requests ? sums(&p.srv.s, server_conn, true) : sums(&p.c, p.conn, true);
		if ((now > before) == on)
			return true;
	} while (raw_now() < until);
	return false;
}

static const char *scope(const struct raw *s, const char *words)
{
	static char text[128];

	snprintf(text, sizeof(text), "session=%u %s", s->setup.session, words);
	return text;
}

/* Only connections in the scope of a version have it. */
TEST(scopes)
{
	struct op_change c;
	struct raw other;
	int conn, later;

	op_del_all();
	begin("tcp4");
	raw_open(&other, 1 << 20, 1 << 20);
	conn = raw_connect(&other, p.addr);
	CHECK(conn > 0);
	echo(&p.c, p.conn, 100);
	CHECK_EQ(version(&p.c, p.conn), OLD);
	CHECK_EQ(version(&p.srv.s, server_conn), OLD);
	CHECK_EQ(op_add("tcp", scope(&p.c, "version=2 name=up"), NULL, &c), 0);
	CHECK_EQ(c.matched, 1);
	CHECK_EQ(c.changed, 1);
	CHECK_EQ(version(&p.c, p.conn), NEW);
	CHECK_EQ(version(&other, conn), OLD);
	CHECK_EQ(version(&p.srv.s, server_conn), OLD);
	/* The version is loaded now, but connections out of scope do not use it. */
	later = raw_connect(&other, p.addr);
	CHECK(later > 0);
	CHECK_EQ(version(&other, later), OLD);
	later = raw_connect(&p.c, p.addr);
	CHECK(later > 0);
	CHECK_EQ(version(&p.c, later), NEW);
	echo_all(&p.c, p.conn);
	echo_all(&p.c, later);
	echo(&other, conn, 100);
	op_must_set("up", "type=tcp version=1", NULL);
	CHECK_EQ(version(&p.c, p.conn), OLD);
	op_must_set("up", "type=tcp version=2", NULL);
	op_must_del("up");
	CHECK_EQ(version(&p.c, p.conn), OLD);
	CHECK_EQ(version(&p.c, later), OLD);
	echo_all(&p.c, p.conn);
	raw_close(&other);
	end();
}

/* The placement nearest to the wire counts, as with runtimes. */
TEST(two_placements)
{
	op_del_all();
	begin("tcp4");
	op_must_add("tcp", "name=a version=2", NULL);
	op_must_add("tcp", "name=b version=1", NULL);
	CHECK_EQ(version(&p.c, p.conn), OLD);
	op_must_del("b");
	CHECK_EQ(version(&p.c, p.conn), NEW);
	op_must_add("tcp", "name=b version=1 before=a", NULL);
	CHECK_EQ(version(&p.c, p.conn), NEW);
	op_must_set("a", "type=null version=1", NULL);
	CHECK_EQ(version(&p.c, p.conn), OLD);
	echo_all(&p.c, p.conn);
	end();
}

TEST(loop_has_no_versions)
{
	op_del_all();
	begin("loop");
	op_must_add("tcp", "version=2 checksum=1 name=up", NULL);
	CHECK_EQ(op_number("up", MRPC_A_ENGINE_DATAPATHS), 0);
	CHECK_EQ(version(&p.c, p.conn), 1);
	echo_all(&p.c, p.conn);
	end();
}

/* {old, new} x {old, new}, agreed by the handshake or while the connection lives. */
static void matrix(int client, int server, bool live)
{
	char words[2][64];

	snprintf(words[0], sizeof(words[0]), "name=c side=client version=%d%s", client,
		 client == NEW ? " checksum=1" : "");
	snprintf(words[1], sizeof(words[1]), "name=s side=server version=%d%s", server,
		 server == NEW ? " checksum=1" : "");
	op_del_all();
	if (!live) {
		op_must_add("tcp", words[0], NULL);
		op_must_add("tcp", words[1], NULL);
	}
	begin("tcp4");
	echo(&p.c, p.conn, 100);
	if (live) {
		op_must_add("tcp", words[1], NULL);
		op_must_add("tcp", words[0], NULL);
	}
	CHECK_EQ(version(&p.c, p.conn), client);
	CHECK_EQ(version(&p.srv.s, server_conn), server);
	if (client == NEW && server == NEW) {
		CHECK(becomes(true, true));
		CHECK(becomes(false, true));
	}
	echo_all(&p.c, p.conn);
	if (client == NEW && server == NEW) {
		CHECK_EQ(sums(&p.c, p.conn, false) > 9, 1);
		if (!live)	/* from the first call on, but not the handshake */
			CHECK_EQ(sums(&p.srv.s, server_conn, true) + 1,
				 op_conn_stat(p.srv.s.setup.session, server_conn,
					      MRPC_A_CONN_STATS_RX_FRAMES));
	} else {
		CHECK_EQ(sums(&p.c, p.conn, false) + sums(&p.c, p.conn, true), 0);
		CHECK_EQ(sums(&p.srv.s, server_conn, false), 0);
	}
	/* The client first loses features that the server lacks, so nothing breaks. */
	op_must_del("s");
	CHECK(becomes(true, false));
	echo_all(&p.c, p.conn);
	op_must_del("c");
	CHECK(becomes(false, false));
	echo_all(&p.c, p.conn);
	end();
}

TEST_LIMIT(matrix_handshake, 120)
{
	matrix(OLD, OLD, false);
	matrix(OLD, NEW, false);
	matrix(NEW, OLD, false);
	matrix(NEW, NEW, false);
}

TEST_LIMIT(matrix_live, 120)
{
	matrix(OLD, OLD, true);
	matrix(OLD, NEW, true);
	matrix(NEW, OLD, true);
	matrix(NEW, NEW, true);
}

/* Only an end that wants checksums sends them. The receiver is upgraded first. */
TEST(receiver_first)
{
	op_del_all();
	begin("tcp4");
	echo(&p.c, p.conn, 100);
	op_must_add("tcp", "name=s side=server version=1", NULL);
	op_must_add("tcp", "name=c side=client version=1", NULL);
	op_must_set("s", "type=tcp version=2", NULL);
	echo_all(&p.c, p.conn);
	CHECK_EQ(sums(&p.srv.s, server_conn, true), 0);
	op_must_set("c", "type=tcp version=2", NULL);
	echo_all(&p.c, p.conn);
	CHECK_EQ(sums(&p.srv.s, server_conn, true), 0);
	op_must_set("c", "checksum=1", NULL);
	CHECK(becomes(true, true));
	CHECK_EQ(sums(&p.c, p.conn, true), 0);
	op_must_set("s", "checksum=1", NULL);
	CHECK(becomes(false, true));
	op_must_set("c", "checksum=0", NULL);
	CHECK(becomes(true, false));
	CHECK(becomes(false, true));
	echo_all(&p.c, p.conn);
	end();
}

/* A is in the scope, B is not. A gains checksums, B does not change. */
TEST(others_unaffected)
{
	static struct load a, b;
	struct op_change c;
	struct raw other;
	unsigned int i;
	int conn;

	op_del_all();
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	op_must_add("tcp", "name=s side=server version=2", NULL);
	begin("tcp4");
	raw_open(&other, 4 << 20, 4 << 20);
	conn = raw_connect(&other, p.addr);
	CHECK(conn > 0);
	a.len = b.len = 2000;
	load_start(&a, &p.c, p.conn, 8);
	load_start(&b, &other, conn, 8);
	CHECK(load_more(&a, 20, WAIT) && load_more(&b, 20, WAIT));
	op_must_add("tcp", scope(&p.c, "name=c version=1"), NULL);
	for (i = 0; i < 5; i++) {
		CHECK_EQ(op_set("c", "type=tcp version=2 checksum=1", NULL, &c), 0);
		CHECK_EQ(c.matched, 1);
		CHECK_EQ(c.changed, 1);
		CHECK(load_more(&a, 20, WAIT) && load_more(&b, 20, WAIT));
		CHECK_EQ(version(&p.c, p.conn), NEW);
		CHECK_EQ(version(&other, conn), OLD);
		CHECK_EQ(op_set("c", "type=tcp version=1", NULL, &c), 0);
		CHECK_EQ(c.changed, 1);
	}
	CHECK(sums(&p.c, p.conn, false) > 0);
	CHECK_EQ(sums(&other, conn, false), 0);
	load_stop(&a);
	load_stop(&b);
	CHECK_EQ(load_failed(&a), 0);
	CHECK_EQ(load_failed(&b), 0);
	raw_close(&other);
	end();
}

#define LOADS	8

/* Changes to and fro under calls of all sizes: at once, step by step, and back. */
TEST_LIMIT(load, 180)
{
	static const uint32_t lens[LOADS] = { 0, 64, 64, 2000, 10000, 40000, 100000, 400000 };
	static struct load l[LOADS];
	struct op_change c;
	unsigned int i, round;
	char words[64];

	op_del_all();
	memset(l, 0, sizeof(l));
	raw_server_open(&p.srv, 48 << 20, 48 << 20);
	raw_open(&p.c, 48 << 20, 48 << 20);
	raw_pair_start(&p, "tcp4", 4);
	for (i = 0; i < LOADS; i++) {
		int conn = raw_connect(&p.c, p.addr);

		CHECK(conn > 0);
		l[i].len = lens[i];
		load_start(&l[i], &p.c, conn, lens[i] > 50000 ? 4 : 16);
	}
	op_must_add("tcp", "name=up version=1", NULL);
	for (round = 0; round < 36; round++) {
		snprintf(words, sizeof(words), "type=tcp version=%u%s%s", 2 - round % 2,
			 round % 2 ? "" : round % 4 ? " checksum=1" : " checksum=0",
			 round % 3 == 2 ? " percent=50" : "");
		CHECK_EQ(op_set("up", words, NULL, &c), 0);
		CHECK_EQ(c.leaked, 0);
		CHECK(load_more(&l[round % LOADS], 3, WAIT));
		if (round % 3 == 2)
			CHECK_EQ(op_step("up", round % 2 ? 100 : 0, &c), 0);
		CHECK(load_more(&l[7 - round % LOADS], 3, WAIT));
	}
	for (i = 0; i < LOADS; i++)
		CHECK(load_more(&l[i], 3, WAIT));
	for (i = 0; i < LOADS; i++) {
		load_stop(&l[i]);
		CHECK_MSG(!load_failed(&l[i]), "%u: %s", i, l[i].detail);
	}
	end();
}

#define CONNS	10

/* Changes a share of the connections, old and new; then back, or to the end. */
TEST(gradual)
{
	int conns[2 * CONNS] = { 0 };
	unsigned int i, new;
	struct op_change c;

	op_del_all();
	begin("tcp4");
	for (i = 0; i < CONNS; i++)
		conns[i] = raw_connect(&p.c, p.addr);
	CHECK_EQ(op_add("tcp", "name=up side=client version=2 percent=40", NULL, &c), 0);
	CHECK(c.changed > 0 && c.changed < CONNS);
	CHECK_EQ(op_number("up", MRPC_A_ENGINE_DATAPATHS), c.changed);
	for (; i < 2 * CONNS; i++)
		conns[i] = raw_connect(&p.c, p.addr);
	for (i = new = 0; i < 2 * CONNS; i++) {
		CHECK(conns[i] > 0);
		echo(&p.c, conns[i], 20000);
		new += version(&p.c, conns[i]) == NEW;
	}
	new += version(&p.c, p.conn) == NEW;
	CHECK_EQ(op_number("up", MRPC_A_ENGINE_DATAPATHS), new);
	CHECK(new > 4 && new < CONNS + 6);
	CHECK_EQ(op_step("up", 0, &c), 0);
	CHECK_EQ(c.changed, new);
	for (i = 0; i < 2 * CONNS; i++)
		CHECK_EQ(version(&p.c, conns[i]), OLD);
	CHECK_EQ(op_add("tcp", "name=up side=client version=2 percent=40", NULL, &c), 0);
	CHECK_EQ(op_step("up", 100, &c), 0);
	for (i = 0; i < 2 * CONNS; i++) {
		CHECK_EQ(version(&p.c, conns[i]), NEW);
		echo(&p.c, conns[i], 20000);
	}
	end();
}

/* If a version fails to take a link over, all links stay as they were. */
TEST(taken_back)
{
	struct op_change c;
	unsigned int i;
	int conns[4];

	op_del_all();
	begin("tcp4");
	for (i = 0; i < ARRAY_SIZE(conns); i++)
		conns[i] = raw_connect(&p.c, p.addr);
	CHECK_EQ(op_add("tcp", "name=up side=client version=90 fail=2", NULL, &c), -EIO);
	CHECK_STR(op_why, "tcp@90 fails to take over a link, as it was told");
	CHECK(c.failed && c.rolled_back);
	for (i = 0; i < ARRAY_SIZE(conns); i++)
		CHECK_EQ(version(&p.c, conns[i]), OLD);
	op_must_add("tcp", "name=s side=server version=2", NULL);
	op_must_add("tcp", "name=up side=client version=2 checksum=1", NULL);
	CHECK_EQ(op_set("up", "type=tcp version=90 fail=3", NULL, &c), -EIO);
	CHECK(c.failed && c.rolled_back);
	for (i = 0; i < ARRAY_SIZE(conns); i++) {
		CHECK_EQ(version(&p.c, conns[i]), NEW);
		echo_all(&p.c, conns[i]);
	}
	CHECK(becomes(true, true));
	/* If the wanted version fails, a new connection begins with the present one. */
	op_must_set("up", "type=tcp version=90 fail=5", NULL);
	conns[0] = raw_connect(&p.c, p.addr);
	CHECK(conns[0] > 0);
	echo_all(&p.c, conns[0]);
	CHECK_EQ(version(&p.c, conns[0]), OLD);
	end();
}

TEST(not_there)
{
	struct op_change c;

	op_del_all();
	begin("tcp4");
	CHECK_EQ(op_add("tcp", "version=3", NULL, &c), -ENOENT);
	CHECK(strstr(op_why, "has no version 3"));
	CHECK_EQ(op_add("loop", "version=1", NULL, &c), -ENOENT);
	CHECK_EQ(op_add("tcp", "version=1 checksum=1", NULL, &c), -ENOENT);
	CHECK(strstr(op_why, "has no parameter 'checksum'"));
	CHECK_EQ(op_add("tcp", "version=2 checksum=2", NULL, &c), -ERANGE);
	CHECK_EQ(version(&p.c, p.conn), OLD);
	end();
}

static int unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

static void must_unload(const char *name)
{
	uint64_t until = raw_now() + 10 * RAW_S * raw_scale();
	int err;

	while ((err = unload(name)) && raw_now() < until)
		raw_sleep(10 * RAW_MS);
	CHECK_MSG(!err, "%s: %s", name, strerror(-err));
}

/* Placements keep a version's module. It can go when they have gone. */
TEST(modules)
{
	unsigned int i;

	op_del_all();
	begin("tcp4");
	for (i = 0; i < 3; i++) {
		op_must_add("tcp", "name=up version=2 checksum=1", NULL);
		CHECK_EQ(unload("mrpc_tcp_2"), -EAGAIN);
		echo_all(&p.c, p.conn);
		CHECK_EQ(unload("mrpc_tcp"), -EAGAIN);	/* every link may go back to it */
		op_must_del("up");
		must_unload("mrpc_tcp_2");
		echo_all(&p.c, p.conn);
	}
	end();
}
