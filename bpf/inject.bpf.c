// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Faults on order: a share of the requests of a method fails with a status, a share of
 * the others is late. To see what an application makes of that before the world shows it.
 *
 *	mrpc policy load inject.bpf.o
 *	mrpc engine add inject scope uid 1000 side client
 *
 * Map "faults" has them by the full name of the method ("kv.Store/Get", filled up to 64
 * bytes with zeros); the entry of the empty name is for methods that have none. Shares are in
 * hundredths of a percent. It is empty at first: nothing happens. From Python, with libbpf's
 * or bpftool's help, a value is struct.pack("IIIIQ", aborted, 14, delayed, 0, ns).
 */
#include "mrpc_policy.bpf.h"

#define NAME_LEN	64
#define ALL		10000

char _license[] SEC("license") = "GPL";

struct fault {
	__u32 aborted;	/* share of requests that are rejected */
	__u32 status;	/* with this */
	__u32 delayed;	/* share of the others that are late */
	__u32 resv;
	__u64 delay;	/* by so many ns, at most a minute */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, char[NAME_LEN]);
	__type(value, struct fault);
} faults SEC(".maps");

enum { ABORTED, LATE };

static __always_inline struct fault *fault_of(struct mrpc_policy_ctx *ctx)
{
	char name[NAME_LEN] = "";
	struct fault *f;

	bpf_mrpc_method(ctx, name, sizeof(name));
	f = bpf_map_lookup_elem(&faults, name);
	if (f)
		return f;
	__builtin_memset(name, 0, sizeof(name));
	return bpf_map_lookup_elem(&faults, name);
}

MRPC_POLICY(inject_request)
{
	struct fault *f = fault_of(ctx);

	if (!f)
		return MRPC_POLICY_PASS;
	if (bpf_get_prandom_u32() % ALL < f->aborted) {
		bpf_mrpc_count(ctx, ABORTED, 1);
		bpf_mrpc_status(ctx, f->status, "a fault that was ordered");
		return MRPC_POLICY_REJECT;
	}
	if (bpf_get_prandom_u32() % ALL < f->delayed && !bpf_mrpc_delay(ctx, f->delay)) {
		bpf_mrpc_count(ctx, LATE, 1);
		return MRPC_POLICY_DELAY;
	}
	return MRPC_POLICY_PASS;
}

MRPC_POLICY_OPS struct mrpc_policy_ops inject = {
	.request_tx	= (void *)inject_request,
	.name		= "inject",
	.counters	= { [ABORTED] = "aborted", [LATE] = "late" },
};
