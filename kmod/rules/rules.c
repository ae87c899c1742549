// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of an engine's configuration; see rules.h.
 */
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "core/conn.h"
#include "core/engine.h"
#include "core/rpc.h"
#include "core/schema.h"
#include "core/session.h"
#include "lib/message/field.h"
#include "lib/message/message.h"
#include "lib/message/wire.h"
#include "lib/rule/cond.h"
#include "lib/rule/rule.h"
#include "rules/misfit.h"
#include "rules/rules.h"
#include "rules/sets.h"

/* Limits of bindings kept for schemas that no datapath uses any more. */
#define MRPC_UNUSED_MAX		64
#define MRPC_UNUSED_BYTES	(4 << 20)

/*
 * Limits of the cost of rules for one schema, which the operator has not chosen: rules and
 * conditions, times methods; and bytes of all bindings. A service of up to MRPC_BIND_METHODS methods
 * fits any rules. A service of more methods may not fit; it has no connections then.
 */
#define MRPC_BIND_MAX		(1 << 20)
#define MRPC_BIND_METHODS	64
#define MRPC_BIND_BYTES		(64 << 20)

static atomic64_t mrpc_next_ruleset;

static int mrpc_rules_refuse(const struct mrpc_rules_error *why, int err,
			     struct netlink_ext_ack *extack)
{
	if (why->rule == U32_MAX)
		NL_SET_ERR_MSG_FMT(extack, "the rules: %s (%llu)", why->what, why->value);
	else if (why->cond == U32_MAX)
		NL_SET_ERR_MSG_FMT(extack, "rule %u: %s (%llu)", why->rule + 1, why->what,
				   why->value);
	else
		NL_SET_ERR_MSG_FMT(extack, "rule %u, condition %u: %s (%llu)", why->rule + 1,
				   why->cond + 1, why->what, why->value);
	return err;
}

static struct mrpc_rules *mrpc_rules_make(const struct mrpc_value *arg,
					  struct netlink_ext_ack *extack)
{
	struct mrpc_rules_error why;
	struct mrpc_rules *rules;
	s64 size;
	int err;

	size = mrpc_rules_size(arg->data, arg->len, &why);
	if (size < 0)
		return ERR_PTR(mrpc_rules_refuse(&why, size, extack));
	rules = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!rules)
		return ERR_PTR(-ENOMEM);
	err = mrpc_rules_compile(arg->data, arg->len, rules, size, &why);
	if (!err)
		return rules;
	kvfree(rules);
	return ERR_PTR(mrpc_rules_refuse(&why, err, extack));
}

/* -- bindings ------------------------------------------------------------------ */

static void mrpc_bound_free(struct mrpc_bound_schema *b)
{
	u32 i;

	for (i = 0; i < b->schema->plan->nr_methods; i++)
		kvfree(b->methods[i].binding);
	mrpc_schema_put(b->schema);
	kvfree(b);
}

static int mrpc_bound_method(struct mrpc_bound_schema *b, struct mrpc_rules_binder *binder,
			     u32 method)
{
	size_t size = mrpc_rules_bind_size(binder, method);
	struct mrpc_bound_method *m = &b->methods[method];
	u32 kind;
	void *mem;

	if (!size)
		return 0;
	if (b->size + size > MRPC_BIND_BYTES)
		return -E2BIG;
	mem = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!mem)
		return -ENOMEM;
	m->binding = mrpc_rules_bind(binder, mem);
	for (kind = MRPC_RULE_REQUEST; kind <= MRPC_RULE_REPLY; kind++)
		if (mrpc_rules_reads(m->binding, kind, 0))
			m->content |= BIT(kind);
	b->content |= m->content;
	b->size += size;
	return 0;
}

static int mrpc_bound_methods(struct mrpc_bound_schema *b, const struct mrpc_rules *rules)
{
	const struct mrpc_schema_plan *plan = b->schema->plan;
	void *mem = kvmalloc(mrpc_rules_binder_size(rules), GFP_KERNEL_ACCOUNT);
	struct mrpc_rules_binder *binder;
	int err = 0;
	u32 i;

	if (!mem)
		return -ENOMEM;
	binder = mrpc_rules_binder_init(rules, plan, mem);
	for (i = 0; i < plan->nr_methods && !err; i++) {
		err = fatal_signal_pending(current) ? -EINTR : mrpc_bound_method(b, binder, i);
		cond_resched();
	}
	kvfree(mem);
	return err;
}

