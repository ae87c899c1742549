/* SPDX-License-Identifier: GPL-2.0 */
/* What a path's steps are: for field.c, which follows them, and field_compile.c. */
#ifndef MRPC_LIB_MESSAGE_FIELD_STEP_H
#define MRPC_LIB_MESSAGE_FIELD_STEP_H

#include "lib/message/field.h"

/* A path is any number of steps, then one leaf. */
enum {
	STEP_MESSAGE,	/* to the struct block of a message field */
	STEP_ELEMENT,	/* to element @arg of an array in the struct section */
	STEP_ENTRY,	/* to the entry of a map with the key @arg */
	LEAF_FIRST,
	LEAF_SCALAR = LEAF_FIRST,
	LEAF_HERE,	/* the message that the last step came to */
	LEAF_TEXT,
	LEAF_BYTES,
	LEAF_ITEM,	/* element @arg of an array in the byte section */
	LEAF_LIST,
	LEAF_MESSAGE,
	LEAF_LENGTH,
};

enum {
	GUARD_NONE,
	GUARD_HAS,	/* one of the bits @guard_val is set at @guard_off */
	GUARD_CASE,	/* the u32 at @guard_off is @guard_val */
};

#endif /* MRPC_LIB_MESSAGE_FIELD_STEP_H */
