// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: the engines that an operator has placed, and what they have counted.
 */
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "chain/chain.h"
#include "core/conn.h"
#include "core/engine.h"
#include "core/engine_count.h"
#include "core/engine_config.h"
#include "core/net.h"
#include "core/placement.h"
#include "core/rpc.h"
#include "netlink/dump.h"
#include "netlink/engine.h"
#include "netlink/msg.h"
#include "netlink/netlink.h"
#include "netlink/session.h"

#define MRPC_NL_COUNTERS	1024	/* of one engine's own, in one reply */
#define MRPC_NL_COUNTERS_SIZE	61440	/* bytes of them, as attributes */
#define MRPC_NL_PIECE		32768U	/* bytes of rules in one attribute */

const struct nla_policy mrpc_nl_engine_policy[] = {
	[MRPC_A_ENGINE_NAME] = { .type = NLA_NUL_STRING },
	[MRPC_A_ENGINE_DATAPATH] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* -- what a placement says at one moment ------------------------------------ */

struct mrpc_nl_engine {
	struct mrpc_group *now;
	struct mrpc_group *next;
	bool changing;
	u8 percent;
};

static void mrpc_nl_read_engine(struct net *net, struct mrpc_placement *p,
				struct mrpc_nl_engine *e)
{
	struct mrpc_net *mn = mrpc_net(net);

	spin_lock(&mn->lock);
	e->now = p->now;
	e->changing = p->changing;
	e->next = e->changing ? p->next : NULL;
	e->percent = p->percent;
	if (e->now)
		mrpc_group_get(e->now);
	if (e->next)
		mrpc_group_get(e->next);
	spin_unlock(&mn->lock);
}

static void mrpc_nl_drop_engine(const struct mrpc_nl_engine *e)
{
	if (e->now)
		mrpc_group_put(e->now);
	if (e->next)
		mrpc_group_put(e->next);
}

/* Bytes of rules and strings, which have no bound that MRPC_NL_SIZE could know. */
static u32 mrpc_nl_group_size(const struct mrpc_group *g)
{
	u32 i, size = 0;

	for (i = 0; g && i < g->nr; i++)
		size += g->values[i].len + 128 * (1 + g->values[i].len / MRPC_NL_PIECE);
	return size;
}

/* The pieces of a rule set after the first one. */
static int mrpc_nl_put_more(struct sk_buff *skb, int attr, const struct mrpc_param *p,
			    const struct mrpc_value *v)
{
	struct nlattr *nest;
	u32 at;

	for (at = MRPC_NL_PIECE; at < v->len; at += MRPC_NL_PIECE) {
		nest = nla_nest_start(skb, attr);
		if (!nest || nla_put_string(skb, MRPC_A_VALUE_NAME, p->name) ||
		    nla_put(skb, MRPC_A_VALUE_DATA, min(v->len - at, MRPC_NL_PIECE), v->data + at))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int mrpc_nl_put_value(struct sk_buff *skb, int attr, const struct mrpc_param *p,
			     const struct mrpc_value *v, bool data)
{
	struct nlattr *nest;
	int err = 0;

	if (p->type >= MRPC_PARAM_STRING && !v->data)
		return 0;
	nest = nla_nest_start(skb, attr);
	if (!nest || nla_put_string(skb, MRPC_A_VALUE_NAME, p->name) ||
	    (v->set && nla_put_flag(skb, MRPC_A_VALUE_GIVEN)))
		return -EMSGSIZE;
	switch (p->type) {
	case MRPC_PARAM_CHOICE:
		err = nla_put_string(skb, MRPC_A_VALUE_TEXT, p->choices[v->num]);
		fallthrough;
	case MRPC_PARAM_U64:
	case MRPC_PARAM_BOOL:
		err = err ?: nla_put_uint(skb, MRPC_A_VALUE_NUM, v->num);
		break;
	case MRPC_PARAM_STRING:
		if (data)
			err = nla_put_string(skb, MRPC_A_VALUE_TEXT, v->data);
		else
			err = nla_put_u32(skb, MRPC_A_VALUE_SIZE, v->len);
		break;
	default:
		err = nla_put_u32(skb, MRPC_A_VALUE_SIZE, v->len);
		if (!err && data)
			err = nla_put(skb, MRPC_A_VALUE_DATA, min(v->len, MRPC_NL_PIECE), v->data);
		break;
	}
	nla_nest_end(skb, nest);
	if (!err && data && p->type == MRPC_PARAM_RULES)
		err = mrpc_nl_put_more(skb, attr, p, v);
	return err;
}

static int mrpc_nl_put_values(struct sk_buff *skb, int attr, const struct mrpc_group *g, bool data)
{
	int err = 0;
	u32 i;

	for (i = 0; g && i < g->nr && !err; i++)
		err = mrpc_nl_put_value(skb, attr, &g->ops->params[i], &g->values[i], data);
	return err;
}

static int mrpc_nl_put_scope(struct sk_buff *skb, const struct genl_info *info, struct net *net,
			     const struct mrpc_scope *s)
{
	struct nlattr *nest = nla_nest_start(skb, MRPC_A_ENGINE_SCOPE);

	if (!nest ||
	    (s->service[0] && nla_put_string(skb, MRPC_A_SCOPE_SERVICE, s->service)) ||
	    (s->session && nla_put_u32(skb, MRPC_A_SCOPE_SESSION, s->session)) ||
	    (s->pid && nla_put_u32(skb, MRPC_A_SCOPE_PID, mrpc_nl_pid(net, info, s->pid))) ||
	    (s->has_uid && nla_put_u32(skb, MRPC_A_SCOPE_UID,
				       from_kuid_munged(net->user_ns, s->uid))) ||
	    (s->cgroup && nla_put_uint(skb, MRPC_A_SCOPE_CGROUP, s->cgroup)) ||
	    (s->datapath && nla_put_u32(skb, MRPC_A_SCOPE_DATAPATH, s->datapath)) ||
	    (s->side != MRPC_SIDE_BOTH && nla_put_u32(skb, MRPC_A_SCOPE_SIDE, s->side)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int mrpc_nl_put_next(struct sk_buff *skb, const struct mrpc_nl_engine *e, bool data)
{
	if (!e->changing)
		return 0;
	if (nla_put_u32(skb, MRPC_A_ENGINE_PERCENT, e->percent) ||
	    (!e->now && nla_put_flag(skb, MRPC_A_ENGINE_ADDING)) ||
	    (!e->next && nla_put_flag(skb, MRPC_A_ENGINE_REMOVING)))
		return -EMSGSIZE;
	if (!e->now || !e->next)
		return 0;
	return nla_put_string(skb, MRPC_A_ENGINE_NEXT_TYPE, e->next->ops->name) ||
	       nla_put_u32(skb, MRPC_A_ENGINE_NEXT_VERSION, e->next->ops->version) ||
	       mrpc_nl_put_values(skb, MRPC_A_ENGINE_NEXT_VALUE, e->next, data);
}

static int mrpc_nl_put_engine(struct sk_buff *skb, const struct genl_info *info, struct net *net,
			      const struct mrpc_placement *p, const struct mrpc_nl_engine *e,
			      bool data)
{
	const struct mrpc_group *g = e->now ?: e->next;

	return nla_put_u32(skb, MRPC_A_ENGINE_ID, p->id) ||
	       nla_put_string(skb, MRPC_A_ENGINE_NAME, p->name) ||
	       mrpc_nl_put_scope(skb, info, net, &p->scope) ||
	       (g && (nla_put_string(skb, MRPC_A_ENGINE_TYPE, g->ops->name) ||
		      nla_put_u32(skb, MRPC_A_ENGINE_VERSION, g->ops->version) ||
		      nla_put_string(skb, MRPC_A_ENGINE_MODULE, module_name(g->ops->owner)) ||
		      mrpc_nl_put_values(skb, MRPC_A_ENGINE_VALUE, g, data))) ||
	       mrpc_nl_put_next(skb, e, data);
}

/**
 * mrpc_nl_fill_engine() - what a placement says, for a notification
 * @skb: where to
 * @info: of the notification
 * @net: its network namespace
 * @p: the placement
 *
 * Return: 0 or -EMSGSIZE.
 */
int mrpc_nl_fill_engine(struct sk_buff *skb, const struct genl_info *info, struct net *net,
			struct mrpc_placement *p)
{
	void *hdr = mrpc_nl_begin(skb, info);
	struct mrpc_nl_engine e;
	int err;

	if (!hdr)
		return -EMSGSIZE;
	mrpc_nl_read_engine(net, p, &e);
	err = mrpc_nl_put_engine(skb, info, net, p, &e, false);
	mrpc_nl_drop_engine(&e);
	return mrpc_nl_end(skb, hdr, err);
}

/* -- what its instances have counted ----------------------------------------- */

/* One direction, of one instance or of all. */
struct mrpc_nl_dir {
	u32 queued;
	u32 kept;
	u32 paused;
	struct mrpc_engine_stats stats;
};

/**
 * struct mrpc_nl_sum - counters of a placement
 * @p: the placement
 * @only: of this datapath; 0: of all
 * @datapaths: that have an instance
 * @bypassed: of them
 * @dir: summed
 * @counters: the type's own, or NULL: they are not wanted
 * @nr: how many
 * @skb: what a type has put last
 */
struct mrpc_nl_sum {
	const struct mrpc_placement *p;
	u32 only;
	u32 datapaths;
	u32 bypassed;
	struct mrpc_nl_dir dir[MRPC_DIRS];
	struct mrpc_count *counters;
	u32 nr;
	struct sk_buff *skb;
};

/* Ask a type; @e is NULL for what its instances have in common. */
static void mrpc_nl_add_own(struct mrpc_nl_sum *sum, const struct mrpc_engine *e,
			    const struct mrpc_group *g)
{
	skb_trim(sum->skb, 0);
	/* One that finds no room has at least put what is there now. */
	g->ops->dump(e, g, sum->skb);
	mrpc_count_add_all(sum->counters, &sum->nr, MRPC_NL_COUNTERS, sum->skb);
}

static void mrpc_nl_read_dir(struct mrpc_nl_dir *d, const struct mrpc_engine *e, int dir)
{
	d->queued += READ_ONCE(e->in[dir].len);
	d->kept += READ_ONCE(e->kept[dir]);
	d->paused += READ_ONCE(e->paused[dir]);
	mrpc_stats_add(&d->stats, &e->stats[dir]);
}

/* Of all datapaths: those that have ended count, too. */
static void mrpc_nl_add_past(struct mrpc_nl_sum *sum, struct mrpc_placement *p)
{
	struct mrpc_past *past = &p->past;
	u32 i;

	if (sum->only)
		return;
	spin_lock(&past->lock);
	for (i = 0; i < MRPC_DIRS; i++)
		mrpc_stats_add(&sum->dir[i].stats, &past->stats[i]);
	for (i = 0; sum->counters && i < past->nr; i++)
		mrpc_count_add(sum->counters, &sum->nr, MRPC_NL_COUNTERS, past->counts[i].name,
			       past->counts[i].value, i);
	spin_unlock(&past->lock);
}

static void mrpc_nl_add_engines(struct mrpc_nl_sum *sum, const struct mrpc_chain *chain, bool own)
{
	u32 i, dir;

	for (i = 0; chain && i < chain->nr; i++) {
		const struct mrpc_engine *e = chain->engines[i];

		if (e->placement != sum->p)
			continue;
		sum->datapaths++;
		sum->bypassed += READ_ONCE(e->bypassed);
		for (dir = 0; dir < MRPC_DIRS; dir++)
			mrpc_nl_read_dir(&sum->dir[dir], e, dir);
		if (own && e->ops->dump)
			mrpc_nl_add_own(sum, e, e->group);
	}
}

static int mrpc_nl_add_conn(struct mrpc_conn *conn, void *ctx)
{
	struct mrpc_nl_sum *sum = ctx;

	if (sum->only && conn->dp_id != sum->only)
		return 0;
	if (!sum->counters) {
		rcu_read_lock();
		mrpc_nl_add_engines(sum, rcu_dereference(conn->dp.chain), false);
		rcu_read_unlock();
		return 0;
	}
	/* A type may sleep: its instance must not go meanwhile. */
	if (!rcu_access_pointer(conn->dp.chain))
		return 0;
	if (mutex_lock_interruptible(&conn->dp.change_lock))
		return -EINTR;
	mrpc_nl_add_engines(sum, mrpc_chain_of(&conn->dp), true);
	mutex_unlock(&conn->dp.change_lock);
	return 0;
}

static int mrpc_nl_put_dir(struct sk_buff *skb, int attr, const struct mrpc_nl_dir *d, u64 wake)
{
	struct nlattr *nest = nla_nest_start(skb, attr);
	u64 now = wake ? ktime_get_ns() : 0;

	if (!nest ||
	    nla_put_u32(skb, MRPC_A_ENGINE_DIR_QUEUED, d->queued) ||
	    nla_put_u32(skb, MRPC_A_ENGINE_DIR_KEPT, d->kept) ||
	    nla_put_u32(skb, MRPC_A_ENGINE_DIR_PAUSED, d->paused) ||
	    nla_put_uint(skb, MRPC_A_ENGINE_DIR_RPCS, d->stats.rpcs) ||
	    nla_put_uint(skb, MRPC_A_ENGINE_DIR_BYTES, d->stats.bytes) ||
	    nla_put_uint(skb, MRPC_A_ENGINE_DIR_REJECTED, d->stats.rejected) ||
	    nla_put_uint(skb, MRPC_A_ENGINE_DIR_TURNS, d->stats.turns) ||
	    nla_put_uint(skb, MRPC_A_ENGINE_DIR_SLOW, d->stats.slow) ||
	    (wake && nla_put_uint(skb, MRPC_A_ENGINE_DIR_WAKE, wake > now ? wake - now : 0)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int mrpc_nl_put_sum(struct sk_buff *skb, const struct mrpc_nl_sum *sum)
{
	int err;
	u32 i;

	err = nla_put_u32(skb, MRPC_A_ENGINE_DATAPATHS, sum->datapaths) ||
	      nla_put_u32(skb, MRPC_A_ENGINE_BYPASSED, sum->bypassed) ||
	      mrpc_nl_put_dir(skb, MRPC_A_ENGINE_TX, &sum->dir[MRPC_TX], 0) ||
	      mrpc_nl_put_dir(skb, MRPC_A_ENGINE_RX, &sum->dir[MRPC_RX], 0);
	for (i = 0; i < sum->nr && !err; i++)
		err = mrpc_engine_put_u64(skb, sum->counters[i].name, sum->counters[i].value);
	return err;
}

static int mrpc_nl_put_stage(struct sk_buff *skb, const struct mrpc_engine *e)
{
	struct nlattr *nest = nla_nest_start(skb, MRPC_A_DATAPATH_STAGE);
	struct mrpc_nl_dir d[MRPC_DIRS] = { };

	mrpc_nl_read_dir(&d[MRPC_TX], e, MRPC_TX);
	mrpc_nl_read_dir(&d[MRPC_RX], e, MRPC_RX);
	if (!nest ||
	    nla_put_u32(skb, MRPC_A_STAGE_ID, e->placement->id) ||
	    nla_put_string(skb, MRPC_A_STAGE_NAME, e->placement->name) ||
	    nla_put_string(skb, MRPC_A_STAGE_TYPE, e->ops->name) ||
	    nla_put_u32(skb, MRPC_A_STAGE_VERSION, e->ops->version) ||
	    (READ_ONCE(e->bypassed) && nla_put_flag(skb, MRPC_A_STAGE_BYPASSED)) ||
	    (mrpc_engine_stands(e, MRPC_TX) &&
	     mrpc_nl_put_dir(skb, MRPC_A_STAGE_TX, &d[MRPC_TX], READ_ONCE(e->wake[MRPC_TX]))) ||
	    (mrpc_engine_stands(e, MRPC_RX) &&
	     mrpc_nl_put_dir(skb, MRPC_A_STAGE_RX, &d[MRPC_RX], READ_ONCE(e->wake[MRPC_RX]))))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * mrpc_nl_put_stages() - the engines of a datapath
 * @skb: where to
 * @conn: the connection
 *
 * Return: 0 or -EMSGSIZE.
 */
int mrpc_nl_put_stages(struct sk_buff *skb, struct mrpc_conn *conn)
{
	const struct mrpc_chain *chain;
	int err = 0;
	u32 i;

	rcu_read_lock();
	chain = rcu_dereference(conn->dp.chain);
	for (i = 0; chain && i < chain->nr && !err; i++)
		err = mrpc_nl_put_stage(skb, chain->engines[i]);
	rcu_read_unlock();
	return err;
}

/* -- a single one --------------------------------------------------------------- */

/**
 * mrpc_nl_check_name() - is this of a length that a name can have?
 * @attr: a string, or NULL
 * @extack: why not
 *
 * Return: 0 or -EINVAL.
 */
int mrpc_nl_check_name(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	u32 len = attr ? nla_len(attr) - 1 : 0;

	if (len < MRPC_PLACEMENT_NAME)
		return 0;
	NL_SET_ERR_MSG_ATTR_FMT(extack, attr, "a name has at most %u characters, this one has %u",
				MRPC_PLACEMENT_NAME - 1, len);
	return -EINVAL;
}

/**
 * mrpc_nl_placement() - the placement that a request names
 * @info: the request
 * @attr: the attribute with the name; it is there
 *
 * Return: the placement with a reference, or NULL and an explanation in the
 * request's extended acknowledgement.
 */
struct mrpc_placement *mrpc_nl_placement(const struct genl_info *info, int attr)
{
	const char *name = nla_data(info->attrs[attr]);
	struct mrpc_placement *p;

	if (mrpc_nl_check_name(info->attrs[attr], info->extack))
		return NULL;
	p = mrpc_placement_by_name(genl_info_net(info), name);
	if (!p)
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[attr],
					"there is no engine named '%s'", name);
	return p;
}

static int mrpc_nl_find_conn(struct mrpc_conn *conn, void *id)
{
	return conn->dp_id == *(u32 *)id;
}

static int mrpc_nl_collect(const struct genl_info *info, const struct mrpc_nl_engine *e,
			   struct mrpc_nl_sum *sum)
{
	struct net *net = genl_info_net(info);
	struct nlattr *datapath = info->attrs[MRPC_A_ENGINE_DATAPATH];

	if (datapath) {
		sum->only = nla_get_u32(datapath);
		if (!mrpc_nl_walk(net, mrpc_nl_find_conn, &sum->only)) {
			NL_SET_ERR_MSG_ATTR_FMT(info->extack, datapath,
						"there is no datapath %u in this network namespace",
						sum->only);
			return -ENOENT;
		}
	} else {
		if (e->now && e->now->ops->dump)
			mrpc_nl_add_own(sum, NULL, e->now);
		/* Of one type the next has taken over what there is, or shares it. */
		if (e->next && e->next->ops->dump && !(e->now && e->now->ops == e->next->ops))
			mrpc_nl_add_own(sum, NULL, e->next);
	}
	return mrpc_nl_walk(net, mrpc_nl_add_conn, sum);
}

static int mrpc_nl_answer(struct genl_info *info, const struct mrpc_placement *p,
			  const struct mrpc_nl_engine *e, const struct mrpc_nl_sum *sum)
{
	u32 more = mrpc_nl_group_size(e->now) + mrpc_nl_group_size(e->next) +
		   sum->nr * (MRPC_COUNT_NAME + 6 * NLA_HDRLEN);
	struct sk_buff *skb = mrpc_nl_new(more);
	void *hdr;
	int err;

	if (!skb)
		return -ENOMEM;
	hdr = mrpc_nl_begin(skb, info);
	err = !hdr || mrpc_nl_put_engine(skb, info, genl_info_net(info), p, e, true) ||
	      mrpc_nl_put_sum(skb, sum);
	return mrpc_nl_reply(skb, info, hdr ? mrpc_nl_end(skb, hdr, err) : -EMSGSIZE);
}

int mrpc_nl_engine_get(struct sk_buff *request, struct genl_info *info)
{
	struct mrpc_nl_sum sum = { };
	struct mrpc_nl_engine e;
	struct mrpc_placement *p;
	int err = -ENOMEM;

	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_ENGINE_NAME))
		return -EINVAL;
	p = mrpc_nl_placement(info, MRPC_A_ENGINE_NAME);
	if (!p)
		return -ENOENT;
	mrpc_nl_read_engine(genl_info_net(info), p, &e);
	sum.p = p;
	sum.counters = kvmalloc_array(MRPC_NL_COUNTERS, sizeof(*sum.counters), GFP_KERNEL);
	sum.skb = alloc_skb(MRPC_NL_COUNTERS_SIZE, GFP_KERNEL);
	if (sum.counters && sum.skb) {
		err = mrpc_nl_collect(info, &e, &sum);
		mrpc_nl_add_past(&sum, p);
		if (!err)
			err = mrpc_nl_answer(info, p, &e, &sum);
	}
	kfree_skb(sum.skb);
	kvfree(sum.counters);
	mrpc_nl_drop_engine(&e);
	mrpc_placement_put(p);
	return mrpc_nl_errno(err);
}

/* -- all of them, in order -------------------------------------------------------- */

/* Those that were there when the dump began, by number. */
struct mrpc_nl_engine_cursor {
	u32 *ids;
	u32 nr;
	u32 at;
};

int mrpc_nl_engine_start(struct netlink_callback *cb)
{
	struct mrpc_nl_engine_cursor *cur = (void *)cb->ctx;

	NL_ASSERT_DUMP_CTX_FITS(struct mrpc_nl_engine_cursor);
	cb->min_dump_alloc = MRPC_NL_SIZE;
	cur->at = 0;
	cur->ids = kcalloc(MRPC_PLACEMENTS_MAX, sizeof(*cur->ids), GFP_KERNEL_ACCOUNT);
	if (!cur->ids)
		return -ENOMEM;
	cur->nr = mrpc_placement_list(genl_info_net(genl_info_dump(cb)), cur->ids);
	return 0;
}

static int mrpc_nl_dump_engine(struct sk_buff *skb, const struct genl_info *info,
			       struct mrpc_placement *p)
{
	struct net *net = genl_info_net(info);
	struct mrpc_nl_sum sum = { .p = p };
	void *hdr = mrpc_nl_begin(skb, info);
	struct mrpc_nl_engine e;
	int err;

	if (!hdr)
		return -EMSGSIZE;
	mrpc_nl_walk(net, mrpc_nl_add_conn, &sum);
	mrpc_nl_add_past(&sum, p);
	mrpc_nl_read_engine(net, p, &e);
	err = mrpc_nl_put_engine(skb, info, net, p, &e, false) ||
	      mrpc_nl_put_sum(skb, &sum);
	mrpc_nl_drop_engine(&e);
	return mrpc_nl_end(skb, hdr, err);
}

int mrpc_nl_engine_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_nl_engine_cursor *cur = (void *)cb->ctx;
	const struct genl_info *info = genl_info_dump(cb);
	struct mrpc_placement *p;
	int err = 0;

	for (; cur->at < cur->nr && !err; cur->at += !err) {
		p = mrpc_placement_by_id(genl_info_net(info), cur->ids[cur->at]);
		if (!p)
			continue;
		err = mrpc_nl_dump_engine(skb, info, p);
		mrpc_placement_put(p);
	}
	return err;
}

int mrpc_nl_engine_done(struct netlink_callback *cb)
{
	struct mrpc_nl_engine_cursor *cur = (void *)cb->ctx;

	kfree(cur->ids);
	return 0;
}
