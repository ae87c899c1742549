// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/app kmod/core */
/*
 * Each allocation of each ioctl fails in turn, until the ioctl comes to its end without a
 * failure. An ioctl that fails has changed nothing, and the same one then succeeds. The
 * runner looks for leaks when the file is done. CALL is in limits.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "tap.h"
#include "fault.h"
#include "operator.h"
#include "raw.h"

static struct raw_pair p;

/* -- ioctls ------------------------------------------------------------------------- */

/* What a session has, as the operator sees it. */
struct have {
	int64_t count[6];
};

static struct have have(const struct raw *s)
{
	uint32_t id = s->setup.session;

	return (struct have){ {
		op_session(id, 0, MRPC_A_SESSION_QPS),
		op_session(id, 0, MRPC_A_SESSION_SCHEMAS),
		op_session(id, 0, MRPC_A_SESSION_CONNS),
		op_session(id, 0, MRPC_A_SESSION_LISTENERS),
		op_session(id, MRPC_A_SESSION_SEND, MRPC_A_HEAP_BYTES),
		op_session(id, MRPC_A_SESSION_RECV, MRPC_A_HEAP_BYTES),
	} };
}

/* Waits until a session has that again: what ends may do so in a work item. */
static bool has(const struct raw *s, const struct have *want)
{
	uint64_t until = raw_now() + 5 * RAW_S * raw_scale();
	struct have now;

	do {
		now = have(s);
		if (!memcmp(&now, want, sizeof(now)))
			return true;
		raw_sleep(10 * RAW_MS);
	} while (raw_now() < until);
	return false;
}

/* @run: an ioctl that gives a session something. Return: 0 or an id, or -errno */
static void request_fails(int (*run)(struct raw *s))
{
	unsigned int nth, refused = 0;
	struct have before;
	bool came = true;
	struct raw s;
	int err;

	fault_begin();
	raw_server_open(&p.srv, 1 << 20, 1 << 20);
	raw_server_start(&p.srv, p.addr[0] ? p.addr : "tcp:127.0.0.1:0", 1);
	if (!p.addr[0])
		snprintf(p.addr, sizeof(p.addr), "tcp:127.0.0.1:%u", p.srv.s.port);
	for (nth = 1; nth < FAULT_MANY && came; nth++) {
		raw_open(&s, 1 << 20, 1 << 20);
		before = have(&s);
		fault_arm(nth);
		err = run(&s);
		came = fault_came();
		if (err < 0) {
			refused++;
			CHECK_MSG(came && fault_is_refusal(err), "allocation %u: %s: %s", nth,
				  strerror(-err), s.why);
			CHECK_MSG(has(&s, &before), "allocation %u: something is left", nth);
			err = run(&s);
			CHECK_MSG(err >= 0, "allocation %u, again: %s: %s", nth, strerror(-err),
				  s.why);
		}
		raw_close(&s);
	}
	NOTE("%u allocations, of which %u were needed", nth - 2, refused);
	CHECK(!came);
	CHECK(raw_sessions(1, 5000 * raw_scale()));
	raw_server_stop(&p.srv);
	CHECK(raw_sessions(0, 5000 * raw_scale()));
}

static int add_region(struct raw *s, uint32_t kind)
{
	uint64_t base, off;

	return raw_region(s, kind, 3 << 20, &base, &off);
}

static int run_region_send(struct raw *s)
{
	return add_region(s, MRPC_REGION_SEND);
}

static int run_region_recv(struct raw *s)
{
	return add_region(s, MRPC_REGION_RECV);
}

static int run_qp(struct raw *s)
{
	struct mrpc_qp_setup q = { .size = sizeof(q), .sq_entries = 64, .cq_entries = 256 };

	return raw_ioctl(s->fd, MRPC_IOC_QP, &q);
}

