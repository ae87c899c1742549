// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls that are made several times at once: "hedging" in gRPC's proposal A6, "client retries".
 *
 * Each attempt is a call over the channel of its own, which retry.c makes. All of them read the one
 * message. It is free when the caller has its result, and the kernel has finished with each attempt.
 * So a call can have ended while attempts that were cancelled are still under way.
 *
 * No completion is taken while a call changes, see retry.c: what an attempt's end leads to is not
 * interrupted by the end of another.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "hedge.h"
#include "msg.h"
#include "release.h"
#include "result.h"

/**
 * struct hedge - one call that is made several times
 * @base: what the queue pair knows of @op
 * @wait: parked until the next attempt begins
 * @qp: the queue pair
 * @call: how it is made
 * @lot: where it and its attempts wait, a reference
 * @over: the call has ended, and left its channel. It stays so: what ends later is dropped
 * @op: the application's; NULL: the call is synchronous
 * @sqe: the entry of all attempts, but for its connection and metadata
 * @blocks: of the message; NULL: they are the caller's
 * @refs: one of the caller, and one of each attempt that the kernel has not finished with
 * @attempts: those under way
 * @used: the connections that they have, or have had
 * @most: attempts that may be made
 * @begun: attempts that have begun
 * @live: of these, those that have not ended
 * @at: when the next one may begin
 * @begins: attempts are being begun
 * @sent: the server may have executed one that has ended
 * @cqe: how the latest attempt has ended, and then the call; its block belongs to this
 * @detail: why it failed here, or ""
 */
struct hedge {
	struct op_retry base;
	struct parked wait;
	struct mrpc_qp *qp;
	struct retry_call call;
	struct lot *lot;
	bool over;
	struct op *op;
	struct mrpc_sqe sqe;
	void *blocks;
	u32 refs;
	struct retry *attempts[ATTEMPTS_MAX];
	struct avoid used;
	u32 most;
	u32 begun;
	u32 live;
	u64 at;
	bool begins;
	bool sent;
	struct mrpc_cqe cqe;
	char detail[MRPC_MAX_DETAIL + 1];
};

static void begin_attempts(struct hedge *h);

static void drop_block(struct mrpc_qp *qp, struct mrpc_cqe *cqe)
{
	if (cqe->flags & MRPC_CQE_BLOCK)
		release_block(qp->session, cqe->block, cqe->msg_len + cqe->meta_len);
	cqe->flags &= (u8)~MRPC_CQE_BLOCK;
}

static void hedge_free(struct hedge *h)
{
	lot_put(h->lot);
	free(h);
}

static void hedge_put(struct hedge *h)
{
	if (--h->refs)
		return;
	blocks_free(h->qp->session, h->blocks);
	hedge_free(h);
}

void hedge_used(const struct hedge *h, struct avoid *avoid)
{
	u32 i;

	for (i = 0; i < h->used.nr; i++)
		avoid_add(avoid, h->used.ids[i]);
	for (i = 0; i < ATTEMPTS_MAX; i++)
		if (h->attempts[i] && h->attempts[i]->in_kernel)
			avoid_add(avoid, h->attempts[i]->op->conn);
}

void hedge_freed(struct retry *r)
{
	struct hedge *h = r->hedge;
	struct op *op = r->op;

	mrpc_free(h->qp->session, r->meta);
	retry_free(r);
	op_free(h->qp, op);
	hedge_put(h);
}

/* -- the end ------------------------------------------------------------------------------------ */

static void leave(struct hedge *h)
{
	if (is_parked(&h->wait))
		lot_unpark(&h->wait);
	channel_leave(h->call.channel);
	h->over = true;
}

static bool push_cancel(const struct retry *r)
{
	const struct mrpc_sqe sqe = {
		.op = MRPC_OP_CANCEL, .conn = r->op->conn, .call = r->op->id,
	};

	return qp_push_now(r->hedge->qp, &sqe);
}

/* There may be room in the queue now. */
static bool cancel_goes(struct parked *p)
{
	if (!push_cancel(retry_parked(p)))
		return false;
	lot_unpark(p);
	return true;
}

/* The kernel has it, so that it is not parked. */
static void cancel_attempt(struct hedge *h, struct retry *r)
{
	static const struct parked_ops cancel_ops = { .go = cancel_goes };

	if (push_cancel(r))
		return;
	r->wait.ops = &cancel_ops;
	lot_park(h->lot, &r->wait, LOT_CANCEL, FOR_EVER);
}

