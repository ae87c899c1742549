/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: messages are given to the protocol, or given up. */
#ifndef MRPC_TRANSPORTS_PRIO_SUBMIT_H
#define MRPC_TRANSPORTS_PRIO_SUBMIT_H

#include "transports/prio/host.h"

int prio_out_submit(struct mrpc_link *upper, struct mrpc_rpc *rpc);
void prio_out_abort(struct prio_link *link);
void prio_out_strip(struct prio_link *link);

#endif /* MRPC_TRANSPORTS_PRIO_SUBMIT_H */
