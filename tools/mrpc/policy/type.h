/* SPDX-License-Identifier: GPL-2.0 */
/* The struct_ops types that policies are of. */
#ifndef MRPC_TOOL_POLICY_TYPE_H
#define MRPC_TOOL_POLICY_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct policy;

/**
 * struct policy_type - a struct_ops type that policies are of
 * @name: as the kernel calls it in policies: "policy"
 * @ops: the name of the struct
 * @size: its bytes
 * @nr_hooks: functions, which are its first members
 * @hooks: their names
 * @budget: ns that a run may take, at most
 * @check: why what is its alone is declared wrongly, to be freed; or NULL
 */
struct policy_type {
	const char *name;
	const char *ops;
	size_t size;
	size_t nr_hooks;
	const char *const *hooks;
	uint32_t budget;
	char *(*check)(const struct policy *p);
};

#define MAX_HOOKS	16

extern const struct policy_type policy_types[];	/* ends with one without a name */

/* Has it the function of that name? */
bool policy_has(const struct policy *p, const char *hook);

#endif /* MRPC_TOOL_POLICY_TYPE_H */
