// SPDX-License-Identifier: GPL-2.0
/* What an HTTP/2 connection makes of a frame, or of time; see hear.h. */
#include "lib/http2/hear.h"

/* What a stream that is not in the table is. */
enum hear_absent {
	ABSENT_IDLE,		/* never opened */
	ABSENT_IGNORED,		/* closed, and what comes for it is no fault of the connection */
	ABSENT_CLOSED,
};

static enum hear_absent hear_absent(const struct mrpc_h2_conn *c, u32 id)
{
	bool ours = id & 1;

	/* No server pushes: all streams are the client's. */
	if (!ours)
		return ABSENT_IDLE;
	if (c->server && c->leave >= MRPC_H2_LEAVES && id > c->left_id)
		return ABSENT_IGNORED;
	if (c->server ? id > c->last_peer : id >= c->next_id)
		return ABSENT_IDLE;
	/*
	 * The server may still answer on a stream that a client's ring has forgotten. gRPC's servers
	 * in C++ answer twice where the call's deadline passes and the client resets the stream: the
	 * second answer comes behind END_STREAM and RST_STREAM of the first.
	 */
	if (!c->server)
		return ABSENT_IGNORED;
	return mrpc_h2_gone_has(&c->gone, id) ? ABSENT_IGNORED : ABSENT_CLOSED;
}

static void hear_event(struct mrpc_h2_event *ev, u8 type, struct mrpc_h2_stream *s)
{
	ev->type = type;
	ev->stream = s;
	if (!s)
		return;
	ev->id = s->id;
	ev->closed = s->closed;
}

static int hear_stream_error(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u32 code, u64 now,
			     struct mrpc_h2_event *ev)
{
	int ret = mrpc_h2_charge(c, MRPC_H2_COST_RESET, now);

	if (ret)
		return ret;
	mrpc_h2_reset(c, s, code);
	hear_event(ev, MRPC_H2_EV_STREAM_ERROR, s);
	ev->code = code;
	return 0;
}

/* The peer ends @s. */
static void hear_end(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s)
{
	mrpc_h2_streams_end_remote(&c->streams, s);
	if (s->local_end)
		mrpc_h2_streams_del(&c->streams, s);
}

/* Content of a stream, or what is ignored of one. */
static int hear_content(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s,
			const struct mrpc_h2_frame *f, struct mrpc_h2_event *ev)
{
	if (!s) {
		mrpc_h2_credit_conn(c, f->len);
		return 0;
	}
	c->content += f->len;
	if (c->content >= MRPC_H2_WORTH) {
		c->content -= MRPC_H2_WORTH;
		mrpc_h2_reward(c);
	}
	if (f->end)
		hear_end(c, s);
	hear_event(ev, MRPC_H2_EV_DATA, s);
	ev->end = f->end;
	return 0;
}

/* DATA for a stream that takes none. */
static int hear_data_refused(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u32 code,
			     const struct mrpc_h2_frame *f, u64 now, struct mrpc_h2_event *ev)
{
	mrpc_h2_credit_conn(c, f->pad + f->len);
	return hear_stream_error(c, s, code, now, ev);
}

static int hear_data_absent(struct mrpc_h2_conn *c, const struct mrpc_h2_frame *f)
{
	switch (hear_absent(c, f->stream)) {
	case ABSENT_IDLE:
		return mrpc_h2_fail(c, MRPC_H2_PROTOCOL_ERROR, "DATA for a stream that is not open");
	case ABSENT_CLOSED:
		return mrpc_h2_fail(c, MRPC_H2_STREAM_CLOSED, "DATA for a stream that is closed");
	case ABSENT_IGNORED:
		break;
	}
	mrpc_h2_credit_conn(c, f->pad + f->len);
	return 0;
}

static int hear_data(struct mrpc_h2_conn *c, const struct mrpc_h2_frame *f, u64 now,
		     struct mrpc_h2_event *ev)
{
	struct mrpc_h2_stream *s = mrpc_h2_streams_find(&c->streams, f->stream);

	/* The frame was judged at its first piece. */
	if (!f->first)
		return hear_content(c, s, f, ev);
	if (!mrpc_h2_window_take(&c->rx, f->total))
		return mrpc_h2_fail(c, MRPC_H2_FLOW_CONTROL_ERROR,
				    "DATA is longer than the connection's window");
	if (f->total == f->pad && !f->end && mrpc_h2_charge(c, MRPC_H2_COST_FRAME, now))
		return -EPROTO;
	if (!s)
		return hear_data_absent(c, f);
	if (s->remote_end)
		return hear_data_refused(c, s, MRPC_H2_STREAM_CLOSED, f, now, ev);
	if (!s->headed)
		return hear_data_refused(c, s, MRPC_H2_PROTOCOL_ERROR, f, now, ev);
	if (!mrpc_h2_window_take(&s->rx, f->total))
		return hear_data_refused(c, s, MRPC_H2_FLOW_CONTROL_ERROR, f, now, ev);
	mrpc_h2_took(c, s, f->pad);
	return hear_content(c, s, f, ev);
}

