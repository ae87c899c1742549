// SPDX-License-Identifier: GPL-2.0
/*
 * ratelimit: limits requests, and bytes of requests, per second.
 *
 * It uses token buckets (lib/ds/bucket.h), of one datapath or of all datapaths of a placement. A
 * request without tokens stays in the input queue. Its tokens are reserved at once, and it waits
 * until the bucket has earned them. So the order is that of asking, also where many datapaths share
 * a bucket. Each datapath has at most one request with a reservation. Its next request comes after
 * those of other datapaths.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "core/engine.h"
#include "core/engine_count.h"
#include "core/placement.h"
#include "core/rpc.h"
#include "lib/ds/bucket.h"

enum {
	PARAM_RATE,
	PARAM_BYTES,
	PARAM_BURST,
	PARAM_BYTE_BURST,
	PARAM_SHARED,
	PARAM_QUEUE,
};

#define RATELIMIT_MAX_QUEUE	65536

static const struct mrpc_param ratelimit_params[] = {
	[PARAM_RATE] = {
		.name	= "rate",
		.type	= MRPC_PARAM_U64,
		.flags	= MRPC_PARAM_UNLIMITED,
		.unit	= "/s",
		.doc	= "requests in a second",
		.min	= 1,
		.max	= MRPC_BUCKET_MAX_RATE,
		.def	= U64_MAX,
	},
	[PARAM_BYTES] = {
		.name	= "bytes",
		.type	= MRPC_PARAM_U64,
		.flags	= MRPC_PARAM_UNLIMITED,
		.unit	= "bytes/s",
		.doc	= "bytes of requests in a second",
		.min	= 1,
		.max	= MRPC_BUCKET_MAX_RATE,
		.def	= U64_MAX,
	},
	[PARAM_BURST] = {
		.name	= "burst",
		.type	= MRPC_PARAM_U64,
		.doc	= "requests at once after a pause; 0: a hundredth of rate",
		.max	= MRPC_BUCKET_MAX_BURST,
	},
	[PARAM_BYTE_BURST] = {
		.name	= "byte_burst",
		.type	= MRPC_PARAM_U64,
		.unit	= "bytes",
		.doc	= "bytes at once after a pause; 0: a hundredth of bytes",
		.max	= MRPC_BUCKET_MAX_BURST,
	},
	[PARAM_SHARED] = {
		.name	= "shared",
		.type	= MRPC_PARAM_BOOL,
		.doc	= "one limit for all datapaths together, not one for each",
	},
	[PARAM_QUEUE] = {
		.name	= "queue",
		.type	= MRPC_PARAM_U64,
		.doc	= "requests of a datapath that may wait",
		.max	= RATELIMIT_MAX_QUEUE,
		.def	= 256,
	},
};

/* The buckets that a request takes tokens of. This is also the state for another version. */
struct ratelimit_tokens {
	struct mrpc_bucket calls;
	struct mrpc_bucket bytes;
};

/**
 * struct ratelimit_buckets - buckets of a datapath, or of all datapaths of a placement
 * @lock: protects @s; process context only
 * @s: the buckets
 */
struct ratelimit_buckets {
	spinlock_t lock;
	struct ratelimit_tokens s;
};

/**
 * struct ratelimit_group - a configuration
 * @unlimited: neither calls nor bytes are limited
 * @shared: @buckets are for all datapaths
 * @queue: requests of a datapath that may wait
 * @rate: of calls
 * @burst: of calls
 * @bytes: rate of bytes
 * @byte_burst: of bytes
 * @buckets: if @shared
 */
struct ratelimit_group {
	bool unlimited;
	bool shared;
	u32 queue;
	u64 rate;
	u64 burst;
	u64 bytes;
	u64 byte_burst;
	struct ratelimit_buckets buckets;
};

/**
 * struct ratelimit - an instance; of the owner of the claim of requests
 * @buckets: its own; unused with shared ones
 * @when: the first request in the queue has its tokens and goes at this time,
 *	ns; 0: it has none
 * @taken: bytes among those tokens
 * @waited: requests that had to wait
 * @full: detail for a request that finds the queue full
 */
struct ratelimit {
	struct ratelimit_buckets buckets;
	u64 when;
	u32 taken;
	u64 waited;
	char full[MRPC_PLACEMENT_NAME + 112];
};

