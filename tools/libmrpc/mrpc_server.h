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
 * A handler, a member of a service's generated operations structure, looks so:
 *
 *	int get(struct mrpc_call *call, const struct kv_GetRequest *req,
 *		struct kv_GetReply *reply)
 *
 * It returns the call's status. @req is the root of the request and @reply, zeroed,
 * that of the reply, which is built with the functions for messages above and
 * mrpc_call_msg(call). A reply is sent only with MRPC_OK. Handlers run in the
 * server's worker threads and may block. @call and @req are valid until the handler
 * returns, or, if it returns MRPC_DEFER, until some thread, which may be another
 * and may be faster, calls mrpc_call_reply().
 */
#define MRPC_DEFER	(-1)

/* One server per session. NULL with errno. */
struct mrpc_server *mrpc_server_new(struct mrpc_session *session);

/* Adds a service; before mrpc_server_listen(). @ctx: for mrpc_call_ctx(). */
int mrpc_server_add(struct mrpc_server *server, const struct mrpc_service_desc *service,
		    const void *ops, void *ctx);

/*
 * Offers all services at an address (as for mrpc_connect(); "tcp::7000" is any
 * address of IPv6 and IPv4, port 0 any free port). May be called several times.
 */
int mrpc_server_listen(struct mrpc_server *server, const char *address,
		       const struct mrpc_conn_opts *opts);

/* The address that the last mrpc_server_listen() got, as text. Return: @buf. */
const char *mrpc_server_address(const struct mrpc_server *server, char *buf, size_t size);

/**
 * mrpc_server_run() - serve until mrpc_server_stop()
 * @server: it
 * @nr_threads: worker threads, at most 60; 0 for one per processor, as far as that goes
 *
 * Workers have the signal mask of the thread that calls this, which accepts connections while
 * all of them are busy.
 *
 * Return: 0 after an orderly stop (calls that had arrived were answered),
 * or -errno.
 */
int mrpc_server_run(struct mrpc_server *server, unsigned int nr_threads);

/*
 * How many requests were not served because their deadline had passed while they waited for
 * a worker. Their callers were told DEADLINE_EXCEEDED. Any thread.
 */
__u64 mrpc_server_expired(const struct mrpc_server *server);

/* Ends mrpc_server_run(). Any thread, signal handlers too. */
void mrpc_server_stop(struct mrpc_server *server);

/* Not while it runs. mrpc_session_close() does it, too. NULL is allowed. */
void mrpc_server_free(struct mrpc_server *server);

/* The message that the reply is built in. */
struct mrpc_msg *mrpc_call_msg(struct mrpc_call *call);

/* The roots that the handler was called with; the request's bytes. */
const void *mrpc_call_request(const struct mrpc_call *call);
__u32 mrpc_call_request_len(const struct mrpc_call *call);
void *mrpc_call_reply_root(struct mrpc_call *call);

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

/* Who calls: the connection, and the peer's address as text. */
__u32 mrpc_call_conn(const struct mrpc_call *call);
int mrpc_call_conn_info(const struct mrpc_call *call, struct mrpc_conn_info *info);
const char *mrpc_call_peer(const struct mrpc_call *call, char *buf, size_t size);

/* Explains a status that is not MRPC_OK; cut at MRPC_MAX_DETAIL bytes. */
void mrpc_call_set_detail(struct mrpc_call *call, const char *fmt, ...) MRPC_PRINTF(2, 3);

/**
 * mrpc_call_reply() - end a call whose handler returned MRPC_DEFER
 * @call: it
 * @status: what a handler returns
 *
 * Each thread that is not a worker has a queue pair for its replies. One that can get
 * none (EDQUOT) leaves the call to another thread; an error needs less memory than a reply.
 *
 * Return: 0, and @call is gone; or -errno: nothing was sent, @call is as it was, and
 * this function is to be called again, with any status, as the caller still waits.
 */
int mrpc_call_reply(struct mrpc_call *call, int status);

#ifdef __cplusplus
}
#endif

#endif /* _MRPC_SERVER_H */
