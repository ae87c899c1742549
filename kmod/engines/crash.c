// SPDX-License-Identifier: GPL-2.0
/*
 * crash: misbehaves on order, for tests of what the core does then. Its two
 * versions keep state of different layouts, of which the second converts the
 * first's.
 */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "core/engine.h"
#include "core/engine_count.h"
#include "core/rpc.h"

#ifndef CRASH_VERSION
#define CRASH_VERSION 1
#endif

enum {
	PARAM_FAIL_CREATE,
	PARAM_FAIL_CONFIGURE,
	PARAM_FAIL_RESTORE,
	PARAM_OVERRUN,
	PARAM_OVERRUNS,
	PARAM_LEAK,
	PARAM_HOLD,
	PARAM_WAKE,
};

/* Choices of "overruns" */
enum {
	OVERRUNS_BOTH,
	OVERRUNS_TX,
};

static const char *const crash_overruns[] = { "both", "tx", NULL };

static const struct mrpc_param crash_params[] = {
	[PARAM_FAIL_CREATE] = {
		.name	= "fail_create",
		.type	= MRPC_PARAM_U64,
		.flags	= MRPC_PARAM_UNLIMITED,
		.doc	= "create so many instances, then fail",
		.max	= U32_MAX,
		.def	= U64_MAX,
	},
	[PARAM_FAIL_CONFIGURE] = {
		.name	= "fail_configure",
		.type	= MRPC_PARAM_U64,
		.flags	= MRPC_PARAM_UNLIMITED,
		.doc	= "give so many instances this configuration, then fail",
		.max	= U32_MAX,
		.def	= U64_MAX,
	},
	[PARAM_FAIL_RESTORE] = {
		.name	= "fail_restore",
		.type	= MRPC_PARAM_U64,
		.flags	= MRPC_PARAM_UNLIMITED,
		.doc	= "restore the state of so many instances, then fail",
		.max	= U32_MAX,
		.def	= U64_MAX,
	},
	[PARAM_OVERRUN] = {
		.name	= "overrun",
		.type	= MRPC_PARAM_U64,
		.unit	= "us",
		.doc	= "by which each turn is too long",
		.max	= USEC_PER_SEC,
	},
	[PARAM_OVERRUNS] = {
		.name	= "overruns",
		.type	= MRPC_PARAM_CHOICE,
		.doc	= "the directions in which it is",
		.def	= OVERRUNS_BOTH,
		.choices = crash_overruns,
	},
	[PARAM_LEAK] = {
		.name	= "leak",
		.type	= MRPC_PARAM_U64,
		.doc	= "take every such rpc and forget it",
		.max	= U32_MAX,
	},
	[PARAM_HOLD] = {
		.name	= "hold",
		.type	= MRPC_PARAM_BOOL,
		.doc	= "let nothing pass",
	},
	[PARAM_WAKE] = {
		.name	= "wake",
		.type	= MRPC_PARAM_U64,
		.flags	= MRPC_PARAM_UNLIMITED,
		.unit	= "ns",
		.doc	= "when to come back to what is held, of the monotonic clock",
		.max	= U64_MAX,
	},
};

/* How many of each have been made with this configuration. */
struct crash_group {
	atomic64_t created;
	atomic64_t configured;
	atomic64_t restored;
};

/* The state of version 1, and what it is in later ones. */
struct crash_state_1 {
	u64 seen;
};

struct crash_state_2 {
	u32 conversions;
	u32 resv;
	u64 seen[MRPC_DIRS];
};

/**
 * struct crash - an instance
 * @state: of the owners of the claims; with both held, a whole
 */
struct crash {
	struct crash_state_2 state;
};

/* Return: whether the limit that @param sets has been reached. */
static bool crash_fails(const struct mrpc_group *group, u32 param, atomic64_t *done,
			struct netlink_ext_ack *extack)
{
	u64 limit = group->values[param].num;

	if (limit == U64_MAX || atomic64_inc_return(done) <= limit)
		return false;
	NL_SET_ERR_MSG_FMT(extack, "%s: %llu have been, as ordered", crash_params[param].name,
			   limit);
	return true;
}

static int crash_group_create(struct mrpc_group *group, const struct mrpc_group *prev,
			      struct netlink_ext_ack *extack)
{
	group->priv = kzalloc(sizeof(struct crash_group), GFP_KERNEL_ACCOUNT);
	return group->priv ? 0 : -ENOMEM;
}

static void crash_group_destroy(struct mrpc_group *group)
{
	kfree(group->priv);
}

