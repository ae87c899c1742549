// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/policy/choose kmod/policy/class_choose kmod/replica */
/*
 * Policies in eBPF that choose among replicas, for the engine lb: what they see, which replica gets
 * the call, and what happens if a policy is wrong, slow, replaced or gone.
 */
#include <errno.h>
#include <string.h>

#include "tap.h"
#include "examples.h"
#include "load.h"
#include "operator.h"
#include "bpf/chooser.h"
#include "bpf/probe.h"

#define REPLICAS	3

static struct raw_server srv[REPLICAS];
static struct policy chooser;
static struct load l;
static struct raw_qp qp;

static void order(uint32_t hook, struct chooser_order o)
{
	policy_map_set(&chooser, "orders", &hook, &o);
}

static struct chooser_seen seen(uint32_t hook)
{
	struct chooser_seen s;

	policy_map_get(&chooser, "seen", &hook, &s);
	return s;
}

static const char *addr(unsigned int i)
{
	static char text[64];

	snprintf(text, sizeof(text), "tcp:127.0.0.1:%u", srv[i].s.port);
	return text;
}

/* "members=A=w0,B=w1,C=w2 MORE" */
static const char *members(const char *more, int w0, int w1, int w2)
{
	const int w[REPLICAS] = { w0, w1, w2 };
	static char text[400];
	unsigned int i, n;

	n = snprintf(text, sizeof(text), "side=client members=");
	for (i = 0; i < REPLICAS; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%s=%d", i ? "," : "", addr(i), w[i]);
	snprintf(text + n, sizeof(text) - n, " %s", more);
	return text;
}

static int64_t counter(unsigned int i, const char *what)
{
	char name[80];

	snprintf(name, sizeof(name), "%s/%s", addr(i), what);
	return op_counter("lb", name);
}

static uint64_t requests(unsigned int i)
{
	return raw_server_requests(&srv[i]);
}

static void echo(uint64_t tag)
{
	unsigned int status = ex_call(RAW_ECHO, tag, 40, "text");

	CHECK_MSG(status == MRPC_OK, "call %llu: status %u, %s", (unsigned long long)tag, status,
		  ex_detail);
}

/* Waits for a condition, because a value read while others run is momentary. */
#define WAIT(condition)								\
	do {									\
		uint64_t until_ = raw_now() + 60 * RAW_S * raw_patience();	\
										\
		while (!(condition)) {						\
			CHECK_MSG(raw_now() < until_, "never: %s", #condition);	\
			raw_sleep(5 * RAW_MS);					\
		}								\
	} while (0)

static void begin_servers(const char *how)
{
	unsigned int i;

	op_del_all();
	raw_pair(&p, how, 2);
	for (i = 0; i < REPLICAS; i++)
		raw_server(&srv[i], "tcp:127.0.0.1:0", 2);
}

static void link_all(void)
{
	unsigned int i;

	echo(1);
	for (i = 0; i < REPLICAS; i++)
		WAIT(counter(i, "linked") == 1);
}

/* Three replicas, and the chooser. Its answer is "any" at first. */
static void begin(const char *how)
{
	begin_servers(how);
	policy_begin(&chooser, "chooser", "chooser");
	order(CHOOSER_PICK, (struct chooser_order){ .answer = MRPC_LB_ANY });
	op_must_add("lb", members("chooser=chooser", 1, 1, 1), NULL);
	link_all();
}

static void end_servers(void)
{
	unsigned int i;

	op_del_all();
	raw_pair_end(&p);
	for (i = 0; i < REPLICAS; i++)
		raw_server_stop(&srv[i]);
}

static void end(void)
{
	end_servers();
	policy_close(&chooser);
}

/* -- which replica gets the call ------------------------------------------------------- */

static void chooses(const char *how)
{
	uint64_t before[REPLICAS], tag = 100;
	unsigned int i, k;

	begin(how);
	for (i = 0; i < REPLICAS; i++) {
		order(CHOOSER_PICK, (struct chooser_order){ .answer = i });
		for (k = 0; k < REPLICAS; k++)
			before[k] = requests(k);
		for (k = 0; k < 10; k++)
			echo(tag++);
		for (k = 0; k < REPLICAS; k++)
			CHECK_EQ(requests(k), before[k] + (k == i ? 10 : 0));
	}
	/* The choice may depend on a field. */
	order(CHOOSER_PICK, (struct chooser_order){ .does = CHOOSER_BY_TAG });
	for (i = 0; i < 9; i++) {
		before[0] = requests(i % REPLICAS);
		echo(i % REPLICAS);
		CHECK_EQ(requests(i % REPLICAS), before[0] + 1);
	}
	/* Any: in turn, after replicas not linked at the first call have had their share. */
	order(CHOOSER_PICK, (struct chooser_order){ .answer = MRPC_LB_ANY });
	for (k = 0; k < REPLICAS; k++)
		echo(tag++);
	for (k = 0; k < REPLICAS; k++)
		before[k] = requests(k);
	for (k = 0; k < 5 * REPLICAS; k++)
		echo(tag++);
	for (k = 0; k < REPLICAS; k++)
		CHECK_EQ(requests(k), before[k] + 5);
	CHECK_EQ(op_counter("lb", "picked"), seen(CHOOSER_PICK).runs);
	CHECK_EQ(op_counter("lb", "ended"), seen(CHOOSER_DONE).runs);
	CHECK_EQ(op_counter("lb", "errors"), 0);
	CHECK_EQ(op_counter("lb", "unfit"), 0);
	CHECK_EQ(op_counter("lb", "fallbacks"), 0);
	CHECK_EQ(raw_server_requests(&p.srv), 0);
	end();
}

TEST_LIMIT(chooses_tcp, 120)
{
	chooses("tcp4");
}

TEST_LIMIT(chooses_loop, 120)
{
	chooses("loop");
}

/* -- the view of programs -------------------------------------------------------------- */

TEST(sees)
{
	struct chooser_seen s, d;
	unsigned int i, k;

	begin("tcp4");
	order(CHOOSER_PICK, (struct chooser_order){
		.does = CHOOSER_LOOK | CHOOSER_READ | CHOOSER_MISUSE | CHOOSER_STORE, .answer = 1,
	});
	order(CHOOSER_DONE, (struct chooser_order){ .does = CHOOSER_READ | CHOOSER_STORE });
	CHECK_EQ(ex_call(RAW_ECHO, 4711, 40, "a text"), MRPC_OK);
	s = seen(CHOOSER_PICK);
	CHECK_EQ(s.kind, MRPC_POLICY_REQUEST);
	CHECK_EQ(s.generation, 1);
	CHECK(s.datapath);
	CHECK(s.age);
	CHECK_EQ(s.nr, 3);
	CHECK_EQ(s.fit, 7);
	CHECK_EQ(s.looked, 3);
	CHECK_EQ(s.tag, 4711);
	CHECK_EQ(s.tag_ret, 0);
	CHECK_EQ(s.text_ret, strlen("a text"));
	CHECK_STR(s.text, "a text");
	CHECK_STR(s.name, "test.Bulk/Echo");
	CHECK_EQ(s.stored, 1);
	for (i = 0; i < 5; i++)
		CHECK_EQ(s.misuse[i], -EINVAL);
	CHECK_EQ(s.misuse[5], -EPERM);
	for (i = 0; i < REPLICAS; i++) {
		CHECK_EQ(s.all[i].weight, 1);
		CHECK_EQ(s.all[i].state, MRPC_LB_UP);
		CHECK_EQ(s.all[i].fit, 1);
		CHECK_EQ(s.all[i].outstanding, 0);
		CHECK_EQ(s.all[i].failures, 0);
		for (k = 0; k < i; k++)
			CHECK(s.all[i].key != s.all[k].key);
	}
	/* The end of the call, which has no message. */
	d = seen(CHOOSER_DONE);
	CHECK_EQ(d.kind, MRPC_POLICY_NO_MESSAGE);
	CHECK_EQ(d.call, s.call);
	CHECK_EQ(d.method, s.method);
	CHECK_EQ(d.datapath, s.datapath);
	CHECK_EQ(d.tag_ret, -ENOENT);
	CHECK_STR(d.name, "");
	CHECK_EQ(d.stored, 2);
	CHECK_EQ(d.end.index, 1);
	CHECK_EQ(d.end.key, s.all[1].key);
	CHECK_EQ(d.end.status, MRPC_OK);
	CHECK_EQ(d.end.sent, 1);
	CHECK(d.end.latency);
	CHECK_EQ(ex_call(RAW_FAIL, MRPC_ABORTED, 40, "why"), MRPC_ABORTED);
	CHECK_EQ(seen(CHOOSER_DONE).end.status, MRPC_ABORTED);
	CHECK_EQ(seen(CHOOSER_DONE).not_sent, 0);
	/* Values that the engine has learned. */
	echo(1);
	s = seen(CHOOSER_PICK);
	CHECK(s.all[1].latency);
	CHECK(s.all[1].picks >= 2);
	WAIT(seen(CHOOSER_TICK).runs > 1);
	end();
}

/* -- states ------------------------------------------------------------------------------- */

TEST(unfit)
{
	struct chooser_seen s;
	uint64_t before;
	unsigned int i;

	begin("tcp4");
	order(CHOOSER_PICK, (struct chooser_order){ .does = CHOOSER_LOOK, .answer = 2 });
	echo(1);
	CHECK_EQ(op_counter("lb", "unfit"), 0);
	op_must_set("lb", strchr(members("", 2, 1, 0), ' ') + 1, NULL);
	before = requests(2);
	for (i = 0; i < 6; i++)
		echo(2 + i);
	CHECK_EQ(requests(2), before);
	CHECK_EQ(op_counter("lb", "unfit"), 6);
	CHECK_EQ(op_counter("lb", "errors"), 0);
	s = seen(CHOOSER_PICK);
	CHECK_EQ(s.fit, 3);
	CHECK_EQ(s.all[0].weight, 2);
	CHECK_EQ(s.all[2].state, MRPC_LB_DRAINING);
	CHECK_EQ(s.all[2].fit, 0);
	/* A replica that has gone. */
	op_must_set("lb", strchr(members("backoff=60000000000", 1, 1, 1), ' ') + 1, NULL);
	order(CHOOSER_PICK, (struct chooser_order){ .does = CHOOSER_LOOK, .answer = 1 });
	echo(100);
	raw_server_stop(&srv[1]);
	WAIT(counter(1, "linked") == 0);
	echo(101);
	s = seen(CHOOSER_PICK);
	CHECK_EQ(s.all[1].state, MRPC_LB_DOWN);
	CHECK(s.all[1].failures);
	CHECK_EQ(s.fit, 5);
	/* The program does not run if there is nothing to choose from. */
	op_must_set("lb", strchr(members("", 0, 0, 0), ' ') + 1, NULL);
	before = seen(CHOOSER_PICK).runs;
	CHECK_EQ(ex_call(RAW_ECHO, 1, 40, NULL), MRPC_UNAVAILABLE);
	CHECK_EQ(seen(CHOOSER_PICK).runs, before);
	raw_server(&srv[1], "tcp:127.0.0.1:0", 1);
	end();
}

/* A call that is taken back was not sent. A call that fails with its link was sent. */
TEST(ends)
{
	uint64_t limits[2] = { 0, 100 * RAW_S };	/* age, and time that must be left */
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	struct policy after;
	uint32_t zero = 0;

	begin("tcp4");
	order(CHOOSER_PICK, (struct chooser_order){ .answer = 0 });
	policy_example(&after, "shed");
	policy_start(&after);
	op_must_add("shed", "side=client after=lb", NULL);
	policy_map_set(&after, "limits", &zero, limits);
	sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, 1, 3, NULL));
	sqe.timeout_us = 50000000;
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
	raw_done(&p.c, &cqe);
	WAIT(seen(CHOOSER_DONE).not_sent == 1);
	CHECK_EQ(counter(0, "outstanding"), 0);
	op_must_del("shed");
	policy_close(&after);
	/* The server goes while it has a call. */
	raw_qp(&qp, &p.c, 8, 16, 0);
	sqe = raw_sqe(p.conn, RAW_HANG, raw_blob(&p.c, 2, 3, NULL));
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK(raw_server_hangs(&srv[0], 1));
	raw_server_stop(&srv[0]);
	WAIT(seen(CHOOSER_DONE).unavailable == 1);
	CHECK_EQ(seen(CHOOSER_DONE).end.sent, 1);
	raw_server(&srv[0], "tcp:127.0.0.1:0", 1);
	end();
}

