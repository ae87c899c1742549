/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams: calls of which one side, or both, send any number of messages. <mrpc.h> includes this.
 *
 * A client, with the names that mrpcc makes for "rpc Watch(Key) returns (stream Event)":
 *
 *	struct mrpc_stream *st = kv_Store_Watch_open(conn, &msg, NULL);
 *	const struct kv_Event *event;
 *
 *	while ((event = kv_Store_Watch_next(st)))
 *		...
 *	if (mrpc_stream_finish(st, &res) != MRPC_OK)
 *		errx(1, "%s", res.detail);
 *
 * In a handler the stream is mrpc_call_stream(call), and the generated functions end in _get and
 * _put. A reader that does not read stops the sender: at most MRPC_STREAM_WINDOW bytes, and one
 * message, are under way in each direction.
 *
 * A stream belongs to one thread at a time, and to the queue pair that it was opened on. For calls
 * that outlive their handlers, see mrpc_call_on_event().
 */
#ifndef _MRPC_STREAM_H
#define _MRPC_STREAM_H

#include <mrpc.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mrpc_stream;

/* For mrpc_stream_send() */
/*
 * Another one follows at once, or mrpc_stream_next(), which submits what was sent before it waits.
 * They go together, and need one entry into the kernel instead of several.
 */
#define MRPC_STREAM_MORE	(1U << 0)
#define MRPC_STREAM_LAST	(1U << 1) /* client: no message follows */
#define MRPC_STREAM_NOWAIT	(1U << 2) /* fail with EAGAIN instead of waiting */
/* Over grpc, the message may be compressed. A client's stream is opened with MRPC_CALL_COMPRESS. */
#define MRPC_STREAM_COMPRESS	(1U << 3)

/**
 * mrpc_stream_open() - begin a call that streams
 * @conn: the connection
 * @service: one of those that the connection was made with
 * @method: index in the service's methods
 * @msg: the request, spent whatever the outcome; NULL if the client streams
 * @opts: or NULL
 *
 * Over a channel, the library opens the stream again as a unary call is made again, until the first
 * message of the server has come. Until then it keeps the messages of the client, 256 KiB at most.
 *
 * Return: the stream, for mrpc_stream_finish(); or NULL with errno.
 */
struct mrpc_stream *mrpc_stream_open(struct mrpc_conn *conn,
				     const struct mrpc_service_desc *service, unsigned int method,
				     struct mrpc_msg *msg, const struct mrpc_call_opts *opts);

/**
 * mrpc_stream_send() - send a message
 * @stream: the stream
 * @msg: the message, spent unless this function returns -EAGAIN
 * @flags: MRPC_STREAM_*
 *
 * Waits while too many messages are not sent yet, because the peer does not read them, or because the
 * stream waits to be made again over its channel. Two ends that both wait for the other to read wait
 * for ever: with MRPC_STREAM_NOWAIT a caller can read first.
 *
 * Return: 0; -ECANCELED: the call has ended, mrpc_stream_finish() or mrpc_stream_status() says why;
 * -EAGAIN: with MRPC_STREAM_NOWAIT, not now; or another -errno: the message was refused, the stream
 * goes on. After MRPC_STREAM_MORE the next call may say so, in place of sending its own message.
 *
 * For a deferred call, a thread that is not the worker never waits: -ENOBUFS if MRPC_STREAM_UNSENT
 * messages are not sent yet. It has a queue pair for its messages, as for mrpc_call_reply().
 */
int mrpc_stream_send(struct mrpc_stream *stream, struct mrpc_msg *msg, unsigned int flags);

/* At a client: no message follows. After MRPC_STREAM_LAST, or again: does nothing. 0 or -errno. */
int mrpc_stream_end(struct mrpc_stream *stream);

/**
 * mrpc_stream_next() - wait for the next message
 * @stream: the stream
 * @len: out: its bytes; or NULL
 *
 * The message is valid until the next call of this function, or the end of the stream.
 *
 * Return: its root; NULL: there is none any more, because the peer has ended its messages, or the
 * call has ended.
 */
const void *mrpc_stream_next(struct mrpc_stream *stream, __u32 *len);

/* Did the message that mrpc_stream_next() has returned come compressed? */
bool mrpc_stream_compressed(const struct mrpc_stream *stream);

/*
 * MRPC_OK while the call goes on, and at a client after it has ended so. Otherwise why it has ended;
 * at a server this is what ended it before the handler has. Only the functions that send, read or
 * wait learn of it.
 */
int mrpc_stream_status(const struct mrpc_stream *stream);

/* At a client: ends the call, with MRPC_CANCELLED. mrpc_stream_finish() still comes. */
void mrpc_stream_cancel(struct mrpc_stream *stream);

/**
 * mrpc_stream_finish() - at a client: wait for the end of the call, and free the stream
 * @stream: the stream; NULL is allowed: MRPC_INTERNAL
 * @res: the result, as of mrpc_call_sync(); or NULL
 *
 * Ends the client's messages, and drops those of the server that were not read.
 *
 * Return: the status.
 */
int mrpc_stream_finish(struct mrpc_stream *stream, struct mrpc_result *res);

/* In a handler: the stream of its call, NULL if the method has none. It ends with the call. */
struct mrpc_stream *mrpc_call_stream(struct mrpc_call *call);

/* Is called in the worker that has served the call. */
typedef void (*mrpc_event_fn)(struct mrpc_call *call);

/**
 * mrpc_call_on_event() - in a handler: have a function called when something has come
 * @call: the call; its method streams
 * @fn: the function
 *
 * For a handler that returns MRPC_DEFER. The call and its stream then live until a thread calls
 * mrpc_call_reply(), and no worker waits for them. Any thread may call mrpc_stream_send() and
 * mrpc_stream_status(), but not two at a time. The worker alone may call mrpc_stream_next(), in @fn.
 * A handler without such a function learns by mrpc_stream_send() that the call has ended.
 *
 * The worker calls @fn outside of handlers: once after the handler, and after one or several events.
 * Events are a message, the end of the client's messages, the end of the call, and room to send
 * after a message of the worker. mrpc_stream_ready() says what does not wait. @fn should not wait,
 * because other requests of the worker wait with it. It may call mrpc_call_reply().
 *
 * If another thread calls mrpc_call_reply() for a call, @fn may begin or run at that time, but not
 * much later. No other call has the pointer @call then. It is good for comparisons and for
 * mrpc_call_ctx() only.
 *
 * When the server stops, the stream ends as any other. The call still needs mrpc_call_reply().
 */
void mrpc_call_on_event(struct mrpc_call *call, mrpc_event_fn fn);

#define MRPC_STREAM_READABLE	(1U << 0) /* mrpc_stream_next() does not wait */
#define MRPC_STREAM_WRITABLE	(1U << 1) /* mrpc_stream_send() does not wait */

/* In the function of mrpc_call_on_event(): MRPC_STREAM_READABLE and MRPC_STREAM_WRITABLE. */
unsigned int mrpc_stream_ready(const struct mrpc_stream *stream);

#ifdef __cplusplus
}
#endif

#endif /* _MRPC_STREAM_H */
