// SPDX-License-Identifier: GPL-2.0
/* What each network namespace has. */
#include <linux/list.h>
#include <net/netns/generic.h>

#include "core/net.h"
#include "core/placement.h"

static unsigned int mrpc_net_id;

/**
 * mrpc_net() - what a network namespace has
 * @net: the namespace
 */
struct mrpc_net *mrpc_net(struct net *net)
{
	return net_generic(net, mrpc_net_id);
}

static int __net_init mrpc_net_start(struct net *net)
{
	struct mrpc_net *mn = mrpc_net(net);

	mutex_init(&mn->change);
	spin_lock_init(&mn->lock);
	INIT_LIST_HEAD(&mn->placements);
	INIT_LIST_HEAD(&mn->domains);
	INIT_LIST_HEAD(&mn->datapaths);
	INIT_LIST_HEAD(&mn->links);
	return 0;
}

/* No session is left: each keeps its namespace. */
static void __net_exit mrpc_net_stop(struct net *net)
{
	struct mrpc_placement *p, *next;
	struct mrpc_net *mn = mrpc_net(net);

	list_for_each_entry_safe(p, next, &mn->placements, list) {
		list_del(&p->list);
		mrpc_placement_put(p);
	}
}

static struct pernet_operations mrpc_net_ops = {
	.init	= mrpc_net_start,
	.exit	= mrpc_net_stop,
	.id	= &mrpc_net_id,
	.size	= sizeof(struct mrpc_net),
};

int __init mrpc_net_init(void)
{
	return register_pernet_subsys(&mrpc_net_ops);
}

void mrpc_net_exit(void)
{
	unregister_pernet_subsys(&mrpc_net_ops);
}
