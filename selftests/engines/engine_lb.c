// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/engines/lb kmod/replica kmod/call/carry kmod/lib/balance */
/*
 * The lb engine: which replica gets a call, and what happens to calls when replicas come, go, fail
 * and return.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tap.h"
#include "load.h"
#include "operator.h"

#define REPLICAS	3
#define TAGS		300
#define RUNS		(1 << 20)

enum { ALLOW, DENY };

static struct raw_pair p;
static struct raw_server srv[REPLICAS];
static char addr[REPLICAS][64];
static struct load l;
static char detail[MRPC_MAX_DETAIL + 1];
static int owner[TAGS];

/* Number of runs of each call of the load, in any process. */
static uint8_t *runs;

static void seen(unsigned int who, const void *msg)
{
	uint64_t tag = ((const struct test_Blob *)msg)->tag;

	if (tag < TAGS)
		__atomic_store_n(&owner[tag], who, __ATOMIC_RELEASE);
	if (runs)
		__atomic_add_fetch(&runs[(tag & ((1ULL << 48) - 1)) % RUNS], 1, __ATOMIC_RELAXED);
}

static void seen_0(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)cqe;
	seen(0, msg);
}

static void seen_1(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)cqe;
	seen(1, msg);
}

static void seen_2(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)cqe;
	seen(2, msg);
}

static void (*const seens[REPLICAS])(const struct mrpc_cqe *, const void *) = {
	seen_0, seen_1, seen_2
};

/* Starts replica @i; @port 0: a free port. */
static void serve(unsigned int i, unsigned int port)
{
	char at[64];

	snprintf(at, sizeof(at), "tcp:127.0.0.1:%u", port);
	raw_server_open(&srv[i], 32 << 20, 32 << 20);
	srv[i].seen = seens[i];
	raw_server_start(&srv[i], at, 2);
	snprintf(addr[i], sizeof(addr[i]), "tcp:127.0.0.1:%u", srv[i].s.port);
}

static void begin(const char *how)
{
	unsigned int i;

	op_del_all();
	raw_pair(&p, how, 2);
	for (i = 0; i < REPLICAS; i++)
		serve(i, 0);
}

static void end(void)
{
	unsigned int i;

	op_del_all();
	raw_pair_end(&p);
	for (i = 0; i < REPLICAS; i++)
		raw_server_stop(&srv[i]);
}

/* "members=A=w0,B=w1" of the replicas with a weight that is not negative. */
static const char *members(int w0, int w1, int w2)
{
	const int w[REPLICAS] = { w0, w1, w2 };
	static char text[256];
	unsigned int i, n;

	n = snprintf(text, sizeof(text), "members=");
	for (i = 0; i < REPLICAS; i++)
		if (w[i] >= 0)
			n += snprintf(text + n, sizeof(text) - n, "%s=%d,", addr[i], w[i]);
	text[n - 1] = 0;
	return text;
}

static const char *with(const char *more, int w0, int w1, int w2)
{
	static char text[400];

	snprintf(text, sizeof(text), "%s %s", members(w0, w1, w2), more);
	return text;
}

static int64_t counter(unsigned int i, const char *what)
{
	char name[80];

	snprintf(name, sizeof(name), "%s/%s", addr[i], what);
	return op_counter("lb", name);
}

/* Waits for a counter, because a value read while others run is momentary. */
static void wait_counter(unsigned int i, const char *what, int64_t value)
{
	uint64_t until = raw_now() + 20 * RAW_S * raw_scale();

	while (counter(i, what) != value) {
		CHECK_MSG(raw_now() < until, "%s/%s stays %lld, not %lld", addr[i], what,
			  (long long)counter(i, what), (long long)value);
		raw_sleep(5 * RAW_MS);
	}
}

static unsigned int call_for(uint32_t method, uint64_t tag, uint64_t timeout_us)
{
	uint32_t root = raw_blob(&p.c, tag, 40, "text");
	struct mrpc_sqe sqe = raw_sqe(p.conn, method, root);
	struct mrpc_cqe cqe;

	sqe.timeout_us = timeout_us;
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	detail[0] = 0;
	if (cqe.status == MRPC_OK)
		CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, tag,
				  method == RAW_ECHO ? 40 : 0));
	else
		raw_detail(&p.c, &cqe, detail, sizeof(detail));
	raw_done(&p.c, &cqe);
	raw_free(&p.c, root);
	return cqe.status;
}

