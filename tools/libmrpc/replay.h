/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_REPLAY_H
#define LIBMRPC_REPLAY_H

#include "retry.h"
#include "stream.h"

/* Of a stream's messages, those that are kept. Each counts MRPC_STREAM_MESSAGE besides its bytes. */
#define REPLAY_BYTES	(256U << 10)

/**
 * enum replay_state - what an uncommitted stream does
 * @REPLAY_OPENS: the kernel has the call, and has not told its token yet
 * @REPLAY_SENDS: the kernel gets the messages
 * @REPLAY_WAITS: no attempt is under way; it is parked
 * @REPLAY_COMMITTED: it is not made again; the kernel still gets messages that were kept
 * @REPLAY_FAILED: the stream has ended here
 */
enum replay_state {
	REPLAY_OPENS,
	REPLAY_SENDS,
	REPLAY_WAITS,
	REPLAY_COMMITTED,
	REPLAY_FAILED,
};

/**
 * struct kept - a message that may be sent again
 * @blocks: its memory in the send heap; NULL: it has none, or it is an operation's
 * @id: the latest operation that has sent it
 * @root: as in its entry
 * @flags: the same
 * @refused: the kernel has refused it: it is no message of the stream
 */
struct kept {
	void *blocks;
	u64 id;
	u32 root;
	u8 flags;
	bool refused;
};

/**
 * struct replay - what makes a client's stream over a channel again, until it is committed
 * @wait: where it is parked
 * @stream: the stream; has its channel
 * @call: how it is made
 * @lot: where it waits, a reference; NULL: it has not waited so far
 * @sqe: the entry of the call
 * @request: blocks of the request and of the metadata; NULL: none
 * @taken: the kernel has taken the latest entry of the call
 * @state: what it does
 * @kept: messages, an array of @cap, @nr of them
 * @next: which of them the kernel gets next
 * @pushes: it gets some just now: a completion that is taken meanwhile adds none
 * @bytes: of them all
 * @detail: REPLAY_FAILED: why; NULL: without memory
 */
struct replay {
	struct parked wait;
	struct mrpc_stream *stream;
	struct retry_call call;
	struct lot *lot;
	struct mrpc_sqe sqe;
	void *request;
	bool taken;
	enum replay_state state;
	struct kept *kept;
	u32 nr;
	u32 cap;
	u32 next;
	bool pushes;
	u32 bytes;
	char *detail;
};

/* Begins to keep. @sqe: of the call; @request: its blocks. NULL: without memory. */
struct replay *replay_new(struct mrpc_stream *stream, const struct retry_call *call,
			  const struct mrpc_sqe *sqe, void *request);

/* No more is kept. Blocks that the kernel still reads are freed with their operations. */
void replay_drop(struct mrpc_stream *stream);

/* The queue pair is being destroyed, with the send heap. */
void replay_free(struct replay *r);

/* -- for the application: stream.replay is set ---------------------------------------------- */

/* May a message of @total bytes be sent now? */
bool replay_has_room(const struct replay *r, u64 total);

/* Is a message to be kept? Else the stream is committed, and the kernel gets the message at once. */
bool replay_keeps(struct mrpc_stream *stream, u64 total);

/*
 * Keeps a message, and gives it to the kernel, if there is an attempt. sqe.user_data becomes its
 * operation, or 0. Return: 0 or -errno. The blocks are spent.
 */
int replay_send(struct mrpc_stream *stream, struct mrpc_sqe *sqe, void *blocks, u64 total);

/* It is not made again. Return: true: it has ended; false: the kernel has the call. */
bool replay_cancel(struct mrpc_stream *stream, const char *why);

/* -- for completions: stream.replay is set ---------------------------------------------------- */

void replay_opened(struct mrpc_stream *stream);
void replay_answered(struct mrpc_stream *stream);
void replay_sent(struct mrpc_stream *stream);
void replay_refused(struct mrpc_stream *stream, u64 id);

/*
 * The call has ended as stream.end says. @lost: its connection has. Return: true: it is made again;
 * false: it has ended, and nothing is kept.
 */
bool replay_again(struct mrpc_stream *stream, bool lost);

#endif /* LIBMRPC_REPLAY_H */
