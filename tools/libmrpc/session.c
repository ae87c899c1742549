// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sessions: opening the device, laying out the heaps, and what ends with a session.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "release.h"
#include "roots.h"
#include "session.h"

#define SEND_INITIAL	(1u << 20)
#define RECV_INITIAL	(16u << 20)
#define RECV_LEAST	(1u << 20)	/* what is tried where the default does not fit */

/* Address space costs little, but in 32-bit programs there is not much. */
#if UINTPTR_MAX > UINT32_MAX
#define RESERVE_MAX	(1ull << 30)
#else
#define RESERVE_MAX	(256ull << 20)
#endif

int session_refuse(const struct mrpc_session *session)
{
	if (!session)
		return fail(EINVAL, "there is no session");
	return fail(EPERM, "the session belongs to the process that this one was forked from; "
		    "open another one");
}

/* -- heaps -------------------------------------------------------------------- */

/* Regions are mapped next to each other, so that references work across them. */
static int map_region(struct mrpc_session *session, u32 kind, u8 *heap, u64 size, u64 reserved,
		      u64 len)
{
	struct mrpc_region_add add = { .size = sizeof(add), .kind = kind, .len = len };
	int prot = kind == MRPC_REGION_SEND ? PROT_READ | PROT_WRITE : PROT_READ;
	int err;

	err = session_ioctl(session, MRPC_IOC_REGION, &add);
	if (err)
		return err;
	if (add.base != size || add.base + len > reserved)
		return -EPROTO;
	if (mmap(heap + add.base, len, prot, MAP_SHARED | MAP_FIXED, session->fd,
		 (off_t)add.mmap_off) == MAP_FAILED)
		return -errno;
	return 0;
}

static int map_send_region(struct heap *heap, u64 len)
{
	struct mrpc_session *session =
		(struct mrpc_session *)((u8 *)heap - offsetof(struct mrpc_session, send));

	return map_region(session, MRPC_REGION_SEND, heap->base, heap->size, heap->reserved, len);
}

static int grow_recv(struct mrpc_session *session, u64 len)
{
	int err = 0;

	_Static_assert(RESERVE_MAX <= MRPC_REGION_MAX, "a region can have all of a heap");
	pthread_mutex_lock(&session->lock);
	/* Both are aligned; a length that is near the end of its type would not stay large. */
	if (len > session->recv_reserved - session->recv_size)
		err = -ENOMEM;
	len = ALIGN_UP(len, (u64)MRPC_REGION_ALIGN);
	if (!err && len)
		err = map_region(session, MRPC_REGION_RECV, session->recv, session->recv_size,
				 session->recv_reserved, len);
	if (!err)
		session->recv_size += len;
	session->release_bytes = session->recv_size / 256 < RELEASE_BYTES ?
				 session->recv_size / 256 : RELEASE_BYTES;
	pthread_mutex_unlock(&session->lock);
	return err;
}

int mrpc_session_grow_recv(struct mrpc_session *session, __u64 len)
{
	int err = session_check(session);

	if (err)
		return err;
	err = grow_recv(session, len);
	if (err)
		return fail(-err, "cannot add %llu bytes to the receive heap of %llu: %s",
			    (unsigned long long)len, (unsigned long long)session->recv_size,
			    strerror(-err));
	return 0;
}

