// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/core/flow kmod/call/flow kmod/call/call */
/*
 * What a stream takes that has nothing to say: no more than a call that waits for its reply.
 *
 * From the environment: MRPC_IDLE_STREAMS how many (5000); 100000 need a machine with 4 GiB.
 */
#include <stdlib.h>

#include "tap.h"
#include "streams.h"

#define STREAMS_SERVICE	RAW_SERVICES
#define OF_QP		2500	/* of a queue pair, which has entries for their ends */
#define OF_CONN		"1000"	/* max_calls */
#define CALL_BYTES	6144	/* at most, both ends together */
#define MORE_BYTES	768	/* that a stream may take more than a call */

static struct raw_qp qps[MRPC_MAX_QPS];

static struct mrpc_connect all_services(struct raw *s, const char *addr)
{
	struct mrpc_connect c = raw_target(s, addr);
	int id = raw_bind(s, test_Streams_service.schema, test_Streams_service.schema_len, NULL);

	CHECK_MSG(id > 0, "bind: %s", s->why);
	c.schemas[STREAMS_SERVICE] = id;
	c.nr_schemas = STREAMS_SERVICE + 1;
	return c;
}

/* Bytes of the machine's memory in use, without what it can drop. */
static long long used(void)
{
	return 1024 * (raw_meminfo("MemTotal") - raw_meminfo("MemFree") - raw_meminfo("Buffers") -
		       raw_meminfo("Cached"));
}

/* Takes requests, which the server never answers. Return: how many. */
static unsigned int take_requests(void)
{
	struct mrpc_cqe cqe;
	unsigned int n = 0;

	raw_enter(&server.qp, 0, 0);
	while (raw_reap(&server.qp, &cqe)) {
		CHECK_EQ(cqe.type, MRPC_CQE_REQUEST);
		raw_done(&server.s, &cqe);
		n++;
	}
	return n;
}

static void *join(void *arg)
{
	const char *at = arg;
	struct mrpc_connect c;
	char addr[64];
	int id;

	snprintf(addr, sizeof(addr), "%s", at);
	if (strncmp(at, "loop", 4))
		snprintf(strrchr(addr, ':'), 16, ":%u", server.s.port);
	c = all_services(&client.s, addr);
	id = raw_connect_to(&client.s, &c);
	CHECK_MSG(id > 0, "connect: %s", client.s.why);
	__atomic_store_n(&client.conn, id, __ATOMIC_RELEASE);
	return NULL;
}

static void connect_again(const char *at)
{
	pthread_t thread;

	client.conn = 0;
	CHECK(!pthread_create(&thread, NULL, join, (void *)at));
	while (!__atomic_load_n(&client.conn, __ATOMIC_ACQUIRE))
		raw_enter(&server.qp, 1, RAW_MS);
	pthread_join(thread, NULL);
}

/* Begins a call that stays; or a stream. */
static void begin_one(struct raw_qp *qp, bool stream)
{
	struct mrpc_sqe sqe = raw_sqe(client.conn, RAW_HANG, 0);
	struct mrpc_cqe cqe;

	if (stream) {
		sqe.method = RAW_METHOD(STREAMS_SERVICE, CHAT);
		sqe.flags = MRPC_SQE_STREAM;
	} else {
		sqe.root = raw_blob(&client.s, 1, 16, NULL);
		sqe.flags = MRPC_SQE_COPY;
	}
	CHECK(raw_push(qp, &sqe));
	raw_enter(qp, 0, 0);
	CHECK_EQ(qp->pushed, 0);
	if (!stream)
		raw_free(&client.s, sqe.root);
	while (raw_reap(qp, &cqe))
		CHECK_MSG(cqe.type == MRPC_CQE_OPEN || cqe.type == MRPC_CQE_SENT,
			  "a completion of type %u, status %u", cqe.type, cqe.status);
}

/* Return: bytes that each of @nr takes, both ends together. */
static long long take(const char *how, bool stream, unsigned int nr)
{
	unsigned int i, come = 0, of_conn = atoi(OF_CONN);
	struct mrpc_connect c;
	long long before = 0;
	uint64_t until;

	CHECK(nr + nr / 10 <= OF_QP * (MRPC_MAX_QPS - 2));
	nr_sides = 0;
	open_side(&server, 16 << 20, 4096, MRPC_QP_SERVE);
	open_side(&client, 1 << 20, 256, 0);
	CHECK(raw_file_write(RAW_KNOBS "max_calls", OF_CONN));
	c = all_services(&server.s, address(how));
	CHECK_MSG(raw_serve_at(&server.s, &c) > 0, "serve: %s", server.s.why);
	/* The first tenth takes what is taken once. */
	for (i = 0; i < nr + nr / 10; i++) {
		if (i == nr / 10) {
			until = raw_now() + WAIT * raw_patience();
			while (come < i && raw_now() < until)
				come += take_requests();
			before = used();
		}
		if (!(i % OF_QP))
			raw_qp(&qps[i / OF_QP], &client.s, 256, 8192, 0);
		if (!(i % of_conn))
			connect_again(address(how));
		begin_one(&qps[i / OF_QP], stream);
		come += take_requests();
	}
	until = raw_now() + WAIT * raw_patience();
	while (come < i) {
		CHECK_MSG(raw_now() < until, "%u of %u come", come, i);
		come += take_requests();
	}
	before = (used() - before) / nr;
	end();
	CHECK(raw_file_write(RAW_KNOBS "max_calls", "256"));
	return before;
}

static void idle(const char *how)
{
	const char *text = getenv("MRPC_IDLE_STREAMS");
	unsigned int nr = text ? atoi(text) : 5000;
	long long call, stream;

	if (raw_scale() > 1)
		SKIP("objects are larger on a debug kernel");
	take(how, true, nr < 1000 ? nr : 1000);	/* caches of allocators are filled */
	call = take(how, false, nr);
	stream = take(how, true, nr);
	NOTE("of %u: a stream takes %lld bytes, a call %lld", nr, stream, call);
	CHECK_MSG(call < CALL_BYTES, "a call takes %lld bytes", call);
	CHECK_MSG(stream < call + MORE_BYTES, "a stream takes %lld bytes, a call %lld", stream, call);
}

TEST_EACH_TRANSPORT(idle, idle)
TEST_GRPC(idle, idle)
