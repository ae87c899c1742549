// SPDX-License-Identifier: GPL-2.0
/*
 * Rules that can match no call that is known when they are placed.
 *
 * A deny rule with a misspelt name lets everything pass. The module compares the names with
 * the schemas of the datapaths in scope, and of the listeners that can accept such datapaths.
 * Where the rule or the scope names a service of these, the module refuses a rule that fits
 * no call of that service. Any other rule may be meant for a service that comes later: the
 * operator is warned.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "core/conn.h"
#include "core/engine.h"
#include "core/listener.h"
#include "core/net.h"
#include "core/placement.h"
#include "core/schema.h"
#include "core/session.h"
#include "lib/rule/cond.h"
#include "lib/rule/rule.h"
#include "rules/misfit.h"

#define MRPC_MISFIT_SCHEMAS	64	/* with more nothing is checked */
#define MRPC_MISFIT_CONDS	(1 << 18)	/* compiled; after so many nothing more is checked */

/**
 * struct mrpc_misfit - a check
 * @rules: what is checked
 * @scope: of the placement
 * @nr: of @schemas
 * @many: there are more
 * @left: of MRPC_MISFIT_CONDS
 * @scratch: for mrpc_rule_fits()
 * @schemas: of the datapaths in scope, and of listeners; references
 */
struct mrpc_misfit {
	const struct mrpc_rules *rules;
	const struct mrpc_scope *scope;
	u32 nr;
	bool many;
	s32 left;
	void *scratch;
	struct mrpc_schema *schemas[MRPC_MISFIT_SCHEMAS];
};

static void mrpc_misfit_add(struct mrpc_misfit *m, struct mrpc_schema *schema)
{
	u32 i;

	for (i = 0; i < m->nr; i++)
		if (m->schemas[i] == schema)
			return;
	if (m->nr == MRPC_MISFIT_SCHEMAS) {
		m->many = true;
		return;
	}
	mrpc_schema_get(schema);
	m->schemas[m->nr++] = schema;
}

static void mrpc_misfit_collect_datapaths(struct mrpc_misfit *m, struct net *net)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_conn *conn;
	u32 services, i;

	spin_lock(&mn->lock);
	list_for_each_entry(conn, &mn->datapaths, dp.in_net) {
		if (!mrpc_scope_matches(m->scope, conn))
			continue;
		services = mrpc_scope_services(m->scope, &conn->services);
		for (i = 0; i < conn->services.nr; i++)
			if (services & BIT(i))
				mrpc_misfit_add(m, conn->services.list[i].schema);
	}
	spin_unlock(&mn->lock);
}

static void mrpc_misfit_add_listener(struct mrpc_misfit *m, const struct mrpc_listener *l)
{
	u32 i;

	for (i = 0; i < l->nr_services; i++)
		if (mrpc_scope_has_service(m->scope, l->services[i].schema))
			mrpc_misfit_add(m, l->services[i].schema);
}

static void mrpc_misfit_add_session(struct mrpc_misfit *m, struct mrpc_session *session)
{
	struct mrpc_listener *l;
	unsigned long id = 0;

	while ((l = mrpc_listener_next(session, &id))) {
		mrpc_misfit_add_listener(m, l);
		mrpc_listener_put(l);
		id++;
		cond_resched();
	}
}

static void mrpc_misfit_collect_listeners(struct mrpc_misfit *m, struct net *net)
{
	struct mrpc_session *session;
	u32 after = 0;

	while (!m->many && (session = mrpc_session_next(net, after))) {
		after = session->id;
		if (mrpc_scope_may_match(m->scope, session))
			mrpc_misfit_add_session(m, session);
		mrpc_session_put(session);
		cond_resched();
	}
}

static bool mrpc_rule_has(const struct mrpc_rules *rules, const struct mrpc_rule *rule, u8 what)
{
	u32 i;

	for (i = 0; i < rule->nr_conds; i++)
		if (rules->conds[rule->first_cond + i].what == what)
			return true;
	return false;
}

/* Does any rule depend on what a schema says? */
static bool mrpc_rules_name(const struct mrpc_rules *rules)
{
	u32 i;

	for (i = 0; i < rules->nr_rules; i++)
		if (mrpc_rule_has(rules, &rules->rules[i], MRPC_COND_SERVICE) ||
		    mrpc_rule_has(rules, &rules->rules[i], MRPC_COND_METHOD) ||
		    mrpc_rule_has(rules, &rules->rules[i], MRPC_COND_FIELD))
			return true;
	return false;
}

