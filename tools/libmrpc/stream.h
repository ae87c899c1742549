/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_STREAM_H
#define LIBMRPC_STREAM_H

#include "qp.h"

/* The stream of a request that has come. NULL: no memory. */
struct mrpc_stream *stream_accept(struct mrpc_qp *qp, const struct mrpc_cqe *request);

/* Submits what MRPC_STREAM_MORE left. Return: 0; -errno: the kernel has refused a message. */
int stream_settle(struct mrpc_stream *stream);

/* Frees a stream; its blocks that the kernel still reads keep it until they are free. NULL is allowed. */
void stream_close(struct mrpc_stream *stream);

#endif /* LIBMRPC_STREAM_H */
