// SPDX-License-Identifier: GPL-2.0
/*
 * The parser of HTTP/2's frames; see parser.h.
 *
 * Each step takes at least one byte, or ends a frame. So time is linear in the input.
 */
#include "lib/http2/parser.h"

enum parser_state {
	PARSER_PREFACE,
	PARSER_HEADER,
	PARSER_PREFIX,		/* of DATA and HEADERS: length of padding, priority */
	PARSER_SMALL,		/* a payload that is gathered */
	PARSER_DATA,
	PARSER_BLOCK,
	PARSER_SKIP,
};

/* Which stream id a frame must have. */
enum parser_id {
	ID_ANY,
	ID_STREAM,
	ID_CONN,
};

static const u8 parser_ids[] = {
	[MRPC_H2_DATA]		= ID_STREAM,
	[MRPC_H2_HEADERS]	= ID_STREAM,
	[MRPC_H2_PRIORITY]	= ID_STREAM,
	[MRPC_H2_RST_STREAM]	= ID_STREAM,
	[MRPC_H2_SETTINGS]	= ID_CONN,
	[MRPC_H2_PUSH_PROMISE]	= ID_STREAM,
	[MRPC_H2_PING]		= ID_CONN,
	[MRPC_H2_GOAWAY]	= ID_CONN,
	[MRPC_H2_WINDOW_UPDATE]	= ID_ANY,
	[MRPC_H2_CONTINUATION]	= ID_STREAM,
};

static int parser_fail(struct mrpc_h2_parser *p, u32 code, const char *why)
{
	p->code = code;
	p->why = why;
	return -EPROTO;
}

static void parser_gather(struct mrpc_h2_parser *p, u8 state, u32 need)
{
	p->state = state;
	p->have = 0;
	p->need = need;
}

/* A frame is complete but for what is to be dropped. */
static void parser_next(struct mrpc_h2_parser *p)
{
	if (p->skip)
		p->state = PARSER_SKIP;
	else
		parser_gather(p, PARSER_HEADER, MRPC_H2_FRAME_HEADER);
}

void mrpc_h2_parser_init(struct mrpc_h2_parser *p, bool server)
{
	memset(p, 0, sizeof(*p));
	parser_next(p);
	if (server)
		parser_gather(p, PARSER_PREFACE, MRPC_H2_PREFACE_LEN);
}

u32 mrpc_h2_parser_rest(const struct mrpc_h2_parser *p)
{
	return p->state == PARSER_DATA ? p->left : 0;
}

/* All of the frame is dropped; what is known of it is the result. */
static int parser_drop(struct mrpc_h2_parser *p, u32 len, struct mrpc_h2_frame *frame)
{
	*frame = p->f;
	p->skip = len;
	parser_next(p);
	return 0;
}

static int parser_begin_small(struct mrpc_h2_parser *p, u32 len, bool fits, u32 keep,
			      struct mrpc_h2_frame *frame)
{
	if (!fits)
		return parser_fail(p, MRPC_H2_FRAME_SIZE_ERROR,
				   "A frame has a length that its type cannot have");
	if (!len)
		return parser_drop(p, 0, frame);
	parser_gather(p, PARSER_SMALL, min(len, keep));
	p->skip = len - p->need;
	return 0;
}

static int parser_begin_settings(struct mrpc_h2_parser *p, u32 len, struct mrpc_h2_frame *frame)
{
	bool ack = p->f.flags & MRPC_H2_FLAG_ACK;
	bool fits = ack ? !len : len % MRPC_H2_SETTING_LEN == 0;

	if (fits && len > MRPC_H2_MAX_SMALL)
		return parser_fail(p, MRPC_H2_ENHANCE_YOUR_CALM,
				   "SETTINGS has more entries than this end accepts");
	p->settled = true;
	return parser_begin_small(p, len, fits, len, frame);
}

static int parser_begin_block(struct mrpc_h2_parser *p, u32 len)
{
	if (p->block_len + len > MRPC_H2_MAX_BLOCK || p->block_frames == MRPC_H2_MAX_BLOCK_FRAMES)
		return parser_fail(p, MRPC_H2_ENHANCE_YOUR_CALM,
				   "A header block is larger than this end accepts");
	p->block_frames++;
	p->left = len;
	p->state = PARSER_BLOCK;
	return 0;
}

/* The fields that flags announce are complete: the content of DATA or HEADERS begins. */
static int parser_prefix(struct mrpc_h2_parser *p)
{
	u32 left = p->left;

	p->skip = p->f.flags & MRPC_H2_FLAG_PADDED ? p->small[0] : 0;
	if (p->skip > left)
		return parser_fail(p, MRPC_H2_PROTOCOL_ERROR, "Padding is longer than its frame");
	left -= p->skip;
	if (p->f.type == MRPC_H2_HEADERS)
		return parser_begin_block(p, left);
	p->f.pad = p->need + p->skip;
	p->left = left;
	p->state = PARSER_DATA;
	return 0;
}

