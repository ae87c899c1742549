/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CALL_SERVER_H
#define MRPC_CALL_SERVER_H

#include <linux/types.h>


struct mrpc_call;
struct mrpc_conn;
struct mrpc_qp;
struct mrpc_session;
struct mrpc_sqe;

bool mrpc_serve_room(struct mrpc_qp *qp);
void mrpc_serve_deliver(struct mrpc_call *call, struct mrpc_qp *mine);
void mrpc_serve_pull(struct mrpc_session *session, struct mrpc_qp *qp);
bool mrpc_serve_is_open(struct mrpc_conn *conn, u64 id);
int mrpc_serve_status(struct mrpc_conn *conn, u64 id, u16 status, const char *detail);
void mrpc_serve_abort(struct mrpc_call *call, u16 status, const char *detail);

/* call/server.c: the server's side */
void mrpc_serve_reply(struct mrpc_session *session, struct mrpc_conn *conn,
		      const struct mrpc_sqe *sqe, struct mrpc_qp *qp);

#endif /* MRPC_CALL_SERVER_H */
