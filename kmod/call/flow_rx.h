/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CALL_FLOW_RX_H
#define MRPC_CALL_FLOW_RX_H

#include <linux/types.h>

struct mrpc_arrival;
struct mrpc_call;
struct mrpc_conn;
struct mrpc_cqe;
struct mrpc_flow;
struct mrpc_frame;
struct mrpc_qp;
struct mrpc_sqe;

int mrpc_flow_head(struct mrpc_conn *conn, const u8 *prefix);
int mrpc_flow_too_big(struct mrpc_conn *conn, const struct mrpc_frame *frame, u16 status,
		      const char *detail);
void mrpc_flow_arrived(struct mrpc_conn *conn, struct mrpc_arrival *a);
bool mrpc_flow_defers(struct mrpc_conn *conn, struct mrpc_arrival *a);
bool mrpc_flow_finishes(struct mrpc_call *call, const struct mrpc_cqe *cqe);
void mrpc_flow_begin(struct mrpc_call *call);
void mrpc_flow_open(struct mrpc_call *call, struct mrpc_qp *qp);
void mrpc_flow_aborted(struct mrpc_call *call, u16 status);
void mrpc_flow_close(struct mrpc_flow *flow);
bool mrpc_flow_pulls(struct mrpc_qp *qp);
void mrpc_flow_pull(struct mrpc_qp *qp);

#endif /* MRPC_CALL_FLOW_RX_H */
