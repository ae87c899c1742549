// SPDX-License-Identifier: GPL-2.0
/*
 * lb: distributes the calls of one connection over many servers.
 *
 * The engine gives each request to a replica of the set that its placement has on the datapath
 * (core/replica.h). It chooses in turn, by the fewest calls, by a field of the request, or as a
 * policy in eBPF says (policy/choose.h). If no replica is fit now, requests wait in its queue. If
 * none will soon be fit, they fail, or go over the connection's own link. By the latter a
 * connection moves to another transport and back. The core does the rest: links, health, and the
 * calls that were given to a replica.
 * core's.
 */
#include <linux/inet.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/un.h>

#include "core/engine.h"
#include "core/engine_count.h"
#include "core/rpc.h"
#include "core/schema.h"
#include "core/transport.h"
#include "lib/balance.h"
#include "lib/ds/siphash.h"
#include "lib/message/field.h"
#include "lib/message/message.h"
#include "lib/message/wire.h"
#include "policy/choose.h"
#include "replica/egress.h"
#include "replica/replica.h"
#include "replica/set.h"
#include "replica/show.h"

#ifndef LB_VERSION
#define LB_VERSION 1
#endif

enum {
	PARAM_MEMBERS,
	PARAM_POLICY,
	PARAM_FIELD,
	PARAM_FAILURES,
	PARAM_BACKOFF,
	PARAM_CHOOSER,
	PARAM_FALLBACK,
};

enum { FALLBACK_REJECT, FALLBACK_OWN };

static const char *const lb_policies[] = {
	[MRPC_BALANCE_WRR] = "wrr",
	[MRPC_BALANCE_LEAST] = "least",
	[MRPC_BALANCE_HASH] = "hash",
	NULL
};

static const char *const lb_fallbacks[] = {
	[FALLBACK_REJECT] = "reject",
	[FALLBACK_OWN] = "own",
	NULL
};

static const struct mrpc_param lb_params[] = {
	[PARAM_MEMBERS] = {
		.name	= "members",
		.type	= MRPC_PARAM_STRING,
		.flags	= MRPC_PARAM_REQUIRED,
		.doc	= "replicas, as tcp:10.0.0.1:7000=2,tcp:10.0.0.2:7000; behind = the weight",
		.min	= 1,
		.max	= MRPC_BALANCE_MEMBERS * (MRPC_REPLICA_NAME + 4),
	},
	[PARAM_POLICY] = {
		.name	= "policy",
		.type	= MRPC_PARAM_CHOICE,
		.doc	= "in turn, the fewest calls outstanding, or by a field",
		.choices = lb_policies,
	},
	[PARAM_FIELD] = {
		.name	= "field",
		.type	= MRPC_PARAM_STRING,
		.doc	= "hash: calls that are equal in this field go to the same replica",
		.max	= MRPC_PATH_MAX_TEXT,
	},
	[PARAM_FAILURES] = {
		.name	= "failures",
		.type	= MRPC_PARAM_U64,
		.doc	= "calls that end UNAVAILABLE in a row before a replica is ejected",
		.min	= 1,
		.max	= 1000000,
		.def	= 5,
	},
	[PARAM_BACKOFF] = {
		.name	= "backoff",
		.type	= MRPC_PARAM_U64,
		.unit	= "ns",
		.doc	= "for how long, the first time; doubles up to 64 times as long",
		.min	= 10 * NSEC_PER_MSEC,
		.max	= 60 * NSEC_PER_SEC,
		.def	= NSEC_PER_SEC,
	},
	[PARAM_CHOOSER] = {
		.name	= "chooser",
		.type	= MRPC_PARAM_STRING,
		.doc	= "policy of type lb, NAME or NAME@VERSION, that is asked first; or none",
		.max	= MRPC_CHOOSER_NAME,
	},
	[PARAM_FALLBACK] = {
		.name	= "fallback",
		.type	= MRPC_PARAM_CHOICE,
		.doc	= "no replica is fit just now: wait, then reject; or the connection's own link",
		.choices = lb_fallbacks,
	},
};

/**
 * struct lb_paths - the field in the requests of a service
 * @nr: methods
 * @path: for each method, the path of its field, or NULL: it has none
 */
