// SPDX-License-Identifier: GPL-2.0
/* The handshake: HELLO, and the answer to it. */
#include <linux/slab.h>
#include <linux/netlink.h>

#include "call/handshake.h"
#include "change/change.h"
#include "core/carrier.h"
#include "core/conn.h"
#include "core/notify.h"
#include "core/refusal.h"
#include "core/schema.h"
#include "core/waiters.h"
#include "exec/control_frame.h"
#include "exec/kick.h"
#include "lib/message/feature.h"
#include "lib/message/handshake.h"
#include "lib/message/schema.h"
#include "lib/message/wire.h"

static int mrpc_send_hello(struct mrpc_conn *conn, u8 type, const struct mrpc_hello *hello)
{
	void *body = kvmalloc(MRPC_WIRE_MAX_HELLO, GFP_KERNEL);
	int err = -ENOMEM, len;

	if (body) {
		len = mrpc_hello_encode(hello, body, MRPC_WIRE_MAX_HELLO);
		err = len < 0 ? len : mrpc_control_send(conn, type, 0, body, len);
	}
	kvfree(body);
	return err;
}

static void mrpc_hello_name(struct mrpc_hello_service *to, const struct mrpc_schema *schema)
{
	memcpy(to->hash, schema->hash, MRPC_HASH_LEN);
	to->name = mrpc_schema_service(schema->plan);
	to->name_len = strlen(to->name);
}

/**
 * mrpc_conn_send_hello() - the client's first frame
 * @conn: the connection
 *
 * A link of a foreign protocol begins by itself. The caller runs the datapath.
 * Return: 0 or -ENOMEM.
 */
int mrpc_conn_send_hello(struct mrpc_conn *conn)
{
	struct mrpc_hello *hello;
	int err;
	u32 i;

	if (conn->link.home->flags & MRPC_TRANSPORT_FOREIGN)
		return 0;
	hello = kzalloc(sizeof(*hello), GFP_KERNEL);
	if (!hello)
		return -ENOMEM;
	hello->version_min = MRPC_WIRE_VERSION;
	hello->version_max = MRPC_WIRE_VERSION;
	hello->nr_services = conn->services.nr;
	hello->max_message = conn->link.max_message;
	hello->max_calls = conn->calls.client.limit;
	hello->features = mrpc_features_offer(&conn->link.features);
	for (i = 0; i < conn->services.nr; i++)
		mrpc_hello_name(&hello->services[i], conn->services.list[i].schema);
	err = mrpc_send_hello(conn, MRPC_WIRE_HELLO, hello);
	kfree(hello);
	return err;
}

/* The operator's engines come first; without them there is no connection. */
static int mrpc_hello_join(struct mrpc_conn *conn)
{
	struct netlink_ext_ack extack = {};
	int err = mrpc_datapath_join(conn, &extack);
	const char *said;
	char *why;

	if (!err)
		return 0;
	said = extack._msg ?: err == -E2BIG ? "too many rules for its methods" : "no memory";
	pr_warn_ratelimited("mrpc: datapath %u cannot have its engines: %s (%pe)\n",
			    conn->dp_id, said, ERR_PTR(err));
	why = kasprintf(GFP_KERNEL, "its engines cannot be made: %s", said);
	spin_lock(&conn->lock);
	conn->unmade = why;
	spin_unlock(&conn->lock);
	return err;
}

/* -- server ---------------------------------------------------------------- */

/* Our verdict on one service that the client wants. */
static void mrpc_hello_judge(const struct mrpc_conn_services *s, struct mrpc_hello_service *want,
			     u8 *map)
{
	u32 i;

	for (i = 0; i < s->nr; i++) {
		const struct mrpc_schema *ours = s->list[i].schema;
		const char *name = mrpc_schema_service(ours->plan);

		if (strlen(name) != want->name_len || memcmp(name, want->name, want->name_len))
			continue;
		*map = i;
		if (!memcmp(want->hash, ours->hash, MRPC_HASH_LEN)) {
			want->verdict = MRPC_VERDICT_OK;
			return;
		}
		want->verdict = MRPC_VERDICT_MISMATCH;
		memcpy(want->hash, ours->hash, MRPC_HASH_LEN);
		return;
	}
	want->verdict = MRPC_VERDICT_UNKNOWN;
	memset(want->hash, 0, MRPC_HASH_LEN);
}

