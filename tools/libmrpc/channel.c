// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Channels: connections that come back.
 *
 * A channel has at most one connection that takes calls. A thread makes it: it exists from when a
 * call needs a connection until there is one. The kernel is asked whether a connection still
 * stands when a call over it was not sent, or when the application looks at the state. A former
 * connection is kept until its last call has ended. The thread then gives it back to the kernel,
 * which may take a while.
 *
 * States, times between attempts and what waits for what are as in gRPC's documents "connectivity
 * semantics", "connection backoff" and "wait for ready".
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attempt.h"
#include "channel.h"
#include "clock.h"
#include "result.h"
#include "secure.h"
#include "target.h"

#define TIMEOUT_US	20000000u
#define BACKOFF_US	1000000u
#define BACKOFF_MAX_US	120000000u
#define LOOK_NS		100000000u	/* between looks at a connection that no call uses */
#define WHY_LEN		MRPC_MAX_DETAIL
#define NO_THREAD	"cannot start a thread to connect: %s"

/**
 * struct former - a connection that takes no new calls
 * @next: the next of the channel
 * @id: the kernel's number
 */
struct former {
	struct former *next;
	u32 id;
};

/**
 * struct channel - a channel
 *
 * Reference counted: one of its struct mrpc_conn, one of each call inside.
 *
 * @session: the session that its connections belong to; it outlives the channel
 * @refs: references; atomic
 * @target: the target
 * @opts: with the defaults filled in
 * @arg: what all attempts ask of the kernel
 * @lock: protects what follows
 * @changes: counts changes of @state; a futex that waiting calls sleep on
 * @state: enum mrpc_channel_state
 * @link: with MRPC_CHANNEL_READY: the kernel's number of the connection
 * @former: connections that take no new calls
 * @waiters: calls that wait without sleeping in the channel
 * @thread: what makes connections
 * @has_thread: @thread is to be joined
 * @works: @thread has not come to its end
 * @stop: the channel was closed
 * @next: when the next attempt may begin
 * @why: the reason of the last failure
 */
struct channel {
	struct mrpc_session *session;
	u32 refs;
	char *target;
	struct mrpc_channel_opts opts;
	struct mrpc_connect arg;
	pthread_mutex_t lock;
	u32 changes;
	int state;
	u32 link;
	struct former *former;
	struct channel_waiter *waiters;
	pthread_t thread;
	bool has_thread;
	bool works;
	bool stop;
	u64 next;
	char why[WHY_LEN];
};

void channel_get(struct channel *ch)
{
	__atomic_add_fetch(&ch->refs, 1, __ATOMIC_RELAXED);
}

void channel_put(struct channel *ch)
{
	struct former *f;

	if (__atomic_sub_fetch(&ch->refs, 1, __ATOMIC_ACQ_REL))
		return;
	while ((f = ch->former)) {
		ch->former = f->next;
		free(f);
	}
	if (ch->opts.tls)
		ch->opts.tls->ops->put(ch->opts.tls);
	pthread_mutex_destroy(&ch->lock);
	free(ch->target);
	free(ch);
}

/* -- changes of state: under the lock ---------------------------------------------------- */

/* Makes the eventfds readable of those that wait until @before or less. */
static void wake_waiters(struct channel *ch, u64 before)
{
	static const u64 one = 1;
	struct channel_waiter *w;
	ssize_t n;

	for (w = ch->waiters; w; w = w->next) {
		if (w->eventfd < 0 || w->until > before)
			continue;
		/* It fails only if the counter is full: then it is readable already. */
		n = write(w->eventfd, &one, sizeof(one));
		(void)n;
		if (before != FOR_EVER)
			w->until = FOR_EVER;	/* once is enough */
	}
}

