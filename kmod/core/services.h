/* SPDX-License-Identifier: GPL-2.0 */
/* The services of connections and listeners. */
#ifndef MRPC_CORE_SERVICES_H
#define MRPC_CORE_SERVICES_H

#include <linux/mrpc.h>
#include <linux/types.h>

struct mrpc_refusal;
struct mrpc_schema;
struct mrpc_session;

/* A service of a connection or listener. */
struct mrpc_service {
	/* A reference. */
	struct mrpc_schema *schema;
	/*
	 * A connection's: calls started (client; mrpc_conn.lock) or delivered (server; receive
	 * claim). A listener's: those of connections that have ended, under its session's xa_lock.
	 */
	u64 calls;
};

/**
 * struct mrpc_conn_services - what a connection has negotiated; embedded in struct mrpc_conn
 *
 * call/handshake.c writes it. Immutable from when the connection is READY.
 */
struct mrpc_conn_services {
	/* Client: what the application connects with. Server: the listener's. */
	struct mrpc_service *list;
	/* Entries of @list. */
	u32 nr;
	/* Server: services that the client asked for: entries of @map. */
	u32 nr_wire;
	/* The largest that the peer accepts. */
	u32 peer_max_message;
	/* Server: the index in @list, by the index on the wire. */
	u8 map[MRPC_MAX_SERVICES];
};

int mrpc_services_get(struct mrpc_session *session, const struct mrpc_connect *args,
		      struct mrpc_service **services, struct mrpc_refusal *r);
int mrpc_services_copy(struct mrpc_conn_services *s, const struct mrpc_service *services, u32 nr);
void mrpc_services_put(struct mrpc_service *services, u32 nr);

#endif /* MRPC_CORE_SERVICES_H */
