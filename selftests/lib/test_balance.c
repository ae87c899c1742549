// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/balance.c */
/*
 * Choosing among replicas: kmod/lib/balance.c, against what each policy promises.
 */
#include "lib/balance.h"
#include "rnd.h"
#include "tap.h"

#define MS	1000000ULL

static struct mrpc_member m[MRPC_BALANCE_MEMBERS];
static struct mrpc_balance b;

static void begin(u8 policy, u32 nr)
{
	char name[32];
	u32 i;

	memset(m, 0, sizeof(m));
	b = (struct mrpc_balance){ .policy = policy, .max_bad = 3, .backoff = 10 * MS, .nr = nr };
	for (i = 0; i < nr; i++) {
		b.members[i] = &m[i];
		m[i].weight = 1;
		m[i].key = mrpc_member_key(name, snprintf(name, sizeof(name), "tcp:10.0.0.%u", i));
		mrpc_member_up(&m[i]);
	}
}

static int pick(u64 now)
{
	int i = mrpc_balance_pick(&b, now, 0, false, 0);

	if (i >= 0)
		mrpc_member_give(&m[i]);
	return i;
}

/* What calls take is known by the eighth part of each. */
TEST(latency)
{
	u32 i;

	begin(MRPC_BALANCE_WRR, 1);
	CHECK_EQ(m[0].latency, 0);
	mrpc_member_took(&m[0], 0);
	CHECK_EQ(m[0].latency, 1);	/* it is known */
	begin(MRPC_BALANCE_WRR, 1);
	mrpc_member_took(&m[0], 8000);
	CHECK_EQ(m[0].latency, 8000);
	mrpc_member_took(&m[0], 16000);
	CHECK_EQ(m[0].latency, 9000);
	mrpc_member_took(&m[0], 1000);
	CHECK_EQ(m[0].latency, 8000);
	for (i = 0; i < 200; i++)
		mrpc_member_took(&m[0], 1000000);
	CHECK(m[0].latency > 990000 && m[0].latency <= 1000000);
	mrpc_member_took(&m[0], ~0ULL);
	CHECK(m[0].latency > 1ULL << 60);
	for (i = 0; i < 1000; i++)
		mrpc_member_took(&m[0], 0);
	CHECK(m[0].latency && m[0].latency <= 8);
}

/* -- in turn -------------------------------------------------------------------- */

/* Any window of as many picks as there is weight has each by its weight. */
TEST(turns_are_exact)
{
	u64 rnd = 11;
	u32 round, i, k, nr, total, got[MRPC_BALANCE_MEMBERS];

	for (round = 0; round < 200; round++) {
		nr = 1 + rnd_below(&rnd, MRPC_BALANCE_MEMBERS);
		begin(MRPC_BALANCE_WRR, nr);
		for (i = total = 0; i < nr; i++)
			total += m[i].weight = 1 + rnd_below(&rnd, MRPC_BALANCE_WEIGHT);
		mrpc_balance_spin(&b, rnd_next(&rnd));
		for (k = 0; k < 3; k++) {
			memset(got, 0, sizeof(got));
			for (i = 0; i < total; i++)
				got[pick(0)]++;
			for (i = 0; i < nr; i++)
				CHECK_EQ(got[i], m[i].weight);
		}
	}
}

/* With weights 5, 1, 1 the first is picked four times in a row at most. */
TEST(turns_are_smooth)
{
	u32 i, run = 0;

	begin(MRPC_BALANCE_WRR, 3);
	m[0].weight = 5;
	for (i = 0; i < 700; i++) {
		run = pick(0) ? 0 : run + 1;
		CHECK(run <= 4);
	}
	CHECK_EQ(m[0].picks, 500);
	CHECK_EQ(m[1].picks, 100);
	CHECK_EQ(m[2].picks, 100);
}

