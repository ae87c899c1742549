// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/policy/class_rank kmod/policy/rank kmod/egress */
/*
 * Egress disciplines in eBPF: the order that they set, a domain that loses its discipline, and the
 * disciplines of bpf/: earliest, user_fair.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "tap.h"
#include "examples.h"
#include "load.h"
#include "operator.h"

#define SET	MRPC_CMD_EGRESS_SET
#define DEL	MRPC_CMD_EGRESS_DEL
#define NR	4

static struct policy small, large;

/* -- the order of sending ------------------------------------------------------------ */

/* Tags of the messages that the server has got. */
static uint32_t order[64];
static unsigned int nr_order;

static void keep_order(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)cqe;
	if (nr_order < 64)
		order[nr_order++] = ((const struct test_Blob *)msg)->tag;
}

/**
 * struct wave - messages that wait in a paused domain, one on each connection
 * @qp: of the client
 * @conn: connections
 */
struct wave {
	struct raw_qp qp;
	int conn[NR];
};

static void begin_over(const char *how)
{
	op_del_all();
	op_egress(DEL, "lo", NULL);
	raw_pair(&p, how, 1);
	p.srv.seen = keep_order;
}

static void begin(void)
{
	begin_over("tcp4");
}

static void end(void)
{
	op_del_all();
	raw_pair_end(&p);
	op_must_egress(DEL, "lo", NULL);
}

static void wave_connect(struct wave *w)
{
	unsigned int i;

	for (i = 0; i < NR; i++) {
		w->conn[i] = raw_connect(&p.c, p.addr);
		CHECK(w->conn[i] > 0);
	}
}

static void wave_begin(struct wave *w)
{
	raw_qp(&w->qp, &p.c, 64, 256, 0);
	wave_connect(w);
}

/* Sends the messages. Tag i is of connection i, with @len[i] bytes. */
static void wave_send(struct wave *w, const uint32_t *len, const uint64_t *timeout_us)
{
	struct mrpc_sqe sqe;
	unsigned int i;

	op_must_egress(SET, "lo", "paused=1");
	nr_order = 0;
	for (i = 0; i < NR; i++) {
		sqe = raw_sqe(w->conn[i], RAW_ACK, raw_blob(&p.c, i, len[i], NULL));
		sqe.timeout_us = timeout_us ? timeout_us[i] : 0;
		sqe.priority = 10 * i;
		CHECK(raw_push(&w->qp, &sqe));
		CHECK_EQ(raw_enter(&w->qp, 0, 0), 0);
	}
	CHECK(op_egress_reaches("lo", MRPC_A_EGRESS_WAITING, NR));
}

