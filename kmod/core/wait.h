/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_WAIT_H
#define MRPC_CORE_WAIT_H

#include <linux/types.h>
#include <linux/wait.h>

struct mrpc_qp;
struct mrpc_session;

int mrpc_wait(struct mrpc_session *session, struct mrpc_qp *qp, wait_queue_head_t *wq,
	      bool (*done)(void *ctx), void *ctx, u64 until);

#endif /* MRPC_CORE_WAIT_H */
