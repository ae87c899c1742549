// SPDX-License-Identifier: GPL-2.0
/*
 * Reading protobuf field by field: see scan.h for the contract.
 */
#include "lib/protobuf/scan.h"

static const char scan_short[] = "is where a field needs more bytes than are left";

/* A varint of at most @max bytes. */
static __always_inline const char *scan_varint(const u8 *in, u32 *pos, u32 end, u32 max, u64 *v)
{
	u32 room = end - *pos, used;

	if (likely(room && in[*pos] < 0x80)) {
		*v = in[(*pos)++];
		return NULL;
	}
	used = mrpc_pb_varint_get(in + *pos, room, max, v);
	if (!used)
		return room < max ? scan_short : "is where a varint is too long";
	*pos += used;
	return NULL;
}

static __always_inline const char *scan_tag(const u8 *in, u32 *pos, u32 end,
					    struct mrpc_pb_token *t)
{
	u32 at = *pos;
	const char *why;
	u64 tag;

	why = scan_varint(in, &at, end, MRPC_PB_MAX_VARINT32, &tag);
	if (unlikely(why))
		return why;
	if (unlikely(tag > U32_MAX))
		return "is where a tag has more than 32 bits";
	t->number = tag >> 3;
	t->wire = tag & 7;
	if (unlikely(!t->number))
		return "is where a field has the number 0";
	*pos = at;
	return NULL;
}

static const char *scan_len(const u8 *in, u32 *pos, u32 end, struct mrpc_pb_token *t)
{
	u32 at = *pos;
	const char *why;

	why = scan_varint(in, &at, end, MRPC_PB_MAX_VARINT32, &t->value);
	if (unlikely(why))
		return why;
	if (unlikely(t->value > end - at))
		return "is where a length is beyond the message's end";
	t->at = at;
	*pos = at + t->value;
	return NULL;
}

/* The value of a field that is not a group. */
static __always_inline const char *scan_value(const u8 *in, u32 *pos, u32 end,
					      struct mrpc_pb_token *t)
{
	switch (t->wire) {
	case MRPC_PB_VARINT:
		return scan_varint(in, pos, end, MRPC_PB_MAX_VARINT, &t->value);
	case MRPC_PB_LEN:
		return scan_len(in, pos, end, t);
	case MRPC_PB_FIXED32:
		if (end - *pos < 4)
			return scan_short;
		t->value = get_unaligned_le32(in + *pos);
		*pos += 4;
		return NULL;
	case MRPC_PB_FIXED64:
		if (end - *pos < 8)
			return scan_short;
		t->value = get_unaligned_le64(in + *pos);
		*pos += 8;
		return NULL;
	case MRPC_PB_GROUP_END:
		return "is where a group ends that did not begin";
	default:
		return "is where a field has an unknown wire type";
	}
}

/* Passes a group whose begin is read. */
static noinline const char *scan_group(const u8 *in, u32 *pos, u32 end, u32 *groups, u32 number)
{
	struct mrpc_pb_token t;
	u32 depth = 1, at;

	groups[0] = number;
	while (depth) {
		const char *why;

		at = *pos;
		why = scan_tag(in, pos, end, &t);
		if (why)
			return why;
		if (t.wire == MRPC_PB_GROUP && depth < MRPC_PB_MAX_GROUPS) {
			groups[depth++] = t.number;
		} else if (t.wire == MRPC_PB_GROUP) {
			*pos = at;
			return "is where groups are nested too deeply";
		} else if (t.wire == MRPC_PB_GROUP_END && groups[depth - 1] == t.number) {
			depth--;
		} else {
			why = scan_value(in, pos, end, &t);
			if (why)
				return why;
		}
	}
	return NULL;
}

const char *mrpc_pb_scan(const u8 *in, u32 *pos, u32 end, u32 *groups, struct mrpc_pb_token *t)
{
	const char *why = scan_tag(in, pos, end, t);

	if (unlikely(why))
		return why;
	if (likely(t->wire != MRPC_PB_GROUP))
		return scan_value(in, pos, end, t);
	t->value = 0;
	return scan_group(in, pos, end, groups, t->number);
}
