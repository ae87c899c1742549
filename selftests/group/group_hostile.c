// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/group/receive kmod/lib/message/wire kmod/lib/group/operation */
/*
 * A rank that breaks the rules of chunks loses its connection, and with it the group ends. Nothing
 * of it reaches the buffers, or is kept.
 */
#include "tap.h"
#include "peer_rank.h"

#include "lib/group/operation.h"
#include "lib/message/feature.h"

#define HEAP	(4 << 20)
#define OUT	(2 << 20)
#define KEY	5
#define COUNT	30000	/* of i32: two chunks, of which the second one is short */
#define SECOND	(COUNT * 4 - 65536)

static struct peer p;

static void begin(void)
{
	peer_rank_begin(&p, KEY, HEAP);
}

/* A broadcast of rank 1: rank 0 gets two chunks. */
static void submit(void)
{
	memset(ranks[0].s.send, 0x11, HEAP);
	rank_submit(0, (struct mrpc_sqe){
		.collective = MRPC_BROADCAST, .algorithm = MRPC_RING, .elem = MRPC_ELEM_I32,
		.count = COUNT, .root_rank = 1, .output = OUT, .limit_us = 5000000 * raw_patience(),
	});
}

static struct mrpc_operation_form form(void)
{
	return (struct mrpc_operation_form){
		.key = KEY, .count = COUNT, .ranks = 2, .rank = 1, .root = 1, .chunk = 65536,
		.collective = MRPC_BROADCAST, .algorithm = MRPC_RING, .elem = MRPC_ELEM_I32,
	};
}

/* A chunk of @bytes of 0x22, with the body @f if it is not NULL. */
static void chunk(u64 seq, u32 no, const struct mrpc_operation_form *f, u32 bytes)
{
	static u8 body[70000];
	struct mrpc_frame frame = { .type = MRPC_WIRE_CHUNK, .call_id = seq, .msg_no = no };
	u32 head = f ? sizeof(struct mrpc_wire_operation) : 0;

	if (f)
		mrpc_operation_encode(f, (void *)body);
	memset(body + head, 0x22, bytes);
	frame.meta_len = head;
	frame.msg.bytes = bytes;
	peer_send_frame(&p, &frame, body, head + bytes);
}

static void end(void)
{
	peer_rank_end(&p);
}

/* The operation fails, and no byte of its second half was written. */
static void fails(u32 status, const char *why)
{
	u32 i;

	CHECK_MSG(rank_complete(0) == status, "status %u, not %u: %s", ranks[0].cqe.status, status,
		  ranks[0].why);
	CHECK_MSG(strstr(ranks[0].why, why), "'%s', not '%s'", ranks[0].why, why);
	for (i = 65536; i < COUNT * 4; i++)
		CHECK_EQ(ranks[0].s.send[OUT + i], 0x11);
	end();
}

static void breaks(void (*play)(const struct mrpc_operation_form *f))
{
	struct mrpc_operation_form f = form();

	begin();
	submit();
	play(&f);
	fails(MRPC_UNAVAILABLE, "rank 1 is lost: the peer broke the protocol");
}

TEST(honest)
{
	struct mrpc_operation_form f = form();
	u32 i;

	begin();
	chunk(1, 0, &f, 65536);		/* before the operation: it waits */
	submit();
	chunk(1, 1, NULL, SECOND);
	CHECK_EQ(rank_complete(0), MRPC_OK);
	for (i = 0; i < COUNT * 4; i++)
		CHECK_EQ(ranks[0].s.send[OUT + i], 0x22);
	CHECK_EQ(ranks[0].s.send[OUT + i], 0x11);
	end();
}

static void wrong_number(const struct mrpc_operation_form *f)
{
	chunk(1, 0, f, 65536);
	chunk(1, 2, NULL, SECOND);
}

static void twice(const struct mrpc_operation_form *f)
{
	chunk(1, 0, f, 65536);
	chunk(1, 0, f, 65536);
}

static void too_short(const struct mrpc_operation_form *f)
{
	chunk(1, 0, f, 65536);
	chunk(1, 1, NULL, SECOND - 8);
}

static void too_long(const struct mrpc_operation_form *f)
{
	chunk(1, 0, f, 65536);
	chunk(1, 1, NULL, SECOND + 8);
}

static void past(const struct mrpc_operation_form *f)
{
	chunk(0, 0, f, 65536);
}

static void without_body(const struct mrpc_operation_form *f)
{
	chunk(1, 0, NULL, f->chunk);
}

static void second_body(const struct mrpc_operation_form *f)
{
	chunk(1, 0, f, 65536);
	chunk(1, 1, f, SECOND);
}

static void too_large(const struct mrpc_operation_form *f)
{
	chunk(1, 0, f, 65544);
}

