// SPDX-License-Identifier: GPL-2.0
/*
 * Calls at random times; see flow.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

#define FLOW_ROOT	64	/* bytes between two roots */

double flow_random(struct flow *f)
{
	f->seed ^= f->seed << 13;
	f->seed ^= f->seed >> 7;
	f->seed ^= f->seed << 17;
	return ((f->seed >> 11) + 1) * 0x1p-53;
}

/* All calls share the same bytes, which are never written. */
static void flow_call(struct flow *f)
{
	unsigned int slot = f->free[--f->nr_free], conn = flow_random(f) * f->nr - 1e-9;
	uint32_t root = f->roots + slot * FLOW_ROOT, len = f->size(f);
	struct test_Blob *blob = (void *)(f->s->send + root);
	struct mrpc_sqe sqe;

	memset(blob, 0, sizeof(*blob));
	blob->tag = (uint64_t)conn << FLOW_SEQ_BITS | f->next[conn]++;
	if (len)
		blob->data = (struct mrpc_ref){ f->data - root, len };
	f->slot[slot].tag = blob->tag;
	f->slot[slot].due = f->due;
	f->slot[slot].len = len;
	f->slot[slot].waits = true;
	f->slot[slot].sent = false;
	sqe = raw_sqe(f->conns[conn], f->method, root);
	sqe.user_data = slot;
	if (!raw_push(&f->qp, &sqe))
		raw_die("a queue of %u entries is full", f->qp.sq_entries);
	__atomic_add_fetch(&f->made, 1, __ATOMIC_RELAXED);
}

static void flow_reply(struct flow *f, unsigned int slot, const struct mrpc_cqe *cqe)
{
	const struct test_Blob *blob;
	struct flow_sample *sample;

	if (!f->slot[slot].waits) {
		f->wrong++;
		return;
	}
	f->slot[slot].waits = false;
	if (cqe->status == MRPC_OK) {
		blob = raw_msg(f->s, cqe);
		f->wrong += cqe->msg_len < sizeof(*blob) || blob->tag != f->slot[slot].tag ||
			    (f->method == RAW_ECHO && blob->data.len != f->slot[slot].len);
	} else {
		raw_detail(f->s, cqe, f->detail, sizeof(f->detail));
	}
	if (f->nr_samples < f->max_samples) {
		sample = &f->samples[f->nr_samples++];
		sample->due = f->slot[slot].due;
		sample->took = raw_now() - sample->due;
		sample->len = f->slot[slot].len;
	}
	__atomic_add_fetch(&f->done[cqe->status], 1, __ATOMIC_RELEASE);
}

static void flow_complete(struct flow *f, const struct mrpc_cqe *cqe)
{
	unsigned int slot = cqe->user_data;

	if (slot >= FLOW_SLOTS)
		raw_die("a completion of nothing");
	if (cqe->type == MRPC_CQE_REPLY) {
		flow_reply(f, slot, cqe);
		raw_done(f->s, cqe);
	}
	if (cqe->type == MRPC_CQE_SENT || cqe->flags & MRPC_CQE_FREED) {
		f->wrong += f->slot[slot].sent;
		f->slot[slot].sent = true;
	}
	if (f->slot[slot].sent && !f->slot[slot].waits)
		f->free[f->nr_free++] = slot;
}

/* Makes the calls that are due. Return: time of the next call, or of the next look. */
static uint64_t flow_calls(struct flow *f, uint64_t now)
{
	while (f->due <= now && f->nr_free && f->qp.pushed < f->qp.sq_entries) {
		flow_call(f);
		f->due += -log(flow_random(f)) * f->gap;
	}
	return f->due > now ? f->due : now + RAW_MS;
}

static void *flow_run(void *arg)
{
	uint64_t end = 0, now, next;
	struct flow *f = arg;
	struct mrpc_cqe cqe;

	for (;;) {
		now = raw_now();
		next = now + 100 * RAW_MS;
		if (!end && (__atomic_load_n(&f->stop, __ATOMIC_ACQUIRE) ||
			     (f->until && now >= f->until)))
			end = now + 120 * RAW_S * raw_scale();
		if (!end)
			next = flow_calls(f, now);
		else if (f->nr_free == FLOW_SLOTS)
			return NULL;
		else if (now > end)
			raw_die("%u calls do not end", FLOW_SLOTS - f->nr_free);
		if (f->qp.pushed)	/* also while completions come all the time */
			raw_enter(&f->qp, 0, 0);
		if (raw_next(&f->qp, &cqe, next - now)) {
			flow_complete(f, &cqe);
			while (raw_reap(&f->qp, &cqe))
				flow_complete(f, &cqe);
		}
	}
}

void flow_start(struct flow *f)
{
	unsigned int i;

	f->next = calloc(f->nr, sizeof(*f->next));
	if (!f->next)
		raw_die("no memory");
	f->roots = raw_alloc(f->s, FLOW_SLOTS * FLOW_ROOT);
	f->data = raw_alloc(f->s, f->max_len + 8);
	raw_fill(f->s->send + f->data, 1, f->max_len);
	for (i = 0; i < FLOW_SLOTS; i++)
		f->free[f->nr_free++] = i;
	f->due = raw_now();
	raw_qp(&f->qp, f->s, 256, 4 * FLOW_SLOTS, 0);
	if (pthread_create(&f->thread, NULL, flow_run, f))
		raw_die("no thread");
}

void flow_wait(struct flow *f)
{
	pthread_join(f->thread, NULL);
	if (f->wrong)
		raw_die("%llu replies were wrong, or came twice", (unsigned long long)f->wrong);
}

void flow_stop(struct flow *f)
{
	__atomic_store_n(&f->stop, true, __ATOMIC_RELEASE);
	flow_wait(f);
}

uint64_t flow_done(const struct flow *f, unsigned int status)
{
	return __atomic_load_n(&f->done[status], __ATOMIC_ACQUIRE);
}

uint64_t flow_all(const struct flow *f)
{
	uint64_t nr = 0;
	unsigned int i;

	for (i = 0; i <= MRPC_STATUS_MAX; i++)
		nr += flow_done(f, i);
	return nr;
}

bool flow_more(const struct flow *f, uint64_t nr, unsigned int ms)
{
	uint64_t end = raw_now() + ms * RAW_MS * raw_patience(), from = flow_all(f);

	while (flow_all(f) < from + nr) {
		if (raw_now() > end)
			return false;
		raw_sleep(RAW_MS);
	}
	return true;
}

static int flow_longer(const void *a, const void *b)
{
	const struct flow_sample *x = a, *y = b;

	return x->took < y->took ? -1 : x->took > y->took;
}

void flow_sort(struct flow_sample *samples, unsigned int nr)
{
	qsort(samples, nr, sizeof(*samples), flow_longer);
}

uint64_t flow_quantile(const struct flow_sample *sorted, unsigned int nr, double part)
{
	unsigned int i = part * nr;

	return nr ? sorted[i < nr ? i : nr - 1].took : 0;
}
