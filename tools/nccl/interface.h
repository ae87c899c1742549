/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The network interface at which ranks meet. */
#ifndef MRPC_NCCL_INTERFACE_H
#define MRPC_NCCL_INTERFACE_H

#include <stdbool.h>
#include <sys/socket.h>

#include "nccl.h"

/*
 * Does a list select an interface? @names is as in NCCL_SOCKET_IFNAME: beginnings of names, with
 * commas between them; behind "=" whole names. "^" in front selects all others.
 */
bool interface_is_in(const char *names, const char *name);

/*
 * The address of the first interface that is up, and that @names selects. NULL: as "^docker,lo",
 * or any other if there is none. IPv4 goes before IPv6. The port is 0.
 */
ncclResult_t interface_address(const char *names, struct sockaddr_storage *address);

#endif /* MRPC_NCCL_INTERFACE_H */
