/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_POLICY_CLASS_CHOOSE_H
#define MRPC_POLICY_CLASS_CHOOSE_H

#include <linux/types.h>

/* policy/class_choose.c */
int mrpc_policy_lb_init(void);

#endif /* MRPC_POLICY_CLASS_CHOOSE_H */
