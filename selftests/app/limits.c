// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/core/user kmod/core/heap kmod/core/session kmod/core/rx_buffer kmod/app */
/*
 * The limits of one user, the charges of the memory controller, and allocations that fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tap.h"
#include "fault.h"
#include "peer.h"
#include "raw.h"

static struct raw_pair p;

static void knob(const char *name, unsigned long value)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), RAW_KNOBS "%s", name);
	snprintf(text, sizeof(text), "%lu", value);
	CHECK_MSG(raw_file_write(path, text), "%s: %m", path);
}

/* Runs @run as the unprivileged user. Any user may open the device meanwhile. */
static void as_nobody(void (*run)(void))
{
	int status;
	pid_t pid;

	CHECK_SYS(chmod("/dev/mrpc", 0666));
	pid = CHECK_SYS(fork());
	if (!pid) {
		CHECK_SYS(setgroups(0, NULL));
		CHECK_SYS(setgid(65534));
		CHECK_SYS(setuid(65534));
		run();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_SYS(chmod("/dev/mrpc", 0660));
	knob("max_sessions", 1024);
	knob("max_conns", 16384);
	knob("max_listeners", 1024);
	knob("max_heap", 4UL << 30);
	CHECK_EQ(status, 0);
	CHECK(raw_sessions(0, 5000));
}

static void three_sessions(void)
{
	int fds[4], i, k;

	for (k = 0; k < 3; k++) {
		for (i = 0; i < 3; i++)
			fds[i] = CHECK_SYS(open("/dev/mrpc", O_RDWR));
		CHECK_EQ(open("/dev/mrpc", O_RDWR), -1);
		CHECK_EQ(errno, EDQUOT);
		close(fds[0]);
		for (i = 0; (fds[0] = open("/dev/mrpc", O_RDWR)) < 0; i++) {
			CHECK_MSG(i < 4000, "a session that was closed still counts");
			raw_sleep(5 * RAW_MS);
		}
		for (i = 0; i < 3; i++)
			close(fds[i]);
		/* A work item frees each of them. */
		CHECK(raw_sessions(0, 5000));
	}
}

TEST(sessions)
{
	knob("max_sessions", 3);
	as_nobody(three_sessions);
}

/* A closed connection counts until a work item has put its last reference. */
static bool connected(int *conn)
{
	uint64_t until = raw_now() + 5 * RAW_S * raw_patience();

	while ((*conn = raw_connect(&p.c, "loop:limits")) == -EDQUOT && raw_now() < until)
		raw_sleep(10 * RAW_MS);
	return *conn > 0;
}

static void four_connections(void)
{
	int conns[3], i, k;

	raw_open(&p.c, 65536, 65536);
	raw_server_open(&p.srv, 65536, 65536);
	raw_server_start(&p.srv, "loop:limits", 1);
	/* Each connection has two ends, and both belong to this user. */
	for (k = 0; k < 3; k++) {
		for (i = 0; i < 2; i++)
			CHECK_MSG(connected(&conns[i]), "%s", p.c.why);
		CHECK_EQ(raw_connect(&p.c, "loop:limits"), -EDQUOT);
		CHECK_MSG(strstr(p.c.why, "too many"), "not in: %s", p.c.why);
		CHECK_EQ(raw_close_id(&p.c, conns[0], 0, 0), 0);
		CHECK_EQ(raw_close_id(&p.c, conns[1], 0, 0), 0);
		CHECK(raw_server_conns(&p.srv, 0, 5000));
	}
	raw_close(&p.c);
	raw_server_stop(&p.srv);
}

TEST(connections)
{
	knob("max_conns", 4);
	as_nobody(four_connections);
}

/* A closed listener counts until its last reference is put. */
static int listens(const char *addr)
{
	uint64_t until = raw_now() + 5 * RAW_S * raw_patience();
	int id;

	while ((id = raw_serve(&p.c, addr)) == -EDQUOT && raw_now() < until)
		raw_sleep(10 * RAW_MS);
	return id;
}

/* An attempt that fails never counts. */
static void three_listeners(void)
{
	static const char *const names[] = { "loop:a", "tcp:127.0.0.1:0", "tcp:127.0.0.1:0" };
	int ids[3], i, k;

	raw_open(&p.c, 65536, 65536);
	for (k = 0; k < 3; k++) {
		for (i = 0; i < 3; i++) {
			ids[i] = listens(names[i]);
			CHECK_MSG(ids[i] > 0, "%s: %s", names[i], p.c.why);
			CHECK_EQ(raw_serve(&p.c, i ? "tcp:192.0.2.1:7" : "loop:a"),
				 i == 2 ? -EDQUOT : i ? -EADDRNOTAVAIL : -EADDRINUSE);
		}
		CHECK_MSG(strstr(p.c.why, "too many listeners"), "not in: %s", p.c.why);
		for (i = 0; i < 3; i++)
			CHECK_EQ(raw_close_id(&p.c, ids[i], 0, 0), 0);
	}
	raw_close(&p.c);
}

TEST(listeners)
{
	knob("max_listeners", 3);
	as_nobody(three_listeners);
}

/* The server's user has too many connections: the next client is refused, not kept waiting. */
static void five_accepted(void)
{
	struct mrpc_connect c;
	int i, err = 0;

	raw_open(&p.c, 65536, 65536);
	raw_server_open(&p.srv, 65536, 65536);
	raw_server_start(&p.srv, "tcp:127.0.0.1:0", 1);
	snprintf(p.addr, sizeof(p.addr), "tcp:127.0.0.1:%u", p.srv.s.port);
	for (i = 0; i < 5 && err >= 0; i++) {
		c = raw_target(&p.c, p.addr);
		c.until_ns = raw_until(10 * RAW_S);
		err = raw_connect_to(&p.c, &c);
	}
	/* Two connections of two ends each, then one without the other end. */
	CHECK_EQ(i, 3);
	CHECK_MSG(err == -ECONNRESET || err == -ETIMEDOUT || err == -EPROTO, "%s: %s",
		  strerror(-err), p.c.why);
	raw_close(&p.c);
	raw_server_stop(&p.srv);
}

TEST(accepted)
{
	knob("max_conns", 5);
	as_nobody(five_accepted);
}

static void one_mib(void)
{
	struct raw a = { 0 }, b = { 0 };
	uint64_t base, off;
	int i;

	a.fd = raw_device();
	b.fd = raw_device();
	CHECK_EQ(raw_setup(&a, 0, 0), 0);
	CHECK_EQ(raw_setup(&b, 0, 0), 0);
	CHECK_EQ(raw_region(&a, MRPC_REGION_SEND, (1 << 20) + 65536, &base, &off), -EDQUOT);
	CHECK_EQ(raw_region(&a, MRPC_REGION_SEND, 1 << 19, &base, &off), 0);
	CHECK_EQ(raw_region(&b, MRPC_REGION_RECV, 1 << 19, &base, &off), 0);
	CHECK_EQ(raw_region(&b, MRPC_REGION_RECV, 65536, &base, &off), -EDQUOT);
	CHECK_EQ(raw_region(&a, MRPC_REGION_RECV, 65536, &base, &off), -EDQUOT);
	/* Wrong lengths never count. */
	for (i = 0; i < 10; i++) {
		CHECK_EQ(raw_region(&a, MRPC_REGION_RECV, ~0ULL << 16, &base, &off), -EINVAL);
		CHECK_EQ(raw_region(&a, MRPC_REGION_RECV, 65536, &base, &off), -EDQUOT);
	}
	close(a.fd);
	for (i = 0; raw_region(&b, MRPC_REGION_RECV, 65536, &base, &off); i++) {
		CHECK_MSG(i < 4000, "a heap that is gone still counts");
		raw_sleep(5 * RAW_MS);
	}
	close(b.fd);
}

TEST(heap)
{
	knob("max_heap", 1 << 20);
	as_nobody(one_mib);
}

/* Makes a queue pair without a mapping: a mapping would keep the session. */
static int queue_pair(int fd, uint32_t sq, uint32_t cq)
{
	struct mrpc_qp_setup q = { .size = sizeof(q), .sq_entries = sq, .cq_entries = cq };

	return raw_ioctl(fd, MRPC_IOC_QP, &q);
}

static void small_queues(void)
{
	struct raw s = { 0 };
	uint32_t i;

	s.fd = raw_device();
	CHECK_EQ(raw_setup(&s, 0, 0), 0);
	CHECK_EQ(queue_pair(s.fd, 4096, 16384), -EDQUOT);
	/* A queue pair of 324 KiB fits three times. */
	for (i = 0; i < 3; i++)
		CHECK_EQ(queue_pair(s.fd, 1024, 4096), 0);
	CHECK_EQ(queue_pair(s.fd, 1024, 4096), -EDQUOT);
	close(s.fd);
	s.fd = raw_device();
	CHECK_EQ(raw_setup(&s, 0, 0), 0);
	for (i = 0; queue_pair(s.fd, 1024, 4096); i++) {
		CHECK_MSG(i < 4000, "a queue pair that is gone still counts");
		raw_sleep(5 * RAW_MS);
	}
	close(s.fd);
}

TEST(queue_pairs)
{
	knob("max_heap", 1 << 20);
	as_nobody(small_queues);
}

/* A session that takes the rest of its user's memory, up to less than a page. */
static int all_the_rest(void)
{
	struct raw s = { 0 };
	uint64_t base, off;

	s.fd = raw_device();
	CHECK_EQ(raw_setup(&s, 0, 0), 0);
	while (!raw_region(&s, MRPC_REGION_SEND, 65536, &base, &off))
		;
	while (!queue_pair(s.fd, 4, 8))
		;
	return s.fd;
}

static uint32_t copied(int conn, uint32_t flags, char *detail)
{
	struct mrpc_sqe sqe = raw_sqe(conn, RAW_ECHO, raw_blob(&p.c, 1, 20000, "text"));
	struct mrpc_cqe cqe;

	sqe.flags = flags;
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	raw_detail(&p.c, &cqe, detail, MRPC_MAX_DETAIL + 1);
	raw_done(&p.c, &cqe);
	raw_free(&p.c, sqe.root);
	return cqe.status;
}

/* A message that the kernel copies counts as long as the copy exists. */
static void small_copies(void)
{
	char detail[MRPC_MAX_DETAIL + 1];
	uint64_t until;
	uint32_t i;
	int conn, rest;

	raw_server_open(&p.srv, 65536, 65536);
	raw_server_start(&p.srv, "loop:limits", 1);
	raw_open(&p.c, 65536, 65536);
	conn = raw_connect(&p.c, "loop:limits");
	CHECK_MSG(conn > 0, "%s", p.c.why);
	/* More in total than the user may have at a time. */
	for (i = 0; i < 100; i++)
		CHECK_EQ(copied(conn, MRPC_SQE_COPY, detail), MRPC_OK);
	rest = all_the_rest();
	CHECK_EQ(copied(conn, MRPC_SQE_COPY, detail), MRPC_RESOURCE_EXHAUSTED);
	CHECK_MSG(strstr(detail, "max_heap"), "not in: %s", detail);
	CHECK_EQ(copied(conn, 0, detail), MRPC_OK);
	close(rest);
	until = raw_now() + 5 * RAW_S * raw_patience();
	while (copied(conn, MRPC_SQE_COPY, detail) != MRPC_OK && raw_now() < until)
		raw_sleep(5 * RAW_MS);
	CHECK_EQ(copied(conn, MRPC_SQE_COPY, detail), MRPC_OK);
	raw_close(&p.c);
	raw_server_stop(&p.srv);
}

TEST(copies)
{
	knob("max_heap", 1 << 20);
	as_nobody(small_copies);
}

#define LARGE_HEAD	(1 << 20)

/* Sends a call with a large head, of garbage. Return: true: it is answered; false: the link ends. */
static bool large_head(const u8 *garbage)
{
	const struct mrpc_msg_len len = { .structs = LARGE_HEAD };
	static struct peer w;
	struct mrpc_frame f;
	bool answered;

	peer_shake(&w, p.srv.s.port);
	f = peer_call_frame(peer_id(&w, 0), RAW_ECHO, &len);
	answered = peer_send_frame(&w, &f, garbage, len.structs) && peer_recv(&w, 5000) == 1 &&
		   w.frame.type == MRPC_WIRE_REPLY;
	peer_close(&w);
	return answered;
}

/* The buffer of a connection that has ended counts until a work item has freed it. */
static bool large_head_soon(const u8 *garbage)
{
	uint64_t until = raw_now() + 5 * RAW_S * raw_patience();

	while (!large_head(garbage)) {
		if (raw_now() > until)
			return false;
		raw_sleep(5 * RAW_MS);
	}
	return true;
}

/* The buffer for a peer's large head counts as long as it exists. */
static void large_heads(void)
{
	u8 *garbage = malloc(LARGE_HEAD);
	uint32_t i, nr = 0;
	int rest[8];

	CHECK(garbage);
	memset(garbage, 0xff, LARGE_HEAD);
	raw_server_open(&p.srv, 65536, 2 * LARGE_HEAD);
	raw_server_start(&p.srv, "tcp:127.0.0.1:0", 1);
	/* More in total than the user may have at a time. */
	for (i = 0; i < 12; i++)
		CHECK(large_head_soon(garbage));
	/* Buffers may become free after the rest was taken. */
	do {
		CHECK(nr < ARRAY_SIZE(rest));
		CHECK(raw_server_conns(&p.srv, 0, 5000));
		raw_sleep(100 * RAW_MS * raw_scale());
		rest[nr++] = all_the_rest();
	} while (large_head(garbage));
	while (nr)
		close(rest[--nr]);
	CHECK(large_head_soon(garbage));
	raw_server_stop(&p.srv);
	free(garbage);
}

TEST(heads)
{
	knob("max_heap", 8 << 20);
	as_nobody(large_heads);
}

static void root_four(void)
{
	int i;

	for (i = 0; i < 4; i++)
		CHECK_SYS(open("/dev/mrpc", O_RDWR));
}

/* A process with CAP_SYS_RESOURCE is not limited. */
TEST(privileged)
{
	pid_t pid;
	int status;

	knob("max_sessions", 1);
	pid = CHECK_SYS(fork());
	if (!pid) {
		root_four();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	knob("max_sessions", 1024);
	CHECK_EQ(status, 0);
}

/* -- memory controller --------------------------------------------------------- */

#define CGROUP	"/sys/fs/cgroup/mrpc-limits"

static void cgroup(void)
{
	raw_file_write("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	mkdir(CGROUP, 0755);
	if (raw_file_number(CGROUP "/memory.current") < 0) {
		rmdir(CGROUP);
		SKIP("no memory controller");
	}
}

static void enter_cgroup(void)
{
	CHECK(raw_file_write(CGROUP "/cgroup.procs", "0"));
}

static long long charged(void)
{
	return raw_file_number(CGROUP "/memory.current") >> 10;
}

/* Regions and queue pairs are charged to the process that makes them, until they are freed. */
TEST(memory_charged)
{
	long long before, after;
	int status, i;
	pid_t pid;

	cgroup();
	pid = CHECK_SYS(fork());
	if (!pid) {
		struct raw_qp qp;
		struct raw s;

		enter_cgroup();
		raw_open(&s, 0, 0);
		before = charged();
		raw_grow(&s, MRPC_REGION_SEND, 16 << 20);
		raw_grow(&s, MRPC_REGION_RECV, 8 << 20);
		raw_qp(&qp, &s, 4096, 16384, 0);
		after = charged();
		NOTE("%lld KiB charged, then %lld KiB", before, after);
		/* 24 MiB and 1.25 MiB, less what is charged later. */
		CHECK(after - before > 25000 && after - before < 40000);
		raw_close(&s);
		for (i = 0; charged() - before > 4000; i++) {
			CHECK_MSG(i < 1000, "%lld KiB stay charged", charged() - before);
			raw_sleep(20 * RAW_MS);
		}
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	for (i = 0; rmdir(CGROUP) && i < 100; i++)
		raw_sleep(20 * RAW_MS);
}

/* At its limit a group gets no region. None of its processes is killed for that. */
TEST(memory_limit)
{
	int status;
	pid_t pid;

	cgroup();
	CHECK(raw_file_write(CGROUP "/memory.max", "16777216"));
	raw_pair(&p, "tcp4", 1);
	pid = CHECK_SYS(fork());
	if (!pid) {
		uint64_t base, off;
		struct raw s;

		enter_cgroup();
		raw_open(&s, 65536, 65536);
		CHECK_EQ(raw_region(&s, MRPC_REGION_SEND, 64 << 20, &base, &off), -ENOMEM);
		CHECK_EQ(raw_region(&s, MRPC_REGION_RECV, 64 << 20, &base, &off), -ENOMEM);
		/* A region that fits is still granted. */
		CHECK_EQ(raw_region(&s, MRPC_REGION_RECV, 1 << 20, &base, &off), 0);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_MSG(status == 0, "status %x", status);
	CHECK(raw_sessions(2, 5000));
	raw_pair_end(&p);
	rmdir(CGROUP);
}

/* -- failing allocations --------------------------------------------------------- */

static void failed_calls(const char *how, uint32_t len)
{
	unsigned int nth, done = 0;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	struct raw_qp qp;
	uint32_t root;

	fault_begin();
	raw_pair(&p, how, 1);
	raw_qp(&qp, &p.c, 4, 8, 0);
	root = raw_blob(&p.c, 1, len, "text");
	for (nth = 1; nth < 2000 && !done; nth++) {
		sqe = raw_sqe(p.conn, RAW_ECHO, root);
		sqe.timeout_us = 2000000 * raw_scale();
		fault_arm(nth);
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		done = !fault_came();
		/* An error status, or success: the kernel may have worked around it. */
		CHECK_MSG(cqe.status == MRPC_OK || cqe.status == MRPC_RESOURCE_EXHAUSTED ||
			  cqe.status == MRPC_UNAVAILABLE, "allocation %u: status %u", nth,
			  cqe.status);
		if (cqe.status == MRPC_OK)
			CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, 1, len));
		raw_done(&p.c, &cqe);
		if (cqe.status == MRPC_UNAVAILABLE) {
			CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
			p.conn = raw_connect(&p.c, p.addr);
			CHECK(p.conn > 0);
			done = 0;
			continue;
		}
		/* The next call, from the ring, succeeds. */
		sqe.conn = p.conn;
		CHECK(raw_push(&qp, &sqe));
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
		if (!(cqe.flags & MRPC_CQE_FREED))
			raw_expect(&qp, &cqe, MRPC_CQE_SENT, 5 * RAW_S);
	}
	NOTE("%u allocations", nth - 2);
	CHECK(done);
	raw_pair_end(&p);
}

TEST_LIMIT(failed_small, 300)
{
	failed_calls("tcp4", 100);
}

TEST_LIMIT(failed_large, 300)
{
	failed_calls("tcp4", 300000);
}

TEST_LIMIT(failed_loop, 300)
{
	failed_calls("loop", 300000);
}

TEST_LIMIT(failed_prio, 300)
{
	failed_calls("prio", 300000);
}

/* -- failing growth of the tables of calls: by any task, so selected by the stack -------- */

#define FAILSLAB "/sys/kernel/debug/failslab/"

/* Finds the start of a function of the module, and the start of the next one. */
static bool find_function(const char *name, unsigned long *begin, unsigned long *end)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long at;
	char line[512], symbol[256];

	*begin = 0;
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "[mrpc]") && sscanf(line, "%lx %*c %255s", &at, symbol) == 2 &&
		    !strcmp(symbol, name))
			*begin = at;
	*end = ULONG_MAX;
	if (f)
		rewind(f);
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "[mrpc]") && sscanf(line, "%lx", &at) == 1 &&
		    at > *begin && at < *end)
			*end = at;
	if (f)
		fclose(f);
	return *begin;
}

