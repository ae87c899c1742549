// SPDX-License-Identifier: GPL-2.0
/*
 * The content of streams: bytes that become messages.
 *
 * A message is put together in memory that grows with what has come. All messages that are not
 * whole have at most the window of the connection, but of the oldest all bytes are credited: so one
 * message always gets on.
 *
 * A stream is stuck while the application does not consume what it got. What comes meanwhile is the
 * backlog of the stream, and its window bounds that. The backlogs of all streams together take
 * GRPC_BACKLOG bytes before they use up the window of the connection.
 */
#include <linux/slab.h>

#include "core/link.h"
#include "core/receive.h"
#include "exec/kick.h"
#include "lib/message/credit.h"
#include "lib/message/wire.h"
#include "transports/grpc/deliver.h"
#include "transports/grpc/link.h"
#include "transports/grpc/receive.h"
#include "transports/grpc/stream.h"

#define GRPC_FIRST	4096	/* bytes of a message that are allocated before they have come */
#define GRPC_GROWTH	4	/* times what has come is allocated */
#define GRPC_BACKLOG	(8U << 20)

/* -- what a stream holds --------------------------------------------------------------- */

/* Tells the timer of the core which message has been incomplete for longest. */
static void grpc_note_oldest(struct grpc_link *gl)
{
	struct grpc_stream *s;

	list_for_each_entry(s, &gl->in.assembling, assembly) {
		if (s->whole || s->stuck)
			continue;
		WRITE_ONCE(gl->link->receive->len, s->want);
		WRITE_ONCE(gl->link->receive->since, s->begun);
		return;
	}
	WRITE_ONCE(gl->link->receive->since, 0);
}

/**
 * grpc_stall() - a message waits for the sink, or has passed it
 * @gl: the link; the caller owns the receive claim
 * @stalls: it waits: the peer is not to blame for what does not come meanwhile
 */
void grpc_stall(struct grpc_link *gl, bool stalls)
{
	struct grpc_stream *s;

	if (stalls) {
		WRITE_ONCE(gl->link->receive->since, 0);
	} else if (gl->in.stalled) {
		list_for_each_entry(s, &gl->in.assembling, assembly)
			s->begun = gl->in.now;
		grpc_note_oldest(gl);
	}
	gl->in.stalled = stalls;
}

/**
 * grpc_msg_free() - free what has come of a message
 * @gl: the link; the caller owns the receive claim
 * @s: the stream
 */
void grpc_msg_free(struct grpc_link *gl, struct grpc_stream *s)
{
	if (s->msg_small)
		gl->in.small_taken = false;
	else
		kvfree(s->msg);
	s->msg = NULL;
	s->msg_small = false;
}

/**
 * grpc_assembly_end() - a message is delivered, or will not be
 * @gl: the link; the caller owns the receive claim
 * @s: the stream; the caller has a reference
 *
 * Its bytes are credited to the connection.
 */
void grpc_assembly_end(struct grpc_link *gl, struct grpc_stream *s)
{
	struct grpc_stream *first;

	grpc_msg_free(gl, s);
	if (list_empty(&s->assembly))
		return;
	list_del_init(&s->assembly);
	first = list_first_entry_or_null(&gl->in.assembling, struct grpc_stream, assembly);
	spin_lock(&gl->lock);
	mrpc_h2_credit_conn(&gl->h2, s->held);
	if (first) {
		mrpc_h2_credit_conn(&gl->h2, first->held);
		first->held = 0;
		first->begun = gl->in.now;	/* the window may have stopped it */
	}
	spin_unlock(&gl->lock);
	s->held = 0;
	grpc_note_oldest(gl);
	grpc_stream_put(s);
}

/* Bytes of a backlog have been taken, or dropped. */
static void grpc_backlog_took(struct grpc_link *gl, struct grpc_stream *s, u32 n)
{
	struct grpc_backlog *b = &s->backlog;
	u32 pay = min(n, b->unpaid);

	b->at += n;
	b->unpaid -= pay;
	gl->in.backlog -= n;
	spin_lock(&gl->lock);
	mrpc_h2_credit_stream(&gl->h2, &s->h2, n);
	mrpc_h2_credit_conn(&gl->h2, pay);
	spin_unlock(&gl->lock);
	if (b->at < b->len)
		return;
	kvfree(b->buf);
	memset(b, 0, sizeof(*b));
}

static u32 grpc_backlog_left(const struct grpc_stream *s)
{
	return s->backlog.len - s->backlog.at;
}

