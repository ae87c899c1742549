// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/conn kmod/core/conn kmod/transports/ */
/*
 * Connections and listeners: many of them, several services, their beginning and end, and what an
 * operator sees of them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <sys/un.h>

#include "tap.h"
#include "raw.h"

static struct raw_pair p;
static struct raw_qp qp;

static void echo(struct raw *s, int conn, uint32_t method)
{
	uint32_t root = raw_blob(s, 1, 100, NULL);
	struct mrpc_sqe sqe = raw_sqe(conn, method, root);
	struct mrpc_cqe cqe;

	CHECK_EQ(raw_call(s, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK(raw_is_blob(raw_msg(s, &cqe), cqe.msg_len, 1, 100));
	raw_done(s, &cqe);
	raw_free(s, root);
}

static struct mrpc_conn_info info(struct raw *s, uint32_t conn)
{
	struct mrpc_conn_info i = { .size = sizeof(i), .conn = conn };

	CHECK_EQ(raw_ioctl(s->fd, MRPC_IOC_CONN_INFO, &i), 0);
	return i;
}

static void many(const char *how)
{
	int conns[60];
	unsigned int i;

	raw_pair(&p, how, 2);
	for (i = 0; i < ARRAY_SIZE(conns); i++) {
		conns[i] = raw_connect(&p.c, p.addr);
		CHECK_MSG(conns[i] > 0, "connection %u: %s", i, p.c.why);
		echo(&p.c, conns[i], RAW_ECHO);
	}
	for (i = 0; i < ARRAY_SIZE(conns); i++)
		echo(&p.c, conns[i * 7 % ARRAY_SIZE(conns)], RAW_ECHO);
	for (i = 0; i < ARRAY_SIZE(conns); i += 2)
		CHECK_EQ(raw_close_id(&p.c, conns[i], 0, 0), 0);
	CHECK(raw_server_conns(&p.srv, 1 + ARRAY_SIZE(conns) / 2, 5000));
	for (i = 1; i < ARRAY_SIZE(conns); i += 2)
		echo(&p.c, conns[i], RAW_ECHO);
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(many, many)
TEST_GRPC(many, many)
TEST_TLS(many, many)

TEST(many_sessions)
{
	static struct raw s[20];
	unsigned int i;
	int conn;

	raw_pair(&p, "tcp4", 1);
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		raw_open(&s[i], 65536, 65536);
		conn = raw_connect(&s[i], p.addr);
		CHECK(conn > 0);
		echo(&s[i], conn, RAW_ECHO);
	}
	CHECK_EQ(raw_file_number("/sys/class/misc/mrpc/sessions"), 2 + ARRAY_SIZE(s));
	for (i = 0; i < ARRAY_SIZE(s); i++)
		raw_close(&s[i]);
	CHECK(raw_sessions(2, 5000));
	CHECK(raw_server_conns(&p.srv, 1, 5000));
	raw_pair_end(&p);
}

/* The client and the server number services differently. */
TEST(services)
{
	struct mrpc_connect c;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	int only, both;

	raw_pair(&p, "tcp4", 1);
	c = raw_target(&p.c, p.addr);
	c.nr_schemas = 2;
	c.schemas[0] = p.c.ids[RAW_TYPES];
	c.schemas[1] = p.c.ids[RAW_BULK];
	both = raw_connect_to(&p.c, &c);
	CHECK(both > 0);
	c = raw_target(&p.c, p.addr);
	c.nr_schemas = 1;
	c.schemas[0] = p.c.ids[RAW_BULK];
	c.schemas[1] = 0;
	only = raw_connect_to(&p.c, &c);
	CHECK(only > 0);
	echo(&p.c, both, RAW_METHOD(1, test_Bulk_METHOD_Echo));
	echo(&p.c, only, RAW_METHOD(0, test_Bulk_METHOD_Echo));
	/* A service that the client has not asked for is missing, though it is served. */
	sqe = raw_sqe(only, RAW_METHOD(1, 0), raw_blob(&p.c, 1, 1, NULL));
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_UNIMPLEMENTED);
	raw_done(&p.c, &cqe);
	/* An empty All, with the client's number of the service. */
	sqe = raw_sqe(both, RAW_METHOD(0, test_Types_METHOD_Echo), raw_alloc(&p.c, 512));
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK_EQ(cqe.msg_len, sizeof(struct test_All));
	raw_done(&p.c, &cqe);
	raw_pair_end(&p);
}

