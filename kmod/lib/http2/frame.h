/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of HTTP/2 (RFC 9113): numbers of the protocol, and functions that write frames.
 *
 * The functions write to memory that the caller gives. They take no lock.
 */
#ifndef MRPC_LIB_HTTP2_FRAME_H
#define MRPC_LIB_HTTP2_FRAME_H

#include "lib/ds/types.h"

#define MRPC_H2_PREFACE		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define MRPC_H2_PREFACE_LEN	24
#define MRPC_H2_FRAME_HEADER	9
/* The payload of a frame, sent and received: the least that each peer must take. */
#define MRPC_H2_MAX_FRAME	16384
#define MRPC_H2_MAX_FRAME_LIMIT	((1U << 24) - 1)
#define MRPC_H2_PING_LEN	8
#define MRPC_H2_GOAWAY_LEN	8	/* without text */
/* Bytes of text in GOAWAY: what is sent at most, and what is kept of the peer's. */
#define MRPC_H2_MAX_REASON	128
#define MRPC_H2_SETTING_LEN	6	/* of one entry */
#define MRPC_H2_MAX_ID		((1U << 31) - 1)
#define MRPC_H2_MAX_WINDOW	((1U << 31) - 1)
/* The windows before SETTINGS and WINDOW_UPDATE. */
#define MRPC_H2_FIRST_WINDOW	65535
#define MRPC_H2_TABLE_SIZE	4096	/* of HPACK's dynamic table, before SETTINGS */

enum mrpc_h2_type {
	MRPC_H2_DATA		= 0,
	MRPC_H2_HEADERS		= 1,
	MRPC_H2_PRIORITY	= 2,
	MRPC_H2_RST_STREAM	= 3,
	MRPC_H2_SETTINGS	= 4,
	MRPC_H2_PUSH_PROMISE	= 5,
	MRPC_H2_PING		= 6,
	MRPC_H2_GOAWAY		= 7,
	MRPC_H2_WINDOW_UPDATE	= 8,
	MRPC_H2_CONTINUATION	= 9,
};

#define MRPC_H2_FLAG_ACK		0x01	/* SETTINGS, PING */
#define MRPC_H2_FLAG_END_STREAM		0x01	/* DATA, HEADERS */
#define MRPC_H2_FLAG_END_HEADERS	0x04
#define MRPC_H2_FLAG_PADDED		0x08
#define MRPC_H2_FLAG_PRIORITY		0x20

enum mrpc_h2_error {
	MRPC_H2_NO_ERROR		= 0,
	MRPC_H2_PROTOCOL_ERROR		= 1,
	MRPC_H2_INTERNAL_ERROR		= 2,
	MRPC_H2_FLOW_CONTROL_ERROR	= 3,
	MRPC_H2_SETTINGS_TIMEOUT	= 4,
	MRPC_H2_STREAM_CLOSED		= 5,
	MRPC_H2_FRAME_SIZE_ERROR	= 6,
	MRPC_H2_REFUSED_STREAM		= 7,
	MRPC_H2_CANCEL			= 8,
	MRPC_H2_COMPRESSION_ERROR	= 9,
	MRPC_H2_CONNECT_ERROR		= 10,
	MRPC_H2_ENHANCE_YOUR_CALM	= 11,
	MRPC_H2_INADEQUATE_SECURITY	= 12,
	MRPC_H2_HTTP_1_1_REQUIRED	= 13,
};

enum mrpc_h2_setting {
	MRPC_H2_SET_TABLE_SIZE		= 1,
	MRPC_H2_SET_PUSH		= 2,
	MRPC_H2_SET_MAX_STREAMS		= 3,
	MRPC_H2_SET_WINDOW		= 4,
	MRPC_H2_SET_MAX_FRAME		= 5,
	MRPC_H2_SET_MAX_HEADER_LIST	= 6,
};

/**
 * mrpc_h2_put_frame() - write the header of a frame
 * @out: MRPC_H2_FRAME_HEADER bytes
 * @len: bytes of payload, at most MRPC_H2_MAX_FRAME
 * @type: of the frame
 * @flags: of the frame
 * @stream: id of its stream, or 0
 *
 * Return: the byte behind the header.
 */
u8 *mrpc_h2_put_frame(u8 *out, u32 len, u8 type, u8 flags, u32 stream);

/**
 * mrpc_h2_put_data_header() - write the header of a DATA frame
 * @out: MRPC_H2_FRAME_HEADER bytes
 * @stream: id of its stream
 * @len: bytes of payload, at most MRPC_H2_MAX_FRAME; the caller writes them behind the header
 * @end: it is the stream's last frame from here
 *
 * Return: the byte behind the header.
 */
static inline u8 *mrpc_h2_put_data_header(u8 *out, u32 stream, u32 len, bool end)
{
	return mrpc_h2_put_frame(out, len, MRPC_H2_DATA, end ? MRPC_H2_FLAG_END_STREAM : 0,
				 stream);
}

/** mrpc_h2_headers_size() - Return: bytes that mrpc_h2_put_headers() writes for a block of @len */
static inline u32 mrpc_h2_headers_size(u32 len)
{
	u32 frames = len ? (len + MRPC_H2_MAX_FRAME - 1) / MRPC_H2_MAX_FRAME : 1;

	return len + frames * MRPC_H2_FRAME_HEADER;
}

/**
 * mrpc_h2_put_headers() - write HEADERS, and CONTINUATION frames if one frame is too small
 * @out: where to; the whole must go to the peer with no other frame between
 * @room: bytes at @out
 * @stream: id of its stream
 * @block: the header block, which does not overlap @out
 * @len: bytes of it
 * @end: HEADERS is the stream's last frame from here
 *
 * Return: bytes written, mrpc_h2_headers_size(); 0: @room is too small, nothing is written.
 */
u32 mrpc_h2_put_headers(u8 *out, u32 room, u32 stream, const u8 *block, u32 len, bool end);

#endif /* MRPC_LIB_HTTP2_FRAME_H */
