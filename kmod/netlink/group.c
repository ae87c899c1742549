// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: ranks of groups, their connections, and what they have done.
 *
 * A group can have many ranks. So connections are dumped for one rank at a time, as they were when
 * the dump began, and so is the trace.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "core/session.h"
#include "group/inspect.h"
#include "group/member.h"
#include "lib/group/operation.h"
#include "netlink/dump.h"
#include "netlink/group.h"
#include "netlink/msg.h"
#include "netlink/netlink.h"
#include "netlink/session.h"
#include "netlink/strategy.h"

/*
 * The rank that a request names: @attr is the number of its group in the session. Return: with a
 * reference, or an ERR_PTR and an explanation.
 */
struct mrpc_member *mrpc_nl_member(const struct genl_info *info, int attr_session, int attr)
{
	struct mrpc_session *session;
	struct mrpc_member *m;
	u32 id;

	session = mrpc_nl_session_with(info, attr_session, attr, &id);
	if (IS_ERR(session))
		return ERR_CAST(session);
	m = mrpc_member_find(session, id);
	if (!m)
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[attr],
					"session %u has no group %u", session->id, id);
	mrpc_session_put(session);
	return m ?: ERR_PTR(-ENOENT);
}

/* -- ranks ------------------------------------------------------------------------------ */

/* What belongs to some collectives only. */
static int mrpc_nl_put_form(struct sk_buff *skb, const struct mrpc_group_record *r)
{
	return (r->collective != MRPC_BARRIER &&
		nla_put_u32(skb, MRPC_A_GROUP_OPERATION_ELEM, r->elem)) ||
	       (mrpc_collective_reduces(r->collective) &&
		nla_put_u32(skb, MRPC_A_GROUP_OPERATION_REDUCE, r->reduce)) ||
	       (mrpc_collective_has_root(r->collective) &&
		nla_put_u32(skb, MRPC_A_GROUP_OPERATION_ROOT, r->root));
}

