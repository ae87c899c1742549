/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the library share. Functions are listed by the file that
 * implements them.
 */
#ifndef LIBMRPC_INTERNAL_H
#define LIBMRPC_INTERNAL_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Only what the public header declares is visible outside the library. */
#pragma GCC visibility push(default)
#include "mrpc.h"
#pragma GCC visibility pop

#include "heap.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define ALIGN_UP(x, a)	(((x) + (a) - 1) & ~((__typeof__(x))(a) - 1))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define UNUSED		__attribute__((unused))
/* What is rare: inline it would take registers, which the usual way would have to save. */
#define RARE		__attribute__((noinline, cold))

#define SEND_INITIAL	(1u << 20)
#define RECV_INITIAL	(16u << 20)
#define RECV_LEAST	(1u << 20)	/* what is tried where the default does not fit */

/* Blocks that a thread holds back before it returns them all at once. */
#define RELEASE_BYTES	(64u << 10)
#define RELEASE_WITH_CALL 8	/* blocks: fewer do not go with a synchronous call */

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
 * @conns: connections; @lock
 * @qps: all queue pairs; @lock
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
	struct mrpc_conn *conns;
	struct mrpc_qp *qps;
	struct mrpc_qp *idle_qps;
	struct tctx *ctxs;
	struct mrpc_server *server;
};

/**
 * struct tctx - what one thread keeps for one session
 * @next: next context of the thread
 * @session: NULL once it was closed
 * @s_next: next context of the session; threads_lock
 * @s_prev: what points here; threads_lock
 * @cache: free blocks of the send heap
 * @release: blocks of the receive heap to give back
 * @nr_release: how many
 * @release_bytes: about how large they are together
 * @qp: the thread's own queue pair, or NULL
 * @call: memory for the next request that the thread serves, or NULL
 */
struct tctx {
	struct tctx *next;
	struct mrpc_session *session;
	struct tctx *s_next;
	struct tctx **s_prev;
	struct heap_cache cache;
	u32 release[MRPC_RELEASE_MAX];
	u32 nr_release;
	u32 release_bytes;
	struct mrpc_qp *qp;
	struct mrpc_call *call;
};

/**
 * struct mrpc_conn - one connection that this side made
 * @session: whose
 * @next: in mrpc_session.conns
 * @id: the kernel's number
 * @max_calls: calls that the kernel takes at a time
 * @nr: how many @services
 * @services: in the order of the kernel's numbering
 */
struct mrpc_conn {
	struct mrpc_session *session;
	struct mrpc_conn *next;
	u32 id;
	u32 max_calls;
	u32 nr;
	const struct mrpc_service_desc *services[];
};

/* error.c */
void set_error(const char *fmt, ...) MRPC_PRINTF(1, 2);
int fail(int err, const char *fmt, ...) MRPC_PRINTF(2, 3);	/* returns -err, sets errno */
int status_of_errno(int err);

/**
 * struct thread_state - what one thread keeps
 * @ctxs: for each session that it uses, the one used last first
 * @error: its last error
 */
struct thread_state {
	struct tctx *ctxs;
	char error[768];
};

/* thread.c */
extern u32 fork_gen;
/* One pointer fits in the static TLS block, which is quicker to reach. */
#define STATIC_TLS	__attribute__((tls_model("initial-exec")))
extern __thread struct thread_state *thread_self STATIC_TLS;
RARE struct tctx *tctx_find_or_new(struct mrpc_session *session);	/* NULL without memory */
void tctx_forget(struct mrpc_session *session);
char *error_buffer(size_t *size);

static inline bool session_is_foreign(const struct mrpc_session *session)
{
	return unlikely(session->fork_gen != __atomic_load_n(&fork_gen, __ATOMIC_RELAXED));
}

static inline struct tctx *tctx_get(struct mrpc_session *session)
{
	struct thread_state *state = thread_self;

	if (likely(state && state->ctxs && state->ctxs->session == session))
		return state->ctxs;
	return tctx_find_or_new(session);
}

/* session.c */
RARE int session_refuse(const struct mrpc_session *session);	/* says why it cannot be used */

/* 0, or -EPERM after fork */
static inline int session_check(const struct mrpc_session *session)
{
	return likely(session && !session_is_foreign(session)) ? 0 : session_refuse(session);
}

int session_ioctl(const struct mrpc_session *session, unsigned long cmd, void *arg);
void release_block(struct mrpc_session *session, u32 block, u32 bytes);
u32 release_take(struct tctx *t, u32 *blocks);
void release_flush(struct tctx *t);
void result_fill(struct mrpc_session *session, struct mrpc_result *res,
		 const struct mrpc_cqe *cqe);
void result_fail(struct mrpc_result *res, int status, const char *fmt, ...) MRPC_PRINTF(3, 4);

static inline u32 send_off(const struct mrpc_session *session, const void *p)
{
	return (u32)((const u8 *)p - session->send.base);
}

/* msg.c */
void blocks_free(struct mrpc_session *session, void *blocks);
void *msg_spend(struct mrpc_msg *msg);	/* its blocks, which the caller must free */

#define EXPLAIN_LEN	512	/* of what the kernel explains */

/* conn.c */
int bind_services(struct mrpc_session *session, const struct mrpc_service_desc *const services[],
		  u32 nr, struct mrpc_connect *arg);
void conns_free(struct mrpc_session *session);

/* server.c */
void server_abandon(struct mrpc_server *server);	/* of a session that is being closed */

#endif /* LIBMRPC_INTERNAL_H */
