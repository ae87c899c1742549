// SPDX-License-Identifier: GPL-2.0
/*
 * What the programs of a policy may call. Everything that they read is the kernel's
 * copy, so what they have checked is what is sent, or placed.
 *
 * The context that programs are given is a member of struct mrpc_policy_run, and the set
 * of a chooser's pick one of struct mrpc_candidates; the verifier sees to it that no other
 * pointer comes here. What they hold is for programs to read: a kfunc that writes to a buffer
 * could be given it, so nothing here decides by it. What disciplines may call is in policy/class_rank.c.
 */
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/ktime.h>

#include "core/conn.h"
#include "core/engine.h"
#include "core/rpc.h"
#include "core/schema.h"
#include "lib/balance.h"
#include "lib/ds/ring.h"
#include "lib/message/field.h"
#include "lib/message/schema.h"
#include "lib/message/wire.h"
#include "policy/choose.h"
#include "policy/kfunc.h"
#include "policy/policy.h"
#include "replica/replica.h"
#include "replica/show.h"

#define POLICY_DELAY_MAX	(60 * NSEC_PER_SEC)

static_assert(MRPC_POLICY_ENTRIES == MRPC_FIELD_MAX_ENTRIES);

static struct mrpc_policy_run *policy_run_of(struct mrpc_policy_ctx *ctx)
{
	return container_of(ctx, struct mrpc_policy_run, ctx);
}

/* The message that a program judges; NULL: it does something else. */
static struct mrpc_rpc *policy_judged(const struct mrpc_policy_run *run)
{
	return run->e ? run->rpc : NULL;
}

static int policy_path(const struct mrpc_policy_run *run, u32 field,
		       const struct mrpc_field_path **path)
{
	if (!run->prog || field >= run->prog->nr_fields)
		return -EINVAL;
	*path = run->paths ? run->paths->path[field] : NULL;
	return *path ? 0 : -ENOENT;
}

static int policy_read(const struct mrpc_policy_run *run, u32 field,
		       struct mrpc_field_value *value)
{
	const struct mrpc_field_path *path;
	int err = policy_path(run, field, &path);

	return err ?: mrpc_field_read(path, &run->view, value);
}

static int policy_write(const struct mrpc_policy_run *run, u32 field, bool data,
			const struct mrpc_field_value *value)
{
	const struct mrpc_field_path *path;
	int err = policy_path(run, field, &path);
	bool is_data;

	if (err)
		return err;
	if (!(run->prog->flags & MRPC_POLICY_WRITES))
		return -EPERM;
	is_data = path->kind == MRPC_VALUE_TEXT || path->kind == MRPC_VALUE_BYTES;
	if (is_data != data)
		return -EINVAL;
	return mrpc_field_write(path, &run->view, value);
}

__bpf_kfunc_start_defs();

/**
 * bpf_mrpc_field_num() - read a number, a bool, an enum, or how many there are
 * @ctx: the program's
 * @field: index of a declared field
 * @value: out: signed numbers with their sign, of floats and doubles a double's bits
 *
 * Return: 0; -ENOENT: the message does not have it; -ENODATA: its content could not be
 * copied; -E2BIG: it is in a map of more than MRPC_POLICY_ENTRIES; -EINVAL: no such field is
 * declared, or it is no number.
 */
__bpf_kfunc int bpf_mrpc_field_num(struct mrpc_policy_ctx *ctx, u32 field, u64 *value)
{
	struct mrpc_field_value v = {};
	int err = policy_read(policy_run_of(ctx), field, &v);

	if (err)
		return err;
	if (v.kind > MRPC_VALUE_DOUBLE && v.kind != MRPC_VALUE_LIST)
		return -EINVAL;
	*value = v.u;
	return 0;
}

/**
 * bpf_mrpc_field_data() - read text or bytes
 * @ctx: the program's
 * @field: index of a declared field
 * @off: from where in it
 * @buf: out: what fits; zero behind that
 * @buf__sz: bytes of @buf
 *
 * Return: bytes of the whole field; -ENOENT, -ENODATA, -E2BIG, -EINVAL as bpf_mrpc_field_num().
 */
__bpf_kfunc int bpf_mrpc_field_data(struct mrpc_policy_ctx *ctx, u32 field, u32 off, void *buf,
				    u32 buf__sz)
{
	struct mrpc_field_value v = {};
	int err = policy_read(policy_run_of(ctx), field, &v);
	u32 len = 0;

	if (!err && v.kind != MRPC_VALUE_TEXT && v.kind != MRPC_VALUE_BYTES)
		err = -EINVAL;
	if (!err && off < v.len) {
		len = min(v.len - off, buf__sz);
		memcpy(buf, v.ptr + off, len);
	}
	memset(buf + len, 0, buf__sz - len);
	return err ?: v.len;
}

