/* SPDX-License-Identifier: GPL-2.0 */
/* What goes out over a link of gRPC: frames, in turns of the streams. */
#ifndef MRPC_TRANSPORTS_GRPC_PUMP_H
#define MRPC_TRANSPORTS_GRPC_PUMP_H

#include <linux/types.h>

struct grpc_link;
struct grpc_stream;
struct mrpc_link;
struct mrpc_queue;

#define GRPC_RETRY	(10 * NSEC_PER_MSEC)	/* when there was no memory */

int grpc_pump(struct mrpc_link *link);
int grpc_send(struct mrpc_link *link, struct mrpc_queue *q, u64 limit);
void grpc_give_gone(struct grpc_link *gl, struct grpc_stream *s);

#endif /* MRPC_TRANSPORTS_GRPC_PUMP_H */
