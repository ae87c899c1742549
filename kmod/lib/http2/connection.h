/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection of HTTP/2 (RFC 9113), client or server: what both owners of a link share.
 *
 * The receive owner gives it frames (mrpc_h2_hear(), in hear.h). The transmit owner asks it what
 * may be sent, and tells what was sent. It writes the control frames that are due (mrpc_h2_owed(),
 * in owed.h). A lock of the caller protects all of it, streams included: every function here needs
 * that lock. Each is short: bounded by the number of streams at most. Time is a parameter, in ns of
 * one clock. The structure holds pointers into itself: it must not move.
 *
 * It knows no HPACK. A header block must be decoded whatever mrpc_h2_hear() makes of its frame:
 * the dynamic table depends on each block. Only an error of the connection ends that.
 *
 * What the caller must do:
 *
 *	- write what mrpc_h2_owed() gives before all else, and whole frames always
 *	- read no more while mrpc_h2_congested()
 *	- credit to the connection all bytes that a DATA event gave it, also if the stream has
 *	  been closed meanwhile
 *	- call mrpc_h2_expire() at the time that mrpc_h2_deadline() gives
 *	- write what a stream sends in the order in which it told the connection
 */
#ifndef MRPC_LIB_HTTP2_CONNECTION_H
#define MRPC_LIB_HTTP2_CONNECTION_H

#include "lib/ds/bucket.h"
#include "lib/http2/gone.h"
#include "lib/http2/stream.h"

/* The peer's PINGs that wait for their answer, at most. */
#define MRPC_H2_MAX_PINGS	32
#define MRPC_H2_MAX_STREAMS	8192
/* Places for streams that this end resets: the fewest, and those beyond one for each open stream. */
#define MRPC_H2_MIN_GONE	64
#define MRPC_H2_GONE_ROOM	32
/* No more frames are taken, and no streams opened, when so few places are left. */
#define MRPC_H2_GONE_SPARE	8

/* What our PINGs carry: that behind GOAWAY, and that of mrpc_h2_ping(). */
#define MRPC_H2_PING_DRAIN	"mrpcbye"
#define MRPC_H2_PING_PROBE	"mrpcping"

#define MRPC_H2_SETTINGS_TIMEOUT_NS	(20ULL * NSEC_PER_SEC)
#define MRPC_H2_DRAIN_TIMEOUT_NS	(1ULL * NSEC_PER_SEC)
#define MRPC_H2_NEVER			(~0ULL)

/* What a peer's acts cost, in tokens of the bucket. */
#define MRPC_H2_COST_RATE	100	/* tokens a second */
#define MRPC_H2_COST_BURST	1000	/* and MRPC_H2_COST_RESET for each stream */
#define MRPC_H2_COST_RESET	5	/* RST_STREAM, stream error, SETTINGS */
#define MRPC_H2_COST_FRAME	1	/* PING, what is empty, what is ignored */
#define MRPC_H2_WORTH		16384	/* bytes of content that earn a token */
#define MRPC_H2_OPEN_WORTH	4	/* tokens that a stream earns which this end opens */

/**
 * struct mrpc_h2_config - what a connection is made of
 * @server: this end is the server
 * @max_streams: streams open at once, at most, 1 to MRPC_H2_MAX_STREAMS; a server announces it
 * @stream_window: bytes that the peer may send in a stream, MRPC_H2_FIRST_WINDOW at least
 * @conn_window: the same for all streams together
 * @max_header_list: announced as MAX_HEADER_LIST_SIZE
 * @seed: random, for the table of streams
 * @buckets: memory of the table of streams, 2^@bits pointers. With 2 * @max_streams of them a
 *	look-up takes about one step. Fewer are right, too
 * @gone: memory for the streams that this end resets, @nr_gone entries
 * @bits: see @buckets, 1 to 16
 * @nr_gone: a power of two, MRPC_H2_MIN_GONE and @max_streams + MRPC_H2_GONE_ROOM at least. A frame of
 *	a stream that was reset longer ago is an error of the connection, so 2 * @max_streams is a
 *	good number. A frame of a stream that is closed makes mrpc_h2_hear() look through all
 */
