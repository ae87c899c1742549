/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_RX_H
#define MRPC_CORE_RX_H

struct mrpc_conn;
struct mrpc_rx;

struct mrpc_rx *mrpc_rx_new(struct mrpc_conn *conn);
void mrpc_rx_put(struct mrpc_rx *rx);
int mrpc_rx_init(void);
void mrpc_rx_exit(void);

#endif /* MRPC_CORE_RX_H */
