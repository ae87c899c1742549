// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Opportunistic work in the gaps of production work. Requests of production users are
 * counted and never held. Those of opportunistic users are paced, so that production does not
 * slow down, whatever it is that both need: the link, processors, memory, the server. How
 * fast they may be is found out all the time, from nothing but the rate at which production
 * calls; tgs.h says how.
 *
 *	mrpc policy load tgs.bpf.o
 *	mrpc engine add tgs scope side client
 *
 * Map "classes" has the class of a user, by id: 1 production, 2 opportunistic; calls of other
 * users pass, and do not count. User 1000 is production, 1001 opportunistic:
 *
 *	cd /sys/fs/bpf/mrpc/tgs/maps
 *	bpftool map update pinned classes key hex e8 03 0 0 value hex 1 0 0 0
 *	bpftool map update pinned classes key hex e9 03 0 0 value hex 2 0 0 0
 *	bpftool map dump pinned state
 */
#include "mrpc_policy.bpf.h"
#include "tgs.h"

#define FLOOR		10000	/* opportunistic calls per 1000 s that pass in any case */
#define PATIENCE	2000000000ULL	/* ns that one waits, at most */
#define PERIOD		100000000

char _license[] SEC("license") = "GPL";

enum { OTHER, PRODUCTION, OPPORTUNISTIC };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} classes SEC(".maps");

/* The counts are of calls since the last tick, but for @under_way. */
struct state {
	struct bpf_spin_lock lock;	/* next */
	struct tgs tgs;			/* tick's alone */
	__u64 next;			/* when the next opportunistic request may go */
	__u64 ticked;
	__u64 arrived;
	__u64 passed;
	__s64 under_way;		/* production calls without a reply */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct state);
} state SEC(".maps");

enum { PACED, REFUSED };

static __always_inline __u32 class_of(struct mrpc_policy_ctx *ctx)
{
	__u32 uid = ctx->uid, *class = bpf_map_lookup_elem(&classes, &uid);

	return class ? *class : OTHER;
}

/* Return: how long a request waits; more than PATIENCE: it does not. */
static __always_inline __u64 wait(struct state *s, __u64 cap)
{
	__u64 gap = TGS_UNIT / cap, now = bpf_ktime_get_ns(), ns = 0;

	bpf_spin_lock(&s->lock);
	if (s->next > now)
		ns = s->next - now;
	if (ns <= PATIENCE)
		s->next = now + ns + gap;
	bpf_spin_unlock(&s->lock);
	return ns;
}

MRPC_POLICY(tgs_request)
{
	__u32 class = class_of(ctx), zero = 0;
	struct state *s = bpf_map_lookup_elem(&state, &zero);
	__u64 cap, ns = 0;

	if (!s || !class)
		return MRPC_POLICY_PASS;
	if (class == PRODUCTION) {
		__sync_fetch_and_add(&s->arrived, 1);
		__sync_fetch_and_add(&s->under_way, 1);
		return MRPC_POLICY_PASS;
	}
	cap = s->tgs.cap;
	if (cap)
		ns = wait(s, cap);
	if (ns > PATIENCE) {
		bpf_mrpc_count(ctx, REFUSED, 1);
		bpf_mrpc_status(ctx, MRPC_POLICY_RESOURCE_EXHAUSTED, "production goes first");
		return MRPC_POLICY_REJECT;
	}
	__sync_fetch_and_add(&s->passed, 1);
	if (!ns)
		return MRPC_POLICY_PASS;
	bpf_mrpc_count(ctx, PACED, 1);
	bpf_mrpc_delay(ctx, ns);
	return MRPC_POLICY_DELAY;
}

MRPC_POLICY(tgs_reply)
{
	__u32 zero = 0;
	struct state *s = bpf_map_lookup_elem(&state, &zero);

	if (s && class_of(ctx) == PRODUCTION)
		__sync_fetch_and_add(&s->under_way, -1);
	return MRPC_POLICY_PASS;
}

MRPC_POLICY(tgs_tick)
{
	__u64 now = bpf_ktime_get_ns(), arrived, passed;
	__u32 zero = 0;
	struct state *s = bpf_map_lookup_elem(&state, &zero);

	if (!s)
		return 0;
	arrived = __sync_lock_test_and_set(&s->arrived, 0);
	passed = __sync_lock_test_and_set(&s->passed, 0);
	if (s->ticked && now > s->ticked)
		tgs_step(&s->tgs, FLOOR, now - s->ticked, arrived, s->under_way > 0, passed);
	if (s->tgs.state == TGS_ALONE)	/* calls that ended otherwise than by a reply */
		s->under_way = 0;
	s->ticked = now;
	return 0;
}

MRPC_POLICY_OPS struct mrpc_policy_ops tgs = {
	.request_tx	= (void *)tgs_request,
	.reply_rx	= (void *)tgs_reply,
	.tick		= (void *)tgs_tick,
	.name		= "tgs",
	.period		= PERIOD,
	.counters	= { [PACED] = "paced", [REFUSED] = "refused" },
};
