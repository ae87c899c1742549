// SPDX-License-Identifier: GPL-2.0
/*
 * The policies of bpf/ that say what goes first: tenant_edf, small_first.
 */
#include <math.h>
#include <string.h>

#include "tap.h"
#include "examples.h"
#include "operator.h"

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

static uint32_t order[8];
static unsigned int nr_order;

static void keep_order(const struct mrpc_cqe *cqe, const void *msg)
{
	(void)cqe;
	order[nr_order++ % 8] = ((const struct test_Blob *)msg)->tag;
}

/* What waits for a link leaves it small ones first, though the application wants otherwise. */
TEST(small_first_leaves_first)
{
	static const uint32_t lens[] = { 2000000, 300000, 40000, 400 };
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	struct raw_qp qp;
	unsigned int i;
	int conns[4];

	ex_begin("small_first");
	op_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "discipline=1");
	ex_place("side=client");
	p.srv.seen = keep_order;
	raw_qp(&qp, &p.c, 16, 64, 0);
	nr_order = 0;
	for (i = 0; i < 4; i++) {
		conns[i] = raw_connect(&p.c, p.addr);
		CHECK(conns[i] > 0);
	}
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "paused=1");
	for (i = 0; i < 4; i++) {
		sqe = raw_sqe(conns[i], RAW_ACK, raw_blob(&p.c, i, lens[i], NULL));
		sqe.priority = 250 - 50 * i;
		CHECK(raw_push(&qp, &sqe));
		CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	}
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "paused=0");
	for (i = 0; i < 4; i++) {
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 20 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
	}
	for (i = 0; i < 4; i++)
		CHECK_EQ(order[i], 3 - i);
	ex_end();
	op_must_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
}
