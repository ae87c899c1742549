// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/flow kmod/call/flow_tx kmod/call/flow_rx kmod/core/flow kmod/lib/message/credit */
/*
 * Streams at the kernel's interface. Both ends are queue pairs of this thread: each entry into the
 * kernel runs what the other end has made ready.
 */
#include "tap.h"
#include "operator.h"
#include "raw.h"
#include "streams.h"

/* -- the three kinds ------------------------------------------------------------- */

static void collect(const char *how)
{
	uint64_t up, down;
	struct mrpc_cqe cqe;
	uint32_t root;

	begin(how);
	up = open_call(COLLECT, 7, 0);
	down = requested(COLLECT);
	send_one(&client, up, 1, 100, 0);
	send_one(&client, up, 2, 70000, 0);
	send_one(&client, up, 3, 0, MRPC_SQE_COPY | MRPC_SQE_END);
	comes(&server, 1, 100, true);
	comes(&server, 2, 70000, true);
	comes(&server, 3, 0, false);
	all_sent(&client, 3);
	root = raw_blob(&server.s, 4, 500, NULL);
	reply(down, MRPC_OK, root);
	cqe = next(&client, MRPC_CQE_REPLY);
	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK(raw_is_blob(raw_msg(&client.s, &cqe), cqe.msg_len, 4, 500));
	raw_done(&client.s, &cqe);
	nothing(&client);
	nothing(&server);
	end();
}

TEST_EACH_TRANSPORT(collect, collect)
TEST_GRPC(collect, collect)

static void produce(const char *how)
{
	uint64_t down, i;

	begin(how);
	open_call(PRODUCE, 7, 0);
	down = requested(PRODUCE);
	for (i = 0; i < 100; i++) {
		send_one(&server, down, i, 200, MRPC_SQE_COPY);
		sent(&server, i, MRPC_OK);
	}
	reply(down, MRPC_OK, 0);
	for (i = 0; i < 100; i++)
		comes(&client, i, 200, true);
	ended(7, MRPC_OK);
	end();
}

TEST_EACH_TRANSPORT(produce, produce)
TEST_GRPC(produce, produce)

static void chat(const char *how)
{
	uint64_t up, down, i;

	begin(how);
	up = open_call(CHAT, 7, 0);
	down = requested(CHAT);
	for (i = 0; i < 1000; i++) {
		struct mrpc_cqe cqe;

		send_one(&client, up, i, i % 500, MRPC_SQE_COPY);
		cqe = comes(&server, i, i % 500, true);
		grant(&server, down, cqe.msg_len + MRPC_STREAM_MESSAGE);
		send_one(&server, down, i, i % 300, MRPC_SQE_COPY);
		sent(&client, i, MRPC_OK);
		cqe = comes(&client, i, i % 300, true);
		CHECK_EQ(cqe.call, up);
		CHECK_EQ(cqe.user_data, 7);
		grant(&client, up, cqe.msg_len + MRPC_STREAM_MESSAGE);
		sent(&server, i, MRPC_OK);
	}
	send_end(up);
	CHECK_EQ(next(&server, MRPC_CQE_MESSAGE).flags, 0);
	sent(&client, 999, MRPC_OK);
	reply(down, MRPC_OK, 0);
	ended(7, MRPC_OK);
	end();
}

TEST_EACH_TRANSPORT(chat, chat)
TEST_GRPC(chat, chat)
TEST_TLS(chat, chat)

/* -- credit ---------------------------------------------------------------------- */

/* What the client does not grant stays at the server, and holds up its reply, but no other call. */
static void unread(const char *how)
{
	const uint32_t len = 65536, nr = MRPC_STREAM_WINDOW / 65536;
	uint64_t down, other, i;

	begin(how);
	open_call(PRODUCE, 7, 0);
	down = requested(PRODUCE);
	for (i = 0; i < nr + 3; i++)
		send_one(&server, down, i, len, 0);
	reply(down, MRPC_OK, 0);
	for (i = 0; i < nr; i++)
		comes(&client, i, len, true);
	nothing(&client);

	open_call(PRODUCE, 8, 0);
	all_sent(&server, nr);
	other = requested(PRODUCE);
	reply(other, MRPC_OK, 0);
	ended(8, MRPC_OK);

	grant(&client, 0, 1);	/* an unknown token */
	CHECK_EQ(next(&client, MRPC_CQE_ERROR).status, MRPC_INVALID_ARGUMENT);
	end();
}

TEST_EACH_TRANSPORT(unread, unread)
TEST_GRPC(unread, unread)
TEST_TLS(unread, unread)

