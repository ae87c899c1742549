/* SPDX-License-Identifier: GPL-2.0 */
/* Listening TCP sockets, for every transport whose links are TCP sockets. */
#ifndef MRPC_TRANSPORTS_SOCK_LISTEN_H
#define MRPC_TRANSPORTS_SOCK_LISTEN_H

#include <linux/types.h>

#include "transports/sock.h"

struct mrpc_link;
struct mrpc_listener;

int mrpc_sock_listen(struct mrpc_listener *l, const void *addr, u32 addr_len, u32 backlog,
		     const char **why);
int mrpc_sock_listen_on(struct mrpc_listener *l, int *fd, const char **why);
bool mrpc_sock_waiting(struct mrpc_listener *l);
int mrpc_sock_accept(struct mrpc_listener *l, struct mrpc_link *link, mrpc_sock_attach attach);
void mrpc_sock_unlisten(struct mrpc_listener *l);

#endif /* MRPC_TRANSPORTS_SOCK_LISTEN_H */
