// SPDX-License-Identifier: GPL-2.0
#include "lib/grpc/encoding.h"
#include "lib/grpc/field.h"

static const char *const encoding_names[] = {
	[MRPC_GRPC_IDENTITY] = "identity",
	[MRPC_GRPC_DEFLATE] = "deflate",
	[MRPC_GRPC_GZIP] = "gzip",
};

static_assert(ARRAY_SIZE(encoding_names) == MRPC_GRPC_ENCODING_UNKNOWN);

u8 mrpc_grpc_encoding_parse(const u8 *text, u32 len)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(encoding_names); i++)
		if (len == strlen(encoding_names[i]) && !memcmp(text, encoding_names[i], len))
			return i;
	return MRPC_GRPC_ENCODING_UNKNOWN;
}

u8 mrpc_grpc_accept_parse(const u8 *text, u32 len)
{
	u8 set = MRPC_GRPC_ACCEPT_IDENTITY;
	u32 start, end, n;

	for (start = 0; start < len; start = end + 1) {
		const u8 *name;

		for (end = start; end < len && text[end] != ','; end++)
			;
		name = mrpc_grpc_trim(text + start, end - start, &n);
		set |= BIT(mrpc_grpc_encoding_parse(name, n));
	}
	return set & ~BIT(MRPC_GRPC_ENCODING_UNKNOWN);
}

void mrpc_grpc_put_encoding(struct mrpc_grpc_out *out, u8 encoding)
{
	mrpc_grpc_put(out, "grpc-encoding", sizeof("grpc-encoding") - 1, encoding_names[encoding],
		      strlen(encoding_names[encoding]), MRPC_GRPC_INDEX);
}

void mrpc_grpc_put_accept(struct mrpc_grpc_out *out, u8 accept)
{
	static const char *const lists[] = {
		"identity", "identity,deflate", "identity,gzip", "identity,deflate,gzip",
	};
	const char *list = lists[(accept & MRPC_GRPC_ACCEPT_DEFLATE ? 1 : 0) +
				 (accept & MRPC_GRPC_ACCEPT_GZIP ? 2 : 0)];

	mrpc_grpc_put(out, "grpc-accept-encoding", sizeof("grpc-accept-encoding") - 1, list,
		      strlen(list), MRPC_GRPC_INDEX);
}
