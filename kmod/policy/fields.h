/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_POLICY_FIELDS_H
#define MRPC_POLICY_FIELDS_H

#include <linux/types.h>

#include "policy/policy.h"

struct mrpc_policy_decl;
struct mrpc_schema;

/* policy/fields.c */
int mrpc_policy_check_fields(const struct mrpc_policy_decl *decl);
struct mrpc_policy_bound *mrpc_policy_bind(struct mrpc_policy_prog *prog,
					   struct mrpc_schema *schema);
void mrpc_policy_unbind(struct mrpc_policy_prog *prog, struct mrpc_policy_bound *b);
bool mrpc_policy_serves(const struct mrpc_policy_prog *next, struct mrpc_policy_prog *now,
			char *why, size_t size);

#endif /* MRPC_POLICY_FIELDS_H */
