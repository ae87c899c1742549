// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "raw.h"
#include "raw_tls.h"

void raw_die_at(const char *file, int line, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printf("# %s:%d: %s\n", file, line, text);
	fflush(stdout);
	_exit(1);
}

unsigned int raw_scale(void)
{
	const char *scale = getenv("MRPC_TIME_SCALE");

	return scale && atoi(scale) > 0 ? atoi(scale) : 1;
}

unsigned int raw_patience(void)
{
	return 4 * raw_scale();
}

bool raw_counted(void)
{
	return getenv("MRPC_COUNTED");
}

uint64_t raw_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * RAW_S + t.tv_nsec;
}

uint64_t raw_until(uint64_t ns)
{
	uint64_t now = raw_now();

	return ns < UINT64_MAX - now ? now + ns : UINT64_MAX;
}

void raw_sleep(uint64_t ns)
{
	struct timespec t = { .tv_sec = ns / RAW_S, .tv_nsec = ns % RAW_S };

	while (nanosleep(&t, &t))
		;
}

int raw_ioctl(int fd, unsigned int cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? -errno : 0;
}

unsigned int raw_busy_percent(void)
{
	static unsigned long long was_busy, was_all;
	unsigned long long v[8] = { 0 }, busy, all;
	FILE *stat = fopen("/proc/stat", "re");
	unsigned int percent, i;

	if (!stat || fscanf(stat, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2],
			    &v[3], &v[4], &v[5], &v[6], &v[7]) != 8)
		raw_die("no /proc/stat");
	fclose(stat);
	for (all = i = 0; i < 8; i++)
		all += v[i];
	busy = all - v[3] - v[4];
	percent = all > was_all ? (busy - was_busy) * 100 / (all - was_all) : 0;
	was_busy = busy;
	was_all = all;
	return percent;
}

/* -- sessions -------------------------------------------------------------- */

