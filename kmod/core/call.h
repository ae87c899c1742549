/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_CALL_H
#define MRPC_CORE_CALL_H

#include <linux/types.h>

struct mrpc_call;
struct mrpc_conn;

void mrpc_call_free_spares(struct mrpc_call *spares);
struct mrpc_call *mrpc_call_new(struct mrpc_conn *conn, u8 role, gfp_t gfp);
void mrpc_call_put(struct mrpc_call *call);
void mrpc_call_put_some(struct mrpc_call *call, int nr);
int mrpc_rpc_init(void);
void mrpc_rpc_exit(void);
void mrpc_call_set(struct mrpc_call *call, int bit);
void mrpc_call_sent_put(struct mrpc_call *call);

#endif /* MRPC_CORE_CALL_H */