/* Adds content to a backlog. Return: 0 or -ENOMEM. */
static int grpc_backlog_add(struct grpc_link *gl, struct grpc_stream *s, const u8 *from, u32 n)
{
	struct grpc_backlog *b = &s->backlog;
	u32 left = grpc_backlog_left(s), cap;
	u8 *buf;

	if (b->len + n > b->cap) {
		cap = max_t(u32, roundup_pow_of_two(left + n), GRPC_FIRST);
		buf = kvmalloc(cap, GFP_KERNEL_ACCOUNT);
		if (!buf)
			return -ENOMEM;
		if (left)
			memcpy(buf, b->buf + b->at, left);
		kvfree(b->buf);
		b->buf = buf;
		b->cap = cap;
		b->at = 0;
		b->len = left;
	}
	memcpy(b->buf + b->len, from, n);
	b->len += n;
	gl->in.backlog += n;
	if (gl->in.backlog > GRPC_BACKLOG) {
		b->unpaid += n;
		return 0;
	}
	spin_lock(&gl->lock);
	mrpc_h2_credit_conn(&gl->h2, n);
	spin_unlock(&gl->lock);
	return 0;
}

/**
 * grpc_made() - the call of a server's stream is made, or will not be
 * @gl: the link; the caller owns the receive claim
 * @s: the stream
 *
 * A server that drains waits for this: it has promised to serve the stream.
 */
void grpc_made(struct grpc_link *gl, struct grpc_stream *s)
{
	if (s->unmade)
		gl->in.unmade--;
	s->unmade = false;
}

/**
 * grpc_drop() - take no more of a stream
 * @gl: the link
 * @s: the stream; the caller has a reference
 */
void grpc_drop(struct grpc_link *gl, struct grpc_stream *s)
{
	s->drop = true;
	grpc_made(gl, s);
	grpc_assembly_end(gl, s);
	if (grpc_backlog_left(s))
		grpc_backlog_took(gl, s, grpc_backlog_left(s));
}

/** grpc_stream_waits() - return true if messages of a stream wait for its application */
bool grpc_stream_waits(const struct grpc_stream *s)
{
	return s->stuck || grpc_backlog_left(s);
}

/**
 * grpc_stream_stuck() - return true if the application must consume messages before the next one
 * @gl: the link; the caller owns the receive claim
 * @s: a stream of which the core gets messages
 *
 * Then grpc_advance() is called when it has.
 */
bool grpc_stream_stuck(struct grpc_link *gl, struct grpc_stream *s)
{
	spin_lock(&gl->lock);
	s->stuck = s->rx_sum >= s->rx_may;
	spin_unlock(&gl->lock);
	return s->stuck;
}

/* -- messages ---------------------------------------------------------------------------- */

/* A stream's message cannot be accepted. Return: 0, or the connection must end. */
static int grpc_refuse_message(struct grpc_link *gl, struct grpc_stream *s, u16 status,
			       const char *why)
{
	if (!gl->link->accepted) {
		grpc_end_call(gl, s, status, why, false);
		return 0;
	}
	grpc_answer(gl, s, GRPC_END_STATUS, status, why);
	return grpc_cancel_call(gl, s);
}

/* Makes room for more of the message. What is allocated follows what has come. */
static int grpc_assembly_grow(struct grpc_link *gl, struct grpc_stream *s)
{
	u32 cap = min(s->want, max_t(u32, GRPC_FIRST, s->have * GRPC_GROWTH));
	u8 *msg;

	if (s->msg && s->have < s->msg_cap)
		return 0;
	if (s->want <= GRPC_SMALL && !gl->in.small_taken) {
		gl->in.small_taken = true;
		s->msg = gl->in.work->small;
		s->msg_small = true;
		s->msg_cap = max(cap, 1U);
		return 0;
	}
	msg = kvmalloc(max(cap, 1U), GFP_KERNEL_ACCOUNT);
	if (!msg)
		return -ENOMEM;
	if (s->have)
		memcpy(msg, s->msg, s->have);
	grpc_msg_free(gl, s);
	s->msg = msg;
	s->msg_cap = cap;
	return 0;
}