struct mrpc_h2_config {
	bool server;
	u32 max_streams;
	u32 stream_window;
	u32 conn_window;
	u32 max_header_list;
	u32 seed;
	struct mrpc_h2_stream **buckets;
	struct mrpc_h2_gone *gone;
	u32 bits;
	u32 nr_gone;
};

/**
 * struct mrpc_h2_peer - the peer's settings
 * @table_size: HEADER_TABLE_SIZE, last value
 * @table_least: the smallest one since mrpc_h2_table_size() asked last
 * @max_streams: MAX_CONCURRENT_STREAMS
 * @window: INITIAL_WINDOW_SIZE
 * @max_header_list: MAX_HEADER_LIST_SIZE; U32_MAX: no limit
 */
struct mrpc_h2_peer {
	u32 table_size;
	u32 table_least;
	u32 max_streams;
	u32 window;
	u32 max_header_list;
};

/* How far the end of a connection by this end's GOAWAY is. */
enum mrpc_h2_leave {
	MRPC_H2_STAYS,
	MRPC_H2_WARNS,		/* GOAWAY of the largest id and PING are due */
	MRPC_H2_WARNED,		/* and written; waits for the PING's answer */
	MRPC_H2_LEAVES,		/* GOAWAY of the last id is due */
	MRPC_H2_LEFT,		/* and written */
};

enum mrpc_h2_ping_state {
	MRPC_H2_PING_NONE,
	MRPC_H2_PING_DUE,
	MRPC_H2_PING_SENT,
};

/**
 * struct mrpc_h2_conn - a connection
 * @code: enum mrpc_h2_error of the error that ended it; valid if @why
 * @why: not NULL: a sentence that says what ended it
 * @server: this end is the server
 * @settled: the peer's first SETTINGS have come
 * @acked: the peer has acknowledged ours
 * @table_changed: the peer's HEADER_TABLE_SIZE came and mrpc_h2_table_size() has not told it
 * @preface: what begins a connection is not written yet
 * @peer_left: the peer sent GOAWAY
 * @leave: enum mrpc_h2_leave
 * @ping: enum mrpc_h2_ping_state of a PING by mrpc_h2_ping()
 * @config: how it was made
 * @peer: the peer's settings
 * @streams: the table
 * @rx: window of what the peer sends
 * @tx_window: what the peer allows
 * @stream_target: window of a stream; mrpc_h2_grow_window()
 * @next_id: client: id of the next stream
 * @last_peer: server: largest id that the peer used
 * @left_id: last id of the GOAWAY that ends it
 * @peer_last: last id of the peer's GOAWAY
 * @acks: SETTINGS to acknowledge
 * @updates: WINDOW_UPDATE frames that the peer may send free of cost
 * @content: bytes that came and have not earned a token
 * @bucket: pays for what the peer does
 * @settle_by: when our SETTINGS must be acknowledged
 * @drain_by: when @leave stops waiting for the answer
 * @gone: streams that this end reset
 * @nr_pings: PINGs to answer
 * @first_ping: the oldest in @pings
 * @pings: a ring of what the peer's PINGs carry
 *
 * Callers read @code, @why, @peer, @peer_left, @streams.nr. The rest is private.
 */
struct mrpc_h2_conn {
	const char *why;
	u32 code;
	bool server;
	bool settled;
	bool acked;
	bool table_changed;
	bool preface;
	bool peer_left;
	u8 leave;
	u8 ping;
	struct mrpc_h2_config config;
	struct mrpc_h2_peer peer;
	struct mrpc_h2_streams streams;
	struct mrpc_h2_window rx;
	s64 tx_window;
	u32 stream_target;
	u32 next_id;
	u32 last_peer;
	u32 left_id;
	u32 peer_last;
	u32 acks;
	u32 updates;
	u32 content;
	struct mrpc_bucket bucket;
	u64 settle_by;
	u64 drain_by;
	struct mrpc_h2_gone_ring gone;
	u32 nr_pings;
	u32 first_ping;
	u8 pings[MRPC_H2_MAX_PINGS][8];
};

/**
 * mrpc_h2_init() - begin a connection
 * @c: the connection; its old content is ignored
 * @config: how to make it; copied. Its memory stays the caller's
 * @now: ns; our SETTINGS must be acknowledged within MRPC_H2_SETTINGS_TIMEOUT_NS
 *
 * mrpc_h2_owed() first gives the preface (client), SETTINGS and the connection's WINDOW_UPDATE.
 *
 * Return: 0, or -EINVAL: @config is not as its comment says.
 */
