// SPDX-License-Identifier: GPL-2.0
/* What transports ask of the connection of a link, and their references to it. */
#include <linux/export.h>

#include "core/conn.h"
#include "core/link.h"
#include "core/schema.h"
#include "core/services.h"

/**
 * mrpc_link_service() - return the schema of a service of the link's connection
 * @link: the link
 * @i: index of the service: that of frames
 *
 * Context: any, once the connection has its services, that is, from connect() or accept() on.
 * Return: the schema, valid as long as the link; NULL: there is no such service.
 */
const struct mrpc_schema_plan *mrpc_link_service(struct mrpc_link *link, u32 i)
{
	const struct mrpc_conn_services *s = &mrpc_link_conn(link)->services;

	return i < s->nr ? s->list[i].schema->plan : NULL;
}
EXPORT_SYMBOL_GPL(mrpc_link_service);

/**
 * mrpc_link_max_calls() - return how many calls this end allows at a time
 * @link: the link
 */
u32 mrpc_link_max_calls(struct mrpc_link *link)
{
	const struct mrpc_calls *calls = &mrpc_link_conn(link)->calls;

	return link->accepted ? calls->server.limit : calls->client.limit;
}
EXPORT_SYMBOL_GPL(mrpc_link_max_calls);

/**
 * mrpc_link_unkeep() - what the transport has kept is with the network, or dropped
 * @link: the link; its connection is there
 *
 * Context: process.
 */
void mrpc_link_unkeep(struct mrpc_link *link)
{
	if (atomic_dec_and_test(&link->kept))
		mrpc_conn_drained(mrpc_link_conn(link));
}
EXPORT_SYMBOL_GPL(mrpc_link_unkeep);

/**
 * mrpc_link_get() - take a reference to a link
 * @link: the link, which cannot go meanwhile
 */
void mrpc_link_get(struct mrpc_link *link)
{
	mrpc_conn_get(mrpc_link_conn(link));
}

/**
 * mrpc_link_put() - drop a reference to a link
 * @link: the link
 *
 * Context: any but hard interrupt.
 */
void mrpc_link_put(struct mrpc_link *link)
{
	mrpc_conn_put(mrpc_link_conn(link));
}
