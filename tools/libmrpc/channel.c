// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Channels: what calls see of the connections that link.c makes and balance.c chooses from.
 *
 * States and what waits for what are as in gRPC's documents "connectivity semantics" and "wait for
 * ready".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "channel.h"
#include "result.h"
#include "secure.h"
#include "target.h"
#include "watch.h"

#define TIMEOUT_US	20000000u
#define BACKOFF_US	1000000u
#define BACKOFF_MAX_US	120000000u
#define IDLE_US		1800000000u
#define IDLE_MIN_US	1000u
#define IDLE_LOOKS	4		/* in that time */
#define LOOK_NS		100000000u	/* between looks at a connection that no call uses */
#define NO_THREAD	"cannot start a thread to connect: %s"

/**
 * struct channel - a channel
 *
 * Reference counted: one of its struct mrpc_conn, one of each call inside.
 *
 * @all: what its links share; its lock protects all that follows @methods
 * @refs: references; atomic
 * @calls: calls inside; atomic
 * @begun: calls that have come; atomic
 * @config: the service config; its tokens are atomic
 * @first: for each service, where in @methods its methods begin
 * @methods: what the config says of each method
 * @state: enum mrpc_channel_state
 * @balance: its links; none once it is closed
 * @watch: the file with its addresses; NULL: its target has them itself
 * @looked_up: when they followed an answer of the name system for the last time; 0: never
 * @seen: @begun at the last look
 * @busy: there were calls then
 * @idle_since: when there was a call for the last time
 */
struct channel {
	struct links all;
	u32 refs;
	u32 calls;
	u32 begun;
	struct config config;
	u32 first[MRPC_MAX_SERVICES];
	const struct method_config **methods;
	int state;
	struct balance balance;
	struct watch *watch;
	u64 looked_up;
	u32 seen;
	bool busy;
	u64 idle_since;
};

static struct channel *channel_of(struct links *all)
{
	return (struct channel *)((u8 *)all - offsetof(struct channel, all));
}

static void channel_lock(struct channel *ch)
{
	pthread_mutex_lock(&ch->all.waiters.lock);
}

static void channel_unlock(struct channel *ch)
{
	pthread_mutex_unlock(&ch->all.waiters.lock);
}

void channel_hold(struct channel *ch)
{
	__atomic_add_fetch(&ch->refs, 1, __ATOMIC_RELAXED);
}

void channel_drop(struct channel *ch)
{
	struct former *f;

	if (__atomic_sub_fetch(&ch->refs, 1, __ATOMIC_ACQ_REL))
		return;
	while ((f = ch->all.former)) {
		ch->all.former = f->next;
		free(f);
	}
	if (ch->all.opts.tls)
		ch->all.opts.tls->ops->put(ch->all.opts.tls);
	pthread_mutex_destroy(&ch->all.waiters.lock);
	config_end(&ch->config);
	free(ch->methods);
	free(ch->watch);
	free(ch->all.target);
	free(ch);
}

void channel_enter(struct channel *ch)
{
	channel_hold(ch);
	__atomic_add_fetch(&ch->begun, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&ch->calls, 1, __ATOMIC_RELAXED);
}

void channel_leave(struct channel *ch)
{
	__atomic_sub_fetch(&ch->calls, 1, __ATOMIC_RELAXED);
	channel_drop(ch);
}

/* -- its links: under the lock ------------------------------------------------------------ */

static void update_state(struct channel *ch)
{
	int state = ch->all.stop ? MRPC_CHANNEL_SHUTDOWN : balance_state(&ch->balance);

	if (ch->state == state)
		return;
	ch->state = state;
	waiters_tell(&ch->all.waiters);
}

static void link_changed(struct link *link)
{
	update_state(channel_of(link->all));
}

/*
 * Has another link of round_robin just looked the names up? The answers of large services differ
 * each time, and each new link would replace the others.
 */
static bool is_looked_up(struct channel *ch, const struct link *link)
{
	bool recent;

	channel_lock(ch);
	recent = link->has_address && ch->looked_up &&
		 clock_ns() - ch->looked_up < ch->all.opts.backoff_us * 1000 / 2;
	channel_unlock(ch);
	return recent;
}

