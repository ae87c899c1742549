/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CONN_ACCEPT_H
#define MRPC_CONN_ACCEPT_H

#include <linux/types.h>

struct mrpc_link;
struct mrpc_listener;
struct work_struct;

/* Begins a link. Return: 0 or a negative errno. */
typedef int (*mrpc_link_begin_fn)(struct mrpc_link *link, void *ctx);

int mrpc_listener_add(struct mrpc_listener *l, mrpc_link_begin_fn begin, void *ctx, u32 *id);
int mrpc_listener_publish(struct mrpc_listener *l);
void mrpc_listener_run(struct mrpc_listener *l);
void mrpc_listener_retry(struct work_struct *work);
void mrpc_listener_close(struct mrpc_listener *l);

#endif /* MRPC_CONN_ACCEPT_H */
