/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The native wire format: frames on a reliable byte stream (and, unchanged, in
 * other transports). All integers are little-endian. A frame is
 *
 *   struct mrpc_wire_hdr
 *   metadata		meta_len bytes, zero padding to 8
 *   detail		detail_len bytes, zero padding to 8
 *   message		struct, text (padding to 8) and byte sections (message.h)
 *   trailer		with MRPC_WIRE_CRC and a byte section: crc32c of that, 4 zero bytes
 *
 * HELLO and HELLO_ACK carry their body (handshake.h) in place of metadata. So do the first CHUNK
 * of an operation (operation.h) and STRATEGY (strategy.h).
 */
#ifndef MRPC_LIB_MESSAGE_WIRE_H
#define MRPC_LIB_MESSAGE_WIRE_H

#include <linux/mrpc.h>
#include "lib/message/message.h"
#include "lib/ds/types.h"

#define MRPC_WIRE_MAGIC		0x4352506d	/* "mPRC" */
#define MRPC_WIRE_VERSION	1
#define MRPC_WIRE_MAX_HELLO	36864

enum mrpc_wire_type {
	MRPC_WIRE_HELLO = 1,	/* client's first frame */
	MRPC_WIRE_HELLO_ACK,	/* server's answer */
	MRPC_WIRE_CALL,		/* a request, or the beginning of one that streams */
	MRPC_WIRE_REPLY,	/* a reply, or the status */
	MRPC_WIRE_CANCEL,	/* client gives a call up; a REPLY still follows */
	MRPC_WIRE_PING,		/* answered by PONG with the same call_id */
	MRPC_WIRE_PONG,
	MRPC_WIRE_BYE,		/* no new calls from here; those in flight finish */
	MRPC_WIRE_FEATURES,	/* call_id: what its sender accepts from now on (feature.h) */
	MRPC_WIRE_FEATURES_ACK,	/* call_id: what is used at most from here on */
	MRPC_WIRE_MESSAGE,	/* one message of a stream */
	MRPC_WIRE_CREDIT,	/* remaining_us: what its sender accepts of a stream in all */
	MRPC_WIRE_CHUNK,	/* of a group: a chunk of the operation call_id, or why it has failed */
	MRPC_WIRE_STRATEGY,	/* of a group: its sender reports for a change of the strategy */
	MRPC_WIRE_TYPE_MAX = MRPC_WIRE_STRATEGY,
};

/* mrpc_wire_hdr.flags */
/* Nothing follows in this direction; always set for REPLY, and for CALL if the client streams not */
#define MRPC_WIRE_END	BIT(0)
/* A message is present (its lengths may be of an empty root: 8 bytes) */
#define MRPC_WIRE_MSG	BIT(1)
/*
 * @crc covers header (crc = 0) to text section; a byte section has a trailer of its own behind
 * it. Only where MRPC_FEATURE_CRC is agreed on
 */
#define MRPC_WIRE_CRC	BIT(2)
#define MRPC_WIRE_FLAGS	(MRPC_WIRE_END | MRPC_WIRE_MSG | MRPC_WIRE_CRC)

/* The most bytes of a CHUNK, and the bytes of its body */
#define MRPC_WIRE_CHUNK_BYTES	65536U
#define MRPC_WIRE_CHUNK_BODY	40	/* operation.h */
/* msg_no of a CHUNK that is not OK: its sender has left when all its operations were complete */
#define MRPC_WIRE_LEFT		1

/* The bytes of the body of a STRATEGY, and 2 for each rank (strategy.h) */
#define MRPC_WIRE_STRATEGY_BODY	48
#define MRPC_WIRE_STRATEGY_MAX	(MRPC_WIRE_STRATEGY_BODY + 2 * MRPC_GROUP_RANKS)

/* mrpc_frame.flags, and in no header: the message came compressed. The same bit in completions. */
#define MRPC_FRAME_COMPRESSED	MRPC_CQE_COMPRESSED

