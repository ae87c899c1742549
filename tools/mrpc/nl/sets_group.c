// SPDX-License-Identifier: GPL-2.0
/* What the attributes of groups mean. Names are those of the kernel's sentences. */
#include <stddef.h>

#include <linux/mrpc_netlink.h>

#include "nl/attrs.h"
#include "nl/sets.h"
#include "nl/status.h"

static const char *const states[] = { "idle", "running", "ended", NULL };
const char *const group_collectives[] = {
	"AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "Gather", "Scatter",
	"AllToAll", "Barrier", NULL
};
const char *const group_algorithms[] = {
	"chosen", "ring", "recursive", "binomial", "direct", NULL
};
static const char *const elems[] = { "i32", "i64", "u8", "f32", "f64", "bf16", "f16", NULL };
static const char *const reductions[] = { "sum", "min", "max", "prod", "and", "or", NULL };

static const struct attr operation[] = {
	[MRPC_A_GROUP_OPERATION_NUMBER] = NUMBER("number"),
	[MRPC_A_GROUP_OPERATION_COLLECTIVE] = ENUM("collective", group_collectives),
	[MRPC_A_GROUP_OPERATION_ALGORITHM] = ENUM("algorithm", group_algorithms),
	[MRPC_A_GROUP_OPERATION_ELEM] = ENUM("elem", elems),
	[MRPC_A_GROUP_OPERATION_REDUCE] = ENUM("reduce", reductions),
	[MRPC_A_GROUP_OPERATION_ROOT] = NUMBER("root"),
	[MRPC_A_GROUP_OPERATION_COUNT] = NUMBER("count"),
	[MRPC_A_GROUP_OPERATION_BYTES] = BYTES("bytes"),
	[MRPC_A_GROUP_OPERATION_PRIORITY] = NUMBER("priority"),
	[MRPC_A_GROUP_OPERATION_AGE] = TIME("age_ns"),
	[MRPC_A_GROUP_OPERATION_LEFT] = TIME("left_ns"),
	[MRPC_A_GROUP_OPERATION_TX_CHUNKS] = NUMBER("tx_chunks"),
	[MRPC_A_GROUP_OPERATION_TX_BYTES] = BYTES("tx_bytes"),
	[MRPC_A_GROUP_OPERATION_RX_CHUNKS] = NUMBER("rx_chunks"),
	[MRPC_A_GROUP_OPERATION_RX_BYTES] = BYTES("rx_bytes"),
	[MRPC_A_GROUP_OPERATION_AWAITS] = NUMBER("awaits"),
	[MRPC_A_GROUP_OPERATION_STRATEGY] = NUMBER("strategy"),
};
static const struct set set_operation = SET(operation);

static const struct attr total[] = {
	[MRPC_A_GROUP_TOTAL_COLLECTIVE] = ENUM("collective", group_collectives),
	[MRPC_A_GROUP_TOTAL_COMPLETED] = NUMBER("completed"),
	[MRPC_A_GROUP_TOTAL_FAILED] = NUMBER("failed"),
	[MRPC_A_GROUP_TOTAL_BYTES] = BYTES("bytes"),
	[MRPC_A_GROUP_TOTAL_TIME] = TIME("time_ns"),
};
static const struct set set_total = SET(total);

static const struct attr choice[] = {
	[MRPC_A_GROUP_CHOICE_COLLECTIVE] = ENUM("collective", group_collectives),
	[MRPC_A_GROUP_CHOICE_ALGORITHM] = ENUM("algorithm", group_algorithms),
};
static const struct set set_choice = SET(choice);

