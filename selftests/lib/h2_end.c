// SPDX-License-Identifier: GPL-2.0
/* One end of an HTTP/2 connection, for tests; see h2_end.h. */
#include <stdlib.h>

#include "h2_end.h"

static void end_wrong(struct h2_end *e, const char *what)
{
	if (!e->wrong)
		e->wrong = what;
}

void h2_end_init(struct h2_end *e, bool server, u32 seed)
{
	struct mrpc_h2_config config = {
		.server = server,
		.max_streams = H2_STREAMS,
		.stream_window = H2_WINDOW,
		.conn_window = H2_CONN_WINDOW,
		.max_header_list = 16384,
		.seed = seed,
		.buckets = e->buckets,
		.bits = H2_BITS,
		.gone = e->gone,
		.nr_gone = H2_GONE,
	};

	memset(e, 0, sizeof(*e));
	e->now = 1000 * NSEC_PER_SEC;
	mrpc_h2_parser_init(&e->parser, server);
	if (mrpc_h2_init(&e->conn, &config, e->now))
		end_wrong(e, "init refuses");
}

static struct h2_stream *end_stream(struct mrpc_h2_stream *s)
{
	return container_of(s, struct h2_stream, s);
}

static struct h2_stream **end_slot(struct h2_end *e, const struct h2_stream *s)
{
	u32 i;

	for (i = 0; i < H2_STREAMS; i++)
		if (e->live[i] == s)
			return &e->live[i];
	return NULL;
}

/* The memory goes at once: a use of it is found. */
static void end_gone(struct h2_end *e, struct h2_stream *s)
{
	struct h2_stream **slot = end_slot(e, s);

	if (!slot) {
		end_wrong(e, "a stream is closed twice");
		return;
	}
	if (!s->s.closed)
		end_wrong(e, "a stream is said to be closed and is not");
	*slot = NULL;
	if (e->greedy)
		e->dropped += s->unread;
	else
		mrpc_h2_credit_conn(&e->conn, s->unread);
	free(s);
}

static struct h2_stream *end_new(struct h2_end *e)
{
	struct h2_stream **slot = end_slot(e, NULL);
	struct h2_stream *s = calloc(1, sizeof(*s));

	if (!slot)
		abort();
	*slot = s;
	return s;
}

void h2_end_free(struct h2_end *e)
{
	struct mrpc_h2_stream *s;
	u8 *block = e->parser.block;

	while ((s = mrpc_h2_streams_newest(&e->conn.streams))) {
		mrpc_h2_forget(&e->conn, s);
		end_gone(e, end_stream(s));
	}
	free(block);
	free(e->out);
	e->out = NULL;
}

static void end_content(struct h2_end *e, const struct mrpc_h2_frame *f,
			const struct mrpc_h2_event *ev)
{
	struct h2_stream *s = end_stream(ev->stream);

	s->got += f->len;
	e->got += f->len;
	s->unread += f->len;
	if (!e->greedy && !ev->closed)
		h2_end_read(e, s, f->len);
}

static void end_opened(struct h2_end *e, const struct mrpc_h2_event *ev)
{
	struct h2_stream *s;

	if (ev->id <= e->last_new || !(ev->id & 1) || !e->conn.server)
		end_wrong(e, "a new stream has an id that it may not have");
	e->last_new = ev->id;
	if (e->shy) {
		mrpc_h2_refuse(&e->conn, ev->id, MRPC_H2_REFUSED_STREAM);
		return;
	}
	s = end_new(e);
	mrpc_h2_accept(&e->conn, &s->s, ev->id, ev->end);
}

static void end_event(struct h2_end *e, const struct mrpc_h2_frame *f,
		      const struct mrpc_h2_event *ev)
{
	struct h2_stream *s = ev->stream ? end_stream(ev->stream) : NULL;

	if (ev->type == MRPC_H2_EV_NONE)
		return;
	if (e->nr_events < H2_EVENTS)
		e->events[e->nr_events] = *ev;
	e->nr_events++;
	if (s && !end_slot(e, s)) {
		end_wrong(e, "an event of a stream that is closed");
		return;
	}
	if (s && s->s.closed != ev->closed)
		end_wrong(e, "an event does not tell that the stream is closed");
	if (ev->type == MRPC_H2_EV_HEADERS && !s)
		end_opened(e, ev);
	if (ev->type == MRPC_H2_EV_DATA)
		end_content(e, f, ev);
	if (s && ev->closed)
		end_gone(e, s);
}

/* A frame's payload must lie in what came or in what the parser has. */
static void end_check_frame(struct h2_end *e, const struct mrpc_h2_frame *f, const u8 *buf, u32 len)
{
	const struct mrpc_h2_parser *p = &e->parser;

	if (f->type == MRPC_H2_NO_FRAME || !f->len)
		return;
	if (f->data >= buf && f->data + f->len <= buf + len)
		return;
	if (f->data == p->small && f->len <= sizeof(p->small))
		return;
	if (f->data == p->block && f->len <= MRPC_H2_MAX_BLOCK && f->type == MRPC_H2_HEADERS)
		return;
	end_wrong(e, "a frame's payload is somewhere else");
}

