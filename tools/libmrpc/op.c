// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The operations awaited on a queue pair, and the handling of their completions.
 */
#include <stdlib.h>

#include "msg.h"
#include "op.h"
#include "release.h"
#include "result.h"

static bool add_ops(struct mrpc_qp *qp)
{
	u32 base = qp->nr_chunks * OPS_PER_CHUNK, i;
	struct op **chunks, *ops;

	chunks = realloc(qp->chunks, (qp->nr_chunks + 1) * sizeof(*chunks));
	if (!chunks)
		return false;
	qp->chunks = chunks;
	ops = calloc(OPS_PER_CHUNK, sizeof(*ops));
	if (!ops)
		return false;
	chunks[qp->nr_chunks++] = ops;
	for (i = OPS_PER_CHUNK; i-- > 0; ) {
		ops[i].id = (1ull << 32) | (base + i + 1);
		ops[i].next = qp->free_ops;
		qp->free_ops = &ops[i];
	}
	return true;
}

struct op *op_new(struct mrpc_qp *qp)
{
	struct op *op;

	if (!qp->free_ops && !add_ops(qp))
		return NULL;
	op = qp->free_ops;
	qp->free_ops = op->next;
	op->next = NULL;
	op->done = NULL;
	op->user = NULL;
	op->blocks = NULL;
	op->retry = NULL;
	op->stream = NULL;
	return op;
}

void op_begun(struct mrpc_qp *qp, struct op *op)
{
	op->wait |= OP_WAIT_ROOM;
	qp->busy[op->conn % QP_ROOMS]++;
}

static void op_ended(struct mrpc_qp *qp, struct op *op)
{
	op->wait &= ~OP_WAIT_ROOM;
	qp->busy[op->conn % QP_ROOMS]--;
}

/*
 * Two connections with the same remainder of their numbers count as one. Then a call may wait for
 * longer than it has to, until one of either has ended.
 */
bool ops_have_room(const struct mrpc_qp *qp, u32 conn, u32 max)
{
	return qp->busy[conn % QP_ROOMS] < max;
}

void op_free(struct mrpc_qp *qp, struct op *op)
{
	if (unlikely(op->wait & OP_WAIT_ROOM))
		op_ended(qp, op);	/* the kernel has not got it after all */
	op->wait = 0;
	op->id += 1ull << 32;
	op->next = qp->free_ops;
	qp->free_ops = op;
}

struct op *op_find(struct mrpc_qp *qp, u64 id)
{
	u32 index = (u32)id - 1;
	struct op *op;

	if (index / OPS_PER_CHUNK >= qp->nr_chunks)
		return NULL;
	op = &qp->chunks[index / OPS_PER_CHUNK][index % OPS_PER_CHUNK];
	return op->id == id && op->wait ? op : NULL;
}

u32 ops_under_way(const struct mrpc_qp *qp, u32 conn)
{
	const struct op *op;
	u32 nr = 0, i;

	for (i = 0; i < qp->nr_chunks; i++)
		for (op = qp->chunks[i]; op < qp->chunks[i] + OPS_PER_CHUNK; op++)
			nr += op->conn == conn && op->wait & OP_WAIT_END;
	return nr;
}

static void op_sent(struct mrpc_qp *qp, struct op *op)
{
	blocks_free(qp->session, op->blocks);
	op->blocks = NULL;
	op->wait &= ~OP_WAIT_SENT;
}

/* A completion of a call that streams, or of a message. Its operation may be free afterwards. */
static RARE void stream_completes(struct mrpc_qp *qp, struct op *op, const struct mrpc_cqe *cqe)
{
	struct op_stream *stream = op->stream;
	bool call = op->wait & OP_WAIT_END;

	if (cqe->type == MRPC_CQE_REPLY) {
		if (op->wait & OP_WAIT_SENT ? cqe->flags & MRPC_CQE_FREED : !!op->blocks)
			op_sent(qp, op);
		op->wait &= ~OP_WAIT_END;
	} else if (cqe->type != MRPC_CQE_OPEN && cqe->type != MRPC_CQE_MESSAGE) {
		op_sent(qp, op);
		if (call)
			return;		/* that was the request of the call */
	}
	if (!op->wait)
		op_free(qp, op);
	stream->ops->take(stream, cqe);
}

/* The stream of a request that a message belongs to. */
static struct op_stream *find_stream(const struct mrpc_qp *qp, const struct mrpc_cqe *cqe)
{
	struct op_stream *stream = qp->streams;

	while (stream && (stream->token != cqe->call || stream->conn != cqe->conn))
		stream = stream->next;
	return stream;
}

