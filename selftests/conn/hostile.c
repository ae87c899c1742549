// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/stream kmod/call/receive kmod/lib/message/wire kmod/transports/tcp */
/*
 * A server with a peer that sends invalid single frames. After each attack an honest connection
 * still works. No message that fails verification reaches the application.
 */
#include <errno.h>
#include <sys/socket.h>

#include "tap.h"
#include "peer.h"
#include "gen.h"

static struct raw_pair p;
static struct peer w;

static void begin(void)
{
	raw_pair(&p, "tcp4", 1);
}

static void shake(void)
{
	peer_shake(&w, p.srv.s.port);
}

/* These bytes, sent after a handshake, must end the connection at once. */
static void must_close(const void *bytes, u32 len)
{
	shake();
	peer_send(&w, bytes, len);
	CHECK(peer_closed(&w, 5000));
	peer_close(&w);
}

static void must_close_frame(const struct mrpc_frame *f, const void *body, u32 len)
{
	u8 bytes[sizeof(struct mrpc_wire_hdr) + 4096] = { 0 };

	mrpc_wire_encode(f, (void *)bytes);
	if (len)
		memcpy(bytes + sizeof(struct mrpc_wire_hdr), body, len);
	must_close(bytes, sizeof(struct mrpc_wire_hdr) + len);
}

TEST(garbage)
{
	static const char http[] = "GET / HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\n"
				   "User-Agent: somebody else\r\n\r\n";
	u8 junk[4096];
	struct gen g = gen_seeded(1);
	int i;

	begin();
	for (i = 0; i < 20; i++) {
		peer_connect(&w, p.srv.s.port);
		gen_bytes(&g, junk, sizeof(junk));
		if (i == 0)
			peer_send(&w, http, sizeof(http));
		else if (i == 1)
			peer_send(&w, memset(junk, 0, sizeof(junk)), sizeof(junk));
		else
			peer_send(&w, junk, sizeof(junk));
		CHECK(peer_closed(&w, 5000));
		peer_close(&w);
	}
	raw_pair_end_alone(&p);
}

TEST(before_hello)
{
	u8 type;

	begin();
	for (type = MRPC_WIRE_HELLO_ACK; type <= MRPC_WIRE_TYPE_MAX + 1; type++) {
		struct mrpc_msg_len len;
		struct mrpc_frame f = { .type = type };
		u8 body[1024] = { 0 };
		u32 size = 0;

		if (type == MRPC_WIRE_HELLO_ACK) {
			f.meta_len = peer_hello_body(body);
			size = ALIGN(f.meta_len, 8);
		} else if (type == MRPC_WIRE_CALL || type == MRPC_WIRE_REPLY) {
			size = peer_blob(body, &len, 1, 100, NULL);
			f = peer_call_frame(1 << 16, type == MRPC_WIRE_CALL ? RAW_ECHO : 0, &len);
			f.type = type;
			if (type == MRPC_WIRE_REPLY)
				f.priority = f.max_reply = 0;
		}
		peer_connect(&w, p.srv.s.port);
		peer_send_frame(&w, &f, body, size);
		CHECK_MSG(peer_closed(&w, 5000), "type %u is not refused", type);
		peer_close(&w);
	}
	CHECK_EQ(raw_server_requests(&p.srv), 0);
	raw_pair_end_alone(&p);
}

TEST(hello_twice)
{
	begin();
	shake();
	peer_echo(&w, 0, 1, 100);
	peer_hello(&w);
	CHECK(peer_closed(&w, 5000));
	peer_close(&w);
	raw_pair_end_alone(&p);
}

/* Any byte of the body set to any of some values, and every length of it. */
TEST_LIMIT(bad_hello, 120)
{
	static const u8 values[] = { 0, 1, 0x7f, 0x80, 0xff };
	u8 good[1024] = { 0 }, body[1024];
	u32 len, i, k;

	begin();
	len = peer_hello_body(good);
	for (i = 0; i < len; i += i < 24 ? 1 : 7) {
		for (k = 0; k < ARRAY_SIZE(values); k++) {
			struct mrpc_frame f = { .type = MRPC_WIRE_HELLO, .meta_len = len };

			memcpy(body, good, sizeof(body));
			body[i] = values[k];
			peer_connect(&w, p.srv.s.port);
			peer_send_frame(&w, &f, body, ALIGN(len, 8));
			shutdown(w.fd, SHUT_WR);
			CHECK(peer_closed(&w, 5000));
			peer_close(&w);
		}
	}
	for (i = 1; i < len; i += 5) {
		struct mrpc_frame f = { .type = MRPC_WIRE_HELLO, .meta_len = i };

		peer_connect(&w, p.srv.s.port);
		peer_send_frame(&w, &f, good, ALIGN(i, 8));
		CHECK_MSG(peer_closed(&w, 5000), "a hello of %u bytes is not refused", i);
		peer_close(&w);
	}
	raw_pair_end_alone(&p);
}

