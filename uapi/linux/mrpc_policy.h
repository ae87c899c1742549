/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * mrpc: the interface between policies in eBPF and the kernel.
 *
 * A policy is a struct mrpc_policy_ops whose functions are BPF programs
 * (struct_ops). When its link is attached it is an engine type with a name
 * and a version, which the operator places like any other. A struct mrpc_lb_ops is a
 * policy that the lb engine asks which replica gets a call, a struct mrpc_sched_ops one
 * that ranks the datapaths of an egress domain.
 * Documentation/policy-author.rst is the author's guide; bpf/mrpc_policy.bpf.h has
 * the functions that a program may call.
 */
#ifndef _UAPI_LINUX_MRPC_POLICY_H
#define _UAPI_LINUX_MRPC_POLICY_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define MRPC_POLICY_NAME	32	/* of a policy, with NUL */
#define MRPC_POLICY_FIELDS	16	/* that a policy declares */
#define MRPC_POLICY_PATH	2056	/* bytes of one, with NUL: a type, a colon, a field */
#define MRPC_POLICY_COUNTERS	8
#define MRPC_POLICY_COUNTER	24	/* bytes of a counter's name, with NUL */
#define MRPC_POLICY_STORAGE	4096	/* bytes of a datapath's storage, at most */
#define MRPC_POLICY_BUDGET	2000000	/* ns */
#define MRPC_POLICY_ENTRIES	1024	/* of a map that is searched for a key, at most */
#define MRPC_POLICY_DETAIL	96	/* bytes of a status detail, with NUL */

/* What a program returns. Anything else rejects, and is counted as an error. */
enum mrpc_policy_verdict {
	MRPC_POLICY_PASS,
	MRPC_POLICY_REJECT,	/* with what bpf_mrpc_status() said */
	MRPC_POLICY_DELAY,	/* by what bpf_mrpc_delay() said, then it passes */
};

enum mrpc_policy_kind {
	MRPC_POLICY_NO_MESSAGE,	/* init, exit, tick */
	MRPC_POLICY_REQUEST,
	MRPC_POLICY_REPLY,
};

/* mrpc_policy_ops.flags */
/* Sets fields of messages: those that are received are copied first */
#define MRPC_POLICY_WRITES	(1U << 0)
/* Sets priorities of messages on their way out: egress orders go by them */
#define MRPC_POLICY_RANKS	(1U << 1)
/* Looks at mrpc_policy_ctx.age */
#define MRPC_POLICY_AGES	(1U << 2)
#define MRPC_POLICY_FLAGS	(MRPC_POLICY_WRITES | MRPC_POLICY_RANKS | MRPC_POLICY_AGES)

#if defined(__bpf__) && !defined(BPF_NO_PRESERVE_ACCESS_INDEX)
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

/**
 * struct mrpc_policy_ctx - a message, and where it is
 * @datapath: id of the connection's datapath, unique on this host since it was booted; 0 in
 *	tick
 * @netns: the network namespace's cookie
 * @call: the call's id on the wire: the same at both ends
 * @cgroup: id of the application's, on this host; 0 when it is not known
 * @deadline: of the call, CLOCK_MONOTONIC ns; 0 for none
 * @age: with MRPC_POLICY_AGES: ns since the application submitted the message, or
 *	since its head was received
 * @generation: counts the programs that this policy has had: of this one
 * @uid: of the application on this host, as the initial user namespace names it
 * @pid: of the process that opened its session
 * @size: bytes of the message, without metadata
 * @meta_len: bytes of the application's metadata
 * @service: index of the service on the connection
 * @method: index of the method in its service, in order of name
 * @status: reply: enum mrpc_status
 * @kind: enum mrpc_policy_kind
 * @server: this host serves the call
 * @transmit: the message is on its way out
 * @priority: 0 to 255
 * @peer_family: AF_INET, AF_INET6 or, for connections inside the host, 0
 * @peer_port: in host byte order
 * @peer: address; of IPv4 the first four bytes
 *
 * Programs read it; it is valid until they return.
 */
struct mrpc_policy_ctx {
	__u64 datapath;
	__u64 netns;
	__u64 call;
	__u64 cgroup;
	__u64 deadline;
	__u64 age;
	__u64 generation;
	__u32 uid;
	__u32 pid;
	__u32 size;
	__u32 meta_len;
	__u16 service;
	__u16 method;
	__u16 status;
	__u8 kind;
	__u8 server;
	__u8 transmit;
	__u8 priority;
	__u16 peer_family;
	__u16 peer_port;
	__u16 resv;
	__u8 peer[16];
};

/**
 * struct mrpc_policy_replica - a server that takes calls of the connection
 * @picks: calls that it was given
 * @failures: calls that failed, and links that ended or could not be made
 * @weight: its share of the calls, as the operator says
 * @outstanding: calls that it has now
 * @fit: it can be given a call
 */
struct mrpc_policy_replica {
	__u64 picks;
	__u64 failures;
	__u32 weight;
	__u32 outstanding;
	__u32 fit;
	__u32 resv;
};