static void set_state(struct channel *ch, int state)
{
	if (ch->state == state)
		return;
	ch->state = state;
	__atomic_store_n(&ch->changes, ch->changes + 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &ch->changes, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
	wake_waiters(ch, FOR_EVER);
}

/* Waits for the next change, without the lock. Return: 0, also if there may be none; -errno. */
static int wait_change(struct channel *ch, u64 until)
{
	struct timespec ts = {
		.tv_sec = (time_t)(until / 1000000000u),
		.tv_nsec = (long)(until % 1000000000u),
	};
	u32 seen = ch->changes;
	int err;

	pthread_mutex_unlock(&ch->lock);
	err = syscall(SYS_futex, &ch->changes, FUTEX_WAIT_BITSET_PRIVATE, seen,
		      until == FOR_EVER ? NULL : &ts, NULL, FUTEX_BITSET_MATCH_ANY) < 0 ? -errno : 0;
	pthread_mutex_lock(&ch->lock);
	return err == -EAGAIN ? 0 : err;
}

/* Returns the enum mrpc_conn_state of a connection. */
static u32 link_state(const struct channel *ch, u32 id)
{
	struct mrpc_conn_info info = { .size = sizeof(info), .conn = id };

	return session_ioctl(ch->session, MRPC_IOC_CONN_INFO, &info) ? MRPC_CONN_CLOSED : info.state;
}

/* Gives up the connection if it takes no calls any more. */
static void check_link(struct channel *ch)
{
	struct former *f;

	if (ch->state != MRPC_CHANNEL_READY || link_state(ch, ch->link) == MRPC_CONN_READY)
		return;
	f = malloc(sizeof(*f));
	if (f) {
		f->id = ch->link;
		f->next = ch->former;
		ch->former = f;
	} else {
		conn_close_id(ch->session, ch->link, 0);
	}
	ch->link = 0;
	set_state(ch, MRPC_CHANNEL_IDLE);
}

/* Gives former connections back whose calls have ended. This function drops the lock meanwhile. */
static void sweep(struct channel *ch)
{
	struct former **p, *all = ch->former, *f;

	ch->former = NULL;
	pthread_mutex_unlock(&ch->lock);
	for (p = &all; (f = *p); ) {
		if (link_state(ch, f->id) != MRPC_CONN_CLOSED) {
			p = &f->next;
			continue;
		}
		conn_close_id(ch->session, f->id, 0);
		*p = f->next;
		free(f);
	}
	pthread_mutex_lock(&ch->lock);
	*p = ch->former;
	ch->former = all;
}

/* -- making connections -------------------------------------------------------------------- */

/* A time between attempts, with up to a fifth added or taken away. */
static u64 jitter(u64 ns)
{
	u32 random;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (u32)clock_ns() * 2654435761u;
	return ns - ns / 5 + (u64)((double)ns * 0.4 * (random / 4294967296.0));
}

/* Called now and then during an attempt. Return: true: it is to end. */
static bool is_stopped(void *arg)
{
	struct channel *ch = arg;
	bool stop;

	pthread_mutex_lock(&ch->lock);
	wake_waiters(ch, clock_ns());
	stop = ch->stop;
	pthread_mutex_unlock(&ch->lock);
	return stop;
}

static int attempt(struct channel *ch, u32 *id)
{
	u64 until = until_us(ch->opts.timeout_us);
	struct address list[ADDRESSES_MAX];
	struct mrpc_connect arg = ch->arg;
	int nr = target_resolve(ch->target, list, ADDRESSES_MAX), err;

	if (nr < 0)
		return nr;
	err = attempt_connect(ch->session, ch->target, ch->opts.tls, list, nr, until, is_stopped, ch,
			      &arg);
	*id = arg.id;
	return err;
}

/* Waits until the next attempt may begin. Return: false: none will. */
static bool wait_for_turn(struct channel *ch)
{
	u64 now;

	while (!ch->stop && (now = clock_ns()) < ch->next) {
		wake_waiters(ch, now);
		wait_change(ch, ch->next < now + LOOK_NS ? ch->next : now + LOOK_NS);
	}
	return !ch->stop;
}

static void *connector(void *arg)
{
	struct channel *ch = arg;
	u64 backoff;
	u32 id = 0;
	int err;

	pthread_mutex_lock(&ch->lock);
	backoff = ch->opts.backoff_us;
	/* At first it waits only if the last connection was lost at once. */
	while (wait_for_turn(ch)) {
		set_state(ch, MRPC_CHANNEL_CONNECTING);
		ch->next = clock_ns() + jitter(backoff * 1000);
		pthread_mutex_unlock(&ch->lock);
		err = attempt(ch, &id);
		pthread_mutex_lock(&ch->lock);
		if (!err && ch->stop)
			conn_close_id(ch->session, id, 0);
		if (ch->stop)
			break;
		if (!err) {
			ch->link = id;
			ch->why[0] = '\0';
			set_state(ch, MRPC_CHANNEL_READY);
			sweep(ch);
			/* A call may have found the connection lost meanwhile, and begun anew. */
			if (ch->state != MRPC_CHANNEL_CONNECTING)
				break;
			backoff = ch->opts.backoff_us;
			continue;
		}
		snprintf(ch->why, sizeof(ch->why), "%s", mrpc_last_error());
		set_state(ch, MRPC_CHANNEL_TRANSIENT_FAILURE);
		backoff += backoff * 6 / 10;
		if (backoff > ch->opts.backoff_max_us)
			backoff = ch->opts.backoff_max_us;
	}
	ch->works = false;
	pthread_mutex_unlock(&ch->lock);
	return NULL;
}

/* Under the lock. The thread has come to its end, so the wait is short. */
static void join_thread(struct channel *ch)
{
	if (ch->has_thread)
		pthread_join(ch->thread, NULL);
	ch->has_thread = false;
}

/*
 * Begins to connect, unless that is done or under way. Under the lock. Return: 0, or what keeps the
 * thread from being started, a positive errno.
 */
static int begin(struct channel *ch)
{
	sigset_t all, old;
	int err;

	if (ch->stop || ch->state == MRPC_CHANNEL_READY)
		return 0;
	if (!ch->works) {
		join_thread(ch);
		/* The application's handlers run in its own threads. */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &old);
		err = pthread_create(&ch->thread, NULL, connector, ch);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		if (err)
			return err;
		ch->has_thread = true;
		ch->works = true;
	}
	if (ch->state == MRPC_CHANNEL_IDLE)
		set_state(ch, MRPC_CHANNEL_CONNECTING);
	return 0;
}

