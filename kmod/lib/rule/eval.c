// SPDX-License-Identifier: GPL-2.0
/*
 * Rules and a call: which rule comes first?
 */
#include "lib/rule/cond.h"

#ifdef __KERNEL__
#include <linux/socket.h>
#else
#include <sys/socket.h>
#endif

/* YES must be 1: comparisons are outcomes. */
enum outcome {
	NO,
	YES,
	UNKNOWN,
};

/* Fields that have been read; values[i] is valid if bit i of @have is set. */
struct rule_eval {
	const struct mrpc_rule_ctx *ctx;
	const struct mrpc_rules_binding *binding;
	const struct bound_kind *kind;
	u32 have;
	int ret[MRPC_RULES_CACHED];
	struct mrpc_field_value values[MRPC_RULES_CACHED];
	struct mrpc_field_value other;	/* of a field beyond these */
};

static bool eval_in_range(const struct rule_test *t, u64 ordered)
{
	return ordered - t->from <= t->span;
}

/* -- the peer --------------------------------------------------------------- */

#define SOCKADDR_PORT	2	/* both versions */
#define SOCKADDR_IN4	4	/* sin_addr */
#define SOCKADDR_IN6	8	/* sin6_addr */

/* The peer's address: 4 or 16 bytes, or NULL: of another family. */
static const u8 *eval_peer(const struct mrpc_rule_ctx *ctx, u32 *len, bool *unknown)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	const u8 *peer = ctx->peer;
	u16 family;

	*unknown = ctx->peer_len < sizeof(family);
	if (*unknown)
		return NULL;
	memcpy(&family, peer, sizeof(family));
	if (family != AF_INET && family != AF_INET6)
		return NULL;
	*len = family == AF_INET ? 4 : 16;
	peer += family == AF_INET ? SOCKADDR_IN4 : SOCKADDR_IN6;
	*unknown = ctx->peer_len < (u32)(peer - (const u8 *)ctx->peer) + *len;
	if (*unknown)
		return NULL;
	/* A version 4 peer of a version 6 socket is one of version 4. */
	if (*len == 16 && !memcmp(peer, mapped, sizeof(mapped))) {
		*len = 4;
		peer += sizeof(mapped);
	}
	return peer;
}

static enum outcome eval_net(const struct mrpc_rule_ctx *ctx, const struct rule_test *t)
{
	struct mrpc_cond_net net;
	const u8 *addr;
	u32 len, bytes, bits;
	bool unknown;

	addr = eval_peer(ctx, &len, &unknown);
	if (unknown)
		return UNKNOWN;
	memcpy(&net, t->cond->value, sizeof(net));
	if (!addr || len != (net.version == 4 ? 4 : 16))
		return NO;
	bytes = net.prefix / 8;
	bits = net.prefix % 8;
	if (memcmp(addr, net.addr, bytes))
		return NO;
	return !bits || (addr[bytes] ^ net.addr[bytes]) >> (8 - bits) == 0;
}

static enum outcome eval_port(const struct mrpc_rule_ctx *ctx, const struct rule_test *t)
{
	const u8 *peer = ctx->peer;
	bool unknown;
	u32 len;

	if (!eval_peer(ctx, &len, &unknown))
		return unknown ? UNKNOWN : NO;
	return eval_in_range(t, peer[SOCKADDR_PORT] << 8 | peer[SOCKADDR_PORT + 1]);
}

/* -- texts ------------------------------------------------------------------ */

static enum outcome eval_in(const struct rule_eval *e, const struct mrpc_cond *c, u32 kind,
			    const void *key, u32 len)
{
	/* Pairs with the release in mrpc_rules_set_put(). */
	const struct mrpc_set *set = READ_ONCE(e->binding->rules->sets[c->set]);

	if (!set || set->kind != kind)
		return UNKNOWN;
	return mrpc_set_has(set, key, len);
}

static enum outcome eval_text(const struct rule_eval *e, const struct mrpc_cond *c,
			      const u8 *value, u32 len)
{
	switch (c->op) {
	case MRPC_MATCH_PRESENT:
		return YES;
	case MRPC_MATCH_EQUAL:
		return len == c->value_len && !memcmp(value, c->value, len);
	case MRPC_MATCH_PREFIX:
		return len >= c->value_len && !memcmp(value, c->value, c->value_len);
	default:
		return eval_in(e, c, MRPC_SET_TEXT, value, len);
	}
}

static enum outcome eval_meta(const struct rule_eval *e, const struct mrpc_cond *c)
{
	struct mrpc_meta_entry entry;
	enum outcome out = NO;
	u32 pos;

