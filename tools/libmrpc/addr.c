// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Addresses: "tcp:10.0.0.2:7000", "tcp:[fd00::2]:7000", "tcp:host:port",
 * "loop:name". Every transport but loop has IP addresses.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "addr.h"
#include "error.h"

#define NO_TRANSPORT	"it must begin with a transport, as in 'tcp:10.0.0.2:7000'"

static int bad(const char *text, const char *why)
{
	return fail(EINVAL, "'%s' is not an address: %s", text, why);
}

static int parse_port(const char *text, u16 *port)
{
	unsigned long value = 0;
	const char *p;

	for (p = text; *p >= '0' && *p <= '9' && value <= 65535; p++)
		value = value * 10 + (unsigned long)(*p - '0');
	if (p == text || *p || value > 65535)
		return -EINVAL;
	*port = (u16)value;
	return 0;
}

/* Splits "host:port" and "[host]:port". */
static int split(const char *text, const char *rest, char host[HOST_MAX], u16 *port)
{
	const char *end, *colon;
	size_t len;

	if (*rest == '[') {
		rest++;
		end = strchr(rest, ']');
		if (!end || end[1] != ':')
			return bad(text, "after '[' there must be ']:' and a port");
		colon = end + 1;
	} else {
		end = strrchr(rest, ':');
		if (!end)
			return bad(text, "after the transport there must be a host and a port, as "
					 "in 'tcp:10.0.0.2:7000'");
		if (memchr(rest, ':', (size_t)(end - rest)))
			return bad(text, "an IPv6 address must be in brackets");
		colon = end;
	}
	len = (size_t)(end - rest);
	if (len >= HOST_MAX)
		return bad(text, "the host name is too long");
	memcpy(host, rest, len);
	host[len] = '\0';
	if (parse_port(colon + 1, port))
		return bad(text, "the port must be a number up to 65535");
	return 0;
}

static void set_ip(struct address *a, const char *transport, const char *host, const void *sa,
		   socklen_t len, u16 port)
{
	memset(a, 0, sizeof(*a));
	snprintf(a->transport, sizeof(a->transport), "%s", transport);
	snprintf(a->host, sizeof(a->host), "%s", host);
	memcpy(a->addr, sa, len);
	a->len = len;
	/* The port is at the same place in both families. */
	((struct sockaddr_in *)a->addr)->sin_port = htons(port);
}

/* That of IPv6 stands for both. A kernel without IPv6 gets the other one. */
static int any_address(const char *transport, u16 port, struct address *list)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in in4 = { .sin_family = AF_INET };

	set_ip(&list[0], transport, "", &in6, sizeof(in6), port);
	set_ip(&list[1], transport, "", &in4, sizeof(in4), port);
	return 2;
}

static int check_ip(const char *text, const char *rest, bool listening, char host[HOST_MAX],
		    u16 *port)
{
	int err = split(text, rest, host, port);

	if (err || listening)
		return err;
	if (addr_is_both(text))
		return bad(text, "a client connects to 'tcp:' or to 'grpc:', a server listens for both");
	if (!host[0])
		return bad(text, "the host is missing");
	return *port ? 0 : bad(text, "nothing listens at port 0");
}

static int resolve_ip(const char *text, const char *transport, const char *rest, bool listening,
		      struct address *list, int max)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found, *ai;
	char host[HOST_MAX];
	int err, nr = 0;
	u16 port = 0;

	err = check_ip(text, rest, listening, host, &port);
	if (err)
		return err;
	if (!host[0])
		return any_address(transport, port, list);

	hints.ai_flags = AI_NUMERICHOST;
	err = getaddrinfo(host, NULL, &hints, &found);
	if (err == EAI_NONAME) {
		hints.ai_flags = 0;
		err = getaddrinfo(host, NULL, &hints, &found);
	}
	if (err)
		return fail(err == EAI_MEMORY ? ENOMEM : EHOSTUNREACH, "cannot find '%s': %s", host,
			    gai_strerror(err));
	for (ai = found; ai && nr < max; ai = ai->ai_next)
		if (ai->ai_family == AF_INET || ai->ai_family == AF_INET6)
			set_ip(&list[nr++], transport, host, ai->ai_addr, ai->ai_addrlen, port);
	freeaddrinfo(found);
	return nr ? nr : fail(EHOSTUNREACH, "'%s' has no IP address", host);
}

/* Abstract names: sun_path begins with a NUL. */
static int resolve_loop(const char *text, const char *name, struct address *a)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	size_t len = strlen(name);

	if (!len)
		return bad(text, "the name is missing");
	if (len > sizeof(un.sun_path) - 1)
		return bad(text, "the name is longer than 107 bytes");
	memset(a, 0, sizeof(*a));
	memcpy(un.sun_path + 1, name, len);
	snprintf(a->transport, sizeof(a->transport), "loop");
	memcpy(a->addr, &un, sizeof(un));
	a->len = (u32)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
	return 1;
}

