// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of communicators: "mrpc-nccl-1 TOKEN ADDRESS". The token is "-" if there is none.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "error.h"
#include "interface.h"
#include "port.h"
#include "unique_id.h"

#define FORM	"mrpc-nccl-1"

_Static_assert(sizeof(FORM) + TOKEN_TEXT + ADDRESS_TEXT <= NCCL_UNIQUE_ID_BYTES, "it has room");

void unique_id_encode(ncclUniqueId *id, const struct unique_id *content)
{
	memset(id, 0, sizeof(*id));
	snprintf(id->internal, sizeof(id->internal), FORM " %s %s",
		 content->token[0] ? content->token : "-", content->address);
}

ncclResult_t unique_id_decode(const ncclUniqueId *id, struct unique_id *content)
{
	char end;

	if (!memchr(id->internal, 0, sizeof(id->internal)) ||
	    sscanf(id->internal, FORM " %32s %80s%c", content->token, content->address, &end) != 2)
		return fail(ncclInvalidArgument,
			    "the ncclUniqueId was not made by ncclGetUniqueId() of this library");
	if (!strcmp(content->token, "-"))
		content->token[0] = '\0';
	return ncclSuccess;
}

static ncclResult_t draw_token(char token[TOKEN_TEXT])
{
	uint8_t bytes[(TOKEN_TEXT - 1) / 2];
	size_t i;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return fail(ncclSystemError, "ncclGetUniqueId: no random bytes");
	for (i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return ncclSuccess;
}

/* The address that the environment says. */
static ncclResult_t take_address(struct unique_id *content, const char *address)
{
	const char *colon = strrchr(address, ':');

	if (!colon || colon == address || !colon[1] || strpbrk(address, " \t\n\v\f\r"))
		return fail(ncclInvalidUsage,
			    "ncclGetUniqueId: NCCL_COMM_ID is '%s', and must be HOST:PORT",
			    address);
	if (snprintf(content->address, sizeof(content->address), "tcp:%s", address) >=
	    (int)sizeof(content->address))
		return fail(ncclInvalidUsage,
			    "ncclGetUniqueId: NCCL_COMM_ID has %zu bytes, and may have %zu",
			    strlen(address), sizeof(content->address) - sizeof("tcp:"));
	content->token[0] = '\0';
	return ncclSuccess;
}

/* An address of this host, at a port that is free. */
static ncclResult_t find_address(struct unique_id *content)
{
	struct sockaddr_storage host;
	ncclResult_t result;

	result = interface_address(getenv("NCCL_SOCKET_IFNAME"), &host);
	if (result == ncclSuccess)
		result = draw_token(content->token);
	if (result == ncclSuccess)
		result = port_keep(&host, content);
	return result;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
	const char *address = getenv("NCCL_COMM_ID");
	struct unique_id content;
	ncclResult_t result;

	if (!id)
		return fail(ncclInvalidArgument, "ncclGetUniqueId: the pointer is NULL");
	result = address && *address ? take_address(&content, address) : find_address(&content);
	if (result == ncclSuccess)
		unique_id_encode(id, &content);
	return result;
}
