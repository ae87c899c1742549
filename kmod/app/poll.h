/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_APP_POLL_H
#define MRPC_APP_POLL_H

#include <linux/types.h>

struct mrpc_poller;
struct mrpc_qp;
struct mrpc_session;
struct mrpc_waiters;

bool mrpc_datapath_poll(struct mrpc_session *session, struct mrpc_qp *qp);
void mrpc_poll_begin(struct mrpc_session *session, struct mrpc_poller *p);
void mrpc_poll_end(struct mrpc_session *session, struct mrpc_poller *p);
int mrpc_poll_wait(struct mrpc_session *session, struct mrpc_qp *qp, struct mrpc_waiters *waiters,
		   bool (*done)(void *ctx), void *ctx, u64 until);
int mrpc_wait(struct mrpc_session *session, struct mrpc_waiters *waiters,
	      bool (*done)(void *ctx), void *ctx, u64 until);

#endif /* MRPC_APP_POLL_H */
