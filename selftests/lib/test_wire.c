// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/wire */
/* Frame headers: kmod/lib/message/wire.c. */
#include "tap.h"
#include "lib/group/operation.h"
#include "lib/message/wire.h"

static_assert(MRPC_WIRE_CHUNK_BODY == sizeof(struct mrpc_wire_operation));

#define MAX	(1U << 20)

static const struct mrpc_frame call = {
	.type = MRPC_WIRE_CALL, .flags = MRPC_WIRE_END | MRPC_WIRE_MSG, .priority = 128,
	.call_id = 0x10002, .method = 0x20003, .meta_len = 21, .max_reply = 4096,
	.msg = { .structs = 16, .text = 6, .bytes = 24 }, .remaining_us = 1000000,
};
static const struct mrpc_frame reply = {
	.type = MRPC_WIRE_REPLY, .flags = MRPC_WIRE_END | MRPC_WIRE_MSG, .call_id = 0x10002,
	.meta_len = 5, .msg = { .structs = 8 },
};
static const struct mrpc_frame failure = {
	.type = MRPC_WIRE_REPLY, .flags = MRPC_WIRE_END, .call_id = 0x10002,
	.status = MRPC_NOT_FOUND, .detail_len = 11,
};
static const struct mrpc_frame hello = { .type = MRPC_WIRE_HELLO, .meta_len = 100 };
static const struct mrpc_frame ping = { .type = MRPC_WIRE_PING, .call_id = 77 };
static const struct mrpc_frame bye = { .type = MRPC_WIRE_BYE };
static const struct mrpc_frame streamed = {
	.type = MRPC_WIRE_MESSAGE, .flags = MRPC_WIRE_MSG, .call_id = 0x10002, .msg_no = 7,
	.meta_len = 5, .msg = { .structs = 8, .bytes = 16 },
};
static const struct mrpc_frame half_close = {
	.type = MRPC_WIRE_MESSAGE, .flags = MRPC_WIRE_END, .call_id = 0x10002, .msg_no = 8,
};
static const struct mrpc_frame credit = {
	.type = MRPC_WIRE_CREDIT, .call_id = 0x10002, .remaining_us = 1ULL << 40,
};
static const struct mrpc_frame chunk_first = {
	.type = MRPC_WIRE_CHUNK, .call_id = 7, .meta_len = MRPC_WIRE_CHUNK_BODY,
	.msg = { .bytes = MRPC_WIRE_CHUNK_BYTES },
};
static const struct mrpc_frame chunk_later = {
	.type = MRPC_WIRE_CHUNK, .call_id = 7, .msg_no = 3, .msg = { .bytes = 8 },
};
static const struct mrpc_frame chunk_end = {
	.type = MRPC_WIRE_CHUNK, .status = MRPC_UNAVAILABLE, .msg_no = MRPC_WIRE_LEFT,
	.detail_len = MRPC_MAX_DETAIL,
};
static const struct mrpc_frame strategy = {
	.type = MRPC_WIRE_STRATEGY, .meta_len = MRPC_WIRE_STRATEGY_MAX,
};

static const char *why;

static int decode_hdr(const struct mrpc_wire_hdr *hdr, struct mrpc_frame *frame)
{
	why = NULL;
	return mrpc_wire_decode(hdr, MAX, frame, &why);
}

static int decode(const struct mrpc_frame *frame)
{
	struct mrpc_wire_hdr hdr;
	struct mrpc_frame back;

	mrpc_wire_encode(frame, &hdr);
	return decode_hdr(&hdr, &back);
}

static bool same(const struct mrpc_frame *a, const struct mrpc_frame *b)
{
	return a->type == b->type && a->priority == b->priority && a->flags == b->flags &&
	       a->status == b->status && a->call_id == b->call_id && a->msg_no == b->msg_no &&
	       a->method == b->method && a->meta_len == b->meta_len &&
	       a->detail_len == b->detail_len && a->max_reply == b->max_reply &&
	       a->crc == b->crc && a->msg.structs == b->msg.structs &&
	       a->msg.text == b->msg.text && a->msg.bytes == b->msg.bytes &&
	       a->remaining_us == b->remaining_us;
}

