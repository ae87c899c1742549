// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Memory of ncclMemAlloc(), and copies of other memory; see memory.h.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "memory.h"
#include "session.h"

/* Memory of ncclMemAlloc(). */
struct block {
	char *begin;
	size_t size;
	struct block *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;	/* under the lock */

ncclResult_t ncclMemAlloc(void **ptr, size_t size)
{
	struct mrpc_session *session;
	struct block *block;

	if (!ptr || !size)
		return fail(ncclInvalidArgument, "ncclMemAlloc: %s",
			    ptr ? "0 bytes; the least is 1" : "the pointer is NULL");
	session = session_shared();
	block = malloc(sizeof(*block));
	if (!session || !block) {
		free(block);
		return fail(ncclSystemError, "ncclMemAlloc: %s",
			    session ? "out of memory" : mrpc_last_error());
	}
	block->size = size;
	block->begin = mrpc_alloc(session, size);
	if (!block->begin) {
		free(block);
		return fail(ncclSystemError, "ncclMemAlloc: no %zu bytes: %s", size,
			    mrpc_last_error());
	}
	*ptr = block->begin;
	pthread_mutex_lock(&lock);
	block->next = blocks;
	blocks = block;
	pthread_mutex_unlock(&lock);
	return ncclSuccess;
}

/* Takes the block at @ptr out of the list. */
static struct block *take_block(const void *ptr)
{
	struct block **at, *block;

	pthread_mutex_lock(&lock);
	for (at = &blocks; *at && (*at)->begin != ptr; at = &(*at)->next)
		;
	block = *at;
	if (block)
		*at = block->next;
	pthread_mutex_unlock(&lock);
	return block;
}

ncclResult_t ncclMemFree(void *ptr)
{
	struct block *block;

	if (!ptr)
		return ncclSuccess;
	block = take_block(ptr);
	if (!block)
		return fail(ncclInvalidArgument,
			    "ncclMemFree: %p was not returned by ncclMemAlloc(), or is free", ptr);
	mrpc_free(session_shared(), ptr);
	free(block);
	return ncclSuccess;
}

/* Are all bytes at @part among those at @whole? */
static bool is_within(const void *part, size_t size, const void *whole, size_t whole_size)
{
	uintptr_t p = (uintptr_t)part, w = (uintptr_t)whole;

	return p >= w && size <= whole_size && p - w <= whole_size - size;
}

bool memory_is_ours(const void *begin, size_t size)
{
	const struct block *block;

	pthread_mutex_lock(&lock);
	for (block = blocks; block; block = block->next)
		if (is_within(begin, size, block->begin, block->size))
			break;
	pthread_mutex_unlock(&lock);
	return block;
}

static bool reaches(const struct mrpc_session *session, const void *begin, size_t size)
{
	return !size || (session == session_shared() && memory_is_ours(begin, size));
}

/* One copy for both: the input is a part of the output, or the other way round. */
static bool copy_in_place(struct mrpc_session *session, struct buffers *b, bool input_is_part)
{
	char *copy = mrpc_alloc(session, input_is_part ? b->output_size : b->input_size);
	size_t in = 0, out = 0;

	if (!copy)
		return false;
	if (input_is_part)
		in = (size_t)((const char *)b->input - (const char *)b->output);
	else
		out = (size_t)((const char *)b->output - (const char *)b->input);
	memcpy(copy + in, b->input, b->input_size);
	b->kernel_input = copy + in;
	b->kernel_output = copy + out;
	b->copies[0] = copy;
	return true;
}

static bool copy_apart(struct mrpc_session *session, struct buffers *b)
{
	if (!reaches(session, b->input, b->input_size)) {
		b->copies[0] = mrpc_alloc(session, b->input_size);
		if (!b->copies[0])
			return false;
		memcpy(b->copies[0], b->input, b->input_size);
		b->kernel_input = b->copies[0];
	}
	if (!reaches(session, b->output, b->output_size)) {
		b->copies[1] = mrpc_alloc(session, b->output_size);
		if (!b->copies[1])
			return false;
		b->kernel_output = b->copies[1];
	}
	return true;
}

bool buffers_open(struct mrpc_session *session, struct buffers *b)
{
	bool ok;

	b->kernel_input = b->input_size ? b->input : NULL;
	b->kernel_output = b->output_size ? b->output : NULL;
	b->copies[0] = NULL;
	b->copies[1] = NULL;
	if (reaches(session, b->input, b->input_size) &&
	    reaches(session, b->output, b->output_size))
		return true;
	if (b->input_size && is_within(b->input, b->input_size, b->output, b->output_size))
		ok = copy_in_place(session, b, true);
	else if (b->output_size && is_within(b->output, b->output_size, b->input, b->input_size))
		ok = copy_in_place(session, b, false);
	else
		ok = copy_apart(session, b);
	if (!ok)
		buffers_close(session, b, false);
	return ok;
}

void buffers_close(struct mrpc_session *session, struct buffers *b, bool ok)
{
	size_t i;

	if (ok && b->output_size && b->kernel_output != b->output)
		memcpy(b->output, b->kernel_output, b->output_size);
	for (i = 0; i < 2; i++)
		if (b->copies[i])
			mrpc_free(session, b->copies[i]);
}
