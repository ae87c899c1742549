// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cache.h"

static struct sockaddr_in server;	/* port 0: none */

/* A thread's connection. Ends with the process. */
static __thread struct {
	int fd;			/* 0: none */
	char *buffer;		/* of CACHE_BUFFER bytes */
} conn;

void cache_init(const char *address)
{
	const char *colon = address ? strrchr(address, ':') : NULL;
	char host[INET_ADDRSTRLEN] = "";

	if (!address)
		return;
	if (colon && (size_t)(colon - address) < sizeof(host))
		memcpy(host, address, (size_t)(colon - address));
	if (!colon || inet_pton(AF_INET, host, &server.sin_addr) != 1)
		errx(2, "%s is no HOST:PORT of IPv4", address);
	server.sin_family = AF_INET;
	server.sin_port = htons((unsigned short)atoi(colon + 1));
}

/* -- its answers -------------------------------------------------------------------- */

/* Digits up to a space or the end; NULL if there are none or too many. */
static const char *parse_number(const char *at, const char *end, size_t *number)
{
	const char *from = at;

	for (*number = 0; at < end && *at >= '0' && *at <= '9'; at++)
		*number = *number * 10 + (size_t)(*at - '0');
	return at == from || at - from > 10 || (at < end && *at != ' ') ? NULL : at;
}

/* A line "VALUE KEY FLAGS BYTES"; @end is its end. Return: its key, or NULL. */
static const char *parse_value(const char *line, const char *end, size_t *key_len, size_t *bytes)
{
	const char *key = line + 6, *at;
	size_t flags;

	if (end - line < 6 || memcmp(line, "VALUE ", 6))
		return NULL;
	at = memchr(key, ' ', (size_t)(end - key));
	if (!at)
		return NULL;
	*key_len = (size_t)(at - key);
	at = parse_number(at + 1, end, &flags);
	if (!at || at == end)
		return NULL;
	at = parse_number(at + 1, end, bytes);
	return at == end && *bytes <= CACHE_BUFFER ? key : NULL;
}

static int is_key(const char *key, const char *text, size_t len)
{
	return len < CACHE_KEY && !memcmp(key, text, len) && !key[len];
}

long cache_parse(const char *text, size_t len, char keys[][CACHE_KEY], size_t nr,
		 struct cached *found)
{
	const char *at = text, *end = text + len, *eol, *key;
	size_t i = 0, key_len, bytes;

	memset(found, 0, nr * sizeof(*found));
	for (;;) {
		eol = memmem(at, (size_t)(end - at), "\r\n", 2);
		if (!eol)
			return 0;
		if (eol - at == 3 && !memcmp(at, "END", 3))
			return eol + 2 - text;
		key = parse_value(at, eol, &key_len, &bytes);
		if (!key)
			return -1;
		at = eol + 2;
		if ((size_t)(end - at) < bytes + 2)
			return 0;
		if (memcmp(at + bytes, "\r\n", 2))
			return -1;
		while (i < nr && !is_key(keys[i], key, key_len))
			i++;
		if (i == nr)
			return -1;
		found[i].data = at;
		found[i++].len = bytes;
		at += bytes + 2;
	}
}

/* -- the connection ----------------------------------------------------------------- */

static void cache_drop(void)
{
	close(conn.fd);
	conn.fd = 0;
}

/* Return: whether there is a connection. */
static int cache_connect(void)
{
	int one = 1;

	if (conn.fd || !server.sin_port)
		return conn.fd > 0;
	if (!conn.buffer) {
		conn.buffer = malloc(CACHE_BUFFER);
		if (!conn.buffer)
			return 0;
	}
	conn.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (conn.fd <= 0) {
		conn.fd = 0;
		return 0;
	}
	if (connect(conn.fd, (struct sockaddr *)&server, sizeof(server)) ||
	    setsockopt(conn.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one))) {
		cache_drop();
		return 0;
	}
	return 1;
}

/* Return: whether all was sent. */
static int send_all(const char *data, size_t len)
{
	ssize_t sent;

	while (len) {
		sent = send(conn.fd, data, len, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return 0;
		data += sent;
		len -= (size_t)sent;
	}
	return 1;
}

/* After @have bytes of the buffer. Return: how many there are now; 0 if there will be no more. */
static size_t receive_more(size_t have)
{
	ssize_t got;

	do {
		got = recv(conn.fd, conn.buffer + have, CACHE_BUFFER - have, 0);
	} while (got < 0 && errno == EINTR);
	return got > 0 ? have + (size_t)got : 0;
}

void cache_get(char keys[][CACHE_KEY], size_t nr, struct cached *found)
{
	size_t len = 3, have = 0, i;
	long ret = 0;

	memset(found, 0, nr * sizeof(*found));
	if (!nr || !cache_connect())
		return;
	_Static_assert(CACHE_KEYS * (CACHE_KEY + 1) + 8 < CACHE_BUFFER, "keys fit");
	memcpy(conn.buffer, "get", 3);
	for (i = 0; i < nr; i++) {
		conn.buffer[len++] = ' ';
		len = (size_t)(stpcpy(conn.buffer + len, keys[i]) - conn.buffer);
	}
	memcpy(conn.buffer + len, "\r\n", 2);
	if (send_all(conn.buffer, len + 2)) {
		do {
			have = receive_more(have);
			ret = have ? cache_parse(conn.buffer, have, keys, nr, found) : -1;
		} while (!ret);
	}
	if (ret > 0)
		return;
	memset(found, 0, nr * sizeof(*found));
	cache_drop();
}

void cache_set(const char *key, const char *value, size_t len)
{
	size_t head, have = 0;

	if (!cache_connect() || len > CACHE_BUFFER / 2)
		return;
	head = (size_t)sprintf(conn.buffer, "set %s 0 0 %zu\r\n", key, len);
	memcpy(conn.buffer + head, value, len);
	memcpy(conn.buffer + head + len, "\r\n", 2);
	if (send_all(conn.buffer, head + len + 2)) {
		do {
			have = receive_more(have);
		} while (have && !memmem(conn.buffer, have, "\r\n", 2));
	}
	if (!have)
		cache_drop();
}