/* A well-formed HELLO gets an answer that says what is wrong with it. */
TEST(hello_verdicts)
{
	u8 body[1024] = { 0 };
	struct mrpc_hello ack;
	const char *why;
	u32 len;
	int i;

	begin();
	for (i = 0; i < 3; i++) {
		struct mrpc_frame f = { .type = MRPC_WIRE_HELLO };
		struct mrpc_hello_hdr *hdr = (void *)body;
		u8 ours[MRPC_HASH_LEN];

		len = peer_hello_body(body);
		f.meta_len = len;
		if (i == 0)
			body[sizeof(*hdr) + 5] ^= 1;			/* hash of test.Bulk */
		else if (i == 1)
			body[sizeof(*hdr) + MRPC_HASH_LEN + 3] = 'T';	/* "Test.Bulk" */
		else
			hdr->version_min = hdr->version_max = 2;
		peer_connect(&w, p.srv.s.port);
		peer_send_frame(&w, &f, body, ALIGN(len, 8));
		peer_expect(&w, MRPC_WIRE_HELLO_ACK);
		CHECK_EQ(mrpc_hello_decode(w.body, w.frame.meta_len, &ack, &why), 0);
		CHECK_EQ(ack.nr_services, RAW_SERVICES);
		CHECK_EQ(ack.status, i == 1 ? MRPC_UNIMPLEMENTED : MRPC_FAILED_PRECONDITION);
		CHECK_EQ(ack.services[0].verdict, i == 0 ? MRPC_VERDICT_MISMATCH :
			 i == 1 ? MRPC_VERDICT_UNKNOWN : MRPC_VERDICT_OK);
		CHECK_EQ(ack.services[1].verdict, MRPC_VERDICT_OK);
		peer_hash(RAW_BULK, ours);
		if (i == 0)
			CHECK(!memcmp(ack.services[0].hash, ours, MRPC_HASH_LEN));
		CHECK_EQ(ack.version_min, MRPC_WIRE_VERSION);
		/* And no call is accepted. */
		peer_call(&w, peer_id(&w, 0), RAW_ECHO, 1, 10);
		CHECK(peer_closed(&w, 5000));
		peer_close(&w);
	}
	CHECK_EQ(raw_server_requests(&p.srv), 0);
	raw_pair_end_alone(&p);
}

/* Flips every bit of a call's header, each on a connection of its own. */
TEST_LIMIT(header_bits, 240)
{
	u8 bytes[1024];
	struct mrpc_msg_len len;
	struct mrpc_frame f;
	u32 size, bit;

	begin();
	for (bit = 0; bit < 8 * sizeof(struct mrpc_wire_hdr); bit++) {
		size = sizeof(struct mrpc_wire_hdr) +
		       peer_blob(bytes + sizeof(struct mrpc_wire_hdr), &len, 1, 200, "text");
		f = peer_call_frame(1 << 16, RAW_ECHO, &len);
		mrpc_wire_encode(&f, (void *)bytes);
		bytes[bit / 8] ^= 1 << bit % 8;
		shake();
		peer_send(&w, bytes, size);
		shutdown(w.fd, SHUT_WR);
		CHECK_MSG(peer_closed(&w, 5000), "bit %u", bit);
		peer_close(&w);
		CHECK_EQ(p.srv.bad, 0);
	}
	p.srv.errors = 0;	/* replies that exceeded max_reply */
	raw_pair_end_alone(&p);
}

#define HEAD_CALLS	128	/* under way at a time, to save time */

/*
 * Flips bits of a message's head. The connection goes on. The caller is told what is wrong with
 * the message, and what is delivered verifies.
 */
