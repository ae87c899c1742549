/* SPDX-License-Identifier: GPL-2.0 */
/* What policy_lb.c tells the chooser to do, and what that has seen: for both of them. */
#ifndef CHOOSER_H
#define CHOOSER_H

#include <linux/mrpc_policy.h>

enum { CHOOSER_PICK, CHOOSER_DONE, CHOOSER_INIT, CHOOSER_EXIT, CHOOSER_TICK, CHOOSER_HOOKS };

/* Declared fields */
enum { CHOOSER_TAG, CHOOSER_TEXT };

/* Counters */
enum { CHOOSER_PICKED, CHOOSER_ENDED };

/* What a hook does: each flag of @does */
enum {
	CHOOSER_LOOK	= 1 << 0,	/* at all candidates */
	CHOOSER_READ	= 1 << 1,	/* fields and method */
	CHOOSER_MISUSE	= 1 << 2,	/* what is for those that judge */
	CHOOSER_SPIN	= 1 << 3,	/* @value rounds of work */
	CHOOSER_STORE	= 1 << 4,	/* count in the storage */
	CHOOSER_BY_TAG	= 1 << 5,	/* the tag is the choice */
};

struct chooser_order {
	__u32 does;
	__s32 answer;
	__u64 value;
};

struct chooser_seen {
	__u64 runs;
	__u64 datapath;
	__u64 call;
	__u64 generation;
	__u64 age;
	__u32 kind;
	__u32 method;
	__u32 nr;
	__u32 fit;
	__s64 tag_ret;
	__u64 tag;
	__s64 text_ret;
	char text[32];
	char name[48];
	__s64 misuse[6];
	__u64 stored;
	__u32 looked;
	struct mrpc_lb_candidate all[MRPC_LB_CANDIDATES];
	struct mrpc_lb_done end;
	__u32 not_sent;		/* of all that have ended */
	__u32 unavailable;
};

#endif /* CHOOSER_H */
