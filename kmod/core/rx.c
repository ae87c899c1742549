// SPDX-License-Identifier: GPL-2.0
/* Received messages as the engines see them: the objects. */
#include <linux/slab.h>

#include "core/conn.h"
#include "core/rpc.h"
#include "core/rx.h"

static struct kmem_cache *mrpc_rx_cache;

/**
 * mrpc_rx_new() - make the spare object of a connection
 * @conn: the connection, which has none
 *
 * Context: owner of the receive claim; may sleep.
 *
 * Return: the object, or NULL without memory.
 */
noinline struct mrpc_rx *mrpc_rx_new(struct mrpc_conn *conn)
{
	struct mrpc_rx *rx = kmem_cache_alloc(mrpc_rx_cache, GFP_KERNEL_ACCOUNT);

	if (!rx)
		return NULL;
	memset(rx, 0, offsetof(struct mrpc_rx, rpc.inl));
	rx->rpc.dir = MRPC_RX;
	conn->receive.spare = rx;
	return rx;
}

/**
 * mrpc_rx_put() - free an object
 * @rx: the object, or NULL
 */
void mrpc_rx_put(struct mrpc_rx *rx)
{
	if (rx)
		kmem_cache_free(mrpc_rx_cache, rx);
}

int __init mrpc_rx_init(void)
{
	mrpc_rx_cache = KMEM_CACHE(mrpc_rx, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	return mrpc_rx_cache ? 0 : -ENOMEM;
}

void mrpc_rx_exit(void)
{
	kmem_cache_destroy(mrpc_rx_cache);
}
