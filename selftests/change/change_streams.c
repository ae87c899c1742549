// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/change kmod/chain kmod/call/flow kmod/call/flow_tx kmod/call/flow_rx kmod/control/rollout */
/*
 * A thousand streams under way while an operator attaches, replaces, moves and removes engines, and
 * replaces the transport. Each message comes once, and in its turn.
 *
 * From the environment: MRPC_CHANGE_ROUNDS times that all changes are made (3).
 */
#include <stdlib.h>

#include "tap.h"

#define CHATS		1000
#define CHAT_AHEAD	3	/* the client's completion queue has entries for the SENTs of all */
#define CHAT_LARGE	3000

#include "chats.h"
#include "operator.h"

#define LINKS		4	/* each has fewer streams than max_calls */
#define ENTRIES		4096	/* of a submission queue */
#define LEAST		8	/* messages of a stream each way */

enum { ALLOW, DENY };

/**
 * struct changer - the operator's thread
 * @versions: the transport has a version 2
 * @rounds: how often it makes all changes
 * @done: it has ended
 * @bad: changes that failed, or lost a message
 * @nr: changes
 */
static struct changer {
	bool versions;
	unsigned int rounds;
	bool done;
	unsigned int bad;
	unsigned int nr;
} changer;

static void did(const char *what, int err, const struct op_change *c)
{
	if (err || c->leaked || c->failed) {
		NOTE("%s: %d, %s, %u lost, failed at %u", what, err, op_why, c->leaked, c->failed);
		changer.bad++;
	}
	changer.nr++;
	raw_sleep(2 * RAW_MS);
}

static void add(const char *type, const char *words, const struct op_rules *rules)
{
	struct op_change c = { 0 };

	did(words, op_add(type, words, rules, &c), &c);
}

static void set(const char *name, const char *words)
{
	struct op_change c = { 0 };

	did(words, op_set(name, words, NULL, &c), &c);
}

static void step(const char *name, unsigned int percent)
{
	struct op_change c = { 0 };

	did(name, op_step(name, percent, &c), &c);
}

static void del(const char *name)
{
	struct op_change c = { 0 };

	did(name, op_del(name, &c), &c);
}

static void hold_a_while(const char *name, unsigned int dirs)
{
	struct op_change c = { 0 };

	did("pause", op_pause(name, dirs, true), &c);
	raw_sleep(20 * RAW_MS);
	did("resume", op_pause(name, dirs, false), &c);
}

static void one_round(const struct op_rules *r)
{
	add("null", "name=n version=1", NULL);
	add("fault", "name=late delay_percent=1000 delay=2000000", NULL);
	set("n", "type=null version=2");
	add("runtime", "name=on on=a", NULL);
	if (changer.versions)
		set("up", "type=tcp version=2 checksum=1");
	add("acl", "name=front before=n replies=1", r);
	add("null", "name=half version=1 after=n percent=50", NULL);
	set("on", "on=b");
	step("half", 100);
	hold_a_while("n", 3);
	/* The engine moves behind another one. */
	del("front");
	add("acl", "name=front after=n replies=1", r);
	if (changer.versions)
		set("up", "type=tcp version=2 checksum=0");
	del("late");
	set("n", "type=null version=1 percent=50");
	step("n", 0);
	del("on");
	if (changer.versions)
		set("up", "type=tcp version=1");
	del("half");
	del("n");
	del("front");
}

static void *change(void *arg)
{
	struct op_rules r;
	unsigned int i;

	(void)arg;
	op_rules_begin(&r);
	op_rule(&r, DENY, MRPC_ABORTED, "not this one");
	op_cond_range(&r, MRPC_COND_FIELD, "tag", ~0ULL, ~0ULL);
	if (changer.versions)
		add("tcp", "name=up version=1", NULL);
	for (i = 0; i < changer.rounds && !changer.bad; i++)
		one_round(&r);
	if (changer.versions)
		del("up");
	__atomic_store_n(&changer.done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool changes_done(void)
{
	return __atomic_load_n(&changer.done, __ATOMIC_ACQUIRE);
}

static bool all_under_way(void)
{
	unsigned int i;

	for (i = 0; i < nr_chats; i++)
		if (!chats[i].to_server.come || !chats[i].to_client.come)
			return false;
	return true;
}

static void begin_thousand(const char *how, uint32_t *links)
{
	unsigned int i;

	op_del_all();
	op_runtime_del("a");	/* a test that failed leaves them */
	op_runtime_del("b");
	tells = strstr(how, "grpc4");
	nr_sides = 0;
	open_side(&server, 64 << 20, ENTRIES, MRPC_QP_SERVE);
	open_side(&client, 64 << 20, ENTRIES, 0);
	listener = serve_streams(&server, address(how));
	for (i = 0; i < LINKS; i++) {
		join_client(address(how));
		links[i] = client.conn;
	}
	CHECK_EQ(op_runtime_add("a"), 0);
	CHECK_EQ(op_runtime_add("b"), 0);
}

/* Messages go on until all changes are made. */
static void changed(const char *how, bool versions)
{
	const char *rounds = getenv("MRPC_CHANGE_ROUNDS");
	uint32_t links[LINKS];
	uint64_t messages = 0;
	unsigned int i;
	pthread_t t;

	begin_thousand(how, links);
	changer = (struct changer){ .versions = versions, .rounds = rounds ? atoi(rounds) : 3 };
	chats_open_over(links, LINKS, CHATS, CHAT_ENDLESS);
	chats_run(all_under_way);
	CHECK(!pthread_create(&t, NULL, change, NULL));
	chats_run(changes_done);
	pthread_join(t, NULL);
	CHECK_EQ(changer.bad, 0);
	for (i = 0; i < CHATS; i++) {
		struct chat *c = &chats[i];
		uint32_t nr = c->to_server.pushed > c->to_client.pushed ? c->to_server.pushed :
			      c->to_client.pushed;

		CHECK(!c->done);
		c->nr = nr < LEAST ? LEAST : nr + 1;
		messages += 2 * c->nr;
	}
	chats_run(chats_over);
	CHECK_EQ(nr_requests, CHATS);
	NOTE("%u changes under %u streams and %llu messages", changer.nr, CHATS,
	     (unsigned long long)messages);
	op_del_all();
	CHECK_MSG(!op_runtime_del("a"), "%s", op_why);
	CHECK_MSG(!op_runtime_del("b"), "%s", op_why);
	end();
}

TEST_LIMIT(thousand_tcp, 240)
{
	changed("tcp4", true);
}

TEST_LIMIT(thousand_loop, 240)
{
	changed("loop", false);
}

TEST_LIMIT(thousand_prio, 240)
{
	changed("prio", false);
}

TEST_LIMIT_GRPC(thousand, 240, changed, false)
