/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CALL_FLOW_TX_H
#define MRPC_CALL_FLOW_TX_H

#include <linux/types.h>

struct mrpc_call;
struct mrpc_conn;
struct mrpc_flow;
struct mrpc_frame;
struct mrpc_qp;
struct mrpc_rpc;
struct mrpc_session;
struct mrpc_sqe;

void mrpc_flow_send(struct mrpc_session *session, struct mrpc_conn *conn,
		    const struct mrpc_sqe *sqe, struct mrpc_qp *qp);
void mrpc_flow_reply(struct mrpc_conn *conn, struct mrpc_call *call);
int mrpc_flow_credit(struct mrpc_conn *conn, const struct mrpc_frame *frame);
void mrpc_flow_out(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
void mrpc_flow_done(struct mrpc_rpc *rpc);
void mrpc_flow_rejected(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
void mrpc_flow_withdraw(struct mrpc_conn *conn, const struct mrpc_call *call);
void mrpc_flow_cut(struct mrpc_flow *flow);

#endif /* MRPC_CALL_FLOW_TX_H */
