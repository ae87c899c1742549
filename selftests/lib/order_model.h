/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of order.h that searches all entities for each decision. To be
 * included once, after order.h. Virtual times begin at 0 and do not wrap; of
 * tenants beyond the end of the wheel it does not know which came first.
 */
#ifndef ORDER_MODEL_H
#define ORDER_MODEL_H

#include "order_time.h"

#define MODEL_TENANTS	6	/* the first is the common one */
#define MODEL_ENTITIES	56	/* more than are ordered anew at once */

struct model {
	struct mrpc_order_rule rule;
	u64 (*ranker)(u8 priority, u64 left);	/* or NULL: entity[].rank */
	u64 now;
	u64 grain;
	s64 seq;		/* of the latest that came; at the head they count down */
	s64 head_seq;
	struct {
		u64 vtime;
		u64 rem;
		u32 weight;
		s64 seq;	/* when it came to its slot */
		u64 stale_slot;	/* the same of what is stale, from the present on */
		s64 stale_seq;
	} tenant[MODEL_TENANTS];
	struct {
		u32 home;
		u32 on;
		bool listed;
		bool stale;	/* if it is listed */
		u8 priority;
		u64 left;
		u64 deadline;
		u64 level;
		u64 rank;	/* what its ranker says */
		s64 seq;
	} entity[MODEL_ENTITIES];
};

static void model_join(struct model *m, u32 e, u32 tenant)
{
	memset(&m->entity[e], 0, sizeof(m->entity[e]));
	m->entity[e].home = tenant;
	m->entity[e].deadline = ~0ULL;
}

static u64 model_level(const struct model *m, u32 e, u8 priority, u64 left)
{
	u32 level = 255;

	if (m->rule.within == MRPC_ORDER_RANKED)
		return m->ranker ? m->ranker(priority, left) : m->entity[e].rank;
	if (m->rule.within == MRPC_ORDER_DEADLINE)
		return m->entity[e].deadline;
	if (m->rule.within == MRPC_ORDER_FIFO)
		return 0;
	if (m->rule.within == MRPC_ORDER_STRICT)
		return 255 - priority;
	/* The last level that begins at no more than @left. */
	while (level >= 8 && (8ULL + level % 8) << (level / 8 - 1) > left)
		level--;
	return level >= 8 ? level : left;
}

static void model_apply(struct model *m, const struct mrpc_order_rule *rule)
{
	m->rule = *rule;
	for (m->grain = 1; m->grain * 128 < (u64)rule->quantum << MODEL_SCALE; m->grain *= 2)
		;
	m->now -= m->now % m->grain;
}

static bool model_tenant_listed(const struct model *m, u32 t)
{
	u32 i;

	for (i = 0; i < MODEL_ENTITIES; i++)
		if (m->entity[i].listed && !m->entity[i].stale && m->entity[i].on == t)
			return true;
	return false;
}

static void model_place(struct model *m, u32 t)
{
	u64 most = m->now + MRPC_ORDER_DEBT * 128 * m->grain;

	if (m->tenant[t].vtime < m->now || m->tenant[t].vtime > most) {
		m->tenant[t].vtime = m->tenant[t].vtime < m->now ? m->now : most;
		m->tenant[t].rem = 0;
	}
	m->tenant[t].seq = ++m->seq;
}

static void model_put(struct model *m, u32 e, bool head)
{
	u32 t = m->rule.fair ? m->entity[e].home : 0;

	if (m->entity[e].listed)
		return;
	if (!model_tenant_listed(m, t))
		model_place(m, t);
	m->entity[e].listed = true;
	m->entity[e].stale = false;
	m->entity[e].on = t;
	m->entity[e].level = model_level(m, e, m->entity[e].priority, m->entity[e].left);
	m->entity[e].seq = head ? --m->head_seq : ++m->seq;
}

static void model_rank(struct model *m, u32 e, u8 priority, u64 left)
{
	u64 level = model_level(m, e, priority, left);

	m->entity[e].priority = priority;
	m->entity[e].left = left;
	if (m->entity[e].listed && !m->entity[e].stale && level != m->entity[e].level) {
		m->entity[e].level = level;
		m->entity[e].seq = ++m->seq;
	}
}

static void model_due(struct model *m, u32 e, u64 deadline)
{
	m->entity[e].deadline = deadline;
	model_rank(m, e, m->entity[e].priority, m->entity[e].left);
}

static void model_charge(struct model *m, u32 e, s64 cost)
{
	u32 t = m->entity[e].home;
	__int128 total;

	if (!m->rule.fair)
		return;
	total = (__int128)m->tenant[t].vtime * m->tenant[t].weight + m->tenant[t].rem;
	total += (__int128)cost * (1 << MODEL_SCALE);
	if (total < 0)
		total = 0;
	m->tenant[t].vtime = total / m->tenant[t].weight;
	m->tenant[t].rem = total % m->tenant[t].weight;
	model_place(m, t);
}

static void model_weight(struct model *m, u32 t, u32 weight)
{
	if (m->tenant[t].vtime > m->now) {
		u64 debt = m->tenant[t].vtime - m->now;

		m->tenant[t].vtime = m->now + (u64)((__int128)debt * m->tenant[t].weight / weight);
	}
	m->tenant[t].rem = 0;
	m->tenant[t].weight = weight;
	model_place(m, t);
}