struct lb_paths {
	u32 nr;
	struct mrpc_field_path *path[] __counted_by(nr);
};

/**
 * struct lb - an instance, of one configuration
 * @set: the replicas; a reference
 * @chooser: is asked first, a reference; or NULL
 * @paths: for each service of the connection, with policy hash; immutable
 * @unkeyed: requests without the field; of the owner of the transmit claim, as are the next two
 * @own: requests that went over the connection's own link, for lack of a replica
 * @why: detail for a request that is rejected
 */
struct lb {
	struct mrpc_replicas *set;
	struct mrpc_chooser *chooser;
	struct lb_paths *paths[MRPC_MAX_SERVICES];
	u64 unkeyed;
	u64 own;
	char why[192];
};

/* State for the instance of the next configuration. It also shares the set. */
struct lb_state_1 {
	u64 unkeyed;
	u64 own;
};

/* -- configuration ---------------------------------------------------------------- */

static int lb_addr_loop(struct mrpc_replica_place *place, const char *name)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&place->addr;

	if (!*name)
		return -EINVAL;
	un->sun_family = AF_UNIX;
	place->addr_len = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name);
	memcpy(un->sun_path + 1, name, strlen(name));
	return 0;
}

/* "10.0.0.1:7000" or "[fe80::1%eth0]:7000" */
static int lb_addr_inet(struct mrpc_replica_place *place, struct net *net, char *host)
{
	char *port = strrchr(host, ':');
	size_t len;

	if (!port)
		return -EINVAL;
	*port++ = 0;
	len = strlen(host);
	if (*host == '[' && host[len - 1] == ']') {
		host[len - 1] = 0;
		host++;
	} else if (strchr(host, ':')) {
		return -EINVAL;
	}
	/* Decimal: a leading 0 would make it octal or hexadecimal. */
	if (!*host || *port == '0' || strspn(port, "0123456789") != strlen(port) ||
	    inet_pton_with_scope(net, AF_UNSPEC, host, port, &place->addr))
		return -EINVAL;
	place->addr_len = place->addr.ss_family == AF_INET ? sizeof(struct sockaddr_in) :
							     sizeof(struct sockaddr_in6);
	return 0;
}

static int lb_weight(struct mrpc_replica_place *place, char *word, struct netlink_ext_ack *extack)
{
	char *equals = strrchr(word, '=');

	place->weight = 1;
	if (!equals)
		return 0;
	*equals++ = 0;
	if (!kstrtou32(equals, 10, &place->weight) && place->weight <= MRPC_BALANCE_WEIGHT)
		return 0;
	NL_SET_ERR_MSG_FMT(extack, "the weight '%.20s' must be 0 to %u", equals,
			   MRPC_BALANCE_WEIGHT);
	return -EINVAL;
}

static int lb_place(struct mrpc_replica_place *place, struct net *net, char *word,
		    struct netlink_ext_ack *extack)
{
	char *addr;
	int err;

	err = lb_weight(place, word, extack);
	if (err)
		return err;
	if (strscpy(place->name, word, sizeof(place->name)) < 0) {
		NL_SET_ERR_MSG_FMT(extack, "'%.24s...' is too long: a member has at most %u bytes",
				   word, MRPC_REPLICA_NAME - 1);
		return -EINVAL;
	}
	addr = strchr(word, ':');
	if (addr)
		*addr++ = 0;
	err = !addr ? -EINVAL : !strcmp(word, "loop") ? lb_addr_loop(place, addr) :
						       lb_addr_inet(place, net, addr);
	if (err) {
		NL_SET_ERR_MSG_FMT(extack, "'%.24s' is no member: like tcp:10.0.0.1:7000 or loop:NAME",
				   place->name);
		return err;
	}
	place->ops = mrpc_transport_get(word);
	if (place->ops)
		return 0;
	NL_SET_ERR_MSG_FMT(extack, "there is no transport '%.20s'", word);
	return -EPROTONOSUPPORT;
}

static int lb_twice(const struct mrpc_replica_plan *plan, struct netlink_ext_ack *extack)
{
	const struct mrpc_replica_place *last = &plan->places[plan->nr - 1], *place;

	for (place = plan->places; place < last; place++) {
		if (place->ops != last->ops || place->addr_len != last->addr_len ||
		    memcmp(&place->addr, &last->addr, place->addr_len))
			continue;
		NL_SET_ERR_MSG_FMT(extack, "the member '%.45s' is there twice", last->name);
		return -EINVAL;
	}
	return 0;
}