	for (pos = 0; pos < e->ctx->meta_len && out == NO; pos += entry.klen + entry.vlen) {
		const u8 *key = (const u8 *)e->ctx->meta + pos + sizeof(entry);

		memcpy(&entry, key - sizeof(entry), sizeof(entry));
		pos += sizeof(entry);
		if (entry.klen == c->name_len && !memcmp(key, c->name, entry.klen))
			out = eval_text(e, c, key + entry.klen, entry.vlen);
	}
	return out;
}

/* -- fields ----------------------------------------------------------------- */

static int eval_read(struct rule_eval *e, u32 index, const struct mrpc_field_value **value)
{
	const struct mrpc_field_path *path = e->kind->paths[index];

	if (!e->ctx->msg)
		return -ENOENT;
	if (index >= MRPC_RULES_CACHED) {
		*value = &e->other;
		return mrpc_field_read(path, e->ctx->msg, &e->other);
	}
	if (!(e->have >> index & 1)) {
		e->have |= 1U << index;
		e->ret[index] = mrpc_field_read(path, e->ctx->msg, &e->values[index]);
	}
	*value = &e->values[index];
	return e->ret[index];
}

/* The length says no, whether the content is at hand or not. */
static bool eval_length_fits(const struct rule_test *t, u32 len)
{
	if (t->test == TEST_FIELD_EQUAL)
		return len == t->cond->value_len;
	return len >= t->cond->value_len;
}

static enum outcome eval_field(struct rule_eval *e, const struct rule_test *t)
{
	const struct mrpc_cond *c = t->cond;
	const struct mrpc_field_value *v;
	int ret = eval_read(e, t->path, &v);

	if (ret == -ENOENT)
		return NO;
	if (ret && ret != -ENODATA)	/* nothing is known of it */
		return UNKNOWN;
	if (t->test == TEST_FIELD_PRESENT)
		return YES;
	if (t->test == TEST_FIELD_EQUAL || t->test == TEST_FIELD_PREFIX) {
		if (!eval_length_fits(t, v->len))
			return NO;
		return ret ? UNKNOWN : !memcmp(v->ptr, c->value, c->value_len);
	}
	if (ret)
		return UNKNOWN;
	switch (t->test) {
	case TEST_FIELD_NUMBER:
		return eval_in_range(t, v->u ^ t->flip);
	case TEST_FIELD_DOUBLE:
		return eval_in_range(t, rule_double_order(v->bits));
	case TEST_FIELD_IN_TEXTS:
		return eval_in(e, c, MRPC_SET_TEXT, v->ptr, v->len);
	default:
		return eval_in(e, c, MRPC_SET_INT, &v->u, sizeof(v->u));
	}
}

/* -- rules ------------------------------------------------------------------ */

static enum outcome eval_test(struct rule_eval *e, const struct rule_test *t)
{
	const struct mrpc_rule_ctx *ctx = e->ctx;

	switch (t->test) {
	case TEST_NET:
		return eval_net(ctx, t);
	case TEST_PORT:
		return eval_port(ctx, t);
	case TEST_UID:
		return ctx->uid == MRPC_RULE_NO_UID ? UNKNOWN : eval_in_range(t, ctx->uid);
	case TEST_CGROUP:
		return ctx->cgroup ? eval_in_range(t, ctx->cgroup) : UNKNOWN;
	case TEST_SIZE:
		return eval_in_range(t, ctx->size);
	case TEST_META:
		return eval_meta(e, t->cond);
	case TEST_IDENTITY:
		return ctx->identity_len ? eval_text(e, t->cond, (const u8 *)ctx->identity,
						     ctx->identity_len) : NO;
	default:
		return eval_field(e, t);
	}
}

static enum outcome eval_rule(struct rule_eval *e, const struct bound_rule *rule)
{
	const struct rule_test *t = e->binding->tests + rule->first_test;
	enum outcome all = YES;
	u32 i;

	for (i = 0; i < rule->nr_tests; i++) {
		enum outcome one = eval_test(e, &t[i]);

		if (one == NO)
			return NO;
		if (one == UNKNOWN)
			all = UNKNOWN;
	}
	return all;
}

struct mrpc_rule_verdict mrpc_rules_eval_bound(const struct mrpc_rules_binding *binding,
					       const struct mrpc_rule_ctx *ctx)
{
	struct mrpc_rule_verdict verdict = { NULL, NULL };
	struct rule_eval e __uninitialized;
	u32 i;

	e.ctx = ctx;
	e.binding = binding;
	e.kind = &binding->kinds[ctx->kind];
	e.have = 0;
	for (i = 0; i < e.kind->nr_rules; i++) {
		const struct bound_rule *rule = &e.kind->rules[i];
		enum outcome out = eval_rule(&e, rule);

		if (out == YES) {
			verdict.rule = rule->rule;
			break;
		}
		if (out == UNKNOWN && !verdict.undecided)
			verdict.undecided = rule->rule;
	}
	return verdict;
}
