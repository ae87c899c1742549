// SPDX-License-Identifier: GPL-2.0
/* What the kernel's attributes of engines and queues mean. */
#include <linux/mrpc_netlink.h>

#include "nl/attrs.h"
#include "nl/sets.h"
#include "nl/status.h"

static const char *const dirs[] = { "tx", "rx", NULL };
static const char *const sides[] = { "client", "server", NULL };
static const char *const types[] = { "number", "bool", "choice", "string", "rules", NULL };
static const char *const param_flags[] = { "required", "unlimited", NULL };
static const char *const type_flags[] = { "reading", "timing", "mandatory", NULL };
static const char *const policy_types[] = { "policy", "sched", "lb", NULL };
static const char *const policy_states[] = { "attached", "evicted", "detached", NULL };
static const char *const policy_hooks[] = {
	"request_tx", "request_rx", "reply_tx", "reply_rx", "init", "exit", "tick",
	"rank", "dequeue", "charge", "pick", "done", NULL
};
static const char *const policy_flags[] = { "writes", "ranks", "ages", NULL };
static const char *const orders[] = { "fifo", "strict", "small", NULL };
static const char *const egress_states[] = { "idle", "waiting", "granted", "sending", NULL };
static const char *const kinds[] = { "request", "reply", "status", "control", "message", NULL };
/* From 1. */
static const char *const keyset_kinds[] = { "", "text", "integer", NULL };
static const char *const rpc_flags[] = { "ended", "partial", "kept", NULL };

static const struct attr param[] = {
	[MRPC_A_PARAM_NAME] = TEXT("name"),
	[MRPC_A_PARAM_TYPE] = ENUM("type", types),
	[MRPC_A_PARAM_FLAGS] = FLAGS("flags", param_flags),
	[MRPC_A_PARAM_UNIT] = TEXT("unit"),
	[MRPC_A_PARAM_DOC] = TEXT("doc"),
	[MRPC_A_PARAM_LEAST] = NUMBER("least"),
	[MRPC_A_PARAM_MOST] = NUMBER("most"),
	[MRPC_A_PARAM_DEFAULT] = NUMBER("default"),
	[MRPC_A_PARAM_CHOICE] = WORDS("choices"),
};
const struct set set_param = SET(param);

static const struct attr policy[] = {
	[MRPC_A_POLICY_STATE] = ENUM("state", policy_states),
	[MRPC_A_POLICY_LINK] = NUMBER("link"),
	[MRPC_A_POLICY_GENERATION] = NUMBER("generation"),
	[MRPC_A_POLICY_EVICTED] = NUMBER("evicted"),
	[MRPC_A_POLICY_WHY] = TEXT("why"),
	[MRPC_A_POLICY_HOOKS] = FLAGS("hooks", policy_hooks),
	[MRPC_A_POLICY_FLAGS] = FLAGS("flags", policy_flags),
	[MRPC_A_POLICY_STORAGE] = BYTES("storage"),
	[MRPC_A_POLICY_PERIOD] = TIME("period_ns"),
	[MRPC_A_POLICY_FIELD] = WORDS("fields"),
	[MRPC_A_POLICY_COUNTER] = WORDS("counters"),
	[MRPC_A_POLICY_ELSEWHERE] = NUMBER("elsewhere"),
	[MRPC_A_POLICY_TYPE] = ENUM("type", policy_types),
};
static const struct set set_policy = SET(policy);

static const struct attr engine_type[] = {
	[MRPC_A_ENGINE_TYPE_NAME] = TEXT("name"),
	[MRPC_A_ENGINE_TYPE_VERSION] = NUMBER("version"),
	[MRPC_A_ENGINE_TYPE_OLDEST] = NUMBER("oldest"),
	[MRPC_A_ENGINE_TYPE_STATE_VERSION] = NUMBER("state_version"),
	[MRPC_A_ENGINE_TYPE_TAKES] = WORDS("takes"),
	[MRPC_A_ENGINE_TYPE_MODULE] = TEXT("module"),
	[MRPC_A_ENGINE_TYPE_DIRS] = FLAGS("dirs", dirs),
	[MRPC_A_ENGINE_TYPE_FLAGS] = FLAGS("flags", type_flags),
	[MRPC_A_ENGINE_TYPE_DOC] = TEXT("doc"),
	[MRPC_A_ENGINE_TYPE_USER] = WORDS("users"),
	[MRPC_A_ENGINE_TYPE_PARAM] = LIST("params", &set_param),
	[MRPC_A_ENGINE_TYPE_POLICY] = NEST("policy", &set_policy),
};
const struct set set_type = SET(engine_type);

