// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: egress domains.
 */
#include <net/netlink.h>

#include "control/egress_config.h"
#include "egress/domain.h"
#include "lib/egress.h"
#include "netlink/egress.h"
#include "netlink/msg.h"
#include "netlink/netlink.h"
#include "netlink/session.h"

const struct nla_policy mrpc_nl_egress_policy[] = {
	[MRPC_A_EGRESS_ID] = { .type = NLA_REJECT },
	[MRPC_A_EGRESS_DEV] = { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
	[MRPC_A_EGRESS_DISCIPLINE] = { .type = NLA_NUL_STRING, .len = MRPC_POLICY_NAME - 1 },
	[MRPC_A_EGRESS_FAIR] = NLA_POLICY_MAX(NLA_U8, 1),
	[MRPC_A_EGRESS_PAUSED] = NLA_POLICY_MAX(NLA_U8, 1),
	[MRPC_A_EGRESS_CHUNK] = { .type = NLA_U32 },
	[MRPC_A_EGRESS_LIMIT] = { .type = NLA_U32 },
	[MRPC_A_EGRESS_RATE] = { .type = NLA_UINT },
};

const struct nla_policy mrpc_nl_egress_queue_policy[] = {
	[MRPC_A_EGRESS_QUEUE_DEV] = { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
};

int mrpc_nl_fill_egress(struct sk_buff *skb, const struct genl_info *info, struct mrpc_domain *d)
{
	void *hdr = mrpc_nl_begin(skb, info);
	struct mrpc_domain_state s;
	int err;

	if (!hdr)
		return -EMSGSIZE;
	mrpc_domain_state(d, &s);
	err = nla_put_u32(skb, MRPC_A_EGRESS_ID, d->id) ||
	      nla_put_string(skb, MRPC_A_EGRESS_DEV, s.args.dev) ||
	      nla_put_string(skb, MRPC_A_EGRESS_DISCIPLINE, s.args.discipline) ||
	      nla_put_u8(skb, MRPC_A_EGRESS_FAIR, s.args.fair) ||
	      nla_put_u8(skb, MRPC_A_EGRESS_PAUSED, s.args.paused) ||
	      nla_put_u32(skb, MRPC_A_EGRESS_CHUNK, s.args.chunk) ||
	      nla_put_u32(skb, MRPC_A_EGRESS_LIMIT, s.args.limit) ||
	      nla_put_uint(skb, MRPC_A_EGRESS_RATE, s.args.rate) ||
	      nla_put_u32(skb, MRPC_A_EGRESS_DATAPATHS, s.queues) ||
	      nla_put_u32(skb, MRPC_A_EGRESS_TENANTS, s.tenants) ||
	      nla_put_u32(skb, MRPC_A_EGRESS_WAITING, s.waiting) ||
	      nla_put_uint(skb, MRPC_A_EGRESS_OUT, s.out) ||
	      nla_put_uint(skb, MRPC_A_EGRESS_GRANTS, s.grants) ||
	      nla_put_uint(skb, MRPC_A_EGRESS_EXPIRED, s.expired) ||
	      nla_put_uint(skb, MRPC_A_EGRESS_WASTED, s.wasted) ||
	      nla_put_uint(skb, MRPC_A_EGRESS_SENT, s.sent) ||
	      nla_put_uint(skb, MRPC_A_EGRESS_RUNS, s.runs) ||
	      nla_put_uint(skb, MRPC_A_EGRESS_MEASURED, s.measured) ||
	      nla_put_uint(skb, MRPC_A_EGRESS_RAN, s.ran);
	return mrpc_nl_end(skb, hdr, err);
}

/* The domain that a request must name, with a reference, or an ERR_PTR. */
static struct mrpc_domain *mrpc_nl_domain(const struct genl_info *info, int attr)
{
	struct mrpc_domain *d;
	const char *dev;

	if (GENL_REQ_ATTR_CHECK(info, attr))
		return ERR_PTR(-EINVAL);
	dev = nla_data(info->attrs[attr]);
	d = mrpc_domain_find(genl_info_net(info), dev);
	if (d)
		return d;
	if (*dev)
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[attr],
					"device '%s' has no egress domain: egress set makes one",
					dev);
	else
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr],
				    "loop links have no egress domain: egress set makes one");
	return ERR_PTR(-ENOENT);
}