static void echo(uint64_t tag)
{
	unsigned int status = call_for(RAW_ECHO, tag, 0);

	CHECK_MSG(status == MRPC_OK, "call %llu: status %u, %s", (unsigned long long)tag, status,
		  detail);
}

/* Waits for all links. They are made while calls wait, or go to replicas that have a link. */
static void link_all(unsigned int nr)
{
	unsigned int i;

	echo(RUNS - 1);
	for (i = 0; i < nr; i++)
		wait_counter(i, "linked", 1);
}

static uint64_t requests(unsigned int i)
{
	return raw_server_requests(&srv[i]);
}

static void check_near(uint64_t got, uint64_t want, uint64_t off)
{
	CHECK_MSG(got + off >= want && got <= want + off, "%llu, not %llu",
		  (unsigned long long)got, (unsigned long long)want);
}

TEST(in_turn)
{
	uint64_t before[REPLICAS];
	unsigned int i;

	begin("tcp4");
	echo(1);
	op_must_add("lb", members(3, 2, 1), NULL);
	link_all(3);
	for (i = 0; i < REPLICAS; i++)
		before[i] = requests(i);
	for (i = 0; i < 120; i++)
		echo(2000 + i);
	for (i = 0; i < REPLICAS; i++) {
		check_near(requests(i) - before[i], 60 - 20 * i, 3);
		CHECK_EQ(counter(i, "picks"), requests(i));
		CHECK_EQ(counter(i, "weight"), 3 - i);
		CHECK_EQ(counter(i, "outstanding"), 0);
		CHECK_EQ(counter(i, "failures"), 0);
	}
	CHECK_EQ(raw_server_requests(&p.srv), 1);
	/* Without the engine the calls go to the server of the connection. */
	op_must_del("lb");
	for (i = 0; i < 10; i++)
		echo(3000 + i);
	CHECK_EQ(raw_server_requests(&p.srv), 11);
	for (i = 0; i < REPLICAS; i++)
		CHECK(raw_server_conns(&srv[i], 0, 10000));
	end();
}

static struct raw_qp qp;

static void push_hang(unsigned int nr)
{
	struct mrpc_sqe sqe;

	while (nr--) {
		sqe = raw_sqe(p.conn, RAW_HANG, raw_blob(&p.c, 5000 + nr, 10, NULL));
		sqe.user_data = nr;
		sqe.flags = MRPC_SQE_COPY;
		CHECK(raw_push(&qp, &sqe));
	}
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
}

TEST(fewest_calls)
{
	begin("tcp4");
	op_must_add("lb", with("policy=least", 3, 1, -1), NULL);
	link_all(2);
	raw_qp(&qp, &p.c, 64, 256, 0);
	push_hang(8);
	CHECK(raw_server_hangs(&srv[0], 6));
	CHECK(raw_server_hangs(&srv[1], 2));
	CHECK_EQ(counter(0, "outstanding"), 6);
	CHECK_EQ(counter(1, "outstanding"), 2);
	end();
}

static void call_tags(void)
{
	unsigned int i;

	for (i = 0; i < TAGS; i++)
		owner[i] = -1;
	for (i = 0; i < TAGS; i++)
		echo(i);
}

TEST(by_field)
{
	int first[TAGS], had[REPLICAS] = { 0 };
	unsigned int i;
	int64_t before;
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;

	begin("tcp4");
	op_must_add("lb", with("policy=hash field=tag", 1, 1, 1), NULL);
	link_all(3);
	call_tags();
	memcpy(first, owner, sizeof(first));
	for (i = 0; i < TAGS; i++) {
		CHECK(first[i] >= 0);
		had[first[i]]++;
	}
	for (i = 0; i < REPLICAS; i++)	/* six standard deviations are 50 */
		check_near(had[i], TAGS / 3, 50);
	call_tags();
	CHECK(!memcmp(first, owner, sizeof(first)));
	/* Only the calls of the removed replica move. All of them come back with it. */
	op_must_set("lb", members(1, -1, 1), NULL);
	CHECK(raw_server_conns(&srv[1], 0, 10000));
	call_tags();
	for (i = 0; i < TAGS; i++) {
		CHECK(owner[i] != 1);
		CHECK(first[i] == 1 || owner[i] == first[i]);
	}
	op_must_set("lb", members(1, 1, 1), NULL);
	wait_counter(1, "linked", 1);
	call_tags();
	CHECK(!memcmp(first, owner, sizeof(first)));
	CHECK_EQ(op_counter("lb", "unkeyed"), 0);
	/* A request of another service does not have the field. */
	sqe = raw_sqe(p.conn, RAW_ECHO_ALL, raw_alloc(&p.c, sizeof(struct test_All)));
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&p.c, &cqe);
	CHECK_EQ(op_counter("lb", "unkeyed"), 1);
	/* Counters do not belong to one configuration. */
	before = op_dir("lb", false, MRPC_A_ENGINE_DIR_RPCS);
	CHECK(before > 0);
	op_must_set("lb", "field=text", NULL);
	CHECK_EQ(op_counter("lb", "unkeyed"), 1);
	CHECK_EQ(op_dir("lb", false, MRPC_A_ENGINE_DIR_RPCS), before);
	end();
}

