// SPDX-License-Identifier: GPL-2.0
/* mrpc: shows operators what the kernel's RPC service does. */
#include <stdlib.h>
#include <unistd.h>

#include "batch.h"
#include "cli/help.h"
#include "cli/oneline.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "config/config.h"
#include "dump.h"
#include "engine/egress.h"
#include "engine/engine.h"
#include "engine/queue.h"
#include "engine/runtime.h"
#include "engine/transport.h"
#include "metrics/metrics.h"
#include "monitor.h"
#include "nl/nl.h"
#include "plan/plan.h"
#include "policy/policy.h"
#include "rules/keyset.h"
#include "show/conn.h"
#include "show/group.h"
#include "show/objects.h"
#include "show/schemas.h"
#include "top/top.h"

static int do_version(struct args *args)
{
	if (is_help(peek_word(args))) {
		help_object("version");
		return 0;
	}
	no_more_words(args);
	if (options.json)
		puts("{\"version\":\"" MRPC_VERSION "\"}");
	else
		puts("mrpc " MRPC_VERSION);
	return 0;
}

static const struct word objects[] = {
	{ "session", do_session },
	{ "qp", do_qp },
	{ "conn", do_conn, "connection" },
	{ "service", do_service },
	{ "schema", do_schema },
	{ "datapath", do_datapath },
	{ "group", do_group },
	{ "engine", do_engine },
	{ "queue", do_queue },
	{ "runtime", do_runtime },
	{ "egress", do_egress },
	{ "transport", do_transport, .whole = true },
	{ "set", do_keyset, .whole = true },
	{ "config", do_config, .whole = true },
	{ "plan", do_plan },
	{ "policy", do_policy, .whole = true },
	{ "metrics", do_metrics, .whole = true },
	{ "monitor", do_monitor },
	{ "top", do_top },
	{ "dump", do_dump },
	{ "version", do_version },
	{ "help", do_help },
	{ }
};

/* The words of a command, from the object on. */
static int run_words(struct args *args)
{
	const char *word;
	int status;

	args->nr = parse_flags(args->nr, args->words);
	word = next_word(args);
	if (!word)
		usage("an object is missing; 'mrpc help' lists them");
	if (options.oneline) {
		oneline_begin();
		atexit(oneline_end);
	}
	status = find_word(objects, word, "an object")->run(args);
	if (options.oneline)
		oneline_end();
	if (fflush(stdout) || ferror(stdout))
		fail("cannot write the output");
	return status;
}

int main(int argc, char **argv)
{
	struct args args, none = { };
	int taken = parse_options(argc, argv);

	if (options.netns)
		enter_netns(options.netns);
	if (options.version)
		return do_version(&none);
	if (options.help)
		return do_help(&none);
	args.nr = argc - taken;
	args.words = argv + taken;
	if (options.force && !options.batch)
		usage("'-force' needs '-batch FILE'");
	if (!options.batch)
		return run_words(&args);
	no_more_words(&args);
	return run_batch(options.batch, run_words);
}
