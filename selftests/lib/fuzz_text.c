// SPDX-License-Identifier: GPL-2.0
/* Covers: tools/libmrpc/text tools/libmrpc/parse tools/libmrpc/put tools/libmrpc/equal */
/*
 * Messages in protobuf's text format. Input: a byte that chooses the type, then text. What is
 * accepted must come back as the same message. What has a form in JSON must be accepted from it:
 * that can be another message, as null is all values of an enum NullValue.
 */
#include "fuzz_message.h"

static void check_json(const struct mrpc_message_desc *desc, const void *root)
{
	char *json = mrpc_to_json(desc, root, root);
	struct mrpc_msg msg;

	if (!json)
		return;
	check(fuzz_read(&msg, desc, json, strlen(json), JSON, 0) || msg.err == -ENOMEM,
	      "JSON that was written is refused");
	free(json);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	const struct mrpc_message_desc *desc;
	void *root;

	root = fuzz_input(data, len, &desc, TEXT, 0);
	if (!root)
		return 0;
	fuzz_round_trip(desc, root, TEXT);
	fuzz_round_trip(desc, root, BYTES);
	fuzz_copy(desc, root);
	check_json(desc, root);
	return 0;
}
