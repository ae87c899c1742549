/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sink, for the code that delivers the messages that engines kept: call/receive_staged.c.
 */
#ifndef MRPC_CALL_RECEIVE_H
#define MRPC_CALL_RECEIVE_H

#include <linux/types.h>

struct mrpc_conn;
struct mrpc_frame;
struct mrpc_link;
struct mrpc_receive;
struct mrpc_sink;

int mrpc_sink_alloc(struct mrpc_conn *conn, u64 len);
void mrpc_sink_place(struct mrpc_conn *conn, const u8 *prefix);
void mrpc_sink_skip(struct mrpc_receive *in);
bool mrpc_recv_stops(struct mrpc_link *link, int budget, int *frames);
bool mrpc_sink_early(struct mrpc_link *link, const struct mrpc_frame *frame);
bool mrpc_sink_expects(struct mrpc_link *link, const struct mrpc_frame *frame);
int mrpc_sink_head(struct mrpc_link *link, const struct mrpc_frame *frame, const u8 *prefix);
int mrpc_sink_too_big(struct mrpc_link *link, const struct mrpc_frame *frame);
void mrpc_sink_done(struct mrpc_link *link);

/*
 * A transport that receives several messages at once has a sink for each, and changes
 * them: between any two calls of the core the sink of the message that is meant must be
 * conn->receive.sink.
 */
void mrpc_sink_park(struct mrpc_receive *in, struct mrpc_sink *to);
void mrpc_sink_resume(struct mrpc_receive *in, struct mrpc_sink *from);
void mrpc_sink_drop(struct mrpc_link *link, struct mrpc_sink *sink);
bool mrpc_sink_wanted(const struct mrpc_sink *sink);
int mrpc_sink_give_up(struct mrpc_link *link);
int mrpc_sink_abort(struct mrpc_link *link);

#endif /* MRPC_CALL_RECEIVE_H */