TEST(wrong_number) { breaks(wrong_number); }
TEST(twice) { breaks(twice); }
TEST(too_short) { breaks(too_short); }
TEST(too_long) { breaks(too_long); }
TEST(past) { breaks(past); }
TEST(without_body) { breaks(without_body); }
TEST(second_body) { breaks(second_body); }
TEST(too_large) { breaks(too_large); }

/* More than the operation has: it is over, and the next one does not come. */
TEST(too_many)
{
	struct mrpc_operation_form f = form();

	begin();
	submit();
	chunk(1, 0, &f, 65536);
	chunk(1, 1, NULL, SECOND);
	CHECK_EQ(rank_complete(0), MRPC_OK);
	chunk(1, 2, NULL, 8);
	submit();
	CHECK_EQ(rank_complete(0), MRPC_UNAVAILABLE);
	end();
}

/* Half a chunk, and then nothing more. */
TEST(half)
{
	struct mrpc_operation_form f = form();
	struct mrpc_wire_operation body;
	struct mrpc_frame frame = {
		.type = MRPC_WIRE_CHUNK, .call_id = 1, .meta_len = sizeof(body), .msg.bytes = 65536,
	};

	begin();
	submit();
	mrpc_operation_encode(&f, &body);
	peer_send_frame(&p, &frame, &body, sizeof(body));
	peer_send(&p, ranks[0].s.send, 20000);
	raw_enter(&ranks[0].qp, 1, 50 * RAW_MS);
	peer_reset(&p);
	CHECK_EQ(rank_complete(0), MRPC_UNAVAILABLE);
	CHECK_MSG(strstr(ranks[0].why, "rank 1 is lost"), "%s", ranks[0].why);
	peer_connect(&p, ranks[0].s.port);	/* for the end */
	end();
}

/* What a peer says about its end is shown, up to its NUL, and no more. */
TEST(says)
{
	static const char text[512] = "rank 7 is \x01\xff lost";
	struct mrpc_frame frame = {
		.type = MRPC_WIRE_CHUNK, .status = MRPC_DATA_LOSS, .detail_len = sizeof(text),
	};

	begin();
	submit();
	peer_send_frame(&p, &frame, text, sizeof(text));
	fails(MRPC_DATA_LOSS, "rank 7 is ");
}

/* Says that rank 1 has left. */
static void say_left(u16 no)
{
	struct mrpc_frame frame = {
		.type = MRPC_WIRE_CHUNK, .status = MRPC_CANCELLED, .msg_no = no, .detail_len = 8,
	};

	peer_send_frame(&p, &frame, "whatever", 8);
}

/* An operation that is complete without rank 1 is not disturbed; one that needs it fails. */
TEST(leaves)
{
	struct mrpc_operation_form f = form();

	begin();
	submit();
	chunk(1, 0, &f, 65536);
	chunk(1, 1, NULL, SECOND);
	say_left(MRPC_WIRE_LEFT);
	CHECK_EQ(rank_complete(0), MRPC_OK);
	CHECK(raw_enter(&ranks[0].qp, 1, 50 * RAW_MS) == -ETIME);
	submit();
	fails(MRPC_CANCELLED, "rank 1 has left the group");
}

/* It leaves in the middle of an operation, whatever it says. */
TEST(leaves_half)
{
	struct mrpc_operation_form f = form();

	begin();
	submit();
	chunk(1, 0, &f, 65536);
	say_left(MRPC_WIRE_LEFT);
	fails(MRPC_CANCELLED, "rank 1 has left the group");
}

static void goes_on(const struct mrpc_operation_form *f)
{
	say_left(2);
	chunk(1, 0, f, 65536);
}

TEST(leaves_strangely) { breaks(goes_on); }

/* Its connection ends after that, which says nothing more. */
TEST(leaves_and_closes)
{
	begin();
	say_left(MRPC_WIRE_LEFT);
	raw_enter(&ranks[0].qp, 1, 50 * RAW_MS);
	peer_reset(&p);
	raw_enter(&ranks[0].qp, 1, 200 * RAW_MS);
	submit();
	CHECK_EQ(rank_complete(0), MRPC_CANCELLED);
	CHECK_MSG(strstr(ranks[0].why, "rank 1 has left the group"), "%s", ranks[0].why);
	peer_connect(&p, ranks[0].s.port);	/* for the end */
	end();
}

/* A frame CHUNK on a connection that has not agreed on groups. */
TEST(without_feature)
{
	struct mrpc_operation_form f = form();

	ranks_open(1, HEAP);
	CHECK(raw_serve(&ranks[0].s, "tcp:127.0.0.1:0") > 0);
	memset(&p, 0, sizeof(p));
	peer_connect(&p, ranks[0].s.port);
	peer_hello(&p);
	chunk(1, 0, &f, 8);
	raw_enter(&ranks[0].qp, 1, 100 * RAW_MS);
	CHECK_MSG(peer_closed(&p, 5000), "the connection stands");
	end();
}
