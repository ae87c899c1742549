// SPDX-License-Identifier: GPL-2.0
/*
 * What comes over a link of gRPC: bytes, and frames.
 *
 * One thing is done at a time: a message that the sink has no room for stops all that follows it,
 * as with mrpc's own framing.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/sock.h>

#include "call/arrival.h"
#include "call/handshake.h"
#include "call/receive.h"
#include "core/link.h"
#include "core/receive.h"
#include "exec/kick.h"
#include "lib/message/wire.h"
#include "transports/grpc/deliver.h"
#include "transports/grpc/headers.h"
#include "transports/grpc/link.h"
#include "transports/grpc/pump.h"
#include "transports/grpc/receive.h"
#include "transports/grpc/stream.h"

#define GRPC_LOOK	(10 * NSEC_PER_MSEC)	/* between two looks at the clock, unless one is due */
#define GRPC_BLOCK_TIME	(5 * NSEC_PER_SEC)	/* for a header block to come */

/* -- memory ------------------------------------------------------------------------ */

static int grpc_in_begin(struct grpc_link *gl)
{
	struct grpc_in *in = &gl->in;

	if (likely(in->work))
		return 0;
	in->work = kvmalloc(sizeof(*in->work), GFP_KERNEL_ACCOUNT);
	if (!in->work)
		return -ENOMEM;
	in->work->ignore = false;
	in->work->known.len = 0;
	in->work->known_answers[0].block.len = 0;
	in->work->known_answers[1].block.len = 0;
	return 0;
}

/* Gives memory back if nothing is under way. */
static void grpc_in_rest(struct grpc_link *gl)
{
	struct grpc_in *in = &gl->in;

	if (in->stream || in->at < in->len || in->delivery.active || in->small_taken)
		return;
	if (!mrpc_h2_parser_in_block(&in->parser))
		kvfree(mrpc_h2_parser_take_back(&in->parser));
	kvfree(in->work);
	in->work = NULL;
	in->at = 0;
	in->len = 0;
}

/**
 * grpc_in_free() - free what has come and was not delivered
 * @gl: the link, at its end: no other thread has it
 */
void grpc_in_free(struct grpc_link *gl)
{
	struct grpc_in *in = &gl->in;

	grpc_delivery_end(&in->delivery);
	if (in->stream)
		grpc_stream_put(in->stream);
	grpc_put_all(gl, &in->assembling, assembly);
	kvfree(in->parser.block);
	kvfree(in->work);
	kfree(in->table.ring);
}

/* -- streams ----------------------------------------------------------------------- */

/**
 * grpc_wake() - have the transmit side look again at the streams that wait
 * @gl: the link; the caller does not hold its lock
 *
 * A stream is closed, or the peer allows more.
 */
void grpc_wake(struct grpc_link *gl)
{
	bool wake;

	spin_lock(&gl->lock);
	wake = gl->blocked;
	gl->woken |= wake;
	spin_unlock(&gl->lock);
	if (wake)
		mrpc_link_kick_tx(gl->link);
}

/**
 * grpc_failed() - an error of HTTP/2 ends the connection
 * @gl: the link; its HTTP/2 connection knows the error. The caller owns the receive claim
 *
 * The transmit side tells the peer, and ends the connection.
 */
void grpc_failed(struct grpc_link *gl)
{
	WRITE_ONCE(gl->link->why, gl->h2.why);
	mrpc_link_kick_tx(gl->link);
}

static void grpc_fail(struct grpc_link *gl, u32 code, const char *why)
{
	spin_lock(&gl->lock);
	mrpc_h2_fail(&gl->h2, code, why);
	spin_unlock(&gl->lock);
	grpc_failed(gl);
}

/* -- header blocks ------------------------------------------------------------------- */

static void grpc_field(struct mrpc_hpack_sink *sink, const u8 *name, u32 nlen, const u8 *value,
		       u32 vlen, u32 flags)
{
	struct grpc_work *work = container_of(sink, struct grpc_work, sink);

	if (!work->ignore)
		mrpc_grpc_request_field(&work->request, name, nlen, value, vlen);
}

static void grpc_answer_field(struct mrpc_hpack_sink *sink, const u8 *name, u32 nlen,
			      const u8 *value, u32 vlen, u32 flags)
{
	struct grpc_work *work = container_of(sink, struct grpc_work, sink);

	if (!work->ignore)
		mrpc_grpc_answer_field(&work->answer, name, nlen, value, vlen);
}

