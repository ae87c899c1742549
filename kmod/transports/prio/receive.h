/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: datagrams from the network. */
#ifndef MRPC_TRANSPORTS_PRIO_RECEIVE_H
#define MRPC_TRANSPORTS_PRIO_RECEIVE_H

#include "transports/prio/host.h"

void prio_packets_came(struct sock *sk);
void prio_errors_came(struct sock *sk);

#endif /* MRPC_TRANSPORTS_PRIO_RECEIVE_H */