static const struct attr scope[] = {
	[MRPC_A_SCOPE_SERVICE] = TEXT("service"),
	[MRPC_A_SCOPE_SESSION] = NUMBER("session"),
	[MRPC_A_SCOPE_PID] = NUMBER("pid"),
	[MRPC_A_SCOPE_UID] = NUMBER("uid"),
	[MRPC_A_SCOPE_CGROUP] = NUMBER("cgroup"),
	[MRPC_A_SCOPE_DATAPATH] = NUMBER("datapath"),
	[MRPC_A_SCOPE_SIDE] = FLAGS("side", sides),
};
static const struct set set_scope = SET(scope);

static const struct attr value[] = {
	[MRPC_A_VALUE_NAME] = TEXT("name"),
	[MRPC_A_VALUE_NUM] = NUMBER("num"),
	[MRPC_A_VALUE_TEXT] = TEXT("text"),
	[MRPC_A_VALUE_DATA] = DATA("data"),
	[MRPC_A_VALUE_SIZE] = BYTES("size"),
	[MRPC_A_VALUE_GIVEN] = FLAG("given"),
};
static const struct set set_value = SET(value);

static const struct attr counter[] = {
	[MRPC_A_COUNTER_NAME] = TEXT("name"),
	[MRPC_A_COUNTER_VALUE] = NUMBER("value"),
};
static const struct set set_counter = SET(counter);

static const struct attr engine_dir[] = {
	[MRPC_A_ENGINE_DIR_QUEUED] = NUMBER("queued"),
	[MRPC_A_ENGINE_DIR_KEPT] = NUMBER("kept"),
	[MRPC_A_ENGINE_DIR_PAUSED] = NUMBER("paused"),
	[MRPC_A_ENGINE_DIR_RPCS] = NUMBER("rpcs"),
	[MRPC_A_ENGINE_DIR_BYTES] = BYTES("bytes"),
	[MRPC_A_ENGINE_DIR_REJECTED] = NUMBER("rejected"),
	[MRPC_A_ENGINE_DIR_TURNS] = NUMBER("turns"),
	[MRPC_A_ENGINE_DIR_SLOW] = NUMBER("slow"),
	[MRPC_A_ENGINE_DIR_WAKE] = TIME("wake_ns"),
};
static const struct set set_engine_dir = SET(engine_dir);

static const struct attr stage[] = {
	[MRPC_A_STAGE_ID] = NUMBER("id"),
	[MRPC_A_STAGE_NAME] = TEXT("name"),
	[MRPC_A_STAGE_TYPE] = TEXT("type"),
	[MRPC_A_STAGE_VERSION] = NUMBER("version"),
	[MRPC_A_STAGE_BYPASSED] = FLAG("bypassed"),
	[MRPC_A_STAGE_TX] = NEST("tx", &set_engine_dir),
	[MRPC_A_STAGE_RX] = NEST("rx", &set_engine_dir),
};
const struct set set_stage = SET(stage);

static const struct attr change[] = {
	[MRPC_A_CHANGE_MATCHED] = NUMBER("matched"),
	[MRPC_A_CHANGE_CHANGED] = NUMBER("changed"),
	[MRPC_A_CHANGE_FAILED] = NUMBER("failed"),
	[MRPC_A_CHANGE_ROLLED_BACK] = FLAG("rolled_back"),
	[MRPC_A_CHANGE_LEAKED] = NUMBER("leaked"),
	[MRPC_A_CHANGE_PAUSE_P50] = TIME("pause_p50_ns"),
	[MRPC_A_CHANGE_PAUSE_P99] = TIME("pause_p99_ns"),
	[MRPC_A_CHANGE_PAUSE_MAX] = TIME("pause_max_ns"),
	[MRPC_A_CHANGE_PAUSE_TOTAL] = TIME("pause_total_ns"),
	[MRPC_A_CHANGE_DURATION] = TIME("duration_ns"),
};
static const struct set set_change = SET(change);

