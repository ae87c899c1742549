/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets that an application hands over. */
#ifndef MRPC_APP_ADOPT_H
#define MRPC_APP_ADOPT_H

#include <linux/types.h>

struct mrpc_adopt;
struct mrpc_connect;
struct mrpc_link;
struct mrpc_listener;
struct mrpc_refusal;
struct mrpc_session;

int mrpc_adopt_link(struct mrpc_link *link, struct mrpc_connect *args, struct mrpc_refusal *r);
int mrpc_adopt_listen(struct mrpc_listener *l, struct mrpc_connect *args, struct mrpc_refusal *r);
int mrpc_conn_adopt(struct mrpc_session *session, struct mrpc_adopt *args,
		    struct mrpc_refusal *r);

#endif /* MRPC_APP_ADOPT_H */
