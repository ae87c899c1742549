// SPDX-License-Identifier: GPL-2.0
/* mrpc metrics: once, or as a service. */
#include <string.h>

#include <json-c/json.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "metrics/exporter.h"
#include "metrics/families.h"
#include "metrics/hist.h"
#include "metrics/metrics.h"
#include "show/print.h"

int do_metrics(struct args *args)
{
	const char *word = next_word(args);
	struct json_object *series;

	if (is_help(word)) {
		help_object("metrics");
		return 0;
	}
	if (word && !strcmp(word, "--listen")) {
		word = next_word(args) ?: "127.0.0.1:9469";
		no_more_words(args);
		return exporter_run(word);
	}
	if (word)
		usage("'%s' is not an option of metrics: it must be --listen", word);
	if (!options.json) {
		print_metrics(stdout);
		return 0;
	}
	series = metrics_series();
	print_json(series);
	json_object_put(series);
	return 0;
}