int raw_device(void)
{
	int fd = open("/dev/mrpc", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		raw_die("/dev/mrpc: %m");
	return fd;
}

int raw_setup(struct raw *s, uint64_t send_limit, uint64_t recv_limit)
{
	memset(&s->setup, 0, sizeof(s->setup));
	s->setup.size = sizeof(s->setup);
	s->setup.send_limit = send_limit;
	s->setup.recv_limit = recv_limit;
	return raw_ioctl(s->fd, MRPC_IOC_SETUP, &s->setup);
}

int raw_region(struct raw *s, uint32_t kind, uint64_t len, uint64_t *base, uint64_t *off)
{
	struct mrpc_region_add r = { .size = sizeof(r), .kind = kind, .len = len };
	int err = raw_ioctl(s->fd, MRPC_IOC_REGION, &r);

	if (base)
		*base = r.base;
	if (off)
		*off = r.mmap_off;
	return err;
}

void raw_map(struct raw *s, uint32_t kind, uint32_t len, uint64_t base, uint64_t off)
{
	bool send = kind == MRPC_REGION_SEND;
	uint8_t **heap = send ? &s->send : &s->recv;
	int prot = send ? PROT_READ | PROT_WRITE : PROT_READ;

	/* Regions that follow are mapped behind. */
	if (!*heap)
		*heap = mmap(NULL, RAW_HEAP_MAX, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (*heap == MAP_FAILED || base + len > RAW_HEAP_MAX ||
	    mmap(*heap + base, len, prot, MAP_SHARED | MAP_FIXED, s->fd, off) == MAP_FAILED)
		raw_die("mmap of a region: %m");
	*(send ? &s->send_len : &s->recv_len) += len;
}

void raw_grow(struct raw *s, uint32_t kind, uint32_t len)
{
	uint64_t base, off;
	int err;

	if (!len)
		return;
	err = raw_region(s, kind, len, &base, &off);
	if (err)
		raw_die("a region of %u bytes: %s", len, strerror(-err));
	raw_map(s, kind, len, base, off);
}

int raw_bind(struct raw *s, const void *schema, uint32_t len, struct mrpc_bind *out)
{
	struct mrpc_bind b = {
		.size = sizeof(b),
		.schema = (uintptr_t)schema,
		.len = len,
		.explain = { .buf = (uintptr_t)s->why, .len = sizeof(s->why) },
	};
	int err;

	s->why[0] = 0;
	err = raw_ioctl(s->fd, MRPC_IOC_BIND, &b);
	if (out)
		*out = b;
	return err ? err : (int)b.id;
}

void raw_open(struct raw *s, uint32_t send_len, uint32_t recv_len)
{
	static const struct mrpc_service_desc *const services[RAW_SERVICES] = {
		[RAW_BULK] = &test_Bulk_service,
		[RAW_TYPES] = &test_Types_service,
	};
	int i, id, err;

	memset(s, 0, sizeof(*s));
	pthread_mutex_init(&s->lock, NULL);
	s->fd = raw_device();
	/* By default a heap may have as much, too. */
	err = raw_setup(s, send_len > RAW_HEAP_USUAL ? send_len : 0,
			recv_len > RAW_HEAP_USUAL ? recv_len : 0);
	if (err)
		raw_die("setup: %s", strerror(-err));
	raw_grow(s, MRPC_REGION_SEND, send_len);
	raw_grow(s, MRPC_REGION_RECV, recv_len);
	for (i = 0; i < RAW_SERVICES; i++) {
		id = raw_bind(s, services[i]->schema, services[i]->schema_len, NULL);
		if (id < 0)
			raw_die("bind: %s: %s", strerror(-id), s->why);
		s->ids[i] = id;
	}
}

void raw_close(struct raw *s)
{
	if (s->send)
		munmap(s->send, RAW_HEAP_MAX);
	if (s->recv)
		munmap(s->recv, RAW_HEAP_MAX);
	while (s->nr_qps--)
		munmap(s->qps[s->nr_qps].at, s->qps[s->nr_qps].len);
	close(s->fd);
	s->fd = -1;
}

void raw_addr(struct mrpc_connect *c, const char *text)
{
	struct sockaddr_un *sun = (void *)c->addr;
	struct sockaddr_in6 *in6 = (void *)c->addr;
	struct sockaddr_in *in = (void *)c->addr;
	const char *rest = strchr(text, ':');
	const char *port = strrchr(text, ':');
	char host[64] = "";

	memset(c->addr, 0, sizeof(c->addr));
	memset(c->transport, 0, sizeof(c->transport));
	/* With TLS, which this process sets up. */
	if (!strncmp(text, "tls-", 4)) {
		text += 4;
		c->flags |= MRPC_CONNECT_ADOPT;
	}
	memcpy(c->transport, text, rest - text);
	rest++;
	if (!strcmp(c->transport, "loop")) {
		sun->sun_family = AF_UNIX;
		strcpy(sun->sun_path + 1, rest);
		c->addr_len = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(rest);
	} else if (*rest == '[') {
		memcpy(host, rest + 1, port - rest - 2);
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(atoi(port + 1));
		if (inet_pton(AF_INET6, host, &in6->sin6_addr) != 1)
			raw_die("the address %s", text);
		c->addr_len = sizeof(*in6);
	} else {
		memcpy(host, rest, port - rest);
		in->sin_family = AF_INET;
		in->sin_port = htons(atoi(port + 1));
		if (inet_pton(AF_INET, host, &in->sin_addr) != 1)
			raw_die("the address %s", text);
		c->addr_len = sizeof(*in);
	}
}

struct mrpc_connect raw_target(struct raw *s, const char *addr)
{
	struct mrpc_connect c = {
		.size = sizeof(c),
		.nr_schemas = RAW_SERVICES,
		.explain = { .buf = (uintptr_t)s->why, .len = sizeof(s->why) },
	};

	memcpy(c.schemas, s->ids, sizeof(s->ids));
	raw_addr(&c, addr);
	return c;
}

int raw_connect_to(struct raw *s, struct mrpc_connect *c)
{
	int err;

	s->why[0] = 0;
	c->id = 0;
	c->max_calls = 0;
	if (c->flags & MRPC_CONNECT_ADOPT) {
		c->fd = raw_tls_connect(c);
		if (c->fd < 0)
			return c->fd;
	}
	err = raw_ioctl(s->fd, MRPC_IOC_CONNECT, c);
	if (c->flags & MRPC_CONNECT_ADOPT && c->fd != -1)
		close(c->fd);
	return err ? err : (int)c->id;
}

int raw_serve_at(struct raw *s, struct mrpc_connect *c)
{
	int err, sock = -1;

	s->why[0] = 0;
	if (c->flags & MRPC_CONNECT_ADOPT) {
		sock = raw_tls_listen(c);
		c->fd = -1;
	}
	err = raw_ioctl(s->fd, MRPC_IOC_SERVE, c);
	if (err)
		return err;
	if (sock >= 0)
		raw_tls_accept(s, sock, c->id);
	/* The port has the same place in both families. */
	s->port = ntohs(((struct sockaddr_in *)c->addr)->sin_port);
	return c->id;
}

int raw_connect(struct raw *s, const char *addr)
{
	struct mrpc_connect c = raw_target(s, addr);

	return raw_connect_to(s, &c);
}

int raw_connect_quiet(struct raw *s, const char *addr)
{
	struct mrpc_connect c = raw_target(s, addr);

	c.keepalive_us = RAW_HOUR_US;
	return raw_connect_to(s, &c);
}

int raw_serve(struct raw *s, const char *addr)
{
	struct mrpc_connect c = raw_target(s, addr);

	return raw_serve_at(s, &c);
}

int raw_close_id(struct raw *s, uint32_t id, uint32_t flags, uint64_t timeout_us)
{
	struct mrpc_close c = {
		.size = sizeof(c), .flags = flags, .id = id, .timeout_us = timeout_us,
	};

	return raw_ioctl(s->fd, MRPC_IOC_CLOSE, &c);
}

/* -- the send heap ----------------------------------------------------------- */

bool raw_try_alloc(struct raw *s, uint32_t len, uint32_t *off)
{
	uint32_t at = 0, i;
	bool found = false;

	len = ALIGN(len ? len : 1, 64);
	pthread_mutex_lock(&s->lock);
	for (i = 0; i < s->nr_blocks && s->blocks[i].off - at < len; i++)
		at = s->blocks[i].off + s->blocks[i].len;
	if (s->nr_blocks < RAW_BLOCKS && at + len <= s->send_len) {
		memmove(&s->blocks[i + 1], &s->blocks[i],
			(s->nr_blocks - i) * sizeof(s->blocks[0]));
		s->blocks[i] = (struct raw_block){ at, len };
		s->nr_blocks++;
		found = true;
	}
	pthread_mutex_unlock(&s->lock);
	*off = at;
	if (found)
		memset(s->send + at, 0, len);
	return found;
}

uint32_t raw_alloc(struct raw *s, uint32_t len)
{
	uint32_t off;

	if (!raw_try_alloc(s, len, &off))
		raw_die("no room for %u bytes among %u blocks of the send heap", len, s->nr_blocks);
	return off;
}

void raw_free(struct raw *s, uint32_t off)
{
	uint32_t i;

	pthread_mutex_lock(&s->lock);
	for (i = 0; i < s->nr_blocks && s->blocks[i].off != off; i++)
		;
	if (i == s->nr_blocks)
		raw_die("no block at %u in the send heap", off);
	s->nr_blocks--;
	memmove(&s->blocks[i], &s->blocks[i + 1], (s->nr_blocks - i) * sizeof(s->blocks[0]));
	pthread_mutex_unlock(&s->lock);
}

/* -- calls ------------------------------------------------------------------- */

struct mrpc_sqe raw_sqe(uint32_t conn, uint32_t method, uint32_t root)
{
	return (struct mrpc_sqe){
		.op = MRPC_OP_CALL,
		.priority = 128,
		.conn = conn,
		.user_data = 0x100000000ULL + root,
		.method = method,
		.root = root,
	};
}

int raw_call(struct raw *s, const struct mrpc_sqe *sqe, struct mrpc_cqe *cqe)
{
	struct mrpc_call_sync c = { .size = sizeof(c), .sqe = *sqe };
	int err = raw_ioctl(s->fd, MRPC_IOC_CALL, &c);

	if (err == -EINTR && c.token) {
		c.flags = MRPC_CALL_CANCEL;
		err = raw_ioctl(s->fd, MRPC_IOC_CALL, &c);
		if (!err && c.cqe.status == MRPC_CANCELLED) {
			raw_done(s, &c.cqe);
			err = -EINTR;
		}
	}
	*cqe = c.cqe;
	return err;
}

int raw_release(struct raw *s, uint32_t block)
{
	struct mrpc_release r = { .size = sizeof(r), .nr = 1, .blocks = { block } };

	return raw_ioctl(s->fd, MRPC_IOC_RELEASE, &r);
}

void raw_done(struct raw *s, const struct mrpc_cqe *cqe)
{
	int err;

	if (!(cqe->flags & MRPC_CQE_BLOCK))
		return;
	err = raw_release(s, cqe->block);
	if (err)
		raw_die("release of block %u: %s", cqe->block, strerror(-err));
}

const void *raw_msg(struct raw *s, const struct mrpc_cqe *cqe)
{
	return s->recv + cqe->block;
}

const void *raw_meta(struct raw *s, const struct mrpc_cqe *cqe)
{
	return s->recv + cqe->block + ALIGN(cqe->msg_len, 8);
}

const char *raw_detail(struct raw *s, const struct mrpc_cqe *cqe, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)cqe->detail_len,
		 (const char *)raw_meta(s, cqe) + ALIGN(cqe->meta_len, 8));
	return buf;
}