int mrpc_h2_init(struct mrpc_h2_conn *c, const struct mrpc_h2_config *config, u64 now);

/**
 * mrpc_h2_fail() - end the connection by an error
 * @c: the connection
 * @code: enum mrpc_h2_error
 * @why: a sentence, static, at most MRPC_H2_MAX_REASON bytes; the peer gets it, too
 *
 * The first error counts. GOAWAY is due then, and nothing else. The caller gives what
 * mrpc_h2_owed() says to the socket if that takes it, and ends the connection.
 *
 * Return: -EPROTO, always.
 */
int mrpc_h2_fail(struct mrpc_h2_conn *c, u32 code, const char *why);

/**
 * mrpc_h2_charge() - the peer did something that costs this end
 * @c: the connection
 * @cost: in tokens, MRPC_H2_COST_*
 * @now: ns
 *
 * mrpc_h2_hear() charges for frames. The caller charges for what only it sees, such as a header
 * block that makes it reset the stream.
 *
 * Return: 0; -EPROTO: the bucket is empty, ENHANCE_YOUR_CALM, as of mrpc_h2_fail().
 */
int mrpc_h2_charge(struct mrpc_h2_conn *c, u32 cost, u64 now);

/** mrpc_h2_reward() - a message of the peer is complete: it earns a token */
void mrpc_h2_reward(struct mrpc_h2_conn *c);

/**
 * mrpc_h2_accept() - open the stream of a HEADERS event without a stream
 * @c: a server's connection
 * @s: memory of the stream; initialised here
 * @id: event.id
 * @end: event.end
 *
 * The receive owner calls it, or mrpc_h2_refuse(), before it gives the next frame. It may release
 * the lock between the event and this call.
 */
void mrpc_h2_accept(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u32 id, bool end);

/**
 * mrpc_h2_refuse() - answer a HEADERS event without a stream by RST_STREAM
 * @c: a server's connection
 * @id: event.id
 * @code: enum mrpc_h2_error; REFUSED_STREAM: the peer knows that the call has not run
 */
void mrpc_h2_refuse(struct mrpc_h2_conn *c, u32 id, u32 code);

/**
 * mrpc_h2_open() - open a stream, as its HEADERS are written
 * @c: a client's connection
 * @s: memory of the stream; initialised here
 * @end: HEADERS end the stream in this direction
 *
 * The id is @s->id. HEADERS of streams must go to the peer in the order of these calls.
 *
 * Return: 0; -EAGAIN: as many streams are open as the peer or this end allows, or its RST_STREAMs
 * are not written yet; -ESHUTDOWN: one of the ends sent GOAWAY, or an error ended the connection;
 * -ENOSPC: all ids are used.
 */
int mrpc_h2_open(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, bool end);

/** mrpc_h2_ids_left() - Return: streams that a client can still open */
u32 mrpc_h2_ids_left(const struct mrpc_h2_conn *c);

/**
 * mrpc_h2_informational() - the headers that came last were a 1xx response
 * @c: a client's connection
 * @s: the stream of the HEADERS event
 * @now: ns
 *
 * Other headers follow. Without this call they would be trailers.
 *
 * Return: 0, or -EPROTO as mrpc_h2_charge().
 */
int mrpc_h2_informational(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u64 now);

/**
 * mrpc_h2_may_send() - tell how much DATA may be sent now
 * @c: the connection
 * @s: the stream
 *
 * An empty DATA frame with END_STREAM needs no window.
 *
 * Return: bytes for one frame, 0 to MRPC_H2_MAX_FRAME; 0 also if the stream is closed or has ended
 * in this direction.
 */
s64 mrpc_h2_may_send(const struct mrpc_h2_conn *c, const struct mrpc_h2_stream *s);

/**
 * mrpc_h2_sent() - count a DATA frame that is now going to be written
 * @c: the connection
 * @s: the stream
 * @n: bytes of it, at most what mrpc_h2_may_send() returned under the same lock
 */
void mrpc_h2_sent(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u32 n);

