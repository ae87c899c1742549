/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second opinion about paths to fields: the text is followed through a tree of
 * model.h, name by name; nothing is compiled. And random paths.
 */
#ifndef PATHS_H
#define PATHS_H

#include "lib/message/field.h"
#include "gen.h"

/* In schemas written by hand. */
#define NONE	MRPC_SCHEMA_NO_TYPE
#define ALONE	MRPC_SCHEMA_NO_ONEOF
#define REP	MRPC_FIELD_REPEATED
#define OPT	MRPC_FIELD_OPTIONAL

/* Room for any compiled path. */
union path_mem {
	struct mrpc_field_path path;
	u8 bytes[MRPC_PATH_MAX_SIZE];
	u64 align;
};

/**
 * struct path_found - what a path finds in a tree
 * @kind: enum mrpc_value_kind
 * @u: numbers, as mrpc_value.u
 * @data: TEXT, BYTES
 * @n: bytes at @data
 * @content: the path needs the byte section
 * @stored: bytes that are in the byte section for it
 */
struct path_found {
	u8 kind;
	u64 u;
	const u8 *data;
	u32 n;
	bool content;
	u32 stored;
};

/*
 * Return: 0, -ENOENT, or -EINVAL: not a path of this type. @msg may be NULL: then
 * 0 and -ENOENT both say that it is one.
 */
int path_follow(const struct mrpc_schema_plan *plan, u32 type, const struct model_msg *msg,
		const char *text, u32 len, struct path_found *found);

/* A path of the type, in a buffer of 256; often to what is in @msg. Its length. */
u32 path_random(struct gen *g, const struct mrpc_schema_plan *plan, u32 type,
		const struct model_msg *msg, char *text);

#endif /* PATHS_H */
