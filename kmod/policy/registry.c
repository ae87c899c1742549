// SPDX-License-Identifier: GPL-2.0
/*
 * Attaching and detaching policies by struct_ops links. The same for policies of all classes.
 *
 * reg() and update() run under one lock for all struct_ops of the host. So nothing here waits for a
 * datapath: programs are RCU pointers, and directions bind themselves to new ones.
 */
#include <linux/list.h>
#include <linux/rcupdate.h>

#include "core/engine.h"
#include "core/notify.h"
#include "policy/fields.h"
#include "policy/judge.h"
#include "policy/policy.h"
#include "policy/registry.h"

static DEFINE_MUTEX(mrpc_policies_lock);
static LIST_HEAD(mrpc_policies);	/* under mrpc_policies_lock */

struct workqueue_struct *mrpc_policy_wq;

/* -- programs ------------------------------------------------------------------- */

static struct mrpc_policy_prog *policy_prog_new(const struct mrpc_policy_class *class,
						const void *ops)
{
	struct mrpc_policy_prog *prog = kvzalloc(sizeof(*prog), GFP_KERNEL_ACCOUNT);
	const struct mrpc_policy_decl *decl;

	if (!prog)
		return NULL;
	refcount_set(&prog->ref, 1);
	spin_lock_init(&prog->lock);
	INIT_LIST_HEAD(&prog->bound);
	memcpy(&prog->ops, ops, class->size);
	decl = mrpc_policy_decl(class, &prog->ops);
	prog->decl = decl;
	prog->flags = decl->flags;
	prog->budget = decl->budget ?: class->budget;
	prog->nr_fields = mrpc_policy_check_fields(decl);	/* validated */
	while (prog->nr_counters < MRPC_POLICY_COUNTERS && *decl->counters[prog->nr_counters])
		prog->nr_counters++;
	class->take(prog);
	prog->hooks |= (prog->init ? MRPC_POLICY_HOOKS_INIT : 0) |
		       (prog->exit ? MRPC_POLICY_HOOKS_EXIT : 0) |
		       (prog->tick ? MRPC_POLICY_HOOKS_TICK : 0);
	return prog;
}

/**
 * mrpc_policy_prog_get() - get a policy's present programs
 * @policy: the policy
 *
 * Return: the programs, with a reference, or NULL.
 */
struct mrpc_policy_prog *mrpc_policy_prog_get(struct mrpc_policy *policy)
{
	struct mrpc_policy_prog *prog;

	rcu_read_lock();
	do {		/* programs without references already have a successor */
		prog = rcu_dereference(policy->prog);
	} while (prog && !refcount_inc_not_zero(&prog->ref));
	rcu_read_unlock();
	return prog;
}

/**
 * mrpc_policy_prog_put() - end of mrpc_policy_prog_get()
 * @prog: the programs
 */
void mrpc_policy_prog_put(struct mrpc_policy_prog *prog)
{
	if (refcount_dec_and_test(&prog->ref))
		kvfree_rcu(prog, rcu);
}

static void policy_set_prog(struct mrpc_policy *policy, struct mrpc_policy_prog *prog)
{
	struct mrpc_policy_prog *old = unrcu_pointer(xchg(&policy->prog, RCU_INITIALIZER(prog)));

	if (old)
		mrpc_policy_prog_put(old);
}

/* -- the type -------------------------------------------------------------------- */

static bool policy_hold(const struct mrpc_engine_ops *ops)
{
	return kref_get_unless_zero(&mrpc_policy_of(ops)->ref);
}

/* Under mrpc_policies_lock, which it drops. */
static void policy_free(struct kref *ref)
{
	struct mrpc_policy *policy = container_of(ref, struct mrpc_policy, ref);

	list_del(&policy->list);
	mrpc_engine_unregister(&policy->engine);
	mutex_unlock(&mrpc_policies_lock);
	kfree(policy);
}

static void policy_put(struct mrpc_policy *policy)
{
	kref_put_mutex(&policy->ref, policy_free, &mrpc_policies_lock);
}

/* mrpc_engine_ops.drop */
void mrpc_policy_drop(const struct mrpc_engine_ops *ops)
{
	policy_put(mrpc_policy_of(ops));
}

