// SPDX-License-Identifier: GPL-2.0
/*
 * What goes out over a link of gRPC: frames, in turns of the streams.
 *
 * Control frames, header blocks and small messages are put together in the stage. The content of a
 * large DATA frame follows the stage straight from where it is. All of that goes to the socket
 * before anything else is put to the stage, so a frame that has begun is finished.
 */
#include <linux/ktime.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "core/link.h"
#include "exec/kick.h"
#include "transports/grpc/link.h"
#include "transports/grpc/out.h"
#include "transports/grpc/pump.h"
#include "transports/grpc/stream.h"
#include "transports/grpc/turn.h"

#define GRPC_TURN	(256 << 10)	/* bytes before others get a turn */

/* -- the stage ------------------------------------------------------------------- */

/* Puts control frames that are due. The link's lock is held. Return: all of them are in the stage. */
static bool grpc_stage_control(struct grpc_link *gl)
{
	struct grpc_out *out = &gl->out;
	u32 before = out->len;
	bool owes;

	while ((owes = mrpc_h2_owes(&gl->h2)) && GRPC_STAGE - out->len >= MRPC_H2_OWED_ROOM)
		out->len += mrpc_h2_owed(&gl->h2, out->work->stage + out->len,
					 GRPC_STAGE - out->len);
	/* A client may open a stream when RST_STREAM of another one is written. */
	gl->woken |= out->len > before && gl->blocked;
	return !owes;
}

/*
 * Puts control frames, and takes the streams that the receive side has given and those that may go
 * on. Return: there is room for more.
 */
static bool grpc_fill_control(struct grpc_link *gl)
{
	bool changed = false, wake, woken, all;
	struct grpc_stream *s, *next;
	u32 least, last;
	LIST_HEAD(fresh);

	spin_lock(&gl->lock);
	all = grpc_stage_control(gl);
	wake = gl->congested && !mrpc_h2_congested(&gl->h2);
	if (wake)
		gl->congested = false;
	if (all)
		changed = mrpc_h2_table_size(&gl->h2, &least, &last);
	list_splice_init(&gl->fresh, &fresh);
	woken = gl->woken;
	gl->woken = false;
	gl->blocked &= !woken;
	spin_unlock(&gl->lock);
	if (wake)
		mrpc_link_kick_rx(gl->link);
	if (changed) {
		mrpc_hpack_encoder_limit(&gl->out.table, least);
		mrpc_hpack_encoder_limit(&gl->out.table, last);
	}
	list_for_each_entry_safe(s, next, &fresh, fresh) {
		list_del_init(&s->fresh);
		s->answers = true;
		if (list_empty(&s->send))
			list_add_tail(&s->send, &gl->out.sending);
		else
			grpc_stream_put(s);
	}
	if (woken)
		list_splice_tail_init(&gl->out.blocked, &gl->out.sending);
	return all;
}

/* Fills the stage. Return: GRPC_TURN_ON: there is nothing more to put now. */
static enum grpc_turn grpc_fill(struct grpc_link *gl)
{
	struct grpc_out *out = &gl->out;
	enum grpc_turn turn = GRPC_TURN_ON;
	struct grpc_stream *s;

	if (!grpc_fill_control(gl))
		return GRPC_TURN_FULL;
	if (READ_ONCE(gl->h2.why))
		return GRPC_TURN_DEAD;
	while (turn == GRPC_TURN_ON && !out->cur &&
	       (s = list_first_entry_or_null(&out->sending, struct grpc_stream, send)))
		turn = grpc_turn(gl, s);
	return out->cur ? GRPC_TURN_FULL : turn;
}

/* The socket has taken @n bytes. */
static void grpc_sent(struct grpc_link *gl, u32 n)
{
	struct grpc_out *out = &gl->out;
	u32 staged = min(n, out->len - out->at);
	struct grpc_stream *s = out->cur;

	out->at += staged;
	n -= staged;
	if (out->at == out->len) {
		out->at = 0;
		out->len = 0;
	}
	if (!n)
		return;
	grpc_payload_advance(&s->payload, n);
	out->cur_left -= n;
	if (out->cur_left)
		return;
	out->cur = NULL;
	grpc_data_done(gl, s);
	grpc_stream_put(s);
}

/*
 * Gives the socket what waits, @budget bytes or little more. Return: 0; -EAGAIN: it will kick;
 * -EBUSY: the budget is used up; else the link is dead.
 */
