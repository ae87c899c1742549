/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_REPLICA_INIT_H
#define MRPC_REPLICA_INIT_H

void mrpc_replica_init(void);

#endif /* MRPC_REPLICA_INIT_H */
