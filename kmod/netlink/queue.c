// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: queues of datapaths: showing their content, and pausing them.
 *
 * A queue belongs to the owner of its direction's claim. So a look into it stops the datapath, for
 * as long as it takes to copy the data into an array. Meanwhile nothing is allocated, and no
 * message is built. A datapath with empty queues is not stopped.
 */
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "chain/chain.h"
#include "core/conn.h"
#include "core/net.h"
#include "core/placement.h"
#include "core/rpc.h"
#include "core/schema.h"
#include "core/session.h"
#include "exec/pause.h"
#include "lib/message/schema.h"
#include "lib/message/wire.h"
#include "netlink/dump.h"
#include "netlink/engine.h"
#include "netlink/msg.h"
#include "netlink/netlink.h"
#include "netlink/queue.h"
#include "netlink/session.h"

const struct nla_policy mrpc_nl_queue_policy[] = {
	[MRPC_A_QUEUE_SESSION] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_QUEUE_DATAPATH] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_QUEUE_ENGINE] = { .type = NLA_NUL_STRING },
	[MRPC_A_QUEUE_DIR] = NLA_POLICY_MAX(NLA_U32, MRPC_QUEUE_DIR_RX),
	[MRPC_A_QUEUE_PAUSED] = NLA_POLICY_MAX(NLA_U8, 1),
};

const struct nla_policy mrpc_nl_rpc_policy[] = {
	[MRPC_A_RPC_DATAPATH] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_RPC_ENGINE] = { .type = NLA_NUL_STRING },
	[MRPC_A_RPC_DIR] = NLA_POLICY_MAX(NLA_U32, MRPC_QUEUE_DIR_RX),
};

/*
 * Connections that are being made, or have ended, have no datapath that could be paused. Neither
 * have links of replicas: their calls are paused where they were made.
 */
static bool mrpc_nl_has_datapath(struct mrpc_conn *conn)
{
	return !conn->replica && !list_empty_careful(&conn->dp.in_net);
}

static u64 mrpc_nl_rpc_size(const struct mrpc_rpc *rpc)
{
	return sizeof(struct mrpc_wire_hdr) + mrpc_frame_head(&rpc->frame) + rpc->frame.msg.bytes;
}

/* The instance of a placement on a datapath, or NULL. */
struct mrpc_engine *mrpc_nl_engine_of(const struct mrpc_chain *chain, const char *name)
{
	u32 i;

	for (i = 0; chain && i < chain->nr; i++)
		if (!strcmp(chain->engines[i]->placement->name, name))
			return chain->engines[i];
	return NULL;
}

/* -- queues ------------------------------------------------------------------ */

struct mrpc_nl_queue {
	char engine[MRPC_PLACEMENT_NAME];	/* "": behind the engines */
	u8 dir;
	bool paused;
	u32 depth;
	u32 kept;
	u64 bytes;
	u64 born;
};

/* Two for each engine, and two behind them. */
#define MRPC_NL_QUEUES	(MRPC_DIRS * (MRPC_PLACEMENTS_MAX + 1))

struct mrpc_nl_queues {
	u32 nr;
	struct mrpc_nl_queue q[MRPC_NL_QUEUES];
};

static void mrpc_nl_note_rpc(struct mrpc_nl_queue *q, const struct mrpc_rpc *rpc)
{
	q->bytes += mrpc_nl_rpc_size(rpc);
	if (rpc->born && (!q->born || rpc->born < q->born))
		q->born = rpc->born;
}

static void mrpc_nl_note_list(struct mrpc_nl_queue *q, const struct mrpc_queue *queue)
{
	const struct mrpc_rpc *rpc;

	list_for_each_entry(rpc, &queue->list, list)
		mrpc_nl_note_rpc(q, rpc);
}

/* @held: the caller holds both claims; otherwise it does not look into the queues. */
static void mrpc_nl_note_engine(struct mrpc_nl_queues *all, const struct mrpc_engine *e,
				enum mrpc_direction dir, bool held)
{
	struct mrpc_nl_queue *q = &all->q[all->nr++];

