// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/flow_rx kmod/call/flow_tx kmod/core/flow kmod/lib/message/wire */
/*
 * Peers that break the rules of streams. They lose the connection, or the call. The kernel keeps
 * nothing for them, and what they send out of order is delivered in order.
 */
#include "tap.h"
#include "peer.h"

#include "lib/message/credit.h"
#include "lib/message/feature.h"

#define CHAT	test_Streams_METHOD_Chat
#define COLLECT	test_Streams_METHOD_Collect
#define PRODUCE	test_Streams_METHOD_Produce

#define MS	5000

static struct raw s;
static struct raw_qp qp;
static struct peer p;
static struct mrpc_connect target;
static u8 hash[MRPC_HASH_LEN];

static void open_session(uint32_t flags)
{
	struct mrpc_bind b;

	raw_open(&s, 4 << 20, 8 << 20);
	raw_qp(&qp, &s, 256, 1024, flags);
	CHECK_MSG(raw_bind(&s, test_Streams_service.schema, test_Streams_service.schema_len, &b) > 0,
		  "bind: %s", s.why);
	memcpy(hash, b.hash, sizeof(hash));
	target = raw_target(&s, "tcp:127.0.0.1:0");
	memset(target.schemas, 0, sizeof(target.schemas));
	target.nr_schemas = 1;
	target.schemas[0] = b.id;
	target.max_message = 1 << 20;
}

/* A hello for the service alone. */
static void say_hello(u8 type)
{
	struct mrpc_hello hello = {
		.version_min = MRPC_WIRE_VERSION,
		.version_max = MRPC_WIRE_VERSION,
		.nr_services = 1,
		.max_message = 64 << 20,
		.max_calls = 256,
	};
	u8 body[1024] = { 0 };
	struct mrpc_frame f = { .type = type };

	memcpy(hello.services[0].hash, hash, sizeof(hash));
	hello.services[0].name = test_Streams_service.name;
	hello.services[0].name_len = strlen(test_Streams_service.name);
	f.meta_len = mrpc_hello_encode(&hello, body, sizeof(body));
	((struct mrpc_hello_hdr *)body)->features = cpu_to_le64(MRPC_FEATURE_STREAM);
	peer_send_frame(&p, &f, body, ALIGN(f.meta_len, 8));
}

/* Runs the session for a while, so that it reads what the peer has sent. */
static void run(void)
{
	int i;

	for (i = 0; i < 10; i++)
		raw_enter(&qp, 1, RAW_MS);
}

static struct mrpc_cqe comes(unsigned int type)
{
	struct mrpc_cqe cqe;

	raw_expect(&qp, &cqe, type, 10 * RAW_S);
	return cqe;
}

static void nothing(void)
{
	struct mrpc_cqe cqe;

	run();
	CHECK_MSG(!raw_reap(&qp, &cqe), "a completion of type %u", cqe.type);
}

/* The next frame that is not a PING, with the session running. */
static void frame(u8 type)
{
	int n;

	do {
		run();
		n = peer_recv(&p, MS);
		CHECK_MSG(n == 1, "no frame of type %u: %d", type, n);
	} while (p.frame.type == MRPC_WIRE_PING);
	CHECK_MSG(p.frame.type == type, "a frame of type %u, not %u", p.frame.type, type);
}

static void message(u64 id, u32 no, u16 flags, u64 tag, u32 data)
{
	struct mrpc_frame f = { .type = MRPC_WIRE_MESSAGE, .flags = flags, .call_id = id,
				.msg_no = no };
	u8 *body = malloc(raw_blob_size(data, NULL));
	u32 len = 0;

	if (flags & MRPC_WIRE_MSG)
		len = peer_blob(body, &f.msg, tag, data, NULL);
	peer_send_frame(&p, &f, body, len);
	free(body);
}

/* -- hostile clients --------------------------------------------------------------- */

static void begin(void)
{
	int listener;

	open_session(MRPC_QP_SERVE);
	listener = raw_serve_at(&s, &target);
	CHECK_MSG(listener > 0, "serve: %s", s.why);
	memset(&p, 0, sizeof(p));
	peer_connect(&p, s.port);
	say_hello(MRPC_WIRE_HELLO);
	frame(MRPC_WIRE_HELLO_ACK);
}

static void end(void)
{
	if (p.fd >= 0)
		peer_close(&p);
	raw_close(&s);
	CHECK(raw_sessions(0, 10000));
}