/* A prefix has come. Return: its message may come, too; else the stream is stuck, or dropped. */
static bool grpc_message_begins(struct grpc_link *gl, struct grpc_stream *s, int *err)
{
	struct mrpc_grpc_verdict v = {};

	if (grpc_stream_hears(s, gl->link->accepted)) {
		if (grpc_stream_stuck(gl, s))
			return false;
	} else if (s->whole) {
		*err = grpc_refuse_message(gl, s, MRPC_UNIMPLEMENTED,
					   "two messages, though the method does not stream");
		return false;
	}
	mrpc_grpc_prefix_check(&s->prefix, gl->link->max_message, s->encoding,
			       MRPC_GRPC_ACCEPT_ALL, &v);
	if (v.kind != MRPC_GRPC_FINE) {
		*err = grpc_refuse_message(gl, s, v.code, v.why);
		return false;
	}
	s->compressed = mrpc_grpc_prefix_compressed(&s->prefix);
	s->want = mrpc_grpc_prefix_len(&s->prefix);
	s->have = 0;
	s->begun = gl->in.now;
	s->begins = true;
	grpc_stream_get(s);
	list_add_tail(&s->assembly, &gl->in.assembling);
	return true;
}

/* Gives the core a message of a stream. Return: 0, or the connection must end. */
static int grpc_deliver_message(struct grpc_link *gl, struct grpc_stream *s)
{
	const struct mrpc_schema_plan *plan = mrpc_link_service(gl->link, s->method >> 16);
	const struct mrpc_method *method = &plan->methods[s->method & 0xffff];
	struct grpc_work *work = gl->in.work;
	struct mrpc_frame frame = {
		.type = MRPC_WIRE_MESSAGE,
		.call_id = s->call_id,
		.msg_no = s->rx_no,
	};
	int err;

	if (!gl->link->accepted && !s->rx_no) {
		frame.meta_len = min_t(u32, s->answer.head_meta_len, s->meta_len);
		s->meta_told = frame.meta_len;
	}
	err = grpc_delivery_begin(gl, &frame, s, s->meta, NULL);
	if (!err)
		err = grpc_delivery_decode(gl, plan, gl->link->accepted ? method->request :
					   method->reply, work->why, sizeof(work->why));
	else
		strscpy(work->why, "no memory for a message", sizeof(work->why));
	if (!err) {
		s->rx_no++;
		s->rx_sum += mrpc_credit_cost(&gl->in.delivery.frame);
		return 0;
	}
	grpc_delivery_end(&gl->in.delivery);
	return grpc_refuse_message(gl, s, err == -EINVAL ? MRPC_INTERNAL :
				   MRPC_RESOURCE_EXHAUSTED, work->why);
}

/* Takes some of the message. Return: bytes. */
static u32 grpc_assemble(struct grpc_link *gl, struct grpc_stream *s, const u8 *from, u32 len,
			 int *err)
{
	u32 n;

	if (!len && s->want)
		return 0;
	if (grpc_assembly_grow(gl, s)) {
		*err = grpc_refuse_message(gl, s, MRPC_RESOURCE_EXHAUSTED,
					   "no memory for the message");
		return 0;
	}
	n = min3(len, s->want - s->have, s->msg_cap - s->have);
	if (n)
		memcpy(s->msg + s->have, from, n);
	s->have += n;
	if (s->have < s->want)
		return n;
	s->prefix.have = 0;
	s->begins = false;
	if (grpc_stream_hears(s, gl->link->accepted))
		*err = grpc_deliver_message(gl, s);
	else
		s->whole = true;
	return n;
}

/*
 * Takes content, until a message is to be delivered, or the stream is stuck. Return: bytes. @err:
 * 0, or the connection must end.
 */
static u32 grpc_take(struct grpc_link *gl, struct grpc_stream *s, const u8 *from, u32 len, int *err)
{
	u32 done = 0;

	*err = 0;
	while (!*err && !s->drop && !gl->in.delivery.active) {
		if (!mrpc_grpc_prefix_whole(&s->prefix))
			done += mrpc_grpc_prefix_take(&s->prefix, from + done, len - done);
		if (!mrpc_grpc_prefix_whole(&s->prefix))
			break;
		if (!s->begins && !grpc_message_begins(gl, s, err))
			break;
		done += grpc_assemble(gl, s, from + done, len - done, err);
		if (done == len && s->begins)
			break;
	}
	return s->drop ? len : done;
}

/* -- pieces ---------------------------------------------------------------------------------- */

