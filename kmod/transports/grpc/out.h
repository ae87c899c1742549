/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that a link of gRPC needs while something goes out. */
#ifndef MRPC_TRANSPORTS_GRPC_OUT_H
#define MRPC_TRANSPORTS_GRPC_OUT_H

#include <linux/types.h>

#include "lib/grpc/out.h"
#include "transports/grpc/payload.h"

#define GRPC_STAGE	16384	/* bytes of frames that are put together */
#define GRPC_AUTHORITY	64	/* the longest text of an address and port, with NUL */
#define GRPC_TEMPLATE	48	/* bytes of the longest block that is kept */
#define GRPC_TEMPLATES	8	/* methods whose blocks are kept */

/**
 * struct grpc_template - a header block, or its beginning, that can be sent again
 *
 * It consists of indexes into HPACK's table, so it is short, and good until the table changes.
 *
 * @generation: of the table
 * @key: what the block depends on
 * @len: bytes of it; 0: there is none
 * @bytes: the block
 */
struct grpc_template {
	u64 generation;
	u32 key;
	u8 len;
	u8 bytes[GRPC_TEMPLATE];
};

/**
 * struct grpc_out_work - memory that a link needs while something goes out, some 35 KiB
 * @calls: the common fields of requests, by method
 * @response: the header block before a server's messages, without metadata
 * @trailers: the last header block of a server's stream, with a status alone
 * @authority: client: the server's address
 * @authority_len: its bytes; 0: not made yet
 * @encoder: of the message that is encoded now
 * @scratch: values of header fields
 * @stage: frames are put together here
 */
struct grpc_out_work {
	struct grpc_template calls[GRPC_TEMPLATES];
	struct grpc_template response;
	struct grpc_template trailers;
	char authority[GRPC_AUTHORITY];
	u32 authority_len;
	struct grpc_encoder encoder;
	u8 scratch[MRPC_GRPC_SCRATCH];
	u8 stage[GRPC_STAGE];
};

#endif /* MRPC_TRANSPORTS_GRPC_OUT_H */
