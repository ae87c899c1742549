/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One end of an HTTP/2 connection, as the transport makes it of the parser and the connection: for
 * tests and the fuzz target. It notes each event, and finds those that must not be.
 */
#ifndef H2_END_H
#define H2_END_H

#include "lib/http2/hear.h"
#include "lib/http2/owed.h"

#define H2_STREAMS	16
#define H2_BITS		3	/* fewer buckets than streams: chains are walked */
#define H2_GONE		64
#define H2_EVENTS	4096
#define H2_WINDOW	(256 * 1024)
#define H2_CONN_WINDOW	(1024 * 1024)

struct h2_stream {
	struct mrpc_h2_stream s;
	u64 got;	/* content that came */
	u64 unread;	/* of it, not credited */
	u64 sent;
	bool headed;	/* HEADERS are said */
};

/* A frame that went out or is to go out. */
struct h2_sent {
	const u8 *data;
	u32 len;
	u32 stream;
	u8 type;
	u8 flags;
};

struct h2_end {
	struct mrpc_h2_conn conn;
	struct mrpc_h2_parser parser;
	struct mrpc_h2_stream *buckets[1 << H2_BITS];
	struct mrpc_h2_gone gone[H2_GONE];
	struct h2_stream *live[H2_STREAMS];	/* those that the table has, and NULL */
	struct mrpc_h2_event events[H2_EVENTS];	/* all but NONE */
	u32 nr_events;
	u32 last_new;		/* id of the stream that the peer opened last */
	u64 now;
	u64 dropped;		/* content of closed streams that is not credited */
	u8 *out;		/* what goes to the peer */
	u32 out_len, out_room;
	u64 sent, got;		/* content in all */
	u32 parsed;		/* frames */
	bool greedy;		/* do not credit content as it comes */
	bool shy;		/* refuse new streams */
	bool careless;		/* read on although the connection is congested */
	const char *wrong;	/* what must not be, the first time */
};

/* @seed chooses the order in buckets. */
void h2_end_init(struct h2_end *e, bool server, u32 seed);
void h2_end_free(struct h2_end *e);

/* What came. Stops where the connection is congested. Returns bytes used, or -EPROTO. */
int h2_end_feed(struct h2_end *e, const u8 *buf, u32 len);

/* The same, each piece from a block of its exact size: pieces of @piece bytes. */
int h2_end_feed_in(struct h2_end *e, const u8 *buf, u32 len, u32 piece);

/* Adds what is owed to @e->out. */
void h2_end_flush(struct h2_end *e);

/* Adds bytes to @e->out. */
void h2_end_say(struct h2_end *e, const void *bytes, u32 len);

/* A client opens a stream and says HEADERS. NULL: it may not; @ret says why. */
struct h2_stream *h2_end_open(struct h2_end *e, bool end, int *ret);

/* Says up to @n bytes of DATA, as windows allow. Returns bytes. */
u32 h2_end_send(struct h2_end *e, struct h2_stream *s, u32 n, bool end);

/* Says headers, or trailers with @end. @s may be gone then. */
void h2_end_headers(struct h2_end *e, struct h2_stream *s, bool end);

void h2_end_reset(struct h2_end *e, struct h2_stream *s, u32 code);

/* Credits content that is unread. */
void h2_end_read(struct h2_end *e, struct h2_stream *s, u32 n);

/* Credits to the connection what came for streams that are closed. */
void h2_end_drop(struct h2_end *e);

/* What must hold between two steps. NULL: all does. */
const char *h2_end_check(struct h2_end *e);

/* The next frame in @at to @end. Returns false at the end, and if the last one is not whole. */
bool h2_next_sent(const u8 **at, const u8 *end, struct h2_sent *f);

/* The first frame of @type in what goes to the peer. */
bool h2_end_find(const struct h2_end *e, u8 type, struct h2_sent *f);

/* The last event, which is NONE if there is none. */
struct mrpc_h2_event h2_end_last(const struct h2_end *e);

#endif /* H2_END_H */
