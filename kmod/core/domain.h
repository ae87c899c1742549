/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Egress domains: which of the datapaths that leave by one device sends next.
 *
 * The order, the grants and their limit are lib/egress.h; this is what connects
 * datapaths to it. A domain exists only where the operator has made one: for a
 * device of a network namespace, or for its loop links.
 */
#ifndef MRPC_CORE_DOMAIN_H
#define MRPC_CORE_DOMAIN_H

#include <linux/hrtimer.h>
#include <linux/if.h>
#include <linux/list.h>
#include <linux/mrpc_policy.h>
#include <linux/netlink.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "egress.h"

struct mrpc_chain;
struct mrpc_conn;
struct mrpc_domain;
struct mrpc_engine_ops;
struct mrpc_policy;
struct mrpc_rpc;
struct net;

#define MRPC_TENANT_NAME	32	/* with NUL */
#define MRPC_DOMAINS_MAX	64	/* of one network namespace */
#define MRPC_CHUNK_MIN		1024	/* bytes */
#define MRPC_CHUNK_MAX		(1U << 20)
#define MRPC_LIMIT_MAX		(64U << 20)
#define MRPC_PACE_MIN		1000		/* bytes a second */

/**
 * struct mrpc_tenant - who shares the link of a domain with others
 * @list: entry of mrpc_domain.tenants; under the domain's lock, as everything
 * @name: what the operator calls it, or "uid NUMBER"
 * @order: its queues
 */
struct mrpc_tenant {
	struct list_head list;
	char name[MRPC_TENANT_NAME];
	struct mrpc_order_tenant order;
};

/**
 * struct mrpc_port - a datapath's place in its domain; embedded in struct mrpc_conn
 *
 * @domain: a reference, or NULL; changes under the domain's lock and with the transmit
 *	claim held, but for the first time, when a connection is about to be READY.
 *	Softirq reads it under RCU
 * The rest is under the domain's lock:
 * @queue: what is ordered
 * @list: entry of mrpc_domain.queues
 * @below: entry of mrpc_domain.below, while @queue has something below
 * @tenant: whose it is, or NULL: there was no memory for one
 * @head: the message that @queue knows of; compared, never followed
 * @seen: what a policy that ranks sees of it, and has for itself
 * @waits: it has had no grant
 * @mark: mrpc_domain.granted when it came, or the link could take it again
 * @grants, @sent: grants taken, and bytes
 * @ahead: the most bytes that others were granted while a head message waited
 */
struct mrpc_port {
	struct mrpc_domain __rcu *domain;
	struct mrpc_egress_queue queue;
	struct list_head list;
	struct list_head below;
	struct mrpc_tenant *tenant;
	const struct mrpc_rpc *head;
	struct {
		struct mrpc_sched_queue q;
		u8 own[MRPC_SCHED_OWN] __aligned(8);
	} seen;
	bool waits;
	u64 mark;
	u64 grants;
	u64 sent;
	u64 ahead;
};

/**
 * struct mrpc_domain - the datapaths that leave by one device
 *
 * Reference counted: the namespace's list holds one, each datapath in it one, each
 * looker-up one, and @tell while it is queued. The last goes in process context.
 *
 * @ref: references
 * @rcu: for the free
 * @list: entry of mrpc_net.domains; under mrpc_net.lock
 * @net: the network namespace; lasts until @dead is set and @tell has ended
 * @id: unique in the namespace; 0 is none
 * @dev: name of the device; "": links of the transport loop
 * @lock: everything below. Process and softirq context; nothing is taken inside, and
 *	of transports only credit() and below() are called
 * @dead: it is deleted, or its namespace ends: nobody joins, nothing is told
 * @core: order and grants
 * @sched: the policy that ranks, a reference, or NULL
 * @ranked_by: generation of the programs by which it has ranked what is listed
 * @runs: of its programs
 * @measured: of them
 * @ran: ns, of those measured
 * @tenants: those with datapaths
 * @queues: all datapaths in it, by mrpc_port.list
 * @nr_queues: how many
 * @below: those with bytes sent and not known to be gone, by mrpc_port.below
 * @nr_below: how many
 * @moved: when bytes last went below, or were seen to have gone, ns
 * @timer: looks whether bytes have gone, and for grants that are not used
 * @armed: it is set
 * @poll: until it looks again, ns
 * @granted: bytes, all in all
 * @sent: likewise
 * @told: how many grants had expired when operators were told of that
 * @told_at: when that was, ns; 0: never
 * @tell: tells them
 */