/* Many clients that begin anywhere spread even their first calls by weight. */
TEST(beginnings_are_spread)
{
	u32 seed, first[3] = { 0 };

	for (seed = 0; seed < 600; seed++) {
		begin(MRPC_BALANCE_WRR, 3);
		m[0].weight = 3;
		m[1].weight = 2;
		mrpc_balance_spin(&b, seed);
		first[pick(0)]++;
	}
	CHECK_EQ(first[0], 300);
	CHECK_EQ(first[1], 200);
	CHECK_EQ(first[2], 100);
}

TEST(weight_0_gets_nothing)
{
	u32 i;

	for (i = MRPC_BALANCE_WRR; i <= MRPC_BALANCE_HASH; i++) {
		begin(i, 2);
		m[0].weight = 0;
		mrpc_balance_spin(&b, 1);
		CHECK_EQ(mrpc_balance_pick(&b, 0, 0, true, 77), 1);
		m[1].weight = 0;
		mrpc_balance_spin(&b, 1);
		CHECK_EQ(mrpc_balance_pick(&b, 0, 0, true, 77), -1);
		CHECK(!mrpc_balance_hope(&b));
	}
}

TEST(skips)
{
	u32 i;

	for (i = MRPC_BALANCE_WRR; i <= MRPC_BALANCE_HASH; i++) {
		begin(i, 3);
		CHECK_EQ(mrpc_balance_pick(&b, 0, 5, true, 1), 1);
		CHECK_EQ(mrpc_balance_pick(&b, 0, 7, true, 1), -1);
	}
}

/* -- fewest calls ------------------------------------------------------------------ */

/* The picked one has, for its weight, no more calls than any other. */
TEST(fewest_by_weight)
{
	u64 rnd = 12;
	u32 step, i, nr = 7;
	int got;

	begin(MRPC_BALANCE_LEAST, nr);
	for (i = 0; i < nr; i++)
		m[i].weight = 1 + rnd_below(&rnd, 9);
	for (step = 0; step < 100000; step++) {
		i = rnd_below(&rnd, nr);
		if (m[i].outstanding && rnd_below(&rnd, 2)) {
			mrpc_member_good(&m[i]);
			continue;
		}
		got = mrpc_balance_pick(&b, 0, 0, false, 0);
		CHECK(got >= 0);
		for (i = 0; i < nr; i++)
			CHECK((u64)(m[got].outstanding + 1) * m[i].weight <=
			      (u64)(m[i].outstanding + 1) * m[got].weight);
		mrpc_member_give(&m[got]);
	}
}

/* Where nothing is outstanding the equal ones take turns. */
TEST(fewest_of_equals)
{
	u32 i;

	begin(MRPC_BALANCE_LEAST, 4);
	for (i = 0; i < 400; i++)
		mrpc_member_good(&m[pick(0)]);
	for (i = 0; i < 4; i++)
		CHECK_EQ(m[i].picks, 100);
}

/* -- by key -------------------------------------------------------------------------- */

#define KEYS	60000

static u8 owner[KEYS];

static void own(u32 *got)
{
	u64 rnd = 13, key;
	u32 i;

	memset(got, 0, MRPC_BALANCE_MEMBERS * sizeof(*got));
	for (i = 0; i < KEYS; i++) {
		key = (u64)rnd_next(&rnd) << 32 | rnd_next(&rnd);
		owner[i] = mrpc_balance_pick(&b, 0, 0, true, key);
		got[owner[i]]++;
	}
}

static void check_shares(const u32 *got)
{
	double total = 0, want;
	u32 i;

	for (i = 0; i < b.nr; i++)
		total += m[i].weight;
	for (i = 0; i < b.nr; i++) {
		want = KEYS * m[i].weight / total;
		CHECK_MSG((got[i] - want) * (got[i] - want) <= 36 * want, "%u: %u, not %.0f", i,
			  got[i], want);
	}
}

