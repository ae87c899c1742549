// SPDX-License-Identifier: LGPL-2.1-or-later
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
#include <time.h>
#include <unistd.h>

#include "fake.h"

#define SESSIONS	64
#define QPS		64
#define CONNS		16
#define CALLS		4096
#define SILENT		1000		/* number of an attempt that is not answered */
#define MAX_CALLS	256		/* of a connection, as the kernel's default */
#define SLOTS		4096		/* blocks of a receive heap */
#define SLOT_MIN	4096
#define SLOT_INNER	0xffff
#define RESERVE		(sizeof(void *) > 4 ? 1u << 30 : 128u << 20)

struct fqp {
	struct mrpc_qp_head *head;
	struct mrpc_sqe *sqes;
	struct mrpc_cqe *cqes;
	__u32 sq_entries;
	__u32 cq_entries;
	__u32 reserved;
	__u32 flags;
	int eventfd;
};

struct fsession {
	bool used;
	int fd;
	__u64 file_len;
	char *heap[2];			/* the kernel's view */
	__u64 heap_len[2];
	struct fqp qps[QPS];
	__u32 nr_qps;
	__u32 next_qp;
	__u32 nr_schemas;
	__u32 slot_size;		/* receive heap: all blocks are of one size */
	__u16 slot[SLOTS];		/* of a block's first slot: how many; SLOT_INNER */
	struct {
		bool used;
		char name[108];
		struct fsession *peer;	/* NULL: listener */
	} conns[CONNS];
};

struct fcall {
	bool used;
	struct fsession *client;
	int qp;
	__u32 conn;				/* -1: synchronous */
	__u64 user_data;
	bool copy;
	bool done;
	__u32 root;			/* if not copied: what must not change before its end */
	__u32 sum;
	struct mrpc_cqe cqe;
};

/* What the real kernel tells poll() is beyond this stand-in. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct fsession sessions[SESSIONS];
static struct fcall calls[CALLS];
static struct fake_stats stats;
static unsigned int take_at_most;
static __u32 copy_threshold = 4096;
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

	pthread_mutex_lock(&lock);
	s = stats;
	s.live_blocks = 0;
	for (i = 0; i < SESSIONS; i++)
		for (j = 0; sessions[i].used && j < SLOTS; j++)
			s.live_blocks += sessions[i].slot[j] && sessions[i].slot[j] != SLOT_INNER;
	pthread_mutex_unlock(&lock);
	return s;
}

void fake_reset_stats(void)
{
	pthread_mutex_lock(&lock);
	memset(&stats, 0, sizeof(stats));
	pthread_mutex_unlock(&lock);
}

void fake_fail(unsigned long cmd, int err, int times)
{
	pthread_mutex_lock(&lock);
	failing.cmd = cmd;
	failing.err = err;
	failing.times = times;
	pthread_mutex_unlock(&lock);
}

void fake_copy_threshold(__u32 bytes)
{
	copy_threshold = bytes;
}

void fake_take_at_most(unsigned int nr)
{
	take_at_most = nr;
}

void fake_processors(int nr)
{
	processors = nr;
}

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **res)
{
	struct addrinfo *second;

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

/* -- memory ------------------------------------------------------------------------- */

static void *file_map(struct fsession *s, __u64 len, __u64 *off)
{
	*off = s->file_len;
	s->file_len += (len + 65535) & ~65535ull;
	if (ftruncate(s->fd, (off_t)s->file_len))
		abort();
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, (off_t)*off);
}