const struct mrpc_times *raw_times(struct raw *s, const struct mrpc_cqe *cqe)
{
	const uint8_t *at = raw_meta(s, cqe);

	return (const void *)(at + ALIGN(cqe->meta_len, 8) + ALIGN(cqe->detail_len, 8));
}

/* -- queue pairs ------------------------------------------------------------- */

int raw_qp_setup(struct raw_qp *qp, struct raw *s, uint32_t sq, uint32_t cq, uint32_t flags,
		 int eventfd)
{
	struct mrpc_qp_setup q = {
		.size = sizeof(q), .flags = flags, .sq_entries = sq, .cq_entries = cq,
		.eventfd = eventfd,
	};
	int err = raw_ioctl(s->fd, MRPC_IOC_QP, &q);
	uint8_t *p;

	if (err)
		return err;
	p = mmap(NULL, q.mmap_len, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, q.mmap_off);
	if (p == MAP_FAILED)
		raw_die("mmap of a queue pair: %m");
	s->qps[s->nr_qps].at = p;
	s->qps[s->nr_qps++].len = q.mmap_len;
	*qp = (struct raw_qp){
		.s = s, .id = q.qp, .sq_entries = sq, .cq_entries = cq, .head = (void *)p,
		.sq = (void *)(p + q.sq_off), .cq = (void *)(p + q.cq_off), .len = q.mmap_len,
	};
	return 0;
}

