/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Growing text and memory. mrpcc runs once and exits: memory is never freed,
 * and running out of it ends the program.
 */
#ifndef MRPCC_BUF_H
#define MRPCC_BUF_H

#include <stdarg.h>
#include <stddef.h>

#define __printf(fmt, args) __attribute__((format(printf, fmt, args)))

/* Zeroed; never NULL. */
void *xalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);
char *xasprintf(const char *fmt, ...) __printf(1, 2);

/**
 * struct buf - bytes that grow
 * @data: always NUL-terminated once something was added
 * @len: bytes, without that NUL
 * @cap: allocated
 */
struct buf {
	char *data;
	size_t len;
	size_t cap;
};

void buf_add(struct buf *buf, const void *data, size_t len);
void buf_printf(struct buf *buf, const char *fmt, ...) __printf(2, 3);
void buf_vprintf(struct buf *buf, const char *fmt, va_list ap) __printf(2, 0);

/* A string literal of C. */
void buf_string(struct buf *buf, const char *text);

/* The elements of an array of bytes, in lines of their own. */
void buf_bytes(struct buf *buf, const void *data, size_t len);

/* The text, "" when nothing was added. */
const char *buf_text(const struct buf *buf);

#endif /* MRPCC_BUF_H */
