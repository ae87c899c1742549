// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls that stream, over channels, are made again until they are committed: gRPC's proposal A6,
 * "client retries".
 *
 * A client's stream keeps its request and its messages in the send heap until it is committed. That
 * is when the first message of the server comes, when the messages are more than REPLAY_BYTES, when
 * it is cancelled, or when it ends. If an attempt ends before, the next one gets the same messages.
 * It begins when the kernel reads no message for the attempt before: so each message has one
 * operation at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "msg.h"
#include "op.h"
#include "release.h"
#include "replay.h"
#include "result.h"

/* -- memory --------------------------------------------------------------------------------- */

static void free_kept(struct mrpc_qp *qp, struct kept *k)
{
	struct op *op;

	if (!k->blocks)
		return;
	op = op_find(qp, k->id);
	if (op)
		op->blocks = k->blocks;
	else
		blocks_free(qp->session, k->blocks);
	k->blocks = NULL;
}

static void free_request(struct mrpc_qp *qp, struct replay *r)
{
	struct op *op = op_find(qp, r->sqe.user_data);

	/* Of an entry that the kernel has copied, no completion says that its blocks are free. */
	if (op && (!r->taken || op->wait & OP_WAIT_SENT))
		op->blocks = r->request;
	else
		blocks_free(qp->session, r->request);
	r->request = NULL;
}

/* Of the messages, the first @nr. */
static void free_all(struct replay *r, u32 nr)
{
	struct mrpc_qp *qp = r->stream->qp;
	u32 i;

	for (i = 0; i < nr; i++)
		free_kept(qp, &r->kept[i]);
	if (r->request)
		free_request(qp, r);
}

static void leave_lot(struct replay *r)
{
	if (is_parked(&r->wait))
		lot_unpark(&r->wait);
	if (r->lot)
		lot_put(r->lot);
	r->lot = NULL;
}

void replay_free(struct replay *r)
{
	leave_lot(r);
	r->stream->replay = NULL;
	r->stream->qp->nr_replays--;
	free(r->kept);
	free(r->detail);
	free(r);
}

void replay_drop(struct mrpc_stream *st)
{
	free_all(st->replay, st->replay->nr);
	replay_free(st->replay);
}

static bool make_room(struct replay *r)
{
	u32 cap = r->cap ? 2 * r->cap : 8;
	struct kept *kept;

	if (r->nr < r->cap)
		return true;
	kept = realloc(r->kept, cap * sizeof(*kept));
	if (!kept)
		return false;
	r->kept = kept;
	r->cap = cap;
	return true;
}

/* -- the end -------------------------------------------------------------------------------- */

/* The stream is as any other, when the kernel has got what it has not got yet. */
static void commit(struct mrpc_stream *st)
{
	struct replay *r = st->replay;

	if (r->next == r->nr) {
		replay_drop(st);
		return;
	}
	free_all(r, r->next);
	r->state = REPLAY_COMMITTED;
}

/* Ends a stream that the kernel has not got. */
static void fail_here(struct mrpc_stream *st, int status, const char *why)
{
	struct replay *r = st->replay;

	leave_lot(r);
	free_all(r, r->nr);
	r->state = REPLAY_FAILED;
	r->detail = strdup(why);
	st->end = cqe_unsent(status);
	if (r->call.attempts.sent)
		st->end.flags &= (u8)~MRPC_CQE_UNSENT;
	stream_end(st, status);
}

bool replay_cancel(struct mrpc_stream *st, const char *why)
{
	if (st->replay->state == REPLAY_FAILED)
		return true;
	if (st->replay->state == REPLAY_WAITS) {
		fail_here(st, MRPC_CANCELLED, why);
		return true;
	}
	replay_drop(st);
	return false;
}

/* A message can never be submitted: none that follows may be. */
static void break_off(struct mrpc_stream *st)
{
	if (st->replay)
		replay_drop(st);
	st->broken = true;
	if (st->op)
		stream_push_cancel(st);
}

/* -- messages ------------------------------------------------------------------------------- */

static bool fits(const struct replay *r, u64 total)
{
	return total <= REPLAY_BYTES && r->bytes + total + MRPC_STREAM_MESSAGE <= REPLAY_BYTES;
}