/* The client opens a stream. */
static int hear_new(struct mrpc_h2_conn *c, const struct mrpc_h2_frame *f, u64 now,
		    struct mrpc_h2_event *ev)
{
	if (!c->server || !(f->stream & 1))
		return mrpc_h2_fail(c, MRPC_H2_PROTOCOL_ERROR,
				    "HEADERS for a stream that the peer may not open");
	if (!mrpc_h2_gone_room(c))
		return mrpc_h2_fail(c, MRPC_H2_ENHANCE_YOUR_CALM,
				    "A stream is opened while too many answers are due");
	c->last_peer = f->stream;
	if (c->streams.nr >= c->config.max_streams) {
		mrpc_h2_refuse(c, f->stream, MRPC_H2_REFUSED_STREAM);
		return mrpc_h2_charge(c, MRPC_H2_COST_RESET, now);
	}
	hear_event(ev, MRPC_H2_EV_HEADERS, NULL);
	ev->id = f->stream;
	ev->end = f->end;
	return 0;
}

static int hear_headers_absent(struct mrpc_h2_conn *c, const struct mrpc_h2_frame *f, u64 now,
			       struct mrpc_h2_event *ev)
{
	switch (hear_absent(c, f->stream)) {
	case ABSENT_IDLE:
		return hear_new(c, f, now, ev);
	case ABSENT_CLOSED:
		return mrpc_h2_fail(c, MRPC_H2_STREAM_CLOSED,
				    "HEADERS for a stream that is closed");
	case ABSENT_IGNORED:
		break;
	}
	return mrpc_h2_charge(c, MRPC_H2_COST_FRAME, now);
}

static int hear_headers(struct mrpc_h2_conn *c, const struct mrpc_h2_frame *f, u64 now,
			struct mrpc_h2_event *ev)
{
	struct mrpc_h2_stream *s = mrpc_h2_streams_find(&c->streams, f->stream);
	bool trailers;

	if (!f->len && mrpc_h2_charge(c, MRPC_H2_COST_FRAME, now))
		return -EPROTO;
	if (!s)
		return hear_headers_absent(c, f, now, ev);
	if (s->remote_end)
		return hear_stream_error(c, s, MRPC_H2_STREAM_CLOSED, now, ev);
	trailers = s->headed;
	if (trailers && !f->end)
		return hear_stream_error(c, s, MRPC_H2_PROTOCOL_ERROR, now, ev);
	s->headed = true;
	if (f->end)
		hear_end(c, s);
	hear_event(ev, MRPC_H2_EV_HEADERS, s);
	ev->end = f->end;
	ev->trailers = trailers;
	return 0;
}

static int hear_priority(struct mrpc_h2_conn *c, const struct mrpc_h2_frame *f, u64 now,
			 struct mrpc_h2_event *ev)
{
	struct mrpc_h2_stream *s;

	if (!f->code)
		return mrpc_h2_charge(c, MRPC_H2_COST_FRAME, now);
	s = mrpc_h2_streams_find(&c->streams, f->stream);
	if (s)
		return hear_stream_error(c, s, f->code, now, ev);
	/* RST_STREAM cannot answer for a stream that never was. */
	if (hear_absent(c, f->stream) == ABSENT_IDLE)
		return mrpc_h2_fail(c, f->code, "PRIORITY has a wrong length");
	return mrpc_h2_charge(c, MRPC_H2_COST_FRAME, now);
}

static int hear_reset(struct mrpc_h2_conn *c, const struct mrpc_h2_frame *f, u64 now,
		      struct mrpc_h2_event *ev)
{
	struct mrpc_h2_stream *s = mrpc_h2_streams_find(&c->streams, f->stream);
	enum hear_absent absent = s ? ABSENT_CLOSED : hear_absent(c, f->stream);
	u32 cost = MRPC_H2_COST_RESET;

	if (absent == ABSENT_IDLE)
		return mrpc_h2_fail(c, MRPC_H2_PROTOCOL_ERROR,
				    "RST_STREAM for a stream that is not open");
	if (absent == ABSENT_IGNORED)
		cost = MRPC_H2_COST_FRAME;
	/* A client made the stream: how many are reset is in its own hands. */
	if (s && !c->server)
		cost = 0;
	if (cost && mrpc_h2_charge(c, cost, now))
		return -EPROTO;
	if (!s)
		return 0;
	mrpc_h2_streams_del(&c->streams, s);
	hear_event(ev, MRPC_H2_EV_RESET, s);
	ev->code = get_unaligned_be32(f->data);
	return 0;
}

