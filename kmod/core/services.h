/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_SERVICES_H
#define MRPC_CORE_SERVICES_H

#include <linux/types.h>

struct mrpc_connect;
struct mrpc_refusal;
struct mrpc_service;
struct mrpc_session;

int mrpc_services_get(struct mrpc_session *session, const struct mrpc_connect *args,
		      struct mrpc_service **services, struct mrpc_refusal *r);
void mrpc_services_put(struct mrpc_service *services, u32 nr);

#endif /* MRPC_CORE_SERVICES_H */
