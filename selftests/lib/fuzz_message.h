/* SPDX-License-Identifier: GPL-2.0 */
/* What the targets that read messages share. */
#ifndef FUZZ_MESSAGE_H
#define FUZZ_MESSAGE_H

#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "msg_arena.h"
#include "types.mrpc.h"

/* The first byte of the input chooses. */
static inline const struct mrpc_message_desc *fuzz_type(u8 byte)
{
	static const struct mrpc_message_desc *const types[] = {
		&t_Single__desc, &t_Many__desc, &t_Maps__desc, &t_Known__desc,
	};

	return types[byte & 3];
}

enum format { JSON, TEXT, BYTES };

static inline int fuzz_parse(struct mrpc_msg *msg, void *root, const struct mrpc_message_desc *desc,
			     const void *text, size_t len, enum format format, unsigned int flags)
{
	if (format == JSON)
		return mrpc_from_json(msg, root, desc, text, len, flags);
	if (format == TEXT)
		return mrpc_from_text(msg, root, desc, text, len);
	return mrpc_from_protobuf(msg, root, desc, text, len);
}

static inline char *fuzz_write(const struct mrpc_message_desc *desc, const void *root,
			       enum format format, size_t *len)
{
	char *text;

	if (format == BYTES)
		return mrpc_to_protobuf(desc, root, root, len);
	text = format == JSON ? mrpc_to_json(desc, root, root) : mrpc_to_text(desc, root, root);
	*len = text ? strlen(text) : 0;
	return text;
}

/* Reads a text, of which nothing is behind the end. The root, or NULL if it is refused. */
static inline void *fuzz_read(struct mrpc_msg *msg, const struct mrpc_message_desc *desc,
			      const void *text, size_t len, enum format format, unsigned int flags)
{
	void *root = mrpc_msg_new(msg, NULL, desc->size, 0), *copy = malloc(len + !len);
	int err;

	memcpy(copy, text, len);
	err = fuzz_parse(msg, root, desc, copy, len, format, flags);
	free(copy);
	check(err == msg->err, "another error than the message's");
	check(!err || err == -ENOMEM || ((err == -EMSGSIZE || err == -EINVAL) && *mrpc_last_error()),
	      "refused without a reason");
	return err ? NULL : root;
}

/* The message of an input: a byte that chooses the type, then a text. NULL: there is none, or refused. */
static inline void *fuzz_input(const u8 *data, size_t len, const struct mrpc_message_desc **desc,
			       enum format format, unsigned int flags)
{
	struct mrpc_msg msg;

	if (!len)
		return NULL;
	arena_reset();
	*desc = fuzz_type(data[0]);
	return fuzz_read(&msg, *desc, data + 1, len - 1, format, flags);
}

/*
 * What is written must be read as the same message, which is written the same. What an Any holds has
 * no more than its message in JSON, and may have no JSON.
 */
static inline void fuzz_round_trip(const struct mrpc_message_desc *desc, const void *root,
				   enum format format)
{
	size_t len, again_len;
	char *text = fuzz_write(desc, root, format, &len), *again;
	bool loses = format == JSON && text && strstr(text, "@type");
	struct mrpc_msg msg;
	void *back;

	check(text || (format == JSON && *mrpc_last_error()), "cannot be written");
	back = text ? fuzz_read(&msg, desc, text, len, format, 0) : NULL;
	check(back || !text || msg.err == -ENOMEM, "what was written is refused");
	if (back) {
		again = fuzz_write(desc, back, format, &again_len);
		check(again && len == again_len && !memcmp(again, text, len), "another text");
		check(loses || mrpc_msg_equal(desc, root, root, back, back) == 1, "another message");
		free(again);
	}
	free(text);
}

/* A copy is equal. */
static inline void fuzz_copy(const struct mrpc_message_desc *desc, const void *root)
{
	struct mrpc_msg msg;
	void *copy = mrpc_msg_new(&msg, NULL, desc->size, 0);

	mrpc_msg_copy(&msg, copy, desc, root, root);
	check(msg.err || mrpc_msg_equal(desc, root, root, copy, copy) == 1, "another copy");
}

#endif /* FUZZ_MESSAGE_H */
