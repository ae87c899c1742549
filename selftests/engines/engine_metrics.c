// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/engines/metrics kmod/lib/ds/hist */
/*
 * The metrics engine: its counters match what has happened.
 */
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "load.h"
#include "operator.h"

static struct raw_pair p;
static struct load l;

/* Makes a call. Return: its time, ns. */
static uint64_t call(uint32_t method, uint64_t tag, uint64_t timeout_us, unsigned int want)
{
	uint32_t root = raw_blob(&p.c, tag, 100, "why");
	struct mrpc_sqe sqe = raw_sqe(p.conn, method, root);
	uint64_t start = raw_now();
	struct mrpc_cqe cqe;

	sqe.timeout_us = timeout_us;
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	start = raw_now() - start;
	CHECK_EQ(cqe.status, want);
	raw_done(&p.c, &cqe);
	raw_free(&p.c, root);
	return start;
}

/* @each: expected counts, of both ends together */
static void check_counts(const char *how, const char *side, unsigned int each)
{
	uint64_t all = 0;
	unsigned int i;

	op_del_all();
	raw_pair(&p, how, 1);
	call(RAW_ECHO, 1, 0, MRPC_OK);
	op_must_add("metrics", side, NULL);
	CHECK_EQ(op_counter("metrics", "calls"), 0);
	for (i = 0; i < 50; i++)
		all += call(RAW_ECHO, i, 0, MRPC_OK);
	for (i = 0; i < 7; i++)
		all += call(RAW_FAIL, MRPC_NOT_FOUND, 0, MRPC_NOT_FOUND);
	for (i = 0; i < 3; i++)
		all += call(RAW_FAIL, MRPC_DATA_LOSS, 0, MRPC_DATA_LOSS);
	CHECK_EQ(op_counter("metrics", "calls"), 60 * each);
	CHECK_EQ(op_counter("metrics", "status_0"), 50 * each);
	CHECK_EQ(op_counter("metrics", "status_5"), 7 * each);
	CHECK_EQ(op_counter("metrics", "status_15"), 3 * each);
	CHECK_EQ(op_counter("metrics", "status_4"), -1);
	CHECK_EQ(op_counter("metrics", "uncounted"), 0);
	CHECK(op_counter("metrics", "latency_p50_ns") > 1000);
	/* No end of a call measures more time than its caller. */
	CHECK(op_counter("metrics", "latency_mean_ns") <= (int64_t)(all / 60));
	CHECK(op_counter("metrics", "latency_p50_ns") <= op_counter("metrics", "latency_p99_ns"));
	CHECK(op_counter("metrics", "latency_p99_ns") <= op_counter("metrics", "latency_max_ns"));
	op_must_del("metrics");
	raw_pair_end(&p);
}

/* A change in progress has two configurations. They count in one place. */
TEST(counts_once)
{
	int64_t most;
	unsigned int i;

	op_del_all();
	raw_pair(&p, "tcp4", 1);
	op_must_add("metrics", "side=client", NULL);
	for (i = 0; i < 10; i++)
		call(RAW_ECHO, i, 0, MRPC_OK);
	most = op_counter("metrics", "latency_max_ns");
	op_must_set("metrics", "series=100 percent=1", NULL);
	CHECK_EQ(op_counter("metrics", "calls"), 10);
	CHECK_EQ(op_counter("metrics", "status_0"), 10);
	CHECK_EQ(op_counter("metrics", "latency_max_ns"), most);
	CHECK_EQ(op_step("metrics", 100, NULL), 0);
	CHECK_EQ(op_counter("metrics", "calls"), 10);
	op_must_del("metrics");
	raw_pair_end(&p);
}

TEST(counts_client)
{
	check_counts("tcp4", "side=client", 1);
}

TEST(counts_server)
{
	check_counts("tcp4", "side=server", 1);
}

TEST(counts_loop)
{
	check_counts("loop", "", 2);
}

/* Calls that end without an answer of the server's application. */
TEST(other_ends)
{
	op_del_all();
	raw_pair(&p, "tcp4", 1);
	op_must_add("metrics", "side=client", NULL);
	call(RAW_HANG, 1, 50000, MRPC_DEADLINE_EXCEEDED);
	CHECK_EQ(op_counter("metrics", "status_4"), 1);
	op_must_add("fault", "abort_percent=10000 side=client", NULL);
	call(RAW_ECHO, 1, 0, MRPC_UNAVAILABLE);
	CHECK_EQ(op_counter("metrics", "status_14"), 1);
	op_must_del("fault");
	op_must_add("fault", "abort_percent=10000 abort_status=ABORTED side=server", NULL);
	call(RAW_ECHO, 1, 0, MRPC_ABORTED);
	CHECK_EQ(op_counter("metrics", "status_10"), 1);
	CHECK_EQ(op_counter("metrics", "calls"), 3);
	op_del_all();
	raw_pair_end(&p);
}