/* Without the lock. Return: how many; -errno with the error set. */
static int resolve(struct channel *ch, struct address list[ADDRESSES_MAX])
{
	int nr = target_resolve(ch->all.target, ch->all.opts.tls, list, ADDRESSES_MAX);

	if (!ch->watch)
		return nr;
	channel_lock(ch);
	nr = watch_take(ch->watch, list, nr);
	channel_unlock(ch);
	return nr;
}

/* In a thread of the link, without the lock. */
static int link_addresses(struct link *link, struct address list[ADDRESSES_MAX])
{
	struct channel *ch = channel_of(link->all);
	bool robin = ch->balance.round_robin, ends;
	int nr = 0;

	if (!robin || !is_looked_up(ch, link))
		nr = resolve(ch, list);
	if (!robin || (nr < 0 && !link->has_address))
		return nr;
	channel_lock(ch);
	/* Without an answer, the addresses are those of the last one. */
	if (nr > 0 && ch->balance.nr && !link->ends) {
		ch->looked_up = clock_ns();
		balance_follow(&ch->balance, list, nr);
		update_state(ch);
	}
	list[0] = link->address;
	ends = link->ends || !link->has_address;
	channel_unlock(ch);
	return ends ? -ECANCELED : 1;
}

/* No call has come for long enough: gRPC's "idle". Return: when to look again. */
static u64 look_idle(struct channel *ch, u64 now)
{
	u64 idle = ch->all.opts.idle_us;
	u32 begun = __atomic_load_n(&ch->begun, __ATOMIC_RELAXED);
	bool calls = __atomic_load_n(&ch->calls, __ATOMIC_RELAXED);

	if (idle == UINT64_MAX || ch->state == MRPC_CHANNEL_IDLE)
		return FOR_EVER;
	if (calls || ch->busy || ch->seen != begun)
		ch->idle_since = now;
	ch->busy = calls;
	ch->seen = begun;
	if (now - ch->idle_since < idle * 1000)
		return now + idle * 1000 / IDLE_LOOKS;
	balance_rest(&ch->balance);
	ch->looked_up = 0;	/* the links of the other addresses are gone */
	return FOR_EVER;
}

/* Follows the file, if it has changed. Drops the lock meanwhile. Return: when to look again. */
static u64 look_file(struct channel *ch, u64 now)
{
	struct address list[ADDRESSES_MAX];
	struct watch *w = ch->watch;
	int nr = 0;

	if (!w || w->looks || ch->state == MRPC_CHANNEL_IDLE)
		return FOR_EVER;
	if (now < w->next)
		return w->next;
	w->looks = true;
	channel_unlock(ch);
	if (watch_has_changed(w))
		nr = resolve(ch, list);
	channel_lock(ch);
	w->looks = false;
	w->next = clock_ns() + WATCH_NS;
	if (nr > 0 && ch->balance.nr && !ch->all.stop) {
		if (ch->balance.round_robin)
			balance_follow(&ch->balance, list, nr);
		else
			balance_keep(&ch->balance, list, nr);
		update_state(ch);
	}
	return w->next;
}

static void links_free(struct link *link)
{
	struct link *next;

	for (; link; link = next) {
		next = link->next;
		link_free(link);
	}
}

/* Drops the lock meanwhile, if there is something to do. */
static u64 link_look(struct link *link, u64 now)
{
	struct channel *ch = channel_of(link->all);
	struct link *ended;
	u64 next, again = look_file(ch, now);

	if (!ch->balance.nr || link != ch->balance.links[0])
		return again;
	next = look_idle(ch, now);
	if (again < next)
		next = again;
	ended = balance_reap(&ch->balance);
	if (ended) {
		/* A thread that ends waits for locks which callers of this channel may hold. */
		channel_unlock(ch);
		links_free(ended);
		channel_lock(ch);
	}
	/* It may take a while: not before an attempt. */
	if (ch->all.former && !(link->wanted && now >= link->begin_ns))
		links_sweep(&ch->all);
	if ((ch->all.former || ch->balance.left) && next > now + SWEEP_NS)
		next = now + SWEEP_NS;
	return next;
}

static const struct link_ops link_ops = {
	.addresses = link_addresses,
	.changed = link_changed,
	.look = link_look,
};