/* What is kept of an accepted header's lengths is what they make. */
static void check_lengths(const struct mrpc_frame *f)
{
	CHECK_EQ(f->prefix, mrpc_frame_prefix(f));
	CHECK_EQ(f->head_len, mrpc_msg_head_len(&f->msg));
	CHECK_EQ(mrpc_frame_head_known(f), mrpc_frame_head(f));
	CHECK_EQ(mrpc_frame_msg_known(f), mrpc_msg_total(&f->msg));
}

TEST(every_type_and_back)
{
	const struct mrpc_frame *const frames[] = {
		&call, &reply, &failure, &hello, &ping, &bye,
		&(struct mrpc_frame){ .type = MRPC_WIRE_HELLO_ACK,
				      .meta_len = MRPC_WIRE_MAX_HELLO },
		&(struct mrpc_frame){ .type = MRPC_WIRE_PONG, .call_id = ~0ULL },
		&(struct mrpc_frame){ .type = MRPC_WIRE_CANCEL, .call_id = 1 },
		&(struct mrpc_frame){ .type = MRPC_WIRE_PING, .flags = MRPC_WIRE_CRC, .crc = 5 },
		&(struct mrpc_frame){ .type = MRPC_WIRE_FEATURES, .call_id = 2 },
		&(struct mrpc_frame){ .type = MRPC_WIRE_FEATURES_ACK, .call_id = ~0ULL },
		&streamed, &half_close, &credit, &chunk_first, &chunk_later, &chunk_end,
		&strategy,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(frames); i++) {
		struct mrpc_wire_hdr hdr, again;
		struct mrpc_frame back;
		int ret;

		memset(&hdr, 0xff, sizeof(hdr));
		memset(&back, 0xff, sizeof(back));
		mrpc_wire_encode(frames[i], &hdr);
		ret = decode_hdr(&hdr, &back);
		CHECK_MSG(!ret, "frame %u: %d, %s", i, ret, why);
		CHECK_MSG(same(&back, frames[i]), "frame %u", i);
		check_lengths(&back);
		mrpc_wire_encode(&back, &again);
		CHECK(!memcmp(&hdr, &again, sizeof(hdr)));
	}
}

TEST(layout)
{
	static const u8 bytes[64] = {
		'm', 'P', 'R', 'C', 1, 3, 3, 0,  2, 0, 1, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 3, 0, 2, 0,  0, 0, 128, 0, 0, 0, 0, 0,
		21, 0, 0, 0, 16, 0, 0, 0,  6, 0, 0, 0, 24, 0, 0, 0,
		0, 16, 0, 0, 0, 0, 0, 0,  0x40, 0x42, 0x0f, 0, 0, 0, 0, 0,
	};
	struct mrpc_wire_hdr hdr;

	mrpc_wire_encode(&call, &hdr);
	CHECK(!memcmp(&hdr, bytes, sizeof(bytes)));
	CHECK_EQ(mrpc_frame_prefix(&call), 24);
	CHECK_EQ(mrpc_frame_head(&call), 24 + 24);
	CHECK_EQ(mrpc_frame_prefix(&failure), 16);
}

/* Only what has a checksum and a byte section has a trailer. */
TEST(trailer)
{
	struct mrpc_frame f = call;

	CHECK_EQ(mrpc_frame_trailer(&f), 0);
	f.flags |= MRPC_WIRE_CRC;
	CHECK_EQ(mrpc_frame_trailer(&f), 8);
	CHECK_EQ(decode(&f), 0);
	f.msg.bytes = 0;
	CHECK_EQ(mrpc_frame_trailer(&f), 0);
}

/* A change of any byte is refused, or says something that a frame can say. */
TEST(every_byte_changed)
{
	static const struct mrpc_frame *const frames[] = {
		&call, &reply, &failure, &hello, &ping, &streamed, &half_close, &credit,
		&chunk_first, &chunk_later, &chunk_end,
		&strategy,
	};
	u32 i, at, value;

	for (i = 0; i < ARRAY_SIZE(frames); i++) {
		struct mrpc_wire_hdr hdr, again;
		u8 *bytes = (u8 *)&hdr;

		mrpc_wire_encode(frames[i], &hdr);
		for (at = 0; at < sizeof(hdr); at++) {
			u8 was = bytes[at];

			for (value = 0; value < 256; value++) {
				struct mrpc_frame back;
				int ret;

				memset(&back, 0xff, sizeof(back));
				bytes[at] = value;
				ret = decode_hdr(&hdr, &back);
				CHECK(!ret == !why);
				CHECK(!ret || ret == -EPROTO || ret == -EMSGSIZE ||
				      ret == -EPROTONOSUPPORT);
				if (ret && ret != -EMSGSIZE)
					continue;
				check_lengths(&back);
				mrpc_wire_encode(&back, &again);
				CHECK(!memcmp(&hdr, &again, sizeof(hdr)));
			}
			bytes[at] = was;
		}
	}
}

