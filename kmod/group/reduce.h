/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_GROUP_REDUCE_H
#define MRPC_GROUP_REDUCE_H

#include <linux/types.h>

int mrpc_reduce_offered(u32 elem, u32 op);
void mrpc_reduce_chunk(u32 elem, u32 op, void *dst, const void *with, const void *src, u32 bytes);

#endif /* MRPC_GROUP_REDUCE_H */
