/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_SESSION_H
#define LIBMRPC_SESSION_H

#include <errno.h>
#include <pthread.h>
#include <sys/ioctl.h>

#include "error.h"
#include "heap.h"
#include "internal.h"
#include "thread.h"

#define EXPLAIN_LEN	512	/* of what the kernel explains */

/**
 * struct bind - one service's schema, bound in a session
 * @next: in mrpc_session.binds
 * @schema: as in the description
 * @len: its bytes
 * @info: what the kernel said
 */
struct bind {
	struct bind *next;
	const void *schema;
	u32 len;
	struct mrpc_bind_info info;
};

/**
 * struct session_end - something that is freed with its session
 * @next: in mrpc_session.ends
 * @free: frees what this is a member of
 */
struct session_end {
	struct session_end *next;
	void (*free)(struct session_end *end);
};

/**
 * struct mrpc_session - one open of the device
 * @fd: the device
 * @fork_gen: value of fork_gen when it was opened; another value now means
 *	that this is a child of the process that owns it
 * @setup: what the kernel said
 * @send: the send heap
 * @recv: address of the receive heap
 * @recv_reserved: address space for it
 * @recv_size: bytes of its regions; @lock
 * @release_bytes: how much a thread may hold back
 * @lock: for the members that say so
 * @binds: schemas; @lock
 * @ends: what ends with it; @lock
 * @leave: a thread that has used it ends
 * @idle_qps: those without an owner, to be used again; @lock
 * @ctxs: threads' contexts; threads_lock
 * @server: the one server; @lock
 */
struct mrpc_session {
	int fd;
	u32 fork_gen;
	struct mrpc_setup setup;
	struct heap send;
	u8 *recv;
	u64 recv_reserved;
	u64 recv_size;
	u32 release_bytes;
	pthread_mutex_t lock;
	struct bind *binds;
	struct session_end *ends;
	void (*leave)(struct tctx *t);
	struct mrpc_qp *idle_qps;
	struct tctx *ctxs;
	struct mrpc_server *server;
};

static inline bool session_is_foreign(const struct mrpc_session *session)
{
	return unlikely(session->fork_gen != __atomic_load_n(&fork_gen, __ATOMIC_RELAXED));
}

RARE int session_refuse(const struct mrpc_session *session);	/* says why it cannot be used */

/* 0, or -EPERM after fork */
static inline int session_check(const struct mrpc_session *session)
{
	return likely(session && !session_is_foreign(session)) ? 0 : session_refuse(session);
}

static inline int session_ioctl(const struct mrpc_session *session, unsigned long cmd, void *arg)
{
	return ioctl(session->fd, cmd, arg) < 0 ? -errno : 0;
}

/* Ends a connection, or a listener, of the kernel. 0 or -errno, without an error set. */
int session_close_id(const struct mrpc_session *session, u32 id, u64 drain_us);

/* As mrpc_alloc(), without a look at completions, which may free blocks. NULL: the heap is full. */
void *session_alloc_now(struct mrpc_session *session, size_t len);

static inline u32 send_off(const struct mrpc_session *session, const void *p)
{
	return (u32)((const u8 *)p - session->send.base);
}

/* @free is called when the session is freed, in a forked child, too; unless it is forgotten before. */
void session_at_end(struct mrpc_session *session, struct session_end *end,
		    void (*free)(struct session_end *end));
void session_forget_end(struct mrpc_session *session, struct session_end *end);

#endif /* LIBMRPC_SESSION_H */
