// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/app kmod/call/client kmod/core/qp */
/*
 * Descriptors with each field wrong in turn, and messages with each reference wrong. The kernel
 * refuses all of them with a status and a sentence, on both ways into it. No other call is
 * affected.
 */
#include <errno.h>

#include "tap.h"
#include "raw.h"

static struct raw_pair p;
static struct raw_qp qp;
static uint32_t root, meta;

static void begin(const char *how)
{
	raw_pair(&p, how, 1);
	raw_qp(&qp, &p.c, 16, 32, 0);
	root = raw_blob(&p.c, 1, 100, "text");
	meta = raw_alloc(&p.c, 64);
	memcpy(p.c.send + meta, "\1\0\1\0kv", 6);
}

static struct mrpc_sqe good(void)
{
	return raw_sqe(p.conn, RAW_ECHO, root);
}

static void check_good(void)
{
	struct mrpc_sqe sqe = good();
	struct mrpc_cqe cqe;

	sqe.flags = MRPC_SQE_COMPRESS;
	sqe.meta = meta;
	sqe.meta_len = 6;
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, 1, 100));
	CHECK_EQ(cqe.meta_len, 6);
	raw_done(&p.c, &cqe);
}

static void check_refusal(const struct mrpc_cqe *cqe, const struct mrpc_sqe *sqe, u16 status,
			  const char *what, const char *word)
{
	char detail[MRPC_MAX_DETAIL + 1];

	CHECK_MSG(cqe->status == status, "%s: status %u instead of %u", what, cqe->status, status);
	CHECK_EQ(cqe->type, MRPC_CQE_REPLY);
	CHECK_EQ(cqe->user_data, sqe->user_data);
	CHECK_EQ(cqe->conn, sqe->conn);
	CHECK_EQ(cqe->msg_len, 0);
	CHECK_EQ(cqe->flags, MRPC_CQE_BLOCK | MRPC_CQE_FREED | MRPC_CQE_LOCAL | MRPC_CQE_UNSENT);
	raw_detail(&p.c, cqe, detail, sizeof(detail));
	CHECK_MSG(strlen(detail) > 10 && (!word || strstr(detail, word)), "%s: \"%s\"", what, detail);
	raw_done(&p.c, cqe);
}

/* The kernel refuses it on both ways. The sentence contains @word. */
static void refused(const struct mrpc_sqe *sqe, u16 status, const char *what, const char *word)
{
	struct mrpc_cqe cqe;

	CHECK_EQ(raw_call(&p.c, sqe, &cqe), 0);
	check_refusal(&cqe, sqe, status, what, word);
	CHECK(raw_push(&qp, sqe));
	CHECK_EQ(raw_enter(&qp, 1, 5 * RAW_S), 0);
	CHECK_EQ(qp.submitted, 1);
	CHECK(raw_reap(&qp, &cqe));
	check_refusal(&cqe, sqe, status, what, word);
	CHECK(!raw_reap(&qp, &cqe));
}

