// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of an engine's configuration; see rules.h.
 */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "bind.h"
#include "rules.h"
#include "session.h"

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

static int mrpc_bound_method(struct mrpc_bound_method *m, const struct mrpc_rules *rules,
			     const struct mrpc_schema_plan *plan, u32 method, void *scratch)
{
	size_t size = mrpc_rules_bind_size(rules, plan, method, scratch);
	u32 kind;
	void *mem;

	if (!size)
		return 0;
	mem = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!mem)
		return -ENOMEM;
	m->binding = mrpc_rules_bind(rules, plan, method, scratch, mem);
	for (kind = MRPC_RULE_REQUEST; kind <= MRPC_RULE_REPLY; kind++)
		if (mrpc_rules_reads(m->binding, kind, 0))
			m->content |= BIT(kind);
	return 0;
}

static struct mrpc_bound_schema *mrpc_bound_new(const struct mrpc_rules *rules,
						struct mrpc_schema *schema)
{
	u32 nr = schema->plan->nr_methods, i;
	struct mrpc_bound_schema *b;
	void *scratch;
	int err = 0;

	scratch = kmalloc(MRPC_PATH_MAX_SIZE, GFP_KERNEL);
	b = kvzalloc(struct_size(b, methods, nr), GFP_KERNEL_ACCOUNT);
	if (!scratch || !b) {
		kfree(scratch);
		kvfree(b);
		return NULL;
	}
	mrpc_schema_get(schema);
	b->schema = schema;
	for (i = 0; i < nr && !err; i++) {
		err = mrpc_bound_method(&b->methods[i], rules, schema->plan, i, scratch);
		b->content |= b->methods[i].content;
		cond_resched();	/* many rules for many methods take seconds */
	}
	kfree(scratch);
	if (!err)
		return b;
	mrpc_bound_free(b);
	return NULL;
}

