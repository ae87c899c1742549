// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/carry kmod/call/flow kmod/call/flow_tx kmod/call/flow_rx kmod/engines/lb kmod/replica */
/*
 * Streams that the links of replicas carry: their messages follow their calls, over credit, engines
 * of the connection, and the end of a replica.
 */
#include "tap.h"
#include "chats.h"
#include "operator.h"

#define REPLICAS	2
#define STREAMS		20
#define MESSAGES	20

enum { ALLOW, DENY };

static struct side replica[REPLICAS];
static int listeners[REPLICAS];
static char addrs[REPLICAS][64];

static bool linked(void)
{
	char name[128];
	unsigned int i;

	for (i = 0; i < REPLICAS; i++) {
		snprintf(name, sizeof(name), "%.60s/linked", addrs[i]);
		if (op_counter("lb", name) != 1)
			return false;
	}
	return true;
}

static void begin_replicas(const char *how)
{
	uint64_t until = raw_now() + WAIT * raw_patience();
	char words[160];
	unsigned int i;

	op_del_all();
	chat_base = 0;
	nr_sides = 0;
	open_side(&server, 16 << 20, 256, MRPC_QP_SERVE);
	open_side(&client, 16 << 20, 1024, 0);
	listener = serve_streams(&server, address(how));
	join_client(address(how));
	for (i = 0; i < REPLICAS; i++) {
		open_side(&replica[i], 16 << 20, 256, MRPC_QP_SERVE);
		listeners[i] = serve_streams(&replica[i], "tcp:127.0.0.1:0");
		snprintf(addrs[i], sizeof(addrs[i]), "tcp:127.0.0.1:%u", replica[i].s.port);
	}
	snprintf(words, sizeof(words), "members=%s,%s", addrs[0], addrs[1]);
	op_must_add("lb", words, NULL);
	chats_all(1, 3);
	CHECK(chats[0].at != &server);
	while (!linked()) {
		CHECK_MSG(raw_now() < until, "there is a replica without a link");
		/* A replica accepts its link in its own thread, which is this one. */
		run_sides();
		raw_sleep(RAW_MS);
	}
}

static void end_replicas(void)
{
	unsigned int i;

	op_del_all();
	raw_close(&client.s);
	raw_close(&server.s);
	for (i = 0; i < REPLICAS; i++)
		raw_close(&replica[i].s);
	CHECK(raw_sessions(0, 10000));
}

/* How many of the streams replica @i has, or had. */
static unsigned int has(unsigned int i)
{
	unsigned int j, n = 0;

	for (j = 0; j < nr_chats; j++)
		n += chats[j].at == &replica[i];
	return n;
}

/* Streams that need more than one window each way. chats.h checks where each message comes. */
static void spread(const char *how)
{
	begin_replicas(how);
	chat_base = 20000;
	CHECK(MESSAGES * 20000 > MRPC_STREAM_WINDOW);
	chats_all(STREAMS, MESSAGES);
	CHECK_EQ(has(0), STREAMS / 2);
	CHECK_EQ(has(1), STREAMS / 2);
	end_replicas();
}

TEST_EACH_TRANSPORT(spread, spread)

/* What comes over the links passes the engines of the connection. */
static void with_engines(const char *how, bool late)
{
	struct op_rules r;

	begin_replicas(how);
	chat_base = 20000;
	op_must_add("null", "version=1 side=client", NULL);
	if (late)
		op_must_add("fault", "side=client delay_percent=3000 delay=3000000", NULL);
	op_rules_begin(&r);
	op_rule(&r, DENY, MRPC_ABORTED, NULL);
	op_cond_range(&r, MRPC_COND_FIELD, "tag", ~0ULL, ~0ULL);
	op_must_add("acl", "replies=1 side=client", &r);
	chats_all(STREAMS, MESSAGES);
	CHECK_EQ(has(0) + has(1), STREAMS);
	CHECK(has(0) && has(1));
	/* A CALL and an END that goes with a message; the REPLY. */
	CHECK_EQ(op_dir("null", false, MRPC_A_ENGINE_DIR_RPCS), STREAMS * (1 + MESSAGES));
	CHECK_EQ(op_dir("null", true, MRPC_A_ENGINE_DIR_RPCS), STREAMS * (MESSAGES + 1));
	CHECK_EQ(op_counter("acl", "denied"), 0);
	end_replicas();
}

TEST_EACH_TRANSPORT(engines, with_engines, false)
TEST_EACH_TRANSPORT(late, with_engines, true)