/* The kernel has got all messages of an attempt, and gets each further one at once. */
static bool is_even(const struct replay *r)
{
	return r->state == REPLAY_SENDS && r->next == r->nr;
}

bool replay_has_room(const struct replay *r, u64 total)
{
	return is_even(r) || (r->state != REPLAY_COMMITTED && fits(r, total));
}

bool replay_keeps(struct mrpc_stream *st, u64 total)
{
	struct replay *r = st->replay;

	if (!is_even(r) || (fits(r, total) && make_room(r)))
		return true;
	commit(st);
	return false;
}

/*
 * Gives the kernel one more message. To make room in the queue, completions may be taken: @r may be
 * gone, or wait, afterwards. Return: 0; -ENOMEM: it has not got it; another -errno: it never will.
 */
static int push_kept(struct mrpc_stream *st, struct replay *r)
{
	struct kept *k = &r->kept[r->next];
	struct mrpc_sqe sqe = { .flags = k->flags, .root = k->root };
	struct op *op = k->refused ? NULL : stream_op(st->qp, &st->in, &sqe);
	int err;

	if (!op && !k->refused)
		return -ENOMEM;
	r->next++;
	if (!op)
		return 0;
	k->id = op->id;
	if (r->state == REPLAY_COMMITTED) {
		op->blocks = k->blocks;
		k->blocks = NULL;
	}
	if (k->flags & MRPC_SQE_END)
		st->last_id = op->id;
	st->unsent++;
	err = qp_push(st->qp, &sqe, NULL);
	if (!err)
		return 0;
	st->unsent--;
	blocks_free(st->qp->session, op->blocks);
	op_free(st->qp, op);
	return err;
}

static bool gets_messages(const struct replay *r)
{
	return r->state == REPLAY_SENDS || r->state == REPLAY_COMMITTED;
}

/* Gives the kernel what it may have now, in order. Return: as push_kept(). */
static int push_all(struct mrpc_stream *st)
{
	struct replay *r = st->replay;
	int err = 0;

	if (r->pushes)
		return 0;
	r->pushes = true;
	while (!err && (r = st->replay) && gets_messages(r) && r->next < r->nr &&
	       st->unsent < SENDING_MAX)
		err = push_kept(st, r);
	r = st->replay;
	if (!r)
		return err;
	r->pushes = false;
	if (r->state == REPLAY_COMMITTED && r->next == r->nr)
		replay_drop(st);
	return err;
}

int replay_send(struct mrpc_stream *st, struct mrpc_sqe *sqe, void *blocks, u64 total)
{
	struct replay *r = st->replay;
	u32 bytes = r->bytes;
	int err;

	if (!make_room(r)) {
		blocks_free(st->qp->session, blocks);
		return fail(ENOMEM, "out of memory");
	}
	r->kept[r->nr++] = (struct kept){
		.blocks = blocks, .root = sqe->root, .flags = sqe->flags,
	};
	r->bytes += (u32)total + MRPC_STREAM_MESSAGE;
	err = push_all(st);
	if (!err) {
		sqe->user_data = st->replay ? r->kept[r->nr - 1].id : 0;
	} else if (err == -ENOMEM && st->replay && r->next == r->nr - 1) {
		free_kept(st->qp, &r->kept[--r->nr]);
		r->bytes = bytes;
	} else {
		break_off(st);
	}
	return err;
}

/* As push_all(). The application may not come back for a while, so it is submitted, too. */
static void push_now(struct mrpc_stream *st)
{
	u32 tail = st->qp->ring.sq_tail;

	if (push_all(st))
		break_off(st);
	if (st->qp->ring.sq_tail != tail)
		qp_enter(st->qp, 0, 0);
}

/* -- waiting -------------------------------------------------------------------------------- */

static void wait_for_turn(struct replay *r)
{
	if (r->call.attempts.next)
		lot_park(r->lot, &r->wait, LOT_PAUSED, r->call.attempts.next);
	else
		retry_wait_for_link(&r->call, r->lot, &r->wait);
}

/* The next attempt, over connection @id. */
static void open_again(struct mrpc_stream *st, u32 id)
{
	struct replay *r = st->replay;

	retry_fill(&r->call, st->qp->session, &r->sqe, id);
	r->taken = false;
	r->state = REPLAY_OPENS;
	st->in.conn = id;
	if (stream_call(st, &r->sqe, NULL))
		fail_here(st, MRPC_RESOURCE_EXHAUSTED, mrpc_last_error());
	else
		qp_enter(st->qp, 0, 0);
}

