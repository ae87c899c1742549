// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The stand-in's sessions: heaps and queues.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_session.h"

#define SLOT_MIN	4096

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_changed = PTHREAD_COND_INITIALIZER;
struct fake_stats fake_counts;

/* -- memory ------------------------------------------------------------------------- */

static void *file_map(struct fsession *s, __u64 len, __u64 *off)
{
	*off = s->file_len;
	s->file_len += (len + 65535) & ~65535ull;
	if (ftruncate(s->fd, (off_t)s->file_len))
		abort();
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, (off_t)*off);
}

int fake_region(struct fsession *s, struct mrpc_region_add *arg)
{
	__u32 kind = arg->kind;
	void *p;

	if (!s->heap[kind])
		s->heap[kind] = mmap(NULL, RESERVE, PROT_NONE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->heap[kind] == MAP_FAILED)
		abort();
	if (arg->len % 65536 || arg->len > MRPC_REGION_MAX || s->heap_len[kind] + arg->len > RESERVE)
		return -EINVAL;
	arg->base = s->heap_len[kind];
	p = file_map(s, arg->len, &arg->mmap_off);
	munmap(p, arg->len);
	mmap(s->heap[kind] + arg->base, arg->len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
	     s->fd, (off_t)arg->mmap_off);
	s->heap_len[kind] += arg->len;
	if (kind == MRPC_REGION_RECV) {
		s->slot_size = s->heap_len[kind] / SLOTS;
		if (s->slot_size < SLOT_MIN)
			s->slot_size = SLOT_MIN;
	}
	return 0;
}

int fake_slot_take(struct fsession *s, __u32 len)
{
	__u32 i, nr = (len + s->slot_size - 1) / s->slot_size, max, run = 0;

	max = s->heap_len[1] / s->slot_size;
	if (max > SLOTS)
		max = SLOTS;
	for (i = 0; i < max; i++) {
		run = s->slot[i] ? 0 : run + 1;
		if (run == nr) {
			i -= nr - 1;
			for (run = 1; run < nr; run++)
				s->slot[i + run] = SLOT_INNER;
			s->slot[i] = (__u16)nr;
			return (int)i;
		}
	}
	return -1;
}

void fake_slot_release(struct fsession *s, __u32 block)
{
	__u32 i = block / s->slot_size;

	if (block % s->slot_size || i >= SLOTS || !s->slot[i] || s->slot[i] == SLOT_INNER)
		fake_counts.bad++;
	else
		memset(&s->slot[i], 0, s->slot[i] * sizeof(s->slot[i]));
}

/* -- queues --------------------------------------------------------------------------- */

void fake_post(struct fsession *s, int q, const struct mrpc_cqe *cqe)
{
	struct fqp *qp = &s->qps[q];
	__u32 tail = qp->head->cq.tail;
	__u32 head;

	qp->cqes[tail % qp->cq_entries] = *cqe;
	__atomic_store_n(&qp->head->cq.tail, tail + 1, __ATOMIC_SEQ_CST);
	head = __atomic_load_n(&qp->head->cq.head, __ATOMIC_SEQ_CST);
	if (tail + 1 - head > qp->cq_entries)
		abort();
	if (head == tail && qp->eventfd >= 0) {
		__u64 one = 1;

		if (write(qp->eventfd, &one, sizeof(one)) < 0)
			fake_counts.bad++;
	}
	pthread_cond_broadcast(&fake_changed);
}

int fake_qp(struct fsession *s, struct mrpc_qp_setup *arg)
{
	struct fqp *qp = &s->qps[s->nr_qps];
	__u64 off;

	if (s->nr_qps == QPS)
		return -EDQUOT;
	arg->sq_off = 4096;
	arg->cq_off = arg->sq_off + arg->sq_entries * 64;
	arg->mmap_len = arg->cq_off + arg->cq_entries * 64;
	qp->head = file_map(s, arg->mmap_len, &off);
	arg->mmap_off = off;
	qp->sqes = (void *)((char *)qp->head + arg->sq_off);
	qp->cqes = (void *)((char *)qp->head + arg->cq_off);
	qp->sq_entries = arg->sq_entries;
	qp->cq_entries = arg->cq_entries;
	qp->flags = arg->flags;
	qp->eventfd = arg->flags & MRPC_QP_EVENTFD ? arg->eventfd : -1;
	arg->qp = s->nr_qps++;
	return 0;
}
