// SPDX-License-Identifier: GPL-2.0
/* What the kernel's attributes mean, and what they are called in JSON. */
#include <string.h>

#include <linux/mrpc_netlink.h>

#include "nl/attrs.h"
#include "nl/sets.h"
#include "nl/status.h"

static const char *const states[] = { "connecting", "ready", "draining", "closed", NULL };
static const char *const tls_ciphers[] = {
	"none", "aes-128-gcm", "aes-256-gcm", "chacha20-poly1305", "other", NULL
};
static const char *const qp_flags[] = { "serve", "eventfd", NULL };
static const char *const directions[] = {
	"running", "missed", "disabled", "ready", "stalled", "blocked", NULL
};

static const struct attr heap[] = {
	[MRPC_A_HEAP_REGIONS] = NUMBER("regions"),
	[MRPC_A_HEAP_BYTES] = BYTES("bytes"),
	[MRPC_A_HEAP_LIMIT] = BYTES("limit"),
	[MRPC_A_HEAP_USED] = BYTES("used"),
	[MRPC_A_HEAP_FAILED] = NUMBER("failed"),
};
static const struct set set_heap = SET(heap);

static const struct attr session[] = {
	[MRPC_A_SESSION_ID] = NUMBER("id"),
	[MRPC_A_SESSION_NAME] = TEXT("name"),
	[MRPC_A_SESSION_PID] = NUMBER("pid"),
	[MRPC_A_SESSION_UID] = NUMBER("uid"),
	[MRPC_A_SESSION_AGE] = TIME("age_ns"),
	[MRPC_A_SESSION_SEND] = NEST("send", &set_heap),
	[MRPC_A_SESSION_RECV] = NEST("recv", &set_heap),
	[MRPC_A_SESSION_QPS] = NUMBER("qps"),
	[MRPC_A_SESSION_SCHEMAS] = NUMBER("schemas"),
	[MRPC_A_SESSION_CONNS] = NUMBER("conns"),
	[MRPC_A_SESSION_LISTENERS] = NUMBER("listeners"),
	[MRPC_A_SESSION_PENDING] = NUMBER("pending"),
};
const struct set set_session = SET(session);

static const struct attr qp[] = {
	[MRPC_A_QP_SESSION] = NUMBER("session"),
	[MRPC_A_QP_ID] = NUMBER("id"),
	[MRPC_A_QP_FLAGS] = FLAGS("flags", qp_flags),
	[MRPC_A_QP_SQ_ENTRIES] = NUMBER("sq_entries"),
	[MRPC_A_QP_SQ_USED] = NUMBER("sq_used"),
	[MRPC_A_QP_CQ_ENTRIES] = NUMBER("cq_entries"),
	[MRPC_A_QP_CQ_USED] = NUMBER("cq_used"),
	[MRPC_A_QP_CQ_RESERVED] = NUMBER("cq_reserved"),
	[MRPC_A_QP_SERVING] = NUMBER("serving"),
	[MRPC_A_QP_SUBMITTED] = NUMBER("submitted"),
	[MRPC_A_QP_COMPLETED] = NUMBER("completed"),
};
const struct set set_qp = SET(qp);

static const struct attr stats[] = {
	[MRPC_A_CONN_STATS_CALLS] = NUMBER("calls"),
	[MRPC_A_CONN_STATS_DONE] = NUMBER("done"),
	[MRPC_A_CONN_STATS_FAILED] = NUMBER("failed"),
	[MRPC_A_CONN_STATS_TX_FRAMES] = NUMBER("tx_frames"),
	[MRPC_A_CONN_STATS_TX_BYTES] = BYTES("tx_bytes"),
	[MRPC_A_CONN_STATS_RX_FRAMES] = NUMBER("rx_frames"),
	[MRPC_A_CONN_STATS_RX_BYTES] = BYTES("rx_bytes"),
	[MRPC_A_CONN_STATS_RX_REFUSED] = NUMBER("rx_refused"),
	[MRPC_A_CONN_STATS_HEAP_STALLS] = NUMBER("heap_stalls"),
	[MRPC_A_CONN_STATS_TX_CHECKSUMS] = NUMBER("tx_checksums"),
	[MRPC_A_CONN_STATS_RX_CHECKSUMS] = NUMBER("rx_checksums"),
};
static const struct set set_stats = SET(stats);