/* The engine of the connection rejects a message that comes over a link: only that call ends. */
static void rejected(const char *how)
{
	struct op_rules r;
	unsigned int i;

	begin_replicas(how);
	op_rules_begin(&r);
	op_rule(&r, DENY, MRPC_ABORTED, NULL);
	op_cond_range(&r, MRPC_COND_FIELD, "tag", chat_tag(3, 7), chat_tag(3, 7));
	op_must_add("acl", "replies=1 side=server", &r);
	chats_open(6, 10);
	chats[3].may_fail = true;
	chats_run(chats_over);
	CHECK_EQ(chats[3].status, MRPC_ABORTED);
	CHECK_EQ(chats[3].to_server.come, 7);
	op_must_del("acl");
	/* From here the client's engine judges what the replicas send. */
	op_must_add("acl", "replies=1 side=client", &r);
	chats_open(6, 10);
	chats[3].may_fail = true;
	chats_run(chats_over);
	CHECK_EQ(chats[3].status, MRPC_ABORTED);
	CHECK(chats[3].to_server.come <= 7 && chats[3].to_client.come <= 7);
	for (i = 0; i < 6; i++)
		CHECK(i == 3 || chats[i].status == MRPC_OK);
	op_must_del("acl");
	chats_all(6, 10);
	end_replicas();
}

TEST_EACH_TRANSPORT(rejected, rejected)

/* -- ends ----------------------------------------------------------------------------- */

static bool all_under_way(void)
{
	unsigned int i;

	for (i = 0; i < nr_chats; i++)
		if (chats[i].to_server.come < 5 || chats[i].to_client.come < 5)
			return false;
	return true;
}

/* Begins streams without an end, and lets each have some messages. */
static void run_endless(void)
{
	chats_open(STREAMS, CHAT_ENDLESS);
	chats_run(all_under_way);
}

/* Those that may fail have ended at both ends. */
static bool failed(void)
{
	unsigned int i;

	for (i = 0; i < nr_chats; i++)
		if (chats[i].may_fail && (!chats[i].done || !chats[i].aborted))
			return false;
	return true;
}

/* The other streams get @more messages, and end well. */
static void others_go_on(uint32_t more)
{
	unsigned int i;

	for (i = 0; i < nr_chats; i++) {
		struct chat *c = &chats[i];

		if (c->may_fail)
			continue;
		CHECK(!c->done);
		c->nr = more + (c->to_server.pushed > c->to_client.pushed ? c->to_server.pushed :
				c->to_client.pushed);
	}
	chats_run(chats_over);
	for (i = 0; i < nr_chats; i++)
		CHECK(chats[i].may_fail || chats[i].status == MRPC_OK);
}

static void replica_closed(const char *how, bool engines)
{
	unsigned int i, n;

	begin_replicas(how);
	if (engines)
		op_must_add("null", "version=1 side=client", NULL);
	run_endless();
	n = has(0);
	CHECK(n && n < STREAMS);
	for (i = 0; i < STREAMS; i++) {
		chats[i].may_fail = chats[i].at == &replica[0];
		if (chats[i].may_fail)
			replica[0].conn = chats[i].conn;
	}
	CHECK_EQ(raw_close_id(&replica[0].s, listeners[0], 0, 0), 0);
	CHECK_EQ(raw_close_id(&replica[0].s, replica[0].conn, 0, 0), 0);
	chats_run(failed);
	for (i = 0; i < STREAMS; i++) {
		if (!chats[i].may_fail)
			continue;
		CHECK_EQ(chats[i].status, MRPC_UNAVAILABLE);
		CHECK_EQ(chats[i].aborted, 1);
		CHECK_EQ(chats[i].why, MRPC_UNAVAILABLE);
	}
	others_go_on(40);
	/* New ones go to the replica that is left. */
	chats_all(4, 30);
	CHECK_EQ(has(1), 4);
	end_replicas();
}

TEST_EACH_TRANSPORT(replica_closed, replica_closed, false)
TEST_EACH_TRANSPORT(replica_closed_engines, replica_closed, true)

/* Calls that are cancelled end at their replica, too. */
static void cancelled(const char *how)
{
	struct mrpc_sqe cancel = { .op = MRPC_OP_CANCEL, .user_data = ~0ULL >> 1 };
	unsigned int i;

	begin_replicas(how);
	run_endless();
	cancel.conn = client.conn;
	for (i = 0; i < STREAMS; i += 3) {
		chats[i].may_fail = true;
		cancel.call = i;
		push(&client, &cancel);
	}
	chats_run(failed);
	for (i = 0; i < STREAMS; i += 3) {
		CHECK_EQ(chats[i].status, MRPC_CANCELLED);
		CHECK_EQ(chats[i].why, MRPC_CANCELLED);
	}
	others_go_on(40);
	chats_all(STREAMS, 5);
	end_replicas();
}

TEST_EACH_TRANSPORT(cancelled, cancelled)
