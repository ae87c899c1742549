// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/wire */
/*
 * The prio transport's packets: each field, right and wrong; and three that a peer written
 * from the document must make, byte for byte.
 */
#include "lib/prio/wire.h"
#include "tap.h"

#define LEN_ENTRY	24

static u8 buf[4096];
static struct mrpc_prio_packet got;

static u32 data_packet(u32 payload)
{
	struct mrpc_prio_packet p = {
		.type = MRPC_PRIO_DATA,
		.flags = MRPC_PRIO_URGE | MRPC_PRIO_AGAIN,
		.priority = 200,
		.to = 0x1122334455667788,
		.from = 0x99aabbcc,
		.conn = 0x0102030405060708,
		.msg = 0x1112131415161718,
		.ack = 0x2122232425262728,
		.total = 0x31323334,
		.offset = 0x01424344,
		.unscheduled = 0x00525354,
		.kind = MRPC_PRIO_REPLY,
		.behind = 0x0263,
	};

	memset(buf, 0, sizeof(buf));
	return mrpc_prio_encode(&p, buf) + payload;
}

static u32 control_packet(const struct mrpc_prio_note *notes, u32 nr)
{
	struct mrpc_prio_packet p = {
		.type = MRPC_PRIO_CONTROL,
		.to = 1,
		.from = 2,
		.nr = nr,
	};
	u32 i, len;

	memset(buf, 0, sizeof(buf));
	len = mrpc_prio_encode(&p, buf);
	for (i = 0; i < nr; i++, len += LEN_ENTRY)
		mrpc_prio_note_put(&notes[i], buf + len);
	return len;
}

static u32 body_packet(u8 type)
{
	struct mrpc_prio_packet p = {
		.type = type,
		.flags = MRPC_PRIO_CRC,
		.to = type == MRPC_PRIO_HELLO ? 0 : 5,
		.token = type == MRPC_PRIO_COOKIE ? 0 : 6,
		.cookie = type == MRPC_PRIO_WELCOME ? 0 : 7,
		.epoch = type == MRPC_PRIO_WELCOME ? 0 : 8,
		.stamp = 9,
	};

	memset(buf, 0, sizeof(buf));
	return mrpc_prio_encode(&p, buf);
}

/* Return: why it is refused; MRPC_PRIO_NR_DROPS: it is not */
static u32 parse(u32 linear, u32 len)
{
	u32 why = MRPC_PRIO_NR_DROPS;
	int ret = mrpc_prio_parse(buf, linear, len, &got, &why);

	CHECK_EQ(!ret, why == MRPC_PRIO_NR_DROPS);
	return why;
}

/* One byte is another. */
static u32 with(u32 len, u32 at, u8 value)
{
	u8 old = buf[at];
	u32 why;

	buf[at] = value;
	why = parse(len, len);
	buf[at] = old;
	return why;
}

TEST(prio_wire_names)
{
	u32 i, j;

	for (i = 0; i < MRPC_PRIO_NR_DROPS; i++) {
		CHECK(mrpc_prio_drop_name(i));
		for (j = 0; j < i; j++)
			CHECK(strcmp(mrpc_prio_drop_name(i), mrpc_prio_drop_name(j)));
	}
	CHECK(!mrpc_prio_drop_name(i));
}

TEST(prio_wire_data)
{
	static const u8 bytes[64] = {
		0x6d, 0x50, 1, 1, 6, 200, 0, 0,
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0, 0, 0, 0, 0xcc, 0xbb, 0xaa, 0x99,
		8, 7, 6, 5, 4, 3, 2, 1, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
		0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
		0x34, 0x33, 0x32, 0x31, 0x44, 0x43, 0x42, 0x01, 0x54, 0x53, 0x52, 0x00,
		2, 0, 0x63, 0x02,
	};
	u32 len = data_packet(100);

	CHECK_EQ(len, 164);
	CHECK(!memcmp(buf, bytes, sizeof(bytes)));
	CHECK_EQ(parse(64, len), MRPC_PRIO_NR_DROPS);
	CHECK_EQ(got.len, 100);
	CHECK_EQ(got.size, len);
	CHECK_EQ(got.msg, 0x1112131415161718);
	CHECK_EQ(got.behind, 0x263);
	CHECK_EQ(got.kind, MRPC_PRIO_REPLY);
	CHECK_EQ(got.from, 0x99aabbcc);
}

/* What is behind the payload is another packet's business, whatever it is. */
TEST(prio_wire_data_followed)
{
	u32 len = data_packet(100), n;

	for (n = 1; n < 100; n++) {
		CHECK_EQ(with(len, 6, n), MRPC_PRIO_NR_DROPS);
		CHECK_EQ(got.len, n);
		CHECK_EQ(got.size, MRPC_PRIO_DATA_HDR + n);
		CHECK_EQ(got.nr, n);
	}
	/* An announcement has no payload: nothing can follow it. */
	len = data_packet(0);
	CHECK_EQ(with(len, 6, 1), MRPC_PRIO_DROP_LENGTH);
}

