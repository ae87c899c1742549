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

/* Reads a text, of which nothing is behind the end. The root, or NULL if it is refused. */
static inline void *fuzz_read(struct mrpc_msg *msg, const struct mrpc_message_desc *desc,
			      const void *text, size_t len, bool is_json, unsigned int flags)
{
	void *root = mrpc_msg_new(msg, NULL, desc->size, 0), *copy = malloc(len + !len);
	int err;

	memcpy(copy, text, len);
	err = is_json ? mrpc_from_json(msg, root, desc, copy, len, flags) :
			mrpc_from_text(msg, root, desc, copy, len);
	free(copy);
	check(err == msg->err, "another error than the message's");
	check(!err || err == -ENOMEM || (err == -EINVAL && *mrpc_last_error()),
	      "refused without a reason");
	return err ? NULL : root;
}

/* What is written must be read as the same message, which is written the same. */
static inline void fuzz_round_trip(const struct mrpc_message_desc *desc, const void *root,
				   bool is_json)
{
	char *text = is_json ? mrpc_to_json(desc, root, root) : mrpc_to_text(desc, root, root);
	struct mrpc_msg msg;
	char *again;
	void *back;

	check(text, "cannot be written");
	back = fuzz_read(&msg, desc, text, strlen(text), is_json, 0);
	check(back || msg.err == -ENOMEM, "what was written is refused");
	if (back) {
		again = is_json ? mrpc_to_json(desc, back, back) : mrpc_to_text(desc, back, back);
		check(again && !strcmp(again, text), "another text");
		check(mrpc_msg_equal(desc, root, root, back, back) == 1, "another message");
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