static void wave_end(struct wave *w)
{
	struct mrpc_cqe cqe;
	unsigned int i;

	op_must_egress(SET, "lo", "paused=0");
	for (i = 0; i < NR; i++) {
		raw_expect(&w->qp, &cqe, MRPC_CQE_REPLY, 20 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
	}
}

static bool went(struct wave *w, const char *tags)
{
	int conns[NR];
	unsigned int i;

	for (i = 0; i < NR; i++)
		conns[i] = w->conn[tags[i] - '0'];
	return op_egress_went("lo", conns, NR);
}

/* Do the connections wait in the order of @tags, as a dump shows them? */
static bool wait_in_order(struct wave *w, const char *tags)
{
	struct op_queue all[32];
	unsigned int nr = op_egress_queues("lo", all, 32), i;

	for (i = 0; i < NR && i < nr; i++)
		if (all[i].value[MRPC_A_EGRESS_QUEUE_CONN] != w->conn[tags[i] - '0'])
			return false;
	return i == NR;
}

static const uint32_t lens[NR] = { 300000, 40000, 2000000, 400 };

static void by_size(struct policy *policy, const char *which)
{
	policy_begin(policy, "rank", which);
}

/* -- a discipline comes, is replaced, and goes --------------------------------------- */

/* The dump predicts the order. A replaced discipline changes it at once. */
static void ranks(const char *how)
{
	struct wave w;

	begin_over(how);
	wave_begin(&w);
	by_size(&small, "small");
	op_must_egress(SET, "lo", "discipline=by_size");
	CHECK(op_egress_is("lo", "by_size"));
	wave_send(&w, lens, NULL);
	CHECK(wait_in_order(&w, "3102"));
	wave_end(&w);
	CHECK(went(&w, "3102"));

	wave_send(&w, lens, NULL);
	policy_open(&large, "rank", "large");
	CHECK_EQ(policy_load(&large), 0);
	CHECK_EQ(bpf_link__update_map(small.link, large.ops), 0);
	CHECK(wait_in_order(&w, "2013"));
	wave_end(&w);

	/* Changes to a native discipline and back, with messages waiting. */
	wave_connect(&w);
	wave_send(&w, lens, NULL);
	op_must_egress(SET, "lo", "discipline=strict");
	CHECK(wait_in_order(&w, "3210"));
	op_must_egress(SET, "lo", "discipline=by_size");
	CHECK(wait_in_order(&w, "2013"));
	op_must_egress(SET, "lo", "discipline=small-first");
	wave_end(&w);
	CHECK(went(&w, "3102"));
	policy_close(&large);
	policy_close(&small);
	end();
}

TEST(ranks_tcp)
{
	ranks("tcp4");
}

TEST(ranks_prio)
{
	ranks("prio");
}

/* It ranks inside a tenant. Tenants share as usual. */
TEST(ranks_inside_tenants)
{
	struct wave w;

	begin();
	wave_begin(&w);
	by_size(&large, "large");
	op_must_egress(SET, "lo", "discipline=by_size fair=1");
	wave_send(&w, lens, NULL);
	CHECK(wait_in_order(&w, "2013"));
	wave_end(&w);
	policy_close(&large);
	end();
}

/* Without programs the highest priority is first. Waiting messages are reordered at once. */
TEST(detached)
{
	struct policy next;
	struct wave w;

	begin();
	wave_begin(&w);
	by_size(&small, "small");
	op_must_egress(SET, "lo", "discipline=by_size");
	wave_send(&w, lens, NULL);
	CHECK(wait_in_order(&w, "3102"));
	policy_close(&small);
	CHECK(wait_in_order(&w, "3210"));
	CHECK(op_egress_is("lo", "by_size"));
	/* Other settings can be changed. Another domain cannot take the discipline. */
	op_must_egress(SET, "lo", "chunk=8192");
	CHECK_EQ(op_egress(SET, "", "discipline=by_size"), -ENOENT);
	CHECK_STR(op_why, "policy 'by_size' has no program any more");
	wave_end(&w);
	/* The discipline works again in the domains that use it. */
	wave_send(&w, lens, NULL);
	by_size(&next, "large");
	CHECK(wait_in_order(&w, "2013"));
	wave_end(&w);
	op_must_egress(SET, "lo", "discipline=fifo");
	policy_close(&next);
	CHECK_EQ(op_egress(SET, "lo", "discipline=by_size"), -ENOENT);
	end();
}

/* A deleted domain no longer holds its discipline. */
TEST(domain_deleted)
{
	struct wave w;

	begin();
	wave_begin(&w);
	by_size(&small, "small");
	op_must_egress(SET, "lo", "discipline=by_size");
	wave_send(&w, lens, NULL);
	op_must_egress(DEL, "lo", NULL);
	op_must_egress(SET, "lo", "discipline=fifo");
	wave_end(&w);
	policy_close(&small);
	/* The name is free: an engine type may take it. */
	policy_open(&small, "probe", "empty");
	strcpy(policy_ops(&small)->name, "by_size");
	CHECK_EQ(policy_load(&small), 0);
	CHECK_EQ(policy_attach(&small), 0);
	CHECK_EQ(op_egress(SET, "lo", "discipline=by_size"), -EINVAL);
	CHECK_STR(op_why, "'by_size' is an engine type, not a discipline");
	policy_close(&small);
	end();
}

/* A discipline that always asks for a new rank is not asked for ever. */
TEST(never)
{
	struct policy never;
	struct wave w;

	begin();
	wave_begin(&w);
	policy_begin(&never, "rank", "never");
	op_must_egress(SET, "lo", "discipline=never chunk=1024 limit=1024");
	wave_send(&w, lens, NULL);
	wave_end(&w);
	policy_close(&never);
	end();
}

static uint64_t variable(const struct policy *policy, size_t index, const uint64_t *set)
{
	uint64_t all[3];
	uint32_t zero = 0;
	int fd = policy_map_fd(policy, ".bss");

	CHECK_EQ(bpf_map_lookup_elem(fd, &zero, all), 0);
	if (set) {
		all[index] = *set;
		CHECK_EQ(bpf_map_update_elem(fd, &zero, all, 0), 0);
	}
	return all[index];
}

/* The bytes charged are the bytes sent. A slow program is evicted. */
TEST(slow)
{
	static const uint64_t spins = 1000000;
	struct pollfd fd = { .events = POLLHUP };
	uint64_t sent, until;
	struct wave w;

	begin();
	wave_begin(&w);
	by_size(&small, "small");
	op_must_egress(SET, "lo", "discipline=by_size chunk=1024 limit=2048");
	wave_send(&w, lens, NULL);
	wave_end(&w);
	sent = op_egress_number("lo", MRPC_A_EGRESS_SENT);
	NOTE("%llu bytes", (unsigned long long)sent);
	CHECK_EQ(variable(&small, 2, NULL), sent);
	CHECK(variable(&small, 1, NULL) >= sent / 1024);

	variable(&small, 0, &spins);
	fd.fd = bpf_link__fd(small.link);
	until = raw_now() + 60 * RAW_S;
	do {
		CHECK(raw_now() < until);
		CHECK_EQ(ex_call(RAW_ACK, 1, 10, NULL), MRPC_OK);
	} while (poll(&fd, 1, 0) != 1);
	wave_send(&w, lens, NULL);
	CHECK(wait_in_order(&w, "3210"));
	wave_end(&w);
	policy_close(&small);
	end();
}

/* Replaced all the time under load: no message is lost. */
TEST(replaced_under_load)
{
	static struct load l;
	struct policy next;
	unsigned int i;

	begin();
	policy_open(&next, "rank", "large");
	CHECK_EQ(policy_load(&next), 0);
	by_size(&small, "small");
	op_must_egress(SET, "lo", "discipline=by_size chunk=1024 limit=2048");
	load_start(&l, &p.c, p.conn, 16);
	for (i = 0; i < 200; i++) {
		CHECK_EQ(bpf_link__update_map(small.link, i % 2 ? small.ops : next.ops), 0);
		if (i % 10 == 9)
			op_must_egress(SET, "lo", i % 20 == 9 ? "discipline=fifo" :
				       "discipline=by_size");
	}
	CHECK(load_more(&l, 100, 30000));
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	policy_close(&small);
	policy_close(&next);
	end();
}

/* -- refused programs ------------------------------------------------------------------ */

TEST(refused)
{
	static const struct { const char *name; int err; } bad[] = {
		{ "bad_rank_write", -EACCES },
		{ "bad_rank_own", -EACCES },
		{ "bad_rank_kfunc", -EINVAL },
	};
	struct mrpc_policy_decl *decl;
	struct policy policy;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		policy_open(&policy, bad[i].name, bad[i].name);
		CHECK_EQ(policy_refused(&policy), bad[i].err);
	}
	for (i = 0; i < 7; i++) {
		policy_open(&policy, "rank", "small");
		decl = policy_decl(&policy);
		switch (i) {
		case 0: strcpy(decl->name, "strict"); break;
		case 1: decl->flags = MRPC_POLICY_RANKS; break;
		case 2: decl->storage = 8; break;
		case 3: decl->period = 1000000000; break;
		case 4: strcpy(decl->fields[0], "key"); break;
		case 5: strcpy(decl->counters[0], "runs"); break;
		case 6: decl->budget = MRPC_SCHED_BUDGET_MAX + 1; break;
		}
		CHECK_MSG(policy_refused(&policy) == -EINVAL, "%u", i);
	}
	by_size(&small, "small");
	CHECK_EQ(op_add("by_size", "", NULL, NULL), -EOPNOTSUPP);
	CHECK_STR(op_why, "policy 'by_size' is an egress discipline: mrpc egress set");
	policy_close(&small);
}