static void growth_works(void)
{
	raw_file_write(FAILSLAB "probability", "0");
	raw_file_write(FAILSLAB "require-start", "0");
	raw_file_write(FAILSLAB "require-end", "18446744073709551615");
}

/* Every second growth fails, of a client's table and of a server's. */
static void growth_fails(void)
{
	unsigned long begin, end;
	char text[32];

	CHECK(find_function("mrpc_calls_grow", &begin, &end));
	atexit(growth_works);
	snprintf(text, sizeof(text), "%lu", begin);
	CHECK(raw_file_write(FAILSLAB "require-start", text));
	snprintf(text, sizeof(text), "%lu", end);
	CHECK(raw_file_write(FAILSLAB "require-end", text));
	CHECK(raw_file_write(FAILSLAB "stacktrace-depth", "32"));
	CHECK(raw_file_write(FAILSLAB "times", "-1"));
	CHECK(raw_file_write(FAILSLAB "probability", "50"));
}

/*
 * If the client's table has no room, a call ends with a status, and the connection goes on. If
 * the server's table has no room, the connection ends. A new connection works.
 */
static void failed_growth(const char *how)
{
	unsigned int here = 0, there = 0, round, i;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	struct raw_qp qp;
	char detail[256];
	uint32_t root;

	fault_begin();
	raw_pair(&p, how, 1);
	raw_qp(&qp, &p.c, 32, 128, 0);
	root = raw_blob(&p.c, 1, 40, "text");
	for (round = 0; round < 100 && !(here && there); round++) {
		growth_fails();
		sqe = raw_sqe(p.conn, RAW_HANG, root);
		for (i = 0; i < 20; i++)
			CHECK(raw_push(&qp, &sqe));
		CHECK_EQ(raw_enter(&qp, 0, 0), 0);
		/* An answer shows that the calls before it have come. */
		sqe.method = RAW_ECHO;
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		raw_done(&p.c, &cqe);
		growth_works();
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK(cqe.status == MRPC_OK || cqe.status == MRPC_UNAVAILABLE);
		there += cqe.status == MRPC_UNAVAILABLE;
		raw_done(&p.c, &cqe);
		CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
		for (i = 0; i < 20; i++) {
			raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
			if (cqe.status == MRPC_RESOURCE_EXHAUSTED) {
				raw_detail(&p.c, &cqe, detail, sizeof(detail));
				CHECK(!strcmp(detail, "no memory for more calls"));
				here++;
			}
			raw_done(&p.c, &cqe);
		}
		p.conn = raw_connect(&p.c, p.addr);
		CHECK(p.conn > 0);
	}
	NOTE("%u calls refused, %u connections ended", here, there);
	CHECK(here && there);
	raw_pair_end(&p);
}

TEST_LIMIT(failed_growth, 300)
{
	failed_growth("tcp4");
}

TEST_LIMIT(failed_growth_loop, 300)
{
	failed_growth("loop");
}

TEST_LIMIT(failed_growth_prio, 300)
{
	failed_growth("prio");
}
