// SPDX-License-Identifier: GPL-2.0
/*
 * A server for the services of test.proto, in threads of the test's own process.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "raw.h"

#define RAW_NO_BLOCK	UINT64_MAX	/* user_data of a reply without a message */

struct raw_worker {
	struct raw_server *srv;
	unsigned int nr;
};

/* Has the kernel take all that was pushed but for @left entries. */
static void raw_submit(struct raw_qp *qp, uint32_t left)
{
	uint64_t end = raw_now() + 10 * RAW_S * raw_patience();

	while (qp->pushed > left) {
		raw_enter(qp, 0, 0);
		/* SENTs, which come when the peers choose, can have taken the room of the entries. */
		if (qp->pushed > left)
			raw_set_aside(qp);
		if (raw_now() > end)
			raw_die("the server's submission queue stays full");
	}
}

static void raw_must_push(struct raw_qp *qp, const struct mrpc_sqe *sqe)
{
	raw_submit(qp, qp->sq_entries - 1);
	if (!raw_push(qp, sqe))
		raw_die("the server's submission queue is full");
}

static void raw_give_back(struct raw_server *srv, struct raw_qp *qp, uint32_t block)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_RELEASE, .nr = 1, .blocks = { block } };

	if (!srv->keep)
		raw_must_push(qp, &sqe);
}

struct mrpc_sqe raw_reply_to(const struct mrpc_cqe *c, uint32_t status)
{
	return (struct mrpc_sqe){
		.op = MRPC_OP_REPLY, .conn = c->conn, .call = c->call, .status = status,
		.user_data = RAW_NO_BLOCK,
	};
}

/* Copies metadata, without what the transport grpc tells of the client's end. Return: bytes. */
static uint32_t raw_copy_meta(uint8_t *to, const uint8_t *from, uint32_t len)
{
	struct mrpc_meta_entry e;
	uint32_t at, n, out = 0;

	for (at = 0; at < len; at += n) {
		const char *key = (const char *)from + at + sizeof(e);

		memcpy(&e, from + at, sizeof(e));
		n = sizeof(e) + e.klen + e.vlen;
		if ((e.klen == 9 && !memcmp(key, "authority", 9)) ||
		    (e.klen == 10 && !memcmp(key, "user-agent", 10)))
			continue;
		memcpy(to + out, from + at, n);
		out += n;
	}
	return out;
}

static void raw_answer(struct raw_server *srv, struct raw_qp *qp, const struct mrpc_cqe *c,
		       const void *msg, uint32_t len)
{
	struct mrpc_sqe sqe = raw_reply_to(c, MRPC_OK);
	uint32_t meta = 0, meta_len = 0, off;

	if (!raw_try_alloc(&srv->s, ALIGN(len, 8) + c->meta_len, &off)) {
		sqe.status = MRPC_RESOURCE_EXHAUSTED;
		raw_must_push(qp, &sqe);
		return;
	}
	memcpy(srv->s.send + off, msg, len);
	if (c->meta_len) {	/* goes back as it came */
		meta = off + ALIGN(len, 8);
		meta_len = raw_copy_meta(srv->s.send + meta, raw_meta(&srv->s, c), c->meta_len);
	}
	sqe.root = off;
	sqe.meta = meta_len ? meta : 0;
	sqe.meta_len = meta_len;
	sqe.user_data = off;
	if (srv->copy && len <= MRPC_MAX_COPY)
		sqe.flags = MRPC_SQE_COPY;
	if (srv->compress)
		sqe.flags |= MRPC_SQE_COMPRESS;
	raw_must_push(qp, &sqe);
	if (sqe.flags & MRPC_SQE_COPY) {
		/* No completion follows: it is free when it has been taken. */
		raw_submit(qp, 0);
		raw_free(&srv->s, off);
	}
}

static void raw_fail(struct raw_server *srv, struct raw_qp *qp, const struct mrpc_cqe *c)
{
	const struct test_Blob *blob = raw_msg(&srv->s, c);
	struct mrpc_sqe sqe = raw_reply_to(c, blob->tag & 0xff);
	uint32_t off;

	if (blob->text.len && raw_try_alloc(&srv->s, blob->text.len, &off)) {
		memcpy(srv->s.send + off, (const uint8_t *)blob + blob->text.off, blob->text.len);
		sqe.detail = off;
		sqe.detail_len = blob->text.len;
		sqe.user_data = off;
	}
	raw_must_push(qp, &sqe);
}