static const struct attr service[] = {
	[MRPC_A_SERVICE_SESSION] = NUMBER("session"),
	[MRPC_A_SERVICE_LISTENER] = NUMBER("listener"),
	[MRPC_A_SERVICE_CONN] = NUMBER("conn"),
	[MRPC_A_SERVICE_NAME] = TEXT("name"),
	[MRPC_A_SERVICE_SCHEMA] = NUMBER("schema"),
	[MRPC_A_SERVICE_HASH] = HASH("hash"),
	[MRPC_A_SERVICE_METHODS] = NUMBER("methods"),
	[MRPC_A_SERVICE_TRANSPORT] = TEXT("transport"),
	[MRPC_A_SERVICE_ADDR] = ADDR("address"),
	[MRPC_A_SERVICE_CALLS] = NUMBER("calls"),
	[MRPC_A_SERVICE_ACCEPTED] = NUMBER("accepted"),
	[MRPC_A_SERVICE_HANDSHAKES] = NUMBER("handshakes"),
};
const struct set set_service = SET(service);

static const struct attr conn[] = {
	[MRPC_A_CONN_SESSION] = NUMBER("session"),
	[MRPC_A_CONN_ID] = NUMBER("id"),
	[MRPC_A_CONN_DATAPATH] = NUMBER("datapath"),
	[MRPC_A_CONN_TRANSPORT] = TEXT("transport"),
	[MRPC_A_CONN_STATE] = ENUM("state", states),
	[MRPC_A_CONN_LISTENER] = NUMBER("listener"),
	[MRPC_A_CONN_LOCAL] = ADDR("local"),
	[MRPC_A_CONN_PEER] = ADDR("peer"),
	[MRPC_A_CONN_AGE] = TIME("age_ns"),
	[MRPC_A_CONN_IDLE] = TIME("idle_ns"),
	[MRPC_A_CONN_KEEPALIVE] = TIME("keepalive_ns"),
	[MRPC_A_CONN_CALLS_ACTIVE] = NUMBER("calls_active"),
	[MRPC_A_CONN_CALLS_LIMIT] = NUMBER("calls_limit"),
	[MRPC_A_CONN_MAX_MESSAGE] = BYTES("max_message"),
	[MRPC_A_CONN_PEER_MAX_MESSAGE] = BYTES("peer_max_message"),
	[MRPC_A_CONN_STATUS] = ENUM("status", status_names),
	[MRPC_A_CONN_REASON] = TEXT("reason"),
	[MRPC_A_CONN_SERVICE] = LIST("services", &set_service),
	[MRPC_A_CONN_STATS] = NEST("stats", &set_stats),
	[MRPC_A_CONN_PARENT] = NUMBER("parent"),
	[MRPC_A_CONN_TRANSPORT_VERSION] = NUMBER("transport_version"),
	[MRPC_A_CONN_IDENTITY] = TEXT("identity"),
	[MRPC_A_CONN_TLS] = ENUM("tls", tls_ciphers),
	[MRPC_A_CONN_GROUP] = NUMBER("group"),
	[MRPC_A_CONN_RANK] = NUMBER("rank"),
};
const struct set set_conn = SET(conn);

