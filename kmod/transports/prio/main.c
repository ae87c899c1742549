// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: the module, and its settings.
 */
#include <linux/module.h>
#include <linux/pkt_sched.h>

#include "core/transport.h"
#include "lib/message/feature.h"
#include "transports/prio/in.h"
#include "transports/prio/link.h"
#include "transports/prio/out.h"
#include "transports/prio/peers.h"
#include "transports/prio/port.h"
#include "transports/prio/stats.h"

/* -- the module -------------------------------------------------------------------------- */

static struct mrpc_transport_ops prio_ops = {
	.name		= "prio",
	.version	= 1,
	.features	= MRPC_FEATURE_ABORT | MRPC_FEATURE_STREAM,
	.owner		= THIS_MODULE,
	.connect	= prio_connect,
	.listen		= prio_listen,
	.waiting	= prio_waiting,
	.accept		= prio_accept,
	.unlisten	= prio_unlisten,
	.send		= prio_send,
	.flush		= prio_flush,
	.recv		= prio_recv,
	.shutdown	= prio_shutdown,
	.busy		= prio_busy,
	.release	= prio_release,
	.backlog	= prio_backlog,
	.slow		= prio_slow,
	.stats		= prio_stats,
	.device		= prio_device,
	.sender		= prio_sender,
	.egress		= prio_egress,
};

/* Also of those that were not made. */
static void prio_caches_exit(void)
{
	prio_peers_exit();
	prio_in_exit();
	prio_out_exit();
}

static int __init prio_init(void)
{
	int err;

	err = prio_out_init() ?: prio_in_init() ?: prio_peers_init() ?: prio_ports_init();
	if (err)
		goto no_ports;
	err = mrpc_transport_register(&prio_ops);
	if (!err)
		return 0;
	prio_ports_exit();
no_ports:
	prio_caches_exit();
	return err;
}

static void __exit prio_exit(void)
{
	mrpc_transport_unregister(&prio_ops);
	prio_ports_exit();
	prio_caches_exit();
}

module_init(prio_init);
module_exit(prio_exit);
MODULE_ALIAS("mrpc-transport-prio");
MODULE_DESCRIPTION("mrpc over its own message transport");
MODULE_LICENSE("GPL");
