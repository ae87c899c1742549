/* SPDX-License-Identifier: GPL-2.0 */
/* What the files that implement rule.h share: conditions, verified and bound. */
#ifndef MRPC_LIB_RULE_COND_H
#define MRPC_LIB_RULE_COND_H

#include "lib/rule/rule.h"

#ifdef __KERNEL__
#include <asm/barrier.h>
#else
#include "lib/ds/claim_native.h"
#endif

/**
 * struct mrpc_cond - a condition, verified
 * @what: enum mrpc_cond_what
 * @op: enum mrpc_cond_op
 * @name_len: bytes at @name
 * @value_len: bytes at @value
 * @set: IN: index of the set
 * @path: FIELD: index in the rules' different paths
 * @name: META: the key; FIELD: the path; else empty
 * @value: as the binary form says
 */
struct mrpc_cond {
	u8 what;
	u8 op;
	u16 name_len;
	u16 value_len;
	u16 set;
	u32 path;
	const char *name;
	const u8 *value;
};

enum {
	TEST_NET,
	TEST_PORT,
	TEST_UID,
	TEST_CGROUP,
	TEST_SIZE,
	TEST_META,
	TEST_IDENTITY,
	TEST_FIELD_FIRST,
	TEST_FIELD_PRESENT = TEST_FIELD_FIRST,
	TEST_FIELD_EQUAL,
	TEST_FIELD_PREFIX,
	TEST_FIELD_NUMBER,
	TEST_FIELD_DOUBLE,
	TEST_FIELD_IN_TEXTS,
	TEST_FIELD_IN_INTS,
};

/**
 * struct rule_test - what is left of a condition to be tested for each call
 * @test: one of the above
 * @path: FIELD: index in the paths of the binding's kind
 * @cond: what it was made of
 * @from: ranges: the smallest value, after the value has been put into an order
 *	in which unsigned numbers are: FIELD_NUMBER: its bits of @flip are inverted;
 *	FIELD_DOUBLE: rule_double_order()
 * @span: the largest value - @from
 * @flip: see @from
 */
struct rule_test {
	u32 test;
	u32 path;
	const struct mrpc_cond *cond;
	u64 from;
	u64 span;
	u64 flip;
};

struct bound_rule {
	const struct mrpc_rule *rule;
	u32 first_test;
	u32 nr_tests;
};

struct bound_kind {
	const struct bound_rule *rules;
	const struct mrpc_field_path **paths;
	u32 nr_rules;
	u32 nr_paths;
};

struct mrpc_rules_binding {
	const struct mrpc_rules *rules;
	const struct rule_test *tests;
	struct bound_kind kinds[2];	/* by enum mrpc_rule_kind */
};

/* Doubles' bits as numbers in the doubles' order; NaNs are at both ends. */
static inline u64 rule_double_order(u64 bits)
{
	return bits >> 63 ? ~bits : bits | 1ULL << 63;
}

#define RULE_DOUBLE_SIGN	(1ULL << 63)
#define RULE_DOUBLE_INF		(0x7ffULL << 52)

#endif /* MRPC_LIB_RULE_COND_H */