struct mrpc_domain {
	refcount_t ref;
	struct rcu_head rcu;
	struct list_head list;
	struct net *net;
	u32 id;
	char dev[IFNAMSIZ];
	spinlock_t lock;
	bool dead;
	struct mrpc_egress core;
	struct mrpc_policy *sched;
	u64 ranked_by;
	u64 runs;
	u64 measured;
	u64 ran;
	struct list_head tenants;
	struct list_head queues;
	u32 nr_queues;
	struct list_head below;
	u32 nr_below;
	u64 moved;
	struct hrtimer timer;
	bool armed;
	u64 poll;
	u64 granted;
	u64 sent;
	u64 told;
	u64 told_at;
	struct work_struct tell;
};

/* mrpc_domain_args.given: what is not stays, or is as domains begin. */
#define MRPC_DOMAIN_DISCIPLINE	BIT(0)
#define MRPC_DOMAIN_FAIR	BIT(1)
#define MRPC_DOMAIN_PAUSED	BIT(2)
#define MRPC_DOMAIN_CHUNK	BIT(3)
#define MRPC_DOMAIN_LIMIT	BIT(4)
#define MRPC_DOMAIN_RATE	BIT(5)

/**
 * struct mrpc_domain_args - what an operator says of a domain
 * @dev: the device, "": loop links
 * @given: MRPC_DOMAIN_...: which of the others the operator has said
 * @discipline: fifo, strict, small-first, or the name of a policy
 * @fair: tenants share by weight
 * @paused: no grants
 * @chunk: bytes of a grant at most
 * @limit: bytes granted, or sent and not gone, at most
 * @rate: bytes a second at most; 0: as many as there are
 */
struct mrpc_domain_args {
	char dev[IFNAMSIZ];
	u8 given;
	char discipline[MRPC_POLICY_NAME];
	bool fair;
	bool paused;
	u32 chunk;
	u32 limit;
	u64 rate;
};

/**
 * struct mrpc_domain_state - what a domain is doing
 * @queues: datapaths in it
 * @tenants: of them
 * @waiting: that could send
 * @out: bytes granted, or sent and not gone
 * @grants, @expired, @wasted: as in struct mrpc_egress
 * @sent: bytes
 * @runs, @measured, @ran: as in struct mrpc_domain
 */
struct mrpc_domain_state {
	struct mrpc_domain_args args;
	u32 queues;
	u32 tenants;
	u32 waiting;
	u64 out;
	u64 grants;
	u64 expired;
	u64 wasted;
	u64 sent;
	u64 runs;
	u64 measured;
	u64 ran;
};

/**
 * struct mrpc_domain_queue - one datapath in a domain, for dumps
 * @position: in the order of next turns, from 1; 0: it does not wait
 * @ahead: see struct mrpc_port
 */
struct mrpc_domain_queue {
	u32 datapath;
	u32 session;
	u32 conn;
	char tenant[MRPC_TENANT_NAME];
	u32 weight;
	u8 state;
	u8 priority;
	bool credit;
	u32 position;
	u64 left;
	u64 below;
	u64 grants;
	u64 sent;
	u64 ahead;
};

/* domain.c: for datapaths */
u32 mrpc_domain_turn(struct mrpc_conn *conn, struct mrpc_domain *d, const struct mrpc_rpc *rpc);
void mrpc_domain_sent(struct mrpc_conn *conn, struct mrpc_domain *d, u32 sent,
		      const struct mrpc_rpc *next);
void mrpc_domain_idle(struct mrpc_conn *conn, struct mrpc_domain *d);
bool mrpc_domain_event(struct mrpc_conn *conn, struct mrpc_domain *d);
void mrpc_domain_follow(struct mrpc_conn *conn, const struct mrpc_chain *chain);
bool mrpc_domain_fits(struct mrpc_conn *conn);
void mrpc_domain_leave(struct mrpc_conn *conn);

/* domain_config.c: for operators */
int mrpc_discipline_of(const char *name);
bool mrpc_domain_ranks_by(struct mrpc_domain *d, const struct mrpc_engine_ops *type);
int mrpc_domain_set(struct net *net, const struct mrpc_domain_args *said,
		    struct netlink_ext_ack *extack);
int mrpc_domain_del(struct net *net, const char *dev, struct netlink_ext_ack *extack);
struct mrpc_domain *mrpc_domain_find(struct net *net, const char *dev);
struct mrpc_domain *mrpc_domain_next(struct net *net, u32 after);
void mrpc_domain_state(struct mrpc_domain *d, struct mrpc_domain_state *state);
u32 mrpc_domain_queues(struct mrpc_domain *d, struct mrpc_domain_queue *all, u32 cap);
void mrpc_domains_end(struct net *net);

/* Between the two */
void mrpc_domain_init(struct mrpc_domain *d);
void mrpc_domain_put(struct mrpc_domain *d);
void mrpc_domain_die(struct mrpc_domain *d);
void mrpc_domain_pump(struct mrpc_domain *d);
bool mrpc_domain_look(struct mrpc_domain *d);
void mrpc_domain_rank(struct mrpc_domain *d);

#endif /* MRPC_CORE_DOMAIN_H */
