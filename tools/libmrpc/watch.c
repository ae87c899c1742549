// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files with addresses. A thread of the channel looks every now and then whether its file is another
 * one. An inotify descriptor would tell at once, but those threads sleep on a futex, and it would
 * miss changes on file systems of other hosts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "target.h"
#include "watch.h"

struct watch *watch_new(const char *target)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->target = target;
	return w;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool watch_has_changed(struct watch *w)
{
	struct stat seen = w->seen;

	if (stat(target_file(w->target), &w->seen))
		memset(&w->seen, 0, sizeof(w->seen));
	return w->seen.st_dev != seen.st_dev || w->seen.st_ino != seen.st_ino ||
	       w->seen.st_size != seen.st_size || !same_time(&w->seen.st_mtim, &seen.st_mtim) ||
	       !same_time(&w->seen.st_ctim, &seen.st_ctim);
}

int watch_take(struct watch *w, struct address list[ADDRESSES_MAX], int nr)
{
	if (nr > 0) {
		memcpy(w->list, list, (size_t)nr * sizeof(*list));
		w->nr = nr;
		w->why[0] = '\0';
		return nr;
	}
	snprintf(w->why, sizeof(w->why), "%s", mrpc_last_error());
	if (!w->nr)
		return nr;
	memcpy(list, w->list, (size_t)w->nr * sizeof(*list));
	return w->nr;
}