	strscpy(q->engine, e->placement->name, sizeof(q->engine));
	q->dir = dir;
	q->paused = READ_ONCE(e->paused[dir]);
	q->depth = READ_ONCE(e->in[dir].len);
	q->kept = READ_ONCE(e->kept[dir]);
	if (held)
		mrpc_nl_note_list(q, &e->in[dir]);
}

/* The message being received, if it is not being dropped; both claims are held. */
static const struct mrpc_rpc *mrpc_nl_receiving(const struct mrpc_conn *conn)
{
	const struct mrpc_rx *rx = conn->receive.sink.rx;

	return rx && !rx->refused ? &rx->rpc : NULL;
}

/* Notes what is behind the engines: rpcs that wait for the link, and the one being received. */
static void mrpc_nl_note_link(struct mrpc_nl_queues *all, struct mrpc_conn *conn, bool held)
{
	struct mrpc_nl_queue *tx = &all->q[all->nr++], *rx = &all->q[all->nr++];

	tx->dir = MRPC_TX;
	tx->depth = READ_ONCE(conn->dp.path[MRPC_TX].out.len);
	rx->dir = MRPC_RX;
	rx->depth = !!READ_ONCE(conn->receive.sink.rx);
	if (!held)
		return;
	mrpc_nl_note_list(tx, &conn->dp.path[MRPC_TX].out);
	rx->depth = !!mrpc_nl_receiving(conn);
	if (rx->depth)
		mrpc_nl_note_rpc(rx, mrpc_nl_receiving(conn));
}

/* Notes the queues in the order in which rpcs pass them. */
static void mrpc_nl_note_queues(struct mrpc_nl_queues *all, struct mrpc_conn *conn,
				const struct mrpc_chain *chain, bool held)
{
	u32 i;

	memset(all, 0, sizeof(*all));
	for (i = 0; chain && i < chain->nr; i++)
		if (mrpc_engine_stands(chain->engines[i], MRPC_TX))
			mrpc_nl_note_engine(all, chain->engines[i], MRPC_TX, held);
	mrpc_nl_note_link(all, conn, held);
	for (i = chain ? chain->nr : 0; i--; )
		if (mrpc_engine_stands(chain->engines[i], MRPC_RX))
			mrpc_nl_note_engine(all, chain->engines[i], MRPC_RX, held);
}

/* Return: 0; -EINTR; -ESHUTDOWN: the datapath has ended. */
static int mrpc_nl_read_queues(struct mrpc_conn *conn, struct mrpc_nl_queues *all)
{
	u32 i, depth = 0;
	int err;

	rcu_read_lock();
	mrpc_nl_note_queues(all, conn, rcu_dereference(conn->dp.chain), false);
	rcu_read_unlock();
	for (i = 0; i < all->nr; i++)
		depth += all->q[i].depth;
	if (!depth)
		return 0;
	err = mrpc_datapath_hold(conn);
	if (err)
		return err;
	mrpc_nl_note_queues(all, conn, mrpc_chain_of(&conn->dp), true);
	mrpc_datapath_release(conn);
	return 0;
}

static int mrpc_nl_put_queue(struct sk_buff *skb, const struct genl_info *info,
			     const struct mrpc_conn *conn, const struct mrpc_nl_queue *q, u64 now)
{
	void *hdr = mrpc_nl_begin(skb, info);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_u32(skb, MRPC_A_QUEUE_SESSION, conn->session->id) ||
	      nla_put_u32(skb, MRPC_A_QUEUE_CONN, conn->id) ||
	      nla_put_u32(skb, MRPC_A_QUEUE_DATAPATH, conn->dp_id) ||
	      nla_put_u32(skb, MRPC_A_QUEUE_DIR, q->dir) ||
	      nla_put_u32(skb, MRPC_A_QUEUE_DEPTH, q->depth) ||
	      nla_put_uint(skb, MRPC_A_QUEUE_BYTES, q->bytes) ||
	      (q->born && nla_put_uint(skb, MRPC_A_QUEUE_AGE, now > q->born ? now - q->born : 0));
	if (!err && q->engine[0])
		err = nla_put_string(skb, MRPC_A_QUEUE_ENGINE, q->engine) ||
		      nla_put_u32(skb, MRPC_A_QUEUE_KEPT, q->kept) ||
		      nla_put_u8(skb, MRPC_A_QUEUE_PAUSED, q->paused);
	return mrpc_nl_end(skb, hdr, err);
}