/* -- for calls ------------------------------------------------------------------------------ */

/* As channel_try(), under the lock. */
static int try_locked(struct channel *ch, bool wait_ready, u32 *id, struct mrpc_result *res)
{
	int err = begin(ch);

	if (err) {
		result_fail(res, MRPC_RESOURCE_EXHAUSTED, NO_THREAD, strerror(err));
		res->unsent = true;
		return res->status;
	}
	switch (ch->state) {
	case MRPC_CHANNEL_READY:
		*id = ch->link;
		return MRPC_OK;
	case MRPC_CHANNEL_SHUTDOWN:
		result_fail(res, MRPC_UNAVAILABLE, "the channel was closed");
		break;
	case MRPC_CHANNEL_TRANSIENT_FAILURE:
		if (!wait_ready) {
			result_fail(res, MRPC_UNAVAILABLE, "%s", ch->why);
			break;
		}
		/* fall through */
	default:
		return -EAGAIN;
	}
	res->unsent = true;
	return res->status;
}

int channel_try(struct channel *ch, bool wait_ready, u32 *id, struct mrpc_result *res)
{
	int status;

	pthread_mutex_lock(&ch->lock);
	status = try_locked(ch, wait_ready, id, res);
	pthread_mutex_unlock(&ch->lock);
	return status;
}

