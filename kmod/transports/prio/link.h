/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: what the core asks of a transport. */
#ifndef MRPC_TRANSPORTS_PRIO_LINK_H
#define MRPC_TRANSPORTS_PRIO_LINK_H

#include "transports/prio/host.h"

void prio_egress(struct mrpc_link *upper, bool joins);
struct mrpc_sender *prio_sender(struct mrpc_link *upper);
void prio_device(struct mrpc_link *upper, char *name);
int prio_connect(struct mrpc_link *upper, const void *addr, u32 addr_len,
		 const char **why);
int prio_listen(struct mrpc_listener *l, const void *addr, u32 addr_len, u32 backlog,
		const char **why);
bool prio_waiting(struct mrpc_listener *l);
int prio_accept(struct mrpc_listener *l, struct mrpc_link *upper);
void prio_unlisten(struct mrpc_listener *l);
int prio_send(struct mrpc_link *upper, struct mrpc_queue *q, u64 limit);
void prio_flush(struct mrpc_link *upper);
int prio_recv(struct mrpc_link *upper, int budget);
void prio_shutdown(struct mrpc_link *upper, bool abort);
bool prio_busy(struct mrpc_link *upper);
void prio_release(struct mrpc_link *upper);
u64 prio_backlog(struct mrpc_link *upper);
bool prio_slow(struct mrpc_link *upper, u64 now, u64 patience);

#endif /* MRPC_TRANSPORTS_PRIO_LINK_H */