static int do_region(struct fsession *s, struct mrpc_region_add *arg)
{
	__u32 kind = arg->kind;
	void *p;

	if (!s->heap[kind])
		s->heap[kind] = mmap(NULL, RESERVE, PROT_NONE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->heap[kind] == MAP_FAILED)
		abort();
	if (arg->len % 65536 || arg->len > MRPC_REGION_MAX || s->heap_len[kind] + arg->len > RESERVE)
		return -EINVAL;
	arg->base = s->heap_len[kind];
	p = file_map(s, arg->len, &arg->mmap_off);
	munmap(p, arg->len);
	mmap(s->heap[kind] + arg->base, arg->len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
	     s->fd, (off_t)arg->mmap_off);
	s->heap_len[kind] += arg->len;
	if (kind == MRPC_REGION_RECV) {
		s->slot_size = s->heap_len[kind] / SLOTS;
		if (s->slot_size < SLOT_MIN)
			s->slot_size = SLOT_MIN;
	}
	return 0;
}

static int slot_take(struct fsession *s, __u32 len)
{
	__u32 i, nr = (len + s->slot_size - 1) / s->slot_size, max, run = 0;

	max = s->heap_len[1] / s->slot_size;
	if (max > SLOTS)
		max = SLOTS;
	for (i = 0; i < max; i++) {
		run = s->slot[i] ? 0 : run + 1;
		if (run == nr) {
			i -= nr - 1;
			for (run = 1; run < nr; run++)
				s->slot[i + run] = SLOT_INNER;
			s->slot[i] = (__u16)nr;
			return (int)i;
		}
	}
	return -1;
}

static void slot_release(struct fsession *s, __u32 block)
{
	__u32 i = block / s->slot_size;

	if (block % s->slot_size || i >= SLOTS || !s->slot[i] || s->slot[i] == SLOT_INNER)
		stats.bad++;
	else
		memset(&s->slot[i], 0, s->slot[i] * sizeof(s->slot[i]));
}

/* -- queues --------------------------------------------------------------------------- */

static void post(struct fsession *s, int q, const struct mrpc_cqe *cqe)
{
	struct fqp *qp = &s->qps[q];
	__u32 tail = qp->head->cq.tail;
	__u32 head;

	qp->cqes[tail % qp->cq_entries] = *cqe;
	__atomic_store_n(&qp->head->cq.tail, tail + 1, __ATOMIC_SEQ_CST);
	head = __atomic_load_n(&qp->head->cq.head, __ATOMIC_SEQ_CST);
	if (tail + 1 - head > qp->cq_entries)
		abort();
	if (head == tail && qp->eventfd >= 0) {
		__u64 one = 1;

		if (write(qp->eventfd, &one, sizeof(one)) < 0)
			stats.bad++;
	}
	pthread_cond_broadcast(&changed);
}

static int do_qp(struct fsession *s, struct mrpc_qp_setup *arg)
{
	struct fqp *qp = &s->qps[s->nr_qps];
	__u64 off;

	if (s->nr_qps == QPS)
		return -EDQUOT;
	arg->sq_off = 4096;
	arg->cq_off = arg->sq_off + arg->sq_entries * 64;
	arg->mmap_len = arg->cq_off + arg->cq_entries * 64;
	qp->head = file_map(s, arg->mmap_len, &off);
	arg->mmap_off = off;
	qp->sqes = (void *)((char *)qp->head + arg->sq_off);
	qp->cqes = (void *)((char *)qp->head + arg->cq_off);
	qp->sq_entries = arg->sq_entries;
	qp->cq_entries = arg->cq_entries;
	qp->flags = arg->flags;
	qp->eventfd = arg->flags & MRPC_QP_EVENTFD ? arg->eventfd : -1;
	arg->qp = s->nr_qps++;
	return 0;
}

/* -- calls ------------------------------------------------------------------------------ */