/**
 * mrpc_h2_end_local() - a frame with END_STREAM is now going to be written
 * @c: the connection
 * @s: the stream
 *
 * Return: true: the stream is closed now, as the peer has ended it, too.
 */
bool mrpc_h2_end_local(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s);

/**
 * mrpc_h2_reset() - close a stream by RST_STREAM
 * @c: the connection
 * @s: the stream, which is closed when this returns
 * @code: enum mrpc_h2_error
 *
 * What the transmit owner has begun of it, a frame or a header block, must be finished first on
 * the wire. Frames that the peer still sends are ignored.
 *
 * Return: false: it was closed already, and nothing is done.
 */
bool mrpc_h2_reset(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u32 code);

/**
 * mrpc_h2_forget() - close a stream of which the peer need not hear
 * @c: the connection
 * @s: the stream, which is closed when this returns
 *
 * For streams above the last id of a GOAWAY event, and for the end of the connection. Streams come
 * by mrpc_h2_streams_newest(&c->streams): the largest ids first.
 */
void mrpc_h2_forget(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s);

/**
 * mrpc_h2_credit_conn() - bytes of DATA events have been consumed or dropped
 * @c: the connection
 * @n: bytes: the peer may send so many more in all streams together
 */
void mrpc_h2_credit_conn(struct mrpc_h2_conn *c, u32 n);

/**
 * mrpc_h2_credit_stream() - the peer may send more in a stream
 * @c: the connection
 * @s: the stream
 * @n: bytes of its DATA events
 */
void mrpc_h2_credit_stream(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u32 n);

/** mrpc_h2_took() - credit @n bytes of DATA events to the stream and to the connection */
void mrpc_h2_took(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u32 n);

/**
 * mrpc_h2_grow_window() - raise the windows of what the peer sends
 * @c: the connection
 * @conn_window: of the connection, at most MRPC_H2_MAX_WINDOW
 * @stream_window: of each stream; one that is open follows at its next credit
 *
 * Windows never shrink: smaller values change nothing.
 */
void mrpc_h2_grow_window(struct mrpc_h2_conn *c, u32 conn_window, u32 stream_window);

/**
 * mrpc_h2_table_size() - tell if the peer has changed the size of its HPACK table
 * @c: the connection
 * @least: result: the smallest size since the last call
 * @last: result: the size now
 *
 * The encoder asks before each header block, when mrpc_h2_owed() has written all that is due: the
 * peer may only see a larger size behind the acknowledgement of its SETTINGS.
 *
 * Return: true: the encoder must change, and say so in its next block. False: nothing is new.
 */
bool mrpc_h2_table_size(struct mrpc_h2_conn *c, u32 *least, u32 *last);

/**
 * mrpc_h2_goaway() - end the connection gracefully
 * @c: the connection
 * @now: ns
 *
 * A server first says that it will end and sends a PING. At its answer, or after
 * MRPC_H2_DRAIN_TIMEOUT_NS, it says which stream is the last. The event DRAINED tells that time:
 * all streams that the client will ever open have come. Later ones are ignored. A client has no
 * streams of the peer, so its one GOAWAY is final; no event comes. Streams that are open go on.
 */
void mrpc_h2_goaway(struct mrpc_h2_conn *c, u64 now);

/**
 * mrpc_h2_ping() - send a PING, of which the event PONG tells the answer
 * @c: the connection
 *
 * Return: false: the last one has not been answered, no other is sent.
 */
bool mrpc_h2_ping(struct mrpc_h2_conn *c);

/** mrpc_h2_drained() - all streams of the client have come. Return: the last id, for GOAWAY */
u32 mrpc_h2_drained(struct mrpc_h2_conn *c);

/**
 * mrpc_h2_gone_room() - Return: streams that can be opened or refused until RST_STREAMs are written
 * @c: the connection
 *
 * What is open can always be reset, as its place is counted here.
 */
u32 mrpc_h2_gone_room(const struct mrpc_h2_conn *c);

/** mrpc_h2_deadline() - Return: when mrpc_h2_expire() must be called, ns; MRPC_H2_NEVER */
u64 mrpc_h2_deadline(const struct mrpc_h2_conn *c);

#endif /* MRPC_LIB_HTTP2_CONNECTION_H */