/* Puts all queues of a datapath or none, so that a dump can resume there. */
static int mrpc_nl_fill_queues(struct sk_buff *skb, const struct genl_info *info,
			       struct mrpc_conn *conn)
{
	struct nlattr *only = info->attrs[MRPC_A_QUEUE_DATAPATH];
	u8 *start = skb_tail_pointer(skb);
	struct mrpc_nl_queues *all;
	u64 now;
	int err;
	u32 i;

	if (!mrpc_nl_has_datapath(conn) || (only && nla_get_u32(only) != conn->dp_id))
		return 0;
	all = kmalloc(sizeof(*all), GFP_KERNEL);
	if (!all)
		return -ENOMEM;
	err = mrpc_nl_read_queues(conn, all);
	now = ktime_get_coarse_ns();
	for (i = 0; i < all->nr && !err; i++)
		err = mrpc_nl_put_queue(skb, info, conn, &all->q[i], now);
	kfree(all);
	if (err == -EMSGSIZE)
		nlmsg_trim(skb, start);
	return err == -ESHUTDOWN ? 0 : err;
}

static int mrpc_nl_each_queue(struct sk_buff *skb, const struct genl_info *info,
			      struct mrpc_session *session, struct mrpc_nl_cursor *cur)
{
	return mrpc_nl_conns(skb, info, session, cur, mrpc_nl_fill_queues);
}

int mrpc_nl_queue_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	BUILD_BUG_ON(MRPC_A_QUEUE_SESSION != 1);
	return mrpc_nl_dump(skb, cb, mrpc_nl_each_queue);
}

/* -- pausing --------------------------------------------------------------------- */

/**
 * struct mrpc_nl_hold - a request to pause or resume
 * @engine: name of the engine with the queues
 * @only: on this datapath; 0: on all
 * @dirs: BIT(MRPC_TX) | BIT(MRPC_RX)
 * @paused: pause; otherwise resume
 * @seen: datapaths that have the engine, in these directions
 * @changed: of them, those that were in the other state before
 */
struct mrpc_nl_hold {
	const char *engine;
	u32 only;
	u32 dirs;
	bool paused;
	u32 seen;
	u32 changed;
};

/* With @set both claims are held. An engine that is or was paused counts as a stage. */
static bool mrpc_nl_hold_differs(struct mrpc_nl_hold *h, const struct mrpc_chain *chain, bool set)
{
	struct mrpc_engine *e = mrpc_nl_engine_of(chain, h->engine);
	bool differs = false, has = false;
	int dir;

	for (dir = 0; e && dir < MRPC_DIRS; dir++) {
		if (!(h->dirs & e->ops->dirs & BIT(dir)))
			continue;
		has = true;
		differs |= READ_ONCE(e->paused[dir]) != h->paused;
		if (!set)
			continue;
		WRITE_ONCE(e->paused[dir], h->paused);
		WRITE_ONCE(e->dirs, e->dirs | BIT(dir));
	}
	if (!set)
		h->seen += has;
	return differs;
}

