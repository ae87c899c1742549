// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/exec kmod/control kmod/change */
/*
 * Runtimes: kernel threads that run datapaths, and datapaths that move between
 * them while calls pass.
 */
#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "load.h"
#include "operator.h"
#include "peer.h"

static struct raw_pair p;
static struct load l;

static void must(uint8_t cmd, const char *name, const char *words)
{
	int err = op_runtime(cmd, name, words);

	CHECK_MSG(!err, "runtime %s %s: %d: %s", name, words, err, op_why);
}

static void refused(int err, const char *why, uint8_t cmd, const char *name, const char *words)
{
	int got = op_runtime(cmd, name, words);

	CHECK_MSG(got == err, "runtime %s %s: %d, not %d: %s", name, words, got, err, op_why);
	CHECK_MSG(strstr(op_why, why), "runtime %s %s: '%s', not '%s'", name, words, op_why, why);
}

static void begin(void)
{
	op_del_all();
	op_runtime(MRPC_CMD_RUNTIME_DEL, "a", NULL);
	op_runtime(MRPC_CMD_RUNTIME_DEL, "b", NULL);
}

/* Both ends of a connection run on one thread, which really runs them. */
static void runs(const char *how)
{
	uint64_t turns;

	begin();
	raw_pair(&p, how, 1);
	load_start(&l, &p.c, p.conn, 8);
	CHECK(load_more(&l, 20, 20000));
	must(MRPC_CMD_RUNTIME_ADD, "a", "");
	op_must_add("runtime", "on=a", NULL);
	CHECK_EQ(op_runtime_number("a", MRPC_A_RUNTIME_DATAPATHS), 2);
	turns = op_runtime_number("a", MRPC_A_RUNTIME_TURNS);
	CHECK(load_more(&l, 200, 60000));
	CHECK((uint64_t)op_runtime_number("a", MRPC_A_RUNTIME_TURNS) > turns);
	CHECK(op_runtime_number("a", MRPC_A_RUNTIME_RAN) > 0);
	refused(-EBUSY, "2 datapaths are on runtime 'a'", MRPC_CMD_RUNTIME_DEL, "a", NULL);
	op_must_del("runtime");
	must(MRPC_CMD_RUNTIME_DEL, "a", NULL);
	CHECK(load_more(&l, 20, 20000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	CHECK_EQ(l.wrong, 0);
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(runs, runs)

/* Datapaths move to a runtime, to another one and back. Every call is accounted for. */
TEST_LIMIT(moves, 120)
{
	unsigned int i;

	begin();
	raw_pair(&p, "tcp4", 2);
	load_start(&l, &p.c, p.conn, 32);
	must(MRPC_CMD_RUNTIME_ADD, "a", "order=2 turn=16384");
	must(MRPC_CMD_RUNTIME_ADD, "b", "nice=-5 busy=100000");
	for (i = 0; i < 30; i++) {
		op_must_add("runtime", i & 1 ? "on=a side=client" : "on=a", NULL);
		CHECK(load_more(&l, 10, 20000));
		op_must_set("runtime", "on=b", NULL);
		CHECK(load_more(&l, 10, 20000));
		op_must_add("runtime", "on=a name=second side=server", NULL);
		CHECK(load_more(&l, 10, 20000));
		op_must_del("runtime");
		CHECK(load_more(&l, 10, 20000));
		op_must_del("second");
		CHECK(load_more(&l, 10, 20000));
	}
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	CHECK_EQ(l.wrong, 0);
	CHECK_EQ(l.reused, 0);
	raw_pair_end(&p);
	must(MRPC_CMD_RUNTIME_DEL, "a", NULL);
	must(MRPC_CMD_RUNTIME_DEL, "b", NULL);
}

/* New connections are placed, too, and a runtime outlives its connections. */
TEST(inherits)
{
	begin();
	must(MRPC_CMD_RUNTIME_ADD, "a", "");
	op_must_add("runtime", "on=a side=server", NULL);
	CHECK_EQ(op_runtime_number("a", MRPC_A_RUNTIME_DATAPATHS), 0);
	raw_pair(&p, "tcp4", 1);
	CHECK_EQ(op_runtime_number("a", MRPC_A_RUNTIME_DATAPATHS), 1);
	load_start(&l, &p.c, p.conn, 4);
	CHECK(load_more(&l, 50, 20000));
	load_stop(&l);
	raw_pair_end(&p);
	op_must_del("runtime");
	must(MRPC_CMD_RUNTIME_DEL, "a", NULL);
}

static unsigned int bulk_seen, ahead;

/* Called at the server, which has one thread. */
static void note(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)msg;
	if (cqe->priority == 250)
		__atomic_store_n(&ahead, bulk_seen, __ATOMIC_RELEASE);
	else
		bulk_seen++;
}

#define BULK	8

static void submit(struct raw_qp *qp, int conn, uint32_t len, unsigned int nr, uint8_t priority)
{
	while (nr--) {
		struct mrpc_sqe sqe = raw_sqe(conn, RAW_ACK, raw_blob(&p.c, nr, len, NULL));

		sqe.priority = priority;
		sqe.flags = MRPC_SQE_COPY;
		sqe.user_data = sqe.root;
		CHECK(raw_push(qp, &sqe));
	}
	CHECK(raw_enter(qp, 0, 0) >= 0);
}

/*
 * Bulk messages come out of a slow engine. Meanwhile an urgent message comes on another connection.
 * Return: number of bulk messages that the server gets before it.
 */
static unsigned int goes_before(struct raw_qp *qp, int bulk)
{
	struct mrpc_cqe cqe;
	unsigned int i;

	bulk_seen = 0;
	op_must_add("crash", "overrun=200000 side=client", NULL);
	submit(qp, bulk, 16384, BULK, 1);
	raw_sleep(50 * RAW_MS);
	submit(qp, p.conn, 32, 1, 250);
	for (i = 0; i < BULK + 1; i++) {
		raw_expect(qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
		raw_free(&p.c, cqe.user_data);
	}
	op_must_del("crash");
	return __atomic_load_n(&ahead, __ATOMIC_ACQUIRE);
}

/* A turn ends early only if an entity of higher rank comes. */
TEST_LIMIT(urgent, 120)
{
	unsigned int first = BULK, behind = 0, i;
	struct raw_qp qp;
	int bulk;

	begin();
	raw_pair(&p, "tcp4", 1);
	p.srv.seen = note;
	bulk = raw_connect(&p.c, p.addr);
	raw_qp(&qp, &p.c, 16, 64, 0);
	must(MRPC_CMD_RUNTIME_ADD, "a", "order=1");
	op_must_add("runtime", "on=a side=client", NULL);
	/* The machine may stop between the two, so there are several tries. */
	for (i = 0; i < 5 && first; i++)
		first = goes_before(&qp, bulk);
	must(MRPC_CMD_RUNTIME_SET, "a", "order=0");
	for (i = 0; i < 5 && behind < BULK; i++)
		behind = goes_before(&qp, bulk);
	CHECK_MSG(!first && behind == BULK, "%u and %u of %u bulk messages went before", first,
		  behind, BULK);
	raw_pair_end(&p);
	op_must_del("runtime");
	must(MRPC_CMD_RUNTIME_DEL, "a", NULL);
}

/* A datapath that goes makes room at once for the next one. */
TEST(dedicated)
{
	unsigned int i;
	int id;

	begin();
	raw_pair(&p, "tcp4", 1);
	CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
	must(MRPC_CMD_RUNTIME_ADD, "a", "dedicated=1");
	op_must_add("runtime", "on=a side=client", NULL);
	for (i = 0; i < 20; i++) {
		id = raw_connect(&p.c, p.addr);
		CHECK_MSG(id > 0, "connection %u: %d: %s", i, id, p.c.why);
		CHECK_EQ(raw_close_id(&p.c, id, 0, 0), 0);
	}
	op_must_del("runtime");
	raw_pair_end(&p);
	must(MRPC_CMD_RUNTIME_DEL, "a", NULL);
}

static void cannot_connect(void)
{
	CHECK(raw_connect(&p.c, p.addr) < 0);
	CHECK_MSG(strstr(p.c.why, "cannot be made"), "'%s'", p.c.why);
}

/* A datapath may be placed again on the dedicated runtime that it is on; no other one may. */
TEST(dedicated_again)
{
	unsigned int i;
	int id;

	begin();
	raw_pair(&p, "tcp4", 1);
	must(MRPC_CMD_RUNTIME_ADD, "a", "dedicated=1");
	op_must_add("runtime", "on=a side=client", NULL);
	load_start(&l, &p.c, p.conn, 8);
	for (i = 0; i < 5; i++) {
		op_must_set("runtime", "on=a", NULL);
		CHECK_EQ(op_runtime_number("a", MRPC_A_RUNTIME_DATAPATHS), 1);
		CHECK(load_more(&l, 10, 20000));
	}
	op_must_add("runtime", "on=a name=second side=client", NULL);
	must(MRPC_CMD_RUNTIME_SET, "a", "dedicated=1 nice=1");
	CHECK_EQ(op_runtime_number("a", MRPC_A_RUNTIME_DATAPATHS), 1);
	cannot_connect();
	op_must_del("runtime");
	CHECK_EQ(op_runtime_number("a", MRPC_A_RUNTIME_DATAPATHS), 1);
	cannot_connect();
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	/* A new connection is placed on both at once. */
	op_must_add("runtime", "on=a side=client", NULL);
	CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
	CHECK_EQ(op_runtime_number("a", MRPC_A_RUNTIME_DATAPATHS), 0);
	id = raw_connect(&p.c, p.addr);
	CHECK_MSG(id > 0, "%d: %s", id, p.c.why);
	CHECK_EQ(op_runtime_number("a", MRPC_A_RUNTIME_DATAPATHS), 1);
	op_must_del("second");
	op_must_del("runtime");
	raw_pair_end(&p);
	must(MRPC_CMD_RUNTIME_DEL, "a", NULL);
}

static struct peer silent;
static int listener;

static void *welcome(void *arg)
{
	(void)arg;
	if (!peer_accept(&silent, listener, 10000))
		raw_die("the client does not connect");
	peer_welcome(&silent);
	return NULL;
}

/* A connection of @s to a server that sends nothing more. */
static int connect_silent(struct raw *s)
{
	pthread_t thread;
	char addr[64];
	u16 port;
	int conn;

	listener = peer_listen(&port);
	if (pthread_create(&thread, NULL, welcome, NULL))
		raw_die("no thread");
	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", port);
	conn = raw_connect(s, addr);
	pthread_join(thread, NULL);
	if (conn <= 0)
		raw_die("connect: %s", s->why);
	return conn;
}

static bool spinning, stop;

/* Takes the first processor for itself, on command. */
static void *spin(void *arg)
{
	cpu_set_t first;

	(void)arg;
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first) || setpriority(PRIO_PROCESS, 0, -20))
		raw_die("no processor: %s", strerror(errno));
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		if (!__atomic_load_n(&spinning, __ATOMIC_RELAXED))
			raw_sleep(RAW_MS / 5);
	return NULL;
}

/*
 * A call without an answer ends at its deadline. The deadline may pass while its datapath waits for
 * a turn on a runtime and then moves to another one.
 */
static void hangs(struct raw_qp *qp, uint32_t conn, uint32_t root, unsigned int round)
{
	struct mrpc_sqe sqe = raw_sqe(conn, RAW_HANG, root);
	struct mrpc_cqe cqe;

	sqe.timeout_us = 20000;
	CHECK(raw_push(qp, &sqe));
	CHECK(raw_enter(qp, 0, 0) >= 0);
	raw_sleep(8 * RAW_MS);
	__atomic_store_n(&spinning, true, __ATOMIC_RELAXED);
	raw_sleep(16 * RAW_MS);
	op_must_set("runtime", "on=b", NULL);
	__atomic_store_n(&spinning, false, __ATOMIC_RELAXED);
	do {
		if (!raw_next(qp, &cqe, 20 * RAW_S))
			raw_die("round %u: the deadline was forgotten", round);
	} while (cqe.type != MRPC_CQE_REPLY);
	CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
	raw_done(qp->s, &cqe);
	op_must_set("runtime", "on=a", NULL);
}

TEST_LIMIT(deadlines, 120)
{
	struct raw_qp qp;
	pthread_t thread;
	unsigned int i;
	uint32_t root;
	int conn;

	begin();
	raw_open(&p.c, 1 << 20, 1 << 20);
	conn = connect_silent(&p.c);
	raw_qp(&qp, &p.c, 16, 32, 0);
	root = raw_blob(&p.c, 1, 0, NULL);
	must(MRPC_CMD_RUNTIME_ADD, "a", "cpus=0 nice=19");
	must(MRPC_CMD_RUNTIME_ADD, "b", "");
	op_must_add("runtime", "on=a", NULL);
	CHECK_EQ(pthread_create(&thread, NULL, spin, NULL), 0);
	for (i = 0; i < 40; i++)
		hangs(&qp, conn, root, i);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	op_must_del("runtime");
	raw_close(&p.c);
	peer_close(&silent);
	close(listener);
	must(MRPC_CMD_RUNTIME_DEL, "a", NULL);
	must(MRPC_CMD_RUNTIME_DEL, "b", NULL);
}

/* Changed while it runs. Settings that are not given stay. */
TEST(settings)
{
	begin();
	raw_pair(&p, "tcp4", 1);
	load_start(&l, &p.c, p.conn, 8);
	must(MRPC_CMD_RUNTIME_ADD, "a", "cpus=0 nice=5 turn=65536");
	op_must_add("runtime", "on=a", NULL);
	CHECK_EQ(op_runtime_number("a", MRPC_A_RUNTIME_TURN), 65536);
	must(MRPC_CMD_RUNTIME_SET, "a", "fifo=1");
	CHECK_EQ(op_runtime_number("a", MRPC_A_RUNTIME_FIFO), 1);
	CHECK_EQ(op_runtime_number("a", MRPC_A_RUNTIME_TURN), 65536);
	CHECK(load_more(&l, 50, 20000));
	must(MRPC_CMD_RUNTIME_SET, "a", "fifo=0 nice=-3 order=1 busy=50000");
	CHECK_EQ((int32_t)op_runtime_number("a", MRPC_A_RUNTIME_NICE), -3);
	CHECK_EQ(op_runtime_number("a", MRPC_A_RUNTIME_ORDER), 1);
	CHECK(load_more(&l, 50, 20000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	raw_pair_end(&p);
	op_must_del("runtime");
	must(MRPC_CMD_RUNTIME_DEL, "a", NULL);
}

#define ROUNDS	400

/* Sets one property again and again, and checks it each time. */
static void set_again(const char *word, unsigned int attr, unsigned int least)
{
	char words[32];
	unsigned int i, v;

	for (i = 0; i < ROUNDS; i++) {
		v = least + i % 2;
		snprintf(words, sizeof(words), "%s=%u", word, v);
		must(MRPC_CMD_RUNTIME_SET, "a", words);
		CHECK_MSG(op_runtime_number("a", attr) == v, "%s is not %u", word, v);
	}
}

/* A change of one property does not undo a concurrent change of another property. */
TEST(set_at_once)
{
	int status;
	pid_t other;

	begin();
	must(MRPC_CMD_RUNTIME_ADD, "a", "");
	other = fork();
	CHECK_SYS(other);
	op_forget();
	if (!other) {
		set_again("nice", MRPC_A_RUNTIME_NICE, 3);
		_exit(0);
	}
	set_again("turn", MRPC_A_RUNTIME_TURN, 65536);
	CHECK_SYS(waitpid(other, &status, 0));
	CHECK_EQ(status, 0);
	must(MRPC_CMD_RUNTIME_DEL, "a", NULL);
}

TEST(bad_input)
{
	begin();
	must(MRPC_CMD_RUNTIME_ADD, "a", "dedicated=1");
	refused(-EEXIST, "there is a runtime 'a' already", MRPC_CMD_RUNTIME_ADD, "a", "");
	refused(-ENOENT, "there is no runtime 'b'", MRPC_CMD_RUNTIME_SET, "b", "nice=1");
	refused(-ENOENT, "there is no runtime 'b'", MRPC_CMD_RUNTIME_DEL, "b", NULL);
	refused(-ERANGE, "nice is 20", MRPC_CMD_RUNTIME_ADD, "b", "nice=20");
	refused(-ERANGE, "turn is 100", MRPC_CMD_RUNTIME_ADD, "b", "turn=100");
	refused(-ERANGE, "'4000' is no list", MRPC_CMD_RUNTIME_ADD, "b", "cpus=4000");
	refused(-EINVAL, "'x' is no list", MRPC_CMD_RUNTIME_ADD, "b", "cpus=x");
	refused(-EINVAL, "needs a name", MRPC_CMD_RUNTIME_ADD, "", "");
	CHECK_EQ(op_add("runtime", "", NULL, NULL), -EINVAL);
	CHECK_MSG(strstr(op_why, "needs parameter 'on'"), "'%s'", op_why);
	CHECK_EQ(op_add("runtime", "on=b", NULL, NULL), -ENOENT);
	raw_pair(&p, "tcp4", 1);
	CHECK_EQ(op_add("runtime", "on=a", NULL, NULL), -EBUSY);
	CHECK_MSG(strstr(op_why, "is dedicated"), "'%s'", op_why);
	CHECK_EQ(op_runtime_number("a", MRPC_A_RUNTIME_DATAPATHS), 0);
	op_must_add("runtime", "on=a side=client", NULL);
	CHECK_EQ(op_runtime_number("a", MRPC_A_RUNTIME_DATAPATHS), 1);
	op_must_del("runtime");
	raw_pair_end(&p);
	must(MRPC_CMD_RUNTIME_DEL, "a", NULL);
}