/* The connection has ended, and nothing is kept. */
static void thrown_out(void)
{
	run();
	CHECK_MSG(peer_closed(&p, MS), "the connection stands");
	end();
}

/* Begins a call whose client streams. Return: its id; the request has been delivered. */
static u64 begin_call(u16 slot, u32 method)
{
	struct mrpc_frame f = { .type = MRPC_WIRE_CALL, .call_id = peer_id(&p, slot),
				.method = method, .max_reply = 1 << 20 };
	struct mrpc_cqe cqe;

	peer_send_frame(&p, &f, NULL, 0);
	cqe = comes(MRPC_CQE_REQUEST);
	CHECK_EQ(cqe.call, f.call_id);
	CHECK(cqe.flags & MRPC_CQE_MORE);
	return f.call_id;
}

/* The next message is the one of @tag. */
static void delivered(u64 tag, u32 data, bool more)
{
	struct mrpc_cqe cqe = comes(MRPC_CQE_MESSAGE);

	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK_EQ(!!(cqe.flags & MRPC_CQE_MORE), more);
	CHECK(raw_is_blob(raw_msg(&s, &cqe), cqe.msg_len, tag, data));
	raw_done(&s, &cqe);
}

static void answer(u64 id, u32 conn)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_REPLY, .conn = conn, .call = id,
				.status = MRPC_ABORTED, .flags = MRPC_SQE_COPY };

	CHECK(raw_push(&qp, &sqe));
	raw_enter(&qp, 0, 0);
}

TEST(unknown_call)
{
	begin();
	message(peer_id(&p, 0), 0, MRPC_WIRE_MSG, 1, 10);
	thrown_out();
}

TEST(unknown_credit)
{
	struct mrpc_frame f = { .type = MRPC_WIRE_CREDIT, .remaining_us = 1 };

	begin();
	f.call_id = peer_id(&p, 0);
	peer_send_frame(&p, &f, NULL, 0);
	thrown_out();
}

/* Credit for messages that the server does not send. */
TEST(credit_for_nothing)
{
	struct mrpc_frame f = { .type = MRPC_WIRE_CREDIT, .remaining_us = 1 << 20 };

	begin();
	f.call_id = begin_call(0, COLLECT);
	peer_send_frame(&p, &f, NULL, 0);
	thrown_out();
}

TEST(beyond_the_window)
{
	u64 id;
	u32 i;

	begin();
	id = begin_call(0, COLLECT);
	for (i = 0; i < 4; i++)
		message(id, i, MRPC_WIRE_MSG, i, 65536);
	for (i = 0; i < 4; i++)
		delivered(i, 65536, true);
	message(id, 4, MRPC_WIRE_MSG, 4, 1);
	run();
	CHECK_EQ(comes(MRPC_CQE_MESSAGE).status, MRPC_UNAVAILABLE);
	thrown_out();
}

TEST(client_metadata)
{
	struct mrpc_frame f = { .type = MRPC_WIRE_MESSAGE, .meta_len = 8 };
	const u8 meta[8] = { 1, 0, 3, 0, 'k', 1, 2, 3 };

	begin();
	f.call_id = begin_call(0, COLLECT);
	peer_send_frame(&p, &f, meta, sizeof(meta));
	run();
	comes(MRPC_CQE_MESSAGE);
	thrown_out();
}

/* Messages for a method whose client sends one. */
TEST(wrong_direction)
{
	struct mrpc_msg_len len;
	struct mrpc_frame f;
	struct mrpc_cqe cqe;
	u8 body[1024];

	begin();
	peer_blob(body, &len, 1, 10, NULL);
	f = peer_call_frame(peer_id(&p, 0), PRODUCE, &len);
	peer_send_frame(&p, &f, body, mrpc_msg_total(&len));
	cqe = comes(MRPC_CQE_REQUEST);
	raw_done(&s, &cqe);
	message(f.call_id, 0, MRPC_WIRE_MSG, 1, 10);
	run();
	comes(MRPC_CQE_MESSAGE);
	thrown_out();
}