/* The connection is READY. The client asked for @wanted services, in the order of the map. */
static void mrpc_hello_accepted(struct mrpc_conn *conn, u32 wanted)
{
	/* From here method numbers of the wire are checked against them. */
	conn->services.nr_wire = wanted;
	spin_lock(&conn->lock);
	if (conn->state == MRPC_CONN_CONNECTING) {
		set_bit(MRPC_CONN_SHOOK, &conn->flags);
		WRITE_ONCE(conn->state, MRPC_CONN_READY);
	}
	spin_unlock(&conn->lock);
	if (test_bit(MRPC_CONN_SHOOK, &conn->flags))
		mrpc_listener_settled(conn);
	mrpc_notify_conn(conn, MRPC_EVENT_CONN_OPEN);
}

static int mrpc_hello_accept(struct mrpc_conn *conn, struct mrpc_hello *hello)
{
	bool fine = true;
	u32 i, wanted = hello->nr_services;

	hello->status = MRPC_OK;
	if (hello->version_min > MRPC_WIRE_VERSION || hello->version_max < MRPC_WIRE_VERSION) {
		fine = false;
		hello->status = MRPC_FAILED_PRECONDITION;
	}
	for (i = 0; i < wanted; i++) {
		mrpc_hello_judge(&conn->services, &hello->services[i], &conn->services.map[i]);
		if (hello->services[i].verdict != MRPC_VERDICT_OK) {
			fine = false;
			hello->status = hello->services[i].verdict == MRPC_VERDICT_UNKNOWN ?
					MRPC_UNIMPLEMENTED : MRPC_FAILED_PRECONDITION;
		}
	}
	if (fine && mrpc_hello_join(conn)) {
		fine = false;
		hello->status = MRPC_UNAVAILABLE;
	}
	conn->services.peer_max_message = hello->max_message;
	hello->version_min = MRPC_WIRE_VERSION;
	hello->version_max = MRPC_WIRE_VERSION;
	hello->features = mrpc_features_choose(&conn->link.features, hello->features);
	mrpc_link_agreed(&conn->link);
	hello->identity_len = 0;
	hello->max_message = conn->link.max_message;
	hello->max_calls = min(hello->max_calls, conn->calls.server.limit);
	if (mrpc_send_hello(conn, MRPC_WIRE_HELLO_ACK, hello))
		return -ENOMEM;
	if (!fine) {	/* the client reads why and closes; until then it keeps its place */
		set_bit(MRPC_CONN_DENIED, &conn->flags);
		return 0;
	}
	mrpc_hello_accepted(conn, wanted);
	return mrpc_conn_announce(conn);
}

/* -- client ---------------------------------------------------------------- */

static bool mrpc_ack_check(struct mrpc_conn *conn, const struct mrpc_hello *ack,
			   struct mrpc_refusal *r)
{
	u32 i;

	if (ack->version_min != MRPC_WIRE_VERSION || ack->version_max != MRPC_WIRE_VERSION) {
		mrpc_refuse(r, MRPC_FAILED_PRECONDITION,
			    "the peer speaks version %u to %u of the wire format, we speak %u",
			    ack->version_min, ack->version_max, MRPC_WIRE_VERSION);
		return false;
	}
	if (ack->nr_services != conn->services.nr) {
		mrpc_refuse(r, MRPC_INTERNAL, "the peer answered for %u services, not %u",
			    ack->nr_services, conn->services.nr);
		return false;
	}
	for (i = 0; i < ack->nr_services; i++) {
		const struct mrpc_hello_service *svc = &ack->services[i];
		const struct mrpc_schema *ours = conn->services.list[i].schema;
		const char *name = mrpc_schema_service(ours->plan);

		switch (svc->verdict) {
		case MRPC_VERDICT_OK:
			continue;
		case MRPC_VERDICT_UNKNOWN:
			mrpc_refuse(r, MRPC_UNIMPLEMENTED, "the peer does not serve %.*s",
				    MRPC_SCHEMA_SHOWN_NAME, name);
			return false;
		default:
			mrpc_refuse(r, MRPC_FAILED_PRECONDITION,
				    "schema mismatch for service %.*s: ours %*phN, peer's %*phN",
				    MRPC_SCHEMA_SHOWN_NAME, name, MRPC_HASH_LEN, ours->hash,
				    MRPC_HASH_LEN, svc->hash);
			return false;
		}
	}
	/* The peer keeps the reason to itself: that is about its operator's engines. */
	if (ack->status == MRPC_UNAVAILABLE) {
		mrpc_refuse(r, ack->status,
			    "the peer cannot make the engines that its operator has placed: 'mrpc monitor' there says why");
		return false;
	}
	if (ack->status != MRPC_OK) {
		mrpc_refuse(r, ack->status, "the peer refused the connection with status %u",
			    ack->status);
		return false;
	}
	return true;
}

