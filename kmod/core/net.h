/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_NET_H
#define MRPC_CORE_NET_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct net;

/**
 * struct mrpc_net - what a network namespace has
 *
 * @change: one command changes placements at a time; taken interruptibly, held
 *	while datapaths are changed; never taken by the data path
 * @lock: @placements, @domains, @datapaths, @links, @gen; short
 * @placements: in order
 * @nr_placements: how many
 * @next_id: for placements
 * @domains: egress domains, by mrpc_domain.list
 * @nr_domains: how many; read without the lock where there is nearly always none
 * @next_domain: id of the latest
 * @datapaths: connections that calls can pass, by mrpc_conn.dp.in_net
 * @nr_datapaths: how many
 * @links: links of replicas that have shaken hands, by mrpc_conn.dp.in_net
 * @nr_links: how many
 * @gen: raised with every change of @placements
 * @checksum_errors: connections that have ended because of one
 */
struct mrpc_net {
	struct mutex change;
	spinlock_t lock;
	struct list_head placements;
	u32 nr_placements;
	u32 next_id;
	struct list_head domains;
	u32 nr_domains;
	u32 next_domain;
	struct list_head datapaths;
	u32 nr_datapaths;
	struct list_head links;
	u32 nr_links;
	u64 gen;
	atomic64_t checksum_errors;
};

/* control/place.c */
struct mrpc_net *mrpc_net(struct net *net);
int mrpc_net_init(void);
void mrpc_net_exit(void);

#endif /* MRPC_CORE_NET_H */
