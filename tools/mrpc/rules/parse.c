// SPDX-License-Identifier: GPL-2.0
/* Rules: from text to the binary form. */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "nl/status.h"
#include "rules/text.h"
#include "rules/token.h"

struct bytes {
	uint8_t *p;
	size_t len;
};

struct parser {
	struct rule_reader in;
	const struct rule_verb *verbs;
	struct bytes rules;
	struct bytes conds;		/* of the rule at hand */
	const char *sets[MRPC_RULES_MAX_SETS];	/* in the text; lengths: */
	uint32_t set_lens[MRPC_RULES_MAX_SETS];
	uint32_t nr_sets;
	uint32_t nr_rules;
	uint32_t nr_conds;
};

/* Adds @len bytes and padding to a multiple of 8. */
static void put(struct bytes *b, const void *data, size_t len)
{
	size_t room = (len + 7) / 8 * 8;

	if (!room)
		return;
	b->p = realloc(b->p, b->len + room);
	if (!b->p)
		abort();
	memset(b->p + b->len, 0, room);
	memcpy(b->p + b->len, data, len);
	b->len += room;
}

/* -- conditions ------------------------------------------------------------- */

static bool put_cond(struct parser *p, uint8_t what, uint8_t op, struct rule_token name,
		     const void *value, size_t len)
{
	struct mrpc_cond_rec rec = {
		.what = what, .op = op,
		.name_len = cpu_to_le16(name.len), .value_len = cpu_to_le16(len),
	};

	put(&p->conds, &rec, sizeof(rec));
	put(&p->conds, name.p, name.len);
	put(&p->conds, value, len);
	p->nr_conds++;
	return true;
}

static const struct rule_token no_name;

static bool parse_number_cond(struct parser *p, uint8_t what, int form)
{
	struct mrpc_cond_range range;
	uint8_t op;

	if (!rule_range(&p->in, form, &range, &op))
		return false;
	return put_cond(p, what, op, no_name, &range, sizeof(range));
}

static bool put_kind(struct parser *p, uint64_t kind)
{
	struct mrpc_cond_range range = {
		.from = cpu_to_le64(kind), .to = cpu_to_le64(kind),
		.flags = cpu_to_le32(MRPC_RANGE_FROM | MRPC_RANGE_TO),
	};

	return put_cond(p, MRPC_COND_KIND, MRPC_MATCH_RANGE, no_name, &range, sizeof(range));
}

static bool parse_name(struct parser *p, uint8_t what)
{
	struct rule_token t = rule_peek(&p->in);
	uint8_t op = MRPC_MATCH_EQUAL;
	bool method = what == MRPC_COND_METHOD;
	struct rule_token name = t;

	if (method && t.len && t.p[t.len - 1] == '*') {
		op = MRPC_MATCH_PREFIX;
		name.len--;
	}
	if (!(op == MRPC_MATCH_PREFIX && !name.len) && !mrpc_name_valid(name.p, name.len, !method))
		return rule_expected(&p->in, method ? "a method's name, or the start of one and *" :
				     "a service's name with its package");
	p->in.pos += t.len;
	return put_cond(p, what, op, no_name, name.p, name.len);
}

static bool parse_peer(struct parser *p)
{
	struct rule_token t = rule_peek(&p->in);
	struct mrpc_cond_net net __attribute__((aligned(8))) = { 0 };
	char text[64], *slash, *end;
	unsigned long prefix;
	uint32_t bit;

	if (!t.len || t.len >= sizeof(text))
		return rule_expected(&p->in, "an address, or an address/bits");
	memcpy(text, t.p, t.len);
	text[t.len] = 0;
	slash = strchr(text, '/');
	if (slash)
		*slash = 0;
	net.version = strchr(text, ':') ? 6 : 4;
	if (inet_pton(net.version == 6 ? AF_INET6 : AF_INET, text, net.addr) != 1)
		return rule_expected(&p->in, "an address, or an address/bits");
	prefix = net.version == 6 ? 128 : 32;
	if (slash) {
		unsigned long most = prefix;

		prefix = strtoul(slash + 1, &end, 10);
		if (!isdigit((uint8_t)slash[1]) || *end || prefix > most)
			return rule_refuse(&p->in, t.p + (slash - text) + 1,
					   "'%s': a number of bits up to %lu is expected", slash + 1, most);
	}
	net.prefix = prefix;
	for (bit = prefix; bit < 128; bit++) {
		uint8_t mask = 0x80 >> bit % 8;

		if (!(net.addr[bit / 8] & mask))
			continue;
		for (; bit < 128; bit++)
			net.addr[bit / 8] &= ~(0x80 >> bit % 8);
		inet_ntop(net.version == 6 ? AF_INET6 : AF_INET, net.addr, text, sizeof(text));
		return rule_refuse(&p->in, t.p, "'%.*s' has bits behind its first %lu; %s/%lu is meant?",
				   (int)t.len, t.p, prefix, text, prefix);
	}
	if (net.version == 6 && prefix >= 96 && IN6_IS_ADDR_V4MAPPED((struct in6_addr *)net.addr))
		return rule_refuse(&p->in, t.p,
				   "'%.*s' has addresses of version 4: write them as those, such as 10.0.0.0/8",
				   (int)t.len, t.p);
	p->in.pos += t.len;
	return put_cond(p, MRPC_COND_PEER, MRPC_MATCH_NET, no_name, &net, sizeof(net));
}