static int mrpc_nl_hold_conn(struct mrpc_conn *conn, void *ctx)
{
	struct mrpc_nl_hold *h = ctx;
	bool differs;
	int err;

	if ((h->only && h->only != conn->dp_id) || !mrpc_nl_has_datapath(conn))
		return 0;
	rcu_read_lock();
	differs = mrpc_nl_hold_differs(h, rcu_dereference(conn->dp.chain), false);
	rcu_read_unlock();
	if (!differs)
		return 0;
	err = mrpc_datapath_hold(conn);
	if (err)
		return err == -ESHUTDOWN ? 0 : err;
	h->changed += mrpc_nl_hold_differs(h, mrpc_chain_of(&conn->dp), true);
	if (mrpc_chain_of(&conn->dp)) {
		mrpc_chain_sum_up(mrpc_chain_of(&conn->dp));
		mrpc_chain_set(&conn->dp, mrpc_chain_of(&conn->dp));
	}
	mrpc_datapath_release(conn);
	return 0;
}

/* Fills @skb, which was allocated before the change, so that the change cannot fail for it. */
static void mrpc_nl_hold_reply(struct sk_buff *skb, struct genl_info *info,
			       const struct mrpc_nl_hold *h)
{
	void *hdr = mrpc_nl_begin(skb, info);
	int err;

	err = !hdr || nla_put_string(skb, MRPC_A_QUEUE_ENGINE, h->engine) ||
	      nla_put_u32(skb, MRPC_A_QUEUE_CHANGED, h->changed);
	mrpc_nl_reply(skb, info, hdr ? mrpc_nl_end(skb, hdr, err) : -EMSGSIZE);
}

static int mrpc_nl_hold_nothing(const struct genl_info *info, const struct mrpc_nl_hold *h)
{
	static const char *const where[] = {
		[BIT(MRPC_TX)] = "tx", [BIT(MRPC_RX)] = "rx",
		[BIT(MRPC_TX) | BIT(MRPC_RX)] = "tx or rx",
	};
	struct nlattr *attr = info->attrs[MRPC_A_QUEUE_ENGINE];

	if (h->only)
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr, "datapath %u has no %s queue of '%s'",
					h->only, where[h->dirs], h->engine);
	else
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr, "no datapath has a %s queue of '%s'",
					where[h->dirs], h->engine);
	return -ENOENT;
}

int mrpc_nl_queue_set(struct sk_buff *request, struct genl_info *info)
{
	struct nlattr *datapath = info->attrs[MRPC_A_QUEUE_DATAPATH];
	struct nlattr *dir = info->attrs[MRPC_A_QUEUE_DIR];
	struct mrpc_nl_hold h;
	struct sk_buff *reply;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_QUEUE_ENGINE) ||
	    GENL_REQ_ATTR_CHECK(info, MRPC_A_QUEUE_PAUSED))
		return -EINVAL;
	err = mrpc_nl_check_name(info->attrs[MRPC_A_QUEUE_ENGINE], info->extack);
	if (err)
		return err;
	h = (struct mrpc_nl_hold) {
		.engine = nla_data(info->attrs[MRPC_A_QUEUE_ENGINE]),
		.only = datapath ? nla_get_u32(datapath) : 0,
		.dirs = dir ? BIT(nla_get_u32(dir)) : BIT(MRPC_TX) | BIT(MRPC_RX),
		.paused = nla_get_u8(info->attrs[MRPC_A_QUEUE_PAUSED]),
	};
	reply = mrpc_nl_new(0);
	if (!reply)
		return -ENOMEM;
	err = mrpc_nl_walk(genl_info_net(info), mrpc_nl_hold_conn, &h);
	if (err == -EINTR)
		NL_SET_ERR_MSG_FMT(info->extack, "interrupted after %u datapaths", h.changed);
	if (!err && h.seen) {
		mrpc_nl_hold_reply(reply, info, &h);
		return 0;
	}
	nlmsg_free(reply);
	return err ? mrpc_nl_errno(err) : mrpc_nl_hold_nothing(info, &h);
}

/* -- the content of a queue --------------------------------------------------------- */

struct mrpc_nl_rpc {
	u64 call_id;
	u64 size;
	u64 deadline;
	u64 born;
	u32 method;
	u16 status;
	u8 kind;
	u8 priority;
	u8 flags;
	bool named;		/* @method is valid */
};