TEST(other_protocols_and_versions)
{
	struct mrpc_wire_hdr hdr;
	struct mrpc_frame back;

	mrpc_wire_encode(&ping, &hdr);
	hdr.magic = cpu_to_le32(MRPC_WIRE_MAGIC + 1);
	CHECK_EQ(decode_hdr(&hdr, &back), -EPROTO);
	CHECK_STR(why, "the peer does not speak mrpc");
	mrpc_wire_encode(&ping, &hdr);
	hdr.version = 2;
	CHECK_EQ(decode_hdr(&hdr, &back), -EPROTONOSUPPORT);
	mrpc_wire_encode(&ping, &hdr);
	hdr.resv = 1;
	CHECK_EQ(decode_hdr(&hdr, &back), -EPROTO);
	memset(&hdr, 0, sizeof(hdr));
	CHECK_EQ(decode_hdr(&hdr, &back), -EPROTO);
	mrpc_wire_encode(&ping, &hdr);
	hdr.type = 0;
	CHECK_EQ(decode_hdr(&hdr, &back), -EPROTO);
	hdr.type = MRPC_WIRE_TYPE_MAX + 1;
	CHECK_EQ(decode_hdr(&hdr, &back), -EPROTO);
}

#define REFUSED(base, field, value, text)					\
	do {									\
		struct mrpc_frame f_ = base;					\
										\
		f_.field = value;						\
		CHECK_EQ(decode(&f_), -EPROTO);					\
		CHECK_STR(why, text);						\
	} while (0)

TEST(messages_refused)
{
	REFUSED(call, flags, MRPC_WIRE_MSG, "a call has a message and more to come, or neither");
	REFUSED(call, flags, MRPC_WIRE_END, "a call has a message and more to come, or neither");
	REFUSED(call, flags, 0, "an absent message has lengths");
	REFUSED(call, msg_no, 1, "a call has the number of a message");
	REFUSED(reply, flags, MRPC_WIRE_MSG, "a reply is not the end");
	REFUSED(call, flags, 0xff, "a frame has unknown flags");
	REFUSED(call, crc, 1, "a frame has a checksum without the flag");
	REFUSED(call, status, MRPC_OK + 1, "a call has fields of a reply");
	REFUSED(call, detail_len, 1, "a call has fields of a reply");
	REFUSED(call, meta_len, MRPC_MAX_META + 1, "metadata is too long");
	REFUSED(reply, method, 1, "a reply has fields of a call");
	REFUSED(reply, priority, 1, "a reply has fields of a call");
	REFUSED(reply, max_reply, 1, "a reply has fields of a call");
	REFUSED(reply, remaining_us, 1, "a reply has fields of a call");
	REFUSED(reply, flags, MRPC_WIRE_END, "an absent message has lengths");
	REFUSED(reply, status, MRPC_UNKNOWN, "a reply has a message but is not OK");
	REFUSED(failure, msg.structs, 8, "an absent message has lengths");
	REFUSED(failure, msg.text, 8, "an absent message has lengths");
	REFUSED(failure, msg.bytes, 8, "an absent message has lengths");
	REFUSED(failure, status, MRPC_STATUS_MAX + 1, "a status is unknown");
	REFUSED(failure, detail_len, MRPC_MAX_DETAIL + 1, "a status detail is too long");
	REFUSED(call, msg.structs, 0, "a section's length is not a multiple of 8");
	REFUSED(call, msg.structs, 12, "a section's length is not a multiple of 8");
	REFUSED(call, msg.bytes, 4, "a section's length is not a multiple of 8");
}

