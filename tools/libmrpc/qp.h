/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Queue pairs inside the library.
 *
 * Completions are taken off the ring ("harvested") as soon as the library looks
 * at it, which frees blocks and makes room for the kernel; callbacks run
 * only where the header says, from the list of calls that have ended.
 */
#ifndef LIBMRPC_QP_H
#define LIBMRPC_QP_H

#include "conn.h"
#include "ring.h"
#include "session.h"

#define QP_SQ_ENTRIES	256

/* op.wait */
#define OP_WAIT_END	1	/* a call: for its end */
#define OP_WAIT_SENT	2	/* for the kernel to be done with the blocks */
#define OP_WAIT_CALLBACK 4	/* a call that has ended, in the done list */

/**
 * struct op - a call or a reply whose completions are awaited
 * @id: what the kernel gives back: generation << 32 | index + 1
 * @wait: OP_WAIT_*; 0: free
 * @conn: the kernel's number of the connection
 * @done: callback; NULL: nobody is interested any more
 * @user: for @done
 * @blocks: of the message, freed with SENT or FREED
 * @next: in the free list or the done list
 * @cqe: how the call ended, in the done list
 */
struct op {
	u64 id;
	u32 wait;
	u32 conn;
	mrpc_done_fn done;
	void *user;
	void *blocks;
	struct op *next;
	struct mrpc_cqe cqe;
};

#define OPS_PER_CHUNK	64

struct op_list {
	struct op *first;
	struct op **last;
};

/**
 * struct qp_serves - what becomes of requests that come on a queue pair
 * @keep: one came while something else was waited for
 * @drop: the queue pair is destroyed, and with it those that were kept
 */
struct qp_serves {
	void (*keep)(struct mrpc_qp *qp, const struct mrpc_cqe *cqe);
	void (*drop)(struct mrpc_qp *qp);
};

/**
 * struct mrpc_qp - one queue pair
 * @session: whose
 * @end: with the session
 * @idle_next: in mrpc_session.idle_qps
 * @id: the kernel's number
 * @opts: as it was created; one from the idle list must be the same
 * @serve: it takes requests, or NULL
 * @eventfd: or -1
 * @ring: the rings
 * @map: the mapping
 * @map_len: its bytes
 * @notes: for each submission entry the blocks that are free once the kernel
 *	has taken it
 * @note_head: first entry whose note has not been looked at
 * @chunks: of ops
 * @nr_chunks: how many
 * @free_ops: ops not in use
 * @done: calls that have ended, callbacks not yet called
 * @requests: requests taken off the ring while the worker was inside a handler
 * @in_flight: calls whose callback has not been called
 * @in_callback: a callback runs
 * @held: with @serve: its worker has @lock
 * @lock: with @serve: submission queue, which the server's stop also adds to. The worker has it
 *	but while he waits in the kernel
 */
struct mrpc_qp {
	struct mrpc_session *session;
	struct session_end end;
	struct mrpc_qp *idle_next;
	u32 id;
	struct mrpc_qp_opts opts;
	const struct qp_serves *serve;
	int eventfd;
	struct ring ring;
	void *map;
	size_t map_len;
	void **notes;
	u32 note_head;
	struct op **chunks;
	u32 nr_chunks;
	struct op *free_ops;
	struct op_list done;
	struct mrpc_call *requests;
	struct mrpc_call **last_request;
	u32 in_flight;
	bool in_callback;
	bool held;
	pthread_mutex_t lock;
};

struct mrpc_qp *qp_create(struct mrpc_session *session, const struct mrpc_qp_opts *opts,
			  const struct qp_serves *serve);
void qp_retire(struct mrpc_qp *qp);	/* submits what waits; to the idle list */

/* The thread's own from now on. */
void qp_own(struct tctx *t, struct mrpc_qp *qp);

/* With @serve: the worker's, for itself. */
void qp_hold(struct mrpc_qp *qp);
void qp_let_go(struct mrpc_qp *qp);

/* Copies an entry in; @blocks are freed when the kernel has taken it. */
int qp_push(struct mrpc_qp *qp, const struct mrpc_sqe *sqe, void *blocks);

/*
 * Makes the entry that was pushed at @pos one that does nothing, and its blocks the
 * caller's again; false if the kernel has taken it. Not with @serve: others enter, too.
 */
bool qp_take_back(struct mrpc_qp *qp, u32 pos);

/* Entries that wait to be submitted; without the lock, which only orders those who add. */
static inline u32 qp_pending(const struct mrpc_qp *qp)
{
	return ring_sq_pending(&qp->ring);
}

/* Submits what waits, and waits for completions until a time of CLOCK_MONOTONIC. */
int qp_enter(struct mrpc_qp *qp, u32 min_complete, u64 until_ns);

/* An error of qp_enter() after which it can be tried again. */
bool is_temporary(int err);

/* Submits all that waits, however long that takes. */
int qp_flush(struct mrpc_qp *qp);

#endif /* LIBMRPC_QP_H */