/* By the content of a byte field, which the engine has copied, and of a string. */
TEST(by_content)
{
	begin("tcp4");
	op_must_add("lb", with("policy=hash field=data", 1, 1, 1), NULL);
	link_all(3);
	call_tags();
	op_must_set("lb", "field=text", NULL);
	call_tags();	/* all calls have the same key */
	CHECK(owner[0] >= 0);
	for (unsigned int i = 1; i < TAGS; i++)
		CHECK_EQ(owner[i], owner[0]);
	CHECK_EQ(op_counter("lb", "unkeyed"), 0);
	end();
}

TEST(nobody_fit)
{
	char words[128];

	begin("tcp4");
	snprintf(words, sizeof(words), "members=tcp:127.0.0.1:%u backoff=60000000000",
		 raw_closed_port(SOCK_STREAM));
	op_must_add("lb", words, NULL);
	CHECK_EQ(call_for(RAW_ECHO, 1, 0), MRPC_UNAVAILABLE);
	CHECK_MSG(strstr(detail, "lb: none of its 1 replicas is fit: tcp:127.0.0.1:"), "%s", detail);
	CHECK_MSG(strstr(detail, "nobody serves this address"), "%s", detail);
	CHECK_EQ(call_for(RAW_ECHO, 1, 0), MRPC_UNAVAILABLE);
	/* Its weight is 0, so it gets no call. */
	op_must_set("lb", members(0, -1, -1), NULL);
	CHECK_EQ(call_for(RAW_ECHO, 1, 0), MRPC_UNAVAILABLE);
	CHECK_EQ(requests(0), 0);
	op_must_set("lb", members(1, -1, -1), NULL);
	echo(1);
	op_must_set("lb", "members=loop:nobody-is-here", NULL);
	CHECK_EQ(call_for(RAW_ECHO, 1, 0), MRPC_UNAVAILABLE);
	CHECK_MSG(strstr(detail, "nobody serves this loop name"), "%s", detail);
	end();
}

/* A replica accepts the connection and is silent. Calls wait until their deadline. */
TEST(silent_replica)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = CHECK_SYS(socket(AF_INET, SOCK_STREAM, 0));
	socklen_t len = sizeof(sin);
	char words[128];

	begin("tcp4");
	CHECK_SYS(bind(fd, (void *)&sin, len));
	CHECK_SYS(listen(fd, 16));
	CHECK_SYS(getsockname(fd, (void *)&sin, &len));
	snprintf(words, sizeof(words), "members=tcp:127.0.0.1:%u", ntohs(sin.sin_port));
	op_must_add("lb", words, NULL);
	CHECK_EQ(call_for(RAW_ECHO, 1, 200000), MRPC_DEADLINE_EXCEEDED);
	CHECK_EQ(call_for(RAW_ECHO, 1, 0), MRPC_UNAVAILABLE);
	CHECK_MSG(strstr(detail, "the replica does not answer"), "%s", detail);
	close(fd);
	end();
}

/* -- calls under way ---------------------------------------------------------------- */