/* Grants let the rest go, and then the reply. No more can be granted than has come. */
static void granted(const char *how)
{
	const uint32_t len = 65536, nr = MRPC_STREAM_WINDOW / 65536;
	struct mrpc_cqe cqe = { 0 };
	uint64_t down, i;

	begin(how);
	open_call(PRODUCE, 7, 0);
	down = requested(PRODUCE);
	for (i = 0; i < nr + 3; i++)
		send_one(&server, down, i, len, 0);
	reply(down, MRPC_OK, 0);
	for (i = 0; i < nr; i++)
		cqe = comes(&client, i, len, true);
	grant(&client, cqe.call, nr * COST(len) + 1);
	CHECK_EQ(next(&client, MRPC_CQE_ERROR).status, MRPC_INVALID_ARGUMENT);
	grant(&client, cqe.call, nr * COST(len));
	for (; i < nr + 3; i++)
		comes(&client, i, len, true);
	ended(7, MRPC_OK);
	all_sent(&server, nr + 3);
	grant(&client, cqe.call, 1);	/* it has ended: nothing happens */
	nothing(&client);
	end();
}

TEST_EACH_TRANSPORT(granted, granted)
TEST_GRPC(granted, granted)
TEST_TLS(granted, granted)

/* Messages that are not sent yet are bounded in number. */
static void unsent(const char *how)
{
	uint64_t up, i;

	begin(how);
	up = open_call(COLLECT, 7, 0);
	requested(COLLECT);
	for (i = 0; i < 4; i++)
		send_one(&client, up, i, 65536, 0);
	all_sent(&client, 4);
	for (i = 0; i < MRPC_STREAM_UNSENT; i++)
		send_one(&client, up, i, 0, MRPC_SQE_COPY);
	send_one(&client, up, 555, 0, MRPC_SQE_COPY);
	CHECK_EQ(next(&client, MRPC_CQE_ERROR).status, MRPC_RESOURCE_EXHAUSTED);
	end();
}

TEST_EACH_TRANSPORT(unsent, unsent)

/* -- room in the completion queue --------------------------------------------------- */

/* Messages wait for room in the client's queue; the reply comes behind them. */
static void no_room(const char *how)
{
	uint64_t down, i;

	begin_sized(how, 4);	/* room for 8 completions */
	open_call(PRODUCE, 7, 0);
	down = requested(PRODUCE);
	for (i = 0; i < 60; i++)
		send_one(&server, down, i, 10, MRPC_SQE_COPY);
	reply(down, MRPC_OK, 0);
	for (i = 0; i < 50; i++) {
		raw_enter(&client.qp, 0, 0);
		raw_enter(&server.qp, 0, 0);
	}
	CHECK(raw_ready(&client.qp) < 8);
	for (i = 0; i < 60; i++)
		comes(&client, i, 10, true);
	ended(7, MRPC_OK);
	all_sent(&server, 60);
	end();
}

TEST_EACH_TRANSPORT(no_room, no_room)
TEST_GRPC(no_room, no_room)

/*
 * The ends of calls take room in the queue for as long as they last. One entry is left for messages,
 * without which no stream would end.
 */
static void crowded(const char *how)
{
	struct mrpc_sqe sqe;
	uint64_t down[7], i, j;

	begin_sized(how, 4);
	for (i = 0; i < 7; i++) {
		open_call(PRODUCE, i + 1, 0);
		down[i] = requested(PRODUCE);
	}
	sqe = call_of(PRODUCE, 99);
	sqe.root = raw_blob(&client.s, 1, 1, NULL);
	push(&client, &sqe);
	ended(99, MRPC_RESOURCE_EXHAUSTED);
	for (i = 0; i < 7; i++) {
		for (j = 0; j < 5; j++)
			send_one(&server, down[i], j, 10, MRPC_SQE_COPY);
		reply(down[i], MRPC_OK, 0);
	}
	/* One of the seven streams after the other, or mixed. */
	for (i = 0; i < 7 * 6; i++) {
		struct mrpc_cqe cqe = any(&client);

		CHECK(cqe.type == MRPC_CQE_MESSAGE || cqe.type == MRPC_CQE_REPLY);
		CHECK_EQ(cqe.status, MRPC_OK);
		raw_done(&client.s, &cqe);
	}
	end();
}

TEST_EACH_TRANSPORT(crowded, crowded)
TEST_GRPC(crowded, crowded)
TEST_TLS(crowded, crowded)

/* -- ends ---------------------------------------------------------------------------- */

