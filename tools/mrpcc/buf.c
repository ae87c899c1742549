// SPDX-License-Identifier: GPL-2.0
/* Growing text and memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"

#define BYTES_PER_LINE	12

static void __attribute__((noreturn)) no_memory(void)
{
	fputs("mrpcc: out of memory\n", stderr);
	exit(1);
}

void *xalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		no_memory();
	return p;
}

void *xrealloc(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n, size);
	if (!p)
		no_memory();
	return p;
}

void buf_add(struct buf *buf, const void *data, size_t len)
{
	if (buf->cap - buf->len <= len) {
		buf->cap = (buf->len + len + 1) * 2;
		buf->data = xrealloc(buf->data, buf->cap, 1);
	}
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void buf_vprintf(struct buf *buf, const char *fmt, va_list ap)
{
	char *text;
	int len = vasprintf(&text, fmt, ap);

	if (len < 0)
		no_memory();
	buf_add(buf, text, len);
	free(text);
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(buf, fmt, ap);
	va_end(ap);
}

void buf_string(struct buf *buf, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	buf_printf(buf, "\"");
	for (; *p; p++)
		buf_printf(buf, *p < ' ' || *p >= 0x7f || strchr("\"\\?", *p) ? "\\%03o" : "%c", *p);
	buf_printf(buf, "\"");
}

void buf_bytes(struct buf *buf, const void *data, size_t len)
{
	const unsigned char *bytes = data;
	size_t i;

	for (i = 0; i < len; i++)
		buf_printf(buf, "%s0x%02x,", i % BYTES_PER_LINE ? " " : "\n\t", bytes[i]);
	buf_printf(buf, "\n");
}

const char *buf_text(const struct buf *buf)
{
	return buf->data ? buf->data : "";
}

char *xasprintf(const char *fmt, ...)
{
	struct buf buf = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&buf, fmt, ap);
	va_end(ap);
	return buf.data;
}
