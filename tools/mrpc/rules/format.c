// SPDX-License-Identifier: GPL-2.0
/* Rules: from the binary form to text. */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/message/utf8.h"
#include "lib/rule/cond.h"
#include "nl/status.h"
#include "rules/text.h"

struct text {
	char *p;
	size_t len;
};

static void __attribute__((format(printf, 2, 3))) say(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	t->p = realloc(t->p, t->len + len + 1);
	if (!t->p)
		abort();
	va_start(ap, fmt);
	vsnprintf(t->p + t->len, len + 1, fmt, ap);
	va_end(ap);
	t->len += len;
}

static void say_quoted(struct text *t, const void *text, size_t len)
{
	bool utf8 = mrpc_utf8_valid(text, len);
	const uint8_t *c = text;

	say(t, "\"");
	for (; len--; c++) {
		if (*c == '"' || *c == '\\')
			say(t, "\\%c", *c);
		else if (*c < ' ' || *c == 0x7f || (*c > 0x7f && !utf8))
			say(t, "\\x%02x", *c);
		else
			say(t, "%c", *c);
	}
	say(t, "\"");
}

/* With a point or an exponent, so that it is not read as an integer. */
static void say_double(struct text *t, uint64_t bits)
{
	size_t before = t->len;
	double d;

	memcpy(&d, &bits, sizeof(d));
	say(t, "%.17g", d);
	if (!strpbrk(t->p + before, ".ei"))
		say(t, ".0");
}

static void say_number(struct text *t, bool doubles, bool negative, uint64_t n)
{
	if (doubles)
		say_double(t, n);
	else if (negative)
		say(t, "%lld", (long long)n);
	else
		say(t, "%llu", (unsigned long long)n);
}

static void say_range(struct text *t, const struct mrpc_cond *c)
{
	bool doubles = c->op == MRPC_MATCH_DOUBLES, from_neg, to_neg;
	struct mrpc_cond_range range;
	uint64_t from, to;
	uint32_t flags;

	memcpy(&range, c->value, sizeof(range));
	from = le64_to_cpu(range.from);
	to = le64_to_cpu(range.to);
	flags = le32_to_cpu(range.flags);
	from_neg = flags & MRPC_RANGE_FROM_NEG;
	to_neg = flags & MRPC_RANGE_TO_NEG;
	if (!(flags & MRPC_RANGE_TO)) {
		say(t, " >= ");
		say_number(t, doubles, from_neg, from);
	} else if (!(flags & MRPC_RANGE_FROM)) {
		say(t, " <= ");
		say_number(t, doubles, to_neg, to);
	} else if (from == to && from_neg == to_neg) {
		say(t, " = ");
		say_number(t, doubles, from_neg, from);
	} else {
		say(t, " ");
		say_number(t, doubles, from_neg, from);
		say(t, "-");
		say_number(t, doubles, to_neg, to);
	}
}

static void say_net(struct text *t, const struct mrpc_cond *c)
{
	struct mrpc_cond_net net;
	char addr[INET6_ADDRSTRLEN];

	memcpy(&net, c->value, sizeof(net));
	inet_ntop(net.version == 4 ? AF_INET : AF_INET6, net.addr, addr, sizeof(addr));
	say(t, " %s", addr);
	if (net.prefix != (net.version == 4 ? 32 : 128))
		say(t, "/%u", net.prefix);
}

static void say_cond(struct text *t, const struct mrpc_rules *rules, const struct mrpc_cond *c)
{
	static const char *const words[] = {
		[MRPC_COND_SERVICE] = "service", [MRPC_COND_METHOD] = "method",
		[MRPC_COND_PEER] = "peer", [MRPC_COND_PORT] = "port", [MRPC_COND_UID] = "uid",
		[MRPC_COND_CGROUP] = "cgroup", [MRPC_COND_SIZE] = "size",
		[MRPC_COND_META] = "meta", [MRPC_COND_FIELD] = "field",
		[MRPC_COND_IDENTITY] = "identity",
	};

	if (c->what == MRPC_COND_KIND) {
		say(t, c->value[0] == MRPC_RULE_REPLY ? "reply" : "request");
		return;
	}
	say(t, "%s", words[c->what]);
	if (c->what == MRPC_COND_SERVICE || c->what == MRPC_COND_METHOD) {
		say(t, " %.*s%s", c->value_len, (const char *)c->value,
		    c->op == MRPC_MATCH_PREFIX ? "*" : "");
		return;
	}
	if (c->name_len)
		say(t, " %.*s", c->name_len, c->name);
	switch (c->op) {
	case MRPC_MATCH_PRESENT:
		say(t, " present");
		break;
	case MRPC_MATCH_EQUAL:
	case MRPC_MATCH_PREFIX:
		say(t, c->op == MRPC_MATCH_EQUAL ? " = " : " prefix ");
		say_quoted(t, c->value, c->value_len);
		break;
	case MRPC_MATCH_IN:
		say(t, " in @%s", rules->set_names[c->set]);
		break;
	case MRPC_MATCH_NET:
		say_net(t, c);
		break;
	default:
		say_range(t, c);
	}
}

