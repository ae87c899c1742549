// SPDX-License-Identifier: GPL-2.0
/*
 * The handshake, and the other control frames.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "core/schema.h"
#include "chain/chain.h"
#include "core/conn.h"
#include "lib/message/handshake.h"
#include "change/link_version.h"
#include "core/notify.h"
#include "core/refusal.h"
#include "replica/replica.h"
#include "core/session.h"

#define MRPC_PONG_QUEUE	512	/* no answers to probes behind more than this */

/**
 * mrpc_control_new() - a control frame
 * @conn: the connection
 * @type: enum mrpc_wire_type
 * @call_id: for its header
 * @body: of a hello, or NULL
 * @len: its bytes
 *
 * Context: process; may sleep.
 * Return: the frame, for mrpc_control_submit() or mrpc_call_put(); or NULL.
 */
struct mrpc_call *mrpc_control_new(struct mrpc_conn *conn, u8 type, u64 call_id, const void *body,
				   u32 len)
{
	struct mrpc_call *call = mrpc_call_new(conn, MRPC_ROLE_CONTROL, GFP_KERNEL);

	if (!call)
		return NULL;
	if (mrpc_rpc_prefix(&call->rpc, len, 0)) {
		mrpc_call_put(call);
		return NULL;
	}
	if (len)
		memcpy(call->rpc.data + sizeof(struct mrpc_wire_hdr), body, len);
	call->rpc.frame.type = type;
	call->rpc.frame.call_id = call_id;
	return call;
}

/**
 * mrpc_control_submit() - put a control frame on the datapath; the caller runs it
 * @conn: the connection
 * @call: the frame
 */
void mrpc_control_submit(struct mrpc_conn *conn, struct mrpc_call *call)
{
	mrpc_tx_submit(conn, &call->rpc);
	set_bit(MRPC_CONN_TX_READY, &conn->flags);
}

static int mrpc_control_send(struct mrpc_conn *conn, u8 type, u64 call_id, const void *body,
			     u32 len)
{
	struct mrpc_call *call = mrpc_control_new(conn, type, call_id, body, len);

	if (!call)
		return -ENOMEM;
	mrpc_control_submit(conn, call);
	return 0;
}

/**
 * mrpc_conn_send_control() - queue a frame without content
 * @conn: the connection
 * @type: enum mrpc_wire_type
 * @call_id: for its header
 *
 * The caller runs the datapath. Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int mrpc_conn_send_control(struct mrpc_conn *conn, u8 type, u64 call_id)
{
	return mrpc_control_send(conn, type, call_id, NULL, 0);
}

/**
 * mrpc_conn_send_cancel() - tell the peer that a call is given up
 * @conn: the connection
 * @target: the call; the caller holds a reference
 *
 * If it has not been sent yet, neither is. The caller runs the datapath.
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int mrpc_conn_send_cancel(struct mrpc_conn *conn, struct mrpc_call *target)
{
	struct mrpc_call *call = mrpc_call_new(conn, MRPC_ROLE_CONTROL, GFP_KERNEL);

	if (!call)
		return -ENOMEM;
	mrpc_call_get(target);
	call->target = target;
	call->rpc.frame.type = MRPC_WIRE_CANCEL;
	call->rpc.frame.call_id = target->id;
	mrpc_control_submit(conn, call);
	return 0;
}

static int mrpc_send_hello(struct mrpc_conn *conn, u8 type, const struct mrpc_hello *hello)
{
	void *body = kmalloc(MRPC_WIRE_MAX_HELLO, GFP_KERNEL);
	int err = -ENOMEM, len;

	if (body) {
		len = mrpc_hello_encode(hello, body, MRPC_WIRE_MAX_HELLO);
		err = len < 0 ? len : mrpc_control_send(conn, type, 0, body, len);
	}
	kfree(body);
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
 * The caller runs the datapath. Return: 0 or -ENOMEM.
 */
int mrpc_conn_send_hello(struct mrpc_conn *conn)
{
	struct mrpc_hello *hello = kzalloc(sizeof(*hello), GFP_KERNEL);
	int err;
	u32 i;

	if (!hello)
		return -ENOMEM;
	hello->version_min = MRPC_WIRE_VERSION;
	hello->version_max = MRPC_WIRE_VERSION;
	hello->nr_services = conn->nr_services;
	hello->max_message = conn->max_message;
	hello->max_calls = conn->calls.limit;
	hello->features = mrpc_features_offer(&conn->features);
	for (i = 0; i < conn->nr_services; i++)
		mrpc_hello_name(&hello->services[i], conn->services[i].schema);
	err = mrpc_send_hello(conn, MRPC_WIRE_HELLO, hello);
	kfree(hello);
	return err;
}

/**
 * mrpc_conn_announce() - tell the peer if what this end accepts has changed
 * @conn: the connection
 *
 * Context: owner of the receive claim; may sleep. The caller runs the datapath.
 * Return: 0 or -ENOMEM.
 */