static const struct attr engine[] = {
	[MRPC_A_ENGINE_ID] = NUMBER("id"),
	[MRPC_A_ENGINE_NAME] = TEXT("name"),
	[MRPC_A_ENGINE_TYPE] = TEXT("type"),
	[MRPC_A_ENGINE_VERSION] = NUMBER("version"),
	[MRPC_A_ENGINE_MODULE] = TEXT("module"),
	[MRPC_A_ENGINE_SCOPE] = NEST("scope", &set_scope),
	[MRPC_A_ENGINE_VALUE] = MAP("values", &set_value),
	[MRPC_A_ENGINE_PERCENT] = NUMBER("percent"),
	[MRPC_A_ENGINE_CHANGE] = NEST("change", &set_change),
	[MRPC_A_ENGINE_ADDING] = FLAG("adding"),
	[MRPC_A_ENGINE_REMOVING] = FLAG("removing"),
	[MRPC_A_ENGINE_NEXT_TYPE] = TEXT("next_type"),
	[MRPC_A_ENGINE_NEXT_VERSION] = NUMBER("next_version"),
	[MRPC_A_ENGINE_NEXT_VALUE] = MAP("next_values", &set_value),
	[MRPC_A_ENGINE_DATAPATHS] = NUMBER("datapaths"),
	[MRPC_A_ENGINE_BYPASSED] = NUMBER("bypassed"),
	[MRPC_A_ENGINE_TX] = NEST("tx", &set_engine_dir),
	[MRPC_A_ENGINE_RX] = NEST("rx", &set_engine_dir),
	[MRPC_A_ENGINE_COUNTER] = MAP("counters", &set_counter),
};
const struct set set_engine = SET(engine);

static const struct attr queue[] = {
	[MRPC_A_QUEUE_SESSION] = NUMBER("session"),
	[MRPC_A_QUEUE_CONN] = NUMBER("conn"),
	[MRPC_A_QUEUE_DATAPATH] = NUMBER("datapath"),
	[MRPC_A_QUEUE_ENGINE] = TEXT("engine"),
	[MRPC_A_QUEUE_DIR] = ENUM("dir", dirs),
	[MRPC_A_QUEUE_DEPTH] = NUMBER("depth"),
	[MRPC_A_QUEUE_BYTES] = BYTES("bytes"),
	[MRPC_A_QUEUE_AGE] = TIME("age_ns"),
	[MRPC_A_QUEUE_KEPT] = NUMBER("kept"),
	[MRPC_A_QUEUE_PAUSED] = BOOL("paused"),
	[MRPC_A_QUEUE_CHANGED] = NUMBER("changed"),
};
const struct set set_queue = SET(queue);

static const struct attr rpc[] = {
	[MRPC_A_RPC_DATAPATH] = NUMBER("datapath"),
	[MRPC_A_RPC_ENGINE] = TEXT("engine"),
	[MRPC_A_RPC_DIR] = ENUM("dir", dirs),
	[MRPC_A_RPC_INDEX] = NUMBER("index"),
	[MRPC_A_RPC_CALL_ID] = NUMBER("call_id"),
	[MRPC_A_RPC_KIND] = ENUM("kind", kinds),
	[MRPC_A_RPC_SERVICE] = TEXT("service"),
	[MRPC_A_RPC_METHOD] = TEXT("method"),
	[MRPC_A_RPC_SIZE] = BYTES("size"),
	[MRPC_A_RPC_PRIORITY] = NUMBER("priority"),
	[MRPC_A_RPC_STATUS] = ENUM("status", status_names),
	[MRPC_A_RPC_DEADLINE] = TIME("deadline_ns"),
	[MRPC_A_RPC_AGE] = TIME("age_ns"),
	[MRPC_A_RPC_FLAGS] = FLAGS("flags", rpc_flags),
};
const struct set set_rpc = SET(rpc);