/* Why a call waits no longer. @err: of the wait */
static int give_up(const struct channel *ch, int err, struct mrpc_result *res)
{
	if (err == -EINTR)
		result_fail(res, MRPC_CANCELLED, "interrupted by a signal");
	else
		result_fail(res, MRPC_DEADLINE_EXCEEDED, "no connection to %s until the deadline%s%s",
			    ch->target, ch->why[0] ? ": " : "", ch->why);
	res->unsent = true;
	return res->status;
}

int channel_link(struct channel *ch, bool wait_ready, u64 until, u32 *id,
		 struct mrpc_result *res)
{
	int status, err = 0;

	pthread_mutex_lock(&ch->lock);
	while ((status = try_locked(ch, wait_ready, id, res)) == -EAGAIN) {
		if (err == -EINTR || clock_ns() >= until) {
			status = give_up(ch, err, res);
			break;
		}
		err = wait_change(ch, until);
	}
	pthread_mutex_unlock(&ch->lock);
	if (status)
		set_error("%s", res->detail);
	return status;
}

bool channel_lost(struct channel *ch, u32 id)
{
	bool lost;

	pthread_mutex_lock(&ch->lock);
	if (ch->link == id)
		check_link(ch);
	lost = ch->link != id;
	pthread_mutex_unlock(&ch->lock);
	return lost;
}

void channel_add_waiter(struct channel *ch, struct channel_waiter *w)
{
	pthread_mutex_lock(&ch->lock);
	w->next = ch->waiters;
	w->prev = &ch->waiters;
	if (w->next)
		w->next->prev = &w->next;
	ch->waiters = w;
	pthread_mutex_unlock(&ch->lock);
}

void channel_del_waiter(struct channel *ch, struct channel_waiter *w)
{
	/* In a forked child the lock may be held for ever. */
	if (!w->prev || session_is_foreign(ch->session))
		return;
	pthread_mutex_lock(&ch->lock);
	*w->prev = w->next;
	if (w->next)
		w->next->prev = w->prev;
	w->prev = NULL;
	pthread_mutex_unlock(&ch->lock);
}

/* -- its ends -------------------------------------------------------------------------------- */

static void shut_down(struct channel *ch)
{
	pthread_mutex_lock(&ch->lock);
	ch->stop = true;
	set_state(ch, MRPC_CHANNEL_SHUTDOWN);
	pthread_mutex_unlock(&ch->lock);
	join_thread(ch);
}

int channel_close(struct channel *ch, u64 drain_us)
{
	struct former *f;
	int err = 0;

	shut_down(ch);
	if (ch->link)
		err = conn_close_id(ch->session, ch->link, drain_us);
	for (f = ch->former; f; f = f->next)
		conn_close_id(ch->session, f->id, drain_us);
	channel_put(ch);
	return err;
}

void channel_end(struct channel *ch)
{
	/* In a forked child the thread does not exist, and the lock may be held for ever. */
	if (!session_is_foreign(ch->session))
		shut_down(ch);
	channel_put(ch);
}

u32 channel_peek(struct channel *ch)
{
	u32 id;

	pthread_mutex_lock(&ch->lock);
	id = ch->link;
	pthread_mutex_unlock(&ch->lock);
	return id;
}

/* -- the interface ----------------------------------------------------------------------------- */

static u64 or_default(u64 us, u64 otherwise)
{
	return us ? us : otherwise;
}

static struct channel *channel_new(struct mrpc_session *session, const char *target,
				   const struct mrpc_channel_opts *opts,
				   const struct mrpc_connect *arg)
{
	struct channel *ch = calloc(1, sizeof(*ch));

	if (!ch)
		return NULL;
	ch->target = strdup(target);
	if (!ch->target) {
		free(ch);
		return NULL;
	}
	ch->session = session;
	ch->refs = 1;
	ch->arg = *arg;
	if (opts)
		ch->opts = *opts;
	ch->arg.keepalive_us = ch->opts.keepalive_us;
	ch->arg.max_message = ch->opts.max_message;
	ch->opts.timeout_us = or_default(ch->opts.timeout_us, TIMEOUT_US);
	ch->opts.backoff_us = or_default(ch->opts.backoff_us, BACKOFF_US);
	ch->opts.backoff_max_us = or_default(ch->opts.backoff_max_us, BACKOFF_MAX_US);
	/* So that none of them overflows in nanoseconds, nor when it grows. */
	if (ch->opts.backoff_max_us > UINT32_MAX)
		ch->opts.backoff_max_us = UINT32_MAX;
	if (ch->opts.backoff_us > ch->opts.backoff_max_us)
		ch->opts.backoff_us = ch->opts.backoff_max_us;
	pthread_mutex_init(&ch->lock, NULL);
	if (ch->opts.tls)
		ch->opts.tls->ops->get(ch->opts.tls);
	return ch;
}

