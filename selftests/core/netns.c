// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/core/session kmod/core/placement kmod/core/transport kmod/netlink */
/*
 * Network namespaces: a server in one and a client in another, the separation between them, and a
 * peer that falls silent because the cable is cut.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tap.h"
#include "hosts.h"
#include "load.h"
#include "operator.h"

static struct raw_pair p;

static struct host h;

/* A server in a namespace of its own. */
static void server(const char *addr, uint64_t keepalive_us)
{
	if (!host_new(&h))
		return;
	host_wait(&h);
	raw_server_open(&p.srv, 8 << 20, 8 << 20);
	p.srv.keepalive_us = keepalive_us;
	raw_server_start(&p.srv, addr, 1);
	host_say(&h);
	host_wait(&h);
	/* All accepted connections are gone, or will be. */
	CHECK(raw_server_conns(&p.srv, 0, 10000));
	raw_server_stop(&p.srv);
	_exit(0);
}

/* Makes the server start to serve. */
static void serve(void)
{
	host_say(&h);
	host_wait(&h);
}

static void echo(uint32_t len)
{
	uint32_t root = raw_blob(&p.c, len, len, "text");
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ECHO, root);
	char detail[MRPC_MAX_DETAIL + 1];
	struct mrpc_cqe cqe;

	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_MSG(cqe.status == MRPC_OK, "%u bytes: status %u: %s", len, cqe.status,
		  raw_detail(&p.c, &cqe, detail, sizeof(detail)));
	CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, len, len));
	raw_done(&p.c, &cqe);
	raw_free(&p.c, root);
}

/* Over veth, with and without receive GRO. */
static void over_veth(const char *listen, const char *connect)
{
	static const uint32_t sizes[] = { 0, 1000, 16384, 17000, 300000, 3 << 20 };
	unsigned int i, gro;

	CHECK_SYS(unshare(CLONE_NEWNET));
	server(listen, 0);
	host_join(&h);
	serve();
	for (gro = 0; gro < 2; gro++) {
		host_sh("ethtool -K veth0 gro %s", gro ? "on" : "off");
		host_sh("nsenter -t %d -n ethtool -K veth0 gro %s", h.pid, gro ? "on" : "off");
		raw_open(&p.c, 8 << 20, 8 << 20);
		p.conn = raw_connect(&p.c, connect);
		CHECK_MSG(p.conn > 0, "connect: %s", p.c.why);
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			echo(sizes[i]);
		raw_close(&p.c);
	}
	host_end(&h);
}

TEST_LIMIT(ipv4, 120)
{
	over_veth("tcp:0.0.0.0:7000", "tcp:10.9.0.2:7000");
}

TEST_LIMIT(ipv6, 120)
{
	over_veth("tcp:[::]:7000", "tcp:[fd09::2]:7000");
}

/*
 * Packets to a neighbour that does not answer wait in the host, here for a minute. In an egress
 * domain other connections do not wait for them.
 */
TEST_LIMIT(dead_neighbour, 180)
{
	static struct load l, stuck;

	CHECK_SYS(unshare(CLONE_NEWNET));
	op_forget();
	server("tcp:0.0.0.0:7000", 0);
	host_join(&h);
	host_sh("nsenter -t %d -n ip addr add 10.9.0.3/32 dev veth0", h.pid);
	host_sh("echo 60 > /proc/sys/net/ipv4/neigh/veth0/mcast_solicit");
	serve();
	op_must_egress(MRPC_CMD_EGRESS_SET, "veth0", "discipline=fifo");
	raw_open(&p.c, 8 << 20, 8 << 20);
	p.conn = raw_connect(&p.c, "tcp:10.9.0.2:7000");
	CHECK_MSG(p.conn > 0, "connect: %s", p.c.why);
	stuck.len = 100000;
	stuck.conn = raw_connect(&p.c, "tcp:10.9.0.3:7000");
	CHECK_MSG(stuck.conn > 0, "connect: %s", p.c.why);
	CHECK_EQ(op_egress_number("veth0", MRPC_A_EGRESS_DATAPATHS), 2);
	host_sh("nsenter -t %d -n ip addr del 10.9.0.3/32 dev veth0", h.pid);
	host_sh("ip neigh del 10.9.0.3 dev veth0");
	load_start(&stuck, &p.c, stuck.conn, 4);
	raw_sleep(300 * RAW_MS);
	load_start(&l, &p.c, p.conn, 4);
	CHECK(load_more(&l, 50, 20000));
	CHECK_EQ(load_all(&stuck), 0);
	host_sh("nsenter -t %d -n ip addr add 10.9.0.3/32 dev veth0", h.pid);
	load_stop(&stuck);
	load_stop(&l);
	CHECK_EQ(load_failed(&stuck), 0);
	CHECK_EQ(load_failed(&l), 0);
	raw_close(&p.c);
	host_end(&h);
}

#define ABSENT	12

/* Connects to an absent peer until the process is killed. */
static pid_t ask_absent(unsigned int i)
{
	char addr[40];
	struct raw s;
	pid_t pid;

	pid = CHECK_SYS(fork());
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	raw_open(&s, 65536, 65536);
	snprintf(addr, sizeof(addr), "prio:10.9.0.%u:7000", 100 + i);
	for (;;)
		raw_connect(&s, addr);
}

