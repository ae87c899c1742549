/* SPDX-License-Identifier: GPL-2.0 */
/* Reading protobuf field by field, without a schema. */
#ifndef MRPC_LIB_PROTOBUF_SCAN_H
#define MRPC_LIB_PROTOBUF_SCAN_H

#include "lib/protobuf/varint.h"

#define MRPC_PB_MAX_GROUPS	64U	/* nesting of groups */

/**
 * struct mrpc_pb_token - a field as it stands in a message
 * @number: of the field, not 0
 * @wire: enum mrpc_pb_wire, but never GROUP_END
 * @at: LEN: where the content begins
 * @value: VARINT, FIXED32, FIXED64: the value; LEN: bytes of the content; GROUP: 0
 */
struct mrpc_pb_token {
	u32 number;
	u32 wire;
	u32 at;
	u64 value;
};

/**
 * mrpc_pb_scan() - read one field; a group whole
 * @in: the bytes
 * @pos: in: where the field begins, less than @end; out: where the next one does
 * @end: where the message ends that has the field
 * @groups: memory for MRPC_PB_MAX_GROUPS numbers
 * @t: out: the field
 *
 * Return: NULL; or why the field is malformed, with @pos where. It is a sentence without its
 * subject, which is the position.
 */
const char *mrpc_pb_scan(const u8 *in, u32 *pos, u32 end, u32 *groups, struct mrpc_pb_token *t);

#endif /* MRPC_LIB_PROTOBUF_SCAN_H */
