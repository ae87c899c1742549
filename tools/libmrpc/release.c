// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Giving blocks of the receive heap back to the kernel.
 */
#include <string.h>

#include "release.h"
#include "roots.h"

/* What the thread has collected, to be given back by the caller. Return: how many. */
u32 release_take(struct tctx *t, u32 *blocks)
{
	u32 nr = t->nr_release;

	memcpy(blocks, t->release, nr * sizeof(*blocks));
	t->nr_release = 0;
	t->release_bytes = 0;
	return nr;
}

void release_flush(struct tctx *t)
{
	struct mrpc_release arg = { .size = sizeof(arg) };

	if (!t->nr_release)
		return;
	arg.nr = release_take(t, arg.blocks);
	session_ioctl(t->session, MRPC_IOC_RELEASE, &arg);
}

/* Without memory for more: at once. */
static RARE void release_now(struct mrpc_session *session, u32 block)
{
	struct mrpc_release arg = { .size = sizeof(arg), .nr = 1, .blocks = { block } };

	session_ioctl(session, MRPC_IOC_RELEASE, &arg);
}

static __attribute__((noinline)) void release_some(struct tctx *t)
{
	if (!t->qp || !t->qp_ops->push_releases(t->qp, t))
		release_flush(t);
}

/*
 * Collects blocks until there are enough. They then travel with what the thread
 * submits next, if it is going to submit something; before there are so many, with
 * a synchronous call.
 */
void release_block(struct mrpc_session *session, u32 block, u32 bytes)
{
	struct tctx *t;

	if (session_is_foreign(session))
		return;
	if (unlikely(roots_watched))
		roots_remove(session->recv + block);
	t = tctx_get(session);
	if (unlikely(!t)) {
		release_now(session, block);
		return;
	}
	t->release[t->nr_release++] = block;
	t->release_bytes += bytes;
	if (t->nr_release == MRPC_RELEASE_MAX || t->release_bytes >= session->release_bytes)
		release_some(t);
}