/* A schema that the cache does not have, because its service has a name of its own. */
static int run_bind(struct raw *s)
{
	static uint8_t schema[1 << 16];
	static unsigned int number;
	uint32_t len = test_Types_service.schema_len, i;
	char name[16];

	snprintf(name, sizeof(name), "Typ%02u", number++ % 100);
	memcpy(schema, test_Types_service.schema, len);
	for (i = 0; i + 5 < len; i++)
		if (!memcmp(schema + i, "Types", 5))
			memcpy(schema + i, name, 5);
	return raw_bind(s, schema, len, NULL);
}

static int run_connect(struct raw *s)
{
	struct mrpc_connect c = raw_target(s, p.addr);

	c.until_ns = raw_until(3000 * RAW_MS);
	return raw_connect_to(s, &c);
}

static int run_serve_tcp(struct raw *s)
{
	return raw_serve(s, "tcp:127.0.0.1:0");
}

static int run_serve_loop(struct raw *s)
{
	return raw_serve(s, "loop:another");
}

static int run_serve_prio(struct raw *s)
{
	return raw_serve(s, "prio:127.0.0.1:7700");
}

TEST_LIMIT(region_send, 300)
{
	request_fails(run_region_send);
}

TEST_LIMIT(region_recv, 300)
{
	request_fails(run_region_recv);
}

TEST_LIMIT(qp, 300)
{
	request_fails(run_qp);
}

TEST_LIMIT(bind, 300)
{
	request_fails(run_bind);
}

TEST_LIMIT(connect_tcp, 300)
{
	request_fails(run_connect);
}

TEST_LIMIT(connect_loop, 300)
{
	strcpy(p.addr, "loop:faults");
	request_fails(run_connect);
}

TEST_LIMIT(connect_prio, 300)
{
	strcpy(p.addr, "prio:127.0.0.1:7701");
	request_fails(run_connect);
}

TEST_LIMIT(serve_tcp, 300)
{
	request_fails(run_serve_tcp);
}

TEST_LIMIT(serve_loop, 300)
{
	request_fails(run_serve_loop);
}

TEST_LIMIT(serve_prio, 300)
{
	request_fails(run_serve_prio);
}

/* Opening the device, and SETUP, which a session has once: it may be tried again. */
TEST_LIMIT(setup, 300)
{
	unsigned int nth;
	bool came = true;
	struct raw s;
	int err;

	fault_begin();
	for (nth = 1; nth < FAULT_MANY && came; nth++) {
		memset(&s, 0, sizeof(s));
		fault_arm(nth);
		s.fd = open("/dev/mrpc", O_RDWR | O_CLOEXEC);
		err = s.fd < 0 ? -errno : raw_setup(&s, 0, 0);
		came = fault_came();
		CHECK_MSG(!err || (came && fault_is_refusal(err)), "allocation %u: %s", nth,
			  strerror(-err));
		if (s.fd >= 0 && err)
			CHECK_EQ(raw_setup(&s, 0, 0), 0);
		if (s.fd >= 0)
			close(s.fd);
	}
	NOTE("%u allocations", nth - 2);
	CHECK(!came);
	CHECK(raw_sessions(0, 5000 * raw_scale()));
}

/* -- what has no effect that stays, on one connection -------------------------------- */

static struct raw_qp queue;

/* What gives back, and what only looks, needs no memory. */
TEST(without_memory)
{
	struct mrpc_conn_info info = { .size = sizeof(info) };
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;

	fault_begin();
	raw_pair(&p, "tcp4", 1);
	sqe = raw_sqe(p.conn, RAW_ECHO, raw_blob(&p.c, 1, 100, "text"));
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	info.conn = p.conn;
	fault_arm(1);
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CONN_INFO, &info), 0);
	CHECK_EQ(raw_release(&p.c, cqe.block), 0);
	CHECK(!fault_came());
	raw_pair_end(&p);
}