static const struct attr schema[] = {
	[MRPC_A_SCHEMA_ID] = NUMBER("id"),
	[MRPC_A_SCHEMA_HASH] = HASH("hash"),
	[MRPC_A_SCHEMA_SERVICE] = TEXT("service"),
	[MRPC_A_SCHEMA_METHODS] = NUMBER("methods"),
	[MRPC_A_SCHEMA_TYPES] = NUMBER("types"),
	[MRPC_A_SCHEMA_FIELDS] = NUMBER("fields"),
	[MRPC_A_SCHEMA_BYTES] = BYTES("bytes"),
	[MRPC_A_SCHEMA_PLAN_BYTES] = BYTES("plan_bytes"),
	[MRPC_A_SCHEMA_SESSIONS] = NUMBER("sessions"),
	[MRPC_A_SCHEMA_USERS] = NUMBER("users"),
	[MRPC_A_SCHEMA_BINDS] = NUMBER("binds"),
	[MRPC_A_SCHEMA_COMPILE_TIME] = TIME("compile_ns"),
};
const struct set set_schema = SET(schema);

static const struct attr method[] = {
	[MRPC_A_METHOD_SCHEMA] = NUMBER("schema"),
	[MRPC_A_METHOD_INDEX] = NUMBER("index"),
	[MRPC_A_METHOD_NAME] = TEXT("name"),
	[MRPC_A_METHOD_REQUEST] = TEXT("request"),
	[MRPC_A_METHOD_REQUEST_SIZE] = BYTES("request_size"),
	[MRPC_A_METHOD_REPLY] = TEXT("reply"),
	[MRPC_A_METHOD_REPLY_SIZE] = BYTES("reply_size"),
};
const struct set set_method = SET(method);

static const struct attr direction[] = {
	[MRPC_A_DIRECTION_FLAGS] = FLAGS("flags", directions),
	[MRPC_A_DIRECTION_QUEUED] = NUMBER("queued"),
	[MRPC_A_DIRECTION_BACKLOG] = BYTES("backlog"),
	[MRPC_A_DIRECTION_PARTIAL] = BYTES("partial"),
};
static const struct set set_direction = SET(direction);

static const struct attr table[] = {
	[MRPC_A_CALL_TABLE_LIMIT] = NUMBER("limit"),
	[MRPC_A_CALL_TABLE_ACTIVE] = NUMBER("active"),
	[MRPC_A_CALL_TABLE_ZOMBIES] = NUMBER("zombies"),
	[MRPC_A_CALL_TABLE_DEADLINES] = NUMBER("deadlines"),
};
static const struct set set_table = SET(table);

static const struct attr datapath[] = {
	[MRPC_A_DATAPATH_SESSION] = NUMBER("session"),
	[MRPC_A_DATAPATH_CONN] = NUMBER("conn"),
	[MRPC_A_DATAPATH_ID] = NUMBER("id"),
	[MRPC_A_DATAPATH_TRANSPORT] = TEXT("transport"),
	[MRPC_A_DATAPATH_STATE] = ENUM("state", states),
	[MRPC_A_DATAPATH_TX] = NEST("tx", &set_direction),
	[MRPC_A_DATAPATH_RX] = NEST("rx", &set_direction),
	[MRPC_A_DATAPATH_CALLS] = NEST("calls", &set_table),
	[MRPC_A_DATAPATH_TIMER] = TIME("timer_ns"),
	[MRPC_A_DATAPATH_STATS] = NEST("stats", &set_stats),
	[MRPC_A_DATAPATH_STAGE] = LIST("stages", &set_stage),
	[MRPC_A_DATAPATH_TRANSPORT_VERSION] = NUMBER("transport_version"),
};
const struct set set_datapath = SET(datapath);

/* The attribute that is called @key, of @len characters, in JSON; or NULL. */
const struct attr *set_find(const struct set *set, const char *key, size_t len)
{
	int i;

	for (i = 1; i <= set->max; i++)
		if (set->attrs[i].key && strlen(set->attrs[i].key) == len &&
		    !memcmp(set->attrs[i].key, key, len))
			return &set->attrs[i];
	return NULL;
}
