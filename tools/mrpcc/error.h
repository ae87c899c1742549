/* SPDX-License-Identifier: GPL-2.0 */
/* Complaints about the input, collected so that one run reports them all. */
#ifndef MRPCC_ERROR_H
#define MRPCC_ERROR_H

#include "buf.h"

/**
 * struct where - a place in a .proto file
 * @file: its name as protoc knows it
 * @line: from 1; 0 if unknown
 * @column: from 1
 */
struct where {
	const char *file;
	unsigned int line;
	unsigned int column;
};

struct file;
struct path;

/* Of the thing at @path of @file, else of what it is in, else of the file only. */
struct where file_where(const struct file *file, struct path path);

/* A name for a sentence: of a very long one the beginning. */
const char *shown_name(const char *name);

/* Says what is wrong and what to do about it; no full stop, no newline. */
void complain(struct where at, const char *fmt, ...) __printf(2, 3);

/* Tells the user, on stderr, what is no reason to fail. */
void remark(struct where at, const char *fmt, ...) __printf(2, 3);

unsigned int nr_complaints(void);

/* "file:line:column: sentence" lines in this order, each ended by a newline. */
const char *complaints(void);

/* Between two files that have nothing to do with each other. */
void forget_complaints(void);

#endif /* MRPCC_ERROR_H */
