/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ends of streams, which are queue pairs of the test's thread: each entry into the kernel runs what
 * another end has made ready. Include after tap.h.
 */
#ifndef STREAMS_H
#define STREAMS_H

#include <stdio.h>
#include <string.h>

#include "raw.h"

#define CHAT	test_Streams_METHOD_Chat
#define COLLECT	test_Streams_METHOD_Collect
#define PRODUCE	test_Streams_METHOD_Produce

#define WAIT	(20 * RAW_S)
#define COST(len)	(raw_blob_size(len, NULL) + MRPC_STREAM_MESSAGE)

#define ASIDE	256
#define SIDES	8

/*
 * One end of a connection. SENTs come when the network has the blocks no more. So completions of
 * another type than the one that is waited for are laid aside, in their order.
 */
struct side {
	struct raw s;
	struct raw_qp qp;
	uint32_t conn;		/* server: that of the last request */
	struct mrpc_cqe aside[ASIDE];
	unsigned int nr_aside;
	uint64_t replied;	/* user_data of the call whose REPLY has come last */
};

static struct side server, client;
static int listener;

/* All that run. */
static struct side *sides[SIDES];
static unsigned int nr_sides;

static inline struct mrpc_connect target(struct raw *s, const char *addr)
{
	struct mrpc_connect c = raw_target(s, addr);
	int id = raw_bind(s, test_Streams_service.schema, test_Streams_service.schema_len, NULL);

	CHECK_MSG(id > 0, "bind: %s", s->why);
	memset(c.schemas, 0, sizeof(c.schemas));
	c.nr_schemas = 1;
	c.schemas[0] = id;
	return c;
}

static inline void *connect_client(void *arg)
{
	struct mrpc_connect *c = arg;
	int id = raw_connect_to(&client.s, c);

	CHECK_MSG(id > 0, "connect: %s", client.s.why);
	__atomic_store_n(&client.conn, id, __ATOMIC_RELEASE);
	return NULL;
}

/* Opens an end with a queue pair. */
static inline void open_side(struct side *side, uint32_t recv_len, uint32_t entries, uint32_t flags)
{
	memset(side, 0, sizeof(*side));
	raw_open(&side->s, 4 << 20, recv_len);
	raw_qp(&side->qp, &side->s, entries, (flags & MRPC_QP_SERVE ? 4 : 2) * entries, flags);
	CHECK(nr_sides < SIDES);
	sides[nr_sides++] = side;
}

/* Serves at @at. Return: the listener. */
static inline int serve_streams(struct side *side, const char *at)
{
	struct mrpc_connect c = target(&side->s, at);
	int id = raw_serve_at(&side->s, &c);

	CHECK_MSG(id > 0, "serve: %s: %s", strerror(-id), side->s.why);
	return id;
}

static inline const char *address(const char *how)
{
	return !strcmp(how, "tcp4") ? "tcp:127.0.0.1:0" :
	       !strcmp(how, "tls-tcp4") ? "tls-tcp:127.0.0.1:0" :
	       !strcmp(how, "tls-grpc4") ? "tls-grpc:127.0.0.1:0" :
	       !strcmp(how, "prio") ? "prio:127.0.0.1:0" :
	       !strcmp(how, "grpc4") ? "grpc:127.0.0.1:0" : "loop:streams";
}

/* The transport is grpc: it tells the server of the client's end, in metadata of each call. */
static bool tells;

/* Lets all ends run once. */
static inline void run_sides(void)
{
	unsigned int i;

	for (i = 0; i < nr_sides; i++)
		raw_enter(&sides[i]->qp, 0, 0);
}

/* Connects the client to the server, which serves at @at. */
static inline void join_client(const char *at)
{
	struct mrpc_connect c;
	pthread_t thread;
	char addr[64];

	snprintf(addr, sizeof(addr), "%s", at);
	if (strncmp(at, "loop", 4))
		snprintf(strrchr(addr, ':'), 16, ":%u", server.s.port);
	c = target(&client.s, addr);
	client.conn = 0;	/* it may have earlier ones */
	CHECK(!pthread_create(&thread, NULL, connect_client, &c));
	while (!__atomic_load_n(&client.conn, __ATOMIC_ACQUIRE))
		raw_enter(&server.qp, 1, RAW_MS);
	pthread_join(thread, NULL);
}