/**
 * grpc_block_known() - return true if a header block says the same as an earlier one
 * @gl: the link
 * @k: the earlier one
 * @f: the block
 *
 * It then is as if it had been decoded. Connections get few different blocks, again and again.
 */
bool grpc_block_known(struct grpc_link *gl, struct grpc_known *k, const struct mrpc_h2_frame *f)
{
	u32 i;

	if (!k->len || k->len != f->len || k->generation != gl->in.table.generation)
		return false;
	/* Most have one to eight bytes: a call costs more than that. */
	for (i = 0; i < k->len; i++)
		if (k->bytes[i] != f->data[i])
			return false;
	return true;
}

/**
 * grpc_decode_block() - decode a header block
 * @gl: the link; its work says where the fields go
 * @f: the frame
 * @k: remembers the block, if it did not change HPACK's table; or NULL
 *
 * Return: 0; -E2BIG: it is too large for a call; -EPROTO: the connection ends.
 */
int grpc_decode_block(struct grpc_link *gl, const struct mrpc_h2_frame *f, struct grpc_known *k)
{
	u64 generation = gl->in.table.generation;
	struct grpc_work *work = gl->in.work;
	struct grpc_in *in = &gl->in;
	int err;

	if (k)
		k->len = 0;
	if (grpc_table_prepare(&in->table))
		return -ENOMEM;
	work->sink.field = gl->link->accepted ? grpc_field : grpc_answer_field;
	work->sink.buf = work->strings;
	err = mrpc_hpack_decode(&in->table, f->data, f->len, &work->sink);
	if (!err && k && f->len <= GRPC_KNOWN && in->table.generation == generation) {
		k->generation = generation;
		k->len = f->len;
		memcpy(k->bytes, f->data, f->len);
	}
	switch (err) {
	case -EBADMSG:
		grpc_fail(gl, MRPC_H2_COMPRESSION_ERROR, "a header block is not HPACK");
		return -EPROTO;
	case -EMSGSIZE:
		grpc_fail(gl, MRPC_H2_ENHANCE_YOUR_CALM, "a header block is far too large");
		return -EPROTO;
	default:
		return err;
	}
}

/**
 * grpc_keep_meta() - keep the metadata of a header block with its stream
 * @gl: the link; its work has the metadata
 * @s: the stream
 *
 * Without memory the stream keeps what it had.
 */
void grpc_keep_meta(struct grpc_link *gl, struct grpc_stream *s)
{
	struct grpc_work *work = gl->in.work;
	u8 *meta;

	if (work->meta.len == s->meta_len)
		return;
	meta = s->meta_small;
	if (work->meta.len > GRPC_META_SMALL)
		meta = kmalloc(work->meta.len, GFP_KERNEL_ACCOUNT);
	if (!meta)
		return;
	memcpy(meta, work->meta_buf, work->meta.len);
	if (s->meta != s->meta_small)
		kfree(s->meta);
	s->meta = meta;
	s->meta_len = work->meta.len;
}

/* Decodes a header block for the table alone: it is for no call, or a client's trailers. */
static int grpc_skip_block(struct grpc_link *gl, const struct mrpc_h2_frame *f)
{
	int err;

	gl->in.work->ignore = true;
	err = grpc_decode_block(gl, f, NULL);
	gl->in.work->ignore = false;
	return err == -E2BIG ? 0 : err;
}

/* -- events ---------------------------------------------------------------------------- */

/* The peer has reset a stream, or broken a rule in it. */
static int grpc_hear_reset(struct grpc_link *gl, struct grpc_stream *s,
			   const struct mrpc_h2_event *ev)
{
	struct mrpc_grpc_end end;

	grpc_drop(gl, s);
	if (gl->link->accepted)
		return grpc_cancel_call(gl, s);
	if (ev->type == MRPC_H2_EV_STREAM_ERROR) {
		grpc_end_call(gl, s, MRPC_INTERNAL,
			      "the server broke a rule of HTTP/2 in the stream of the call", false);
		return 0;
	}
	end = mrpc_grpc_reset_end(ev->code, false);
	grpc_end_call(gl, s, end.status, end.why, end.not_run);
	return 0;
}

/* Ends a call that the server has not run, behind what is delivered next. */
static void grpc_not_run(struct grpc_link *gl, struct grpc_stream *s)
{
	struct mrpc_grpc_end end = mrpc_grpc_goaway_end();
	bool mine;

	spin_lock(&gl->lock);
	mine = grpc_slot_leave(gl, s);
	spin_unlock(&gl->lock);
	if (!mine)
		return;
	grpc_answer_say(&s->end, end.status, end.why, strlen(end.why));
	s->end.unsent = true;
	grpc_give_gone(gl, s);
}

