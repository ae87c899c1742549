/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_GROUP_LINK_H
#define MRPC_GROUP_LINK_H

#include <linux/types.h>

struct mrpc_call;
struct mrpc_conn;
struct mrpc_group_link;
struct mrpc_member;
struct mrpc_refusal;
struct mrpc_session;

int mrpc_member_link(struct mrpc_session *session, const struct mrpc_group_link *args,
		     struct mrpc_refusal *r);
void mrpc_member_unlink(struct mrpc_conn *conn);
struct mrpc_conn *mrpc_member_conn(struct mrpc_member *m, u32 rank);
struct mrpc_call *mrpc_member_frame(struct mrpc_conn *conn, u8 type, u32 meta_len, u32 detail_len);
struct mrpc_member *mrpc_conn_member(struct mrpc_conn *conn);

#endif /* MRPC_GROUP_LINK_H */
