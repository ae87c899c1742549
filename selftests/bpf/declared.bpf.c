// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Policies that are declared wrongly, each in one way. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

MRPC_POLICY(pass)
{
	return MRPC_POLICY_PASS;
}

SEC("struct_ops/turn")
void turn(unsigned long long *args)
{
}

#define DECLARE(_name, ...)							\
	MRPC_POLICY_OPS struct mrpc_policy_ops _name = {			\
		.request_tx = (void *)pass, .name = #_name, __VA_ARGS__		\
	}

DECLARE(Upper);
DECLARE(flags, .flags = 0x18);
DECLARE(storage, .storage = 5000);
DECLARE(budget, .budget = 1000000001);
DECLARE(gap, .fields = { "key", "", "value" });
DECLARE(type, .fields = { "kv..Put:key" });
DECLARE(path, .fields = { "kv.Put:" });
DECLARE(counters, .counters = { "good", "Bad" });
DECLARE(counter_gap, .counters = { [1] = "late" });
DECLARE(period, .period = 1000000);
DECLARE(short_tick, .tick = (void *)turn, .period = 1000);
DECLARE(fine, .tick = (void *)turn, .period = 1000000);

MRPC_POLICY_OPS struct mrpc_policy_ops idle = { .name = "idle" };

MRPC_LB_PICK(any)
{
	return MRPC_LB_ANY;
}

MRPC_POLICY_OPS struct mrpc_lb_ops lb_idle = { .name = "lb_idle" };
MRPC_POLICY_OPS struct mrpc_lb_ops lb_flags = {
	.pick = (void *)any, .name = "lb_flags", .flags = MRPC_POLICY_WRITES | MRPC_POLICY_AGES,
};

MRPC_SCHED_RANK(equal)
{
	return 0;
}

#define DECLARE_SCHED(_name, ...)						\
	MRPC_POLICY_OPS struct mrpc_sched_ops _name = {				\
		.rank = (void *)equal, .name = #_name, __VA_ARGS__		\
	}

MRPC_POLICY_OPS struct mrpc_sched_ops sched_idle = { .name = "sched_idle" };
DECLARE_SCHED(sched_flags, .flags = MRPC_POLICY_AGES);
DECLARE_SCHED(sched_storage, .storage = 8);
DECLARE_SCHED(sched_budget, .budget = MRPC_SCHED_BUDGET_MAX + 1);
DECLARE_SCHED(sched_period, .period = 1000000);
DECLARE_SCHED(sched_fields, .fields = { "key" });

SEC(".struct_ops")
struct mrpc_policy_ops unlinked = { .request_tx = (void *)pass, .name = "unlinked" };