static bool parse_text(struct parser *p, uint8_t what, uint8_t op, struct rule_token name)
{
	size_t len;
	char *text = rule_quoted(&p->in, MRPC_RULE_MAX_VALUE, &len);
	bool ok = text && put_cond(p, what, op, name, text, len);

	free(text);
	return ok;
}

static bool parse_set(struct parser *p, uint8_t what, struct rule_token name)
{
	struct rule_token t = rule_peek(&p->in);
	__le32 index;
	uint32_t i;
	size_t k;

	if (t.len < 2 || *t.p != '@' || t.len - 1 > MRPC_RULES_SET_NAME)
		return rule_expected(&p->in, "the name of a set, with @ before it,");
	for (k = 1; k < t.len; k++)
		if (!isalnum((uint8_t)t.p[k]) && !strchr("_.-", t.p[k]))
			return rule_refuse(&p->in, t.p + k,
					   "'%c' cannot be in a set's name: only letters, digits, _, . and - can",
					   t.p[k]);
	for (i = 0; i < p->nr_sets; i++)
		if (p->set_lens[i] == t.len - 1 && !memcmp(p->sets[i], t.p + 1, t.len - 1))
			break;
	if (i == MRPC_RULES_MAX_SETS)
		return rule_refuse(&p->in, t.p, "at most %u sets can be used", MRPC_RULES_MAX_SETS);
	if (i == p->nr_sets) {
		p->sets[i] = t.p + 1;
		p->set_lens[p->nr_sets++] = t.len - 1;
	}
	p->in.pos += t.len;
	index = cpu_to_le32(i);
	return put_cond(p, what, MRPC_MATCH_IN, name, &index, sizeof(index));
}

/* How long the sign is with which @c begins: "=" or, as in plans, "=="; 0: none. */
static size_t equal_sign(const char *c)
{
	return *c != '=' ? 0 : c[1] == '=' ? 2 : 1;
}

/* What can be said of a text, from a metadata key or a field; -1: none of these. */
static int parse_text_op(struct parser *p, uint8_t what, struct rule_token name)
{
	const char *c;

	if (rule_eat(&p->in, "present"))
		return put_cond(p, what, MRPC_MATCH_PRESENT, name, NULL, 0);
	if (rule_eat(&p->in, "prefix"))
		return parse_text(p, what, MRPC_MATCH_PREFIX, name);
	if (rule_eat(&p->in, "in"))
		return parse_set(p, what, name);
	rule_skip_blanks(&p->in);
	c = p->in.pos + equal_sign(p->in.pos);
	if (c == p->in.pos || c[strspn(c, " \t")] != '"')
		return -1;
	p->in.pos = c;
	return parse_text(p, what, MRPC_MATCH_EQUAL, name);
}

#define TEXT_OPS	"present, = \"TEXT\", prefix \"TEXT\" or in @SET"

static bool parse_meta(struct parser *p)
{
	struct rule_token key = rule_peek(&p->in);
	size_t i;
	int ret;

	for (i = 0; i < key.len; i++)
		if (!islower((uint8_t)key.p[i]) && !isdigit((uint8_t)key.p[i]) &&
		    !strchr("._-", key.p[i]))
			break;
	if (!key.len || i < key.len || key.len > 255)
		return rule_expected(&p->in, "a metadata key, of a-z, 0-9, '.', '_' and '-',");
	p->in.pos += key.len;
	ret = parse_text_op(p, MRPC_COND_META, key);
	return ret < 0 ? rule_expected(&p->in, TEXT_OPS) : ret;
}

