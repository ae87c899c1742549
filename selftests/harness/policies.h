/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies in eBPF for tests.
 */
#ifndef POLICIES_H
#define POLICIES_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/mrpc_policy.h>

/**
 * struct policy - an object file, and one policy of it
 * @obj: the loaded object
 * @ops: the policy's map
 * @link: or NULL
 */
struct policy {
	struct bpf_object *obj;
	struct bpf_map *ops;
	struct bpf_link *link;
};

/* Opens one of selftests/bpf/, or one of bpf/. Dies if it does not exist. */
void policy_open(struct policy *policy, const char *file, const char *name);
void policy_example(struct policy *policy, const char *name);
/* The declaration, which a test may change before it is loaded. */
struct mrpc_policy_ops *policy_ops(struct policy *policy);
/* The same for a policy of any type. */
struct mrpc_policy_decl *policy_decl(struct policy *policy);

int policy_load(struct policy *policy);		/* 0 or -errno, as the next */
int policy_attach(struct policy *policy);
/* Loads and attaches the policy; dies if it is refused. */
void policy_start(struct policy *policy);
/* policy_open() of one of selftests/bpf/, and policy_start(). */
void policy_begin(struct policy *policy, const char *file, const char *name);
/* The policy must be refused when it is loaded or attached. Return: the error. */
int policy_refused(struct policy *policy);
void policy_detach(struct policy *policy);
void policy_close(struct policy *policy);

int policy_map_fd(const struct policy *policy, const char *name);
/* Dies if the key cannot be set, or does not exist. */
void policy_map_set(const struct policy *policy, const char *name, const void *key,
		    const void *value);
void policy_map_get(const struct policy *policy, const char *name, const void *key, void *value);

#endif /* POLICIES_H */
