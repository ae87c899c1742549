// SPDX-License-Identifier: GPL-2.0
/* What is left of 'mrpc policy' when it is built without libbpf. */
#include <stdio.h>

#include <json-c/json.h>

#include "cli/help.h"
#include "cli/util.h"
#include "cli/words.h"
#include "policy/config.h"
#include "policy/policy.h"

static int run_none(struct args *args)
{
	(void)args;
	fail("built without libbpf 1.4 or newer: policies in eBPF cannot be loaded or shown; "
	     "'mrpc engine type' lists those that are there");
}

struct json_object *policies_saved(struct json_object *names)
{
	(void)names;
	return json_object_new_array();
}

bool policies_restore(struct json_object *policies)
{
	if (!json_object_array_length(policies))
		return true;
	fputs("mrpc: built without libbpf 1.4 or newer: policies are not restored\n", stderr);
	return false;
}

int do_policy(struct args *args)
{
	static const struct word commands[] = {
		{ "show", run_none, "list" }, { "load", run_none }, { "replace", run_none },
		{ "unload", run_none }, { "map", run_none }, { "help" }, { }
	};

	return run_command(args, "policy", commands, "show");
}
