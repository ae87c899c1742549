// SPDX-License-Identifier: GPL-2.0
/* Control frames of an HTTP/2 connection that are due; see owed.h. */
#include "lib/http2/owed.h"

#define OWED_ACK	MRPC_H2_FRAME_HEADER
#define OWED_PING	(MRPC_H2_FRAME_HEADER + MRPC_H2_PING_LEN)
#define OWED_WORD	(MRPC_H2_FRAME_HEADER + 4)
#define OWED_GOAWAY	(MRPC_H2_FRAME_HEADER + MRPC_H2_GOAWAY_LEN)
#define OWED_SETTINGS	3	/* entries of our SETTINGS */
#define OWED_BEGIN	(MRPC_H2_PREFACE_LEN + MRPC_H2_FRAME_HEADER + \
			 OWED_SETTINGS * MRPC_H2_SETTING_LEN)

/* Where the frames go: the next byte, and the end of the room. */
struct owed {
	u8 *at;
	u8 *end;
};

static bool owed_fits(const struct owed *o, u32 n)
{
	return (u32)(o->end - o->at) >= n;
}

static void owed_bytes(struct owed *o, const void *bytes, u32 n)
{
	memcpy(o->at, bytes, n);
	o->at += n;
}

static void owed_ping(struct owed *o, u8 flags, const void *opaque)
{
	o->at = mrpc_h2_put_frame(o->at, MRPC_H2_PING_LEN, MRPC_H2_PING, flags, 0);
	owed_bytes(o, opaque, MRPC_H2_PING_LEN);
}

/* RST_STREAM and WINDOW_UPDATE. */
static void owed_word(struct owed *o, u8 type, u32 stream, u32 word)
{
	o->at = mrpc_h2_put_frame(o->at, 4, type, 0, stream);
	put_unaligned_be32(word, o->at);
	o->at += 4;
}

static void owed_goaway(struct owed *o, u32 last, u32 code, const char *why)
{
	u32 len = strnlen(why, MRPC_H2_MAX_REASON);

	o->at = mrpc_h2_put_frame(o->at, MRPC_H2_GOAWAY_LEN + len, MRPC_H2_GOAWAY, 0, 0);
	put_unaligned_be32(last, o->at);
	put_unaligned_be32(code, o->at + 4);
	o->at += MRPC_H2_GOAWAY_LEN;
	owed_bytes(o, why, len);
}

static void owed_setting(struct owed *o, u16 setting, u32 value)
{
	put_unaligned_be16(setting, o->at);
	put_unaligned_be32(value, o->at + 2);
	o->at += MRPC_H2_SETTING_LEN;
}

static void owed_begin(struct mrpc_h2_conn *c, struct owed *o)
{
	if (!c->server)
		owed_bytes(o, MRPC_H2_PREFACE, MRPC_H2_PREFACE_LEN);
	o->at = mrpc_h2_put_frame(o->at, OWED_SETTINGS * MRPC_H2_SETTING_LEN, MRPC_H2_SETTINGS, 0, 0);
	if (c->server)
		owed_setting(o, MRPC_H2_SET_MAX_STREAMS, c->config.max_streams);
	else
		owed_setting(o, MRPC_H2_SET_PUSH, 0);
	owed_setting(o, MRPC_H2_SET_WINDOW, c->config.stream_window);
	owed_setting(o, MRPC_H2_SET_MAX_HEADER_LIST, c->config.max_header_list);
	c->preface = false;
}

static void owed_answers(struct mrpc_h2_conn *c, struct owed *o)
{
	while (c->acks && owed_fits(o, OWED_ACK)) {
		o->at = mrpc_h2_put_frame(o->at, 0, MRPC_H2_SETTINGS, MRPC_H2_FLAG_ACK, 0);
		c->acks--;
	}
	while (c->nr_pings && owed_fits(o, OWED_PING)) {
		owed_ping(o, MRPC_H2_FLAG_ACK, c->pings[c->first_ping]);
		c->first_ping = (c->first_ping + 1) % MRPC_H2_MAX_PINGS;
		c->nr_pings--;
	}
}

static void owed_resets(struct mrpc_h2_conn *c, struct owed *o)
{
	while (mrpc_h2_gone_owed(&c->gone) && owed_fits(o, OWED_WORD)) {
		const struct mrpc_h2_gone *gone = mrpc_h2_gone_next(&c->gone);

		owed_word(o, MRPC_H2_RST_STREAM, gone->id, gone->code);
	}
}

static void owed_updates(struct mrpc_h2_conn *c, struct owed *o)
{
	if (mrpc_h2_window_due(&c->rx) && owed_fits(o, OWED_WORD))
		owed_word(o, MRPC_H2_WINDOW_UPDATE, 0, mrpc_h2_window_say(&c->rx));
	while (c->streams.nr_due && owed_fits(o, OWED_WORD)) {
		struct mrpc_h2_stream *s = mrpc_h2_streams_next_due(&c->streams);

		owed_word(o, MRPC_H2_WINDOW_UPDATE, s->id, mrpc_h2_window_say(&s->rx));
	}
}

static void owed_leave(struct mrpc_h2_conn *c, struct owed *o)
{
	if (c->leave == MRPC_H2_WARNS && owed_fits(o, OWED_GOAWAY + OWED_PING)) {
		owed_goaway(o, MRPC_H2_MAX_ID, MRPC_H2_NO_ERROR, "");
		owed_ping(o, 0, MRPC_H2_PING_DRAIN);
		c->leave = MRPC_H2_WARNED;
	}
	if (c->leave == MRPC_H2_LEAVES && owed_fits(o, OWED_GOAWAY + MRPC_H2_MAX_REASON)) {
		owed_goaway(o, c->left_id, c->code, c->why ? c->why : "");
		c->leave = MRPC_H2_LEFT;
	}
}

u32 mrpc_h2_owed(struct mrpc_h2_conn *c, u8 *out, u32 room)
{
	struct owed o = { .at = out, .end = out + room };

	if (c->preface) {
		if (!owed_fits(&o, OWED_BEGIN))
			return 0;
		owed_begin(c, &o);
	}
	if (!c->why) {
		owed_answers(c, &o);
		owed_resets(c, &o);
		owed_updates(c, &o);
	}
	owed_leave(c, &o);
	if (c->ping == MRPC_H2_PING_DUE && !c->why && owed_fits(&o, OWED_PING)) {
		owed_ping(&o, 0, MRPC_H2_PING_PROBE);
		c->ping = MRPC_H2_PING_SENT;
	}
	return o.at - out;
}

bool mrpc_h2_owes(const struct mrpc_h2_conn *c)
{
	if (c->preface || c->leave == MRPC_H2_WARNS || c->leave == MRPC_H2_LEAVES)
		return true;
	if (c->why)
		return false;
	return c->acks || c->nr_pings || mrpc_h2_gone_owed(&c->gone) || c->streams.nr_due ||
	       c->ping == MRPC_H2_PING_DUE || mrpc_h2_window_due(&c->rx);
}

bool mrpc_h2_congested(const struct mrpc_h2_conn *c)
{
	u32 bytes = c->acks * OWED_ACK + c->nr_pings * OWED_PING +
		    mrpc_h2_gone_owed(&c->gone) * OWED_WORD;

	/* A frame makes one answer at most. */
	return bytes + OWED_PING > MRPC_H2_MAX_OWED || c->nr_pings == MRPC_H2_MAX_PINGS ||
	       mrpc_h2_gone_room(c) <= MRPC_H2_GONE_SPARE;
}
