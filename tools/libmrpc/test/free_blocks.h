/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * That calls leave nothing in the send heap, and take no room of their connections.
 */
#ifndef TEST_FREE_BLOCKS_H
#define TEST_FREE_BLOCKS_H

#include "clock.h"
#include "heap.h"
#include "release.h"
#include "session.h"

/* All blocks are free when the kernel has said so, which may be after the reply. No call waits. */
static UNUSED void must_be_free(struct mrpc_session *session, struct mrpc_qp *qp)
{
	struct tctx *t = tctx_get(session);
	u64 until = clock_ns() + 30000000000ull;
	struct mrpc_heap_stats stats;

	do {
		CHECK(mrpc_poll(qp) >= 0);
		release_flush(t);
		heap_cache_flush(&session->send, &t->cache);
		mrpc_send_heap_stats(session, &stats);
	} while (stats.used && clock_ns() < until);
	CHECK_EQ(stats.used, 0);
	CHECK(!qp->lots && !qp->nr_parked);
}

/* The kernel has ended all calls over channels. */
static UNUSED void must_take_no_room(const struct mrpc_qp *qp)
{
	u32 i;

	for (i = 0; i < QP_ROOMS; i++)
		CHECK_EQ(qp->busy[i], 0);
}

#endif /* TEST_FREE_BLOCKS_H */