int mrpc_nl_egress_get(struct sk_buff *request, struct genl_info *info)
{
	struct mrpc_domain *d = mrpc_nl_domain(info, MRPC_A_EGRESS_DEV);
	struct sk_buff *skb;
	int err = -ENOMEM;

	if (IS_ERR(d))
		return PTR_ERR(d);
	skb = mrpc_nl_new(0);
	if (skb)
		err = mrpc_nl_reply(skb, info, mrpc_nl_fill_egress(skb, info, d));
	mrpc_domain_put(d);
	return err;
}

int mrpc_nl_egress_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genl_info *info = genl_info_dump(cb);
	struct mrpc_domain *d;
	int err;

	while ((d = mrpc_domain_next(genl_info_net(info), cb->args[0]))) {
		err = mrpc_nl_fill_egress(skb, info, d);
		if (!err)
			cb->args[0] = d->id;
		mrpc_domain_put(d);
		if (err)
			return err;
	}
	return 0;
}

static void mrpc_nl_read_egress(struct nlattr **tb, struct mrpc_domain_args *args)
{
	nla_strscpy(args->dev, tb[MRPC_A_EGRESS_DEV], sizeof(args->dev));
	if (tb[MRPC_A_EGRESS_DISCIPLINE]) {
		args->given |= MRPC_DOMAIN_DISCIPLINE;
		nla_strscpy(args->discipline, tb[MRPC_A_EGRESS_DISCIPLINE],
			    sizeof(args->discipline));
	}
	if (tb[MRPC_A_EGRESS_FAIR]) {
		args->given |= MRPC_DOMAIN_FAIR;
		args->fair = nla_get_u8(tb[MRPC_A_EGRESS_FAIR]);
	}
	if (tb[MRPC_A_EGRESS_PAUSED]) {
		args->given |= MRPC_DOMAIN_PAUSED;
		args->paused = nla_get_u8(tb[MRPC_A_EGRESS_PAUSED]);
	}
	if (tb[MRPC_A_EGRESS_CHUNK]) {
		args->given |= MRPC_DOMAIN_CHUNK;
		args->chunk = nla_get_u32(tb[MRPC_A_EGRESS_CHUNK]);
	}
	if (tb[MRPC_A_EGRESS_LIMIT]) {
		args->given |= MRPC_DOMAIN_LIMIT;
		args->limit = nla_get_u32(tb[MRPC_A_EGRESS_LIMIT]);
	}
	if (tb[MRPC_A_EGRESS_RATE]) {
		args->given |= MRPC_DOMAIN_RATE;
		args->rate = nla_get_uint(tb[MRPC_A_EGRESS_RATE]);
	}
}

int mrpc_nl_egress_set(struct sk_buff *request, struct genl_info *info)
{
	struct mrpc_domain_args args = {};

	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_EGRESS_DEV))
		return -EINVAL;
	mrpc_nl_read_egress(info->attrs, &args);
	return mrpc_nl_errno(mrpc_domain_set(genl_info_net(info), &args, info->extack));
}

int mrpc_nl_egress_del(struct sk_buff *request, struct genl_info *info)
{
	struct mrpc_domain *d = mrpc_nl_domain(info, MRPC_A_EGRESS_DEV);
	int err;

	if (IS_ERR(d))
		return PTR_ERR(d);
	err = mrpc_domain_del(genl_info_net(info), d->dev, info->extack);
	mrpc_domain_put(d);
	return mrpc_nl_errno(err);
}

/* -- datapaths of a domain ------------------------------------------------------------ */

/**
 * struct mrpc_nl_egress_queues - a domain as it was when the dump began
 * @dev: its device
 * @nr: datapaths
 * @q: each of them
 */
struct mrpc_nl_egress_queues {
	char dev[IFNAMSIZ];
	u32 nr;
	struct mrpc_domain_queue q[] __counted_by(nr);
};

struct mrpc_nl_egress_cursor {
	struct mrpc_nl_egress_queues *all;
	u32 at;
};

