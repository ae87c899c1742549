/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_POLICY_KFUNC_H
#define MRPC_POLICY_KFUNC_H

#include <linux/types.h>

struct mrpc_lb_candidate;
struct mrpc_lb_set;
struct mrpc_policy_ctx;

int mrpc_policy_kfunc_init(void);

/* What programs call; see uapi/linux/mrpc_policy.h. */
int bpf_mrpc_field_num(struct mrpc_policy_ctx *ctx, u32 field, u64 *value);
int bpf_mrpc_field_data(struct mrpc_policy_ctx *ctx, u32 field, u32 off, void *buf, u32 buf__sz);
int bpf_mrpc_field_has(struct mrpc_policy_ctx *ctx, u32 field);
int bpf_mrpc_field_set_num(struct mrpc_policy_ctx *ctx, u32 field, u64 value);
int bpf_mrpc_field_set_data(struct mrpc_policy_ctx *ctx, u32 field, void *buf, u32 buf__sz);
int bpf_mrpc_meta(struct mrpc_policy_ctx *ctx, const char *key__str, void *buf, u32 buf__sz);
int bpf_mrpc_method(struct mrpc_policy_ctx *ctx, void *buf, u32 buf__sz);
int bpf_mrpc_identity(struct mrpc_policy_ctx *ctx, void *buf, u32 buf__sz);
int bpf_mrpc_status(struct mrpc_policy_ctx *ctx, u32 status, const char *detail__str);
int bpf_mrpc_delay(struct mrpc_policy_ctx *ctx, u64 ns);
int bpf_mrpc_set_priority(struct mrpc_policy_ctx *ctx, u32 priority);
int bpf_mrpc_set_deadline(struct mrpc_policy_ctx *ctx, u64 deadline);
int bpf_mrpc_replica(struct mrpc_policy_ctx *ctx, u32 index, void *replica, u32 replica__sz);
int bpf_mrpc_redirect(struct mrpc_policy_ctx *ctx, u32 index);
int bpf_mrpc_count(struct mrpc_policy_ctx *ctx, u32 counter, u64 n);
u8 *bpf_mrpc_storage(struct mrpc_policy_ctx *ctx, const size_t rdwr_buf_size);
struct mrpc_lb_candidate *bpf_mrpc_candidate(struct mrpc_lb_set *set, u32 index);

#endif /* MRPC_POLICY_KFUNC_H */
