/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets that an application hands over, for the transports tcp and grpc. */
#ifndef MRPC_TRANSPORTS_SOCK_ADOPT_H
#define MRPC_TRANSPORTS_SOCK_ADOPT_H

#include "transports/sock.h"

struct mrpc_link;
struct net;
struct socket;

int mrpc_sock_find(struct net *net, int fd, int state, struct socket **sock, const char **why);
int mrpc_sock_take_over(struct socket *sock, int *fd, const char **why);
int mrpc_sock_adopt(struct mrpc_link *link, int *fd, mrpc_sock_attach attach, const char **why);

#endif /* MRPC_TRANSPORTS_SOCK_ADOPT_H */
