// SPDX-License-Identifier: GPL-2.0
/* Messages under construction without a session. */
#include <errno.h>
#include <sanitizer/asan_interface.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "msg_arena.h"

#define SIZE	(16U << 20)
#define GAP	16	/* bytes that no code may touch, between two pieces */

static unsigned char arena[SIZE] __attribute__((aligned(16)));
static size_t used;
static char error[768];

void arena_reset(void)
{
	ASAN_UNPOISON_MEMORY_REGION(arena, used);
	memset(arena, 0xa5, used);
	used = 0;
	error[0] = '\0';
}

void *mrpc_msg_alloc(struct mrpc_msg *msg, size_t len, size_t align)
{
	unsigned char *p = arena + ((used + align - 1) & ~(align - 1));

	if (len > SIZE || (size_t)(p - arena) > SIZE - len - GAP) {
		msg->err = msg->err ? msg->err : -ENOMEM;
		return NULL;
	}
	used = p - arena + len + GAP;
	ASAN_POISON_MEMORY_REGION(p + len, GAP);
	return p;
}

void *mrpc_msg_new(struct mrpc_msg *msg, struct mrpc_session *session, size_t root_size,
		   size_t hint)
{
	(void)hint;
	*msg = (struct mrpc_msg){ .session = session };
	msg->root = mrpc_msg_alloc(msg, root_size, 8);
	return memset(msg->root, 0, root_size);
}

void *mrpc_msg_alloc_array(struct mrpc_msg *msg, struct mrpc_ref *ref, size_t nr,
			   size_t elem_size, size_t align)
{
	unsigned char *p = nr ? mrpc_msg_alloc(msg, nr * elem_size, align) : NULL;

	*ref = (struct mrpc_ref){ 0 };
	if (!p)
		return NULL;
	ref->off = (int)(p - (unsigned char *)msg->root);
	ref->len = nr;
	return memset(p, 0, nr * elem_size);
}

void *mrpc_msg_alloc_struct(struct mrpc_msg *msg, struct mrpc_ref *ref, size_t size)
{
	return mrpc_msg_alloc_array(msg, ref, 1, size, 8);
}

void *mrpc_msg_alloc_bytes(struct mrpc_msg *msg, struct mrpc_ref *ref, size_t len)
{
	return mrpc_msg_alloc_array(msg, ref, len, 1, 1);
}

void mrpc_msg_set_array(struct mrpc_msg *msg, struct mrpc_ref *ref, const void *data, size_t nr,
			size_t elem_size)
{
	void *p = mrpc_msg_alloc_array(msg, ref, nr, elem_size, 8);

	if (p)
		memcpy(p, data, nr * elem_size);
}

void mrpc_msg_set_bytes(struct mrpc_msg *msg, struct mrpc_ref *ref, const void *data, size_t len)
{
	void *p = mrpc_msg_alloc_bytes(msg, ref, len);

	if (p)
		memcpy(p, data, len);
}

void set_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(error, sizeof(error), fmt, ap);
	va_end(ap);
}

const char *mrpc_last_error(void)
{
	return error;
}
