// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The stand-in's ioctl() and its connections. What the real kernel tells poll() is beyond it.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"
#include "fake_calls.h"
#include "fake_session.h"

#define SESSIONS	64
#define SILENT		1000		/* number of an attempt that is not answered */

static struct fsession sessions[SESSIONS];
static __u32 copy_threshold = 4096;
static __u32 max_calls = 256;		/* as the kernel's default */
static int processors;
static struct {
	unsigned long cmd;
	int err;
	int times;
} failing;

int __real_ioctl(int fd, unsigned long cmd, void *arg);
int __wrap_ioctl(int fd, unsigned long cmd, ...);
int __real_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **res);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **res);

const char *fake_device(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/libmrpc-fake-%d-XXXXXX", getpid());
	close(mkostemp(path, O_CLOEXEC));
	return path;
}

struct fake_stats fake_stats(void)
{
	struct fake_stats s;
	int i, j;

	pthread_mutex_lock(&fake_lock);
	s = fake_counts;
	s.live_blocks = 0;
	for (i = 0; i < SESSIONS; i++)
		for (j = 0; sessions[i].used && j < SLOTS; j++)
			s.live_blocks += sessions[i].slot[j] && sessions[i].slot[j] != SLOT_INNER;
	pthread_mutex_unlock(&fake_lock);
	return s;
}

void fake_reset_stats(void)
{
	pthread_mutex_lock(&fake_lock);
	memset(&fake_counts, 0, sizeof(fake_counts));
	pthread_mutex_unlock(&fake_lock);
}

void fake_fail(unsigned long cmd, int err, int times)
{
	pthread_mutex_lock(&fake_lock);
	failing.cmd = cmd;
	failing.err = err;
	failing.times = times;
	pthread_mutex_unlock(&fake_lock);
}

void fake_copy_threshold(__u32 bytes)
{
	copy_threshold = bytes;
}

void fake_max_calls(__u32 nr)
{
	pthread_mutex_lock(&fake_lock);
	max_calls = nr;
	pthread_mutex_unlock(&fake_lock);
}

void fake_processors(int nr)
{
	processors = nr;
}

/* As a large service answers: another part of its addresses each time. */
static int look_up_many(const char *service, const struct addrinfo *hints, struct addrinfo **res)
{
	unsigned int turn, i;
	char node[16];

	pthread_mutex_lock(&fake_lock);
	turn = fake_counts.lookups++;
	pthread_mutex_unlock(&fake_lock);
	for (i = 0; i < 16; i++, res = &(*res)->ai_next) {
		snprintf(node, sizeof(node), "127.0.2.%u", (16 * turn + i) % 20);
		if (__real_getaddrinfo(node, service, hints, res))
			abort();
	}
	return 0;
}

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **res)
{
	struct addrinfo *second;

	if (!strcmp(node, "many.test"))
		return look_up_many(service, hints, res);
	if (strcmp(node, "both.test"))
		return __real_getaddrinfo(node, service, hints, res);
	if (__real_getaddrinfo("127.0.0.1", service, hints, &second) ||
	    __real_getaddrinfo("::1", service, hints, res))
		abort();
	(*res)->ai_next = second;
	return 0;
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	int i;

	if (!processors)
		return __real_sched_getaffinity(pid, size, set);
	CPU_ZERO_S(size, set);
	for (i = 0; i < processors; i++)
		CPU_SET_S(i, size, set);
	return 0;
}

/* -- connections -------------------------------------------------------------------------- */

/* The socket of a process becomes that of a connection. */
static void adopt(__s32 *fd, __u64 identity, __u32 len, char to[MRPC_IDENTITY_LEN])
{
	struct stat st;

	if (fstat(*fd, &st) || !S_ISSOCK(st.st_mode) || len >= MRPC_IDENTITY_LEN) {
		fake_counts.bad++;
		return;
	}
	memcpy(to, (const void *)(uintptr_t)identity, len);
	to[len] = '\0';
	fake_counts.adopted++;
	close(*fd);
	*fd = -1;
}

static int do_adopt(struct fsession *s, struct mrpc_adopt *arg)
{
	if (arg->listener < 1 || arg->listener > CONNS || !s->conns[arg->listener - 1].used ||
	    s->conns[arg->listener - 1].peer)
		return -ENOENT;
	adopt(&arg->fd, arg->identity, arg->identity_len, fake_counts.identity);
	fake_counts.adopted_grpc += s->conns[arg->listener - 1].grpc;
	return 0;
}

static int do_connect(struct fsession *s, struct mrpc_connect *arg, bool serve)
{
	const char *name = (const char *)arg->addr + 3;
	struct fsession *peer = NULL;
	struct timespec until;
	int i, j;

	if (strcmp(arg->transport, "loop") && strcmp(arg->transport, "tcp") &&
	    strcmp(arg->transport, "grpc"))
		return -EPROTONOSUPPORT;
	if (!(arg->flags & MRPC_CONNECT_ADOPT) && (arg->fd || arg->identity || arg->identity_len))
		fake_counts.bad++;
	if (!serve && arg->flags & MRPC_CONNECT_ADOPT)
		adopt(&arg->fd, arg->identity, arg->identity_len, fake_counts.server);
	/* A peer is there, and says nothing. */
	if (!serve && ((struct sockaddr *)arg->addr)->sa_family == AF_INET6) {
		until.tv_sec = (time_t)(arg->until_ns / 1000000000);
		until.tv_nsec = (long)(arg->until_ns % 1000000000);
		fake_counts.silent += !arg->id;
		arg->id = SILENT;
		while (!pthread_cond_clockwait(&fake_changed, &fake_lock, CLOCK_MONOTONIC, &until))
			;
		return -ETIME;
	}
	for (i = 0; i < SESSIONS && !serve; i++)
		for (j = 0; j < CONNS; j++)
			if (sessions[i].used && sessions[i].conns[j].used &&
			    !sessions[i].conns[j].peer && !strcmp(sessions[i].conns[j].name, name))
				peer = &sessions[i];
	if (!serve && !peer) {
		snprintf((char *)(uintptr_t)arg->explain.buf, arg->explain.len,
			 "nobody listens there");
		return -ECONNREFUSED;
	}
	for (j = 0; j < CONNS; j++) {
		if (s->conns[j].used)
			continue;
		s->conns[j].used = true;
		s->conns[j].peer = peer;
		s->conns[j].grpc = !strcmp(arg->transport, "grpc");
		snprintf(s->conns[j].name, sizeof(s->conns[j].name), "%s", name);
		arg->id = (__u32)j + 1;
		arg->max_calls = serve ? 0 : max_calls;
		s->conns[j].max_calls = max_calls;
		return 0;
	}
	return -ENOSPC;
}

