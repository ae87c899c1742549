// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: creation, look-up, timers. How they end is conn/close.c's.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "core/schema.h"
#include "chain/chain.h"
#include "core/conn.h"
#include "change/link_version.h"
#include "core/notify.h"
#include "core/refusal.h"
#include "replica/replica.h"
#include "core/session.h"
#include "core/waiters.h"

#define MRPC_DEFAULT_MESSAGE	(64U << 20)
#define MRPC_DEFAULT_KEEPALIVE	(10 * NSEC_PER_SEC)
#define MRPC_DEFAULT_TIMEOUT	(10 * NSEC_PER_SEC)
#define MRPC_KEEPALIVE_MIN	(100 * NSEC_PER_MSEC)
#define MRPC_PROBE_QUEUE	16	/* no probes behind more than this */
#define MRPC_SLOW_GRACE		(10 * NSEC_PER_SEC)	/* for a message to arrive, and */
#define MRPC_SLOW_RATE		(64 << 10)		/* bytes a second beyond */

static atomic_t mrpc_next_dp = ATOMIC_INIT(0);

static void mrpc_conn_free_work(struct work_struct *work);

/**
 * mrpc_conn_keepalive_ns() - the keepalive interval of an ioctl's argument
 * @us: microseconds, 0 for the default
 *
 * Not so short that the clock's ticks look like silence.
 */
u64 mrpc_conn_keepalive_ns(u64 us)
{
	return max_t(u64, mrpc_us_or(us, MRPC_DEFAULT_KEEPALIVE), MRPC_KEEPALIVE_MIN);
}

/* Slots of a connection that has few calls at a time, or none. */
#define MRPC_CONN_SLOTS		4

/* Arrays for @nr calls. Return: 0 or -ENOMEM. */
static int mrpc_conn_arrays(const struct mrpc_conn *conn, u32 nr, void **slots,
			    struct mrpc_deadline ***heap)
{
	*slots = kvcalloc(nr, conn->accepted ? sizeof(struct mrpc_serve_slot) :
					       sizeof(struct mrpc_call_slot), GFP_KERNEL_ACCOUNT);
	*heap = kvmalloc_array(nr, sizeof(**heap), GFP_KERNEL_ACCOUNT);
	if (*slots && *heap)
		return 0;
	kvfree(*slots);
	kvfree(*heap);
	return -ENOMEM;
}

static int mrpc_conn_tables(struct mrpc_conn *conn)
{
	u32 limit = mrpc_max_calls(), nr = min(limit, MRPC_CONN_SLOTS);
	void *slots;

	if (mrpc_conn_arrays(conn, nr, &slots, &conn->deadlines.heap))
		return -ENOMEM;
	conn->deadlines.cap = nr;
	if (conn->accepted) {
		mrpc_serve_init(&conn->serves, slots, nr);
		conn->serves.limit = limit;
	} else {
		mrpc_call_init(&conn->calls, slots, nr);
		conn->calls.limit = limit;
	}
	return 0;
}

/**
 * mrpc_conn_grow() - make room in the tables for more calls
 * @conn: the connection
 * @need: slots, at most the limit
 *
 * Context: process; may sleep; the connection's lock is not held.
 * Return: 0 or -ENOMEM.
 */
int mrpc_conn_grow(struct mrpc_conn *conn, u32 need)
{
	u32 limit = conn->accepted ? conn->serves.limit : conn->calls.limit;
	u32 nr = min_t(u64, limit, roundup_pow_of_two((u64)need));
	struct mrpc_deadline **heap;
	void *slots;

	if (mrpc_conn_arrays(conn, nr, &slots, &heap))
		return -ENOMEM;
	spin_lock(&conn->lock);
	/* Somebody may have been faster. */
	if (nr > conn->deadlines.cap) {
		if (conn->accepted)
			slots = mrpc_serve_grow(&conn->serves, slots, nr);
		else
			slots = mrpc_call_grow(&conn->calls, slots, nr);
		heap = mrpc_deadlines_grow(&conn->deadlines, heap, nr);
	}
	spin_unlock(&conn->lock);
	kvfree(slots);
	kvfree(heap);
	return 0;
}

