// SPDX-License-Identifier: GPL-2.0
/*
 * Engines for the time of a measurement.
 */
#include <err.h>

#include "operator.h"
#include "place.h"

/* Denies calls whose key is in a large set. */
static void place_acl(void)
{
	struct op_rules rules;

	op_keyset_del("blocked");
	if (op_keyset_new("blocked", false) || op_keys("blocked", true, "blocked-%u", 0, PLACE_KEYS))
		errx(1, "the set: %s", op_why);
	op_rules_begin(&rules);
	op_rules_set(&rules, "blocked");
	op_rule(&rules, 1, 0, NULL);
	op_cond_in(&rules, "key", 0);
	op_must_add("acl", "side=client", &rules);
}

void place(const char *engine)
{
	op_del_all();
	if (!strcmp(engine, "acl"))
		place_acl();
	else if (strcmp(engine, "none") && !place_policy(engine))
		op_must_add(engine, "side=client", NULL);
}

void unplace(void)
{
	op_del_all();
	unplace_policy();
}
