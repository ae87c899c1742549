/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CHANGE_RUNTIME_TYPE_H
#define MRPC_CHANGE_RUNTIME_TYPE_H

#include <linux/types.h>

struct mrpc_chain;
struct mrpc_conn;
struct mrpc_engine;

void mrpc_runtime_unuse(const struct mrpc_engine *e);
void mrpc_runtime_follow(struct mrpc_conn *conn, const struct mrpc_chain *chain);
int mrpc_runtime_init(void);
void mrpc_runtime_exit(void);

#endif /* MRPC_CHANGE_RUNTIME_TYPE_H */