static void policy_evict_work(struct work_struct *work)
{
	struct mrpc_policy *policy = container_of(work, struct mrpc_policy, evict);
	struct bpf_link *link;

	mutex_lock(&mrpc_policies_lock);
	/* A link that is being freed removes itself from the policy before it ends. */
	link = policy->link && !rcu_access_pointer(policy->prog) ?
	       bpf_link_inc_not_zero(policy->link) : NULL;
	mutex_unlock(&mrpc_policies_lock);
	if (!IS_ERR_OR_NULL(link)) {
		link->ops->detach(link);
		bpf_link_put(link);
	}
	policy_put(policy);
}

static void policy_say(struct mrpc_policy *policy, const char *why)
{
	spin_lock_bh(&policy->why_lock);
	strscpy(policy->why, why);
	spin_unlock_bh(&policy->why_lock);
}

/**
 * mrpc_policy_fault() - count a fault of programs
 * @policy: the policy
 * @prog: its programs, or earlier ones
 * @fmt: the fault, a sentence
 *
 * Too many faults evict the programs. When this function returns, no new run of them begins. Their
 * link is detached later.
 *
 * Context: any but hard interrupt. Return: true: they were evicted now.
 */
bool mrpc_policy_fault(struct mrpc_policy *policy, struct mrpc_policy_prog *prog,
		       const char *fmt, ...)
{
	u32 faults = READ_ONCE(prog->faults) + MRPC_POLICY_FAULT;
	char why[sizeof(policy->why)];
	va_list args;

	WRITE_ONCE(prog->faults, faults);
	if (faults < MRPC_POLICY_FAULTS ||
	    unrcu_pointer(cmpxchg(&policy->prog, RCU_INITIALIZER(prog), NULL)) != prog)
		return false;
	mrpc_policy_prog_put(prog);
	va_start(args, fmt);
	vscnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	policy_say(policy, why);
	WRITE_ONCE(policy->evicted, policy->evicted + 1);
	WRITE_ONCE(policy->thrown, true);
	kref_get(&policy->ref);	/* the caller has one, as it runs them */
	if (!queue_work(mrpc_policy_wq, &policy->evict))
		refcount_dec(&policy->ref.refcount);
	return true;
}

/**
 * mrpc_policy_took() - account the time of a run of programs
 * @policy: the policy
 * @prog: its programs, or earlier ones
 * @what: "run" or "tick"
 * @ns: the time
 *
 * More than the budget is a fault. Context and return as for mrpc_policy_fault().
 */
bool mrpc_policy_took(struct mrpc_policy *policy, struct mrpc_policy_prog *prog,
		      const char *what, u64 ns)
{
	u32 faults = READ_ONCE(prog->faults);

	if (ns > prog->budget)
		return mrpc_policy_fault(policy, prog, "a %s took %llu us", what,
					 div_u64(ns, NSEC_PER_USEC));
	if (faults)
		WRITE_ONCE(prog->faults, faults - 1);
	return false;
}

/**
 * mrpc_policy_look() - get the present state of a policy
 * @policy: the policy, referenced
 * @look: out; the caller puts its programs
 *
 * Context: process; may sleep.
 */
void mrpc_policy_look(struct mrpc_policy *policy, struct mrpc_policy_look *look)
{
	mutex_lock(&mrpc_policies_lock);
	look->prog = mrpc_policy_prog_get(policy);
	look->link = policy->link ? policy->link->id : 0;
	look->generation = policy->generations;
	look->thrown = READ_ONCE(policy->thrown);
	mutex_unlock(&mrpc_policies_lock);
	spin_lock_bh(&policy->why_lock);
	memcpy(look->why, policy->why, sizeof(look->why));
	spin_unlock_bh(&policy->why_lock);
}

/* -- the tick ---------------------------------------------------------------------- */

static void policy_tick_work(struct work_struct *work)
{
	struct mrpc_policy *policy = container_of(to_delayed_work(work), struct mrpc_policy, tick);
	struct mrpc_policy_prog *prog = mrpc_policy_prog_get(policy);
	u64 period;

	if (!prog)
		return;
	period = prog->tick ? prog->decl->period : 0;
	mrpc_policy_prog_put(prog);
	if (!period)
		return;
	mrpc_policy_tick(policy);
	queue_delayed_work(mrpc_policy_wq, &policy->tick, nsecs_to_jiffies(period));
}