/**
 * struct mrpc_wire_hdr - 64 bytes
 * @magic: MRPC_WIRE_MAGIC
 * @version: MRPC_WIRE_VERSION
 * @type: enum mrpc_wire_type
 * @flags: MRPC_WIRE_*
 * @call_id: sequence << 16 | slot (calltable.h); PING: any value; FEATURES: a mask; CHUNK: the
 *	operation's number in its group
 * @msg_no: MESSAGE: its number in its direction, from 0; REPLY: how many MESSAGEs precede it;
 *	CHUNK: its number in the operation and direction, from 0; that is not OK: 0 or MRPC_WIRE_LEFT
 * @method: CALL: index of the service in HELLO << 16 | index of the method
 * @status: REPLY: enum mrpc_status; CHUNK: not OK: the group of its sender has ended
 * @priority: CALL: 0 to 255
 * @resv: zero
 * @detail_len: REPLY, CHUNK that is not OK: bytes, at most MRPC_MAX_DETAIL
 * @meta_len: bytes, at most MRPC_MAX_META (hello: MRPC_WIRE_MAX_HELLO; the first CHUNK of an
 *	operation: struct mrpc_wire_operation; STRATEGY: struct mrpc_wire_strategy)
 * @structs: message: see struct mrpc_msg_len
 * @text: message
 * @bytes: message
 * @max_reply: CALL: largest reply that the caller accepts
 * @crc: crc32c, or 0
 * @remaining_us: CALL: time until the deadline when the header was made, 0: none; CREDIT:
 *	bytes in all (credit.h)
 */
struct mrpc_wire_hdr {
	__le32 magic;
	u8 version;
	u8 type;
	__le16 flags;
	__le64 call_id;
	__le32 msg_no;
	__le32 method;
	__le16 status;
	u8 priority;
	u8 resv;
	__le32 detail_len;
	__le32 meta_len;
	__le32 structs;
	__le32 text;
	__le32 bytes;
	__le32 max_reply;
	__le32 crc;
	__le64 remaining_us;
};

static_assert(sizeof(struct mrpc_wire_hdr) == 64);

/**
 * struct mrpc_wire_trailer - behind a byte section, if there is a checksum
 * @crc: crc32c of the byte section
 * @resv: zero
 */
struct mrpc_wire_trailer {
	__le32 crc;
	__le32 resv;
};

/**
 * struct mrpc_frame - a checked header in host byte order
 * @magic: unused: keeps the layout of struct mrpc_wire_hdr
 * @version: unused, too
 * @resv: unused, too
 * @prefix: mrpc_frame_prefix(), see @head_len
 * @head_len: mrpc_msg_head_len(). Both are valid only in a frame that mrpc_wire_decode() has
 *	accepted: its lengths fit and do not change
 *
 * Up to @remaining_us the layout is that of struct mrpc_wire_hdr. So on little-endian hosts a
 * few wide moves convert one into the other.
 */
struct mrpc_frame {
	u32 magic;
	u8 version;
	u8 type;
	u16 flags;
	u64 call_id;
	u32 msg_no;
	u32 method;
	u16 status;
	u8 priority;
	u8 resv;
	u32 detail_len;
	u32 meta_len;
	struct mrpc_msg_len msg;
	u32 max_reply;
	u32 crc;
	u64 remaining_us;
	u32 head_len;
	u16 prefix;
};

#define MRPC_FRAME_AS_WIRE(frame_field, wire_field)				\
	static_assert(offsetof(struct mrpc_frame, frame_field) ==		\
		      offsetof(struct mrpc_wire_hdr, wire_field))