/* -- mistakes ------------------------------------------------------------------------------- */

static void check_refused(const char *words, int err, const char *why)
{
	CHECK_EQ(op_add("lb", words, NULL, NULL), err);
	CHECK_STR(op_why, why);
}

TEST(refused)
{
	begin("tcp4");
	op_must_del("lb");
	check_refused(members("chooser=nobody", 1, 1, 1), -ENOENT,
		      "there is no policy 'nobody' to choose: load it first");
	check_refused(members("chooser=chooser@7", 1, 1, 1), -ENOENT,
		      "there is no policy 'chooser' of that version to choose: load it first");
	check_refused(members("chooser=chooser@x", 1, 1, 1), -EINVAL,
		      "'x' is no version of a chooser: it must be 1 or more");
	check_refused(members("chooser=lb", 1, 1, 1), -EINVAL,
		      "'lb' cannot choose: it must be a policy of type lb");
	check_refused(members("chooser=this-is-longer-than-any-name-with-its-version", 1, 1, 1),
		      -ERANGE, "chooser has 45 bytes, allowed is 0 to 42");
	CHECK_EQ(op_add("chooser", "side=client", NULL, NULL), -EINVAL);
	CHECK_STR(op_why, "'chooser' is not placed: it is a chooser for lb");
	/* init refuses the datapath. */
	order(CHOOSER_INIT, (struct chooser_order){ .answer = -EACCES });
	check_refused(members("chooser=chooser", 1, 1, 1), -EACCES,
		      "policy 'chooser' refuses the datapath: error -13");
	order(CHOOSER_INIT, (struct chooser_order){});
	op_must_add("lb", members("chooser=chooser@1", 1, 1, 1), NULL);
	CHECK_EQ(op_set("lb", "chooser=nobody", NULL, NULL), -ENOENT);
	link_all();
	/* exit runs for the two that began, and not for the refused one. */
	WAIT(seen(CHOOSER_EXIT).runs == 1);
	op_must_del("lb");
	WAIT(seen(CHOOSER_EXIT).runs == 2);
	end();
}

