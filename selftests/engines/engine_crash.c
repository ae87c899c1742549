// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/engines/crash kmod/chain kmod/core/engine */
/*
 * An engine that misbehaves: the operator is told its name, and calls go on.
 */
#include <errno.h>

#include "tap.h"
#include "load.h"
#include "operator.h"

static struct raw_pair p;
static struct load l;
static struct op_change change;

static void begin(void)
{
	op_del_all();
	raw_pair(&p, "tcp4", 2);
	load_start(&l, &p.c, p.conn, 16);
	CHECK(load_more(&l, 20, 30000));
}

/* All calls have succeeded. */
static void end(void)
{
	CHECK(load_more(&l, 50, 30000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	op_del_all();
	raw_pair_end(&p);
}

/* Two datapaths: the first or the second one gets no instance. */
TEST(fails_to_be_created)
{
	begin();
	CHECK_EQ(op_add("crash", "fail_create=0", NULL, &change), -EIO);
	CHECK(strstr(op_why, "fail_create: 0 have been, as ordered"));
	CHECK_EQ(op_add("crash", "fail_create=1", NULL, &change), -EIO);
	CHECK(change.rolled_back);
	CHECK_EQ(op_del("crash", NULL), -ENOENT);
	/* A new connection must not be without the engine. */
	op_must_add("crash", "fail_create=2", NULL);
	CHECK(raw_connect(&p.c, p.addr) < 0);
	end();
}

TEST(fails_to_be_configured)
{
	begin();
	op_must_add("crash", "", NULL);
	CHECK_EQ(op_set("crash", "fail_configure=0 hold=1", NULL, &change), -EIO);
	CHECK_EQ(op_set("crash", "fail_configure=1 hold=1", NULL, &change), -EIO);
	CHECK(change.rolled_back);
	end();
}

/* Is the next completion a good reply? */
static bool answered(struct raw_qp *qp)
{
	struct mrpc_cqe cqe;
	bool good;

	raw_expect(qp, &cqe, MRPC_CQE_REPLY, 30 * RAW_S);
	good = cqe.status == MRPC_OK;
	raw_done(&p.c, &cqe);
	return good;
}

/*
 * The first engine holds messages, and would release them with its new configuration. The second
 * engine refuses its change, and also refuses to go back, as it has done before. Then the first one
 * cannot go back either. It has all of the new configuration.
 */
TEST(does_not_go_back)
{
	struct mrpc_sqe sqe;
	struct raw_qp qp;

	op_del_all();
	raw_pair(&p, "tcp4", 1);
	CHECK(raw_connect(&p.c, p.addr) > 0);
	raw_qp(&qp, &p.c, 16, 32, 0);
	op_must_add("crash", "name=first side=client fail_configure=0 hold=1", NULL);
	op_must_add("crash", "name=second side=client fail_configure=0", NULL);
	CHECK_EQ(op_set("second", "fail_configure=1", NULL, &change), -EIO);
	CHECK_EQ(change.matched, 2);
	CHECK(change.failed);
	CHECK(!change.rolled_back);
	sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, 1, 10, NULL));
	CHECK(raw_push(&qp, &sqe));
	raw_enter(&qp, 0, 0);
	CHECK_EQ(op_dir("first", false, MRPC_A_ENGINE_DIR_QUEUED), 1);
	CHECK_EQ(op_set("first", "fail_configure=unlimited hold=0", NULL, &change), -EIO);
	CHECK_STR(op_why, "fail_configure: 0 have been, as ordered");
	CHECK(!change.rolled_back);
	CHECK(answered(&qp));
	CHECK_EQ(op_dir("first", false, MRPC_A_ENGINE_DIR_QUEUED), 0);
	/* The connection ends as usual. A new connection gets the placed engines. */
	CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
	op_must_set("second", "fail_configure=unlimited", NULL);
	op_must_set("first", "fail_configure=unlimited hold=0", NULL);
	op_del_all();
	raw_pair_end(&p);
}

/* The state of version 1 is converted. There is no way back, and the error says so. */
TEST(versions)
{
	int64_t seen;

	begin();
	op_must_add("crash", "version=1 side=client", NULL);
	CHECK(load_more(&l, 200, 30000));	/* requests of the first ones had been sent */
	CHECK_EQ(op_set("crash", "type=crash version=2 fail_restore=0", NULL, &change), -EIO);
	CHECK(strstr(op_why, "fail_restore"));
	CHECK_EQ(op_number("crash", MRPC_A_ENGINE_VERSION), 1);
	seen = op_counter("crash", "seen_tx") + op_counter("crash", "seen_rx");
	CHECK(seen >= 200);
	op_must_set("crash", "type=crash version=2 fail_restore=unlimited", NULL);
	CHECK_EQ(op_number("crash", MRPC_A_ENGINE_VERSION), 2);
	CHECK_EQ(op_counter("crash", "conversions"), 1);
	CHECK(op_counter("crash", "seen_tx") >= seen);
	CHECK_EQ(op_set("crash", "type=crash version=1", NULL, NULL), -EOPNOTSUPP);
	CHECK(strstr(op_why, "crash@1 takes state 1 to 1; that of"));
	CHECK_EQ(op_number("crash", MRPC_A_ENGINE_VERSION), 2);
	end();
}

