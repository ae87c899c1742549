// SPDX-License-Identifier: GPL-2.0
/* Prometheus' text format 0.0.4: families, their labels and samples. */
#include <stdlib.h>

#include <json-c/json.h>

#include "metrics/text.h"
#include "show/json.h"

void print_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* A label's value: UTF-8, in which three characters have a backslash before them. */
static void print_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else
			putc(*text, out);
	}
}

/* The labels of an object, with commas between; what it does not have is empty. */
void print_labels(FILE *out, const struct label *labels, struct json_object *object)
{
	const struct label *l;
	char *text;

	for (l = labels; l->name; l++) {
		text = l->text ? l->text(object) : NULL;
		fprintf(out, "%s%s=\"", l == labels ? "" : ",", l->name);
		print_escaped(out, text ?: string_at(object, l->path) ?: "");
		putc('"', out);
		free(text);
	}
}

void print_seconds(FILE *out, uint64_t ns)
{
	char digits[32];
	size_t len;

	len = snprintf(digits, sizeof(digits), "%llu.%09llu",
		       (unsigned long long)(ns / 1000000000),
		       (unsigned long long)(ns % 1000000000));
	while (digits[len - 1] == '0')
		digits[--len] = 0;
	if (digits[len - 1] == '.')
		digits[--len] = 0;
	fputs(digits, out);
}

static void print_sample(FILE *out, const struct family *f, const struct label *labels,
			 struct json_object *object)
{
	uint64_t value = f->path ? number_at(object, f->path) : 1;

	fputs(f->name, out);
	if (labels->name) {
		putc('{', out);
		print_labels(out, labels, object);
		putc('}', out);
	}
	putc(' ', out);
	if (f->time)
		print_seconds(out, value);
	else
		fprintf(out, "%llu", (unsigned long long)value);
	putc('\n', out);
}

void print_families(FILE *out, const struct family *families, const struct label *labels,
		    struct json_object *array)
{
	const struct family *f;
	struct json_object *object;
	bool begun;
	size_t i;

	for (f = families; f->name; f++) {
		begun = false;
		for (i = 0; i < json_object_array_length(array); i++) {
			object = json_object_array_get_idx(array, i);
			if (f->path && !json_at(object, f->path))
				continue;
			if (!begun)
				print_head(out, f->name, f->type, f->help);
			begun = true;
			print_sample(out, f, labels, object);
		}
	}
}
