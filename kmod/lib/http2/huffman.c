// SPDX-License-Identifier: GPL-2.0
/*
 * The decoder takes four bits at a time. A state is a node inside the tree of codes. The shortest
 * code has five bits, so that a step ends at most one code.
 */
#include "lib/http2/huffman.h"

#define HUFFMAN_EMIT	1	/* a code ends within the four bits */
#define HUFFMAN_END	2	/* the string may end behind the four bits */
#define HUFFMAN_FAIL	4	/* EOS */

struct huffman_step {
	u8 next;
	u8 flags;
	u8 symbol;
};

#include "lib/http2/huffman_table.h"

/* Where a string's decoder stands. */
struct huffman_at {
	u8 state;
	u8 flags;
	u32 len;
};

static inline void huffman_step(struct huffman_at *at, u32 bits, u8 *out, u32 room)
{
	const struct huffman_step *step = &huffman_steps[at->state][bits];

	if (step->flags & HUFFMAN_EMIT) {
		if (at->len < room)
			out[at->len] = step->symbol;
		at->len++;
	}
	at->state = step->next;
	at->flags = step->flags;
}

int mrpc_huffman_decode(const u8 *in, u32 len, u8 *out, u32 room)
{
	struct huffman_at at = { .flags = HUFFMAN_END };
	u32 i;

	for (i = 0; i < len; i++) {
		huffman_step(&at, in[i] >> 4, out, room);
		if (unlikely(at.flags & HUFFMAN_FAIL))
			return -EBADMSG;
		huffman_step(&at, in[i] & 15, out, room);
		if (unlikely(at.flags & HUFFMAN_FAIL))
			return -EBADMSG;
	}
	return at.flags & HUFFMAN_END ? (int)at.len : -EBADMSG;
}
