/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find a byte of a byte section that consists of many segments.
 *
 * The receiver of a message chooses which bytes are sent again, so it costs the same wherever
 * they are: every MRPC_SEG_STEP-th segment's offset is kept, and no more than so many segments
 * are walked.
 */
#ifndef MRPC_LIB_MESSAGE_SEGS_H
#define MRPC_LIB_MESSAGE_SEGS_H

#include "lib/message/message.h"

#define MRPC_SEG_STEP	64U	/* segments */

/**
 * struct mrpc_seg_index - the segments of one byte section
 * @segs: the segments; a byte section has the padding of each to 8 bytes, too
 * @marks: offset of segment MRPC_SEG_STEP * (i + 1); may be NULL if there are none
 * @nr_marks: mrpc_seg_marks()
 */
struct mrpc_seg_index {
	const struct mrpc_msg_seg *segs;
	u32 *marks;
	u32 nr_marks;
};

/**
 * struct mrpc_seg_at - a segment of a byte section
 * @seg: its number
 * @from: offset of its first byte in the section
 */
struct mrpc_seg_at {
	u32 seg;
	u32 from;
};

/** mrpc_seg_marks() - marks that an index of @nr_segs segments has */
static inline u32 mrpc_seg_marks(u32 nr_segs)
{
	return nr_segs ? (nr_segs - 1) / MRPC_SEG_STEP : 0;
}

/** mrpc_seg_index() - fill the marks of @x, of which everything else is set */
void mrpc_seg_index(struct mrpc_seg_index *x);

/**
 * mrpc_seg_seek() - go to the segment that has a byte
 * @x: the segments
 * @at: in: any segment, best the one of the byte before; out: the one of @offset
 * @offset: the byte, which one of the segments or its padding has
 */
void mrpc_seg_seek(const struct mrpc_seg_index *x, struct mrpc_seg_at *at, u32 offset);

#endif /* MRPC_LIB_MESSAGE_SEGS_H */
