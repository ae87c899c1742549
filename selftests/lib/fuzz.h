/* SPDX-License-Identifier: GPL-2.0 */
/* What fuzz targets share. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "gen.h"

#define FUZZ_PLANS	64

int LLVMFuzzerTestOneInput(const u8 *data, size_t len);

static inline void check(bool cond, const char *what)
{
	if (cond)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

/* One of some schemas that are always the same. */
static inline const struct mrpc_schema_plan *fuzz_plan(u32 seed, u32 nr)
{
	static struct mrpc_schema_plan *plans[FUZZ_PLANS];
	struct gen g = gen_seeded(seed %= nr);

	if (!plans[seed])
		plans[seed] = gen_plan(&g);
	return plans[seed];
}

#endif /* FUZZ_H */