/* Requests go to all threads that serve. */
TEST(balance)
{
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	unsigned int i;
	uint32_t root;

	raw_pair(&p, "tcp4", 4);
	p.srv.busy_us = 3000;
	raw_qp(&qp, &p.c, 64, 256, 0);
	root = raw_blob(&p.c, 1, 10, NULL);
	sqe = raw_sqe(p.conn, RAW_ACK, root);
	for (i = 0; i < 64; i++)
		CHECK(raw_push(&qp, &sqe));
	for (i = 0; i < 64; i++) {
		raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 10 * RAW_S);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&p.c, &cqe);
	}
	for (i = 0; i < 4; i++) {
		NOTE("thread %u: %llu requests", i, (unsigned long long)p.srv.requests[i]);
		/* A thread that got no processor for a while has fewer. */
		CHECK(p.srv.requests[i] >= 2);
	}
	raw_pair_end(&p);
}

TEST(information)
{
	struct sockaddr_in *local, *peer;
	struct mrpc_conn_info i, k;
	int id;

	raw_pair(&p, "tcp4", 1);
	i = info(&p.c, p.conn);
	local = (void *)i.local;
	peer = (void *)i.peer;
	CHECK_EQ(i.state, MRPC_CONN_READY);
	CHECK_EQ(i.accepted, 0);
	CHECK_EQ(i.listener, 0);
	CHECK_EQ(i.calls, 0);
	CHECK_EQ(peer->sin_family, AF_INET);
	CHECK_EQ(ntohs(peer->sin_port), p.srv.s.port);
	CHECK_EQ(peer->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	CHECK(local->sin_port);
	for (id = 1; id == p.srv.listener; id++)
		;
	k = info(&p.srv.s, id);
	CHECK_EQ(k.accepted, 1);
	CHECK_EQ(k.listener, p.srv.listener);
	CHECK(!memcmp(k.peer, i.local, 8));
	CHECK(!memcmp(k.local, i.peer, 8));
	k = (struct mrpc_conn_info){ .size = sizeof(k), .conn = 999 };
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CONN_INFO, &k), -ENOENT);
	k.conn = 0;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CONN_INFO, &k), -ENOENT);
	k.conn = p.srv.listener;
	CHECK_EQ(raw_ioctl(p.srv.s.fd, MRPC_IOC_CONN_INFO, &k), -ENOENT);
	raw_pair_end(&p);
}

static void hang(unsigned int nr, uint32_t len)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_HANG, raw_blob(&p.c, nr, len, NULL));

	sqe.user_data = nr;
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK(raw_server_hangs(&p.srv, nr));
}

/* Closes at once: calls under way end with UNAVAILABLE, at both ends. */
static void close_now(const char *how)
{
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	struct raw_qp sq;
	unsigned int i;

	raw_pair(&p, how, 1);
	raw_qp(&qp, &p.c, 16, 64, 0);
	raw_qp(&sq, &p.srv.s, 16, 64, 0);
	for (i = 1; i <= 4; i++)
		hang(i, i % 2 ? 10 : 100000);
	CHECK_EQ(info(&p.c, p.conn).calls, 4);
	CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
	for (i = 0; i < 4; i++) {
		/* The completions are already in the ring: close has waited for them. */
		CHECK(raw_reap(&qp, &cqe));
		if (cqe.type == MRPC_CQE_SENT) {
			i--;
			continue;
		}
		CHECK_EQ(cqe.status, MRPC_UNAVAILABLE);
		raw_done(&p.c, &cqe);
	}
	CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), -ENOENT);
	sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, 1, 1, NULL));
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_INVALID_ARGUMENT);
	raw_done(&p.c, &cqe);
	CHECK(raw_server_conns(&p.srv, 0, 5000));
	raw_server_answer(&sq, &p.srv.hung[0], MRPC_ABORTED);
	raw_expect(&sq, &cqe, MRPC_CQE_SENT, 5 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_CANCELLED);
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(close, close_now)
TEST_GRPC(close, close_now)
TEST_TLS(close, close_now)

