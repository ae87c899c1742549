/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading a field of a message by a path that was compiled for its type:
 *
 *	path	= name { "." name | "[" key "]" } [ "#" ]
 *	key	= number | "true" | "false" | '"' text '"'
 *
 *	user.name		a field of a message in a field
 *	ids[3]			an element of a repeated field, from 0
 *	tags["a b"].x		the value of a map's key; \" \\ and \xHH in the text
 *	shards[-7]		a map with integer keys
 *	ids#  name#		how many elements, entries, or bytes
 *
 * A path may also end at a whole message, list or map; then the caller can ask whether it is
 * present. What a path finds:
 *
 *  - A scalar without explicit presence is present if its message is present. It is 0 if it was
 *    not set. A string or bytes field is the same, but empty.
 *  - An optional field is present if its has bit is set. A oneof's member is present if the case
 *    names it. A message is present if its reference is not {0, 0}.
 *  - A list or map is present if it has an element. An element is present if the list is long
 *    enough. A map's value is present if the map has the key; of several entries with one key
 *    the last counts. "#" of an empty list is 0, and is present.
 *
 * The head of a message (struct and text sections) must be in memory that no one else can
 * write. It was verified by mrpc_msg_verify() or made by mrpc_msg_snapshot(): the code here does
 * not check it again. The content of bytes fields, and of repeated scalars other than bools, is
 * not in the head: see struct mrpc_view.
 */
#ifndef MRPC_LIB_MESSAGE_FIELD_H
#define MRPC_LIB_MESSAGE_FIELD_H

#include "lib/message/message.h"

#define MRPC_PATH_MAX_TEXT	4095	/* bytes of a path's text */

enum mrpc_value_kind {
	MRPC_VALUE_BOOL = 1,
	MRPC_VALUE_INT,		/* signed integers, and enums */
	MRPC_VALUE_UINT,
	MRPC_VALUE_DOUBLE,	/* floats are widened */
	MRPC_VALUE_TEXT,
	MRPC_VALUE_BYTES,
	MRPC_VALUE_MESSAGE,
	MRPC_VALUE_LIST,	/* repeated fields and maps */
};

/**
 * struct mrpc_field_value - what a path has found
 * @kind: enum mrpc_value_kind; always that of the path
 * @u: BOOL, UINT (also "#"); LIST: elements
 * @s: INT
 * @bits: DOUBLE: as in IEEE 754 binary64
 * @ptr: TEXT, BYTES: the bytes, in the head (behind TEXT is a NUL) or in the
 *	byte section; not NULL when @len is not 0
 * @len: TEXT, BYTES: number of bytes, may be 0
 * @off: only if mrpc_field_read() returns -ENODATA: offset of the content in the message, and
 *	@len is its length: all of a bytes field or element, but only the one element of
 *	repeated scalars
 */
struct mrpc_field_value {
	union {
		u64 u;
		s64 s;
		u64 bits;
		const char *ptr;
	};
	u32 len;
	u32 off;
	u8 kind;
};

/* Longer maps are not searched for a key: the sender decides how long a map is. */
#define MRPC_FIELD_MAX_ENTRIES	1024

/**
 * struct mrpc_view - a message to read from
 * @head: struct and text sections, aligned to 8; NULL: there is no message, so no field is
 *	present
 * @head_len: mrpc_msg_head_len(): where the byte section starts
 * @bytes: the whole byte section, or NULL
 * @piece: if @bytes is NULL: the memory with the message's bytes [off,
 *	off + len), or NULL if they are not at hand. The range lies within one
 *	block of the byte section. May be NULL
 *
 * Content must not change any more: @bytes and @piece give a copy that no application can
 * write.
 */
struct mrpc_view {
	const void *head;
	u64 head_len;
	const void *bytes;
	const void *(*piece)(const struct mrpc_view *view, u32 off, u32 len);
};

/* How one step of a path goes on from the present struct block or element. */
struct mrpc_step {
	u8 op;
	u8 guard;	/* condition for the presence of the field */
	u8 kind;	/* enum mrpc_kind of a scalar, or of a map's key */
	u8 resv;
	u16 offset;	/* of the field in its struct block */
	u16 stride;	/* bytes of an element */
	u16 guard_off;
	u16 key_off;	/* text key: offset from the path's start */
	u32 guard_val;
	u64 arg;	/* index; integer key; bytes of a text key */
};

