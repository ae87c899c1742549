// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/group/ring_order */
/*
 * Rings by places: kmod/lib/group/ring_order.c, against all orders of few members and against
 * the number of places of many.
 */
#include "lib/group/ring_order.h"
#include "rnd.h"
#include "tap.h"

#define FEW	8
#define MANY	100000

/* Places of @nr members: at most @pods pods, and so on down. A host's number tells its rack. */
static void draw_members(u64 *rnd, struct mrpc_ring_member *m, u32 nr, u32 pods, u32 racks,
			 u32 hosts)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		m[i].pod = rnd_below(rnd, pods);
		m[i].rack = m[i].pod + pods * rnd_below(rnd, racks);
		m[i].host = (m[i].rack + pods * racks * rnd_below(rnd, hosts)) * 2654435761U;
		/* Numbers are names: they need not be small, nor in the order of those above. */
		m[i].rack *= 40503 * 65537U;
		m[i].pod = ~m[i].pod;
	}
}

static void make_order(const struct mrpc_ring_member *m, u32 nr, u32 turn, u32 *order)
{
	struct mrpc_ring_error err;
	int ret;

	memset(order, 0xff, nr * sizeof(*order));
	ret = mrpc_ring_order(m, nr, turn, order, &err);
	CHECK_MSG(!ret, "%d: member %u %s: %u", ret, err.member, err.what, err.value);
}

/* Each member once. */
static void check_permutation(const u32 *order, u32 nr)
{
	bool *seen = calloc(nr, 1);
	bool good = true;
	u32 i;

	for (i = 0; i < nr; i++) {
		good &= order[i] < nr && !seen[order[i]];
		if (good)
			seen[order[i]] = true;
	}
	free(seen);
	CHECK(good);
}

/* -- all orders of few members -------------------------------------------------- */

/* The next permutation after @order in lexical order. Return: false: there is none. */
static bool next_permutation(u32 *order, u32 nr)
{
	u32 i = nr, k;

	do {
		if (i < 2)
			return false;
		i--;
	} while (order[i - 1] > order[i]);
	for (k = nr - 1; order[k] < order[i - 1]; k--)
		;
	swap(order[k], order[i - 1]);
	for (k = nr - 1; i < k; i++, k--)
		swap(order[i], order[k]);
	return true;
}

/* The least of each kind, each over all rings. The first member can stay where it is. */
static void try_all_orders(const struct mrpc_ring_member *m, u32 nr,
			   struct mrpc_ring_crossings *least)
{
	struct mrpc_ring_crossings c;
	u32 order[FEW], i;

	for (i = 0; i < nr; i++)
		order[i] = i;
	*least = (struct mrpc_ring_crossings){ U32_MAX, U32_MAX, U32_MAX };
	do {
		mrpc_ring_count(m, nr, order, &c);
		least->hosts = min(least->hosts, c.hosts);
		least->racks = min(least->racks, c.racks);
		least->pods = min(least->pods, c.pods);
	} while (next_permutation(order + 1, nr - 1));
}

TEST(no_ring_of_few_crosses_less)
{
	struct mrpc_ring_crossings least, got;
	struct mrpc_ring_member m[FEW];
	u32 round, nr, order[FEW];
	u64 rnd = 21;

	for (round = 0; round < 600; round++) {
		nr = 1 + round % FEW;
		draw_members(&rnd, m, nr, 1 + rnd_below(&rnd, 3), 1 + rnd_below(&rnd, 3),
			     1 + rnd_below(&rnd, 3));
		make_order(m, nr, rnd_below(&rnd, 5), order);
		check_permutation(order, nr);
		mrpc_ring_count(m, nr, order, &got);
		try_all_orders(m, nr, &least);
		CHECK_EQ(got.hosts, least.hosts);
		CHECK_EQ(got.racks, least.racks);
		CHECK_EQ(got.pods, least.pods);
	}
}

/* Two racks of two hosts of two members, by hand. */
TEST(count_counts)
{
	static const struct mrpc_ring_member m[] = {
		{ 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 1 }, { 0, 0, 1 },
		{ 1, 1, 2 }, { 1, 1, 2 }, { 1, 1, 3 }, { 1, 1, 3 },
	};
	static const u32 good[] = { 0, 1, 2, 3, 4, 5, 6, 7 }, bad[] = { 0, 4, 1, 5, 2, 6, 3, 7 };
	struct mrpc_ring_crossings c;

	mrpc_ring_count(m, 8, good, &c);
	CHECK_EQ(c.hosts, 4);
	CHECK_EQ(c.racks, 2);
	CHECK_EQ(c.pods, 2);
	mrpc_ring_count(m, 8, bad, &c);
	CHECK_EQ(c.hosts, 8);
	CHECK_EQ(c.racks, 8);
	CHECK_EQ(c.pods, 8);
}

/* -- order of the input ---------------------------------------------------------- */

/* The same places in another order of input make a ring over the same places in the same order. */
TEST(input_order_does_not_matter)
{
	struct mrpc_ring_member m[40], shuffled[40];
	u32 a[40], b[40], round, i, k, nr;
	u64 rnd = 22;

	for (round = 0; round < 300; round++) {
		nr = 1 + rnd_below(&rnd, 40);
		draw_members(&rnd, m, nr, 2, 3, 3);
		memcpy(shuffled, m, sizeof(m));
		for (i = nr - 1; i; i--) {
			k = rnd_below(&rnd, i + 1);
			swap(shuffled[i], shuffled[k]);
		}
		make_order(m, nr, round % 4, a);
		make_order(shuffled, nr, round % 4, b);
		for (i = 0; i < nr; i++)
			CHECK(!memcmp(&m[a[i]], &shuffled[b[i]], sizeof(*m)));
		make_order(m, nr, round % 4, b);
		CHECK(!memcmp(a, b, nr * sizeof(*a)));
	}
}