/* The server learns that the call has ended. @other: also for this reason. */
static void server_learns(uint64_t down, uint16_t status, uint16_t other)
{
	struct mrpc_cqe cqe = next(&server, MRPC_CQE_MESSAGE);

	CHECK_EQ(cqe.call, down);
	CHECK_MSG(cqe.status == status || cqe.status == other, "status %u, not %u", cqe.status,
		  status);
	CHECK_EQ(cqe.flags, MRPC_CQE_LOCAL);
	/* Its answers are too late. */
	send_one(&server, down, 5, 10, MRPC_SQE_COPY);
	sent(&server, 5, MRPC_CANCELLED);
	reply(down, MRPC_OK, 0);
	sent(&server, 0, MRPC_CANCELLED);
}

static void cancel(const char *how)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_CANCEL, .conn = 0, .call = 7, .user_data = 1 };
	uint64_t up, down, i;

	begin(how);
	sqe.conn = client.conn;
	up = open_call(CHAT, 7, 0);
	down = requested(CHAT);
	for (i = 0; i < 6; i++)	/* two wait for credit */
		send_one(&client, up, i, 65536, 0);
	all_sent(&client, 4);
	push(&client, &sqe);
	sent(&client, 4, MRPC_CANCELLED);
	sent(&client, 5, MRPC_CANCELLED);
	ended(7, MRPC_CANCELLED);
	for (i = 0; i < 4; i++)
		comes(&server, i, 65536, true);
	server_learns(down, MRPC_CANCELLED, MRPC_CANCELLED);
	send_one(&client, up, 9, 10, MRPC_SQE_COPY);
	sent(&client, 9, MRPC_CANCELLED);
	end();
}

TEST_EACH_TRANSPORT(cancel, cancel)

static void deadline(const char *how)
{
	uint64_t down;

	begin(how);
	open_call(CHAT, 7, 300000);
	down = requested(CHAT);
	server_learns(down, MRPC_DEADLINE_EXCEEDED, MRPC_CANCELLED);
	ended(7, MRPC_DEADLINE_EXCEEDED);
	end();
}

TEST_EACH_TRANSPORT(deadline, deadline)
TEST_GRPC(deadline, deadline)

/*
 * A server's first message has metadata. Where the wire cannot carry it, the message comes without,
 * and its content is what it was.
 */
static void metadata(const char *how)
{
	static const char *const keys[] = { "key", "grpc-key" };
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	uint64_t down, i;
	bool fits;

	begin(how);
	for (i = 0; i < 2; i++) {
		fits = !tells || !i;
		open_call(PRODUCE, 7 + i, 0);
		down = requested(PRODUCE);
		sqe = message(&server, down, 7, 100);
		sqe.flags = MRPC_SQE_COPY;
		sqe.meta = raw_alloc(&server.s, 64);
		sqe.meta_len = raw_put_meta(server.s.send + sqe.meta, keys[i], "value", 5);
		push(&server, &sqe);
		sent(&server, 7, MRPC_OK);
		cqe = next(&client, MRPC_CQE_MESSAGE);
		CHECK_EQ(cqe.meta_len, fits ? sqe.meta_len : 0);
		CHECK(!fits || !memcmp(raw_meta(&client.s, &cqe), server.s.send + sqe.meta, sqe.meta_len));
		CHECK(raw_is_blob(raw_msg(&client.s, &cqe), cqe.msg_len, 7, 100));
		raw_done(&client.s, &cqe);
		reply(down, MRPC_OK, 0);
		ended(7 + i, MRPC_OK);
		raw_free(&server.s, sqe.meta);
		raw_free(&server.s, sqe.root);
	}
	end();
}

TEST_EACH_TRANSPORT(metadata, metadata)
TEST_GRPC(metadata, metadata)

/* The server answers before the client has ended its messages: those that follow are too late. */
static void early_answer(const char *how)
{
	uint64_t up, down, root, i;
	struct mrpc_cqe cqe;

	begin(how);
	up = open_call(COLLECT, 7, 0);
	down = requested(COLLECT);
	send_one(&client, up, 1, 10, MRPC_SQE_COPY);
	sent(&client, 1, MRPC_OK);
	root = raw_blob(&server.s, 4, 10, NULL);
	reply(down, MRPC_OK, root);
	send_one(&client, up, 2, 10, MRPC_SQE_COPY);	/* on its way when the reply comes */
	for (i = 0; i < 2; i++) {	/* its SENT, with either status, and the reply */
		cqe = any(&client);
		CHECK(cqe.type == MRPC_CQE_SENT || cqe.type == MRPC_CQE_REPLY);
		CHECK(cqe.type == MRPC_CQE_SENT || cqe.status == MRPC_OK);
		raw_done(&client.s, &cqe);
	}
	nothing(&client);
	end();
}

