/* SPDX-License-Identifier: GPL-2.0 */
/* What policy.c tells the probe to do, and what that has seen: for both of them. */
#ifndef PROBE_H
#define PROBE_H

#include <linux/mrpc_policy.h>

enum { PROBE_REQUEST_TX, PROBE_REQUEST_RX, PROBE_REPLY_TX, PROBE_REPLY_RX, PROBE_INIT,
       PROBE_EXIT, PROBE_TICK, PROBE_HOOKS };

/* Declared fields */
enum {
	PROBE_TAG,	/* test.Blob */
	PROBE_TEXT,
	PROBE_DATA,
	PROBE_DATA_LEN,
	PROBE_NAME,	/* test.All */
	PROBE_BOOL,
	PROBE_OPTIONAL,
	PROBE_ITEM,
	PROBE_ENTRY,
	PROBE_DOUBLE,
	PROBE_COUNT,
	PROBE_LEAF,
	PROBE_FIELDS,
};

#define PROBE_TEXT_LEN	32

/* What a hook does, at most once for each flag of @does */
enum {
	PROBE_READ	= 1 << 0,	/* all fields, into its entry of "values" */
	PROBE_WRITE_TAG	= 1 << 1,	/* @value */
	PROBE_WRITE_TEXT = 1 << 2,	/* @text, @text_len bytes */
	PROBE_WRITE_BOOL = 1 << 3,	/* @value */
	PROBE_WRITE_DATA = 1 << 4,	/* @text, 8 bytes */
	PROBE_PRIORITY	= 1 << 5,	/* @value */
	PROBE_DEADLINE	= 1 << 6,	/* @value ns from now */
	PROBE_STATUS	= 1 << 7,	/* @status */
	PROBE_HOLD	= 1 << 8,	/* @value ns */
	PROBE_SPIN	= 1 << 9,	/* @value rounds of work */
	PROBE_STORE	= 1 << 10,	/* count in the storage */
	PROBE_REDIRECT	= 1 << 11,	/* to replica @value */
	PROBE_REPLICA	= 1 << 12,	/* look at replica @value */
};

struct probe_order {
	__u32 does;
	__s32 verdict;
	__u64 value;
	__u32 status;
	__u32 only_method;	/* if not 0: that index + 1; other methods pass */
	char text[PROBE_TEXT_LEN];
};

struct probe_value {
	__s64 num_ret;
	__u64 num;
	__s64 data_ret;
	char data[PROBE_TEXT_LEN];
	__s64 has;
};

struct probe_seen {
	__u64 runs;
	__u64 datapath;
	__u64 call;
	__u64 deadline;
	__u64 age;
	__u64 generation;
	__u32 uid;
	__u32 pid;
	__u32 size;
	__u32 meta_len;
	__u32 method;
	__u32 status;
	__u32 kind;
	__u32 server;
	__u32 transmit;
	__u32 priority;
	__u32 peer_family;
	__u32 peer_port;
	__u8 peer[16];
	__s64 did;		/* what the last function of @does has returned */
	__s64 meta_ret;
	char meta[PROBE_TEXT_LEN];
	__s64 name_ret;
	char name[48];
	__s64 identity_ret;
	char identity[16];
	__u64 stored;
	struct mrpc_policy_replica replica;
	struct probe_value values[PROBE_FIELDS];
};

#endif /* PROBE_H */
