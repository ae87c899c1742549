// SPDX-License-Identifier: GPL-2.0
/* Covers: bpf kmod/policy/kfunc */
/*
 * The policies of bpf/ that say what goes first: tenant_edf, small_first, tgs.
 */
#include <math.h>
#include <string.h>

#include "tap.h"
#include "examples.h"
#include "load.h"
#include "operator.h"
#include "../bpf/tgs.h"

static struct load l, other;

/* What the server has got last. */
static struct mrpc_cqe last;

static void keep(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)msg;
	last = *cqe;
}

/* -- tenant_edf, small_first ---------------------------------------------------------- */

TEST(tenant_edf)
{
	static const uint32_t classes[] = { 0, 1, 3, 17 };
	unsigned int i, us, before;

	ex_begin("tenant_edf");
	ex_place("side=client");
	p.srv.seen = keep;
	CHECK_EQ(ex_call_for(0), MRPC_OK);
	CHECK_EQ(last.priority, 0);
	for (i = 0; i < 4; i++) {
		unsigned int base = 64 * (classes[i] < 4 ? classes[i] : 3);

		ex_set_u32("classes", 0, classes[i]);
		CHECK_EQ(ex_call_for(0), MRPC_OK);
		CHECK_EQ(last.priority, base);
		/* Less and less; the machine may be slow, but not that slow. */
		before = base;
		for (us = 900000000; us > 4000000; us /= 4) {
			CHECK_EQ(ex_call_for(us), MRPC_OK);
			CHECK(last.priority > before);
			CHECK(last.priority < base + 64);
			before = last.priority;
		}
	}
	ex_end();
}

static int rank_of(uint32_t size)
{
	return 255 - (int)floor(8 * log2(size));
}

/* The rank of each size is at most one step of interpolation off the logarithm. */
TEST(small_first)
{
	static const uint32_t lens[] = { 0, 1, 10, 100, 1000, 5000, 70000, 1000000 };
	int i, before = 256;

	ex_begin("small_first");
	ex_place("");
	p.srv.seen = keep;
	for (i = 0; i < 8; i++) {
		int want = rank_of(raw_blob_size(lens[i], NULL));

		CHECK_EQ(ex_call(RAW_ACK, 1, lens[i], NULL), MRPC_OK);
		CHECK(last.priority <= before);
		CHECK(last.priority >= want && last.priority <= want + 1);
		before = last.priority;
	}
	ex_end();
}

/* What waits for a link leaves it small ones first, though the application wants otherwise. */
TEST(small_first_leaves_first)
{
	static const uint32_t lens[] = { 400, 40000, 300000, 2000000 };
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	struct raw_qp qp;
	unsigned int i;
	int conns[4];

	ex_begin("small_first");
	op_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "discipline=strict");
	ex_place("side=client");
	raw_qp(&qp, &p.c, 16, 64, 0);
	for (i = 0; i < 4; i++) {
		conns[i] = raw_connect(&p.c, p.addr);
		CHECK(conns[i] > 0);
	}
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "paused=1");
	for (i = 0; i < 4; i++) {
		sqe = raw_sqe(conns[i], RAW_ACK, raw_blob(&p.c, i, lens[i], NULL));
		sqe.priority = 50 * i;
		CHECK(raw_push(&qp, &sqe));
		CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	}
	CHECK(op_egress_reaches("lo", MRPC_A_EGRESS_WAITING, 4));
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "paused=0");
	for (i = 0; i < 4; i++) {
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 20 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
	}
	CHECK(op_egress_went("lo", conns, 4));
	ex_end();
	op_must_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
}

/* -- tgs ----------------------------------------------------------------------------------------- */

#define FLOOR	5000
#define STEP	100000000ULL

/**
 * struct plant - what the controller is run against
 * @tgs: the controller
 * @want: production calls in a second that there would be, if nothing were in their way
 * @room: opportunistic calls in a second that are not in their way
 * @greed: as many there would be without a cap
 * @rate, @other: what came of it in the last step
 * @carry: parts of calls
 */
struct plant {
	struct tgs tgs;
	double want;
	double room;
	double greed;
	double rate;
	double other;
	double carry[2];
};

static uint64_t calls_in_step(double rate, double *carry)
{
	double calls = rate * STEP / RAW_S + *carry;

	*carry = calls - floor(calls);
	return floor(calls);
}

static void plant_step(struct plant *m)
{
	double cap = m->tgs.cap / 1000.0;

	m->other = m->tgs.cap && cap < m->greed ? cap : m->greed;
	m->rate = m->want - fmax(0, m->other - m->room);
	m->rate = fmax(m->rate, m->want / 5);
	tgs_step(&m->tgs, FLOOR, STEP, calls_in_step(m->rate, &m->carry[0]), m->rate < m->want,
		 calls_in_step(m->other, &m->carry[1]));
}