/**
 * mrpc_conn_new() - a connection without link
 * @session: owner
 * @ops: transport, whose module reference the connection takes over on success
 * @l: the listener that accepts it, or NULL
 *
 * Context: process; may sleep.
 * Return: the connection with one reference, or an ERR_PTR.
 */
struct mrpc_conn *mrpc_conn_new(struct mrpc_session *session,
				const struct mrpc_transport_ops *ops, struct mrpc_listener *l)
{
	struct mrpc_conn *conn;
	int err;

	err = mrpc_user_charge_conn(session->user);
	if (err)
		return ERR_PTR(err);
	conn = kzalloc(sizeof(*conn), GFP_KERNEL_ACCOUNT);
	if (!conn)
		goto err_charge;
	kref_init(&conn->ref);
	spin_lock_init(&conn->lock);
	mrpc_waiters_init(&conn->wait);
	INIT_WORK(&conn->close_work, mrpc_conn_close_work);
	INIT_WORK(&conn->change_work, mrpc_datapath_change_work);
	INIT_WORK(&conn->free_work, mrpc_conn_free_work);
	INIT_LIST_HEAD(&conn->replicas);
	mrpc_datapath_init(conn);
	conn->accepted = l;
	conn->listener_id = l ? l->id : 0;
	conn->state = MRPC_CONN_CONNECTING;
	conn->timer_at = U64_MAX;
	conn->opened = ktime_get_ns();
	conn->last_rx = get_jiffies_64();
	conn->dp_id = atomic_inc_return(&mrpc_next_dp);
	if (mrpc_conn_tables(conn))
		goto err_free;
	mrpc_session_get(session);
	conn->session = session;
	conn->home = ops;
	conn->ops = ops;
	conn->features.want = ops->features;
	__module_get(ops->owner);
	return conn;

err_free:
	kfree(conn);
err_charge:
	mrpc_user_uncharge_conn(session->user);
	return ERR_PTR(-ENOMEM);
}

static void mrpc_conn_free_work(struct work_struct *work)
{
	struct mrpc_conn *conn = container_of(work, struct mrpc_conn, free_work);
	struct mrpc_session *session = conn->session;

	if (rcu_access_pointer(session->recent) == conn)
		unrcu_pointer(cmpxchg(&session->recent, RCU_INITIALIZER(conn), NULL));
	/* A link that was never published; others end in the close work. */
	if (conn->link)
		conn->ops->release(conn);
	mrpc_transport_put(conn->ops);
	mrpc_transport_put(conn->home);
	mrpc_rx_end(conn);
	mrpc_services_put(conn->services, conn->nr_services);
	kvfree(conn->calls.slots);
	kvfree(conn->serves.slots);
	kvfree(conn->deadlines.heap);
	mrpc_user_uncharge_conn(session->user);
	if (conn->replica)
		mrpc_replica_free(conn);
	kfree_rcu(conn, rcu);
	mrpc_session_put(session);
}

static void mrpc_conn_release(struct kref *ref)
{
	struct mrpc_conn *conn = container_of(ref, struct mrpc_conn, ref);

	queue_work(mrpc_end_wq, &conn->free_work);
}

/**
 * mrpc_conn_put() - drop a reference
 * @conn: the connection
 *
 * Context: any but hard interrupt.
 */
void mrpc_conn_put(struct mrpc_conn *conn)
{
	kref_put(&conn->ref, mrpc_conn_release);
}

/**
 * mrpc_conn_publish() - a connection has its link: let it be found, and run
 * @conn: the connection, its id reserved; the table takes a reference
 *
 * Return: 0, or -ESHUTDOWN when the session is closing.
 */