/**
 * struct mrpc_nl_rpcs - a queue as it was when the dump began
 * @datapath: its datapath
 * @dir: direction
 * @engine: name, or "" for the queue behind the engines
 * @nr: number of rpcs
 * @cap: room for rpcs
 * @rpc: the rpcs, in order
 */
struct mrpc_nl_rpcs {
	u32 datapath;
	u32 dir;
	char engine[MRPC_PLACEMENT_NAME];
	u32 nr;
	u32 cap;
	struct mrpc_nl_rpc rpc[] __counted_by(cap);
};

struct mrpc_nl_rpc_cursor {
	struct mrpc_nl_rpcs *all;
	u32 at;
};

static u8 mrpc_nl_rpc_kind(const struct mrpc_frame *f)
{
	if (f->type == MRPC_WIRE_CALL)
		return MRPC_RPC_KIND_REQUEST;
	if (f->type == MRPC_WIRE_MESSAGE)
		return MRPC_RPC_KIND_MESSAGE;
	if (f->type != MRPC_WIRE_REPLY)
		return MRPC_RPC_KIND_CONTROL;
	return f->status ? MRPC_RPC_KIND_STATUS : MRPC_RPC_KIND_REPLY;
}

/* Notes an rpc. One without room is only counted. */
static void mrpc_nl_note(struct mrpc_nl_rpcs *all, const struct mrpc_rpc *rpc, u8 flags)
{
	bool partial = rpc->dir == MRPC_RX && !rpc->have_bytes;
	u32 at = all->nr++;

	if (at >= all->cap)
		return;
	all->rpc[at] = (struct mrpc_nl_rpc) {
		.call_id = rpc->frame.call_id,
		.size = mrpc_nl_rpc_size(rpc),
		.deadline = rpc->deadline,
		.born = rpc->born,
		.method = rpc->call->method,
		.named = rpc->call->role < MRPC_ROLE_CONTROL,
		.status = rpc->frame.status,
		.kind = mrpc_nl_rpc_kind(&rpc->frame),
		.priority = rpc->frame.priority,
		.flags = flags | (rpc->drop ? MRPC_RPC_FLAGS_ENDED : 0) |
			 (partial ? MRPC_RPC_FLAGS_PARTIAL : 0),
	};
}

/*
 * Notes the rpcs that an engine keeps outside its queue. Queues are long, and the datapath is
 * stopped. So each rpc is visited a few times, instead of a search of the queue for each.
 */
static void mrpc_nl_note_kept(struct mrpc_nl_rpcs *all, struct mrpc_conn *conn,
			      const struct mrpc_engine *e)
{
	struct mrpc_rpc *rpc;

	list_for_each_entry(rpc, &e->in[all->dir].list, list)
		rpc->noted = true;
	list_for_each_entry(rpc, &conn->dp.path[all->dir].all, all)
		if (rpc->at == e && !rpc->noted)
			mrpc_nl_note(all, rpc, MRPC_RPC_FLAGS_KEPT);
	list_for_each_entry(rpc, &e->in[all->dir].list, list)
		rpc->noted = false;
}

/* Both claims are held. */
static void mrpc_nl_note_rpcs(struct mrpc_nl_rpcs *all, struct mrpc_conn *conn,
			      const struct mrpc_engine *e)
{
	const struct mrpc_queue *queue = e ? &e->in[all->dir] : &conn->dp.path[all->dir].out;
	const struct mrpc_rpc *rpc;

	all->nr = 0;
	list_for_each_entry(rpc, &queue->list, list)
		mrpc_nl_note(all, rpc, 0);
	if (!e && all->dir == MRPC_RX && mrpc_nl_receiving(conn))
		mrpc_nl_note(all, mrpc_nl_receiving(conn), 0);
	if (e && e->kept[all->dir])
		mrpc_nl_note_kept(all, conn, e);
}

