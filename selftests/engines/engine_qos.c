// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/engines/qos kmod/chain/delay kmod/lib/ds/order */
/*
 * The qos engine: the rank it gives to each message, the way of the rank to the server and the
 * reply, and the tenants of datapaths. egress_order.c tests the resulting order.
 */
#include <errno.h>

#include "tap.h"
#include "load.h"
#include "operator.h"

static struct raw_pair p;
static struct load l;
static uint32_t priority;

static void note(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)msg;
	__atomic_store_n(&priority, cqe->priority, __ATOMIC_RELEASE);
}

static void start(const char *how)
{
	op_del_all();
	op_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
	raw_pair(&p, how, 1);
	p.srv.seen = note;
}

/* The priority with which a call arrives. */
static uint32_t arrives(uint32_t method, uint8_t with, uint32_t len, uint64_t timeout_us)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, method, raw_blob(&p.c, 1, len, NULL));
	struct mrpc_cqe cqe;

	sqe.priority = with;
	sqe.timeout_us = timeout_us;
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&p.c, &cqe);
	raw_free(&p.c, sqe.root);
	return __atomic_load_n(&priority, __ATOMIC_ACQUIRE);
}

/* "Make" keeps its rank, "Echo" gets 200. */
static void set_rules(void)
{
	struct op_rules r;

	op_rules_begin(&r);
	op_rule(&r, 0, 0, NULL);
	op_cond_text(&r, MRPC_COND_METHOD, MRPC_MATCH_EQUAL, NULL, "Make");
	op_rule(&r, 1, 0, NULL);
	op_rule_more(&r, MRPC_RULE_SHARE_ALL, 200);
	op_cond_text(&r, MRPC_COND_METHOD, MRPC_MATCH_EQUAL, NULL, "Echo");
	op_must_set("qos", "", &r);
}

TEST(ranks)
{
	start("tcp4");
	CHECK_EQ(arrives(RAW_ACK, 7, 10, 0), 7);
	op_must_add("qos", "side=client", NULL);
	CHECK_EQ(arrives(RAW_ACK, 7, 10, 0), 7);
	CHECK_EQ(op_counter("qos", "kept"), 1);
	op_must_set("qos", "rank=50", NULL);
	CHECK_EQ(arrives(RAW_ACK, 7, 10, 0), 50);
	op_must_set("qos", "small=1000", NULL);
	CHECK_EQ(arrives(RAW_ACK, 7, 10, 0), 254);
	CHECK_EQ(arrives(RAW_ACK, 7, 5000, 0), 50);
	op_must_set("qos", "small_rank=99", NULL);
	CHECK_EQ(arrives(RAW_ACK, 7, 10, 0), 99);
	/* Rules have precedence. */
	set_rules();
	CHECK_EQ(arrives(RAW_ECHO, 7, 10, 0), 200);
	CHECK_EQ(arrives(RAW_MAKE, 7, 10, 0), 7);
	CHECK_EQ(arrives(RAW_ACK, 7, 10, 0), 99);
	CHECK_EQ(op_dir("qos", false, MRPC_A_ENGINE_DIR_RPCS), 8);
	op_must_del("qos");
	CHECK_EQ(arrives(RAW_ECHO, 7, 10, 0), 7);
	raw_pair_end(&p);
}

/* The operator limits the applications' ranks. The operator's own ranks have no limit. */
TEST(most)
{
	start("tcp4");
	op_must_add("qos", "most=100 side=client", NULL);
	CHECK_EQ(arrives(RAW_ACK, 200, 10, 0), 100);
	CHECK_EQ(arrives(RAW_ACK, 101, 10, 0), 100);
	CHECK_EQ(arrives(RAW_ACK, 100, 10, 0), 100);
	CHECK_EQ(arrives(RAW_ACK, 7, 10, 0), 7);
	CHECK_EQ(op_counter("qos", "lowered"), 2);
	CHECK_EQ(op_counter("qos", "kept"), 2);
	set_rules();
	CHECK_EQ(arrives(RAW_ECHO, 7, 10, 0), 200);
	CHECK_EQ(arrives(RAW_MAKE, 120, 10, 0), 100);
	op_must_set("qos", "most=0", NULL);
	CHECK_EQ(arrives(RAW_ACK, 200, 10, 0), 0);
	op_must_del("qos");
	CHECK_EQ(arrives(RAW_ACK, 200, 10, 0), 200);
	raw_pair_end(&p);
}

/* The less time is left, the higher the rank. No deadline is last. */
TEST(deadlines)
{
	uint32_t last = 255, now;
	struct op_rules r;
	uint64_t us;

	start("tcp4");
	op_rules_begin(&r);
	op_rule(&r, 2, 0, NULL);
	op_must_add("qos", "side=client", &r);
	for (us = 10000000; us < 1000000000000ULL; us *= 8) {
		now = arrives(RAW_ACK, 7, 10, us);
		CHECK_MSG(now && now < last, "%u with %llu us, %u with an eighth of it", now,
			  (unsigned long long)us, last);
		last = now;
	}
	CHECK_EQ(arrives(RAW_ACK, 7, 10, 0), 0);
	op_must_del("qos");
	raw_pair_end(&p);
}