struct closing {
	struct raw *s;
	uint32_t id;
	uint64_t timeout_us;
	int err;
	bool done;
};

static void *drain(void *arg)
{
	struct closing *c = arg;

	c->err = raw_close_id(c->s, c->id, MRPC_CLOSE_DRAIN, c->timeout_us);
	__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Closes with drain, from either side: calls under way finish, no new one begins. */
static void close_drain(const char *how, bool listener)
{
	struct closing c;
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	struct raw_qp sq;
	uint64_t until;
	pthread_t t;

	raw_pair(&p, how, 1);
	raw_qp(&qp, &p.c, 16, 64, 0);
	raw_qp(&sq, &p.srv.s, 16, 64, 0);
	hang(1, 100000);
	hang(2, 10);
	c = (struct closing){ .s = listener ? &p.srv.s : &p.c,
			      .id = listener ? (u32)p.srv.listener : (u32)p.conn,
			      .timeout_us = 60000000 };
	CHECK(!pthread_create(&t, NULL, drain, &c));
	sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, 1, 1, NULL));
	until = raw_now() + 5 * RAW_S * raw_patience();
	do {	/* until the client knows of the drain */
		CHECK(raw_now() < until);
		raw_sleep(20 * RAW_MS);
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		raw_done(&p.c, &cqe);
	} while (cqe.status == MRPC_OK);
	CHECK_EQ(cqe.status, MRPC_UNAVAILABLE);
	raw_sleep(200 * RAW_MS);
	CHECK(!__atomic_load_n(&c.done, __ATOMIC_ACQUIRE));
	raw_server_answer(&sq, &p.srv.hung[1], MRPC_ABORTED);
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_ABORTED);
	CHECK(!__atomic_load_n(&c.done, __ATOMIC_ACQUIRE));
	raw_server_answer(&sq, &p.srv.hung[0], MRPC_ABORTED);
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_ABORTED);
	CHECK(!pthread_join(t, NULL));
	CHECK_EQ(c.err, 0);
	if (listener)
		CHECK_EQ(raw_connect(&p.c, p.addr), -ECONNREFUSED);
	CHECK(raw_server_conns(&p.srv, 0, 5000));
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(drain, close_drain, false)
TEST_GRPC(drain, close_drain, false)
TEST_TLS(drain, close_drain, false)

TEST_EACH_TRANSPORT(drain_server, close_drain, true)
TEST_GRPC(drain_server, close_drain, true)

TEST(drain_timeout)
{
	struct mrpc_cqe cqe;

	raw_pair(&p, "tcp4", 1);
	raw_qp(&qp, &p.c, 16, 64, 0);
	hang(1, 10);
	CHECK_EQ(raw_close_id(&p.c, p.conn, MRPC_CLOSE_DRAIN, 200000), -ETIME);
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_UNAVAILABLE);
	raw_done(&p.c, &cqe);
	CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), -ENOENT);
	CHECK_EQ(raw_close_id(&p.c, 1, 2, 0), -EINVAL);
	raw_pair_end(&p);
}

static void handler(int sig)
{
	(void)sig;
}

static void *interrupt(void *arg)
{
	raw_sleep(200 * RAW_MS);
	pthread_kill(*(pthread_t *)arg, SIGUSR2);
	return NULL;
}

static unsigned int unavailable(void)
{
	struct mrpc_cqe cqe;
	unsigned int nr = 0;

	while (raw_reap(&qp, &cqe)) {
		if (cqe.type != MRPC_CQE_REPLY)
			continue;
		CHECK_EQ(cqe.status, MRPC_UNAVAILABLE);
		raw_done(&p.c, &cqe);
		nr++;
	}
	return nr;
}

/*
 * A peer without room does not read, and an orderly end waits 0.8 seconds for it. If a signal
 * interrupts the wait, the closing thread gets -EINTR, unless its calls have completed.
 */
