// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/change kmod/control/place kmod/core/engine_type kmod/exec/runtime */
/*
 * Processes, namespaces, modules and runtimes end while engines change, or cannot end before.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tap.h"
#include "operator.h"
#include "raw.h"

static pid_t victim(bool unshared)
{
	pid_t pid = CHECK_SYS(fork());
	static struct raw_pair p;
	struct mrpc_cqe cqe;
	struct raw_qp qp;
	unsigned int i;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	op_forget();
	if (unshared)
		CHECK_SYS(unshare(CLONE_NEWNET));
	raw_pair(&p, unshared || getpid() % 2 ? "loop" : "tcp4", 1);
	raw_qp(&qp, &p.c, 64, 256, 0);
	if (unshared)
		op_must_add("null", "name=own", NULL);
	for (i = 0;; i++) {
		struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, i, i % 2 ? 64 : 50000,
									 NULL));

		sqe.user_data = sqe.root;
		raw_push(&qp, &sqe);
		raw_enter(&qp, 0, 0);
		while (raw_ready(&qp) || i % 8 == 7) {
			if (!raw_next(&qp, &cqe, 10 * RAW_S * raw_patience()))
				_exit(1);
			raw_done(&p.c, &cqe);
			if (cqe.type == MRPC_CQE_SENT || cqe.flags & MRPC_CQE_FREED)
				raw_free(&p.c, cqe.user_data);
			if (!raw_ready(&qp))
				break;
		}
		if (unshared && i % 4 == 3)
			op_must_set("own", i % 8 == 3 ? "type=null version=1" : "type=null version=2",
				    NULL);
	}
}

/* Clients and servers are killed, and their namespaces go, while engines change. */
static void killed(bool unshared)
{
	struct op_change c;
	pid_t pid[4];
	unsigned int round, i;
	int status, err;

	op_del_all();
	CHECK_EQ(op_add("null", "version=1", NULL, &c), 0);
	CHECK_EQ(op_add("ratelimit", "", NULL, &c), 0);
	for (i = 0; i < ARRAY_SIZE(pid); i++)
		pid[i] = victim(unshared);
	for (round = 0; round < 12; round++) {
		i = round % ARRAY_SIZE(pid);
		err = op_set("null", round % 2 ? "type=null version=1" : "type=null version=2",
			     NULL, &c);
		CHECK_MSG(!err, "set: %s", op_why);
		if (round % 3 == 2)
			op_pause("null", 3, true);
		kill(pid[i], SIGKILL);
		err = op_set("ratelimit", round % 2 ? "rate=unlimited" : "rate=50000", NULL, &c);
		CHECK_MSG(!err, "set: %s", op_why);
		op_pause("null", 3, false);
		CHECK_EQ(waitpid(pid[i], &status, 0), pid[i]);
		CHECK_MSG(WIFSIGNALED(status), "the victim ended by itself, status %x", status);
		pid[i] = victim(unshared);
		raw_sleep(100 * RAW_MS);
	}
	for (i = 0; i < ARRAY_SIZE(pid); i++) {
		kill(pid[i], SIGKILL);
		CHECK_EQ(waitpid(pid[i], &status, 0), pid[i]);
	}
	CHECK(raw_sessions(0, 20000));
	op_must_del("null");
	op_must_del("ratelimit");
}

TEST(kill)
{
	killed(false);
}

TEST(namespaces)
{
	killed(true);
}

/* The modules of engines can be unloaded as soon as nothing uses them. */
TEST(modules)
{
	static struct raw_pair p;
	struct op_change c;
	unsigned int i;

	op_del_all();
	raw_pair(&p, "tcp4", 1);
	for (i = 0; i < 5; i++) {
		CHECK_EQ(op_add("null", "version=1", NULL, &c), 0);
		CHECK_EQ(raw_unload("mrpc_null_1"), -EAGAIN);
		CHECK_EQ(op_set("null", "type=null version=2", NULL, &c), 0);
		raw_must_unload("mrpc_null_1");
		CHECK_EQ(raw_unload("mrpc_null_2"), -EAGAIN);
		CHECK_EQ(raw_unload("mrpc"), -EAGAIN);
		op_must_del("null");
		raw_must_unload("mrpc_null_2");
	}
	raw_pair_end(&p);
}

/* A runtime stays while engines place datapaths on it, even if there is no datapath. */
TEST(runtime_named)
{
	op_del_all();
	CHECK_EQ(op_runtime_add("r"), 0);
	op_must_add("runtime", "name=here on=r", NULL);
	CHECK_EQ(op_runtime_del("r"), -EBUSY);
	op_must_del("here");
	CHECK_MSG(!op_runtime_del("r"), "%s", op_why);
}
