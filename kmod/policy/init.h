/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_POLICY_INIT_H
#define MRPC_POLICY_INIT_H

#include <linux/types.h>

int mrpc_policy_init(void);
void mrpc_policy_exit(void);

#endif /* MRPC_POLICY_INIT_H */
