// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/netlink kmod/control */
/*
 * Each allocation of each netlink command fails in turn, until the command comes to its end
 * without a failure. A command that fails has changed nothing, but where its documentation
 * says so; calls go on. The runner looks for leaks when the file is done.
 */
#include <errno.h>

#include "tap.h"
#include "fault.h"
#include "operator.h"
#include "raw.h"

static struct raw_pair p;

/* -- dumps ------------------------------------------------------------------------------ */

static const struct {
	uint8_t cmd;
	const char *name;
} dumps[] = {
	{ MRPC_CMD_SESSION_GET, NULL },
	{ MRPC_CMD_QP_GET, NULL },
	{ MRPC_CMD_CONN_GET, NULL },
	{ MRPC_CMD_SERVICE_GET, NULL },
	{ MRPC_CMD_SCHEMA_GET, NULL },
	{ MRPC_CMD_METHOD_GET, NULL },
	{ MRPC_CMD_DATAPATH_GET, NULL },
	{ MRPC_CMD_ENGINE_TYPE_GET, NULL },
	{ MRPC_CMD_ENGINE_GET, NULL },
	{ MRPC_CMD_QUEUE_GET, NULL },
	{ MRPC_CMD_RPC_GET, "held" },
	{ MRPC_CMD_RUNTIME_GET, NULL },
	{ MRPC_CMD_SERIES_GET, "metrics" },
	{ MRPC_CMD_KEYSET_GET, NULL },
	{ MRPC_CMD_KEY_GET, "keys" },
	{ MRPC_CMD_EGRESS_GET, NULL },
	{ MRPC_CMD_EGRESS_QUEUE_GET, "lo" },
	{ MRPC_CMD_TRANSPORT_GET, NULL },
};

static unsigned int dump;
static uint32_t datapath, schema;

static int run_dump(void)
{
	uint8_t cmd = dumps[dump].cmd;

	return op_dump(cmd, dumps[dump].name, cmd == MRPC_CMD_METHOD_GET ? schema : datapath);
}

static void passes_by(int (*run)(void))
{
	unsigned int nth;
	bool came = true;
	int err;

	for (nth = 1; nth < FAULT_MANY && came; nth++) {
		fault_arm(nth);
		err = run();
		came = fault_came();
		CHECK_MSG(!err || (came && fault_is_refusal(err)), "allocation %u: %s", nth,
			  strerror(-err));
		CHECK_EQ(run(), 0);
	}
	NOTE("%u allocations", nth - 2);
	CHECK(!came);
}

/* A pair with one of everything that an operator can add. */
static void furnished(void)
{
	raw_pair(&p, "tcp4", 1);
	datapath = op_conn(p.c.setup.session, p.conn, MRPC_A_CONN_DATAPATH);
	schema = op_any_schema();
	op_must_add("metrics", "name=metrics", NULL);
	op_must_add("null", "name=held", NULL);
	op_keyset_new("keys", false);
	op_keys("keys", true, "key-%u", 0, 100);
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "discipline=fifo");
	op_runtime(MRPC_CMD_RUNTIME_ADD, "aside", "nice=1");
}

static void bare(void)
{
	op_forget();
	op_runtime(MRPC_CMD_RUNTIME_DEL, "aside", NULL);
	op_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
	op_del_all();
	op_keyset_del("keys");
}

TEST_LIMIT(dumps, 600)
{
	fault_begin();
	bare();
	furnished();
	for (dump = 0; dump < ARRAY_SIZE(dumps); dump++) {
		NOTE("command %u", dumps[dump].cmd);
		passes_by(run_dump);
	}
	bare();
	raw_pair_end(&p);
}

/* -- commands that change something ---------------------------------------------------- */

/**
 * struct command - a command whose allocations fail
 * @run: it. Return: 0 or -errno
 * @is: its effect is there
 * @undo: takes that back
 * @partly: one that fails may have had its effect, or a part of it, as is documented; @undo
 *	takes that back, too
 */
struct command {
	const char *name;
	int (*run)(void);
	bool (*is)(void);
	void (*undo)(void);
	bool partly;
};

static void works(void)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, 1, 100, "text"));
	struct mrpc_cqe cqe;

	sqe.timeout_us = 5000000 * raw_scale();
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&p.c, &cqe);
	raw_free(&p.c, sqe.root);
}

static void command_fails(const struct command *c)
{
	unsigned int nth, refused = 0;
	bool came = true, unheard;
	int err;

	/* What it has loaded, and the socket, stay. */
	CHECK_EQ(c->run(), 0);
	CHECK(c->is());
	c->undo();
	for (nth = 1; nth < FAULT_MANY && came; nth++) {
		CHECK(!c->is());
		fault_arm(nth);
		err = c->run();
		came = fault_came();
		unheard = err && !strcmp(op_why, OP_UNHEARD);
		refused += err && !unheard;
		CHECK_MSG(!err || (came && fault_is_refusal(err)), "%s, allocation %u: %s: %s", c->name,
			  nth, strerror(-err), op_why);
		CHECK_MSG((err && (unheard || c->partly)) || c->is() == !err,
			  "%s, allocation %u: %s, and it is %sthere", c->name, nth, strerror(-err),
			  err ? "" : "not ");
		works();
		if (c->partly || c->is())
			c->undo();
	}
	NOTE("%s: %u allocations, of which %u were needed", c->name, nth - 2, refused);
	CHECK(!came);
}

