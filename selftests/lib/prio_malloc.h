/* SPDX-License-Identifier: GPL-2.0 */
/* The memory of an endpoint (prio.h), where it is not counted and none fails. */
#ifndef PRIO_MALLOC_H
#define PRIO_MALLOC_H

#include <stdlib.h>

#include "lib/prio/prio.h"

static void *prio_malloc(void *ctx, size_t size)
{
	(void)ctx;
	return malloc(size);
}

static void prio_free(void *ctx, void *p, size_t size)
{
	(void)ctx;
	(void)size;
	free(p);
}

static const struct mrpc_prio_ops prio_malloc_ops = { .alloc = prio_malloc, .free = prio_free };

#endif /* PRIO_MALLOC_H */
