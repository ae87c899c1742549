// SPDX-License-Identifier: GPL-2.0
#include "lib/grpc/prefix.h"

void mrpc_grpc_prefix_check(const struct mrpc_grpc_prefix *p, u32 max, u8 encoding, u8 accept,
			    struct mrpc_grpc_verdict *v)
{
	*v = (struct mrpc_grpc_verdict){ 0 };
	if (p->bytes[0] > MRPC_GRPC_COMPRESSED)
		mrpc_grpc_judge(v, MRPC_GRPC_STATUS, MRPC_INTERNAL,
				"a message has a flag that gRPC does not have");
	else if (p->bytes[0] && encoding == MRPC_GRPC_IDENTITY)
		mrpc_grpc_judge(v, MRPC_GRPC_STATUS, MRPC_INTERNAL,
				"a message is compressed, but grpc-encoding does not say how");
	else if (p->bytes[0] && (encoding >= MRPC_GRPC_ENCODING_UNKNOWN ||
				 !(accept & BIT(encoding))))
		mrpc_grpc_judge(v, MRPC_GRPC_STATUS, MRPC_UNIMPLEMENTED,
				"a message is compressed in a way that is not known here");
	else if (mrpc_grpc_prefix_len(p) > max)
		mrpc_grpc_judge(v, MRPC_GRPC_STATUS, MRPC_RESOURCE_EXHAUSTED,
				"a message is larger than its receiver accepts");
}
