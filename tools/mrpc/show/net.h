/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of IPv4 and IPv6, alone or by their first bits. */
#ifndef MRPC_TOOL_SHOW_NET_H
#define MRPC_TOOL_SHOW_NET_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct net - addresses
 * @addr: of version 4 mapped into version 6
 * @bits: of it that count
 */
struct net {
	uint8_t addr[16];
	unsigned long bits;
};

/**
 * net_parse() - read "ADDRESS" or "ADDRESS/BITS"
 * @text: the text
 * @net: out
 *
 * Return: false: that is neither.
 */
bool net_parse(const char *text, struct net *net);

/**
 * net_has() - whether an address is one of @net
 * @net: addresses
 * @ip: as the kernel's answers have it, perhaps with a device behind "%"
 *
 * Return: false: it is not, or is no address.
 */
bool net_has(const struct net *net, const char *ip);

#endif /* MRPC_TOOL_SHOW_NET_H */