static int place(struct fsession *from, struct fsession *to, const struct mrpc_sqe *sqe,
		 bool with_msg, struct mrpc_cqe *cqe)
{
	const struct fake_msg *m = (const void *)(from->heap[0] + sqe->root);
	__u32 len = with_msg ? sizeof(*m) + m->data.len : 0, off;
	struct fake_msg *out;
	int slot;

	if (!len && !sqe->meta_len && !sqe->detail_len)
		return 0;
	slot = slot_take(to, len + sqe->meta_len + sqe->detail_len + 32);
	if (slot < 0)
		return -ENOMEM;
	off = (__u32)slot * to->slot_size;
	if (with_msg) {
		if (sqe->root % 8 || sqe->root + (__s64)m->data.off < 0 ||
		    sqe->root + (__s64)m->data.off + m->data.len > (__s64)from->heap_len[0])
			stats.bad++;
		if (sqe->flags & MRPC_SQE_COPY && len > MRPC_MAX_COPY)
			stats.bad++;
		out = (void *)(to->heap[1] + off);
		*out = *m;
		if (m->data.len)
			out->data.off = sizeof(*out);
		memcpy(out + 1, (const char *)m + m->data.off, m->data.len);
	}
	cqe->block = off;
	cqe->flags |= MRPC_CQE_BLOCK;
	cqe->msg_len = len;
	cqe->meta_len = sqe->meta_len;
	cqe->detail_len = sqe->detail_len;
	off += (len + 7) & ~7u;
	memcpy(to->heap[1] + off, from->heap[0] + sqe->meta, sqe->meta_len);
	off += (sqe->meta_len + 7) & ~7u;
	memcpy(to->heap[1] + off, from->heap[0] + sqe->detail, sqe->detail_len);
	return 0;
}

static __u32 checksum(struct fsession *s, __u32 root)
{
	const struct fake_msg *m = (const void *)(s->heap[0] + root);
	const unsigned char *p = (const unsigned char *)m + m->data.off;
	__u32 sum = m->number, i;

	for (i = 0; i < m->data.len; i++)
		sum = sum * 31 + p[i];
	return sum;
}

static void finish(struct fcall *c)
{
	struct mrpc_cqe sent = { .type = MRPC_CQE_SENT, .user_data = c->user_data };
	bool separately = !c->copy && c->qp >= 0 && (c->user_data >> 32 & 1);

	if (!c->copy && checksum(c->client, c->root) != c->sum)
		stats.bad++;

	c->cqe.type = MRPC_CQE_REPLY;
	c->cqe.user_data = c->user_data;
	if (!separately)
		c->cqe.flags |= MRPC_CQE_FREED;
	if (c->qp < 0) {
		c->done = true;
		pthread_cond_broadcast(&changed);
		return;
	}
	/* In either order. */
	if (separately && c->user_data & 1)
		post(c->client, c->qp, &sent);
	post(c->client, c->qp, &c->cqe);
	if (separately && !(c->user_data & 1))
		post(c->client, c->qp, &sent);
	c->client->qps[c->qp].reserved -= c->copy ? 1 : 2;
	c->used = false;
}

static __u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (__u64)now.tv_sec * 1000000000 + (__u64)now.tv_nsec;
}

static struct fcall *call_start(struct fsession *s, int q, const struct mrpc_sqe *sqe)
{
	struct mrpc_cqe cqe = { .type = MRPC_CQE_REQUEST, .method = sqe->method,
				.priority = sqe->priority };
	struct fsession *server = NULL;
	__u32 under_way = 0, i;
	struct fcall *c;
	int target = -1;

