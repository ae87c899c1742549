/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Schemas: the binary form that applications submit, its verification, and the
 * compiled form (the marshalling plan) that everything else uses.
 *
 * The binary form describes one service and the closure of its types. It is
 * canonical: two .proto files that mean the same give the same bytes, so the
 * SHA-256 of the bytes identifies the schema. All integers are little-endian.
 *
 *   struct mrpc_schema_hdr
 *   struct mrpc_schema_method [nr_methods]   strictly ascending by name
 *   struct mrpc_schema_type   [nr_types]     in order of first visit: request,
 *					      reply of each method in order, then
 *					      the types that the fields of each
 *					      type in order mention (breadth first)
 *   struct mrpc_schema_field  [nr_fields]    the types' fields, one type after
 *					      the other, strictly ascending by number
 *   char names[names_len]		      NUL-terminated: service; methods;
 *					      types; fields, in the order of the
 *					      tables above, with nothing between
 *
 * Because names stand in table order, no offset to them is stored.
 */
#ifndef MRPC_LIB_MESSAGE_SCHEMA_H
#define MRPC_LIB_MESSAGE_SCHEMA_H

#include <linux/mrpc.h>
#include "lib/ds/types.h"

#define MRPC_SCHEMA_MAGIC	0x5343524d	/* "MRCS" */
#define MRPC_SCHEMA_VERSION	1

#define MRPC_SCHEMA_MAX_LEN	(256 * 1024)
#define MRPC_SCHEMA_MAX_METHODS	1024
#define MRPC_SCHEMA_MAX_TYPES	1024
#define MRPC_SCHEMA_MAX_FIELDS	8192	/* of all types */
#define MRPC_SCHEMA_MAX_STRUCT	32768	/* bytes of one struct block */
/* Bytes of one name, without NUL; a service's has its package, a type's has all scopes */
#define MRPC_SCHEMA_MAX_NAME	MRPC_NAME_LEN
/* Bytes of a name that a sentence shows, so that the reason behind it has room, too */
#define MRPC_SCHEMA_SHOWN_NAME	200
#define MRPC_SCHEMA_MAX_NUMBER	((1U << 29) - 1)
#define MRPC_SCHEMA_NO_ONEOF	0xffff
#define MRPC_SCHEMA_NO_TYPE	0xffff

struct mrpc_schema_hdr {
	__le32 magic;
	__le16 version;
	__le16 flags;		/* zero */
	__le32 len;		/* bytes of the whole schema */
	__le16 nr_methods;
	__le16 nr_types;
	__le32 nr_fields;
	__le32 names_len;
};

struct mrpc_schema_method {
	__le16 request;		/* index of a type */
	__le16 reply;
	__le16 flags;		/* MRPC_METHOD_* */
	__le16 resv;
};

/* The client sends any number of messages, in place of one */
#define MRPC_METHOD_CLIENT_STREAM	BIT(0)
/* The server sends any number of messages before its status, in place of one with it */
#define MRPC_METHOD_SERVER_STREAM	BIT(1)
#define MRPC_METHOD_FLAGS	(MRPC_METHOD_CLIENT_STREAM | MRPC_METHOD_SERVER_STREAM)

/* Exactly fields 1 (key) and 2 (value), without flags; only for REPEATED fields */
#define MRPC_TYPE_MAP_ENTRY	BIT(0)

struct mrpc_schema_type {
	__le16 nr_fields;
	__le16 nr_oneofs;
	__le16 flags;
	__le16 resv;
};

/* The scalar kinds keep protobuf's own distinctions: they are in the hash. */
enum mrpc_kind {
	MRPC_KIND_BOOL = 1,
	MRPC_KIND_INT32,
	MRPC_KIND_SINT32,
	MRPC_KIND_UINT32,
	MRPC_KIND_FIXED32,
	MRPC_KIND_SFIXED32,
	MRPC_KIND_FLOAT,
	MRPC_KIND_ENUM,
	MRPC_KIND_INT64,
	MRPC_KIND_SINT64,
	MRPC_KIND_UINT64,
	MRPC_KIND_FIXED64,
	MRPC_KIND_SFIXED64,
	MRPC_KIND_DOUBLE,
	MRPC_KIND_STRING,
	MRPC_KIND_BYTES,
	MRPC_KIND_MESSAGE,
	MRPC_KIND_MAX = MRPC_KIND_MESSAGE,
};

#define MRPC_FIELD_REPEATED	BIT(0)
/*
 * Explicit presence: the field has a has bit. Not with REPEATED, a oneof or MESSAGE (whose
 * reference is its presence)
 */
