// SPDX-License-Identifier: GPL-2.0
/* Which connections: by peer, state and service. */
#include <string.h>

#include <json-c/json.h>

#include "cli/util.h"
#include "cli/words.h"
#include "show/conn_filter.h"
#include "show/json.h"
#include "show/net.h"

static void check_peer(const char *wanted)
{
	struct net net;

	if (strpbrk(wanted, ":./") && !net_parse(wanted, &net))
		usage("'%s' is not a peer: it must be an address, an address/bits or a name of loop",
		      wanted);
}

static bool is_peer(struct json_object *conn, const char *wanted)
{
	const char *ip = string_at(conn, "peer.ip"), *name = string_at(conn, "peer.name");
	struct net net;

	if (!ip)
		return name && !strcmp(name, wanted);
	return net_parse(wanted, &net) && net_has(&net, ip);
}

static void check_state(const char *wanted)
{
	static const struct word states[] = {
		{ "connecting", .whole = true }, { "ready", .whole = true },
		{ "draining", .whole = true }, { "closed", .whole = true }, { }
	};

	find_word(states, wanted, "a state");
}

static bool is_state(struct json_object *conn, const char *wanted)
{
	return !strcmp(string_at(conn, "state") ?: "", wanted);
}

static void check_service(const char *wanted)
{
	if (!*wanted)
		usage("the name of a service is empty");
}

static bool is_service(struct json_object *conn, const char *wanted)
{
	struct json_object *list = json_at(conn, "services");
	size_t i;

	for (i = 0; list && i < json_object_array_length(list); i++)
		if (!strcmp(string_at(json_object_array_get_idx(list, i), "name") ?: "", wanted))
			return true;
	return false;
}

const struct conn_filter conn_filters[] = {
	{ "peer", check_peer, is_peer },
	{ "state", check_state, is_state },
	{ "service", check_service, is_service },
	{ }
};

/* The filter of that name, or NULL. */
const struct conn_filter *conn_filter(const char *name)
{
	const struct conn_filter *f;

	for (f = conn_filters; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

/**
 * conn_select() - the connections that are as wanted
 * @array: connections; freed
 * @wanted: what follows each of conn_filters, or NULL
 *
 * Return: an array.
 */
struct json_object *conn_select(struct json_object *array, const char *const *wanted)
{
	struct json_object *left = json_object_new_array(), *conn;
	const struct conn_filter *f;
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		conn = json_object_array_get_idx(array, i);
		for (f = conn_filters; f->name; f++)
			if (wanted[f - conn_filters] && !f->is(conn, wanted[f - conn_filters]))
				break;
		if (!f->name)
			json_object_array_add(left, json_object_get(conn));
	}
	json_object_put(array);
	return left;
}
