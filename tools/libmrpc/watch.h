/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_WATCH_H
#define LIBMRPC_WATCH_H

#include <sys/stat.h>

#include "addr.h"

#define WATCH_NS	1000000000u	/* between looks at a target's file */

/**
 * struct watch - the file that a target names
 * The lock of the channel protects all of it but @target and @seen.
 *
 * @target: the target; does not change
 * @next: when to look at it again
 * @looks: a thread does
 * @seen: what it was then; belongs to the thread that has set @looks
 * @list: the addresses that it has had when it was right for the last time
 * @nr: how many; 0: it was never right
 * @why: what is wrong with it, or ""
 */
struct watch {
	const char *target;
	u64 next;
	bool looks;
	struct stat seen;
	struct address list[ADDRESSES_MAX];
	int nr;
	char why[MRPC_MAX_DETAIL];
};

/* NULL: without memory. @target: stays the caller's. free() ends it. */
struct watch *watch_new(const char *target);

/* Has the file changed since the last look? */
bool watch_has_changed(struct watch *w);

/*
 * target_resolve() has returned @nr. If the file was wrong, @list becomes what it has had before.
 * Return: how many, or @nr if it was never right.
 */
int watch_take(struct watch *w, struct address list[ADDRESSES_MAX], int nr);

#endif /* LIBMRPC_WATCH_H */