static void begin_runs(void)
{
	runs = mmap(NULL, RUNS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(runs != MAP_FAILED);
}

static void end_runs(bool all)
{
	uint64_t ran = 0;
	unsigned int i;

	for (i = 0; i < RUNS; i++) {
		CHECK_MSG(runs[i] <= 1, "call %u has run %u times", i, runs[i]);
		ran += runs[i];
	}
	CHECK(load_all(&l) < RUNS);
	if (all)
		CHECK_EQ(ran, load_done(&l, MRPC_OK));
	else
		CHECK(ran >= load_done(&l, MRPC_OK));
	munmap(runs, RUNS);
	runs = NULL;
}

static void load_begin(unsigned int in_flight, uint32_t len)
{
	memset(&l, 0, sizeof(l));
	l.len = len;
	load_start(&l, &p.c, p.conn, in_flight);
}

static void live_change(const char *how, uint32_t len, unsigned int rounds)
{
	static const char *const policies[] = {
		"policy=wrr", "policy=least", "policy=hash field=tag"
	};
	unsigned int i;

	begin(how);
	begin_runs();
	p.srv.seen = seen_0;
	load_begin(32, len);
	CHECK(load_more(&l, 100, 20000));
	for (i = 0; i < rounds; i++) {
		if (i % 8 == 0)
			op_must_add("lb", members(1, 1, -1), NULL);
		op_must_set("lb", with(policies[i % 3], i % 5 == 1 ? -1 : (int)(i % 4),
				       1 + i % 3, i % 2 ? 2 : -1), NULL);
		CHECK(load_more(&l, 50, 30000));
		if (i % 8 == 5)	/* both versions use the same replicas */
			op_must_set("lb", "type=lb version=2", NULL);
		CHECK(load_more(&l, 20, 30000));
		if (i % 8 == 7)
			op_must_del("lb");
	}
	load_stop(&l);
	CHECK_MSG(!load_failed(&l), "of %llu calls %llu failed: %s",
		  (unsigned long long)load_all(&l), (unsigned long long)load_failed(&l), l.detail);
	end_runs(true);
	end();
}

TEST_LIMIT(live_change_small, 200)
{
	live_change("tcp4", 60, 40);
}

/* Byte blocks by reference in both directions, over the loop transport to the first server. */
TEST_LIMIT(live_change_large, 200)
{
	live_change("loop", 50000, 16);
}

/* Replies that come over other links pass the engines of the connection. */
TEST_LIMIT(replies_are_judged, 200)
{
	struct op_rules r;

	begin("tcp4");
	op_must_add("lb", members(1, 1, 1), NULL);
	load_begin(16, 30000);
	CHECK(load_more(&l, 100, 30000));
	op_must_add("null", "version=1 side=client", NULL);
	CHECK(load_more(&l, 100, 30000));
	CHECK(op_dir("null", true, MRPC_A_ENGINE_DIR_RPCS) > 50);
	op_must_del("null");
	CHECK(load_more(&l, 100, 30000));
	CHECK_EQ(load_failed(&l), 0);
	op_rules_begin(&r);
	op_rule(&r, DENY, MRPC_DATA_LOSS, "a reply that is too large");
	op_cond_range(&r, MRPC_COND_SIZE, NULL, 100000, 1000000);
	op_must_add("acl", "replies=1 side=client", &r);
	CHECK(load_more(&l, 100, 30000));
	CHECK_EQ(load_failed(&l), 0);
	load_stop(&l);
	CHECK_EQ(call_for(RAW_MAKE, 200000, 0), MRPC_DATA_LOSS);
	CHECK_STR(detail, "a reply that is too large");
	echo(1);
	op_must_del("acl");
	end();
}

/* A new engine takes over the links and counters of the one that it replaces. */
TEST(replaced)
{
	int64_t picks;

	begin("tcp4");
	op_must_add("lb", with("version=1", 1, 1, -1), NULL);
	link_all(2);
	picks = counter(0, "picks") + counter(1, "picks");
	op_must_set("lb", "type=lb version=2", NULL);
	CHECK_EQ(op_number("lb", MRPC_A_ENGINE_VERSION), 2);
	CHECK_EQ(counter(0, "picks") + counter(1, "picks"), picks);
	CHECK_EQ(counter(0, "linked"), 1);
	CHECK_EQ(counter(1, "linked"), 1);
	echo(1);
	CHECK_EQ(counter(0, "picks") + counter(1, "picks"), picks + 1);
	end();
}

static void drained(const char *change)
{
	struct mrpc_cqe cqe;
	struct raw_qp sqp;

	begin("tcp4");
	op_must_add("lb", members(1, -1, -1), NULL);
	link_all(1);
	raw_qp(&qp, &p.c, 64, 256, 0);
	push_hang(1);
	CHECK(raw_server_hangs(&srv[0], 1));
	if (change)
		op_must_set("lb", members(-1, 1, -1), NULL);
	else
		op_must_del("lb");
	echo(1);
	CHECK_EQ(requests(0), 2);
	CHECK(!raw_server_conns(&srv[0], 0, 200));
	raw_qp(&sqp, &srv[0].s, 4, 16, 0);
	raw_server_answer(&sqp, &srv[0].hung[0], MRPC_ABORTED);
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 10 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_ABORTED);
	raw_done(&p.c, &cqe);
	CHECK(raw_server_conns(&srv[0], 0, 10000));
	end();
}