static int do_conn_info(const struct fsession *s, struct mrpc_conn_info *arg)
{
	if (arg->conn < 1 || arg->conn > CONNS || !s->conns[arg->conn - 1].used)
		return -ENOENT;
	arg->state = MRPC_CONN_READY;
	memcpy(arg->transport, "loop", 5);
	memcpy(arg->peer, "\1\0\0peer", 7);
	return 0;
}

/* -- the one entry -------------------------------------------------------------------------- */

static struct fsession *find(int fd, bool create)
{
	int i;

	for (i = 0; i < SESSIONS; i++)
		if (sessions[i].used && sessions[i].fd == fd && !create)
			return &sessions[i];
	if (!create)
		return NULL;
	/* A number that is opened again means that the old one was closed. */
	for (i = 0; i < SESSIONS; i++) {
		if (!sessions[i].used || sessions[i].fd != fd)
			continue;
		sessions[i].used = false;
		munmap(sessions[i].heap[0], RESERVE);
		munmap(sessions[i].heap[1], RESERVE);
	}
	for (i = 0; i < SESSIONS; i++) {
		if (!sessions[i].used) {
			memset(&sessions[i], 0, sizeof(sessions[i]));
			sessions[i].used = true;
			sessions[i].fd = fd;
			return &sessions[i];
		}
	}
	abort();
}

static int dispatch(struct fsession *s, unsigned long cmd, void *arg)
{
	struct mrpc_setup *setup = arg;
	struct mrpc_bind *bind = arg;
	struct mrpc_release *rel = arg;
	struct mrpc_close *cl = arg;
	__u32 i;

	switch (cmd) {
	case MRPC_IOC_SETUP:
		setup->session = (__u32)(s - sessions) + 1;
		setup->version = MRPC_UAPI_VERSION;
		setup->copy_threshold = copy_threshold;
		setup->max_calls = 1024;
		return 0;
	case MRPC_IOC_REGION:
		return fake_region(s, arg);
	case MRPC_IOC_QP:
		return fake_qp(s, arg);
	case MRPC_IOC_BIND:
		fake_counts.binds++;
		bind->id = ++s->nr_schemas;
		return 0;
	case MRPC_IOC_CONNECT:
		return do_connect(s, arg, false);
	case MRPC_IOC_SERVE:
		return do_connect(s, arg, true);
	case MRPC_IOC_ADOPT:
		return do_adopt(s, arg);
	case MRPC_IOC_CLOSE:
		if (cl->id == SILENT)
			fake_counts.silent--;
		else
			s->conns[cl->id - 1].used = false;
		fake_end_streams(s, cl->id);
		fake_counts.drained_us = cl->flags & MRPC_CLOSE_DRAIN ? cl->timeout_us : 0;
		return 0;
	case MRPC_IOC_CONN_INFO:
		return do_conn_info(s, arg);
	case MRPC_IOC_REQUEST:
		return fake_request(arg);
	case MRPC_IOC_ENTER:
		return fake_enter(s, arg);
	case MRPC_IOC_CALL:
		return fake_call(s, arg);
	case MRPC_IOC_RELEASE:
		fake_counts.release_ioctls++;
		for (i = 0; i < rel->nr; i++)
			fake_slot_release(s, rel->blocks[i]);
		return 0;
	}
	return -ENOTTY;
}

static __u32 serving(const struct fsession *s)
{
	__u32 i, nr = 0;

	for (i = 0; s && i < s->nr_qps; i++)
		nr += !!(s->qps[i].flags & MRPC_QP_SERVE);
	return nr;
}

void fake_wait_serving(int fd, __u32 threads)
{
	bool more;

	do {
		usleep(1000);
		pthread_mutex_lock(&fake_lock);
		more = serving(find(fd, false)) < threads;
		pthread_mutex_unlock(&fake_lock);
	} while (more);
}

int __wrap_ioctl(int fd, unsigned long cmd, ...)
{
	struct fsession *s;
	va_list args;
	void *arg;
	int ret;

	va_start(args, cmd);
	arg = va_arg(args, void *);
	va_end(args);
	if (_IOC_TYPE(cmd) != MRPC_IOC_MAGIC)
		return __real_ioctl(fd, cmd, arg);
	pthread_mutex_lock(&fake_lock);
	s = find(fd, cmd == MRPC_IOC_SETUP);
	if (failing.times && failing.cmd == cmd) {
		failing.times--;
		ret = -failing.err;
	} else {
		ret = s ? dispatch(s, cmd, arg) : -EBADF;
	}
	pthread_mutex_unlock(&fake_lock);
	if (ret < 0) {
		errno = -ret;
		return -1;
	}
	return 0;
}