struct mrpc_conn *mrpc_channel_open(struct mrpc_session *session, const char *target,
				    const struct mrpc_service_desc *const services[],
				    unsigned int nr, const struct mrpc_channel_opts *opts)
{
	struct mrpc_tls *tls = opts ? opts->tls : NULL;
	struct mrpc_connect arg = { 0 };
	struct mrpc_conn *conn;

	if (session_check(session) || target_check(target, tls) ||
	    (tls && secure_check(tls, false)) ||
	    bind_services(session, services, nr, &arg))
		return NULL;
	conn = conn_new(session, services, nr);
	if (!conn)
		return NULL;
	conn->channel = channel_new(session, target, opts, &arg);
	if (!conn->channel) {
		free(conn);
		fail(ENOMEM, "out of memory");
		return NULL;
	}
	conn_made(conn);
	return conn;
}

static int channel_check(const struct mrpc_conn *conn)
{
	int err = session_check(conn->session);

	if (err)
		return err;
	return conn->channel ? 0 : fail(EINVAL, "it is a connection and no channel");
}

int mrpc_channel_state(struct mrpc_conn *channel, bool connect)
{
	struct channel *ch = channel->channel;
	int state = channel_check(channel), err = 0;

	if (state)
		return state;
	pthread_mutex_lock(&ch->lock);
	check_link(ch);
	if (connect)
		err = begin(ch);
	state = ch->state;
	pthread_mutex_unlock(&ch->lock);
	return err ? fail(err, NO_THREAD, strerror(err)) : state;
}

int mrpc_channel_wait(struct mrpc_conn *channel, int state, __s64 timeout_us)
{
	u64 until = timeout_us < 0 ? FOR_EVER : until_us((u64)timeout_us), now, look;
	struct channel *ch = channel->channel;
	int ret = channel_check(channel);

	if (ret)
		return ret;
	channel_get(ch);
	pthread_mutex_lock(&ch->lock);
	for (;;) {
		check_link(ch);
		now = clock_ns();
		if (ch->state != state)
			ret = ch->state;
		else if (now >= until)
			ret = fail(ETIME, "the channel is %s all the time",
				   mrpc_channel_state_name(state));
		if (ret || ch->state != state)
			break;
		look = ch->state == MRPC_CHANNEL_READY ? now + LOOK_NS : FOR_EVER;
		ret = wait_change(ch, look < until ? look : until);
		if (ret == -EINTR) {
			fail(EINTR, "interrupted by a signal");
			break;
		}
		ret = 0;
	}
	pthread_mutex_unlock(&ch->lock);
	channel_put(ch);
	return ret;
}

const char *mrpc_channel_state_name(int state)
{
	static const char *const names[] = {
		[MRPC_CHANNEL_IDLE] = "IDLE",
		[MRPC_CHANNEL_CONNECTING] = "CONNECTING",
		[MRPC_CHANNEL_READY] = "READY",
		[MRPC_CHANNEL_TRANSIENT_FAILURE] = "TRANSIENT_FAILURE",
		[MRPC_CHANNEL_SHUTDOWN] = "SHUTDOWN",
	};

	return state >= 0 && state < (int)ARRAY_SIZE(names) ? names[state] : "UNKNOWN";
}
