// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arrays that grow. A reference has no place for how much room there is behind the last
 * element, so the message has a list of the arrays that were made here, newest first.
 */
#include <string.h>

#include "mrpc_message.h"

#define FIRST_ROOM	4	/* elements */
#define LOOK_AT		8	/* arrays that grow in turn; others are copied each time */

/* In the message's memory; mrpc_msg.resv[0] is the newest. */
struct grown {
	struct grown *next;
	const void *array;
	size_t room;		/* elements */
};

static size_t room_of(const struct mrpc_msg *msg, const void *array)
{
	const struct grown *g = msg->resv[0];
	unsigned int i;

	for (i = 0; g && i < LOOK_AT; i++, g = g->next)
		if (g->array == array)
			return g->room;
	return 0;
}

static void remember(struct mrpc_msg *msg, const void *array, size_t room)
{
	struct grown *g = mrpc_msg_alloc(msg, sizeof(*g), _Alignof(struct grown));

	if (!g)
		return;
	*g = (struct grown){ .next = msg->resv[0], .array = array, .room = room };
	msg->resv[0] = g;
}

void *mrpc_msg_append(struct mrpc_msg *msg, struct mrpc_ref *ref, size_t elem_size)
{
	__u32 len = ref->len;
	char *old = mrpc_ref_mut(msg->root, *ref), *array;
	size_t room;

	if (old && len < room_of(msg, old)) {
		ref->len++;
		return memset(old + len * elem_size, 0, elem_size);
	}
	room = len < FIRST_ROOM ? FIRST_ROOM : 2 * (size_t)len;
	array = mrpc_msg_alloc_array(msg, ref, room, elem_size, 8);
	if (!array)
		return NULL;
	if (old)
		memcpy(array, old, len * elem_size);
	/* After an error it may be where no reference reaches. */
	if (ref->len)
		ref->len = len + 1;
	remember(msg, array, room);
	return array + len * elem_size;
}
