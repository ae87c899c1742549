// SPDX-License-Identifier: GPL-2.0
/* The services that a connection or listener names: look-up of their schemas. */
#include <linux/nospec.h>
#include <linux/slab.h>

#include "core/conn.h"
#include "core/refusal.h"
#include "core/schema.h"
#include "core/services.h"
#include "core/session.h"
#include "lib/message/schema.h"

/**
 * mrpc_services_get() - the services that an ioctl names
 * @session: the session
 * @args: names them
 * @services: out: array, to be given to mrpc_services_put()
 * @r: why not
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int mrpc_services_get(struct mrpc_session *session, const struct mrpc_connect *args,
		      struct mrpc_service **services, struct mrpc_refusal *r)
{
	struct mrpc_service *svc;
	u32 i, k;

	if (!args->nr_schemas || args->nr_schemas > MRPC_MAX_SERVICES)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "%u schemas, 1 to %u are allowed",
				   args->nr_schemas, MRPC_MAX_SERVICES);
	svc = kcalloc(args->nr_schemas, sizeof(*svc), GFP_KERNEL_ACCOUNT);
	if (!svc)
		return -ENOMEM;
	mutex_lock(&session->lock);
	for (i = 0; i < args->nr_schemas; i++) {
		u32 id = args->schemas[i];

		if (!id || id > session->nr_schemas)
			break;
		id = array_index_nospec(id - 1, session->nr_schemas) + 1;
		for (k = 0; k < i; k++)
			if (!strcmp(mrpc_schema_service(svc[k].schema->plan),
				    mrpc_schema_service(session->schemas[id - 1]->plan)))
				break;
		if (k < i)
			break;
		svc[i].schema = session->schemas[id - 1];
		mrpc_schema_get(svc[i].schema);
	}
	mutex_unlock(&session->lock);
	if (i == args->nr_schemas) {
		*services = svc;
		return 0;
	}
	mrpc_services_put(svc, i);
	return mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
			   "schemas[%u] = %u is not bound, or names a service twice", i,
			   args->schemas[i]);
}

/**
 * mrpc_services_copy() - give a connection in the making the services of another object
 * @s: its services
 * @services: what a listener accepts for, or another connection has
 * @nr: entries of @services
 *
 * Context: process; may sleep. Return: 0 or -ENOMEM.
 */
int mrpc_services_copy(struct mrpc_conn_services *s, const struct mrpc_service *services, u32 nr)
{
	u32 i;

	s->list = kcalloc(nr, sizeof(*s->list), GFP_KERNEL_ACCOUNT);
	if (!s->list)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		s->list[i].schema = services[i].schema;
		mrpc_schema_get(s->list[i].schema);
	}
	s->nr = nr;
	return 0;
}

void mrpc_services_put(struct mrpc_service *services, u32 nr)
{
	while (nr)
		mrpc_schema_put(services[--nr].schema);
	kfree(services);
}
