/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_POLICY_DECLARE_H
#define MRPC_POLICY_DECLARE_H

#include <linux/types.h>

struct bpf_prog;
struct btf;
struct btf_member;
struct btf_type;
struct mrpc_policy_class;

bool mrpc_policy_valid(const struct mrpc_policy_class *class, const void *ops, bool ticks);
int mrpc_policy_check_member(const struct btf_type *t, const struct btf_member *member,
			     const struct bpf_prog *prog);
int mrpc_policy_init_member(const struct mrpc_policy_class *class, const struct btf_type *t,
			    const struct btf_member *member, void *kdata, const void *udata);
int mrpc_policy_btf_init(struct btf *btf);

#endif /* MRPC_POLICY_DECLARE_H */