static bool parse_identity(struct parser *p)
{
	int ret = parse_text_op(p, MRPC_COND_IDENTITY, (struct rule_token){ NULL, 0 });

	return ret < 0 ? rule_expected(&p->in, TEXT_OPS) : ret;
}

/* A path ends at a blank or an operator, but not within the quotes of a key. */
static bool parse_path(struct parser *p, struct rule_token *path)
{
	const char *c, *quote = NULL;

	rule_skip_blanks(&p->in);
	c = p->in.pos;
	if (!isalpha((uint8_t)*c) && *c != '_')
		return rule_expected(&p->in, "the path to a field");
	for (; *c && *c != '\n' && (quote || *c == '"' || rule_is_word(*c)); c++) {
		if (*c == '"')
			quote = quote ? NULL : c;
		else if (quote && *c == '\\' && c[1] && c[1] != '\n')
			c++;
	}
	if (quote)
		return rule_refuse(&p->in, quote, "the key that starts here has no closing quote");
	if (c - p->in.pos > MRPC_PATH_MAX_TEXT)
		return rule_refuse(&p->in, p->in.pos, "the path has %td bytes; at most %u are allowed",
				   c - p->in.pos, MRPC_PATH_MAX_TEXT);
	*path = (struct rule_token){ p->in.pos, c - p->in.pos };
	p->in.pos = c;
	return true;
}

static bool parse_bool(struct parser *p, struct rule_token path)
{
	struct mrpc_cond_range range = {
		.flags = cpu_to_le32(MRPC_RANGE_FROM | MRPC_RANGE_TO),
	};
	const char *start = p->in.pos;

	rule_skip_blanks(&p->in);
	p->in.pos += equal_sign(p->in.pos);
	if (rule_eat(&p->in, "true"))
		range.from = range.to = cpu_to_le64(1);
	else if (!rule_eat(&p->in, "false")) {
		p->in.pos = start;
		return false;
	}
	return put_cond(p, MRPC_COND_FIELD, MRPC_MATCH_RANGE, path, &range, sizeof(range));
}

static bool parse_field(struct parser *p)
{
	struct mrpc_cond_range range;
	struct rule_token path;
	uint8_t op;
	int ret;

	if (!parse_path(p, &path))
		return false;
	ret = parse_text_op(p, MRPC_COND_FIELD, path);
	if (ret >= 0)
		return ret;
	if (parse_bool(p, path))
		return true;
	if (rule_at_end(&p->in) || (!strchr("=<>-", *p->in.pos) && !isdigit((uint8_t)*p->in.pos) &&
			  strncmp(p->in.pos, "inf", 3)))
		return rule_expected(&p->in, "present, prefix, in, a number, a range or a comparison");
	if (!rule_range(&p->in, FOR_FIELD, &range, &op))
		return false;
	return put_cond(p, MRPC_COND_FIELD, op, path, &range, sizeof(range));
}

static bool parse_cond(struct parser *p)
{
	struct rule_token t = rule_peek(&p->in);

	if (p->nr_conds == MRPC_RULE_MAX_CONDS)
		return rule_refuse(&p->in, t.p, "a rule has at most %u conditions", MRPC_RULE_MAX_CONDS);
	if (rule_eat(&p->in, "service"))
		return parse_name(p, MRPC_COND_SERVICE);
	if (rule_eat(&p->in, "method"))
		return parse_name(p, MRPC_COND_METHOD);
	if (rule_eat(&p->in, "peer"))
		return parse_peer(p);
	if (rule_eat(&p->in, "identity"))
		return parse_identity(p);
	if (rule_eat(&p->in, "port"))
		return parse_number_cond(p, MRPC_COND_PORT, FOR_COUNT);
	if (rule_eat(&p->in, "uid"))
		return parse_number_cond(p, MRPC_COND_UID, FOR_COUNT);
	if (rule_eat(&p->in, "cgroup"))
		return parse_number_cond(p, MRPC_COND_CGROUP, FOR_COUNT);
	if (rule_eat(&p->in, "request"))
		return put_kind(p, MRPC_RULE_REQUEST);
	if (rule_eat(&p->in, "reply"))
		return put_kind(p, MRPC_RULE_REPLY);
	if (rule_eat(&p->in, "size"))
		return parse_number_cond(p, MRPC_COND_SIZE, FOR_SIZE);
	if (rule_eat(&p->in, "meta"))
		return parse_meta(p);
	if (rule_eat(&p->in, "field"))
		return parse_field(p);
	return rule_expected(&p->in, "service, method, peer, identity, port, uid, cgroup, request, reply, size, "
			     "meta or field");
}

