/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that the kernel moves: that of ncclMemAlloc(), and copies of other memory. */
#ifndef MRPC_NCCL_MEMORY_H
#define MRPC_NCCL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include <mrpc.h>

/**
 * struct buffers - what an operation reads and writes
 * @input: as the program says it; not used if @input_size is 0
 * @input_size: bytes; 0 if this rank has none
 * @output: the same for the result
 * @output_size: bytes
 * @kernel_input: the same bytes where the kernel can reach them: @input, or in a copy
 * @kernel_output: the same for the result
 * @copies: memory of mrpc_alloc(), or NULL
 */
struct buffers {
	const void *input;
	size_t input_size;
	void *output;
	size_t output_size;
	const void *kernel_input;
	void *kernel_output;
	void *copies[2];
};

/* Is all of it memory of ncclMemAlloc()? */
bool memory_is_ours(const void *begin, size_t size);

/**
 * buffers_open() - find, or make, the memory of an operation in a session
 * @session: the one that does the operation
 * @b: with the program's side filled in
 *
 * What is in place for the program is so for the kernel. Return: false: there is no memory for
 * copies. Then there is nothing to close.
 */
bool buffers_open(struct mrpc_session *session, struct buffers *b);

/* Brings the result to the program, unless the operation failed, and frees copies. */
void buffers_close(struct mrpc_session *session, struct buffers *b, bool ok);

#endif /* MRPC_NCCL_MEMORY_H */
