// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/engines/null kmod/chain kmod/change */
/*
 * The null engine, and the error for an engine that does not exist.
 */
#include <errno.h>

#include "tap.h"
#include "load.h"
#include "operator.h"

static struct raw_pair p;
static struct load l;

static void calls(unsigned int nr)
{
	struct mrpc_cqe cqe;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		uint32_t root = raw_blob(&p.c, i, i % 3 ? 100 : 100000, "text");
		struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ECHO, root);

		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_OK);
		CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, i, i % 3 ? 100 : 100000));
		raw_done(&p.c, &cqe);
		raw_free(&p.c, root);
	}
}

/* Both ends of the connection are in the scope, so each message passes twice. */
static void passes(const char *how)
{
	raw_pair(&p, how, 1);
	calls(3);
	op_must_add("null", "", NULL);
	calls(30);
	CHECK_EQ(op_number("null", MRPC_A_ENGINE_DATAPATHS), 2);
	CHECK_EQ(op_dir("null", false, MRPC_A_ENGINE_DIR_RPCS), 60);
	CHECK_EQ(op_dir("null", true, MRPC_A_ENGINE_DIR_RPCS), 60);
	CHECK_EQ(op_dir("null", false, MRPC_A_ENGINE_DIR_QUEUED), 0);
	op_must_add("null", "name=second side=client", NULL);
	calls(30);
	CHECK_EQ(op_dir("null", false, MRPC_A_ENGINE_DIR_RPCS), 120);
	CHECK_EQ(op_dir("second", false, MRPC_A_ENGINE_DIR_RPCS), 30);
	CHECK_EQ(op_dir("second", true, MRPC_A_ENGINE_DIR_RPCS), 30);
	op_must_del("null");
	calls(30);
	CHECK_EQ(op_dir("second", false, MRPC_A_ENGINE_DIR_RPCS), 60);
	op_must_del("second");
	calls(3);
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(passes, passes)
TEST_GRPC(passes, passes)

/* The modules are loaded on demand. Without a version, the newest one is used. */
TEST(versions)
{
	struct op_change change;
	unsigned int i;

	raw_pair(&p, "tcp4", 2);
	load_start(&l, &p.c, p.conn, 16);
	op_must_add("null", "version=1", NULL);
	CHECK_EQ(op_number("null", MRPC_A_ENGINE_VERSION), 1);
	CHECK(load_more(&l, 100, 20000));
	for (i = 0; i < 10; i++) {
		CHECK_EQ(op_set("null", i % 2 ? "type=null version=1" : "type=null version=2", NULL,
				&change), 0);
		CHECK_EQ(change.changed, 2);
		CHECK_EQ(change.leaked, 0);
		CHECK_EQ(op_number("null", MRPC_A_ENGINE_VERSION), i % 2 ? 1 : 2);
		CHECK(load_more(&l, 20, 20000));
	}
	op_must_del("null");
	op_must_add("null", "", NULL);
	CHECK_EQ(op_number("null", MRPC_A_ENGINE_VERSION), 2);
	CHECK(load_more(&l, 100, 20000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	op_must_del("null");
	raw_pair_end(&p);
}

static void refused(int err, const char *why, const char *type, const char *words)
{
	int got = op_add(type, words, NULL, NULL);

	CHECK_MSG(got == err, "add %s %s: %d, not %d: %s", type, words, got, err, op_why);
	CHECK_MSG(strstr(op_why, why), "add %s %s: '%s', not '%s'", type, words, op_why, why);
}

TEST(bad_input)
{
	refused(-ENOENT, "there is no engine type 'nul'", "nul", "");
	refused(-ENOENT, "no version 3", "null", "version=3");
	refused(-ENOENT, "has no parameter 'speed'", "null", "speed=1");
	refused(-ENOENT, "there is no engine named 'other'", "null", "before=other");
	refused(-ENOENT, "there is no session 4000000", "null", "session=4000000");
	op_must_add("null", "", NULL);
	refused(-EEXIST, "'null'", "null", "");
	op_must_del("null");
	CHECK_EQ(op_del("null", NULL), -ENOENT);
}