/* The attempt is of no more use. Its completion, if the kernel has it, comes to hedge_ends(). */
static void drop_attempt(struct hedge *h, struct retry *r, bool cancel)
{
	h->attempts[r->number] = NULL;
	h->live--;
	if (is_parked(&r->wait))
		lot_unpark(&r->wait);
	retry_leave(r);
	if (!r->in_kernel) {
		r->op->wait &= OP_WAIT_SENT;
		if (!r->op->wait)
			hedge_freed(r);
		else
			r->op->wait |= OP_WAIT_LINK;
		return;
	}
	h->sent = true;
	if (cancel)
		cancel_attempt(h, r);
}

static void drop_attempts(struct hedge *h, bool cancel)
{
	u32 i;

	for (i = 0; i < ATTEMPTS_MAX; i++)
		if (h->attempts[i])
			drop_attempt(h, h->attempts[i], cancel);
}

/* The call ends as @cqe says. */
static void commit(struct hedge *h)
{
	leave(h);
	drop_attempts(h, true);
	if (h->sent)
		h->cqe.flags &= (u8)~MRPC_CQE_UNSENT;
	if (!h->op)
		return;
	h->op->wait = OP_WAIT_END;
	op_end(h->qp, h->op, &h->cqe);
	h->cqe.flags &= (u8)~MRPC_CQE_BLOCK;	/* the operation's */
}

static void set_end(struct hedge *h, const struct mrpc_cqe *cqe, const char *detail)
{
	drop_block(h->qp, &h->cqe);
	h->cqe = *cqe;
	snprintf(h->detail, sizeof(h->detail), "%s", detail);
}

static void fail_here(struct hedge *h, int status, const char *why)
{
	const struct mrpc_cqe cqe = cqe_unsent(status);

	set_end(h, &cqe, why);
}

/* An attempt has ended as @cqe says: does the call end, or when does the next attempt begin? */
static void decide(struct hedge *h)
{
	struct mrpc_result res;
	s64 pushback;

	h->live--;
	h->sent |= !(h->cqe.flags & MRPC_CQE_UNSENT);
	result_fill(h->qp->session, &res, &h->cqe);
	if (res.status == MRPC_OK || !may_help(h->call.hedging->codes, &res)) {
		/* What this host refuses, perhaps for want of room, says nothing of the others. */
		if (res.local && res.unsent && h->live)
			return;
		if (res.status != MRPC_OK && pushback_of(&res) == PUSHBACK_NEVER)
			throttle_failure(h->call.attempts.throttle);
		commit(h);
		return;
	}
	throttle_failure(h->call.attempts.throttle);
	pushback = pushback_of(&res);
	if (pushback == PUSHBACK_NEVER)
		h->most = h->begun;
	h->at = clock_ns() + (pushback > 0 ? (u64)pushback * 1000000 : 0);
	begin_attempts(h);
}

void hedge_ends(struct retry *r, const struct mrpc_cqe *cqe)
{
	struct mrpc_cqe copy = *cqe;
	struct hedge *h = r->hedge;
	bool late = !r->lot, reads;

	reads = r->op->wait & OP_WAIT_SENT && !(cqe->flags & MRPC_CQE_FREED);
	r->op->wait = reads ? OP_WAIT_SENT | OP_WAIT_LINK : 0;
	if (late) {
		if (is_parked(&r->wait))
			lot_unpark(&r->wait);	/* it has ended before its CANCEL had room */
		drop_block(h->qp, &copy);
		if (!reads)
			hedge_freed(r);
		return;
	}
	h->attempts[r->number] = NULL;
	if (!(cqe->flags & MRPC_CQE_UNSENT))
		avoid_add(&h->used, r->op->conn);
	retry_leave(r);
	set_end(h, &copy, r->detail);
	h->refs++;
	if (!reads)
		hedge_freed(r);
	decide(h);
	hedge_put(h);
}

/* -- attempts ----------------------------------------------------------------------------------- */

/*
 * Metadata of an attempt that is not the first says how many there were. That of a synchronous call
 * goes when the call ends, so each attempt has a copy.
 */
static bool add_meta(const struct hedge *h, struct retry *r)
{
	struct mrpc_session *session = h->qp->session;
	u32 len = h->sqe.meta_len, room = r->number && len + ATTEMPTS_META <= MRPC_MAX_META ?
					  ATTEMPTS_META : 0;

	if (!room && (h->op || !len))
		return true;
	r->meta = session_alloc_now(session, len + room);
	if (!r->meta)
		return false;
	memcpy(r->meta, session->send.base + h->sqe.meta, len);
	if (room)
		attempts_write(r->number, (u8 *)r->meta + len);
	r->sqe.meta = send_off(session, r->meta);
	r->sqe.meta_len = len + room;
	return true;
}