static void raw_make(struct raw_server *srv, struct raw_qp *qp, const struct mrpc_cqe *c)
{
	const struct test_Blob *blob = raw_msg(&srv->s, c);
	struct mrpc_sqe sqe = raw_reply_to(c, MRPC_OK);

	if (raw_try_blob(&srv->s, blob->tag, blob->tag, NULL, &sqe.root))
		sqe.user_data = sqe.root;
	else
		sqe.status = MRPC_RESOURCE_EXHAUSTED;
	raw_must_push(qp, &sqe);
}

static void raw_hang(struct raw_server *srv, const struct mrpc_cqe *c)
{
	pthread_mutex_lock(&srv->lock);
	if (srv->nr_hung < RAW_HUNG)
		srv->hung[srv->nr_hung++] = *c;
	pthread_mutex_unlock(&srv->lock);
}

static void raw_request(struct raw_server *srv, struct raw_qp *qp, const struct mrpc_cqe *c)
{
	const void *msg = raw_msg(&srv->s, c);
	struct test_Blob ack = { 0 };
	uint32_t service = c->method >> 16, method = c->method & 0xffff;
	const char *wrong = "its method does not exist";

	if (service < RAW_SERVICES && method < raw_plan(service)->nr_methods)
		wrong = raw_verify(raw_plan(service), raw_plan(service)->methods[method].request,
				   msg, c->msg_len);
	if (wrong) {
		printf("# server: a request that should not have come: %s\n", wrong);
		__atomic_add_fetch(&srv->bad, 1, __ATOMIC_RELAXED);
		return;
	}
	if (srv->seen)
		srv->seen(c, msg);
	if (srv->busy_us)
		raw_sleep(srv->busy_us * 1000ULL);
	switch (c->method) {
	case RAW_ACK:
		ack.tag = ((const struct test_Blob *)msg)->tag;
		raw_answer(srv, qp, c, &ack, sizeof(ack));
		break;
	case RAW_FAIL:
		raw_fail(srv, qp, c);
		break;
	case RAW_HANG:
		raw_hang(srv, c);
		break;
	case RAW_MAKE:
		raw_make(srv, qp, c);
		break;
	default:
		raw_answer(srv, qp, c, msg, c->msg_len);
	}
	raw_give_back(srv, qp, c->block);
}

static void raw_completion(struct raw_server *srv, struct raw_worker *w, const struct mrpc_cqe *c)
{
	struct raw_qp *qp = &srv->qps[w->nr];

	switch (c->type) {
	case MRPC_CQE_REQUEST:
		__atomic_add_fetch(&srv->requests[w->nr], 1, __ATOMIC_RELAXED);
		raw_request(srv, qp, c);
		return;
	case MRPC_CQE_ERROR:
		__atomic_add_fetch(&srv->errors, 1, __ATOMIC_RELAXED);
		break;
	case MRPC_CQE_SENT:
		if (c->status == MRPC_CANCELLED)
			__atomic_add_fetch(&srv->late, 1, __ATOMIC_RELAXED);
		break;
	}
	if (c->flags & MRPC_CQE_BLOCK)
		raw_give_back(srv, qp, c->block);
	if (c->user_data != RAW_NO_BLOCK && c->type != MRPC_CQE_ERROR)
		raw_free(&srv->s, c->user_data);
}

static void *raw_worker(void *arg)
{
	struct raw_worker *w = arg;
	struct raw_server *srv = w->srv;
	struct raw_qp *qp = &srv->qps[w->nr];
	struct mrpc_cqe cqe;
	int err;

	while (!__atomic_load_n(&srv->stop, __ATOMIC_ACQUIRE)) {
		err = raw_enter(qp, 1, 50 * RAW_MS);
		if (err && err != -ETIME && err != -EINTR)
			raw_die("the server's enter: %s", strerror(-err));
		while (raw_reap(qp, &cqe))
			raw_completion(srv, w, &cqe);
	}
	free(w);
	return NULL;
}

void raw_server_open(struct raw_server *srv, uint32_t send_len, uint32_t recv_len)
{
	memset(srv, 0, sizeof(*srv));
	pthread_mutex_init(&srv->lock, NULL);
	raw_open(&srv->s, send_len, recv_len);
}

void raw_server_start(struct raw_server *srv, const char *addr, unsigned int threads)
{
	struct mrpc_connect c = raw_target(&srv->s, addr);
	struct raw_worker *w;
	uint32_t entries = srv->entries ?: 128;
	unsigned int i;

	for (i = 0; i < threads; i++)
		raw_qp(&srv->qps[i], &srv->s, entries, 8 * entries, MRPC_QP_SERVE);
	c.keepalive_us = srv->keepalive_us;
	c.max_message = srv->max_message;
	srv->listener = raw_serve_at(&srv->s, &c);
	if (srv->listener < 0)
		raw_die("serve at %s: %s: %s", addr, strerror(-srv->listener), srv->s.why);
	for (i = 0; i < threads; i++) {
		w = malloc(sizeof(*w));
		*w = (struct raw_worker){ srv, i };
		if (pthread_create(&srv->threads[i], NULL, raw_worker, w))
			raw_die("no thread for the server");
		srv->nr++;
	}
}