static struct mrpc_bound_schema *mrpc_bound_new(const struct mrpc_rules *rules,
						struct mrpc_schema *schema)
{
	u32 nr = schema->plan->nr_methods;
	struct mrpc_bound_schema *b;
	int err;

	if ((u64)(rules->nr_rules + rules->nr_conds) * nr > MRPC_BIND_MAX)
		return ERR_PTR(-E2BIG);
	b = kvzalloc(struct_size(b, methods, nr), GFP_KERNEL_ACCOUNT);
	if (!b)
		return ERR_PTR(-ENOMEM);
	mrpc_schema_get(schema);
	b->schema = schema;
	b->size = struct_size(b, methods, nr) + schema->size;
	err = mrpc_bound_methods(b, rules);
	if (!err)
		return b;
	mrpc_bound_free(b);
	return ERR_PTR(err);
}

static struct mrpc_bound_schema *mrpc_bound_find(struct list_head *list,
						 const struct mrpc_schema *schema)
{
	struct mrpc_bound_schema *b;

	list_for_each_entry(b, list, list)
		if (b->schema == schema)
			return b;
	return NULL;
}

/* Finds a binding and adds @users to it. Under rs->lock. */
static struct mrpc_bound_schema *mrpc_ruleset_use(struct mrpc_ruleset *rs,
						  const struct mrpc_schema *schema, u32 users)
{
	struct mrpc_bound_schema *b = mrpc_bound_find(&rs->schemas, schema);

	if (!b) {
		b = mrpc_bound_find(&rs->unused, schema);
		if (b) {
			list_move_tail(&b->list, &rs->schemas);
			rs->nr_schemas++;
			rs->nr_unused--;
			rs->unused_bytes -= b->size;
		}
	}
	if (b)
		b->users += users;
	return b;
}

/* Finds the rules that can match a call of a schema: sets a bit of @fits for each. */
static void mrpc_bound_fits(const struct mrpc_bound_schema *b, const struct mrpc_rules *rules,
			    unsigned long *fits)
{
	const struct mrpc_rules_binding *binding;
	u32 method, kind, i;

	bitmap_zero(fits, MRPC_RULES_MAX);
	for (method = 0; method < b->schema->plan->nr_methods; method++) {
		binding = b->methods[method].binding;
		for (kind = 0; binding && kind < ARRAY_SIZE(binding->kinds); kind++)
			for (i = 0; i < binding->kinds[kind].nr_rules; i++)
				__set_bit(binding->kinds[kind].rules[i].rule - rules->rules, fits);
	}
}

/*
 * Finds or makes a binding and adds @users to it. With 0 users the caller must not use the result.
 * A peer chose the schema, and binding it may take a while. Only the thread that brought it waits
 * for that; its work may be in vain.
 *
 * Return: the binding, or ERR_PTR(-ENOMEM, -E2BIG, -EINTR).
 */
static struct mrpc_bound_schema *mrpc_ruleset_bind(struct mrpc_ruleset *rs,
						   struct mrpc_schema *schema, u32 users)
{
	struct mrpc_bound_schema *b, *mine;
	DECLARE_BITMAP(fits, MRPC_RULES_MAX);

	spin_lock(&rs->lock);
	b = mrpc_ruleset_use(rs, schema, users);
	spin_unlock(&rs->lock);
	if (b)
		return b;
	mine = mrpc_bound_new(rs->rules, schema);
	if (IS_ERR(mine))
		return mine;
	mine->users = users;
	mrpc_bound_fits(mine, rs->rules, fits);
	spin_lock(&rs->lock);
	b = mrpc_ruleset_use(rs, schema, users);
	if (!b) {
		list_add_tail(&mine->list, &rs->schemas);
		rs->nr_schemas++;
		WRITE_ONCE(rs->bound, true);
		bitmap_or(rs->fits, rs->fits, fits, MRPC_RULES_MAX);
	}
	spin_unlock(&rs->lock);
	if (!b)
		return mine;
	mrpc_bound_free(mine);
	return b;
}