void raw_qp(struct raw_qp *qp, struct raw *s, uint32_t sq, uint32_t cq, uint32_t flags)
{
	int err = raw_qp_setup(qp, s, sq, cq, flags, -1);

	if (err)
		raw_die("a queue pair: %s", strerror(-err));
}

bool raw_push(struct raw_qp *qp, const struct mrpc_sqe *sqe)
{
	struct mrpc_ring *r = &qp->head->sq;
	uint32_t tail = r->tail;

	if (tail - __atomic_load_n(&r->head, __ATOMIC_ACQUIRE) == qp->sq_entries)
		return false;
	qp->sq[tail & (qp->sq_entries - 1)] = *sqe;
	__atomic_store_n(&r->tail, tail + 1, __ATOMIC_RELEASE);
	qp->pushed++;
	return true;
}

static bool raw_pop(struct raw_qp *qp, struct mrpc_cqe *cqe)
{
	struct mrpc_ring *r = &qp->head->cq;
	uint32_t head = r->head;

	if (__atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) == head)
		return false;
	*cqe = qp->cq[head & (qp->cq_entries - 1)];
	if (cqe->type == MRPC_CQE_REPLY && !(cqe->flags & MRPC_CQE_FREED))
		qp->owed++;
	else if (cqe->type == MRPC_CQE_SENT && qp->owed)
		qp->owed--;
	__atomic_store_n(&r->head, head + 1, __ATOMIC_RELEASE);
	return true;
}