#define REFUSED(field, value, status, word)				\
	do {								\
		struct mrpc_sqe sqe = good();				\
									\
		sqe.field = value;					\
		refused(&sqe, status, #field " = " #value, word);	\
	} while (0)

static void call_fields(const char *how)
{
	int i;

	begin(how);
	REFUSED(flags, MRPC_SQE_STREAM, MRPC_INVALID_ARGUMENT, "does not stream");
	for (i = 3; i < 8; i++)
		if (1 << i != MRPC_SQE_COMPRESS)	/* transports may ignore that */
			REFUSED(flags, 1 << i, MRPC_INVALID_ARGUMENT, "flags");
	REFUSED(resv, 1, MRPC_INVALID_ARGUMENT, NULL);
	REFUSED(conn, 0, MRPC_INVALID_ARGUMENT, "connection 0");
	REFUSED(conn, 12345, MRPC_INVALID_ARGUMENT, "connection 12345");
	REFUSED(conn, ~0U, MRPC_INVALID_ARGUMENT, NULL);
	REFUSED(call, 1, MRPC_INVALID_ARGUMENT, NULL);
	REFUSED(method, RAW_METHOD(RAW_BULK, 5), MRPC_UNIMPLEMENTED, "test.Bulk");
	REFUSED(method, RAW_METHOD(RAW_BULK, 0xffff), MRPC_UNIMPLEMENTED, "test.Bulk");
	REFUSED(method, RAW_METHOD(2, 0), MRPC_UNIMPLEMENTED, "service 2");
	REFUSED(method, ~0U, MRPC_UNIMPLEMENTED, "65535");
	REFUSED(status, 1, MRPC_INVALID_ARGUMENT, NULL);
	REFUSED(detail, 64, MRPC_INVALID_ARGUMENT, NULL);
	REFUSED(detail_len, 1, MRPC_INVALID_ARGUMENT, NULL);
	for (i = 1; i < 8; i++)
		REFUSED(root, root + i, MRPC_INVALID_ARGUMENT, NULL);
	REFUSED(root, p.c.send_len, MRPC_INVALID_ARGUMENT, NULL);
	REFUSED(root, p.c.send_len - 8, MRPC_INVALID_ARGUMENT, NULL);
	REFUSED(root, 0xfffffff8, MRPC_INVALID_ARGUMENT, NULL);
	REFUSED(meta_len, MRPC_MAX_META + 1, MRPC_INVALID_ARGUMENT, "8192");
	REFUSED(meta_len, ~0U, MRPC_INVALID_ARGUMENT, "8192");
	REFUSED(meta_len, 6, MRPC_INVALID_ARGUMENT, "malformed");	/* no metadata at 0 */
	check_good();
	raw_pair_end(&p);
}

TEST(call_tcp)
{
	call_fields("tcp4");
}

TEST(call_loop)
{
	call_fields("loop");
}

/* Fields for which any value is allowed. */
TEST(call_harmless)
{
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	int i;

	begin("tcp4");
	for (i = 0; i < 5; i++) {
		sqe = good();
		if (i == 0)
			sqe.timeout_us = ~0ULL;
		else if (i == 1)
			sqe.timeout_us = ~0ULL / 1000;
		else if (i == 2)
			sqe.meta = ~0U;		/* meta_len is 0 */
		else if (i == 3)
			sqe.user_data = ~0ULL;
		else
			sqe.max_reply = ~0U;
		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_MSG(cqe.status == MRPC_OK, "case %d: status %u", i, cqe.status);
		CHECK_EQ(cqe.user_data, sqe.user_data);
		raw_done(&p.c, &cqe);
	}
	raw_pair_end(&p);
}

/* Calls cannot go over an accepted connection, or over a listener. */
TEST(not_for_calls)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_CALL };
	struct mrpc_cqe cqe;
	uint32_t id;

	begin("tcp4");
	check_good();
	for (id = 1; id < 4; id++) {
		sqe.conn = id;
		CHECK_EQ(raw_call(&p.srv.s, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, MRPC_INVALID_ARGUMENT);
		raw_done(&p.srv.s, &cqe);
	}
	raw_pair_end(&p);
}

static void meta_is(const char *bytes, uint32_t len, const char *what)
{
	struct mrpc_sqe sqe = good();

	memcpy(p.c.send + meta, bytes, len);
	sqe.meta = meta;
	sqe.meta_len = len;
	refused(&sqe, MRPC_INVALID_ARGUMENT, what, "malformed");
}