static void mrpc_ruleset_unuse(struct mrpc_ruleset *rs, struct mrpc_bound_schema *b)
{
	struct mrpc_bound_schema *next;
	LIST_HEAD(dead);

	spin_lock(&rs->lock);
	if (!--b->users) {
		list_move_tail(&b->list, &rs->unused);
		rs->nr_schemas--;
		rs->nr_unused++;
		rs->unused_bytes += b->size;
	}
	while (rs->nr_unused > MRPC_UNUSED_MAX || rs->unused_bytes > MRPC_UNUSED_BYTES) {
		b = list_first_entry(&rs->unused, struct mrpc_bound_schema, list);
		list_move(&b->list, &dead);
		rs->nr_unused--;
		rs->unused_bytes -= b->size;
	}
	spin_unlock(&rs->lock);
	list_for_each_entry_safe(b, next, &dead, list)
		mrpc_bound_free(b);
}

/* The next schema, with a reference, in a circle; NULL: it is not in use. */
static struct mrpc_schema *mrpc_ruleset_next(struct mrpc_ruleset *rs)
{
	struct mrpc_schema *schema = NULL;
	struct mrpc_bound_schema *b;

	spin_lock(&rs->lock);
	b = list_first_entry_or_null(&rs->schemas, struct mrpc_bound_schema, list);
	if (b) {
		list_move_tail(&b->list, &rs->schemas);
		if (b->users) {
			schema = b->schema;
			mrpc_schema_get(schema);
		}
	}
	spin_unlock(&rs->lock);
	return schema;
}

/* -- the ruleset ----------------------------------------------------------------- */

/**
 * mrpc_ruleset_free() - free rules
 * @rs: the ruleset, which is not in use any more; or NULL
 *
 * Context: process; may sleep.
 */
void mrpc_ruleset_free(struct mrpc_ruleset *rs)
{
	struct mrpc_bound_schema *b, *next;
	u32 i;

	if (!rs)
		return;
	list_splice(&rs->unused, &rs->schemas);
	list_for_each_entry_safe(b, next, &rs->schemas, list)
		mrpc_bound_free(b);
	for (i = 0; rs->uses && i < rs->rules->nr_sets; i++)
		mrpc_set_unuse(&rs->uses[i]);
	kfree(rs->uses);
	kvfree(rs->rules);
	kfree(rs);
}
EXPORT_SYMBOL_GPL(mrpc_ruleset_free);

/*
 * Binds the schemas of @prev ahead. New ones come at the end; they are bound on demand. A schema
 * that is too large for the rules does not keep the operator from changing them: its connections
 * end when their turn comes.
 */
static int mrpc_ruleset_bind_ahead(struct mrpc_ruleset *rs, struct mrpc_ruleset *prev)
{
	u32 nr = READ_ONCE(prev->nr_schemas);
	struct mrpc_bound_schema *b;
	struct mrpc_schema *schema;

	while (nr--) {
		schema = mrpc_ruleset_next(prev);
		if (!schema)
			continue;
		b = mrpc_ruleset_bind(rs, schema, 0);
		mrpc_schema_put(schema);
		if (IS_ERR(b) && PTR_ERR(b) != -E2BIG)
			return PTR_ERR(b);
	}
	return 0;
}

static int mrpc_ruleset_fill(struct mrpc_ruleset *rs, const struct net *net,
			     struct mrpc_ruleset *prev, struct netlink_ext_ack *extack)
{
	u32 nr = rs->rules->nr_sets, most = MRPC_BIND_MAX / MRPC_BIND_METHODS, i;
	int err;

