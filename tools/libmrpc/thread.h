/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_THREAD_H
#define LIBMRPC_THREAD_H

#include "heap.h"
#include "internal.h"

struct tctx;

/**
 * struct thread_qp_ops - what the layers below do with a thread's queue pair
 * @leave: the thread ends
 * @harvest: take completions off its ring, which frees blocks
 * @push_releases: have what the thread has collected given back with its next entry; false: it
 *	will not submit anything soon, or there is no room
 */
struct thread_qp_ops {
	void (*leave)(struct mrpc_qp *qp);
	void (*harvest)(struct mrpc_qp *qp);
	bool (*push_releases)(struct mrpc_qp *qp, struct tctx *t);
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
 * @qp_ops: what can be done with that from below
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
	const struct thread_qp_ops *qp_ops;
	struct mrpc_call *call;
};

/**
 * struct thread_state - what one thread keeps
 * @ctxs: for each session that it uses, the one used last first
 * @error: its last error
 */
struct thread_state {
	struct tctx *ctxs;
	char error[768];
};

extern u32 fork_gen;
/* One pointer fits in the static TLS block, which is quicker to reach. */
#define STATIC_TLS	__attribute__((tls_model("initial-exec")))
extern __thread struct thread_state *thread_self STATIC_TLS;
RARE struct tctx *tctx_find_or_new(struct mrpc_session *session);	/* NULL without memory */
void tctx_forget(struct mrpc_session *session);
char *error_buffer(size_t *size);

/* Starts a thread of the library: the application's signal handlers run in its own. 0 or an errno. */
int thread_start(pthread_t *thread, void *(*fn)(void *), void *arg);

static inline struct tctx *tctx_get(struct mrpc_session *session)
{
	struct thread_state *state = thread_self;

	if (likely(state && state->ctxs && state->ctxs->session == session))
		return state->ctxs;
	return tctx_find_or_new(session);
}

#endif /* LIBMRPC_THREAD_H */
