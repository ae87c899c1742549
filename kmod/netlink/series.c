// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: the histograms that engines keep.
 */
#include <net/netlink.h>

#include "chain/chain.h"
#include "core/conn.h"
#include "core/engine_config.h"
#include "core/net.h"
#include "core/placement.h"
#include "lib/ds/hist.h"
#include "lib/message/schema.h"
#include "netlink/engine.h"
#include "netlink/netlink.h"
#include "netlink/queue.h"
#include "netlink/series.h"
#include "netlink/session.h"

const struct nla_policy mrpc_nl_series_policy[] = {
	[MRPC_A_SERIES_ENGINE] = { .type = NLA_NUL_STRING },
	[MRPC_A_SERIES_DATAPATH] = NLA_POLICY_MIN(NLA_U32, 1),
};

/**
 * struct mrpc_nl_series_cursor - where a dump is
 * @pos: as mrpc_engine_ops.series has it
 * @id: of the placement
 * @datapath: whose instance is asked; 0: what all have in common
 */
struct mrpc_nl_series_cursor {
	u32 pos;
	u32 id;
	u32 datapath;
};

static int mrpc_nl_put_buckets(struct sk_buff *skb, const struct mrpc_hist *hist)
{
	struct nlattr *nest;
	u32 i;

	for (i = 0; i < MRPC_HIST_BUCKETS; i++) {
		if (!hist->count[i])
			continue;
		nest = nla_nest_start(skb, MRPC_A_SERIES_BUCKET);
		if (!nest ||
		    nla_put_uint(skb, MRPC_A_BUCKET_MOST, mrpc_hist_high(i)) ||
		    nla_put_uint(skb, MRPC_A_BUCKET_COUNT, hist->count[i]))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int mrpc_nl_fill_series(struct sk_buff *skb, const struct genl_info *info, u32 datapath,
			       const struct mrpc_series *s)
{
	const struct mrpc_schema_plan *plan = s->plan;
	void *hdr = mrpc_nl_begin(skb, info);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_string(skb, MRPC_A_SERIES_ENGINE,
			     nla_data(info->attrs[MRPC_A_SERIES_ENGINE])) ||
	      (datapath && nla_put_u32(skb, MRPC_A_SERIES_DATAPATH, datapath)) ||
	      nla_put_string(skb, MRPC_A_SERIES_NAME, s->name) ||
	      nla_put_string(skb, MRPC_A_SERIES_UNIT, s->unit) ||
	      nla_put_string(skb, MRPC_A_SERIES_SERVICE, mrpc_schema_service(plan)) ||
	      nla_put_string(skb, MRPC_A_SERIES_METHOD,
			     plan->names + plan->methods[s->method].name) ||
	      nla_put_u32(skb, MRPC_A_SERIES_STATUS, s->status) ||
	      nla_put_u32(skb, MRPC_A_SERIES_SIDE,
			  s->server ? MRPC_SCOPE_SIDE_SERVER : MRPC_SCOPE_SIDE_CLIENT) ||
	      nla_put_uint(skb, MRPC_A_SERIES_SUM, s->hist.sum) ||
	      nla_put_uint(skb, MRPC_A_SERIES_MOST, s->hist.max) ||
	      mrpc_nl_put_buckets(skb, &s->hist);
	return mrpc_nl_end(skb, hdr, err);
}

/* From the cursor on, until they end or the message is full; @e stays meanwhile. */
static int mrpc_nl_put_series(struct sk_buff *skb, struct netlink_callback *cb,
			      const struct mrpc_engine *e, const struct mrpc_group *g)
{
	struct mrpc_nl_series_cursor *cur = (void *)cb->ctx;
	struct mrpc_series *s;
	int err = 0;
	u32 pos;

	if (!g->ops->series)
		return 0;
	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	for (pos = cur->pos; !err && !g->ops->series(e, g, &pos, s); cond_resched()) {
		err = mrpc_nl_fill_series(skb, genl_info_dump(cb), cur->datapath, s);
		if (!err)
			cur->pos = pos;
	}
	kfree(s);
	return err;
}

static int mrpc_nl_instance_series(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_nl_series_cursor *cur = (void *)cb->ctx;
	const struct genl_info *info = genl_info_dump(cb);
	struct mrpc_conn *conn = mrpc_nl_datapath(genl_info_net(info), cur->datapath);
	const struct mrpc_engine *e;
	int err;

	if (!conn)
		return 0;
	err = mutex_lock_interruptible(&conn->dp.change_lock);
	if (!err) {
		e = mrpc_nl_engine_of(mrpc_chain_of(&conn->dp),
				      nla_data(info->attrs[MRPC_A_SERIES_ENGINE]));
		if (e)
			err = mrpc_nl_put_series(skb, cb, e, e->group);
		mutex_unlock(&conn->dp.change_lock);
	}
	mrpc_conn_put(conn);
	return err;
}

int mrpc_nl_series_start(struct netlink_callback *cb)
{
	struct mrpc_nl_series_cursor *cur = (void *)cb->ctx;
	const struct genl_info *info = genl_info_dump(cb);
	struct mrpc_placement *p;

	NL_ASSERT_DUMP_CTX_FITS(struct mrpc_nl_series_cursor);
	cb->min_dump_alloc = MRPC_NL_SIZE;
	memset(cur, 0, sizeof(*cur));
	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_SERIES_ENGINE))
		return -EINVAL;
	p = mrpc_nl_placement(info, MRPC_A_SERIES_ENGINE);
	if (!p)
		return -ENOENT;
	cur->id = p->id;
	mrpc_placement_put(p);
	if (info->attrs[MRPC_A_SERIES_DATAPATH])
		cur->datapath = nla_get_u32(info->attrs[MRPC_A_SERIES_DATAPATH]);
	return 0;
}

int mrpc_nl_series_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_nl_series_cursor *cur = (void *)cb->ctx;
	struct net *net = genl_info_net(genl_info_dump(cb));
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_placement *p;
	struct mrpc_group *g;
	int err = 0;

	if (cur->datapath)
		return mrpc_nl_instance_series(skb, cb);
	p = mrpc_placement_by_id(net, cur->id);
	if (!p)
		return 0;
	spin_lock(&mn->lock);
	g = p->now ?: p->next;
	if (g)
		mrpc_group_get(g);
	spin_unlock(&mn->lock);
	if (g) {
		err = mrpc_nl_put_series(skb, cb, NULL, g);
		mrpc_group_put(g);
	}
	mrpc_placement_put(p);
	return err;
}
