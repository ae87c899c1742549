/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ports at which rank 0 will listen, kept free for it. */
#ifndef MRPC_NCCL_PORT_H
#define MRPC_NCCL_PORT_H

#include <sys/socket.h>

#include "unique_id.h"

/* Takes a free port of @host until port_give() gets the same token, and fills in the address. */
ncclResult_t port_keep(const struct sockaddr_storage *host, struct unique_id *content);

/* Gives back the port that was kept with this token, if there is one. */
void port_give(const char *token);

#endif /* MRPC_NCCL_PORT_H */