static int lb_members(struct mrpc_replica_plan *plan, const struct mrpc_group *group,
		      struct netlink_ext_ack *extack)
{
	char *text = kmemdup_nul(group->values[PARAM_MEMBERS].data,
				 group->values[PARAM_MEMBERS].len, GFP_KERNEL);
	char *at = text, *word;
	int err = text ? 0 : -ENOMEM;

	while (!err && (word = strsep(&at, ","))) {
		if (plan->nr == MRPC_BALANCE_MEMBERS) {
			NL_SET_ERR_MSG_FMT(extack, "more than %u members", MRPC_BALANCE_MEMBERS);
			err = -E2BIG;
			break;
		}
		err = lb_place(&plan->places[plan->nr], group->net, word, extack);
		if (err)
			break;
		plan->nr++;
		err = lb_twice(plan, extack);
	}
	kfree(text);
	return err;
}

static int lb_group_create(struct mrpc_group *group, const struct mrpc_group *prev,
			   struct netlink_ext_ack *extack)
{
	const struct mrpc_value *v = group->values;
	struct mrpc_replica_plan *plan;
	int err;

	if (v[PARAM_POLICY].num == MRPC_BALANCE_HASH && !v[PARAM_FIELD].len) {
		NL_SET_ERR_MSG(extack, "policy hash needs a field, for example: field user.id");
		return -EINVAL;
	}
	plan = mrpc_replica_plan_new();
	if (!plan)
		return -ENOMEM;
	plan->policy = v[PARAM_POLICY].num;
	plan->max_bad = v[PARAM_FAILURES].num;
	plan->backoff = v[PARAM_BACKOFF].num;
	err = lb_members(plan, group, extack) ?:
	      mrpc_chooser_use(group, prev, PARAM_CHOOSER, extack);
	if (err)
		mrpc_replica_plan_put(plan);
	else
		group->priv = plan;
	return err;
}

static void lb_group_destroy(struct mrpc_group *group)
{
	mrpc_replica_plan_put(group->priv);
}

/* -- the field -------------------------------------------------------------------- */

static void lb_paths_free(struct lb_paths *paths)
{
	u32 i;

	for (i = 0; paths && i < paths->nr; i++)
		kfree(paths->path[i]);
	kvfree(paths);
}

/* Does the path end at a value? It may also end at a message or a list. */
static bool lb_path_scalar(const struct mrpc_field_path *path)
{
	return path->kind != MRPC_VALUE_MESSAGE && path->kind != MRPC_VALUE_LIST;
}

static struct lb_paths *lb_paths_new(const struct mrpc_schema_plan *plan,
				     const struct mrpc_value *field)
{
	struct mrpc_field_path *path = kvmalloc(MRPC_PATH_MAX_SIZE, GFP_KERNEL);
	struct lb_paths *paths = kvzalloc(struct_size(paths, path, plan->nr_methods),
					  GFP_KERNEL_ACCOUNT);
	struct mrpc_path_error why;
	bool fine = path && paths;
	u32 i;

	if (fine)
		paths->nr = plan->nr_methods;
	for (i = 0; fine && i < plan->nr_methods; i++) {
		if (mrpc_field_compile(plan, plan->methods[i].request, field->data, field->len,
				       path, MRPC_PATH_MAX_SIZE, &why) || !lb_path_scalar(path))
			continue;
		paths->path[i] = kmemdup(path, path->size, GFP_KERNEL_ACCOUNT);
		fine = paths->path[i];
	}
	kvfree(path);
	if (fine)
		return paths;
	lb_paths_free(paths);
	return NULL;
}

/* Return: 0 or -ENOMEM. */
static int lb_bind(struct lb *lb, const struct mrpc_engine *e)
{
	const struct mrpc_value *v = e->group->values;
	u32 i;

	for (i = 0; v[PARAM_POLICY].num == MRPC_BALANCE_HASH && i < e->offered->nr; i++) {
		lb->paths[i] = lb_paths_new(e->offered->list[i].schema->plan, &v[PARAM_FIELD]);
		if (!lb->paths[i])
			return -ENOMEM;
	}
	return 0;
}