/* Rpcs that the engine has lost are found when it is removed, and the calls succeed. */
TEST(leak)
{
	begin();
	op_must_add("crash", "leak=5 side=client", NULL);
	CHECK(load_still(&l));
	CHECK_EQ(op_del("crash", &change), 0);
	CHECK_MSG(change.leaked == 16, "%u", change.leaked);
	end();
}

TEST(leak_at_the_server)
{
	begin();
	op_must_add("crash", "leak=5 side=server", NULL);
	CHECK(load_still(&l));
	CHECK_EQ(op_del("crash", &change), 0);
	CHECK_MSG(change.leaked == 16, "%u", change.leaked);
	end();
}

static int drained;

static void *drain(void *conn)
{
	drained = raw_close_id(&p.c, *(int *)conn, MRPC_CLOSE_DRAIN, 20000000ULL * raw_scale());
	return NULL;
}

/* BYE waits for a lost request, which its caller has given up. BYE is not lost itself. */
TEST_LIMIT(leak_then_drain, 120)
{
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	struct raw_qp qp;
	pthread_t thread;
	int conn;

	op_del_all();
	raw_server_open(&p.srv, 1 << 20, 1 << 20);
	raw_open(&p.c, 1 << 20, 1 << 20);
	p.srv.keepalive_us = RAW_HOUR_US;	/* a probe would make it be sent */
	raw_pair_start(&p, "tcp4", 1);
	conn = raw_connect_quiet(&p.c, p.addr);
	raw_qp(&qp, &p.c, 16, 32, 0);
	op_must_add("crash", "leak=1 side=client", NULL);
	sqe = raw_sqe(conn, RAW_ECHO, raw_blob(&p.c, 1, 0, NULL));
	sqe.timeout_us = 50000;
	CHECK(raw_push(&qp, &sqe));
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 30 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
	raw_done(&p.c, &cqe);
	CHECK_EQ(pthread_create(&thread, NULL, drain, &conn), 0);
	raw_sleep(500 * RAW_MS);
	CHECK_EQ(op_del("crash", &change), 0);
	CHECK_EQ(change.leaked, 1);
	pthread_join(thread, NULL);
	CHECK_EQ(drained, 0);
	raw_pair_end(&p);
}

/* The engine is not removed: the connection's end finds the lost rpcs. */
TEST(leak_until_the_end)
{
	begin();
	op_must_add("crash", "leak=3", NULL);
	CHECK(load_still(&l));
	CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
	CHECK(load_more(&l, 16, 30000));
	load_stop(&l);
	op_del_all();
	raw_pair_end(&p);
}

TEST(hold)
{
	begin();
	op_must_add("crash", "hold=1 side=client", NULL);
	CHECK(load_still(&l));
	CHECK_EQ(op_dir("crash", false, MRPC_A_ENGINE_DIR_QUEUED) +
		 op_dir("crash", true, MRPC_A_ENGINE_DIR_QUEUED), 16);
	CHECK_EQ(op_del("crash", &change), 0);
	CHECK_EQ(change.leaked, 0);
	end();
}

static int64_t turns(void)
{
	return op_dir("crash", false, MRPC_A_ENGINE_DIR_TURNS) +
	       op_dir("crash", true, MRPC_A_ENGINE_DIR_TURNS);
}

/* Times that no timer can be set to. As signed numbers they have long passed. */
TEST(wakes_never)
{
	static const char *const whens[] = {
		"hold=1 wake=unlimited side=client", "hold=1 wake=9223372036854775808 side=client",
		"hold=1 wake=9223372036854775807 side=client",
	};
	unsigned int i;
	int64_t before, more;

	for (i = 0; i < ARRAY_SIZE(whens); i++) {
		begin();
		op_must_add("crash", whens[i], NULL);
		CHECK(load_still(&l));
		before = turns();
		raw_sleep(RAW_S);
		more = turns() - before;
		CHECK_MSG(more < 50, "%s: %lld turns in a second", whens[i], (long long)more);
		op_must_del("crash");
		end();
	}
}

/* The engine is reported and bypassed: calls are as fast as before. */
static void overruns(const char *params)
{
	uint64_t until;

	begin();
	op_must_add("crash", params, NULL);
	until = raw_now() + 10 * RAW_S * raw_patience();
	while (op_number("crash", MRPC_A_ENGINE_BYPASSED) < 1 && raw_now() < until)
		raw_sleep(50 * RAW_MS);
	CHECK_EQ(op_number("crash", MRPC_A_ENGINE_BYPASSED), 1);
	CHECK(op_dir("crash", false, MRPC_A_ENGINE_DIR_SLOW) +
	      op_dir("crash", true, MRPC_A_ENGINE_DIR_SLOW) >= 4);
	CHECK(load_more(&l, 200, 10000));
	end();
}

TEST(overrun)
{
	overruns("overrun=20000 side=client");
}

/* Good turns in the other direction, in between, do not count for this one. */
TEST(overrun_one_way)
{
	overruns("overrun=20000 overruns=tx side=client");
}
