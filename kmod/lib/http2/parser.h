/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parser of HTTP/2's frames: bytes of a connection in, frames out.
 *
 * It belongs to the receive owner. No lock is needed. It keeps no state of streams: it checks what
 * a frame alone, or the order of frames, shows to be wrong. mrpc_h2_hear() checks the rest.
 *
 * What the caller does::
 *
 *	while (len) {
 *		n = mrpc_h2_parse(&parser, buf, len, &frame);
 *		if (n == -ENOBUFS) {
 *			mrpc_h2_parser_give(&parser, <16 KiB>);
 *			continue;
 *		}
 *		if (n < 0)
 *			<mrpc_h2_fail(conn, parser.code, parser.why), end>
 *		buf += n;
 *		len -= n;
 *		if (frame.type == MRPC_H2_NO_FRAME)
 *			continue;
 *		<lock> ret = mrpc_h2_hear(conn, &frame, now, &event); <unlock>
 *		...
 *	}
 */
#ifndef MRPC_LIB_HTTP2_PARSER_H
#define MRPC_LIB_HTTP2_PARSER_H

#include "lib/http2/frame.h"

/* In mrpc_h2_frame.type: no frame is complete. */
#define MRPC_H2_NO_FRAME	255

/* A header block, compressed; and the frames that it comes in, HEADERS included. */
#define MRPC_H2_MAX_BLOCK	16384
#define MRPC_H2_MAX_BLOCK_FRAMES 8
/* Entries of a SETTINGS frame. */
#define MRPC_H2_MAX_SETTINGS	32
/* The longest payload that is gathered. */
#define MRPC_H2_MAX_SMALL	(MRPC_H2_SETTING_LEN * MRPC_H2_MAX_SETTINGS)

/**
 * struct mrpc_h2_frame - a frame, a whole header block, or a piece of a DATA frame
 * @data: its payload without padding and priority, valid until the next mrpc_h2_parse(). Of DATA,
 *	and of HEADERS that came whole, it is part of the input
 * @len: bytes at @data
 * @stream: id of its stream, or 0
 * @total: DATA: payload of the whole frame, as windows count it
 * @pad: DATA: what padding takes of @total
 * @type: enum mrpc_h2_type, or another number if the type is unknown, or MRPC_H2_NO_FRAME. Never
 *	CONTINUATION and PUSH_PROMISE
 * @flags: as they came. Use @end and not the flag END_STREAM
 * @code: not 0: the frame is malformed, which is an error of its stream with this code
 * @first: DATA: it is the first piece; it may have no byte
 * @last: DATA: it is the last piece
 * @end: DATA, HEADERS: the peer sends no more in this stream
 */
struct mrpc_h2_frame {
	const u8 *data;
	u32 len;
	u32 stream;
	u32 total;
	u32 pad;
	u8 type;
	u8 flags;
	u8 code;
	bool first;
	bool last;
	bool end;
};

/**
 * struct mrpc_h2_parser - what the parser knows between two pieces of input
 * @why: after an error: a sentence that says what is wrong
 * @code: after an error: enum mrpc_h2_error, for GOAWAY
 * @block: buffer of MRPC_H2_MAX_BLOCK bytes for a header block that came in pieces, or NULL
 * @block_len: bytes in @block
 * @block_id: stream of the header block that is incomplete; 0: none is
 * @block_frames: frames of that block
 * @block_end: that block ends its stream
 * @state: what the next byte belongs to
 * @settled: the peer's first SETTINGS have come
 * @have: bytes in @small, or of the preface that are compared
 * @need: bytes that @small is to have before they are looked at
 * @left: bytes of the payload that have not come, without padding
 * @skip: bytes to drop: padding, unknown frames
 * @f: the frame that is being received
 * @small: header and payload of small frames
 *
 * All but @why and @code is private to parser.c.
 */
struct mrpc_h2_parser {
	const char *why;
	u32 code;
	u8 *block;
	u32 block_len;
	u32 block_id;
	u8 block_frames;
	bool block_end;
	u8 state;
	bool settled;
	u32 have;
	u32 need;
	u32 left;
	u32 skip;
	struct mrpc_h2_frame f;
	u8 small[MRPC_H2_MAX_SMALL];
};

/**
 * mrpc_h2_parser_init() - begin with a new connection
 * @p: the parser; its old content is ignored
 * @server: this end is the server, so the client's preface comes first
 */
void mrpc_h2_parser_init(struct mrpc_h2_parser *p, bool server);

/**
 * mrpc_h2_parse() - take input up to the end of a frame, or of a piece of a DATA frame
 * @p: the parser
 * @buf: what came
 * @len: bytes at @buf
 * @frame: result. Its type is MRPC_H2_NO_FRAME if no frame is complete
 *
 * Of DATA it returns a first piece as soon as the length is known, even without a byte of
 * content. So a caller may read the rest straight to where it belongs; mrpc_h2_parser_rest().
 *
 * Return: bytes used, at least 1 if @len is not 0; -ENOBUFS: it needs mrpc_h2_parser_give() and
 * the same call again; -EPROTO: connection error, @p->code and @p->why say which. After that the
 * parser must not be used.
 */
int mrpc_h2_parse(struct mrpc_h2_parser *p, const u8 *buf, u32 len, struct mrpc_h2_frame *frame);

/**
 * mrpc_h2_parser_give() - give the parser the buffer for a header block
 * @p: the parser, which has no buffer
 * @block: MRPC_H2_MAX_BLOCK bytes, which stay the caller's to free
 */
static inline void mrpc_h2_parser_give(struct mrpc_h2_parser *p, u8 *block)
{
	p->block = block;
}

/**
 * mrpc_h2_parser_take_back() - take the buffer for a header block if nothing is in it
 * @p: the parser
 *
 * The frame that mrpc_h2_parse() returned last may be in it, so the caller must have used that.
 *
 * Return: the buffer, or NULL if there is none or a block is incomplete.
 */
static inline u8 *mrpc_h2_parser_take_back(struct mrpc_h2_parser *p)
{
	u8 *block = p->block;

	if (p->block_id)
		return NULL;
	p->block = NULL;
	return block;
}

/**
 * mrpc_h2_parser_in_block() - Return: a header block has begun and is incomplete
 * @p: the parser
 *
 * The caller ends a connection in which this lasts for 5 s.
 */
static inline bool mrpc_h2_parser_in_block(const struct mrpc_h2_parser *p)
{
	return p->block_id;
}

/**
 * mrpc_h2_parser_rest() - Return: bytes of content of the current DATA frame that have not come
 * @p: the parser
 *
 * 0: the next bytes are something else. If it is not 0, the next mrpc_h2_parse() returns as a piece
 * with no copy what the caller gives it, up to so many bytes.
 */
u32 mrpc_h2_parser_rest(const struct mrpc_h2_parser *p);

#endif /* MRPC_LIB_HTTP2_PARSER_H */
