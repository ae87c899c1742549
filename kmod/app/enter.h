/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_APP_ENTER_H
#define MRPC_APP_ENTER_H

#include <linux/types.h>

struct mrpc_enter;
struct mrpc_session;

int mrpc_qp_enter(struct mrpc_session *session, struct mrpc_enter *args);

#endif /* MRPC_APP_ENTER_H */