/* Return: number of rpcs, greater than all->cap if some had no room; or an error. */
static int mrpc_nl_look(struct mrpc_nl_rpcs *all, struct mrpc_conn *conn)
{
	struct mrpc_engine *e = NULL;
	int err;

	err = mrpc_datapath_hold(conn);
	if (err)
		return err == -ESHUTDOWN ? -ENOENT : err;
	if (all->engine[0])
		e = mrpc_nl_engine_of(mrpc_chain_of(&conn->dp), all->engine);
	if (!all->engine[0] || (e && mrpc_engine_stands(e, all->dir)))
		mrpc_nl_note_rpcs(all, conn, e);
	else
		err = -ENODATA;
	mrpc_datapath_release(conn);
	return err ?: all->nr;
}

static struct mrpc_nl_rpcs *mrpc_nl_rpcs_alloc(const struct genl_info *info, u32 cap)
{
	struct mrpc_nl_rpcs *all = kvzalloc(struct_size(all, rpc, cap), GFP_KERNEL_ACCOUNT);

	if (!all)
		return NULL;
	all->cap = cap;
	all->datapath = nla_get_u32(info->attrs[MRPC_A_RPC_DATAPATH]);
	all->dir = nla_get_u32(info->attrs[MRPC_A_RPC_DIR]);
	if (info->attrs[MRPC_A_RPC_ENGINE])
		nla_strscpy(all->engine, info->attrs[MRPC_A_RPC_ENGINE], sizeof(all->engine));
	return all;
}

/* Allocates room for a queue before it is held. If it has grown meanwhile, it tries again. */
static struct mrpc_nl_rpcs *mrpc_nl_rpcs(const struct genl_info *info, struct mrpc_conn *conn)
{
	u32 dir = nla_get_u32(info->attrs[MRPC_A_RPC_DIR]);
	u32 cap = READ_ONCE(conn->dp.path[dir].held) + READ_ONCE(conn->dp.path[dir].out.len);
	struct mrpc_nl_rpcs *all;
	int nr;

	for (;;) {
		all = mrpc_nl_rpcs_alloc(info, cap + 64);
		if (!all)
			return ERR_PTR(-ENOMEM);
		nr = mrpc_nl_look(all, conn);
		if (nr >= 0 && nr <= all->cap)
			return all;
		if (nr == -ENODATA)
			NL_SET_ERR_MSG_FMT(info->extack, "datapath %u has no %s queue of '%s'",
					   all->datapath, dir == MRPC_TX ? "tx" : "rx",
					   all->engine);
		kvfree(all);
		if (nr < 0)
			return ERR_PTR(nr == -ENODATA ? -ENOENT : nr);
		cap = nr;
	}
}

/* The connection with datapath @id, with a reference, or NULL. */
struct mrpc_conn *mrpc_nl_datapath(struct net *net, u32 id)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_conn *conn, *found = NULL;

	spin_lock(&mn->lock);
	list_for_each_entry(conn, &mn->datapaths, dp.in_net) {
		if (conn->dp_id == id) {
			mrpc_conn_get(conn);
			found = conn;
			break;
		}
	}
	spin_unlock(&mn->lock);
	return found;
}

int mrpc_nl_rpc_start(struct netlink_callback *cb)
{
	struct mrpc_nl_rpc_cursor *cur = (void *)cb->ctx;
	const struct genl_info *info = genl_info_dump(cb);
	struct mrpc_nl_rpcs *all;
	struct mrpc_conn *conn;
	u32 id;

	NL_ASSERT_DUMP_CTX_FITS(struct mrpc_nl_rpc_cursor);
	cur->all = NULL;
	cur->at = 0;
	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_RPC_DATAPATH) ||
	    GENL_REQ_ATTR_CHECK(info, MRPC_A_RPC_DIR) ||
	    mrpc_nl_check_name(info->attrs[MRPC_A_RPC_ENGINE], info->extack))
		return -EINVAL;
	id = nla_get_u32(info->attrs[MRPC_A_RPC_DATAPATH]);
	conn = mrpc_nl_datapath(genl_info_net(info), id);
	all = conn ? mrpc_nl_rpcs(info, conn) : ERR_PTR(-ENOENT);
	if (!conn)
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[MRPC_A_RPC_DATAPATH],
					"there is no datapath %u in this network namespace", id);
	else
		mrpc_conn_put(conn);
	if (IS_ERR(all))
		return mrpc_nl_errno(PTR_ERR(all));
	cur->all = all;
	return 0;
}