/* @view: of the operation if it runs; NULL: it is one of a trace. */
static int mrpc_nl_put_operation(struct sk_buff *skb, int attr, const struct mrpc_group_record *r,
				 const struct mrpc_member_view *view)
{
	struct nlattr *nest = nla_nest_start(skb, attr);
	u64 now = ktime_get_ns();

	if (!nest ||
	    nla_put_uint(skb, MRPC_A_GROUP_OPERATION_NUMBER, r->seq) ||
	    nla_put_u32(skb, MRPC_A_GROUP_OPERATION_COLLECTIVE, r->collective) ||
	    nla_put_u32(skb, MRPC_A_GROUP_OPERATION_ALGORITHM, r->algorithm) ||
	    mrpc_nl_put_form(skb, r) ||
	    nla_put_uint(skb, MRPC_A_GROUP_OPERATION_COUNT, r->count) ||
	    nla_put_uint(skb, MRPC_A_GROUP_OPERATION_BYTES, r->bytes) ||
	    nla_put_u32(skb, MRPC_A_GROUP_OPERATION_PRIORITY, r->priority) ||
	    nla_put_uint(skb, MRPC_A_GROUP_OPERATION_TX_CHUNKS, r->tx_chunks) ||
	    nla_put_uint(skb, MRPC_A_GROUP_OPERATION_TX_BYTES, r->tx_bytes) ||
	    nla_put_uint(skb, MRPC_A_GROUP_OPERATION_RX_CHUNKS, r->rx_chunks) ||
	    nla_put_uint(skb, MRPC_A_GROUP_OPERATION_RX_BYTES, r->rx_bytes) ||
	    nla_put_u32(skb, MRPC_A_GROUP_OPERATION_STRATEGY, r->strategy))
		return -EMSGSIZE;
	if (view &&
	    (nla_put_uint(skb, MRPC_A_GROUP_OPERATION_AGE, now - r->began) ||
	     nla_put_uint(skb, MRPC_A_GROUP_OPERATION_LEFT,
			  view->until > now ? view->until - now : 0) ||
	     (view->awaits != MRPC_NO_RANK &&
	      nla_put_u32(skb, MRPC_A_GROUP_OPERATION_AWAITS, view->awaits))))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int mrpc_nl_put_total(struct sk_buff *skb, u32 collective,
			     const struct mrpc_group_total *total)
{
	struct nlattr *nest = nla_nest_start(skb, MRPC_A_GROUP_TOTAL);

	if (!nest ||
	    nla_put_u32(skb, MRPC_A_GROUP_TOTAL_COLLECTIVE, collective) ||
	    nla_put_uint(skb, MRPC_A_GROUP_TOTAL_COMPLETED, total->completed) ||
	    nla_put_uint(skb, MRPC_A_GROUP_TOTAL_FAILED, total->failed) ||
	    nla_put_uint(skb, MRPC_A_GROUP_TOTAL_BYTES, total->bytes) ||
	    nla_put_uint(skb, MRPC_A_GROUP_TOTAL_TIME, total->ns))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int mrpc_nl_put_totals(struct sk_buff *skb, const struct mrpc_member_view *view)
{
	u64 completed = 0, failed = 0;
	u32 i;

	for (i = 0; i < MRPC_NR_COLLECTIVES; i++) {
		completed += view->totals[i].completed;
		failed += view->totals[i].failed;
	}
	if (nla_put_uint(skb, MRPC_A_GROUP_COMPLETED, completed) ||
	    nla_put_uint(skb, MRPC_A_GROUP_FAILED, failed) ||
	    nla_put_uint(skb, MRPC_A_GROUP_TX_BYTES, view->tx_bytes) ||
	    nla_put_uint(skb, MRPC_A_GROUP_RX_BYTES, view->rx_bytes))
		return -EMSGSIZE;
	for (i = 0; i < MRPC_NR_COLLECTIVES; i++)
		if ((view->totals[i].completed || view->totals[i].failed) &&
		    mrpc_nl_put_total(skb, i, &view->totals[i]))
			return -EMSGSIZE;
	return 0;
}

/* An operation of a group that has ended can still run, until no connection uses its buffers. */
static int mrpc_nl_put_group_state(struct sk_buff *skb, const struct mrpc_member *m,
				   const struct mrpc_member_view *view)
{
	u32 state = view->running ? MRPC_GROUP_STATE_RUNNING : MRPC_GROUP_STATE_IDLE;

	if (view->status == MRPC_OK)
		return nla_put_u32(skb, MRPC_A_GROUP_STATE, state);
	return nla_put_u32(skb, MRPC_A_GROUP_STATE, MRPC_GROUP_STATE_ENDED) ||
	       nla_put_u32(skb, MRPC_A_GROUP_STATUS, view->status) ||
	       nla_put_string(skb, MRPC_A_GROUP_DETAIL, m->detail);
}

static int mrpc_nl_put_group_fixed(struct sk_buff *skb, const struct genl_info *info,
				   const struct mrpc_member *m)
{
	struct mrpc_session *session = m->session;
	u32 pid = mrpc_nl_pid(session->net, info, session->pid);

	return nla_put_u32(skb, MRPC_A_GROUP_SESSION, session->id) ||
	       nla_put_u32(skb, MRPC_A_GROUP_ID, m->id) ||
	       nla_put_string(skb, MRPC_A_GROUP_NAME, session->name) ||
	       (pid && nla_put_u32(skb, MRPC_A_GROUP_PID, pid)) ||
	       nla_put_uint(skb, MRPC_A_GROUP_KEY, m->key) ||
	       nla_put_u32(skb, MRPC_A_GROUP_RANK, m->rank) ||
	       nla_put_u32(skb, MRPC_A_GROUP_RANKS, m->ranks) ||
	       nla_put_uint(skb, MRPC_A_GROUP_AGE, ktime_get_ns() - m->joined);
}

static int mrpc_nl_fill_group(struct sk_buff *skb, const struct genl_info *info,
			      struct mrpc_member *m)
{
	void *hdr = mrpc_nl_begin(skb, info);
	struct mrpc_member_view view;
	int err;

	if (!hdr)
		return -EMSGSIZE;
	mrpc_member_view(m, &view);
	err = mrpc_nl_put_group_fixed(skb, info, m) ||
	      mrpc_nl_put_group_state(skb, m, &view) ||
	      nla_put_u32(skb, MRPC_A_GROUP_CONNS, view.conns) ||
	      nla_put_u32(skb, MRPC_A_GROUP_WAITING, view.waiting) ||
	      (view.running && mrpc_nl_put_operation(skb, MRPC_A_GROUP_OPERATION, &view.record,
						     &view)) ||
	      mrpc_nl_put_totals(skb, &view) ||
	      mrpc_nl_put_strategy(skb, m);
	return mrpc_nl_end(skb, hdr, err);
}

int mrpc_nl_group_get(struct sk_buff *request, struct genl_info *info)
{
	struct mrpc_member *m = mrpc_nl_member(info, MRPC_A_GROUP_SESSION, MRPC_A_GROUP_ID);
	struct sk_buff *skb;
	int err = -ENOMEM;

	if (IS_ERR(m))
		return PTR_ERR(m);
	skb = mrpc_nl_new(0);
	if (skb)
		err = mrpc_nl_reply(skb, info, mrpc_nl_fill_group(skb, info, m));
	mrpc_member_put(m);
	return err;
}

static int mrpc_nl_each_group(struct sk_buff *skb, const struct genl_info *info,
			      struct mrpc_session *session, struct mrpc_nl_cursor *cur)
{
	struct mrpc_member *m;
	int err = 0;

	while (!err && (m = mrpc_member_next(session, &cur->id))) {
		err = mrpc_nl_fill_group(skb, info, m);
		mrpc_member_put(m);
		if (!err)
			cur->id++;
	}
	return err;
}

int mrpc_nl_group_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return mrpc_nl_dump(skb, cb, mrpc_nl_each_group);
}

/* -- connections and trace --------------------------------------------------------------- */

/**
 * struct mrpc_nl_group_cursor - position of a dump of one rank
 * @links: its connections, by rank, or NULL
 * @records: its last operations, or NULL
 * @nr: how many of them there are
 * @at: those before are dumped
 * @session: number of the session
 * @group: the group, in the session
 * @rank: of the session
 */
struct mrpc_nl_group_cursor {
	struct mrpc_link_view *links;
	struct mrpc_group_record *records;
	u32 nr;
	u32 at;
	u32 session;
	u32 group;
	u32 rank;
};

/* Begins the dump of the rank that the request names, as mrpc_nl_member() does. */
static struct mrpc_member *mrpc_nl_group_start(struct netlink_callback *cb, int attr_session,
					       int attr)
{
	struct mrpc_nl_group_cursor *cur = (void *)cb->ctx;
	struct mrpc_member *m = mrpc_nl_member(genl_info_dump(cb), attr_session, attr);

	NL_ASSERT_DUMP_CTX_FITS(struct mrpc_nl_group_cursor);
	memset(cur, 0, sizeof(*cur));
	if (IS_ERR(m))
		return m;
	cur->session = m->session->id;
	cur->group = m->id;
	cur->rank = m->rank;
	return m;
}

int mrpc_nl_group_link_start(struct netlink_callback *cb)
{
	struct mrpc_nl_group_cursor *cur = (void *)cb->ctx;
	struct mrpc_member *m = mrpc_nl_group_start(cb, MRPC_A_GROUP_LINK_SESSION,
						    MRPC_A_GROUP_LINK_GROUP);

	if (IS_ERR(m))
		return PTR_ERR(m);
	cur->nr = m->ranks;
	cur->links = kvmalloc_array(m->ranks, sizeof(*cur->links), GFP_KERNEL_ACCOUNT);
	if (cur->links)
		mrpc_member_view_links(m, cur->links);
	mrpc_member_put(m);
	return cur->links ? 0 : -ENOMEM;
}

static int mrpc_nl_fill_group_link(struct sk_buff *skb, const struct genl_info *info,
				   const struct mrpc_nl_group_cursor *cur)
{
	const struct mrpc_link_view *link = &cur->links[cur->at];
	void *hdr = mrpc_nl_begin(skb, info);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_u32(skb, MRPC_A_GROUP_LINK_SESSION, cur->session) ||
	      nla_put_u32(skb, MRPC_A_GROUP_LINK_GROUP, cur->group) ||
	      nla_put_u32(skb, MRPC_A_GROUP_LINK_RANK, cur->at) ||
	      (link->conn && nla_put_u32(skb, MRPC_A_GROUP_LINK_CONN, link->conn)) ||
	      nla_put_u32(skb, MRPC_A_GROUP_LINK_TX_CHUNKS, link->sent) ||
	      nla_put_u32(skb, MRPC_A_GROUP_LINK_RX_CHUNKS, link->received) ||
	      (link->early && nla_put_flag(skb, MRPC_A_GROUP_LINK_EARLY)) ||
	      (link->left && nla_put_flag(skb, MRPC_A_GROUP_LINK_LEFT));
	return mrpc_nl_end(skb, hdr, err);
}

int mrpc_nl_group_link_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_nl_group_cursor *cur = (void *)cb->ctx;
	const struct genl_info *info = genl_info_dump(cb);
	int err = 0;

	for (; cur->at < cur->nr && !err; cur->at += !err)
		if (cur->at != cur->rank)
			err = mrpc_nl_fill_group_link(skb, info, cur);
	return err;
}