/* A reply has the rank of its request, or the one that the server's operator sets. */
static int64_t reply_rank(void)
{
	static struct op_queue all[8];
	uint64_t until = raw_now() + 10 * RAW_S * raw_scale();
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_HANG, raw_blob(&p.c, 1, 10, NULL));
	static struct raw_qp qp, answer;
	int64_t rank = -1;
	struct mrpc_cqe cqe;
	unsigned int i;

	if (!qp.id && !qp.head) {
		raw_qp(&qp, &p.c, 16, 64, 0);
		raw_qp(&answer, &p.srv.s, 16, 64, 0);
	}
	p.srv.nr_hung = 0;
	sqe.priority = 77;
	CHECK(raw_push(&qp, &sqe));
	CHECK(raw_enter(&qp, 0, 0) >= 0);
	CHECK(raw_server_hangs(&p.srv, 1));
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "paused=1");
	raw_server_answer(&answer, &p.srv.hung[0], MRPC_NOT_FOUND);
	while (rank < 0 && raw_now() < until) {
		for (i = op_egress_queues("lo", all, 8); i--; )
			if (all[i].value[MRPC_A_EGRESS_QUEUE_POSITION] > 0)
				rank = all[i].value[MRPC_A_EGRESS_QUEUE_PRIORITY];
		raw_sleep(RAW_MS);
	}
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "paused=0");
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 10 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_NOT_FOUND);
	raw_done(&p.c, &cqe);
	return rank;
}

TEST(replies)
{
	struct op_rules r;

	start("tcp4");
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "discipline=strict");
	CHECK_EQ(reply_rank(), 77);
	op_must_add("qos", "name=there rank=123 side=client", NULL);
	CHECK_EQ(reply_rank(), 123);
	op_rules_begin(&r);
	op_rule(&r, 1, 0, NULL);
	op_rule_more(&r, MRPC_RULE_SHARE_ALL, 33);
	op_cond_range(&r, MRPC_COND_KIND, NULL, MRPC_RULE_REPLY, MRPC_RULE_REPLY);
	op_must_add("qos", "name=here side=server", &r);
	CHECK_EQ(reply_rank(), 33);
	op_must_del("here");
	op_must_del("there");
	op_must_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
	raw_pair_end(&p);
}

static bool has_tenant(const char *name, uint32_t weight)
{
	static struct op_queue all[8];
	unsigned int nr = op_egress_queues("lo", all, 8), i;

	for (i = 0; i < nr; i++)
		if (!strcmp(all[i].tenant, name) &&
		    all[i].value[MRPC_A_EGRESS_QUEUE_WEIGHT] == weight)
			return true;
	return false;
}

/* A datapath changes its tenant, and the tenant its weight, while calls pass. */
TEST(tenants)
{
	char mine[32];
	unsigned int i;

	start("tcp4");
	snprintf(mine, sizeof(mine), "uid %u", getuid());
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "discipline=strict fair=1");
	CHECK(has_tenant(mine, 100));
	load_start(&l, &p.c, p.conn, 16);
	for (i = 0; i < 5; i++) {
		op_must_add("qos", "tenant=red weight=30 side=client", NULL);
		CHECK(has_tenant("red", 30) && has_tenant(mine, 100));
		CHECK(load_more(&l, 20, 20000));
		op_must_set("qos", "weight=70", NULL);
		CHECK(has_tenant("red", 70));
		CHECK(load_more(&l, 20, 20000));
		op_must_set("qos", "tenant=blue", NULL);
		CHECK(has_tenant("blue", 70) && !has_tenant("red", 70));
		CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_TENANTS), 2);
		CHECK(load_more(&l, 20, 20000));
		op_must_del("qos");
		CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_TENANTS), 1);
		CHECK(load_more(&l, 20, 20000));
	}
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	raw_pair_end(&p);
	op_must_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
}

static void refused(const char *why, const char *words, const struct op_rules *rules)
{
	int err = op_add("qos", words, rules, NULL);

	CHECK_MSG(err && strstr(op_why, why), "qos %s: %d: '%s', not '%s'", words, err, op_why,
		  why);
}

TEST(bad_input)
{
	struct op_rules r;

	op_del_all();
	refused("rank", "rank=256", NULL);
	refused("most", "most=256", NULL);
	refused("small_rank", "small=10 small_rank=256", NULL);
	refused("small_rank is given, but small is 0", "small_rank=5", NULL);
	refused("weight is given, but no tenant", "weight=5", NULL);
	refused("weight", "tenant=a weight=0", NULL);
	refused("weight", "tenant=a weight=10001", NULL);
	refused("tenant", "tenant=a-name-that-has-more-than-31-bytes", NULL);
	op_rules_begin(&r);
	op_rule(&r, 3, 0, NULL);
	refused("rule 1: action 3; qos knows 0", "", &r);
	op_rules_begin(&r);
	op_rule(&r, 1, 0, NULL);
	op_rule_more(&r, MRPC_RULE_SHARE_ALL, 256);
	refused("rule 1: argument 256", "", &r);
	op_rules_begin(&r);
	op_rule(&r, 2, 0, NULL);
	op_rule_more(&r, MRPC_RULE_SHARE_ALL, 1);
	refused("rule 1: argument 1; only a rank", "", &r);
	op_rules_begin(&r);
	op_rule(&r, 0, MRPC_NOT_FOUND, NULL);
	refused("rule 1: qos takes no share, status or detail", "", &r);
}