int mrpc_conn_announce(struct mrpc_conn *conn)
{
	int err;

	if (!mrpc_features_due(&conn->features))
		return 0;
	err = mrpc_conn_send_control(conn, MRPC_WIRE_FEATURES,
				     mrpc_features_wanted(&conn->features));
	if (!err)
		mrpc_features_announced(&conn->features);
	return err;
}

/* The operator's engines come first; without them there is no connection. */
static int mrpc_hello_join(struct mrpc_conn *conn)
{
	struct netlink_ext_ack extack = {};
	int err = mrpc_datapath_join(conn, &extack);

	if (err)
		pr_warn_ratelimited("mrpc: datapath %u cannot have its engines: %s (%pe)\n",
				    conn->dp_id, extack._msg ?: "no memory", ERR_PTR(err));
	return err;
}

/* -- server ---------------------------------------------------------------- */

/* Our verdict on one service that the client wants. */
static void mrpc_hello_judge(struct mrpc_conn *conn, struct mrpc_hello_service *want, u8 *map)
{
	u32 i;

	for (i = 0; i < conn->nr_services; i++) {
		const struct mrpc_schema *ours = conn->services[i].schema;
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
		mrpc_hello_judge(conn, &hello->services[i], &conn->map[i]);
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
	conn->peer_max_message = hello->max_message;
	hello->version_min = MRPC_WIRE_VERSION;
	hello->version_max = MRPC_WIRE_VERSION;
	hello->features = mrpc_features_choose(&conn->features, hello->features);
	mrpc_link_agreed(conn);
	hello->identity_len = 0;
	hello->max_message = conn->max_message;
	hello->max_calls = min(hello->max_calls, conn->serves.limit);
	if (mrpc_send_hello(conn, MRPC_WIRE_HELLO_ACK, hello))
		return -ENOMEM;
	if (!fine)	/* the client reads why and closes; the timer sees to it */
		return 0;
	/* From here method numbers of the wire are checked against what the
	 * client asked for, in its order.
	 */
	conn->nr_wire = wanted;
	spin_lock(&conn->lock);
	if (conn->state == MRPC_CONN_CONNECTING) {
		set_bit(MRPC_CONN_SHOOK, &conn->flags);
		WRITE_ONCE(conn->state, MRPC_CONN_READY);
	}
	spin_unlock(&conn->lock);
	if (test_bit(MRPC_CONN_SHOOK, &conn->flags))
		mrpc_listener_settled(conn);
	mrpc_notify_conn(conn, MRPC_EVENT_CONN_OPEN);
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
	if (ack->nr_services != conn->nr_services) {
		mrpc_refuse(r, MRPC_INTERNAL, "the peer answered for %u services, not %u",
			    ack->nr_services, conn->nr_services);
		return false;
	}
	for (i = 0; i < ack->nr_services; i++) {
		const struct mrpc_hello_service *svc = &ack->services[i];
		const struct mrpc_schema *ours = conn->services[i].schema;
		const char *name = mrpc_schema_service(ours->plan);

		switch (svc->verdict) {
		case MRPC_VERDICT_OK:
			continue;
		case MRPC_VERDICT_UNKNOWN:
			mrpc_refuse(r, MRPC_UNIMPLEMENTED, "the peer does not serve %s", name);
			return false;
		default:
			mrpc_refuse(r, MRPC_FAILED_PRECONDITION,
				    "schema mismatch for service %s: ours %*phN, peer's %*phN",
				    name, MRPC_HASH_LEN, ours->hash, MRPC_HASH_LEN, svc->hash);
			return false;
		}
	}
	if (ack->status != MRPC_OK) {
		mrpc_refuse(r, ack->status, "the peer refused the connection with status %u",
			    ack->status);
		return false;
	}
	return true;
}

static int mrpc_hello_answer(struct mrpc_conn *conn, const struct mrpc_hello *ack)
{
	struct mrpc_refusal r;
	bool fine = mrpc_ack_check(conn, ack, &r);

	if (mrpc_features_chosen(&conn->features, ack->features))
		return -EPROTO;
	mrpc_link_agreed(conn);
	/* What a link of a replica carries has passed its connection's engines. */
	if (fine && !conn->replica && mrpc_hello_join(conn)) {
		mrpc_refuse(&r, MRPC_UNAVAILABLE,
			    "an engine that the operator has placed here cannot be made");
		fine = false;
	}
	spin_lock(&conn->lock);
	if (conn->state == MRPC_CONN_CONNECTING && fine) {
		conn->peer_max_message = min(ack->max_message, MRPC_MAX_MESSAGE);
		conn->calls.limit = clamp(ack->max_calls, 1U, conn->calls.limit);
		WRITE_ONCE(conn->state, MRPC_CONN_READY);
	}
	if (!fine && conn->refusal)
		*conn->refusal = r;
	spin_unlock(&conn->lock);
	if (!fine)
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the handshake failed", false);
	else if (conn->replica)
		mrpc_replica_join(conn);
	mrpc_wake_all(&conn->wait);
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
	    conn->accepted != (frame->type == MRPC_WIRE_HELLO))
		return -EPROTO;
	hello = kzalloc(sizeof(*hello), GFP_KERNEL);
	if (!hello)
		return -ENOMEM;
	err = mrpc_hello_decode(body, frame->meta_len, hello, &why);
	if (!err)
		err = conn->accepted ? mrpc_hello_accept(conn, hello) :
				       mrpc_hello_answer(conn, hello);
	kfree(hello);
	return err;
}