/* Members of one place stay in the order of their indexes; a turn begins later on each host. */
TEST(equal_places_and_turns)
{
	static const struct mrpc_ring_member m[] = {
		{ 0, 0, 9 }, { 0, 0, 7 }, { 0, 0, 9 }, { 0, 0, 7 }, { 0, 0, 9 },
	};
	static const u32 want[][5] = {
		{ 1, 3, 0, 2, 4 }, { 3, 1, 2, 4, 0 }, { 1, 3, 4, 0, 2 }, { 3, 1, 0, 2, 4 },
	};
	u32 order[5], turn;

	for (turn = 0; turn < ARRAY_SIZE(want); turn++) {
		make_order(m, 5, turn, order);
		CHECK(!memcmp(order, want[turn], sizeof(order)));
		make_order(m, 5, turn + 6, order);	/* 6 is a multiple of 2 and of 3 */
		CHECK(!memcmp(order, want[turn], sizeof(order)));
	}
	make_order(m, 5, U32_MAX, order);
	check_permutation(order, 5);
}

/* As many turns as a host has members: each of them is the first there once. */
TEST(turns_use_each_device)
{
	struct mrpc_ring_member m[32];
	u32 order[32], turn, i, first[32] = { 0 };

	for (i = 0; i < 32; i++)
		m[i] = (struct mrpc_ring_member){ .rack = i / 16, .host = i / 8 };
	for (turn = 0; turn < 8; turn++) {
		make_order(m, 32, turn, order);
		for (i = 0; i < 32; i += 8)
			first[order[i]]++;
	}
	for (i = 0; i < 32; i++)
		CHECK_EQ(first[i], 1);
}

TEST(one_member)
{
	struct mrpc_ring_member m = { 1, 2, 3 };
	struct mrpc_ring_crossings c;
	u32 order;

	make_order(&m, 1, 17, &order);
	CHECK_EQ(order, 0);
	mrpc_ring_count(&m, 1, &order, &c);
	CHECK(!c.hosts && !c.racks && !c.pods);
}

/* -- what is refused -------------------------------------------------------------- */

static void refused(const struct mrpc_ring_member *m, u32 nr, int want, const char *what,
		    u32 member, u32 value)
{
	struct mrpc_ring_error err = { 0 };
	u32 order[8];

	CHECK_EQ(mrpc_ring_order(m, nr, 0, order, &err), want);
	CHECK_STR(err.what, what);
	CHECK_EQ(err.member, member);
	CHECK_EQ(err.value, value);
}

TEST(wrong_members_are_refused)
{
	static const struct mrpc_ring_member two_racks[] = {
		{ 0, 1, 5 }, { 0, 1, 6 }, { 0, 2, 6 }, { 0, 2, 7 },
	};
	static const struct mrpc_ring_member two_pods[] = {
		{ 0, 1, 5 }, { 0, 2, 6 }, { 3, 1, 7 },
	};

	refused(two_racks, 0, -EINVAL, "has no member", U32_MAX, 0);
	refused(two_racks, MRPC_RING_MAX + 1, -E2BIG, "has too many members", U32_MAX,
		MRPC_RING_MAX + 1);
	refused(two_racks, 4, -EINVAL, "has a host that is also in another rack", 2, 6);
	refused(two_pods, 3, -EINVAL, "has a rack that is also in another pod", 2, 1);
}

/* Whatever the error and wherever it is, it is found. */
TEST(one_wrong_member_is_found)
{
	struct mrpc_ring_member m[50];
	struct mrpc_ring_error err;
	u32 order[50], i, round;
	u64 rnd = 23;

	for (round = 0; round < 500; round++) {
		for (i = 0; i < 50; i++)
			m[i] = (struct mrpc_ring_member){ i % 2, i % 4, i % 8 };
		i = rnd_below(&rnd, 50);
		if (round % 2)
			m[i].rack = 77;
		else
			m[i].pod = 77;
		CHECK_EQ(mrpc_ring_order(m, 50, 0, order, &err), -EINVAL);
		CHECK_EQ(err.value, round % 2 ? i % 8 : i % 4);
	}
}

/* -- many --------------------------------------------------------------------------- */

static u32 nr_different(const struct mrpc_ring_member *m, const u32 *order, u32 nr)
{
	u32 i, found = 1;

	for (i = 1; i < nr; i++)
		found += m[order[i]].host != m[order[i - 1]].host;
	return found;
}

/* Inputs that are hard for some sorts. The limit is far below n^2 steps. */
TEST_LIMIT(many_members, 30)
{
	struct mrpc_ring_member *m = calloc(MANY, sizeof(*m));
	u32 *order = calloc(MANY, sizeof(*order)), kind, i;
	struct mrpc_ring_crossings c;
	u64 rnd = 24;

	for (kind = 0; kind < 5; kind++) {
		for (i = 0; i < MANY; i++) {
			m[i].host = kind == 0 ? i : kind == 1 ? MANY - i : kind == 2 ? 0 :
				    kind == 3 ? min(i, MANY - i) : rnd_below(&rnd, MANY);
			m[i].rack = m[i].host / 32;
			m[i].pod = m[i].host / 1024;
		}
		make_order(m, MANY, kind, order);
		check_permutation(order, MANY);
		mrpc_ring_count(m, MANY, order, &c);
		CHECK_EQ(c.hosts, kind == 2 ? 0 : nr_different(m, order, MANY));
		CHECK(c.racks <= MANY / 32 + 1 && c.pods <= MANY / 1024 + 1);
	}
	free(m);
	free(order);
}
