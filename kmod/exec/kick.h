/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_EXEC_KICK_H
#define MRPC_EXEC_KICK_H

#include <linux/types.h>

struct hrtimer;
struct mrpc_conn;
struct mrpc_link;
struct mrpc_listener;
struct mrpc_session;

void mrpc_conn_arm(struct mrpc_conn *conn, u64 when);
void mrpc_link_arm(struct mrpc_link *link, u64 when);
void mrpc_conn_start(struct mrpc_conn *conn);

/* Readiness, callable in softirq: the link has input, or room for output. */
void mrpc_kick_rx(struct mrpc_conn *conn);
void mrpc_kick_tx(struct mrpc_conn *conn);
void mrpc_link_kick_rx(struct mrpc_link *link);
void mrpc_link_kick_tx(struct mrpc_link *link);
void mrpc_kick_again(struct mrpc_conn *conn, int flag);
void mrpc_datapath_kick(struct mrpc_conn *conn);
enum hrtimer_restart mrpc_timer_fired(struct hrtimer *timer);
void mrpc_ready_remove(struct mrpc_conn *conn);
struct mrpc_conn *mrpc_ready_take(struct mrpc_session *session);
struct mrpc_listener *mrpc_ready_take_listener(struct mrpc_session *session);
void mrpc_ready_handoff(struct mrpc_session *session);
void mrpc_kick_listener(struct mrpc_listener *l);
void mrpc_listener_settled(struct mrpc_conn *conn);
void mrpc_ready_remove_listener(struct mrpc_listener *l);

#endif /* MRPC_EXEC_KICK_H */
