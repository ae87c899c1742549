/* SPDX-License-Identifier: GPL-2.0 */
/* Incomplete messages in a sink. */
#ifndef MRPC_CALL_RECEIVE_PARKED_H
#define MRPC_CALL_RECEIVE_PARKED_H

#include <linux/types.h>

struct mrpc_link;
struct mrpc_receive;
struct mrpc_sink;

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

#endif /* MRPC_CALL_RECEIVE_PARKED_H */
