// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Targets: where a connection goes, as one address or several, separated by commas. Besides
 * addresses they take gRPC's names: "dns:///host:port", "ipv4:10.0.0.2:7000,10.0.0.3:7000",
 * "ipv6:[fd00::2]:7000". These mean the transport tcp. "file:/etc/kv/servers" is a file that has
 * such a target in each line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

const char *target_file(const char *target)
{
	static const char prefix[] = "file:";

	return strncmp(target, prefix, sizeof(prefix) - 1) ? NULL : target + sizeof(prefix) - 1;
}

static int check_list(const char *target, bool secure)
{
	char address[ADDRESS_TEXT] = "";
	const char *pos = target;
	int err = 0;

	while (pos && !err) {
		err = next_part(target, &pos, address);
		if (!err)
			err = addr_check(address);
		if (!err && secure)
			err = addr_check_secure(address);
	}
	return err;
}

int target_check(const char *target, bool secure)
{
	const char *path = target ? target_file(target) : NULL;

	if (!target)
		return fail(EINVAL, "the target is missing");
	if (path && *path != '/')
		return fail(EINVAL, "'%s' is not a target: 'file:' is followed by an absolute path",
			    target);
	return path ? 0 : check_list(target, secure);
}

static int resolve_list(const char *target, bool secure, struct address *list, int max)
{
	char address[ADDRESS_TEXT] = "";
	int nr = 0, found, err = check_list(target, secure);
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

/* -- files ------------------------------------------------------------------------------------- */

/* What a file has, with a NUL behind it, for free(). NULL: the error is set. */
static char *read_file(const char *path)
{
	char *text = malloc(TARGET_FILE_MAX + 2);
	ssize_t len = 0, n = 1;
	int fd, err;

	if (!text) {
		fail(ENOMEM, "out of memory");
		return NULL;
	}
	/* A pipe without a writer is a wrong file, and does not stop the thread. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	while (fd >= 0 && n > 0 && len <= TARGET_FILE_MAX) {
		n = read(fd, text + len, (size_t)(TARGET_FILE_MAX + 1 - len));
		len += n > 0 ? n : 0;
	}
	err = errno;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && n >= 0 && len <= TARGET_FILE_MAX && !memchr(text, 0, (size_t)len)) {
		text[len] = '\0';
		return text;
	}
	free(text);
	if (fd < 0 || n < 0)
		fail(err, "cannot read %s: %s", path, strerror(err));
	else
		fail(EINVAL, len > TARGET_FILE_MAX ? "%s has more than %d bytes" : "%s has a NUL",
		     path, TARGET_FILE_MAX);
	return NULL;
}

/* Takes a line off the front, without its comment and the blanks around it. */
static char *next_line(char **text)
{
	char *line = *text, *end = strchrnul(line, '\n');

	*text = *end ? end + 1 : NULL;
	*end = '\0';
	*strchrnul(line, '#') = '\0';
	line += strspn(line, " \t\r");
	for (end = line + strlen(line); end > line && strchr(" \t\r", end[-1]); end--)
		;
	*end = '\0';
	return line;
}

/*
 * All lines are checked before any name is looked up. @list: NULL: that is all. Return: 0; how many
 * addresses; -errno.
 */
static int each_line(const char *path, char *text, bool secure, struct address *list, int max)
{
	char why[ADDRESS_TEXT * 2];
	unsigned int number = 0;
	int nr = 0, found, err = 0;
	char *line;

	while (text) {
		line = next_line(&text);
		number++;
		if (!*line)
			continue;
		found = list ? resolve_list(line, secure, list + nr, max - nr) :
			       check_list(line, secure);
		if (found < 0) {
			snprintf(why, sizeof(why), "%s", mrpc_last_error());
			err = fail(-found, "%s line %u: %s", path, number, why);
			if (!list)
				return err;
			continue;
		}
		nr += found;
		if (list && nr == max)
			break;
	}
	return nr || !list ? nr : err ? err : fail(EINVAL, "%s has no address", path);
}

static int resolve_file(const char *path, bool secure, struct address *list, int max)
{
	char *text = read_file(path), *copy = text ? strdup(text) : NULL;
	int ret = -ENOMEM;

	if (!text)
		return -errno;
	if (copy)
		ret = each_line(path, copy, secure, NULL, 0);
	else
		fail(ENOMEM, "out of memory");
	if (!ret)
		ret = each_line(path, text, secure, list, max);
	free(copy);
	free(text);
	return ret;
}

int target_resolve(const char *target, bool secure, struct address *list, int max)
{
	int err = target_check(target, secure);
	const char *path;

	if (err)
		return err;
	path = target_file(target);
	return path ? resolve_file(path, secure, list, max) :
	       resolve_list(target, secure, list, max);
}