static u32 model_stale(const struct model *m)
{
	u32 nr = 0, i;

	for (i = 0; i < MODEL_ENTITIES; i++)
		nr += m->entity[i].listed && m->entity[i].stale;
	return nr;
}

/* Inside a tenant. */
static bool model_before(const struct model *m, u32 a, u32 b)
{
	return m->entity[a].level < m->entity[b].level ||
	       (m->entity[a].level == m->entity[b].level && m->entity[a].seq < m->entity[b].seq);
}

/* Of the tenant whose turn it is the first, or MODEL_ENTITIES: nothing is stale. */
static u32 model_first_stale(const struct model *m)
{
	u32 best = MODEL_ENTITIES;
	u32 i;

	for (i = 0; i < MODEL_ENTITIES; i++) {
		u32 a = m->entity[i].on, b;

		if (!m->entity[i].listed || !m->entity[i].stale)
			continue;
		b = best < MODEL_ENTITIES ? m->entity[best].on : a;
		if (best == MODEL_ENTITIES ||
		    m->tenant[a].stale_slot < m->tenant[b].stale_slot ||
		    (m->tenant[a].stale_slot == m->tenant[b].stale_slot &&
		     (a == b ? model_before(m, i, best) :
			       m->tenant[a].stale_seq < m->tenant[b].stale_seq)))
			best = i;
	}
	return best;
}

static void model_settle(struct model *m)
{
	u32 i, e;

	for (i = 0; i < MRPC_ORDER_BATCH; i++) {
		e = model_first_stale(m);
		if (e == MODEL_ENTITIES)
			return;
		m->tenant[m->entity[e].on].stale_slot++;
		m->tenant[m->entity[e].on].stale_seq = ++m->seq;
		m->entity[e].listed = false;
		model_put(m, e, false);
	}
}

/* Return: the next one of what is in order, or MODEL_ENTITIES. */
static u32 model_first_now(const struct model *m)
{
	u32 best = MODEL_ENTITIES;
	u32 i;

	for (i = 0; i < MODEL_ENTITIES; i++) {
		u32 a = m->entity[i].on, b;
		u64 slot_a, slot_b;

		if (!m->entity[i].listed || m->entity[i].stale)
			continue;
		if (best == MODEL_ENTITIES) {
			best = i;
			continue;
		}
		b = m->entity[best].on;
		slot_a = m->tenant[a].vtime / m->grain;
		slot_b = m->tenant[b].vtime / m->grain;
		if (a != b) {
			if (slot_a < slot_b ||
			    (slot_a == slot_b && m->tenant[a].seq < m->tenant[b].seq))
				best = i;
		} else if (model_before(m, i, best)) {
			best = i;
		}
	}
	return best;
}

/* Return: the next one, or MODEL_ENTITIES. */
static u32 model_first(struct model *m)
{
	model_settle(m);
	return model_first_now(m);
}

static void model_start(struct model *m, u32 e)
{
	m->now = m->tenant[m->entity[e].on].vtime / m->grain * m->grain;
	m->entity[e].listed = false;
}

static u32 model_take(struct model *m)
{
	u32 e = model_first(m);

	if (e < MODEL_ENTITIES)
		model_start(m, e);
	return e;
}

static u32 model_turn(const struct model *m, u32 e)
{
	return m->entity[e].left < m->rule.quantum ? m->entity[e].left : m->rule.quantum;
}

/* Returns true if each listed tenant is or will be on the wheel: then the model knows the order. */
static bool model_is_exact(const struct model *m)
{
	u32 i;

	for (i = 0; i < MODEL_ENTITIES; i++) {
		u32 t = m->entity[i].stale && m->rule.fair ? m->entity[i].home : m->entity[i].on;

		if (m->entity[i].listed && m->tenant[t].vtime > m->now + 250 * m->grain)
			return false;
	}
	return true;
}

/* Return: how many are in order; @order: in the order of their turns */
static __attribute__((__unused__)) u32 model_walk(const struct model *m, u32 *order)
{
	struct model copy = *m;
	u32 nr = 0, e;

	while ((e = model_first_now(&copy)) < MODEL_ENTITIES) {
		model_start(&copy, e);
		model_charge(&copy, e, model_turn(&copy, e));
		order[nr++] = e;
	}
	return nr;
}

/* Nothing is stale. */
static void model_set(struct model *m, const struct mrpc_order_rule *rule)
{
	u64 now = m->now / m->grain;
	u32 i;

	if (rule->within == m->rule.within && rule->fair == m->rule.fair &&
	    rule->quantum == m->rule.quantum && !rule->ranker)
		return;
	for (i = 0; i < MODEL_TENANTS; i++) {
		u64 slot = m->tenant[i].vtime / m->grain;

		m->tenant[i].stale_slot = slot > now ? slot - now : 0;
		m->tenant[i].stale_seq = m->tenant[i].seq;
	}
	for (i = 0; i < MODEL_ENTITIES; i++)
		m->entity[i].stale = m->entity[i].listed;
	model_apply(m, rule);
}

#endif /* ORDER_MODEL_H */
