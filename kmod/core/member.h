/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections that carry chunks of a group's operations.
 *
 * The group layer has the ranks of this host (struct mrpc_member). Lower layers only tell it what
 * happens to a connection that belongs to one (mrpc_conn.member is not NULL).
 */
#ifndef MRPC_CORE_MEMBER_H
#define MRPC_CORE_MEMBER_H

#include <linux/types.h>

struct mrpc_call;
struct mrpc_conn;
struct mrpc_member;

/**
 * struct mrpc_member_ops - what the group layer wants to know
 * @head: a CHUNK arrives; as mrpc_sink_head(), of which it is a part
 * @done: all of it has arrived; owner of the receive claim
 * @strategy: a STRATEGY has arrived; as @head
 * @sent: the bytes of a chunk (MRPC_ROLE_CHUNK) are read no more; any context but hard interrupt
 * @put: drops the reference of a connection that is freed
 */
struct mrpc_member_ops {
	int (*head)(struct mrpc_conn *conn, const u8 *prefix);
	void (*done)(struct mrpc_conn *conn);
	int (*strategy)(struct mrpc_conn *conn, const u8 *body);
	void (*sent)(struct mrpc_call *call);
	void (*put)(struct mrpc_member *member);
};

/* Set once, before the module has its first session; see mrpc_group_init(). */
extern const struct mrpc_member_ops *mrpc_member_ops;

#endif /* MRPC_CORE_MEMBER_H */