static int hear_setting(struct mrpc_h2_conn *c, struct mrpc_h2_peer *peer, u16 setting, u32 value)
{
	switch (setting) {
	case MRPC_H2_SET_TABLE_SIZE:
		peer->table_size = value;
		peer->table_least = min(peer->table_least, value);
		c->table_changed = true;
		break;
	case MRPC_H2_SET_PUSH:
		if (value > c->server)
			return mrpc_h2_fail(c, MRPC_H2_PROTOCOL_ERROR,
					    "SETTINGS has a value of ENABLE_PUSH that is not allowed");
		break;
	case MRPC_H2_SET_MAX_STREAMS:
		peer->max_streams = value;
		break;
	case MRPC_H2_SET_WINDOW:
		if (value > MRPC_H2_MAX_WINDOW)
			return mrpc_h2_fail(c, MRPC_H2_FLOW_CONTROL_ERROR,
					    "SETTINGS has a window larger than 2^31-1");
		peer->window = value;
		break;
	case MRPC_H2_SET_MAX_FRAME:
		if (value < MRPC_H2_MAX_FRAME || value > MRPC_H2_MAX_FRAME_LIMIT)
			return mrpc_h2_fail(c, MRPC_H2_PROTOCOL_ERROR,
					    "SETTINGS has a MAX_FRAME_SIZE that is not allowed");
		break;
	case MRPC_H2_SET_MAX_HEADER_LIST:
		peer->max_header_list = value;
		break;
	}
	return 0;
}

static int hear_settings(struct mrpc_h2_conn *c, const struct mrpc_h2_frame *f, u64 now,
			 struct mrpc_h2_event *ev)
{
	struct mrpc_h2_peer peer = c->peer;
	u32 at;
	int ret;

	if (c->settled && mrpc_h2_charge(c, MRPC_H2_COST_RESET, now))
		return -EPROTO;
	for (at = 0; at < f->len; at += MRPC_H2_SETTING_LEN) {
		ret = hear_setting(c, &peer, get_unaligned_be16(f->data + at),
				   get_unaligned_be32(f->data + at + 2));
		if (ret)
			return ret;
	}
	if (!mrpc_h2_streams_shift(&c->streams, (s64)peer.window - c->peer.window))
		return mrpc_h2_fail(c, MRPC_H2_FLOW_CONTROL_ERROR,
				    "SETTINGS makes a stream's window larger than 2^31-1");
	c->peer = peer;
	c->acks++;
	hear_event(ev, c->settled ? MRPC_H2_EV_OPENED : MRPC_H2_EV_READY, NULL);
	c->settled = true;
	return 0;
}

static int hear_settings_ack(struct mrpc_h2_conn *c, u64 now)
{
	if (c->acked || c->preface)
		return mrpc_h2_charge(c, MRPC_H2_COST_RESET, now);
	c->acked = true;
	return 0;
}

static int hear_ping(struct mrpc_h2_conn *c, const struct mrpc_h2_frame *f, u64 now)
{
	u32 at;

	if (mrpc_h2_charge(c, MRPC_H2_COST_FRAME, now))
		return -EPROTO;
	if (c->nr_pings == MRPC_H2_MAX_PINGS)
		return mrpc_h2_fail(c, MRPC_H2_ENHANCE_YOUR_CALM,
				    "PINGs come while too many answers are due");
	at = (c->first_ping + c->nr_pings++) % MRPC_H2_MAX_PINGS;
	memcpy(c->pings[at], f->data, MRPC_H2_PING_LEN);
	return 0;
}

static int hear_pong(struct mrpc_h2_conn *c, const struct mrpc_h2_frame *f, u64 now,
		     struct mrpc_h2_event *ev)
{
	if (c->leave == MRPC_H2_WARNED && !memcmp(f->data, MRPC_H2_PING_DRAIN, MRPC_H2_PING_LEN)) {
		hear_event(ev, MRPC_H2_EV_DRAINED, NULL);
		ev->id = mrpc_h2_drained(c);
		return 0;
	}
	if (c->ping == MRPC_H2_PING_SENT && !memcmp(f->data, MRPC_H2_PING_PROBE, MRPC_H2_PING_LEN)) {
		c->ping = MRPC_H2_PING_NONE;
		hear_event(ev, MRPC_H2_EV_PONG, NULL);
		return 0;
	}
	return mrpc_h2_charge(c, MRPC_H2_COST_FRAME, now);
}