/* The server ends the connection, and has not run the calls above the last id. */
static int grpc_hear_goaway(struct grpc_link *gl, u32 last)
{
	const struct mrpc_frame bye = { .type = MRPC_WIRE_BYE };
	struct mrpc_h2_stream *h2;
	struct grpc_stream *s;

	if (gl->link->accepted)
		return 0;
	for (;;) {
		spin_lock(&gl->lock);
		h2 = mrpc_h2_streams_newest(&gl->h2.streams);
		if (!h2 || h2->id <= last)
			break;
		mrpc_h2_forget(&gl->h2, h2);
		spin_unlock(&gl->lock);
		s = grpc_stream_of(h2);
		grpc_drop(gl, s);
		grpc_not_run(gl, s);
		grpc_stream_put(s);
	}
	spin_unlock(&gl->lock);
	grpc_wake(gl);
	/* Before these calls end: their callers must not choose this connection again. */
	return grpc_delivery_begin(gl, &bye, NULL, NULL, NULL);
}

static int grpc_hear_headers(struct grpc_link *gl, struct grpc_stream *s,
			     const struct mrpc_h2_frame *f, const struct mrpc_h2_event *ev)
{
	int err;

	if (ev->type != MRPC_H2_EV_HEADERS || (s && s->drop))
		return grpc_skip_block(gl, f);
	if (!gl->link->accepted)
		return grpc_hear_response(gl, s, f, ev->end);
	if (!s)
		return grpc_hear_request(gl, f, ev->id, ev->end);
	err = grpc_skip_block(gl, f);
	return err ?: grpc_hear_end(gl, s);
}

/* Content of @s is at hand. Uses up the caller's reference. */
static void grpc_hear_data(struct grpc_link *gl, struct grpc_stream *s,
			   const struct mrpc_h2_frame *f, const struct mrpc_h2_event *ev)
{
	struct grpc_in *in = &gl->in;

	in->stream = s;
	in->piece = f->data;
	in->piece_len = f->len;
	in->piece_end = ev->end;
}

/* Does what a frame asks for. Return: 0, or the connection must end. */
static int grpc_hear_event(struct grpc_link *gl, struct grpc_stream *s,
			   const struct mrpc_h2_frame *f, const struct mrpc_h2_event *ev)
{
	if (f->type == MRPC_H2_HEADERS) {
		int err = grpc_hear_headers(gl, s, f, ev);

		if (err || ev->type == MRPC_H2_EV_HEADERS)
			return err;
	}
	switch (ev->type) {
	case MRPC_H2_EV_READY:
		return mrpc_link_agree(gl->link, MRPC_MAX_MESSAGE, gl->nr_slots);
	case MRPC_H2_EV_RESET:
	case MRPC_H2_EV_STREAM_ERROR:
		return s ? grpc_hear_reset(gl, s, ev) : 0;
	case MRPC_H2_EV_GOAWAY:
		return grpc_hear_goaway(gl, ev->id);
	case MRPC_H2_EV_DRAINED:
		gl->in.drained = true;
		return 0;
	case MRPC_H2_EV_OPENED:
		grpc_wake(gl);
		return 0;
	}
	return 0;
}

/* Applies a frame. Return: 0, or the connection must end. */
static int grpc_hear(struct grpc_link *gl, const struct mrpc_h2_frame *f)
{
	struct mrpc_h2_event ev __uninitialized;
	struct grpc_stream *s = NULL;
	int err;

	spin_lock(&gl->lock);
	err = mrpc_h2_hear(&gl->h2, f, gl->in.now, &ev);
	if (!err && ev.stream) {
		s = grpc_stream_of(ev.stream);
		grpc_stream_get(s);
	}
	gl->in.congested = mrpc_h2_congested(&gl->h2);
	spin_unlock(&gl->lock);
	if (err) {
		grpc_failed(gl);
		return 0;
	}
	if (ev.type == MRPC_H2_EV_DATA)
		grpc_hear_data(gl, s, f, &ev);
	else
		err = grpc_hear_event(gl, s, f, &ev);
	if (!s)
		return err;
	if (ev.closed) {
		grpc_wake(gl);
		grpc_stream_put(s);	/* HTTP/2's: another one is left */
	}
	if (ev.type != MRPC_H2_EV_DATA)
		grpc_stream_put(s);
	return err;
}

/* -- the clock ----------------------------------------------------------------------------- */