static void say_share(struct text *t, uint32_t share)
{
	uint32_t decimals = share % 10000;
	int digits = 4;

	say(t, " percent %u", share / 10000);
	if (!decimals)
		return;
	for (; decimals % 10 == 0; digits--)
		decimals /= 10;
	say(t, ".%0*u", digits, decimals);
}

static void say_time(struct text *t, uint64_t ns)
{
	if (ns % 1000)
		say(t, " %lluns", (unsigned long long)ns);
	else if (ns % 1000000)
		say(t, " %lluus", (unsigned long long)ns / 1000);
	else if (ns % 1000000000)
		say(t, " %llums", (unsigned long long)ns / 1000000);
	else
		say(t, " %llus", (unsigned long long)ns / 1000000000);
}

/* Can the verb's words say all that is in the rule? */
static bool fits(const struct rule_verb *verb, const struct mrpc_rule *rule)
{
	if (verb->action != rule->action)
		return false;
	if (rule->arg && !(verb->takes & (RULE_TAKES_NUMBER | RULE_TAKES_TIME)))
		return false;
	if (rule->share != MRPC_RULE_SHARE_ALL && !(verb->takes & RULE_TAKES_SHARE))
		return false;
	if (rule->status != verb->status && !(verb->takes & RULE_TAKES_STATUS))
		return false;
	return !rule->detail_len || verb->takes & RULE_TAKES_DETAIL;
}

static bool say_rule(struct text *t, const struct mrpc_rules *rules, const struct mrpc_rule *rule,
		     const struct rule_verb *verbs)
{
	const struct rule_verb *v = verbs;
	uint32_t i;

	while (v->name && !fits(v, rule))
		v++;
	if (!v->name)
		return false;
	say(t, "%s", v->name);
	if (v->takes & RULE_TAKES_TIME)
		say_time(t, rule->arg);
	else if (v->takes & RULE_TAKES_NUMBER)
		say(t, " %llu", (unsigned long long)rule->arg);
	if (rule->share != MRPC_RULE_SHARE_ALL)
		say_share(t, rule->share);
	if (rule->status != v->status)
		say(t, " status %s", status_names[rule->status]);
	if (rule->detail_len) {
		say(t, " detail ");
		say_quoted(t, rule->detail, rule->detail_len);
	}
	for (i = 0; i < rule->nr_conds; i++) {
		say(t, i ? " and " : " if ");
		say_cond(t, rules, &rules->conds[rule->first_cond + i]);
	}
	say(t, "\n");
	return true;
}

char *rule_text_format(const void *binary, size_t len, const struct rule_verb *verbs,
		       struct rule_text_error *err)
{
	struct mrpc_rules_error why;
	int64_t size = mrpc_rules_size(binary, len, &why);
	struct mrpc_rules *rules;
	struct text t = { 0 };
	uint32_t i;

	*err = (struct rule_text_error){ 0 };
	if (size < 0) {
		snprintf(err->what, sizeof(err->what), "the rules are malformed: rule %u %s (%llu)",
			 why.rule + 1, why.what, (unsigned long long)why.value);
		return NULL;
	}
	rules = malloc(size);
	if (!rules || mrpc_rules_compile(binary, len, rules, size, &why))
		abort();
	say(&t, "%s", "");
	for (i = 0; i < rules->nr_rules; i++) {
		if (say_rule(&t, rules, &rules->rules[i], verbs))
			continue;
		snprintf(err->what, sizeof(err->what), "rule %u has an action (%u) without a name",
			 i + 1, rules->rules[i].action);
		free(t.p);
		t.p = NULL;
		break;
	}
	free(rules);
	return t.p;
}
