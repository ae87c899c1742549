/* SPDX-License-Identifier: GPL-2.0 */
/* The attributes of a request. */
#ifndef MRPC_TOOL_NL_BODY_H
#define MRPC_TOOL_NL_BODY_H

#include <stddef.h>
#include <stdint.h>

/* The attributes of a request; all zero: none. */
struct body {
	uint8_t *data;
	size_t len;
};

void body_put(struct body *b, int attr, const void *data, size_t len);
void body_append(struct body *b, const struct body *more);
void body_u8(struct body *b, int attr, uint8_t value);
void body_u32(struct body *b, int attr, uint32_t value);
void body_u64(struct body *b, int attr, uint64_t value);
void body_text(struct body *b, int attr, const char *text);
size_t body_nest(struct body *b, int attr);
void body_end(struct body *b, size_t start);
void body_free(struct body *b);

#endif /* MRPC_TOOL_NL_BODY_H */
