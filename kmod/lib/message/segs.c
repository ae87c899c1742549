// SPDX-License-Identifier: GPL-2.0
/*
 * Find a byte of a byte section: see segs.h for the contract.
 */
#include "lib/message/segs.h"

/* Bytes of a segment with its padding. */
static u32 seg_size(const struct mrpc_msg_seg *seg)
{
	return ALIGN(seg->len, 8);
}

void mrpc_seg_index(struct mrpc_seg_index *x)
{
	u32 from = 0, seg = 0, i;

	for (i = 0; i < x->nr_marks; i++) {
		while (seg < (i + 1) * MRPC_SEG_STEP)
			from += seg_size(&x->segs[seg++]);
		x->marks[i] = from;
	}
}

/* Marks that are not beyond @offset. */
static u32 marks_before(const struct mrpc_seg_index *x, u32 offset)
{
	u32 low = 0, high = x->nr_marks;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (x->marks[mid] <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Is @offset in the step of @at, and not before it? */
static bool seg_is_near(const struct mrpc_seg_index *x, const struct mrpc_seg_at *at, u32 offset)
{
	u32 next = at->seg / MRPC_SEG_STEP;

	return offset >= at->from && (next >= x->nr_marks || offset < x->marks[next]);
}

void mrpc_seg_seek(const struct mrpc_seg_index *x, struct mrpc_seg_at *at, u32 offset)
{
	if (!seg_is_near(x, at, offset)) {
		u32 step = marks_before(x, offset);

		at->seg = step * MRPC_SEG_STEP;
		at->from = step ? x->marks[step - 1] : 0;
	}
	while (offset - at->from >= seg_size(&x->segs[at->seg]))
		at->from += seg_size(&x->segs[at->seg++]);
}
