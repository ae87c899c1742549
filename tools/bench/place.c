// SPDX-License-Identifier: GPL-2.0
/*
 * Engines for the time of a measurement.
 */
#include <err.h>
#include <stdlib.h>

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

/* The names of a list, one by one; @list is written to. */
#define for_each_engine(name, list, rest)					\
	for ((name) = strtok_r(list, ",", &(rest)); (name); (name) = strtok_r(NULL, ",", &(rest)))

static char *copy_of(const char *engines)
{
	char *copy = strdup(engines);

	if (!copy)
		err(1, "engines");
	return copy;
}

void place_prepare(const char *engines)
{
	char *list = copy_of(engines), *name, *rest;

	op_del_all();
	for_each_engine(name, list, rest)
		if (!strcmp(name, "acl"))
			prepare_acl();
		else
			prepare_policy(name);
	free(list);
}

void place(const char *engines)
{
	char *list = copy_of(engines), *name, *rest;

	for_each_engine(name, list, rest)
		if (strcmp(name, "none"))
			op_must_add(name, "side=client", strcmp(name, "acl") ? NULL : &rules);
	free(list);
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