/* @conn: NULL if it has ended meanwhile; then the names of its methods are not known. */
static int mrpc_nl_put_method(struct sk_buff *skb, struct mrpc_conn *conn,
			      const struct mrpc_nl_rpc *rpc)
{
	u32 service = rpc->method >> 16, method = rpc->method & 0xffff;
	const struct mrpc_schema_plan *plan;

	if (!conn || !rpc->named || service >= conn->services.nr)
		return 0;
	plan = conn->services.list[service].schema->plan;
	if (method >= plan->nr_methods)
		return 0;
	return nla_put_string(skb, MRPC_A_RPC_SERVICE, mrpc_schema_service(plan)) ||
	       nla_put_string(skb, MRPC_A_RPC_METHOD, plan->names + plan->methods[method].name);
}

static int mrpc_nl_put_rpc(struct sk_buff *skb, const struct genl_info *info,
			   const struct mrpc_nl_rpcs *all, u32 index, struct mrpc_conn *conn)
{
	const struct mrpc_nl_rpc *rpc = &all->rpc[index];
	void *hdr = mrpc_nl_begin(skb, info);
	u64 now = ktime_get_coarse_ns();
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_u32(skb, MRPC_A_RPC_DATAPATH, all->datapath) ||
	      (all->engine[0] && nla_put_string(skb, MRPC_A_RPC_ENGINE, all->engine)) ||
	      nla_put_u32(skb, MRPC_A_RPC_DIR, all->dir) ||
	      nla_put_u32(skb, MRPC_A_RPC_INDEX, index) ||
	      nla_put_uint(skb, MRPC_A_RPC_CALL_ID, rpc->call_id) ||
	      nla_put_u32(skb, MRPC_A_RPC_KIND, rpc->kind) ||
	      mrpc_nl_put_method(skb, conn, rpc) ||
	      nla_put_uint(skb, MRPC_A_RPC_SIZE, rpc->size) ||
	      (rpc->kind == MRPC_RPC_KIND_REQUEST &&
	       nla_put_u32(skb, MRPC_A_RPC_PRIORITY, rpc->priority)) ||
	      (rpc->kind == MRPC_RPC_KIND_STATUS &&
	       nla_put_u32(skb, MRPC_A_RPC_STATUS, rpc->status)) ||
	      (rpc->deadline && nla_put_uint(skb, MRPC_A_RPC_DEADLINE,
					     rpc->deadline > now ? rpc->deadline - now : 0)) ||
	      (rpc->born && nla_put_uint(skb, MRPC_A_RPC_AGE,
					 now > rpc->born ? now - rpc->born : 0)) ||
	      nla_put_u32(skb, MRPC_A_RPC_FLAGS, rpc->flags);
	return mrpc_nl_end(skb, hdr, err);
}

int mrpc_nl_rpc_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_nl_rpc_cursor *cur = (void *)cb->ctx;
	const struct genl_info *info = genl_info_dump(cb);
	struct mrpc_conn *conn = mrpc_nl_datapath(genl_info_net(info), cur->all->datapath);
	int err = 0;

	for (; cur->at < cur->all->nr && !err; cur->at += !err)
		err = mrpc_nl_put_rpc(skb, info, cur->all, cur->at, conn);
	if (conn)
		mrpc_conn_put(conn);
	return err;
}

int mrpc_nl_rpc_done(struct netlink_callback *cb)
{
	struct mrpc_nl_rpc_cursor *cur = (void *)cb->ctx;

	kvfree(cur->all);
	return 0;
}