int mrpc_nl_group_trace_start(struct netlink_callback *cb)
{
	struct mrpc_nl_group_cursor *cur = (void *)cb->ctx;
	struct mrpc_member *m = mrpc_nl_group_start(cb, MRPC_A_GROUP_TRACE_SESSION,
						    MRPC_A_GROUP_TRACE_GROUP);

	if (IS_ERR(m))
		return PTR_ERR(m);
	cur->records = kvmalloc_array(MRPC_GROUP_TRACE, sizeof(*cur->records), GFP_KERNEL_ACCOUNT);
	if (cur->records)
		cur->nr = mrpc_trace_copy(m, cur->records);
	mrpc_member_put(m);
	return cur->records ? 0 : -ENOMEM;
}

/* Times of several hosts can be compared as far as their clocks can. */
static int mrpc_nl_put_times(struct sk_buff *skb, const struct mrpc_group_record *r)
{
	return nla_put_uint(skb, MRPC_A_GROUP_TRACE_BEGAN,
			    ktime_to_ns(ktime_mono_to_real(ns_to_ktime(r->began)))) ||
	       (r->first_sent && nla_put_uint(skb, MRPC_A_GROUP_TRACE_FIRST_SENT,
					      r->first_sent - r->began)) ||
	       (r->last_received && nla_put_uint(skb, MRPC_A_GROUP_TRACE_LAST_RECEIVED,
						 r->last_received - r->began)) ||
	       (r->ended && (nla_put_uint(skb, MRPC_A_GROUP_TRACE_DURATION, r->ended - r->began) ||
			     nla_put_u32(skb, MRPC_A_GROUP_TRACE_STATUS, r->status)));
}

