// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which memory belongs to which message. A reference is relative to the root of its message, so with
 * another root it leads anywhere. Programs that are built with MRPC_DEBUG have each root checked.
 */
#include <stdio.h>
#include <stdlib.h>

#include "roots.h"
#include "session.h"

#define NR_BUCKETS	1024

struct span {
	const u8 *mem;
	size_t len;
};

/**
 * struct root - a message that the program may read
 * @next: in its bucket
 * @session: that it belongs to; NULL for one that was never to be sent
 * @at: its root
 * @spans: its memory
 * @nr_spans: how many
 */
struct root {
	struct root *next;
	const struct mrpc_session *session;
	const void *at;
	struct span *spans;
	size_t nr_spans;
};

bool roots_watched;	/* set before main(); give_up() clears it, and a late look does no harm */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* of all below */
static struct root *buckets[NR_BUCKETS];

void mrpc_watch_roots(void)
{
	roots_watched = true;
}

static struct root **bucket_of(const void *at)
{
	return &buckets[((uintptr_t)at >> 4) * 0x9e3779b1u % NR_BUCKETS];
}

/* Where the pointer to it is, or to NULL. */
static struct root **find(const void *at)
{
	struct root **r = bucket_of(at);

	while (*r && (*r)->at != at)
		r = &(*r)->next;
	return r;
}

static void drop(struct root **r)
{
	struct root *gone = *r;

	*r = gone->next;
	free(gone->spans);
	free(gone);
}

/* Without memory nothing can be said of this message any more, so of none. */
static void give_up(void)
{
	roots_watched = false;
	fprintf(stderr, "mrpc: MRPC_DEBUG has no memory: from now on no root of a message is checked\n");
}

static void add_span(struct root *r, const void *mem, size_t len)
{
	struct span *spans = realloc(r->spans, (r->nr_spans + 1) * sizeof(*spans));

	if (!spans) {
		give_up();
		return;
	}
	r->spans = spans;
	spans[r->nr_spans++] = (struct span){ mem, len };
}

void roots_begin(const struct mrpc_session *session, const void *root, const void *mem, size_t len)
{
	struct root **at, *r = calloc(1, sizeof(*r));

	pthread_mutex_lock(&lock);
	at = find(root);
	if (*at)
		drop(at);
	at = bucket_of(root);
	if (r) {
		*r = (struct root){ .next = *at, .session = session, .at = root };
		*at = r;
		add_span(r, mem, len);
	} else {
		give_up();
	}
	pthread_mutex_unlock(&lock);
}

void roots_add(const void *root, const void *mem, size_t len)
{
	struct root *r;

	pthread_mutex_lock(&lock);
	r = *find(root);
	if (r)
		add_span(r, mem, len);
	pthread_mutex_unlock(&lock);
}

void roots_remove(const void *root)
{
	struct root **r;

	pthread_mutex_lock(&lock);
	r = find(root);
	if (*r)
		drop(r);
	pthread_mutex_unlock(&lock);
}

void roots_remove_session(const struct mrpc_session *session)
{
	struct root **r;
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < NR_BUCKETS; i++)
		for (r = &buckets[i]; *r;)
			if ((*r)->session == session)
				drop(r);
			else
				r = &(*r)->next;
	pthread_mutex_unlock(&lock);
}

/* -- checks ------------------------------------------------------------------- */

static bool has(const struct root *r, const void *m, size_t len)
{
	size_t i;

	for (i = 0; i < r->nr_spans; i++) {
		size_t at = (uintptr_t)m - (uintptr_t)r->spans[i].mem;

		if (at <= r->spans[i].len && len <= r->spans[i].len - at)
			return true;
	}
	return false;
}

/* The root of the message that @m is in, NULL if it is in none. */
static const void *root_of(const void *m, size_t len)
{
	const struct root *r;
	size_t i;

	for (i = 0; i < NR_BUCKETS; i++)
		for (r = buckets[i]; r; r = r->next)
			if (has(r, m, len))
				return r->at;
	return NULL;
}

/* A copy of a structure is right with the root of what it was copied from, which is not known. */
static bool may_be_copy(const struct root *r, const void *m)
{
	const struct mrpc_session *s = r->session;
	uintptr_t at = (uintptr_t)m;

	return !s || (at - (uintptr_t)s->recv >= s->recv_reserved &&
		      at - (uintptr_t)s->send.base >= s->send.reserved);
}

void mrpc_check_root(const void *root, const void *m, size_t len, const char *function)
{
	const void *right = NULL;
	const struct root *r;
	bool ok, known;

	pthread_mutex_lock(&lock);
	r = *find(root);
	known = r;
	ok = !roots_watched || (r && has(r, m, len));
	if (!ok) {
		right = root_of(m, len);
		ok = !right && r && may_be_copy(r, m);
	}
	pthread_mutex_unlock(&lock);
	if (ok)
		return;
	if (right)
		fprintf(stderr, "mrpc: %s(): %p is %s, and the structure at %p is in the message with the "
			"root %p: that must be given\n", function, root,
			known ? "the root of another message" : "no root of a message", m, right);
	else
		fprintf(stderr, "mrpc: %s(): the structure at %p, with the root %p, is in no message: it "
			"must not be read after its message was sent, freed or released\n", function, m, root);
	abort();
}