/* -- for calls ------------------------------------------------------------------------------ */

const struct method_config *channel_config(const struct channel *ch, u32 method)
{
	return ch->methods[ch->first[method >> 16] + (method & 0xffff)];
}

struct throttle *channel_throttle(struct channel *ch)
{
	return &ch->config.throttle;
}

/* As channel_try(), under the lock. */
static int try_locked(struct channel *ch, bool wait_ready, const struct avoid *avoid,
		      struct channel_conn *conn, struct mrpc_result *res)
{
	const struct link *link;
	int err = balance_begin(&ch->balance);

	if (err) {
		result_fail(res, MRPC_RESOURCE_EXHAUSTED, NO_THREAD, strerror(err));
		res->unsent = true;
		return res->status;
	}
	switch (ch->state) {
	case MRPC_CHANNEL_READY:
		link = balance_next(&ch->balance, avoid);
		*conn = (struct channel_conn){ link->id, link->max_calls };
		return MRPC_OK;
	case MRPC_CHANNEL_SHUTDOWN:
		result_fail(res, MRPC_UNAVAILABLE, "the channel was closed");
		break;
	case MRPC_CHANNEL_TRANSIENT_FAILURE:
		if (!wait_ready) {
			result_fail(res, MRPC_UNAVAILABLE, "%s", balance_why(&ch->balance));
			break;
		}
		/* fall through */
	default:
		return -EAGAIN;
	}
	res->unsent = true;
	return res->status;
}

int channel_try(struct channel *ch, bool wait_ready, const struct avoid *avoid,
		struct channel_conn *conn, struct mrpc_result *res)
{
	int status;

	channel_lock(ch);
	status = try_locked(ch, wait_ready, avoid, conn, res);
	channel_unlock(ch);
	return status;
}

/* Why a call waits no longer. @err: of the wait */
static int give_up(const struct channel *ch, int err, struct mrpc_result *res)
{
	const char *why = balance_why(&ch->balance);

	if (err == -EINTR)
		result_fail(res, MRPC_CANCELLED, "interrupted by a signal");
	else
		result_fail(res, MRPC_DEADLINE_EXCEEDED, "no connection to %s until the deadline%s%s",
			    ch->all.target, *why ? ": " : "", why);
	res->unsent = true;
	return res->status;
}

int channel_link(struct channel *ch, bool wait_ready, u64 until, u32 *id,
		 struct mrpc_result *res)
{
	struct channel_conn conn = { 0 };
	int status, err = 0;

	channel_lock(ch);
	while ((status = try_locked(ch, wait_ready, NULL, &conn, res)) == -EAGAIN) {
		if (err == -EINTR || clock_ns() >= until) {
			status = give_up(ch, err, res);
			break;
		}
		err = waiters_sleep(&ch->all.waiters, until);
	}
	channel_unlock(ch);
	*id = conn.id;
	if (status)
		set_error("%s", res->detail);
	return status;
}

bool channel_lost(struct channel *ch, u32 id)
{
	bool lost;

	channel_lock(ch);
	lost = balance_lost(&ch->balance, id);
	channel_unlock(ch);
	return lost;
}

int channel_pause(struct channel *ch, u64 until)
{
	int err = 0;

	channel_lock(ch);
	while (!ch->all.stop && err != -EINTR && clock_ns() < until)
		err = waiters_sleep(&ch->all.waiters, until);
	channel_unlock(ch);
	return err == -EINTR ? err : 0;
}

bool channel_is_closed(struct channel *ch)
{
	bool closed;

	channel_lock(ch);
	closed = ch->all.stop;
	channel_unlock(ch);
	return closed;
}

void channel_add_waiter(struct channel *ch, struct channel_waiter *w)
{
	channel_lock(ch);
	waiters_add(&ch->all.waiters, w);
	channel_unlock(ch);
}

void channel_set_waiter(struct channel *ch, struct channel_waiter *w, u64 until)
{
	channel_lock(ch);
	waiters_set(&ch->all.waiters, w, until);
	channel_unlock(ch);
}