/* NULL: without memory. */
static struct retry *new_attempt(struct hedge *h)
{
	struct op *op = op_new(h->qp);
	struct retry *r = op ? retry_new(h->qp, &h->call, &h->sqe, op) : NULL;

	if (r) {
		r->hedge = h;
		r->number = h->begun;
		if (add_meta(h, r))
			return r;
		retry_free(r);
	}
	if (op)
		op_free(h->qp, op);
	return NULL;
}

static void begin_attempt(struct hedge *h)
{
	struct retry *r = new_attempt(h);
	struct mrpc_result res;
	struct mrpc_cqe cqe;

	if (!r) {
		h->most = h->begun;
		if (!h->begun)
			fail_here(h, MRPC_RESOURCE_EXHAUSTED, "out of memory");
		return;
	}
	h->attempts[h->begun++] = r;
	h->live++;
	h->refs++;
	if (retry_begin(r, &res) == MRPC_OK)
		return;
	cqe = cqe_unsent(res.status);
	memcpy(r->detail, res.detail, sizeof(r->detail));
	r->op->wait = OP_WAIT_END;
	hedge_ends(r, &cqe);
}

static bool wants_more(const struct hedge *h)
{
	return h->begun < h->most && h->at < h->call.attempts.until;
}

/* Begins those whose time has come. Without any under way, or to come, the call ends. */
static void begin_attempts(struct hedge *h)
{
	if (h->begins || h->over)
		return;
	h->begins = true;
	while (!h->over && wants_more(h) && h->at <= clock_ns()) {
		if (h->begun && !throttle_allows(h->call.attempts.throttle)) {
			h->most = h->begun;
			break;
		}
		h->at = clock_ns() + h->call.hedging->delay_ns;
		begin_attempt(h);
	}
	h->begins = false;
	if (h->over)
		return;
	if (is_parked(&h->wait))
		lot_unpark(&h->wait);
	if (wants_more(h))
		lot_park(h->lot, &h->wait, LOT_PAUSED, h->at);
	else if (!h->live)
		commit(h);
}

static struct hedge *hedge_parked(struct parked *p)
{
	return (struct hedge *)((u8 *)p - offsetof(struct hedge, wait));
}

/* The time of the next attempt has come. It is of no use while the latest one has not been sent. */
static void due(struct parked *p)
{
	struct hedge *h = hedge_parked(p);
	const struct retry *last = h->begun ? h->attempts[h->begun - 1] : NULL;

	lot_unpark(p);
	if (channel_is_closed(h->call.channel))
		h->most = h->begun;
	else if (last && is_parked(&last->wait))
		h->at = clock_ns() + h->call.hedging->delay_ns;
	begin_attempts(h);
}

/* -- for the queue pair --------------------------------------------------------------------------- */

static struct hedge *hedge_of(struct op *op)
{
	return (struct hedge *)op->retry;
}

/* Neither of them comes: the kernel does not have it. */
static bool takes(struct mrpc_qp *qp, struct op *op, const struct mrpc_cqe *cqe)
{
	(void)qp;
	(void)op;
	(void)cqe;
	return false;
}

static void freed(struct mrpc_qp *qp, struct op *op)
{
	(void)qp;
	(void)op;
}

static void finish(struct op *op, struct mrpc_result *res)
{
	struct hedge *h = hedge_of(op);

	if (h->detail[0])
		memcpy(res->detail, h->detail, sizeof(res->detail));
	op->retry = NULL;
	/* The application may not enter for long, and servers work for nothing meanwhile. */
	if (qp_pending(h->qp))
		qp_enter(h->qp, 0, 0);
	hedge_put(h);
}

static void stop(struct hedge *h, int status, const char *why)
{
	fail_here(h, status, why);
	commit(h);
}

static bool cancel(struct mrpc_qp *qp, struct op *op)
{
	(void)qp;
	stop(hedge_of(op), MRPC_CANCELLED, "cancelled by the application");
	return true;
}

void hedge_abandon(struct hedge *h)
{
	if (h->over)
		return;
	leave(h);
	drop_attempts(h, false);
	drop_block(h->qp, &h->cqe);
	if (!h->op)
		hedge_put(h);	/* for the thread that waited for it */
}

static void abandon(struct mrpc_qp *qp, struct op *op)
{
	struct hedge *h = hedge_of(op);

	hedge_abandon(h);
	op->retry = NULL;
	if (!(op->wait & OP_WAIT_CALLBACK))
		op_free(qp, op);
	hedge_put(h);
}

/* The heap goes, too. */
static void free_op(struct op *op)
{
	struct hedge *h = hedge_of(op);

	op->retry = NULL;
	if (!h->over)
		leave(h);
	if (!--h->refs)
		hedge_free(h);
}