static void head_bits(const u8 *good, const struct mrpc_msg_len *len, u32 method)
{
	u32 size = mrpc_msg_total(len), bits = 8 * mrpc_msg_head_len(len);
	u32 sent = 0, got = 0, refused = 0;
	bool busy[HEAD_CALLS] = { false };
	struct mrpc_frame f;
	u8 *body = malloc(size);

	while (got < bits) {
		/* Replies of the kernel pass those of a slow server: a place may be busy for long. */
		while (sent < bits && !busy[sent % HEAD_CALLS]) {
			busy[sent % HEAD_CALLS] = true;
			memcpy(body, good, size);
			body[sent / 8] ^= 1 << sent % 8;
			f = peer_call_frame((u64)(sent / HEAD_CALLS + 1) << 16 | sent % HEAD_CALLS,
					    method, len);
			CHECK(peer_send_frame(&w, &f, body, size));
			sent++;
		}
		peer_expect(&w, MRPC_WIRE_REPLY);
		busy[w.frame.call_id % HEAD_CALLS] = false;
		got++;
		if (w.frame.status == MRPC_OK)
			continue;
		CHECK_EQ(w.frame.status, MRPC_INVALID_ARGUMENT);
		CHECK(w.frame.detail_len);
		refused++;
	}
	free(body);
	CHECK(refused);
	CHECK_EQ(raw_server_requests(&p.srv), bits - refused);
	CHECK_EQ(p.srv.bad, 0);
}

TEST_LIMIT(blob_bits, 120)
{
	struct mrpc_msg_len len;
	u8 body[512];

	begin();
	shake();
	peer_blob(body, &len, 3, 50, "t\xc3\xa9xt");
	head_bits(body, &len, RAW_ECHO);
	peer_close(&w);
	raw_pair_end_alone(&p);
}

TEST_LIMIT(message_bits, 180)
{
	const struct mrpc_schema_plan *plan = raw_plan(RAW_TYPES);
	struct mrpc_msg_len len = { 0 };
	struct model_pool pool = { 0 };
	struct gen g = gen_seeded(7);
	u8 *body = NULL;

	begin();
	shake();
	/* A message with all sections, and of moderate size. */
	while (mrpc_msg_head_len(&len) < 600 || mrpc_msg_head_len(&len) > 900 ||
	       !len.text || !len.bytes) {
		free(body);
		body = model_encode(plan, gen_message(&g, &pool, plan, 0, 12), &len);
		model_free(&pool);
	}
	head_bits(body, &len, RAW_ECHO_ALL);
	free(body);
	peer_close(&w);
	raw_pair_end_alone(&p);
}

/* Lengths in the header that do not match the message. */
TEST_LIMIT(lengths, 120)
{
	static const u32 values[] = { 0, 1, 8, 16, 24, 32, 4096, 1 << 20, (64 << 20) - 8,
				      0x3ffffff8, 0x7ffffff8, 0x80000000, 0xfffffff8, 0xffffffff };
	struct mrpc_frame f;
	struct mrpc_msg_len len;
	u8 body[4096];
	u32 size, i, k;

	begin();
	size = peer_blob(body, &len, 1, 200, "text");
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		for (k = 0; k < 5; k++) {
			f = peer_call_frame(1 << 16, RAW_ECHO, &len);
			*(k == 0 ? &f.msg.structs : k == 1 ? &f.msg.text : k == 2 ? &f.msg.bytes :
			  k == 3 ? &f.meta_len : &f.detail_len) = values[i];
			shake();
			peer_send_frame(&w, &f, body, size);
			shutdown(w.fd, SHUT_WR);
			CHECK(peer_closed(&w, 5000));
			peer_close(&w);
			CHECK_EQ(p.srv.bad, 0);
		}
	}
	raw_pair_end_alone(&p);
}

