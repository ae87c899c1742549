/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_POLICY_JUDGE_H
#define MRPC_POLICY_JUDGE_H

#include <linux/types.h>

struct mrpc_engine;
struct mrpc_policy;
struct mrpc_policy_dp;
struct mrpc_policy_run;
struct mrpc_rpc;
struct sk_buff;

bool mrpc_policy_passes(const struct mrpc_engine *e);
void mrpc_policy_show(struct mrpc_policy_run *run, struct mrpc_rpc *rpc);
void mrpc_policy_tell(struct mrpc_policy *policy, struct mrpc_engine *e);
void mrpc_policy_ran(struct mrpc_policy_run *run, s64 ns);
int mrpc_policy_dump(const struct mrpc_policy_dp *dp, struct sk_buff *skb);
void mrpc_policy_tick(struct mrpc_policy *policy);

#endif /* MRPC_POLICY_JUDGE_H */