	for (c = calls; c < calls + CALLS; c++)
		under_way += c->used && c->client == s && c->conn == sqe->conn;
	for (c = calls; c < calls + CALLS && c->used; c++)
		;
	if (c == calls + CALLS)
		abort();
	memset(c, 0, sizeof(*c));
	c->used = true;
	c->client = s;
	c->qp = q;
	c->conn = sqe->conn;
	c->user_data = sqe->user_data;
	c->copy = sqe->flags & MRPC_SQE_COPY;
	c->root = sqe->root;
	if (!c->copy)
		c->sum = checksum(s, sqe->root);
	stats.calls++;
	stats.copies += c->copy;
	if (sqe->conn >= 1 && sqe->conn <= CONNS && s->conns[sqe->conn - 1].used)
		server = s->conns[sqe->conn - 1].peer;
	for (i = 0; server && i < server->nr_qps && target < 0; i++)
		if (server->qps[(server->next_qp + i) % server->nr_qps].flags & MRPC_QP_SERVE)
			target = (int)((server->next_qp + i) % server->nr_qps);
	if (target < 0 || sqe->max_reply == 1) {
		c->cqe.status = MRPC_UNAVAILABLE;
		c->cqe.flags = MRPC_CQE_LOCAL;
		finish(c);
		return c;
	}
	if (under_way >= MAX_CALLS) {
		c->cqe.status = MRPC_RESOURCE_EXHAUSTED;
		c->cqe.flags = MRPC_CQE_LOCAL;
		finish(c);
		return c;
	}
	server->next_qp = (__u32)target + 1;
	cqe.call = (__u64)(c - calls);
	cqe.conn = sqe->conn;
	if (sqe->timeout_us)
		cqe.deadline_ns = now_ns() + sqe->timeout_us * 1000;
	if (place(s, server, sqe, true, &cqe)) {
		c->cqe.status = MRPC_RESOURCE_EXHAUSTED;
		finish(c);
		return c;
	}
	post(server, target, &cqe);
	return c;
}

static void do_reply(struct fsession *s, int q, const struct mrpc_sqe *sqe)
{
	struct mrpc_cqe sent = { .type = MRPC_CQE_SENT, .user_data = sqe->user_data };
	struct fcall *c = &calls[sqe->call % CALLS];

	stats.replies++;
	if (sqe->flags & MRPC_SQE_COPY)
		stats.copies++;
	else
		post(s, q, &sent);
	if (!c->used) {
		stats.bad++;
		return;
	}
	c->cqe.status = (__u16)sqe->status;
	if (place(s, c->client, sqe, sqe->status == MRPC_OK, &c->cqe))
		c->cqe.status = MRPC_RESOURCE_EXHAUSTED;
	finish(c);
}

static bool has_room(const struct fqp *qp, const struct mrpc_sqe *sqe)
{
	__u32 used = qp->head->cq.tail -
		     __atomic_load_n(&qp->head->cq.head, __ATOMIC_ACQUIRE) + qp->reserved;
	__u32 need = sqe->op == MRPC_OP_RELEASE ? 0 :
		     sqe->op == MRPC_OP_CALL && !(sqe->flags & MRPC_SQE_COPY) ? 2 : 1;

	return used + need <= qp->cq_entries;
}

static void submit(struct fsession *s, int q)
{
	struct fqp *qp = &s->qps[q];
	struct mrpc_cqe nop = { .type = MRPC_CQE_NOP };
	struct mrpc_sqe sqe;
	__u32 head = qp->head->sq.head, i;

	sqe = qp->sqes[head % qp->sq_entries];
	if (sqe.op == MRPC_OP_CALL)
		qp->reserved += sqe.flags & MRPC_SQE_COPY ? 1 : 2;
	__atomic_store_n(&qp->head->sq.head, head + 1, __ATOMIC_RELEASE);
	/* What was copied may be overwritten from now on; see call_sync(). */
	switch (sqe.op) {
	case MRPC_OP_NOP:
		post(s, q, &nop);
		break;
	case MRPC_OP_CALL:
		call_start(s, q, &sqe);
		break;
	case MRPC_OP_REPLY:
		do_reply(s, q, &sqe);
		break;
	case MRPC_OP_CANCEL:
		for (i = 0; i < CALLS; i++) {
			if (calls[i].used && calls[i].client == s && calls[i].qp == q &&
			    calls[i].user_data == sqe.call) {
				calls[i].cqe.status = MRPC_CANCELLED;
				finish(&calls[i]);
			}
		}
		break;
	case MRPC_OP_RELEASE:
		for (i = 0; i < sqe.nr; i++)
			slot_release(s, sqe.blocks[i]);
		break;
	default:
		stats.bad++;
	}
}

