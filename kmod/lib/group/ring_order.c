// SPDX-License-Identifier: GPL-2.0
/*
 * Rings that cross as few boundaries as possible: see ring_order.h for the contract.
 */
#include "lib/group/ring_order.h"

/* What a sort compares first. Equal members are in the order of their indexes. */
enum ring_key {
	RING_BY_HOST,
	RING_BY_RACK,
	RING_BY_PLACE,	/* pod, rack, host */
};

static bool ring_before(const struct mrpc_ring_member *members, enum ring_key key, u32 i, u32 k)
{
	const struct mrpc_ring_member *a = &members[i], *b = &members[k];

	if (key == RING_BY_PLACE && a->pod != b->pod)
		return a->pod < b->pod;
	if (key != RING_BY_HOST && a->rack != b->rack)
		return a->rack < b->rack;
	if (key != RING_BY_RACK && a->host != b->host)
		return a->host < b->host;
	return i < k;
}

/* Lets the entry at @at sink in the heap of the first @nr entries, whose first is the last. */
static void ring_sink(const struct mrpc_ring_member *members, enum ring_key key, u32 *order,
		      u32 nr, u32 at)
{
	u32 child;

	while ((child = 2 * at + 1) < nr) {
		if (child + 1 < nr && ring_before(members, key, order[child], order[child + 1]))
			child++;
		if (!ring_before(members, key, order[at], order[child]))
			return;
		swap(order[at], order[child]);
		at = child;
	}
}

/* Heap sort: O(n log n) whatever the input, no memory, no recursion. */
static void ring_sort(const struct mrpc_ring_member *members, enum ring_key key, u32 *order,
		      u32 nr)
{
	u32 i;

	for (i = nr / 2; i--; )
		ring_sink(members, key, order, nr, i);
	for (i = nr; --i; ) {
		swap(order[0], order[i]);
		ring_sink(members, key, order, i, 0);
	}
}

static int ring_refuse(struct mrpc_ring_error *err, int why, const char *what, u32 member,
		       u32 value)
{
	*err = (struct mrpc_ring_error){ .what = what, .member = member, .value = value };
	return why;
}

/* After a sort by hosts all members of a host are neighbours: compares each with the one before. */
static int ring_check_hosts(const struct mrpc_ring_member *members, const u32 *order, u32 nr,
			    struct mrpc_ring_error *err)
{
	const struct mrpc_ring_member *m, *before;
	u32 i;

	for (i = 1; i < nr; i++) {
		m = &members[order[i]];
		before = &members[order[i - 1]];
		if (m->host == before->host && m->rack != before->rack)
			return ring_refuse(err, -EINVAL, "has a host that is also in another rack",
					   order[i], m->host);
	}
	return 0;
}

static int ring_check_racks(const struct mrpc_ring_member *members, const u32 *order, u32 nr,
			    struct mrpc_ring_error *err)
{
	const struct mrpc_ring_member *m, *before;
	u32 i;

	for (i = 1; i < nr; i++) {
		m = &members[order[i]];
		before = &members[order[i - 1]];
		if (m->rack == before->rack && m->pod != before->pod)
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
	ring_sort(members, RING_BY_HOST, order, nr);
	ret = ring_check_hosts(members, order, nr, err);
	if (ret)
		return ret;
	ring_sort(members, RING_BY_RACK, order, nr);
	ret = ring_check_racks(members, order, nr, err);
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
