/* SPDX-License-Identifier: GPL-2.0 */
/* Which connections: by peer, state and service. */
#ifndef MRPC_TOOL_SHOW_CONN_FILTER_H
#define MRPC_TOOL_SHOW_CONN_FILTER_H

#include <stdbool.h>

#define NR_CONN_FILTERS	3

struct json_object;

/**
 * struct conn_filter - a filter; an array of them ends with a NULL name
 * @name: the word
 * @check: does not return if no connection can be so
 * @is: is a connection so?
 */
struct conn_filter {
	const char *name;
	void (*check)(const char *wanted);
	bool (*is)(struct json_object *conn, const char *wanted);
};

extern const struct conn_filter conn_filters[];

const struct conn_filter *conn_filter(const char *name);
struct json_object *conn_select(struct json_object *array, const char *const *wanted);

#endif /* MRPC_TOOL_SHOW_CONN_FILTER_H */