TEST(metadata)
{
	struct mrpc_sqe sqe;

	begin("tcp4");
	meta_is("\0\0\0", 3, "half a header");
	meta_is("\0\0\0\0", 4, "no key");
	meta_is("\2\0\0\0k", 5, "cut in the key");
	meta_is("\1\0\2\0kv", 6, "cut in the value");
	meta_is("\1\0\1\0Kv", 6, "a capital letter");
	meta_is("\1\0\1\0\0v", 6, "a NUL in the key");
	meta_is("\1\0\1\0kvx", 7, "something behind");
	meta_is("\6\0\0\0mrpc-k", 10, "a reserved key");
	sqe = good();
	sqe.meta = p.c.send_len - 4;
	sqe.meta_len = 6;
	refused(&sqe, MRPC_INVALID_ARGUMENT, "over the heap's end", "outside");
	memcpy(p.c.send + meta, "\1\0\1\0kv", 6);
	check_good();
	raw_pair_end(&p);
}

static struct test_Blob *blob(void)
{
	return (void *)(p.c.send + root);
}

static void data_is(int32_t off, uint32_t len, u16 status)
{
	struct mrpc_ref old = blob()->data;
	struct mrpc_sqe sqe = good();

	blob()->data = (struct mrpc_ref){ off, len };
	refused(&sqe, status, "data", status == MRPC_INVALID_ARGUMENT ? "test.Blob.data" : NULL);
	blob()->data = old;
}

static void text_is(int32_t off, uint32_t len, u16 status)
{
	struct mrpc_ref old = blob()->text;
	struct mrpc_sqe sqe = good();

	blob()->text = (struct mrpc_ref){ off, len };
	refused(&sqe, status, "text", status == MRPC_INVALID_ARGUMENT ? "test.Blob.text" : NULL);
	blob()->text = old;
}

static void message(const char *how)
{
	uint32_t last;

	begin(how);
	last = p.c.send_len - root;
	data_is(-(int32_t)root - 1, 1, MRPC_INVALID_ARGUMENT);
	data_is(-0x7fffffff - 1, 16, MRPC_INVALID_ARGUMENT);
	data_is(0x7fffffff, 16, MRPC_INVALID_ARGUMENT);
	data_is(last, 1, MRPC_INVALID_ARGUMENT);
	data_is(last - 100, 101, MRPC_INVALID_ARGUMENT);
	data_is(0, last + 1, MRPC_INVALID_ARGUMENT);
	/* More than any peer would take; also more than the heap has. */
	data_is(0, 0x7fffffff, MRPC_RESOURCE_EXHAUSTED);
	data_is(0, 0xffffffff, MRPC_RESOURCE_EXHAUSTED);
	data_is(-(int32_t)root, 0xffffffff, MRPC_RESOURCE_EXHAUSTED);
	text_is(-(int32_t)root - 1, 1, MRPC_INVALID_ARGUMENT);
	text_is(last, 1, MRPC_INVALID_ARGUMENT);
	text_is(last - 2, 3, MRPC_INVALID_ARGUMENT);
	text_is(0, last + 1, MRPC_INVALID_ARGUMENT);
	text_is(0, 0xffffffff, MRPC_RESOURCE_EXHAUSTED);
	memcpy(p.c.send + meta, "a\xff", 2);		/* never in UTF-8 */
	text_is((int32_t)meta - (int32_t)root, 2, MRPC_INVALID_ARGUMENT);
	memcpy(p.c.send + meta, "\xc3", 1);		/* cut */
	text_is((int32_t)meta - (int32_t)root, 1, MRPC_INVALID_ARGUMENT);
	memcpy(p.c.send + meta, "\xed\xa0\x80", 3);	/* a surrogate */
	text_is((int32_t)meta - (int32_t)root, 3, MRPC_INVALID_ARGUMENT);
	memcpy(p.c.send + meta, "\xc0\x80", 2);		/* overlong */
	text_is((int32_t)meta - (int32_t)root, 2, MRPC_INVALID_ARGUMENT);
	memcpy(p.c.send + meta, "\1\0\1\0kv", 6);
	check_good();
	raw_pair_end(&p);
}

TEST(message_tcp)
{
	message("tcp4");
}

TEST(message_loop)
{
	message("loop");
}

