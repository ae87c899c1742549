// SPDX-License-Identifier: GPL-2.0
/* The little of HTTP/1.1 that the exporter needs: is this a request for /metrics? */
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "metrics/http.h"

static const struct {
	int status;
	const char *reason;
} reasons[] = {
	{ 200, "OK" },
	{ 400, "Bad Request" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 408, "Request Timeout" },
	{ 431, "Request Header Fields Too Large" },
	{ 503, "Service Unavailable" },
	{ 505, "HTTP Version Not Supported" },
	{ }
};

const char *http_reason(int status)
{
	int i;

	for (i = 0; reasons[i].status; i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Internal Server Error";
}

/* What methods and names of fields are made of. Return: how many bytes are. */
static size_t token_len(const char *text, size_t len)
{
	static const char others[] = "!#$%&'*+-.^_`|~";
	size_t i;

	for (i = 0; i < len; i++) {
		char c = text[i], low = c | 0x20;

		if (!(low >= 'a' && low <= 'z') && !(c >= '0' && c <= '9') &&
		    (!c || !strchr(others, c)))
			break;
	}
	return i;
}

/* The next line without its end, which may lack the CR. Return: false: it has no end yet. */
static bool next_line(const char **text, size_t *left, const char **line, size_t *len)
{
	const char *end = memchr(*text, '\n', *left);

	if (!end)
		return false;
	*line = *text;
	*len = end - *text;
	*left -= *len + 1;
	*text = end + 1;
	if (*len && (*line)[*len - 1] == '\r')
		--*len;
	return true;
}

static bool is_clean(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
			return false;
	return true;
}

/* "GET /metrics HTTP/1.1". Return: a status; 200 is good. */
static int parse_first(const char *line, size_t len, bool *host)
{
	static const char path[] = "/metrics", version[] = "HTTP/1.";
	size_t method = token_len(line, len), target;
	const char *at = line + method + 1, *end;

	if (!method || method + 1 >= len || line[method] != ' ' || !is_clean(line, len))
		return 400;
	end = memchr(at, ' ', line + len - at);
	if (!end || end == at)
		return 400;
	target = end - at;
	end++;
	if ((size_t)(line + len - end) != sizeof(version) || memcmp(end, "HTTP/", 5))
		return 400;
	if (memcmp(end, version, sizeof(version) - 1) ||
	    (end[sizeof(version) - 1] != '0' && end[sizeof(version) - 1] != '1'))
		return 505;
	*host = end[sizeof(version) - 1] == '0';	/* HTTP/1.0 needs none */
	if (method != 3 || memcmp(line, "GET", 3))
		return 405;
	if (target < sizeof(path) - 1 || memcmp(at, path, sizeof(path) - 1) ||
	    (target > sizeof(path) - 1 && at[sizeof(path) - 1] != '?'))
		return 404;
	return 200;
}

/**
 * http_parse() - look at what has come of a request
 * @text: bytes of a client
 * @len: how many
 *
 * What stands behind the request is not looked at.
 * Return: 0: it is not complete; or the status of the answer.
 */
int http_parse(const char *text, size_t len)
{
	const char *line;
	bool host = false;
	size_t size, name;
	int status;

	if (!next_line(&text, &len, &line, &size))
		return 0;
	status = parse_first(line, size, &host);
	if (status == 400)
		return 400;	/* what follows may be anything */
	while (next_line(&text, &len, &line, &size)) {
		if (!size)
			return status == 200 && !host ? 400 : status;
		name = token_len(line, size);
		if (!name || name == size || line[name] != ':' || !is_clean(line, size))
			return 400;
		if (name == 4 && !strncasecmp(line, "host", 4))
			host = true;
	}
	return 0;
}
