// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Operations, with the module: each type and reduction, each operation, each kind of memory. The
 * results are compared with plain computation.
 */
#include <stdint.h>

#include "ranks.h"
#include "types.h"

#define COUNT	100

static void store(ncclDataType_t type, void *p, size_t i, double value)
{
	float f = (float)value;
	uint32_t bits;

	switch (type) {
	case ncclInt8:
	case ncclUint8:
		((uint8_t *)p)[i] = (uint8_t)(int64_t)value;
		break;
	case ncclInt32:
	case ncclUint32:
		((uint32_t *)p)[i] = (uint32_t)(int64_t)value;
		break;
	case ncclInt64:
	case ncclUint64:
		((int64_t *)p)[i] = (int64_t)value;
		break;
	case ncclHalf:
		((_Float16 *)p)[i] = (_Float16)value;
		break;
	case ncclFloat:
		((float *)p)[i] = f;
		break;
	case ncclDouble:
		((double *)p)[i] = value;
		break;
	default:
		memcpy(&bits, &f, sizeof(bits));
		((uint16_t *)p)[i] = (uint16_t)(bits >> 16);
	}
}

static bool is_signed(ncclDataType_t type)
{
	return type != ncclUint8 && type != ncclUint32 && type != ncclUint64;
}

/* The element @i of a rank: small, so that floats of 16 bits are exact, and products are, too. */
static double element(ncclDataType_t type, int rank, size_t i)
{
	double value = (double)((size_t)(rank + 1) * (i % 3 + 1));

	return i % 2 && is_signed(type) ? -value : value;
}

static double reduced(ncclDataType_t type, ncclRedOp_t op, int ranks, size_t i)
{
	double result = element(type, 0, i), other;
	int rank;

	for (rank = 1; rank < ranks; rank++) {
		other = element(type, rank, i);
		if (op == ncclProd)
			result *= other;
		else if (op == ncclMax)
			result = result > other ? result : other;
		else if (op == ncclMin)
			result = result < other ? result : other;
		else
			result += other;
	}
	return op == ncclAvg ? result / ranks : result;
}

/* What this process has of @count elements that begin with element @first of @rank. */
static void fill(ncclDataType_t type, void *p, int rank, size_t first, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		store(type, p, i, element(type, rank, first + i));
}

static void check_reduced(ncclDataType_t type, ncclRedOp_t op, int ranks, const void *p,
			  size_t first, size_t count)
{
	char expected[RANKS * COUNT * sizeof(double)];
	size_t i;

	for (i = 0; i < count; i++)
		store(type, expected, i, reduced(type, op, ranks, first + i));
	CHECK_MSG(!memcmp(p, expected, count * type_size(type)), "reduction %d of type %d", (int)op,
		  (int)type);
}

/* -- types and reductions --------------------------------------------------------------------- */

static bool is_offered(ncclDataType_t type, ncclRedOp_t op)
{
	return (op != ncclMax && op != ncclMin) ||
	       (type != ncclInt8 && type != ncclUint32 && type != ncclUint64);
}

/* One that is refused leaves the communicator as it was. */
static void reduce_type(struct rank *r, ncclDataType_t type, ncclRedOp_t op, void *in, void *out)
{
	fill(type, in, r->rank, 0, COUNT);
	if (!is_offered(type, op)) {
		CHECK_ERROR(ncclAllReduce(in, out, COUNT, type, op, r->comm, NULL),
			    ncclInvalidArgument, "is not offered");
		return;
	}
	CHECK_OK(ncclAllReduce(in, out, COUNT, type, op, r->comm, NULL));
	check_reduced(type, op, r->ranks, out, 0, COUNT);
}

static void each_type(struct rank *r)
{
	char *own = malloc(2 * COUNT * sizeof(double));
	void *ours;
	int type, op;

	CHECK_OK(ncclMemAlloc(&ours, COUNT * sizeof(double)));
	for (type = 0; type < ncclNumTypes; type++) {
		for (op = 0; op < ncclNumOps; op++) {
			reduce_type(r, (ncclDataType_t)type, (ncclRedOp_t)op, own,
				    own + COUNT * sizeof(double));
			reduce_type(r, (ncclDataType_t)type, (ncclRedOp_t)op, ours, ours);
		}
	}
	free(own);
	CHECK_OK(ncclMemFree(ours));
}

TEST(each_type_and_reduction)
{
	run_ranks(RANKS, each_type);
}

/* -- operations ------------------------------------------------------------------------------- */

/* Room for a block of each rank. */
static void *allocate(bool ours)
{
	void *p = malloc(RANKS * COUNT * sizeof(float));

	if (!ours)
		return p;
	free(p);
	CHECK_OK(ncclMemAlloc(&p, RANKS * COUNT * sizeof(float)));
	return p;
}

static void release(void *p, bool ours)
{
	if (ours)
		CHECK_OK(ncclMemFree(p));
	else
		free(p);
}

static void check_block(const float *p, int rank)
{
	size_t i;

	for (i = 0; i < COUNT; i++)
		CHECK_EQ(p[i], element(ncclFloat, rank, i));
}

