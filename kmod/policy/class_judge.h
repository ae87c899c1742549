/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_POLICY_CLASS_JUDGE_H
#define MRPC_POLICY_CLASS_JUDGE_H

#include <linux/types.h>

/* policy/class_judge.c */
int mrpc_policy_ops_init(void);

#endif /* MRPC_POLICY_CLASS_JUDGE_H */