/* -- attaching ----------------------------------------------------------------------- */

static u32 policy_version(const struct mrpc_policy_decl *decl)
{
	return decl->version ?: 1;
}

static struct mrpc_policy *policy_find(const struct mrpc_policy_decl *decl)
{
	struct mrpc_policy *policy;

	list_for_each_entry(policy, &mrpc_policies, list)
		if (!strcmp(policy->name, decl->name) &&
		    policy->engine.version == policy_version(decl))
			return policy;
	return NULL;
}

/* Under mrpc_policies_lock. */
static struct mrpc_policy *policy_new(const struct mrpc_policy_class *class,
				      const struct mrpc_policy_prog *prog)
{
	const struct mrpc_policy_decl *decl = prog->decl;
	struct mrpc_policy *policy = kzalloc(sizeof(*policy), GFP_KERNEL_ACCOUNT);
	int err;

	if (!policy)
		return ERR_PTR(-ENOMEM);
	kref_init(&policy->ref);
	spin_lock_init(&policy->why_lock);
	INIT_WORK(&policy->evict, policy_evict_work);
	INIT_DELAYED_WORK(&policy->tick, policy_tick_work);
	strscpy(policy->name, decl->name);
	policy->class = class;
	policy->storage = decl->storage;
	policy->hooks = prog->hooks;
	policy->flags = decl->flags;
	policy->engine = *class->engine;
	policy->engine.owner = THIS_MODULE;
	policy->engine.name = policy->name;
	policy->engine.version = policy_version(decl);
	policy->engine.hold = policy_hold;
	policy->engine.drop = mrpc_policy_drop;
	err = mrpc_engine_register(&policy->engine);
	if (err) {
		kfree(policy);
		return ERR_PTR(err);
	}
	list_add(&policy->list, &mrpc_policies);
	return policy;
}

/* Makes programs the present ones. Under mrpc_policies_lock. */
static void policy_begin(struct mrpc_policy *policy, struct mrpc_policy_prog *prog)
{
	bool ticks = prog->tick;

	prog->generation = ++policy->generations;
	WRITE_ONCE(policy->thrown, false);
	policy_say(policy, "");		/* it was about other programs */
	policy_set_prog(policy, prog);
	if (ticks)
		mod_delayed_work(mrpc_policy_wq, &policy->tick, 0);
}

/* Can programs take over this policy's datapaths? Return: why not, or NULL. */
static const char *policy_fits(const struct mrpc_policy *policy,
			       const struct mrpc_policy_prog *prog)
{
	const struct mrpc_policy_decl *decl = prog->decl;

	if (strcmp(policy->name, decl->name))
		return "it has another name";
	if (policy->engine.version != policy_version(decl))
		return "it has another version";
	if (policy->storage != decl->storage)
		return "it has another size of storage";
	if (prog->hooks & ~policy->hooks & policy->class->arranged)
		return "it has a function that the first one had not";
	if (decl->flags & ~policy->flags)
		return "it has a flag that the first one had not";
	return NULL;
}

static void policy_refuse(struct mrpc_policy *policy, const char *why)
{
	policy_say(policy, why);
	pr_notice_ratelimited("mrpc: policy '%s': %s\n", policy->name, why);
}

/* Under mrpc_policies_lock. Return: a policy for @prog, with a reference, or an ERR_PTR. */
static struct mrpc_policy *policy_get(const struct mrpc_policy_class *class,
				      const struct mrpc_policy_prog *prog)
{
	struct mrpc_policy *policy = policy_find(prog->decl);
	const char *why;

	if (!policy)
		return policy_new(class, prog);
	if (policy->link || policy->class != class)
		return ERR_PTR(-EEXIST);
	why = policy_fits(policy, prog);
	if (why) {
		policy_refuse(policy, why);
		return ERR_PTR(-EINVAL);
	}
	/* Its last configuration may be ending. */
	return kref_get_unless_zero(&policy->ref) ? policy : ERR_PTR(-EAGAIN);
}

/**
 * mrpc_policy_attach() - attach programs to a policy
 * @class: its class
 * @ops: the struct of that class, validated
 * @link: the link by which they are attached
 *
 * For bpf_struct_ops.reg. Context: process; may sleep. Return: 0; -EEXIST: the name is taken;
 * -EINVAL: they do not fit the users of the policy; -EAGAIN: the policy is just ending.
 */