/* Looks at what takes too long. Return: nothing has come for a while, and nothing is under way. */
static bool grpc_look_at_clock(struct grpc_link *gl)
{
	struct grpc_in *in = &gl->in;
	u64 now = in->now;
	struct mrpc_h2_event ev = {};
	bool busy;
	int err;

	spin_lock(&gl->lock);
	err = mrpc_h2_expire(&gl->h2, now, &ev);
	in->due = mrpc_h2_deadline(&gl->h2);
	busy = gl->h2.streams.nr;
	spin_unlock(&gl->lock);
	in->drained |= ev.type == MRPC_H2_EV_DRAINED;
	if (err)
		grpc_failed(gl);
	else if (in->block_since && now - in->block_since > GRPC_BLOCK_TIME)
		grpc_fail(gl, MRPC_H2_ENHANCE_YOUR_CALM, "a header block took too long to come");
	in->look = min(in->due, now + GRPC_LOOK);
	return !busy && in->used && now - in->used > gl->link->keepalive;
}

/* -- the loop ------------------------------------------------------------------------------ */

/* Takes the first stream whose call is to end, unless a message of it waits for the sink. */
static struct grpc_stream *grpc_take_gone(struct grpc_link *gl)
{
	struct grpc_stream *s, *found = NULL;

	if (likely(list_empty_careful(&gl->gone)))
		return NULL;
	spin_lock(&gl->lock);
	list_for_each_entry(s, &gl->gone, gone)
		if (s != gl->in.delivery.stream) {
			list_del_init(&s->gone);
			found = s;
			break;
		}
	spin_unlock(&gl->lock);
	return found;
}

/* Ends the calls that the transmit side has given up. Return: 0, or the connection must end. */
static int grpc_end_gone(struct grpc_link *gl)
{
	struct grpc_stream *s;
	int err = 0;

	while (!err && (s = grpc_take_gone(gl))) {
		grpc_drop(gl, s);
		err = mrpc_sink_end_call(gl->link, s->call_id, s->end.status,
					 s->end.text ?: "cancelled", s->end.unsent);
		grpc_stream_put(s);
	}
	return err;
}

/* Tells the core which messages of streams the socket has taken. Return: as grpc_end_gone(). */
static int grpc_tell_credits(struct grpc_link *gl)
{
	struct mrpc_frame credit = { .type = MRPC_WIRE_CREDIT };
	struct grpc_stream *s;
	int err = 0;

	while (!err && (s = grpc_take_first(gl, &gl->credits, credit))) {
		spin_lock(&gl->lock);
		s->told = s->written;
		spin_unlock(&gl->lock);
		credit.call_id = s->call_id;
		credit.remaining_us = MRPC_STREAM_WINDOW + s->told;
		err = mrpc_sink_head(gl->link, &credit, NULL);
		if (!err)
			mrpc_sink_done(gl->link);
		grpc_stream_put(s);
	}
	if (!err)
		mrpc_link_kick_tx(gl->link);
	return err;
}

/* Reads. Return: bytes; 0: there are none now; else the link is dead. */
static int grpc_read(struct grpc_link *gl)
{
	struct grpc_in *in = &gl->in;
	struct kvec kv;
	int n;

	if (READ_ONCE(gl->down))
		return -ESHUTDOWN;
	in->at = 0;
	in->len = 0;
	kv.iov_base = in->work->buf;
	kv.iov_len = GRPC_READ;
	n = mrpc_sock_direct_read(gl->sock, &gl->tls, &gl->direct, &kv, 1, GRPC_READ);
	if (n <= 0)
		return n == -EAGAIN ? 0 : n ?: -ESHUTDOWN;
	in->len = n;
	in->emptied = n < GRPC_READ;
	in->used = in->now;
	WRITE_ONCE(gl->link->last_rx, get_jiffies_64());
	return n;
}

/* Must the peer take answers before more is read? The transmit side then kicks when it has. */
static bool grpc_congested(struct grpc_link *gl)
{
	if (likely(!gl->in.congested))
		return false;
	spin_lock(&gl->lock);
	gl->in.congested = mrpc_h2_congested(&gl->h2);
	gl->congested |= gl->in.congested;
	spin_unlock(&gl->lock);
	return gl->in.congested;
}

