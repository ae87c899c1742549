/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Servers. <mrpc.h> includes this.
 */
#ifndef _MRPC_SERVER_H
#define _MRPC_SERVER_H

#include <mrpc.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A handler is a member of a service's generated operations structure. Example:
 *
 *	int get(struct mrpc_call *call, const struct kv_GetRequest *req,
 *		struct kv_GetReply *reply)
 *
 * It returns the call's status. @req is the root of the request. @reply is the root of the reply
 * and is zeroed. The handler builds the reply with the functions for messages above and
 * mrpc_call_msg(call). A reply is sent only with MRPC_OK. Handlers run in the server's worker
 * threads and may block. @call and @req are valid until the handler returns. If it returns
 * MRPC_DEFER, they are valid until a thread calls mrpc_call_reply(). That may be any thread, and
 * it may call before the handler returns. For methods that stream, see mrpc_call_on_event().
 */
#define MRPC_DEFER	(-1)

/* Makes a server; one per session. Return: NULL with errno on failure. */
struct mrpc_server *mrpc_server_new(struct mrpc_session *session);

/* Adds a service; call it before mrpc_server_listen(). @ctx: for mrpc_call_ctx(). */
int mrpc_server_add(struct mrpc_server *server, const struct mrpc_service_desc *service,
		    const void *ops, void *ctx);

/*
 * Offers all services at an address (as for mrpc_connect(); "tcp::7000" is any address of IPv6
 * and IPv4, port 0 any free port). At "tcp+grpc::7000" it takes clients of both transports. It may
 * be called several times.
 */
int mrpc_server_listen(struct mrpc_server *server, const char *address,
		       const struct mrpc_conn_opts *opts);

/* The address that the last mrpc_server_listen() got, as text. Return: @buf. */
const char *mrpc_server_address(const struct mrpc_server *server, char *buf, size_t size);

/**
 * mrpc_server_run() - serve until mrpc_server_stop()
 * @server: the server
 * @nr_threads: worker threads, at most 60; 0 for one per processor, up to that limit
 *
 * Workers have the signal mask of the calling thread. The calling thread accepts connections
 * while all workers are busy.
 *
 * Return: 0 after an orderly stop (calls that had arrived were answered),
 * or -errno.
 */
int mrpc_server_run(struct mrpc_server *server, unsigned int nr_threads);

/* -- services of the library -------------------------------------------------------- */

/* Statuses of grpc.health.v1 */
enum mrpc_health {
	MRPC_HEALTH_UNKNOWN = 0,
	MRPC_HEALTH_SERVING = 1,
	MRPC_HEALTH_NOT_SERVING = 2,
};

/**
 * mrpc_server_add_health() - add the service grpc.health.v1.Health
 * @server: the server, which does not listen yet
 *
 * Its methods are Check and Watch. While the server runs, each of its services is SERVING, and so is
 * "", the server as a whole. All are NOT_SERVING from mrpc_server_stop() on, before calls are refused;
 * the calls of Watch learn it and end. For messages and stubs of a client there is
 * <grpc/health/v1/health.mrpc.h>.
 *
 * At most 1024 calls of Watch are open at a time. A further one ends with RESOURCE_EXHAUSTED, and so
 * does a call that the client does not read.
 *
 * Return: 0 or -errno, as mrpc_server_add().
 */
int mrpc_server_add_health(struct mrpc_server *server);

/**
 * mrpc_health_set() - say how a service is
 * @server: the server, with mrpc_server_add_health()
 * @service: its name, at most 1024 bytes; "" for the server as a whole. It need not be one of the server
 * @status: what Check returns from now on, and Watch sends
 *
 * Any thread may call it.
 *
 * Return: 0 or -errno.
 */
int mrpc_health_set(struct mrpc_server *server, const char *service, enum mrpc_health status);