static void reduce_each(struct rank *r, float *in, float *out)
{
	size_t i;

	fill(ncclFloat, in, r->rank, 0, COUNT);
	CHECK_OK(ncclAllReduce(in, out, COUNT, ncclFloat, ncclSum, r->comm, NULL));
	check_reduced(ncclFloat, ncclSum, r->ranks, out, 0, COUNT);

	fill(ncclFloat, in, r->rank, 0, COUNT);
	CHECK_OK(ncclReduce(in, r->rank == 2 ? out : NULL, COUNT, ncclFloat, ncclAvg, 2, r->comm,
			    NULL));
	if (r->rank == 2)
		check_reduced(ncclFloat, ncclAvg, r->ranks, out, 0, COUNT);

	memset(out, 0xff, COUNT * sizeof(*out));
	fill(ncclFloat, r->rank == 1 ? in : out, r->rank, 0, COUNT);
	CHECK_OK(ncclBroadcast(r->rank == 1 ? in : NULL, out, COUNT, ncclFloat, 1, r->comm, NULL));
	check_block(out, 1);

	fill(ncclFloat, in, r->rank, 0, COUNT);
	CHECK_OK(ncclBcast(in, COUNT, ncclFloat, 3, r->comm, NULL));
	check_block(in, 3);
	for (i = 0; i < COUNT; i++)
		in[i] = -1;
}

/* @in is @out's block of this rank, or another buffer. */
static void gather(struct rank *r, float *in, float *out)
{
	int rank;

	fill(ncclFloat, in, r->rank, 0, COUNT);
	CHECK_OK(ncclAllGather(in, out, COUNT, ncclFloat, r->comm, NULL));
	for (rank = 0; rank < r->ranks; rank++)
		check_block(out + rank * COUNT, rank);
}

/* @out is @in's block of this rank, or another buffer. */
static void scatter(struct rank *r, float *in, float *out)
{
	fill(ncclFloat, in, r->rank, 0, RANKS * COUNT);
	CHECK_OK(ncclReduceScatter(in, out, COUNT, ncclFloat, ncclSum, r->comm, NULL));
	check_reduced(ncclFloat, ncclSum, r->ranks, out, (size_t)r->rank * COUNT, COUNT);
}

/* Each with memory of ncclMemAlloc() or another, and in place or not; ranks differ in this. */
static void each_operation(struct rank *r)
{
	int kind;

	for (kind = 0; kind < 8; kind++) {
		bool in_ours = (kind + r->rank) & 1, out_ours = (kind + r->rank) & 2;
		float *in = allocate(in_ours), *out = allocate(out_ours);
		bool in_place = kind & 4;

		reduce_each(r, in, in_place ? in : out);
		gather(r, in_place ? out + r->rank * COUNT : in, out);
		scatter(r, in, in_place ? in + r->rank * COUNT : out);
		release(in, in_ours);
		release(out, out_ours);
	}
}

TEST(each_operation_and_memory)
{
	run_ranks(RANKS, each_operation);
}

static void check_self(ncclComm_t comm)
{
	int n;

	CHECK_OK(ncclCommCount(comm, &n));
	CHECK_EQ(n, 1);
	CHECK_OK(ncclCommUserRank(comm, &n));
	CHECK_EQ(n, 0);
	CHECK_OK(ncclCommCuDevice(comm, &n));
	CHECK_EQ(n, 0);
}

TEST(one_rank)
{
	float in[2] = { 1, 2 }, out[2] = { 0, 0 };
	ncclComm_t comm;

	CHECK_OK(ncclCommInitAll(&comm, 1, NULL));
	check_self(comm);
	CHECK_OK(ncclAllReduce(in, out, 2, ncclFloat, ncclAvg, comm, NULL));
	CHECK(out[0] == 1 && out[1] == 2);
	CHECK_OK(ncclAllReduce(NULL, NULL, 0, ncclFloat, ncclSum, comm, NULL));
	CHECK_OK(ncclCommDestroy(comm));
}

/* Parts of larger blocks, at odd addresses. */
static void parts(struct rank *r)
{
	unsigned char *p;

	CHECK_OK(ncclMemAlloc((void **)&p, 4096));
	memset(p, 1, 4096);
	CHECK_OK(ncclAllReduce(p + 1, p + 101, 99, ncclUint8, ncclSum, r->comm, NULL));
	CHECK_EQ(p[100], 1);
	CHECK_EQ(p[101], 2);
	CHECK_EQ(p[199], 2);
	CHECK_EQ(p[200], 1);
	/* The end is beyond the block, so a copy is made of what can be read. */
	CHECK_OK(ncclAllReduce(p + 4095, p, 1, ncclUint8, ncclSum, r->comm, NULL));
	CHECK_EQ(p[0], 2);
	CHECK_OK(ncclMemFree(p));
	CHECK_ERROR(ncclMemFree(p), ncclInvalidArgument, "or is free");
}

TEST(parts_of_blocks)
{
	run_ranks(2, parts);
}