static const struct attr strategy[] = {
	[MRPC_A_GROUP_STRATEGY_VERSION] = NUMBER("version"),
	[MRPC_A_GROUP_STRATEGY_PROPOSER] = NUMBER("proposer"),
	[MRPC_A_GROUP_STRATEGY_ORDER] = NUMBERS("order"),
	[MRPC_A_GROUP_STRATEGY_CHOICE] = LIST("choices", &set_choice),
	[MRPC_A_GROUP_STRATEGY_NEXT] = NUMBER("next"),
	[MRPC_A_GROUP_STRATEGY_AWAITS] = NUMBER("awaits"),
	[MRPC_A_GROUP_STRATEGY_LAST] = NUMBER("last"),
};
static const struct set set_strategy = SET(strategy);

static const struct attr group[] = {
	[MRPC_A_GROUP_SESSION] = NUMBER("session"),
	[MRPC_A_GROUP_ID] = NUMBER("id"),
	[MRPC_A_GROUP_NAME] = TEXT("name"),
	[MRPC_A_GROUP_PID] = NUMBER("pid"),
	[MRPC_A_GROUP_KEY] = NUMBER("key"),
	[MRPC_A_GROUP_RANK] = NUMBER("rank"),
	[MRPC_A_GROUP_RANKS] = NUMBER("ranks"),
	[MRPC_A_GROUP_AGE] = TIME("age_ns"),
	[MRPC_A_GROUP_STATE] = ENUM("state", states),
	[MRPC_A_GROUP_STATUS] = ENUM("status", status_names),
	[MRPC_A_GROUP_DETAIL] = TEXT("detail"),
	[MRPC_A_GROUP_CONNS] = NUMBER("conns"),
	[MRPC_A_GROUP_WAITING] = NUMBER("waiting"),
	[MRPC_A_GROUP_OPERATION] = NEST("operation", &set_operation),
	[MRPC_A_GROUP_COMPLETED] = NUMBER("completed"),
	[MRPC_A_GROUP_FAILED] = NUMBER("failed"),
	[MRPC_A_GROUP_TX_BYTES] = BYTES("tx_bytes"),
	[MRPC_A_GROUP_RX_BYTES] = BYTES("rx_bytes"),
	[MRPC_A_GROUP_TOTAL] = LIST("totals", &set_total),
	[MRPC_A_GROUP_STRATEGY] = NEST("strategy", &set_strategy),
};
const struct set set_group = SET(group);

static const struct attr link[] = {
	[MRPC_A_GROUP_LINK_SESSION] = NUMBER("session"),
	[MRPC_A_GROUP_LINK_GROUP] = NUMBER("group"),
	[MRPC_A_GROUP_LINK_RANK] = NUMBER("rank"),
	[MRPC_A_GROUP_LINK_CONN] = NUMBER("conn"),
	[MRPC_A_GROUP_LINK_TX_CHUNKS] = NUMBER("tx_chunks"),
	[MRPC_A_GROUP_LINK_RX_CHUNKS] = NUMBER("rx_chunks"),
	[MRPC_A_GROUP_LINK_EARLY] = FLAG("early"),
	[MRPC_A_GROUP_LINK_LEFT] = FLAG("left"),
};
const struct set set_group_link = SET(link);

static const struct attr trace[] = {
	[MRPC_A_GROUP_TRACE_SESSION] = NUMBER("session"),
	[MRPC_A_GROUP_TRACE_GROUP] = NUMBER("group"),
	[MRPC_A_GROUP_TRACE_RANK] = NUMBER("rank"),
	[MRPC_A_GROUP_TRACE_OPERATION] = NEST("operation", &set_operation),
	[MRPC_A_GROUP_TRACE_BEGAN] = NUMBER("began_ns"),	/* an hour of a day, no length */
	[MRPC_A_GROUP_TRACE_FIRST_SENT] = TIME("first_sent_ns"),
	[MRPC_A_GROUP_TRACE_LAST_RECEIVED] = TIME("last_received_ns"),
	[MRPC_A_GROUP_TRACE_DURATION] = TIME("duration_ns"),
	[MRPC_A_GROUP_TRACE_STATUS] = ENUM("status", status_names),
};
const struct set set_group_trace = SET(trace);
