// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Links: connections of a channel, that come back.
 *
 * The kernel is asked whether a connection still stands when a call over it was not sent, or when
 * the application looks at the state. A former connection is kept until its last call has ended.
 * A thread then gives it back to the kernel, which may take a while.
 *
 * Times between attempts are as in gRPC's document "connection backoff".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attempt.h"
#include "link.h"
#include "policy.h"

#define DRAIN_US	1000000u	/* for the last call over a connection that is given up */

struct link *link_new(struct links *all, const struct address *address)
{
	struct link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->all = all;
	link->has_address = address;
	if (address)
		link->address = *address;
	link->state = MRPC_CHANNEL_IDLE;
	return link;
}

static void set_state(struct link *link, int state)
{
	if (link->state == state)
		return;
	link->state = state;
	link->all->ops->changed(link);
}

/* -- the connection ------------------------------------------------------------------------- */

static bool conn_query(const struct links *all, u32 id, struct mrpc_conn_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	info->conn = id;
	return !session_ioctl(all->session, MRPC_IOC_CONN_INFO, info);
}

/* It takes no new calls. */
static void retire(struct link *link)
{
	struct former *f = malloc(sizeof(*f));

	if (f) {
		f->id = link->id;
		f->since = clock_ns();
		f->next = link->all->former;
		link->all->former = f;
	} else {
		session_close_id(link->all->session, link->id, 0);
	}
	link->id = 0;
}

void link_check(struct link *link)
{
	struct mrpc_conn_info info;

	if (link->state != MRPC_CHANNEL_READY ||
	    (conn_query(link->all, link->id, &info) && info.state == MRPC_CONN_READY))
		return;
	retire(link);
	set_state(link, MRPC_CHANNEL_IDLE);
}

void link_rest(struct link *link)
{
	link->wanted = false;
	link->begin_ns = 0;
	link->why[0] = '\0';
	if (link->id)
		retire(link);
	waiters_wake(&link->all->waiters);
	set_state(link, MRPC_CHANNEL_IDLE);
}

void link_leave(struct link *link)
{
	link->ends = true;
	link_rest(link);
}

/* Has the last call over a connection ended? @exists: out: it is to be drained. */
static bool has_no_calls(const struct links *all, const struct former *f, bool *exists)
{
	struct mrpc_conn_info info;

	/* A call that has chosen it before is in the kernel after that time. */
	if (clock_ns() - f->since < SWEEP_NS)
		return false;
	*exists = conn_query(all, f->id, &info) && info.state != MRPC_CONN_CLOSED;
	/* One that drains closes by itself. */
	return !*exists || (info.state == MRPC_CONN_READY && !info.calls);
}

void links_sweep(struct links *all)
{
	struct former **p, *list = all->former, *f;
	bool closed = false, exists;

	all->former = NULL;
	pthread_mutex_unlock(&all->waiters.lock);
	for (p = &list; (f = *p); ) {
		if (closed || !has_no_calls(all, f, &exists)) {
			p = &f->next;
			continue;
		}
		closed = true;
		session_close_id(all->session, f->id, exists ? DRAIN_US : 0);
		*p = f->next;
		free(f);
	}
	pthread_mutex_lock(&all->waiters.lock);
	*p = all->former;
	all->former = list;
}

/* -- making it ------------------------------------------------------------------------------ */

static bool has_to_end(const struct link *link)
{
	return link->ends || link->all->stop;
}

/* Called now and then during an attempt. Return: true: it is to end. */
static bool is_stopped(void *arg)
{
	struct link *link = arg;
	bool stop;

	pthread_mutex_lock(&link->all->waiters.lock);
	waiters_expire(&link->all->waiters, clock_ns());
	stop = has_to_end(link) || !link->wanted;
	link->cut |= stop;
	pthread_mutex_unlock(&link->all->waiters.lock);
	return stop;
}

