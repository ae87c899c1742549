/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an HTTP/2 connection makes of a frame that the parser returned, or of time.
 *
 * The receive owner calls these functions. The caller's lock is held, as for connection.h.
 */
#ifndef MRPC_LIB_HTTP2_HEAR_H
#define MRPC_LIB_HTTP2_HEAR_H

#include "lib/http2/connection.h"
#include "lib/http2/parser.h"

/**
 * enum mrpc_h2_event_type - what a frame means for the caller
 * @MRPC_H2_EV_NONE: nothing; a header block must be decoded nevertheless
 * @MRPC_H2_EV_READY: the peer's first SETTINGS have come
 * @MRPC_H2_EV_HEADERS: headers of @stream. Without @stream: @id is a new one, for mrpc_h2_accept()
 *	or mrpc_h2_refuse(). The header block is frame.data
 * @MRPC_H2_EV_DATA: content of @stream; the bytes are frame.data. There may be none
 * @MRPC_H2_EV_RESET: the peer reset @stream with @code; it is closed
 * @MRPC_H2_EV_GOAWAY: the peer ends the connection with @code; it ignores our streams above @id.
 *	Text of the peer is what frame.data has behind MRPC_H2_GOAWAY_LEN bytes; it can be any
 *	bytes. GOAWAY may come again with a smaller @id
 * @MRPC_H2_EV_DRAINED: see mrpc_h2_goaway(); @id is the last stream
 * @MRPC_H2_EV_PONG: the answer to mrpc_h2_ping()
 * @MRPC_H2_EV_OPENED: more can be sent in @stream; without @stream: in all streams, or more streams
 *	can be opened
 * @MRPC_H2_EV_STREAM_ERROR: the peer broke a rule in @stream. RST_STREAM with @code is due; the
 *	stream is closed
 */
enum mrpc_h2_event_type {
	MRPC_H2_EV_NONE,
	MRPC_H2_EV_READY,
	MRPC_H2_EV_HEADERS,
	MRPC_H2_EV_DATA,
	MRPC_H2_EV_RESET,
	MRPC_H2_EV_GOAWAY,
	MRPC_H2_EV_DRAINED,
	MRPC_H2_EV_PONG,
	MRPC_H2_EV_OPENED,
	MRPC_H2_EV_STREAM_ERROR,
};

/**
 * struct mrpc_h2_event - what a frame means for the caller
 * @stream: the stream, or NULL
 * @id: see enum mrpc_h2_event_type; with @stream it is the stream's
 * @code: enum mrpc_h2_error or a number that the peer made up
 * @type: enum mrpc_h2_event_type
 * @end: HEADERS, DATA: the peer sends no more in this stream
 * @trailers: HEADERS: others came before in this stream
 * @closed: the stream is closed by this event: the connection has no pointer to it
 */
struct mrpc_h2_event {
	struct mrpc_h2_stream *stream;
	u32 id;
	u32 code;
	u8 type;
	bool end;
	bool trailers;
	bool closed;
};

/**
 * mrpc_h2_hear() - apply a frame
 * @c: the connection; mrpc_h2_congested() is false
 * @f: what mrpc_h2_parse() returned
 * @now: ns
 * @ev: result
 *
 * Return: 0; -EPROTO: the connection ends: @c->code and @c->why say why, GOAWAY is due. No
 * event is set then.
 */
int mrpc_h2_hear(struct mrpc_h2_conn *c, const struct mrpc_h2_frame *f, u64 now,
		 struct mrpc_h2_event *ev);

/**
 * mrpc_h2_expire() - look at the clock, at the time that mrpc_h2_deadline() gave or at any other
 * @c: the connection
 * @now: ns
 * @ev: result: MRPC_H2_EV_DRAINED or MRPC_H2_EV_NONE
 *
 * Return: 0; -EPROTO as mrpc_h2_hear(): the peer did not acknowledge our SETTINGS in time.
 */
int mrpc_h2_expire(struct mrpc_h2_conn *c, u64 now, struct mrpc_h2_event *ev);

#endif /* MRPC_LIB_HTTP2_HEAR_H */
