// SPDX-License-Identifier: GPL-2.0
/*
 * mrpc metrics: the histograms that engines keep.
 *
 * The kernel's buckets are a quarter of a power of two wide, and it omits empty ones. Readers of
 * metrics want the same few buckets each time. So there is one for each power of two. Each ends
 * where a bucket of the kernel ends, so no value is counted in a wrong one.
 */
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/util.h"
#include "engine/find.h"
#include "metrics/hist.h"
#include "metrics/text.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"

/**
 * struct ladder - presentation of the histograms of one unit
 * @unit: the kernel's
 * @name: of the metric
 * @help: its description
 * @first: the smallest bucket has values below two to the power of this
 * @last: the same for the largest bucket but one
 * @time: the unit is ns; shown in seconds
 * @labels: of a series
 */
struct ladder {
	const char *unit;
	const char *name;
	const char *help;
	unsigned int first;
	unsigned int last;
	bool time;
	const struct label *labels;
};

static char *side_of(struct json_object *series)
{
	struct json_object *side = json_at(series, "side");

	if (!side || !json_object_array_length(side))
		return text_printf("both");
	return text_printf("%s", json_object_get_string(json_object_array_get_idx(side, 0)));
}

static const struct label time_labels[] = {
	{ "engine", "engine" }, { "stage", "name" }, { "service", "service" },
	{ "method", "method" }, { "status", "status" }, { "side", .text = side_of }, { }
};

static const struct label size_labels[] = {
	{ "engine", "engine" }, { "message", "name" }, { "service", "service" },
	{ "method", "method" }, { "status", "status" }, { "side", .text = side_of }, { }
};

static const struct ladder ladders[] = {
	/* 1.023 us to 34 s; 63 bytes to 64 MiB. */
	{ "ns", "mrpc_call_duration_seconds", "Time that calls took, or a stage of them.", 10, 35,
	  true, time_labels },
	{ "bytes", "mrpc_message_size_bytes", "Size of the messages of calls.", 6, 26, false,
	  size_labels },
	{ }
};

static void print_value(FILE *out, const struct ladder *l, uint64_t value)
{
	if (l->time)
		print_seconds(out, value);
	else
		fprintf(out, "%llu", (unsigned long long)value);
}

static void print_bucket(FILE *out, const struct ladder *l, struct json_object *series,
			 const uint64_t *most, uint64_t count)
{
	fprintf(out, "%s_bucket{", l->name);
	print_labels(out, l->labels, series);
	fputs(",le=\"", out);
	if (most)
		print_value(out, l, *most);
	else
		fputs("+Inf", out);
	fprintf(out, "\"} %llu\n", (unsigned long long)count);
}

static void print_series(FILE *out, const struct ladder *l, struct json_object *series)
{
	struct json_object *buckets = json_at(series, "buckets"), *bucket;
	size_t i = 0, nr = buckets ? json_object_array_length(buckets) : 0;
	uint64_t count = 0, most;
	unsigned int power;

	for (power = l->first; power <= l->last; power++) {
		most = (1ULL << power) - 1;
		for (; i < nr; i++) {
			bucket = json_object_array_get_idx(buckets, i);
			if (number_at(bucket, "most") > most)
				break;
			count += number_at(bucket, "count");
		}
		print_bucket(out, l, series, &most, count);
	}
	for (; i < nr; i++)
		count += number_at(json_object_array_get_idx(buckets, i), "count");
	print_bucket(out, l, series, NULL, count);
	fprintf(out, "%s_sum{", l->name);
	print_labels(out, l->labels, series);
	fputs("} ", out);
	print_value(out, l, number_at(series, "sum"));
	fprintf(out, "\n%s_count{", l->name);
	print_labels(out, l->labels, series);
	fprintf(out, "} %llu\n", (unsigned long long)count);
}

void print_histograms(FILE *out, struct json_object *series)
{
	const struct ladder *l;
	struct json_object *one;
	bool begun;
	size_t i;

	for (l = ladders; l->unit; l++) {
		begun = false;
		for (i = 0; i < json_object_array_length(series); i++) {
			one = json_object_array_get_idx(series, i);
			if (strcmp(string_at(one, "unit") ?: "", l->unit))
				continue;
			if (!begun)
				print_head(out, l->name, "histogram", l->help);
			begun = true;
			print_series(out, l, one);
		}
	}
}

/**
 * metrics_series() - get the histograms of all engines
 *
 * Return: an array; histograms of an engine that is deleted meanwhile may be missing.
 */
struct json_object *metrics_series(void)
{
	struct json_object *engines = engine_array(), *all = json_object_new_array();
	struct answer a;
	size_t i, j;

	for (i = 0; i < json_object_array_length(engines); i++) {
		struct body body = { };

		body_text(&body, MRPC_A_SERIES_ENGINE,
			  string_at(json_object_array_get_idx(engines, i), "name"));
		a = ask(MRPC_CMD_SERIES_GET, true, &set_series, &body);
		for (j = 0; j < json_object_array_length(a.array); j++)
			json_object_array_add(all, json_object_get(
					      json_object_array_get_idx(a.array, j)));
		free(a.why);
		json_object_put(a.array);
		body_free(&body);
	}
	json_object_put(engines);
	return all;
}
