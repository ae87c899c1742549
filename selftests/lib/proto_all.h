/* SPDX-License-Identifier: GPL-2.0 */
/* A schema with all kinds of fields, and messages in hexadecimal, for tests of protobuf. */
#ifndef PROTO_ALL_H
#define PROTO_ALL_H

#include <assert.h>
#include <ctype.h>

#include "proto.h"
#include "tap.h"

#define ARENA	(16U << 20)

/* "08 96 01": bytes in hexadecimal; 'text' stands for itself. */
static inline struct proto_bytes hex(const char *text)
{
	struct proto_bytes b = { 0 };
	unsigned int byte;

	proto_append(&b, NULL, 0);
	while (*text) {
		if (*text == '\'') {
			while (*++text != '\'')
				proto_append(&b, text, 1);
			text++;
		} else if (isspace((unsigned char)*text)) {
			text++;
		} else {
			u8 value;

			assert(sscanf(text, "%2x", &byte) == 1);
			value = byte;
			proto_append(&b, &value, 1);
			text += 2;
		}
	}
	return b;
}

/* -- the schema ------------------------------------------------------------ */

enum { T_ALL, T_SMALL, T_TEXTS, T_MESSAGES };	/* types */

#define NO_ONEOF	MRPC_SCHEMA_NO_ONEOF
#define NO_TYPE		MRPC_SCHEMA_NO_TYPE
#define REPEATED	MRPC_FIELD_REPEATED
#define PACKED		(MRPC_FIELD_REPEATED | MRPC_FIELD_PACKED)

static const struct {
	u32 number;
	u8 kind;
	u8 flags;
	u16 type;
	u16 oneof;
} all[] = {
	{ 1, MRPC_KIND_INT32, 0, NO_TYPE, NO_ONEOF },
	{ 2, MRPC_KIND_INT64, 0, NO_TYPE, NO_ONEOF },
	{ 3, MRPC_KIND_UINT32, 0, NO_TYPE, NO_ONEOF },
	{ 4, MRPC_KIND_UINT64, 0, NO_TYPE, NO_ONEOF },
	{ 5, MRPC_KIND_SINT32, 0, NO_TYPE, NO_ONEOF },
	{ 6, MRPC_KIND_SINT64, 0, NO_TYPE, NO_ONEOF },
	{ 7, MRPC_KIND_FIXED32, 0, NO_TYPE, NO_ONEOF },
	{ 8, MRPC_KIND_FIXED64, 0, NO_TYPE, NO_ONEOF },
	{ 9, MRPC_KIND_SFIXED32, 0, NO_TYPE, NO_ONEOF },
	{ 10, MRPC_KIND_SFIXED64, 0, NO_TYPE, NO_ONEOF },
	{ 11, MRPC_KIND_FLOAT, 0, NO_TYPE, NO_ONEOF },
	{ 12, MRPC_KIND_DOUBLE, 0, NO_TYPE, NO_ONEOF },
	{ 13, MRPC_KIND_BOOL, 0, NO_TYPE, NO_ONEOF },
	{ 14, MRPC_KIND_ENUM, 0, NO_TYPE, NO_ONEOF },
	{ 15, MRPC_KIND_STRING, 0, NO_TYPE, NO_ONEOF },
	{ 16, MRPC_KIND_BYTES, 0, NO_TYPE, NO_ONEOF },
	{ 17, MRPC_KIND_MESSAGE, 0, T_ALL, NO_ONEOF },
	{ 18, MRPC_KIND_INT32, MRPC_FIELD_OPTIONAL, NO_TYPE, NO_ONEOF },
	{ 19, MRPC_KIND_STRING, MRPC_FIELD_OPTIONAL, NO_TYPE, NO_ONEOF },
	{ 20, MRPC_KIND_INT32, 0, NO_TYPE, 0 },
	{ 21, MRPC_KIND_STRING, 0, NO_TYPE, 0 },
	{ 22, MRPC_KIND_MESSAGE, 0, T_SMALL, 0 },
	{ 23, MRPC_KIND_MESSAGE, 0, T_ALL, 0 },
	{ 24, MRPC_KIND_INT32, PACKED, NO_TYPE, NO_ONEOF },
	{ 25, MRPC_KIND_FIXED32, PACKED, NO_TYPE, NO_ONEOF },
	{ 26, MRPC_KIND_BOOL, PACKED, NO_TYPE, NO_ONEOF },
	{ 27, MRPC_KIND_SINT64, REPEATED, NO_TYPE, NO_ONEOF },
	{ 28, MRPC_KIND_DOUBLE, REPEATED, NO_TYPE, NO_ONEOF },
	{ 29, MRPC_KIND_STRING, REPEATED, NO_TYPE, NO_ONEOF },
	{ 30, MRPC_KIND_BYTES, REPEATED, NO_TYPE, NO_ONEOF },
	{ 31, MRPC_KIND_MESSAGE, REPEATED, T_SMALL, NO_ONEOF },
	{ 32, MRPC_KIND_MESSAGE, REPEATED, T_TEXTS, NO_ONEOF },
	{ 33, MRPC_KIND_MESSAGE, REPEATED, T_MESSAGES, NO_ONEOF },
	{ MRPC_SCHEMA_MAX_NUMBER, MRPC_KIND_UINT32, 0, NO_TYPE, NO_ONEOF },
};

