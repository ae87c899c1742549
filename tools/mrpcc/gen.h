/* SPDX-License-Identifier: GPL-2.0 */
/* Writing C. */
#ifndef MRPCC_GEN_H
#define MRPCC_GEN_H

#include "model.h"

/**
 * struct output - a generated file
 * @name: relative to the output directory
 * @text: its content
 */
struct output {
	char *name;
	struct buf text;
};

/* The header and the source of a file: gen_file.c. */
void gen_file(struct model *model, struct file *file, struct output *header,
	      struct output *source);

/* Its header for policies in eBPF. */
void gen_bpf_file(struct model *model, struct file *file, struct output *header);

/* What only that has: gen_bpf.c. Files whose enums it is about become needed. */
void gen_bpf_paths(struct buf *out, const struct file *file);

/* Enums and struct blocks: gen_struct.c. */
void gen_enum(struct buf *out, const struct enumeration *enumeration);
void take_enum_names(const struct enumeration *enumeration);
void gen_struct(struct buf *out, const struct message *message);
void gen_layout_asserts(struct buf *out, const struct message *message);

/* What libmrpc knows messages and enums by: gen_desc.c. */
void gen_enum_declaration(struct buf *out, const struct enumeration *enumeration);
void gen_message_declaration(struct buf *out, const struct message *message);
void gen_enum_desc(struct buf *out, const struct enumeration *enumeration);
void gen_message_desc(struct buf *out, const struct message *message);

/* Functions that look at a message, and that make one. */
void gen_readers(struct buf *out, const struct message *message);
void gen_builders(struct buf *out, const struct message *message);

/* A service: its client and server, and its description: gen_service.c. */
void gen_methods(struct buf *out, const struct service *service);
void take_method_names(const struct service *service);
void gen_service_header(struct buf *out, const struct service *service);
void gen_service_source(struct buf *out, const struct service *service);

/* What a field is in C: gen_field.c. */
const char *scalar_ctype(u8 kind);	/* of a number or bool */
const char *kind_name(u8 kind);	/* in a .proto */
bool kind_is_scalar(u8 kind);
bool field_has_presence(const struct field *field);
const char *field_prototype(const struct field *field);	/* "repeated string x = 3" */
const char *field_is_set(const struct field *field);	/* condition on m; NULL: none */
const char *field_mark_set(const struct field *field);	/* statement on m; "" : none */

/*
 * "static inline @ret@name(parameters)" and the opening brace. @ret ends in a
 * space or an asterisk; parameters end with NULL. The name is taken.
 */
void gen_function(struct buf *out, const struct field *field, const char *ret,
		  const char *prefix, ...) __attribute__((sentinel));
void gen_prototype(struct buf *out, const char *ret, const char *name, const char **params);

/* What the .proto says about the thing at @path, as a comment: comment.c. */
void gen_comment(struct buf *out, const char *indent, const struct file *file,
		 struct path path);

/* The same for what describes the whole file. */
void gen_file_comment(struct buf *out, const struct file *file);

#endif /* MRPCC_GEN_H */
