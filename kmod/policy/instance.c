// SPDX-License-Identifier: GPL-2.0
/*
 * Datapaths under a policy: they are bound to its present programs, and to the next ones
 * when they meet them.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "chain/delay.h"
#include "core/conn.h"
#include "core/engine.h"
#include "core/rpc.h"
#include "core/schema.h"
#include "core/session.h"
#include "lib/message/schema.h"
#include "policy/fields.h"
#include "policy/instance.h"
#include "policy/judge.h"
#include "policy/policy.h"
#include "policy/registry.h"

static mrpc_policy_hook_t policy_hook(const struct mrpc_policy_ops *ops, bool request, bool transmit)
{
	if (request)
		return transmit ? ops->request_tx : ops->request_rx;
	return transmit ? ops->reply_tx : ops->reply_rx;
}

/* The functions that judge messages */
static u32 policy_hook_bit(bool request, bool transmit)
{
	if (request)
		return transmit ? MRPC_POLICY_HOOKS_REQUEST_TX : MRPC_POLICY_HOOKS_REQUEST_RX;
	return transmit ? MRPC_POLICY_HOOKS_REPLY_TX : MRPC_POLICY_HOOKS_REPLY_RX;
}

static bool policy_is_request(const struct mrpc_policy_run *run)
{
	return run->ctx.transmit != run->ctx.server;
}

static void policy_release(struct mrpc_policy_run *run)
{
	u32 i;

	run->hook = NULL;
	run->paths = NULL;
	if (!run->prog)
		return;
	for (i = 0; i < MRPC_MAX_SERVICES; i++) {
		mrpc_policy_unbind(run->prog, run->bound[i]);
		run->bound[i] = NULL;
	}
	mrpc_policy_prog_put(run->prog);
	run->prog = NULL;
}

/* A direction takes the present programs, or none, whose fields are bound to nothing. */
static void policy_take(struct mrpc_policy_run *run)
{
	struct mrpc_policy_prog *prog = mrpc_policy_prog_get(run->policy);

	policy_release(run);
	run->prog = prog;
	run->ctx.generation = prog ? prog->generation : 0;
}

/* Return: a field that no message of the services has, or NULL; *@service is one of them. */
static const char *policy_lacks(const struct mrpc_policy_run *run, const char **service)
{
	const struct mrpc_conn *conn = run->conn;
	u32 found = 0, i;

	for (i = 0; i < conn->services.nr; i++) {
		if (!run->bound[i])
			continue;
		found |= run->bound[i]->found;
		*service = mrpc_schema_service(conn->services.list[i].schema->plan);
	}
	for (i = 0; i < run->prog->nr_fields; i++)
		if (!(found & BIT(i)))
			return run->prog->decl->fields[i];
	return NULL;
}

/* A field is content of messages. */
static bool policy_needs_content(const struct mrpc_policy_run *run)
{
	u32 i, k;

	for (i = 0; i < run->conn->services.nr; i++) {
		const struct mrpc_policy_bound *b = run->bound[i];

		for (k = 0; b && k < b->schema->plan->nr_types; k++)
			if (b->types[k] && b->types[k]->content)
				return true;
	}
	return false;
}

/* Has the datapath what the programs need? Programs can come that it was not made for. */
static void policy_fit(struct mrpc_policy_run *run)
{
	const char *service;

	run->unfit = policy_lacks(run, &service) ||
		     (run->e && run->dir == MRPC_RX && policy_needs_content(run) &&
		      !(run->e->flags & MRPC_ENGINE_RX_BYTES));
	run->hook = run->unfit || !run->e ? NULL :
		    policy_hook(&run->prog->ops, policy_is_request(run), run->dir == MRPC_TX);
}

/**
 * mrpc_policy_rebind() - a direction goes over to the present programs, or to none
 * @run: the direction
 *
 * Context: as do_work(). Return: 0; -ENOMEM: then it has none.
 */
int mrpc_policy_rebind(struct mrpc_policy_run *run)
{
	const struct mrpc_conn *conn = run->conn;
	struct mrpc_policy_prog *prog;
	u32 i;

	policy_take(run);
	prog = run->prog;
	for (i = 0; prog && i < conn->services.nr; i++) {
		if (!(run->services & BIT(i)))
			continue;
		run->bound[i] = mrpc_policy_bind(prog, conn->services.list[i].schema);
		if (!run->bound[i]) {
			policy_release(run);
			return -ENOMEM;
		}
	}
	if (prog)
		policy_fit(run);
	return 0;
}

