// SPDX-License-Identifier: GPL-2.0
/*
 * What policies of all classes declare, and what the verifier and the maps of struct_ops ask
 * about their programs.
 */
#include <linux/btf.h>
#include <linux/ctype.h>
#include <linux/filter.h>

#include "policy/declare.h"
#include "policy/fields.h"
#include "policy/policy.h"

/* This module's; NULL: there is none, nor are there policies. */
struct btf *mrpc_policy_btf;

/* -- what is declared ------------------------------------------------------------- */

static bool policy_word_valid(const char *name, size_t size)
{
	size_t len = strnlen(name, size), i;

	for (i = 0; i < len; i++)
		if (!islower(name[i]) && !isdigit(name[i]) && name[i] != '_' && name[i] != '-')
			return false;
	return len && len < size;
}

static bool policy_counters_valid(const struct mrpc_policy_decl *decl)
{
	bool ended = false;
	u32 i;

	for (i = 0; i < MRPC_POLICY_COUNTERS; i++) {
		if (!*decl->counters[i])
			ended = true;
		else if (ended || !policy_word_valid(decl->counters[i], MRPC_POLICY_COUNTER))
			return false;
	}
	return true;
}

static bool policy_period_valid(const struct mrpc_policy_decl *decl, bool ticks)
{
	if (!ticks)
		return !decl->period;
	return decl->period >= NSEC_PER_MSEC && decl->period <= 3600 * NSEC_PER_SEC;
}

/**
 * mrpc_policy_valid() - is what a policy declares well-formed?
 * @class: its class
 * @ops: the struct of that class
 * @ticks: it has a tick
 *
 * Whether connections have its fields is another matter.
 */
bool mrpc_policy_valid(const struct mrpc_policy_class *class, const void *ops, bool ticks)
{
	const struct mrpc_policy_decl *decl = mrpc_policy_decl(class, ops);

	return policy_word_valid(decl->name, MRPC_POLICY_NAME) && !(decl->flags & ~class->flags) &&
	       decl->storage <= MRPC_POLICY_STORAGE && decl->budget <= class->budget_max &&
	       policy_period_valid(decl, ticks) && mrpc_policy_check_fields(decl) >= 0 &&
	       policy_counters_valid(decl);
}

/* -- struct bpf_struct_ops ---------------------------------------------------------- */

/* Programs are called under RCU. */
int mrpc_policy_check_member(const struct btf_type *t, const struct btf_member *member,
			     const struct bpf_prog *prog)
{
	return prog->sleepable ? -EINVAL : 0;
}

/* Functions are the map's; all data goes as it is, to be validated as a whole. */
int mrpc_policy_init_member(const struct mrpc_policy_class *class, const struct btf_type *t,
			    const struct btf_member *member, void *kdata, const void *udata)
{
	u32 off = __btf_member_bit_offset(t, member) / 8;

	if (off < class->decl)
		return 0;
	if (off == class->decl)
		memcpy(kdata + off, udata + off, class->size - off);
	return 1;
}

int mrpc_policy_btf_init(struct btf *btf)
{
	mrpc_policy_btf = btf;
	return 0;
}

static bool policy_is_valid_access(int off, int size, enum bpf_access_type type,
				   const struct bpf_prog *prog, struct bpf_insn_access_aux *info)
{
	return bpf_tracing_btf_ctx_access(off, size, type, prog, info);
}

static const struct bpf_func_proto *policy_func_proto(enum bpf_func_id id,
						      const struct bpf_prog *prog)
{
	return bpf_base_func_proto(id, prog);
}

const struct bpf_verifier_ops mrpc_policy_verifier_ops = {
	.get_func_proto		= policy_func_proto,
	.is_valid_access	= policy_is_valid_access,
};