/**
 * struct mrpc_policy_ops - a policy
 * @request_tx: a client's request, before it goes out
 * @request_rx: a request that a server has received, before the application sees it
 * @reply_tx: a server's reply, before it goes out
 * @reply_rx: a reply that a client has received, before the application sees it
 * @init: a datapath gets the policy; a negative errno refuses
 * @exit: it loses it
 * @tick: every @period
 * @name: [a-z0-9_-], not empty: that of the engine type
 * @version: of the engine type; 0 is 1
 * @flags: MRPC_POLICY_*
 * @storage: bytes that each datapath has for bpf_mrpc_storage(), zero at first
 * @budget: ns that a program may take, at most a second; one that takes longer too often
 *	is thrown out; 0: MRPC_POLICY_BUDGET
 * @period: ns between two ticks, at least a millisecond
 * @fields: paths that the program reads or sets, "TYPE:PATH" for messages of one
 *	type or "PATH" for all that have it; by index. TYPE is the message's full name
 * @counters: names of counters that operators see, by index
 *
 * Programs may be left out: then messages pass. They run under the claim of the
 * datapath's direction, in process context, and do not sleep. A link's update
 * replaces all of them between two messages; programs that follow others of the same name
 * and version have the same size of storage, and at most the functions and flags of the first.
 */
struct mrpc_policy_ops {
	int (*request_tx)(struct mrpc_policy_ctx *ctx);
	int (*request_rx)(struct mrpc_policy_ctx *ctx);
	int (*reply_tx)(struct mrpc_policy_ctx *ctx);
	int (*reply_rx)(struct mrpc_policy_ctx *ctx);
	int (*init)(struct mrpc_policy_ctx *ctx);
	void (*exit)(struct mrpc_policy_ctx *ctx);
	void (*tick)(struct mrpc_policy_ctx *ctx);
	char name[MRPC_POLICY_NAME];
	__u32 version;
	__u32 flags;
	__u32 storage;
	__u32 budget;
	__u64 period;
	char fields[MRPC_POLICY_FIELDS][MRPC_POLICY_PATH];
	char counters[MRPC_POLICY_COUNTERS][MRPC_POLICY_COUNTER];
};

#define MRPC_LB_CANDIDATES	16	/* of a set, at most */

/* What pick returns instead of a candidate: the lb engine's own policy is to choose. */
#define MRPC_LB_ANY	(-1)

enum mrpc_lb_state {
	MRPC_LB_UP,
	MRPC_LB_SUSPECT,	/* its last call failed, or some before it */
	MRPC_LB_EJECTED,	/* too many have: it gets none for a while */
	MRPC_LB_TRIAL,		/* it gets one call at a time, until one succeeds */
	MRPC_LB_DRAINING,	/* its weight is 0: it gets no new ones */
	MRPC_LB_DOWN,		/* it has no link */
};

/**
 * struct mrpc_lb_candidate - a replica that may get a call
 * @key: of its name: the same at all hosts that know it by that, now and later
 * @picks: calls that it was given by this connection
 * @failures: of those, and links that ended or could not be made
 * @latency: how long its calls take, smoothed, ns; 0: it is not known
 * @weight: its share of the calls, as the operator says
 * @outstanding: calls of this connection that it has now
 * @bad: calls that failed in a row
 * @state: enum mrpc_lb_state
 * @fit: it can be given a call
 */
struct mrpc_lb_candidate {
	__u64 key;
	__u64 picks;
	__u64 failures;
	__u64 latency;
	__u32 weight;
	__u32 outstanding;
	__u32 bad;
	__u8 state;
	__u8 fit;
	__u16 resv;
};

/**
 * struct mrpc_lb_set - the candidates, in the order of the lb engine's members
 * @nr: how many, 1 to MRPC_LB_CANDIDATES; bpf_mrpc_candidate() has them
 * @fit: those that can be given a call, a bit for each; not 0
 */
struct mrpc_lb_set {
	__u32 nr;
	__u32 fit;
};

/**
 * struct mrpc_lb_done - a call that is no longer with a replica
 * @key: of the replica
 * @latency: ns since it was given the call
 * @index: of the candidate; MRPC_LB_CANDIDATES: it is none any more
 * @status: enum mrpc_status; UNAVAILABLE is what counts as its failure
 * @sent: 0: the request was not sent after all
 */
struct mrpc_lb_done {
	__u64 key;
	__u64 latency;
	__u32 index;
	__u16 status;
	__u8 sent;
	__u8 resv;
};

/**
 * struct mrpc_lb_ops - a policy that chooses among replicas
 * @pick: a request needs a replica: its index in @set, or MRPC_LB_ANY
 * @done: a call has ended, or is not with its replica any more. Of @ctx, the ids,
 *	@method, @service and @status are the call's; there is no message
 * @init: a connection gets the policy; a negative errno refuses
 * @exit: it loses it
 * @tick: every @period
 * @name: and the rest: as in struct mrpc_policy_ops; of @flags only MRPC_POLICY_AGES
 *
 * The lb engine names it as its "chooser". What is chosen gets the call if it is fit; else, and
 * without programs, the engine's own policy chooses. Programs run in process context and do
 * not sleep: @pick under the claim of the transmit direction, @done for one call of a
 * connection at a time; the two may run at once.
 */