/* -- actions ---------------------------------------------------------------- */

static bool parse_status(struct parser *p, struct mrpc_rule_rec *rule)
{
	struct rule_token t = rule_peek(&p->in);
	uint32_t i;

	for (i = 0; status_names[i]; i++)
		if (rule_is(t, status_names[i]))
			break;
	if (!status_names[i])
		return rule_expected(&p->in, "a status, such as PERMISSION_DENIED,");
	p->in.pos += t.len;
	rule->status = cpu_to_le16(i);
	return true;
}

/* Up to four decimals: the kernel counts parts in a million. */
static bool parse_share(struct parser *p, struct mrpc_rule_rec *rule)
{
	struct rule_token t = rule_peek(&p->in);
	uint32_t share = 0, digits = 0;
	bool point = false;
	size_t i;

	for (i = 0; i < t.len && digits < 4 && share < 1000000000; i++) {
		if (t.p[i] == '.' && i && !point) {
			point = true;
			continue;
		}
		if (!isdigit((uint8_t)t.p[i]))
			break;
		share = share * 10 + (t.p[i] - '0');
		digits += point;
	}
	for (; digits < 4 && share < 1000000000; digits++)
		share *= 10;
	if (!t.len || i < t.len || !share || share > MRPC_RULE_SHARE_ALL)
		return rule_expected(&p->in, "a number from 0.0001 to 100, with at most four decimals,");
	p->in.pos += t.len;
	rule->share = cpu_to_le32(share);
	return true;
}

static bool parse_arg(struct parser *p, const struct rule_verb *verb, struct mrpc_rule_rec *rule)
{
	static const struct { const char *name; uint64_t ns; } units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	};
	struct rule_token t;
	const char *start;
	uint64_t arg;
	uint32_t i;

	rule_skip_blanks(&p->in);
	start = p->in.pos;
	if (!rule_count(&p->in, &arg))
		return false;
	t = (struct rule_token){ p->in.pos, 0 };
	while (rule_is_word(t.p[t.len]))
		t.len++;
	if (verb->takes & RULE_TAKES_TIME) {
		for (i = 0; i < ARRAY_SIZE(units); i++)
			if (rule_is(t, units[i].name))
				break;
		if (i == ARRAY_SIZE(units))
			return rule_refuse(&p->in, start, "a time with its unit is expected: ns, us, ms or s");
		if (__builtin_mul_overflow(arg, units[i].ns, &arg))
			return rule_refuse(&p->in, start, "the time is too long");
		p->in.pos += t.len;
	} else if (t.len) {
		return rule_expected(&p->in, "a blank behind the number");
	}
	rule->arg = cpu_to_le64(arg);
	return true;
}

static const struct rule_verb *parse_verb(struct parser *p)
{
	struct rule_token t = rule_peek(&p->in);
	char known[200] = "";
	const struct rule_verb *v;

	for (v = p->verbs; v->name; v++) {
		if (rule_is(t, v->name)) {
			p->in.pos += t.len;
			return v;
		}
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 v == p->verbs ? "" : v[1].name ? ", " : " or ", v->name);
	}
	rule_expected(&p->in, known);
	return NULL;
}

/* What may follow: for the message of a mistake. */
static bool expected_option(struct parser *p, const struct rule_verb *verb)
{
	char what[100];

	snprintf(what, sizeof(what), "%s%s%sif or the rule's end",
		 verb->takes & RULE_TAKES_SHARE ? "percent, " : "",
		 verb->takes & RULE_TAKES_STATUS ? "status, " : "",
		 verb->takes & RULE_TAKES_DETAIL ? "detail, " : "");
	return rule_expected(&p->in, what);
}

