/* SPDX-License-Identifier: GPL-2.0 */
/* Streams of the transport grpc: each carries one call. */
#ifndef MRPC_TRANSPORTS_GRPC_STREAM_H
#define MRPC_TRANSPORTS_GRPC_STREAM_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "core/rpc.h"
#include "lib/grpc/prefix.h"
#include "lib/grpc/response.h"
#include "lib/http2/stream.h"
#include "lib/message/schema.h"
#include "transports/grpc/payload.h"

struct grpc_link;

#define GRPC_META_SMALL	128	/* bytes of metadata that need no memory of their own */

/* How a server tells an end that is not the application's. */
enum grpc_end {
	GRPC_END_NONE,
	GRPC_END_STATUS,	/* by a status of gRPC */
	GRPC_END_HTTP,		/* by a status of HTTP */
};

/**
 * struct grpc_answer - how a call ends
 * @how: server: enum grpc_end, if the core does not know the call
 * @status: enum mrpc_status, or one of HTTP
 * @text_len: bytes of @text
 * @text: a sentence, or NULL; of the stream
 * @unsent: client: the call did not get to the peer, or the peer says that it has not run it
 */
struct grpc_answer {
	u8 how;
	u16 status;
	u16 text_len;
	char *text;
	bool unsent;
};

/**
 * struct grpc_backlog - content that has come and cannot be delivered yet
 * @buf: the bytes, or NULL
 * @cap: bytes at @buf
 * @at: the first that is left
 * @len: end of what has come
 * @unpaid: of these bytes, those that are not credited to the connection
 */
struct grpc_backlog {
	u8 *buf;
	u32 cap;
	u32 at;
	u32 len;
	u32 unpaid;
};

/**
 * struct grpc_stream - a stream
 *
 * Reference counted. A reference is held while HTTP/2 has it open, by the slot of its call, and by
 * each list that it is on.
 *
 * @ref: references
 * @h2: under the link's lock
 * @gl: the link; outlives the stream
 * @call_id: id of its call; 0: the core has not got it. Set before its slot refers to it
 * @method: as in frames; immutable once it has a call
 * @kinds: MRPC_METHOD_* of the method; as @method
 *
 * Receive claim:
 * @assembly: entry of grpc_in.assembling, or empty
 * @prefix: what comes before a message
 * @begins: the prefix is checked: bytes of the message come
 * @whole: a message has come
 * @compressed: it is compressed, as @encoding says
 * @stuck: its next message waits for the application to consume others
 * @ended: the peer sends no more
 * @replies: client: the end that @said describes waits for @backlog
 * @said: see @replies
 * @unmade: server: its call is still to be made
 * @drop: what comes is thrown away
 * @msg: the message, as far as it has come
 * @msg_cap: bytes at @msg
 * @msg_small: @msg is grpc_work.small
 * @have: bytes that have come
 * @want: bytes that the prefix announces
 * @held: bytes that are not credited to the connection
 * @begun: when the message began to come, ns
 * @backlog: content behind a message that waits
 * @rx_no: number of the next message
 * @rx_sum: cost of the messages that were delivered (credit.h)
 * @deadline: server: when the call must end, ns; 0: never
 * @meta: metadata that has come, @meta_small if it is short; or NULL
 * @meta_len: bytes of it
 * @meta_told: of these, given with the first message
 * @meta_small: see @meta
 * @answer: client: what its header blocks have said
 * @encoding: how messages are compressed that come
 * @accept: server: set of encodings that the client takes. Immutable once it has a call
 * @length: server: bytes of content that the client has announced, or -1
 * @came: bytes of content that have come
 *
 * Transmit claim:
 * @send: entry of grpc_out.sending or grpc_out.blocked, or empty
 * @queue: calls and messages that go out, by mrpc_call.loop; for each a reference, and one to its
 *	blocks
 * @payload: the message of the first, if it has begun
 * @headed: a server's HEADERS were written
 * @gzip: messages may go out compressed: the HEADERS have said so
 * @answers: server: the end is @end, and not the application's
 * @no_meta: server: the metadata of its first message cannot be sent
 *
 * Under the link's lock:
 * @rx_may: what the core has allowed in all, as @rx_sum counts
 * @written: cost of messages that the socket has taken
 * @told: of these, what the core was told
 * @fresh: entry of grpc_link.fresh
 * @gone: entry of grpc_link.gone
 * @resume: entry of grpc_link.resumed
 * @credit: entry of grpc_link.credits
 *
 * Given from one side to the other with a list:
 * @end: how its call ends
 */