static int end_frame(struct h2_end *e, const struct mrpc_h2_frame *f)
{
	struct mrpc_h2_event ev;
	int ret;

	e->parsed++;
	ret = mrpc_h2_hear(&e->conn, f, e->now, &ev);
	if (ret) {
		if (ret != -EPROTO || !e->conn.why || ev.type != MRPC_H2_EV_NONE)
			end_wrong(e, "an error is not explained");
		return ret;
	}
	if (e->conn.why)
		end_wrong(e, "an error is not returned");
	end_event(e, f, &ev);
	return 0;
}

int h2_end_feed(struct h2_end *e, const u8 *buf, u32 len)
{
	struct mrpc_h2_frame f;
	u32 used = 0;
	int n;

	while (used < len) {
		if (e->conn.why)
			return -EPROTO;
		if (!e->careless && mrpc_h2_congested(&e->conn))
			return used;
		n = mrpc_h2_parse(&e->parser, buf + used, len - used, &f);
		if (n == -ENOBUFS && !e->parser.block) {
			mrpc_h2_parser_give(&e->parser, malloc(MRPC_H2_MAX_BLOCK));
			continue;
		}
		if (n < 0) {
			if (n != -EPROTO || !e->parser.why || !e->parser.code)
				end_wrong(e, "the parser does not explain");
			return mrpc_h2_fail(&e->conn, e->parser.code, e->parser.why);
		}
		if (!n)
			end_wrong(e, "the parser uses nothing");
		end_check_frame(e, &f, buf + used, n);
		used += n;
		if (f.type != MRPC_H2_NO_FRAME && end_frame(e, &f))
			return -EPROTO;
		free(mrpc_h2_parser_take_back(&e->parser));
	}
	return used;
}

int h2_end_feed_in(struct h2_end *e, const u8 *buf, u32 len, u32 piece)
{
	u32 at = 0;

	while (at < len) {
		u32 n = min(piece, len - at);
		u8 *exact = malloc(n);
		int ret;

		memcpy(exact, buf + at, n);
		ret = h2_end_feed(e, exact, n);
		free(exact);
		if (ret < 0)
			return ret;
		at += ret;
		if ((u32)ret < n)
			break;
	}
	return at;
}

void h2_end_say(struct h2_end *e, const void *bytes, u32 len)
{
	while (e->out_room < e->out_len + len) {
		e->out_room = e->out_room * 2 + 4096;
		e->out = realloc(e->out, e->out_room);
	}
	memcpy(e->out + e->out_len, bytes, len);
	e->out_len += len;
}

void h2_end_flush(struct h2_end *e)
{
	u32 room = MRPC_H2_OWED_ROOM, n;
	u8 *out = malloc(room);

	while ((n = mrpc_h2_owed(&e->conn, out, room))) {
		if (n > room)
			end_wrong(e, "more is written than there is room");
		h2_end_say(e, out, n);
	}
	if (mrpc_h2_owes(&e->conn))
		end_wrong(e, "something is due that is never written");
	free(out);
}

struct h2_stream *h2_end_open(struct h2_end *e, bool end, int *ret)
{
	struct h2_stream *s = end_new(e);
	u8 out[64];

	*ret = mrpc_h2_open(&e->conn, &s->s, end);
	if (*ret) {
		*end_slot(e, s) = NULL;
		free(s);
		return NULL;
	}
	h2_end_say(e, out, mrpc_h2_put_headers(out, sizeof(out), s->s.id, (const u8 *)"\x83", 1, end));
	return s;
}

static void end_ended(struct h2_end *e, struct h2_stream *s)
{
	if (mrpc_h2_end_local(&e->conn, &s->s))
		end_gone(e, s);
}

u32 h2_end_send(struct h2_end *e, struct h2_stream *s, u32 n, bool end)
{
	static const u8 content[MRPC_H2_MAX_FRAME];
	u8 header[MRPC_H2_FRAME_HEADER];
	s64 may = mrpc_h2_may_send(&e->conn, &s->s);

	if (may < 0 || may > MRPC_H2_MAX_FRAME || may > max_t(s64, e->conn.tx_window, 0) ||
	    may > max_t(s64, s->s.tx_window, 0))
		end_wrong(e, "more may be sent than windows allow");
	if (s->s.local_end)
		return 0;
	end = end && n <= may;
	n = min_t(s64, n, may);
	if (!n && !end)
		return 0;
	mrpc_h2_put_data_header(header, s->s.id, n, end);
	mrpc_h2_sent(&e->conn, &s->s, n);
	s->sent += n;
	e->sent += n;
	h2_end_say(e, header, sizeof(header));
	h2_end_say(e, content, n);
	if (end)
		end_ended(e, s);
	return n;
}

