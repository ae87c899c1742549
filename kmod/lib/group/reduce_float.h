/* SPDX-License-Identifier: GPL-2.0 */
/* As reduce_integer.h: the loops that need floating point, but those of f16. For reduce_fp.c. */
LOOP(f32_sum, float, a + b)
LOOP(f32_prod, float, a * b)
LOOP(f64_sum, double, a + b)
LOOP(f64_prod, double, a * b)
LOOP(bf16_sum, u32, BF16_PAIR(+))
LOOP(bf16_prod, u32, BF16_PAIR(*))
