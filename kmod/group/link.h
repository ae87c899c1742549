/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_GROUP_LINK_H
#define MRPC_GROUP_LINK_H

struct mrpc_conn;
struct mrpc_group_link;
struct mrpc_refusal;
struct mrpc_session;

int mrpc_member_link(struct mrpc_session *session, const struct mrpc_group_link *args,
		     struct mrpc_refusal *r);
void mrpc_member_unlink(struct mrpc_conn *conn);

#endif /* MRPC_GROUP_LINK_H */
