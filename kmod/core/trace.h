/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stages of a call, for perf, ftrace and bpftrace.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mrpc

#if !defined(MRPC_CORE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MRPC_CORE_TRACE_H

#include <linux/mrpc_policy.h>
#include <linux/tracepoint.h>

#include "core/conn.h"
#include "core/session.h"

DECLARE_EVENT_CLASS(mrpc_call_class,
	TP_PROTO(const struct mrpc_conn *conn, const struct mrpc_call *call),
	TP_ARGS(conn, call),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, user_data)
		__field(u64, bytes)
		__field(u32, session)
		__field(u32, conn)
		__field(u32, method)
		__field(u8, role)
		__field(u8, priority)
	),
	TP_fast_assign(
		__entry->id = call->id;
		__entry->user_data = call->user_data;
		__entry->bytes = mrpc_rpc_total(&call->rpc);
		__entry->session = conn->session->id;
		__entry->conn = conn->id;
		__entry->method = call->method;
		__entry->role = call->role;
		__entry->priority = call->priority;
	),
	TP_printk("session=%u conn=%u id=%llu:%llu role=%s method=%u.%u bytes=%llu priority=%u user_data=0x%llx",
		  __entry->session, __entry->conn, __entry->id >> 16, __entry->id & 0xffff,
		  __print_symbolic(__entry->role, { MRPC_ROLE_CLIENT, "client" },
				   { MRPC_ROLE_SERVER, "server" },
				   { MRPC_ROLE_CONTROL, "control" },
				   { MRPC_ROLE_MESSAGE, "message" },
				   { MRPC_ROLE_CHUNK, "chunk" }),
		  __entry->method >> 16, __entry->method & 0xffff, __entry->bytes,
		  __entry->priority, __entry->user_data)
);

/*
 * A descriptor was taken from the application. A request has no id yet: until
 * mrpc_marshal it is known by its user_data.
 */
DEFINE_EVENT(mrpc_call_class, mrpc_submit,
	TP_PROTO(const struct mrpc_conn *conn, const struct mrpc_call *call),
	TP_ARGS(conn, call));

/* Its message is out of the application's reach, and it has its id. */
DEFINE_EVENT(mrpc_call_class, mrpc_marshal,
	TP_PROTO(const struct mrpc_conn *conn, const struct mrpc_call *call),
	TP_ARGS(conn, call));

/* The link has taken its last byte. */
DEFINE_EVENT(mrpc_call_class, mrpc_transmit,
	TP_PROTO(const struct mrpc_conn *conn, const struct mrpc_call *call),
	TP_ARGS(conn, call));

/* A request or reply was given to the application. */
DEFINE_EVENT(mrpc_call_class, mrpc_deliver,
	TP_PROTO(const struct mrpc_conn *conn, const struct mrpc_call *call),
	TP_ARGS(conn, call));

/* A policy has judged a message: by which of its programs, and how. */
TRACE_EVENT(mrpc_policy,
	TP_PROTO(const struct mrpc_call *call, const char *policy, const struct mrpc_policy_ctx *ctx,
		 int verdict),
	TP_ARGS(call, policy, ctx, verdict),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, generation)
		__field(u32, session)
		__field(u32, conn)
		__field(u32, method)
		__field(u32, size)
		__field(u8, reply)
		__field(u8, transmit)
		__field(int, verdict)
		__string(policy, policy)
	),
	TP_fast_assign(
		__entry->id = call->id;
		__entry->generation = ctx->generation;
		__entry->session = call->conn->session->id;
		__entry->conn = call->conn->id;
		__entry->method = call->method;
		__entry->size = ctx->size;
		__entry->reply = ctx->kind == MRPC_POLICY_REPLY;
		__entry->transmit = ctx->transmit;
		__entry->verdict = verdict;
		__assign_str(policy);
	),
	TP_printk("session=%u conn=%u id=%llu:%llu %s %s method=%u.%u size=%u policy=%s generation=%llu verdict=%s",
		  __entry->session, __entry->conn, __entry->id >> 16, __entry->id & 0xffff,
		  __entry->transmit ? "transmit" : "receive", __entry->reply ? "reply" : "request",
		  __entry->method >> 16, __entry->method & 0xffff, __entry->size,
		  __get_str(policy), __entry->generation,
		  __print_symbolic(__entry->verdict, { MRPC_POLICY_PASS, "pass" },
				   { MRPC_POLICY_REJECT, "reject" }, { MRPC_POLICY_DELAY, "delay" }))
);

/* A frame's head has arrived. */
TRACE_EVENT(mrpc_receive,
	TP_PROTO(const struct mrpc_conn *conn, const struct mrpc_frame *frame),
	TP_ARGS(conn, frame),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, bytes)
		__field(u32, session)
		__field(u32, conn)
		__field(u8, type)
	),
	TP_fast_assign(
		__entry->id = frame->call_id;
		__entry->bytes = mrpc_frame_head(frame) + frame->msg.bytes;
		__entry->session = conn->session->id;
		__entry->conn = conn->id;
		__entry->type = frame->type;
	),
	TP_printk("session=%u conn=%u id=%llu:%llu type=%s bytes=%llu",
		  __entry->session, __entry->conn, __entry->id >> 16, __entry->id & 0xffff,
		  __print_symbolic(__entry->type, { MRPC_WIRE_HELLO, "hello" },
				   { MRPC_WIRE_HELLO_ACK, "hello-ack" },
				   { MRPC_WIRE_CALL, "call" }, { MRPC_WIRE_REPLY, "reply" },
				   { MRPC_WIRE_MESSAGE, "message" }, { MRPC_WIRE_CREDIT, "credit" },
				   { MRPC_WIRE_CHUNK, "chunk" },
				   { MRPC_WIRE_STRATEGY, "strategy" },
				   { MRPC_WIRE_CANCEL, "cancel" }, { MRPC_WIRE_PING, "ping" },
				   { MRPC_WIRE_PONG, "pong" }, { MRPC_WIRE_BYE, "bye" },
				   { MRPC_WIRE_FEATURES, "features" },
				   { MRPC_WIRE_FEATURES_ACK, "features-ack" }),
		  __entry->bytes)
);

/* A call has got its one terminal completion. */
TRACE_EVENT(mrpc_complete,
	TP_PROTO(const struct mrpc_conn *conn, const struct mrpc_call *call, u16 status),
	TP_ARGS(conn, call, status),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, user_data)
		__field(u32, session)
		__field(u32, conn)
		__field(u16, status)
	),
	TP_fast_assign(
		__entry->id = call->id;
		__entry->user_data = call->user_data;
		__entry->session = conn->session->id;
		__entry->conn = conn->id;
		__entry->status = status;
	),
	TP_printk("session=%u conn=%u id=%llu:%llu user_data=0x%llx status=%u",
		  __entry->session, __entry->conn, __entry->id >> 16, __entry->id & 0xffff,
		  __entry->user_data, __entry->status)
);

#endif /* MRPC_CORE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH core
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