static int64_t engine_number(unsigned int attr)
{
	return op_has("e") ? op_number("e", attr) : -1;
}

static bool engine_is(void)
{
	return op_has("e");
}

static bool engine_is_not(void)
{
	return !op_has("e");
}

static void engine_undo(void)
{
	op_must_del("e");
}

static int run_add_null(void)
{
	return op_add("null", "name=e", NULL, NULL);
}

static int run_add_ratelimit(void)
{
	return op_add("ratelimit", "name=e rate=1000000 burst=1000", NULL, NULL);
}

static int run_add_metrics(void)
{
	return op_add("metrics", "name=e before=metrics", NULL, NULL);
}

static int run_add_acl(void)
{
	enum { ALLOW, DENY };

	struct op_rules r;
	uint32_t set;

	op_rules_begin(&r);
	set = op_rules_set(&r, "keys");
	op_rule(&r, DENY, MRPC_PERMISSION_DENIED, "no");
	op_cond_in(&r, "text", set);
	return op_add("acl", "name=e", &r, NULL);
}

static int run_set_version(void)
{
	return op_set("e", "version=2", NULL, NULL);
}

static bool version_is_set(void)
{
	return engine_number(MRPC_A_ENGINE_VERSION) == 2;
}

static void version_undo(void)
{
	CHECK_EQ(op_set("e", "version=1", NULL, NULL), 0);
}

static int run_del(void)
{
	return op_del("e", NULL);
}

static void add_again(void)
{
	op_must_add("null", "name=e version=1", NULL);
}

static int run_pause(void)
{
	return op_pause("e", 2, true);
}

static int run_add_some(void)
{
	return op_add("null", "name=e percent=50", NULL, NULL);
}

static int run_step(void)
{
	return op_step("e", 100, NULL);
}

static bool step_is(void)
{
	return op_has("e") && engine_number(MRPC_A_ENGINE_PERCENT) < 0;
}

static void step_undo(void)
{
	op_must_del("e");
	CHECK_EQ(run_add_some(), 0);
}

static int run_runtime_add(void)
{
	return op_runtime(MRPC_CMD_RUNTIME_ADD, "r", "nice=3");
}

static bool runtime_is(void)
{
	return op_has_runtime("r");
}

static bool runtime_is_not(void)
{
	return !op_has_runtime("r");
}

static void runtime_undo(void)
{
	CHECK_EQ(op_runtime(MRPC_CMD_RUNTIME_DEL, "r", NULL), 0);
}

static int run_runtime_set(void)
{
	return op_runtime(MRPC_CMD_RUNTIME_SET, "r", "nice=5");
}

static bool runtime_set_is(void)
{
	return (int32_t)op_runtime_number("r", MRPC_A_RUNTIME_NICE) == 5;
}

static void runtime_set_undo(void)
{
	CHECK_EQ(op_runtime(MRPC_CMD_RUNTIME_SET, "r", "nice=3"), 0);
}

static int run_runtime_del(void)
{
	return op_runtime(MRPC_CMD_RUNTIME_DEL, "r", NULL);
}

static void runtime_again(void)
{
	CHECK_EQ(run_runtime_add(), 0);
}

static int run_keyset_new(void)
{
	return op_keyset_new("keys", false);
}

static bool keyset_is(void)
{
	return op_keyset_keys("keys") >= 0;
}

static bool keyset_is_not(void)
{
	return op_keyset_keys("keys") < 0;
}

static void keyset_undo(void)
{
	CHECK_EQ(op_keyset_del("keys"), 0);
}

static int run_keyset_del(void)
{
	return op_keyset_del("keys");
}

static void keyset_again(void)
{
	CHECK_EQ(run_keyset_new(), 0);
}

static int run_insert(void)
{
	return op_keys("keys", true, "key-%u", 0, 100);
}

static bool insert_is(void)
{
	return op_keyset_keys("keys") == 100;
}

static void insert_undo(void)
{
	CHECK_EQ(op_keys("keys", false, "key-%u", 0, 100), 0);
}

static int run_remove(void)
{
	return op_keys("keys", false, "key-%u", 0, 100);
}

static bool remove_is(void)
{
	return !op_keyset_keys("keys");
}

static void remove_undo(void)
{
	CHECK_EQ(run_insert(), 0);
}

static int run_egress_set(void)
{
	return op_egress(MRPC_CMD_EGRESS_SET, "lo", "discipline=strict fair=1 chunk=4096");
}

static bool egress_is(void)
{
	return op_has_egress("lo");
}