static u64 lb_hash(const struct mrpc_field_value *value)
{
	static const u64 salt[2] = { 0x6d7270632d6c6246ULL, 0x6669656c642d6b79ULL };

	if (value->kind == MRPC_VALUE_TEXT || value->kind == MRPC_VALUE_BYTES)
		return mrpc_siphash(value->ptr, value->len, salt);
	return mrpc_siphash(&value->u, sizeof(value->u), salt);
}

/* Computes the key of a request. Return: the request has the field. */
static bool lb_key(struct lb *lb, struct mrpc_rpc *rpc, u64 *key)
{
	const struct lb_paths *paths = lb->paths[rpc->call->method >> 16];
	const struct mrpc_field_path *path = paths->path[mrpc_rpc_method(rpc)];
	struct mrpc_field_value value;
	struct mrpc_view view = {};

	if (path && path->content)
		mrpc_rpc_own_bytes(rpc);	/* if that fails, the field cannot be read */
	if (path && rpc->frame.flags & MRPC_WIRE_MSG) {
		view.head = mrpc_rpc_head(rpc);
		view.head_len = mrpc_msg_head_len(&rpc->frame.msg);
		view.bytes = mrpc_rpc_bytes(rpc);
		if (!mrpc_field_read(path, &view, &value)) {
			*key = lb_hash(&value);
			return true;
		}
	}
	WRITE_ONCE(lb->unkeyed, lb->unkeyed + 1);
	return false;
}

/* -- the datapath ----------------------------------------------------------------- */

/* Return: 0: it may pass; -EAGAIN: it waits; -EHOSTUNREACH: it fails. */
static int lb_give(struct mrpc_engine *e, struct mrpc_rpc *rpc, u64 *wake)
{
	struct mrpc_replica_plan *plan = e->group->priv;
	struct lb *lb = e->priv;
	int wish = rpc->call->wish - 1;	/* of a policy in front of this engine */
	bool keyed = false;
	u64 key = 0;
	int err;

	/* No set: the operator has paused the queue of an instance that has nothing to do. */
	if (!lb || rpc->drop || rpc->call->via)
		return 0;
	if (rpc->frame.type != MRPC_WIRE_CALL)	/* a stream goes where its call goes */
		return 0;
	mrpc_replicas_follow(lb->set, plan);
	if (lb->chooser && wish < 0)
		wish = mrpc_chooser_pick(lb->chooser, e, rpc);
	if (plan->policy == MRPC_BALANCE_HASH)
		keyed = lb_key(lb, rpc, &key);
	err = mrpc_replicas_pick(lb->set, rpc, wish, keyed, key, wake);
	if (!err || e->group->values[PARAM_FALLBACK].num != FALLBACK_OWN)
		return err;
	WRITE_ONCE(lb->own, lb->own + 1);
	return 0;
}

static bool lb_pass(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_rpc *rpc)
{
	u64 wake;

	return !lb_give(e, rpc, &wake);
}

static u64 lb_do_work(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *in,
		      struct mrpc_queue *out, int budget)
{
	struct lb *lb = e->priv;
	bool explained = false;
	struct mrpc_rpc *rpc;
	u64 wake = 0;
	int err;

	while (budget-- && (rpc = mrpc_queue_peek(in))) {
		err = lb_give(e, rpc, &wake);
		if (err == -EAGAIN)
			return wake;
		if (!err) {
			mrpc_queue_move(in, rpc, out);
			continue;
		}
		if (!explained)
			mrpc_replicas_explain(lb->set, lb->why, sizeof(lb->why));
		explained = true;
		mrpc_engine_reject(e, dir, in, rpc, MRPC_UNAVAILABLE, lb->why);
	}
	return 0;
}

/* -- instances -------------------------------------------------------------------- */

static void lb_free(struct lb *lb)
{
	u32 i;

	if (lb->chooser)
		mrpc_chooser_put(lb->chooser);
	if (lb->set)
		mrpc_replicas_put(lb->set);
	for (i = 0; i < MRPC_MAX_SERVICES; i++)
		lb_paths_free(lb->paths[i]);
	kfree(lb);
}