TEST(prio_wire_data_wrong)
{
	u32 len = data_packet(100), i;

	for (i = 0; i < 64; i++)
		CHECK_EQ(parse(i, min(i, len)), MRPC_PRIO_DROP_SHORT);
	CHECK_EQ(with(len, 0, 0), MRPC_PRIO_DROP_MAGIC);
	CHECK_EQ(with(len, 2, 2), MRPC_PRIO_DROP_VERSION);
	CHECK_EQ(with(len, 3, 0), MRPC_PRIO_DROP_TYPE);
	CHECK_EQ(with(len, 3, MRPC_PRIO_TYPE_MAX + 1), MRPC_PRIO_DROP_TYPE);
	CHECK_EQ(with(len, 4, MRPC_PRIO_ECN), MRPC_PRIO_DROP_FLAGS);
	CHECK_EQ(with(len, 4, 0x80), MRPC_PRIO_DROP_FLAGS);
	CHECK_EQ(with(len, 6, 100), MRPC_PRIO_DROP_LENGTH);	/* nothing follows */
	CHECK_EQ(with(len, 6, 101), MRPC_PRIO_DROP_LENGTH);
	CHECK_EQ(with(len, 7, 0xff), MRPC_PRIO_DROP_LENGTH);
	CHECK_EQ(with(len, 16, 1), MRPC_PRIO_DROP_FLAGS);	/* a crc without the flag */
	CHECK_EQ(with(len, 60, MRPC_PRIO_KIND_MAX + 1), MRPC_PRIO_DROP_TYPE);
	CHECK_EQ(with(len, 61, 1), MRPC_PRIO_DROP_RESERVED);
	CHECK_EQ(with(len, 63, 4), MRPC_PRIO_DROP_RANGE);	/* behind */
	CHECK_EQ(with(len, 51, 0x41), MRPC_PRIO_DROP_RANGE);	/* total */
	CHECK_EQ(with(len, 59, 0x32), MRPC_PRIO_DROP_RANGE);	/* unscheduled */
	CHECK_EQ(with(len, 55, 0x31), MRPC_PRIO_DROP_LENGTH);	/* offset */
	put_unaligned_le32(0x31323334 - 99, buf + 52);
	CHECK_EQ(parse(64, len), MRPC_PRIO_DROP_LENGTH);
	CHECK_EQ(parse(64, len - 1), MRPC_PRIO_NR_DROPS);
	/* Others may follow in a small datagram only. */
	len = data_packet(MRPC_PRIO_MAX_SHARED - 64);
	buf[6] = 100;
	CHECK_EQ(parse(64, len), MRPC_PRIO_NR_DROPS);
	CHECK_EQ(parse(64, len + 1), MRPC_PRIO_DROP_LENGTH);
	memset(buf + 24, 0, 8);
	CHECK_EQ(parse(64, len - 1), MRPC_PRIO_DROP_RANGE);	/* conn */
	len = data_packet(0);
	memset(buf + 32, 0, 8);
	CHECK_EQ(parse(64, len), MRPC_PRIO_DROP_RANGE);		/* msg */
	buf[32] = 0x63;
	CHECK_EQ(parse(64, len), MRPC_PRIO_DROP_RANGE);		/* behind all */
	len = data_packet(0);
	memset(buf + 8, 0, 8);
	CHECK_EQ(parse(64, len), MRPC_PRIO_DROP_RANGE);		/* to */
}

/* Does @next go on @at bytes behind the beginning of the packet in buf, of @len bytes? */
static bool follows(u32 len, const u8 *next, u32 at, u32 more)
{
	CHECK_EQ(parse(len, len), MRPC_PRIO_NR_DROPS);
	return mrpc_prio_follows(&got, buf, next, at, more);
}

TEST(prio_wire_follows)
{
	u32 len = data_packet(100), i;
	u8 next[64];

	memcpy(next, buf, sizeof(next));
	CHECK(!follows(len, next, 100, 100));
	mrpc_prio_set_offset(next, 0x01424344 + 100);
	CHECK(follows(len, next, 100, 100));
	CHECK(follows(len, next, 100, 1));
	CHECK(!follows(len, next, 100, 0));
	CHECK(!follows(len, next, 99, 100));
	CHECK(!follows(len, next, 101, 100));
	/* Each byte of the header matters. */
	for (i = 0; i < sizeof(next); i++) {
		next[i] ^= 0x10;
		CHECK_MSG(!follows(len, next, 100, 100), "byte %u", i);
		next[i] ^= 0x10;
	}
	/* Up to the end of the message, and not beyond that. */
	i = 0x31323334 - 0x01424344;
	mrpc_prio_set_offset(next, 0x31323334 - 7);
	CHECK(follows(len, next, i - 7, 7));
	CHECK(!follows(len, next, i - 7, 8));
	mrpc_prio_set_offset(next, 0x31323334);
	CHECK(!follows(len, next, i, 1));
	mrpc_prio_set_offset(next, 0x31323335);
	CHECK(!follows(len, next, i + 1, 1));
}

