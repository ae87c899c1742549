/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_RX_BUFFER_H
#define MRPC_CORE_RX_BUFFER_H

#include <linux/types.h>

struct mrpc_link;

#define MRPC_STREAM_BUF	16384	/* bytes of the usual receive buffer */

u8 *mrpc_stream_alloc(struct mrpc_link *link, u32 *cap);
void mrpc_stream_recycle(struct mrpc_link *link, u8 *buf, u32 cap);

#endif /* MRPC_CORE_RX_BUFFER_H */
