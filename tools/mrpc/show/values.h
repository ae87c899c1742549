/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers with units, as people write them. */
#ifndef MRPC_TOOL_SHOW_VALUES_H
#define MRPC_TOOL_SHOW_VALUES_H

#include <stdbool.h>
#include <stdint.h>

struct args;

bool parse_value(const char *word, const char *unit, uint64_t *value, char **why);
char *text_value(uint64_t value, const char *unit);
uint64_t need_time(struct args *args, const char *what);

#endif /* MRPC_TOOL_SHOW_VALUES_H */