/* Where a datagram is more, or less, than the bytes of one packet: each is judged for itself. */
TEST(prio_wire_follows_not)
{
	struct mrpc_prio_note note = { .op = MRPC_PRIO_PING };
	u32 len = data_packet(100);
	u8 next[64];

	buf[6] = 10;		/* another packet is behind it */
	memcpy(next, buf, sizeof(next));
	mrpc_prio_set_offset(next, 0x01424344 + 10);
	CHECK(!follows(len, next, 10, 100));
	len = data_packet(0);
	memcpy(next, buf, sizeof(next));
	CHECK(!follows(len, next, 0, 100));
	len = data_packet(100);
	buf[4] |= MRPC_PRIO_CRC;	/* of other payload it is another one */
	memcpy(next, buf, sizeof(next));
	mrpc_prio_set_offset(next, 0x01424344 + 100);
	CHECK(!follows(len, next, 100, 100));
	len = control_packet(&note, 1);
	memcpy(next, buf, len);
	CHECK(!follows(len, next, 0, 100));
}

TEST(prio_wire_control)
{
	static const struct mrpc_prio_note ok[] = {
		{ .op = MRPC_PRIO_GRANT, .msg = 0x0102030405060708, .from = 0x11121314,
		  .to = 0x21222324, .class = 6 },
		{ .op = MRPC_PRIO_GRANT, .msg = 1 },
		{ .op = MRPC_PRIO_RESEND, .msg = 1, .from = 5, .to = 6 },
		{ .op = MRPC_PRIO_ACK, .msg = 1, .from = 0xffffffff, .to = 1 },
		{ .op = MRPC_PRIO_REFUSE, .msg = 1, .code = MRPC_PRIO_REFUSAL_MAX },
		{ .op = MRPC_PRIO_BUSY, .msg = 1 },
		{ .op = MRPC_PRIO_ABORT, .msg = 1 },
		{ .op = MRPC_PRIO_PING },
		{ .op = MRPC_PRIO_PONG, .msg = 77 },
	};
	static const u8 first[LEN_ENTRY] = {
		8, 7, 6, 5, 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11, 0x24, 0x23, 0x22, 0x21, 1, 6,
	};
	u32 len = control_packet(ok, ARRAY_SIZE(ok)), i;
	struct mrpc_prio_note note;

	CHECK_EQ(parse(len, len), MRPC_PRIO_NR_DROPS);
	CHECK(!memcmp(buf + 24, first, sizeof(first)));
	for (i = 0; i < ARRAY_SIZE(ok); i++) {
		mrpc_prio_note_get(&got, i, &note);
		CHECK(note.msg == ok[i].msg && note.from == ok[i].from && note.to == ok[i].to &&
		      note.op == ok[i].op && note.class == ok[i].class && note.code == ok[i].code);
	}
	CHECK_EQ(parse(len - 1, len), MRPC_PRIO_DROP_SHORT);
	CHECK_EQ(parse(len - 1, len - 1), MRPC_PRIO_DROP_LENGTH);
	CHECK_EQ(parse(len + 1, len + 1), MRPC_PRIO_DROP_LENGTH);
	CHECK_EQ(with(len, 6, 0), MRPC_PRIO_DROP_RANGE);
	CHECK_EQ(with(len, 6, 57), MRPC_PRIO_DROP_RANGE);
	CHECK_EQ(with(len, 4, MRPC_PRIO_URGE), MRPC_PRIO_DROP_FLAGS);
	CHECK_EQ(with(len, 5, 1), MRPC_PRIO_DROP_RESERVED);
	CHECK_EQ(with(len, 24 + 20, 1), MRPC_PRIO_DROP_RESERVED);
}

