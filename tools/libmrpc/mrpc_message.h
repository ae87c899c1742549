/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What can be done to a message of any type, by the description of the type that mrpcc
 * generates: M__desc for message M. Generated headers include this one.
 */
#ifndef _MRPC_MESSAGE_H
#define _MRPC_MESSAGE_H

#include <mrpc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a field holds. The numbers are those of the binary schema. */
enum mrpc_field_kind {
	MRPC_DESC_BOOL = 1,
	MRPC_DESC_INT32,
	MRPC_DESC_SINT32,
	MRPC_DESC_UINT32,
	MRPC_DESC_FIXED32,
	MRPC_DESC_SFIXED32,
	MRPC_DESC_FLOAT,
	MRPC_DESC_ENUM,
	MRPC_DESC_INT64,
	MRPC_DESC_SINT64,
	MRPC_DESC_UINT64,
	MRPC_DESC_FIXED64,
	MRPC_DESC_SFIXED64,
	MRPC_DESC_DOUBLE,
	MRPC_DESC_STRING,
	MRPC_DESC_BYTES,
	MRPC_DESC_MESSAGE,
};

/* mrpc_field_desc.flags */
#define MRPC_DESC_REPEATED	(1U << 0)
#define MRPC_DESC_OPTIONAL	(1U << 1) /* @presence is a bit of _has[] */
#define MRPC_DESC_ONEOF		(1U << 2) /* @presence is the offset of the case */
#define MRPC_DESC_MAP		(1U << 3) /* REPEATED; fields of the type: key, value */

/* An enum; its values in the order of the .proto. */
struct mrpc_enum_value {
	const char *name;
	__s32 number;
};

struct mrpc_enum_desc {
	const char *name;
	const struct mrpc_enum_value *values;
	__u32 nr_values;
};

struct mrpc_message_desc;

/**
 * struct mrpc_field_desc - a field
 * @name: as in the .proto
 * @json_name: as in JSON
 * @message: what MRPC_DESC_MESSAGE is, else NULL
 * @enumeration: what MRPC_DESC_ENUM is, else NULL
 * @number: protobuf's
 * @offset: in the struct block
 * @presence: see MRPC_DESC_OPTIONAL and _ONEOF
 * @kind: enum mrpc_field_kind
 * @flags: MRPC_DESC_*
 */
struct mrpc_field_desc {
	const char *name;
	const char *json_name;
	const struct mrpc_message_desc *message;
	const struct mrpc_enum_desc *enumeration;
	__u32 number;
	__u16 offset;
	__u16 presence;
	__u8 kind;
	__u8 flags;
};

/* A message type; its fields by number. */
struct mrpc_message_desc {
	const char *name;	/* with the package */
	const struct mrpc_field_desc *fields;
	__u32 nr_fields;
	__u32 size;		/* of the struct block */
};

/**
 * mrpc_msg_copy() - copy a message, with all that it refers to
 * @msg: what is being built
 * @to: a struct block of @msg: its root, or one that M_alloc_f() returned
 * @desc: the type of both
 * @root: the root of what is copied
 * @from: a struct block of @root's message, or @root itself
 *
 * What @to held is replaced. A message that was received can be kept so, or passed on.
 */
void mrpc_msg_copy(struct mrpc_msg *msg, void *to, const struct mrpc_message_desc *desc,
		   const void *root, const void *from);

/**
 * mrpc_msg_append() - make an array one element longer
 * @msg: what is being built
 * @ref: the array's reference in one of its struct blocks
 * @elem_size: bytes of an element
 *
 * The array may move: pointers to its elements are good until the next call. What it leaves
 * behind stays allocated until the message is spent. Half of the time is spent on
 * copying at worst.
 *
 * Return: the element, zeroed. NULL as mrpc_msg_alloc().
 */
void *mrpc_msg_append(struct mrpc_msg *msg, struct mrpc_ref *ref, size_t elem_size);

