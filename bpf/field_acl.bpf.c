// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Access by a field: requests with a "text" that is in the map "denied" are rejected. The
 * map has room for a million keys, and user space edits it while calls pass:
 *
 *	mrpc policy load field_acl.bpf.o
 *	mrpc engine add field_acl
 *	bpftool map update pinned /sys/fs/bpf/mrpc/field_acl/maps/denied \
 *		key hex ... value hex 01
 *
 * Keys are filled up with zeros to 64 bytes. Whatever it denies never leaves the client's host;
 * placed at the server's host, too, it does not depend on the client's.
 */
#include "mrpc_policy.bpf.h"

#define KEY_LEN	64

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1000000);
	__type(key, char[KEY_LEN]);
	__type(value, __u8);
} denied SEC(".maps");

enum { TEXT };
enum { ALLOWED, DENIED };

static __always_inline int judge(struct mrpc_policy_ctx *ctx)
{
	char key[KEY_LEN];
	int len = bpf_mrpc_field_data(ctx, TEXT, 0, key, sizeof(key));

	/* What cannot be looked at does not pass; other messages do not have the field. */
	if (len == -2 /* ENOENT */)
		return MRPC_POLICY_PASS;
	if (len < 0 || len > KEY_LEN || bpf_map_lookup_elem(&denied, key)) {
		bpf_mrpc_count(ctx, DENIED, 1);
		bpf_mrpc_status(ctx, MRPC_POLICY_PERMISSION_DENIED, "the key is denied");
		return MRPC_POLICY_REJECT;
	}
	bpf_mrpc_count(ctx, ALLOWED, 1);
	return MRPC_POLICY_PASS;
}

MRPC_POLICY(field_acl_tx)
{
	return judge(ctx);
}

MRPC_POLICY(field_acl_rx)
{
	return judge(ctx);
}

MRPC_POLICY_OPS struct mrpc_policy_ops field_acl = {
	.request_tx	= (void *)field_acl_tx,
	.request_rx	= (void *)field_acl_rx,
	.name		= "field_acl",
	.fields		= { [TEXT] = "text" },
	.counters	= { [ALLOWED] = "allowed", [DENIED] = "denied" },
};
