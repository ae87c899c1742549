/* SPDX-License-Identifier: GPL-2.0 */
/* Compression of single messages. */
#ifndef MRPC_TRANSPORTS_GRPC_COMPRESS_H
#define MRPC_TRANSPORTS_GRPC_COMPRESS_H

#include <linux/types.h>

struct grpc_link;
struct grpc_payload;
struct grpc_stream;

int grpc_inflate(struct grpc_link *gl, struct grpc_stream *s, u32 *made);
void grpc_deflate(struct grpc_payload *p);

#endif /* MRPC_TRANSPORTS_GRPC_COMPRESS_H */
