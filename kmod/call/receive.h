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

#endif /* MRPC_CALL_RECEIVE_H */