void raw_server(struct raw_server *srv, const char *addr, unsigned int threads)
{
	raw_server_open(srv, 48 << 20, 48 << 20);
	raw_server_start(srv, addr, threads);
}

void raw_server_stop(struct raw_server *srv)
{
	unsigned int i;

	__atomic_store_n(&srv->stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < srv->nr; i++)
		pthread_join(srv->threads[i], NULL);
	raw_close(&srv->s);
}

uint64_t raw_server_requests(struct raw_server *srv)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < srv->nr; i++)
		sum += __atomic_load_n(&srv->requests[i], __ATOMIC_RELAXED);
	return sum;
}

void raw_server_answer(struct raw_qp *qp, const struct mrpc_cqe *request, uint32_t status)
{
	struct mrpc_sqe sqe = raw_reply_to(request, status);

	sqe.user_data = request->call;
	raw_must_push(qp, &sqe);
	raw_enter(qp, 0, 0);
}

/* How many it has accepted, and the calls of these. */
static unsigned int raw_count_conns(struct raw_server *srv, unsigned int *calls)
{
	unsigned int nr = 0, id, gone = 0;

	*calls = 0;
	/* Numbers are given in order, and not again. */
	for (id = 1; gone < 2000; id++) {
		struct mrpc_conn_info info = { .size = sizeof(info), .conn = id };

		if (raw_ioctl(srv->s.fd, MRPC_IOC_CONN_INFO, &info)) {
			gone++;
		} else if (info.accepted) {
			nr++;
			*calls += info.calls;
			gone = 0;
		}
	}
	return nr;
}

static bool raw_wait_conns(struct raw_server *srv, unsigned int conns, unsigned int calls,
			   unsigned int ms)
{
	uint64_t end = raw_now() + ms * RAW_MS * raw_patience();
	unsigned int have;

	while (raw_count_conns(srv, &have) > conns || have > calls) {
		if (raw_now() > end)
			return false;
		raw_sleep(10 * RAW_MS);
	}
	return true;
}

bool raw_server_conns(struct raw_server *srv, unsigned int nr, unsigned int ms)
{
	return raw_wait_conns(srv, nr, UINT_MAX, ms);
}

bool raw_server_calls(struct raw_server *srv, unsigned int nr, unsigned int ms)
{
	return raw_wait_conns(srv, UINT_MAX, nr, ms);
}

bool raw_server_idle(struct raw_server *srv, unsigned int ms)
{
	uint64_t end = raw_now() + ms * RAW_MS * raw_patience();
	unsigned int nr;

	for (;;) {
		pthread_mutex_lock(&srv->s.lock);
		nr = srv->s.nr_blocks;
		pthread_mutex_unlock(&srv->s.lock);
		if (!nr)
			return true;
		if (raw_now() > end)
			return false;
		raw_sleep(5 * RAW_MS);
	}
}

bool raw_server_hangs(struct raw_server *srv, unsigned int nr)
{
	uint64_t end = raw_now() + 5 * RAW_S * raw_patience();

	while (__atomic_load_n(&srv->nr_hung, __ATOMIC_ACQUIRE) < nr) {
		if (raw_now() > end)
			return false;
		raw_sleep(RAW_MS);
	}
	return true;
}

/* -- pairs ------------------------------------------------------------------- */

void raw_pair_start(struct raw_pair *p, const char *how, unsigned int threads)
{
	const char *host = strchr(how, '6') ? "[::1]" : "127.0.0.1";
	int name = strcspn(how, "46");

	if (!strcmp(how, "loop"))
		snprintf(p->addr, sizeof(p->addr), "loop:test-%d", getpid());
	else
		snprintf(p->addr, sizeof(p->addr), "%.*s:%s:0", name, how, host);
	raw_server_start(&p->srv, p->addr, threads);
	if (strcmp(how, "loop"))
		snprintf(p->addr, sizeof(p->addr), "%.*s:%s:%u", name, how, host, p->srv.s.port);
	p->conn = raw_connect(&p->c, p->addr);
	if (p->conn < 0)
		raw_die("connect to %s: %s: %s", p->addr, strerror(-p->conn), p->c.why);
}

