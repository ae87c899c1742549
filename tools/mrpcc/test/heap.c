// SPDX-License-Identifier: GPL-2.0
/* A send heap without a kernel. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "heap.h"

static char error[768];

unsigned char heap[HEAP_SIZE] __attribute__((aligned(4096)));
static size_t used;

void heap_reset(void)
{
	memset(heap, 0xa5, sizeof(heap));
	/* The first block lies in the middle: references go both ways. */
	used = HEAP_SIZE / 2;
}

void *mrpc_alloc(struct mrpc_session *session, size_t len)
{
	void *p;

	(void)session;
	used = (used + 15) & ~15UL;
	/* Everything that does not fit in the upper half goes to the lower. */
	if (used + len > HEAP_SIZE)
		used = 0;
	p = heap + used;
	used += len;
	return p;
}

void *mrpc_msg_alloc(struct mrpc_msg *msg, size_t len, size_t align)
{
	unsigned char *p;

	(void)msg;
	used = (used + align - 1) & ~(align - 1);
	p = heap + used;
	used += len;
	return p;
}

void *mrpc_msg_new(struct mrpc_msg *msg, struct mrpc_session *session, size_t root_size,
		   size_t hint)
{
	(void)hint;
	memset(msg, 0, sizeof(*msg));
	msg->session = session;
	msg->root = memset(mrpc_msg_alloc(msg, root_size, 8), 0, root_size);
	return msg->root;
}

void mrpc_msg_set_ref(struct mrpc_msg *msg, struct mrpc_ref *ref, const void *p, __u32 len)
{
	ref->off = len ? (const unsigned char *)p - (unsigned char *)msg->root : 0;
	ref->len = len;
}

void *mrpc_msg_alloc_bytes(struct mrpc_msg *msg, struct mrpc_ref *ref, size_t len)
{
	void *p = len ? mrpc_msg_alloc(msg, len, 1) : NULL;

	mrpc_msg_set_ref(msg, ref, p, len);
	return p;
}

void mrpc_msg_set_bytes(struct mrpc_msg *msg, struct mrpc_ref *ref, const void *data, size_t len)
{
	void *p = mrpc_msg_alloc_bytes(msg, ref, len);

	if (p)
		memcpy(p, data, len);
}

void mrpc_msg_set_strn(struct mrpc_msg *msg, struct mrpc_ref *ref, const char *str, size_t len)
{
	mrpc_msg_set_bytes(msg, ref, str, len);
}

void mrpc_msg_set_str(struct mrpc_msg *msg, struct mrpc_ref *ref, const char *str)
{
	mrpc_msg_set_bytes(msg, ref, str, strlen(str));
}

void *mrpc_msg_alloc_array(struct mrpc_msg *msg, struct mrpc_ref *ref, size_t nr,
			   size_t elem_size, size_t align)
{
	void *p = nr ? mrpc_msg_alloc(msg, nr * elem_size, align) : NULL;

	if (p)
		memset(p, 0, nr * elem_size);
	mrpc_msg_set_ref(msg, ref, p, nr);
	return p;
}

void *mrpc_msg_alloc_struct(struct mrpc_msg *msg, struct mrpc_ref *ref, size_t size)
{
	return mrpc_msg_alloc_array(msg, ref, 1, size, 8);
}

void mrpc_msg_set_array(struct mrpc_msg *msg, struct mrpc_ref *ref, const void *data, size_t nr,
			size_t elem_size)
{
	void *p = mrpc_msg_alloc_array(msg, ref, nr, elem_size, elem_size);

	if (p)
		memcpy(p, data, nr * elem_size);
}

void mrpc_msg_attach(struct mrpc_msg *msg, struct mrpc_ref *ref, void *block, size_t off,
		     __u32 len, size_t bytes)
{
	(void)bytes;
	mrpc_msg_set_ref(msg, ref, (unsigned char *)block + off, len);
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