static inline struct mrpc_schema_plan *compile(const struct gen_schema *s)
{
	struct mrpc_schema_plan *plan;
	struct mrpc_schema_error err;
	size_t len;
	u8 *binary = gen_schema_binary(s, &len);

	plan = gen_compile(binary, len, &err);
	CHECK_MSG(plan, "%s %u %s", err.table, err.index, err.what);
	free(binary);
	return plan;
}

static inline struct mrpc_schema_plan *plan_of_all(void)
{
	struct gen_schema *s = calloc(1, sizeof(*s));
	struct mrpc_schema_plan *plan;
	u32 i;

	gen_add_method(s, T_ALL, T_ALL);
	gen_add_type(s);
	for (i = 0; i < ARRAY_SIZE(all); i++)
		gen_add_field(s, all[i].number, all[i].kind, all[i].flags, all[i].type, all[i].oneof);
	gen_add_type(s);	/* T_SMALL */
	gen_add_field(s, 1, MRPC_KIND_INT32, 0, NO_TYPE, NO_ONEOF);
	gen_add_field(s, 2, MRPC_KIND_INT32, PACKED, NO_TYPE, NO_ONEOF);
	gen_add_field(s, 3, MRPC_KIND_FIXED32, PACKED, NO_TYPE, NO_ONEOF);
	gen_add_field(s, 4, MRPC_KIND_MESSAGE, 0, T_SMALL, NO_ONEOF);
	gen_add_field(s, 5, MRPC_KIND_MESSAGE, REPEATED, T_SMALL, NO_ONEOF);
	gen_add_type(s);	/* T_TEXTS */
	s->types[T_TEXTS].flags = cpu_to_le16(MRPC_TYPE_MAP_ENTRY);
	gen_add_field(s, 1, MRPC_KIND_STRING, 0, NO_TYPE, NO_ONEOF);
	gen_add_field(s, 2, MRPC_KIND_INT32, 0, NO_TYPE, NO_ONEOF);
	gen_add_type(s);	/* T_MESSAGES */
	s->types[T_MESSAGES].flags = cpu_to_le16(MRPC_TYPE_MAP_ENTRY);
	gen_add_field(s, 1, MRPC_KIND_INT32, 0, NO_TYPE, NO_ONEOF);
	gen_add_field(s, 2, MRPC_KIND_MESSAGE, 0, T_SMALL, NO_ONEOF);
	plan = compile(s);
	free(s);
	return plan;
}

#endif /* PROTO_ALL_H */