TEST_EACH_TRANSPORT(early_answer, early_answer)
TEST_GRPC(early_answer, early_answer)

static void lost(const char *how)
{
	uint64_t down;

	begin(how);
	open_call(CHAT, 7, 0);
	down = requested(CHAT);
	CHECK(!raw_close_id(&client.s, client.conn, 0, 0));
	server_learns(down, MRPC_UNAVAILABLE, MRPC_UNAVAILABLE);
	end();
}

TEST_EACH_TRANSPORT(lost, lost)
TEST_GRPC(lost, lost)
TEST_TLS(lost, lost)

/* -- what is refused ------------------------------------------------------------------ */

static void refused_call(struct mrpc_sqe sqe, uint16_t status)
{
	struct mrpc_cqe cqe;

	push(&client, &sqe);
	cqe = next(&client, MRPC_CQE_REPLY);
	CHECK_EQ(cqe.status, status);
	raw_done(&client.s, &cqe);
}

TEST(bad_calls)
{
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;

	begin("loop");
	sqe = call_of(CHAT, 1);
	sqe.flags = 0;
	refused_call(sqe, MRPC_INVALID_ARGUMENT);
	sqe.flags = MRPC_SQE_STREAM | MRPC_SQE_COPY;
	refused_call(sqe, MRPC_INVALID_ARGUMENT);
	sqe.flags = MRPC_SQE_STREAM;
	sqe.root = 64;
	refused_call(sqe, MRPC_INVALID_ARGUMENT);
	sqe = call_of(PRODUCE, 1);
	sqe.root = raw_blob(&client.s, 1, 1, NULL);
	sqe.flags = MRPC_SQE_STREAM;
	refused_call(sqe, MRPC_INVALID_ARGUMENT);
	sqe.flags = 0;
	CHECK(!raw_call(&client.s, &sqe, &cqe));
	CHECK_EQ(cqe.status, MRPC_INVALID_ARGUMENT);
	raw_done(&client.s, &cqe);
	nothing(&server);
	end();
}

static void refused(struct side *side, struct mrpc_sqe sqe)
{
	struct mrpc_cqe cqe;

	push(side, &sqe);
	cqe = next(side, MRPC_CQE_ERROR);
	CHECK_MSG(cqe.status == MRPC_INVALID_ARGUMENT, "status %u", cqe.status);
	raw_done(&side->s, &cqe);
}

TEST(bad_messages)
{
	uint64_t up, down, root;
	struct mrpc_sqe sqe;

	begin("loop");
	up = open_call(CHAT, 7, 0);
	down = requested(CHAT);

	sqe = message(&client, up, 1, 10);
	sqe.flags = MRPC_SQE_STREAM;
	refused(&client, sqe);
	sqe.flags = 0;
	sqe.priority = 1;
	refused(&client, sqe);
	sqe.priority = 0;
	sqe.max_reply = 1;
	refused(&client, sqe);
	sqe.max_reply = 0;
	sqe.meta_len = 8;
	refused(&client, sqe);
	sqe.meta_len = 0;
	sqe.flags = MRPC_SQE_EMPTY;
	refused(&client, sqe);
	sqe.root = 0;
	refused(&client, sqe);
	sqe.root = 0x7fffff00;
	sqe.flags = 0;
	refused(&client, sqe);

	sqe = message(&server, down, 1, 10);
	sqe.flags = MRPC_SQE_END;
	refused(&server, sqe);
	sqe.flags = 0;
	sqe.meta_len = MRPC_MAX_META + 1;
	refused(&server, sqe);

	/* Nothing of this has ended the call. */
	send_one(&client, up, 1, 10, MRPC_SQE_END | MRPC_SQE_COPY);
	comes(&server, 1, 10, false);
	sent(&client, 1, MRPC_OK);
	send_one(&client, up, 2, 10, MRPC_SQE_COPY);	/* after the end */
	sent(&client, 2, MRPC_CANCELLED);
	send_one(&client, up + (1 << 16), 3, 10, MRPC_SQE_COPY);
	sent(&client, 3, MRPC_CANCELLED);

	/* The reply of a server that streams has no message. The caller learns of the fault. */
	root = raw_blob(&server.s, 4, 10, NULL);
	reply(down, MRPC_OK, root);
	CHECK_EQ(next(&server, MRPC_CQE_ERROR).status, MRPC_INVALID_ARGUMENT);
	ended(7, MRPC_INTERNAL);
	end();
}