/* -- configuration ------------------------------------------------------------ */

static u64 ratelimit_burst(u64 given, u64 rate)
{
	return given ?: max(div_u64(rate, 100), 1ULL);
}

/* The values are within a bucket's limits, so none of these calls fails. */
static void ratelimit_buckets_init(struct ratelimit_buckets *b, const struct ratelimit_group *g)
{
	u64 now = ktime_get_ns();

	spin_lock_init(&b->lock);
	WARN_ON_ONCE(mrpc_bucket_init(&b->s.calls, now, g->rate, g->burst) ||
		     mrpc_bucket_init(&b->s.bytes, now, g->bytes, g->byte_burst));
}

static void ratelimit_buckets_set(struct ratelimit_buckets *b, const struct ratelimit_group *g)
{
	u64 now = ktime_get_ns();

	spin_lock(&b->lock);
	WARN_ON_ONCE(mrpc_bucket_set(&b->s.calls, now, g->rate, g->burst) ||
		     mrpc_bucket_set(&b->s.bytes, now, g->bytes, g->byte_burst));
	spin_unlock(&b->lock);
}

static struct ratelimit_tokens ratelimit_look(struct ratelimit_buckets *b)
{
	struct ratelimit_tokens state;

	spin_lock(&b->lock);
	state = b->s;
	spin_unlock(&b->lock);
	return state;
}

static int ratelimit_group_create(struct mrpc_group *group, const struct mrpc_group *prev,
				  struct netlink_ext_ack *extack)
{
	const struct mrpc_value *v = group->values;
	struct ratelimit_group *g, *old = prev ? prev->priv : NULL;

	g = kzalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);
	if (!g)
		return -ENOMEM;
	g->shared = v[PARAM_SHARED].num;
	g->queue = v[PARAM_QUEUE].num;
	g->rate = v[PARAM_RATE].num;
	g->bytes = v[PARAM_BYTES].num;
	g->burst = ratelimit_burst(v[PARAM_BURST].num, g->rate);
	g->byte_burst = ratelimit_burst(v[PARAM_BYTE_BURST].num, g->bytes);
	g->unlimited = g->rate == U64_MAX && g->bytes == U64_MAX;
	ratelimit_buckets_init(&g->buckets, g);
	if (old && old->shared && g->shared) {
		g->buckets.s = ratelimit_look(&old->buckets);
		ratelimit_buckets_set(&g->buckets, g);
	}
	group->priv = g;
	return 0;
}

static void ratelimit_group_destroy(struct mrpc_group *group)
{
	kfree(group->priv);
}

static void ratelimit_explain(struct ratelimit *r, const struct mrpc_engine *e,
			      const struct ratelimit_group *g)
{
	char calls[32] = "", bytes[32] = "";

	if (g->rate != U64_MAX)
		snprintf(calls, sizeof(calls), "%llu calls/s", g->rate);
	if (g->bytes != U64_MAX)
		snprintf(bytes, sizeof(bytes), "%llu bytes/s", g->bytes);
	snprintf(r->full, sizeof(r->full), "%s: %u requests wait already, the limit is %s%s%s",
		 e->placement->name, g->queue, calls, *calls && *bytes ? " and " : "", bytes);
}

/* If nothing is limited, the engine leaves the datapath. */
static void ratelimit_stand(struct mrpc_engine *e, const struct ratelimit_group *g)
{
	e->dirs = g->unlimited ? 0 : BIT(e->requests);
}

static int ratelimit_create(struct mrpc_engine *e, struct netlink_ext_ack *extack)
{
	struct ratelimit *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);

	if (!r)
		return -ENOMEM;
	ratelimit_buckets_init(&r->buckets, e->group->priv);
	ratelimit_explain(r, e, e->group->priv);
	ratelimit_stand(e, e->group->priv);
	e->priv = r;
	return 0;
}

/* -- tokens --------------------------------------------------------------------- */

static struct ratelimit_buckets *ratelimit_buckets(struct ratelimit *r, struct ratelimit_group *g)
{
	return g->shared ? &g->buckets : &r->buckets;
}

/*
 * Reserves the tokens for a request.
 * Return: 0: they are earned; otherwise the time when they will be.
 */