/* -- disciplines of bpf/ ------------------------------------------------------------------ */

static const uint64_t timeouts[NR] = { 0, 900000000, 100000000, 500000000 };

static void earliest(const char *how)
{
	struct wave w;

	begin_over(how);
	wave_begin(&w);
	policy_example(&ex, "earliest");
	policy_start(&ex);
	op_must_egress(SET, "lo", "discipline=earliest");
	wave_send(&w, lens, timeouts);
	CHECK(wait_in_order(&w, "2310"));
	wave_end(&w);
	/* Messages without a deadline go by priority. */
	wave_send(&w, lens, NULL);
	CHECK(wait_in_order(&w, "3210"));
	wave_end(&w);
	policy_close(&ex);
	end();
}

TEST(earliest_tcp)
{
	earliest("tcp4");
}

TEST(earliest_prio)
{
	earliest("prio");
}

/* Over prio each message of one connection is ranked by itself. */
TEST(earliest_same_connection)
{
	static const uint32_t len[NR] = { 3000, 3000, 3000, 3000 };
	static const uint32_t want[NR] = { 2, 3, 1, 0 };
	unsigned int i;
	struct wave w;

	begin_over("prio");
	raw_qp(&w.qp, &p.c, 64, 256, 0);
	for (i = 0; i < NR; i++)
		w.conn[i] = p.conn;
	policy_example(&ex, "earliest");
	policy_start(&ex);
	op_must_egress(SET, "lo", "discipline=earliest chunk=4096 limit=4096");
	/* If a machine stops, grants expire. So there are several tries. */
	for (i = 0; i < 10; i++) {
		wave_send(&w, len, timeouts);
		wave_end(&w);
		if (nr_order == NR && !memcmp(order, want, sizeof(want)))
			break;
	}
	CHECK_MSG(i < 10, "%u %u %u %u", order[0], order[1], order[2], order[3]);
	policy_close(&ex);
	end();
}