bool addr_is_both(const char *text)
{
	return text && !strncmp(text, ADDR_BOTH ":", sizeof(ADDR_BOTH));
}

/* Takes the transport off the front. Return: what follows its colon; NULL: the error is set. */
static const char *split_transport(const char *text, char transport[MRPC_TRANSPORT_LEN])
{
	const char *colon;
	size_t len, i;

	if (!text) {
		fail(EINVAL, "the address is missing");
		return NULL;
	}
	colon = strchr(text, ':');
	len = colon ? (size_t)(colon - text) : 0;
	for (i = 0; i < len; i++)
		if (!((text[i] >= 'a' && text[i] <= 'z') ||
		      (i && ((text[i] >= '0' && text[i] <= '9') || text[i] == '_'))))
			break;
	if (addr_is_both(text))
		i = len;
	if (!colon || i < len) {
		bad(text, NO_TRANSPORT);
		return NULL;
	}
	if (len == 0 || len >= MRPC_TRANSPORT_LEN) {
		bad(text, "the transport before ':' has no name, or too long a one");
		return NULL;
	}
	memcpy(transport, text, len);
	transport[len] = '\0';
	return colon + 1;
}

int addr_resolve(const char *text, bool listening, struct address *list, int max)
{
	char transport[MRPC_TRANSPORT_LEN];
	const char *rest = split_transport(text, transport);

	if (!rest)
		return -EINVAL;
	if (!strcmp(transport, "loop"))
		return resolve_loop(text, rest, list);
	return resolve_ip(text, transport, rest, listening, list, max);
}

int addr_check(const char *text)
{
	char transport[MRPC_TRANSPORT_LEN], host[HOST_MAX];
	const char *rest = split_transport(text, transport);
	struct address a;
	u16 port;
	int ret;

	if (!rest)
		return -EINVAL;
	if (strcmp(transport, "loop"))
		return check_ip(text, rest, false, host, &port);
	ret = resolve_loop(text, rest, &a);
	return ret < 0 ? ret : 0;
}

int addr_check_secure(const char *text)
{
	char transport[MRPC_TRANSPORT_LEN];

	if (!split_transport(text, transport))
		return -EINVAL;
	if (strcmp(transport, "tcp") && strcmp(transport, "grpc") && strcmp(transport, ADDR_BOTH))
		return fail(EINVAL, "TLS is for tcp and grpc, not for %s", transport);
	return 0;
}

/* The interface of a link-local address by name, as it is written down elsewhere. */
static void format_ip6(const char *transport, const struct sockaddr_in6 *in6, char *buf,
		       size_t size)
{
	char host[INET6_ADDRSTRLEN], scope[IF_NAMESIZE + 1] = "";
	const struct in6_addr *a = &in6->sin6_addr;
	u16 port = ntohs(in6->sin6_port);

	if (IN6_IS_ADDR_V4MAPPED(a)) {
		inet_ntop(AF_INET, &a->s6_addr[12], host, sizeof(host));
		snprintf(buf, size, "%s:%s:%u", transport, host, port);
		return;
	}
	inet_ntop(AF_INET6, a, host, sizeof(host));
	if (in6->sin6_scope_id) {
		scope[0] = '%';
		if (!if_indextoname(in6->sin6_scope_id, scope + 1))
			snprintf(scope + 1, sizeof(scope) - 1, "%u", in6->sin6_scope_id);
	}
	snprintf(buf, size, "%s:[%s%s]:%u", transport, host, scope, port);
}

const char *mrpc_addr_format(const char *transport, const void *addr, char *buf, size_t size)
{
	struct sockaddr_storage ss;
	const struct sockaddr_in *in4 = (const struct sockaddr_in *)&ss;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&ss;
	const struct sockaddr_un *un = (const struct sockaddr_un *)&ss;
	char host[INET_ADDRSTRLEN];

	_Static_assert(sizeof(ss) == MRPC_ADDR_LEN, "the ABI has room for any address");
	memcpy(&ss, addr, sizeof(ss));
	switch (ss.ss_family) {
	case AF_INET:
		inet_ntop(AF_INET, &in4->sin_addr, host, sizeof(host));
		snprintf(buf, size, "%s:%s:%u", transport, host, ntohs(in4->sin_port));
		break;
	case AF_INET6:
		format_ip6(transport, in6, buf, size);
		break;
	case AF_UNIX:
		/* A NUL ends the name even if the address is not padded with them. */
		if (un->sun_path[0] || un->sun_path[1])
			snprintf(buf, size, "%s:%.107s", transport,
				 un->sun_path[0] ? un->sun_path : un->sun_path + 1);
		else	/* a client has no name */
			snprintf(buf, size, "-");
		break;
	default:
		snprintf(buf, size, "-");
	}
	return buf;
}