static inline void begin_sized(const char *how, uint32_t entries)
{
	tells = strstr(how, "grpc4");
	nr_sides = 0;
	open_side(&server, 8 << 20, 256, MRPC_QP_SERVE);
	open_side(&client, 8 << 20, entries, 0);
	listener = serve_streams(&server, address(how));
	join_client(address(how));
}

static inline void begin(const char *how)
{
	begin_sized(how, 256);
}

static inline void end(void)
{
	raw_close(&client.s);
	raw_close(&server.s);
	CHECK(raw_sessions(0, 10000));
}

/* The next completion of @side. The others run meanwhile. */
static inline struct mrpc_cqe any(struct side *side)
{
	uint64_t until = raw_now() + WAIT * raw_patience();
	struct mrpc_cqe cqe;

	while (!raw_reap(&side->qp, &cqe)) {
		CHECK_MSG(raw_now() < until, "no completion comes");
		run_sides();
		raw_enter(&side->qp, 1, RAW_MS);
	}
	/* A call has one last completion. */
	if (cqe.type == MRPC_CQE_REPLY)
		side->replied = cqe.user_data;
	else if (cqe.type == MRPC_CQE_MESSAGE && side == &client)
		CHECK_MSG(cqe.user_data != side->replied, "a message comes behind the reply");
	return cqe;
}

/* The next completion of @side that has @type. */
static inline struct mrpc_cqe next(struct side *side, unsigned int type)
{
	struct mrpc_cqe cqe;
	unsigned int i;

	for (i = 0; i < side->nr_aside; i++) {
		if (side->aside[i].type != type)
			continue;
		cqe = side->aside[i];
		side->nr_aside--;
		memmove(&side->aside[i], &side->aside[i + 1],
			(side->nr_aside - i) * sizeof(cqe));
		return cqe;
	}
	for (;;) {
		cqe = any(side);
		if (cqe.type == type)
			return cqe;
		CHECK_MSG(cqe.type == MRPC_CQE_SENT || type == MRPC_CQE_SENT,
			  "a completion of type %u with status %u, not %u", cqe.type, cqe.status,
			  type);
		CHECK(side->nr_aside < ASIDE);
		side->aside[side->nr_aside++] = cqe;
	}
}

/* Checks that nothing comes for @side, however often both run. */
static inline void nothing(struct side *side)
{
	struct mrpc_cqe cqe;
	int i;

	for (i = 0; i < 20; i++) {
		raw_enter(&server.qp, 1, RAW_MS);
		raw_enter(&client.qp, 1, RAW_MS);
	}
	CHECK_MSG(!raw_reap(&side->qp, &cqe), "a completion of type %u", cqe.type);
}

static inline void push(struct side *side, const struct mrpc_sqe *sqe)
{
	CHECK(raw_push(&side->qp, sqe));
	raw_enter(&side->qp, 0, 0);
}

static inline struct mrpc_sqe call_of(uint32_t method, uint64_t user)
{
	return (struct mrpc_sqe){
		.op = MRPC_OP_CALL, .priority = 128, .conn = client.conn, .method = method,
		.user_data = user, .flags = method == PRODUCE ? MRPC_SQE_COPY : MRPC_SQE_STREAM,
	};
}

/* Begins a call of @method. Return: its token at the client, 0 if the server alone streams. */
static inline uint64_t open_call(uint32_t method, uint64_t user, uint64_t timeout_us)
{
	struct mrpc_sqe sqe = call_of(method, user);
	struct mrpc_cqe cqe;

	sqe.timeout_us = timeout_us;
	if (method == PRODUCE)
		sqe.root = raw_blob(&client.s, user, 100, NULL);
	push(&client, &sqe);
	if (method == PRODUCE) {
		raw_free(&client.s, sqe.root);
		return 0;
	}
	cqe = next(&client, MRPC_CQE_OPEN);
	CHECK_EQ(cqe.user_data, user);
	CHECK_EQ(cqe.conn, client.conn);
	CHECK_EQ(cqe.method, method);
	return cqe.call;
}