static int grpc_flush(struct grpc_link *gl, s64 *budget)
{
	struct grpc_out *out = &gl->out;

	while (out->at < out->len || out->cur) {
		struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
		struct kvec kv[GRPC_KVECS] __uninitialized;
		u32 nr = 0, bytes = 0;
		int n;

		if (READ_ONCE(gl->down))
			return -EPIPE;
		if (*budget <= 0)
			return -EBUSY;
		if (out->at < out->len) {
			kv[0].iov_base = out->work->stage + out->at;
			kv[0].iov_len = out->len - out->at;
			nr = 1;
		}
		if (out->cur)
			nr += grpc_payload_vector(&out->cur->payload, out->cur_left, kv + nr,
						  GRPC_KVECS - nr, &bytes);
		iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, kv, nr, out->len - out->at + bytes);
		n = mrpc_sock_direct_send(gl->sock, &gl->tls, &gl->direct, &msg);
		if (n < 0)
			return n;
		grpc_sent(gl, n);
		*budget -= n;
	}
	return 0;
}

/* Makes the memory that the link needs while something goes out. Return: 0 or -ENOMEM. */
static int grpc_out_begin(struct grpc_link *gl)
{
	struct grpc_out_work *work = kvmalloc(sizeof(*work), GFP_KERNEL_ACCOUNT);

	if (!work)
		return -ENOMEM;
	memset(work, 0, offsetof(struct grpc_out_work, encoder));
	gl->out.work = work;
	return 0;
}

/* Gives this memory back if nothing is under way. */
static void grpc_rest(struct grpc_link *gl)
{
	struct grpc_out *out = &gl->out;

	WRITE_ONCE(gl->rest, false);
	if (out->len || out->cur || !list_empty(&out->sending) || !list_empty(&out->blocked))
		return;
	kvfree(out->work);
	out->work = NULL;
}

static bool grpc_idle(struct grpc_link *gl)
{
	bool idle;

	spin_lock(&gl->lock);
	idle = !mrpc_h2_owes(&gl->h2) && list_empty(&gl->fresh) && !gl->woken && !gl->h2.why;
	spin_unlock(&gl->lock);
	return idle && list_empty(&gl->out.sending);
}

/*
 * The socket has not taken all. Return: what grpc_pump() returns. A peer that has closed its end
 * may have sent replies before: the receive side reads these, and ends the connection.
 */
static int grpc_unflushed(struct grpc_link *gl, int err)
{
	if (err == -EBUSY)
		return 1;
	if (READ_ONCE(gl->down))
		return -EPIPE;
	if (READ_ONCE(gl->h2.why))
		return -EPROTO;
	if (err == -EAGAIN)
		return 0;
	gl->out.broken = true;
	mrpc_link_kick_rx(gl->link);
	return 0;
}

/**
 * grpc_pump() - send what the link keeps
 * @link: the link
 *
 * See struct mrpc_transport_ops.
 */
int grpc_pump(struct mrpc_link *link)
{
	struct grpc_link *gl = link->priv;
	struct grpc_out *out = &gl->out;
	s64 budget = GRPC_TURN;
	enum grpc_turn turn = GRPC_TURN_FULL;
	bool done = false;
	int err;

	if (READ_ONCE(gl->down))
		return -EPIPE;
	if (out->broken)
		return 0;
	if (READ_ONCE(gl->rest))
		grpc_rest(gl);
	if (!out->work) {
		if (grpc_idle(gl))
			return 0;
		if (grpc_out_begin(gl)) {
			mrpc_link_arm(link, ktime_get_ns() + GRPC_RETRY);
			return 0;
		}
	}
	if (!out->kept)
		mrpc_link_keep(link);	/* for what leaves the queues, until the socket has it */
	out->kept = true;
	/* What is added after the last look at the lists comes with a kick. */
	while (!(err = grpc_flush(gl, &budget)) && !done) {
		turn = grpc_fill(gl);
		done = turn == GRPC_TURN_DEAD ? !out->len :
		       turn == GRPC_TURN_ON && !READ_ONCE(gl->woken);
	}
	if (err)
		return grpc_unflushed(gl, err);
	out->kept = false;
	mrpc_link_unkeep(link);
	return turn == GRPC_TURN_DEAD ? -EPROTO : 0;
}
