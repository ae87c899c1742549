// SPDX-License-Identifier: GPL-2.0
/*
 * Rings that cross as few boundaries as possible: see ring_order.h for the contract.
 */
#include "lib/ds/sort.h"
#include "lib/group/ring_order.h"

/* What a sort compares first. Equal members are in the order of their indexes. */
enum ring_key {
	RING_BY_HOST,
	RING_BY_RACK,
	RING_BY_PLACE,	/* pod, rack, host */
};

struct ring_sort {
	const struct mrpc_ring_member *members;
	enum ring_key key;
};

static int ring_compare(const void *a, const void *b, const void *priv)
{
	const struct ring_sort *sort = priv;
	u32 i = *(const u32 *)a, k = *(const u32 *)b;
	const struct mrpc_ring_member *m = &sort->members[i], *n = &sort->members[k];

	if (sort->key == RING_BY_PLACE && m->pod != n->pod)
		return m->pod < n->pod ? -1 : 1;
	if (sort->key != RING_BY_HOST && m->rack != n->rack)
		return m->rack < n->rack ? -1 : 1;
	if (sort->key != RING_BY_RACK && m->host != n->host)
		return m->host < n->host ? -1 : 1;
	return i < k ? -1 : i > k;
}

static void ring_sort(const struct mrpc_ring_member *members, enum ring_key key, u32 *order,
		      u32 nr)
{
	const struct ring_sort sort = { members, key };

	sort_r(order, nr, sizeof(*order), ring_compare, NULL, &sort);
}

static int ring_refuse(struct mrpc_ring_error *err, int why, const char *what, u32 member,
		       u32 value)
{
	*err = (struct mrpc_ring_error){ .what = what, .member = member, .value = value };
	return why;
}

/*
 * Checks that each host is in one rack, or each rack in one pod. After a sort all members of one
 * are neighbours, so each member is compared with the one before it.
 */
static int ring_check(const struct mrpc_ring_member *members, enum ring_key key, u32 *order, u32 nr,
		      struct mrpc_ring_error *err)
{
	const struct mrpc_ring_member *m, *before;
	u32 i;

	ring_sort(members, key, order, nr);
	for (i = 1; i < nr; i++) {
		m = &members[order[i]];
		before = &members[order[i - 1]];
		if (key == RING_BY_HOST && m->host == before->host && m->rack != before->rack)
			return ring_refuse(err, -EINVAL, "has a host that is also in another rack",
					   order[i], m->host);
		if (key == RING_BY_RACK && m->rack == before->rack && m->pod != before->pod)
			return ring_refuse(err, -EINVAL, "has a rack that is also in another pod",
					   order[i], m->rack);
	}
	return 0;
}

/* Reverses @nr entries. */
static void ring_reverse(u32 *order, u32 nr)
{
	u32 i;

	for (i = 0; i < nr / 2; i++)
		swap(order[i], order[nr - 1 - i]);
}

/* Rotates the members of each host, by three reversals each. */
static void ring_turn(const struct mrpc_ring_member *members, u32 *order, u32 nr, u32 turn)
{
	u32 from, to, by;

	for (from = 0; from < nr; from = to) {
		for (to = from + 1; to < nr; to++)
			if (members[order[to]].host != members[order[from]].host)
				break;
		by = turn % (to - from);
		ring_reverse(order + from, by);
		ring_reverse(order + from + by, to - from - by);
		ring_reverse(order + from, to - from);
	}
}

int mrpc_ring_order(const struct mrpc_ring_member *members, u32 nr, u32 turn, u32 *order,
		    struct mrpc_ring_error *err)
{
	int ret;
	u32 i;

	if (!nr)
		return ring_refuse(err, -EINVAL, "has no member", U32_MAX, nr);
	if (nr > MRPC_RING_MAX)
		return ring_refuse(err, -E2BIG, "has too many members", U32_MAX, nr);
	for (i = 0; i < nr; i++)
		order[i] = i;
	ret = ring_check(members, RING_BY_HOST, order, nr, err);
	if (!ret)
		ret = ring_check(members, RING_BY_RACK, order, nr, err);
	if (ret)
		return ret;
	ring_sort(members, RING_BY_PLACE, order, nr);
	ring_turn(members, order, nr, turn);
	return 0;
}

void mrpc_ring_count(const struct mrpc_ring_member *members, u32 nr, const u32 *order,
		     struct mrpc_ring_crossings *out)
{
	const struct mrpc_ring_member *a, *b;
	u32 i;

	*out = (struct mrpc_ring_crossings){};
	for (i = 0; i < nr; i++) {
		a = &members[order[i]];
		b = &members[order[i + 1 < nr ? i + 1 : 0]];
		out->hosts += a->host != b->host;
		out->racks += a->rack != b->rack;
		out->pods += a->pod != b->pod;
	}
}