#define MRPC_FIELD_OPTIONAL	BIT(1)
/* Only REPEATED scalars; changes only the protobuf encoding */
#define MRPC_FIELD_PACKED	BIT(2)
#define MRPC_FIELD_FLAGS	(MRPC_FIELD_REPEATED | MRPC_FIELD_OPTIONAL | MRPC_FIELD_PACKED)

struct mrpc_schema_field {
	__le32 number;
	u8 kind;		/* enum mrpc_kind */
	u8 flags;		/* MRPC_FIELD_* */
	__le16 type;		/* MESSAGE: index of a type; else NO_TYPE */
	/*
	 * Index within the type, or NO_ONEOF; oneofs are numbered by their lowest
	 * field number, and have at least one field each
	 */
	__le16 oneof;
	__le16 resv;
};

/*
 * Compiled form. One allocation, immutable, no pointers into the binary form.
 *
 * Layout of a struct block (the C struct that mrpcc generates):
 *  1. u32 has[ceil(nr_optional / 32)]: OPTIONAL fields in order of number
 *  2. u32 case for each oneof, in order: the number of the set field, or 0
 *  3. fields in order of number, each at its natural alignment. The members of
 *     a oneof share one place, at the position of the lowest-numbered one, with
 *     the largest size and alignment of all.
 *  4. size rounded up to 8, at least 8. A block's alignment is 8.
 *
 * Sizes: bool 1; 32-bit kinds and enum 4; 64-bit kinds 8; string, bytes,
 * message and anything repeated: struct mrpc_ref, size 8, alignment 4.
 *
 * A repeated field's ref points to an array: of values (scalars), of struct
 * mrpc_ref (string, bytes), of struct blocks (message; stride is the size).
 */
enum mrpc_shape {	/* the marshaller's task for a field */
	MRPC_SHAPE_SCALAR,	/* nothing */
	MRPC_SHAPE_BOOL,	/* must be 0 or 1 */
	MRPC_SHAPE_TEXT,	/* ref to UTF-8 with NUL */
	MRPC_SHAPE_BYTES,	/* ref to bytes */
	MRPC_SHAPE_MESSAGE,	/* ref to a struct block */
	MRPC_SHAPE_ARRAY,	/* ref to scalars; goes with the byte blocks */
	MRPC_SHAPE_BOOLS,	/* ref to bools: each must be 0 or 1; a struct block */
	MRPC_SHAPE_TEXTS,	/* ref to refs to text: the array is a struct block */
	MRPC_SHAPE_BYTESS,	/* ref to refs to bytes: the array is a struct block */
	MRPC_SHAPE_MESSAGES,	/* ref to an array of struct blocks */
};

/**
 * struct mrpc_field - one field, compiled
 * @number: protobuf field number
 * @name: offset of its name in the schema's names
 * @kind: enum mrpc_kind
 * @flags: MRPC_FIELD_*
 * @shape: enum mrpc_shape
 * @elem_size: bytes of one element (of the value itself if not repeated)
 * @type: MESSAGE: index of the type
 * @offset: bytes from the start of the struct block
 * @has_bit: OPTIONAL: bit number in has[]; else U16_MAX
 * @oneof: index of the oneof, or MRPC_SCHEMA_NO_ONEOF
 * @members: so many fields of the type that end with this one are all in oneofs, one behind the
 *	other; 0: this one is in none
 */
struct mrpc_field {
	u32 number;
	u32 name;
	u8 kind;
	u8 flags;
	u8 shape;
	u8 resv;
	u16 elem_size;		/* struct size of the type for MESSAGE */
	u16 type;
	u16 offset;
	u16 has_bit;
	u16 oneof;
	u16 members;
};

enum mrpc_dead_when {
	MRPC_DEAD_ALWAYS,	/* padding */
	MRPC_DEAD_UNSET,	/* an OPTIONAL field, when has bit @arg is clear */
	/* A oneof's place: what the member chosen by case @arg does not use */
	MRPC_DEAD_ONEOF,
};

/**
 * struct mrpc_dead - bytes of a struct block that carry nothing
 * @offset: from the start of the struct block
 * @arg: see enum mrpc_dead_when
 * @len: number of bytes
 * @when: enum mrpc_dead_when
 *
 * They are zero on the wire. So a message has one encoding, and old content of an application's
 * memory does not leave the host.
 */
struct mrpc_dead {
	u16 offset;
	u16 arg;
	u8 len;
	u8 when;
};