/* DATA and HEADERS begin with fields that their flags announce. */
static int parser_begin_prefix(struct mrpc_h2_parser *p, u32 len)
{
	u32 n = 0;

	if (p->f.flags & MRPC_H2_FLAG_PADDED)
		n += 1;
	if (p->f.type == MRPC_H2_HEADERS && p->f.flags & MRPC_H2_FLAG_PRIORITY)
		n += 5;
	if (n > len)
		return parser_fail(p, MRPC_H2_FRAME_SIZE_ERROR,
				   "A frame is shorter than the fields that its flags announce");
	p->left = len - n;
	parser_gather(p, PARSER_PREFIX, n);
	return n ? 0 : parser_prefix(p);
}

static int parser_begin_headers(struct mrpc_h2_parser *p, u32 len)
{
	p->block_id = p->f.stream;
	p->block_end = p->f.flags & MRPC_H2_FLAG_END_STREAM;
	p->block_len = 0;
	p->block_frames = 0;
	return parser_begin_prefix(p, len);
}

/* What holds for frames of all types. */
static int parser_check(struct mrpc_h2_parser *p, u32 len)
{
	const struct mrpc_h2_frame *f = &p->f;
	u8 id = f->type < ARRAY_SIZE(parser_ids) ? parser_ids[f->type] : ID_ANY;

	if (!p->settled && (f->type != MRPC_H2_SETTINGS || f->flags & MRPC_H2_FLAG_ACK))
		return parser_fail(p, MRPC_H2_PROTOCOL_ERROR, "The peer does not begin with SETTINGS");
	if (len > MRPC_H2_MAX_FRAME)
		return parser_fail(p, MRPC_H2_FRAME_SIZE_ERROR, "A frame is longer than 16384 bytes");
	if (p->block_id && (f->type != MRPC_H2_CONTINUATION || f->stream != p->block_id))
		return parser_fail(p, MRPC_H2_PROTOCOL_ERROR, "A frame is inside a header block");
	if (!p->block_id && f->type == MRPC_H2_CONTINUATION)
		return parser_fail(p, MRPC_H2_PROTOCOL_ERROR, "CONTINUATION continues nothing");
	if (id == ID_STREAM && !f->stream)
		return parser_fail(p, MRPC_H2_PROTOCOL_ERROR, "A frame of a stream has no stream");
	if (id == ID_CONN && f->stream)
		return parser_fail(p, MRPC_H2_PROTOCOL_ERROR, "A frame of the connection has a stream");
	return 0;
}

/* @header: of the frame */
static int parser_begin(struct mrpc_h2_parser *p, const u8 *header, struct mrpc_h2_frame *frame)
{
	u32 len = get_unaligned_be24(header);
	int ret;

	p->f = (struct mrpc_h2_frame){
		.type = header[3],
		.flags = header[4],
		.stream = get_unaligned_be32(header + 5) & MRPC_H2_MAX_ID,
	};
	p->left = 0;
	ret = parser_check(p, len);
	if (ret)
		return ret;
	switch (p->f.type) {
	case MRPC_H2_DATA:
		p->f.total = len;
		p->f.first = true;
		return parser_begin_prefix(p, len);
	case MRPC_H2_HEADERS:
		return parser_begin_headers(p, len);
	case MRPC_H2_CONTINUATION:
		return parser_begin_block(p, len);
	case MRPC_H2_PRIORITY:
		p->f.code = len == 5 ? MRPC_H2_NO_ERROR : MRPC_H2_FRAME_SIZE_ERROR;
		return parser_drop(p, len, frame);
	case MRPC_H2_SETTINGS:
		return parser_begin_settings(p, len, frame);
	case MRPC_H2_PING:
		return parser_begin_small(p, len, len == MRPC_H2_PING_LEN, len, frame);
	case MRPC_H2_RST_STREAM:
	case MRPC_H2_WINDOW_UPDATE:
		return parser_begin_small(p, len, len == 4, len, frame);
	case MRPC_H2_GOAWAY:
		return parser_begin_small(p, len, len >= MRPC_H2_GOAWAY_LEN,
					  MRPC_H2_GOAWAY_LEN + MRPC_H2_MAX_REASON, frame);
	case MRPC_H2_PUSH_PROMISE:
		return parser_fail(p, MRPC_H2_PROTOCOL_ERROR, "PUSH_PROMISE is not allowed here");
	}
	/* 255 is unknown, too. It must not be taken for "no frame". */
	p->f.type = min_t(u8, p->f.type, MRPC_H2_NO_FRAME - 1);
	return parser_drop(p, len, frame);
}