static RARE void message_comes(struct mrpc_qp *qp, struct op *op, const struct mrpc_cqe *cqe)
{
	struct op_stream *stream = op ? op->stream : find_stream(qp, cqe);

	if (stream)
		stream->ops->take(stream, cqe);
	else if (cqe->flags & MRPC_CQE_BLOCK)	/* of a call that has ended here */
		release_block(qp->session, cqe->block, cqe->msg_len + cqe->meta_len);
}

/* The kernel does not read its blocks any more. */
static void op_freed(struct mrpc_qp *qp, struct op *op)
{
	if (unlikely(op->wait & OP_WAIT_LINK)) {
		op->retry->ops->freed(qp, op);
		return;
	}
	if (unlikely(op->retry && op->wait & OP_WAIT_END)) {
		op->wait &= ~OP_WAIT_SENT;	/* the message may be needed again */
		return;
	}
	op_sent(qp, op);
	if (!op->wait)
		op_free(qp, op);
}

void op_end(struct mrpc_qp *qp, struct op *op, const struct mrpc_cqe *cqe)
{
	if (op->wait & OP_WAIT_SENT ? cqe->flags & MRPC_CQE_FREED : !!op->blocks)
		op_sent(qp, op);
	op->cqe = *cqe;
	op->wait ^= OP_WAIT_END | OP_WAIT_CALLBACK;
	op->next = NULL;
	*qp->done.last = op;
	qp->done.last = &op->next;
}

/* The end of an operation of a group: a thread waits for it, or it has a callback. */
static RARE void collective_ends(struct mrpc_qp *qp, struct op *op, const struct mrpc_cqe *cqe)
{
	struct op_stream *waits = op ? op->stream : NULL;

	if (op && !waits) {
		op_end(qp, op, cqe);
		return;
	}
	if (op)
		op_free(qp, op);
	if (waits)
		waits->ops->take(waits, cqe);
	else if (cqe->flags & MRPC_CQE_BLOCK)
		release_block(qp->session, cqe->block, cqe->detail_len);
}

void qp_complete(struct mrpc_qp *qp, const struct mrpc_cqe *cqe)
{
	struct op *op = cqe->user_data ? op_find(qp, cqe->user_data) : NULL;

	switch (cqe->type) {
	case MRPC_CQE_REPLY:
		if (!op || !(op->wait & OP_WAIT_END)) {
			if (cqe->flags & MRPC_CQE_BLOCK)
				release_block(qp->session, cqe->block, cqe->msg_len);
			break;
		}
		if (unlikely(op->wait & OP_WAIT_ROOM))
			op_ended(qp, op);
		if (unlikely(op->stream)) {
			stream_completes(qp, op, cqe);
			break;
		}
		if (unlikely(op->retry) && op->retry->ops->takes(qp, op, cqe))
			break;
		op_end(qp, op, cqe);
		break;
	case MRPC_CQE_SENT:
	case MRPC_CQE_ERROR:
		if (op && unlikely(op->stream))
			stream_completes(qp, op, cqe);
		else if (op && (op->wait & OP_WAIT_SENT))
			op_freed(qp, op);
		/* The reason for an error; no caller waits for it. */
		if (cqe->flags & MRPC_CQE_BLOCK)
			release_block(qp->session, cqe->block, cqe->detail_len);
		break;
	case MRPC_CQE_COLLECTIVE:
		collective_ends(qp, op, cqe);
		break;
	case MRPC_CQE_OPEN:
		if (op && op->stream)
			op->stream->ops->take(op->stream, cqe);
		break;
	case MRPC_CQE_MESSAGE:
		message_comes(qp, op, cqe);
		break;
	default:
		break;
	}
}

void qp_harvest(struct mrpc_qp *qp)
{
	struct mrpc_cqe cqe;

	while (ring_cq_pop(&qp->ring, &cqe)) {
		if (cqe.type == MRPC_CQE_REQUEST && qp->serve)
			qp->serve->keep(qp, &cqe);
		else
			qp_complete(qp, &cqe);
	}
}

int qp_run_done(struct mrpc_qp *qp)
{
	struct mrpc_result res;
	mrpc_done_fn done;
	struct op *op;
	void *user;
	int nr = 0;

	if (unlikely(qp->nr_parked))
		qp->lot_ops->resume(qp);
	while ((op = qp->done.first)) {
		qp->done.first = op->next;
		if (!op->next)
			qp->done.last = &qp->done.first;
		done = op->done;
		user = op->user;
		result_fill(qp->session, &res, &op->cqe);
		if (unlikely(op->retry))
			op->retry->ops->finish(op, &res);
		op->wait &= ~OP_WAIT_CALLBACK;
		if (!op->wait)
			op_free(qp, op);
		if (done) {
			qp->in_flight--;
			qp->in_callback = true;
			done(user, &res);
			qp->in_callback = false;
			nr++;
		}
		mrpc_result_release(&res);
	}
	return nr;
}