void channel_del_waiter(struct channel *ch, struct channel_waiter *w)
{
	/* In a forked child the lock may be held for ever. */
	if (session_is_foreign(ch->all.session))
		return;
	channel_lock(ch);
	if (w->prev)
		waiters_del(w);
	channel_unlock(ch);
}

/* -- its ends -------------------------------------------------------------------------------- */

/* Ends the links. @ids: NULL, or becomes the connections that they have. Return: how many. */
static u32 shut_down(struct channel *ch, u32 ids[LINKS_MAX])
{
	/* In a forked child threads do not exist, and the lock may be held for ever. */
	bool foreign = session_is_foreign(ch->all.session);
	struct link *link, *each;
	u32 nr = 0, i;

	if (!foreign)
		channel_lock(ch);
	ch->all.stop = true;
	for (i = 0; i < ch->balance.nr; i++)
		if (ids && ch->balance.links[i]->id)
			ids[nr++] = ch->balance.links[i]->id;
	link = balance_end(&ch->balance);
	if (!foreign) {
		update_state(ch);
		channel_unlock(ch);
	}
	for (each = link; each; each = each->next)
		each->has_thread &= !foreign;
	links_free(link);
	return nr;
}

/* What is left of the time to drain, which may be for ever. 0: there was none at first. */
static u64 drain_left(u64 drain_us, u64 until)
{
	return !drain_us || until == FOR_EVER ? drain_us : left_us(until);
}

int channel_close(struct channel *ch, u64 drain_us)
{
	u32 ids[LINKS_MAX], nr = shut_down(ch, ids), i;
	u64 until = until_us(drain_us);
	struct former *f;
	int err = 0, ret;

	for (i = 0; i < nr; i++) {
		ret = session_close_id(ch->all.session, ids[i], drain_left(drain_us, until));
		if (ret)
			err = ret;
	}
	for (f = ch->all.former; f; f = f->next)
		session_close_id(ch->all.session, f->id, drain_left(drain_us, until));
	channel_drop(ch);
	return err;
}

void channel_end(struct channel *ch)
{
	shut_down(ch, NULL);
	channel_drop(ch);
}

u32 channel_peek(struct channel *ch)
{
	u32 id = 0, i;

	channel_lock(ch);
	for (i = 0; i < ch->balance.nr && !id; i++)
		id = ch->balance.links[i]->id;
	channel_unlock(ch);
	return id;
}

/* -- the interface ----------------------------------------------------------------------------- */

static u64 or_default(u64 us, u64 otherwise)
{
	return us ? us : otherwise;
}

static void set_opts(struct links *all, const struct mrpc_channel_opts *opts)
{
	struct mrpc_channel_opts *to = &all->opts;

	if (opts)
		*to = *opts;
	to->service_config = NULL;	/* the caller's */
	all->arg.keepalive_us = to->keepalive_us;
	all->arg.max_message = to->max_message;
	to->timeout_us = or_default(to->timeout_us, TIMEOUT_US);
	to->backoff_us = or_default(to->backoff_us, BACKOFF_US);
	to->backoff_max_us = or_default(to->backoff_max_us, BACKOFF_MAX_US);
	to->idle_us = or_default(to->idle_us, IDLE_US);
	/* So that none of them overflows in nanoseconds, nor when it grows. */
	if (to->backoff_max_us > UINT32_MAX)
		to->backoff_max_us = UINT32_MAX;
	if (to->backoff_us > to->backoff_max_us)
		to->backoff_us = to->backoff_max_us;
	if (to->idle_us > UINT64_MAX / 2000)
		to->idle_us = UINT64_MAX;
	if (to->idle_us < IDLE_MIN_US)
		to->idle_us = IDLE_MIN_US;
	if (to->tls)
		to->tls->ops->get(to->tls);
}

/* Finds what the config says of each method. */
static bool find_methods(struct channel *ch, const struct mrpc_service_desc *const services[],
			 u32 nr)
{
	u32 total = 0, i, j;

	for (i = 0; i < nr; i++) {
		ch->first[i] = total;
		total += services[i]->nr_methods;
	}
	ch->methods = calloc(total ? total : 1, sizeof(ch->methods[0]));
	for (i = 0; ch->methods && i < nr; i++)
		for (j = 0; j < services[i]->nr_methods; j++)
			ch->methods[ch->first[i] + j] = config_find(&ch->config, services[i]->name,
								    services[i]->methods[j].name);
	return ch->methods;
}