void hedge_free_attempt(struct retry *r)
{
	struct hedge *h = r->hedge;

	h->attempts[r->number] = NULL;
	retry_free(r);
	if (!--h->refs)
		hedge_free(h);
}

static const struct op_retry_ops hedge_ops = {
	.takes = takes,
	.freed = freed,
	.finish = finish,
	.cancel = cancel,
	.abandon = abandon,
	.free = free_op,
};

/* -- beginning ---------------------------------------------------------------------------------- */

/* NULL: without memory. */
static struct hedge *hedge_new(struct mrpc_qp *qp, const struct retry_call *call,
			       const struct mrpc_sqe *sqe, struct op *op)
{
	static const struct parked_ops parked_ops = { .due = due };
	static const struct retry_policy once;
	struct hedge *h = calloc(1, sizeof(*h));
	struct lot *lot = h ? lot_get(qp, call->channel) : NULL;

	if (!lot) {
		free(h);
		return NULL;
	}
	channel_enter(call->channel);
	h->base.ops = &hedge_ops;
	h->wait.ops = &parked_ops;
	h->qp = qp;
	h->call = *call;
	h->call.attempts.policy = &once;
	h->lot = lot;
	h->op = op;
	h->sqe = *sqe;
	h->refs = 1;
	h->most = call->hedging->max_attempts;
	return h;
}

int hedge_start(struct mrpc_qp *qp, const struct retry_call *call, struct mrpc_sqe *sqe,
		struct mrpc_msg *msg, struct op *op, struct mrpc_result *res)
{
	struct hedge *h = hedge_new(qp, call, sqe, op);

	if (!h || qp_make_room(qp, h->most)) {
		result_fail(res, MRPC_RESOURCE_EXHAUSTED, "%s",
			    h ? mrpc_last_error() : "out of memory");
		res->unsent = true;
		set_error("%s", res->detail);
		mrpc_msg_free(msg);
		op_free(qp, op);
		if (h) {
			leave(h);
			hedge_put(h);
		}
		return res->status;
	}
	h->blocks = msg_spend(msg);
	op->retry = &h->base;
	op->wait = OP_WAIT_END | OP_WAIT_LINK;
	op->conn = 0;
	qp->in_flight++;
	begin_attempts(h);
	return MRPC_OK;
}

/* -- synchronous calls ------------------------------------------------------------------------------ */

/* Takes completions. Calls that wait for their channel go on, if they can. */
static void take(struct mrpc_qp *qp)
{
	qp_harvest(qp);
	if (qp->nr_parked)
		qp->lot_ops->resume(qp);
}

/* Waits for a completion, or a time. A signal ends the call. */
static void wait_once(struct hedge *h)
{
	int err = qp_enter(h->qp, 1, FOR_EVER);

	take(h->qp);
	if (h->over || !err)
		return;
	if (err == -EINTR)
		stop(h, MRPC_CANCELLED, "interrupted by a signal");
	else if (!is_temporary(err))
		stop(h, MRPC_INTERNAL, strerror(-err));
}

/* The message is the caller's: the kernel must have finished with it. */
static void wait_for_blocks(struct hedge *h)
{
	int err = 0;

	while (h->refs > 1 && (!err || is_temporary(err))) {
		err = qp_enter(h->qp, 1, FOR_EVER);
		take(h->qp);
	}
}

static int run(struct hedge *h, struct mrpc_result *res)
{
	struct mrpc_qp *qp = h->qp;

	begin_attempts(h);
	while (!h->over)
		wait_once(h);
	if (qp_pending(qp))
		qp_enter(qp, 0, 0);
	if (h->call.keep)
		wait_for_blocks(h);
	result_fill(qp->session, res, &h->cqe);
	if (h->detail[0]) {
		memcpy(res->detail, h->detail, sizeof(res->detail));
		set_error("%s", res->detail);
	}
	hedge_put(h);
	return res->status;
}

int hedge_sync(struct mrpc_session *session, const struct retry_call *call,
	       const struct mrpc_sqe *sqe, struct mrpc_result *res)
{
	struct mrpc_qp *own = mrpc_qp_self(session), *qp = own;
	int status = -EAGAIN;
	struct hedge *h;

	/* A worker that waits on its own one would take requests, which wait for it. */
	if (own && own->serve)
		qp = qp_create(session, NULL, NULL);
	h = qp ? hedge_new(qp, call, sqe, NULL) : NULL;
	if (h) {
		if (!call->keep)
			h->blocks = msg_spend(call->msg);
		status = run(h, res);
	}
	if (qp && qp != own)
		qp_retire(qp);
	return status;
}