static const struct attr runtime[] = {
	[MRPC_A_RUNTIME_ID] = NUMBER("id"),
	[MRPC_A_RUNTIME_NAME] = TEXT("name"),
	[MRPC_A_RUNTIME_THREAD] = NUMBER("thread"),
	[MRPC_A_RUNTIME_CPUS] = TEXT("cpus"),
	[MRPC_A_RUNTIME_NICE] = NUMBER("nice"),
	[MRPC_A_RUNTIME_FIFO] = BOOL("fifo"),
	[MRPC_A_RUNTIME_BUSY] = TIME("busy_ns"),
	[MRPC_A_RUNTIME_ORDER] = ENUM("order", orders),
	[MRPC_A_RUNTIME_TURN] = BYTES("turn"),
	[MRPC_A_RUNTIME_DEDICATED] = BOOL("dedicated"),
	[MRPC_A_RUNTIME_DATAPATHS] = NUMBER("datapaths"),
	[MRPC_A_RUNTIME_WAITING] = NUMBER("waiting"),
	[MRPC_A_RUNTIME_TURNS] = NUMBER("turns"),
	[MRPC_A_RUNTIME_WAKEUPS] = NUMBER("wakeups"),
	[MRPC_A_RUNTIME_RAN] = TIME("ran_ns"),
};
const struct set set_runtime = SET(runtime);

static const struct attr egress[] = {
	[MRPC_A_EGRESS_ID] = NUMBER("id"),
	[MRPC_A_EGRESS_DEV] = TEXT("dev"),
	[MRPC_A_EGRESS_DISCIPLINE] = TEXT("discipline"),
	[MRPC_A_EGRESS_FAIR] = BOOL("fair"),
	[MRPC_A_EGRESS_PAUSED] = BOOL("paused"),
	[MRPC_A_EGRESS_CHUNK] = BYTES("chunk"),
	[MRPC_A_EGRESS_LIMIT] = BYTES("limit"),
	[MRPC_A_EGRESS_RATE] = BYTES("rate"),
	[MRPC_A_EGRESS_DATAPATHS] = NUMBER("datapaths"),
	[MRPC_A_EGRESS_TENANTS] = NUMBER("tenants"),
	[MRPC_A_EGRESS_WAITING] = NUMBER("waiting"),
	[MRPC_A_EGRESS_OUT] = BYTES("out"),
	[MRPC_A_EGRESS_GRANTS] = NUMBER("grants"),
	[MRPC_A_EGRESS_EXPIRED] = NUMBER("expired"),
	[MRPC_A_EGRESS_WASTED] = NUMBER("wasted"),
	[MRPC_A_EGRESS_SENT] = BYTES("sent"),
	[MRPC_A_EGRESS_RUNS] = NUMBER("runs"),
	[MRPC_A_EGRESS_MEASURED] = NUMBER("measured"),
	[MRPC_A_EGRESS_RAN] = TIME("measured_ns"),
};
const struct set set_egress = SET(egress);

static const struct attr egress_queue[] = {
	[MRPC_A_EGRESS_QUEUE_DEV] = TEXT("dev"),
	[MRPC_A_EGRESS_QUEUE_SESSION] = NUMBER("session"),
	[MRPC_A_EGRESS_QUEUE_CONN] = NUMBER("conn"),
	[MRPC_A_EGRESS_QUEUE_DATAPATH] = NUMBER("datapath"),
	[MRPC_A_EGRESS_QUEUE_TENANT] = TEXT("tenant"),
	[MRPC_A_EGRESS_QUEUE_WEIGHT] = NUMBER("weight"),
	[MRPC_A_EGRESS_QUEUE_STATE] = ENUM("state", egress_states),
	[MRPC_A_EGRESS_QUEUE_POSITION] = NUMBER("position"),
	[MRPC_A_EGRESS_QUEUE_PRIORITY] = NUMBER("priority"),
	[MRPC_A_EGRESS_QUEUE_LEFT] = BYTES("left"),
	[MRPC_A_EGRESS_QUEUE_CREDIT] = BOOL("credit"),
	[MRPC_A_EGRESS_QUEUE_BELOW] = BYTES("below"),
	[MRPC_A_EGRESS_QUEUE_GRANTS] = NUMBER("grants"),
	[MRPC_A_EGRESS_QUEUE_SENT] = BYTES("sent"),
	[MRPC_A_EGRESS_QUEUE_AHEAD] = BYTES("ahead"),
};
const struct set set_egress_queue = SET(egress_queue);

