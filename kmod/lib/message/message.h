/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages: taking a snapshot of a message in an application's send heap, and verifying a
 * message that came over the wire.
 *
 * On the wire, and in a receive heap, a message is
 *
 *   struct section | text section | padding to 8 | byte section
 *
 * The struct section starts with the root struct block. Blocks stand in the order of a
 * depth-first walk. The walk visits the active fields of each struct block in order of number. A
 * oneof's set member comes where its lowest-numbered member would be. So the time for a block is
 * bounded by its size. A block is placed when the walk reaches its reference, and the blocks
 * that it refers to follow. For an array of struct blocks, the whole array comes first, then
 * what its first element refers to, and so on.
 *
 * Each block in the struct and byte sections starts at a multiple of 8, with zeros between.
 * Text stands without gaps, each followed by a NUL. The sections are filled in the order of the
 * same walk. So a message has exactly one encoding. The verifier needs only three cursors, and
 * rejects every overlap, alias, gap and cycle.
 *
 * An absent or empty field is {0, 0}. An empty string or bytes field inside a oneof or with
 * explicit presence is {0, 0}, too: the case or the has bit says that it is present. A present
 * message field is {off, 1}. A message that a oneof's case names must be present. Bytes of a
 * struct block that carry nothing are zero (struct mrpc_dead: padding, unset fields, the rest of
 * a oneof's place).
 */
#ifndef MRPC_LIB_MESSAGE_MESSAGE_H
#define MRPC_LIB_MESSAGE_MESSAGE_H

#include <linux/mrpc.h>
#include "lib/message/schema.h"

/**
 * struct mrpc_msg_len - lengths of the sections
 * @structs: a multiple of 8
 * @text: without the padding that follows it
 * @bytes: a multiple of 8, 0 for none
 */
struct mrpc_msg_len {
	u32 structs;
	u32 text;
	u32 bytes;
};

static inline u64 mrpc_msg_head_len(const struct mrpc_msg_len *len)
{
	return ALIGN((u64)len->structs + len->text, 8);
}

static inline u64 mrpc_msg_total(const struct mrpc_msg_len *len)
{
	return mrpc_msg_head_len(len) + len->bytes;
}

/**
 * struct mrpc_msg_seg - one byte block in the send heap
 * @src: send heap offset
 * @len: bytes, without padding
 */
struct mrpc_msg_seg {
	u32 src;
	u32 len;
};

/**
 * struct mrpc_msg_error - why a message was refused
 * @what: a sentence without its subject, static
 * @type: index of the type in the plan, or U32_MAX
 * @field: index of the field in the plan's fields, or U32_MAX
 * @off: the reference's offset or the offending value
 * @len: the reference's length
 */
struct mrpc_msg_error {
	const char *what;
	u32 type;
	u32 field;
	s64 off;
	u64 len;
};

/**
 * struct mrpc_msg_src - access to a send heap
 * @at: kernel address of the heap bytes [off, off + len), or NULL if some of them are outside
 *	the heap or they are not in one region. The application can change the bytes at any
 *	time: they are copied before they are checked.
 * @ctx: for @at
 * @near: what @at returns for @near_off. The next @near_len bytes of that region need no call of
 *	@at; none if @near_len is 0
 * @loose: references need no alignment
 */
struct mrpc_msg_src {
	const void *(*at)(void *ctx, u64 off, u64 len);
	void *ctx;
	const u8 *near;
	u64 near_off;
	u64 near_len;
	bool loose;
};

/**
 * struct mrpc_msg_buf - where a snapshot goes
 * @head: struct section and text section (and its padding)
 * @head_cap: its bytes
 * @segs: byte blocks, in wire order
 * @nr_segs: used
 * @segs_cap: room
 * @max_total: largest message allowed (mrpc_msg_total())
 * @max_whole: a message of at most so many bytes is copied whole: its byte section follows
 *	in @head, and no block is recorded
 * @grow_head: make @head_cap at least @need, and keep the content
 * @grow_segs: make @segs_cap at least @need, and keep the content
 * @len: out: lengths
 *
 * The owner of the buffer sets everything but @nr_segs and @len. The growers
 * return 0 or a negative errno, which the snapshot returns.
 */
struct mrpc_msg_buf {
	u8 *head;
	u32 head_cap;
	struct mrpc_msg_seg *segs;
	u32 nr_segs;
	u32 segs_cap;
	u32 max_total;
	u32 max_whole;
	int (*grow_head)(struct mrpc_msg_buf *buf, u32 need);
	int (*grow_segs)(struct mrpc_msg_buf *buf, u32 need);
	struct mrpc_msg_len len;
};

/**
 * mrpc_msg_snapshot() - copy a message's shape and text out of a send heap
 * @plan: the schema
 * @type: index of the root's type
 * @src: the heap
 * @root: heap offset of the root struct block (must be a multiple of 8)
 * @buf: where to
 * @err: filled on failure
 *
 * Reads every byte of shared memory exactly once. Rewrites the references in the copy to those
 * of the wire. In the heap, struct blocks and arrays of references must be aligned to 8, scalar
 * arrays (bools too) to their element. Byte blocks of a message above @buf->max_whole are only
 * recorded. Normalises what an application may leave undefined: bools, references of absent
 * fields, unused has bits, padding before, in and after blocks, values of unset fields. A
 * message never exceeds MRPC_MAX_MESSAGE, even if @buf->max_total is larger.
 *
 * Return: 0; -EINVAL (bad reference, text that is not UTF-8, unknown oneof case, nesting beyond
 * MRPC_MAX_DEPTH); -EMSGSIZE beyond @buf->max_total; -EFBIG: more structures and text than
 * MRPC_MAX_HEAD; or what a grower returned.
 */
int mrpc_msg_snapshot(const struct mrpc_schema_plan *plan, u32 type,
		      const struct mrpc_msg_src *src, u64 root,
		      struct mrpc_msg_buf *buf, struct mrpc_msg_error *err);

/**
 * mrpc_msg_verify() - check the head of a message that came over the wire
 * @plan: the schema
 * @type: index of the root's type
 * @head: struct section, text section and padding, aligned to 8, in memory
 *	that no one else can write
 * @len: claimed lengths; the caller has checked that @head holds
 *	mrpc_msg_head_len(len) bytes
 * @err: filled on failure
 *
 * Accepts exactly what mrpc_msg_snapshot() produces. Does not check the padding of the byte
 * section, which is not in the head. Bounded time (linear in the head), fixed stack, no
 * allocation.
 *
 * Return: 0 or -EINVAL.
 */
int mrpc_msg_verify(const struct mrpc_schema_plan *plan, u32 type, const void *head,
		    const struct mrpc_msg_len *len, struct mrpc_msg_error *err);

/**
 * mrpc_msg_explain() - make a sentence for people
 * @plan: the schema
 * @err: from a failed function above
 * @buf: out: NUL-terminated
 * @size: its bytes
 *
 * For example "kv.PutRequest.value (field 2): reference {off 4096, len 70000}
 * is outside the send heap". Return: length of the sentence (cut to @size).
 */
int mrpc_msg_explain(const struct mrpc_schema_plan *plan, const struct mrpc_msg_error *err,
		     char *buf, size_t size);

#endif /* MRPC_LIB_MESSAGE_MESSAGE_H */