/* Mean rates over some steps; neither ever falls to nothing. */
static void plant_run(struct plant *m, unsigned int steps, double *rate, double *beside)
{
	unsigned int i;

	*rate = *beside = 0;
	for (i = 0; i < steps; i++) {
		plant_step(m);
		CHECK(m->other >= FLOOR / 1000);
		*rate += m->rate / steps;
		*beside += m->other / steps;
	}
	NOTE("production %.1f of %.1f, beside it %.1f of %.1f", *rate, m->want, *beside, m->room);
}

TEST(tgs_controller)
{
	struct plant m = { .room = 400, .greed = 2000 };
	double rate, beside;

	plant_run(&m, 50, &rate, &beside);
	CHECK_EQ(m.tgs.cap, 0);			/* alone */
	m.want = 1000;
	plant_run(&m, 40, &rate, &beside);	/* it comes, and is learnt */
	plant_run(&m, 500, &rate, &beside);
	CHECK(rate >= 0.95 * m.want && beside >= 0.85 * m.room);
	m.want = 1100;				/* a little faster is no error, and learnt in time */
	plant_run(&m, 30, &rate, &beside);
	CHECK(beside >= 0.85 * m.room);
	plant_run(&m, 300, &rate, &beside);
	plant_run(&m, 300, &rate, &beside);
	CHECK(rate >= 0.95 * m.want && beside >= 0.85 * m.room);
	m.want = 1500;				/* much faster is learnt */
	plant_run(&m, 40, &rate, &beside);
	CHECK(m.tgs.want > 1400000);
	plant_run(&m, 500, &rate, &beside);
	CHECK(rate >= 0.95 * m.want && beside >= 0.85 * m.room);
	m.want = 200;				/* slower is its own wish, once that is known */
	m.room = 1200;
	plant_run(&m, 60, &rate, &beside);
	CHECK(m.tgs.want < 210000);
	plant_run(&m, 1000, &rate, &beside);
	CHECK(rate >= 0.9 * m.want && beside >= 0.7 * m.room);
	m.room = 50;				/* less room */
	plant_run(&m, 40, &rate, &beside);
	plant_run(&m, 500, &rate, &beside);
	CHECK(rate >= 0.9 * m.want);
	m.want = 0;
	plant_run(&m, 20, &rate, &beside);
	CHECK_EQ(m.tgs.cap, 0);
}

struct tgs_seen {
	uint32_t lock;
	uint32_t pad;
	struct tgs tgs;
	uint64_t rest[5];
};

static struct tgs tgs_now(void)
{
	struct tgs_seen s;
	uint32_t zero = 0;

	policy_map_get(&ex, "state", &zero, &s);
	return s.tgs;
}

/* Waits until the cap is there, or gone. */
static void tgs_capped(bool capped)
{
	uint64_t until = raw_now() + 30 * RAW_S * raw_patience();

	while (!tgs_now().cap == capped) {
		CHECK(raw_now() < until);
		raw_sleep(20 * RAW_MS);
	}
}

static double production(uint64_t ns)
{
	uint64_t start = raw_now(), from = load_all(&l);

	raw_sleep(ns);
	return (load_all(&l) - from) * 1e9 / (raw_now() - start);
}

/*
 * Both at one server that takes a millisecond for each call. How well production fares is
 * said, and that it fares better than without; what the machine does meanwhile is not known,
 * so a few windows are tried.
 */
TEST_LIMIT(tgs, 300)
{
	double alone, both, kept = 0;
	static struct raw user;
	unsigned int i;
	int conn;

	ex_begin("tgs");
	ex_place("side=client");
	p.srv.busy_us = 1000;
	conn = ex_as_user(&user, 1001);
	load_start(&l, &p.c, p.conn, 4);
	CHECK(load_more(&l, 50, 60000));
	alone = production(3 * RAW_S);
	load_start(&other, &user, conn, 16);
	CHECK(load_more(&other, 50, 60000));
	both = production(3 * RAW_S);
	ex_set_u32("classes", 1001, 2);
	ex_set_u32("classes", 0, 1);
	tgs_capped(true);
	for (i = 0; i < 8 && kept < (both + alone) / 2; i++)
		kept = production(3 * RAW_S);
	NOTE("production: %.0f calls/s alone, %.0f beside others, %.0f with tgs: %.0f %%", alone,
	     both, kept, 100 * kept / alone);
	CHECK(kept >= (both + alone) / 2);
	CHECK(op_counter("tgs", "paced") > 0);
	CHECK(load_more(&other, 20, 60000));	/* it is slow, but goes on */
	load_stop(&l);
	tgs_capped(false);
	CHECK(load_more(&other, 200, 60000));
	load_stop(&other);
	CHECK_EQ(load_failed(&l), 0);
	CHECK_EQ(load_except(&other, 1 << MRPC_OK | 1 << MRPC_RESOURCE_EXHAUSTED), 0);
	raw_close(&user);
	ex_end();
}