/* Return: 0 or -errno. @arg: out: the connection */
static int attempt(struct link *link, struct mrpc_connect *arg)
{
	struct links *all = link->all;
	u64 until = until_us(all->opts.timeout_us);
	struct address list[ADDRESSES_MAX];
	int nr = all->ops->addresses(link, list), err;

	if (nr < 0)
		return nr;
	*arg = all->arg;
	err = attempt_connect(all->session, all->target, all->opts.tls, list, nr, until, is_stopped,
			      link, arg);
	if (!err && !link->has_address) {
		memcpy(link->address.transport, arg->transport, sizeof(arg->transport));
		memcpy(link->address.addr, arg->addr, sizeof(arg->addr));
	}
	return err;
}

/* Waits until the next attempt may begin. Return: false: none will. */
static bool wait_for_turn(struct link *link)
{
	struct links *all = link->all;
	u64 now, until, look;
	u32 seen;

	while (!has_to_end(link)) {
		now = clock_ns();
		seen = all->waiters.changes;
		until = waiters_expire(&all->waiters, now);
		look = all->ops->look(link, now);
		/* The look may have dropped the lock. */
		if (!has_to_end(link) && link->wanted && now >= link->begin_ns)
			return true;
		if (look < until)
			until = look;
		if (link->wanted && link->begin_ns < until)
			until = link->begin_ns;
		if (seen == all->waiters.changes)
			waiters_sleep(&all->waiters, until);
	}
	return false;
}

/* One attempt. @backoff: microseconds from its begin to that of the next one. */
static void try_once(struct link *link, u64 *backoff)
{
	struct links *all = link->all;
	struct mrpc_connect arg;
	int err;

	set_state(link, MRPC_CHANNEL_CONNECTING);
	if (!link->begin_ns)
		*backoff = all->opts.backoff_us;
	link->begin_ns = clock_ns() + jitter(*backoff * 1000);
	link->cut = false;
	pthread_mutex_unlock(&all->waiters.lock);
	err = attempt(link, &arg);
	pthread_mutex_lock(&all->waiters.lock);
	if (has_to_end(link) || !link->wanted || (err && link->cut)) {
		if (!err) {
			link->id = arg.id;
			retire(link);	/* closed without the lock */
		}
		return;
	}
	if (!err) {
		link->id = arg.id;
		link->max_calls = arg.max_calls;
		link->wanted = false;
		link->why[0] = '\0';
		*backoff = all->opts.backoff_us;
		set_state(link, MRPC_CHANNEL_READY);
		links_sweep(all);
		return;
	}
	snprintf(link->why, sizeof(link->why), "%s", mrpc_last_error());
	set_state(link, MRPC_CHANNEL_TRANSIENT_FAILURE);
	*backoff += *backoff * 6 / 10;
	if (*backoff > all->opts.backoff_max_us)
		*backoff = all->opts.backoff_max_us;
}

static void *link_main(void *arg)
{
	struct link *link = arg;
	u64 backoff = link->all->opts.backoff_us;

	pthread_mutex_lock(&link->all->waiters.lock);
	/* At first it waits only if the last connection was lost at once. */
	while (wait_for_turn(link))
		try_once(link, &backoff);
	link->has_ended = true;
	pthread_mutex_unlock(&link->all->waiters.lock);
	return NULL;
}

int link_begin(struct link *link)
{
	int err;

	if (has_to_end(link) || link->wanted || link->state == MRPC_CHANNEL_READY)
		return 0;
	if (!link->has_thread) {
		err = thread_start(&link->thread, link_main, link);
		if (err)
			return err;
		link->has_thread = true;
	}
	link->wanted = true;
	waiters_wake(&link->all->waiters);
	set_state(link, MRPC_CHANNEL_CONNECTING);
	return 0;
}

void link_free(struct link *link)
{
	if (link->has_thread)
		pthread_join(link->thread, NULL);
	free(link);
}
