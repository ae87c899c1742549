/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A network of endpoints of the prio transport that loses, repeats, reorders, corrupts and
 * forges packets, and what must hold of it at any time and at the end. The same seed is the same
 * run.
 */
#ifndef PRIO_NET_H
#define PRIO_NET_H

#include "lib/prio/prio.h"

#define PNET_HOSTS	4
#define PNET_BUCKETS	64
#define PNET_PACKET	2048
#define PNET_TOGETHER	8	/* messages of a datagram */

/* What goes wrong; chances in 10000 */
struct pnet_faults {
	u32 loss;
	u32 dup;
	u32 corrupt;
	u32 forge;
	u32 ecn;
	u32 late;	/* refused with LATER */
	u32 fail;	/* sending a chunk fails, or does in part */
	u32 defer;	/* a chunk is reported as sent later */
	u32 untaken;	/* data has no place */
	u32 memory;	/* an allocation fails */
	u32 mtu;	/* packets of more bytes are lost without a sign; 0: none */
	u32 jitter;	/* ns */
};

/* A message of the test; conn is its index + 1. */
struct pnet_msg {
	struct mrpc_prio_tx tx;
	u32 id;
	u8 src;
	u8 dst;
	bool unknown;	/* its receiver refuses it */
	bool ended;
	u32 hold;	/* its receiver limits it to so much at first */
	u32 delivered;
	u32 accepted;
	u32 rejected;
	u32 granted;	/* as seen last, as the next */
	u32 unscheduled;
	u64 told;	/* the greatest end of a grant that its receiver sent */
	struct pnet_rx *rx;
	struct pnet_msg *next;
};

/* Its incoming side */
struct pnet_rx {
	struct mrpc_prio_rx rx;
	struct pnet_msg *msg;
	u8 *data;
	u8 *have;
	struct pnet_rx *next;
	struct pnet_rx *prev;
};

struct pnet_event {
	u64 when;
	u64 serial;
	u8 type;
	u8 host;
	u8 from;
	bool ce;
	u32 gen;
	u32 len;
	u8 *packet;
};

struct pnet_peer {
	struct mrpc_prio_peer peer;
	bool there;
};

struct pnet_host {
	struct mrpc_prio ep;
	struct mrpc_order_link hash[PNET_BUCKETS];
	struct pnet_peer peers[PNET_HOSTS];
	struct mrpc_prio_chunk chunk;	/* deferred */
	bool deferred;
	u32 chunk_sent;
	u32 gen;	/* events of an earlier life do not count */
	u64 free_at;
	u64 timer_at;
	u64 stalled_until;
	u32 allocs;
	u32 incoming;	/* struct pnet_rx */
	u64 ends_up, ends_down;
	struct pnet_net *net;
	u32 index;
};

struct pnet_net {
	u64 rnd;
	u64 now;
	u64 serial;
	u32 hosts;
	u32 payload;
	u32 ns_per_kb;
	u64 delay;
	u32 line_ns_per_kb;	/* of one line that all packets go through; 0: there is none */
	u64 line_until;		/* that is what waits before it */
	struct pnet_faults faults;
	struct mrpc_prio_rule rule;
	struct pnet_host host[PNET_HOSTS];
	struct pnet_msg **msgs;
	u32 nr_msgs;
	struct pnet_rx *all_rx;
	struct pnet_event *events;
	u32 nr_events, cap_events;
	u64 steps;
	u64 lost_bytes;		/* payload */
	u64 sent_bytes;		/* payload */
	u32 max_gaps;
	bool blackhole;
	bool hostile;		/* the ends do not always follow the rules */
	char wrong[200];
};

void pnet_init(struct pnet_net *n, u32 hosts, u64 seed, const struct mrpc_prio_rule *rule);
void pnet_fini(struct pnet_net *n);
/* NULL: refused at once */
struct pnet_msg *pnet_send(struct pnet_net *n, u32 src, u32 dst, u32 total, u8 priority,
			   bool urgent);
void pnet_abort(struct pnet_net *n, struct pnet_msg *m);
void pnet_reject(struct pnet_net *n, struct pnet_rx *r);
void pnet_limit(struct pnet_net *n, struct pnet_rx *r, u32 limit);
void pnet_restart(struct pnet_net *n, u32 host);
/* So many bytes that are not of these hosts go through the line. */
void pnet_line(struct pnet_net *n, u32 bytes);
void pnet_pump(struct pnet_net *n, u32 host);
/* Until that time, or until nothing is left to do. */
void pnet_run(struct pnet_net *n, u64 until);
/* One packet to a host as if from another */
void pnet_inject(struct pnet_net *n, u32 from, u32 to, const void *buf, u32 len);
void pnet_set_sum(void *buf, u32 len);
u32 pnet_rnd(struct pnet_net *n, u32 below);

#endif /* PRIO_NET_H */
