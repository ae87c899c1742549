// SPDX-License-Identifier: LGPL-2.1-or-later
/* The message types of the program, by name. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mrpc_message.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* @lock protects the list. The newest comes first: of two with one name the program's own counts. */
static struct mrpc_file_desc *files;

void mrpc_file_add(struct mrpc_file_desc *file)
{
	pthread_mutex_lock(&lock);
	file->next = files;
	files = file;
	pthread_mutex_unlock(&lock);
}

void mrpc_file_remove(struct mrpc_file_desc *file)
{
	struct mrpc_file_desc **at;

	pthread_mutex_lock(&lock);
	for (at = &files; *at && *at != file; at = &(*at)->next)
		;
	if (*at)
		*at = file->next;
	pthread_mutex_unlock(&lock);
}

static int compare(const void *name, const void *message)
{
	return strcmp(name, (*(const struct mrpc_message_desc *const *)message)->name);
}

const struct mrpc_message_desc *mrpc_message_find(const char *name)
{
	const struct mrpc_message_desc *const *found = NULL;
	const struct mrpc_file_desc *file;

	pthread_mutex_lock(&lock);
	for (file = files; file && !found; file = file->next)
		found = bsearch(name, file->messages, file->nr_messages, sizeof(*found), compare);
	pthread_mutex_unlock(&lock);
	return found ? *found : NULL;
}