TEST(streams_refused)
{
	const char *fields = "a message of a stream has fields of a call or reply";

	CHECK_EQ(decode(&streamed), 0);
	CHECK_EQ(decode(&credit), 0);
	REFUSED(streamed, status, 1, fields);
	REFUSED(streamed, detail_len, 1, fields);
	REFUSED(streamed, method, 1, fields);
	REFUSED(streamed, priority, 1, fields);
	REFUSED(streamed, max_reply, 1, fields);
	REFUSED(streamed, remaining_us, 1, fields);
	REFUSED(streamed, flags, MRPC_WIRE_END, "an absent message has lengths");
	REFUSED(streamed, meta_len, MRPC_MAX_META + 1, "metadata is too long");
	REFUSED(half_close, flags, 0, "a message of a stream has nothing");
	CHECK_EQ(decode(&half_close), 0);
	REFUSED(credit, flags, MRPC_WIRE_END, "a control frame has flags of a message");
	REFUSED(credit, msg_no, 1, "a control frame has fields of a message");
	REFUSED(credit, meta_len, 1, "a control frame has a body");
}

TEST(strategies_refused)
{
	const char *fields = "a strategy has fields of another frame";
	const char *size = "a strategy is of no group that there can be";

	REFUSED(strategy, flags, MRPC_WIRE_END, fields);
	REFUSED(strategy, call_id, 1, fields);
	REFUSED(strategy, msg_no, 1, fields);
	REFUSED(strategy, status, 1, fields);
	REFUSED(strategy, detail_len, 1, fields);
	REFUSED(strategy, method, 1, fields);
	REFUSED(strategy, priority, 1, fields);
	REFUSED(strategy, max_reply, 1, fields);
	REFUSED(strategy, remaining_us, 1, fields);
	REFUSED(strategy, msg.structs, 8, fields);
	REFUSED(strategy, msg.bytes, 8, fields);
	REFUSED(strategy, meta_len, 0, size);
	REFUSED(strategy, meta_len, MRPC_WIRE_STRATEGY_BODY, size);
	REFUSED(strategy, meta_len, MRPC_WIRE_STRATEGY_MAX + 1, size);
}

TEST(chunks_refused)
{
	const char *fields = "a chunk has fields of a call or reply";
	const char *section = "a chunk has a section that it may not have";
	const char *other_body = "a chunk that is not the first one has a body";

	REFUSED(chunk_later, flags, MRPC_WIRE_END, fields);
	REFUSED(chunk_later, flags, MRPC_WIRE_MSG, fields);
	REFUSED(chunk_later, method, 1, fields);
	REFUSED(chunk_later, priority, 1, fields);
	REFUSED(chunk_later, max_reply, 1, fields);
	REFUSED(chunk_later, remaining_us, 1, fields);
	REFUSED(chunk_end, status, MRPC_STATUS_MAX + 1, "a status is unknown");
	REFUSED(chunk_end, msg_no, 2, "the end of a group is of an unknown kind");
	REFUSED(chunk_end, detail_len, MRPC_MAX_DETAIL + 1, "a chunk's detail is too long");
	REFUSED(chunk_later, detail_len, 1, "a chunk's detail is too long");
	REFUSED(chunk_first, meta_len, 0, "the first chunk has no body");
	REFUSED(chunk_first, meta_len, MRPC_WIRE_CHUNK_BODY - 1, "the first chunk has no body");
	REFUSED(chunk_first, meta_len, MRPC_WIRE_CHUNK_BODY + 1, "the first chunk has no body");
	REFUSED(chunk_first, msg_no, 1, other_body);
	REFUSED(chunk_later, meta_len, MRPC_WIRE_CHUNK_BODY, other_body);
	REFUSED(chunk_end, meta_len, MRPC_WIRE_CHUNK_BODY, other_body);
	REFUSED(chunk_later, msg.structs, 8, section);
	REFUSED(chunk_later, msg.text, 1, section);
	REFUSED(chunk_end, msg.bytes, 8, section);
	REFUSED(chunk_later, msg.bytes, 12, section);
	REFUSED(chunk_later, msg.bytes, MRPC_WIRE_CHUNK_BYTES + 8, "a chunk is too large");
	REFUSED(chunk_later, msg.bytes, U32_MAX - 7, "a chunk is too large");
}

