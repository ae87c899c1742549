/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * For policies in eBPF: what a program may call. Include this and nothing else of
 * mrpc; compile with "clang -target bpf -O2 -g". Each function is described, with what it
 * returns, in kmod/policy/kfunc.c (bpf_mrpc_own() in class_rank.c) and in
 * Documentation/policy-author.rst.
 */
#ifndef MRPC_POLICY_BPF_H
#define MRPC_POLICY_BPF_H

#ifndef __VMLINUX_H__
#include <linux/bpf.h>
#endif
#include <bpf/bpf_helpers.h>
#include <linux/mrpc_policy.h>

/* As in <linux/mrpc.h>, which is for applications: the names and numbers of gRPC. */
enum mrpc_policy_status {
	MRPC_POLICY_CANCELLED = 1,
	MRPC_POLICY_UNKNOWN,
	MRPC_POLICY_INVALID_ARGUMENT,
	MRPC_POLICY_DEADLINE_EXCEEDED,
	MRPC_POLICY_NOT_FOUND,
	MRPC_POLICY_ALREADY_EXISTS,
	MRPC_POLICY_PERMISSION_DENIED,
	MRPC_POLICY_RESOURCE_EXHAUSTED,
	MRPC_POLICY_FAILED_PRECONDITION,
	MRPC_POLICY_ABORTED,
	MRPC_POLICY_OUT_OF_RANGE,
	MRPC_POLICY_UNIMPLEMENTED,
	MRPC_POLICY_INTERNAL,
	MRPC_POLICY_UNAVAILABLE,
	MRPC_POLICY_DATA_LOSS,
	MRPC_POLICY_UNAUTHENTICATED,
};

/* -- the message -------------------------------------------------------------- */

int bpf_mrpc_field_num(struct mrpc_policy_ctx *ctx, __u32 field, __u64 *value) __ksym;
int bpf_mrpc_field_data(struct mrpc_policy_ctx *ctx, __u32 field, __u32 off, void *buf,
			__u32 buf__sz) __ksym;
int bpf_mrpc_field_has(struct mrpc_policy_ctx *ctx, __u32 field) __ksym;
int bpf_mrpc_field_set_num(struct mrpc_policy_ctx *ctx, __u32 field, __u64 value) __ksym;
int bpf_mrpc_field_set_data(struct mrpc_policy_ctx *ctx, __u32 field, void *buf,
			    __u32 buf__sz) __ksym;
int bpf_mrpc_meta(struct mrpc_policy_ctx *ctx, const char *key__str, void *buf,
		  __u32 buf__sz) __ksym;
int bpf_mrpc_method(struct mrpc_policy_ctx *ctx, void *buf, __u32 buf__sz) __ksym;
int bpf_mrpc_identity(struct mrpc_policy_ctx *ctx, void *buf, __u32 buf__sz) __ksym;

/* -- what becomes of it --------------------------------------------------------- */

int bpf_mrpc_status(struct mrpc_policy_ctx *ctx, __u32 status, const char *detail__str) __ksym;
int bpf_mrpc_delay(struct mrpc_policy_ctx *ctx, __u64 ns) __ksym;
int bpf_mrpc_set_priority(struct mrpc_policy_ctx *ctx, __u32 priority) __ksym;
int bpf_mrpc_set_deadline(struct mrpc_policy_ctx *ctx, __u64 deadline) __ksym;
int bpf_mrpc_replica(struct mrpc_policy_ctx *ctx, __u32 index, void *replica,
		     __u32 replica__sz) __ksym;
int bpf_mrpc_redirect(struct mrpc_policy_ctx *ctx, __u32 index) __ksym;

/* -- choosing among replicas ----------------------------------------------------- */

struct mrpc_lb_candidate *bpf_mrpc_candidate(struct mrpc_lb_set *set, __u32 index) __ksym;

/* -- the policy's own -------------------------------------------------------------- */

int bpf_mrpc_count(struct mrpc_policy_ctx *ctx, __u32 counter, __u64 n) __ksym;
__u8 *bpf_mrpc_storage(struct mrpc_policy_ctx *ctx, const __u64 rdwr_buf_size) __ksym;