TEST(close_interrupted)
{
	struct sigaction sa = { .sa_handler = handler };
	pthread_t self = pthread_self(), t;
	unsigned int nr, i;
	struct mrpc_sqe sqe;
	uint64_t until;
	int err;

	CHECK_SYS(sigaction(SIGUSR2, &sa, NULL));
	raw_server_open(&p.srv, 1 << 20, 131072);
	raw_open(&p.c, 8 << 20, 1 << 20);
	p.srv.keep = true;
	raw_pair_start(&p, "loop", 1);
	raw_qp(&qp, &p.c, 32, 64, 0);
	sqe = raw_sqe(p.conn, RAW_HANG, raw_blob(&p.c, 1, 16000, NULL));
	for (i = 0; i < 19; i++)
		CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK(raw_server_hangs(&p.srv, 8));	/* 16 KiB each */
	CHECK(!pthread_create(&t, NULL, interrupt, &self));
	err = raw_close_id(&p.c, p.conn, 0, 0);
	nr = unavailable();
	NOTE("%d, %u of 19 calls completed", err, nr);
	CHECK(err == -EINTR || (!err && nr == 19));
	pthread_join(t, NULL);
	for (until = raw_now() + 5 * RAW_S * raw_patience(); nr < 19 && raw_now() < until;) {
		raw_sleep(10 * RAW_MS);
		nr += unavailable();
	}
	CHECK_EQ(nr, 19);
	CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), -ENOENT);
	raw_pair_end(&p);
}

/* A listener that ends keeps its connections, and frees its address. */
TEST(close_listener)
{
	raw_pair(&p, "tcp4", 1);
	CHECK_EQ(raw_serve(&p.srv.s, p.addr), -EADDRINUSE);
	CHECK_STR(p.srv.s.why, "the address is in use");
	CHECK_EQ(raw_close_id(&p.srv.s, p.srv.listener, 0, 0), 0);
	CHECK_EQ(raw_close_id(&p.srv.s, p.srv.listener, 0, 0), -ENOENT);
	CHECK_EQ(raw_connect(&p.c, p.addr), -ECONNREFUSED);
	CHECK_STR(p.c.why, "connection refused by the peer");
	echo(&p.c, p.conn, RAW_ECHO);
	CHECK(raw_serve(&p.srv.s, p.addr) > 0);
	p.conn = raw_connect(&p.c, p.addr);
	CHECK(p.conn > 0);
	echo(&p.c, p.conn, RAW_ECHO);
	raw_pair_end(&p);

	raw_pair(&p, "loop", 1);
	CHECK_EQ(raw_serve(&p.srv.s, p.addr), -EADDRINUSE);
	CHECK_STR(p.srv.s.why, "this loop name is taken");
	CHECK_EQ(raw_close_id(&p.srv.s, p.srv.listener, 0, 0), 0);
	CHECK_EQ(raw_connect(&p.c, p.addr), -ECONNREFUSED);
	CHECK_STR(p.c.why, "nobody serves this loop name");
	echo(&p.c, p.conn, RAW_ECHO);
	CHECK(raw_serve(&p.srv.s, p.addr) > 0);
	raw_pair_end(&p);
}

static void bad(struct mrpc_connect *c, int err, bool serve)
{
	int ret;

	p.c.why[0] = 0;
	ret = serve ? raw_serve_at(&p.c, c) : raw_ioctl(p.c.fd, MRPC_IOC_CONNECT, c);
	CHECK_MSG(ret == err, "%s instead of %s: %s", strerror(-ret), strerror(-err), p.c.why);
}