TEST(map)
{
	uint64_t base, off;
	unsigned int nth;
	bool came = true;
	struct raw s;
	void *at;

	fault_begin();
	raw_open(&s, 1 << 20, 1 << 20);
	CHECK_EQ(raw_region(&s, MRPC_REGION_SEND, 1 << 20, &base, &off), 0);
	for (nth = 1; nth < FAULT_MANY && came; nth++) {
		fault_arm(nth);
		at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, s.fd, off);
		came = fault_came();
		CHECK(at != MAP_FAILED || (came && errno == ENOMEM));
		if (at != MAP_FAILED)
			CHECK_EQ(munmap(at, 1 << 20), 0);
	}
	NOTE("%u allocations", nth - 2);
	CHECK(!came);
	raw_close(&s);
}

/* The call that a failure meets ends with a status, and the next one is well. */
static void enter(const char *how)
{
	bool came = true, met = false, again;
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	unsigned int nth;
	int err;

	fault_begin();
	raw_pair(&p, how, 1);
	raw_qp(&queue, &p.c, 4, 8, 0);
	sqe = raw_sqe(p.conn, RAW_ACK, raw_blob(&p.c, 1, 100, NULL));
	sqe.timeout_us = 5000000 * raw_scale();
	for (nth = 1; nth < FAULT_MANY && came; nth += met, met = !met) {
		CHECK(raw_push(&queue, &sqe));
		fault_arm(met ? 0 : nth);
		err = raw_enter(&queue, 0, 0);
		came = met ? (fault_arm(0), true) : fault_came();
		CHECK_MSG(!err || fault_is_refusal(err), "allocation %u: %s", nth, strerror(-err));
		raw_expect(&queue, &cqe, MRPC_CQE_REPLY, 20 * RAW_S);
		CHECK_MSG(cqe.status == MRPC_OK ||
			  (came && !met && (cqe.status == MRPC_RESOURCE_EXHAUSTED ||
					    cqe.status == MRPC_UNAVAILABLE)),
			  "allocation %u: status %u", nth, cqe.status);
		raw_done(&p.c, &cqe);
		again = cqe.status == MRPC_UNAVAILABLE;
		if (!(cqe.flags & MRPC_CQE_FREED))
			raw_expect(&queue, &cqe, MRPC_CQE_SENT, 20 * RAW_S);
		if (!again)
			continue;
		/* The link had no memory to send with, and its connection has ended. */
		CHECK_EQ(raw_close_id(&p.c, sqe.conn, 0, 0), 0);
		sqe.conn = raw_connect(&p.c, p.addr);
		CHECK((int)sqe.conn > 0);
	}
	NOTE("%u allocations", nth - 1);
	CHECK(!came);
	raw_pair_end(&p);
}

TEST_LIMIT(enter_tcp, 300)
{
	enter("tcp4");
}

TEST_LIMIT(enter_loop, 300)
{
	enter("loop");
}

TEST_LIMIT(enter_prio, 300)
{
	enter("prio");
}

/* CLOSE succeeds whatever fails, and so does the end of the session. */
static void closes(const char *how)
{
	unsigned int nth;
	bool came = true;

	fault_begin();
	raw_pair(&p, how, 1);
	for (nth = 1; nth < FAULT_MANY && came; nth++) {
		int conn = raw_connect(&p.c, p.addr);

		CHECK(conn > 0);
		fault_arm(nth);
		CHECK_EQ(raw_close_id(&p.c, conn, 0, 0), 0);
		came = fault_came();
		CHECK(raw_server_conns(&p.srv, 1, 10000 * raw_scale()));
	}
	NOTE("%u allocations", nth - 2);
	CHECK(!came);
	raw_pair_end(&p);
}

TEST_LIMIT(close_tcp, 300)
{
	closes("tcp4");
}

TEST_LIMIT(close_loop, 300)
{
	closes("loop");
}

TEST_LIMIT(close_prio, 300)
{
	closes("prio");
}
