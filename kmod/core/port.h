/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_PORT_H
#define MRPC_CORE_PORT_H

#include <linux/list.h>
#include <linux/mrpc_policy.h>
#include <linux/types.h>

#include "lib/ds/order.h"
#include "lib/egress.h"

struct mrpc_domain;
struct mrpc_port;
struct mrpc_sender;
struct mrpc_tenant;

/**
 * struct mrpc_unit - an entry of the order of a domain: the messages of a datapath, one after the
 * other; or one message that a sender has
 *
 * The unit of a datapath is embedded in its port. The unit of a message belongs to the sender. The
 * sender's lock serializes the calls of the sender (egress/unit.c). The message units of a link are
 * gone before its port is.
 *
 * @domain: the domain, which @port keeps; NULL: in none. Under the domain's lock; for the unit
 *	of a message also under the sender's lock
 * The rest is under the domain's lock:
 * @port: port that it belongs to
 * @queue: its entry in the order
 * @list: unit of a message: entry of mrpc_port.units
 * @turn: unit of a message: entry of mrpc_sender.turns; under the sender's lock
 * @seen: the view of it that a ranking policy gets
 * @waits: it has had no grant
 * @mark: value of mrpc_domain.granted when it came, or when the link could take it again
 * @left: part of its bytes to be sent that is in mrpc_port.left
 */
struct mrpc_unit {
	struct mrpc_domain *domain;
	struct mrpc_port *port;
	struct mrpc_egress_queue queue;
	struct list_head list;
	struct list_head turn;
	struct mrpc_sched_queue seen;
	bool waits;
	u64 mark;
	u64 left;
};

/**
 * struct mrpc_port - a datapath's place in its domain; embedded in struct mrpc_conn
 *
 * @domain: a reference, or NULL. Changes under the domain's lock and with the transmit claim held,
 *	except the first time, when a connection is about to be READY. Softirq reads it
 *	under RCU
 * @sender: sender of its messages, or NULL: the owner of the transmit claim sends them
 * The rest is under the domain's lock:
 * @unit: unit of its messages; with @sender it never waits for anything
 * @units: units of the messages that @sender has
 * @left: bytes that these have to send
 * @list: entry of mrpc_domain.queues
 * @below: entry of mrpc_domain.below, while @unit has bytes below
 * @tenant: tenant that it belongs to, or NULL: there was no memory for one
 * @head: the message that @unit knows of; compared, never followed
 * @own: data of a ranking policy
 * @grants, @sent: grants taken, and bytes sent
 * @ahead: the most bytes that others were granted while a message waited
 * @shown: value of mrpc_domain.shows in the latest dump that has it
 */
struct mrpc_port {
	struct mrpc_domain __rcu *domain;
	struct mrpc_sender *sender;
	struct mrpc_unit unit;
	struct list_head units;
	u64 left;
	struct list_head list;
	struct list_head below;
	struct mrpc_tenant *tenant;
	const struct mrpc_rpc *head;
	u8 own[MRPC_SCHED_OWN] __aligned(8);
	u64 grants;
	u64 sent;
	u64 ahead;
	u64 shown;
};

#endif /* MRPC_CORE_PORT_H */
