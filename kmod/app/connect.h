/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_APP_CONNECT_H
#define MRPC_APP_CONNECT_H

#include <linux/types.h>

struct mrpc_conn_info;
struct mrpc_connect;
struct mrpc_refusal;
struct mrpc_session;

int mrpc_conn_info(struct mrpc_session *session, struct mrpc_conn_info *info);
int mrpc_conn_connect(struct mrpc_session *session, struct mrpc_connect *args,
		      struct mrpc_refusal *r);

#endif /* MRPC_APP_CONNECT_H */