int mrpc_policy_attach(const struct mrpc_policy_class *class, const void *ops,
		       struct bpf_link *link)
{
	struct mrpc_policy_prog *prog;
	struct mrpc_policy *policy;

	if (!link)		/* without a link there is nothing to detach */
		return -EOPNOTSUPP;
	prog = policy_prog_new(class, ops);
	if (!prog)
		return -ENOMEM;
	mutex_lock(&mrpc_policies_lock);
	policy = policy_get(class, prog);
	if (!IS_ERR(policy)) {
		policy->link = link;
		policy_begin(policy, prog);
	}
	mutex_unlock(&mrpc_policies_lock);
	if (IS_ERR(policy)) {
		mrpc_policy_prog_put(prog);
		return PTR_ERR(policy);
	}
	/* The policy cannot go before this function returns. */
	mrpc_notify_policy(&policy->engine, MRPC_EVENT_POLICY_ATTACH);
	return 0;
}

/* Under mrpc_policies_lock, or when @link's policy cannot go. */
static struct mrpc_policy *policy_of_link(const struct bpf_link *link)
{
	struct mrpc_policy *policy;

	list_for_each_entry(policy, &mrpc_policies, list)
		if (policy->link == link)
			return policy;
	return NULL;
}

/**
 * mrpc_policy_detach() - detach a policy's programs
 * @ops: the struct of its class
 * @link: the link
 *
 * For bpf_struct_ops.unreg. Context: process; waits until no context runs them.
 */
void mrpc_policy_detach(void *ops, struct bpf_link *link)
{
	struct mrpc_policy *policy;

	mutex_lock(&mrpc_policies_lock);
	policy = policy_of_link(link);
	if (policy) {
		policy->link = NULL;
		policy_set_prog(policy, NULL);
		cancel_delayed_work_sync(&policy->tick);
	}
	mutex_unlock(&mrpc_policies_lock);
	if (!policy)
		return;
	synchronize_rcu();	/* no context runs them any more */
	mrpc_notify_policy(&policy->engine, MRPC_EVENT_POLICY_DETACH);
	policy_put(policy);
}

/* Under mrpc_policies_lock. Return: 0; -EINVAL, and mrpc_policy.why says why. */
static int policy_check_update(struct mrpc_policy *policy, struct mrpc_policy_prog *next)
{
	struct mrpc_policy_prog *now = mrpc_policy_prog_get(policy);
	const char *unfit = policy_fits(policy, next);
	char why[sizeof(policy->why)] = "";

	if (!now)
		return -ENOLINK;
	if (unfit)
		strscpy(why, unfit);
	else
		mrpc_policy_serves(next, now, why, sizeof(why));
	mrpc_policy_prog_put(now);
	if (!*why)
		return 0;
	policy_refuse(policy, why);
	return -EINVAL;
}

/* Under mrpc_policies_lock. */
static int policy_update(struct mrpc_policy *policy, const void *ops)
{
	struct mrpc_policy_prog *prog = policy_prog_new(policy->class, ops);
	int err;

	if (!prog)
		return -ENOMEM;
	err = policy_check_update(policy, prog);
	if (err)
		mrpc_policy_prog_put(prog);
	else
		policy_begin(policy, prog);
	return err;
}

/**
 * mrpc_policy_update() - replace a policy's programs
 * @ops: the struct of its class, validated
 * @old: the struct of the present programs
 * @link: the link
 *
 * For bpf_struct_ops.update. Context: process; waits until no context runs the old programs.
 * Return: 0; -EINVAL, with the reason in mrpc_policy.why; -ENOLINK: they have been evicted.
 */
int mrpc_policy_update(void *ops, void *old, struct bpf_link *link)
{
	struct mrpc_policy *policy;
	int err;

	mutex_lock(&mrpc_policies_lock);
	policy = policy_of_link(link);
	err = policy ? policy_update(policy, ops) : -ENOLINK;
	mutex_unlock(&mrpc_policies_lock);
	if (err)
		return err;
	synchronize_rcu();	/* no context runs the old programs any more */
	mrpc_notify_policy(&policy->engine, MRPC_EVENT_POLICY_REPLACE);
	return 0;
}