TEST(fields_that_are_not)
{
	begin_servers("tcp4");
	policy_open(&chooser, "chooser", "chooser");
	strcpy(policy_decl(&chooser)->fields[CHOOSER_TEXT], "test.Blob:texts");
	policy_start(&chooser);
	check_refused(members("chooser=chooser service=test.Bulk", 1, 1, 1), -EINVAL,
		      "'test.Blob:texts' is no field of a message of test.Bulk");
	/* Without a chooser, such a service may be placed. */
	op_must_add("lb", members("service=test.Bulk", 1, 1, 1), NULL);
	link_all();
	CHECK_EQ(op_set("lb", "chooser=chooser", NULL, NULL), -EINVAL);
	echo(5);
	end();
}

TEST(bad_declarations)
{
	struct policy bad;

	policy_open(&bad, "chooser", "chooser");
	policy_decl(&bad)->flags = MRPC_POLICY_WRITES;
	CHECK_EQ(policy_refused(&bad), -EINVAL);
	policy_open(&bad, "chooser", "chooser");
	policy_decl(&bad)->period = 0;
	CHECK_EQ(policy_refused(&bad), -EINVAL);
	policy_open(&bad, "chooser", "chooser");
	strcpy(policy_decl(&bad)->counters[7], "behind-a-gap");
	CHECK_EQ(policy_refused(&bad), -EINVAL);
	/* The verifier refuses these. */
	policy_open(&bad, "bad_candidate", "bad");
	CHECK_EQ(policy_refused(&bad), -EACCES);
	policy_open(&bad, "bad_set", "bad");
	CHECK_EQ(policy_refused(&bad), -EACCES);
}