struct mrpc_lb_ops {
	int (*pick)(struct mrpc_policy_ctx *ctx, struct mrpc_lb_set *set);
	void (*done)(struct mrpc_policy_ctx *ctx, struct mrpc_lb_done *end);
	int (*init)(struct mrpc_policy_ctx *ctx);
	void (*exit)(struct mrpc_policy_ctx *ctx);
	void (*tick)(struct mrpc_policy_ctx *ctx);
	char name[MRPC_POLICY_NAME];
	__u32 version;
	__u32 flags;
	__u32 storage;
	__u32 budget;
	__u64 period;
	char fields[MRPC_POLICY_FIELDS][MRPC_POLICY_PATH];
	char counters[MRPC_POLICY_COUNTERS][MRPC_POLICY_COUNTER];
};

/**
 * struct mrpc_sched_queue - a datapath that waits for its turn in an egress domain; over prio, each
 * of its messages by itself
 * @datapath: as of struct mrpc_policy_ctx, as are the others that have the names of its members
 * @netns: the network namespace's cookie
 * @call: of the message that it sends next, or that this is, as are the next five
 * @deadline: CLOCK_MONOTONIC ns; 0 for none
 * @size: bytes of the message, without metadata
 * @left: bytes that are still to be sent, headers included
 * @service: index of the service on the connection
 * @method: index of the method in its service
 * @cgroup: of the application
 * @sent: bytes that the datapath has sent in the domain
 * @domain: the domain, unique in the network namespace
 * @uid: of the application
 * @pid: of the process that opened its session
 * @priority: of the message
 * @kind: enum mrpc_policy_kind
 * @server: this host serves the call
 * @begun: a part of the message has been sent
 */
struct mrpc_sched_queue {
	__u64 datapath;
	__u64 netns;
	__u64 call;
	__u64 deadline;
	__u64 cgroup;
	__u64 sent;
	__u64 left;
	__u32 size;
	__u32 domain;
	__u32 uid;
	__u32 pid;
	__u16 service;
	__u16 method;
	__u8 priority;
	__u8 kind;
	__u8 server;
	__u8 begun;
};

#define MRPC_SCHED_BUDGET	500000	/* ns */
#define MRPC_SCHED_BUDGET_MAX	5000000
#define MRPC_SCHED_OWN		32	/* bytes of each datapath for bpf_mrpc_own() */

/**
 * struct mrpc_sched_ops - an egress discipline
 * @rank: what a datapath is ordered by, the lowest first; equals as they came. Asked when it
 *	begins to wait: its message is new, or a chunk of it has been sent, or its link has
 *	room again. Without it the highest priority is first
 * @dequeue: it would have its turn now: not 0, and it is ranked anew first, at most eight
 *	times in a row
 * @charge: it is given a turn of so many bytes; negative: not all of them were sent
 * @name: that of the discipline: "mrpc egress set ... discipline NAME"
 * @version: 0 is 1
 * @flags: none
 * @storage: 0
 * @budget: as of struct mrpc_policy_ops, but at most MRPC_SCHED_BUDGET_MAX; 0: MRPC_SCHED_BUDGET
 * @period: 0
 * @fields, @counters: none
 *
 * Programs run under the domain's lock, also in softirq, one at a time for each domain. Where
 * tenants share, they order what is inside one.
 */
struct mrpc_sched_ops {
	__u64 (*rank)(struct mrpc_sched_queue *q);
	int (*dequeue)(struct mrpc_sched_queue *q);
	void (*charge)(struct mrpc_sched_queue *q, __s64 bytes);
	char name[MRPC_POLICY_NAME];
	__u32 version;
	__u32 flags;
	__u32 storage;
	__u32 budget;
	__u64 period;
	char fields[MRPC_POLICY_FIELDS][MRPC_POLICY_PATH];
	char counters[MRPC_POLICY_COUNTERS][MRPC_POLICY_COUNTER];
};

/**
 * struct mrpc_policy_decl - what policies of all types declare
 *
 * Each struct_ops type ends with these members, in this order, behind its functions; not with
 * this struct, since struct_ops takes no member without a name. The kernel asserts it.
 */
struct mrpc_policy_decl {
	char name[MRPC_POLICY_NAME];
	__u32 version;
	__u32 flags;
	__u32 storage;
	__u32 budget;
	__u64 period;
	char fields[MRPC_POLICY_FIELDS][MRPC_POLICY_PATH];
	char counters[MRPC_POLICY_COUNTERS][MRPC_POLICY_COUNTER];
};

#if defined(__bpf__) && !defined(BPF_NO_PRESERVE_ACCESS_INDEX)
#pragma clang attribute pop
#endif

#endif /* _UAPI_LINUX_MRPC_POLICY_H */