/**
 * struct mrpc_type - one message type, compiled
 * @name: offset in the schema's names
 * @first_field: index in the schema's fields
 * @nr_fields: how many
 * @first_active: index in the schema's active list
 * @nr_active: fields whose shape is not SCALAR, in order. For each oneof only its
 *	lowest-numbered member counts, whatever its shape; it stands for all members
 * @first_dead: index in the schema's dead list
 * @nr_dead: in order of offset
 * @size: bytes of the struct block
 * @nr_has: OPTIONAL fields
 * @nr_oneofs: oneofs; case i is the u32 at @oneof_offset + 4 * i
 * @oneof_offset: bytes from the start of the struct block
 * @flags: MRPC_TYPE_*
 * @plain: no active field is of kind MESSAGE, or stands for a oneof
 */
struct mrpc_type {
	u32 name;
	u32 first_field;
	u32 first_active;
	u32 first_dead;
	u16 nr_fields;
	u16 nr_active;
	u16 nr_dead;
	u16 size;
	u16 nr_has;
	u16 nr_oneofs;
	u16 oneof_offset;
	u8 flags;
	bool plain;
};

struct mrpc_method {
	u32 name;
	u16 request;
	u16 reply;
	u8 flags;	/* MRPC_METHOD_* */
};

/**
 * struct mrpc_schema_plan - a compiled schema
 *
 * These pointers lead to the tables, all in the same allocation.
 * @names starts with the service's name.
 */
struct mrpc_schema_plan {
	const struct mrpc_method *methods;
	const struct mrpc_type *types;
	const struct mrpc_field *fields;
	const u16 *active;	/* field indexes relative to the type's first_field */
	const struct mrpc_dead *dead;
	const u16 *by_name;	/* each type's fields sorted by name, indexed as @active */
	const char *names;
	u32 names_len;
	u32 nr_fields;
	u16 nr_methods;
	u16 nr_types;
};

/**
 * struct mrpc_schema_error - why a schema was refused
 * @what: a sentence without its subject, static, e.g. "name is not an identifier"
 * @table: which table, static: "header", "method", "type", "field", "name"
 * @index: entry of the table
 * @value: the offending value; of a name that is too long, its bytes
 */
struct mrpc_schema_error {
	const char *what;
	const char *table;
	u32 index;
	u64 value;
};

/**
 * mrpc_schema_size() - bytes that mrpc_schema_compile() needs
 * @buf: binary schema, in memory that no one else can write
 * @len: its bytes
 * @err: filled on failure
 *
 * Checks the header only. Return: a size, -EINVAL, or -E2BIG (a limit).
 */
s64 mrpc_schema_size(const void *buf, size_t len, struct mrpc_schema_error *err);

/**
 * mrpc_schema_compile() - verify a schema completely and compile it
 * @buf: as for mrpc_schema_size()
 * @len: its bytes
 * @mem: at least mrpc_schema_size() bytes, aligned to 8; the plan is its start
 * @mem_len: its bytes
 * @err: filled on failure
 *
 * Verifies:
 *  - bounds, counts and canonical order;
 *  - names (service and types: dotted identifiers; methods and fields: identifiers);
 *  - kinds and flags, oneofs, map entries;
 *  - names of types and of a type's fields are unique;
 *  - every type is reachable;
 *  - no struct block exceeds MRPC_SCHEMA_MAX_STRUCT.
 *
 * Types may refer to themselves. Message fields are always by reference, so a type cannot
 * contain itself by value. Time: bounded, linear in @len, except for the check of name order.
 *
 * Return: 0, -EINVAL or -E2BIG.
 */
int mrpc_schema_compile(const void *buf, size_t len, void *mem, size_t mem_len,
			struct mrpc_schema_error *err);

/**
 * mrpc_name_valid() - is this an identifier, or several with dots between?
 * @name: bytes, not NUL-terminated
 * @len: how many
 * @dotted: dots are allowed
 */
bool mrpc_name_valid(const char *name, size_t len, bool dotted);

/* mrpc_name_length() - bytes of the name without dots that @text begins with, or 0 */
size_t mrpc_name_length(const char *text, size_t len);

/**
 * mrpc_schema_find_method() - find a method by its name
 * @plan: a compiled schema
 * @name: bytes, not NUL-terminated
 * @len: how many
 *
 * Time: logarithmic in the number of methods. Return: its index, or -ENOENT.
 */
int mrpc_schema_find_method(const struct mrpc_schema_plan *plan, const char *name, size_t len);

static inline const char *mrpc_schema_service(const struct mrpc_schema_plan *plan)
{
	return plan->names;
}

#endif /* MRPC_LIB_MESSAGE_SCHEMA_H */