/**
 * bpf_mrpc_field_has() - does the message have a field?
 * @ctx: the program's
 * @field: index of a declared field
 *
 * Return: 1, 0; -EINVAL: no such field is declared; -E2BIG.
 */
__bpf_kfunc int bpf_mrpc_field_has(struct mrpc_policy_ctx *ctx, u32 field)
{
	struct mrpc_field_value v = {};
	int err = policy_read(policy_run_of(ctx), field, &v);

	if (err == -EINVAL || err == -E2BIG)
		return err;
	return !err || err == -ENODATA;
}

/**
 * bpf_mrpc_field_set_num() - set a number, a bool or an enum
 * @ctx: the program's
 * @field: index of a declared field
 * @value: as bpf_mrpc_field_num() gives it
 *
 * Return: 0; -EPERM: the policy does not say MRPC_POLICY_WRITES; -ERANGE: not a value
 * of its type; -EINVAL: a float, or no number; -ENOENT, -ENODATA.
 */
__bpf_kfunc int bpf_mrpc_field_set_num(struct mrpc_policy_ctx *ctx, u32 field, u64 value)
{
	struct mrpc_field_value v = { .u = value };

	return policy_write(policy_run_of(ctx), field, false, &v);
}

/**
 * bpf_mrpc_field_set_data() - set text or bytes to others of the same length
 * @ctx: the program's
 * @field: index of a declared field
 * @buf: the new content
 * @buf__sz: bytes of @buf
 *
 * Return: 0; -EMSGSIZE: it has another length; -EILSEQ: text that is not UTF-8; -EPERM,
 * -EINVAL, -ENOENT, -ENODATA as bpf_mrpc_field_set_num().
 */
__bpf_kfunc int bpf_mrpc_field_set_data(struct mrpc_policy_ctx *ctx, u32 field, void *buf,
					u32 buf__sz)
{
	struct mrpc_field_value v = { .ptr = buf, .len = buf__sz };

	return policy_write(policy_run_of(ctx), field, true, &v);
}

/**
 * bpf_mrpc_meta() - read the application's metadata
 * @ctx: the program's
 * @key__str: the key, in a read-only map or a literal
 * @buf: out: the value, what fits; zero behind that
 * @buf__sz: bytes of @buf
 *
 * Return: bytes of the whole value; -ENOENT: there is none; -EINVAL: no message.
 */
__bpf_kfunc int bpf_mrpc_meta(struct mrpc_policy_ctx *ctx, const char *key__str, void *buf,
			      u32 buf__sz)
{
	const struct mrpc_rpc *rpc = policy_run_of(ctx)->rpc;
	size_t key_len = strlen(key__str);
	struct mrpc_meta_entry entry;
	const u8 *key, *end;

	memset(buf, 0, buf__sz);
	if (!rpc)
		return -EINVAL;
	end = mrpc_rpc_meta(rpc) + rpc->frame.meta_len;
	for (key = mrpc_rpc_meta(rpc); key < end; key += entry.klen + entry.vlen) {
		memcpy(&entry, key, sizeof(entry));
		key += sizeof(entry);
		if (entry.klen != key_len || memcmp(key, key__str, key_len))
			continue;
		memcpy(buf, key + key_len, min_t(u32, entry.vlen, buf__sz));
		return entry.vlen;
	}
	return -ENOENT;
}

/**
 * bpf_mrpc_method() - the full name of the method, "package.Service/Method"
 * @ctx: the program's
 * @buf: out: what fits, with a NUL
 * @buf__sz: bytes of @buf
 *
 * Return: bytes of the name, without NUL; -EINVAL: no message.
 */
__bpf_kfunc int bpf_mrpc_method(struct mrpc_policy_ctx *ctx, void *buf, u32 buf__sz)
{
	const struct mrpc_rpc *rpc = policy_run_of(ctx)->rpc;
	const struct mrpc_schema_plan *plan;

	memset(buf, 0, buf__sz);
	if (!rpc)
		return -EINVAL;
	plan = rpc->call->conn->services.list[rpc->call->method >> 16].schema->plan;
	return snprintf(buf, buf__sz, "%s/%s", mrpc_schema_service(plan),
			plan->names + plan->methods[mrpc_rpc_method(rpc)].name);
}