/* Each field of the argument wrong in turn, for both ioctls that take it. */
TEST(arguments)
{
	struct mrpc_connect good, c;
	struct sockaddr_un *sun;
	struct sockaddr_in *in;
	bool serve;
	int k;

	raw_pair(&p, "tcp4", 1);
	for (k = 0; k < 2; k++) {
		serve = k;
#define BAD(err, ...)			\
	do {				\
		c = good;		\
		__VA_ARGS__;		\
		bad(&c, err, serve);	\
	} while (0)
		good = raw_target(&p.c, serve ? "tcp:127.0.0.1:0" : p.addr);
		in = (void *)c.addr;
		sun = (void *)c.addr;
		BAD(-EINVAL, c.flags = serve ? 1 : 4);
		BAD(-EINVAL, c.fd = 1);
		BAD(-EINVAL, c.identity_len = 1);
		BAD(-EINVAL, c.max_calls = 1);
		BAD(-EINVAL, c.explain.resv = 1);
		BAD(-EPROTONOSUPPORT, strcpy(c.transport, "nosuch"));
		CHECK(strstr(p.c.why, "nosuch"));
		BAD(-EPROTONOSUPPORT, c.transport[0] = 0);
		BAD(-EINVAL, memset(c.transport, 't', sizeof(c.transport)));
		BAD(-EAFNOSUPPORT, in->sin_family = AF_APPLETALK);
		CHECK(strstr(p.c.why, "sockaddr_in"));
		BAD(-EAFNOSUPPORT, c.addr_len = 0);
		BAD(-EAFNOSUPPORT, c.addr_len = sizeof(*in) - 1);
		BAD(-EAFNOSUPPORT, in->sin_family = AF_INET6);
		BAD(-EINVAL, c.addr_len = MRPC_ADDR_LEN + 1);
		BAD(-EINVAL, c.addr_len = ~0U);
		BAD(-EINVAL, c.nr_schemas = 0; memset(c.schemas, 0, sizeof(c.schemas)));
		BAD(-EINVAL, c.nr_schemas = MRPC_MAX_SERVICES + 1);
		BAD(-EINVAL, c.nr_schemas = ~0U);
		BAD(-EINVAL, c.schemas[1] = 0);
		CHECK(strstr(p.c.why, "schemas[1] = 0"));
		BAD(-EINVAL, c.schemas[1] = 3);
		BAD(-EINVAL, c.schemas[1] = ~0U);
		BAD(-EINVAL, c.schemas[1] = c.schemas[0]);
		CHECK(strstr(p.c.why, "twice"));
		BAD(-EINVAL, c.schemas[2] = 1);
		/* The loop's names are abstract. */
		good = raw_target(&p.c, "loop:conn-arguments");
		BAD(-EINVAL, sun->sun_family = AF_INET);
		BAD(-EINVAL, sun->sun_path[0] = 'x');
		BAD(-EINVAL, c.addr_len = 3);
		BAD(-EINVAL, c.addr_len = sizeof(*sun) + 1);
	}
	/* An explanation that cannot be written changes nothing. */
	c = raw_target(&p.c, "loop:nobody");
	c.explain.buf = 1;
	bad(&c, -ECONNREFUSED, false);
	c.explain = (struct mrpc_explain){ .buf = (uintptr_t)p.c.why, .len = 5 };
	memset(p.c.why, 'x', 10);
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CONNECT, &c), -ECONNREFUSED);
	CHECK_EQ(p.c.why[4], 0);
	CHECK_EQ(p.c.why[5], 'x');
	echo(&p.c, p.conn, RAW_ECHO);
	raw_pair_end(&p);
}

/* A server with no thread in ENTER makes a client wait, but only for its time limit. */
TEST(not_accepting)
{
	struct mrpc_connect c;
	uint64_t before;
	struct raw srv;
	int k;

	for (k = 0; k < 2; k++) {
		raw_open(&srv, 65536, 65536);
		raw_qp(&qp, &srv, 4, 8, MRPC_QP_SERVE);
		raw_open(&p.c, 65536, 65536);
		CHECK(raw_serve(&srv, k ? "loop:idle" : "tcp:127.0.0.1:0") > 0);
		snprintf(p.addr, sizeof(p.addr), "tcp:127.0.0.1:%u", srv.port);
		c = raw_target(&p.c, k ? "loop:idle" : p.addr);
		c.until_ns = raw_until(300 * RAW_MS);
		before = raw_now();
		CHECK_EQ(raw_connect_to(&p.c, &c), -ETIMEDOUT);
		CHECK(raw_now() - before >= 299 * RAW_MS);
		CHECK(raw_now() - before < 5 * RAW_S * raw_patience());
		CHECK(qp.head->flags & MRPC_QP_PENDING);
		raw_close(&p.c);
		raw_close(&srv);
	}
	CHECK(raw_sessions(0, 5000));
}