/* Room is made before the domain's lock is held; if it has grown meanwhile, once more. */
static struct mrpc_nl_egress_queues *mrpc_nl_egress_look(struct mrpc_domain *d)
{
	struct mrpc_nl_egress_queues *all;
	u32 cap = 64, nr;

	for (;;) {
		all = kvzalloc(struct_size(all, q, cap), GFP_KERNEL_ACCOUNT);
		if (!all)
			return NULL;
		all->nr = cap;
		strscpy(all->dev, d->dev, sizeof(all->dev));
		nr = mrpc_domain_queues(d, all->q, cap);
		if (nr <= cap) {
			all->nr = nr;
			return all;
		}
		kvfree(all);
		cap = nr + 64;
	}
}

int mrpc_nl_egress_queue_start(struct netlink_callback *cb)
{
	struct mrpc_nl_egress_cursor *cur = (void *)cb->ctx;
	const struct genl_info *info = genl_info_dump(cb);
	struct mrpc_domain *d;

	NL_ASSERT_DUMP_CTX_FITS(struct mrpc_nl_egress_cursor);
	cur->all = NULL;
	cur->at = 0;
	d = mrpc_nl_domain(info, MRPC_A_EGRESS_QUEUE_DEV);
	if (IS_ERR(d))
		return PTR_ERR(d);
	cur->all = mrpc_nl_egress_look(d);
	mrpc_domain_put(d);
	return cur->all ? 0 : -ENOMEM;
}

static int mrpc_nl_put_egress_queue(struct sk_buff *skb, const struct genl_info *info,
				    const char *dev, const struct mrpc_domain_queue *q)
{
	void *hdr = mrpc_nl_begin(skb, info);
	int err;

	BUILD_BUG_ON((int)MRPC_EGRESS_QUEUE_STATE_SENDING != (int)MRPC_EGRESS_SENDING);
	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_string(skb, MRPC_A_EGRESS_QUEUE_DEV, dev) ||
	      nla_put_u32(skb, MRPC_A_EGRESS_QUEUE_SESSION, q->session) ||
	      nla_put_u32(skb, MRPC_A_EGRESS_QUEUE_CONN, q->conn) ||
	      nla_put_u32(skb, MRPC_A_EGRESS_QUEUE_DATAPATH, q->datapath) ||
	      (q->tenant[0] && nla_put_string(skb, MRPC_A_EGRESS_QUEUE_TENANT, q->tenant)) ||
	      nla_put_u32(skb, MRPC_A_EGRESS_QUEUE_WEIGHT, q->weight) ||
	      nla_put_u32(skb, MRPC_A_EGRESS_QUEUE_STATE, q->state) ||
	      (q->position && nla_put_u32(skb, MRPC_A_EGRESS_QUEUE_POSITION, q->position)) ||
	      (q->left && nla_put_u32(skb, MRPC_A_EGRESS_QUEUE_PRIORITY, q->priority)) ||
	      nla_put_uint(skb, MRPC_A_EGRESS_QUEUE_LEFT, q->left) ||
	      nla_put_u8(skb, MRPC_A_EGRESS_QUEUE_CREDIT, q->credit) ||
	      nla_put_uint(skb, MRPC_A_EGRESS_QUEUE_BELOW, q->below) ||
	      nla_put_uint(skb, MRPC_A_EGRESS_QUEUE_GRANTS, q->grants) ||
	      nla_put_uint(skb, MRPC_A_EGRESS_QUEUE_SENT, q->sent) ||
	      nla_put_uint(skb, MRPC_A_EGRESS_QUEUE_AHEAD, q->ahead);
	return mrpc_nl_end(skb, hdr, err);
}

int mrpc_nl_egress_queue_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_nl_egress_cursor *cur = (void *)cb->ctx;
	const struct genl_info *info = genl_info_dump(cb);
	int err = 0;

	for (; cur->at < cur->all->nr && !err; cur->at += !err)
		err = mrpc_nl_put_egress_queue(skb, info, cur->all->dev, &cur->all->q[cur->at]);
	return err;
}

int mrpc_nl_egress_queue_done(struct netlink_callback *cb)
{
	struct mrpc_nl_egress_cursor *cur = (void *)cb->ctx;

	kvfree(cur->all);
	return 0;
}
