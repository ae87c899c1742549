// SPDX-License-Identifier: GPL-2.0
/* References of transports to links. */
#include <linux/export.h>

#include "core/conn.h"
#include "core/link.h"

/**
 * mrpc_link_get() - take a reference to a link
 * @link: the link, which cannot go meanwhile
 */
void mrpc_link_get(struct mrpc_link *link)
{
	mrpc_conn_get(mrpc_link_conn(link));
}

/**
 * mrpc_link_put() - drop a reference to a link
 * @link: the link
 *
 * Context: any but hard interrupt.
 */
void mrpc_link_put(struct mrpc_link *link)
{
	mrpc_conn_put(mrpc_link_conn(link));
}
