/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of order.h that searches all entities for each decision. To be
 * included once, after order.h. Virtual times begin at 0 and do not wrap; of
 * tenants beyond the end of the wheel it does not know who came first.
 */
#ifndef ORDER_MODEL_H
#define ORDER_MODEL_H

#define MODEL_TENANTS	6	/* the first is the common one */
#define MODEL_ENTITIES	24
#define MODEL_SCALE	12	/* bits of virtual time below 1 */

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
	} tenant[MODEL_TENANTS];
	struct {
		u32 home;
		u32 on;
		bool listed;
		u8 priority;
		u64 left;
		u64 level;
		u64 rank;	/* what its ranker says */
		s64 seq;
	} entity[MODEL_ENTITIES];
};

static u64 model_level(const struct model *m, u32 e, u8 priority, u64 left)
{
	u32 level = 255;

	if (m->rule.within == MRPC_ORDER_RANKED)
		return m->ranker ? m->ranker(priority, left) : m->entity[e].rank;

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
		if (m->entity[i].listed && m->entity[i].on == t)
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
	m->entity[e].on = t;
	m->entity[e].level = model_level(m, e, m->entity[e].priority, m->entity[e].left);
	m->entity[e].seq = head ? --m->head_seq : ++m->seq;
}

static void model_rank(struct model *m, u32 e, u8 priority, u64 left)
{
	u64 level = model_level(m, e, priority, left);

	m->entity[e].priority = priority;
	m->entity[e].left = left;
	if (m->entity[e].listed && level != m->entity[e].level) {
		m->entity[e].level = level;
		m->entity[e].seq = ++m->seq;
	}
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

/* Return: who is next, or MODEL_ENTITIES. */
static u32 model_first(const struct model *m)
{
	u32 best = MODEL_ENTITIES;
	u32 i;

	for (i = 0; i < MODEL_ENTITIES; i++) {
		u32 a = m->entity[i].on, b;
		u64 slot_a, slot_b;

		if (!m->entity[i].listed)
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
		} else if (m->entity[i].level < m->entity[best].level ||
			   (m->entity[i].level == m->entity[best].level &&
			    m->entity[i].seq < m->entity[best].seq)) {
			best = i;
		}
	}
	return best;
}

static u32 model_take(struct model *m)
{
	u32 e = model_first(m);

	if (e < MODEL_ENTITIES) {
		m->now = m->tenant[m->entity[e].on].vtime / m->grain * m->grain;
		m->entity[e].listed = false;
	}
	return e;
}

static u32 model_turn(const struct model *m, u32 e)
{
	return m->entity[e].left < m->rule.quantum ? m->entity[e].left : m->rule.quantum;
}

/* Is everybody on the wheel, so that the model knows the order? */
static bool model_is_exact(const struct model *m)
{
	u32 t;

	for (t = 0; t < MODEL_TENANTS; t++)
		if (model_tenant_listed(m, t) && m->tenant[t].vtime > m->now + 250 * m->grain)
			return false;
	return true;
}

/* Return: how many; @order: in the order of their turns */
static u32 model_walk(const struct model *m, u32 *order)
{
	struct model copy = *m;
	u32 nr = 0, e;

	while ((e = model_take(&copy)) < MODEL_ENTITIES) {
		model_charge(&copy, e, model_turn(&copy, e));
		order[nr++] = e;
	}
	return nr;
}

static void model_set(struct model *m, const struct mrpc_order_rule *rule)
{
	u32 order[MODEL_ENTITIES], nr = model_walk(m, order), i;

	for (i = 0; i < nr; i++)
		m->entity[order[i]].listed = false;
	model_apply(m, rule);
	for (i = 0; i < nr; i++)
		model_put(m, order[i], false);
}

#endif /* ORDER_MODEL_H */