static const struct attr keyset[] = {
	[MRPC_A_KEYSET_ID] = NUMBER("id"),
	[MRPC_A_KEYSET_NAME] = TEXT("name"),
	[MRPC_A_KEYSET_KIND] = ENUM("kind", keyset_kinds),
	[MRPC_A_KEYSET_KEYS] = NUMBER("keys"),
	[MRPC_A_KEYSET_USERS] = NUMBER("users"),
};
const struct set set_keyset = SET(keyset);

static const struct attr fault[] = {
	[MRPC_A_FAULT_ID] = NUMBER("id"),
	[MRPC_A_FAULT_ENGINE] = TEXT("engine"),
	[MRPC_A_FAULT_TYPE] = TEXT("type"),
	[MRPC_A_FAULT_VERSION] = NUMBER("version"),
	[MRPC_A_FAULT_DATAPATH] = NUMBER("datapath"),
	[MRPC_A_FAULT_WHAT] = TEXT("what"),
	[MRPC_A_FAULT_DETAIL] = TEXT("detail"),
	[MRPC_A_FAULT_BYPASSED] = FLAG("bypassed"),
};
const struct set set_fault = SET(fault);

static const struct attr bucket[] = {
	[MRPC_A_BUCKET_MOST] = NUMBER("most"),
	[MRPC_A_BUCKET_COUNT] = NUMBER("count"),
};
static const struct set set_bucket = SET(bucket);

static const struct attr series[] = {
	[MRPC_A_SERIES_ENGINE] = TEXT("engine"),
	[MRPC_A_SERIES_DATAPATH] = NUMBER("datapath"),
	[MRPC_A_SERIES_NAME] = TEXT("name"),
	[MRPC_A_SERIES_UNIT] = TEXT("unit"),
	[MRPC_A_SERIES_SERVICE] = TEXT("service"),
	[MRPC_A_SERIES_METHOD] = TEXT("method"),
	[MRPC_A_SERIES_STATUS] = ENUM("status", status_names),
	[MRPC_A_SERIES_SIDE] = FLAGS("side", sides),
	[MRPC_A_SERIES_SUM] = NUMBER("sum"),
	[MRPC_A_SERIES_MOST] = NUMBER("most"),
	[MRPC_A_SERIES_BUCKET] = LIST("buckets", &set_bucket),
};
const struct set set_series = SET(series);

static const char *const transport_features[] = { "checksums", "egress", "exchange", NULL };

static const struct attr transport[] = {
	[MRPC_A_TRANSPORT_NAME] = TEXT("name"),
	[MRPC_A_TRANSPORT_VERSION] = NUMBER("version"),
	[MRPC_A_TRANSPORT_MODULE] = TEXT("module"),
	[MRPC_A_TRANSPORT_REFERENCES] = NUMBER("references"),
	[MRPC_A_TRANSPORT_FEATURES] = FLAGS("features", transport_features),
	[MRPC_A_TRANSPORT_COUNTER] = MAP("counters", &set_counter),
	[MRPC_A_TRANSPORT_DROP] = MAP("drops", &set_counter),
	[MRPC_A_TRANSPORT_GAUGE] = MAP("gauges", &set_counter),
	[MRPC_A_TRANSPORT_SETTING] = MAP("settings", &set_counter),
};
const struct set set_transport = SET(transport);
