/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few kernel names that kmod/lib uses, so that the same source compiles in
 * the module and natively (tests, fuzzers, mrpcc, simulator).
 */
#ifndef MRPC_LIB_DS_TYPES_H
#define MRPC_LIB_DS_TYPES_H

#ifdef __KERNEL__

#include <linux/align.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#else

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define U8_MAX		UINT8_MAX
#define U16_MAX		UINT16_MAX
#define U32_MAX		UINT32_MAX
#define U64_MAX		UINT64_MAX
#define BIT(n)		(1UL << (n))
#define ALIGN(x, a)	(((x) + (a) - 1) & ~((__typeof__(x))(a) - 1))
#define IS_ALIGNED(x, a) (((x) & ((__typeof__(x))(a) - 1)) == 0)
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define min(a, b)	({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b)	({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
#define min_t(t, a, b)	min((t)(a), (t)(b))
#define max_t(t, a, b)	max((t)(a), (t)(b))
#define swap(a, b)	do { __typeof__(a) _t = (a); (a) = (b); (b) = _t; } while (0)
#undef static_assert
#define static_assert(expr, ...) _Static_assert(expr, #expr)
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define check_add_overflow(a, b, d) __builtin_add_overflow(a, b, d)
#define check_mul_overflow(a, b, d) __builtin_mul_overflow(a, b, d)
#define noinline	__attribute_noinline__
#define __packed	__attribute((__packed__))
#define __uninitialized
#define OPTIMIZER_HIDE_VAR(v) __asm__("" : "=r"(v) : "0"(v))
#define barrier()	({ __asm__ __volatile__("" : : : "memory"); })
#define S32_MAX		INT32_MAX
#define S64_MAX		INT64_MAX
#define NSEC_PER_SEC	1000000000L

#define container_of(ptr, type, member)					\
	((type *)((char *)(ptr) - offsetof(type, member)))

/* The number of the lowest bit set; @v is not 0. */
static inline unsigned int __ffs64(u64 v)
{
	return __builtin_ctzll(v);
}

/* The highest bit that is set, counted from 1; 0: none. */
static inline int fls64(u64 v)
{
	return v ? 64 - __builtin_clzll(v) : 0;
}

/* 64-bit division, which a 32-bit kernel does not have as an operator. */
static inline u64 div_u64_rem(u64 a, u32 b, u32 *rem)
{
	*rem = a % b;
	return a / b;
}

static inline u64 div64_u64_rem(u64 a, u64 b, u64 *rem)
{
	*rem = a % b;
	return a / b;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

#define cpu_to_le16(x)	((__le16)(x))
#define cpu_to_le32(x)	((__le32)(x))
#define cpu_to_le64(x)	((__le64)(x))
#define le16_to_cpu(x)	((u16)(x))
#define le32_to_cpu(x)	((u32)(x))
#define le64_to_cpu(x)	((u64)(x))
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the native build of kmod/lib supports little-endian hosts only"
#endif

#define MRPC_LIB_GET(type)						\
static inline u##type get_unaligned_le##type(const void *p)		\
{									\
	u##type v;							\
									\
	memcpy(&v, p, sizeof(v));					\
	return v;							\
}									\
static inline void put_unaligned_le##type(u##type v, void *p)		\
{									\
	memcpy(p, &v, sizeof(v));					\
}
MRPC_LIB_GET(16)
MRPC_LIB_GET(32)
MRPC_LIB_GET(64)
#undef MRPC_LIB_GET

static inline u16 get_unaligned_be16(const void *p)
{
	const u8 *b = (const u8 *)p;

	return b[0] << 8 | b[1];
}

static inline u32 get_unaligned_be24(const void *p)
{
	const u8 *b = (const u8 *)p;

	return (u32)b[0] << 16 | b[1] << 8 | b[2];
}

static inline u32 get_unaligned_be32(const void *p)
{
	const u8 *b = (const u8 *)p;

	return (u32)b[0] << 24 | get_unaligned_be24(b + 1);
}

static inline void put_unaligned_be16(u16 v, void *p)
{
	u8 *b = (u8 *)p;

	b[0] = v >> 8;
	b[1] = v;
}

static inline void put_unaligned_be24(u32 v, void *p)
{
	u8 *b = (u8 *)p;

	b[0] = v >> 16;
	put_unaligned_be16(v, b + 1);
}

static inline void put_unaligned_be32(u32 v, void *p)
{
	put_unaligned_be16(v >> 16, p);
	put_unaligned_be16(v, (u8 *)p + 2);
}

#endif /* __KERNEL__ */

#endif /* MRPC_LIB_DS_TYPES_H */
