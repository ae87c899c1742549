// SPDX-License-Identifier: GPL-2.0
/* Set-up of the policies in BPF when the module is loaded. */
#include "policy/class_choose.h"
#include "policy/class_judge.h"
#include "policy/class_rank.h"
#include "policy/init.h"
#include "policy/kfunc.h"
#include "policy/policy.h"

/**
 * mrpc_policy_init() - register the policy types with BPF
 *
 * A kernel, or a module, without BTF has no policies.
 * Return: 0 or a negative errno.
 */
int __init mrpc_policy_init(void)
{
	int err;

	mrpc_policy_wq = alloc_workqueue("mrpc_policy", WQ_UNBOUND, 0);
	if (!mrpc_policy_wq)
		return -ENOMEM;
	err = mrpc_policy_kfunc_init();
	if (!err)
		err = mrpc_policy_ops_init();
	if (!err)
		err = mrpc_sched_ops_init();
	if (!err)
		err = mrpc_policy_lb_init();
	if (err == -EOPNOTSUPP || err == -ENOENT)
		err = 0;
	if (err)
		destroy_workqueue(mrpc_policy_wq);
	else if (!mrpc_policy_btf)
		pr_notice("mrpc: no BTF of the kernel or of this module: no policies in eBPF\n");
	return err;
}

/**
 * mrpc_policy_exit() - clean up; there are no policies any more
 */
void mrpc_policy_exit(void)
{
	destroy_workqueue(mrpc_policy_wq);
}
