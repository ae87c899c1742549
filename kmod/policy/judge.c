// SPDX-License-Identifier: GPL-2.0
/*
 * The engine type of a policy: its programs judge the rpcs of a datapath.
 *
 * Programs are called under RCU, after a check that they are still the present ones. A direction
 * binds itself to new programs when it finds them. So a replacement waits for no claim. Content of
 * a message in memory that an application can write is copied before the programs run.
 */
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "chain/chain.h"
#include "chain/delay.h"
#include "core/engine.h"
#include "core/engine_count.h"
#include "core/notify.h"
#include "core/rpc.h"
#include "core/schema.h"
#include "core/trace.h"
#include "lib/message/message.h"
#include "lib/message/wire.h"
#include "policy/instance.h"
#include "policy/judge.h"
#include "policy/policy.h"
#include "policy/registry.h"

#define POLICY_DETAILS	8	/* details of one turn's rejections */

enum {
	PARAM_FALLBACK,
};

/* Choices of "fallback" */
enum {
	FALLBACK_REJECT,
	FALLBACK_PASS,
};

static const char *const policy_fallbacks[] = { "reject", "pass", NULL };

static const struct mrpc_param policy_params[] = {
	[PARAM_FALLBACK] = {
		.name	 = "fallback",
		.type	 = MRPC_PARAM_CHOICE,
		.doc	 = "what happens to messages while there is no program",
		.def	 = FALLBACK_REJECT,
		.choices = policy_fallbacks,
	},
};
static const char policy_unavailable[] = "the policy that judges it has no program";
static const char policy_unready[] = "the policy that judges it could not be prepared";
static const char policy_unfit[] = "the policy that judges it does not fit the connection";
static const char policy_no_memory[] = "a policy holds it back, and there is no memory";
static const char policy_default[] = "rejected by a policy";

/* -- the datapath ----------------------------------------------------------------- */

/* Rejects with a text of the engine, not of the program. */
static int policy_refuse(struct mrpc_policy_run *run, u16 status, const char *detail)
{
	run->status = status;
	strscpy(run->detail, detail);
	return MRPC_POLICY_REJECT;
}

/**
 * mrpc_policy_passes() - do messages pass while there is no program?
 * @e: the instance
 */
bool mrpc_policy_passes(const struct mrpc_engine *e)
{
	return e->group->values[PARAM_FALLBACK].num == FALLBACK_PASS;
}

static int policy_fallback(struct mrpc_policy_run *run)
{
	mrpc_policy_count(&run->fallbacks);
	if (mrpc_policy_passes(run->e))
		return MRPC_POLICY_PASS;
	return policy_refuse(run, MRPC_UNAVAILABLE, policy_unavailable);
}

static u64 policy_age(const struct mrpc_policy_run *run, const struct mrpc_call *call)
{
	u64 from = run->dir == MRPC_TX ? call->times.submit : call->times.receive;
	u64 now = ktime_get_ns();

	return from && now > from ? now - from : 0;
}

/* Return: the fields of @rpc, or NULL: it has none. */
static const struct mrpc_policy_paths *policy_paths(const struct mrpc_policy_run *run,
						    const struct mrpc_rpc *rpc)
{
	const struct mrpc_policy_bound *b = run->bound[rpc->call->method >> 16];
	const struct mrpc_method *m;

	if (!(rpc->frame.flags & MRPC_WIRE_MSG))
		return NULL;
	m = &b->schema->plan->methods[rpc->call->method & 0xffff];
	return b->types[mrpc_rpc_is_request(rpc) ? m->request : m->reply];
}

/* Fills the context that programs see, for @rpc. */
static __always_inline void policy_show(struct mrpc_policy_run *run, struct mrpc_rpc *rpc)
{
	const struct mrpc_call *call = rpc->call;
	struct mrpc_policy_ctx *ctx = &run->ctx;

	run->rpc = rpc;
	run->status = 0;
	run->delay = 0;
	ctx->call = call->id;
	ctx->deadline = mrpc_rpc_deadline(rpc);
	ctx->size = mrpc_rpc_size(rpc);
	ctx->meta_len = rpc->frame.meta_len;
	ctx->service = call->method >> 16;
	ctx->method = call->method & 0xffff;
	ctx->status = rpc->frame.status;	/* of a request 0 */
	ctx->priority = mrpc_rpc_rank(rpc);
	if (unlikely(run->prog->flags & MRPC_POLICY_AGES))
		ctx->age = policy_age(run, call);
}

