// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Waits for a change of a channel. Threads sleep on a futex. Applications that sleep elsewhere have
 * an eventfd; the threads of the channel's links keep its time.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "waiters.h"

void waiters_init(struct waiters *w)
{
	pthread_mutex_init(&w->lock, NULL);
	w->next = FOR_EVER;
}

static void make_readable(const struct channel_waiter *waiter)
{
	static const u64 one = 1;
	ssize_t n;

	/* It fails only if the counter is full: then it is readable already. */
	n = write(waiter->eventfd, &one, sizeof(one));
	(void)n;
}

/* A thread without the lock may read it, see waiter_until(). */
static void set_until(struct channel_waiter *waiter, u64 until)
{
	__atomic_store_n(&waiter->until, until, __ATOMIC_RELAXED);
}

void waiters_wake(struct waiters *w)
{
	__atomic_store_n(&w->changes, w->changes + 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &w->changes, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void waiters_tell(struct waiters *w)
{
	const struct channel_waiter *waiter;

	waiters_wake(w);
	for (waiter = w->first; waiter; waiter = waiter->next)
		if (waiter->eventfd >= 0)
			make_readable(waiter);
}

u64 waiters_expire(struct waiters *w, u64 now)
{
	struct channel_waiter *waiter;

	if (w->next > now)
		return w->next;
	w->next = FOR_EVER;
	for (waiter = w->first; waiter; waiter = waiter->next) {
		if (waiter->eventfd < 0)
			continue;
		if (waiter->until <= now) {
			make_readable(waiter);
			set_until(waiter, FOR_EVER);	/* once is enough */
		}
		if (waiter->until < w->next)
			w->next = waiter->until;
	}
	return w->next;
}

int waiters_sleep(struct waiters *w, u64 until)
{
	struct timespec ts = {
		.tv_sec = (time_t)(until / 1000000000u),
		.tv_nsec = (long)(until % 1000000000u),
	};
	u32 seen = w->changes;
	int err;

	pthread_mutex_unlock(&w->lock);
	err = syscall(SYS_futex, &w->changes, FUTEX_WAIT_BITSET_PRIVATE, seen,
		      until == FOR_EVER ? NULL : &ts, NULL, FUTEX_BITSET_MATCH_ANY) < 0 ? -errno : 0;
	pthread_mutex_lock(&w->lock);
	return err == -EAGAIN ? 0 : err;
}

void waiters_add(struct waiters *w, struct channel_waiter *waiter)
{
	waiter->next = w->first;
	waiter->prev = &w->first;
	if (waiter->next)
		waiter->next->prev = &waiter->next;
	w->first = waiter;
	waiters_set(w, waiter, waiter->until);
}

void waiters_set(struct waiters *w, struct channel_waiter *waiter, u64 until)
{
	set_until(waiter, until);
	if (waiter->eventfd < 0 || until >= w->next)
		return;
	w->next = until;
	waiters_wake(w);	/* the threads sleep for longer */
}

void waiters_del(struct channel_waiter *waiter)
{
	*waiter->prev = waiter->next;
	if (waiter->next)
		waiter->next->prev = waiter->prev;
	waiter->prev = NULL;
}
