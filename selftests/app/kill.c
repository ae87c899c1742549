// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/conn/close kmod/core/session kmod/call/client kmod/call/server */
/*
 * Processes killed with calls under way. The other side learns it in bounded time,
 * and nothing of them is left.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tap.h"
#include "raw.h"

#define ROUNDS	200
#define ROUNDS_GRPC 40
#define BOUND	(10 * RAW_S)

/* What the processes tell each other. */
static struct shared {
	uint32_t port;
	uint32_t busy;		/* calls that the victim has started */
} *shared;

static struct raw_server srv;
static struct raw c;
static const char *how;
static unsigned int rounds;

static pid_t spawn(void (*run)(unsigned int), unsigned int arg)
{
	pid_t pid = CHECK_SYS(fork());

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run(arg);
	_exit(0);
}

static void finish(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_MSG(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
		  "the victim ended by itself, status %x", status);
}

/* Waits for the victim to be at work, then a little longer, differently each time. */
static void let_work(unsigned int round)
{
	uint64_t end = raw_now() + BOUND * raw_patience();

	while (__atomic_load_n(&shared->busy, __ATOMIC_ACQUIRE) < 4) {
		CHECK_MSG(raw_now() < end, "round %u: the victim does not get to work", round);
		raw_sleep(RAW_MS);
	}
	raw_sleep(round % 7 * 700000ULL);
}

static const char *at_port(unsigned int port)
{
	static char text[64];

	if (!strcmp(how, "loop"))
		snprintf(text, sizeof(text), "loop:kill");
	else
		snprintf(text, sizeof(text), "%.*s:127.0.0.1:%u", (int)strcspn(how, "4"), how,
			 port);
	return text;
}

static const char *addr(void)
{
	return at_port(__atomic_load_n(&shared->port, __ATOMIC_ACQUIRE));
}

static void started(void)
{
	__atomic_add_fetch(&shared->busy, 1, __ATOMIC_RELEASE);
}

static void *sync_calls(void *arg)
{
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	uint32_t root;
	int conn = *(int *)arg;

	for (;;) {
		root = raw_blob(&c, 1, 100, NULL);
		sqe = raw_sqe(conn, RAW_ECHO, root);
		started();
		if (raw_call(&c, &sqe, &cqe) || cqe.status)
			_exit(1);
		raw_done(&c, &cqe);
		raw_free(&c, root);
	}
	return NULL;
}

/* Small synchronous calls, and ring calls: small, large by reference, never answered. */
static void client(unsigned int round)
{
	static struct raw_qp qp;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	uint32_t roots[4], i;
	pthread_t t;
	int conn;

	raw_open(&c, 8 << 20, 8 << 20);
	conn = raw_connect(&c, addr());
	if (conn < 0)
		raw_die("round %u: connect: %s", round, c.why);
	raw_qp(&qp, &c, 16, 64, 0);
	if (round % 3)
		pthread_create(&t, NULL, sync_calls, &conn);
	for (i = 0; i < 4; i++)
		roots[i] = raw_blob(&c, i, i % 2 ? 400000 : 200, NULL);
	for (;;) {
		for (i = 0; i < 4; i++) {
			sqe = raw_sqe(conn, i == 2 ? RAW_HANG : RAW_ECHO, roots[i]);
			raw_push(&qp, &sqe);
			started();
		}
		raw_enter(&qp, 1, RAW_S);
		while (raw_reap(&qp, &cqe)) {
			if (cqe.type == MRPC_CQE_REPLY && cqe.status == MRPC_UNAVAILABLE)
				_exit(1);
			raw_done(&c, &cqe);
		}
	}
}

static void client_killed(const char *transport)
{
	unsigned int round;
	pid_t pid;

	how = transport;
	rounds = strcmp(how, "grpc4") ? ROUNDS : ROUNDS_GRPC;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	raw_server_open(&srv, 16 << 20, 16 << 20);
	raw_server_start(&srv, at_port(0), 2);
	shared->port = srv.s.port;
	for (round = 0; round < rounds; round++) {
		shared->busy = 0;
		pid = spawn(client, round);
		let_work(round);
		finish(pid);
		if (round % 20 == 19) {
			CHECK_MSG(raw_server_conns(&srv, 0, 5000), "round %u: connections stay", round);
			CHECK_MSG(raw_sessions(1, 5000), "round %u: %lld sessions", round,
				  raw_file_number("/sys/class/misc/mrpc/sessions"));
			CHECK(raw_server_idle(&srv, 5000));
		}
		srv.nr_hung = 0;
	}
	CHECK_EQ(srv.bad, 0);
	raw_server_stop(&srv);
	CHECK(raw_sessions(0, 5000));
}

