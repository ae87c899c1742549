/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Queue pairs inside the library.
 *
 * The library takes completions off the ring ("harvests" them) whenever it looks at the ring.
 * That frees blocks and makes room for the kernel. Callbacks run only where the header says so,
 * from the list of calls that have ended.
 */
#ifndef LIBMRPC_QP_H
#define LIBMRPC_QP_H

#include "conn.h"
#include "ring.h"
#include "session.h"

#define QP_SQ_ENTRIES	256

/* op.wait */
#define OP_WAIT_END	1	/* waits for the end of a call */
#define OP_WAIT_SENT	2	/* waits until the kernel has finished with the blocks */
#define OP_WAIT_CALLBACK 4	/* a call that has ended, in the done list */
#define OP_WAIT_LINK	8	/* over a channel: waits there, or will when the blocks are free */
#define OP_WAIT_ROOM	16	/* over a channel: the kernel has the call, see mrpc_qp.busy */

#define QP_ROOMS	64	/* a power of two */

struct op;

struct op_stream;

/**
 * struct op_stream_ops - what is done with the completions of a stream
 * @take: one has come: OPEN, MESSAGE, REPLY; or SENT or ERROR of a message. It may free the stream
 * @abandon: the thread gives the queue pair back: no caller uses the stream any more. It may free it
 * @free: the queue pair is being destroyed
 */
struct op_stream_ops {
	void (*take)(struct op_stream *stream, const struct mrpc_cqe *cqe);
	void (*abandon)(struct op_stream *stream);
	void (*free)(struct op_stream *stream);
};

/**
 * struct op_stream - what the queue pair knows of a stream
 * @ops: functions
 * @next: in mrpc_qp.streams
 * @prev: what points to it there
 * @token: the kernel's name of the stream
 * @conn: the kernel's number of the connection
 * @abandoned: @ops->abandon was called
 * @has_event: it is in mrpc_qp.events
 * @next_event: there
 */
struct op_stream {
	const struct op_stream_ops *ops;
	struct op_stream *next;
	struct op_stream **prev;
	u64 token;
	u32 conn;
	bool abandoned;
	bool has_event;
	struct op_stream *next_event;
};

/**
 * struct op_retry_ops - what is done with a call over a channel
 * @takes: it has ended: is it made again? Then it has not ended
 * @freed: with OP_WAIT_LINK: the kernel does not read its blocks any more
 * @finish: its result goes to its callback; frees what op.retry refers to
 * @cancel: ends it. Return: false: that is up to the kernel, which has it
 * @abandon: no caller waits for it any more: it leaves its channel, and is not made again
 * @free: the queue pair is being destroyed: frees what op.retry refers to
 */
struct op_retry_ops {
	bool (*takes)(struct mrpc_qp *qp, struct op *op, const struct mrpc_cqe *cqe);
	void (*freed)(struct mrpc_qp *qp, struct op *op);
	void (*finish)(struct op *op, struct mrpc_result *res);
	bool (*cancel)(struct mrpc_qp *qp, struct op *op);
	void (*abandon)(struct mrpc_qp *qp, struct op *op);
	void (*free)(struct op *op);
};

/**
 * struct op_retry - what an operation has if it is a call over a channel
 * @ops: functions
 */
struct op_retry {
	const struct op_retry_ops *ops;
};

struct lot;

/**
 * struct qp_lot_ops - what is done with the parked calls of a queue pair
 * @resume: looks whether they can go on
 * @next_time: the earliest time that one of them waits for; FOR_EVER: none
 */
struct qp_lot_ops {
	void (*resume)(struct mrpc_qp *qp);
	u64 (*next_time)(const struct mrpc_qp *qp);
};

/**
 * struct op - a call, a reply or a message whose completions are awaited
 * @id: value that the kernel gives back: generation << 32 | index + 1
 * @wait: OP_WAIT_*; 0: free
 * @conn: the kernel's number of the connection
 * @done: callback; NULL: the result is not wanted any more
 * @user: for @done
 * @blocks: of the message, freed with SENT or FREED; over a channel not before the end
 * @retry: it is a call over a channel; else NULL
 * @stream: it is a call that streams (OP_WAIT_END at first), or a message; else NULL
 * @next: in the free list or the done list
 * @cqe: the end of the call, in the done list
 */
struct op {
	u64 id;
	u32 wait;
	u32 conn;
	mrpc_done_fn done;
	void *user;
	void *blocks;
	struct op_retry *retry;
	struct op_stream *stream;
	struct op *next;
	struct mrpc_cqe cqe;
};

#define OPS_PER_CHUNK	64

struct op_list {
	struct op *first;
	struct op **last;
};

struct op_stream_list {
	struct op_stream *first;
	struct op_stream **last;
};

