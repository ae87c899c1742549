// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: runtimes.
 */
#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <net/netlink.h>

#include "control/runtime_config.h"
#include "exec/runtime.h"
#include "netlink/msg.h"
#include "netlink/netlink.h"
#include "netlink/runtime.h"
#include "netlink/session.h"

#define MRPC_NL_CPUS	512	/* bytes of a list of processors */

const struct nla_policy mrpc_nl_runtime_policy[] = {
	[MRPC_A_RUNTIME_ID] = { .type = NLA_REJECT },
	[MRPC_A_RUNTIME_NAME] = { .type = NLA_NUL_STRING, .len = MRPC_RUNTIME_NAME - 1 },
	[MRPC_A_RUNTIME_THREAD] = { .type = NLA_REJECT },
	[MRPC_A_RUNTIME_CPUS] = { .type = NLA_NUL_STRING, .len = MRPC_NL_CPUS - 1 },
	[MRPC_A_RUNTIME_NICE] = { .type = NLA_S32 },
	[MRPC_A_RUNTIME_FIFO] = NLA_POLICY_MAX(NLA_U8, 1),
	[MRPC_A_RUNTIME_BUSY] = { .type = NLA_UINT },
	[MRPC_A_RUNTIME_ORDER] = NLA_POLICY_MAX(NLA_U32, MRPC_RUNTIME_ORDER_SMALL),
	[MRPC_A_RUNTIME_TURN] = { .type = NLA_U32 },
	[MRPC_A_RUNTIME_DEDICATED] = NLA_POLICY_MAX(NLA_U8, 1),
};

static int mrpc_nl_fill_runtime(struct sk_buff *skb, const struct genl_info *info,
				struct mrpc_runtime *rt)
{
	void *hdr = mrpc_nl_begin(skb, info);
	struct mrpc_runtime_args args;
	char cpus[MRPC_NL_CPUS];
	int err;

	if (!hdr)
		return -EMSGSIZE;
	if (!zalloc_cpumask_var(&args.cpus, GFP_KERNEL))
		return mrpc_nl_end(skb, hdr, -ENOMEM);
	mrpc_runtime_describe(rt, &args);
	scnprintf(cpus, sizeof(cpus), "%*pbl", cpumask_pr_args(args.cpus));
	err = nla_put_u32(skb, MRPC_A_RUNTIME_ID, rt->id) ||
	      nla_put_string(skb, MRPC_A_RUNTIME_NAME, rt->name) ||
	      nla_put_u32(skb, MRPC_A_RUNTIME_THREAD,
			  task_pid_nr_ns(rt->task, task_active_pid_ns(current))) ||
	      nla_put_string(skb, MRPC_A_RUNTIME_CPUS, cpus) ||
	      nla_put_s32(skb, MRPC_A_RUNTIME_NICE, args.nice) ||
	      nla_put_u8(skb, MRPC_A_RUNTIME_FIFO, args.fifo) ||
	      nla_put_uint(skb, MRPC_A_RUNTIME_BUSY, args.busy) ||
	      nla_put_u32(skb, MRPC_A_RUNTIME_ORDER, args.within) ||
	      nla_put_u32(skb, MRPC_A_RUNTIME_TURN, args.turn) ||
	      nla_put_u8(skb, MRPC_A_RUNTIME_DEDICATED, args.dedicated) ||
	      nla_put_u32(skb, MRPC_A_RUNTIME_DATAPATHS, READ_ONCE(rt->users)) ||
	      nla_put_u32(skb, MRPC_A_RUNTIME_WAITING, READ_ONCE(rt->order.listed)) ||
	      nla_put_uint(skb, MRPC_A_RUNTIME_TURNS, READ_ONCE(rt->turns)) ||
	      nla_put_uint(skb, MRPC_A_RUNTIME_WAKEUPS, READ_ONCE(rt->wakeups)) ||
	      nla_put_uint(skb, MRPC_A_RUNTIME_RAN, READ_ONCE(rt->ran));
	free_cpumask_var(args.cpus);
	return mrpc_nl_end(skb, hdr, err);
}

/* The name that a request must have, or NULL. */
static const char *mrpc_nl_runtime_name(struct genl_info *info)
{
	struct nlattr *attr = info->attrs[MRPC_A_RUNTIME_NAME];

	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_RUNTIME_NAME))
		return NULL;
	if (nla_len(attr) > 1)
		return nla_data(attr);
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "a runtime needs a name");
	return NULL;
}

static struct mrpc_runtime *mrpc_nl_runtime(struct genl_info *info)
{
	const char *name = mrpc_nl_runtime_name(info);
	struct mrpc_runtime *rt;

