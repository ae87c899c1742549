/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A send heap without a kernel: the functions of libmrpc that generated builders call, with an
 * array as the heap.
 */
#ifndef MRPCC_TEST_HEAP_H
#define MRPCC_TEST_HEAP_H

#include <mrpc.h>

#define HEAP_SIZE	(1U << 20)

extern unsigned char heap[HEAP_SIZE];

/* The offset that the kernel would get. */
static inline uint64_t heap_offset(const void *p)
{
	return (const unsigned char *)p - heap;
}

/* Drops all blocks and fills the heap with values that no code may rely on. */
void heap_reset(void);

#endif /* MRPCC_TEST_HEAP_H */
