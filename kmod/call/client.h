/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CALL_CLIENT_H
#define MRPC_CALL_CLIENT_H

#include <linux/types.h>


struct mrpc_call;
struct mrpc_conn;
struct mrpc_cqe;
struct mrpc_qp;
struct mrpc_session;
struct mrpc_sqe;

void mrpc_cqe_explain(struct mrpc_session *session, struct mrpc_cqe *cqe, const char *detail);
void mrpc_call_complete(struct mrpc_call *call, struct mrpc_cqe *cqe);
void mrpc_call_abort(struct mrpc_call *call, u16 status, const char *detail);
bool mrpc_call_wanted(struct mrpc_call *call);
bool mrpc_call_give_up(struct mrpc_call *call);
int mrpc_call_cancel(struct mrpc_conn *conn, u64 user_data, struct mrpc_qp *qp);

/* call/client.c: the client's side */
int mrpc_call_submit(struct mrpc_session *session, struct mrpc_conn *conn,
		     const struct mrpc_sqe *sqe, struct mrpc_qp *qp, struct mrpc_call **sync,
		     struct mrpc_cqe *failed);

#endif /* MRPC_CALL_CLIENT_H */
