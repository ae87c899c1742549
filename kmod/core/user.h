/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_USER_H
#define MRPC_CORE_USER_H

#include <linux/types.h>

struct mrpc_session;
struct mrpc_user;

struct mrpc_user *mrpc_user_get(kuid_t uid);
void mrpc_user_put(struct mrpc_user *user);
int mrpc_user_charge_session(struct mrpc_session *session);
void mrpc_user_uncharge_session(struct mrpc_user *user);
int mrpc_user_charge_conn(struct mrpc_session *session);
void mrpc_user_uncharge_conn(struct mrpc_user *user);
int mrpc_user_charge_listener(struct mrpc_session *session);
void mrpc_user_uncharge_listener(struct mrpc_user *user);
int mrpc_user_charge_memory(struct mrpc_session *session, u64 bytes);
void mrpc_user_uncharge_memory(struct mrpc_user *user, u64 bytes);

#endif /* MRPC_CORE_USER_H */
