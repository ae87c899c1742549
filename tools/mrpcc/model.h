/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the .proto files say, in the form that the generators use: names
 * resolved, fields sorted, everything that mrpc does not support refused.
 */
#ifndef MRPCC_MODEL_H
#define MRPCC_MODEL_H

#include <stdbool.h>

#include "place.h"
#include "lib/message/schema.h"

/**
 * struct enumeration - an enum
 * @file: where it is declared
 * @proto: as protoc describes it
 * @full_name: with package and enclosing messages, dotted
 * @scope: the full name of what encloses it, and its values; "" for nothing
 * @cname: its C tag
 * @path: its place
 */
struct enumeration {
	struct file *file;
	const EnumProto *proto;
	const char *full_name;
	const char *scope;
	const char *cname;
	struct path path;
};

/**
 * struct field - a field of a message
 * @in: the message
 * @proto: as protoc describes it
 * @name: as in the .proto
 * @cname: the member of the C struct and the stem of its accessors
 * @number: protobuf's
 * @kind: enum mrpc_kind
 * @flags: MRPC_FIELD_*
 * @type: of MRPC_KIND_MESSAGE
 * @enumeration: of MRPC_KIND_ENUM
 * @oneof: index in @in->oneofs, or MRPC_SCHEMA_NO_ONEOF
 * @path: its place
 * @offset: in the struct block
 * @has_bit: of MRPC_FIELD_OPTIONAL
 * @refused: its type was complained about
 */
struct field {
	struct message *in;
	const FieldProto *proto;
	const char *name;
	const char *cname;
	u32 number;
	u8 kind;
	u8 flags;
	struct message *type;
	struct enumeration *enumeration;
	u16 oneof;
	struct path path;
	u16 offset;
	u16 has_bit;
	bool refused;
};

/**
 * struct oneof - a oneof that was written as one
 * @proto: as protoc describes it
 * @cname: stem of the C names
 * @index: in the proto's list, which has the synthetic ones too
 * @first: index in the message's fields of its lowest-numbered member
 * @path: its place
 */
struct oneof {
	const OneofProto *proto;
	const char *cname;
	int index;
	size_t first;
	struct path path;
};

/**
 * struct message - a message type
 * @file: where it is declared
 * @proto: as protoc describes it
 * @full_name: with package and enclosing messages, dotted
 * @cname: its C tag and the prefix of its accessors
 * @path: its place
 * @fields: sorted by number
 * @nr_fields: how many
 * @oneofs: sorted by lowest number
 * @nr_oneofs: how many
 * @map_entry: made by protoc for a map field
 * @laid_out: the rest, and the fields' offsets, are valid
 * @size: of the struct block
 * @nr_has: optional fields
 * @oneof_offset: of the first case
 * @visit: of the closure that was walked last, and ...
 * @index: ... the type's index there
 * @asserted_in: the last file whose generated source checks its layout
 * @paths_in: the last file whose header for eBPF has its paths
 * @paths_named: the names of their macros are taken
 */
struct message {
	struct file *file;
	const MessageProto *proto;
	const char *full_name;
	const char *cname;
	struct path path;
	struct field *fields;
	size_t nr_fields;
	struct oneof *oneofs;
	size_t nr_oneofs;
	bool map_entry;
	bool laid_out;
	u16 size;
	u16 nr_has;
	u16 oneof_offset;
	unsigned int visit;
	u16 index;
	const struct file *asserted_in;
	const struct file *paths_in;
	bool paths_named;
};

/**
 * struct method - a method
 * @proto: as protoc describes it
 * @name: as in the .proto
 * @cname: in C names
 * @request: the type that it takes
 * @reply: the type that it returns
 * @path: its place
 * @priority: of calls that say none, 0 to 255: its own or its service's; -1: neither has one
 */
struct method {
	const MethodProto *proto;
	const char *name;
	const char *cname;
	struct message *request;
	struct message *reply;
	struct path path;
	int priority;
	uint16_t streams;	/* MRPC_METHOD_* */
};

/**
 * struct service - a service
 * @file: where it is declared
 * @proto: as protoc describes it
 * @full_name: with the package, dotted
 * @cname: prefix of its functions
 * @path: its place
 * @methods: sorted by name: the index is the method's number
 * @nr_methods: how many
 * @schema: canonical binary form
 * @types: what the methods' types lead to, in the schema's order
 * @nr_types: how many
 */
struct service {
	struct file *file;
	const ServiceProto *proto;
	const char *full_name;
	const char *cname;
	struct path path;
	struct method *methods;
	size_t nr_methods;
	struct buf schema;
	struct message **types;
	size_t nr_types;
};

/**
 * struct file - a .proto file
 * @proto: as protoc describes it
 * @places: of everything in it
 * @proto3: it is
 * @generate: code was asked for
 * @needed: by the file of the last model_need()
 * @named: the names of its enums and methods are taken
 * @messages: all of them, nested ones after what they are in
 * @nr_messages: how many
 * @enums: all of them
 * @nr_enums: how many
 * @services: all of them
 * @nr_services: how many
 */
struct file {
	const FileProto *proto;
	struct places places;
	bool proto3;
	bool generate;
	bool needed;
	bool named;
	struct message **messages;
	size_t nr_messages;
	struct enumeration **enums;
	size_t nr_enums;
	struct service *services;
	size_t nr_services;
};

struct model {
	struct file *files;
	size_t nr_files;
};

/**
 * model_build() - understand a set of files
 * @protos: the files, each after those that it imports
 * @nr: how many
 * @wanted: names of those to generate code for
 * @nr_wanted: how many
 * @unary: methods with streams, and services that have no others, are left out
 */
struct model *model_build(FileProto **protos, size_t nr, char **wanted, size_t nr_wanted,
			  bool unary);

/* NULL: there is none of this name. */
struct file *model_find_file(struct model *model, const char *name);

/**
 * model_need() - mark the files whose generated headers the one of a file includes
 * @model: the model
 * @file: the file
 *
 * They are those whose types are used, and those that are passed on: a file that is imported for its
 * options only has perhaps no header.
 */
void model_need(struct model *model, struct file *file);

static inline bool field_repeated(const struct field *field)
{
	return field->flags & MRPC_FIELD_REPEATED;
}

static inline bool field_optional(const struct field *field)
{
	return field->flags & MRPC_FIELD_OPTIONAL;
}

static inline bool field_map(const struct field *field)
{
	return field->type && field->type->map_entry;
}

static inline bool field_in_oneof(const struct field *field)
{
	return field->oneof != MRPC_SCHEMA_NO_ONEOF;
}

#endif /* MRPCC_MODEL_H */
