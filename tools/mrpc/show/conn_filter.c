// SPDX-License-Identifier: GPL-2.0
/* Which connections: by peer, state and service. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/util.h"
#include "cli/words.h"
#include "show/conn_filter.h"
#include "show/json.h"

/**
 * struct net - addresses
 * @addr: of version 4 mapped into version 6
 * @bits: of it that count
 */
struct net {
	uint8_t addr[16];
	unsigned long bits;
};

/* "ADDRESS" or "ADDRESS/BITS". Return: false: that is neither. */
static bool parse_net(const char *text, struct net *net)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char *copy = text_printf("%s", text), *slash = strchr(copy, '/'), *end = "";
	unsigned long most = 128, bits;
	bool ok;

	if (slash)
		*slash = 0;
	if (inet_pton(AF_INET, copy, net->addr + 12) == 1) {
		memcpy(net->addr, mapped, sizeof(mapped));
		most = 32;
		ok = true;
	} else {
		ok = inet_pton(AF_INET6, copy, net->addr) == 1;
	}
	bits = most;
	if (slash) {
		bits = strtoul(slash + 1, &end, 10);
		ok = ok && slash[1] >= '0' && slash[1] <= '9' && !*end && bits <= most;
	}
	net->bits = bits + 128 - most;
	free(copy);
	return ok;
}

static void check_peer(const char *wanted)
{
	struct net net;

	if (strpbrk(wanted, ":./") && !parse_net(wanted, &net))
		usage("'%s' is not a peer: it must be an address, an address/bits or a name of loop",
		      wanted);
}

static bool is_peer(struct json_object *conn, const char *wanted)
{
	const char *ip = string_at(conn, "peer.ip"), *name = string_at(conn, "peer.name");
	struct net net, peer;
	char *plain;
	bool same;

	if (!ip)
		return name && !strcmp(name, wanted);
	plain = text_printf("%.*s", (int)strcspn(ip, "%"), ip);	/* without the device */
	same = parse_net(wanted, &net) && parse_net(plain, &peer) &&
	       !memcmp(net.addr, peer.addr, net.bits / 8) &&
	       (!(net.bits % 8) || !((net.addr[net.bits / 8] ^ peer.addr[net.bits / 8]) >>
				     (8 - net.bits % 8)));
	free(plain);
	return same;
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