/*
 * The server has answered: if all is @fine, the connection is READY, else @r says why not. Return:
 * it is READY, or it has ended for another reason.
 */
static bool mrpc_hello_answered(struct mrpc_conn *conn, bool fine, u32 max_message, u32 max_calls,
				struct mrpc_refusal *r)
{
	/* What a link of a replica carries has passed its connection's engines. */
	if (fine && !conn->replica && mrpc_hello_join(conn)) {
		mrpc_refuse(r, MRPC_UNAVAILABLE, "on this host: %s",
			    conn->unmade ?: "its engines cannot be made");
		fine = false;
	}
	spin_lock(&conn->lock);
	if (conn->state == MRPC_CONN_CONNECTING && fine) {
		conn->services.peer_max_message = min(max_message, MRPC_MAX_MESSAGE);
		conn->calls.client.limit = clamp(max_calls, 1U, conn->calls.client.limit);
		WRITE_ONCE(conn->state, MRPC_CONN_READY);
	}
	if (!fine && conn->refusal)
		*conn->refusal = *r;
	spin_unlock(&conn->lock);
	if (!fine)
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the handshake failed", false);
	else if (conn->replica)
		mrpc_carrier_ops->joined(conn);
	mrpc_wake_all(&conn->wait);
	return fine;
}

static int mrpc_hello_answer(struct mrpc_conn *conn, const struct mrpc_hello *ack)
{
	struct mrpc_refusal r;
	bool fine = mrpc_ack_check(conn, ack, &r);

	if (mrpc_features_chosen(&conn->link.features, ack->features))
		return -EPROTO;
	mrpc_link_agreed(&conn->link);
	fine = mrpc_hello_answered(conn, fine, ack->max_message, ack->max_calls, &r);
	return fine ? mrpc_conn_announce(conn) : 0;
}

/**
 * mrpc_conn_hello() - a HELLO or HELLO_ACK has arrived
 * @conn: the connection
 * @frame: its header
 * @body: its body
 *
 * Context: owner of the receive claim; may sleep.
 * Return: 0, -EPROTO or -ENOMEM.
 */
int mrpc_conn_hello(struct mrpc_conn *conn, const struct mrpc_frame *frame, const u8 *body)
{
	struct mrpc_hello *hello;
	const char *why;
	int err;

	if (READ_ONCE(conn->state) != MRPC_CONN_CONNECTING ||
	    test_and_set_bit(MRPC_CONN_HEARD, &conn->flags) ||
	    conn->link.accepted != (frame->type == MRPC_WIRE_HELLO))
		return -EPROTO;
	hello = kzalloc(sizeof(*hello), GFP_KERNEL);
	if (!hello)
		return -ENOMEM;
	err = mrpc_hello_decode(body, frame->meta_len, hello, &why);
	if (!err)
		err = conn->link.accepted ? mrpc_hello_accept(conn, hello) :
					    mrpc_hello_answer(conn, hello);
	kfree(hello);
	return err;
}

/**
 * mrpc_link_agree() - the peer of a link of a foreign protocol is there: calls may pass
 * @link: the link; its transport is MRPC_TRANSPORT_FOREIGN
 * @max_message: the largest message that the peer accepts, in mrpc's form
 * @max_calls: client: how many calls the peer accepts at a time
 *
 * There is no handshake that compares schemas. A server serves all services of its listener, in
 * their order.
 *
 * Context: owner of the receive claim, once in the life of the link; may sleep.
 * Return: 0; -ENOMEM: the connection must end; -EPROTO: it was called twice.
 */
int mrpc_link_agree(struct mrpc_link *link, u32 max_message, u32 max_calls)
{
	struct mrpc_conn *conn = mrpc_link_conn(link);
	struct mrpc_refusal r;
	u32 i;

	if (test_and_set_bit(MRPC_CONN_HEARD, &conn->flags))
		return -EPROTO;
	mrpc_features_fix(&link->features);
	mrpc_link_agreed(link);
	if (!link->accepted) {
		mrpc_hello_answered(conn, true, max_message, max_calls, &r);
		return 0;
	}
	if (mrpc_hello_join(conn))
		return -ENOMEM;
	conn->services.peer_max_message = min(max_message, MRPC_MAX_MESSAGE);
	for (i = 0; i < conn->services.nr; i++)
		conn->services.map[i] = i;
	mrpc_hello_accepted(conn, conn->services.nr);
	return 0;
}
EXPORT_SYMBOL_GPL(mrpc_link_agree);