/* A heap of two regions, and a block that crosses from one into the other. */
TEST(across_regions)
{
	struct test_Blob *b;
	uint64_t base, off;
	struct mrpc_sqe sqe;

	begin("tcp4");
	CHECK_EQ(raw_region(&p.c, MRPC_REGION_SEND, 65536, &base, &off), 0);
	CHECK_EQ(base, p.c.send_len);
	data_is(p.c.send_len - root - 16, 32, MRPC_INVALID_ARGUMENT);
	/* A block inside the second region is accepted. */
	b = blob();
	b->data = (struct mrpc_ref){ base - root, 100 };
	sqe = good();
	sqe.method = RAW_ACK;
	for (int i = 0; i < 2; i++) {
		struct mrpc_cqe cqe;

		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		CHECK_EQ(cqe.status, i ? MRPC_INVALID_ARGUMENT : MRPC_OK);
		raw_done(&p.c, &cqe);
		sqe.root = base - 16;
	}
	raw_pair_end(&p);
}

TEST(operations)
{
	struct mrpc_call_sync c;
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	int op;

	begin("tcp4");
	for (op = 0; op < 256; op++) {
		if (op != MRPC_OP_CALL) {
			c = (struct mrpc_call_sync){ .size = sizeof(c), .sqe = good() };
			c.sqe.op = op;
			CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CALL, &c), -EINVAL);
		}
		if (op >= MRPC_OP_CALL && op <= MRPC_OP_COLLECTIVE)
			continue;
		sqe = (struct mrpc_sqe){ .op = op, .user_data = op };
		CHECK(raw_push(&qp, &sqe));
		raw_expect(&qp, &cqe, op ? MRPC_CQE_ERROR : MRPC_CQE_NOP, 5 * RAW_S);
		CHECK_EQ(cqe.status, op ? MRPC_UNIMPLEMENTED : MRPC_OK);
		CHECK_EQ(cqe.user_data, op);
	}
	c = (struct mrpc_call_sync){ .size = sizeof(c), .nr = 13, .sqe = good() };
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CALL, &c), -EINVAL);
	check_good();
	raw_pair_end(&p);
}

/* A call releases blocks of other calls: they are free before it begins. */
TEST(call_releases)
{
	uint32_t large, held[2] = { 0 }, nr = 0, i;
	struct mrpc_call_sync c;

	begin("tcp4");
	large = raw_blob(&p.c, 2, 100000, NULL);
	/* More than the receive heap holds. Every second call gives both blocks back. */
	for (i = 0; i < 600; i++) {
		c = (struct mrpc_call_sync){ .size = sizeof(c), .sqe = good() };
		c.sqe.root = large;
		if (nr == 2) {
			c.nr = nr;
			memcpy(c.blocks, held, sizeof(held));
			nr = 0;
		}
		CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CALL, &c), 0);
		CHECK_EQ(c.cqe.status, MRPC_OK);
		CHECK(raw_is_blob(raw_msg(&p.c, &c.cqe), c.cqe.msg_len, 2, 100000));
		held[nr++] = c.cqe.block;
	}
	CHECK_EQ(raw_server_requests(&p.srv), 600);
	/* The valid block is released; for the other one the call fails. */
	c = (struct mrpc_call_sync){ .size = sizeof(c), .nr = 2, .sqe = good() };
	c.blocks[0] = 12345;
	c.blocks[1] = held[0];
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_CALL, &c), -EINVAL);
	CHECK_EQ(raw_release(&p.c, held[0]), -EINVAL);
	CHECK_EQ(raw_server_requests(&p.srv), 600);
	check_good();
	raw_pair_end(&p);
}

/* An entry that is not a call is refused with its user_data. */
static void error(struct raw_qp *q, const struct mrpc_sqe *sqe, u16 status)
{
	struct mrpc_cqe cqe;

	CHECK(raw_push(q, sqe));
	raw_expect(q, &cqe, MRPC_CQE_ERROR, 5 * RAW_S);
	CHECK_EQ(cqe.status, status);
	CHECK_EQ(cqe.user_data, sqe->user_data);
	raw_done(q->s, &cqe);
}