void raw_set_aside(struct raw_qp *qp)
{
	uint32_t nr = qp->aside_first + qp->aside_nr;

	do {
		qp->aside = realloc(qp->aside, (nr + 1) * sizeof(*qp->aside));
		if (!qp->aside)
			raw_die("no memory for a completion");
	} while (raw_pop(qp, &qp->aside[nr]) && ++nr);
	qp->aside_nr = nr - qp->aside_first;
}

bool raw_reap(struct raw_qp *qp, struct mrpc_cqe *cqe)
{
	if (!qp->aside)
		return raw_pop(qp, cqe);
	if (qp->aside_nr) {
		*cqe = qp->aside[qp->aside_first++];
		qp->aside_nr--;
		return true;
	}
	free(qp->aside);
	qp->aside = NULL;
	qp->aside_first = 0;
	return raw_pop(qp, cqe);
}

uint32_t raw_ready(struct raw_qp *qp)
{
	return __atomic_load_n(&qp->head->cq.tail, __ATOMIC_ACQUIRE) - qp->head->cq.head +
	       qp->aside_nr;
}

int raw_enter(struct raw_qp *qp, uint32_t min, uint64_t ns)
{
	struct mrpc_enter e = {
		.size = sizeof(e), .qp = qp->id, .to_submit = qp->pushed, .min_complete = min,
		.until_ns = raw_until(ns),
	};
	int err = raw_ioctl(qp->s->fd, MRPC_IOC_ENTER, &e);

	qp->submitted = e.submitted;
	qp->pushed -= e.submitted;
	return err;
}

bool raw_next(struct raw_qp *qp, struct mrpc_cqe *cqe, uint64_t ns)
{
	uint64_t end = raw_now() + ns, now;
	int err;

	while (!raw_reap(qp, cqe)) {
		now = raw_now();
		if (now >= end)
			return false;
		err = raw_enter(qp, 1, end - now);
		if (err && err != -ETIME && err != -EINTR)
			raw_die("enter: %s", strerror(-err));
	}
	return true;
}

void raw_expect(struct raw_qp *qp, struct mrpc_cqe *cqe, unsigned int type, uint64_t ns)
{
	uint32_t owed;

	ns *= raw_patience();
	do {
		owed = qp->owed;
		if (!raw_next(qp, cqe, ns))
			raw_die("no completion in %llu ms", (unsigned long long)(ns / RAW_MS));
	} while (type == MRPC_CQE_REPLY && cqe->type == MRPC_CQE_SENT && owed);
	if (cqe->type != type)
		raw_die("a completion of type %u, status %u instead of type %u",
			cqe->type, cqe->status, type);
}

void raw_ends(struct raw_qp *qp, uint64_t user_data, uint32_t status, uint64_t ns)
{
	bool done = false, freed = false;
	struct mrpc_cqe cqe;

	while (!done || !freed) {
		if (!raw_next(qp, &cqe, ns * raw_patience()))
			raw_die("in %llu ms: completed %d, blocks free %d",
				(unsigned long long)(ns / RAW_MS), done, freed);
		if (cqe.user_data != user_data)
			raw_die("a completion of %llu", (unsigned long long)cqe.user_data);
		if (cqe.type == MRPC_CQE_REPLY) {
			if (done || cqe.status != status)
				raw_die("completed %d, with status %u instead of %u", done + 1,
					cqe.status, status);
			done = true;
			raw_done(qp->s, &cqe);
		}
		if (cqe.type == MRPC_CQE_SENT || cqe.flags & MRPC_CQE_FREED) {
			if (freed)
				raw_die("blocks are free twice");
			freed = true;
		}
	}
}

bool raw_visible(const struct raw *s, uint64_t tag)
{
	uint8_t want[64];
	uint32_t at;

	raw_fill(want, tag, sizeof(want));
	for (at = 0; at + sizeof(want) <= s->recv_len; at += 8)
		if (!memcmp(s->recv + at, want, sizeof(want)))
			return true;
	return false;
}