/* A name belongs to one policy, of any type. */
TEST(one_of_a_name)
{
	struct policy second, judge;

	begin("tcp4");
	policy_open(&second, "chooser", "chooser");
	CHECK_EQ(policy_refused(&second), -EEXIST);
	policy_open(&judge, "probe", "empty");
	strcpy(policy_decl(&judge)->name, "chooser");
	CHECK_EQ(policy_refused(&judge), -EEXIST);
	/* Even a policy that has lost its programs keeps its name. */
	policy_detach(&chooser);
	policy_open(&judge, "probe", "empty");
	strcpy(policy_decl(&judge)->name, "chooser");
	CHECK_EQ(policy_refused(&judge), -EEXIST);
	echo(7);
	end();
}

/* Attaches it again. The kernel detaches it a moment after it has evicted it. */
static void attach_again(void)
{
	policy_detach(&chooser);
	WAIT(!policy_attach(&chooser));
}

/* -- invalid answers, and too much time ------------------------------------------------------- */

TEST_LIMIT(nonsense, 120)
{
	unsigned int i;

	begin("tcp4");
	order(CHOOSER_PICK, (struct chooser_order){ .answer = 3 });
	for (i = 0; i < 3; i++)
		echo(10 + i);
	CHECK_EQ(op_counter("lb", "errors"), 3);
	CHECK_EQ(op_counter("lb", "fallbacks"), 0);
	order(CHOOSER_PICK, (struct chooser_order){ .answer = -2 });
	for (i = 0; i < 30 && !op_counter("lb", "fallbacks"); i++)
		echo(20 + i);
	CHECK(op_counter("lb", "fallbacks"));
	CHECK(op_counter("lb", "errors") >= 4);
	/* Attached again, it continues with its state. */
	attach_again();
	order(CHOOSER_PICK, (struct chooser_order){ .answer = 2 });
	i = requests(2);
	echo(50);
	CHECK_EQ(requests(2), i + 1);
	CHECK_EQ(seen(CHOOSER_PICK).generation, 2);
	end();
}

