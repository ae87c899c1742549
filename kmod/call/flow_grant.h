/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CALL_FLOW_GRANT_H
#define MRPC_CALL_FLOW_GRANT_H

#include <linux/types.h>

struct mrpc_conn;
struct mrpc_sqe;

bool mrpc_flow_grant(struct mrpc_conn *conn, const struct mrpc_sqe *sqe);

#endif /* MRPC_CALL_FLOW_GRANT_H */
