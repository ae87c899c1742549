/* SPDX-License-Identifier: GPL-2.0 */
/* Keys and values of maps, as their types say. */
#ifndef MRPC_TOOL_POLICY_BTF_VALUE_H
#define MRPC_TOOL_POLICY_BTF_VALUE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct btf;

void btf_value_parse(const struct btf *btf, uint32_t id, const char *word, void *data, size_t size);
void btf_value_print(FILE *out, const struct btf *btf, uint32_t id, const void *data, size_t size);

#endif /* MRPC_TOOL_POLICY_BTF_VALUE_H */