/* By weight; and what changes moves no key that it does not concern. */
TEST(keys_move_little)
{
	u32 got[MRPC_BALANCE_MEMBERS], i;
	static u8 before[KEYS];

	begin(MRPC_BALANCE_HASH, 5);
	m[1].weight = 2;
	m[4].weight = 7;
	own(got);
	check_shares(got);
	memcpy(before, owner, sizeof(before));

	m[2].linked = false;
	own(got);
	for (i = 0; i < KEYS; i++)
		CHECK(owner[i] == before[i] || before[i] == 2);
	CHECK_EQ(got[2], 0);
	m[2].linked = true;

	m[3].weight = 4;	/* wins some; no other one wins or loses to another */
	own(got);
	check_shares(got);
	for (i = 0; i < KEYS; i++)
		CHECK(owner[i] == before[i] || owner[i] == 3);
	m[3].weight = 1;
	own(got);
	CHECK(!memcmp(owner, before, sizeof(before)));

	/* The order of the members says nothing. */
	b.members[0] = &m[4];
	b.members[4] = &m[0];
	own(got);
	for (i = 0; i < KEYS; i++)
		CHECK_EQ(owner[i] == 0 ? 4 : owner[i] == 4 ? 0 : owner[i], before[i]);
}

TEST(no_key_takes_turns)
{
	u32 i;

	begin(MRPC_BALANCE_HASH, 2);
	for (i = 0; i < 10; i++)
		CHECK_EQ(pick(0), i % 2);
}

/* -- health -------------------------------------------------------------------------- */

TEST(ejected_and_tried)
{
	u64 now = 1000 * MS, wait = 10 * MS;
	u32 i, k;

	begin(MRPC_BALANCE_WRR, 1);
	CHECK_EQ(pick(now), 0);
	mrpc_member_bad(&b, &m[0], now);
	CHECK_EQ(m[0].state, MRPC_MEMBER_SUSPECT);
	CHECK_EQ(pick(now), 0);
	mrpc_member_good(&m[0]);
	CHECK_EQ(m[0].state, MRPC_MEMBER_OK);
	for (i = 0; i < 3; i++)
		CHECK_EQ(pick(now), 0);
	for (i = 0; i < 3; i++)
		mrpc_member_bad(&b, &m[0], now);
	CHECK_EQ(m[0].state, MRPC_MEMBER_EJECTED);
	/* Each time it waits twice as long, up to a bound. */
	for (k = 0; k < 10; k++) {
		CHECK_EQ(pick(now + wait - 1), -1);
		CHECK(!mrpc_balance_hope(&b));
		CHECK_EQ(mrpc_balance_due(&b, now), now + wait);
		now += wait;
		CHECK_EQ(pick(now), 0);
		CHECK_EQ(m[0].state, MRPC_MEMBER_TRIAL);
		CHECK_EQ(pick(now), -1);	/* one at a time */
		CHECK(mrpc_balance_hope(&b));
		mrpc_member_bad(&b, &m[0], now);
		wait = min(2 * wait, 640 * MS);
	}
	now += wait;
	CHECK_EQ(pick(now), 0);
	mrpc_member_good(&m[0]);
	CHECK_EQ(m[0].state, MRPC_MEMBER_OK);
	CHECK_EQ(m[0].ejections, 0);
	CHECK_EQ(m[0].outstanding, 0);
	CHECK_EQ(mrpc_balance_due(&b, now), 0);
}

/* Its time has come, but it still has a call: there is no time to wait for any more. */
TEST(due_while_busy)
{
	u32 i;

	begin(MRPC_BALANCE_WRR, 1);
	for (i = 0; i < 4; i++)
		CHECK_EQ(pick(0), 0);
	for (i = 0; i < 3; i++)
		mrpc_member_bad(&b, &m[0], 0);
	CHECK_EQ(mrpc_balance_due(&b, 9 * MS), 10 * MS);
	CHECK_EQ(pick(10 * MS), -1);
	CHECK_EQ(mrpc_balance_due(&b, 10 * MS), 0);
	mrpc_member_good(&m[0]);
	CHECK_EQ(pick(10 * MS), 0);
}