struct grpc_stream {
	refcount_t ref;
	struct mrpc_h2_stream h2;
	struct grpc_link *gl;
	u64 call_id;
	u32 method;
	u8 kinds;

	struct list_head assembly;
	struct mrpc_grpc_prefix prefix;
	bool begins;
	bool whole;
	bool compressed;
	bool stuck;
	bool ended;
	bool replies;
	struct grpc_answer said;
	bool unmade;
	bool drop;
	u8 *msg;
	u32 msg_cap;
	bool msg_small;
	u32 have;
	u32 want;
	u32 held;
	u64 begun;
	struct grpc_backlog backlog;
	u32 rx_no;
	u64 rx_sum;
	u64 deadline;
	u8 *meta;
	u32 meta_len;
	u32 meta_told;
	struct mrpc_grpc_response answer;
	u8 encoding;
	u8 accept;
	s64 length;
	u64 came;

	struct list_head send;
	struct list_head queue;
	struct grpc_payload payload;
	bool headed;
	bool gzip;
	bool answers;
	bool no_meta;

	u64 rx_may;
	u64 written;
	u64 told;
	struct list_head fresh;
	struct list_head gone;
	struct list_head resume;
	struct list_head credit;
	struct grpc_answer end;

	u8 meta_small[GRPC_META_SMALL];	/* not initialised */
};

struct grpc_stream *grpc_stream_new(struct grpc_link *gl);
void grpc_stream_put(struct grpc_stream *s);
void grpc_stream_push(struct grpc_stream *s, struct mrpc_call *call);
void grpc_stream_pop(struct grpc_stream *s);
void grpc_stream_purge(struct grpc_stream *s);
void grpc_answer_say(struct grpc_answer *a, u16 status, const char *text, u32 len);

static inline struct grpc_stream *grpc_stream_of(struct mrpc_h2_stream *h2)
{
	return container_of(h2, struct grpc_stream, h2);
}

/* Does the peer of a link send messages of a stream, and not one? */
static inline bool grpc_stream_hears(const struct grpc_stream *s, bool accepted)
{
	return s->kinds & (accepted ? MRPC_METHOD_CLIENT_STREAM : MRPC_METHOD_SERVER_STREAM);
}

/* Returns the call or message that goes out now, or NULL. Transmit claim. */
static inline struct mrpc_call *grpc_stream_out(struct grpc_stream *s)
{
	return list_first_entry_or_null(&s->queue, struct mrpc_call, loop);
}

static inline void grpc_stream_get(struct grpc_stream *s)
{
	refcount_inc(&s->ref);
}

/* Takes the first stream off the list @head of a link, with its reference. Return: it, or NULL. */
#define grpc_take_first(gl, head, entry)						\
({											\
	struct grpc_stream *__s;							\
											\
	spin_lock(&(gl)->lock);								\
	__s = list_first_entry_or_null(head, struct grpc_stream, entry);		\
	if (__s)									\
		list_del_init(&__s->entry);						\
	spin_unlock(&(gl)->lock);							\
	__s;										\
})

/* Drops all references of such a list. */
#define grpc_put_all(gl, head, entry)							\
do {											\
	struct grpc_stream *__each;							\
											\
	while ((__each = grpc_take_first(gl, head, entry)))				\
		grpc_stream_put(__each);						\
} while (0)

struct grpc_stream *grpc_slot_find(struct grpc_link *gl, u64 id);
bool grpc_slot_take(struct grpc_link *gl, struct grpc_stream *s);
bool grpc_slot_leave(struct grpc_link *gl, struct grpc_stream *s);

#endif /* MRPC_TRANSPORTS_GRPC_STREAM_H */