/*
 * A CANCEL of no call that is being served. If the call has not come, its request was given up on
 * its way: should it come all the same it is not executed, and this is its reply.
 */
static int mrpc_hear_skip(struct mrpc_conn *conn, u64 id)
{
	u32 slot = mrpc_call_slot(id);
	bool fresh;

	if (!mrpc_features_accept(&conn->features, MRPC_FEATURE_ABORT))
		return 0;
	/* Only the owner of the receive claim has the table grow. */
	if (slot >= conn->serves.nr && slot < conn->serves.limit && mrpc_conn_grow(conn, slot + 1))
		return -ENOMEM;
	spin_lock(&conn->lock);
	fresh = !mrpc_serve_start(&conn->serves, id, conn);	/* nobody sees that it is no call */
	if (fresh) {
		mrpc_serve_end(&conn->serves, id);
		conn->stats.calls++;
	}
	spin_unlock(&conn->lock);
	return fresh ? mrpc_serve_status(conn, id, MRPC_CANCELLED,
					 "cancelled by the caller before it came") : 0;
}

static int mrpc_hear_cancel(struct mrpc_conn *conn, u64 id)
{
	struct mrpc_call *call;
	int err = 0;

	spin_lock(&conn->lock);
	call = mrpc_serve_end(&conn->serves, id);
	if (call)
		mrpc_deadlines_del(&conn->deadlines, &call->deadline);
	spin_unlock(&conn->lock);
	if (call)
		mrpc_serve_abort(call, MRPC_CANCELLED, "cancelled by the caller");
	else
		err = mrpc_hear_skip(conn, id);
	set_bit(MRPC_CONN_TX_READY, &conn->flags);
	return err;
}

/*
 * A server that drains says BYE; the client starts no more calls and says BYE,
 * too, behind all that it has sent. So the server knows when it has heard
 * everything, and no call is lost to the end of the connection. The link of a replica
 * says nothing, and is closed behind its last call: see mrpc_conn_bye().
 */
static int mrpc_hear_bye(struct mrpc_conn *conn)
{
	if (test_and_set_bit(MRPC_CONN_BYE, &conn->flags))
		return 0;
	if (conn->accepted) {
		mrpc_conn_drained(conn);
		return 0;
	}
	spin_lock(&conn->lock);
	if (conn->state == MRPC_CONN_READY) {
		WRITE_ONCE(conn->state, MRPC_CONN_DRAINING);
		conn->why = "the peer is shutting down";
	}
	spin_unlock(&conn->lock);
	if (!conn->replica)
		return mrpc_conn_send_control(conn, MRPC_WIRE_BYE, 0);
	mrpc_conn_drained(conn);
	return 0;
}

/* The answer's way through the transmit queue decides which frames still are as before. */
static int mrpc_hear_features(struct mrpc_conn *conn, u64 mask)
{
	u64 answer;
	int err = mrpc_features_hear(&conn->features, mask, &answer);

	return err ?: mrpc_conn_send_control(conn, MRPC_WIRE_FEATURES_ACK, answer);
}

/**
 * mrpc_conn_control() - a frame without content has arrived
 * @conn: the connection
 * @frame: the frame
 *
 * Context: owner of the receive claim; may sleep.
 * Return: 0, -EPROTO or -ENOMEM.
 */
int mrpc_conn_control(struct mrpc_conn *conn, const struct mrpc_frame *frame)
{
	switch (frame->type) {
	case MRPC_WIRE_PING:
		/* A full queue speaks for itself: anything we send is an answer. */
		if (atomic_read(&conn->tx_queued) > MRPC_PONG_QUEUE)
			return 0;
		return mrpc_conn_send_control(conn, MRPC_WIRE_PONG, frame->call_id);
	case MRPC_WIRE_PONG:
		return 0;
	case MRPC_WIRE_CANCEL:
		return mrpc_hear_cancel(conn, frame->call_id);
	case MRPC_WIRE_BYE:
		return mrpc_hear_bye(conn);
	case MRPC_WIRE_FEATURES:
		return mrpc_hear_features(conn, frame->call_id);
	case MRPC_WIRE_FEATURES_ACK:
		return mrpc_features_ack(&conn->features, frame->call_id) ?:
		       mrpc_conn_announce(conn);
	default:
		return -EPROTO;
	}
}