static u8 *reserve(u64 len)
{
	u8 *p = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static u64 reserve_len(u64 limit)
{
	if (!limit || limit > RESERVE_MAX)
		limit = RESERVE_MAX;
	return ALIGN_UP(limit, (u64)MRPC_REGION_ALIGN);
}

static int heaps_init(struct mrpc_session *session, const struct mrpc_session_opts *opts)
{
	struct heap *send = &session->send;
	u64 initial = opts->send_initial ? opts->send_initial : SEND_INITIAL;
	int err;

	send->reserved = reserve_len(session->setup.send_limit);
	send->limit = send->reserved;
	send->max_region = MRPC_REGION_MAX;
	send->map_region = map_send_region;
	send->base = reserve(send->reserved);
	session->recv_reserved = reserve_len(session->setup.recv_limit);
	session->recv = reserve(session->recv_reserved);
	if (!send->base || !session->recv)
		return fail(ENOMEM, "cannot reserve address space for heaps of %llu and %llu bytes",
			    (unsigned long long)send->reserved,
			    (unsigned long long)session->recv_reserved);
	err = heap_init(send);
	if (!err) {
		if (initial > send->limit)
			initial = send->limit;
		err = heap_grow(send, initial);
	}
	if (err)
		return fail(-err, "cannot create the send heap: %s", strerror(-err));
	initial = opts->recv_initial ? opts->recv_initial : RECV_INITIAL;
	if (initial > session->recv_reserved)
		initial = session->recv_reserved;
	err = grow_recv(session, initial);
	/* In a small cgroup the default may be too much. */
	while (err == -ENOMEM && !opts->recv_initial && initial > RECV_LEAST) {
		initial /= 2;
		err = grow_recv(session, initial);
	}
	if (err)
		return fail(-err, "cannot create the receive heap of %llu bytes: %s",
			    (unsigned long long)initial, strerror(-err));
	return 0;
}

/* -- what goes with a session ---------------------------------------------------- */

void session_at_end(struct mrpc_session *session, struct session_end *end,
		    void (*free)(struct session_end *end))
{
	end->free = free;
	pthread_mutex_lock(&session->lock);
	end->next = session->ends;
	session->ends = end;
	pthread_mutex_unlock(&session->lock);
}

void session_forget_end(struct mrpc_session *session, struct session_end *end)
{
	struct session_end **p;

	pthread_mutex_lock(&session->lock);
	for (p = &session->ends; *p && *p != end; p = &(*p)->next)
		;
	if (*p)
		*p = end->next;
	pthread_mutex_unlock(&session->lock);
}

static void thread_leaves(struct tctx *t)
{
	if (session_is_foreign(t->session))
		return;
	if (t->qp)
		t->qp_ops->leave(t->qp);
	release_flush(t);
	heap_cache_flush(&t->session->send, &t->cache);
}

/* -- open and close -------------------------------------------------------------- */

static int setup(struct mrpc_session *session, const struct mrpc_session_opts *opts)
{
	const char *device = opts->device ? opts->device : "/dev/mrpc";
	struct mrpc_setup *arg = &session->setup;
	int err;

	session->fd = open(device, O_RDWR | O_CLOEXEC);
	if (session->fd < 0) {
		if (errno == ENOENT)
			return fail(ENOENT, "cannot open %s: is the module mrpc loaded?", device);
		return fail(errno, "cannot open %s: %s", device, strerror(errno));
	}
	arg->size = sizeof(*arg);
	arg->send_limit = opts->send_limit < RESERVE_MAX ? opts->send_limit : RESERVE_MAX;
	arg->recv_limit = opts->recv_limit < RESERVE_MAX ? opts->recv_limit : RESERVE_MAX;
	if (opts->name)
		snprintf(arg->name, sizeof(arg->name), "%s", opts->name);
	err = session_ioctl(session, MRPC_IOC_SETUP, arg);
	if (err)
		return fail(-err, "cannot set up a session: %s", strerror(-err));
	if (arg->version != MRPC_UAPI_VERSION)
		return fail(EPROTO, "the module speaks version %u of the interface, this library "
			    "version %u", arg->version, MRPC_UAPI_VERSION);
	/* The flag is refused for more, whatever the operator's threshold. */
	if (arg->copy_threshold > MRPC_MAX_COPY)
		arg->copy_threshold = MRPC_MAX_COPY;
	return heaps_init(session, opts);
}

/*
 * In a forked child, too: so nothing here takes a lock, or talks to the kernel
 * about the session.
 */
static void session_free(struct mrpc_session *session)
{
	struct session_end *end;
	struct bind *bind;

	if (unlikely(roots_watched) && !session_is_foreign(session))
		roots_remove_session(session);
	while ((end = session->ends)) {
		session->ends = end->next;
		end->free(end);
	}
	while ((bind = session->binds)) {
		session->binds = bind->next;
		free(bind);
	}
	if (session->send.base)
		munmap(session->send.base, session->send.reserved);
	if (session->recv)
		munmap(session->recv, session->recv_reserved);
	heap_destroy(&session->send);
	if (session->fd >= 0)
		close(session->fd);
	pthread_mutex_destroy(&session->lock);
	free(session);
}

struct mrpc_session *mrpc_session_open(const struct mrpc_session_opts *opts)
{
	static const struct mrpc_session_opts none;
	struct mrpc_session *session;
	int err;

	session = calloc(1, sizeof(*session));
	if (!session) {
		fail(ENOMEM, "out of memory");
		return NULL;
	}
	error_buffer(NULL);		/* registers the fork handlers */
	session->fork_gen = fork_gen;
	session->leave = thread_leaves;
	pthread_mutex_init(&session->lock, NULL);
	err = setup(session, opts ? opts : &none);
	if (err) {
		session_free(session);
		errno = -err;
		return NULL;
	}
	return session;
}

void mrpc_session_close(struct mrpc_session *session)
{
	if (!session)
		return;
	tctx_forget(session);
	session_free(session);
}

__u32 mrpc_session_id(const struct mrpc_session *session)
{
	return session->setup.session;
}

const struct mrpc_setup *mrpc_session_setup(const struct mrpc_session *session)
{
	return &session->setup;
}

int mrpc_session_fd(const struct mrpc_session *session)
{
	return session->fd;
}

/* -- blocks of the send heap -------------------------------------------------------- */

/* The heap is full. Blocks of calls that have been sent may only wait to be collected. */
static RARE void *alloc_again(struct mrpc_session *session, struct tctx *t, size_t len)
{
	void *block = NULL;

	if (t) {
		heap_cache_flush(&session->send, &t->cache);
		if (t->qp)
			t->qp_ops->harvest(t->qp);
		block = heap_alloc(&session->send, &t->cache, len ? len : 1);
	}
	if (!block)
		fail(ENOMEM, "the send heap has no room for %zu bytes (it has %llu, at most %llu)",
		     len, (unsigned long long)session->send.size,
		     (unsigned long long)session->send.limit);
	return block;
}

void *session_alloc_now(struct mrpc_session *session, size_t len)
{
	struct tctx *t = tctx_get(session);
	void *block = heap_alloc(&session->send, t ? &t->cache : NULL, len);

	if (block || !t)
		return block;
	heap_cache_flush(&session->send, &t->cache);
	return heap_alloc(&session->send, &t->cache, len);
}

void *mrpc_alloc(struct mrpc_session *session, size_t len)
{
	struct tctx *t;
	void *block;

	if (session_check(session))
		return NULL;
	t = tctx_get(session);
	block = heap_alloc(&session->send, t ? &t->cache : NULL, len ? len : 1);
	return likely(block) ? block : alloc_again(session, t, len);
}

void mrpc_free(struct mrpc_session *session, void *block)
{
	struct tctx *t;

	if (!block || session_is_foreign(session))
		return;
	t = tctx_get(session);
	heap_free(&session->send, t ? &t->cache : NULL, block);
}

void mrpc_send_heap_stats(struct mrpc_session *session, struct mrpc_heap_stats *stats)
{
	struct heap *heap = &session->send;

	memset(stats, 0, sizeof(*stats));
	if (session_check(session))
		return;
	pthread_mutex_lock(&heap->lock);
	stats->limit = heap->limit;
	stats->size = heap->size;
	stats->used = heap->size - heap->free;
	pthread_mutex_unlock(&heap->lock);
}

int session_close_id(const struct mrpc_session *session, u32 id, u64 drain_us)
{
	struct mrpc_close arg = { .size = sizeof(arg), .id = id };

	if (drain_us) {
		arg.flags = MRPC_CLOSE_DRAIN;
		arg.timeout_us = drain_us;
	}
	return session_ioctl(session, MRPC_IOC_CLOSE, &arg);
}
