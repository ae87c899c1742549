// SPDX-License-Identifier: GPL-2.0
/* Addresses of IPv4 and IPv6, alone or by their first bits. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "cli/util.h"
#include "show/net.h"

bool net_parse(const char *text, struct net *net)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char *copy = text_printf("%s", text), *slash = strchr(copy, '/'), *end = "";
	unsigned long most = 128, bits;
	bool ok;

	if (slash)
		*slash = 0;
	if (inet_pton(AF_INET, copy, net->addr + 12) == 1) {
		memcpy(net->addr, mapped, sizeof(mapped));
		most = 32;
		ok = true;
	} else {
		ok = inet_pton(AF_INET6, copy, net->addr) == 1;
	}
	bits = most;
	if (slash) {
		bits = strtoul(slash + 1, &end, 10);
		ok = ok && slash[1] >= '0' && slash[1] <= '9' && !*end && bits <= most;
	}
	net->bits = bits + 128 - most;
	free(copy);
	return ok;
}

bool net_has(const struct net *net, const char *ip)
{
	char *plain = text_printf("%.*s", (int)strcspn(ip, "%"), ip);
	unsigned int bytes = net->bits / 8, rest = net->bits % 8;
	struct net one;
	bool has;

	has = net_parse(plain, &one) && !memcmp(net->addr, one.addr, bytes) &&
	      (!rest || !((net->addr[bytes] ^ one.addr[bytes]) >> (8 - rest)));
	free(plain);
	return has;
}