static bool parse_options(struct parser *p, const struct rule_verb *verb,
			  struct mrpc_rule_rec *rule, char **detail)
{
	if (verb->takes & (RULE_TAKES_NUMBER | RULE_TAKES_TIME) && !parse_arg(p, verb, rule))
		return false;
	while (!rule_at_end(&p->in) && !rule_is(rule_peek(&p->in), "if")) {
		size_t len;

		if (verb->takes & RULE_TAKES_SHARE && rule_eat(&p->in, "percent")) {
			if (!parse_share(p, rule))
				return false;
		} else if (verb->takes & RULE_TAKES_STATUS && rule_eat(&p->in, "status")) {
			if (!parse_status(p, rule))
				return false;
		} else if (verb->takes & RULE_TAKES_DETAIL && rule_eat(&p->in, "detail")) {
			free(*detail);
			rule_skip_blanks(&p->in);
			*detail = rule_quoted(&p->in, MRPC_MAX_DETAIL, &len);
			if (!*detail)
				return false;
			rule->detail_len = cpu_to_le16(len);
		} else {
			return expected_option(p, verb);
		}
	}
	return true;
}

static bool parse_conds(struct parser *p)
{
	if (!rule_eat(&p->in, "if"))
		return true;
	do {
		if (!parse_cond(p))
			return false;
	} while (rule_eat(&p->in, "and"));
	return rule_at_end(&p->in) || rule_expected(&p->in, "and, or the rule's end");
}

static bool parse_rule(struct parser *p)
{
	struct mrpc_rule_rec rule = { .share = cpu_to_le32(MRPC_RULE_SHARE_ALL) };
	const struct rule_verb *verb;
	char *detail = NULL;
	bool ok;

	if (p->nr_rules == MRPC_RULES_MAX)
		return rule_refuse(&p->in, p->in.pos, "there can be at most %u rules", MRPC_RULES_MAX);
	verb = parse_verb(p);
	if (!verb)
		return false;
	rule.action = cpu_to_le32(verb->action);
	rule.status = cpu_to_le16(verb->status);
	p->conds.len = 0;
	p->nr_conds = 0;
	ok = parse_options(p, verb, &rule, &detail) && parse_conds(p);
	if (ok) {
		rule.nr_conds = cpu_to_le16(p->nr_conds);
		put(&p->rules, &rule, sizeof(rule));
		put(&p->rules, detail, le16_to_cpu(rule.detail_len));
		put(&p->rules, p->conds.p, p->conds.len);
		p->nr_rules++;
	}
	free(detail);
	return ok;
}

static bool parse_rules(struct parser *p)
{
	for (;;) {
		while (rule_at_end(&p->in) && *p->in.pos)
			p->in.pos++;
		if (!*p->in.pos)
			return true;
		if (!parse_rule(p))
			return false;
	}
}

static void *assemble(struct parser *p, size_t *len)
{
	struct mrpc_rules_hdr hdr = {
		.magic = cpu_to_le32(MRPC_RULES_MAGIC),
		.version = cpu_to_le16(MRPC_RULES_VERSION),
		.nr_rules = cpu_to_le16(p->nr_rules),
		.nr_sets = cpu_to_le16(p->nr_sets),
	};
	struct bytes out = { 0 };
	uint32_t i;

	put(&out, &hdr, sizeof(hdr));
	for (i = 0; i < p->nr_sets; i++) {
		struct mrpc_rules_set set = { .name_len = cpu_to_le16(p->set_lens[i]) };

		put(&out, &set, sizeof(set));
		put(&out, p->sets[i], p->set_lens[i]);
	}
	put(&out, p->rules.p, p->rules.len);
	hdr.len = cpu_to_le32(out.len);
	memcpy(out.p, &hdr, sizeof(hdr));
	*len = out.len;
	return out.p;
}

void *rule_text_parse(const char *text, const struct rule_verb *verbs, size_t *len,
		      struct rule_text_error *err)
{
	struct parser p = { .in = { text, text, err }, .verbs = verbs };
	struct mrpc_rules_error why;
	void *binary = NULL;

	if (parse_rules(&p))
		binary = assemble(&p, len);
	free(p.rules.p);
	free(p.conds.p);
	/* The kernel's own check, for what only it knows: UTF-8, and sizes. */
	if (binary && mrpc_rules_size(binary, *len, &why) < 0) {
		*err = (struct rule_text_error){ 0 };
		snprintf(err->what, sizeof(err->what), "rule %u %s (%llu)", why.rule + 1, why.what,
			 (unsigned long long)why.value);
		free(binary);
		binary = NULL;
	}
	return binary;
}