/* The request at the server. Return: its token. */
static inline uint64_t requested(uint32_t method)
{
	struct mrpc_cqe cqe = next(&server, MRPC_CQE_REQUEST);

	server.conn = cqe.conn;
	CHECK_EQ(cqe.method, method);
	CHECK_EQ(!!(cqe.flags & MRPC_CQE_MORE), method != PRODUCE);
	CHECK_EQ(!!(cqe.flags & MRPC_CQE_BLOCK), method == PRODUCE || tells);
	raw_done(&server.s, &cqe);
	return cqe.call;
}

static inline struct mrpc_sqe message(struct side *side, uint64_t token, uint64_t tag, uint32_t len)
{
	return (struct mrpc_sqe){
		.op = MRPC_OP_SEND, .conn = side->conn, .call = token, .user_data = tag,
		.root = raw_blob(&side->s, tag, len, NULL),
	};
}

static inline void send_one(struct side *side, uint64_t token, uint64_t tag, uint32_t len, uint8_t flags)
{
	struct mrpc_sqe sqe = message(side, token, tag, len);

	sqe.flags = flags;
	push(side, &sqe);
	if (flags & MRPC_SQE_COPY)
		raw_free(&side->s, sqe.root);
}

static inline void send_end(uint64_t token)
{
	struct mrpc_sqe sqe = {
		.op = MRPC_OP_SEND, .conn = client.conn, .call = token, .user_data = 999,
		.flags = MRPC_SQE_END | MRPC_SQE_EMPTY,
	};

	push(&client, &sqe);
}

static inline void sent(struct side *side, uint64_t tag, uint16_t status)
{
	struct mrpc_cqe cqe = next(side, MRPC_CQE_SENT);

	CHECK_EQ(cqe.user_data, tag);
	CHECK_EQ(cqe.status, status);
}

/* @nr messages are sent, in any order: the network may still have the blocks of some. */
static inline void all_sent(struct side *side, unsigned int nr)
{
	struct mrpc_cqe cqe;

	while (nr--) {
		cqe = next(side, MRPC_CQE_SENT);
		CHECK_EQ(cqe.status, MRPC_OK);
	}
}

static inline void grant(struct side *side, uint64_t token, uint32_t bytes)
{
	struct mrpc_sqe sqe = {
		.op = MRPC_OP_GRANT, .conn = side->conn, .call = token, .max_reply = bytes,
	};

	push(side, &sqe);
}

/* Over gRPC's wire the end of a client's messages can come behind the last of them. */
static inline void end_comes(struct side *side)
{
	struct mrpc_cqe cqe = next(side, MRPC_CQE_MESSAGE);

	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK(!(cqe.flags & (MRPC_CQE_MORE | MRPC_CQE_BLOCK)));
}

/* A message of blob @tag comes. */
static inline struct mrpc_cqe comes(struct side *side, uint64_t tag, uint32_t len, bool more)
{
	struct mrpc_cqe cqe = next(side, MRPC_CQE_MESSAGE);

	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK(cqe.flags & MRPC_CQE_BLOCK);
	if (tells && !more && cqe.flags & MRPC_CQE_MORE)
		end_comes(side);
	else
		CHECK_EQ(!!(cqe.flags & MRPC_CQE_MORE), more);
	CHECK_MSG(raw_is_blob(raw_msg(&side->s, &cqe), cqe.msg_len, tag, len),
		  "not the message of tag %llu", (unsigned long long)tag);
	raw_done(&side->s, &cqe);
	return cqe;
}

static inline void reply(uint64_t token, uint16_t status, uint32_t root)
{
	struct mrpc_sqe sqe = {
		.op = MRPC_OP_REPLY, .conn = server.conn, .call = token, .status = status,
		.root = root, .flags = MRPC_SQE_COPY,
	};

	push(&server, &sqe);
}

static inline void ended(uint64_t user, uint16_t status)
{
	struct mrpc_cqe cqe = next(&client, MRPC_CQE_REPLY);

	CHECK_EQ(cqe.user_data, user);
	CHECK_MSG(cqe.status == status, "status %u, not %u", cqe.status, status);
	CHECK(cqe.flags & MRPC_CQE_FREED);
	raw_done(&client.s, &cqe);
}

#endif /* STREAMS_H */