static bool egress_is_not(void)
{
	return !op_has_egress("lo");
}

static void egress_undo(void)
{
	CHECK_EQ(op_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL), 0);
}

static void egress_undo_if(void)
{
	if (egress_is())
		egress_undo();
}

static int run_egress_del(void)
{
	return op_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
}

static void egress_again(void)
{
	CHECK_EQ(run_egress_set(), 0);
}

static int run_egress_change(void)
{
	return op_egress(MRPC_CMD_EGRESS_SET, "lo", "discipline=small-first fair=0");
}

static bool egress_changed(void)
{
	return op_egress_is("lo", "small-first");
}

static void begin(void)
{
	fault_begin();
	bare();
	op_runtime(MRPC_CMD_RUNTIME_DEL, "r", NULL);
	raw_pair(&p, "tcp4", 1);
}

static void end(void)
{
	bare();
	op_runtime(MRPC_CMD_RUNTIME_DEL, "r", NULL);
	raw_pair_end(&p);
}

TEST_LIMIT(engine_add, 600)
{
	static const struct command all[] = {
		{ .name = "null", .run = run_add_null, .is = engine_is, .undo = engine_undo },
		{ .name = "ratelimit", .run = run_add_ratelimit, .is = engine_is, .undo = engine_undo },
		{ .name = "metrics", .run = run_add_metrics, .is = engine_is, .undo = engine_undo },
		{ .name = "acl", .run = run_add_acl, .is = engine_is, .undo = engine_undo },
	};
	unsigned int i;

	begin();
	CHECK_EQ(run_keyset_new(), 0);
	op_must_add("metrics", "name=metrics", NULL);
	for (i = 0; i < ARRAY_SIZE(all); i++)
		command_fails(&all[i]);
	end();
}

TEST_LIMIT(engine_change, 600)
{
	static const struct command all[] = {
		{ .name = "version", .run = run_set_version, .is = version_is_set, .undo = version_undo },
		{ .name = "del", .run = run_del, .is = engine_is_not, .undo = add_again },
	};
	unsigned int i;

	begin();
	add_again();
	for (i = 0; i < ARRAY_SIZE(all); i++)
		command_fails(&all[i]);
	end();
}

TEST_LIMIT(engine_step, 600)
{
	begin();
	CHECK_EQ(run_add_some(), 0);
	command_fails(&(struct command){
		.name = "step", .run = run_step, .is = step_is, .undo = step_undo,
	});
	end();
}

TEST_LIMIT(runtimes, 600)
{
	static const struct command all[] = {
		{ .name = "add", .run = run_runtime_add, .is = runtime_is, .undo = runtime_undo },
		{ .name = "set", .run = run_runtime_set, .is = runtime_set_is, .undo = runtime_set_undo },
		{ .name = "del", .run = run_runtime_del, .is = runtime_is_not, .undo = runtime_again },
	};

	begin();
	command_fails(&all[0]);
	runtime_again();
	command_fails(&all[1]);
	command_fails(&all[2]);
	end();
}

TEST_LIMIT(keysets, 600)
{
	static const struct command all[] = {
		{ .name = "new", .run = run_keyset_new, .is = keyset_is, .undo = keyset_undo },
		{ .name = "insert", .run = run_insert, .is = insert_is, .undo = insert_undo,
		  .partly = true },
		{ .name = "remove", .run = run_remove, .is = remove_is, .undo = remove_undo },
		{ .name = "del", .run = run_keyset_del, .is = keyset_is_not, .undo = keyset_again },
	};

	begin();
	command_fails(&all[0]);
	keyset_again();
	command_fails(&all[1]);
	remove_undo();
	command_fails(&all[2]);
	command_fails(&all[3]);
	end();
}

TEST_LIMIT(egress, 600)
{
	static const struct command all[] = {
		{ .name = "set", .run = run_egress_set, .is = egress_is, .undo = egress_undo_if,
		  .partly = true },
		{ .name = "change", .run = run_egress_change, .is = egress_changed, .undo = egress_again,
		  .partly = true },
		{ .name = "del", .run = run_egress_del, .is = egress_is_not, .undo = egress_again },
	};

	begin();
	command_fails(&all[0]);
	egress_again();
	command_fails(&all[1]);
	command_fails(&all[2]);
	end();
}

/* A queue that is not held, after all: a request passes it. */
TEST_LIMIT(queue_set, 300)
{
	bool came = true;
	unsigned int nth;
	int err;

	begin();
	add_again();
	for (nth = 1; nth < FAULT_MANY && came; nth++) {
		fault_arm(nth);
		err = run_pause();
		came = fault_came();
		CHECK_MSG(!err || (came && fault_is_refusal(err)), "allocation %u: %s: %s", nth,
			  strerror(-err), op_why);
		if (!err || !strcmp(op_why, OP_UNHEARD))
			CHECK_EQ(op_pause("e", 3, false), 0);
		works();
	}
	NOTE("%u allocations", nth - 2);
	CHECK(!came);
	end();
}
