/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Encoding protobuf: a canonical message (message.h) becomes the bytes that a protobuf
 * implementation reads.
 *
 * A message has one encoding:
 *
 *  - Fields are in order of number, elements in their order.
 *  - A scalar without explicit presence is absent if all its bits are 0, so -0.0 is there. A
 *    string or bytes field without explicit presence is absent if it is empty.
 *  - An OPTIONAL field is there if its has bit is set, a oneof's member if the case names it.
 *  - A map entry always has both its fields. A value message that is absent becomes an empty one.
 *  - int32 and enum are extended by their sign, so negative ones have ten bytes.
 *  - Repeated scalars are packed if the schema says so (MRPC_FIELD_PACKED).
 *
 * mrpc_pb_size() walks over the message and tells how much room the result needs.
 * mrpc_pb_encode() does the same walk and writes. It fails if it does not fill that room exactly.
 * It writes from the end to the begin: so a nested message's length is known when it is written.
 *
 * The result is a buffer, and cuts: positions in the buffer where a byte block belongs that was
 * not copied. Copied are blocks below MRPC_PB_CUT bytes and what has another form in protobuf.
 */
#ifndef MRPC_LIB_PROTOBUF_ENCODE_H
#define MRPC_LIB_PROTOBUF_ENCODE_H

#include "lib/message/message.h"
#include "lib/message/segs.h"

#define MRPC_PB_CUT	512U	/* bytes of a block from which on it stays where it is */

/**
 * struct mrpc_pb_input - a canonical message
 * @plan: the schema
 * @type: index of the root's type
 * @len: lengths of the message's sections
 * @head: struct and text sections. No one else can write them. mrpc_msg_snapshot() made them, or
 *	mrpc_msg_verify() accepted them
 * @bytes: the byte section, in one piece; or NULL: see @segs
 * @segs: if @bytes is NULL: the blocks of the byte section
 * @src: if @bytes is NULL: the memory of the blocks, by @src->at with a segment's offset. @src->near
 *	is not used
 *
 * The blocks of @segs may be in memory that an application can change at any time. Arrays that
 * protobuf writes as varints must not be there, as their size follows from their content. If a
 * message has such an array, the caller must copy the byte section and give it as @bytes;
 * mrpc_pb_size() demands it. A change of @bytes meanwhile, which the caller must prevent, fails the
 * encoding. It never makes it write outside the buffer.
 */
struct mrpc_pb_input {
	const struct mrpc_schema_plan *plan;
	u32 type;
	struct mrpc_msg_len len;
	const u8 *head;
	const u8 *bytes;
	const struct mrpc_seg_index *segs;
	const struct mrpc_msg_src *src;
};

/**
 * struct mrpc_pb_cut - a byte block that is part of the result, but not of the buffer
 * @at: position in the buffer before which the block belongs
 * @off: offset of the block in the message (as in its reference)
 * @len: its bytes
 * @seg: its segment's number; U32_MAX if the input has @bytes
 */
struct mrpc_pb_cut {
	u32 at;
	u32 off;
	u32 len;
	u32 seg;
};

/**
 * struct mrpc_pb_size - how large a result is
 * @total: bytes on the wire
 * @buf_len: of these, bytes in the buffer
 * @nr_cuts: cuts; their blocks are the other bytes
 */
struct mrpc_pb_size {
	u32 total;
	u32 buf_len;
	u32 nr_cuts;
};

/* A struct block that is being encoded; private to encode.c. */
struct mrpc_pb_level {
	u32 block;	/* offset in the head */
	u32 left;	/* elements to encode, with the present one */
	u32 behind;	/* bytes of the result behind the present element */
	u16 type;
	u16 field;	/* fields of the present element that are left */
};

/**
 * struct mrpc_pb_levels - what the encoder needs while it runs, about 1.6 KiB
 *
 * It is too large for the kernel's stack. Nothing in it survives a call. It needs no
 * initialisation.
 */
struct mrpc_pb_levels {
	struct mrpc_pb_level levels[MRPC_MAX_DEPTH];
};

/**
 * mrpc_pb_size() - room that a message needs as protobuf
 * @in: the message
 * @levels: see there
 * @max_total: largest @size->total allowed; never more than S32_MAX, protobuf's own limit
 * @size: out
 *
 * Context: any; takes no lock and does not sleep. Time: linear in the message.
 *
 * Return: 0; -EMSGSIZE; -ENODATA: the message has an array that needs @in->bytes (see there);
 * -EINVAL: a byte block is not where @in says.
 */
int mrpc_pb_size(const struct mrpc_pb_input *in, struct mrpc_pb_levels *levels, u32 max_total,
		 struct mrpc_pb_size *size);

/**
 * mrpc_pb_encode() - write a message as protobuf
 * @in: as for mrpc_pb_size()
 * @levels: see there
 * @size: what mrpc_pb_size() said
 * @buf: out: @size->buf_len bytes
 * @cuts: out: @size->nr_cuts cuts, in order
 *
 * Context: as mrpc_pb_size().
 *
 * Return: 0; -EINVAL: the message is not the one that was measured. A byte block has changed, or
 * is not where @in says.
 */
int mrpc_pb_encode(const struct mrpc_pb_input *in, struct mrpc_pb_levels *levels,
		   const struct mrpc_pb_size *size, u8 *buf, struct mrpc_pb_cut *cuts);

/**
 * mrpc_pb_encode_small() - write a message as protobuf if it is small, without measuring it before
 * @in: as for mrpc_pb_size()
 * @levels: see there
 * @buf: out: the result, at the end of it
 * @room: bytes at @buf
 *
 * Context: as mrpc_pb_size().
 *
 * Return: bytes of the result, at @buf + @room - bytes. Otherwise @buf has anything: -EMSGSIZE: the
 * result is larger, or has cuts; -ENODATA and -EINVAL: as mrpc_pb_size() and mrpc_pb_encode().
 */
int mrpc_pb_encode_small(const struct mrpc_pb_input *in, struct mrpc_pb_levels *levels, u8 *buf,
			 u32 room);

#endif /* MRPC_LIB_PROTOBUF_ENCODE_H */
