/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_APP_CALL_H
#define MRPC_APP_CALL_H

#include <linux/types.h>

struct mrpc_call_sync;
struct mrpc_session;

int mrpc_qp_call(struct mrpc_session *session, struct mrpc_call_sync *args);
void mrpc_parked_end(struct mrpc_session *session);

#endif /* MRPC_APP_CALL_H */
