// SPDX-License-Identifier: GPL-2.0
/* Covers: tools/libmrpc/json tools/libmrpc/parse tools/libmrpc/put tools/libmrpc/equal tools/libmrpc/any */
/*
 * Messages in JSON. Input: a byte that chooses the type, and whether unknown names are ignored,
 * then JSON. What is accepted must come back from JSON as the same message.
 */
#include "fuzz_message.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	const struct mrpc_message_desc *desc;
	void *root;

	root = fuzz_input(data, len, &desc, JSON,
			  len && data[0] & 4 ? MRPC_PARSE_IGNORE_UNKNOWN : 0);
	if (!root)
		return 0;
	fuzz_round_trip(desc, root, JSON);
	fuzz_round_trip(desc, root, BYTES);
	fuzz_copy(desc, root);
	return 0;
}
