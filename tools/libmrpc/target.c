// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Targets: where a connection goes, as one address or several, separated by commas. Besides
 * addresses they take gRPC's names: "dns:///host:port", "ipv4:10.0.0.2:7000,10.0.0.3:7000",
 * "ipv6:[fd00::2]:7000". These mean the transport tcp.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "target.h"

/* Prefixes of gRPC's names. The longest that fits comes first. */
static const char *const grpc_prefixes[] = { "dns:///", "dns:", "ipv4:", "ipv6:" };

/*
 * Makes an address of one part, @len bytes at @part. A part that begins with a digit or a bracket
 * has the transport of the one before it: it is in @address and becomes that of the next.
 */
static int part_address(const char *target, const char *part, size_t len, char *address)
{
	const char *colon = strchr(address, ':');
	size_t at = 0, i, prefix;

	if (len && ((*part >= '0' && *part <= '9') || *part == '[')) {
		if (!colon)
			return fail(EINVAL, "'%s' is not a target: it must begin with a transport, "
				    "as in 'tcp:10.0.0.2:7000'", target);
		at = (size_t)(colon - address) + 1;
	}
	for (i = 0; !at && i < ARRAY_SIZE(grpc_prefixes); i++) {
		prefix = strlen(grpc_prefixes[i]);
		if (len < prefix || strncmp(part, grpc_prefixes[i], prefix))
			continue;
		part += prefix;
		len -= prefix;
		memcpy(address, "tcp:", 4);
		at = 4;
		if (len > 1 && !strncmp(part, "//", 2))
			return fail(EINVAL, "'%s' is not a target: this host's configuration names "
				    "the name servers, so 'dns:///' is followed by the host", target);
	}
	if (at + len >= ADDRESS_TEXT)
		return fail(EINVAL, "'%.40s...' is not a target: an address has at most %d bytes",
			    target, ADDRESS_TEXT - 1);
	memcpy(address + at, part, len);
	address[at + len] = '\0';
	return 0;
}

/*
 * Goes to the next part of a target. @pos: where it begins; it becomes where the next begins, NULL
 * after the last. @address: that of the part before, "" at first. 0 or -errno.
 */
static int next_part(const char *target, const char **pos, char address[ADDRESS_TEXT])
{
	const char *part = *pos, *end = strchrnul(part, ',');

	*pos = *end ? end + 1 : NULL;
	return part_address(target, part, (size_t)(end - part), address);
}

int target_check(const char *target, bool secure)
{
	char address[ADDRESS_TEXT] = "";
	const char *pos = target;
	int err = 0;

	if (!target)
		return fail(EINVAL, "the target is missing");
	while (pos && !err) {
		err = next_part(target, &pos, address);
		if (!err)
			err = addr_check(address);
		if (!err && secure)
			err = addr_check_secure(address);
	}
	return err;
}

int target_resolve(const char *target, struct address *list, int max)
{
	char address[ADDRESS_TEXT] = "";
	int nr = 0, found, err = target_check(target, false);
	const char *pos = target;

	if (err)
		return err;
	while (pos && nr < max) {
		err = next_part(target, &pos, address);
		if (err)
			return err;
		found = addr_resolve(address, false, list + nr, max - nr);
		if (found > 0)
			nr += found;
		else
			err = found;
	}
	return nr ? nr : err;
}
