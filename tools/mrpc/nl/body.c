// SPDX-License-Identifier: GPL-2.0
/* The attributes of a request. */
#include <stdlib.h>
#include <string.h>

#include <linux/netlink.h>

#include "cli/util.h"
#include "nl/body.h"

static void body_grow(struct body *b, size_t more)
{
	b->data = realloc(b->data, b->len + more);
	if (!b->data)
		fail("out of memory");
}

void body_put(struct body *b, int attr, const void *data, size_t len)
{
	struct nlattr nla = { .nla_len = NLA_HDRLEN + len, .nla_type = attr };
	size_t size = NLA_HDRLEN + NLA_ALIGN(len);

	if (len > UINT16_MAX - NLA_HDRLEN)
		fail("a value of %zu bytes is too long for a request", len);
	body_grow(b, size);
	memset(b->data + b->len, 0, size);
	memcpy(b->data + b->len, &nla, sizeof(nla));
	if (len)
		memcpy(b->data + b->len + NLA_HDRLEN, data, len);
	b->len += size;
}

/* Adds the attributes of another request. */
void body_append(struct body *b, const struct body *more)
{
	if (!more->len)
		return;
	body_grow(b, more->len);
	memcpy(b->data + b->len, more->data, more->len);
	b->len += more->len;
}

void body_u8(struct body *b, int attr, uint8_t value)
{
	body_put(b, attr, &value, sizeof(value));
}

void body_u32(struct body *b, int attr, uint32_t value)
{
	body_put(b, attr, &value, sizeof(value));
}

void body_u64(struct body *b, int attr, uint64_t value)
{
	body_put(b, attr, &value, sizeof(value));
}

void body_text(struct body *b, int attr, const char *text)
{
	body_put(b, attr, text, strlen(text) + 1);
}

/* Begins a nest. Return: what body_end() needs to end it. */
size_t body_nest(struct body *b, int attr)
{
	size_t start = b->len;

	body_put(b, attr | NLA_F_NESTED, NULL, 0);
	return start;
}

void body_end(struct body *b, size_t start)
{
	uint16_t len = b->len - start;

	if (b->len - start > UINT16_MAX)
		fail("a value of %zu bytes is too long for a request", b->len - start);
	memcpy(b->data + start, &len, sizeof(len));
}

void body_free(struct body *b)
{
	free(b->data);
	*b = (struct body) { };
}
