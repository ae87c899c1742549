// SPDX-License-Identifier: GPL-2.0
/*
 * Policies in eBPF, in the hands of tests; see policies.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies.h"
#include "raw.h"

static int policy_say(enum libbpf_print_level level, const char *format, va_list args)
{
	char line[512];

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(line, sizeof(line), format, args);
	line[strcspn(line, "\n")] = 0;
	printf("# %s\n", line);
	return 0;
}

static void policy_open_in(struct policy *policy, const char *dir, const char *file,
			   const char *name)
{
	char path[512];

	libbpf_set_print(policy_say);
	snprintf(path, sizeof(path), "%s/%s/%s.bpf.o", getenv("MRPC_BUILD"), dir, file);
	memset(policy, 0, sizeof(*policy));
	policy->obj = bpf_object__open_file(path, NULL);
	if (!policy->obj)
		raw_die("%s: %s", path, strerror(errno));
	policy->ops = bpf_object__find_map_by_name(policy->obj, name);
	if (!policy->ops)
		raw_die("%s has no policy '%s'", path, name);
}

void policy_open(struct policy *policy, const char *file, const char *name)
{
	policy_open_in(policy, "selftests/bpf", file, name);
}

void policy_example(struct policy *policy, const char *name)
{
	policy_open_in(policy, "bpf", name, name);
}

struct mrpc_policy_ops *policy_ops(struct policy *policy)
{
	size_t size;
	struct mrpc_policy_ops *ops = bpf_map__initial_value(policy->ops, &size);

	if (size != sizeof(*ops))
		raw_die("a policy of %zu bytes, not %zu", size, sizeof(*ops));
	return ops;
}

struct mrpc_policy_decl *policy_decl(struct policy *policy)
{
	size_t size;
	void *ops = bpf_map__initial_value(policy->ops, &size);

	return ops + size - sizeof(struct mrpc_policy_decl);
}

int policy_load(struct policy *policy)
{
	return bpf_object__load(policy->obj);
}

int policy_attach(struct policy *policy)
{
	policy->link = bpf_map__attach_struct_ops(policy->ops);
	return policy->link ? 0 : -errno;
}

void policy_start(struct policy *policy)
{
	int err = policy_load(policy) ?: policy_attach(policy);

	if (err)
		raw_die("a policy is refused: %s", strerror(-err));
}

void policy_begin(struct policy *policy, const char *file, const char *name)
{
	policy_open(policy, file, name);
	policy_start(policy);
}

int policy_refused(struct policy *policy)
{
	int err = policy_load(policy) ?: policy_attach(policy);

	policy_close(policy);
	return err;
}

void policy_detach(struct policy *policy)
{
	bpf_link__destroy(policy->link);
	policy->link = NULL;
}

void policy_close(struct policy *policy)
{
	policy_detach(policy);
	bpf_object__close(policy->obj);
	policy->obj = NULL;
}

int policy_map_fd(const struct policy *policy, const char *name)
{
	return bpf_object__find_map_fd_by_name(policy->obj, name);
}

void policy_map_set(const struct policy *policy, const char *name, const void *key,
		    const void *value)
{
	if (bpf_map_update_elem(policy_map_fd(policy, name), key, value, 0))
		raw_die("map '%s': %s", name, strerror(errno));
}

void policy_map_get(const struct policy *policy, const char *name, const void *key, void *value)
{
	if (bpf_map_lookup_elem(policy_map_fd(policy, name), key, value))
		raw_die("map '%s': %s", name, strerror(errno));
}