/* Prepares the fields that programs may read of @rpc. May sleep. */
static void policy_view(struct mrpc_policy_run *run, struct mrpc_rpc *rpc)
{
	struct mrpc_view *view = &run->view;

	run->paths = policy_paths(run, rpc);
	if (!run->paths)
		return;
	/* If the copy fails, the program sees that the content is missing. */
	if (run->paths->content)
		mrpc_rpc_own_bytes(rpc);
	view->head = mrpc_rpc_head(rpc);
	view->head_len = mrpc_msg_head_len(&rpc->frame.msg);
	view->bytes = mrpc_rpc_bytes(rpc);
}

/**
 * mrpc_policy_show() - prepare a message, and its fields, for programs
 * @run: the direction, bound to present programs
 * @rpc: the message, of a service that it is bound to
 *
 * For programs that do not judge. Context: process; may sleep.
 */
void mrpc_policy_show(struct mrpc_policy_run *run, struct mrpc_rpc *rpc)
{
	policy_show(run, rpc);
	if (run->prog->nr_fields)
		policy_view(run, rpc);
}

/**
 * mrpc_policy_tell() - report that a policy's programs were evicted
 * @policy: the policy
 * @e: the instance that reports it for all
 *
 * Context: process; may sleep.
 */
void mrpc_policy_tell(struct mrpc_policy *policy, struct mrpc_engine *e)
{
	char why[sizeof(policy->why)];

	spin_lock_bh(&policy->why_lock);
	memcpy(why, policy->why, sizeof(why));
	spin_unlock_bh(&policy->why_lock);
	mrpc_notify_fault(e, "evicted", why);
}

/**
 * mrpc_policy_ran() - account a measured run
 * @run: the direction
 * @ns: its time
 */
noinline void mrpc_policy_ran(struct mrpc_policy_run *run, s64 ns)
{
	ns = max(ns, 0);
	WRITE_ONCE(run->ran, run->ran + ns);
	mrpc_policy_count(&run->measured);
	if (mrpc_policy_took(run->policy, run->prog, "run", ns))
		WRITE_ONCE(run->thrown, true);
}

static noinline int policy_run_measured(struct mrpc_policy_run *run)
{
	u64 start = local_clock();
	int verdict = run->hook(&run->ctx);

	mrpc_policy_ran(run, local_clock() - start);
	return verdict;
}

/*
 * Calls a program, with preemption disabled. Few runs are measured by the clock. In the other runs,
 * kernel ticks during the run reveal those that take very long.
 */
static __always_inline int policy_run(struct mrpc_policy_run *run)
{
	unsigned long tick = jiffies;
	u64 runs = run->runs;
	int verdict;

	WRITE_ONCE(run->runs, runs + 1);
	if (unlikely(!(runs % MRPC_POLICY_MEASURE) || READ_ONCE(run->prog->faults)))
		return policy_run_measured(run);
	verdict = run->hook(&run->ctx);
	if (unlikely(jiffies - tick > 1))
		mrpc_policy_ran(run, jiffies_to_nsecs(jiffies - tick - 1));
	return verdict;
}

/* Checks a verdict: programs may return anything. */
static int policy_verdict(struct mrpc_policy_run *run, int verdict)
{
	switch (verdict) {
	case MRPC_POLICY_PASS:
	case MRPC_POLICY_DELAY:
		return verdict;
	case MRPC_POLICY_REJECT:
		break;
	default:
		mrpc_policy_count(&run->errors);
		run->thrown |= mrpc_policy_fault(run->policy, run->prog,
						 "it returned %d", verdict);
		run->status = 0;
	}
	if (!run->status)
		policy_refuse(run, MRPC_PERMISSION_DENIED, policy_default);
	return MRPC_POLICY_REJECT;
}

/* The verdict if no program judges in this direction. Return: as policy_judge(). */
static noinline int policy_without(struct mrpc_policy_run *run)
{
	if (!run->prog)
		return policy_fallback(run);
	if (run->unfit)
		return policy_refuse(run, MRPC_FAILED_PRECONDITION, policy_unfit);
	return MRPC_POLICY_PASS;
}

static noinline void policy_trace(const struct mrpc_policy_run *run, const struct mrpc_rpc *rpc,
				  int verdict)
{
	trace_mrpc_policy(rpc->call, run->e->ops->name, &run->ctx, verdict);
}