	if (!name)
		return ERR_PTR(-EINVAL);
	rt = mrpc_runtime_find(name);
	if (rt)
		return rt;
	NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[MRPC_A_RUNTIME_NAME],
				"there is no runtime '%s'", name);
	return ERR_PTR(-ENOENT);
}

int mrpc_nl_runtime_get(struct sk_buff *request, struct genl_info *info)
{
	struct mrpc_runtime *rt = mrpc_nl_runtime(info);
	struct sk_buff *skb;
	int err = -ENOMEM;

	if (IS_ERR(rt))
		return PTR_ERR(rt);
	skb = mrpc_nl_new(0);
	if (skb)
		err = mrpc_nl_reply(skb, info, mrpc_nl_fill_runtime(skb, info, rt));
	mrpc_runtime_put(rt);
	return err;
}

int mrpc_nl_runtime_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_runtime *rt;
	int err;

	while ((rt = mrpc_runtime_next(cb->args[0]))) {
		err = mrpc_nl_fill_runtime(skb, genl_info_dump(cb), rt);
		if (!err)
			cb->args[0] = rt->id;
		mrpc_runtime_put(rt);
		if (err)
			return err;
	}
	return 0;
}

/* Overwrites @args with the values that a request gives. */
static int mrpc_nl_runtime_args(struct genl_info *info, struct mrpc_runtime_args *args)
{
	struct nlattr **tb = info->attrs;
	int err;

	if (tb[MRPC_A_RUNTIME_CPUS]) {
		err = cpulist_parse(nla_data(tb[MRPC_A_RUNTIME_CPUS]), args->cpus);
		if (err) {
			NL_SET_ERR_MSG_ATTR_FMT(info->extack, tb[MRPC_A_RUNTIME_CPUS],
						"'%s' is no list of processors of this host, as 0-3,8 may be",
						(char *)nla_data(tb[MRPC_A_RUNTIME_CPUS]));
			return err;
		}
	}
	if (tb[MRPC_A_RUNTIME_NICE])
		args->nice = nla_get_s32(tb[MRPC_A_RUNTIME_NICE]);
	if (tb[MRPC_A_RUNTIME_FIFO])
		args->fifo = nla_get_u8(tb[MRPC_A_RUNTIME_FIFO]);
	if (tb[MRPC_A_RUNTIME_BUSY])
		args->busy = nla_get_uint(tb[MRPC_A_RUNTIME_BUSY]);
	if (tb[MRPC_A_RUNTIME_ORDER])
		args->within = nla_get_u32(tb[MRPC_A_RUNTIME_ORDER]);
	if (tb[MRPC_A_RUNTIME_TURN])
		args->turn = nla_get_u32(tb[MRPC_A_RUNTIME_TURN]);
	if (tb[MRPC_A_RUNTIME_DEDICATED])
		args->dedicated = nla_get_u8(tb[MRPC_A_RUNTIME_DEDICATED]);
	return 0;
}

int mrpc_nl_runtime_add(struct sk_buff *request, struct genl_info *info)
{
	const char *name = mrpc_nl_runtime_name(info);
	struct mrpc_runtime_args args = { .turn = MRPC_RUNTIME_TURN };
	int err;

	if (!name)
		return -EINVAL;
	strscpy(args.name, name, sizeof(args.name));
	if (!zalloc_cpumask_var(&args.cpus, GFP_KERNEL))
		return -ENOMEM;
	cpumask_copy(args.cpus, cpu_possible_mask);
	err = mrpc_nl_runtime_args(info, &args);
	if (!err)
		err = mrpc_runtime_add(&args, info->extack);
	free_cpumask_var(args.cpus);
	return err;
}

/* Values that are not given stay. The mutex keeps other requests from changing them meanwhile. */
static DEFINE_MUTEX(mrpc_nl_runtime_setting);

int mrpc_nl_runtime_set(struct sk_buff *request, struct genl_info *info)
{
	struct mrpc_runtime *rt = mrpc_nl_runtime(info);
	struct mrpc_runtime_args args;
	int err = -ENOMEM;

	if (IS_ERR(rt))
		return PTR_ERR(rt);
	if (zalloc_cpumask_var(&args.cpus, GFP_KERNEL)) {
		mutex_lock(&mrpc_nl_runtime_setting);
		mrpc_runtime_describe(rt, &args);
		err = mrpc_nl_runtime_args(info, &args);
		if (!err)
			err = mrpc_runtime_set(rt, &args, info->extack);
		mutex_unlock(&mrpc_nl_runtime_setting);
		free_cpumask_var(args.cpus);
	}
	mrpc_runtime_put(rt);
	return err;
}

int mrpc_nl_runtime_del(struct sk_buff *request, struct genl_info *info)
{
	const char *name = mrpc_nl_runtime_name(info);

	return name ? mrpc_runtime_del(name, info->extack) : -EINVAL;
}
