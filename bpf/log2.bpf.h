/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Logarithms, for policies that make one of 256 priorities of a number of 32 bits.
 * (clang 14 has no __builtin_clz() for BPF: it crashes.)
 */
#ifndef LOG2_BPF_H
#define LOG2_BPF_H

/*
 * The logarithm of @x to base 2 in steps of 1 / 2^@bits, rounded down: below 32 * 2^@bits.
 * That of 0 is 0.
 */
static __always_inline __u32 log2_steps(__u32 x, __u32 bits)
{
	__u64 rest = x ? x : 1;
	__u32 whole = 0, i;

	for (i = 16; i; i /= 2) {
		if (rest >> i >> whole)
			whole += i;
	}
	return whole << bits | ((rest << bits >> whole) & ((1 << bits) - 1));
}

#endif /* LOG2_BPF_H */
