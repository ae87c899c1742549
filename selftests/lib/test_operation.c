// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/group/operation */
/*
 * What ranks tell each other of an operation: kmod/lib/group/operation.c. A difference is refused
 * with a sentence that has both values.
 */
#include "lib/group/operation.h"
#include "tap.h"

#define PEER	2

static const struct mrpc_operation_form ours = {
	.key = 0x1122334455667788, .count = 1000, .ranks = 4, .rank = 1, .root = 3, .chunk = 65536,
	.collective = MRPC_REDUCE, .algorithm = MRPC_BINOMIAL, .elem = MRPC_ELEM_F32,
	.reduce = MRPC_REDUCE_MAX, .strategy = 7,
};

static char why[160];

/* What rank PEER sends if it does the same. */
static struct mrpc_wire_operation theirs(void)
{
	struct mrpc_operation_form form = ours;
	struct mrpc_wire_operation wire;

	form.rank = PEER;
	mrpc_operation_encode(&form, &wire);
	return wire;
}

static bool compare(const struct mrpc_wire_operation *wire)
{
	why[0] = 0;
	return mrpc_operation_compare(&ours, PEER, wire, why, sizeof(why));
}

TEST(layout)
{
	static const u8 bytes[40] = {
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,  0xe8, 3, 0, 0, 0, 0, 0, 0,
		4, 0, 0, 0, 2, 0, 0, 0,  3, 0, 0, 0, 0, 0, 1, 0,
		4, 3, 3, 2, 7, 0, 0, 0,
	};
	struct mrpc_wire_operation wire = theirs();

	CHECK(!memcmp(&wire, bytes, sizeof(bytes)));
}

TEST(the_same)
{
	struct mrpc_wire_operation wire = theirs();

	CHECK(compare(&wire));
	CHECK_STR(why, "");
}

#define DIFFERS(field, value, text)						\
	do {									\
		struct mrpc_wire_operation w_ = theirs();			\
										\
		w_.field = value;						\
		CHECK(!compare(&w_));						\
		CHECK_STR(why, text);						\
	} while (0)

TEST(each_field_that_differs)
{
	DIFFERS(key, cpu_to_le64(1), "the connection to rank 2 leads to another group");
	DIFFERS(ranks, cpu_to_le32(5), "rank 2 says that the group has 5 ranks, this one 4");
	DIFFERS(rank, cpu_to_le32(3), "the connection to rank 2 leads to rank 3");
	DIFFERS(chunk, cpu_to_le32(8), "rank 2 sends chunks of 8 bytes, this one of 65536");
	DIFFERS(strategy, cpu_to_le32(8), "rank 2 uses strategy 8, this one 7");
	DIFFERS(collective, MRPC_GATHER, "rank 2 does Gather, this one Reduce");
	DIFFERS(algorithm, MRPC_RING, "rank 2 does Reduce by ring, this one by binomial");
	DIFFERS(elem, MRPC_ELEM_BF16, "rank 2 has elements of bf16, this one of f32");
	DIFFERS(count, cpu_to_le64(~0ULL),
		"rank 2 has 18446744073709551615 elements, this one 1000");
	DIFFERS(reduce, MRPC_REDUCE_SUM, "rank 2 reduces by sum, this one by max");
	DIFFERS(root, cpu_to_le32(0), "rank 2 says that rank 0 is the root, this one rank 3");
}

TEST(unknown_numbers)
{
	DIFFERS(collective, MRPC_NR_COLLECTIVES, "rank 2 does unknown, this one Reduce");
	DIFFERS(algorithm, MRPC_NR_ALGORITHMS, "rank 2 does Reduce by unknown, this one by binomial");
	DIFFERS(elem, 255, "rank 2 has elements of unknown, this one of f32");
	DIFFERS(reduce, MRPC_NR_REDUCE_OPS, "rank 2 reduces by unknown, this one by max");
	CHECK_STR(mrpc_collective_name(U32_MAX), "unknown");
	CHECK_STR(mrpc_algorithm_name(U32_MAX), "unknown");
}

/* Each number that there is has a name of its own. */
TEST(names)
{
	u32 i, j;

	for (i = 0; i < MRPC_NR_COLLECTIVES; i++) {
		CHECK(mrpc_collective_name(i) && strcmp(mrpc_collective_name(i), "unknown"));
		for (j = 0; j < i; j++)
			CHECK(strcmp(mrpc_collective_name(i), mrpc_collective_name(j)));
	}
	for (i = 0; i < MRPC_NR_ALGORITHMS; i++) {
		CHECK(mrpc_algorithm_name(i) && strcmp(mrpc_algorithm_name(i), "unknown"));
		for (j = 0; j < i; j++)
			CHECK(strcmp(mrpc_algorithm_name(i), mrpc_algorithm_name(j)));
	}
	for (i = 0; i < MRPC_NR_ELEMS; i++) {
		struct mrpc_wire_operation wire = theirs();

		wire.elem = i;
		CHECK(compare(&wire) || !strstr(why, "unknown"));
	}
	for (i = 0; i < MRPC_NR_REDUCE_OPS; i++) {
		struct mrpc_wire_operation wire = theirs();

		wire.reduce = i;
		CHECK(compare(&wire) || !strstr(why, "unknown"));
	}
}

/* No byte of the body may have another value, and each difference has a sentence that fits. */
TEST(every_byte_changed)
{
	struct mrpc_wire_operation wire = theirs();
	u8 *bytes = (u8 *)&wire;
	u32 at, value;

	for (at = 0; at < sizeof(wire); at++) {
		u8 was = bytes[at];

		for (value = 0; value < 256; value++) {
			bytes[at] = value;
			CHECK_EQ(compare(&wire), value == was);
			CHECK_EQ(why[0] == 0, value == was);
			CHECK(strlen(why) < sizeof(why) - 1);
		}
		bytes[at] = was;
	}
}

/* A sentence that has no room is cut. */
TEST(little_room)
{
	struct mrpc_wire_operation wire = theirs();
	char little[8];

	wire.key = 0;
	CHECK(!mrpc_operation_compare(&ours, PEER, &wire, little, sizeof(little)));
	CHECK_STR(little, "the con");
}
