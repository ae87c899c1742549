/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_ADDR_H
#define LIBMRPC_ADDR_H

#include "internal.h"

#define ADDRESSES_MAX	8	/* at least 2 */

/**
 * struct address - one address that a text stands for
 * @transport: its name
 * @addr: as in struct mrpc_connect
 * @len: its bytes
 */
struct address {
	char transport[MRPC_TRANSPORT_LEN];
	u8 addr[MRPC_ADDR_LEN];
	u32 len;
};

/* Fills @list; returns how many, or -errno with the error set. */
int addr_resolve(const char *text, bool listening, struct address *list, int max);

#endif /* LIBMRPC_ADDR_H */
