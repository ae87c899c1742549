/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_ADDR_H
#define LIBMRPC_ADDR_H

#include "internal.h"

#define ADDR_BOTH	"tcp+grpc"	/* one listener for both transports */

#define ADDRESSES_MAX	16	/* at least 2 */
#define HOST_MAX	256	/* a host's name, with its NUL */

/**
 * struct address - one address that a text stands for
 * @transport: its name
 * @addr: as in struct mrpc_connect
 * @len: its bytes
 * @host: the host as the text names it; "": it names none
 */
struct address {
	char transport[MRPC_TRANSPORT_LEN];
	u8 addr[MRPC_ADDR_LEN];
	u32 len;
	char host[HOST_MAX];
};

#define ADDRESS_TEXT	512	/* one element of a target, with its NUL */

/* Fills @list; returns how many, or -errno with the error set. */
int addr_resolve(const char *text, bool listening, struct address *list, int max);

/* Is it an address, whatever host it names? 0 or -errno, with the error set. Looks nothing up. */
int addr_check(const char *text);

/* Is it an address of a listener for both transports? */
bool addr_is_both(const char *text);

/* Can connections over its transport have TLS? 0 or -errno, with the error set. */
int addr_check_secure(const char *text);

#endif /* LIBMRPC_ADDR_H */