int mrpc_conn_publish(struct mrpc_conn *conn)
{
	int err;

	mrpc_conn_get(conn);
	err = mrpc_session_publish(conn->session, conn->id, conn);
	if (err) {
		mrpc_conn_put(conn);
		return err;
	}
	mrpc_claim_enable(&conn->rx);
	mrpc_conn_start(conn);
	mrpc_datapath_kick(conn);
	return 0;
}

static struct mrpc_conn *mrpc_conn_load(struct mrpc_session *session, u32 id, bool links)
{
	struct mrpc_conn *conn;

	rcu_read_lock();
	conn = xa_load(&session->conns, id);
	if (conn && (xa_pointer_tag(conn) || (conn->replica && !links) ||
		     !kref_get_unless_zero(&conn->ref)))
		conn = NULL;
	rcu_read_unlock();
	return conn;
}

/* The same for who calls one connection again and again. */
static struct mrpc_conn *mrpc_conn_recent(struct mrpc_session *session, u32 id)
{
	struct mrpc_conn *conn;

	rcu_read_lock();
	conn = rcu_dereference(session->recent);
	if (conn && (conn->id != id || test_bit(MRPC_CONN_FORGOTTEN, &conn->flags) ||
		     !kref_get_unless_zero(&conn->ref)))
		conn = NULL;
	rcu_read_unlock();
	return conn;
}

/**
 * mrpc_conn_find() - look a connection up
 * @session: the session
 * @id: what the application says
 *
 * The links of replicas are not the application's.
 *
 * Return: the connection with a reference, or NULL.
 */
struct mrpc_conn *mrpc_conn_find(struct mrpc_session *session, u32 id)
{
	struct mrpc_conn *conn = mrpc_conn_recent(session, id);

	if (likely(conn))
		return conn;
	conn = mrpc_conn_load(session, id, false);
	if (conn)
		rcu_assign_pointer(session->recent, conn);
	return conn;
}

/**
 * mrpc_conn_find_any() - look a connection up for the operator
 * @session: the session
 * @id: what he says
 *
 * Return: the connection with a reference, or NULL.
 */
struct mrpc_conn *mrpc_conn_find_any(struct mrpc_session *session, u32 id)
{
	return mrpc_conn_load(session, id, true);
}

/**
 * mrpc_conn_next() - iterate over a session's connections
 * @session: the session
 * @id: start at this id; moved to the one found
 *
 * Return: the connection with a reference, or NULL at the end.
 */
struct mrpc_conn *mrpc_conn_next(struct mrpc_session *session, unsigned long *id)
{
	struct mrpc_conn *conn;

	rcu_read_lock();
	for (conn = xa_find(&session->conns, id, S32_MAX, XA_PRESENT); conn;
	     conn = xa_find_after(&session->conns, id, S32_MAX, XA_PRESENT)) {
		if (!xa_pointer_tag(conn) && kref_get_unless_zero(&conn->ref))
			break;
	}
	rcu_read_unlock();
	return conn;
}

/**
 * mrpc_conn_forget() - take a connection out of its session's table
 * @conn: the connection
 */
void mrpc_conn_forget(struct mrpc_conn *conn)
{
	if (xa_cmpxchg(&conn->session->conns, conn->id, conn, NULL, 0) != conn)
		return;
	set_bit(MRPC_CONN_FORGOTTEN, &conn->flags);
	mrpc_conn_put(conn);
}