/* Too slow in either hook. */
static void too_slow(uint32_t hook)
{
	begin_servers("tcp4");
	policy_open(&chooser, "chooser", "chooser");
	policy_decl(&chooser)->budget = 1000000;
	policy_start(&chooser);
	order(CHOOSER_PICK, (struct chooser_order){ .answer = 0 });
	op_must_add("lb", members("chooser=chooser", 1, 1, 1), NULL);
	link_all();
	load_start(&l, &p.c, p.conn, 8);
	CHECK(load_more(&l, 20, 30000));
	order(hook, (struct chooser_order){ .does = CHOOSER_SPIN, .value = 2000000 });
	WAIT(op_counter("lb", "fallbacks") > 0);
	CHECK(load_more(&l, 200, 60000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	order(hook, (struct chooser_order){});
	attach_again();
	echo(1);
	CHECK_EQ(seen(CHOOSER_PICK).generation, 2);
	end();
}

TEST_LIMIT(too_slow_pick, 200)
{
	too_slow(CHOOSER_PICK);
}

TEST_LIMIT(too_slow_done, 200)
{
	too_slow(CHOOSER_DONE);
}

/* -- choosers come and go under load ----------------------------------------------------- */

TEST_LIMIT(switched, 200)
{
	static const char *const words[] = {
		"chooser=none", "policy=least", "chooser=chooser", "policy=hash field=tag",
		"policy=wrr chooser=none", "chooser=chooser@1",
	};
	uint64_t stored;
	unsigned int i;

	begin("tcp4");
	order(CHOOSER_PICK, (struct chooser_order){ .does = CHOOSER_STORE, .answer = 1 });
	load_start(&l, &p.c, p.conn, 16);
	for (i = 0; i < 30; i++) {
		op_must_set("lb", words[i % 6], NULL);
		CHECK(load_more(&l, 20, 30000));
	}
	/* A new configuration with the same chooser keeps its storage. */
	WAIT(seen(CHOOSER_PICK).stored > 100);
	stored = seen(CHOOSER_PICK).stored;
	for (i = 0; i < 5; i++) {
		op_must_set("lb", i % 2 ? "failures=3" : "failures=4", NULL);
		CHECK(load_more(&l, 20, 30000));
	}
	CHECK(seen(CHOOSER_PICK).stored > stored);
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	CHECK_EQ(op_counter("lb", "errors"), 0);
	end();
}

#define OBJECTS	4
#define ROUNDS	200

TEST_LIMIT(replaced, 240)
{
	static struct policy all[OBJECTS];
	uint64_t sum = 0;
	uint32_t i, pick = CHOOSER_PICK;

	begin_servers("tcp4");
	for (i = 0; i < OBJECTS; i++) {
		policy_open(&all[i], "chooser", "chooser");
		CHECK_EQ(policy_load(&all[i]), 0);
		policy_map_set(&all[i], "orders", &pick, &(struct chooser_order){
			.answer = i % REPLICAS,
		});
	}
	CHECK_EQ(policy_attach(&all[0]), 0);
	op_must_add("lb", members("chooser=chooser", 1, 1, 1), NULL);
	link_all();
	load_start(&l, &p.c, p.conn, 32);
	for (i = 1; i < ROUNDS; i++) {
		CHECK_EQ(bpf_link__update_map(all[0].link, all[i % OBJECTS].ops), 0);
		if (i % 50 == 0)
			CHECK(load_more(&l, 10, 30000));
	}
	CHECK(load_more(&l, 100, 60000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	for (i = 0; i < OBJECTS; i++) {
		struct chooser_seen s;

		policy_map_get(&all[i], "seen", &pick, &s);
		NOTE("%llu picks by %u", (unsigned long long)s.runs, i);
		sum += s.runs;
	}
	/* For a call that had to wait, the program runs again. */
	CHECK(sum >= load_all(&l) + 1);
	CHECK_EQ(op_counter("lb", "picked"), sum);
	CHECK_EQ(op_counter("lb", "fallbacks"), 0);
	CHECK_EQ(op_counter("lb", "errors"), 0);
	end_servers();
	for (i = 0; i < OBJECTS; i++)
		policy_close(&all[i]);
}

TEST_LIMIT(detached, 200)
{
	int64_t fallbacks;
	unsigned int i;
	int second;

	begin("tcp4");
	load_start(&l, &p.c, p.conn, 16);
	for (i = 0; i < 20; i++) {
		order(CHOOSER_PICK, (struct chooser_order){ .answer = i % REPLICAS });
		CHECK(load_more(&l, 20, 30000));
		policy_detach(&chooser);
		fallbacks = op_counter("lb", "fallbacks");
		WAIT(op_counter("lb", "fallbacks") > fallbacks);
		WAIT(!policy_attach(&chooser));
	}
	policy_detach(&chooser);
	/* A new connection still gets lb. */
	second = raw_connect(&p.c, p.addr);
	CHECK_MSG(second > 0, "connect: %s", p.c.why);
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	CHECK_EQ(raw_server_requests(&p.srv), 0);
	end();
}

/* A policy that names a replica has precedence over the chooser. */
TEST(after_a_wish)
{
	struct policy first;
	uint32_t hook = 0;
	uint64_t before;

	begin("tcp4");
	order(CHOOSER_PICK, (struct chooser_order){ .answer = 2 });
	policy_begin(&first, "probe", "probe");
	op_must_add("probe", "side=client before=lb", NULL);
	policy_map_set(&first, "orders", &hook, &(struct probe_order){
		.does = PROBE_REDIRECT, .value = 0,
	});
	before = requests(0);
	echo(1);
	CHECK_EQ(requests(0), before + 1);
	op_must_del("probe");
	policy_close(&first);
	before = requests(2);
	echo(2);
	CHECK_EQ(requests(2), before + 1);
	end();
}

/* A policy that only observes leaves the choice to the engine. */
TEST(listener)
{
	uint64_t before[REPLICAS];
	unsigned int i;

	begin_servers("tcp4");
	policy_begin(&chooser, "chooser", "listener");
	op_must_add("lb", members("chooser=listener", 1, 1, 1), NULL);
	link_all();
	/* The first call may have found only some replicas linked: the others are owed one. */
	for (i = 0; i < REPLICAS; i++)
		echo(2 + i);
	for (i = 0; i < REPLICAS; i++)
		before[i] = requests(i);
	for (i = 0; i < 2 * REPLICAS; i++)
		echo(10 + i);
	for (i = 0; i < REPLICAS; i++)
		CHECK_EQ(requests(i), before[i] + 2);
	CHECK_EQ(op_counter("lb", "heard"), 3 * REPLICAS + 1);
	end();
}