/* A trial that was never sent says nothing; another follows. */
TEST(trial_taken_back)
{
	begin(MRPC_BALANCE_WRR, 1);
	mrpc_member_down(&b, &m[0], 0);
	mrpc_member_up(&m[0]);
	CHECK_EQ(pick(0), 0);
	CHECK_EQ(pick(0), -1);
	mrpc_member_take_back(&m[0]);
	CHECK_EQ(m[0].state, MRPC_MEMBER_TRIAL);
	CHECK_EQ(pick(0), 0);
}

TEST(links)
{
	begin(MRPC_BALANCE_WRR, 2);
	m[0] = (struct mrpc_member){ .weight = 1 };
	CHECK_EQ(m[0].state, MRPC_MEMBER_NEW);
	CHECK(mrpc_balance_hope(&b));
	CHECK_EQ(pick(0), 1);
	mrpc_member_up(&m[0]);
	CHECK_EQ(m[0].state, MRPC_MEMBER_OK);
	CHECK_EQ(pick(0), 0);
	/* The link goes with a call on it, which fails. */
	mrpc_member_down(&b, &m[0], 50 * MS);
	mrpc_member_bad(&b, &m[0], 50 * MS);
	CHECK_EQ(m[0].outstanding, 0);
	CHECK_EQ(m[0].failures, 2);
	CHECK_EQ(m[0].until, 60 * MS);
	CHECK_EQ(mrpc_balance_due(&b, 50 * MS), 0);	/* that is for those with a link */
	CHECK_EQ(pick(70 * MS), 1);
	CHECK_EQ(pick(70 * MS), 1);
	mrpc_member_up(&m[0]);
	CHECK_EQ(m[0].state, MRPC_MEMBER_TRIAL);
	/* The call that fails with it tells of it first: that is one ejection. */
	m[1].weight = 0;
	CHECK_EQ(pick(80 * MS), 0);
	CHECK_EQ(m[0].ejections, 1);
	mrpc_member_bad(&b, &m[0], 80 * MS);
	mrpc_member_down(&b, &m[0], 80 * MS);
	CHECK_EQ(m[0].ejections, 2);
	CHECK_EQ(m[0].until, 100 * MS);
	/* That it cannot be made again is another. */
	mrpc_member_down(&b, &m[0], 100 * MS);
	CHECK_EQ(m[0].until, 140 * MS);
}

/* Whatever happens: what is given comes back, and only fit ones are picked. */
TEST(anything_happens)
{
	u32 step, i, out[MRPC_BALANCE_MEMBERS] = { 0 };
	u64 rnd = 14, now = 0;
	int got;

	begin(MRPC_BALANCE_WRR, 6);
	for (step = 0; step < 300000; step++) {
		now += rnd_below(&rnd, MS);
		i = rnd_below(&rnd, 6);
		b.policy = rnd_below(&rnd, 3);
		switch (rnd_below(&rnd, 8)) {
		case 0:
			if (out[i]) {
				mrpc_member_bad(&b, &m[i], now);
				out[i]--;
			}
			break;
		case 1:
		case 2:
			if (out[i]) {
				mrpc_member_good(&m[i]);
				out[i]--;
			}
			break;
		case 3:
			if (m[i].linked && !rnd_below(&rnd, 20))
				mrpc_member_down(&b, &m[i], now);
			else if (!m[i].linked && now >= m[i].until)
				mrpc_member_up(&m[i]);
			break;
		case 4:
			m[i].weight = rnd_below(&rnd, 4);
			break;
		default:
			got = mrpc_balance_pick(&b, now, 0, rnd_below(&rnd, 2), rnd_next(&rnd));
			if (got < 0)
				break;
			CHECK(m[got].linked && m[got].weight);
			CHECK(m[got].state != MRPC_MEMBER_EJECTED ||
			      (now >= m[got].until && !out[got]));
			CHECK(m[got].state != MRPC_MEMBER_TRIAL || !out[got]);
			mrpc_member_give(&m[got]);
			out[got]++;
		}
		CHECK_EQ(m[i].outstanding, out[i]);
		CHECK(m[i].ejections < 1 || m[i].until <= now + (b.backoff << 6));
	}
}