static u64 ratelimit_take(struct ratelimit_tokens *b, u64 now, u32 bytes)
{
	u64 calls_when = mrpc_bucket_reserve(&b->calls, now, 1);
	u64 bytes_when = mrpc_bucket_reserve(&b->bytes, now, bytes);

	return max(calls_when, bytes_when);
}

static void ratelimit_give_back(struct ratelimit *r, struct ratelimit_group *g)
{
	struct ratelimit_buckets *b = ratelimit_buckets(r, g);

	if (!r->when)
		return;
	spin_lock(&b->lock);
	mrpc_bucket_return(&b->s.calls, 1);
	mrpc_bucket_return(&b->s.bytes, r->taken);
	spin_unlock(&b->lock);
	r->when = 0;
}

/* Uses the reserved tokens. If their request has ended, another one gets them. */
static void ratelimit_use(struct ratelimit *r, struct ratelimit_tokens *b, u64 now, u32 bytes)
{
	if (bytes > r->taken)
		mrpc_bucket_reserve(&b->bytes, now, bytes - r->taken);
	else
		mrpc_bucket_return(&b->bytes, r->taken - bytes);
	r->when = 0;
}

/* -- the datapath ----------------------------------------------------------------- */

/* Return: the rest of the budget. */
static int ratelimit_pass(struct ratelimit *r, struct ratelimit_group *g, struct mrpc_queue *in,
			  struct mrpc_queue *out, int budget)
{
	struct ratelimit_buckets *b = ratelimit_buckets(r, g);
	u64 now = ktime_get_ns();
	struct mrpc_rpc *rpc;

	spin_lock(&b->lock);
	for (; budget && (rpc = mrpc_queue_peek(in)); budget--) {
		u32 bytes = mrpc_rpc_size(rpc);

		if (rpc->drop) {
			mrpc_queue_move(in, rpc, out);
			continue;
		}
		if (r->when) {
			if (r->when > now)
				break;
			ratelimit_use(r, &b->s, now, bytes);
		} else {
			r->when = ratelimit_take(&b->s, now, bytes);
			r->taken = bytes;
			if (r->when) {
				WRITE_ONCE(r->waited, r->waited + 1);
				break;
			}
		}
		mrpc_queue_move(in, rpc, out);
	}
	spin_unlock(&b->lock);
	return budget;
}

/* No request waits here. So nothing is reserved, and a request that finds tokens passes. */
static bool ratelimit_pass_one(struct mrpc_engine *e, enum mrpc_direction dir,
			       struct mrpc_rpc *rpc)
{
	struct ratelimit_group *g = e->group->priv;
	struct ratelimit_buckets *b = ratelimit_buckets(e->priv, g);
	u32 bytes = mrpc_rpc_size(rpc);
	u64 now;
	bool pass;

	if (g->unlimited || dir != e->requests)
		return true;
	now = ktime_get_ns();
	spin_lock(&b->lock);
	pass = !mrpc_bucket_when(&b->s.calls, now, 1) && !mrpc_bucket_when(&b->s.bytes, now, bytes);
	if (pass)
		ratelimit_take(&b->s, now, bytes);
	spin_unlock(&b->lock);
	return pass;
}

/* Makes the queue shorter: first ended calls leave, then the latest requests are rejected. */
static void ratelimit_trim(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *in,
			   struct mrpc_queue *out, int budget)
{
	const struct ratelimit_group *g = e->group->priv;
	struct ratelimit *r = e->priv;
	struct mrpc_rpc *rpc, *tmp;

	list_for_each_entry_safe(rpc, tmp, &in->list, list) {
		if (in->len <= g->queue || !budget)
			return;
		if (rpc->drop) {
			mrpc_queue_move(in, rpc, out);
			budget--;
		}
	}
	while (in->len > g->queue && budget--) {
		rpc = list_last_entry(&in->list, struct mrpc_rpc, list);
		mrpc_engine_reject(e, dir, in, rpc, MRPC_RESOURCE_EXHAUSTED, r->full);
	}
}

static u64 ratelimit_do_work(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *in,
			     struct mrpc_queue *out, int budget)
{
	struct ratelimit_group *g = e->group->priv;
	struct ratelimit *r = e->priv;

