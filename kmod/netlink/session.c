// SPDX-License-Identifier: GPL-2.0
/*
 * Writes objects as netlink attributes. Values are read at the moment, without stopping any thread:
 * two numbers of one message can be some calls apart.
 */
#include <linux/in6.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/socket.h>
#include <linux/tls.h>
#include <linux/un.h>
#include <net/net_namespace.h>
#include <linux/user_namespace.h>
#include <net/netlink.h>

#include "core/conn.h"
#include "core/listener.h"
#include "core/qp.h"
#include "core/schema.h"
#include "core/session.h"
#include "exec/stall.h"
#include "group/member.h"
#include "lib/ds/claim.h"
#include "lib/ds/ring.h"
#include "lib/message/schema.h"
#include "netlink/engine.h"
#include "netlink/netlink.h"
#include "netlink/session.h"
#include "replica/link.h"

void *mrpc_nl_begin(struct sk_buff *skb, const struct genl_info *info)
{
	bool dump = info->nlhdr && (info->nlhdr->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;

	return __genlmsg_iput(skb, info, dump ? NLM_F_MULTI : 0);
}

int mrpc_nl_end(struct sk_buff *skb, void *hdr, int err)
{
	if (err) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* An address that is not known (yet), or has no name, is left out. */
static int mrpc_nl_put_addr(struct sk_buff *skb, int attr, const struct sockaddr_storage *ss)
{
	const struct sockaddr_in6 *in6 = (const void *)ss;
	const struct sockaddr_in *in = (const void *)ss;
	const struct sockaddr_un *un = (const void *)ss;
	u16 family = READ_ONCE(ss->ss_family);
	size_t len = sizeof(un->sun_path);
	struct nlattr *nest;
	int err = 0;

	while (family == AF_UNIX && len > 1 && !un->sun_path[len - 1])
		len--;
	if (family == AF_UNSPEC || len == 1)
		return 0;
	nest = nla_nest_start(skb, attr);
	if (!nest || nla_put_u16(skb, MRPC_A_ADDR_FAMILY, family))
		return -EMSGSIZE;
	switch (family) {
	case AF_INET:
		err = nla_put_in_addr(skb, MRPC_A_ADDR_ADDR4, in->sin_addr.s_addr) ||
		      nla_put_u16(skb, MRPC_A_ADDR_PORT, ntohs(in->sin_port));
		break;
	case AF_INET6:
		err = nla_put_in6_addr(skb, MRPC_A_ADDR_ADDR6, &in6->sin6_addr) ||
		      nla_put_u16(skb, MRPC_A_ADDR_PORT, ntohs(in6->sin6_port));
		if (!err && in6->sin6_scope_id)
			err = nla_put_u32(skb, MRPC_A_ADDR_SCOPE_ID, in6->sin6_scope_id);
		break;
	case AF_UNIX:
		err = nla_put(skb, MRPC_A_ADDR_NAME, len - 1, un->sun_path + 1);
		break;
	}
	nla_nest_end(skb, nest);
	return err ? -EMSGSIZE : 0;
}

/* -- sessions and queue pairs ---------------------------------------------- */

static int mrpc_nl_put_heap(struct sk_buff *skb, int attr, const struct mrpc_heap *heap)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest ||
	    nla_put_u32(skb, MRPC_A_HEAP_REGIONS, READ_ONCE(heap->nr)) ||
	    nla_put_uint(skb, MRPC_A_HEAP_BYTES, READ_ONCE(heap->len)) ||
	    nla_put_uint(skb, MRPC_A_HEAP_LIMIT, heap->limit))
		return -EMSGSIZE;
	if (heap->kind == MRPC_REGION_RECV &&
	    (nla_put_uint(skb, MRPC_A_HEAP_USED, READ_ONCE(heap->used)) ||
	     nla_put_uint(skb, MRPC_A_HEAP_FAILED, READ_ONCE(heap->failed))))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * mrpc_nl_pid() - a process id, as the readers of a message see it
 * @net: the network namespace that the message is about
 * @info: of the message
 * @pid: as in the initial pid namespace
 *
 * An answer is translated for the process that asks. A notification has many readers: where
 * the initial user namespace owns @net, they see the host's ids; elsewhere they see none.
 *
 * Return: the id, or 0: the readers have none for it.
 */
u32 mrpc_nl_pid(const struct net *net, const struct genl_info *info, pid_t pid)
{
	u32 nr;

	if (!info->nlhdr)
		return net->user_ns == &init_user_ns ? pid : 0;
	rcu_read_lock();
	nr = pid_vnr(find_pid_ns(pid, &init_pid_ns));
	rcu_read_unlock();
	return nr;
}

static void mrpc_nl_count(struct mrpc_session *session, u32 *conns, u32 *listeners)
{
	unsigned long id;
	void *entry;

	*conns = 0;
	*listeners = 0;
	rcu_read_lock();
	xa_for_each(&session->conns, id, entry)
		++*(xa_pointer_tag(entry) ? listeners : conns);
	rcu_read_unlock();
}

int mrpc_nl_fill_session(struct sk_buff *skb, const struct genl_info *info,
			 struct mrpc_session *session)
{
	void *hdr = mrpc_nl_begin(skb, info);
	u32 conns, listeners, pid;
	int err;

	if (!hdr)
		return -EMSGSIZE;
	pid = mrpc_nl_pid(session->net, info, session->pid);
	err = nla_put_u32(skb, MRPC_A_SESSION_ID, session->id) ||
	      nla_put_string(skb, MRPC_A_SESSION_NAME, session->name) ||
	      (pid && nla_put_u32(skb, MRPC_A_SESSION_PID, pid)) ||
	      nla_put_u32(skb, MRPC_A_SESSION_UID,
			  from_kuid_munged(session->net->user_ns, session->uid)) ||
	      nla_put_uint(skb, MRPC_A_SESSION_AGE, ktime_get_ns() - session->opened);
	/* Pairs with the release in mrpc_ioc_setup(). */
	if (err || !smp_load_acquire(&session->setup))
		return mrpc_nl_end(skb, hdr, err);
	mrpc_nl_count(session, &conns, &listeners);
	err = mrpc_nl_put_heap(skb, MRPC_A_SESSION_SEND, &session->send) ||
	      mrpc_nl_put_heap(skb, MRPC_A_SESSION_RECV, &session->recv) ||
	      nla_put_u32(skb, MRPC_A_SESSION_QPS, READ_ONCE(session->nr_qps)) ||
	      nla_put_u32(skb, MRPC_A_SESSION_SCHEMAS, READ_ONCE(session->nr_schemas)) ||
	      nla_put_u32(skb, MRPC_A_SESSION_CONNS, conns) ||
	      nla_put_u32(skb, MRPC_A_SESSION_LISTENERS, listeners) ||
	      nla_put_u32(skb, MRPC_A_SESSION_PENDING, READ_ONCE(session->nr_pending));
	return mrpc_nl_end(skb, hdr, err);
}

/* The application's tail is whatever the application wrote. */
static u32 mrpc_nl_sq_used(const struct mrpc_sq *sq)
{
	u32 used = READ_ONCE(sq->ring->tail) - READ_ONCE(sq->head);

	return min(used, sq->mask + 1);
}

int mrpc_nl_fill_qp(struct sk_buff *skb, const struct genl_info *info, struct mrpc_qp *qp)
{
	void *hdr = mrpc_nl_begin(skb, info);
	u32 cq_used, reserved;
	u64 completed;
	int err;

	if (!hdr)
		return -EMSGSIZE;
	spin_lock_bh(&qp->lock);
	cq_used = mrpc_cq_used(&qp->cq);
	reserved = mrpc_cq_reserved(&qp->cq);
	completed = qp->completed;
	spin_unlock_bh(&qp->lock);
	err = nla_put_u32(skb, MRPC_A_QP_SESSION, qp->session->id) ||
	      nla_put_u32(skb, MRPC_A_QP_ID, qp->id) ||
	      nla_put_u32(skb, MRPC_A_QP_FLAGS, qp->flags) ||
	      nla_put_u32(skb, MRPC_A_QP_SQ_ENTRIES, qp->sq.mask + 1) ||
	      nla_put_u32(skb, MRPC_A_QP_SQ_USED, mrpc_nl_sq_used(&qp->sq)) ||
	      nla_put_u32(skb, MRPC_A_QP_CQ_ENTRIES, qp->cq.mask + 1) ||
	      nla_put_u32(skb, MRPC_A_QP_CQ_USED, cq_used) ||
	      nla_put_u32(skb, MRPC_A_QP_CQ_RESERVED, reserved) ||
	      nla_put_u32(skb, MRPC_A_QP_SERVING, atomic_read(&qp->served)) ||
	      nla_put_uint(skb, MRPC_A_QP_SUBMITTED, READ_ONCE(qp->submitted)) ||
	      nla_put_uint(skb, MRPC_A_QP_COMPLETED, completed);
	return mrpc_nl_end(skb, hdr, err);
}

/* -- connections and datapaths --------------------------------------------- */

/* What conn->lock protects, taken at one moment. */
struct mrpc_nl_conn {
	u8 state;
	u16 status;
	const char *why;
	u32 limit;
	u32 active;
	u32 zombies;
	u32 deadlines;
	u64 timer_at;
	bool up;		/* the link and what hangs on it are complete */
	u64 backlog;		/* of the transport, valid if @up */
	u32 version;		/* of the transport */
	struct mrpc_conn_stats stats;
};

static void mrpc_nl_read_stats(struct mrpc_conn_stats *to, const struct mrpc_conn_stats *from)
{
	to->calls = READ_ONCE(from->calls);
	to->done = READ_ONCE(from->done);
	to->failed = READ_ONCE(from->failed);
	to->tx_bytes = READ_ONCE(from->tx_bytes);
	to->tx_frames = READ_ONCE(from->tx_frames);
	to->rx_bytes = READ_ONCE(from->rx_bytes);
	to->rx_frames = READ_ONCE(from->rx_frames);
	to->rx_refused = READ_ONCE(from->rx_refused);
	to->heap_stalls = READ_ONCE(from->heap_stalls);
	to->tx_summed = READ_ONCE(from->tx_summed);
	to->rx_summed = READ_ONCE(from->rx_summed);
}

static void mrpc_nl_read_conn(struct mrpc_conn *conn, struct mrpc_nl_conn *c)
{
	memset(c, 0, sizeof(*c));
	spin_lock(&conn->lock);
	c->state = conn->state;
	c->status = conn->close_status;
	c->why = conn->why;
	c->limit = conn->link.accepted ? conn->calls.server.limit : conn->calls.client.limit;
	c->active = conn->link.accepted ? conn->calls.server.active : conn->calls.client.active;
	c->zombies = conn->calls.client.zombies;
	c->deadlines = conn->calls.deadlines.nr;
	c->timer_at = conn->exec.timer_at;
	mrpc_nl_read_stats(&c->stats, &conn->stats);
	/* Before a link is freed the state becomes CLOSED, under this lock; and
	 * the handshake that made it READY went over a complete link.
	 */
	c->version = conn->link.ops->version;
	c->up = c->state == MRPC_CONN_READY || c->state == MRPC_CONN_DRAINING;
	if (c->up && conn->link.ops->backlog)
		c->backlog = conn->link.ops->backlog(&conn->link);
	spin_unlock(&conn->lock);
}

static int mrpc_nl_put_stats(struct sk_buff *skb, int attr, const struct mrpc_conn_stats *stats)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest ||
	    nla_put_uint(skb, MRPC_A_CONN_STATS_CALLS, stats->calls) ||
	    nla_put_uint(skb, MRPC_A_CONN_STATS_DONE, stats->done) ||
	    nla_put_uint(skb, MRPC_A_CONN_STATS_FAILED, stats->failed) ||
	    nla_put_uint(skb, MRPC_A_CONN_STATS_TX_FRAMES, stats->tx_frames) ||
	    nla_put_uint(skb, MRPC_A_CONN_STATS_TX_BYTES, stats->tx_bytes) ||
	    nla_put_uint(skb, MRPC_A_CONN_STATS_RX_FRAMES, stats->rx_frames) ||
	    nla_put_uint(skb, MRPC_A_CONN_STATS_RX_BYTES, stats->rx_bytes) ||
	    nla_put_uint(skb, MRPC_A_CONN_STATS_RX_REFUSED, stats->rx_refused) ||
	    nla_put_uint(skb, MRPC_A_CONN_STATS_HEAP_STALLS, stats->heap_stalls) ||
	    nla_put_uint(skb, MRPC_A_CONN_STATS_TX_CHECKSUMS, stats->tx_summed) ||
	    nla_put_uint(skb, MRPC_A_CONN_STATS_RX_CHECKSUMS, stats->rx_summed))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static const char *mrpc_nl_service_name(const struct mrpc_service *svc)
{
	return mrpc_schema_service(svc->schema->plan);
}

