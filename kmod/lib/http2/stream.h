/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Streams of an HTTP/2 connection, and the table of them.
 *
 * A stream is part of an object of the caller. It is in the table from mrpc_h2_accept() or
 * mrpc_h2_open() until it is closed. The function that closes it says so. Then the connection has
 * no pointer to it any more, and the object may be freed. A stream that is closed may still be
 * given to the functions of connection.h: they change nothing and allow nothing.
 *
 * The caller's lock protects a stream with its connection.
 */
#ifndef MRPC_LIB_HTTP2_STREAM_H
#define MRPC_LIB_HTTP2_STREAM_H

#include "lib/ds/levels.h"
#include "lib/http2/window.h"

/**
 * struct mrpc_h2_stream - a stream
 * @hash: the next one in the same bucket
 * @age: list of all streams, the newest last
 * @due: list of streams that owe WINDOW_UPDATE
 * @rx: the receiver's window
 * @tx_window: what the peer allows, may be negative
 * @id: its number; 0: never opened
 * @closed: it is not in the table
 * @local_end: END_STREAM has been sent
 * @remote_end: END_STREAM has come
 * @headed: at a client: the headers of the response have come. At a server: always
 * @listed: it is in the list of @due
 */
struct mrpc_h2_stream {
	struct mrpc_h2_stream *hash;
	struct mrpc_order_link age;
	struct mrpc_order_link due;
	struct mrpc_h2_window rx;
	s64 tx_window;
	u32 id;
	bool closed;
	bool local_end;
	bool remote_end;
	bool headed;
	bool listed;
};

/**
 * struct mrpc_h2_streams - the table
 * @buckets: chains by a hash of the id; memory of the caller
 * @bits: there are 2^@bits buckets
 * @seed: odd and random: a peer must not know in which bucket an id is
 * @nr: streams in the table
 * @by_age: all of them, ids ascend
 * @due: those that owe WINDOW_UPDATE
 * @nr_due: of these
 */
struct mrpc_h2_streams {
	struct mrpc_h2_stream **buckets;
	u32 bits;
	u32 seed;
	u32 nr;
	u32 nr_due;
	struct mrpc_order_link by_age;
	struct mrpc_order_link due;
};

/** mrpc_h2_streams_init() - make an empty table of 2^@bits buckets, which it clears */
void mrpc_h2_streams_init(struct mrpc_h2_streams *t, struct mrpc_h2_stream **buckets, u32 bits,
			  u32 seed);

/** mrpc_h2_streams_find() - Return: the stream with @id, or NULL */
struct mrpc_h2_stream *mrpc_h2_streams_find(const struct mrpc_h2_streams *t, u32 id);

/** mrpc_h2_streams_newest() - Return: the stream with the largest id, or NULL */
struct mrpc_h2_stream *mrpc_h2_streams_newest(const struct mrpc_h2_streams *t);

/** mrpc_h2_streams_add() - enter @s; its id is larger than all ids in the table */
void mrpc_h2_streams_add(struct mrpc_h2_streams *t, struct mrpc_h2_stream *s);

/** mrpc_h2_streams_del() - take @s out of all lists; it is closed */
void mrpc_h2_streams_del(struct mrpc_h2_streams *t, struct mrpc_h2_stream *s);

/** mrpc_h2_streams_note() - list @s, which the peer has not ended, if it owes WINDOW_UPDATE now */
void mrpc_h2_streams_note(struct mrpc_h2_streams *t, struct mrpc_h2_stream *s);

/** mrpc_h2_streams_end_remote() - the peer has ended @s, so no WINDOW_UPDATE is due */
void mrpc_h2_streams_end_remote(struct mrpc_h2_streams *t, struct mrpc_h2_stream *s);

/** mrpc_h2_streams_next_due() - Return: a stream that owes WINDOW_UPDATE, unlisted; or NULL */
struct mrpc_h2_stream *mrpc_h2_streams_next_due(struct mrpc_h2_streams *t);

/**
 * mrpc_h2_streams_shift() - the peer's INITIAL_WINDOW_SIZE has changed
 * @t: the table
 * @by: new size - old size
 *
 * Return: false: a window would grow beyond 2^31-1. Then some windows are changed.
 */
bool mrpc_h2_streams_shift(struct mrpc_h2_streams *t, s64 by);

#endif /* MRPC_LIB_HTTP2_STREAM_H */
