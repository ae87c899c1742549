// SPDX-License-Identifier: GPL-2.0
/*
 * Changing all datapaths of a scope, one after the other.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "chain/chain.h"
#include "change/change.h"
#include "control/rollout.h"
#include "core/conn.h"
#include "core/net.h"
#include "core/placement.h"
#include "egress/domain.h"
#include "replica/egress.h"

/* References to all datapaths of a namespace, now, or to all @links of replicas. */
static struct mrpc_conn **mrpc_datapaths_get(struct mrpc_net *mn, bool links, u32 *nr)
{
	struct list_head *list = links ? &mn->links : &mn->datapaths;
	const u32 *count = links ? &mn->nr_links : &mn->nr_datapaths;
	struct mrpc_conn **conns, *conn;
	u32 cap;

	for (;;) {
		cap = READ_ONCE(*count) + 16;
		conns = kvmalloc_array(cap, sizeof(*conns), GFP_KERNEL);
		if (!conns)
			return NULL;
		*nr = 0;
		spin_lock(&mn->lock);
		if (*count <= cap) {
			list_for_each_entry(conn, list, dp.in_net) {
				mrpc_conn_get(conn);
				conns[(*nr)++] = conn;
			}
			spin_unlock(&mn->lock);
			return conns;
		}
		spin_unlock(&mn->lock);
		kvfree(conns);
	}
}

static int mrpc_cmp_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void mrpc_change_summary(struct mrpc_change_result *r, u64 *pauses)
{
	u32 i;

	if (!r->changed)
		return;
	sort(pauses, r->changed, sizeof(*pauses), mrpc_cmp_u64, NULL);
	for (i = 0; i < r->changed; i++)
		r->pause_total += pauses[i];
	r->pause_p50 = pauses[r->changed / 2];
	r->pause_p99 = pauses[min(r->changed - 1, r->changed * 99 / 100)];
	r->pause_max = pauses[r->changed - 1];
}

static void mrpc_change_stuck(const struct mrpc_conn *conn, int err)
{
	pr_warn_ratelimited("mrpc: datapath %u is not as the engines are placed: it could not be changed back (%pe)\n",
			    conn->dp_id, ERR_PTR(err));
}

/*
 * Ends a connection that cannot have its engines, because of its own services. The application
 * chose these, so they do not keep the operator from changing the other connections.
 */
static void mrpc_change_unfit(struct mrpc_conn *conn)
{
	pr_warn_ratelimited("mrpc: datapath %u ends: a service of it has too many methods for the rules\n",
			    conn->dp_id);
	mrpc_conn_close(conn, MRPC_RESOURCE_EXHAUSTED,
			"a service has too many methods for the operator's rules", true);
}

/*
 * Changes one datapath of a scope.
 *
 * Return: 0; 1: the application has chosen services that are too large for its engines; or a
 * negative errno.
 */
static int mrpc_change_one(struct mrpc_conn *conn, struct mrpc_change_result *result, u64 *pauses,
			   struct netlink_ext_ack *extack)
{
	int ret = mrpc_datapath_change(conn, !extack, &pauses[result->changed], &result->leaked,
				       extack);

	if (ret >= 0) {
		result->changed += ret;
		return 0;
	}
	if (ret == -E2BIG && extack)
		return 1;
	result->failed_dp = conn->dp_id;
	if (!extack)
		mrpc_change_stuck(conn, ret);
	return ret;
}

/**
 * mrpc_change_apply() - bring the datapaths of a scope to what the placements say
 * @net: the network namespace
 * @scope: the scope
 * @result: what was done
 * @extack: why not; NULL: this takes something back: no signal ends it, and no
 *	failure keeps the others from going back
 *
 * One after the other; each stands still only for its own change. A failure stops the change at
 * once. A connection with services that are too large for its engines does not: it ends when all
 * other connections have been changed. Called under mrpc_net.change.
 *
 * Context: process; waits, interruptibly.
 * Return: 0 or a negative errno.
 */
int mrpc_change_apply(struct net *net, const struct mrpc_scope *scope,
		      struct mrpc_change_result *result, struct netlink_ext_ack *extack)
{
	u64 start = ktime_get_ns(), *pauses;
	struct mrpc_conn **conns;
	u32 nr, i, unfit = 0;
	int err = 0, ret;

	conns = mrpc_datapaths_get(mrpc_net(net), false, &nr);
	if (!conns)
		return -ENOMEM;
	pauses = kvmalloc_array(nr + 1, sizeof(*pauses), GFP_KERNEL);
	if (!pauses)
		err = -ENOMEM;
	for (i = 0; i < nr; i++) {
		if (pauses && (!err || !extack) && mrpc_scope_matches(scope, conns[i])) {
			result->matched++;
			ret = mrpc_change_one(conns[i], result, pauses, extack);
			cond_resched();
			if (ret > 0) {
				conns[unfit++] = conns[i];
				continue;
			}
			err = err ?: ret;
		}
		mrpc_conn_put(conns[i]);
	}
	for (i = 0; i < unfit; i++) {
		if (!err)
			mrpc_change_unfit(conns[i]);
		mrpc_conn_put(conns[i]);
	}
	if (pauses)
		mrpc_change_summary(result, pauses);
	result->duration = ktime_get_ns() - start;
	kvfree(pauses);
	kvfree(conns);
	return err;
}

/* One that is in the right place is not touched. */
static void mrpc_datapath_follow(struct mrpc_conn *conn)
{
	mutex_lock(&conn->dp.change_lock);
	if (conn->link.priv && !mrpc_domain_fits(conn))
		mrpc_datapath_place(conn, mrpc_chain_of(&conn->dp));
	mutex_unlock(&conn->dp.change_lock);
}

static int mrpc_datapaths_follow_all(struct mrpc_net *mn, bool links)
{
	struct mrpc_conn **conns;
	u32 nr, i;

	conns = mrpc_datapaths_get(mn, links, &nr);
	if (!conns)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		if (READ_ONCE(conns[i]->state) != MRPC_CONN_CLOSED) {
			if (links)
				mrpc_replica_place(conns[i]);
			else
				mrpc_datapath_follow(conns[i]);
			cond_resched();
		}
		mrpc_conn_put(conns[i]);
	}
	kvfree(conns);
	return 0;
}

/**
 * mrpc_datapaths_follow() - domains have come or gone: all datapaths go where they belong
 * @net: the network namespace
 *
 * They wait for no signal: none is left half-way. Those that have ended leave by themselves.
 *
 * Context: process; waits.
 * Return: 0 or -ENOMEM.
 */
int mrpc_datapaths_follow(struct net *net)
{
	struct mrpc_net *mn = mrpc_net(net);
	int err = mrpc_datapaths_follow_all(mn, false);

	return mrpc_datapaths_follow_all(mn, true) ?: err;
}
