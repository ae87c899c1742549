/* SPDX-License-Identifier: GPL-2.0 */
/* Prometheus' text format 0.0.4: families, their labels and samples. */
#ifndef MRPC_TOOL_METRICS_TEXT_H
#define MRPC_TOOL_METRICS_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_object;

/* A label: what is at @path of the object, or @text of it. */
struct label {
	const char *name;
	const char *path;
	char *(*text)(struct json_object *object);
};

/**
 * struct family - a metric of a kind of objects
 * @name: its name
 * @type: gauge, counter or untyped
 * @path: where the value is; NULL: it is 1, and the labels are what is to be known
 * @help: what it means
 * @time: the value is in ns, and shown in seconds
 */
struct family {
	const char *name;
	const char *type;
	const char *path;
	const char *help;
	bool time;
};

#define GAUGE(_name, _path, _help)	{ (_name), "gauge", (_path), (_help), false }
#define COUNTER(_name, _path, _help)	{ (_name "_total"), "counter", (_path), (_help), false }
#define TIME(_name, _path, _help)	{ (_name "_seconds"), "gauge", (_path), (_help), true }
#define INFO(_name, _help)		{ (_name "_info"), "gauge", NULL, (_help), false }

void print_head(FILE *out, const char *name, const char *type, const char *help);
void print_labels(FILE *out, const struct label *labels, struct json_object *object);
void print_seconds(FILE *out, uint64_t ns);
void print_families(FILE *out, const struct family *families, const struct label *labels,
		    struct json_object *array);

#endif /* MRPC_TOOL_METRICS_TEXT_H */
