// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/engines/lb kmod/replica kmod/call/carry kmod/lib/balance */
/*
 * The lb engine: what happens to calls when replicas come, go, fail and return.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tap.h"
#include "load.h"
#include "operator.h"
#include "replicas.h"

enum { ALLOW, DENY };

static struct load l;

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