void raw_push_blob(struct raw_qp *qp, struct raw_pair *p, uint32_t method, uint64_t tag,
		   uint32_t len)
{
	struct mrpc_sqe sqe = raw_sqe(p->conn, method, raw_blob(&p->c, tag, len, NULL));

	sqe.user_data = tag;
	if (!raw_push(qp, &sqe))
		raw_die("the submission queue is full");
}

void raw_pair(struct raw_pair *p, const char *how, unsigned int threads)
{
	raw_server_open(&p->srv, 48 << 20, 48 << 20);
	raw_open(&p->c, 48 << 20, 48 << 20);
	raw_pair_start(p, how, threads);
}

/* Bulk, but the last letters of its last field's name count. */
static uint32_t raw_bind_strange(struct raw *s, unsigned int nr)
{
	uint32_t len = test_Bulk_service.schema_len, i;
	uint8_t schema[4096];
	int id;

	if (len > sizeof(schema))
		raw_die("the schema has %u bytes", len);
	memcpy(schema, test_Bulk_service.schema, len);
	for (i = 0; i < 3; i++, nr /= 26)
		schema[len - 2 - i] = 'a' + nr % 26;
	id = raw_bind(s, schema, len, NULL);
	if (id < 0)
		raw_die("bind: %s: %s", strerror(-id), s->why);
	return id;
}

static struct mrpc_connect raw_strange_target(struct raw *s, unsigned int nr)
{
	struct mrpc_connect c;
	char addr[64];

	snprintf(addr, sizeof(addr), "loop:stranger-%d-%u", getpid(), nr);
	c = raw_target(s, addr);
	c.nr_schemas = 1;
	c.schemas[0] = raw_bind_strange(s, nr);
	c.schemas[1] = 0;
	return c;
}

static void raw_stranger(struct raw *server, struct raw *client, unsigned int nr)
{
	struct mrpc_connect c = raw_strange_target(server, nr);
	int id = raw_serve_at(server, &c);

	if (id < 0)
		raw_die("serve: %s: %s", strerror(-id), server->why);
	c = raw_strange_target(client, nr);
	id = raw_connect_to(client, &c);
	if (id < 0)
		raw_die("connect: %s: %s", strerror(-id), client->why);
}

void raw_strangers(unsigned int nr, void (*meanwhile)(void))
{
	static struct raw_server srv;
	static struct raw client;
	static unsigned int next;
	char addr[64];
	unsigned int i;

	snprintf(addr, sizeof(addr), "loop:strangers-%d", getpid());
	while (nr) {
		raw_server_open(&srv, 1 << 20, 1 << 20);
		raw_open(&client, 1 << 20, 1 << 20);
		/* Its thread accepts for all listeners of the session. */
		raw_server_start(&srv, addr, 1);
		for (i = 0; i < 16 && nr; i++, nr--)
			raw_stranger(&srv.s, &client, next++);
		if (meanwhile)
			meanwhile();
		raw_close(&client);
		raw_server_stop(&srv);
	}
}

bool raw_schemas(long long nr, unsigned int ms)
{
	uint64_t until = raw_now() + ms * RAW_MS * raw_patience();

	while (raw_file_number("/sys/class/misc/mrpc/schemas") > nr) {
		if (raw_now() > until)
			return false;
		raw_sleep(10 * RAW_MS);
	}
	return true;
}

void raw_pair_end(struct raw_pair *p)
{
	raw_close(&p->c);
	raw_server_stop(&p->srv);
	if (p->srv.bad || p->srv.errors)
		raw_die("the server saw %llu bad requests and %llu refused replies",
			(unsigned long long)p->srv.bad, (unsigned long long)p->srv.errors);
}

void raw_pair_alive(struct raw_pair *p)
{
	static uint64_t tag;
	uint32_t root = raw_blob(&p->c, ++tag, 3000, "alive");
	struct mrpc_sqe sqe = raw_sqe(p->conn, RAW_ECHO, root);
	struct mrpc_cqe cqe;
	int err;

	sqe.timeout_us = 10000000ULL * raw_scale();
	err = raw_call(&p->c, &sqe, &cqe);
	if (err || cqe.status != MRPC_OK)
		raw_die("the honest connection: error %d, status %u", err, cqe.status);
	if (!raw_is_blob(raw_msg(&p->c, &cqe), cqe.msg_len, tag, 3000) || p->srv.bad)
		raw_die("the honest connection: another message than was sent");
	raw_done(&p->c, &cqe);
	raw_free(&p->c, root);
}

void raw_pair_end_alone(struct raw_pair *p)
{
	raw_pair_alive(p);
	if (!raw_server_conns(&p->srv, 1, 5000))
		raw_die("connections of hostile peers are left");
	raw_pair_end(p);
}
