/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CHANGE_CHANGE_H
#define MRPC_CHANGE_CHANGE_H

#include <linux/types.h>

struct mrpc_chain;
struct mrpc_conn;
struct netlink_ext_ack;
struct work_struct;

int mrpc_datapath_change(struct mrpc_conn *conn, bool patient, u64 *pause, u32 *leaked,
			 struct netlink_ext_ack *extack);

void mrpc_datapath_change_work(struct work_struct *work);
void mrpc_datapath_change_later(struct mrpc_conn *conn);
int mrpc_datapath_join(struct mrpc_conn *conn, struct netlink_ext_ack *extack);
void mrpc_datapath_leave(struct mrpc_conn *conn);
void mrpc_datapath_place(struct mrpc_conn *conn, const struct mrpc_chain *chain);

#endif /* MRPC_CHANGE_CHANGE_H */