/* Parses one frame, or a piece of one. Return: 1; 0: not now; else the connection must end. */
static int grpc_parse(struct grpc_link *gl)
{
	struct grpc_in *in = &gl->in;
	struct mrpc_h2_frame f __uninitialized;
	int n, err;

	if (grpc_congested(gl) || READ_ONCE(gl->h2.why)) {
		mrpc_link_kick_tx(gl->link);
		return 0;
	}
	n = mrpc_h2_parse(&in->parser, in->work->buf + in->at, in->len - in->at, &f);
	if (n == -ENOBUFS) {
		u8 *block = kvmalloc(MRPC_H2_MAX_BLOCK, GFP_KERNEL_ACCOUNT);

		if (!block)
			return -ENOMEM;
		mrpc_h2_parser_give(&in->parser, block);
		return 1;
	}
	if (n < 0) {
		grpc_fail(gl, in->parser.code, in->parser.why);
		return 0;
	}
	in->at += n;
	if (!mrpc_h2_parser_in_block(&in->parser))
		in->block_since = 0;
	else if (!in->block_since)
		in->block_since = in->now;
	err = f.type == MRPC_H2_NO_FRAME ? 0 : grpc_hear(gl, &f);
	return err ?: 1;
}

/*
 * Has the socket nothing more? A read of this grpc_recv() that got less than it wanted has emptied
 * the socket, and what came since has kicked. The end of the stream may have come together with the
 * bytes. TLS must be read until it says so, and a read ends where urgent data are.
 */
static bool grpc_emptied(const struct grpc_link *gl)
{
	const struct sock *sk = gl->sock->sk;

	return gl->in.emptied && !gl->tls.link && !tcp_sk(sk)->urg_data &&
	       !(READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) && !READ_ONCE(sk->sk_err);
}

/* Does the next thing. Return: 1; 0: there is nothing to do; -EAGAIN or else as grpc_recv(). */
static int grpc_step(struct grpc_link *gl)
{
	const struct mrpc_frame bye = { .type = MRPC_WIRE_BYE };
	struct grpc_in *in = &gl->in;
	struct grpc_stream *s;
	int n;

	/* A BYE goes first: the callers of these must not choose this connection again. */
	if (!in->delivery.active || in->delivery.frame.type != MRPC_WIRE_BYE) {
		n = grpc_end_gone(gl);
		if (n)
			return n;
	}
	if (in->delivery.active) {
		n = grpc_deliver(gl);
		grpc_stall(gl, n == -EAGAIN);
		return n ?: 1;
	}
	if (!list_empty_careful(&gl->credits)) {
		n = grpc_tell_credits(gl);
		if (n)
			return n;
	}
	if (in->drained && !in->unmade) {
		in->drained = false;
		return grpc_delivery_begin(gl, &bye, NULL, NULL, NULL) ?: 1;
	}
	s = list_empty_careful(&gl->resumed) ? NULL : grpc_take_first(gl, &gl->resumed, resume);
	if (s) {
		n = grpc_advance(gl, s);
		grpc_stream_put(s);
		return n ?: 1;
	}
	if (in->stream)
		return grpc_take_piece(gl) ?: 1;
	if (in->at == in->len) {
		if (grpc_emptied(gl))
			return 0;
		n = grpc_read(gl);
		if (n <= 0)
			return n;
	}
	return grpc_parse(gl);
}

/**
 * grpc_recv() - receive
 * @link: the link
 * @budget: frames at most
 *
 * See struct mrpc_transport_ops.
 */
int grpc_recv(struct mrpc_link *link, int budget)
{
	struct grpc_link *gl = link->priv;
	int frames = 0, n = -ENOMEM;
	bool owes, rests = false;

	gl->in.now = ktime_get_ns();
	gl->in.emptied = false;
	if (!grpc_in_begin(gl)) {
		rests = gl->in.now >= gl->in.look && grpc_look_at_clock(gl);
		/* In any case: another timer, which was earlier, may have been armed instead. */
		if (gl->in.due != MRPC_H2_NEVER)
			mrpc_link_arm(link, max(gl->in.due, gl->in.now + NSEC_PER_MSEC));
		do {
			n = grpc_step(gl);
			if (n <= 0)
				break;
			frames++;
		} while (frames < budget && !mrpc_recv_stops(link, budget, &frames));
	}
	if (rests && !frames) {
		grpc_in_rest(gl);
		WRITE_ONCE(gl->rest, true);
		gl->in.used = 0;
	}
	/* What the transmit side changes meanwhile, it sends itself. */
	owes = data_race(mrpc_h2_owes(&gl->h2));
	if (owes || READ_ONCE(gl->rest))
		mrpc_link_kick_tx(link);
	/* Input has stopped for lack of room, so a reset is not read. It is detected here. */
	if (n == -EAGAIN && inet_sk_state_load(gl->sock->sk) == TCP_CLOSE)
		return -ECONNRESET;
	return n < 0 ? n : frames;
}