/**
 * mrpc_services_get() - the services that an ioctl names
 * @session: the session
 * @args: names them
 * @services: out: array, to be given to mrpc_services_put()
 * @r: why not
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int mrpc_services_get(struct mrpc_session *session, const struct mrpc_connect *args,
		      struct mrpc_service **services, struct mrpc_refusal *r)
{
	struct mrpc_service *svc;
	u32 i, k;

	if (!args->nr_schemas || args->nr_schemas > MRPC_MAX_SERVICES)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "%u schemas, 1 to %u are allowed",
				   args->nr_schemas, MRPC_MAX_SERVICES);
	svc = kcalloc(args->nr_schemas, sizeof(*svc), GFP_KERNEL_ACCOUNT);
	if (!svc)
		return -ENOMEM;
	mutex_lock(&session->lock);
	for (i = 0; i < args->nr_schemas; i++) {
		u32 id = args->schemas[i];

		if (!id || id > session->nr_schemas)
			break;
		for (k = 0; k < i; k++)
			if (!strcmp(mrpc_schema_service(svc[k].schema->plan),
				    mrpc_schema_service(session->schemas[id - 1]->plan)))
				break;
		if (k < i)
			break;
		svc[i].schema = session->schemas[id - 1];
		mrpc_schema_get(svc[i].schema);
	}
	mutex_unlock(&session->lock);
	if (i == args->nr_schemas) {
		*services = svc;
		return 0;
	}
	mrpc_services_put(svc, i);
	return mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
			   "schemas[%u] = %u is not bound, or names a service twice", i,
			   args->schemas[i]);
}

void mrpc_services_put(struct mrpc_service *services, u32 nr)
{
	while (nr)
		mrpc_schema_put(services[--nr].schema);
	kfree(services);
}

/* -- timers --------------------------------------------------------------- */

/**
 * mrpc_conn_arm() - have mrpc_conn_timeout() run at a time, or earlier
 * @conn: the connection
 * @when: CLOCK_MONOTONIC, ns
 *
 * Nearly always finds the timer set for an earlier time and does nothing.
 */
void mrpc_conn_arm(struct mrpc_conn *conn, u64 when)
{
	if (when >= READ_ONCE(conn->timer_at))
		return;
	spin_lock(&conn->lock);
	if (when < conn->timer_at && conn->state != MRPC_CONN_CLOSED) {
		WRITE_ONCE(conn->timer_at, when);
		hrtimer_start(&conn->timer, ns_to_ktime(when), HRTIMER_MODE_ABS_SOFT);
	}
	spin_unlock(&conn->lock);
}

/* Take the first call whose deadline has passed out of its table. */
static struct mrpc_call *mrpc_conn_expired(struct mrpc_conn *conn, u64 now)
{
	struct mrpc_call *call = NULL;
	struct mrpc_deadline *d;

	spin_lock(&conn->lock);
	d = mrpc_deadlines_first(&conn->deadlines);
	if (d && d->when <= now) {
		call = container_of(d, struct mrpc_call, deadline);
		mrpc_deadlines_del(&conn->deadlines, d);
		if (conn->accepted) {
			mrpc_serve_end(&conn->serves, call->id);
		} else {
			mrpc_call_abandon(&conn->calls, call->id);
			conn->stats.failed++;
		}
	}
	spin_unlock(&conn->lock);
	return call;
}

static void mrpc_conn_expire(struct mrpc_conn *conn, u64 now)
{
	struct mrpc_call *call;

	while ((call = mrpc_conn_expired(conn, now))) {
		if (conn->accepted) {
			mrpc_serve_abort(call, MRPC_DEADLINE_EXCEEDED,
					 "the deadline passed at the server");
			continue;
		}
		mrpc_conn_send_cancel(conn, call);
		mrpc_call_abort(call, MRPC_DEADLINE_EXCEEDED, "the deadline passed");
	}
}

/* The message being received comes more slowly than any honest one. */
static bool mrpc_conn_trickles(const struct mrpc_conn *conn, u64 now)
{
	u64 since = READ_ONCE(conn->rx_since);

	return since && now > since && now - since > MRPC_SLOW_GRACE +
	       div_u64((u64)READ_ONCE(conn->rx_len) * NSEC_PER_SEC, MRPC_SLOW_RATE);
}

/* A message that trickles in holds its block of the receive heap. */
static bool mrpc_conn_too_slow(struct mrpc_conn *conn, u64 now)
{
	const struct mrpc_transport_ops *ops;
	bool slow;

	/* No claim is held: the link may get another version, and who held the last one's module
	 * let go of it. But a module that is removed stays for a grace period.
	 */
	rcu_read_lock();
	ops = READ_ONCE(conn->ops);
	if (ops->slow)
		slow = ops->slow(conn, now, MRPC_SLOW_GRACE + conn->keepalive);
	else
		slow = mrpc_conn_trickles(conn, now);
	rcu_read_unlock();
	return slow;
}