/* -- an egress discipline's ----------------------------------------------------------- */

__u8 *bpf_mrpc_own(struct mrpc_sched_queue *q, const __u64 rdwr_buf_size) __ksym;

/*
 * A program of a policy: MRPC_POLICY(acl_request) { ... ctx ... }, named in the struct
 * mrpc_policy_ops, which is "MRPC_POLICY_OPS struct mrpc_policy_ops NAME = { ... };".
 */
#define MRPC_POLICY(name)							\
	static __always_inline int mrpc_##name(struct mrpc_policy_ctx *ctx);	\
	SEC("struct_ops/" #name)						\
	int name(unsigned long long *args)					\
	{									\
		return mrpc_##name((struct mrpc_policy_ctx *)args[0]);		\
	}									\
	static __always_inline int mrpc_##name(struct mrpc_policy_ctx *ctx)

/*
 * The same for the programs of an egress discipline, which is "MRPC_POLICY_OPS struct
 * mrpc_sched_ops NAME = { ... };": MRPC_SCHED_RANK(edf_rank) { return q->deadline; }
 */
#define MRPC_SCHED_RANK(name)							\
	static __always_inline __u64 mrpc_##name(struct mrpc_sched_queue *q);	\
	SEC("struct_ops/" #name)						\
	__u64 name(unsigned long long *args)					\
	{									\
		return mrpc_##name((struct mrpc_sched_queue *)args[0]);		\
	}									\
	static __always_inline __u64 mrpc_##name(struct mrpc_sched_queue *q)

#define MRPC_SCHED_DEQUEUE(name)						\
	static __always_inline int mrpc_##name(struct mrpc_sched_queue *q);	\
	SEC("struct_ops/" #name)						\
	int name(unsigned long long *args)					\
	{									\
		return mrpc_##name((struct mrpc_sched_queue *)args[0]);		\
	}									\
	static __always_inline int mrpc_##name(struct mrpc_sched_queue *q)

#define MRPC_SCHED_CHARGE(name)							\
	static __always_inline void mrpc_##name(struct mrpc_sched_queue *q,	\
						__s64 bytes);			\
	SEC("struct_ops/" #name)						\
	int name(unsigned long long *args)					\
	{									\
		mrpc_##name((struct mrpc_sched_queue *)args[0], args[1]);	\
		return 0;							\
	}									\
	static __always_inline void mrpc_##name(struct mrpc_sched_queue *q, __s64 bytes)

/* Of a struct mrpc_lb_ops: pick has "set" besides, and done "end". */
#define MRPC_LB_PICK(name)							\
	static __always_inline int mrpc_##name(struct mrpc_policy_ctx *ctx,	\
					       struct mrpc_lb_set *set);	\
	SEC("struct_ops/" #name)						\
	int name(unsigned long long *args)					\
	{									\
		return mrpc_##name((struct mrpc_policy_ctx *)args[0],		\
				   (struct mrpc_lb_set *)args[1]);		\
	}									\
	static __always_inline int mrpc_##name(struct mrpc_policy_ctx *ctx,	\
					       struct mrpc_lb_set *set)

#define MRPC_LB_DONE(name)							\
	static __always_inline void mrpc_##name(struct mrpc_policy_ctx *ctx,	\
						struct mrpc_lb_done *end);	\
	SEC("struct_ops/" #name)						\
	int name(unsigned long long *args)					\
	{									\
		mrpc_##name((struct mrpc_policy_ctx *)args[0],			\
			    (struct mrpc_lb_done *)args[1]);			\
		return 0;							\
	}									\
	static __always_inline void mrpc_##name(struct mrpc_policy_ctx *ctx,	\
						struct mrpc_lb_done *end)

/* Policies of all types: "MRPC_POLICY_OPS struct mrpc_lb_ops NAME = { ... };", too. */
#define MRPC_POLICY_OPS	SEC(".struct_ops.link")

#endif /* MRPC_POLICY_BPF_H */
