/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What sample.bpf.c writes and mrpc-sample reads. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <linux/types.h>

#define SAMPLE_NAME	64

/**
 * struct sample - a message at one of the four places that a policy sees
 * @time: CLOCK_MONOTONIC ns
 * @call: the call's id: the same at all four places
 * @left: ns of its deadline that are left; 0: it has none
 * @age: ns since it was submitted, or its head was received
 * @datapath, @uid, @pid, @size, @status, @priority, @server, @transmit, @peer_family,
 * @peer_port, @peer: as in struct mrpc_policy_ctx
 * @reply: it is one
 * @method: "package.Service/Method"
 */
struct sample {
	__u64 time;
	__u64 call;
	__u64 left;
	__u64 age;
	__u64 datapath;
	__u32 uid;
	__u32 pid;
	__u32 size;
	__u16 status;
	__u8 priority;
	__u8 server;
	__u8 transmit;
	__u8 reply;
	__u16 peer_family;
	__u16 peer_port;
	__u16 resv[3];
	__u8 peer[16];
	char method[SAMPLE_NAME];
};

#endif /* SAMPLE_H */
