// SPDX-License-Identifier: GPL-2.0
/* Random faults under the sanitizers; test/run has many more seeds without. */
#include "faults.h"
#include "tap.h"

#define SEEDS 1000

static void run(u64 first, struct fault_report *sum)
{
	struct fault_report r;
	u64 seed;

	for (seed = first; seed < first + SEEDS; seed++) {
		faults_run(seed, false, &r);
		CHECK_MSG(!r.failed, "seed %llu: %s", (unsigned long long)seed, r.why);
		sum->came += r.came;
		sum->lost += r.lost;
		sum->damaged += r.damaged;
		sum->restarts += r.restarts;
		sum->cuts += r.cuts;
		sum->gaps += r.gaps;
	}
}

TEST_LIMIT(random_faults, 300)
{
	struct fault_report sum = {};

	run(1, &sum);
	/* They were not spared. */
	CHECK(sum.came > 10 * SEEDS);
	CHECK(sum.lost > SEEDS);
	CHECK(sum.damaged > SEEDS / 10);
	CHECK(sum.restarts > SEEDS / 10);
	CHECK(sum.cuts > SEEDS / 10);
	CHECK(sum.gaps > SEEDS / 10);
}

TEST(a_seed_happens_again)
{
	struct fault_report a, b, other;

	faults_run(5, false, &a);
	faults_run(5, false, &b);
	faults_run(6, false, &other);
	CHECK(!memcmp(&a, &b, sizeof(a)));
	CHECK(memcmp(&a, &other, sizeof(a)));
}
