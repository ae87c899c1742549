// SPDX-License-Identifier: GPL-2.0
/* Where the ranks of a group are in the network. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc.h>
#include <linux/mrpc_netlink.h>

#include "cli/util.h"
#include "lib/group/ring_order.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/net.h"
#include "show/topology.h"

#define FILE_MAX	(1 << 20)	/* bytes */

/**
 * struct place - a line of the file
 * @net: its addresses
 * @pod: name of the pod
 * @rack: of the rack
 * @host: of the host
 */
struct place {
	struct net net;
	char *pod;
	char *rack;
	char *host;
};

/**
 * struct topology - a file
 * @name: of the file
 * @text: its text, of which the places have parts
 * @places: its lines
 * @nr: of these
 */
struct topology {
	const char *name;
	char *text;
	struct place *places;
	unsigned int nr;
};

/* -- the file ----------------------------------------------------------------------------- */

static void parse_line(struct topology *t, char *line, unsigned int number)
{
	char *save, *comment = strchr(line, '#'), *prefix, *more;
	struct place p;

	if (comment)
		*comment = 0;
	prefix = strtok_r(line, " \t\r", &save);
	if (!prefix)
		return;
	p.pod = strtok_r(NULL, " \t\r", &save);
	p.rack = p.pod ? strtok_r(NULL, " \t\r", &save) : NULL;
	p.host = p.rack ? strtok_r(NULL, " \t\r", &save) : NULL;
	more = p.host ? strtok_r(NULL, " \t\r", &save) : NULL;
	if (!p.host || more)
		fail("%s, line %u: it must be ADDRESS[/PREFIX] POD RACK HOST", t->name, number);
	if (!net_parse(prefix, &p.net))
		fail("%s, line %u: '%s' is no address, as 10.0.1.7 or 10.0.1.0/24", t->name, number,
		     prefix);
	t->places = realloc(t->places, (t->nr + 1) * sizeof(*t->places));
	if (!t->places)
		fail("no memory for %s", t->name);
	t->places[t->nr++] = p;
}

static struct topology read_topology(const char *name)
{
	struct topology t = { .name = name };
	unsigned int number = 1;
	char *line, *end;
	size_t len;

	t.text = read_file(name, FILE_MAX, &len);
	t.text[len] = 0;
	for (line = t.text; line; line = end, number++) {
		end = strchr(line, '\n');
		if (end)
			*end++ = 0;
		parse_line(&t, line, number);
	}
	return t;
}

static void free_topology(struct topology *t)
{
	free(t->places);
	free(t->text);
}

static const struct place *find_place(const struct topology *t, const char *ip, unsigned int rank)
{
	const struct place *best = NULL, *p;

	for (p = t->places; p < t->places + t->nr; p++)
		if (net_has(&p->net, ip) && (!best || p->net.bits >= best->net.bits))
			best = p;
	if (!best)
		fail("%s has no place for rank %u, which is at %s", t->name, rank, ip);
	return best;
}

/* A number for a name: that of the first place that has it. */
static uint32_t number_of(const struct topology *t, const char *name, size_t at)
{
	uint32_t i;

	for (i = 0; i < t->nr; i++)
		if (!strcmp(*(char *const *)((const char *)&t->places[i] + at), name))
			break;
	return i;
}

/* -- ranks -------------------------------------------------------------------------------- */

/* The address at one end of a connection; the caller frees it. */
static char *end_of(struct json_object *group, uint32_t conn, const char *end, unsigned int rank)
{
	struct body body = { };
	struct json_object *object;
	char *ip;

	body_u32(&body, MRPC_A_CONN_SESSION, number_at(group, "session"));
	body_u32(&body, MRPC_A_CONN_ID, conn);
	object = ask_object(MRPC_CMD_CONN_GET, &set_conn, &body);
	if (!string_at(object, end))
		fail("the connection to rank %u has no addresses", rank);
	ip = text_printf("%s", string_at(object, end));
	json_object_put(object);
	body_free(&body);
	return ip;
}

static void set_member(const struct topology *t, struct mrpc_ring_member *m, uint32_t rank,
		       char *ip)
{
	const struct place *p = find_place(t, ip, rank);

	m->pod = number_of(t, p->pod, offsetof(struct place, pod));
	m->rack = number_of(t, p->rack, offsetof(struct place, rack));
	m->host = number_of(t, p->host, offsetof(struct place, host));
	free(ip);
}

/* Fills in the places of all ranks. The own address is that of any of the connections. */
static void find_members(const struct topology *t, struct json_object *group,
			 struct mrpc_ring_member *members)
{
	struct body body = { };
	struct json_object *links, *link;
	uint32_t rank, conn = 0;
	size_t i;

	body_u32(&body, MRPC_A_GROUP_LINK_SESSION, number_at(group, "session"));
	body_u32(&body, MRPC_A_GROUP_LINK_GROUP, number_at(group, "id"));
	links = ask_all(MRPC_CMD_GROUP_LINK_GET, &set_group_link, &body);
	for (i = 0; i < json_object_array_length(links); i++) {
		link = json_object_array_get_idx(links, i);
		rank = number_at(link, "rank");
		conn = number_at(link, "conn");
		if (!conn)
			fail("there is no connection to rank %u", rank);
		set_member(t, &members[rank], rank, end_of(group, conn, "peer.ip", rank));
	}
	rank = number_at(group, "rank");
	if (conn)
		set_member(t, &members[rank], rank, end_of(group, conn, "local.ip", rank));
	json_object_put(links);
	body_free(&body);
}

void topology_order(const char *file, struct json_object *group, uint32_t *order)
{
	struct mrpc_ring_member members[MRPC_GROUP_RANKS] = { };
	struct topology t = read_topology(file);
	struct mrpc_ring_error err;

	find_members(&t, group, members);
	if (mrpc_ring_order(members, number_at(group, "ranks"), 0, order, &err))
		fail("%s: rank %u %s", file, err.member, err.what);
	free_topology(&t);
}