/* What a chunk may be besides: with a checksum, without bytes, an end without a sentence. */
TEST(chunks_accepted)
{
	struct mrpc_frame f = chunk_first;

	f.msg.bytes = 0;
	CHECK_EQ(decode(&f), 0);
	f = chunk_later;
	f.flags = MRPC_WIRE_CRC;
	f.crc = 5;
	CHECK_EQ(decode(&f), 0);
	CHECK_EQ(mrpc_frame_trailer(&f), 8);
	f = chunk_end;
	f.detail_len = 0;
	f.msg_no = 1;
	CHECK_EQ(decode(&f), 0);
}

/* A receiver that takes less than a chunk. It cannot skip one, as it skips a message. */
TEST(chunk_of_a_small_receiver)
{
	struct mrpc_frame f = chunk_later, back;
	struct mrpc_wire_hdr hdr;

	f.msg.bytes = 4096;
	mrpc_wire_encode(&f, &hdr);
	CHECK_EQ(mrpc_wire_decode(&hdr, 4096, &back, &why), 0);
	CHECK_EQ(mrpc_wire_decode(&hdr, 4095, &back, &why), -EPROTO);
	CHECK_STR(why, "a chunk is too large");
}

TEST(control_frames_refused)
{
	REFUSED(ping, flags, MRPC_WIRE_END, "a control frame has flags of a message");
	REFUSED(ping, flags, MRPC_WIRE_MSG, "a control frame has flags of a message");
	REFUSED(ping, msg_no, 1, "a control frame has fields of a message");
	REFUSED(ping, method, 1, "a control frame has fields of a message");
	REFUSED(ping, status, 1, "a control frame has fields of a message");
	REFUSED(ping, priority, 1, "a control frame has fields of a message");
	REFUSED(ping, detail_len, 1, "a control frame has fields of a message");
	REFUSED(ping, max_reply, 1, "a control frame has fields of a message");
	REFUSED(ping, remaining_us, 1, "a control frame has fields of a message");
	REFUSED(ping, msg.structs, 8, "a control frame has fields of a message");
	REFUSED(ping, msg.text, 1, "a control frame has fields of a message");
	REFUSED(ping, msg.bytes, 8, "a control frame has fields of a message");
	REFUSED(ping, meta_len, 1, "a control frame has a body");
	REFUSED(bye, meta_len, 1, "a control frame has a body");
	REFUSED(bye, call_id, 1, "a frame without a call has a call id");
	REFUSED(hello, call_id, 1, "a frame without a call has a call id");
	REFUSED(hello, meta_len, 0, "a hello has no body");
	REFUSED(hello, meta_len, MRPC_WIRE_MAX_HELLO + 1, "a hello is too long");
}

TEST(sizes)
{
	struct mrpc_frame f = call, back;
	struct mrpc_wire_hdr hdr;

	f.msg = (struct mrpc_msg_len){ .structs = MAX - 8, .text = 1 };
	CHECK_EQ(decode(&f), 0);
	f.msg.text = 9;
	CHECK_EQ(decode(&f), -EMSGSIZE);
	/* Valid all the same, to be skipped. */
	f.msg = (struct mrpc_msg_len){ .structs = 8, .bytes = MRPC_MAX_MESSAGE - 8 };
	mrpc_wire_encode(&f, &hdr);
	memset(&back, 0xff, sizeof(back));
	CHECK_EQ(decode_hdr(&hdr, &back), -EMSGSIZE);
	CHECK(same(&f, &back));
	check_lengths(&back);
	f = reply;
	f.msg.structs = 2 * MAX;
	CHECK_EQ(decode(&f), -EMSGSIZE);
	/* Beyond what any message may have, or with sums beyond 32 bits. */
	f = call;
	f.msg = (struct mrpc_msg_len){ .structs = 8, .bytes = MRPC_MAX_MESSAGE };
	CHECK_EQ(decode(&f), -EPROTO);
	f.msg = (struct mrpc_msg_len){ .structs = U32_MAX - 7, .text = U32_MAX,
				       .bytes = U32_MAX - 7 };
	CHECK_EQ(decode(&f), -EPROTO);
	f.msg = (struct mrpc_msg_len){ .structs = 8, .text = U32_MAX };
	CHECK_EQ(decode(&f), -EPROTO);
	f.msg = (struct mrpc_msg_len){ .structs = 8, .bytes = U32_MAX - 7 };
	CHECK_EQ(decode(&f), -EPROTO);
}
