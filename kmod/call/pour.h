/* SPDX-License-Identifier: GPL-2.0 */
/* Byte sections that are in memory already, on their way to the sink's place. */
#ifndef MRPC_CALL_POUR_H
#define MRPC_CALL_POUR_H

#include <linux/types.h>

struct mrpc_msg_seg;
struct mrpc_sink;

void mrpc_sink_pour(struct mrpc_sink *sink, const u8 *from);
void mrpc_sink_pour_segs(struct mrpc_sink *sink, const struct mrpc_msg_seg *segs, u32 nr,
			 const void *(*at)(void *ctx, u64 off, u64 len), void *ctx);

#endif /* MRPC_CALL_POUR_H */
