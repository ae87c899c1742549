/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random but valid input for tests and fuzzers: schemas in the binary form, and
 * messages laid out in a fake send heap as a careless application would.
 */
#ifndef GEN_H
#define GEN_H

#include "lib/message/message.h"
#include "model.h"

/**
 * struct gen - where choices come from
 * @data: a fuzzer's bytes, used up first
 * @left: how many
 * @state: then a pseudo-random sequence; 0: zeros instead
 */
struct gen {
	const u8 *data;
	size_t left;
	u64 state;
};

static inline struct gen gen_seeded(u64 seed)
{
	return (struct gen){ .state = seed * 2 + 1 };
}

u64 gen_u64(struct gen *g);
u32 gen_below(struct gen *g, u32 n);		/* 0 .. n - 1 */
bool gen_chance(struct gen *g, u32 percent);
void gen_bytes(struct gen *g, void *p, size_t n);

/* A schema to build by hand: tables first, names in table order. */
struct gen_schema {
	struct mrpc_schema_method methods[MRPC_SCHEMA_MAX_METHODS + 1];
	struct mrpc_schema_type types[MRPC_SCHEMA_MAX_TYPES + 1];
	struct mrpc_schema_field fields[MRPC_SCHEMA_MAX_FIELDS + 1];
	u32 nr_methods;
	u32 nr_types;
	u32 nr_fields;
	const char *service;		/* NULL: "t.S" */
	const char *method_name;	/* of the last method; NULL: by number */
	const char *type_name;		/* of the last type */
	const char *field_name;		/* of the last field */
};

/* Adds an entry; a field goes to the last type. Each returns its index. */
u32 gen_add_method(struct gen_schema *s, u16 request, u16 reply);
u32 gen_add_type(struct gen_schema *s);
u32 gen_add_field(struct gen_schema *s, u32 number, u8 kind, u8 flags, u16 type, u16 oneof);

/* The binary form, to be freed. */
u8 *gen_schema_binary(const struct gen_schema *s, size_t *len);

/* A random schema's binary form, to be freed. */
u8 *gen_schema(struct gen *g, size_t *len);

/* Compiles; NULL on failure (@err says why). To be freed. */
struct mrpc_schema_plan *gen_compile(const void *buf, size_t len, struct mrpc_schema_error *err);

/* The same from a block of exactly @len bytes: the sanitizer reports what is read beyond it. */
struct mrpc_schema_plan *gen_compile_exact(const void *buf, size_t len,
					   struct mrpc_schema_error *err);

/* A random schema, compiled; to be freed. */
struct mrpc_schema_plan *gen_plan(struct gen *g);

/*
 * Is the plan what the header promises of this binary form? Computed anew from
 * the binary form. NULL, or what is wrong.
 */
const char *gen_check_plan(const void *buf, size_t len, const struct mrpc_schema_plan *plan);

/* A random message tree of @type, about @budget blocks; NULL is never returned. */
struct model_msg *gen_message(struct gen *g, struct model_pool *pool,
			      const struct mrpc_schema_plan *plan, u32 type, u32 budget);

/**
 * struct gen_heap - a fake send heap
 * @mem: its bytes, junk where no block is
 * @size: how many
 * @used: up to here
 * @flip: source of random changes at each access, or NULL
 * @last: the last piece handed out: a copy of its own, so that reading beyond it,
 *	or after the next access, is caught
 * @accesses: how many
 * @fail_at: the access that gets NULL, counted from 1; 0: none
 */
struct gen_heap {
	u8 *mem;
	u32 size;
	u32 used;
	struct gen *flip;
	u8 *last;
	u32 accesses;
	u32 fail_at;
};

/* Writes a tree with random gaps, order and junk; returns the root's offset. */
u32 gen_heap_write(struct gen *g, struct gen_heap *heap, const struct mrpc_schema_plan *plan,
		   const struct model_msg *msg);
void gen_heap_free(struct gen_heap *heap);
const void *gen_heap_at(void *heap, u64 off, u64 len);	/* for struct mrpc_msg_src */

/**
 * struct gen_buf - a snapshot's buffer that moves whenever it grows
 * @buf: to give to mrpc_msg_snapshot()
 * @grown: calls of a grower
 * @fail_at: the call that fails with -ENOMEM, counted from 1; 0: none
 */
struct gen_buf {
	struct mrpc_msg_buf buf;
	u32 grown;
	u32 fail_at;
};

void gen_buf_init(struct gen_buf *b, u32 max_total);
void gen_buf_free(struct gen_buf *b);

/* Head and byte blocks put together as on the wire, 8-aligned, to be freed. */
u8 *gen_assemble(const struct gen_buf *b, const struct gen_heap *heap);

/* A head alone, so that reading beyond it is caught; to be freed. */
u8 *gen_head_copy(const u8 *wire, const struct mrpc_msg_len *len);

/*
 * What must hold of a message that the verifier has accepted (@head and a made-up
 * byte section): the model's encoding and a second snapshot give the same bytes.
 * NULL, or what is wrong.
 */
const char *gen_check_canonical(const struct mrpc_schema_plan *plan, u32 type, const u8 *head,
				const struct mrpc_msg_len *len);

#endif /* GEN_H */