/* They come in any order, some twice, some after the end. */
TEST(any_order)
{
	u64 id;

	begin();
	id = begin_call(0, COLLECT);
	message(id, 2, MRPC_WIRE_MSG, 2, 20);
	message(id, 1, MRPC_WIRE_MSG, 1, 10);
	message(id, 2, MRPC_WIRE_MSG, 99, 20);
	nothing();
	message(id, 0, MRPC_WIRE_MSG, 0, 5);
	delivered(0, 5, true);
	delivered(1, 10, true);
	delivered(2, 20, true);
	message(id, 1, MRPC_WIRE_MSG, 98, 20);
	message(id, 0x80000000, MRPC_WIRE_MSG, 97, 20);	/* of long ago */
	nothing();
	message(id, 3, MRPC_WIRE_MSG | MRPC_WIRE_END, 3, 30);
	message(id, 4, MRPC_WIRE_MSG, 4, 40);
	delivered(3, 30, false);
	nothing();
	end();
}

/* Messages of a call that the server has answered. */
TEST(too_late)
{
	u64 id;

	begin();
	id = begin_call(0, COLLECT);
	message(id, 0, MRPC_WIRE_MSG, 0, 5);
	delivered(0, 5, true);
	answer(id, 2);
	frame(MRPC_WIRE_REPLY);
	CHECK_EQ(p.frame.status, MRPC_ABORTED);
	message(id, 1, MRPC_WIRE_MSG, 1, 5);
	nothing();
	id = begin_call(0, COLLECT);
	message(id, 0, MRPC_WIRE_MSG, 7, 70);
	delivered(7, 70, true);
	end();
}

/* A CALL that has a message though its client streams, and the reverse. */
TEST(wrong_calls)
{
	struct mrpc_msg_len len;
	struct mrpc_frame f;
	u8 body[1024];

	begin();
	peer_blob(body, &len, 1, 10, NULL);
	f = peer_call_frame(peer_id(&p, 0), COLLECT, &len);
	peer_send_frame(&p, &f, body, mrpc_msg_total(&len));
	frame(MRPC_WIRE_REPLY);
	CHECK_EQ(p.frame.status, MRPC_INVALID_ARGUMENT);
	f = (struct mrpc_frame){ .type = MRPC_WIRE_CALL, .call_id = peer_id(&p, 0),
				 .method = PRODUCE };
	peer_send_frame(&p, &f, NULL, 0);
	frame(MRPC_WIRE_REPLY);
	CHECK_EQ(p.frame.status, MRPC_INVALID_ARGUMENT);
	message(f.call_id, 0, MRPC_WIRE_MSG, 1, 10);	/* it has ended: ignored */
	begin_call(0, CHAT);
	end();
}

/* A message that is malformed, or too large, ends the call at both ends. */
static void bad_message(u32 data, u16 status)
{
	struct mrpc_frame f = { .type = MRPC_WIRE_MESSAGE, .flags = MRPC_WIRE_MSG };
	u8 *body = malloc(raw_blob_size(data, "x"));
	u32 len;
	u64 id;

	begin();
	id = begin_call(0, COLLECT);
	f.call_id = id;
	len = peer_blob(body, &f.msg, 1, data, "x");
	body[f.msg.structs] = 0xff;	/* not UTF-8 */
	peer_send_frame(&p, &f, body, len);
	free(body);
	frame(MRPC_WIRE_REPLY);
	CHECK_EQ(p.frame.status, status);
	CHECK_EQ(comes(MRPC_CQE_MESSAGE).status, status);
	begin_call(0, COLLECT);
	end();
}

TEST(malformed)
{
	bad_message(10, MRPC_INVALID_ARGUMENT);
}

TEST(too_large)
{
	bad_message(2 << 20, MRPC_RESOURCE_EXHAUSTED);
}

/* -- hostile servers ----------------------------------------------------------------- */

static int listener;
static u32 conn;

static void *welcome(void *arg)
{
	(void)arg;
	if (!peer_accept(&p, listener, 10000))
		raw_die("the client does not connect");
	peer_expect(&p, MRPC_WIRE_HELLO);
	say_hello(MRPC_WIRE_HELLO_ACK);
	return NULL;
}

static void begin_client(void)
{
	char addr[64];
	pthread_t t;
	u16 port;
	int id;

	open_session(0);
	memset(&p, 0, sizeof(p));
	listener = peer_listen(&port);
	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", port);
	raw_addr(&target, addr);
	CHECK(!pthread_create(&t, NULL, welcome, NULL));
	id = raw_connect_to(&s, &target);
	pthread_join(t, NULL);
	CHECK_MSG(id > 0, "connect: %s", s.why);
	conn = id;
	close(listener);
}

