// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The network interface at which ranks meet; see interface.h.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include "error.h"
#include "interface.h"

bool interface_is_in(const char *names, const char *name)
{
	bool others = *names == '^', whole;
	size_t len;

	names += others;
	whole = *names == '=';
	names += whole;
	for (;;) {
		len = strcspn(names, ",");
		if (len && !strncmp(names, name, len) && (!whole || !name[len]))
			return !others;
		if (!names[len])
			return others;
		names += len + 1;
	}
}

static bool is_usable(const struct ifaddrs *i, int family)
{
	const struct sockaddr_in6 *in6 = (const void *)i->ifa_addr;

	if (!(i->ifa_flags & IFF_UP) || !i->ifa_addr || i->ifa_addr->sa_family != family)
		return false;
	return family == AF_INET || !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr);
}

static bool find_family(const struct ifaddrs *list, const char *names, int family,
			struct sockaddr_storage *address)
{
	const struct ifaddrs *i;

	for (i = list; i; i = i->ifa_next)
		if (is_usable(i, family) && interface_is_in(names, i->ifa_name))
			break;
	if (!i)
		return false;
	memset(address, 0, sizeof(*address));
	memcpy(address, i->ifa_addr, family == AF_INET ? sizeof(struct sockaddr_in) :
							 sizeof(struct sockaddr_in6));
	return true;
}

static bool find(const struct ifaddrs *list, const char *names, struct sockaddr_storage *address)
{
	return find_family(list, names, AF_INET, address) ||
	       find_family(list, names, AF_INET6, address);
}

ncclResult_t interface_address(const char *names, struct sockaddr_storage *address)
{
	struct ifaddrs *list;
	bool found;

	if (getifaddrs(&list))
		return fail(ncclSystemError,
			    "ncclGetUniqueId: cannot list the network interfaces: %s",
			    strerror(errno));
	if (names && *names)
		found = find(list, names, address);
	else
		found = find(list, "^docker,lo", address) || find(list, "^", address);
	freeifaddrs(list);
	if (found)
		return ncclSuccess;
	if (names && *names)
		return fail(ncclInvalidUsage,
			    "ncclGetUniqueId: no interface has a name of NCCL_SOCKET_IFNAME '%s'",
			    names);
	return fail(ncclSystemError, "ncclGetUniqueId: no network interface is up with an address");
}