TEST(release)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_RELEASE, .nr = 1, .user_data = 77 };
	struct mrpc_release r = { .size = sizeof(r), .nr = 1 };
	uint32_t wrong[8], i;
	struct mrpc_cqe cqe;

	begin("tcp4");
	sqe.user_data = 77;
	/* Blocks that the kernel chose: one is valid, all others are wrong. */
	struct mrpc_sqe call = good();

	CHECK_EQ(raw_call(&p.c, &call, &cqe), 0);
	CHECK_EQ(cqe.status, MRPC_OK);
	for (i = 0; i < 8; i++)
		wrong[i] = cqe.block;
	wrong[0] += 1;
	wrong[1] += 8;
	wrong[2] += 256;
	wrong[3] += 65536;
	wrong[4] = p.c.recv_len;
	wrong[5] = ~0U;
	wrong[6] = p.c.recv_len - 256;
	wrong[7] -= 256;
	for (i = 0; i < 8; i++) {
		r.blocks[0] = wrong[i];
		CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_RELEASE, &r), -EINVAL);
		sqe.blocks[0] = wrong[i];
		error(&qp, &sqe, MRPC_INVALID_ARGUMENT);
	}
	CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, 1, 100));
	sqe.nr = r.nr = MRPC_RELEASE_MAX + 1;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_RELEASE, &r), -EINVAL);
	error(&qp, &sqe, MRPC_INVALID_ARGUMENT);
	sqe.nr = r.nr = 1;
	sqe.blocks[0] = r.blocks[0] = cqe.block;
	sqe.flags = 1;
	error(&qp, &sqe, MRPC_INVALID_ARGUMENT);
	sqe.flags = 0;
	sqe.resv = 1;
	error(&qp, &sqe, MRPC_INVALID_ARGUMENT);
	sqe.resv = 0;
	/* The first time it is valid, and has no completion. The second time it is wrong. */
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK_EQ(raw_ready(&qp), 0);
	error(&qp, &sqe, MRPC_INVALID_ARGUMENT);
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_RELEASE, &r), -EINVAL);
	check_good();
	raw_pair_end(&p);
}

/* The server's reply has a fault: the server and the caller are both told. */
static void reply_wrong(struct raw_qp *sq, struct mrpc_sqe *reply, u16 expect, u16 caller)
{
	unsigned int nr = p.srv.nr_hung;
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_HANG, root);
	struct mrpc_cqe cqe;

	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK(raw_server_hangs(&p.srv, nr + 1));
	reply->op = MRPC_OP_REPLY;
	reply->conn = p.srv.hung[nr].conn;
	reply->call = p.srv.hung[nr].call;
	reply->user_data = 88;
	error(sq, reply, expect);
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
	CHECK_EQ(cqe.status, caller);
	raw_done(&p.c, &cqe);
	*reply = (struct mrpc_sqe){ .root = reply->root };
}

TEST(reply)
{
	struct mrpc_sqe r = { 0 };
	struct raw_qp sq;
	uint32_t reply;

	begin("tcp4");
	raw_qp(&sq, &p.srv.s, 4, 8, 0);
	reply = r.root = raw_blob(&p.srv.s, 1, 70000, NULL);
#define WRONG(field, value, caller)					\
	do {								\
		r.field = value;					\
		reply_wrong(&sq, &r, caller == MRPC_INTERNAL ? MRPC_INVALID_ARGUMENT : caller, \
			    caller);					\
	} while (0)
	WRONG(flags, MRPC_SQE_TIMES, MRPC_INTERNAL);
	WRONG(flags, 0x80, MRPC_INTERNAL);
	WRONG(resv, 1, MRPC_INTERNAL);
	WRONG(method, 1, MRPC_INTERNAL);
	WRONG(max_reply, 1, MRPC_INTERNAL);
	WRONG(timeout_us, 1, MRPC_INTERNAL);
	WRONG(status, MRPC_STATUS_MAX + 1, MRPC_INTERNAL);
	WRONG(status, ~0U, MRPC_INTERNAL);
	WRONG(meta_len, MRPC_MAX_META + 1, MRPC_INTERNAL);
	r.meta = p.srv.s.send_len;
	WRONG(meta_len, 6, MRPC_INTERNAL);
	WRONG(detail_len, MRPC_MAX_DETAIL + 1, MRPC_INTERNAL);
	r.detail = p.srv.s.send_len;
	WRONG(detail_len, 1, MRPC_INTERNAL);
	WRONG(flags, MRPC_SQE_COPY, MRPC_RESOURCE_EXHAUSTED);
	WRONG(root, p.srv.s.send_len, MRPC_INTERNAL);
	r.root = reply;
	WRONG(root, reply + 4, MRPC_INTERNAL);
	check_good();
	raw_pair_end(&p);
}

