/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stand-in's sessions: their memory and their queues. All is under fake_lock. */
#ifndef FAKE_SESSION_H
#define FAKE_SESSION_H

#include <pthread.h>
#include <stdbool.h>

#include "fake.h"

#define QPS		64
#define CONNS		16
#define SLOTS		4096	/* blocks of a receive heap */
#define SLOT_INNER	0xffff
#define RESERVE		(sizeof(void *) > 4 ? 1u << 30 : 128u << 20)	/* of a heap's addresses */

struct fqp {
	struct mrpc_qp_head *head;
	struct mrpc_sqe *sqes;
	struct mrpc_cqe *cqes;
	__u32 sq_entries;
	__u32 cq_entries;
	__u32 reserved;
	__u32 flags;
	int eventfd;
};

struct fsession {
	bool used;
	int fd;
	__u64 file_len;
	char *heap[2];			/* the kernel's view */
	__u64 heap_len[2];
	struct fqp qps[QPS];
	__u32 nr_qps;
	__u32 next_qp;
	__u32 nr_schemas;
	__u32 slot_size;		/* receive heap: all blocks are of one size */
	__u16 slot[SLOTS];		/* of a block's first slot: how many; SLOT_INNER */
	struct {
		bool used;
		bool grpc;
		char name[108];
		struct fsession *peer;	/* NULL: listener */
		__u32 max_calls;
	} conns[CONNS];
};

extern pthread_mutex_t fake_lock;
extern pthread_cond_t fake_changed;	/* a completion is posted, or a synchronous call is done */
extern struct fake_stats fake_counts;

int fake_region(struct fsession *s, struct mrpc_region_add *arg);
int fake_qp(struct fsession *s, struct mrpc_qp_setup *arg);

/* Takes a block of @len bytes. Return: the number of its first slot; -1: there is no room */
int fake_slot_take(struct fsession *s, __u32 len);
void fake_slot_release(struct fsession *s, __u32 block);

/* The completion queue has room. */
void fake_post(struct fsession *s, int q, const struct mrpc_cqe *cqe);

#endif /* FAKE_SESSION_H */
