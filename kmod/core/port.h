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
 * struct mrpc_unit - what is ordered in a domain: the messages of a datapath, one after the other;
 * or one message, which a sender has
 *
 * A datapath's is embedded in its port. A message's belongs to the sender, whose lock
 * serializes what it calls (egress/unit.c); a link's are gone before its port is.
 *
 * @domain: the domain, which @port keeps; NULL: in none. Under the domain's lock, and a
 *	message's also under the sender's
 * The rest is under the domain's lock:
 * @port: whose
 * @queue: what is ordered
 * @list: a message's: entry of mrpc_port.units
 * @turn: likewise: entry of mrpc_sender.turns; under that one's lock
 * @seen: what a policy that ranks sees of it
 * @waits: it has had no grant
 * @mark: mrpc_domain.granted when it came, or the link could take it again
 * @left: what of its bytes to be sent is in mrpc_port.left
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
 * @domain: a reference, or NULL; changes under the domain's lock and with the transmit
 *	claim held, but for the first time, when a connection is about to be READY.
 *	Softirq reads it under RCU
 * @sender: who sends its messages, or NULL: the owner of the transmit claim
 * The rest is under the domain's lock:
 * @unit: of its messages; with @sender it never waits for anything
 * @units: those of messages that @sender has
 * @left: bytes that these have to send
 * @list: entry of mrpc_domain.queues
 * @below: entry of mrpc_domain.below, while @unit has something below
 * @tenant: whose it is, or NULL: there was no memory for one
 * @head: the message that @unit knows of; compared, never followed
 * @own: what a policy that ranks has for itself
 * @grants, @sent: grants taken, and bytes
 * @ahead: the most bytes that others were granted while a message waited
 * @shown: mrpc_domain.shows of the latest dump that has it
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
