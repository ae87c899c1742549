// SPDX-License-Identifier: GPL-2.0
/* Covers: tools/libmrpc/protobuf tools/libmrpc/any tools/libmrpc/parse tools/libmrpc/put */
/*
 * Messages in protobuf's encoding, for libmrpc. Input: a byte that chooses the type, then the bytes.
 * What is accepted must come back as the same message, and from text, too, but for a map with two
 * entries of one key. What has a form in JSON must be accepted from it.
 */
#include "fuzz_message.h"

static void check_texts(const struct mrpc_message_desc *desc, const void *root)
{
	enum format format;
	struct mrpc_msg msg;
	size_t len;
	char *text;

	for (format = JSON; format <= TEXT; format++) {
		text = fuzz_write(desc, root, format, &len);
		check(text || (format == JSON && *mrpc_last_error()), "cannot be written");
		if (text)
			check(fuzz_read(&msg, desc, text, len, format, 0) || msg.err == -ENOMEM ||
			      strstr(mrpc_last_error(), "have the same key"),
			      "a text that was written is refused");
		free(text);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	const struct mrpc_message_desc *desc;
	void *root;

	root = fuzz_input(data, len, &desc, BYTES, 0);
	if (!root)
		return 0;
	fuzz_round_trip(desc, root, BYTES);
	fuzz_copy(desc, root);
	check_texts(desc, root);
	return 0;
}
