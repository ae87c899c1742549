// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Stamps requests with the tenant they come from: whatever the application has written
 * into the field, the server reads the number that the operator has given to the
 * cgroup, or else to the user. Requests of other applications are rejected, because a
 * stamp is worth nothing if an unknown application can write it.
 *
 *	mrpc policy load stamp_tenant.bpf.o
 *	mrpc engine add stamp_tenant scope service kv.Store side client
 *
 * Field "tenant" is a number in the requests of the service: name yours below. Cgroup 4711
 * (the inode of its directory) is tenant 7 from here on:
 *
 *	bpftool map update pinned /sys/fs/bpf/mrpc/stamp_tenant/maps/cgroups \
 *		key hex 67 12 0 0 0 0 0 0 value hex 7 0 0 0 0 0 0 0
 */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u64);
} cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u64);
} users SEC(".maps");

enum { TENANT };
enum { STAMPED, UNKNOWN };

MRPC_POLICY(stamp_request)
{
	__u64 cgroup = ctx->cgroup, *tenant = bpf_map_lookup_elem(&cgroups, &cgroup);
	__u32 uid = ctx->uid;

	if (!bpf_mrpc_field_has(ctx, TENANT))	/* a method without it */
		return MRPC_POLICY_PASS;
	if (!tenant)
		tenant = bpf_map_lookup_elem(&users, &uid);
	if (!tenant || bpf_mrpc_field_set_num(ctx, TENANT, *tenant)) {
		bpf_mrpc_count(ctx, UNKNOWN, 1);
		bpf_mrpc_status(ctx, MRPC_POLICY_PERMISSION_DENIED, "it is of no known tenant");
		return MRPC_POLICY_REJECT;
	}
	bpf_mrpc_count(ctx, STAMPED, 1);
	return MRPC_POLICY_PASS;
}

MRPC_POLICY_OPS struct mrpc_policy_ops stamp_tenant = {
	.request_tx	= (void *)stamp_request,
	.name		= "stamp_tenant",
	.flags		= MRPC_POLICY_WRITES,
	.fields		= { [TENANT] = "tenant" },
	.counters	= { [STAMPED] = "stamped", [UNKNOWN] = "unknown" },
};