/* Probe a silent peer. Return: when to look again. */
static u64 mrpc_conn_keepalive(struct mrpc_conn *conn, u64 now)
{
	u64 silent = mrpc_conn_silent(conn);

	if (READ_ONCE(conn->state) == MRPC_CONN_CONNECTING) {
		if (conn->accepted && now - conn->opened >= mrpc_listener_patience(conn))
			mrpc_conn_close(conn, MRPC_UNAVAILABLE, "no handshake in time", true);
		return now + NSEC_PER_SEC;
	}
	if (mrpc_conn_too_slow(conn, now)) {
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "a message took too long to arrive", true);
		return U64_MAX;
	}
	/* If we do not read, silence is not the peer's; but it must hear us, as
	 * we do not read its probes either.
	 */
	if (!list_empty_careful(&conn->stalled) || test_bit(MRPC_CONN_TX_FULL, &conn->flags) ||
	    test_bit(MRPC_CONN_RX_FULL, &conn->flags)) {
		if (atomic_read(&conn->tx_queued) < MRPC_PROBE_QUEUE)
			mrpc_conn_send_control(conn, MRPC_WIRE_PING, now);
		return now + conn->keepalive;
	}
	if (silent >= 3 * conn->keepalive) {
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the peer fell silent", true);
		return U64_MAX;
	}
	if (silent < conn->keepalive)
		return now + conn->keepalive - silent;
	mrpc_conn_send_control(conn, MRPC_WIRE_PING, now);
	return now + conn->keepalive;
}

/**
 * mrpc_conn_timeout() - the timer has fired: deadlines and keepalive
 * @conn: the connection
 *
 * Context: process; may sleep; no claim held.
 */
void mrpc_conn_timeout(struct mrpc_conn *conn)
{
	u64 now = ktime_get_ns(), next;
	struct mrpc_deadline *first;

	spin_lock(&conn->lock);
	WRITE_ONCE(conn->timer_at, U64_MAX);
	spin_unlock(&conn->lock);
	mrpc_conn_expire(conn, now);
	next = mrpc_conn_keepalive(conn, now);
	mrpc_chain_timeout(conn, now, &next);
	spin_lock(&conn->lock);
	first = mrpc_deadlines_first(&conn->deadlines);
	if (first)
		next = min(next, first->when);
	spin_unlock(&conn->lock);
	if (next != U64_MAX)
		mrpc_conn_arm(conn, next);
}

/**
 * mrpc_conn_start() - a link exists: keepalive and handshake limits apply
 * @conn: the connection
 */
void mrpc_conn_start(struct mrpc_conn *conn)
{
	mrpc_conn_arm(conn, ktime_get_ns() + min_t(u64, conn->keepalive, NSEC_PER_SEC));
}

/* -- for applications ---------------------------------------------------- */

/**
 * mrpc_conn_info() - MRPC_IOC_CONN_INFO
 * @session: the session
 * @info: names the connection; filled
 *
 * Return: 0 or -ENOENT.
 */
int mrpc_conn_info(struct mrpc_session *session, struct mrpc_conn_info *info)
{
	struct mrpc_conn *conn = mrpc_conn_find(session, info->conn);

	if (!conn)
		return -ENOENT;
	info->state = READ_ONCE(conn->state);
	info->accepted = conn->accepted;
	info->listener = conn->listener_id;
	info->calls = mrpc_conn_active(conn);
	memcpy(info->local, &conn->local, sizeof(info->local));
	memcpy(info->peer, &conn->peer, sizeof(info->peer));
	mrpc_conn_put(conn);
	return 0;
}

static bool mrpc_conn_is_up(void *ctx)
{
	struct mrpc_conn *conn = ctx;

	return READ_ONCE(conn->state) != MRPC_CONN_CONNECTING;
}