MRPC_FRAME_AS_WIRE(type, type);
MRPC_FRAME_AS_WIRE(flags, flags);
MRPC_FRAME_AS_WIRE(call_id, call_id);
MRPC_FRAME_AS_WIRE(msg_no, msg_no);
MRPC_FRAME_AS_WIRE(method, method);
MRPC_FRAME_AS_WIRE(status, status);
MRPC_FRAME_AS_WIRE(priority, priority);
MRPC_FRAME_AS_WIRE(detail_len, detail_len);
MRPC_FRAME_AS_WIRE(meta_len, meta_len);
MRPC_FRAME_AS_WIRE(msg.structs, structs);
MRPC_FRAME_AS_WIRE(msg.text, text);
MRPC_FRAME_AS_WIRE(msg.bytes, bytes);
MRPC_FRAME_AS_WIRE(max_reply, max_reply);
MRPC_FRAME_AS_WIRE(crc, crc);
MRPC_FRAME_AS_WIRE(remaining_us, remaining_us);
#undef MRPC_FRAME_AS_WIRE

static_assert(MRPC_WIRE_MAX_HELLO <= U16_MAX && MRPC_MAX_META + MRPC_MAX_DETAIL <= U16_MAX);

/* Bytes from the end of the header to the start of the message. */
static inline u32 mrpc_frame_prefix(const struct mrpc_frame *f)
{
	return ALIGN(f->meta_len, 8) + ALIGN(f->detail_len, 8);
}

/* Bytes from the end of the header to the end of the text section's padding. */
static inline u64 mrpc_frame_head(const struct mrpc_frame *f)
{
	return mrpc_frame_prefix(f) + mrpc_msg_head_len(&f->msg);
}

/* Fills what mrpc_wire_decode() derives from the lengths of a frame. These fit. */
static inline void mrpc_frame_seal(struct mrpc_frame *f)
{
	f->prefix = mrpc_frame_prefix(f);
	f->head_len = mrpc_msg_head_len(&f->msg);
}

/* As mrpc_frame_head(), and the message's length, of a frame that mrpc_wire_decode() accepted. */
static inline u32 mrpc_frame_head_known(const struct mrpc_frame *f)
{
	return f->prefix + f->head_len;
}

static inline u32 mrpc_frame_msg_known(const struct mrpc_frame *f)
{
	return f->head_len + f->msg.bytes;
}

/* Bytes behind the byte section. */
static inline u32 mrpc_frame_trailer(const struct mrpc_frame *f)
{
	return f->flags & MRPC_WIRE_CRC && f->msg.bytes ? sizeof(struct mrpc_wire_trailer) : 0;
}

/**
 * mrpc_wire_encode() - make a header
 */
void mrpc_wire_encode(const struct mrpc_frame *frame, struct mrpc_wire_hdr *hdr);

/**
 * mrpc_wire_decode() - check a header and bring it into host byte order
 * @hdr: 64 bytes from the wire, already copied
 * @max_message: largest message accepted
 * @frame: out
 * @why: out: static text on failure
 *
 * Checks magic, version, type, flags, reserved fields, and every length and their sum. Checks
 * that each type carries only what it may:
 *  - a CALL has END and MSG, or, if the client streams, neither;
 *  - a REPLY needs END, and has MSG only if its status is OK. Whether it must have it then depends
 *    on the method;
 *  - a MESSAGE has MSG, END or metadata, and nothing of a call but its id;
 *  - a CHUNK has bytes and no other section. It has a body if it is the first one, and a detail and
 *    nothing else if it is not OK;
 *  - a STRATEGY has a body and nothing else;
 *  - PING, PONG, CANCEL, BYE and FEATURES carry nothing, CREDIT its number;
 *  - HELLO and BYE have no call_id;
 *  - CRC may be on any type.
 * A message above MRPC_MAX_MESSAGE is malformed.
 *
 * Return: 0; -EPROTO (not our protocol or malformed); -EPROTONOSUPPORT
 * (version); -EMSGSIZE (a well-formed CALL, REPLY or MESSAGE whose message exceeds
 * @max_message: @frame is valid, with all of its lengths, so the caller can skip it and answer).
 */
int mrpc_wire_decode(const struct mrpc_wire_hdr *hdr, u32 max_message,
		     struct mrpc_frame *frame, const char **why);

#endif /* MRPC_LIB_MESSAGE_WIRE_H */