static int mrpc_nl_put_services(struct sk_buff *skb, const struct mrpc_conn_services *s)
{
	struct nlattr *nest;
	u32 i;

	for (i = 0; i < s->nr; i++) {
		const struct mrpc_service *svc = &s->list[i];

		nest = nla_nest_start(skb, MRPC_A_CONN_SERVICE);
		if (!nest ||
		    nla_put_string(skb, MRPC_A_SERVICE_NAME, mrpc_nl_service_name(svc)) ||
		    nla_put_u32(skb, MRPC_A_SERVICE_SCHEMA, svc->schema->id) ||
		    nla_put_uint(skb, MRPC_A_SERVICE_CALLS, READ_ONCE(svc->calls)))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static u32 mrpc_nl_tls(u16 cipher)
{
	switch (cipher) {
	case TLS_CIPHER_AES_GCM_128:
		return MRPC_TLS_CIPHER_AES_128_GCM;
	case TLS_CIPHER_AES_GCM_256:
		return MRPC_TLS_CIPHER_AES_256_GCM;
	case TLS_CIPHER_CHACHA20_POLY1305:
		return MRPC_TLS_CIPHER_CHACHA20_POLY1305;
	default:
		return MRPC_TLS_CIPHER_OTHER;
	}
}

/* What does not change once the connection is in its session's table. */
static int mrpc_nl_put_conn_fixed(struct sk_buff *skb, const struct mrpc_conn *conn)
{
	return nla_put_u32(skb, MRPC_A_CONN_SESSION, conn->session->id) ||
	       nla_put_u32(skb, MRPC_A_CONN_ID, conn->id) ||
	       nla_put_u32(skb, MRPC_A_CONN_DATAPATH, conn->dp_id) ||
	       nla_put_string(skb, MRPC_A_CONN_TRANSPORT, conn->link.home->name) ||
	       (conn->link.accepted &&
		nla_put_u32(skb, MRPC_A_CONN_LISTENER, conn->listener->id)) ||
	       (conn->replica &&
		nla_put_u32(skb, MRPC_A_CONN_PARENT, mrpc_replica_parent(conn))) ||
	       (conn->link.identity &&
		nla_put_string(skb, MRPC_A_CONN_IDENTITY, conn->link.identity)) ||
	       (conn->link.tls_cipher &&
		nla_put_u32(skb, MRPC_A_CONN_TLS, mrpc_nl_tls(conn->link.tls_cipher))) ||
	       nla_put_uint(skb, MRPC_A_CONN_KEEPALIVE, conn->link.keepalive) ||
	       nla_put_u32(skb, MRPC_A_CONN_MAX_MESSAGE, conn->link.max_message) ||
	       mrpc_nl_put_services(skb, &conn->services);
}

/* The number of a group can be given again when the connection has ended. */
static int mrpc_nl_put_conn_group(struct sk_buff *skb, struct mrpc_conn *conn, u8 state)
{
	/* Pairs with the release in mrpc_member_set_link(). */
	const struct mrpc_member *m = smp_load_acquire(&conn->member);

	if (!m || state == MRPC_CONN_CLOSED)
		return 0;
	return nla_put_u32(skb, MRPC_A_CONN_GROUP, m->id) ||
	       nla_put_u32(skb, MRPC_A_CONN_RANK, conn->member_rank);
}

int mrpc_nl_fill_conn(struct sk_buff *skb, const struct genl_info *info,
		      struct mrpc_conn *conn)
{
	u64 idle = mrpc_link_silent(&conn->link);
	void *hdr = mrpc_nl_begin(skb, info);
	struct mrpc_nl_conn c;
	int err;

	if (!hdr)
		return -EMSGSIZE;
	mrpc_nl_read_conn(conn, &c);
	err = mrpc_nl_put_conn_fixed(skb, conn) ||
	      nla_put_u32(skb, MRPC_A_CONN_STATE, c.state) ||
	      nla_put_u32(skb, MRPC_A_CONN_TRANSPORT_VERSION, c.version) ||
	      nla_put_uint(skb, MRPC_A_CONN_AGE, ktime_get_ns() - conn->opened) ||
	      nla_put_uint(skb, MRPC_A_CONN_IDLE, idle) ||
	      nla_put_u32(skb, MRPC_A_CONN_CALLS_ACTIVE, c.active) ||
	      nla_put_u32(skb, MRPC_A_CONN_CALLS_LIMIT, c.limit) ||
	      mrpc_nl_put_stats(skb, MRPC_A_CONN_STATS, &c.stats) ||
	      mrpc_nl_put_conn_group(skb, conn, c.state);
	/* Addresses are written before the handshake is complete. */
	if (!err && c.state != MRPC_CONN_CONNECTING)
		err = mrpc_nl_put_addr(skb, MRPC_A_CONN_LOCAL, &conn->link.local) ||
		      mrpc_nl_put_addr(skb, MRPC_A_CONN_PEER, &conn->link.peer) ||
		      nla_put_u32(skb, MRPC_A_CONN_PEER_MAX_MESSAGE,
				  conn->services.peer_max_message);
	if (!err && c.state == MRPC_CONN_CLOSED)
		err = nla_put_u32(skb, MRPC_A_CONN_STATUS, c.status);
	if (!err && c.why)
		err = nla_put_string(skb, MRPC_A_CONN_REASON, c.why);
	return mrpc_nl_end(skb, hdr, err);
}

static u32 mrpc_nl_claim_flags(const struct mrpc_claim *claim)
{
	int state = atomic_read(&claim->state);

	return (state & MRPC_CLAIM_RUN ? MRPC_DIR_RUNNING : 0) |
	       (state & MRPC_CLAIM_MISSED ? MRPC_DIR_MISSED : 0) |
	       (state & MRPC_CLAIM_DISABLE ? MRPC_DIR_DISABLED : 0);
}

static int mrpc_nl_put_tx(struct sk_buff *skb, struct mrpc_conn *conn,
			  const struct mrpc_nl_conn *c)
{
	u32 flags = mrpc_nl_claim_flags(&conn->exec.tx);
	struct nlattr *nest;

	if (test_bit(MRPC_CONN_TX_READY, &conn->flags))
		flags |= MRPC_DIR_READY;
	nest = nla_nest_start(skb, MRPC_A_DATAPATH_TX);
	if (!nest ||
	    nla_put_u32(skb, MRPC_A_DIRECTION_FLAGS, flags) ||
	    nla_put_u32(skb, MRPC_A_DIRECTION_QUEUED, atomic_read(&conn->dp.tx_queued)) ||
	    (c->up && nla_put_uint(skb, MRPC_A_DIRECTION_BACKLOG, c->backlog)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int mrpc_nl_put_rx(struct sk_buff *skb, struct mrpc_conn *conn)
{
	const struct mrpc_sink *sink = &conn->receive.sink;
	u32 flags = mrpc_nl_claim_flags(&conn->exec.rx);
	struct nlattr *nest;

	if (test_bit(MRPC_CONN_RX_READY, &conn->flags))
		flags |= MRPC_DIR_READY;
	if (mrpc_stalled(conn))
		flags |= MRPC_DIR_STALLED;
	if (test_bit(MRPC_CONN_TX_FULL, &conn->flags))
		flags |= MRPC_DIR_BLOCKED;
	nest = nla_nest_start(skb, MRPC_A_DATAPATH_RX);
	if (!nest ||
	    nla_put_u32(skb, MRPC_A_DIRECTION_FLAGS, flags) ||
	    nla_put_u32(skb, MRPC_A_DIRECTION_PARTIAL,
			READ_ONCE(sink->active) ? READ_ONCE(sink->left) : 0))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int mrpc_nl_put_table(struct sk_buff *skb, const struct mrpc_conn *conn,
			     const struct mrpc_nl_conn *c)
{
	struct nlattr *nest = nla_nest_start(skb, MRPC_A_DATAPATH_CALLS);

	if (!nest ||
	    nla_put_u32(skb, MRPC_A_CALL_TABLE_LIMIT, c->limit) ||
	    nla_put_u32(skb, MRPC_A_CALL_TABLE_ACTIVE, c->active) ||
	    (!conn->link.accepted && nla_put_u32(skb, MRPC_A_CALL_TABLE_ZOMBIES, c->zombies)) ||
	    nla_put_u32(skb, MRPC_A_CALL_TABLE_DEADLINES, c->deadlines))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int mrpc_nl_fill_datapath(struct sk_buff *skb, const struct genl_info *info,
			  struct mrpc_conn *conn)
{
	void *hdr = mrpc_nl_begin(skb, info);
	struct mrpc_nl_conn c;
	u64 now;
	int err;

	if (!hdr)
		return -EMSGSIZE;
	mrpc_nl_read_conn(conn, &c);
	now = ktime_get_ns();
	err = nla_put_u32(skb, MRPC_A_DATAPATH_SESSION, conn->session->id) ||
	      nla_put_u32(skb, MRPC_A_DATAPATH_CONN, conn->id) ||
	      nla_put_u32(skb, MRPC_A_DATAPATH_ID, conn->dp_id) ||
	      nla_put_string(skb, MRPC_A_DATAPATH_TRANSPORT, conn->link.home->name) ||
	      nla_put_u32(skb, MRPC_A_DATAPATH_STATE, c.state) ||
	      nla_put_u32(skb, MRPC_A_DATAPATH_TRANSPORT_VERSION, c.version) ||
	      mrpc_nl_put_tx(skb, conn, &c) ||
	      mrpc_nl_put_rx(skb, conn) ||
	      mrpc_nl_put_table(skb, conn, &c) ||
	      mrpc_nl_put_stats(skb, MRPC_A_DATAPATH_STATS, &c.stats);
	if (!err && c.timer_at != U64_MAX)
		err = nla_put_uint(skb, MRPC_A_DATAPATH_TIMER,
				   c.timer_at > now ? c.timer_at - now : 0);
	if (!err)
		err = mrpc_nl_put_stages(skb, conn);
	return mrpc_nl_end(skb, hdr, err);
}

/* -- services -------------------------------------------------------------- */

static int mrpc_nl_put_service(struct sk_buff *skb, const struct mrpc_service *svc,
			       const char *transport, u64 calls)
{
	return nla_put_string(skb, MRPC_A_SERVICE_NAME, mrpc_nl_service_name(svc)) ||
	       nla_put_u32(skb, MRPC_A_SERVICE_SCHEMA, svc->schema->id) ||
	       nla_put(skb, MRPC_A_SERVICE_HASH, MRPC_HASH_LEN, svc->schema->hash) ||
	       nla_put_u32(skb, MRPC_A_SERVICE_METHODS, svc->schema->plan->nr_methods) ||
	       nla_put_string(skb, MRPC_A_SERVICE_TRANSPORT, transport) ||
	       nla_put_uint(skb, MRPC_A_SERVICE_CALLS, calls);
}

/* The listener knows of closed connections, the others are asked. */
static u64 mrpc_nl_served_calls(struct mrpc_listener *l, u32 index)
{
	u64 calls = READ_ONCE(l->services[index].calls);
	struct mrpc_conn *conn;
	unsigned long id;
	void *entry;

	rcu_read_lock();
	xa_for_each(&l->session->conns, id, entry) {
		conn = entry;
		if (xa_pointer_tag(entry) || conn->listener != l ||
		    !kref_get_unless_zero(&conn->ref))
			continue;
		calls += READ_ONCE(conn->services.list[index].calls);
		mrpc_conn_put(conn);
	}
	rcu_read_unlock();
	return calls;
}

/**
 * mrpc_nl_fill_served() - a service at a listener
 * @skb: where to
 * @info: of the request or notification
 * @l: the listener
 * @index: of the service
 *
 * Return: 0 or -EMSGSIZE.
 */
int mrpc_nl_fill_served(struct sk_buff *skb, const struct genl_info *info,
			struct mrpc_listener *l, u32 index)
{
	void *hdr = mrpc_nl_begin(skb, info);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_u32(skb, MRPC_A_SERVICE_SESSION, l->session->id) ||
	      nla_put_u32(skb, MRPC_A_SERVICE_LISTENER, l->id) ||
	      mrpc_nl_put_service(skb, &l->services[index], l->ops->name,
				  mrpc_nl_served_calls(l, index)) ||
	      mrpc_nl_put_addr(skb, MRPC_A_SERVICE_ADDR, &l->addr) ||
	      nla_put_uint(skb, MRPC_A_SERVICE_ACCEPTED, READ_ONCE(l->accepted)) ||
	      nla_put_u32(skb, MRPC_A_SERVICE_HANDSHAKES, READ_ONCE(l->pending));
	return mrpc_nl_end(skb, hdr, err);
}

/**
 * mrpc_nl_fill_called() - a service at a connection's client end
 * @skb: where to
 * @info: of the request
 * @conn: the connection
 * @index: of the service
 *
 * Return: 0 or -EMSGSIZE.
 */
int mrpc_nl_fill_called(struct sk_buff *skb, const struct genl_info *info,
			struct mrpc_conn *conn, u32 index)
{
	const struct mrpc_service *svc = &conn->services.list[index];
	void *hdr = mrpc_nl_begin(skb, info);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_u32(skb, MRPC_A_SERVICE_SESSION, conn->session->id) ||
	      nla_put_u32(skb, MRPC_A_SERVICE_CONN, conn->id) ||
	      mrpc_nl_put_service(skb, svc, conn->link.home->name, READ_ONCE(svc->calls)) ||
	      mrpc_nl_put_addr(skb, MRPC_A_SERVICE_ADDR, &conn->link.peer);
	return mrpc_nl_end(skb, hdr, err);
}

/* -- schemas --------------------------------------------------------------- */

int mrpc_nl_fill_schema(struct sk_buff *skb, const struct genl_info *info,
			const struct mrpc_nl_schema *schema)
{
	void *hdr = mrpc_nl_begin(skb, info);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_u32(skb, MRPC_A_SCHEMA_ID, schema->id) ||
	      nla_put(skb, MRPC_A_SCHEMA_HASH, MRPC_HASH_LEN, schema->hash) ||
	      nla_put_string(skb, MRPC_A_SCHEMA_SERVICE, schema->service) ||
	      nla_put_u32(skb, MRPC_A_SCHEMA_METHODS, schema->nr_methods) ||
	      nla_put_u32(skb, MRPC_A_SCHEMA_TYPES, schema->nr_types) ||
	      nla_put_u32(skb, MRPC_A_SCHEMA_FIELDS, schema->nr_fields) ||
	      nla_put_u32(skb, MRPC_A_SCHEMA_BYTES, schema->len) ||
	      nla_put_u32(skb, MRPC_A_SCHEMA_PLAN_BYTES, schema->size) ||
	      nla_put_u32(skb, MRPC_A_SCHEMA_SESSIONS, schema->sessions);
	/* What others do with it is the host's business. */
	if (!err && net_eq(genl_info_net(info), &init_net))
		err = nla_put_u32(skb, MRPC_A_SCHEMA_USERS, schema->users) ||
		      nla_put_uint(skb, MRPC_A_SCHEMA_BINDS, schema->binds) ||
		      nla_put_uint(skb, MRPC_A_SCHEMA_COMPILE_TIME, schema->compile_ns);
	return mrpc_nl_end(skb, hdr, err);
}

int mrpc_nl_fill_method(struct sk_buff *skb, const struct genl_info *info,
			const struct mrpc_schema *schema, u32 index)
{
	const struct mrpc_schema_plan *plan = schema->plan;
	const struct mrpc_method *method = &plan->methods[index];
	const struct mrpc_type *request = &plan->types[method->request];
	const struct mrpc_type *reply = &plan->types[method->reply];
	void *hdr = mrpc_nl_begin(skb, info);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_u32(skb, MRPC_A_METHOD_SCHEMA, schema->id) ||
	      nla_put_u32(skb, MRPC_A_METHOD_INDEX, index) ||
	      nla_put_string(skb, MRPC_A_METHOD_NAME, plan->names + method->name) ||
	      nla_put_string(skb, MRPC_A_METHOD_REQUEST, plan->names + request->name) ||
	      nla_put_u32(skb, MRPC_A_METHOD_REQUEST_SIZE, request->size) ||
	      nla_put_string(skb, MRPC_A_METHOD_REPLY, plan->names + reply->name) ||
	      nla_put_u32(skb, MRPC_A_METHOD_REPLY_SIZE, reply->size);
	return mrpc_nl_end(skb, hdr, err);
}