/*
 * Three connections of one user, and one of another user, which comes last. Each has a message of
 * many chunks. Return: number of the first user's messages that came before the other's.
 */
static unsigned int before_other(uint32_t weight)
{
	static const uint32_t len[NR] = { 300000, 300000, 300000, 300000 };
	struct raw other = { };
	struct raw_qp qp;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	unsigned int i;
	struct wave w;
	int conn;

	begin();
	wave_begin(&w);
	policy_example(&ex, "user_fair");
	policy_start(&ex);
	ex_set_u32("weights", 1234, weight);
	conn = ex_as_user(&other, 1234);
	sqe = raw_sqe(conn, RAW_ACK, raw_blob(&other, NR, 300000, NULL));
	raw_qp(&qp, &other, 64, 256, 0);
	op_must_egress(SET, "lo", "discipline=user_fair chunk=4096 limit=4096");
	wave_send(&w, len, NULL);
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK(op_egress_reaches("lo", MRPC_A_EGRESS_WAITING, NR + 1));
	wave_end(&w);
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 30 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_OK);
	raw_done(&other, &cqe);
	for (i = 0; order[i] != NR; i++)
		CHECK(i < nr_order);
	raw_close(&other);
	policy_close(&ex);
	end();
	return i;
}

/* Users share by weight, however many connections they have. */
TEST(user_fair)
{
	unsigned int light = before_other(1), heavy = before_other(1000), equal = before_other(100);

	NOTE("%u, %u, %u of 4 before", light, heavy, equal);
	CHECK_EQ(light, NR);
	CHECK_EQ(heavy, 0);
	CHECK(equal <= 1);
}
