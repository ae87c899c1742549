// SPDX-License-Identifier: GPL-2.0
/*
 * Calls under way all the time; see load.h.
 */
#include <string.h>

#include "load.h"

static bool load_call(struct load *l, unsigned int slot)
{
	struct mrpc_sqe sqe;

	l->tag[slot] = (uint64_t)slot << 48 | l->next++;
	if (!raw_try_blob(l->s, l->tag[slot], l->len, l->text, &l->root[slot]))
		return false;
	sqe = raw_sqe(l->conn, l->ack ? RAW_ACK : RAW_ECHO, l->root[slot]);
	sqe.user_data = l->tag[slot];
	sqe.timeout_us = l->timeout_us;
	l->freed[slot] = false;
	l->used[slot] = true;
	if (!raw_push(&l->qp, &sqe))
		raw_die("a queue of %u entries is full", l->qp.sq_entries);
	return true;
}

static void load_ended(struct load *l, unsigned int slot, const struct mrpc_cqe *cqe)
{
	if (cqe->status == MRPC_OK)
		l->wrong += !raw_is_blob(raw_msg(l->s, cqe), cqe->msg_len, l->tag[slot],
					 l->ack ? 0 : l->len);
	else
		raw_detail(l->s, cqe, l->detail, sizeof(l->detail));
	l->used[slot] = false;
	__atomic_add_fetch(&l->done[cqe->status], 1, __ATOMIC_RELEASE);
}

static void load_complete(struct load *l, const struct mrpc_cqe *cqe)
{
	unsigned int slot = cqe->user_data >> 48;

	if (slot >= l->in_flight || l->tag[slot] != cqe->user_data) {
		l->reused++;
		return;
	}
	if (cqe->type == MRPC_CQE_REPLY) {
		if (l->used[slot])
			load_ended(l, slot, cqe);
		else
			l->reused++;
		raw_done(l->s, cqe);
	}
	if (cqe->type == MRPC_CQE_SENT || cqe->flags & MRPC_CQE_FREED) {
		l->reused += l->freed[slot];
		l->freed[slot] = true;
		raw_free(l->s, l->root[slot]);
	}
}

static void *load_run(void *arg)
{
	uint64_t end = 0;
	struct load *l = arg;
	struct mrpc_cqe cqe;
	unsigned int slot, left;

	for (;;) {
		bool stop = __atomic_load_n(&l->stop, __ATOMIC_ACQUIRE);

		if (stop && !end)
			end = raw_now() + 60 * RAW_S * raw_scale();
		for (slot = left = 0; slot < l->in_flight; slot++) {
			bool idle = !l->used[slot] && l->freed[slot];

			if (idle && !stop)
				idle = !load_call(l, slot);
			left += !idle;
		}
		if (stop && !left)
			return NULL;
		if (end && raw_now() > end)
			raw_die("%u calls do not end", left);
		if (raw_next(&l->qp, &cqe, 100 * RAW_MS)) {
			load_complete(l, &cqe);
			while (raw_reap(&l->qp, &cqe))
				load_complete(l, &cqe);
		}
	}
}

void load_start(struct load *l, struct raw *s, int conn, unsigned int in_flight)
{
	if (in_flight > LOAD_MAX)
		raw_die("%u calls in flight", in_flight);
	l->s = s;
	l->conn = conn;
	l->in_flight = in_flight;
	l->stop = false;	/* it may have run before */
	memset(l->freed, true, sizeof(l->freed));
	raw_qp(&l->qp, s, LOAD_MAX, 4 * LOAD_MAX, 0);
	if (pthread_create(&l->thread, NULL, load_run, l))
		raw_die("no thread");
}

void load_tell(struct load *l)
{
	__atomic_store_n(&l->stop, true, __ATOMIC_RELEASE);
}

void load_stop(struct load *l)
{
	load_tell(l);
	pthread_join(l->thread, NULL);
	if (l->wrong || l->reused)
		raw_die("%llu replies were wrong, %llu came twice", (unsigned long long)l->wrong,
			(unsigned long long)l->reused);
}

uint64_t load_done(const struct load *l, unsigned int status)
{
	return __atomic_load_n(&l->done[status], __ATOMIC_ACQUIRE);
}

uint64_t load_except(const struct load *l, unsigned int statuses)
{
	uint64_t nr = 0;
	unsigned int i;

	for (i = 0; i <= MRPC_STATUS_MAX; i++)
		if (!(statuses & 1 << i))
			nr += load_done(l, i);
	return nr;
}

uint64_t load_failed(const struct load *l)
{
	return load_except(l, 1 << MRPC_OK);
}

uint64_t load_all(const struct load *l)
{
	return load_except(l, 0);
}

bool load_until(const struct load *l, unsigned int status, uint64_t nr, unsigned int ms)
{
	uint64_t end = raw_now() + ms * RAW_MS * raw_patience();

	while (load_done(l, status) < nr) {
		if (raw_now() > end)
			return false;
		raw_sleep(RAW_MS);
	}
	return true;
}

bool load_more(const struct load *l, uint64_t nr, unsigned int ms)
{
	uint64_t end = raw_now() + ms * RAW_MS * raw_patience(), from = load_all(l);

	while (load_all(l) < from + nr) {
		if (raw_now() > end)
			return false;
		raw_sleep(RAW_MS);
	}
	return true;
}

bool load_still(const struct load *l)
{
	uint64_t end = raw_now() + 10 * RAW_S * raw_patience(), was;

	do {
		if (raw_now() > end)
			return false;
		was = load_all(l);
		raw_sleep(RAW_S * raw_scale());
	} while (load_all(l) != was);
	return true;
}