/* Reconfigured while calls pass, and over connections that end: no count is lost. */
TEST(outlives)
{
	unsigned int i;

	op_del_all();
	raw_pair(&p, "tcp4", 2);
	op_must_add("metrics", "side=client", NULL);
	load_start(&l, &p.c, p.conn, 32);
	for (i = 0; i < 10; i++) {
		CHECK(load_more(&l, 50, 30000));
		op_must_set("metrics", i % 2 ? "per_connection=0" : "per_connection=1", NULL);
	}
	load_stop(&l);
	CHECK_EQ(op_counter("metrics", "calls"), load_all(&l));
	CHECK_EQ(op_counter("metrics", "uncounted"), 0);
	raw_pair_end(&p);
	raw_pair(&p, "loop", 1);
	call(RAW_ECHO, 1, 0, MRPC_OK);
	CHECK_EQ(op_counter("metrics", "calls"), load_all(&l) + 1);
	op_must_set("metrics", "per_connection=1", NULL);
	call(RAW_ECHO, 1, 0, MRPC_OK);
	CHECK_EQ(op_counter("metrics", "connection_calls"), 1);
	CHECK_EQ(op_counter("metrics", "calls"), load_all(&l) + 2);
	op_must_del("metrics");
	raw_pair_end(&p);
}

TEST(too_many_series)
{
	op_del_all();
	raw_pair(&p, "tcp4", 1);
	op_must_add("metrics", "side=client series=2", NULL);
	call(RAW_ECHO, 1, 0, MRPC_OK);
	call(RAW_ACK, 1, 0, MRPC_OK);
	call(RAW_FAIL, MRPC_ABORTED, 0, MRPC_ABORTED);
	call(RAW_ACK, 1, 0, MRPC_OK);
	CHECK_EQ(op_counter("metrics", "calls"), 3);
	CHECK_EQ(op_counter("metrics", "uncounted"), 1);
	op_must_set("metrics", "series=3", NULL);
	call(RAW_FAIL, MRPC_ABORTED, 0, MRPC_ABORTED);
	CHECK_EQ(op_counter("metrics", "calls"), 4);
	CHECK_EQ(op_add("metrics", "name=more series=0", NULL, NULL), -ERANGE);
	CHECK_EQ(op_add("metrics", "name=more series=16385", NULL, NULL), -ERANGE);
	op_must_del("metrics");
	raw_pair_end(&p);
}

#define CGROUP	"/sys/fs/cgroup/mrpc-metrics"
#define CONNS	16

static void every_status(const int *conns)
{
	unsigned int i, status;

	for (i = 0; i < CONNS; i++) {
		p.conn = conns[i];
		for (status = 1; status <= MRPC_STATUS_MAX; status++)
			call(RAW_FAIL, status, 0, status);
	}
}

/* The process is in the group only while it opens its session. */
static void charged_to(void)
{
	long long before, after;
	int conns[CONNS];
	unsigned int i;

	CHECK(raw_file_write(CGROUP "/cgroup.procs", "0"));
	raw_open(&p.c, 1 << 20, 1 << 20);
	CHECK(raw_file_write("/sys/fs/cgroup/cgroup.procs", "0"));
	for (i = 0; i < CONNS; i++) {
		conns[i] = raw_connect(&p.c, p.addr);
		CHECK(conns[i] > 0);
	}
	every_status(conns);
	op_must_add("metrics", "side=client per_connection=1", NULL);
	before = raw_file_number(CGROUP "/memory.current");
	every_status(conns);
	after = raw_file_number(CGROUP "/memory.current");
	NOTE("%lld KiB charged, then %lld KiB", before >> 10, after >> 10);
	/* Per connection 16 series of 5 histograms of 2 KiB, less what is charged in advance. */
	CHECK(after - before > CONNS * 16 * 5 * 2048 / 2);
	CHECK_EQ(op_counter("metrics", "uncounted"), 0);
	op_must_del("metrics");
	_exit(0);
}

/* The memory per method, status and connection is charged to the owner of the calls. */
TEST(charged)
{
	int status, i;
	pid_t pid;

	raw_file_write("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	mkdir(CGROUP, 0755);
	if (raw_file_number(CGROUP "/memory.current") < 0) {
		rmdir(CGROUP);
		SKIP("no memory controller");
	}
	op_del_all();
	raw_server_open(&p.srv, 1 << 20, 1 << 20);
	raw_server_start(&p.srv, "tcp:127.0.0.1:0", 1);
	snprintf(p.addr, sizeof(p.addr), "tcp:127.0.0.1:%u", p.srv.s.port);
	pid = CHECK_SYS(fork());
	op_forget();
	if (!pid)
		charged_to();
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	raw_server_stop(&p.srv);
	for (i = 0; rmdir(CGROUP) && i < 100; i++)
		raw_sleep(20 * RAW_MS);
}

/* Clients that come with ever new services cannot fill the memory: some are not counted. */
TEST_LIMIT(too_many_services, 120)
{
	op_del_all();
	op_must_add("metrics", "side=client series=1", NULL);
	raw_strangers(300, NULL);
	/* 64 are in the cache. 16 KiB hold few more. */
	CHECK_MSG(raw_schemas(64 + 64, 10000), "%lld schemas are left",
		  raw_file_number("/sys/class/misc/mrpc/schemas"));
	raw_pair(&p, "loop", 1);
	call(RAW_ECHO, 1, 0, MRPC_OK);
	CHECK_EQ(op_counter("metrics", "calls"), 0);
	CHECK_EQ(op_counter("metrics", "uncounted"), 1);
	raw_pair_end(&p);
	op_must_set("metrics", "series=100", NULL);
	raw_pair(&p, "loop", 1);
	call(RAW_ECHO, 1, 0, MRPC_OK);
	CHECK_EQ(op_counter("metrics", "calls"), 1);
	CHECK_EQ(op_counter("metrics", "uncounted"), 1);
	op_must_del("metrics");
	raw_pair_end(&p);
}