TEST(bad_metadata)
{
	static const u8 metas[][8] = {
		{ 0, 0, 0, 0 },			/* no key */
		{ 1, 0, 0, 0 },			/* cut in the key */
		{ 1, 0, 9, 0, 'k' },		/* cut in the value */
		{ 1, 0, 0, 0, 'K' },		/* not of the alphabet */
		{ 1, 0, 0, 0, 'k', 1 },		/* something behind */
		{ 0xff, 0xff, 0xff, 0xff },
	};
	static const u32 lens[] = { 4, 4, 5, 5, 6, 8 };
	struct mrpc_msg_len len;
	struct mrpc_frame f;
	u8 body[512] = { 0 };
	u32 size, i;

	begin();
	shake();
	size = 8 + peer_blob(body + 8, &len, 1, 20, NULL);
	for (i = 0; i < ARRAY_SIZE(metas); i++) {
		memcpy(body, metas[i], 8);
		f = peer_call_frame(peer_id(&w, 0), RAW_ECHO, &len);
		f.meta_len = lens[i];
		peer_send_frame(&w, &f, body, size);
		peer_expect(&w, MRPC_WIRE_REPLY);
		CHECK_EQ(w.frame.status, MRPC_INVALID_ARGUMENT);
	}
	CHECK_EQ(raw_server_requests(&p.srv), 0);
	peer_echo(&w, 0, 1, 100);
	peer_close(&w);
	raw_pair_end_alone(&p);
}

TEST(unknown_method)
{
	static const u32 methods[] = {
		RAW_METHOD(RAW_BULK, 5), RAW_METHOD(RAW_BULK, 0xffff), RAW_METHOD(RAW_TYPES, 1),
		RAW_METHOD(2, 0), RAW_METHOD(31, 0), RAW_METHOD(32, 0), RAW_METHOD(0xffff, 0xffff),
	};
	u32 i;

	begin();
	shake();
	for (i = 0; i < ARRAY_SIZE(methods); i++) {
		peer_call(&w, peer_id(&w, 3), methods[i], 1, 1000);
		peer_expect(&w, MRPC_WIRE_REPLY);
		CHECK_EQ(w.frame.status, MRPC_UNIMPLEMENTED);
		CHECK(w.frame.detail_len);
	}
	CHECK_EQ(raw_server_requests(&p.srv), 0);
	peer_echo(&w, 3, 1, 100);
	peer_close(&w);
	raw_pair_end_alone(&p);
}

/* A call runs once, even if it is sent again. */
TEST(replay)
{
	int i;

	begin();
	for (i = 0; i < 5; i++) {
		u64 first, id;

		shake();
		first = peer_id(&w, 7);
		CHECK(peer_call(&w, first, i ? RAW_HANG : RAW_ACK, 1, 10));
		if (i == 0) {		/* answered, then sent again */
			peer_expect(&w, MRPC_WIRE_REPLY);
			id = first;
		} else if (i == 1) {	/* again while it runs */
			id = first;
		} else if (i == 2) {	/* its slot is busy */
			id = peer_id(&w, 7);
		} else if (i == 3) {	/* an older one */
			id = 7;
		} else {		/* no such slot */
			id = peer_id(&w, 256);
		}
		if (i)
			CHECK(raw_server_hangs(&p.srv, i));
		CHECK(peer_call(&w, id, RAW_ACK, 2, 10));
		CHECK_MSG(peer_closed(&w, 5000), "case %d", i);
		peer_close(&w);
		CHECK_EQ(raw_server_requests(&p.srv), i + 1);
	}
	raw_pair_end_alone(&p);
}

/* Frames that only the other side may send, and replies without a call. */
TEST(wrong_direction)
{
	struct mrpc_frame f = { .type = MRPC_WIRE_REPLY, .flags = MRPC_WIRE_END,
				.status = MRPC_ABORTED };
	struct mrpc_msg_len len;
	u8 body[512] = { 0 };
	u32 size;

	begin();
	f.call_id = 1 << 16;
	must_close_frame(&f, NULL, 0);
	size = peer_blob(body, &len, 1, 20, NULL);
	f = (struct mrpc_frame){ .type = MRPC_WIRE_REPLY, .flags = MRPC_WIRE_END | MRPC_WIRE_MSG,
				 .call_id = 1 << 16, .msg = len };
	must_close_frame(&f, body, size);
	memset(body, 0, sizeof(body));
	f = (struct mrpc_frame){ .type = MRPC_WIRE_HELLO_ACK, .meta_len = peer_hello_body(body) };
	must_close_frame(&f, body, ALIGN(f.meta_len, 8));
	f = (struct mrpc_frame){ .type = 0 };
	must_close_frame(&f, NULL, 0);
	f = (struct mrpc_frame){ .type = 255 };
	must_close_frame(&f, NULL, 0);
	CHECK_EQ(raw_server_requests(&p.srv), 0);
	raw_pair_end_alone(&p);
}