static int lb_create(struct mrpc_engine *e, struct netlink_ext_ack *extack)
{
	struct mrpc_chooser *chooser;
	struct lb *lb;

	if (e->requests == MRPC_RX) {	/* a server has nothing to choose */
		e->dirs = 0;
		return 0;
	}
	lb = kzalloc(sizeof(*lb), GFP_KERNEL_ACCOUNT);
	if (!lb)
		return -ENOMEM;
	lb->set = mrpc_replicas_get(e);
	if (!lb->set || lb_bind(lb, e)) {
		lb_free(lb);
		return -ENOMEM;
	}
	chooser = mrpc_chooser_get(lb->set, e, extack);
	if (IS_ERR(chooser)) {
		lb_free(lb);
		return PTR_ERR(chooser);
	}
	lb->chooser = chooser;
	e->priv = lb;
	return 0;
}

static void lb_destroy(struct mrpc_engine *e)
{
	if (e->priv)
		lb_free(e->priv);
}

static void *lb_decompose(struct mrpc_engine *e)
{
	const struct lb *lb = e->priv;
	struct lb_state_1 state = {};

	if (lb) {
		state.unkeyed = lb->unkeyed;
		state.own = lb->own;
	}
	return kmemdup(&state, sizeof(state), GFP_KERNEL_ACCOUNT) ?: ERR_PTR(-ENOMEM);
}

static int lb_restore(struct mrpc_engine *e, const struct mrpc_engine_ops *from, u32 version,
		      const void *state, struct netlink_ext_ack *extack)
{
	const struct lb_state_1 *old = state;
	struct lb *lb = e->priv;

	if (lb) {
		lb->unkeyed = old->unkeyed;
		lb->own = old->own;
	}
	return 0;
}

static void lb_settle(struct mrpc_engine *e)
{
	struct lb *lb = e->priv;

	if (lb)
		mrpc_replicas_follow(lb->set, e->group->priv);
}

static int lb_dump(const struct mrpc_engine *e, const struct mrpc_group *group,
		   struct sk_buff *skb)
{
	const struct mrpc_replica_plan *plan = group->priv;
	struct lb *lb = e ? e->priv : NULL;
	char name[MRPC_REPLICA_NAME + 8];
	u32 i;

	if (lb)
		return mrpc_engine_put_u64(skb, "unkeyed", READ_ONCE(lb->unkeyed)) ?:
		       mrpc_engine_put_u64(skb, "own", READ_ONCE(lb->own)) ?:
		       (lb->chooser ? mrpc_chooser_dump(lb->chooser, skb) : 0) ?:
		       mrpc_replicas_dump(lb->set, skb);
	for (i = 0; !e && i < plan->nr; i++) {
		snprintf(name, sizeof(name), "%s/weight", plan->places[i].name);
		if (mrpc_engine_put_u64(skb, name, plan->places[i].weight))
			return -EMSGSIZE;
	}
	return 0;
}

static struct mrpc_engine_ops lb_ops = {
	.name		= "lb",
	.version	= LB_VERSION,
	.oldest		= 1,
	.state_version	= 1,
	.owner		= THIS_MODULE,
	.flags		= MRPC_ENGINE_MANDATORY | MRPC_ENGINE_REMAKE,
	.dirs		= BIT(MRPC_TX),
	.params		= lb_params,
	.nr_params	= ARRAY_SIZE(lb_params),
	.doc		= "Spreads the calls of a connection over replicas of its server.",
	.group_create	= lb_group_create,
	.group_destroy	= lb_group_destroy,
	.create		= lb_create,
	.destroy	= lb_destroy,
	.settle		= lb_settle,
	.decompose	= lb_decompose,
	.restore	= lb_restore,
	.do_work	= lb_do_work,
	.pass		= lb_pass,
	.dump		= lb_dump,
};

module_mrpc_engine(lb_ops);
#if LB_VERSION == 1
MODULE_ALIAS_MRPC_ENGINE("lb");
#endif
MODULE_ALIAS_MRPC_ENGINE("lb-" __stringify(LB_VERSION));
MODULE_DESCRIPTION("mrpc engine that spreads calls over replicas");
MODULE_LICENSE("GPL");
