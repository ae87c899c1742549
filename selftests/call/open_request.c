// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/server kmod/app/ioctl */
/*
 * A server asks whether the client of a request waits for its reply: MRPC_IOC_REQUEST.
 */
#include <errno.h>
#include <string.h>

#include "tap.h"
#include "peer.h"
#include "streams.h"

#define TAG	10

static struct raw_pair p;
static struct raw_qp qp;

static void begin_pair(const char *how)
{
	raw_pair(&p, how, 1);
	raw_qp(&qp, &p.c, 64, 256, 0);
}

static int ask(struct raw *s, uint32_t conn, uint64_t call)
{
	struct mrpc_request r = { .size = sizeof(r), .conn = conn, .call = call };

	return raw_ioctl(s->fd, MRPC_IOC_REQUEST, &r);
}

/* A request that the server holds. */
static const struct mrpc_cqe *held(uint64_t tag, uint64_t timeout_us)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_HANG, raw_blob(&p.c, tag, 10, NULL));
	unsigned int nr = p.srv.nr_hung;

	sqe.user_data = tag;
	sqe.timeout_us = timeout_us;
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK(raw_server_hangs(&p.srv, nr + 1));
	return &p.srv.hung[nr];
}

static int open_at(const struct mrpc_cqe *cqe)
{
	return ask(&p.srv.s, cqe->conn, cqe->call);
}

/* The server's kernel gets the news some time later. */
static void ends(const struct mrpc_cqe *cqe)
{
	uint64_t until = raw_now() + WAIT * raw_patience();

	while (!open_at(cqe)) {
		CHECK_MSG(raw_now() < until, "the server still believes in the call");
		raw_sleep(RAW_MS);
	}
	CHECK_EQ(open_at(cqe), -ENOENT);
}

static void replied(uint32_t status)
{
	struct mrpc_cqe cqe;

	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, WAIT);
	CHECK_EQ(cqe.status, status);
	raw_done(&p.c, &cqe);
}

static void answer(const struct mrpc_cqe *request)
{
	struct raw_qp of_server;

	raw_qp(&of_server, &p.srv.s, 4, 8, 0);
	raw_server_answer(&of_server, request, MRPC_ABORTED);
}

static void end_pair(void)
{
	raw_pair_end(&p);
}

/* -- the ways in which a call ends ---------------------------------------------------------- */

static void cancelled(const char *how)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_CANCEL, .call = TAG };
	const struct mrpc_cqe *first, *second;

	begin_pair(how);
	first = held(TAG, 0);
	second = held(TAG + 1, 0);
	CHECK_EQ(open_at(first), 0);
	CHECK_EQ(open_at(second), 0);
	sqe.conn = p.conn;
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	replied(MRPC_CANCELLED);
	ends(first);
	CHECK_EQ(open_at(second), 0);
	answer(second);
	replied(MRPC_ABORTED);
	CHECK_EQ(open_at(second), -ENOENT);
	end_pair();
}

TEST_EACH_TRANSPORT(cancelled, cancelled)
TEST_GRPC(cancelled, cancelled)

static void deadline(const char *how)
{
	const struct mrpc_cqe *cqe;

	begin_pair(how);
	cqe = held(TAG, 1000000 * raw_patience());
	CHECK_EQ(open_at(cqe), 0);
	ends(cqe);
	replied(MRPC_DEADLINE_EXCEEDED);
	end_pair();
}

TEST_EACH_TRANSPORT(deadline, deadline)
TEST_GRPC(deadline, deadline)

/* The connection goes, and its number with it. */
static void client_is_gone(const char *how)
{
	const struct mrpc_cqe *cqe;

	begin_pair(how);
	cqe = held(TAG, 0);
	CHECK_EQ(open_at(cqe), 0);
	raw_close(&p.c);
	ends(cqe);
	raw_server_stop(&p.srv);
}

TEST_EACH_TRANSPORT(client_is_gone, client_is_gone)
TEST_GRPC(client_is_gone, client_is_gone)

/* A call that streams is open until its REPLY, or its end. */
static void stream(const char *how)
{
	struct mrpc_sqe give_up = { .op = MRPC_OP_CANCEL, .call = 8 };
	uint64_t up, down;

	begin(how);
	give_up.conn = client.conn;
	up = open_call(COLLECT, 7, 0);
	down = requested(COLLECT);
	CHECK_EQ(ask(&server.s, server.conn, down), 0);
	send_one(&client, up, 1, 0, MRPC_SQE_COPY | MRPC_SQE_END);
	comes(&server, 1, 0, false);
	CHECK_EQ(ask(&server.s, server.conn, down), 0);
	reply(down, MRPC_ABORTED, 0);
	CHECK_EQ(ask(&server.s, server.conn, down), -ENOENT);
	ended(7, MRPC_ABORTED);

	open_call(COLLECT, 8, 0);
	down = requested(COLLECT);
	push(&client, &give_up);
	ended(8, MRPC_CANCELLED);
	while (next(&server, MRPC_CQE_MESSAGE).status == MRPC_OK)
		;
	CHECK_EQ(ask(&server.s, server.conn, down), -ENOENT);
	end();
}

TEST_EACH_TRANSPORT(stream, stream)
TEST_GRPC(stream, stream)

/* -- what is no request ------------------------------------------------------------------- */

TEST(refused)
{
	const struct mrpc_cqe *cqe;

	begin_pair("tcp4");
	cqe = held(TAG, 0);
	CHECK_EQ(ask(&p.srv.s, cqe->conn, cqe->call + 1), -ENOENT);
	CHECK_EQ(ask(&p.srv.s, cqe->conn, 0), -ENOENT);
	CHECK_EQ(ask(&p.srv.s, cqe->conn, UINT64_MAX), -ENOENT);
	CHECK_EQ(ask(&p.srv.s, cqe->conn + 1000, cqe->call), -ENOENT);
	CHECK_EQ(ask(&p.srv.s, p.srv.listener, cqe->call), -ENOENT);
	/* The client's end of the connection has calls, but no requests. */
	CHECK_EQ(ask(&p.c, p.conn, cqe->call), -ENOENT);
	CHECK_EQ(ask(&p.c, p.conn, TAG), -ENOENT);

	CHECK_EQ(open_at(cqe), 0);
	answer(cqe);
	replied(MRPC_ABORTED);
	end_pair();
}
