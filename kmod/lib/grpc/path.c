// SPDX-License-Identifier: GPL-2.0
#include "lib/grpc/path.h"

int mrpc_grpc_path_split(const char *text, u32 len, struct mrpc_grpc_path *path)
{
	u32 slash = len;

	if (len > MRPC_GRPC_MAX_PATH || !len || text[0] != '/')
		return -EINVAL;
	while (text[--slash] != '/')
		;
	if (slash < 2 || slash == len - 1 || slash - 1 > MRPC_SCHEMA_MAX_NAME ||
	    len - 1 - slash > MRPC_SCHEMA_MAX_NAME)
		return -EINVAL;
	path->service = text + 1;
	path->service_len = slash - 1;
	path->method = text + slash + 1;
	path->method_len = len - 1 - slash;
	return 0;
}

static u32 path_say(char *buf, u32 size, u32 at, const char *text, u32 len)
{
	u32 i;

	for (i = 0; i < len && at + 1 < size; i++)
		buf[at++] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	return at;
}

u32 mrpc_grpc_path_unknown(const struct mrpc_grpc_path *path, bool method, char *buf, u32 size)
{
	const char *what = method ? "unknown method " : "unknown service ";
	u32 at = path_say(buf, size, 0, what, strlen(what));

	at = path_say(buf, size, at, path->service, path->service_len);
	if (method) {
		at = path_say(buf, size, at, "/", 1);
		at = path_say(buf, size, at, path->method, path->method_len);
	}
	buf[at] = 0;
	return at;
}
