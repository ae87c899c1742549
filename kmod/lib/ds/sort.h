/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's sort_r(), natively by that of the C library, which needs _GNU_SOURCE. */
#ifndef MRPC_LIB_DS_SORT_H
#define MRPC_LIB_DS_SORT_H

#ifdef __KERNEL__

#include <linux/sort.h>

#else

#include <stdlib.h>

struct sort_native {
	int (*cmp)(const void *a, const void *b, const void *priv);
	const void *priv;
};

static inline int sort_native_cmp(const void *a, const void *b, void *arg)
{
	const struct sort_native *s = arg;

	return s->cmp(a, b, s->priv);
}

static inline void sort_r(void *base, size_t num, size_t size,
			  int (*cmp)(const void *a, const void *b, const void *priv),
			  void (*swap_func)(void *a, void *b, int size, const void *priv),
			  const void *priv)
{
	struct sort_native s = { cmp, priv };

	(void)swap_func;
	qsort_r(base, num, size, sort_native_cmp, &s);
}

#endif
#endif /* MRPC_LIB_DS_SORT_H */