	if (rs->rules->nr_rules + rs->rules->nr_conds > most) {
		NL_SET_ERR_MSG_FMT(extack, "%u rules with %u conditions: together at most %u",
				   rs->rules->nr_rules, rs->rules->nr_conds, most);
		return -E2BIG;
	}
	if (nr) {
		rs->uses = kcalloc(nr, sizeof(*rs->uses), GFP_KERNEL_ACCOUNT);
		if (!rs->uses)
			return -ENOMEM;
	}
	for (i = 0; i < nr; i++) {
		err = mrpc_set_use(&rs->uses[i], net, rs->rules, i, extack);
		if (err)
			return err;
	}
	return prev ? mrpc_ruleset_bind_ahead(rs, prev) : 0;
}

/**
 * mrpc_ruleset_new() - make the rules of a configuration
 * @g: the configuration being made
 * @param: index of its parameter of type MRPC_PARAM_RULES
 * @prev: of the configuration that it replaces, or NULL. The schemas that datapaths use with that
 *	one are bound at once, so that mrpc_ruleset_attach() is quick
 * @extack: why not
 *
 * Context: process; may sleep.
 * Return: the ruleset; NULL if the parameter was not given; or an ERR_PTR.
 */
struct mrpc_ruleset *mrpc_ruleset_new(const struct mrpc_group *g, u32 param,
				      struct mrpc_ruleset *prev,
				      struct netlink_ext_ack *extack)
{
	struct mrpc_ruleset *rs;
	struct mrpc_rules *rules;
	int err;

	if (!g->values[param].data)
		return NULL;
	rules = mrpc_rules_make(&g->values[param], extack);
	if (IS_ERR(rules))
		return ERR_CAST(rules);
	rs = kzalloc(sizeof(*rs), GFP_KERNEL_ACCOUNT);
	if (!rs) {
		kvfree(rules);
		return ERR_PTR(-ENOMEM);
	}
	rs->rules = rules;
	rs->id = atomic64_inc_return(&mrpc_next_ruleset);
	spin_lock_init(&rs->lock);
	INIT_LIST_HEAD(&rs->schemas);
	INIT_LIST_HEAD(&rs->unused);
	err = mrpc_rules_check_names(rules, g, extack) ?:
	      mrpc_ruleset_fill(rs, g->net, prev, extack);
	if (!err)
		return rs;
	mrpc_ruleset_free(rs);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(mrpc_ruleset_new);

/**
 * mrpc_ruleset_detach() - end a datapath's use of its rules
 * @bc: the rules, bound to its datapath
 *
 * For destroy(). Context: process.
 */
void mrpc_ruleset_detach(struct mrpc_bound_conn *bc)
{
	u32 i;

	for (i = 0; i < MRPC_MAX_SERVICES && bc->services[i]; i++)
		mrpc_ruleset_unuse(bc->rs, bc->services[i]);
}
EXPORT_SYMBOL_GPL(mrpc_ruleset_detach);

/*
 * Moves a datapath to other rules. The old ruleset still counts it, until the datapath comes back,
 * which then needs no memory, or until that ruleset ends, mostly with the change.
 */
static void mrpc_ruleset_move(struct mrpc_bound_conn *bc, struct mrpc_bound_conn *made)
{
	if (made->rs && made->rs->id == bc->before)
		mrpc_ruleset_detach(made);	/* counted twice */
	made->before = bc->rs ? bc->rs->id : 0;
	*bc = *made;
}

/**
 * mrpc_ruleset_attach() - bind rules to the services of a datapath
 * @rs: the ruleset, or NULL
 * @e: the instance; its MRPC_ENGINE_RX_BYTES is set if the rules need it
 * @bc: out; on failure unchanged. Going back to the ruleset before cannot fail
 *
 * For create() and configure(); destroy() must call mrpc_ruleset_detach().
 *
 * Context: process; may sleep, shortly if the services' schemas are known.
 * Return: 0, -ENOMEM, -EINTR (a fatal signal), or -E2BIG: a service has too many methods.
 */
int mrpc_ruleset_attach(struct mrpc_ruleset *rs, struct mrpc_engine *e,
			struct mrpc_bound_conn *bc)
{
	const struct mrpc_session *session = e->conn->session;
	const struct mrpc_conn_services *s = &e->conn->services;
	struct mrpc_bound_conn made = {
		.rs = rs,
		.uid = from_kuid(session->net->user_ns, session->uid),
		.cgroup = mrpc_session_cgroup(session),
	};
	u8 content = 0;
	u32 i;