/* What is gathered is complete. */
static int parser_gathered(struct mrpc_h2_parser *p, struct mrpc_h2_frame *frame)
{
	switch (p->state) {
	case PARSER_PREFACE:
		parser_next(p);
		return 0;
	case PARSER_HEADER:
		return parser_begin(p, p->small, frame);
	case PARSER_PREFIX:
		return parser_prefix(p);
	}
	*frame = p->f;
	frame->data = p->small;
	frame->len = p->need;
	parser_next(p);
	return 0;
}

static int parser_take_small(struct mrpc_h2_parser *p, const u8 *buf, u32 len,
			     struct mrpc_h2_frame *frame)
{
	u32 n = min(len, p->need - p->have);
	int ret;

	if (p->state == PARSER_PREFACE && memcmp(buf, &MRPC_H2_PREFACE[p->have], n))
		return parser_fail(p, MRPC_H2_PROTOCOL_ERROR,
				   "The client does not begin with the preface of HTTP/2");
	memcpy(p->small + p->have, buf, n);
	p->have += n;
	if (p->have < p->need)
		return n;
	ret = parser_gathered(p, frame);
	return ret ? ret : (int)n;
}

static int parser_take_data(struct mrpc_h2_parser *p, const u8 *buf, u32 len,
			    struct mrpc_h2_frame *frame)
{
	u32 n = min(len, p->left);

	p->left -= n;
	*frame = p->f;
	frame->data = buf;
	frame->len = n;
	frame->last = !p->left;
	frame->end = frame->last && p->f.flags & MRPC_H2_FLAG_END_STREAM;
	p->f.first = false;
	if (frame->last)
		parser_next(p);
	return n;
}

static void parser_block_done(struct mrpc_h2_parser *p, const u8 *block, u32 len,
			      struct mrpc_h2_frame *frame)
{
	*frame = p->f;
	frame->type = MRPC_H2_HEADERS;
	frame->data = block;
	frame->len = len;
	frame->end = p->block_end;
	p->block_id = 0;
	parser_next(p);
}

static int parser_take_block(struct mrpc_h2_parser *p, const u8 *buf, u32 len,
			     struct mrpc_h2_frame *frame)
{
	bool ends = p->f.flags & MRPC_H2_FLAG_END_HEADERS;
	u32 n = min(len, p->left);

	/* All of it is here: no copy. */
	if (ends && !p->block_len && n == p->left) {
		parser_block_done(p, buf, n, frame);
		return n;
	}
	if (n) {
		if (!p->block)
			return -ENOBUFS;
		memcpy(p->block + p->block_len, buf, n);
		p->block_len += n;
		p->left -= n;
	}
	if (p->left)
		return n;
	if (ends)
		parser_block_done(p, p->block, p->block_len, frame);
	else
		parser_next(p);
	return n;
}

static int parser_take(struct mrpc_h2_parser *p, const u8 *buf, u32 len,
		       struct mrpc_h2_frame *frame)
{
	u32 n;

	switch (p->state) {
	case PARSER_DATA:
		return parser_take_data(p, buf, len, frame);
	case PARSER_BLOCK:
		return parser_take_block(p, buf, len, frame);
	case PARSER_SKIP:
		n = min(len, p->skip);
		p->skip -= n;
		parser_next(p);
		return n;
	case PARSER_HEADER:
		if (p->have || len < MRPC_H2_FRAME_HEADER)
			break;
		/* All of it is here: no copy. */
		return parser_begin(p, buf, frame) ?: MRPC_H2_FRAME_HEADER;
	}
	return parser_take_small(p, buf, len, frame);
}

/* Does the next step need no input? */
static bool parser_ready(const struct mrpc_h2_parser *p)
{
	switch (p->state) {
	case PARSER_DATA:
		return p->f.first;
	case PARSER_BLOCK:
		return !p->left;
	}
	return false;
}

int mrpc_h2_parse(struct mrpc_h2_parser *p, const u8 *buf, u32 len, struct mrpc_h2_frame *frame)
{
	u32 used = 0;
	int n;

	frame->type = MRPC_H2_NO_FRAME;
	while (frame->type == MRPC_H2_NO_FRAME && (used < len || parser_ready(p))) {
		n = parser_take(p, buf + used, len - used, frame);
		/* What was used before the buffer was missed stays used. */
		if (n == -ENOBUFS && used)
			return used;
		if (n < 0)
			return n;
		used += n;
	}
	return used;
}