/**
 * mrpc_server_add_reflection() - add the services grpc.reflection.v1 and v1alpha.ServerReflection
 * @server: the server, which does not listen yet
 *
 * They tell names and .proto files of all services of the server, so that tools such as grpcurl can
 * call these. Every client learns them. At most 64 calls are open at a time, and a request has at most
 * 1024 bytes.
 *
 * Return: 0 or -errno, as mrpc_server_add().
 */
int mrpc_server_add_reflection(struct mrpc_server *server);

/*
 * Number of requests that were not served, because their deadline passed while they waited for a
 * worker. Their callers were told DEADLINE_EXCEEDED. Any thread may call it.
 */
__u64 mrpc_server_expired(const struct mrpc_server *server);

/* Ends mrpc_server_run(). Any thread and any signal handler may call it. */
void mrpc_server_stop(struct mrpc_server *server);

/* Frees the server, which must not run. mrpc_session_close() does it, too. NULL is allowed. */
void mrpc_server_free(struct mrpc_server *server);

/* The message in which the handler builds the reply. */
struct mrpc_msg *mrpc_call_msg(struct mrpc_call *call);

/* The roots that the handler was called with, and the length of the request. */
const void *mrpc_call_request(const struct mrpc_call *call);
__u32 mrpc_call_request_len(const struct mrpc_call *call);
void *mrpc_call_reply_root(struct mrpc_call *call);

/*
 * Compression, which only the transport grpc has. Did the request come compressed? The reply may be
 * compressed, if the client takes that and it gets smaller by it.
 */
bool mrpc_call_compressed(const struct mrpc_call *call);
void mrpc_call_compress(struct mrpc_call *call);

void *mrpc_call_ctx(const struct mrpc_call *call);
struct mrpc_session *mrpc_call_session(const struct mrpc_call *call);
const struct mrpc_service_desc *mrpc_call_service(const struct mrpc_call *call);
const struct mrpc_method_desc *mrpc_call_method(const struct mrpc_call *call);
__u32 mrpc_call_priority(const struct mrpc_call *call);

/* The client's metadata: an iterator, or one value. */
void mrpc_call_meta(const struct mrpc_call *call, struct mrpc_meta_iter *it);
const void *mrpc_call_meta_find(const struct mrpc_call *call, const char *key, __u32 *vlen);

/* Metadata of the reply. As mrpc_meta_add(). */
int mrpc_call_add_meta(struct mrpc_call *call, const char *key, const void *value, size_t len);

/* Microseconds left until the deadline, 0 if it has passed; UINT64_MAX: none. */
__u64 mrpc_call_remaining_us(const struct mrpc_call *call);

/*
 * true: the client does not wait for the reply any more: it has cancelled the call, the deadline
 * has passed, or the connection is gone. A handler that works or sleeps for long asks now and then.
 * It may end early; what it returns then has no effect. Any thread may ask until the call is
 * answered.
 */
bool mrpc_call_is_cancelled(const struct mrpc_call *call);

/* The caller: its connection, and the peer's address as text. */
__u32 mrpc_call_conn(const struct mrpc_call *call);
int mrpc_call_conn_info(const struct mrpc_call *call, struct mrpc_conn_info *info);
const char *mrpc_call_peer(const struct mrpc_call *call, char *buf, size_t size);

/* Explains a status that is not MRPC_OK; cut at MRPC_MAX_DETAIL bytes. */
void mrpc_call_set_detail(struct mrpc_call *call, const char *fmt, ...) MRPC_PRINTF(2, 3);

/**
 * mrpc_call_reply() - end a call whose handler returned MRPC_DEFER
 * @call: the call
 * @status: as a handler returns it
 *
 * Each thread that is not a worker has a queue pair for its replies. If it can get none (EDQUOT),
 * another thread must reply. An error needs less memory than a reply.
 *
 * Return: 0: @call is freed. -errno: nothing was sent, and @call is unchanged. The thread must
 * call this function again, with any status, because the client still waits.
 */
int mrpc_call_reply(struct mrpc_call *call, int status);

#ifdef __cplusplus
}
#endif

#endif /* _MRPC_SERVER_H */
