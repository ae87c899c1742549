/* SPDX-License-Identifier: GPL-2.0 */
/* Complaints, texts and files. */
#ifndef MRPC_TOOL_CLI_UTIL_H
#define MRPC_TOOL_CLI_UTIL_H

#include <stddef.h>
#include <stdio.h>

/* Exit statuses. */
#define EXIT_FAILED	1
#define EXIT_USAGE	2

void __attribute__((noreturn, format(printf, 1, 2))) usage(const char *fmt, ...);
void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *fmt, ...);
char __attribute__((format(printf, 1, 2))) *text_printf(const char *fmt, ...);

/* What is printed there is @text, to be freed, when the file is closed. */
FILE *open_text(char **text, size_t *len);

/* The bytes of a file, at most @max; does not return if it cannot. */
void *read_file(const char *name, size_t max, size_t *len);

#endif /* MRPC_TOOL_CLI_UTIL_H */