/**
 * struct mrpc_field_path - a compiled path
 * @size: bytes of all of it; it may be copied (memcpy) to memory aligned to 8
 * @nr_steps: number of @steps; the texts of keys follow them
 * @type: index of the root's type in the plan
 * @field: index in the plan's fields of the last field named
 * @kind: enum mrpc_value_kind of what it finds
 * @content: it needs bytes of the byte section
 * @steps: see struct mrpc_step
 *
 * It holds no pointers. So it is valid for every message of this type, under any plan with the
 * same hash.
 */
struct mrpc_field_path {
	u16 size;
	u16 nr_steps;
	u16 type;
	u8 kind;
	bool content;
	u32 field;
	u32 resv;
	struct mrpc_step steps[];
};

/* Room for any path: one step for two bytes of text, and the texts. */
#define MRPC_PATH_MAX_SIZE \
	(sizeof(struct mrpc_field_path) + \
	 (MRPC_PATH_MAX_TEXT / 2 + 2) * sizeof(struct mrpc_step) + MRPC_PATH_MAX_TEXT + 1)

/* struct mrpc_field_path.size, and the places of keys, are 16 bits wide. */
static_assert(MRPC_PATH_MAX_SIZE <= U16_MAX);

/**
 * struct mrpc_path_error - why a path was refused
 * @what: what was expected or is wrong, a sentence without its subject, static
 * @pos: position in the text, from 0
 * @len: bytes of the part that the error is about; 0: the text's end
 * @type: index of the type in which the part was looked up, or U32_MAX
 */
struct mrpc_path_error {
	const char *what;
	u32 pos;
	u32 len;
	u32 type;
};

/**
 * mrpc_field_compile() - compile a path
 * @plan: the schema
 * @type: index of the root's type
 * @text: the path, see above; need not end in a NUL
 * @len: its bytes, at most MRPC_PATH_MAX_TEXT
 * @path: out: aligned to 8
 * @room: bytes at @path; MRPC_PATH_MAX_SIZE is enough for any
 * @err: filled on failure
 *
 * Time: for each name in the text, the logarithm of the number of fields of its type.
 *
 * Return: 0; -EINVAL (malformed, or no such field); -ENOSPC (@room).
 */
int mrpc_field_compile(const struct mrpc_schema_plan *plan, u32 type, const char *text,
		       u32 len, struct mrpc_field_path *path, size_t room,
		       struct mrpc_path_error *err);

/**
 * mrpc_path_explain() - make a sentence for people
 * @plan: the schema, or NULL
 * @text: the path's text
 * @len: its bytes
 * @err: from mrpc_field_compile()
 * @buf: out: NUL-terminated
 * @size: its bytes
 *
 * For example "'user.nme', at 'nme': kv.User has no such field". Return: length
 * of the sentence (cut to @size).
 */
int mrpc_path_explain(const struct mrpc_schema_plan *plan, const char *text, u32 len,
		      const struct mrpc_path_error *err, char *buf, size_t size);

/**
 * mrpc_field_read() - follow a path
 * @path: compiled for the type of the message's root
 * @view: the message
 * @value: out
 *
 * Time: bounded. A constant for each step, but linear in the entries for a map.
 *
 * Return: 0; -ENOENT: the field is not present; -ENODATA: it is present, but its content is in
 * the byte section and @view does not have it: @value says where; -E2BIG: the map has more than
 * MRPC_FIELD_MAX_ENTRIES entries.
 */
int mrpc_field_read(const struct mrpc_field_path *path, const struct mrpc_view *view,
		    struct mrpc_field_value *value);

/**
 * mrpc_field_write() - set the value of a field that is present
 * @path: compiled for the type of the message's root
 * @view: the message, in memory that the caller may write, const or not
 * @value: the value, as mrpc_field_read() gives it
 *
 * The shape of the message does not change: presence, numbers of elements, lengths of text and
 * bytes. On failure nothing changes, with one exception: if @value's text stops being UTF-8
 * while it is copied, zeros are in its place.
 *
 * Return: 0; -ENOENT: the field is not present; -ENODATA, -E2BIG as mrpc_field_read(); -ERANGE:
 * a number that its type cannot have; -EMSGSIZE: text or bytes of another length; -EILSEQ: text
 * that is not UTF-8; -EINVAL: a path of this kind cannot be set (a message, a list, a length, a
 * float).
 */
int mrpc_field_write(const struct mrpc_field_path *path, const struct mrpc_view *view,
		     const struct mrpc_field_value *value);

#endif /* MRPC_LIB_MESSAGE_FIELD_H */
