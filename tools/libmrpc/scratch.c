// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Memory for messages that are never sent. It is one mapping, so that references reach all of it,
 * and has pages only where it is written.
 */
#include <errno.h>
#include <sys/mman.h>

#include "error.h"
#include "scratch.h"

static bool map_memory(struct scratch *s)
{
	void *p = mmap(NULL, SCRATCH_MAX, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	s->memory = p;
	s->msg = (struct mrpc_msg){ .cur = p, .end = (__u8 *)p + SCRATCH_MAX, .flags = MSG_SCRATCH };
	return true;
}

void *scratch_enter(struct scratch *s, size_t root_size, struct scratch_mark *mark)
{
	if (!s->memory && !map_memory(s)) {
		*mark = (struct scratch_mark){ 0 };
		s->msg.err = -ENOMEM;
		set_error("there is no memory for what a google.protobuf.Any holds: %u MiB must be mapped",
			  SCRATCH_MAX >> 20);
		return NULL;
	}
	*mark = (struct scratch_mark){ .root = s->msg.root, .cur = s->msg.cur };
	s->msg.root = mrpc_msg_alloc(&s->msg, root_size, 8);
	return s->msg.root ? memset(s->msg.root, 0, root_size) : NULL;
}

void scratch_leave(struct scratch *s, const struct scratch_mark *mark)
{
	s->msg.root = mark->root;
	s->msg.cur = mark->cur;
	s->msg.err = 0;
}

void scratch_free(struct scratch *s)
{
	if (s->memory)
		munmap(s->memory, SCRATCH_MAX);
}