TEST(removed_member_finishes)
{
	drained("members");
}

TEST(removed_engine_finishes)
{
	drained(NULL);
}

static void *drain_replica(void *arg)
{
	*(int *)arg = raw_close_id(&srv[0].s, srv[0].listener, MRPC_CLOSE_DRAIN, 30000000);
	return NULL;
}

/* A draining replica serves the calls it was given before, also those not yet sent. */
TEST(replica_drains)
{
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	pthread_t drain;
	unsigned int i;
	int err;

	begin("tcp4");
	op_must_add("lb", members(1, -1, -1), NULL);
	op_must_add("null", "version=1 side=client", NULL);
	link_all(1);
	raw_qp(&qp, &p.c, 64, 256, 0);
	CHECK_EQ(op_pause("null", 1, true), 0);
	for (i = 0; i < 8; i++) {
		sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, i, 10, NULL));
		sqe.flags = MRPC_SQE_COPY;
		CHECK(raw_push(&qp, &sqe));
	}
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	wait_counter(0, "outstanding", 8);
	CHECK(!pthread_create(&drain, NULL, drain_replica, &err));
	raw_sleep(300 * RAW_MS * raw_scale());
	CHECK_EQ(op_pause("null", 1, false), 0);
	for (i = 0; i < 8; i++) {
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 10 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
	}
	pthread_join(drain, NULL);
	CHECK_EQ(err, 0);
	CHECK_EQ(requests(0), 1 + 8);
	end();
}

/* A call that is given up is given up at the replica, too, and its slot comes back. */
TEST(deadline_and_cancel)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_CANCEL };
	struct mrpc_cqe cqe;

	begin("tcp4");
	op_must_add("lb", members(1, -1, -1), NULL);
	link_all(1);
	CHECK_EQ(call_for(RAW_HANG, 1, 300000), MRPC_DEADLINE_EXCEEDED);
	wait_counter(0, "outstanding", 0);
	raw_qp(&qp, &p.c, 64, 256, 0);
	push_hang(1);
	CHECK(raw_server_hangs(&srv[0], 2));
	CHECK_EQ(counter(0, "outstanding"), 1);
	sqe.conn = p.conn;
	sqe.call = 0;
	CHECK(raw_push(&qp, &sqe));
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 10 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_CANCELLED);
	raw_done(&p.c, &cqe);
	wait_counter(0, "outstanding", 0);
	CHECK_EQ(counter(0, "failures"), 0);
	echo(1);
	end();
}

/* Only the kernel can use the links. */
TEST(links_are_hidden)
{
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	unsigned int id;

	begin("tcp4");
	op_must_add("lb", members(1, 1, 1), NULL);
	link_all(3);
	for (id = p.conn + 1; id < (unsigned int)p.conn + 6; id++) {
		struct mrpc_conn_info info = { .size = sizeof(info), .conn = id };

		CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CONN_INFO, &info), -ENOENT);
		CHECK_EQ(raw_close_id(&p.c, id, 0, 0), -ENOENT);
		sqe = raw_sqe(id, RAW_ECHO, raw_blob(&p.c, 1, 1, NULL));
		raw_call(&p.c, &sqe, &cqe);
		CHECK_EQ(cqe.status, MRPC_INVALID_ARGUMENT);
		raw_done(&p.c, &cqe);
	}
	end();
}

/* -- failure ------------------------------------------------------------------------ */