/**
 * struct qp_serves - handling of requests that come on a queue pair
 * @keep: a request came while the thread waited for something else
 * @drop: the queue pair is being destroyed: frees the requests that were kept
 */
struct qp_serves {
	void (*keep)(struct mrpc_qp *qp, const struct mrpc_cqe *cqe);
	void (*drop)(struct mrpc_qp *qp);
};

/**
 * struct mrpc_qp - one queue pair
 * @session: the session it belongs to
 * @end: called at the end of the session
 * @idle_next: in mrpc_session.idle_qps
 * @id: the kernel's number
 * @opts: options at its creation; one from the idle list must have the same
 * @serve: not NULL if it takes requests
 * @eventfd: or -1
 * @ring: the rings
 * @map: the mapping
 * @map_len: its bytes
 * @notes: for each submission entry the blocks that are free once the kernel has taken it
 * @note_head: first entry with a note not yet collected
 * @chunks: arrays of ops
 * @nr_chunks: number of @chunks
 * @free_ops: ops not in use
 * @done: calls that have ended; their callbacks have not been called
 * @lots: for each channel, the calls that are under way over it
 * @lot_ops: functions; set with the first of them
 * @nr_parked: calls that wait there
 * @busy: calls over channels that the kernel has, by the connection's number modulo QP_ROOMS
 * @nr_replays: streams of clients that are not committed
 * @streams: streams of its calls and requests
 * @events: those of deferred calls for which something has come
 * @left: streams that another thread has left to the worker since it looked last; atomic
 * @requests: requests taken off the ring while the worker was inside a handler
 * @in_flight: calls with a callback that has not been called
 * @in_callback: a callback runs
 * @held: with @serve: the worker holds @lock
 * @lock: with @serve: protects the submission queue, to which the server's stop also adds. The
 *	worker holds it, except while it waits in the kernel
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
	struct lot *lots;
	const struct qp_lot_ops *lot_ops;
	u32 nr_parked;
	u32 busy[QP_ROOMS];
	u32 nr_replays;
	struct op_stream *streams;
	struct op_stream_list events;
	u32 left;
	struct mrpc_call *requests;
	struct mrpc_call **last_request;
	u32 in_flight;
	bool in_callback;
	bool held;
	pthread_mutex_t lock;
};

struct mrpc_qp *qp_create(struct mrpc_session *session, const struct mrpc_qp_opts *opts,
			  const struct qp_serves *serve);
void qp_retire(struct mrpc_qp *qp);	/* submits pending entries, and puts it on the idle list */

void qp_add_stream(struct mrpc_qp *qp, struct op_stream *stream);
void qp_del_stream(struct op_stream *stream);
void qp_add_event(struct op_stream *stream, struct mrpc_qp *qp);	/* unless it has one */
struct op_stream *qp_take_event(struct mrpc_qp *qp);			/* NULL: there is none */

/* Makes the queue pair the thread's own. */
void qp_own(struct tctx *t, struct mrpc_qp *qp);

/* With @serve: takes and releases @lock; for the worker. */
void qp_hold(struct mrpc_qp *qp);
void qp_let_go(struct mrpc_qp *qp);

/*
 * Copies an entry in; @blocks are freed when the kernel has taken it. To make room in the queue,
 * completions may be taken.
 */
int qp_push(struct mrpc_qp *qp, const struct mrpc_sqe *sqe, void *blocks);

/* The same, and takes no completion. Return: false: not now, without room in the queue. */
bool qp_push_now(struct mrpc_qp *qp, const struct mrpc_sqe *sqe);

/* Makes room for @nr entries, or all of the queue. Return: 0 or -errno, with the error set. */
int qp_make_room(struct mrpc_qp *qp, u32 nr);

/*
 * Takes back the entry that was pushed at @pos: the entry then does nothing, and the caller owns
 * its blocks again. Return: false if the kernel has taken it. Not with @serve: there other
 * threads enter, too.
 */
bool qp_take_back(struct mrpc_qp *qp, u32 pos);

/* Number of entries to submit. Needs no lock: the lock only serialises adding. */
static inline u32 qp_pending(const struct mrpc_qp *qp)
{
	return ring_sq_pending(&qp->ring);
}

/* Submits all entries, and waits for completions until a time of CLOCK_MONOTONIC. */
int qp_enter(struct mrpc_qp *qp, u32 min_complete, u64 until_ns);

/* Submits, and waits for a completion that says more than that blocks are free. Return: as qp_enter(). */
int qp_wait_message(struct mrpc_qp *qp);

/* Is @err an error of qp_enter() after which the caller can try again? */
bool is_temporary(int err);

/* Submits all entries; waits as long as necessary. */
int qp_flush(struct mrpc_qp *qp);

#endif /* LIBMRPC_QP_H */
