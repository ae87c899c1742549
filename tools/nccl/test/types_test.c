// SPDX-License-Identifier: LGPL-2.1-or-later
/* Types of elements, and what is done with them. */
#include <math.h>
#include <stdint.h>

#include "tap.h"
#include "types.h"

TEST(sizes)
{
	static const size_t sizes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2 };
	int type;

	for (type = 0; type < ncclNumTypes; type++)
		CHECK_EQ(type_size((ncclDataType_t)type), sizes[type]);
	CHECK_EQ(type_size(ncclNumTypes), 0);
	CHECK_EQ(type_size((ncclDataType_t)-1), 0);
}

/* Types that the kernel orders in another way have no ncclMax and no ncclMin. */
TEST(reductions)
{
	enum mrpc_reduce_op reduce;
	bool offered;
	int type, op;

	for (type = 0; type < ncclNumTypes; type++) {
		for (op = 0; op < ncclNumOps; op++) {
			offered = (op != ncclMax && op != ncclMin) ||
				  (type != ncclInt8 && type != ncclUint32 && type != ncclUint64);
			CHECK_EQ(find_reduction("f", (ncclRedOp_t)op, (ncclDataType_t)type,
						&reduce),
				 offered ? ncclSuccess : ncclInvalidArgument);
		}
	}
	CHECK_STR(ncclGetLastError(NULL),
		  "f: ncclMin of ncclUint64 is not offered: the kernel orders them as signed");
	CHECK_EQ(find_reduction("f", ncclNumOps, ncclFloat, &reduce), ncclInvalidArgument);
	CHECK_STR(ncclGetLastError(NULL), "f: no reduction 5, at most 4");
}

#define CHECK_DIVIDE(nccl, type, from, by, to)				\
	do {								\
		char bytes[2 * sizeof(type) + 1] = { 0 };		\
		type in = (type)(from), out;				\
									\
		memcpy(bytes + 1, &in, sizeof(in));			\
		divide(nccl, bytes + 1, 1, by);				\
		memcpy(&out, bytes + 1, sizeof(out));			\
		CHECK(out == (type)(to));				\
		memcpy(&out, bytes + 1 + sizeof(in), sizeof(out));	\
		CHECK(!out && !bytes[0]);				\
	} while (0)

TEST(integers_are_divided_towards_zero)
{
	CHECK_DIVIDE(ncclInt8, int8_t, -7, 2, -3);
	CHECK_DIVIDE(ncclUint8, uint8_t, 255, 2, 127);
	CHECK_DIVIDE(ncclInt32, int32_t, INT32_MIN, 1000, -2147483);
	CHECK_DIVIDE(ncclUint32, uint32_t, UINT32_MAX, 2, 0x7fffffff);
	CHECK_DIVIDE(ncclInt64, int64_t, -7, 3, -2);
	CHECK_DIVIDE(ncclUint64, uint64_t, UINT64_MAX, 2, INT64_MAX);
}

TEST(floats_are_rounded)
{
	CHECK_DIVIDE(ncclFloat, float, 1, 3, 1.0f / 3);
	CHECK_DIVIDE(ncclDouble, double, 1, 3, 1.0 / 3);
	CHECK_DIVIDE(ncclHalf, _Float16, 10, 4, 2.5);
	CHECK_DIVIDE(ncclHalf, _Float16, 1, 3, 0.333251953125);
	/* As bits: 10 / 4 is 2.5; 1 / 3 is 0x3eaaaaab, so up; 1 / 5 is 0x3e4ccccd, so down. */
	CHECK_DIVIDE(ncclBfloat16, uint16_t, 0x4120, 4, 0x4020);
	CHECK_DIVIDE(ncclBfloat16, uint16_t, 0x3f80, 3, 0x3eab);
	CHECK_DIVIDE(ncclBfloat16, uint16_t, 0xbf80, 5, 0xbe4d);
	CHECK_DIVIDE(ncclBfloat16, uint16_t, 0x7f80, 2, 0x7f80);
}

TEST(a_nan_stays_one)
{
	uint16_t nan = 0x7f81;

	divide(ncclBfloat16, &nan, 1, 2);
	CHECK_EQ(nan & 0x7f80, 0x7f80);
	CHECK(nan & 0x7f);
}