static struct replay *replay_parked(struct parked *p)
{
	return (struct replay *)((u8 *)p - offsetof(struct replay, wait));
}

static bool go(struct parked *p)
{
	struct replay *r = replay_parked(p);
	struct mrpc_result res;
	struct channel_conn conn;
	int status = channel_try(r->call.channel, r->call.wait_ready, NULL, &conn, &res);

	if (status == -EAGAIN)
		return false;
	lot_unpark(p);
	if (!status)
		open_again(r->stream, conn.id);
	else if (attempts_again(&r->call.attempts, &res))
		wait_for_turn(r);
	else
		fail_here(r->stream, status, res.detail);
	return true;
}

/* The pause is over, or the deadline has passed. */
static void due(struct parked *p)
{
	struct replay *r = replay_parked(p);
	struct mrpc_result res;

	lot_unpark(p);
	if (p->list == LOT_PAUSED) {
		retry_wait_for_link(&r->call, r->lot, p);
		return;
	}
	retry_explain(&r->call, "the stream was to be opened again, not before the deadline", &res);
	fail_here(r->stream, res.status, res.detail);
}

static const struct parked_ops parked_ops = { .go = go, .due = due };

/* -- completions ------------------------------------------------------------------------------ */

void replay_opened(struct mrpc_stream *st)
{
	st->replay->taken = true;
	st->replay->state = REPLAY_SENDS;
	push_now(st);
}

/* A message of the server has come. */
void replay_answered(struct mrpc_stream *st)
{
	st->replay->taken = true;
	if (st->replay->state != REPLAY_COMMITTED)
		commit(st);
}

/* The kernel does not read a message any more, or the request of an attempt that has ended. */
void replay_sent(struct mrpc_stream *st)
{
	struct replay *r = st->replay;

	if (r->state != REPLAY_WAITS) {
		push_now(st);
	} else if (!st->unsent) {
		lot_unpark(&r->wait);
		wait_for_turn(r);
	}
}

void replay_refused(struct mrpc_stream *st, u64 id)
{
	struct replay *r = st->replay;
	u32 i;

	for (i = r->nr; i-- > 0; ) {
		if (r->kept[i].id == id) {
			free_kept(st->qp, &r->kept[i]);
			r->kept[i].refused = true;
			return;
		}
	}
}

/* Is the call, which has ended, to be made again? It then waits as attempts.next says. */
static bool is_to_be_made(struct mrpc_stream *st, bool lost)
{
	struct replay *r = st->replay;
	struct mrpc_result res;

	if (r->state == REPLAY_COMMITTED || st->end.status == MRPC_OK)
		return false;
	if (lost && st->end.flags & MRPC_CQE_UNSENT) {
		r->call.attempts.next = 0;
	} else {
		result_fill(st->qp->session, &res, &st->end);
		if (!attempts_again(&r->call.attempts, &res))
			return false;
	}
	if (!r->lot)
		r->lot = lot_get(st->qp, st->channel);
	return r->lot;
}

bool replay_again(struct mrpc_stream *st, bool lost)
{
	struct replay *r = st->replay;

	r->taken = true;
	if (!is_to_be_made(st, lost)) {
		if (r->call.attempts.sent)
			st->end.flags &= (u8)~MRPC_CQE_UNSENT;
		replay_drop(st);
		return false;
	}
	stream_drop_block(st, &st->end);
	st->in.token = 0;	/* no message of the attempt is the stream's any more */
	r->state = REPLAY_WAITS;
	r->next = 0;
	if (st->unsent)	/* until then the time is that of the call */
		lot_park(r->lot, &r->wait, LOT_PAUSED, r->call.attempts.until);
	else
		wait_for_turn(r);
	return true;
}

struct replay *replay_new(struct mrpc_stream *st, const struct retry_call *call,
			  const struct mrpc_sqe *sqe, void *request)
{
	struct replay *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->wait.ops = &parked_ops;
	r->stream = st;
	r->call = *call;
	r->sqe = *sqe;
	r->request = request;
	st->replay = r;
	st->qp->nr_replays++;
	return r;
}
