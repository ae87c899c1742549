// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Operations of groups, and how ranks leave, with the module.
 */
#include "guest_ranks.h"

static void check_blocks(const int32_t *p, unsigned int first, unsigned int nr,
			 unsigned int offset)
{
	unsigned int b, i;

	for (b = 0; b < nr; b++)
		for (i = 0; i < COUNT; i++)
			CHECK_EQ(p[b * COUNT + i], elem_of(first + b, offset + i));
}

static int copying(struct rank *r)
{
	const enum mrpc_elem e = MRPC_ELEM_I32;
	int32_t *in = buffer(r, r->ranks, true), *out = buffer(r, r->ranks, false);
	unsigned int root = r->ranks - 1, i;
	bool is_root = r->rank == root;
	int status;

	status = mrpc_group_allgather(r->group, in, out, COUNT, e);
	if (status == MRPC_OK)
		check_blocks(out, 0, r->ranks, 0);
	memset(out, 0xff, r->ranks * COUNT * sizeof(*out));
	if (status == MRPC_OK)
		status = mrpc_group_gather(r->group, in, is_root ? out : NULL, COUNT, e, root);
	if (is_root && status == MRPC_OK)
		check_blocks(out, 0, r->ranks, 0);
	if (status == MRPC_OK)
		status = mrpc_group_scatter(r->group, is_root ? in : NULL, out, COUNT, e, root);
	if (status == MRPC_OK)
		check_blocks(out, root, 1, r->rank * COUNT);
	if (status == MRPC_OK)
		status = mrpc_group_alltoall(r->group, in, out, COUNT, e);
	for (i = 0; i < r->ranks && status == MRPC_OK; i++)
		check_blocks(out + i * COUNT, i, 1, r->rank * COUNT);
	memcpy(out, in, COUNT * sizeof(*out));
	if (status == MRPC_OK)
		status = mrpc_group_broadcast(r->group, out, COUNT, e, 0);
	if (status == MRPC_OK)
		check_blocks(out, 0, 1, 0);
	if (status == MRPC_OK)
		status = mrpc_group_barrier(r->group);
	mrpc_free(r->session, in);
	mrpc_free(r->session, out);
	return note(r, status);
}

static int each(struct rank *r)
{
	int status = reducing(r);

	return status == MRPC_OK ? copying(r) : status;
}

TEST(each_operation_loop)
{
	prepare(4, LOOP, each);
	all_work(4);
}

TEST(each_operation_tcp)
{
	prepare(5, TCP, each);
	all_work(5);
}

TEST(one_rank)
{
	prepare(1, TCP, each);
	all_work(1);
}

TEST_LIMIT(sixteen_ranks, 0)
{
	prepare(16, LOOP, reducing);
	all_work(16);
}

/* -- asynchronous -------------------------------------------------------------------------- */

#define AHEAD	20

struct ahead {
	unsigned int ended;
	int status;
};

static void on_done(void *user, struct mrpc_result *res)
{
	struct ahead *a = user;

	a->ended++;
	if (res->status != MRPC_OK)
		a->status = res->status;
}

/* Several are under way: each sums the result of the one before. The last one waits by itself. */
static int several(struct rank *r)
{
	struct mrpc_group_op op = {
		.collective = MRPC_ALLREDUCE, .elem = MRPC_ELEM_I32, .count = 1,
		.flags = MRPC_GROUP_PRIORITY, .priority = 200,
	};
	struct mrpc_qp *own = mrpc_qp_new(r->session, NULL);
	struct ahead a = { .status = MRPC_OK };
	uint32_t expected = 1, *p = mrpc_alloc(r->session, sizeof(*p));
	unsigned int i;

	*p = 1;
	op.input = p;
	op.output = p;
	for (i = 0; i < AHEAD; i++) {
		op.algorithm = 1 + i % (MRPC_NR_ALGORITHMS - 1);
		op.qp = i % 2 ? own : NULL;
		CHECK_EQ(mrpc_group_start(r->group, &op, on_done, &a), MRPC_OK);
		CHECK_EQ(mrpc_submit(op.qp ? op.qp : mrpc_qp_self(r->session)), 0);
		expected *= r->ranks;
	}
	CHECK_EQ(mrpc_qp_in_flight(own), AHEAD / 2);
	CHECK_EQ(mrpc_group_barrier(r->group), MRPC_OK);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(r->session), 10 * S), 0);
	CHECK_EQ(mrpc_run_all(own, 10 * S), 0);
	CHECK_EQ(a.ended, AHEAD);
	CHECK_EQ(*p, expected);
	mrpc_qp_free(own);
	mrpc_free(r->session, p);
	return a.status;
}

TEST(several_are_under_way)
{
	prepare(3, TCP, several);
	all_work(3);
}

/* -- what bad input gets --------------------------------------------------------------------- */

static void refused(struct rank *r, struct mrpc_group_op op, const char *why)
{
	CHECK_EQ(mrpc_group_run(r->group, &op), MRPC_INVALID_ARGUMENT);
	CHECK_MSG(strstr(mrpc_last_error(), why), "%s", mrpc_last_error());
	CHECK_EQ(mrpc_group_start(r->group, &op, on_done, NULL), MRPC_INVALID_ARGUMENT);
}