static void policy_describe(struct mrpc_policy_run *run)
{
	const struct mrpc_conn *conn = run->conn;
	const struct mrpc_session *session = conn->session;
	struct mrpc_policy_ctx *ctx = &run->ctx;
	const struct sockaddr_in6 *in6 = (const void *)&conn->link.peer;
	const struct sockaddr_in *in = (const void *)&conn->link.peer;

	ctx->datapath = conn->dp_id;
	ctx->netns = session->net->net_cookie;
	ctx->uid = from_kuid_munged(&init_user_ns, session->uid);
	ctx->pid = session->pid;
	ctx->cgroup = mrpc_session_cgroup(session);
	ctx->server = conn->link.accepted;
	ctx->transmit = run->dir == MRPC_TX;
	ctx->kind = policy_is_request(run) ? MRPC_POLICY_REQUEST : MRPC_POLICY_REPLY;
	if (in->sin_family == AF_INET) {
		memcpy(ctx->peer, &in->sin_addr, sizeof(in->sin_addr));
		ctx->peer_port = ntohs(in->sin_port);
	} else if (in6->sin6_family == AF_INET6) {
		memcpy(ctx->peer, &in6->sin6_addr, sizeof(in6->sin6_addr));
		ctx->peer_port = ntohs(in6->sin6_port);
	} else {
		return;
	}
	ctx->peer_family = in->sin_family;
}

/* -- the datapath ----------------------------------------------------------------- */

/**
 * mrpc_policy_dp_free() - end of mrpc_policy_dp_new()
 * @dp: the datapath
 *
 * Context: process; may sleep.
 */
void mrpc_policy_dp_free(struct mrpc_policy_dp *dp)
{
	int dir;

	for (dir = 0; dir < MRPC_DIRS; dir++) {
		policy_release(&dp->run[dir]);
		kfree(dp->run[dir].details);
	}
	kvfree(dp);
}

/**
 * mrpc_policy_dp_new() - a datapath comes under a policy
 * @policy: the policy; the caller keeps a reference as long as this lives
 * @conn: whose datapath
 * @services: of its services, a bit for each that the policy is there for
 *
 * Context: process; may sleep. Return: it, bound to nothing yet; or NULL.
 */
struct mrpc_policy_dp *mrpc_policy_dp_new(struct mrpc_policy *policy, struct mrpc_conn *conn,
					  u32 services)
{
	struct mrpc_policy_dp *dp;
	int dir;

	dp = kvzalloc(struct_size(dp, storage, policy->storage), GFP_KERNEL_ACCOUNT);
	if (!dp)
		return NULL;
	for (dir = 0; dir < MRPC_DIRS; dir++) {
		struct mrpc_policy_run *run = &dp->run[dir];

		run->policy = policy;
		run->conn = conn;
		run->services = services;
		run->dir = dir;
		run->storage = dp->storage;
		mrpc_late_init(&run->late);
		policy_describe(run);
	}
	return dp;
}

/* Runs @fn if @run's programs are still the present ones. Return: false: they are not. */
static bool policy_call(struct mrpc_policy_run *run, int (*fn)(struct mrpc_policy_ctx *ctx), int *ret)
{
	u8 kind = run->ctx.kind;
	bool present;

	run->paths = NULL;
	run->rpc = NULL;
	run->ctx.kind = MRPC_POLICY_NO_MESSAGE;
	rcu_read_lock();
	present = rcu_access_pointer(run->policy->prog) == run->prog;
	if (present)
		*ret = fn(&run->ctx);
	rcu_read_unlock();
	run->ctx.kind = kind;
	return present;
}

static int policy_init(struct mrpc_policy_ctx *ctx)
{
	const struct mrpc_policy_run *run = container_of(ctx, struct mrpc_policy_run, ctx);

	return run->prog->init ? run->prog->init(ctx) : 0;
}

/* Binds it to the present programs. Return: 0 or why it cannot be. */
static int policy_begin_with(struct mrpc_policy_dp *dp, struct netlink_ext_ack *extack)
{
	const char *field, *service = "";
	int dir, err;

	for (dir = 0; dir < MRPC_DIRS; dir++) {
		err = mrpc_policy_rebind(&dp->run[dir]);
		if (err)
			return err;
	}
	if (!dp->run[MRPC_TX].prog) {
		NL_SET_ERR_MSG_FMT(extack, "policy '%s' has no program any more",
				   dp->run[MRPC_TX].policy->name);
		return -ENOENT;
	}
	field = policy_lacks(&dp->run[MRPC_TX], &service);
	if (field) {
		NL_SET_ERR_MSG_FMT(extack, "'%.40s' is no field of a message of %.30s", field, service);
		return -EINVAL;
	}
	return 0;
}