/* The link stands: shake hands. */
static int mrpc_conn_shake(struct mrpc_conn *conn, u64 until, struct mrpc_refusal *r)
{
	const char *why;
	bool closed;
	int err;

	r->status = MRPC_OK;
	conn->refusal = r;
	err = mrpc_conn_send_hello(conn);
	if (!err) {
		mrpc_datapath_tx(conn);
		err = mrpc_wait(conn->session, &conn->wait, mrpc_conn_is_up, conn, until);
	}
	spin_lock(&conn->lock);
	conn->refusal = NULL;
	closed = conn->state == MRPC_CONN_CLOSED;
	why = conn->why;
	spin_unlock(&conn->lock);
	if (err == -ETIME)
		mrpc_refuse(r, MRPC_DEADLINE_EXCEEDED, "the peer did not answer the handshake");
	if (err)
		return err == -ETIME ? -ETIMEDOUT : err;
	if (!closed)
		return 0;
	if (r->status == MRPC_OK) {
		if (test_bit(MRPC_CONN_REFUSED, &conn->flags)) {
			mrpc_refuse_link(r, NULL, -ECONNREFUSED);
			return -ECONNREFUSED;
		}
		mrpc_refuse(r, MRPC_UNAVAILABLE, "handshake: %s", why);
		return -ECONNRESET;
	}
	return -EPROTO;
}

/**
 * mrpc_conn_connect() - MRPC_IOC_CONNECT
 * @session: the session
 * @args: what to connect to; the id is filled
 * @r: why not
 *
 * Context: process; waits, interruptibly.
 * Return: 0 or a negative errno; -EPROTO: the peer refused, @r says why.
 */
int mrpc_conn_connect(struct mrpc_session *session, struct mrpc_connect *args,
		      struct mrpc_refusal *r)
{
	u64 until = ktime_get_ns() + mrpc_us_or(args->timeout_us, MRPC_DEFAULT_TIMEOUT);
	const struct mrpc_transport_ops *ops;
	const char *why = NULL;
	struct mrpc_conn *conn;
	u64 now;
	int err;

	ops = mrpc_transport_get(args->transport);
	if (!ops) {
		mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "there is no transport '%s'", args->transport);
		return -EPROTONOSUPPORT;
	}
	err = mrpc_session_here(session, r);
	if (err) {
		mrpc_transport_put(ops);
		return err;
	}
	conn = mrpc_conn_new(session, ops, NULL);
	if (IS_ERR(conn)) {
		mrpc_transport_put(ops);
		if (PTR_ERR(conn) == -EDQUOT)
			mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "this user has too many connections");
		return PTR_ERR(conn);
	}
	conn->max_message = min(args->max_message ?: MRPC_DEFAULT_MESSAGE, MRPC_MAX_MESSAGE);
	conn->keepalive = mrpc_conn_keepalive_ns(args->keepalive_us);
	err = mrpc_services_get(session, args, &conn->services, r);
	if (err)
		goto out;
	conn->nr_services = args->nr_schemas;
	err = mrpc_session_reserve(session, &conn->id);
	if (err)
		goto out;
	now = ktime_get_ns();
	err = -ETIMEDOUT;
	if (now < until)
		err = ops->connect(conn, args->addr, args->addr_len, until - now, &why);
	if (err) {
		mrpc_session_unreserve(session, conn->id);
		mrpc_refuse_link(r, why, err);
		goto out;
	}
	mrpc_link_begin(conn);
	err = mrpc_conn_publish(conn);
	if (err)
		goto close;
	err = mrpc_conn_shake(conn, until, r);
	if (err)
		goto close;
	args->id = conn->id;
	mrpc_notify_conn(conn, MRPC_EVENT_CONN_OPEN);
	mrpc_conn_put(conn);
	return 0;
close:
	mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the handshake failed", true);
	mrpc_conn_forget(conn);
out:
	mrpc_conn_put(conn);
	return err;
}
