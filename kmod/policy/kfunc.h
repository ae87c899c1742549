/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_POLICY_KFUNC_H
#define MRPC_POLICY_KFUNC_H

#include <linux/types.h>

int mrpc_policy_kfunc_init(void);

#endif /* MRPC_POLICY_KFUNC_H */
