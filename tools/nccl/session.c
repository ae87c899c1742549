// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sessions of this process; see session.h.
 */
#include <pthread.h>

#include "session.h"

#define HEAP_LIMIT	(sizeof(void *) > 4 ? 1u << 30 : 256u << 20)
#define RECV_HEAP	(1u << 20)	/* for what ranks tell each other at creation */

/* The session of the process, and whether a thread creates a group there; under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mrpc_session *shared;
static bool creating;

static struct mrpc_session *open_session(void)
{
	const struct mrpc_session_opts opts = {
		.send_limit = HEAP_LIMIT, .recv_limit = RECV_HEAP, .recv_initial = RECV_HEAP,
	};

	return mrpc_session_open(&opts);
}

/* Under the lock. */
static struct mrpc_session *open_shared(void)
{
	if (!shared)
		shared = open_session();
	return shared;
}

struct mrpc_session *session_shared(void)
{
	struct mrpc_session *session;

	pthread_mutex_lock(&lock);
	session = open_shared();
	pthread_mutex_unlock(&lock);
	return session;
}

struct mrpc_session *session_for_group(void)
{
	struct mrpc_session *session = NULL;
	bool taken;

	pthread_mutex_lock(&lock);
	taken = creating;
	if (!taken)
		session = open_shared();
	if (session)
		creating = true;
	pthread_mutex_unlock(&lock);
	return taken ? open_session() : session;
}

void session_created(struct mrpc_session *session)
{
	pthread_mutex_lock(&lock);
	if (session == shared)
		creating = false;
	pthread_mutex_unlock(&lock);
}

void session_give(struct mrpc_session *session)
{
	bool own;

	pthread_mutex_lock(&lock);
	own = session != shared;
	pthread_mutex_unlock(&lock);
	if (own)
		mrpc_session_close(session);
}