/* Does what must not be done while programs cannot be replaced. Return: the verdict. */
static noinline int policy_after(struct mrpc_policy_run *run, int verdict)
{
	if (verdict != MRPC_POLICY_PASS)
		verdict = policy_verdict(run, verdict);
	if (run->thrown) {
		run->thrown = false;
		mrpc_policy_tell(run->policy, run->e);
	}
	return verdict;
}

/* Return: enum mrpc_policy_verdict; with REJECT, @run has the status. */
static __always_inline int policy_judge(struct mrpc_policy_run *run,
					const struct mrpc_policy *policy, struct mrpc_rpc *rpc)
{
	int verdict;

	if (unlikely(rpc->drop))	/* a call that is given up sends nothing */
		return MRPC_POLICY_PASS;
	for (;;) {
		if (likely(run->hook)) {
			policy_show(run, rpc);
			if (run->prog->nr_fields)
				policy_view(run, rpc);
			mrpc_policy_enter();
			if (likely(rcu_access_pointer(policy->prog) == run->prog))
				break;
			mrpc_policy_leave();
		} else if (rcu_access_pointer(policy->prog) == run->prog) {
			return policy_without(run);
		}
		if (mrpc_policy_rebind(run))
			return policy_refuse(run, MRPC_UNAVAILABLE, policy_unready);
	}
	verdict = policy_run(run);
	mrpc_policy_leave();
	run->rpc = NULL;
	if (unlikely(verdict | run->thrown))
		verdict = policy_after(run, verdict);
	if (trace_mrpc_policy_enabled())
		policy_trace(run, rpc, verdict);
	return verdict;
}

/* Judges a message outside of a turn. If it does not pass at once, the verdict is kept. */
static bool policy_pass(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_rpc *rpc)
{
	struct mrpc_policy_dp *dp = e->priv;
	struct mrpc_policy_run *run = &dp->run[dir];
	int verdict;

	OPTIMIZER_HIDE_VAR(run);	/* otherwise it is computed again after each call */
	verdict = policy_judge(run, mrpc_policy_of(e->ops), rpc);
	if (likely(verdict == MRPC_POLICY_PASS))
		return true;
	run->verdict = verdict;
	run->judged = rpc;
	run->judged_call = rpc->call->id;
	return false;
}

static int policy_take_verdict(struct mrpc_policy_run *run, struct mrpc_rpc *rpc)
{
	bool known = run->judged == rpc && run->judged_call == rpc->call->id;

	run->judged = NULL;
	return known ? run->verdict : policy_judge(run, mrpc_policy_of(run->e->ops), rpc);
}

/* Copies the detail: it is read when the turn is over. */
static const char *policy_detail(struct mrpc_policy_run *run)
{
	char *detail;

	if (!run->details)
		run->details = kcalloc(POLICY_DETAILS, MRPC_POLICY_DETAIL, GFP_KERNEL_ACCOUNT);
	if (!run->details) {
		run->nr_details = POLICY_DETAILS;
		return policy_default;
	}
	detail = run->details[run->nr_details++];
	memcpy(detail, run->detail, MRPC_POLICY_DETAIL);
	return detail;
}

static u64 policy_do_work(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *in,
			  struct mrpc_queue *out, int budget)
{
	struct mrpc_policy_dp *dp = e->priv;
	struct mrpc_policy_run *run = &dp->run[dir];
	struct mrpc_rpc *rpc;
	int verdict;

	if (!mrpc_late_empty(&run->late))
		mrpc_late_release(&run->late, out, ktime_get_ns());
	run->nr_details = 0;
	for (; budget && (rpc = mrpc_queue_peek(in)); budget--) {
		if (run->nr_details == POLICY_DETAILS)
			return ktime_get_ns();
		verdict = policy_take_verdict(run, rpc);
		if (verdict == MRPC_POLICY_PASS) {
			mrpc_queue_move(in, rpc, out);
			continue;
		}
		if (verdict == MRPC_POLICY_DELAY) {
			if (mrpc_late_keep(&run->late, in, rpc, ktime_get_ns() + run->delay)) {
				mrpc_policy_count(&run->delayed);
				continue;
			}
			policy_refuse(run, MRPC_RESOURCE_EXHAUSTED, policy_no_memory);
		}
		mrpc_policy_count(&run->rejected);
		mrpc_engine_reject(e, dir, in, rpc, run->status, policy_detail(run));
	}
	return mrpc_late_next(&run->late);
}

