/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The loops of reductions that need integers only, as LOOP(name, type, expression). A file defines
 * LOOP and includes this one for each set of loops that it has, so there is no include guard.
 */
LOOP(u8_sum, u8, a + b)
LOOP(u8_min, u8, a < b ? a : b)
LOOP(u8_max, u8, a < b ? b : a)
LOOP(u8_prod, u8, a * b)
LOOP(i32_sum, u32, a + b)
LOOP(i32_min, s32, a < b ? a : b)
LOOP(i32_max, s32, a < b ? b : a)
LOOP(i32_prod, u32, a * b)
LOOP(i64_sum, u64, a + b)
LOOP(i64_min, s64, a < b ? a : b)
LOOP(i64_max, s64, a < b ? b : a)
LOOP(i64_prod, u64, a * b)
LOOP(and, u64, a & b)
LOOP(or, u64, a | b)
LOOP(f32_min, u32, mrpc_f32_min(a, b))
LOOP(f32_max, u32, mrpc_f32_max(a, b))
LOOP(f64_min, u64, mrpc_f64_min(a, b))
LOOP(f64_max, u64, mrpc_f64_max(a, b))
LOOP(bf16_min, u16, mrpc_bf16_min(a, b))
LOOP(bf16_max, u16, mrpc_bf16_max(a, b))
LOOP(f16_min, u16, mrpc_f16_min(a, b))
LOOP(f16_max, u16, mrpc_f16_max(a, b))