static int mrpc_nl_fill_group_trace(struct sk_buff *skb, const struct genl_info *info,
				    const struct mrpc_nl_group_cursor *cur)
{
	const struct mrpc_group_record *r = &cur->records[cur->at];
	void *hdr = mrpc_nl_begin(skb, info);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_u32(skb, MRPC_A_GROUP_TRACE_SESSION, cur->session) ||
	      nla_put_u32(skb, MRPC_A_GROUP_TRACE_GROUP, cur->group) ||
	      nla_put_u32(skb, MRPC_A_GROUP_TRACE_RANK, cur->rank) ||
	      mrpc_nl_put_operation(skb, MRPC_A_GROUP_TRACE_OPERATION, r, NULL) ||
	      mrpc_nl_put_times(skb, r);
	return mrpc_nl_end(skb, hdr, err);
}

int mrpc_nl_group_trace_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_nl_group_cursor *cur = (void *)cb->ctx;
	const struct genl_info *info = genl_info_dump(cb);
	int err = 0;

	for (; cur->at < cur->nr && !err; cur->at += !err)
		err = mrpc_nl_fill_group_trace(skb, info, cur);
	return err;
}

int mrpc_nl_group_done(struct netlink_callback *cb)
{
	struct mrpc_nl_group_cursor *cur = (void *)cb->ctx;

	kvfree(cur->links);
	kvfree(cur->records);
	return 0;
}