	for (i = 0; rs && i < s->nr; i++) {
		struct mrpc_bound_schema *b = mrpc_ruleset_bind(rs, s->list[i].schema, 1);

		if (IS_ERR(b)) {
			mrpc_ruleset_detach(&made);
			return PTR_ERR(b);
		}
		made.services[i] = b;
		content |= made.services[i]->content;
	}
	mrpc_ruleset_move(bc, &made);
	/* Only for messages that this end receives. */
	if (content & BIT(e->conn->link.accepted ? MRPC_RULE_REQUEST : MRPC_RULE_REPLY))
		e->flags |= MRPC_ENGINE_RX_BYTES;
	else
		e->flags &= ~MRPC_ENGINE_RX_BYTES;
	return 0;
}
EXPORT_SYMBOL_GPL(mrpc_ruleset_attach);

/**
 * mrpc_ruleset_unfit() - number of rules that match no call of the services seen so far
 * @rs: the rules
 *
 * Context: process. Return: a number of rules; all of them before there is a service.
 */
u32 mrpc_ruleset_unfit(struct mrpc_ruleset *rs)
{
	u32 fit;

	spin_lock(&rs->lock);
	fit = bitmap_weight(rs->fits, rs->rules->nr_rules);
	spin_unlock(&rs->lock);
	return rs->rules->nr_rules - fit;
}
EXPORT_SYMBOL_GPL(mrpc_ruleset_unfit);

/*
 * Makes the view of a message for rules. If the content cannot be copied, it is missing, and rules
 * that need it are undecided. Bytes that were not received stay out, so that they are never read
 * unchecked.
 */
static void mrpc_ruleset_view(struct mrpc_rpc *rpc, bool content, struct mrpc_view *view)
{
	if (!(rpc->frame.flags & MRPC_WIRE_MSG))
		return;
	if (content)
		mrpc_rpc_own_bytes(rpc);
	view->head = mrpc_rpc_head(rpc);
	view->head_len = mrpc_msg_head_len(&rpc->frame.msg);
	view->bytes = mrpc_rpc_bytes(rpc);
}

/**
 * mrpc_ruleset_judge() - find the first rule that matches a message
 * @bc: the rules, bound to its datapath
 * @rpc: the message, which the engine holds
 *
 * Content that rules read is copied first. So the bytes that were checked are the bytes that are
 * sent.
 *
 * Context: owner of the direction's claim; may sleep.
 */
struct mrpc_rule_verdict mrpc_ruleset_judge(const struct mrpc_bound_conn *bc,
					    struct mrpc_rpc *rpc)
{
	const struct mrpc_conn *conn = rpc->call->conn;
	u32 service = rpc->call->method >> 16;
	const struct mrpc_bound_method *m =
		&bc->services[service]->methods[rpc->call->method & 0xffff];
	struct mrpc_rule_verdict verdict = {};
	struct mrpc_rule_ctx ctx;
	struct mrpc_view view = {};

	if (!m->binding)
		return verdict;
	ctx.kind = mrpc_rpc_is_request(rpc) ? MRPC_RULE_REQUEST : MRPC_RULE_REPLY;
	mrpc_ruleset_view(rpc, m->content & BIT(ctx.kind), &view);
	ctx.uid = bc->uid;
	ctx.cgroup = bc->cgroup;
	ctx.size = mrpc_rpc_size(rpc);
	ctx.peer = &conn->link.peer;
	ctx.peer_len = sizeof(conn->link.peer);
	ctx.identity = conn->link.identity;
	ctx.identity_len = conn->link.identity_len;
	ctx.meta_len = rpc->frame.meta_len;
	ctx.meta = mrpc_rpc_meta(rpc);
	ctx.msg = &view;
	rcu_read_lock();	/* a set may be replaced */
	verdict = mrpc_rules_eval(m->binding, &ctx);
	rcu_read_unlock();
	return verdict;
}
EXPORT_SYMBOL_GPL(mrpc_ruleset_judge);