/**
 * bpf_mrpc_identity() - the name of the peer, as the application of this host has verified it
 * @ctx: the program's
 * @buf: out: what fits, with a NUL
 * @buf__sz: bytes of @buf
 *
 * Return: bytes of the name, without NUL; 0: the peer has no name; -EINVAL: no message.
 */
__bpf_kfunc int bpf_mrpc_identity(struct mrpc_policy_ctx *ctx, void *buf, u32 buf__sz)
{
	const struct mrpc_rpc *rpc = policy_run_of(ctx)->rpc;

	memset(buf, 0, buf__sz);
	if (!rpc)
		return -EINVAL;
	return snprintf(buf, buf__sz, "%s", rpc->call->conn->link.identity ?: "");
}

/**
 * bpf_mrpc_status() - say with what a message is rejected
 * @ctx: the program's
 * @status: enum mrpc_status, not MRPC_OK
 * @detail__str: a sentence for the caller, in a read-only map or a literal
 *
 * Takes effect when the program returns MRPC_POLICY_REJECT. Return: 0 or -EINVAL.
 */
__bpf_kfunc int bpf_mrpc_status(struct mrpc_policy_ctx *ctx, u32 status, const char *detail__str)
{
	struct mrpc_policy_run *run = policy_run_of(ctx);

	if (!policy_judged(run) || !status || status > MRPC_STATUS_MAX)
		return -EINVAL;
	run->status = status;
	strscpy(run->detail, detail__str);
	return 0;
}

/**
 * bpf_mrpc_delay() - say how long a message is held
 * @ctx: the program's
 * @ns: at most a minute
 *
 * Takes effect when the program returns MRPC_POLICY_DELAY. Return: 0 or -EINVAL.
 */
__bpf_kfunc int bpf_mrpc_delay(struct mrpc_policy_ctx *ctx, u64 ns)
{
	struct mrpc_policy_run *run = policy_run_of(ctx);

	if (!policy_judged(run) || ns > POLICY_DELAY_MAX)
		return -EINVAL;
	run->delay = ns;
	return 0;
}

/**
 * bpf_mrpc_set_priority() - how urgent a message is
 * @ctx: the program's
 * @priority: 0 to 255
 *
 * Of a request on its way out the server sees it too; for orders of egress the policy says
 * MRPC_POLICY_RANKS. Return: 0 or -EINVAL.
 */
__bpf_kfunc int bpf_mrpc_set_priority(struct mrpc_policy_ctx *ctx, u32 priority)
{
	struct mrpc_policy_run *run = policy_run_of(ctx);

	if (!policy_judged(run) || priority > U8_MAX)
		return -EINVAL;
	mrpc_rpc_set_rank(run->rpc, priority);
	ctx->priority = priority;
	if (run->dir == MRPC_TX)
		WRITE_ONCE(run->conn->exec.hint.priority, priority);
	return 0;
}

/**
 * bpf_mrpc_set_deadline() - give the server of a request less time
 * @ctx: the program's, of a request on its way out
 * @deadline: CLOCK_MONOTONIC ns; not later than it is
 *
 * What the server is told, and answers by. Return: 0 or -EINVAL.
 */
__bpf_kfunc int bpf_mrpc_set_deadline(struct mrpc_policy_ctx *ctx, u64 deadline)
{
	struct mrpc_policy_run *run = policy_run_of(ctx);

	if (!policy_judged(run) || run->rpc->frame.type != MRPC_WIRE_CALL || run->dir != MRPC_TX ||
	    !deadline || (run->rpc->deadline && deadline > run->rpc->deadline))
		return -EINVAL;
	run->rpc->deadline = deadline;
	ctx->deadline = deadline;
	return 0;
}

/**
 * bpf_mrpc_replica() - look at one of the connection's replicas
 * @ctx: the program's
 * @index: in the order in which the operator lists them for the lb engine
 * @replica: out
 * @replica__sz: bytes of it
 *
 * Return: how many replicas there are; -ENOENT: no such one, or no lb engine; -EINVAL.
 */
__bpf_kfunc int bpf_mrpc_replica(struct mrpc_policy_ctx *ctx, u32 index, void *replica,
				 u32 replica__sz)
{
	struct mrpc_policy_run *run = policy_run_of(ctx);
	struct mrpc_policy_replica found = {};
	int ret;

	memset(replica, 0, replica__sz);
	if (!run->rpc || run->conn->link.accepted)
		return -EINVAL;
	ret = mrpc_replicas_look(run->conn, index, &found);
	memcpy(replica, &found, min_t(size_t, replica__sz, sizeof(found)));
	return ret;
}

