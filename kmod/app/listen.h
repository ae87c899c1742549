/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_APP_LISTEN_H
#define MRPC_APP_LISTEN_H

#include <linux/types.h>

struct mrpc_connect;
struct mrpc_refusal;
struct mrpc_session;

int mrpc_listener_serve(struct mrpc_session *session, struct mrpc_connect *args,
			struct mrpc_refusal *r);

#endif /* MRPC_APP_LISTEN_H */