/* What is refused here, or by the kernel, leaves the group as it was. */
static int bad(struct rank *r)
{
	int32_t *p = mrpc_alloc(r->session, 4 * COUNT), x;
	struct mrpc_group_op op = {
		.collective = MRPC_ALLREDUCE, .elem = MRPC_ELEM_I32, .count = 1, .input = p,
		.output = p,
	}, o;

#define REFUSED(field, value, why) do { o = op; o.field = value; refused(r, o, why); } while (0)
	REFUSED(input, &x, "is not memory of mrpc_alloc() of this session");
	REFUSED(output, &x, "the output at");
	REFUSED(input, NULL, "the input is missing: this rank needs one");
	REFUSED(output, NULL, "the output is missing");
	REFUSED(collective, MRPC_NR_COLLECTIVES, "no collective 9, at most 8");
	REFUSED(algorithm, MRPC_NR_ALGORITHMS, "no algorithm 5, at most 4");
	REFUSED(elem, MRPC_NR_ELEMS, "no type of elements 7, at most 6");
	REFUSED(reduce, MRPC_NR_REDUCE_OPS, "no reduction 6, at most 5");
	REFUSED(flags, 2, "must be 0x1, not 0x2");
	REFUSED(resv0, 1, "flags");
	REFUSED(resv[3], 1, "a reserved field");
	CHECK_EQ(mrpc_group_start(r->group, &op, NULL, NULL), MRPC_INVALID_ARGUMENT);
	CHECK_MSG(strstr(mrpc_last_error(), "needs a callback"), "%s", mrpc_last_error());
	/* Only the root has these. */
	o = op;
	o.collective = MRPC_BROADCAST;
	o.root = r->rank;
	o.input = NULL;
	refused(r, o, "the input is missing");
	o = op;
	o.collective = MRPC_GATHER;
	o.root = r->rank;
	o.output = NULL;
	refused(r, o, "the output is missing");
	o = op;
	o.flags = MRPC_GROUP_PRIORITY;
	o.priority = 256;
	refused(r, o, "priority 256, at most 255");
	o = op;
	o.qp = mrpc_qp_self(r->session);
	CHECK_EQ(mrpc_group_run(r->group, &o), MRPC_INVALID_ARGUMENT);
	/* The kernel refuses it. */
	o = op;
	o.collective = MRPC_BROADCAST;
	o.root = 7;
	CHECK_EQ(mrpc_group_run(r->group, &o), MRPC_INVALID_ARGUMENT);
	CHECK_MSG(strstr(mrpc_last_error(), "root 7, but there are 2 ranks"), "%s",
		  mrpc_last_error());
	return note(r, mrpc_group_barrier(r->group));
}

TEST(bad_operations)
{
	prepare(2, LOOP, bad);
	all_work(2);
}

static int differ(struct rank *r)
{
	int32_t *p = mrpc_alloc(r->session, 4 * COUNT);

	return note(r, mrpc_group_allreduce(r->group, p, p, r->rank ? 10 : 20, MRPC_ELEM_I32,
					    MRPC_REDUCE_SUM));
}

/* Each of them learns what differs, and that the group has ended. */
TEST(ranks_that_disagree)
{
	unsigned int i;

	prepare(2, TCP, differ);
	run_ranks(2);
	for (i = 0; i < 2; i++) {
		CHECK_EQ(ranks[i].status, MRPC_FAILED_PRECONDITION);
		CHECK_MSG(strstr(ranks[i].why, "elements, this one"), "%s", ranks[i].why);
		CHECK(mrpc_group_barrier(ranks[i].group) != MRPC_OK);
		CHECK_MSG(strstr(mrpc_last_error(), "the group has ended"), "%s", mrpc_last_error());
	}
	end_ranks(2);
}

static int leave(struct rank *r)
{
	if (r->rank)
		return note(r, mrpc_group_barrier(r->group));
	usleep(50 * MS);
	mrpc_group_abort(r->group);
	r->group = NULL;
	return MRPC_OK;
}

TEST(a_rank_aborts)
{
	prepare(3, TCP, leave);
	ranks[0].stays = true;
	run_ranks(3);
	CHECK_EQ(ranks[1].status, MRPC_CANCELLED);
	CHECK_MSG(strstr(ranks[1].why, "rank 0"), "%s", ranks[1].why);
	CHECK_EQ(ranks[2].status, MRPC_CANCELLED);
	end_ranks(3);
}

static int leave_early(struct rank *r)
{
	if (r->rank)
		return MRPC_OK;
	usleep(50 * MS);
	return reducing(r);
}

/* All have to leave: one that goes on instead, and the others, learn that they disagree. */
TEST(a_rank_goes_on)
{
	unsigned int i;

	prepare(3, LOOP, leave_early);
	run_ranks(3);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(ranks[i].status, MRPC_FAILED_PRECONDITION);
		CHECK_MSG(strstr(ranks[i].why, "Barrier"), "rank %u: %s", i, ranks[i].why);
	}
	end_ranks(3);
}