/* Entries stay until the ruleset ends, so what is found may be used. */
static struct mrpc_bound_schema *mrpc_ruleset_find(struct mrpc_ruleset *rs,
						   const struct mrpc_schema *schema)
{
	struct mrpc_bound_schema *b, *found = NULL;

	rcu_read_lock();
	list_for_each_entry_rcu(b, &rs->schemas, list) {
		if (b->schema == schema) {
			found = b;
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

static const struct mrpc_bound_schema *mrpc_ruleset_bind(struct mrpc_ruleset *rs,
							 struct mrpc_schema *schema)
{
	struct mrpc_bound_schema *b = mrpc_ruleset_find(rs, schema);

	if (b)
		return b;
	mutex_lock(&rs->lock);
	b = mrpc_ruleset_find(rs, schema);
	if (!b) {
		b = mrpc_bound_new(rs->rules, schema);
		if (b)
			list_add_tail_rcu(&b->list, &rs->schemas);
	}
	mutex_unlock(&rs->lock);
	return b;
}

/* -- the ruleset ----------------------------------------------------------------- */

/**
 * mrpc_ruleset_free() - the end of rules
 * @rs: the ruleset, which nobody uses any more; or NULL
 *
 * Context: process; may sleep.
 */
void mrpc_ruleset_free(struct mrpc_ruleset *rs)
{
	struct mrpc_bound_schema *b, *next;
	u32 i;

	if (!rs)
		return;
	list_for_each_entry_safe(b, next, &rs->schemas, list)
		mrpc_bound_free(b);
	for (i = 0; rs->uses && i < rs->rules->nr_sets; i++)
		mrpc_set_unuse(&rs->uses[i]);
	kfree(rs->uses);
	kvfree(rs->rules);
	kfree(rs);
}
EXPORT_SYMBOL_GPL(mrpc_ruleset_free);

static int mrpc_ruleset_fill(struct mrpc_ruleset *rs, const struct net *net,
			     const struct mrpc_ruleset *prev, struct netlink_ext_ack *extack)
{
	struct mrpc_bound_schema *b;
	u32 nr = rs->rules->nr_sets, i;
	int err;

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
	if (!prev)
		return 0;
	/* New ones come at the end, and are bound when they are needed. */
	list_for_each_entry_rcu(b, &prev->schemas, list, true)
		if (!mrpc_ruleset_bind(rs, b->schema))
			return -ENOMEM;
	return 0;
}

/**
 * mrpc_ruleset_new() - the rules of a configuration
 * @g: the configuration in the making
 * @param: index of its parameter of type MRPC_PARAM_RULES
 * @prev: of the configuration that it replaces, or NULL: what that one was bound
 *	to is bound at once, so that mrpc_ruleset_attach() is quick
 * @extack: why not
 *
 * Context: process; may sleep.
 * Return: the ruleset; NULL if the parameter was not given; or an ERR_PTR.
 */
struct mrpc_ruleset *mrpc_ruleset_new(const struct mrpc_group *g, u32 param,
				      const struct mrpc_ruleset *prev,
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
	mutex_init(&rs->lock);
	INIT_LIST_HEAD(&rs->schemas);
	err = mrpc_ruleset_fill(rs, g->net, prev, extack);
	if (!err)
		return rs;
	mrpc_ruleset_free(rs);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(mrpc_ruleset_new);

/**
 * mrpc_ruleset_attach() - bind rules to the services of a datapath
 * @rs: the ruleset, or NULL
 * @e: the instance; its MRPC_ENGINE_RX_BYTES becomes as the rules need it
 * @bc: out; on failure unchanged
 *
 * For create() and configure(). Context: process; may sleep, briefly where the
 * services' schemas are known. Return: 0 or -ENOMEM.
 */
int mrpc_ruleset_attach(struct mrpc_ruleset *rs, struct mrpc_engine *e,
			struct mrpc_bound_conn *bc)
{
	const struct mrpc_session *session = e->conn->session;
	struct mrpc_bound_conn made = {
		.uid = from_kuid(session->net->user_ns, session->uid),
	};
	u8 content = 0;
	u32 i;

	/* Where some are left out its own is not known. */
	if (session->nr_cgroups && session->nr_cgroups < MRPC_SESSION_CGROUPS)
		made.cgroup = session->cgroups[session->nr_cgroups - 1];
	for (i = 0; rs && i < e->conn->nr_services; i++) {
		made.services[i] = mrpc_ruleset_bind(rs, e->conn->services[i].schema);
		if (!made.services[i])
			return -ENOMEM;
		content |= made.services[i]->content;
	}
	*bc = made;
	/* Only of what this end receives. */
	if (content & BIT(e->conn->accepted ? MRPC_RULE_REQUEST : MRPC_RULE_REPLY))
		e->flags |= MRPC_ENGINE_RX_BYTES;
	else
		e->flags &= ~MRPC_ENGINE_RX_BYTES;
	return 0;
}
EXPORT_SYMBOL_GPL(mrpc_ruleset_attach);

/*
 * What cannot be copied is not at hand, and the rules that need it are undecided.
 * Where nothing was received it stays out, so that it is never read unchecked.
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
 * mrpc_ruleset_judge() - the first rule that matches a message
 * @bc: the rules, bound to its datapath
 * @rpc: the message, in the hands of the engine
 *
 * Content that rules look at is copied first, so that what was looked at is what
 * is sent.
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
	ctx.peer = &conn->peer;
	ctx.peer_len = sizeof(conn->peer);
	ctx.meta_len = rpc->frame.meta_len;
	ctx.meta = mrpc_rpc_meta(rpc);
	ctx.msg = &view;
	rcu_read_lock();	/* a set may be replaced */
	verdict = mrpc_rules_eval(m->binding, &ctx);
	rcu_read_unlock();
	return verdict;
}
EXPORT_SYMBOL_GPL(mrpc_ruleset_judge);
