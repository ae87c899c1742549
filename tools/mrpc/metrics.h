/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc metrics: what its files share. */
#ifndef MRPC_TOOL_METRICS_H
#define MRPC_TOOL_METRICS_H

#include <stddef.h>
#include <stdio.h>

#include "tool.h"

/* -- metrics.c: the text format 0.0.4 of Prometheus ------------------------------ */

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
void print_metrics(FILE *out);

/* -- metrics_transport.c: transports ------------------------------------------------- */

void print_transports(FILE *out);

/* -- metrics_hist.c: histograms ---------------------------------------------------- */

struct json_object *metrics_series(void);
void print_histograms(FILE *out, struct json_object *series);

/* -- http.c: requests ---------------------------------------------------------------- */

#define HTTP_MAX	4096	/* bytes of a request */

int http_parse(const char *text, size_t len);
const char *http_reason(int status);

/* -- exporter.c, privileges.c: the service ------------------------------------------- */

int exporter_run(const char *address);
void keep_only(int capability);

#endif /* MRPC_TOOL_METRICS_H */