	if (g->unlimited || dir != e->requests) {
		mrpc_queue_pass(in, out, budget);
		return 0;
	}
	budget = ratelimit_pass(r, g, in, out, budget);
	if (in->len > g->queue)
		ratelimit_trim(e, dir, in, out, budget);
	if (mrpc_queue_empty(in))
		ratelimit_give_back(r, g);
	return r->when;
}

/* -- change ------------------------------------------------------------------------ */

/*
 * The debt goes with the buckets into the next configuration. So the first request's tokens are
 * given back to them, and it asks again at the new rate.
 */
static int ratelimit_configure(struct mrpc_engine *e, struct mrpc_group *group,
			       struct netlink_ext_ack *extack)
{
	struct ratelimit_group *g = group->priv, *old = e->group->priv;
	struct ratelimit *r = e->priv;

	ratelimit_give_back(r, g->shared && old->shared ? g : old);
	if (!g->shared)
		ratelimit_buckets_set(&r->buckets, g);
	ratelimit_explain(r, e, g);
	ratelimit_stand(e, g);
	return 0;
}

static void ratelimit_destroy(struct mrpc_engine *e)
{
	ratelimit_give_back(e->priv, e->group->priv);
	kfree(e->priv);
}

static void *ratelimit_decompose(struct mrpc_engine *e)
{
	struct ratelimit *r = e->priv;
	struct ratelimit_tokens *state = kmalloc(sizeof(*state), GFP_KERNEL_ACCOUNT);

	if (!state)
		return ERR_PTR(-ENOMEM);
	*state = ratelimit_look(&r->buckets);
	if (r->when) {
		mrpc_bucket_return(&state->calls, 1);
		mrpc_bucket_return(&state->bytes, r->taken);
	}
	return state;
}

static int ratelimit_restore(struct mrpc_engine *e, const struct mrpc_engine_ops *from, u32 version,
			     const void *state, struct netlink_ext_ack *extack)
{
	struct ratelimit *r = e->priv;

	r->buckets.s = *(const struct ratelimit_tokens *)state;
	ratelimit_buckets_set(&r->buckets, e->group->priv);
	return 0;
}

static int ratelimit_dump(const struct mrpc_engine *e, const struct mrpc_group *group,
			  struct sk_buff *skb)
{
	struct ratelimit_group *g = group->priv;
	struct ratelimit_tokens state;
	u64 now;

	if (e)
		return mrpc_engine_put_u64(skb, "waited",
					   READ_ONCE(((struct ratelimit *)e->priv)->waited));
	if (!g->shared || g->unlimited)
		return 0;
	state = ratelimit_look(&g->buckets);
	now = ktime_get_ns();
	if (g->rate != U64_MAX && mrpc_engine_put_u64(skb, "tokens", max(mrpc_bucket_level(&state.calls, now), 0LL)))
		return -EMSGSIZE;
	if (g->bytes != U64_MAX && mrpc_engine_put_u64(skb, "byte_tokens", max(mrpc_bucket_level(&state.bytes, now), 0LL)))
		return -EMSGSIZE;
	return 0;
}

static struct mrpc_engine_ops ratelimit_ops = {
	.name		= "ratelimit",
	.version	= 1,
	.oldest		= 1,
	.state_version	= 1,
	.owner		= THIS_MODULE,
	.flags		= MRPC_ENGINE_MANDATORY | MRPC_ENGINE_COUNTS,
	.dirs		= BIT(MRPC_TX) | BIT(MRPC_RX),
	.params		= ratelimit_params,
	.nr_params	= ARRAY_SIZE(ratelimit_params),
	.doc		= "Limits requests, and bytes of them, in a second.",
	.group_create	= ratelimit_group_create,
	.group_destroy	= ratelimit_group_destroy,
	.create		= ratelimit_create,
	.destroy	= ratelimit_destroy,
	.configure	= ratelimit_configure,
	.do_work	= ratelimit_do_work,
	.pass		= ratelimit_pass_one,
	.decompose	= ratelimit_decompose,
	.restore	= ratelimit_restore,
	.dump		= ratelimit_dump,
};

module_mrpc_engine(ratelimit_ops);
MODULE_ALIAS_MRPC_ENGINE("ratelimit");
MODULE_ALIAS_MRPC_ENGINE("ratelimit-1");
MODULE_DESCRIPTION("mrpc engine that limits requests in a second");
MODULE_LICENSE("GPL");