/**
 * mrpc_policy_dp_begin() - bind a datapath to the present programs, and run their init
 * @dp: the datapath
 * @extack: why not
 *
 * Context: process; may sleep. Return: 0; -ENOENT: there are no programs; -EINVAL: a field
 * is missing; what init says; -ENOMEM.
 */
int mrpc_policy_dp_begin(struct mrpc_policy_dp *dp, struct netlink_ext_ack *extack)
{
	int err, ret = 0;

	do {		/* they may be replaced meanwhile */
		err = policy_begin_with(dp, extack);
		if (err)
			return err;
	} while (!policy_call(&dp->run[MRPC_TX], policy_init, &ret));
	dp->begun = ret >= 0;
	if (dp->begun)
		return 0;
	NL_SET_ERR_MSG_FMT(extack, "policy '%s' refuses the datapath: error %d",
			   dp->run[MRPC_TX].policy->name, ret);
	/* -E2BIG is what rules say of a service that has too many methods. */
	return ret > -ERESTARTSYS && ret != -E2BIG ? ret : -EPERM;
}

static int policy_exit(struct mrpc_policy_ctx *ctx)
{
	const struct mrpc_policy_run *run = container_of(ctx, struct mrpc_policy_run, ctx);

	if (run->prog && run->prog->exit)
		run->prog->exit(ctx);
	return 0;
}

/**
 * mrpc_policy_dp_end() - run the programs' exit, and free the datapath
 * @dp: the datapath; its connection may be gone, and its services with it
 *
 * Context: process; may sleep.
 */
void mrpc_policy_dp_end(struct mrpc_policy_dp *dp)
{
	int ret;

	while (dp->begun && !policy_call(&dp->run[MRPC_TX], policy_exit, &ret))
		policy_take(&dp->run[MRPC_TX]);
	mrpc_policy_dp_free(dp);
}

/* -- the instance that judges ------------------------------------------------------- */

/* Directions that no program looks at cost nothing. */
static void policy_directions(struct mrpc_engine *e)
{
	const struct mrpc_policy *policy = mrpc_policy_of(e->ops);
	struct mrpc_policy_dp *dp = e->priv;
	int dir;

	e->dirs = 0;
	for (dir = 0; dir < MRPC_DIRS; dir++)
		if (policy->hooks & policy_hook_bit(policy_is_request(&dp->run[dir]),
						    dir == MRPC_TX))
			e->dirs |= BIT(dir);
	/* Those that are still to come may need it. */
	if (e->dirs & BIT(MRPC_RX) &&
	    (!dp->run[MRPC_RX].prog || policy_needs_content(&dp->run[MRPC_RX])))
		e->flags |= MRPC_ENGINE_RX_BYTES;
	if (e->dirs & BIT(MRPC_RX) && policy->flags & MRPC_POLICY_WRITES)
		e->flags |= MRPC_ENGINE_RX_WRITES;
	if (policy->flags & MRPC_POLICY_RANKS)
		e->flags |= MRPC_ENGINE_RANKS;
	if (policy->flags & MRPC_POLICY_AGES)
		e->flags |= MRPC_ENGINE_TIMES;
}

/* mrpc_engine_ops.create */
int mrpc_policy_create(struct mrpc_engine *e, struct netlink_ext_ack *extack)
{
	struct mrpc_policy_dp *dp = mrpc_policy_dp_new(mrpc_policy_of(e->ops), e->conn, e->services);
	int dir, err;

	if (!dp)
		return -ENOMEM;
	for (dir = 0; dir < MRPC_DIRS; dir++)
		dp->run[dir].e = e;
	err = mrpc_policy_dp_begin(dp, extack);
	/* Where messages pass without programs connections are made without them, too. */
	if (err && !(err == -ENOENT && !dp->run[MRPC_TX].prog && mrpc_policy_passes(e))) {
		mrpc_policy_dp_free(dp);
		return err;
	}
	e->priv = dp;
	policy_directions(e);
	if (dp->run[MRPC_RX].prog)
		policy_fit(&dp->run[MRPC_RX]);
	return 0;
}

/* mrpc_engine_ops.destroy */
void mrpc_policy_destroy(struct mrpc_engine *e)
{
	mrpc_policy_dp_end(e->priv);
}
