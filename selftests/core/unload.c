// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/main.c kmod/core/transport kmod/core/engine kmod/exec */
/*
 * Module removal. It is refused while something uses the module, and possible soon after. It is
 * safe for users that come at that moment. The runner loads the modules again.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>
#include <sys/wait.h>

#include "tap.h"
#include "hosts.h"
#include "operator.h"
#include "prio_tells.h"
#include "raw.h"
#include "stranger.h"

static struct raw_pair p;

static void load(const char *name)
{
	char command[512];

	CHECK(getenv("MRPC_MODULES"));
	snprintf(command, sizeof(command), "insmod '%s/%s.ko'", getenv("MRPC_MODULES"), name);
	CHECK_EQ(system(command), 0);
}

static void check_echo(void)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, 1, 100, NULL));
	struct mrpc_cqe cqe;

	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&p.c, &cqe);
}

/* The remains of a connection, such as an association, do not keep the module. */
TEST_LIMIT(prio, 120)
{
	raw_pair(&p, "prio", 1);
	check_echo();
	CHECK_EQ(raw_unload("mrpc_prio"), -EAGAIN);
	check_echo();
	raw_pair_end(&p);
	raw_must_unload("mrpc_prio");
}

/* A connection to a peer that does not answer, and its end. Return: the peer's socket */
static int try_silent(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = CHECK_SYS(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	socklen_t len = sizeof(at);
	struct mrpc_connect connect;
	char addr[64];

	CHECK_SYS(bind(fd, (void *)&at, len));
	CHECK_SYS(getsockname(fd, (void *)&at, &len));
	snprintf(addr, sizeof(addr), "prio:127.0.0.1:%u", ntohs(at.sin_port));
	connect = raw_target(&p.c, addr);
	connect.until_ns = raw_until(100 * RAW_MS);
	CHECK(raw_connect_to(&p.c, &connect) < 0);
	return fd;
}

/* Peers that were told in vain of the end, and would be told again, do not keep it either. */
TEST_LIMIT(prio_unheard, 120)
{
	int fd;

	CHECK_SYS(unshare(CLONE_NEWNET));
	op_forget();
	host_sh("ip link set lo up");
	raw_pair(&p, "prio", 1);
	check_echo();
	CHECK(raw_file_write(PARAMETER("silence"), "60000000"));
	fd = try_silent();
	host_sh("ip link set lo down");
	raw_pair_end(&p);
	CHECK(gauge_becomes("messages_out", 3, 5000));
	close(fd);
	raw_must_unload("mrpc_prio");
	/* A listener of the reloaded module finds nothing of that. */
	host_sh("ip link set lo up");
	raw_pair(&p, "prio", 1);
	check_echo();
	CHECK_EQ(gauge("peers"), 2);
	raw_pair_end(&p);
	raw_must_unload("mrpc_prio");
}

TEST_LIMIT(in_use, 120)
{
	int fd;

	raw_pair(&p, "tcp4", 1);
	check_echo();
	CHECK_EQ(raw_unload("mrpc_tcp"), -EAGAIN);
	CHECK_EQ(raw_unload("mrpc"), -EAGAIN);
	check_echo();
	raw_pair_end(&p);
	raw_must_unload("mrpc_tcp");
	/* An empty session keeps the core module. */
	fd = raw_device();
	CHECK_EQ(raw_unload("mrpc"), -EAGAIN);
	close(fd);
	raw_must_unload("mrpc");
	CHECK_EQ(access("/dev/mrpc", F_OK), -1);
	CHECK_EQ(access("/sys/class/misc/mrpc", F_OK), -1);
}

/* A listener alone keeps its transport, and so does a connection alone. */
TEST_LIMIT(listener, 120)
{
	raw_open(&p.c, 65536, 65536);
	CHECK(raw_serve(&p.c, "tcp:127.0.0.1:0") > 0);
	CHECK_EQ(raw_unload("mrpc_tcp"), -EAGAIN);
	raw_close(&p.c);
	raw_must_unload("mrpc_tcp");
	/* Without the module there is no such transport, and the loop still works. */
	raw_open(&p.c, 65536, 65536);
	CHECK_EQ(raw_serve(&p.c, "tcp:127.0.0.1:0"), -EPROTONOSUPPORT);
	CHECK(strstr(p.c.why, "tcp"));
	raw_close(&p.c);
	raw_pair(&p, "loop", 1);
	check_echo();
	raw_pair_end(&p);
	load("mrpc_tcp");
	raw_pair(&p, "tcp4", 1);
	check_echo();
	raw_pair_end(&p);
}

/* A process is killed with much under way. The module can still be unloaded at once. */
TEST_LIMIT(after_kill, 180)
{
	unsigned int round, i;
	int status;
	pid_t pid;

	for (round = 0; round < 5; round++) {
		pid = CHECK_SYS(fork());
		if (!pid) {
			struct mrpc_sqe sqe;
			struct raw_qp qp;

			raw_pair(&p, round % 2 ? "loop" : "tcp4", 1);
			raw_qp(&qp, &p.c, 16, 64, 0);
			for (i = 0; i < 12; i++) {
				sqe = raw_sqe(p.conn, i % 3 ? RAW_ECHO : RAW_HANG,
					      raw_blob(&p.c, i, i % 2 ? 1 << 20 : 100, NULL));
				raw_push(&qp, &sqe);
			}
			raw_enter(&qp, 0, 0);
			raise(SIGKILL);
		}
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK(WIFSIGNALED(status));
		raw_must_unload("mrpc_tcp");
		raw_must_unload("mrpc");
		load("mrpc");
		load("mrpc_tcp");
	}
}