/* Starts a replica in its own process, which can be killed. Its port is set. */
static pid_t spawn(unsigned int i, unsigned int port)
{
	uint32_t *told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			      0);
	uint64_t until = raw_now() + 20 * RAW_S * raw_scale();
	pid_t pid = CHECK_SYS(fork());

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(i, port);
		__atomic_store_n(told, srv[i].s.port, __ATOMIC_RELEASE);
		for (;;)
			pause();
	}
	while (!__atomic_load_n(told, __ATOMIC_ACQUIRE)) {
		CHECK_MSG(raw_now() < until, "replica %u does not begin to serve", i);
		raw_sleep(RAW_MS);
	}
	snprintf(addr[i], sizeof(addr[i]), "tcp:127.0.0.1:%u", *told);
	munmap(told, 4096);
	return pid;
}

static void finish(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
}

TEST_LIMIT(replica_killed, 300)
{
	unsigned int round, port;
	pid_t pid[2];
	uint64_t bad;

	op_del_all();
	raw_pair(&p, "tcp4", 1);
	begin_runs();
	pid[0] = spawn(0, 0);
	pid[1] = spawn(1, 0);
	op_must_add("lb", with("backoff=50000000", 1, 1, -1), NULL);
	link_all(2);
	load_begin(32, 100);
	for (round = 0; round < 6; round++) {
		CHECK(load_more(&l, 200, 30000));
		bad = load_failed(&l);
		finish(pid[0]);
		CHECK(load_more(&l, 200, 30000));
		/* At most the calls under way, and those made before the loss was known. */
		CHECK(load_failed(&l) <= bad + 2 * 32);
		port = atoi(strrchr(addr[0], ':') + 1);
		pid[0] = spawn(0, port);
		wait_counter(0, "linked", 1);
	}
	load_stop(&l);
	CHECK_EQ(load_except(&l, 1 << MRPC_OK | 1 << MRPC_UNAVAILABLE), 0);
	end_runs(false);
	op_del_all();
	finish(pid[0]);
	finish(pid[1]);
	raw_pair_end(&p);
}

/* A replica answers only that it is not available. Later it is well again. */
TEST_LIMIT(ejected_and_back, 120)
{
	char words[64];
	int64_t picks;
	pid_t pid;

	op_del_all();
	raw_pair(&p, "tcp4", 1);
	serve(1, 0);
	pid = spawn(0, 0);
	op_must_add("lb", with("failures=3 backoff=200000000", 1, 1, -1), NULL);
	link_all(2);
	snprintf(words, sizeof(words), "abort_percent=10000 side=server pid=%d", pid);
	op_must_add("fault", words, NULL);
	load_begin(4, 10);
	wait_counter(0, "ejected", 1);
	CHECK(load_more(&l, 50, 30000));
	CHECK_EQ(counter(0, "linked"), 1);
	CHECK(load_done(&l, MRPC_UNAVAILABLE) >= 3);
	op_must_del("fault");
	wait_counter(0, "suspect", 0);
	wait_counter(0, "ejected", 0);
	picks = counter(0, "picks");
	CHECK(load_more(&l, 100, 30000));
	CHECK(counter(0, "picks") > picks + 20);
	load_stop(&l);
	op_del_all();
	finish(pid);
	raw_pair_end(&p);
	raw_server_stop(&srv[1]);
}

/* The client's process dies with calls under way on all links. */
TEST_LIMIT(client_killed, 120)
{
	unsigned int round, i;
	uint64_t until;

	begin("tcp4");
	op_must_add("lb", members(1, 1, 1), NULL);
	for (round = 0; round < 8; round++) {
		pid_t pid = CHECK_SYS(fork());

		if (!pid) {
			struct raw c;

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			raw_open(&c, 8 << 20, 8 << 20);
			memset(&l, 0, sizeof(l));
			l.len = round % 2 ? 50000 : 10;
			load_start(&l, &c, raw_connect(&c, p.addr), 16);
			for (;;)
				pause();
		}
		until = raw_now() + 20 * RAW_S * raw_scale();
		while (requests(2) < 20 * (round + 1)) {
			CHECK_MSG(raw_now() < until, "round %u: no calls come", round);
			raw_sleep(RAW_MS);
		}
		finish(pid);
		for (i = 0; i < REPLICAS; i++)	/* the link of this test's connection stays */
			CHECK(raw_server_conns(&srv[i], 1, 10000));
	}
	CHECK_EQ(raw_server_requests(&p.srv), 0);
	end();
}

/* The links count as the user's connections. */
static void one_connection(void)
{
	raw_open(&p.c, 65536, 65536);
	p.conn = raw_connect(&p.c, p.addr);
	CHECK(p.conn > 0);
	CHECK_EQ(call_for(RAW_ECHO, 1, 0), MRPC_UNAVAILABLE);
	CHECK_MSG(strstr(detail, "this user has too many connections"), "%s", detail);
}

