/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_STREAM_H
#define LIBMRPC_STREAM_H

#include "qp.h"

struct channel;
struct replay;

/* Messages that are not sent yet: one more waits. Fewer than the kernel takes. */
#define SENDING_MAX	(MRPC_STREAM_UNSENT / 2)

/**
 * struct mrpc_stream - one end of a stream
 * @in: entry of mrpc_qp.streams; has its token
 * @qp: queue pair of its completions
 * @op: client: the call; NULL once it has ended. It has this stream until then
 * @client: this is the client's end
 * @sends: this end may send messages
 * @last: no more messages of this end follow
 * @last_id: the operation that said so
 * @ended: the call has ended: at a client with @end, at a server with @status; atomic
 * @end: client: the terminal completion
 * @status: server: what has ended it before its handler
 * @closed: the application does not use it any more
 * @unsent: messages with blocks that the kernel may still read; counts the request of a call that
 *	has ended
 * @refused: status of the latest message that the kernel has refused, MRPC_OK: the caller knows
 * @refused_id: its operation
 * @broken: a message was lost for want of memory: none of those that follow is delivered
 * @channel: the channel that it was opened over, a reference; or NULL
 * @replay: over a channel: what makes it again, until it is committed, or has failed here; or NULL
 * @done: of the peer's messages, the last has come
 * @got: messages that have come and were not read, a ring of @cap, from @first, @nr
 * @read: the message that the application reads; its block, if it has one
 * @consumed: bytes that were read, and not granted
 * @call: server: its call; the memory is freed with the stream once @deferred
 * @on_event: server: what the worker calls when something has come; NULL: nothing
 * @serving: server: the handler runs
 * @deferred: the handler has returned MRPC_DEFER
 * @left: a thread that may not free the stream has ended the call; atomic
 */
struct mrpc_stream {
	struct op_stream in;
	struct mrpc_qp *qp;
	struct op *op;
	bool client;
	bool sends;
	bool last;
	bool ended;
	bool closed;
	bool done;
	bool broken;
	u16 status;
	u16 refused;
	u64 refused_id;
	u64 last_id;
	struct channel *channel;
	struct replay *replay;
	u32 unsent;
	u32 consumed;
	u32 first;
	u32 nr;
	u32 cap;
	struct mrpc_cqe *got;
	struct mrpc_cqe read;
	struct mrpc_cqe end;
	struct mrpc_call *call;
	mrpc_event_fn on_event;
	bool serving;
	bool deferred;
	bool left;
};

/* The stream of a request that has come. NULL: no memory. */
struct mrpc_stream *stream_accept(struct mrpc_qp *qp, const struct mrpc_cqe *request);

/* Submits what MRPC_STREAM_MORE left. Return: 0; -errno: the kernel has refused a message. */
int stream_settle(struct mrpc_stream *stream);

/* Frees a stream; its blocks that the kernel still reads keep it until they are free. NULL is allowed. */
void stream_close(struct mrpc_stream *stream);

/* Frees a stream that is closed, if nothing of it is under way. */
void stream_free_if_done(struct mrpc_stream *stream);

/* The call has ended: at a server before its handler, at a client in this library. */
void stream_end(struct mrpc_stream *stream, int status);

/* For stream_client.c: a stream without a call. NULL: no memory. */
struct mrpc_stream *stream_new(struct mrpc_qp *qp, u32 conn);
void stream_free(struct op_stream *in);

/*
 * Adds the CALL of a client's stream to its queue pair. @blocks: of its message; NULL: they are
 * kept. Return: 0; -errno: the caller keeps the blocks.
 */
int stream_call(struct mrpc_stream *stream, struct mrpc_sqe *sqe, void *blocks);

/* At a client: ends the call. */
void stream_cancel(struct mrpc_stream *stream, const char *why);
void stream_push_cancel(struct mrpc_stream *stream);	/* of an attempt that the kernel has */

/* Waits for the next message or the end. A signal cancels a client's call, as a synchronous one. */
void stream_wait(struct mrpc_stream *stream);

/* The next message, in stream.read. Return: false: no more come. */
bool stream_read(struct mrpc_stream *stream);
void stream_drop_block(struct mrpc_stream *stream, struct mrpc_cqe *cqe);

/* The operation of a SEND, for which it fills @sqe. NULL with errno: without memory. */
struct op *stream_op(struct mrpc_qp *qp, struct op_stream *in, struct mrpc_sqe *sqe);

/*
 * Adds a SEND to a queue pair. @in: takes its completion. Return: its operation; NULL with errno:
 * the caller keeps the blocks.
 */
struct op *stream_push(struct mrpc_qp *qp, struct op_stream *in, struct mrpc_sqe *sqe,
		       void *blocks);

/* Makes the reason of a message's refusal the thread's latest error. */
void stream_explain(struct mrpc_session *session, const struct mrpc_cqe *cqe);

#endif /* LIBMRPC_STREAM_H */