TEST(prio_wire_entries_wrong)
{
	static const struct {
		struct mrpc_prio_note note;
		u32 why;
	} bad[] = {
		{ { .op = 0, .msg = 1 }, MRPC_PRIO_DROP_TYPE },
		{ { .op = MRPC_PRIO_OP_MAX + 1, .msg = 1 }, MRPC_PRIO_DROP_TYPE },
		{ { .op = MRPC_PRIO_GRANT }, MRPC_PRIO_DROP_RANGE },
		{ { .op = MRPC_PRIO_GRANT, .msg = 1, .from = 2, .to = 1 }, MRPC_PRIO_DROP_RANGE },
		{ { .op = MRPC_PRIO_GRANT, .msg = 1, .to = MRPC_PRIO_MAX_TOTAL + 1 },
		  MRPC_PRIO_DROP_RANGE },
		{ { .op = MRPC_PRIO_GRANT, .msg = 1, .class = 7 }, MRPC_PRIO_DROP_RANGE },
		{ { .op = MRPC_PRIO_GRANT, .msg = 1, .code = 1 }, MRPC_PRIO_DROP_TYPE },
		{ { .op = MRPC_PRIO_RESEND, .msg = 1, .from = 1, .to = 1 }, MRPC_PRIO_DROP_RANGE },
		{ { .op = MRPC_PRIO_RESEND, .msg = 1, .from = 2, .to = 1 }, MRPC_PRIO_DROP_RANGE },
		{ { .op = MRPC_PRIO_RESEND, .msg = 1, .to = 1, .class = 1 },
		  MRPC_PRIO_DROP_RESERVED },
		{ { .op = MRPC_PRIO_ACK }, MRPC_PRIO_DROP_RANGE },
		{ { .op = MRPC_PRIO_REFUSE, .msg = 1 }, MRPC_PRIO_DROP_TYPE },
		{ { .op = MRPC_PRIO_REFUSE, .msg = 1, .code = MRPC_PRIO_REFUSAL_MAX + 1 },
		  MRPC_PRIO_DROP_TYPE },
		{ { .op = MRPC_PRIO_REFUSE, .msg = 1, .code = 1, .to = 1 }, MRPC_PRIO_DROP_RESERVED },
		{ { .op = MRPC_PRIO_BUSY, .msg = 1, .from = 1 }, MRPC_PRIO_DROP_RESERVED },
		{ { .op = MRPC_PRIO_ABORT }, MRPC_PRIO_DROP_RANGE },
		{ { .op = MRPC_PRIO_PING, .to = 1 }, MRPC_PRIO_DROP_RESERVED },
	};
	struct mrpc_prio_note notes[2] = { { .op = MRPC_PRIO_PING } };
	u32 i, len;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		notes[1] = bad[i].note;
		len = control_packet(notes, 2);
		CHECK_MSG(parse(len, len) == bad[i].why, "entry %u: %u", i, parse(len, len));
	}
}

TEST(prio_wire_handshake)
{
	static const u8 types[] = { MRPC_PRIO_HELLO, MRPC_PRIO_COOKIE, MRPC_PRIO_WELCOME };
	u32 i, len;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		len = body_packet(types[i]);
		CHECK_EQ(len, 64);
		CHECK_EQ(parse(len, len), MRPC_PRIO_NR_DROPS);
		CHECK_EQ(got.stamp, 9);
		CHECK_EQ(parse(len - 1, len - 1), MRPC_PRIO_DROP_LENGTH);
		CHECK_EQ(with(len, 4, 0), MRPC_PRIO_DROP_FLAGS);	/* no crc */
		CHECK_EQ(with(len, 20, 1), MRPC_PRIO_DROP_RESERVED);	/* from */
		CHECK_EQ(with(len, 8, types[i] == MRPC_PRIO_HELLO), MRPC_PRIO_DROP_RANGE);
	}
	len = body_packet(MRPC_PRIO_HELLO);
	CHECK_EQ(with(len, 24, 0), MRPC_PRIO_DROP_RANGE);
	CHECK_EQ(with(len, 44, 0xff), MRPC_PRIO_NR_DROPS);	/* features of others */
	len = body_packet(MRPC_PRIO_COOKIE);
	for (i = 24; i < 56; i += i == 24 ? 20 : 4)
		CHECK_EQ(with(len, i, 1), MRPC_PRIO_DROP_RESERVED);
	len = body_packet(MRPC_PRIO_WELCOME);
	CHECK_EQ(with(len, 32, 1), MRPC_PRIO_DROP_RESERVED);
	CHECK_EQ(with(len, 40, 1), MRPC_PRIO_DROP_RESERVED);
	CHECK_EQ(with(len, 24, 0), MRPC_PRIO_DROP_RANGE);
	got = (struct mrpc_prio_packet){ .type = MRPC_PRIO_RESET, .flags = MRPC_PRIO_CRC, .to = 3 };
	CHECK_EQ(mrpc_prio_encode(&got, buf), 24);
	CHECK_EQ(parse(24, 24), MRPC_PRIO_NR_DROPS);
	CHECK_EQ(parse(25, 25), MRPC_PRIO_DROP_LENGTH);
}
