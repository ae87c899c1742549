// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of replicas: the view of policies and operators; see replica.h.
 */
#include "core/conn.h"
#include "core/engine.h"
#include "core/engine_count.h"
#include "lib/balance.h"
#include "replica/egress.h"
#include "replica/replica.h"
#include "replica/set.h"
#include "replica/show.h"

static u8 mrpc_replica_lb_state(const struct mrpc_member *m)
{
	static const u8 states[] = {
		[MRPC_MEMBER_NEW] = MRPC_LB_DOWN,
		[MRPC_MEMBER_OK] = MRPC_LB_UP,
		[MRPC_MEMBER_SUSPECT] = MRPC_LB_SUSPECT,
		[MRPC_MEMBER_EJECTED] = MRPC_LB_EJECTED,
		[MRPC_MEMBER_TRIAL] = MRPC_LB_TRIAL,
	};

	return !m->linked ? MRPC_LB_DOWN : !m->weight ? MRPC_LB_DRAINING : states[m->state];
}

/**
 * mrpc_replicas_show() - get the replicas to choose from
 * @set: the set
 * @c: out
 *
 * Context: owner of the transmit claim of the set's connection.
 * Return: true; false: there is no choice now, and @c is not valid.
 */
bool mrpc_replicas_show(struct mrpc_replicas *set, struct mrpc_candidates *c)
{
	u64 now = ktime_get_ns();
	u32 fit = 0, i;
	bool behind;

	BUILD_BUG_ON(MRPC_LB_CANDIDATES != MRPC_BALANCE_MEMBERS);
	spin_lock(&set->lock);
	behind = mrpc_replicas_behind(set);
	c->nr = set->b.nr;
	for (i = 0; i < c->nr; i++) {
		const struct mrpc_member *m = set->b.members[i];
		bool able = mrpc_member_fit(m, now);

		c->all[i] = (struct mrpc_lb_candidate){
			.key = m->key,
			.picks = m->picks,
			.failures = m->failures,
			.latency = m->latency,
			.weight = m->weight,
			.outstanding = m->outstanding,
			.bad = m->bad,
			.state = mrpc_replica_lb_state(m),
			.fit = able,
		};
		fit |= able ? BIT(i) : 0;
	}
	spin_unlock(&set->lock);
	c->set = (struct mrpc_lb_set){ .nr = c->nr, .fit = fit };
	return fit && !behind;
}

/**
 * mrpc_replicas_look() - get the state of one of a connection's replicas
 * @conn: the connection
 * @index: in the order of the operator's list, of the first set
 * @out: out
 *
 * Context: process; does not sleep. Return: number of replicas; -ENOENT: there is no replica
 * @index.
 */
int mrpc_replicas_look(struct mrpc_conn *conn, u32 index, struct mrpc_policy_replica *out)
{
	struct mrpc_replicas *set;
	int ret = -ENOENT;

	spin_lock(&conn->lock);
	set = list_first_entry_or_null(&conn->replicas, struct mrpc_replicas, list);
	if (set)
		refcount_inc(&set->ref);
	spin_unlock(&conn->lock);
	if (!set)
		return ret;
	spin_lock(&set->lock);
	if (index < set->b.nr) {
		const struct mrpc_member *m = set->b.members[index];

		out->picks = m->picks;
		out->failures = m->failures;
		out->weight = m->weight;
		out->outstanding = m->outstanding;
		out->fit = mrpc_member_fit(m, ktime_get_ns());
		ret = set->b.nr;
	}
	spin_unlock(&set->lock);
	mrpc_replicas_drop(set);
	return ret;
}

/**
 * mrpc_replicas_explain() - explain why no replica is fit
 * @set: the set
 * @buf: out: a sentence
 * @size: its bytes
 */
void mrpc_replicas_explain(struct mrpc_replicas *set, char *buf, size_t size)
{
	const struct mrpc_replica *replica;
	u32 i;

	spin_lock(&set->lock);
	scnprintf(buf, size, "%s: none of its %u replicas is fit", set->name, set->b.nr);
	for (i = 0; i < set->b.nr; i++) {
		replica = mrpc_replica_of(set->b.members[i]);
		if (!replica->m.weight)
			continue;
		scnprintf(buf, size, "%s: none of its %u replicas is fit: %s: %s", set->name,
			  set->b.nr, replica->place.name,
			  replica->why ?: replica->m.state == MRPC_MEMBER_EJECTED ?
			  "too many of its calls have failed" : "its link is ending");
		break;
	}
	spin_unlock(&set->lock);
}
EXPORT_SYMBOL_GPL(mrpc_replicas_explain);

static int mrpc_replica_put_counter(struct sk_buff *skb, const struct mrpc_replica_place *place,
				    const char *what, u64 value)
{
	char name[64];

	scnprintf(name, sizeof(name), "%s/%s", place->name, what);
	return mrpc_engine_put_u64(skb, name, value);
}

/**
 * mrpc_replicas_dump() - put the counters of each replica
 * @set: the set
 * @skb: destination
 *
 * Return: 0 or -EMSGSIZE.
 */
int mrpc_replicas_dump(struct mrpc_replicas *set, struct sk_buff *skb)
{
	int err = 0;
	u32 i;

	spin_lock(&set->lock);
	for (i = 0; i < set->b.nr && !err; i++) {
		const struct mrpc_replica *r = mrpc_replica_of(set->b.members[i]);
		const struct mrpc_member *m = &r->m;

		err = mrpc_replica_put_counter(skb, &r->place, "linked", m->linked) ?:
		      mrpc_replica_put_counter(skb, &r->place, "ejected",
					       m->state == MRPC_MEMBER_EJECTED) ?:
		      mrpc_replica_put_counter(skb, &r->place, "suspect",
					       m->state == MRPC_MEMBER_SUSPECT ||
					       m->state == MRPC_MEMBER_TRIAL) ?:
		      mrpc_replica_put_counter(skb, &r->place, "outstanding", m->outstanding) ?:
		      mrpc_replica_put_counter(skb, &r->place, "picks", m->picks) ?:
		      mrpc_replica_put_counter(skb, &r->place, "failures", m->failures);
	}
	spin_unlock(&set->lock);
	return err;
}
EXPORT_SYMBOL_GPL(mrpc_replicas_dump);