static int hear_goaway(struct mrpc_h2_conn *c, const struct mrpc_h2_frame *f, u64 now,
		       struct mrpc_h2_event *ev)
{
	if (mrpc_h2_charge(c, MRPC_H2_COST_FRAME, now))
		return -EPROTO;
	c->peer_left = true;
	c->peer_last = min(c->peer_last, get_unaligned_be32(f->data) & MRPC_H2_MAX_ID);
	hear_event(ev, MRPC_H2_EV_GOAWAY, NULL);
	ev->id = c->peer_last;
	ev->code = get_unaligned_be32(f->data + 4);
	return 0;
}

static int hear_update_conn(struct mrpc_h2_conn *c, u32 n, struct mrpc_h2_event *ev)
{
	if (!n)
		return mrpc_h2_fail(c, MRPC_H2_PROTOCOL_ERROR, "WINDOW_UPDATE of nothing");
	if (!mrpc_h2_window_open(&c->tx_window, n))
		return mrpc_h2_fail(c, MRPC_H2_FLOW_CONTROL_ERROR,
				    "WINDOW_UPDATE makes a window larger than 2^31-1");
	hear_event(ev, MRPC_H2_EV_OPENED, NULL);
	return 0;
}

static int hear_update_stream(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u32 n, u64 now,
			      struct mrpc_h2_event *ev)
{
	if (!n)
		return hear_stream_error(c, s, MRPC_H2_PROTOCOL_ERROR, now, ev);
	if (!mrpc_h2_window_open(&s->tx_window, n))
		return hear_stream_error(c, s, MRPC_H2_FLOW_CONTROL_ERROR, now, ev);
	if (!s->local_end)
		hear_event(ev, MRPC_H2_EV_OPENED, s);
	return 0;
}

static int hear_update(struct mrpc_h2_conn *c, const struct mrpc_h2_frame *f, u64 now,
		       struct mrpc_h2_event *ev)
{
	u32 n = get_unaligned_be32(f->data) & MRPC_H2_MAX_WINDOW;
	struct mrpc_h2_stream *s;

	if (c->updates)
		c->updates--;
	else if (mrpc_h2_charge(c, MRPC_H2_COST_FRAME, now))
		return -EPROTO;
	if (!f->stream)
		return hear_update_conn(c, n, ev);
	s = mrpc_h2_streams_find(&c->streams, f->stream);
	if (s)
		return hear_update_stream(c, s, n, now, ev);
	if (hear_absent(c, f->stream) == ABSENT_IDLE)
		return mrpc_h2_fail(c, MRPC_H2_PROTOCOL_ERROR,
				    "WINDOW_UPDATE for a stream that is not open");
	return 0;
}

int mrpc_h2_hear(struct mrpc_h2_conn *c, const struct mrpc_h2_frame *f, u64 now,
		 struct mrpc_h2_event *ev)
{
	bool ack = f->flags & MRPC_H2_FLAG_ACK;

	*ev = (struct mrpc_h2_event){ .type = MRPC_H2_EV_NONE };
	if (c->why)
		return -EPROTO;
	switch (f->type) {
	case MRPC_H2_DATA:
		return hear_data(c, f, now, ev);
	case MRPC_H2_HEADERS:
		return hear_headers(c, f, now, ev);
	case MRPC_H2_PRIORITY:
		return hear_priority(c, f, now, ev);
	case MRPC_H2_RST_STREAM:
		return hear_reset(c, f, now, ev);
	case MRPC_H2_SETTINGS:
		return ack ? hear_settings_ack(c, now) : hear_settings(c, f, now, ev);
	case MRPC_H2_PING:
		return ack ? hear_pong(c, f, now, ev) : hear_ping(c, f, now);
	case MRPC_H2_GOAWAY:
		return hear_goaway(c, f, now, ev);
	case MRPC_H2_WINDOW_UPDATE:
		return hear_update(c, f, now, ev);
	}
	return mrpc_h2_charge(c, MRPC_H2_COST_FRAME, now);
}

int mrpc_h2_expire(struct mrpc_h2_conn *c, u64 now, struct mrpc_h2_event *ev)
{
	*ev = (struct mrpc_h2_event){ .type = MRPC_H2_EV_NONE };
	if (c->why)
		return -EPROTO;
	if (!c->acked && now >= c->settle_by)
		return mrpc_h2_fail(c, MRPC_H2_SETTINGS_TIMEOUT,
				    "The peer does not acknowledge SETTINGS");
	if ((c->leave == MRPC_H2_WARNS || c->leave == MRPC_H2_WARNED) && now >= c->drain_by) {
		hear_event(ev, MRPC_H2_EV_DRAINED, NULL);
		ev->id = mrpc_h2_drained(c);
	}
	return 0;
}
