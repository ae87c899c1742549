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
#define MRPC_DESC_PACKED	(1U << 4) /* REPEATED; in protobuf's encoding one piece */

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
 * struct mrpc_file_desc - the messages of a .proto file
 * @messages: by name, without the entries of maps
 * @nr_messages: how many
 * @next: the library's
 */
struct mrpc_file_desc {
	const struct mrpc_message_desc *const *messages;
	__u32 nr_messages;
	struct mrpc_file_desc *next;
};

/* Generated code calls them when it is loaded, and when it goes. */
void mrpc_file_add(struct mrpc_file_desc *file);
void mrpc_file_remove(struct mrpc_file_desc *file);

/**
 * mrpc_message_find() - the description of a message type
 * @name: with the package, as in "kv.Get"
 *
 * Finds the types that have generated code in the program, or in a library that the program has
 * loaded, and protobuf's well-known types.
 *
 * Return: M__desc, or NULL.
 */
const struct mrpc_message_desc *mrpc_message_find(const char *name);

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
 * The content of a google.protobuf.Any is written as fields of its type if that loses nothing, and
 * else as bytes: if mrpc_message_find() does not find the type, or for fields that it does not have.
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
 * the forms that protobuf gives them. The content of a google.protobuf.Any is written if
 * mrpc_message_find() finds its type. Of entries of a map with one key all are written, which
 * mrpc_from_json() refuses.
 *
 * Return: a text for free(), or NULL with errno, and mrpc_last_error() says why: EINVAL for what has
 * no form in JSON: a Timestamp or Duration out of range, a Value that is not set or not finite, an
 * Any of an unknown type, or with content that is no such message; EMSGSIZE for content of an Any
 * that takes more memory than it may.
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
 * well-known types have the forms that protobuf gives them. A google.protobuf.Any is refused if
 * mrpc_message_find() does not find its type.
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
 * that is too large is infinite. Extensions are refused. A google.protobuf.Any has its content behind
 * the type URL in brackets, or the fields type_url and value.
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

/* -- protobuf's encoding ------------------------------------------------------ */

/**
 * mrpc_to_protobuf() - a message in protobuf's encoding
 * @desc: its type
 * @root: its root
 * @m: a struct block of @root's message, or @root itself
 * @len: out: how many bytes
 *
 * Fields are in the order of their numbers, entries of maps in that of the message.
 *
 * Return: the bytes for free(), or NULL with errno: EINVAL for what is nested deeper than
 * MRPC_MAX_DEPTH, EMSGSIZE for what is longer than protobuf's 2 GiB.
 */
void *mrpc_to_protobuf(const struct mrpc_message_desc *desc, const void *root, const void *m,
		       size_t *len);

/**
 * mrpc_from_protobuf() - build a message from protobuf's encoding
 * @msg: what is being built
 * @to: a struct block of @msg: its root, or one that M_alloc_f() returned
 * @desc: its type
 * @data: the bytes, from any source
 * @len: how many
 *
 * What @to held is replaced. Unknown fields, and those with another wire type than theirs, are
 * skipped. Of a field that is there twice the last one counts, and messages are merged, as protobuf
 * does. Refused are bytes that end too early or are no fields, strings that are not UTF-8, and
 * messages and groups nested deeper than MRPC_MAX_DEPTH.
 *
 * Return: 0, or the error of @msg, which sending it would report, too: -EINVAL for bytes that are
 * refused; mrpc_last_error() then has the place, counted from 0, the field and the reason.
 */
int mrpc_from_protobuf(struct mrpc_msg *msg, void *to, const struct mrpc_message_desc *desc,
		       const void *data, size_t len);

/* -- google.protobuf.Any ------------------------------------------------------ */

struct google_protobuf_Any;

/**
 * mrpc_any_pack() - put a message into an Any
 * @msg: what is being built
 * @any: a struct block of @msg; NULL, which M_alloc_f() can return, does nothing
 * @desc: the type of the message to be packed
 * @root: its root
 * @m: a struct block of @root's message, or @root itself
 *
 * What @any held is replaced. The type URL is "type.googleapis.com/" with the name of the type.
 *
 * Return: 0, or the error of @msg: -EINVAL and -EMSGSIZE as mrpc_to_protobuf(), too.
 */
int mrpc_any_pack(struct mrpc_msg *msg, struct google_protobuf_Any *any,
		  const struct mrpc_message_desc *desc, const void *root, const void *m);

/**
 * mrpc_any_type() - the type of what is in an Any
 * @root: the root of the message with the Any
 * @any: it
 *
 * Return: what mrpc_message_find() finds, or NULL, and mrpc_last_error() names the type URL.
 */
const struct mrpc_message_desc *mrpc_any_type(const void *root,
					      const struct google_protobuf_Any *any);

/**
 * mrpc_any_unpack() - build a message from what is in an Any
 * @msg: what is being built
 * @to: a struct block of @msg: its root, or one that M_alloc_f() returned
 * @desc: the type that must be in the Any
 * @root: the root of the message with the Any
 * @any: it
 *
 * Return: as mrpc_from_protobuf(); -EINVAL for an Any of another type, too.
 */
int mrpc_any_unpack(struct mrpc_msg *msg, void *to, const struct mrpc_message_desc *desc,
		    const void *root, const struct google_protobuf_Any *any);

#ifdef __cplusplus
}
#endif

#endif /* _MRPC_MESSAGE_H */
