// SPDX-License-Identifier: GPL-2.0
/*
 * Engines for the time of a measurement.
 */
#include <err.h>

#include "operator.h"
#include "place.h"

static struct op_rules rules;

/* Denies calls whose key is in a large set. */
static void prepare_acl(void)
{
	op_keyset_del("blocked");
	if (op_keyset_new("blocked", false) || op_keys("blocked", true, "blocked-%u", 0, PLACE_KEYS))
		errx(1, "the set: %s", op_why);
	op_rules_begin(&rules);
	op_rules_set(&rules, "blocked");
	op_rule(&rules, 1, 0, NULL);
	op_cond_in(&rules, "key", 0);
}

void place_prepare(const char *engine)
{
	op_del_all();
	if (!strcmp(engine, "acl"))
		prepare_acl();
	else
		prepare_policy(engine);
}

void place(const char *engine)
{
	if (strcmp(engine, "none"))
		op_must_add(engine, "side=client", strcmp(engine, "acl") ? NULL : &rules);
}

void displace(void)
{
	op_del_all();
}

void unplace(void)
{
	op_del_all();
	forget_policy();
}