/* A reply without a call: late, twice, guessed, from another session. It completes as SENT. */
TEST(reply_to_nothing)
{
	struct mrpc_sqe sqe, r = { .op = MRPC_OP_REPLY, .user_data = 99 };
	struct mrpc_cqe cqe, *h = &p.srv.hung[0];
	struct raw_qp sq;
	int i;

	begin("tcp4");
	raw_qp(&sq, &p.srv.s, 4, 8, 0);
	sqe = raw_sqe(p.conn, RAW_HANG, root);
	CHECK(raw_push(&qp, &sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK(raw_server_hangs(&p.srv, 1));
	r.root = raw_blob(&p.srv.s, 5, 10, NULL);
	for (i = 0; i < 7; i++) {
		r.conn = i == 0 ? 0 : i == 1 ? h->conn + 100 : i == 2 ? (u32)p.srv.listener : h->conn;
		r.call = i == 3 ? h->call + 1 : i == 4 ? h->call + (1 << 16) : h->call;
		CHECK(raw_push(&sq, &r));
		raw_expect(&sq, &cqe, MRPC_CQE_SENT, 5 * RAW_S);
		CHECK_EQ(cqe.user_data, 99);
		/* The sixth reply is the right one. */
		CHECK_MSG(cqe.status == (i == 5 ? MRPC_OK : MRPC_CANCELLED), "case %d: status %u",
			  i, cqe.status);
	}
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_OK);
	CHECK(raw_is_blob(raw_msg(&p.c, &cqe), cqe.msg_len, 5, 10));
	raw_done(&p.c, &cqe);
	CHECK(!raw_next(&qp, &cqe, 50 * RAW_MS));
	check_good();
	raw_pair_end(&p);
}

/* Arguments that ENTER refuses, and a submission queue with an impossible tail. */
TEST(enter)
{
	struct mrpc_enter e = { .size = sizeof(e) };
	uint64_t mask = 0;

	begin("tcp4");
	e.qp = 1;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_ENTER, &e), -EINVAL);
	e.qp = ~0U;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_ENTER, &e), -EINVAL);
	e.qp = 0;
	e.flags = ~MRPC_ENTER_NOT_SENT;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_ENTER, &e), -EINVAL);
	e.flags = 0;
	e.min_complete = qp.cq_entries + 1;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_ENTER, &e), -EINVAL);
	e.min_complete = 0;
	e.sigmask = (uintptr_t)&mask;
	e.sigset_size = 4;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_ENTER, &e), -EINVAL);
	e.sigset_size = 8;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_ENTER, &e), 0);
	e.sigmask = 1;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_ENTER, &e), -EFAULT);
	e.sigmask = e.sigset_size = 0;
	qp.head->sq.tail += qp.sq_entries + 1;
	e.to_submit = 1;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_ENTER, &e), -EPROTO);
	CHECK_EQ(e.submitted, 0);
	qp.head->sq.tail -= qp.sq_entries + 1;
	CHECK_EQ(raw_ioctl(p.c.fd, MRPC_IOC_ENTER, &e), 0);
	CHECK_EQ(e.submitted, 0);
	check_good();
	raw_pair_end(&p);
}