TEST_LIMIT_EACH_TRANSPORT(client, 300, client_killed)
TEST_LIMIT_GRPC(client, 300, client_killed)

static void server(unsigned int round)
{
	(void)round;
	raw_server_open(&srv, 8 << 20, 8 << 20);
	raw_server_start(&srv, at_port(0), 2);
	__atomic_store_n(&shared->port, srv.s.port ? srv.s.port : 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

static int sync_status;

static void *sync_until_dead(void *arg)
{
	int conn = *(int *)arg;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	uint32_t root;

	do {
		root = raw_blob(&c, 1, 100, NULL);
		sqe = raw_sqe(conn, RAW_ECHO, root);
		started();
		if (raw_call(&c, &sqe, &cqe))
			raw_die("a call failed");
		raw_done(&c, &cqe);
		raw_free(&c, root);
	} while (cqe.status == MRPC_OK);
	sync_status = cqe.status;
	return NULL;
}

/* One round: calls of all kinds, all of which end when the server is killed. */
static void server_round(struct raw_qp *qp, unsigned int round)
{
	unsigned int replies = 0, freed = 0, calls = 0, i;
	uint32_t roots[8];
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	uint64_t killed;
	pthread_t t;
	pid_t pid;
	int conn;

	shared->busy = 0;
	shared->port = 0;
	pid = spawn(server, round);
	for (i = 0; !__atomic_load_n(&shared->port, __ATOMIC_ACQUIRE); i++) {
		CHECK_MSG(i < 10000 * raw_patience(), "round %u: no server", round);
		raw_sleep(RAW_MS);
	}
	conn = raw_connect(&c, addr());
	CHECK_MSG(conn > 0, "round %u: connect: %s", round, c.why);
	CHECK(!pthread_create(&t, NULL, sync_until_dead, &conn));
	for (i = 0; i < 8; i++) {
		roots[i] = raw_blob(&c, i, i % 2 ? 400000 : 200, NULL);
		sqe = raw_sqe(conn, i < 4 ? RAW_HANG : RAW_ECHO, roots[i]);
		CHECK(raw_push(qp, &sqe));
		calls++;
		started();
	}
	CHECK_EQ(raw_enter(qp, 0, 0), 0);
	let_work(round);
	finish(pid);
	killed = raw_now();
	while (replies < calls || freed < calls) {
		CHECK_MSG(raw_next(qp, &cqe, BOUND * raw_patience()),
			  "round %u: %u of %u calls ended, the blocks of %u came back", round,
			  replies, calls, freed);
		if (cqe.type == MRPC_CQE_REPLY) {
			replies++;
			CHECK(cqe.status == MRPC_UNAVAILABLE || cqe.status == MRPC_OK);
		}
		freed += cqe.type == MRPC_CQE_SENT || cqe.flags & MRPC_CQE_FREED;
		raw_done(&c, &cqe);
	}
	CHECK_EQ(replies, calls);
	CHECK_EQ(freed, calls);
	pthread_join(t, NULL);
	CHECK_EQ(sync_status, MRPC_UNAVAILABLE);
	CHECK_MSG(raw_now() - killed < BOUND * raw_scale(), "round %u: took %llu ms", round,
		  (unsigned long long)(raw_now() - killed) / 1000000);
	for (i = 0; i < 8; i++)
		raw_free(&c, roots[i]);
	CHECK_EQ(raw_close_id(&c, conn, 0, 0), 0);
}

static void server_killed(const char *transport)
{
	unsigned int round;
	struct raw_qp qp;

	how = transport;
	rounds = strcmp(how, "grpc4") ? ROUNDS : ROUNDS_GRPC;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	raw_open(&c, 8 << 20, 8 << 20);
	raw_qp(&qp, &c, 16, 64, 0);
	for (round = 0; round < rounds; round++) {
		server_round(&qp, round);
		if (round % 20 == 19)
			CHECK_MSG(raw_sessions(1, 5000), "round %u: %lld sessions", round,
				  raw_file_number("/sys/class/misc/mrpc/sessions"));
	}
	raw_close(&c);
	CHECK(raw_sessions(0, 5000));
}

TEST_LIMIT_EACH_TRANSPORT(server, 300, server_killed)
TEST_LIMIT_GRPC(server, 300, server_killed)
