/* SPDX-License-Identifier: GPL-2.0 */
/* Header blocks that go out. */
#ifndef MRPC_TRANSPORTS_GRPC_HEADERS_H
#define MRPC_TRANSPORTS_GRPC_HEADERS_H

#include <linux/types.h>

struct grpc_link;
struct grpc_stream;
struct mrpc_hpack_table;
struct mrpc_rpc;

int grpc_table_prepare(struct mrpc_hpack_table *t);
int grpc_put_request(struct grpc_link *gl, struct grpc_stream *s, const struct mrpc_rpc *rpc);
int grpc_put_response(struct grpc_link *gl, struct grpc_stream *s, const struct mrpc_rpc *rpc);
int grpc_put_end(struct grpc_link *gl, struct grpc_stream *s, const struct mrpc_rpc *rpc);

#endif /* MRPC_TRANSPORTS_GRPC_HEADERS_H */