/* Makes a call. Return: its id, as the server reads it. */
static u64 call(u32 method, u64 user)
{
	struct mrpc_sqe sqe = {
		.op = MRPC_OP_CALL, .conn = conn, .method = method, .user_data = user,
		.flags = method == PRODUCE ? MRPC_SQE_COPY : MRPC_SQE_STREAM,
	};

	if (method == PRODUCE)
		sqe.root = raw_blob(&s, 1, 10, NULL);
	CHECK(raw_push(&qp, &sqe));
	raw_enter(&qp, 0, 0);
	if (method == PRODUCE)
		raw_free(&s, sqe.root);
	else
		comes(MRPC_CQE_OPEN);
	frame(MRPC_WIRE_CALL);
	return p.frame.call_id;
}

static void reply(u64 id, u32 msg_no, u16 status, bool msg)
{
	struct mrpc_frame f = {
		.type = MRPC_WIRE_REPLY, .flags = MRPC_WIRE_END | (msg ? MRPC_WIRE_MSG : 0),
		.call_id = id, .msg_no = msg_no, .status = status,
	};
	u8 body[1024];
	u32 len = msg ? peer_blob(body, &f.msg, 1, 10, NULL) : 0;

	peer_send_frame(&p, &f, body, len);
}

static void ended(u16 status)
{
	struct mrpc_cqe cqe = comes(MRPC_CQE_REPLY);

	CHECK_MSG(cqe.status == status, "status %u, not %u", cqe.status, status);
	raw_done(&s, &cqe);
}

/* A reply that claims messages which never come waits; its call can be cancelled all the same. */
TEST(reply_too_early)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_CANCEL, .call = 7 };
	u64 id;
	u32 i;

	begin_client();
	sqe.conn = conn;
	for (i = 0; i < 300; i++) {	/* more than there are slots */
		id = call(PRODUCE, 7);
		reply(id, 5 + i, MRPC_OK, false);
		raw_enter(&qp, 1, RAW_MS);
		CHECK(raw_push(&qp, &sqe));
		raw_enter(&qp, 0, 0);
		ended(MRPC_CANCELLED);
		frame(MRPC_WIRE_CANCEL);
	}
	end();
}

/* The second of two such replies is one too many. */
TEST(two_replies)
{
	u64 id;

	begin_client();
	id = call(PRODUCE, 7);
	reply(id, 5, MRPC_OK, false);
	run();
	reply(id, 6, MRPC_ABORTED, false);
	run();
	ended(MRPC_UNAVAILABLE);
	thrown_out();
}

/* A number where the server sends no messages. */
TEST(numbered_reply)
{
	begin_client();
	reply(call(COLLECT, 7), 1, MRPC_ABORTED, false);
	run();
	ended(MRPC_UNAVAILABLE);
	thrown_out();
}

TEST(wrong_replies)
{
	begin_client();
	reply(call(PRODUCE, 7), 0, MRPC_OK, true);
	ended(MRPC_INTERNAL);
	reply(call(COLLECT, 7), 0, MRPC_OK, false);
	ended(MRPC_INTERNAL);
	end();
}

/* The reply comes before the messages that it counts; messages after it are ignored. */
TEST(reply_overtakes)
{
	u64 id;

	begin_client();
	id = call(PRODUCE, 7);
	reply(id, 3, MRPC_OK, false);
	message(id, 1, MRPC_WIRE_MSG, 1, 10);
	message(id, 2, MRPC_WIRE_MSG, 2, 10);
	nothing();
	message(id, 0, MRPC_WIRE_MSG, 0, 10);
	delivered(0, 10, true);
	delivered(1, 10, true);
	delivered(2, 10, true);
	ended(MRPC_OK);
	message(id, 3, MRPC_WIRE_MSG, 3, 10);
	nothing();
	end();
}

TEST(server_beyond_the_window)
{
	u64 id;
	u32 i;

	begin_client();
	id = call(PRODUCE, 7);
	for (i = 0; i < 4; i++)
		message(id, i, MRPC_WIRE_MSG, i, 65536);
	for (i = 0; i < 4; i++)
		delivered(i, 65536, true);
	message(id, 4, MRPC_WIRE_MSG, 4, 1);
	run();
	ended(MRPC_UNAVAILABLE);
	thrown_out();
}