void h2_end_headers(struct h2_end *e, struct h2_stream *s, bool end)
{
	u8 out[64];

	if (s->s.local_end)
		return;
	h2_end_say(e, out, mrpc_h2_put_headers(out, sizeof(out), s->s.id, (const u8 *)"\x88", 1, end));
	s->headed = true;
	if (end)
		end_ended(e, s);
}

void h2_end_reset(struct h2_end *e, struct h2_stream *s, u32 code)
{
	if (!mrpc_h2_reset(&e->conn, &s->s, code))
		end_wrong(e, "a stream that is open cannot be reset");
	end_gone(e, s);
}

void h2_end_read(struct h2_end *e, struct h2_stream *s, u32 n)
{
	n = min_t(u64, n, s->unread);
	s->unread -= n;
	mrpc_h2_took(&e->conn, &s->s, n);
}

void h2_end_drop(struct h2_end *e)
{
	mrpc_h2_credit_conn(&e->conn, e->dropped);
	e->dropped = 0;
}

static const char *end_check_window(const struct mrpc_h2_window *w)
{
	if (w->left < 0 || w->credit < 0 || w->target > MRPC_H2_MAX_WINDOW)
		return "a window of the receiver is out of its bounds";
	if (w->left + w->credit > w->target)
		return "a window of the receiver grows";
	return NULL;
}

/* What a window counts and is not credited; of a frame, all counts from its beginning on. */
static s64 end_uncredited(const struct h2_end *e, const struct h2_stream *s)
{
	u32 rest = e->parser.f.stream == s->s.id ? mrpc_h2_parser_rest(&e->parser) : 0;

	return s->unread + rest;
}

static const char *end_check_streams(struct h2_end *e)
{
	u32 i, nr = 0, listed = 0;

	for (i = 0; i < H2_STREAMS; i++) {
		struct h2_stream *s = e->live[i];
		const char *what;

		if (!s)
			continue;
		nr++;
		listed += s->s.listed;
		if (s->s.closed || (s->s.local_end && s->s.remote_end))
			return "a stream that is closed is in the table";
		if (mrpc_h2_streams_find(&e->conn.streams, s->s.id) != &s->s)
			return "a stream is not found";
		if (s->s.tx_window > MRPC_H2_MAX_WINDOW)
			return "a stream's window is too large";
		what = end_check_window(&s->s.rx);
		if (what)
			return what;
		if (e->greedy && !e->conn.why && !s->s.remote_end &&
		    s->s.rx.target - s->s.rx.left - s->s.rx.credit != end_uncredited(e, s))
			return "a stream's window does not count what is unread";
	}
	if (nr != e->conn.streams.nr || listed != e->conn.streams.nr_due)
		return "streams are miscounted";
	return NULL;
}

const char *h2_end_check(struct h2_end *e)
{
	const struct mrpc_h2_conn *c = &e->conn;
	const char *what = end_check_streams(e);

	if (e->wrong)
		return e->wrong;
	if (what)
		return what;
	if (c->tx_window > MRPC_H2_MAX_WINDOW)
		return "the connection's window is too large";
	if (c->nr_pings > MRPC_H2_MAX_PINGS || mrpc_h2_gone_owed(&c->gone) + c->streams.nr > H2_GONE)
		return "more is owed than there is room for";
	if (!e->careless && c->acks * 9 + c->nr_pings * 17 > MRPC_H2_MAX_OWED)
		return "more is owed than allowed";
	if (c->next_id > MRPC_H2_MAX_ID + 2 || c->last_peer > MRPC_H2_MAX_ID)
		return "ids are too large";
	return end_check_window(&c->rx);
}

bool h2_next_sent(const u8 **at, const u8 *end, struct h2_sent *f)
{
	if (end - *at < MRPC_H2_FRAME_HEADER)
		return false;
	*f = (struct h2_sent){
		.data = *at + MRPC_H2_FRAME_HEADER,
		.len = get_unaligned_be24(*at),
		.type = (*at)[3],
		.flags = (*at)[4],
		.stream = get_unaligned_be32(*at + 5),
	};
	if ((u32)(end - f->data) < f->len)
		return false;
	*at = f->data + f->len;
	return true;
}

bool h2_end_find(const struct h2_end *e, u8 type, struct h2_sent *f)
{
	const u8 *at = e->out;

	if (e->out_len >= MRPC_H2_PREFACE_LEN && !memcmp(at, MRPC_H2_PREFACE, MRPC_H2_PREFACE_LEN))
		at += MRPC_H2_PREFACE_LEN;
	while (h2_next_sent(&at, e->out + e->out_len, f))
		if (f->type == type)
			return true;
	return false;
}

struct mrpc_h2_event h2_end_last(const struct h2_end *e)
{
	if (!e->nr_events || e->nr_events > H2_EVENTS)
		return (struct mrpc_h2_event){ .type = MRPC_H2_EV_NONE };
	return e->events[e->nr_events - 1];
}