/**
 * mrpc_to_text() - a message in protobuf's text format
 * @desc: its type
 * @root: its root
 * @m: a struct block of @root's message, or @root itself
 *
 * Return: a text for free(), or NULL with errno.
 */
char *mrpc_to_text(const struct mrpc_message_desc *desc, const void *root, const void *m);

/**
 * mrpc_to_json() - a message in JSON, as protobuf maps it
 * @desc: its type
 * @root: its root
 * @m: a struct block of @root's message, or @root itself
 *
 * Fields without presence are left out when they are 0 or empty. The well-known types have
 * the forms that protobuf gives them, but for google.protobuf.Any, whose content cannot be
 * read here. Of entries of a map with one key all are written, which
 * mrpc_from_json() refuses.
 *
 * Return: a text for free(), or NULL with errno: EINVAL for what has no form in JSON: an Any, a
 * Timestamp or Duration out of range, a Value that is not set or not finite.
 */
char *mrpc_to_json(const struct mrpc_message_desc *desc, const void *root, const void *m);

/* Flags of mrpc_from_json(). */
#define MRPC_PARSE_IGNORE_UNKNOWN	(1U << 0) /* fields, and names of values of enums */

/**
 * mrpc_from_json() - build a message from JSON, as protobuf maps it
 * @msg: what is being built
 * @to: a struct block of @msg: its root, or one that M_alloc_f() returned
 * @desc: its type
 * @text: the JSON, in UTF-8
 * @len: its bytes
 * @flags: MRPC_PARSE_*
 *
 * What @to held is replaced. A field has its name in JSON or that of the .proto. null is as if the
 * field was not there. Refused are unknown fields, a field or a key of a map that is there twice,
 * two fields of one oneof, numbers out of range, and nesting deeper than MRPC_MAX_DEPTH. The
 * well-known types have the forms that protobuf gives them; a google.protobuf.Any is refused.
 *
 * What MRPC_PARSE_IGNORE_UNKNOWN ignores must be JSON, but equal names in it are no error.
 *
 * Return: 0, or the error of @msg, which sending it would report, too: -EINVAL for a text that is
 * refused; mrpc_last_error() then has the line, the column in bytes, the field and the reason.
 */
int mrpc_from_json(struct mrpc_msg *msg, void *to, const struct mrpc_message_desc *desc,
		   const char *text, size_t len, unsigned int flags);

/**
 * mrpc_from_text() - build a message from protobuf's text format
 * @msg: what is being built
 * @to: a struct block of @msg: its root, or one that M_alloc_f() returned
 * @desc: its type
 * @text: the text
 * @len: its bytes
 *
 * What @to held is replaced. Refused is what mrpc_from_json() refuses without flags, but a float
 * that is too large is infinite. Extensions, and the content of a google.protobuf.Any in brackets, are refused.
 *
 * Return: as mrpc_from_json().
 */
int mrpc_from_text(struct mrpc_msg *msg, void *to, const struct mrpc_message_desc *desc,
		   const char *text, size_t len);

/**
 * mrpc_msg_equal() - are two messages equal?
 * @desc: the type of both
 * @root_a: the root of the first one
 * @a: a struct block of @root_a's message, or @root_a itself
 * @root_b: the root of the second one
 * @b: a struct block of @root_b's message, or @root_b itself
 *
 * A copy is equal to what was copied. A field that has presence must be set in both or in neither.
 * All NaNs are equal; 0 and -0 are not, as a field without presence that is -0 is set. The order of
 * a map's entries does not count; of those with one key the last one counts.
 *
 * Return: 1 if they are, 0 if not; -ENOMEM, which can be only for maps; -EINVAL if the first
 * difference, or the end, is deeper than MRPC_MAX_DEPTH.
 */
int mrpc_msg_equal(const struct mrpc_message_desc *desc, const void *root_a, const void *a,
		   const void *root_b, const void *b);

#ifdef __cplusplus
}
#endif

#endif /* _MRPC_MESSAGE_H */
