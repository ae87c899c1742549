/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_POLICY_REGISTRY_H
#define MRPC_POLICY_REGISTRY_H

#include <linux/types.h>

struct bpf_link;
struct mrpc_engine_ops;
struct mrpc_policy;
struct mrpc_policy_class;
struct mrpc_policy_look;
struct mrpc_policy_prog;

struct mrpc_policy_prog *mrpc_policy_prog_get(struct mrpc_policy *policy);
void mrpc_policy_prog_put(struct mrpc_policy_prog *prog);

/* policy/registry.c */
void mrpc_policy_drop(const struct mrpc_engine_ops *ops);
__printf(3, 4)
bool mrpc_policy_fault(struct mrpc_policy *policy, struct mrpc_policy_prog *prog,
		       const char *fmt, ...);
bool mrpc_policy_took(struct mrpc_policy *policy, struct mrpc_policy_prog *prog,
		      const char *what, u64 ns);
void mrpc_policy_look(struct mrpc_policy *policy, struct mrpc_policy_look *look);
int mrpc_policy_attach(const struct mrpc_policy_class *class, const void *ops,
		       struct bpf_link *link);
void mrpc_policy_detach(void *ops, struct bpf_link *link);
int mrpc_policy_update(void *ops, void *old, struct bpf_link *link);

#endif /* MRPC_POLICY_REGISTRY_H */