/* Counts bytes of a stream as consumed; those of a message that others wait for only later. */
static void grpc_credit(struct grpc_link *gl, struct grpc_stream *s, u32 n)
{
	bool later = !list_empty(&s->assembly) && !list_is_first(&s->assembly, &gl->in.assembling);

	spin_lock(&gl->lock);
	mrpc_h2_credit_stream(&gl->h2, &s->h2, n);
	if (later)
		s->held += n;
	else
		mrpc_h2_credit_conn(&gl->h2, n);
	spin_unlock(&gl->lock);
	s->came += n;
}

/* Takes what can be taken of the piece at hand. Return: 0, or the connection must end. */
static int grpc_take_content(struct grpc_link *gl, struct grpc_stream *s)
{
	struct grpc_in *in = &gl->in;
	int err;
	u32 n;

	n = grpc_take(gl, s, in->piece, in->piece_len, &err);
	grpc_credit(gl, s, n);
	in->piece += n;
	in->piece_len -= n;
	return err;
}

/* The rest of the piece has to wait. Return: 0, or the connection must end. */
static int grpc_keep_content(struct grpc_link *gl, struct grpc_stream *s)
{
	struct grpc_in *in = &gl->in;
	u32 n = in->piece_len;

	in->piece_len = 0;
	if (!grpc_backlog_add(gl, s, in->piece, n)) {
		s->came += n;
		return 0;
	}
	grpc_credit(gl, s, n);
	return grpc_refuse_message(gl, s, MRPC_RESOURCE_EXHAUSTED, "no memory for the messages");
}

/**
 * grpc_take_piece() - go on with the content at hand
 * @gl: the link, which has some; the caller owns the receive claim
 *
 * Context: process; may sleep. Return: 0, or the connection must end.
 */
int grpc_take_piece(struct grpc_link *gl)
{
	struct grpc_in *in = &gl->in;
	struct grpc_stream *s = in->stream;
	int err = 0;

	if (!grpc_stream_waits(s) || s->drop)
		err = grpc_take_content(gl, s);
	if (err || in->delivery.active)
		return err;
	if (in->piece_len)
		err = grpc_keep_content(gl, s);
	if (!err && in->piece_end)
		err = grpc_hear_end(gl, s);
	in->stream = NULL;
	grpc_note_oldest(gl);
	grpc_stream_put(s);
	return err;
}

/* All content has been taken. Return: 0, or the connection must end. */
static int grpc_end_content(struct grpc_link *gl, struct grpc_stream *s)
{
	return gl->link->accepted ? grpc_hear_request_end(gl, s) : grpc_hear_response_end(gl, s);
}

/* Has grpc_advance() called after what is to be delivered now. */
static void grpc_advance_later(struct grpc_link *gl, struct grpc_stream *s)
{
	spin_lock(&gl->lock);
	if (list_empty(&s->resume)) {
		grpc_stream_get(s);
		list_add(&s->resume, &gl->resumed);
	}
	spin_unlock(&gl->lock);
}

/**
 * grpc_hear_end() - the peer sends no more in a stream
 * @gl: the link; the caller owns the receive claim
 * @s: the stream
 *
 * Context: process; may sleep. Return: 0, or the connection must end.
 */
int grpc_hear_end(struct grpc_link *gl, struct grpc_stream *s)
{
	if (s->drop)
		return 0;
	s->ended = true;
	if (gl->in.delivery.active)
		grpc_advance_later(gl, s);
	else if (!grpc_stream_waits(s))
		return grpc_end_content(gl, s);
	return 0;
}

/**
 * grpc_advance() - go on with a stream: its backlog, and its end
 * @gl: the link, which delivers nothing now; the caller owns the receive claim
 * @s: the stream; the caller has a reference
 *
 * Context: process; may sleep. Return: 0, or the connection must end.
 */
int grpc_advance(struct grpc_link *gl, struct grpc_stream *s)
{
	struct grpc_backlog *b = &s->backlog;
	int err = 0;
	u32 n;

	/* A server's stream is closed when it has answered, or was reset. */
	if (gl->link->accepted && READ_ONCE(s->h2.closed))
		grpc_drop(gl, s);
	if (s->drop)
		return 0;
	s->stuck = false;
	n = grpc_take(gl, s, b->buf + b->at, grpc_backlog_left(s), &err);
	if (n && grpc_backlog_left(s))
		grpc_backlog_took(gl, s, min(n, grpc_backlog_left(s)));
	if (err || s->drop)
		return err;
	if (gl->in.delivery.active)
		grpc_advance_later(gl, s);
	else if (!grpc_stream_waits(s) && (s->ended || s->replies))
		return grpc_end_content(gl, s);
	return 0;
}
