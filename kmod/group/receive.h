/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_GROUP_RECEIVE_H
#define MRPC_GROUP_RECEIVE_H

#include <linux/types.h>

struct mrpc_conn;

int mrpc_member_head(struct mrpc_conn *conn, const u8 *prefix);
void mrpc_member_done(struct mrpc_conn *conn);

#endif /* MRPC_GROUP_RECEIVE_H */
