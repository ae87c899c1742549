/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_REFUSAL_H
#define MRPC_CORE_REFUSAL_H

#include <linux/mrpc.h>

#include "lib/message/wire.h"

struct mrpc_msg_error;
struct mrpc_rpc;
struct mrpc_schema_plan;
struct mrpc_session;

/**
 * struct mrpc_refusal - why a descriptor or message was refused
 *
 * Written only when there is something to say: on the path of every call it is
 * __uninitialized, which kernels that zero the stack would else zero for nothing.
 *
 * @status: enum mrpc_status
 * @detail: a sentence for people
 */
struct mrpc_refusal {
	u16 status;
	char detail[MRPC_MAX_DETAIL];
};

int __printf(3, 4) mrpc_refuse(struct mrpc_refusal *r, u16 status, const char *fmt, ...);
void mrpc_refuse_link(struct mrpc_refusal *r, const char *why, int err);
int mrpc_refuse_meta(struct mrpc_session *session, struct mrpc_rpc *rpc, u64 off, u32 len,
		     struct mrpc_refusal *r);
int mrpc_refuse_message(int err, const struct mrpc_schema_plan *plan,
			const struct mrpc_msg_error *me, u32 max, bool copy,
			struct mrpc_refusal *r);

#endif /* MRPC_CORE_REFUSAL_H */