static int crash_create(struct mrpc_engine *e, struct netlink_ext_ack *extack)
{
	struct crash_group *g = e->group->priv;

	if (crash_fails(e->group, PARAM_FAIL_CREATE, &g->created, extack))
		return -EIO;
	e->priv = kzalloc(sizeof(struct crash), GFP_KERNEL_ACCOUNT);
	return e->priv ? 0 : -ENOMEM;
}

static void crash_destroy(struct mrpc_engine *e)
{
	kfree(e->priv);
}

static int crash_configure(struct mrpc_engine *e, struct mrpc_group *group,
			   struct netlink_ext_ack *extack)
{
	struct crash_group *g = group->priv;

	return crash_fails(group, PARAM_FAIL_CONFIGURE, &g->configured, extack) ? -EIO : 0;
}

static u64 crash_overrun(const struct mrpc_value *v, enum mrpc_direction dir)
{
	if (v[PARAM_OVERRUNS].num == OVERRUNS_TX && dir != MRPC_TX)
		return 0;
	return v[PARAM_OVERRUN].num * NSEC_PER_USEC;
}

static u64 crash_do_work(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *in,
			 struct mrpc_queue *out, int budget)
{
	const struct mrpc_value *v = e->group->values;
	u64 overrun = crash_overrun(v, dir), until = ktime_get_ns() + overrun;
	u64 leak = v[PARAM_LEAK].num;
	struct crash *c = e->priv;
	struct mrpc_rpc *rpc;
	u64 seen;

	while (overrun && ktime_get_ns() < until)
		cpu_relax();
	if (v[PARAM_HOLD].num)
		return v[PARAM_WAKE].num;
	for (; budget && (rpc = mrpc_queue_peek(in)); budget--) {
		seen = c->state.seen[dir] + 1;
		WRITE_ONCE(c->state.seen[dir], seen);
		if (leak && seen % leak == 0)
			mrpc_queue_del(in, rpc);
		else
			mrpc_queue_move(in, rpc, out);
	}
	return 0;
}

static void *crash_decompose(struct mrpc_engine *e)
{
	const struct crash_state_2 *have = &((struct crash *)e->priv)->state;
#if CRASH_VERSION == 1
	struct crash_state_1 state = { .seen = have->seen[MRPC_TX] + have->seen[MRPC_RX] };
#else
	struct crash_state_2 state = *have;
#endif

	return kmemdup(&state, sizeof(state), GFP_KERNEL_ACCOUNT) ?: ERR_PTR(-ENOMEM);
}

static int crash_restore(struct mrpc_engine *e, const struct mrpc_engine_ops *from, u32 version,
			 const void *state, struct netlink_ext_ack *extack)
{
	struct crash_group *g = e->group->priv;
	struct crash *c = e->priv;

	if (crash_fails(e->group, PARAM_FAIL_RESTORE, &g->restored, extack))
		return -EIO;
	if (version == 1) {
		c->state.seen[MRPC_TX] = ((const struct crash_state_1 *)state)->seen;
		c->state.conversions++;
	} else {
		c->state = *(const struct crash_state_2 *)state;
	}
	return 0;
}

static int crash_dump(const struct mrpc_engine *e, const struct mrpc_group *group,
		      struct sk_buff *skb)
{
	const struct crash *c;

	if (!e)
		return 0;
	c = e->priv;
	if (mrpc_engine_put_u64(skb, "seen_tx", READ_ONCE(c->state.seen[MRPC_TX])) ||
	    mrpc_engine_put_u64(skb, "seen_rx", READ_ONCE(c->state.seen[MRPC_RX])) ||
	    mrpc_engine_put_u64(skb, "conversions", c->state.conversions))
		return -EMSGSIZE;
	return 0;
}

static struct mrpc_engine_ops crash_ops = {
	.name		= "crash",
	.version	= CRASH_VERSION,
	.oldest		= 1,
	.state_version	= CRASH_VERSION,
	.owner		= THIS_MODULE,
	.dirs		= BIT(MRPC_TX) | BIT(MRPC_RX),
	.params		= crash_params,
	.nr_params	= ARRAY_SIZE(crash_params),
	.doc		= "Misbehaves on order, for tests.",
	.group_create	= crash_group_create,
	.group_destroy	= crash_group_destroy,
	.create		= crash_create,
	.destroy	= crash_destroy,
	.configure	= crash_configure,
	.do_work	= crash_do_work,
	.decompose	= crash_decompose,
	.restore	= crash_restore,
	.dump		= crash_dump,
};

module_mrpc_engine(crash_ops);
MODULE_ALIAS_MRPC_ENGINE("crash");
MODULE_ALIAS_MRPC_ENGINE("crash-" __stringify(CRASH_VERSION));
MODULE_DESCRIPTION("mrpc engine that misbehaves, for tests");
MODULE_LICENSE("GPL");