/* Over prio no connection waits, with or without a domain, though such packets keep coming. */
TEST_LIMIT(dead_neighbours_prio, 180)
{
	static struct load l;
	pid_t pids[ABSENT];
	unsigned int i;

	CHECK_SYS(unshare(CLONE_NEWNET));
	server("prio:0.0.0.0:7000", 0);
	host_join(&h);
	host_sh("echo 60 > /proc/sys/net/ipv4/neigh/veth0/mcast_solicit");
	serve();
	raw_open(&p.c, 8 << 20, 8 << 20);
	p.conn = raw_connect(&p.c, "prio:10.9.0.2:7000");
	CHECK_MSG(p.conn > 0, "connect: %s", p.c.why);
	l.len = 20000;
	load_start(&l, &p.c, p.conn, 4);
	for (i = 0; i < ABSENT; i++) {
		pids[i] = ask_absent(i);
		raw_sleep(13 * RAW_MS);
	}
	raw_sleep(2 * RAW_S);
	for (i = 0; i < 5; i++) {
		CHECK_MSG(load_more(&l, 10, 2000), "nothing goes on, turn %u", i);
		raw_sleep(500 * RAW_MS);
	}
	for (i = 0; i < ABSENT; i++) {
		kill(pids[i], SIGKILL);
		CHECK_EQ(waitpid(pids[i], NULL, 0), pids[i]);
	}
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	raw_close(&p.c);
	host_end(&h);
}

/* A loop name belongs to one namespace, as a port does. */
TEST(separate)
{
	int here;

	server("loop:separate", 0);
	serve();
	raw_open(&p.c, 1 << 20, 1 << 20);
	CHECK_EQ(raw_connect(&p.c, "loop:separate"), -ECONNREFUSED);
	/* The same name is free in this namespace, and is a different one. */
	here = raw_serve(&p.c, "loop:separate");
	CHECK_MSG(here > 0, "serve: %s", p.c.why);
	CHECK_EQ(raw_close_id(&p.c, here, 0, 0), 0);
	raw_close(&p.c);
	host_end(&h);
}

/* The cable is cut. Both ends notice after three keepalives of silence. */
static void cut(bool idle)
{
	uint64_t keepalive_us = 1000000 * raw_scale(), before;
	struct mrpc_connect c;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	struct raw_qp qp;
	unsigned int i, replies = 0;

	CHECK_SYS(unshare(CLONE_NEWNET));
	server("tcp:0.0.0.0:7000", keepalive_us);
	host_join(&h);
	serve();
	raw_open(&p.c, 8 << 20, 8 << 20);
	raw_qp(&qp, &p.c, 16, 64, 0);
	c = raw_target(&p.c, "tcp:10.9.0.2:7000");
	c.keepalive_us = keepalive_us;
	p.conn = raw_connect_to(&p.c, &c);
	CHECK_MSG(p.conn > 0, "connect: %s", p.c.why);
	echo(100);
	/* An idle peer is not silent: it answers probes. */
	raw_sleep(4 * keepalive_us * 1000);
	echo(100);
	before = raw_now();
	if (!idle) {
		for (i = 0; i < 4; i++) {
			sqe = raw_sqe(p.conn, i % 2 ? RAW_HANG : RAW_ECHO,
				      raw_blob(&p.c, i, i < 2 ? 100 : 1 << 20, NULL));
			if (i == 3) {
				before = raw_now();
				host_sh("ip link set veth0 down");
			}
			CHECK(raw_push(&qp, &sqe));
			CHECK_EQ(raw_enter(&qp, 0, 0), 0);
		}
		while (replies < 4) {
			CHECK_MSG(raw_next(&qp, &cqe, 10 * RAW_S * raw_patience()),
				  "%u of 4 calls ended", replies);
			if (cqe.type != MRPC_CQE_REPLY)
				continue;
			replies++;
			CHECK(cqe.status == MRPC_UNAVAILABLE || cqe.status == MRPC_OK);
			raw_done(&p.c, &cqe);
		}
	} else {
		struct mrpc_conn_info info = { .size = sizeof(info), .conn = p.conn };

		host_sh("ip link set veth0 down");
		while (info.state != MRPC_CONN_CLOSED) {
			CHECK(raw_now() - before < 10 * RAW_S * raw_patience());
			CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CONN_INFO, &info), 0);
			raw_sleep(20 * RAW_MS);
		}
	}
	CHECK(raw_now() - before > 2 * keepalive_us * 1000);
	CHECK(raw_now() - before < 4 * keepalive_us * 1000 + 2 * RAW_S * raw_patience());
	sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, 1, 1, NULL));
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_UNAVAILABLE);
	raw_done(&p.c, &cqe);
	raw_close(&p.c);
	host_end(&h);
}

TEST(cut_idle)
{
	cut(true);
}

TEST(cut_busy)
{
	cut(false);
}

/* A namespace goes with its processes, and a session's links in it go, too. */
TEST(namespace_gone)
{
	int status;
	pid_t pid;

	pid = CHECK_SYS(fork());
	if (!pid) {
		CHECK_SYS(unshare(CLONE_NEWNET));
		host_sh("ip link set lo up");
		raw_pair(&p, "tcp4", 1);
		echo(100000);
		raise(SIGKILL);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
	CHECK(raw_sessions(0, 5000));
}
