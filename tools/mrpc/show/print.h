/* SPDX-License-Identifier: GPL-2.0 */
/* Printing: JSON, tables, blocks, and units for people. */
#ifndef MRPC_TOOL_SHOW_PRINT_H
#define MRPC_TOOL_SHOW_PRINT_H

#include <stdbool.h>
#include <stdint.h>

struct attr;
struct json_object;
struct set;

struct column {
	const char *head;
	const char *path;	/* keys, with dots between */
	bool stats;		/* only with -s */
	/* What to print instead of the value at @path; the caller frees it. */
	char *(*text)(struct json_object *object);
	bool right;		/* alignment of @text */
};

void print_json(struct json_object *object);
void print_table(const struct set *set, const struct column *columns,
		 struct json_object *array);
void print_block(const struct set *set, struct json_object *object, int indent);
char *text_of(const struct attr *attr, struct json_object *value);
char *text_bytes(uint64_t bytes);
char *text_time(uint64_t ns);

#endif /* MRPC_TOOL_SHOW_PRINT_H */
