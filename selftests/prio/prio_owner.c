// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/transports/prio/port */
/*
 * Whose the sockets of the transport prio are: those that packets leave from are the kernel's, a
 * port's is its present listener's, and a port that is not in use is free.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "load.h"
#include "raw.h"
#include "stranger.h"
#include "tap.h"

#define ROOT	"/sys/fs/cgroup"
#define CGROUP	ROOT "/mrpc-owner"

static struct raw_pair p;

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* A cgroup of which no packet leaves, or to which none comes. */
static void deny(enum bpf_attach_type where)
{
	static const struct bpf_insn no[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_CGROUP_SKB,
		.expected_attach_type = where,
		.insns = (uintptr_t)no,
		.insn_cnt = 2,
		.license = (uintptr_t)"GPL",
	};
	union bpf_attr attach = { .attach_type = where };
	int dir = CHECK_SYS(open(CGROUP, O_RDONLY | O_DIRECTORY)), prog;

	prog = CHECK_SYS(bpf(BPF_PROG_LOAD, &load));
	attach.target_fd = dir;
	attach.attach_bpf_fd = prog;
	CHECK_SYS(bpf(BPF_PROG_ATTACH, &attach));
	close(prog);
	close(dir);
}

static void leave(void)
{
	raw_file_write(ROOT "/cgroup.procs", "0");
	rmdir(CGROUP);
}

static void enter(void)
{
	rmdir(CGROUP);
	CHECK_SYS(mkdir(CGROUP, 0755));
	atexit(leave);
	CHECK(raw_file_write(CGROUP "/cgroup.procs", "0"));
}

/* Calls get through. */
static void calls(struct raw *c, int conn)
{
	static struct load l;

	l = (struct load){ .len = 20000 };
	load_start(&l, c, conn, 4);
	CHECK(load_more(&l, 20, 30000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
}

/* The first user's cgroup may send nothing: that is nothing to the other users. */
TEST_LIMIT(first_user, 90)
{
	raw_pair(&p, "prio", 1);
	raw_pair_end(&p);
	raw_must_unload("mrpc_prio");
	enter();
	raw_pair(&p, "prio", 1);
	CHECK(raw_file_write(ROOT "/cgroup.procs", "0"));
	deny(BPF_CGROUP_INET_EGRESS);
	calls(&p.c, p.conn);
	raw_pair_end(&p);
	leave();
}

static bool binds(unsigned int port)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = CHECK_SYS(socket(AF_INET, SOCK_DGRAM, 0)), ret;

	ret = bind(fd, (void *)&at, sizeof(at));
	close(fd);
	return !ret;
}

/* A listener and its connections have ended: any user can have their port. */
TEST(port_is_free)
{
	uint64_t begin;
	unsigned int i, port;

	for (i = 0; i < 5; i++) {
		raw_pair(&p, "prio", 1);
		port = p.srv.s.port;
		calls(&p.c, p.conn);
		CHECK(!binds(port));
		begin = raw_now();
		raw_pair_end(&p);
		while (!binds(port))
			CHECK(raw_now() < begin + RAW_S * raw_patience());
	}
}

/* A stranger that never hears that its connection has ended: it keeps the port. */
static void lingers(struct stranger *s, unsigned int port)
{
	struct mrpc_prio_note ack = { .op = MRPC_PRIO_ACK };

	stranger_new(s, AF_INET, port);
	s->token = 1000;
	stranger_meet(s);
	ack.msg = s->answer;
	stranger_say(s, &ack);
}

static void nobody_serves(const char *addr)
{
	static struct raw s;
	int status;
	pid_t pid;

	CHECK_SYS(chmod("/dev/mrpc", 0666));
	pid = CHECK_SYS(fork());
	if (!pid) {
		CHECK_SYS(setgid(65534));
		CHECK_SYS(setuid(65534));
		raw_open(&s, 65536, 65536);
		_exit(raw_serve(&s, addr) != -EADDRINUSE);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_SYS(chmod("/dev/mrpc", 0660));
	CHECK_EQ(status, 0);
}

/*
 * A connection outlives its listener, so the port does. The next listener of the same user has it,
 * by a socket of its own: nothing comes to that of the first one, which a cgroup had that packets
 * must not come to.
 */
TEST_LIMIT(next_listener, 90)
{
	static struct raw_server first, next;
	static struct raw c;
	struct stranger s;
	unsigned int port;
	char addr[64];
	int conn;

	enter();
	raw_server(&first, "prio:127.0.0.1:0", 1);
	port = first.s.port;
	snprintf(addr, sizeof(addr), "prio:127.0.0.1:%u", port);
	lingers(&s, port);
	CHECK(raw_server_conns(&first, 1, 5000));
	raw_server_stop(&first);
	CHECK(!binds(port));
	CHECK(raw_file_write(ROOT "/cgroup.procs", "0"));
	deny(BPF_CGROUP_INET_INGRESS);
	nobody_serves(addr);
	raw_server(&next, addr, 1);
	raw_open(&c, 1 << 20, 1 << 20);
	conn = raw_connect(&c, addr);
	CHECK_MSG(conn > 0, "%s", c.why);
	calls(&c, conn);
	raw_close(&c);
	raw_server_stop(&next);
	stranger_close(&s);
	leave();
}