/* NULL: the error is set. @config: is the channel's from now on, whatever happens. */
static struct channel *channel_new(struct mrpc_conn *conn, const char *target,
				   const struct mrpc_channel_opts *opts,
				   const struct mrpc_connect *arg, const struct config *config)
{
	struct config unused = *config;
	struct channel *ch = calloc(1, sizeof(*ch));

	if (!ch) {
		config_end(&unused);
		fail(ENOMEM, "out of memory");
		return NULL;
	}
	ch->all.ops = &link_ops;
	ch->all.session = conn->session;
	ch->all.arg = *arg;
	set_opts(&ch->all, opts);
	waiters_init(&ch->all.waiters);
	ch->config = *config;
	ch->refs = 1;
	ch->all.target = strdup(target);
	if (target_file(target))
		ch->watch = ch->all.target ? watch_new(ch->all.target) : NULL;
	ch->balance.round_robin = config->round_robin;
	ch->balance.links[0] = link_new(&ch->all, NULL);
	if (ch->balance.links[0] && ch->all.target && !ch->watch == !target_file(target) &&
	    find_methods(ch, conn->services, conn->nr)) {
		ch->balance.nr = 1;
		return ch;
	}
	free(ch->balance.links[0]);
	channel_drop(ch);
	fail(ENOMEM, "out of memory");
	return NULL;
}

struct mrpc_conn *mrpc_channel_open(struct mrpc_session *session, const char *target,
				    const struct mrpc_service_desc *const services[],
				    unsigned int nr, const struct mrpc_channel_opts *opts)
{
	struct mrpc_tls *tls = opts ? opts->tls : NULL;
	struct mrpc_connect arg = { 0 };
	struct mrpc_conn *conn;
	struct config config;

	if (session_check(session) || target_check(target, tls) ||
	    (tls && secure_check(tls, false)) ||
	    bind_services(session, services, nr, &arg) ||
	    config_parse(opts ? opts->service_config : NULL, &config))
		return NULL;
	conn = conn_new(session, services, nr);
	if (!conn) {
		config_end(&config);
		return NULL;
	}
	conn->channel = channel_new(conn, target, opts, &arg, &config);
	if (!conn->channel) {
		free(conn);
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
	channel_lock(ch);
	balance_check(&ch->balance);
	if (connect) {
		__atomic_add_fetch(&ch->begun, 1, __ATOMIC_RELAXED);
		err = balance_begin(&ch->balance);
	}
	state = ch->state;
	channel_unlock(ch);
	return err ? fail(err, NO_THREAD, strerror(err)) : state;
}

int mrpc_channel_wait(struct mrpc_conn *channel, int state, __s64 timeout_us)
{
	u64 until = timeout_us < 0 ? FOR_EVER : until_us((u64)timeout_us), now, look;
	struct channel *ch = channel->channel;
	int ret = channel_check(channel);

	if (ret)
		return ret;
	channel_hold(ch);
	channel_lock(ch);
	for (;;) {
		balance_check(&ch->balance);
		now = clock_ns();
		if (ch->state != state)
			ret = ch->state;
		else if (now >= until)
			ret = fail(ETIME, "the channel is %s all the time",
				   mrpc_channel_state_name(state));
		if (ret || ch->state != state)
			break;
		look = ch->state == MRPC_CHANNEL_READY ? now + LOOK_NS : FOR_EVER;
		ret = waiters_sleep(&ch->all.waiters, look < until ? look : until);
		if (ret == -EINTR) {
			fail(EINTR, "interrupted by a signal");
			break;
		}
		ret = 0;
	}
	channel_unlock(ch);
	channel_drop(ch);
	return ret;
}

int mrpc_channel_why(struct mrpc_conn *channel, char *buf, size_t size)
{
	struct channel *ch = channel->channel;
	int err = channel_check(channel);
	const char *why;

	if (err)
		return err;
	channel_lock(ch);
	why = balance_why(&ch->balance);
	snprintf(buf, size, "%s", ch->watch && ch->watch->why[0] ? ch->watch->why : why);
	channel_unlock(ch);
	return 0;
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