/*
 * Looks for a method that a rule fits. Rules, services and methods may be so many that the check
 * would keep other users of generic netlink waiting: then it ends, as if the rule fitted.
 *
 * Return: MRPC_FIT: the rule fits a call of the service; MRPC_FIT_NOT_MEANT: it is for another
 * service; MRPC_FIT_NO_FIELD: condition *@cond can never hold. Or a negative errno.
 */
static int mrpc_misfit_service(struct mrpc_misfit *m, u32 index,
			       const struct mrpc_schema_plan *plan, u32 *cond)
{
	const struct mrpc_rule *rule = &m->rules->rules[index];
	u32 method, kind, fit, at = 0;
	struct mrpc_path_error err;

	*cond = U32_MAX;
	for (method = 0; method < plan->nr_methods; method++) {
		for (kind = MRPC_RULE_REQUEST; kind <= MRPC_RULE_REPLY; kind++) {
			fit = mrpc_rule_fits(m->rules, index, plan, method, kind, m->scratch, &at,
					     &err);
			if (fit == MRPC_FIT)
				return MRPC_FIT;
			if (m->rules->conds[rule->first_cond + at].what == MRPC_COND_SERVICE)
				return MRPC_FIT_NOT_MEANT;
			/* What is wrong with the method that is meant says more. */
			if (fit != MRPC_FIT_NOT_MEANT || *cond == U32_MAX)
				*cond = at;
		}
		m->left -= 2 * (rule->nr_conds + 1);
		if (m->left < 0)
			return MRPC_FIT;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return MRPC_FIT_NO_FIELD;
}

static int mrpc_misfit_rule(struct mrpc_misfit *m, u32 index, struct netlink_ext_ack *extack)
{
	const struct mrpc_rule *rule = &m->rules->rules[index];
	bool named = m->scope->service[0] || mrpc_rule_has(m->rules, rule, MRPC_COND_SERVICE);
	const struct mrpc_schema_plan *plan, *known = NULL;
	u32 i, cond, at = 0;
	int fit;

	for (i = 0; i < m->nr; i++) {
		plan = m->schemas[i]->plan;
		fit = mrpc_misfit_service(m, index, plan, &cond);
		if (fit <= 0)	/* MRPC_FIT, or an error */
			return fit;
		if (fit == MRPC_FIT_NOT_MEANT)
			continue;
		known = plan;
		at = cond;
	}
	if (known && named) {
		NL_SET_ERR_MSG_FMT(extack, "rule %u, condition %u fits no call of %.28s: misspelt?",
				   index + 1, at + 1, mrpc_schema_service(known));
		return -EINVAL;
	}
	NL_SET_ERR_MSG_FMT(extack, "rule %u fits no call of the services known here: misspelt?",
			   index + 1);
	return 0;
}

/**
 * mrpc_rules_check_names() - do rules fit the services in their scope?
 * @rules: the rules
 * @g: the configuration in the making
 * @extack: why not, or a warning
 *
 * Context: process; may sleep.
 * Return: 0 or a negative errno.
 */
int mrpc_rules_check_names(const struct mrpc_rules *rules, const struct mrpc_group *g,
			   struct netlink_ext_ack *extack)
{
	struct mrpc_misfit *m;
	int err = 0;
	u32 i;

	if (!g->scope || !mrpc_rules_name(rules))
		return 0;
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return -ENOMEM;
	m->rules = rules;
	m->scope = g->scope;
	m->left = MRPC_MISFIT_CONDS;
	m->scratch = kvmalloc(MRPC_PATH_MAX_SIZE, GFP_KERNEL);
	if (m->scratch) {
		mrpc_misfit_collect_datapaths(m, g->net);
		mrpc_misfit_collect_listeners(m, g->net);
	} else {
		err = -ENOMEM;
	}
	if (!err && !m->nr)
		NL_SET_ERR_MSG(extack, "no service is known here yet: the names in the rules are not checked");
	for (i = 0; i < rules->nr_rules && m->nr && !m->many && m->left >= 0 && !err; i++)
		err = mrpc_misfit_rule(m, i, extack);
	if (!err && m->left < 0)
		NL_SET_ERR_MSG_FMT(extack, "too much to check: names in rules after %u are not checked",
				   i - 1);
	for (i = 0; i < m->nr; i++)
		mrpc_schema_put(m->schemas[i]);
	kvfree(m->scratch);
	kfree(m);
	return err;
}