TEST(limited)
{
	int status;
	pid_t pid;

	begin("tcp4");
	op_must_add("lb", members(1, -1, -1), NULL);
	CHECK(raw_file_write(RAW_KNOBS "max_conns", "1"));
	CHECK_SYS(chmod("/dev/mrpc", 0666));
	pid = CHECK_SYS(fork());
	if (!pid) {
		CHECK_SYS(setgid(65534));
		CHECK_SYS(setuid(65534));
		one_connection();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_SYS(chmod("/dev/mrpc", 0660));
	CHECK(raw_file_write(RAW_KNOBS "max_conns", "16384"));
	CHECK_EQ(status, 0);
	end();
}

/* An instance with nothing to do can be paused. It runs afterwards. */
TEST(held)
{
	begin("tcp4");
	op_must_add("lb", members(1, 1, -1), NULL);
	link_all(2);
	CHECK_EQ(op_pause("lb", 1, true), 0);
	CHECK_EQ(call_for(RAW_ECHO, 1, 200000), MRPC_DEADLINE_EXCEEDED);
	CHECK_EQ(op_pause("lb", 1, false), 0);
	echo(1);
	op_must_del("lb");
	echo(2);
	CHECK_EQ(raw_server_requests(&p.srv), 1);
	end();
}

/* -- refused configurations --------------------------------------------------------- */

static void refused(const char *words, const char *why)
{
	int err = op_add("lb", words, NULL, NULL);

	CHECK_MSG(err < 0 && strstr(op_why, why), "add lb %s: %d: '%s', not '%s'", words, err,
		  op_why, why);
}

TEST(bad_input)
{
	char many[400];
	unsigned int i, n;

	op_del_all();
	refused("", "'members'");
	refused("members=tcp", "'tcp' is no member: like tcp:10.0.0.1:7000");
	refused("members=tcp:10.0.0.1", "'tcp:10.0.0.1' is no member");
	refused("members=tcp:10.0.0.1:0", "is no member");
	refused("members=tcp:10.0.0.1:00", "is no member");
	refused("members=tcp:10.0.0.1:010", "is no member");
	refused("members=tcp:10.0.0.1:0x50", "is no member");
	refused("members=tcp:10.0.0.1:", "is no member");
	refused("members=tcp:10.0.0.1:70000", "is no member");
	refused("members=tcp:10.0.0.300:7", "is no member");
	refused("members=tcp:::1:7", "is no member");
	refused("members=tcp:1.2.3.4:5,,tcp:1.2.3.4:6", "'' is no member");
	refused("members=loop:", "'loop:' is no member");
	refused("members=carrier:1.2.3.4:5", "there is no transport 'carrier'");
	refused("members=tcp:1.2.3.4:5=x", "the weight 'x' must be 0 to 100");
	refused("members=tcp:1.2.3.4:5=101", "the weight '101' must be 0 to 100");
	refused("members=tcp:1.2.3.4:5,tcp:1.2.3.4:5=2", "'tcp:1.2.3.4:5' is there twice");
	refused("members=loop:a-name-that-is-longer-than-any-that-a-counter-can-have",
		"is too long: a member has at most 51 bytes");
	refused("members=tcp:1.2.3.4:5 policy=hash", "policy hash needs a field");
	refused("members=tcp:1.2.3.4:5 failures=0", "failures");
	refused("members=tcp:1.2.3.4:5 fallback=maybe", "fallback: 'maybe' is no choice");
	n = snprintf(many, sizeof(many), "members=");
	for (i = 0; i < 17; i++)
		n += snprintf(many + n, sizeof(many) - n, "%stcp:1.2.3.4:%u", i ? "," : "", 1 + i);
	refused(many, "more than 16 members");
	/* A refused change leaves nothing behind. */
	op_must_add("lb", "members=tcp:[::1]:7=0,tcp:1.2.3.4:7", NULL);
	CHECK(op_set("lb", "members=tcp", NULL, NULL) < 0);
	CHECK_EQ(op_counter("lb", "tcp:1.2.3.4:7/weight"), 1);
	CHECK_EQ(op_counter("lb", "tcp:[::1]:7/weight"), 0);
	op_must_del("lb");
}
