// SPDX-License-Identifier: GPL-2.0
/*
 * Stamps requests with a number that the loader chooses, in two fields. Different numbers in one
 * request show that two policies were mixed.
 */
#include "mrpc_policy.bpf.h"
#include "test.mrpc.bpf.h"

char _license[] SEC("license") = "GPL";

const volatile __u64 stamp = 1;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} stamped SEC(".maps");

enum { TEXT, DATA };

MRPC_POLICY(stamp_request)
{
	__u64 number = stamp, *sum;
	__u32 zero = 0;
	char text[8];
	int i;

	for (i = 0; i < 8; i++)
		text[i] = '0' + ((number >> (4 * (7 - i))) & 15);
	if (bpf_mrpc_field_set_data(ctx, TEXT, text, sizeof(text)))
		return MRPC_POLICY_REJECT;
	if (bpf_mrpc_field_set_data(ctx, DATA, &number, sizeof(number)))
		return MRPC_POLICY_REJECT;
	sum = bpf_map_lookup_elem(&stamped, &zero);
	if (sum)
		__sync_fetch_and_add(sum, 1);
	return MRPC_POLICY_PASS;
}

MRPC_POLICY_OPS struct mrpc_policy_ops stamper = {
	.request_tx	= (void *)stamp_request,
	.name		= "stamper",
	.flags		= MRPC_POLICY_WRITES,
	.fields		= { [TEXT] = TEST_BLOB__TEXT, [DATA] = TEST_BLOB__DATA },
};
