/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decoding protobuf: bytes that came over the wire become a scattered message, as an
 * application would have it in its send heap. mrpc_msg_snapshot() makes the canonical form from
 * it:
 *
 *	ret = mrpc_pb_decode(&message, &scratch, plan, type, &err);
 *	mrpc_pb_source(&message, &src);
 *	ret = ret ?: mrpc_msg_snapshot(plan, type, &src, 0, &buf, &err);
 *
 * Struct blocks and most arrays are in an arena. Text, bytes and packed arrays of fixed width
 * stay where they are in the input; the message refers to them. An offset below MRPC_MAX_HEAD
 * means the arena, where the root is at 0. The input begins at offset MRPC_MAX_HEAD.
 *
 * Rules, as protobuf has them:
 *
 *  - The last value of a singular scalar, string or bytes field counts.
 *  - A message field that occurs again is merged with what came before.
 *  - The last member of a oneof counts.
 *  - A repeated scalar field may be packed, unpacked, or both in turn.
 *  - A 32-bit kind takes the low 32 bits of its varint. A bool is true unless its varint is 0.
 *  - An unknown field is dropped and counted. So is a field with the wrong wire type.
 *  - A map entry without its key or its value has the default, also an empty message. Entries
 *    with the same key all stay.
 *
 * Malformed are:
 *
 *  - what ends too early: a varint, a value, a length beyond its message's end;
 *  - a varint of more than 10 bytes, a tag or length of more than 5 or beyond 32 bits;
 *  - field number 0, and wire types 6 and 7;
 *  - the end of a group without its begin, or with another number; a begin without an end;
 *  - a packed array of fixed width with a part of an element.
 *
 * Refused, too, are groups in more than MRPC_PB_MAX_GROUPS groups, messages beyond MRPC_MAX_DEPTH,
 * and more than MRPC_PB_MAX_MERGES merges. The snapshot refuses text that is not UTF-8; NULs in
 * text are allowed.
 *
 * The time is linear in the input and in the arena. A message's own bytes are read at most twice:
 * if it has a repeated field, first the elements are counted, so that arrays have their final
 * size. The owner must not let the input change meanwhile. If it changes all the same, the message
 * is wrong, but no access is outside the input and the arena.
 */
#ifndef MRPC_LIB_PROTOBUF_DECODE_H
#define MRPC_LIB_PROTOBUF_DECODE_H

#include "lib/message/message.h"
#include "lib/protobuf/scan.h"

#define MRPC_PB_MAX_MERGES	16U	/* message fields that occur again, in a message */

/**
 * struct mrpc_pb_message - a message scattered over its input and an arena
 * @in: the encoded message; needs no alignment
 * @in_len: its bytes
 * @arena: memory aligned to 8; may be NULL while @arena_cap is 0
 * @arena_cap: its bytes
 * @arena_max: bytes that the decoder may use of the arena. It never uses more than MRPC_MAX_HEAD
 * @arena_len: out: bytes used
 * @unknown: out: fields that were dropped, each whole group being one
 * @grow: make @arena_cap at least @need, and keep the first @arena_len bytes; may move them.
 *	@need is at most @arena_max. Returns 0 or a negative errno, which mrpc_pb_decode() returns
 *
 * The owner sets everything but what is out. It keeps the input and the arena as long as the
 * message, or a snapshot's byte blocks, are used.
 */
struct mrpc_pb_message {
	const u8 *in;
	u32 in_len;
	u8 *arena;
	u32 arena_cap;
	u32 arena_max;
	u32 arena_len;
	u32 unknown;
	int (*grow)(struct mrpc_pb_message *m, u32 need);
};

/* A message that is being decoded; private to decode.c. */
struct mrpc_pb_frame {
	u32 pos;	/* in the input: the next byte */
	u32 end;	/* in the input: where the message ends */
	u32 block;	/* in the arena: its struct block */
	u32 counts;	/* in the arena: a block with the lengths of its arrays */
	u16 type;
	u16 resv;
};

/**
 * struct mrpc_pb_scratch - what the decoder needs while it runs, about 2.3 KiB
 *
 * It is too large for the kernel's stack. Nothing in it survives a call, so one for each
 * context that decodes will do. It needs no initialisation.
 */
struct mrpc_pb_scratch {
	struct mrpc_pb_frame frames[MRPC_MAX_DEPTH];
	u32 groups[MRPC_PB_MAX_GROUPS];
};

/**
 * mrpc_pb_decode() - make a scattered message from protobuf
 * @m: input and arena
 * @scratch: see there
 * @plan: the schema
 * @type: index of the root's type
 * @err: filled on failure; err->off is a position in the input, err->len is 0
 *
 * Context: any; takes no lock. It sleeps only if @m->grow does.
 *
 * Return: 0; -EINVAL (malformed, or nested or merged too much); -EMSGSIZE: the arena would be
 * larger than @m->arena_max, or the input than MRPC_MAX_MESSAGE; -EFBIG: the arena would be
 * larger than MRPC_MAX_HEAD; or what @m->grow returned.
 */
int mrpc_pb_decode(struct mrpc_pb_message *m, struct mrpc_pb_scratch *scratch,
		   const struct mrpc_schema_plan *plan, u32 type, struct mrpc_msg_error *err);

/**
 * mrpc_pb_at() - address of bytes of a scattered message
 * @message: a struct mrpc_pb_message, decoded
 * @off: as in its references and in the snapshot's segments (struct mrpc_msg_seg.src)
 * @len: bytes
 *
 * Return: the address, which the owner's next use of the arena may make invalid; or NULL if not
 * all bytes are in the input or in the used part of the arena. This is a struct mrpc_msg_src.at.
 */
const void *mrpc_pb_at(void *message, u64 off, u64 len);

/** mrpc_pb_source() - fill @src for a snapshot of @m, whose root is at 0 */
void mrpc_pb_source(struct mrpc_pb_message *m, struct mrpc_msg_src *src);

#endif /* MRPC_LIB_PROTOBUF_DECODE_H */