static void policy_flush(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *out)
{
	struct mrpc_policy_dp *dp = e->priv;

	mrpc_late_release(&dp->run[dir].late, out, U64_MAX);
}

/* -- counters for operators -------------------------------------------------------- */

static u64 policy_sum(const struct mrpc_policy_dp *dp, size_t off)
{
	return READ_ONCE(*(const u64 *)((const u8 *)&dp->run[MRPC_TX] + off)) +
	       READ_ONCE(*(const u64 *)((const u8 *)&dp->run[MRPC_RX] + off));
}

static int policy_put_counters(const struct mrpc_policy_dp *dp, struct mrpc_policy *policy,
			       struct sk_buff *skb)
{
	struct mrpc_policy_prog *prog = mrpc_policy_prog_get(policy);
	int err = 0;
	u32 i;

	for (i = 0; prog && i < prog->nr_counters && !err; i++)
		err = mrpc_engine_put_u64(skb, prog->decl->counters[i],
					  policy_sum(dp, offsetof(struct mrpc_policy_run,
								  counters[i])));
	if (prog)
		mrpc_policy_prog_put(prog);
	return err;
}

/**
 * mrpc_policy_dump() - put the counters of programs on a datapath
 * @dp: the datapath
 * @skb: destination
 *
 * Return: 0 or -EMSGSIZE.
 */
int mrpc_policy_dump(const struct mrpc_policy_dp *dp, struct sk_buff *skb)
{
	static const struct {
		const char *name;
		size_t off;
		bool judges;
	} counts[] = {
		{ "runs", offsetof(struct mrpc_policy_run, runs) },
		{ "measured", offsetof(struct mrpc_policy_run, measured) },
		{ "measured_ns", offsetof(struct mrpc_policy_run, ran) },
		{ "rejected", offsetof(struct mrpc_policy_run, rejected), true },
		{ "delayed", offsetof(struct mrpc_policy_run, delayed), true },
		{ "errors", offsetof(struct mrpc_policy_run, errors) },
		{ "fallbacks", offsetof(struct mrpc_policy_run, fallbacks) },
	};
	const struct mrpc_policy_run *run = &dp->run[MRPC_TX];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(counts); i++)
		if ((run->e || !counts[i].judges) &&
		    mrpc_engine_put_u64(skb, counts[i].name, policy_sum(dp, counts[i].off)))
			return -EMSGSIZE;
	return policy_put_counters(dp, run->policy, skb);
}

static int policy_dump(const struct mrpc_engine *e, const struct mrpc_group *g,
		       struct sk_buff *skb)
{
	struct mrpc_policy *policy = mrpc_policy_of(g->ops);

	if (e)
		return mrpc_policy_dump(e->priv, skb);
	return mrpc_engine_put_u64(skb, "generation", READ_ONCE(policy->generations)) ||
	       mrpc_engine_put_u64(skb, "evicted", READ_ONCE(policy->evicted)) ? -EMSGSIZE : 0;
}

/**
 * mrpc_policy_tick() - run a policy's tick
 * @policy: the policy
 *
 * Context: process.
 */
void mrpc_policy_tick(struct mrpc_policy *policy)
{
	struct mrpc_policy_run *run = kzalloc(sizeof(*run), GFP_KERNEL);
	struct mrpc_policy_prog *prog;
	u64 start;

	if (!run)
		return;
	mrpc_policy_enter();
	prog = rcu_dereference_check(policy->prog, true);
	if (prog && prog->tick) {
		run->ctx.generation = prog->generation;
		start = local_clock();
		prog->tick(&run->ctx);
		mrpc_policy_took(policy, prog, "tick", local_clock() - start);
	}
	mrpc_policy_leave();
	kfree(run);
}

/* Common part of all policies that judge messages; policy/registry.c gives them a name. */
const struct mrpc_engine_ops mrpc_policy_engine = {
	.flags		= MRPC_ENGINE_MANDATORY | MRPC_ENGINE_COUNTS,
	.dirs		= BIT(MRPC_TX) | BIT(MRPC_RX),
	.params		= policy_params,
	.nr_params	= ARRAY_SIZE(policy_params),
	.doc		= "A policy in eBPF.",
	.create		= mrpc_policy_create,
	.destroy	= mrpc_policy_destroy,
	.do_work	= policy_do_work,
	.pass		= policy_pass,
	.flush		= policy_flush,
	.dump		= policy_dump,
};