/**
 * bpf_mrpc_redirect() - wish for a replica
 * @ctx: the program's, of a request on its way out, before an lb engine
 * @index: as of bpf_mrpc_replica()
 *
 * It gets the call if it is fit; else the lb engine decides. Return: 0 or -EINVAL.
 */
__bpf_kfunc int bpf_mrpc_redirect(struct mrpc_policy_ctx *ctx, u32 index)
{
	struct mrpc_policy_run *run = policy_run_of(ctx);

	if (!policy_judged(run) || run->rpc->frame.type != MRPC_WIRE_CALL || run->dir != MRPC_TX ||
	    index >= MRPC_BALANCE_MEMBERS)
		return -EINVAL;
	run->rpc->call->wish = index + 1;
	return 0;
}

/**
 * bpf_mrpc_candidate() - look at one of the replicas that may get a call
 * @set: the program's
 * @index: of the candidate, from 0
 *
 * Return: it, to be read as long as the program runs; NULL: there is none of that index.
 */
__bpf_kfunc struct mrpc_lb_candidate *bpf_mrpc_candidate(struct mrpc_lb_set *set, u32 index)
{
	struct mrpc_candidates *c = container_of(set, struct mrpc_candidates, set);

	return index < c->nr ? &c->all[index] : NULL;
}

/**
 * bpf_mrpc_count() - add to a counter that operators see
 * @ctx: the program's
 * @counter: index of a declared counter
 * @n: how much
 *
 * Return: 0 or -EINVAL.
 */
__bpf_kfunc int bpf_mrpc_count(struct mrpc_policy_ctx *ctx, u32 counter, u64 n)
{
	struct mrpc_policy_run *run = policy_run_of(ctx);

	if (!run->prog || counter >= run->prog->nr_counters)
		return -EINVAL;
	WRITE_ONCE(run->counters[counter], run->counters[counter] + n);
	return 0;
}

/**
 * bpf_mrpc_storage() - memory of the datapath
 * @ctx: the program's
 * @rdwr_buf_size: bytes of it, a constant, at most what the policy declares
 *
 * It is zero at first, stays when programs are replaced, and both directions' programs may
 * use it at once. Return: the memory, or NULL.
 */
__bpf_kfunc u8 *bpf_mrpc_storage(struct mrpc_policy_ctx *ctx, const size_t rdwr_buf_size)
{
	struct mrpc_policy_run *run = policy_run_of(ctx);

	if (!run->storage || !rdwr_buf_size || rdwr_buf_size > run->policy->storage)
		return NULL;
	return run->storage;
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(mrpc_policy_kfuncs)

BTF_ID_FLAGS(func, bpf_mrpc_field_num, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_field_data, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_field_has, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_field_set_num, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_field_set_data, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_meta, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_method, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_identity, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_status, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_delay, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_set_priority, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_set_deadline, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_replica, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_redirect, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_candidate, KF_TRUSTED_ARGS | KF_RET_NULL)

BTF_ID_FLAGS(func, bpf_mrpc_count, KF_TRUSTED_ARGS)

BTF_ID_FLAGS(func, bpf_mrpc_storage, KF_TRUSTED_ARGS | KF_RET_NULL)

BTF_ID_FLAGS(func, bpf_mrpc_own, KF_TRUSTED_ARGS | KF_RET_NULL)

BTF_KFUNCS_END(mrpc_policy_kfuncs)

/* The set is offered to all struct_ops programs of the host; ours alone have a context. */
static int policy_kfunc_filter(const struct bpf_prog *prog, u32 kfunc_id)
{
	if (!btf_id_set8_contains(&mrpc_policy_kfuncs, kfunc_id))
		return 0;
	return prog->aux->attach_btf == mrpc_policy_btf ? 0 : -EACCES;
}

static const struct btf_kfunc_id_set mrpc_policy_kfunc_set = {
	.owner	= THIS_MODULE,
	.set	= &mrpc_policy_kfuncs,
	.filter	= policy_kfunc_filter,
};

int __init mrpc_policy_kfunc_init(void)
{
	return register_btf_kfunc_id_set(BPF_PROG_TYPE_STRUCT_OPS, &mrpc_policy_kfunc_set);
}
