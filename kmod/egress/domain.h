/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Egress domains: which of the datapaths that leave by one device sends next.
 *
 * The order, the grants and their limit are in lib/egress.h. This code connects datapaths to it. A
 * domain exists only if the operator has made it: for a device of a network namespace, or for its
 * loop links.
 */
#ifndef MRPC_EGRESS_DOMAIN_H
#define MRPC_EGRESS_DOMAIN_H

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

#include "core/net.h"
#include "core/port.h"
#include "lib/ds/order.h"
#include "lib/egress.h"

struct mrpc_chain;
struct mrpc_conn;
struct mrpc_link;
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
 * struct mrpc_tenant - a party that shares the link of a domain with others
 * @list: entry of mrpc_domain.tenants; the domain's lock protects all fields
 * @name: set by the operator, or "uid NUMBER"
 * @order: its queues
 */
struct mrpc_tenant {
	struct list_head list;
	char name[MRPC_TENANT_NAME];
	struct mrpc_order_tenant order;
};

/**
 * struct mrpc_sender - sends the messages of many connections by itself
 *
 * Embedded in an object of its transport, one of a network namespace. That object exists as long as
 * a link is in a domain. All that it has below, of all connections, is in one queue.
 *
 * @lock: protects @turns; innermost
 * @turns: units with grants, by mrpc_unit.turn
 * @queued: total bytes of memory that it has given to the layer below. It writes this with release,
 *	after @below includes them
 * @kick: there are turns; called under the domain's lock: only leaves a note
 * @below: bytes of memory below it; as mrpc_transport_ops.below
 */
struct mrpc_sender {
	spinlock_t lock;
	struct list_head turns;
	u64 queued;
	void (*kick)(struct mrpc_sender *sender);
	u64 (*below)(struct mrpc_sender *sender);
};

/**
 * struct mrpc_discipline_ops - a domain's interface to a policy that ranks
 * @put: drop the domain's reference
 * @generation: of its programs: a new one means that ranks have changed
 */
struct mrpc_discipline_ops {
	void (*put)(struct mrpc_policy *policy);
	u64 (*generation)(struct mrpc_policy *policy);
};

/**
 * struct mrpc_domain - the datapaths that leave by one device
 *
 * Reference counted: one reference of the namespace's list, one of each datapath in it, one of each
 * look-up, and one of @tell and @settle each while queued. The last is dropped in process context.
 *
 * @ref: references
 * @rcu: for the free
 * @list: entry of mrpc_net.domains; under mrpc_net.lock
 * @net: the network namespace; valid until @dead is set and @tell has ended
 * @id: unique in the namespace; 0 is none
 * @dev: name of the device; "": links of the transport loop
 * @lock: protects everything below. Process and softirq context. Taken inside the lock of a
 *	sender's transport. Only mrpc_sender.lock is taken inside it. Under it only credit() and
 *	below() of transports are called, and kick() and below() of senders. Work on all messages is
 *	done in shares, and the lock is released between them: mrpc_domain_settle()
 * @dead: it is deleted, or its namespace ends: no datapath joins, and no notifications are sent
 * @core: order and grants
 * @sched: the policy that ranks, a reference, or NULL
 * @sched_ops: of @sched; valid while that is set
 * @ranked_by: generation of the programs that ranked the listed messages
 * @runs: of its programs
 * @measured: number of measured runs
 * @ran: ns of the measured runs
 * @tenants: tenants with datapaths
 * @nr_tenants: number of @tenants
 * @queues: all datapaths in it, by mrpc_port.list
 * @nr_queues: number of @queues
 * @below: datapaths with bytes sent and not known to be gone, by mrpc_port.below
 * @nr_below: number of @below
 * @sender: sends for datapaths that do not send themselves; NULL: there are no such datapaths
 * @nr_sending: datapaths with it
 * @pool: bytes that it has below for this domain: all of them in one queue
 * @pool_size: memory of these bytes
 * @pool_mark: mrpc_sender.queued with the last of these
 * @pool_stuck: bytes of memory below the sender that do not move, and do not count
 * @shows: number of dumps
 * @moved: time when bytes last went below, or were seen to have gone, ns
 * @timer: checks whether bytes have gone, and for grants that are not used
 * @armed: @timer is set
 * @poll: time until the next check, ns
 * @granted: total bytes granted
 * @sent: total bytes sent
 * @told: number of expired grants at the last notification of operators
 * @told_at: time of that, ns; 0: never
 * @tell: sends the notification
 * @settle: has messages ranked again after programs were attached or detached
 * @settling: number of contexts that do this, or make a change. Further changes of programs take
 *	effect afterwards
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
	const struct mrpc_discipline_ops *sched_ops;
	u64 ranked_by;
	u64 runs;
	u64 measured;
	u64 ran;
	struct list_head tenants;
	u32 nr_tenants;
	struct list_head queues;
	u32 nr_queues;
	struct list_head below;
	u32 nr_below;
	struct mrpc_sender *sender;
	u32 nr_sending;
	struct mrpc_egress_queue pool;
	u64 pool_size;
	u64 pool_mark;
	u64 pool_stuck;
	u64 shows;
	u64 moved;
	struct hrtimer timer;
	bool armed;
	u64 poll;
	u64 granted;
	u64 sent;
	u64 told;
	u64 told_at;
	struct work_struct tell;
	struct work_struct settle;
	u32 settling;
};

/* mrpc_domain_args.given: a setting that is not given stays, or has the default. */
#define MRPC_DOMAIN_DISCIPLINE	BIT(0)

#define MRPC_DOMAIN_FAIR	BIT(1)

#define MRPC_DOMAIN_PAUSED	BIT(2)

#define MRPC_DOMAIN_CHUNK	BIT(3)

#define MRPC_DOMAIN_LIMIT	BIT(4)

#define MRPC_DOMAIN_RATE	BIT(5)

/**
 * struct mrpc_domain_args - an operator's settings of a domain
 * @dev: the device, "": loop links
 * @given: MRPC_DOMAIN_...: which of the others are given
 * @discipline: fifo, strict, small-first, deadline, or the name of a policy
 * @fair: tenants share by weight
 * @paused: no grants
 * @chunk: bytes of a grant at most
 * @limit: bytes granted, or sent and not gone, at most
 * @rate: bytes a second at most; 0: no limit
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
 * struct mrpc_domain_state - the present state of a domain
 * @queues: datapaths in it
 * @tenants: tenants with datapaths in it
 * @waiting: datapaths or messages that could send
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
 * @position: in the order of next turns, from 1; 0: it does not wait, or very many are before it
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

void mrpc_domain_follow(struct mrpc_conn *conn, const struct mrpc_chain *chain);
bool mrpc_domain_fits(struct mrpc_conn *conn);
void mrpc_domain_leave(struct mrpc_link *link);
int mrpc_discipline_of(const char *name);
struct mrpc_domain *mrpc_domain_find(struct net *net, const char *dev);
struct mrpc_domain *mrpc_domain_next(struct net *net, u32 after);
void mrpc_domain_put(struct mrpc_domain *d);
struct mrpc_conn *mrpc_port_conn(struct mrpc_port *port);
const char *mrpc_discipline_name(u8 within);
struct mrpc_domain *mrpc_domain_lookup(struct mrpc_net *mn, const char *dev);

#endif /* MRPC_EGRESS_DOMAIN_H */