static int do_enter(struct fsession *s, struct mrpc_enter *arg)
{
	struct fqp *qp = &s->qps[arg->qp];
	struct timespec until;
	__u32 most = take_at_most && !(qp->flags & MRPC_QP_SERVE) ? take_at_most : UINT32_MAX;

	stats.enters++;
	while (arg->submitted < arg->to_submit && arg->submitted < most &&
	       has_room(qp, &qp->sqes[qp->head->sq.head % qp->sq_entries])) {
		submit(s, (int)arg->qp);
		arg->submitted++;
	}
	until.tv_sec = (time_t)(arg->until_ns / 1000000000);
	until.tv_nsec = (long)(arg->until_ns % 1000000000);
	while (qp->head->cq.tail - __atomic_load_n(&qp->head->cq.head, __ATOMIC_ACQUIRE) <
	       arg->min_complete) {
		if (arg->until_ns == UINT64_MAX)
			pthread_cond_wait(&changed, &lock);
		else if (pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until))
			return -ETIME;
	}
	return 0;
}

static int do_call(struct fsession *s, struct mrpc_call_sync *arg)
{
	struct fcall *c;
	__u32 i;

	stats.sync_calls++;
	for (i = 0; i < arg->nr; i++)
		slot_release(s, arg->blocks[i]);
	c = call_start(s, -1, &arg->sqe);
	while (!c->done)
		pthread_cond_wait(&changed, &lock);
	arg->cqe = c->cqe;
	c->used = false;
	return 0;
}

/* -- connections -------------------------------------------------------------------------- */

static int do_connect(struct fsession *s, struct mrpc_connect *arg, bool serve)
{
	const char *name = (const char *)arg->addr + 3;
	struct fsession *peer = NULL;
	struct timespec until;
	int i, j;

	if (strcmp(arg->transport, "loop") && strcmp(arg->transport, "tcp"))
		return -EPROTONOSUPPORT;
	/* A peer is there, and says nothing. */
	if (!serve && ((struct sockaddr *)arg->addr)->sa_family == AF_INET6) {
		until.tv_sec = (time_t)(arg->until_ns / 1000000000);
		until.tv_nsec = (long)(arg->until_ns % 1000000000);
		stats.silent += !arg->id;
		arg->id = SILENT;
		while (!pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until))
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
		snprintf(s->conns[j].name, sizeof(s->conns[j].name), "%s", name);
		arg->id = (__u32)j + 1;
		arg->max_calls = serve ? 0 : MAX_CALLS;
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
		return do_region(s, arg);
	case MRPC_IOC_QP:
		return do_qp(s, arg);
	case MRPC_IOC_BIND:
		stats.binds++;
		bind->id = ++s->nr_schemas;
		return 0;
	case MRPC_IOC_CONNECT:
		return do_connect(s, arg, false);
	case MRPC_IOC_SERVE:
		return do_connect(s, arg, true);
	case MRPC_IOC_CLOSE:
		if (cl->id == SILENT)
			stats.silent--;
		else
			s->conns[cl->id - 1].used = false;
		return 0;
	case MRPC_IOC_CONN_INFO:
		return do_conn_info(s, arg);
	case MRPC_IOC_ENTER:
		return do_enter(s, arg);
	case MRPC_IOC_CALL:
		return do_call(s, arg);
	case MRPC_IOC_RELEASE:
		stats.release_ioctls++;
		for (i = 0; i < rel->nr; i++)
			slot_release(s, rel->blocks[i]);
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
		pthread_mutex_lock(&lock);
		more = serving(find(fd, false)) < threads;
		pthread_mutex_unlock(&lock);
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
	pthread_mutex_lock(&lock);
	s = find(fd, cmd == MRPC_IOC_SETUP);
	if (failing.times && failing.cmd == cmd) {
		failing.times--;
		ret = -failing.err;
	} else {
		ret = s ? dispatch(s, cmd, arg) : -EBADF;
	}
	pthread_mutex_unlock(&lock);
	if (ret < 0) {
		errno = -ret;
		return -1;
	}
	return 0;
}
