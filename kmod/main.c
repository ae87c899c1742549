// SPDX-License-Identifier: GPL-2.0
/*
 * mrpc: remote procedure calls as a service of the kernel.
 */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#include "change/runtime_type.h"
#include "control/egress_config.h"
#include "core/call.h"
#include "core/globals.h"
#include "core/net.h"
#include "core/rx.h"
#include "core/schema.h"
#include "core/session.h"
#include "core/trace.h"
#include "core/transport.h"
#include "group/init.h"
#include "netlink/family.h"
#include "policy/init.h"
#include "replica/init.h"
#include "rules/sets.h"

#ifndef __LITTLE_ENDIAN
#error "messages travel in the byte order of the host: little-endian only"
#endif

struct mrpc_knobs mrpc_knobs = {
	.copy_threshold = 1024,
	.max_calls = 256,
	.max_sessions = 1024,
	.max_conns = 16384,
	.max_listeners = 1024,
	.max_heap = 1UL << (BITS_PER_LONG == 64 ? 32 : 30),
};

struct workqueue_struct *mrpc_wq;
struct workqueue_struct *mrpc_end_wq;

module_param_named(copy_threshold, mrpc_knobs.copy_threshold, uint, 0644);
MODULE_PARM_DESC(copy_threshold, "Messages up to this many bytes are copied whole");
module_param_named(max_calls, mrpc_knobs.max_calls, uint, 0644);
MODULE_PARM_DESC(max_calls, "Calls in flight on a new connection");
module_param_named(max_sessions, mrpc_knobs.max_sessions, uint, 0644);
MODULE_PARM_DESC(max_sessions, "Sessions of one user");
module_param_named(max_conns, mrpc_knobs.max_conns, uint, 0644);
MODULE_PARM_DESC(max_conns, "Connections of one user");
module_param_named(max_listeners, mrpc_knobs.max_listeners, uint, 0644);
MODULE_PARM_DESC(max_listeners, "Listeners of one user");
module_param_named(max_heap, mrpc_knobs.max_heap, ulong, 0644);
MODULE_PARM_DESC(max_heap, "Bytes of heaps, queue pairs, schemas and copied messages of one user");
module_param_named(busy_poll, mrpc_knobs.busy_poll, uint, 0644);
MODULE_PARM_DESC(busy_poll, "Microseconds that a thread that waits looks before it sleeps");

static struct miscdevice mrpc_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "mrpc",
	.fops	= &mrpc_fops,
	.mode	= 0660,
	.groups	= mrpc_groups,
};

static int __init mrpc_init(void)
{
	int err;

	mrpc_replica_init();
	mrpc_group_init();
	mrpc_wq = alloc_workqueue("mrpc", WQ_UNBOUND, 0);
	if (!mrpc_wq)
		return -ENOMEM;
	err = -ENOMEM;
	/* An end waits for claims, which threads of slow cgroups may hold: many can wait. */
	mrpc_end_wq = alloc_workqueue("mrpc_end", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!mrpc_end_wq)
		goto err_wq;
	err = mrpc_rpc_init();
	if (err)
		goto err_end_wq;
	err = mrpc_schemas_init();
	if (err)
		goto err_rpc;
	err = mrpc_rx_init();
	if (err)
		goto err_schemas;
	err = mrpc_sets_init();
	if (err)
		goto err_rx;
	err = mrpc_net_init();
	if (err)
		goto err_sets;
	err = mrpc_egress_config_init();
	if (err)
		goto err_net;
	err = mrpc_runtime_init();
	if (err)
		goto err_egress;
	err = mrpc_netlink_init();
	if (err)
		goto err_runtime;
	err = mrpc_transport_register(&mrpc_loop_ops);
	if (err)
		goto err_netlink;
	err = mrpc_policy_init();
	if (err)
		goto err_loop;
	err = misc_register(&mrpc_device);
	if (err)
		goto err_policy;
	return 0;

err_policy:
	mrpc_policy_exit();
err_loop:
	mrpc_transport_unregister(&mrpc_loop_ops);
err_netlink:
	mrpc_netlink_exit();
err_runtime:
	mrpc_runtime_exit();
err_egress:
	mrpc_egress_config_exit();
err_net:
	mrpc_net_exit();
err_sets:
	mrpc_sets_exit();
err_rx:
	mrpc_rx_exit();
err_schemas:
	mrpc_schemas_exit();
err_rpc:
	mrpc_rpc_exit();
err_end_wq:
	destroy_workqueue(mrpc_end_wq);
err_wq:
	destroy_workqueue(mrpc_wq);
	return err;
}

static void __exit mrpc_exit(void)
{
	misc_deregister(&mrpc_device);
	mrpc_transport_unregister(&mrpc_loop_ops);
	/* No new close work can be queued now; queued work may still send notifications. */
	flush_workqueue(mrpc_end_wq);
	mrpc_netlink_exit();
	mrpc_egress_config_exit();
	mrpc_net_exit();
	mrpc_sets_exit();
	mrpc_runtime_exit();
	/* The last session's and engine's work may still be returning, or come
	 * after a grace period; kfree_rcu may hold objects of our caches.
	 */
	rcu_barrier();
	destroy_workqueue(mrpc_end_wq);
	destroy_workqueue(mrpc_wq);
	mrpc_policy_exit();
	rcu_barrier();
	mrpc_schemas_exit();
	mrpc_rx_exit();
	mrpc_rpc_exit();
}

module_init(mrpc_init);
module_exit(mrpc_exit);

MODULE_DESCRIPTION("Remote procedure calls as a service of the kernel");
MODULE_LICENSE("GPL");
