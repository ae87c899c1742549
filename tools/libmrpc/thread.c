// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What each thread keeps: its last error and, for each session that it uses,
 * a cache of free blocks, receive blocks to give back, and its queue pair.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "thread.h"

__thread struct thread_state *thread_self STATIC_TLS;

static pthread_key_t exit_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Between threads that end and sessions that are closed. */
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;

/* Counts forks that this process is a child of. */
u32 fork_gen;

static void ctx_unlink(struct tctx *t)
{
	*t->s_prev = t->s_next;
	if (t->s_next)
		t->s_next->s_prev = t->s_prev;
}

static void ctx_free(struct tctx *t)
{
	free(t->call);
	free(t);
}

static void thread_exit(void *arg)
{
	struct thread_state *state = arg;
	struct tctx *t;

	pthread_mutex_lock(&threads_lock);
	while ((t = state->ctxs)) {
		/* While it is the first one: that is found without the lock that we hold. */
		if (t->session) {
			t->session->leave(t);
			ctx_unlink(t);
		}
		state->ctxs = t->next;
		ctx_free(t);
	}
	pthread_mutex_unlock(&threads_lock);
	if (thread_self == state)
		thread_self = NULL;
	free(state);
}

/* So that the child finds the lock free. */
static void fork_prepare(void)
{
	pthread_mutex_lock(&threads_lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&threads_lock);
}

static void fork_child(void)
{
	fork_gen++;
	pthread_mutex_unlock(&threads_lock);
}

static void init_once(void)
{
	if (pthread_key_create(&exit_key, thread_exit))
		abort();
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}

static struct thread_state *state_get(void)
{
	if (likely(thread_self))
		return thread_self;
	pthread_once(&once, init_once);
	thread_self = calloc(1, sizeof(*thread_self));
	if (thread_self)
		pthread_setspecific(exit_key, thread_self);
	return thread_self;
}

char *error_buffer(size_t *size)
{
	struct thread_state *state = state_get();

	if (size)
		*size = sizeof(state->error);
	return state ? state->error : NULL;
}

/* Frees what belonged to sessions that are closed. */
static void drop_dead(struct thread_state *state)
{
	struct tctx **p = &state->ctxs, *t;

	while ((t = *p)) {
		if (t->session) {
			p = &t->next;
			continue;
		}
		*p = t->next;
		ctx_free(t);
	}
}

struct tctx *tctx_find_or_new(struct mrpc_session *session)
{
	struct thread_state *state = state_get();
	struct tctx **p, *t;

	if (!state)
		return NULL;
	pthread_mutex_lock(&threads_lock);
	drop_dead(state);
	for (p = &state->ctxs; (t = *p); p = &t->next) {
		if (t->session == session) {
			*p = t->next;
			goto found;
		}
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		goto out;
	t->session = session;
	t->s_next = session->ctxs;
	t->s_prev = &session->ctxs;
	if (t->s_next)
		t->s_next->s_prev = &t->s_next;
	session->ctxs = t;
found:
	t->next = state->ctxs;
	state->ctxs = t;
out:
	pthread_mutex_unlock(&threads_lock);
	return t;
}

void tctx_forget(struct mrpc_session *session)
{
	struct tctx *t;

	pthread_mutex_lock(&threads_lock);
	for (t = session->ctxs; t; t = t->s_next)
		t->session = NULL;
	session->ctxs = NULL;
	pthread_mutex_unlock(&threads_lock);
}

int thread_start(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(thread, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}
