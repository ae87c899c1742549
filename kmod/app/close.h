/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_APP_CLOSE_H
#define MRPC_APP_CLOSE_H

#include <linux/types.h>

struct mrpc_close;
struct mrpc_session;

int mrpc_conn_end(struct mrpc_session *session, const struct mrpc_close *args);
void mrpc_conn_undo(struct mrpc_session *session, u32 id);

#endif /* MRPC_APP_CLOSE_H */
