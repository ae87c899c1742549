/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The order of a group's members in a ring, by their places.
 *
 * A ring sends all data once over each of its edges. An edge between two racks uses the links
 * above the racks, which are often oversubscribed. So a good ring enters and leaves each pod, each
 * rack and each host only once.
 *
 * The order here is that of the places: pod, rack, host, and last the member's index. All members
 * of a host are neighbours, as are all of a rack and all of a pod. With n > 1 pods, exactly n edges
 * cross between pods, and no ring has fewer. The same is true of racks and of hosts, at the same
 * time.
 *
 * Several rings can be made of one group, with a @turn each. A turn changes which member of a host
 * is the first there, and so which network device carries what leaves the host. The number of
 * edges that cross stays the least one.
 *
 * The code here does not lock, allocate or recurse. It takes O(n log n) steps.
 */
#ifndef MRPC_LIB_GROUP_RING_ORDER_H
#define MRPC_LIB_GROUP_RING_ORDER_H

#include "lib/ds/types.h"

#define MRPC_RING_MAX	(1U << 20)	/* members */

/**
 * struct mrpc_ring_member - the place of a member
 * @pod: number of its pod
 * @rack: number of its rack; a rack is in one pod
 * @host: number of its host; a host is in one rack
 *
 * The numbers are names: any values, with gaps, in any order. Several members can have the same
 * place, for example one for each GPU of a host.
 */
struct mrpc_ring_member {
	u32 pod;
	u32 rack;
	u32 host;
};

/**
 * struct mrpc_ring_error - why members were refused
 * @what: a sentence without its subject, static
 * @member: index of the member, or U32_MAX: not about a single member
 * @value: the offending value
 */
struct mrpc_ring_error {
	const char *what;
	u32 member;
	u32 value;
};

/**
 * struct mrpc_ring_crossings - edges of a ring between different places
 * @hosts: edges between hosts, also those that count below
 * @racks: edges between racks, also those that count below
 * @pods: edges between pods
 */
struct mrpc_ring_crossings {
	u32 hosts;
	u32 racks;
	u32 pods;
};

/**
 * mrpc_ring_order() - put members in the order of a ring
 * @members: places
 * @nr: number of members, 1 to MRPC_RING_MAX
 * @turn: 0: the members of a host are in the order of their indexes. Else the order on each host
 *	begins @turn members later, modulo the number of members on that host
 * @order: out: @nr indexes of @members, each one once; the last is followed by the first
 * @err: filled on failure
 *
 * The result depends only on the arguments. If equal places swap their members, only these
 * members are swapped in the ring.
 *
 * Return: 0; -EINVAL: no member, or a host in two racks, or a rack in two pods; -E2BIG: too many.
 */
int mrpc_ring_order(const struct mrpc_ring_member *members, u32 nr, u32 turn, u32 *order,
		    struct mrpc_ring_error *err);

/**
 * mrpc_ring_count() - count the edges of a ring that leave a place
 * @members: places
 * @nr: number of members
 * @order: indexes of @members in the order of the ring
 * @out: filled
 */
void mrpc_ring_count(const struct mrpc_ring_member *members, u32 nr, const u32 *order,
		     struct mrpc_ring_crossings *out);

#endif /* MRPC_LIB_GROUP_RING_ORDER_H */
