/* SPDX-License-Identifier: GPL-2.0 */
/* Rules of engines: what the actions of each type are called, and their forms. */
#ifndef MRPC_TOOL_RULES_RULES_H
#define MRPC_TOOL_RULES_RULES_H

#include <stddef.h>

void *rules_from_word(const char *type, const char *word, size_t *len);
void *rules_from_text(const char *type, const char *text, size_t *len);
char *rules_to_text(const char *type, const void *binary, size_t len);

#endif /* MRPC_TOOL_RULES_RULES_H */
