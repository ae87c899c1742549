// SPDX-License-Identifier: GPL-2.0
/*
 * Rules: the binary form and its verification; see rule.h for the contract,
 * lib/rule/bind.c for what becomes of it for a method, lib/rule/eval.c for the use.
 */
#include "lib/rule/cond.h"
#include "lib/message/utf8.h"

/*
 * The form is walked twice: once to count, with @rules NULL, and once to fill.
 * Both check everything.
 */
struct rules_reader {
	struct mrpc_rules_error *err;
	const u8 *buf;
	u32 len;
	u32 pos;
	u32 nr_rules;
	u32 nr_sets;
	u32 nr_conds;
	u32 names_len;
	u64 sets_used;
	struct mrpc_rules *out;
	struct mrpc_rule *rules;
	struct mrpc_cond *conds;
	char *names;
};

static int rules_refuse(struct rules_reader *r, u64 value, const char *what)
{
	r->err->what = what;
	r->err->value = value;
	return -EINVAL;
}

/* The next @len bytes and their padding, or NULL. */
static const u8 *rules_take(struct rules_reader *r, u32 len)
{
	const u8 *p = r->buf + r->pos;
	u32 room = ALIGN(len, 8), i;

	if (room > r->len - r->pos) {
		rules_refuse(r, r->len, "ends within a record");
		return NULL;
	}
	for (i = len; i < room; i++) {
		if (!p[i])
			continue;
		rules_refuse(r, r->pos + i, "has padding that is not zero");
		return NULL;
	}
	r->pos += room;
	return p;
}

/* -- sets ------------------------------------------------------------------- */

static bool rules_set_name_valid(const u8 *name, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++) {
		u8 ch = name[i];

		if (!((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
		      (ch >= '0' && ch <= '9') || ch == '_' || ch == '-' || ch == '.'))
			return false;
	}
	return len && len <= MRPC_RULES_SET_NAME;
}

/* The names of sets before: where the first one's record was is the header's end. */
static bool rules_set_known(const struct rules_reader *r, u32 before, const u8 *name, u32 len)
{
	u32 pos = sizeof(struct mrpc_rules_hdr);

	while (before--) {
		u32 have = get_unaligned_le16(r->buf + pos);

		if (have == len && !memcmp(r->buf + pos + sizeof(struct mrpc_rules_set), name, len))
			return true;
		pos += sizeof(struct mrpc_rules_set) + ALIGN(have, 8);
	}
	return false;
}

static int rules_set(struct rules_reader *r, u32 index)
{
	struct mrpc_rules_set rec;
	const u8 *p = rules_take(r, sizeof(rec));
	u32 len;

	if (!p)
		return -EINVAL;
	memcpy(&rec, p, sizeof(rec));
	len = le16_to_cpu(rec.name_len);
	if (rec.resv[0] || rec.resv[1] || rec.resv[2])
		return rules_refuse(r, index, "has a set with reserved bytes that are not zero");
	p = rules_take(r, len);
	if (!p)
		return -EINVAL;
	if (!rules_set_name_valid(p, len))
		return rules_refuse(r, index, "has a set whose name is none");
	if (rules_set_known(r, index, p, len))
		return rules_refuse(r, index, "has a set whose name another one has");
	if (r->out) {
		char *name = r->names + r->names_len;

		memcpy(name, p, len);
		name[len] = 0;
		r->out->sets[index] = NULL;
		r->out->set_names[index] = name;
	}
	r->names_len += len + 1;
	return 0;
}

/* -- conditions ------------------------------------------------------------- */

static const u8 rules_ops[MRPC_COND_MAX + 1] = {
	[MRPC_COND_SERVICE] = BIT(MRPC_MATCH_EQUAL),
	[MRPC_COND_METHOD] = BIT(MRPC_MATCH_EQUAL) | BIT(MRPC_MATCH_PREFIX),
	[MRPC_COND_PEER] = BIT(MRPC_MATCH_NET),
	[MRPC_COND_PORT] = BIT(MRPC_MATCH_RANGE),
	[MRPC_COND_UID] = BIT(MRPC_MATCH_RANGE),
	[MRPC_COND_CGROUP] = BIT(MRPC_MATCH_RANGE),
	[MRPC_COND_KIND] = BIT(MRPC_MATCH_RANGE),
	[MRPC_COND_SIZE] = BIT(MRPC_MATCH_RANGE),
	[MRPC_COND_META] = BIT(MRPC_MATCH_PRESENT) | BIT(MRPC_MATCH_EQUAL) |
			   BIT(MRPC_MATCH_PREFIX) | BIT(MRPC_MATCH_IN),
	[MRPC_COND_FIELD] = BIT(MRPC_MATCH_PRESENT) | BIT(MRPC_MATCH_EQUAL) |
			    BIT(MRPC_MATCH_PREFIX) | BIT(MRPC_MATCH_RANGE) |
			    BIT(MRPC_MATCH_DOUBLES) | BIT(MRPC_MATCH_IN),
	[MRPC_COND_IDENTITY] = BIT(MRPC_MATCH_PRESENT) | BIT(MRPC_MATCH_EQUAL) |
			       BIT(MRPC_MATCH_PREFIX) | BIT(MRPC_MATCH_IN),
};

/* What is not a name can be no method's, and could not be written as text. */
static bool rules_is_name(const struct mrpc_cond *c)
{
	if (c->op == MRPC_MATCH_PREFIX && !c->value_len)
		return true;
	return mrpc_name_valid((const char *)c->value, c->value_len,
			       c->what == MRPC_COND_SERVICE);
}

static bool rules_is_key(const struct mrpc_cond *c)
{
	u32 i;

	for (i = 0; i < c->name_len; i++) {
		char ch = c->name[i];

		if (!((ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') ||
		      ch == '.' || ch == '_' || ch == '-'))
			return false;
	}
	return true;
}

/* Is number a (with its sign) above b? */
static bool rules_above(u64 a, bool a_neg, u64 b, bool b_neg)
{
	return a_neg == b_neg ? a > b : b_neg;
}

static int rules_range(struct rules_reader *r, const struct mrpc_cond *c)
{
	bool doubles = c->op == MRPC_MATCH_DOUBLES;
	struct mrpc_cond_range range;
	u64 from, to;
	u32 flags;

	if (c->value_len != sizeof(range))
		return rules_refuse(r, c->value_len, "has a range of another size");
	memcpy(&range, c->value, sizeof(range));
	from = le64_to_cpu(range.from);
	to = le64_to_cpu(range.to);
	flags = le32_to_cpu(range.flags);
	if (flags & ~(MRPC_RANGE_FROM | MRPC_RANGE_TO | MRPC_RANGE_FROM_NEG | MRPC_RANGE_TO_NEG) ||
	    range.resv)
		return rules_refuse(r, flags, "has a range with unknown flags");
	if ((!(flags & MRPC_RANGE_FROM) && (from || flags & MRPC_RANGE_FROM_NEG)) ||
	    (!(flags & MRPC_RANGE_TO) && (to || flags & MRPC_RANGE_TO_NEG)))
		return rules_refuse(r, flags, "has a range with a value at its open end");
	if (!(flags & (MRPC_RANGE_FROM | MRPC_RANGE_TO)))
		return rules_refuse(r, flags, "has a range that is open at both ends");
	if (c->what != MRPC_COND_FIELD && flags & (MRPC_RANGE_FROM_NEG | MRPC_RANGE_TO_NEG))
		return rules_refuse(r, flags, "has a negative range for what never is");
	if (c->what == MRPC_COND_KIND &&
	    (flags != (MRPC_RANGE_FROM | MRPC_RANGE_TO) || from != to || from > MRPC_RULE_REPLY))
		return rules_refuse(r, from, "is about a kind of message that does not exist");
	if (doubles) {
		if (flags & (MRPC_RANGE_FROM_NEG | MRPC_RANGE_TO_NEG))
			return rules_refuse(r, flags, "has a range of doubles with signs beside");
		if ((from & ~RULE_DOUBLE_SIGN) > RULE_DOUBLE_INF ||
		    (to & ~RULE_DOUBLE_SIGN) > RULE_DOUBLE_INF)
			return rules_refuse(r, from, "has a range that ends at no number");
		/* Zero is one number, whatever its sign. */
		from = rule_double_order(from == RULE_DOUBLE_SIGN ? 0 : from);
		to = rule_double_order(to == RULE_DOUBLE_SIGN ? 0 : to);
	} else if ((flags & MRPC_RANGE_FROM_NEG && !(from >> 63)) ||
		   (flags & MRPC_RANGE_TO_NEG && !(to >> 63))) {
		return rules_refuse(r, from, "has a range with a negative end that is not");
	}
	if (flags & MRPC_RANGE_FROM && flags & MRPC_RANGE_TO &&
	    rules_above(from, flags & MRPC_RANGE_FROM_NEG, to, flags & MRPC_RANGE_TO_NEG))
		return rules_refuse(r, from, "has a range that starts behind its end");
	return 0;
}

static int rules_net(struct rules_reader *r, const struct mrpc_cond *c)
{
	static const u8 zero[6];
	struct mrpc_cond_net net;
	u32 bit;

	if (c->value_len != sizeof(net))
		return rules_refuse(r, c->value_len, "has a network of another size");
	memcpy(&net, c->value, sizeof(net));
	if ((net.version != 4 && net.version != 6) || memcmp(net.resv, zero, sizeof(net.resv)))
		return rules_refuse(r, net.version, "has a network of an unknown version");
	if (net.prefix > (net.version == 4 ? 32 : 128))
		return rules_refuse(r, net.prefix, "has a network with a prefix of too many bits");
	for (bit = net.prefix; bit < 128; bit++)
		if (net.addr[bit / 8] & 0x80 >> bit % 8)
			return rules_refuse(r, net.prefix,
					    "has a network with bits behind its prefix");
	return 0;
}

static int rules_value(struct rules_reader *r, struct mrpc_cond *c)
{
	u32 set;

	switch (c->op) {
	case MRPC_MATCH_PRESENT:
		return c->value_len ? rules_refuse(r, c->value_len, "has a value that is not used") : 0;
	case MRPC_MATCH_EQUAL:
	case MRPC_MATCH_PREFIX:
		if (c->value_len > MRPC_RULE_MAX_VALUE)
			return rules_refuse(r, c->value_len, "has a value that is too long");
		if ((c->what == MRPC_COND_SERVICE || c->what == MRPC_COND_METHOD) &&
		    !rules_is_name(c))
			return rules_refuse(r, c->value_len, "has a value that is not a name");
		return 0;
	case MRPC_MATCH_RANGE:
	case MRPC_MATCH_DOUBLES:
		return rules_range(r, c);
	case MRPC_MATCH_NET:
		return rules_net(r, c);
	default:	/* MRPC_MATCH_IN */
		if (c->value_len != sizeof(__le32))
			return rules_refuse(r, c->value_len, "has the number of a set in another size");
		set = get_unaligned_le32(c->value);
		if (set >= r->nr_sets)
			return rules_refuse(r, set, "names a set that does not exist");
		r->sets_used |= 1ULL << set;
		c->set = set;
		return 0;
	}
}

static int rules_cond(struct rules_reader *r)
{
	struct mrpc_cond_rec rec;
	const u8 *p = rules_take(r, sizeof(rec));
	struct mrpc_cond c = { 0 };
	u32 name_max = 0;
	int ret;

	if (!p)
		return -EINVAL;
	memcpy(&rec, p, sizeof(rec));
	if (!rec.what || rec.what > MRPC_COND_MAX)
		return rules_refuse(r, rec.what, "is about something unknown");
	if (!rec.op || rec.op > MRPC_MATCH_MAX || !(rules_ops[rec.what] & BIT(rec.op)))
		return rules_refuse(r, rec.op, "has an operator that it cannot have");
	if (rec.resv)
		return rules_refuse(r, le16_to_cpu(rec.resv), "has reserved bytes that are not zero");
	c.what = rec.what;
	c.op = rec.op;
	c.name_len = le16_to_cpu(rec.name_len);
	c.value_len = le16_to_cpu(rec.value_len);
	if (c.what == MRPC_COND_META)
		name_max = MRPC_RULE_MAX_KEY;
	else if (c.what == MRPC_COND_FIELD)
		name_max = MRPC_PATH_MAX_TEXT;
	if (c.name_len > name_max || (name_max && !c.name_len))
		return rules_refuse(r, c.name_len, "has a name of a length that it cannot have");
	p = rules_take(r, c.name_len);
	c.name = (const char *)p;
	if (p)
		p = rules_take(r, c.value_len);
	if (!p)
		return -EINVAL;
	c.value = p;
	if (c.what == MRPC_COND_META && !rules_is_key(&c))
		return rules_refuse(r, c.name_len, "has a name that is not a metadata key");
	ret = rules_value(r, &c);
	if (!ret && r->out)
		r->conds[r->nr_conds] = c;
	r->nr_conds++;
	return ret;
}

/* -- rules ------------------------------------------------------------------ */

static int rules_rule(struct rules_reader *r, u32 index)
{
	struct mrpc_rule_rec rec;
	const u8 *p = rules_take(r, sizeof(rec));
	struct mrpc_rule rule;
	int ret = 0;
	u32 i;

	if (!p)
		return -EINVAL;
	memcpy(&rec, p, sizeof(rec));
	rule = (struct mrpc_rule){
		.action = le32_to_cpu(rec.action),
		.share = le32_to_cpu(rec.share),
		.arg = le64_to_cpu(rec.arg),
		.status = le16_to_cpu(rec.status),
		.detail_len = le16_to_cpu(rec.detail_len),
		.nr_conds = le16_to_cpu(rec.nr_conds),
		.first_cond = r->nr_conds,
	};
	if (rec.resv)
		return rules_refuse(r, le16_to_cpu(rec.resv), "has reserved bytes that are not zero");
	if (!rule.share || rule.share > MRPC_RULE_SHARE_ALL)
		return rules_refuse(r, rule.share, "has a share that is not 1 to 1000000");
	if (rule.status > MRPC_STATUS_MAX)
		return rules_refuse(r, rule.status, "has a status that does not exist");
	if (rule.nr_conds > MRPC_RULE_MAX_CONDS)
		return rules_refuse(r, rule.nr_conds, "has more conditions than a rule may");
	if (rule.detail_len > MRPC_MAX_DETAIL)
		return rules_refuse(r, rule.detail_len, "has a detail that is too long");
	p = rules_take(r, rule.detail_len);
	if (!p)
		return -EINVAL;
	if (!mrpc_utf8_valid(p, rule.detail_len))
		return rules_refuse(r, rule.detail_len, "has a detail that is not UTF-8");
	rule.detail = (const char *)p;
	if (r->out)
		r->rules[index] = rule;
	for (i = 0; i < rule.nr_conds && !ret; i++) {
		r->err->cond = i;
		ret = rules_cond(r);
	}
	if (!ret)
		r->err->cond = U32_MAX;
	return ret;
}

static int rules_header(struct rules_reader *r)
{
	struct mrpc_rules_hdr hdr;

	*r->err = (struct mrpc_rules_error){ .rule = U32_MAX, .cond = U32_MAX };
	if (r->len < sizeof(hdr))
		return rules_refuse(r, r->len, "is shorter than a header");
	memcpy(&hdr, r->buf, sizeof(hdr));
	if (le32_to_cpu(hdr.magic) != MRPC_RULES_MAGIC)
		return rules_refuse(r, le32_to_cpu(hdr.magic), "has another magic number");
	if (le16_to_cpu(hdr.version) != MRPC_RULES_VERSION)
		return rules_refuse(r, le16_to_cpu(hdr.version), "has another version");
	if (hdr.flags)
		return rules_refuse(r, le16_to_cpu(hdr.flags), "has unknown flags");
	if (le32_to_cpu(hdr.len) != r->len || !IS_ALIGNED(r->len, 8))
		return rules_refuse(r, le32_to_cpu(hdr.len), "has another length than it says");
	r->nr_rules = le16_to_cpu(hdr.nr_rules);
	r->nr_sets = le16_to_cpu(hdr.nr_sets);
	r->pos = sizeof(hdr);
	if (r->nr_rules <= MRPC_RULES_MAX && r->nr_sets <= MRPC_RULES_MAX_SETS)
		return 0;
	rules_refuse(r, max(r->nr_rules, r->nr_sets), "has more rules or sets than it may");
	return -E2BIG;
}

static int rules_read(struct rules_reader *r)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < r->nr_sets && !ret; i++)
		ret = rules_set(r, i);
	for (i = 0; i < r->nr_rules && !ret; i++) {
		r->err->rule = i;
		ret = rules_rule(r, i);
	}
	if (ret)
		return ret;
	r->err->rule = U32_MAX;
	if (r->pos != r->len)
		return rules_refuse(r, r->pos, "goes on after the last rule");
	for (i = 0; i < r->nr_sets; i++)
		if (!(r->sets_used >> i & 1))
			return rules_refuse(r, i, "has a set that no rule refers to");
	return 0;
}

/* -- the compiled form ------------------------------------------------------ */

struct rules_places {
	size_t rules;
	size_t conds;
	size_t paths;
	size_t sets;
	size_t set_names;
	size_t binary;
	size_t names;
	size_t end;
};

static void rules_places(const struct rules_reader *r, struct rules_places *at)
{
	at->rules = ALIGN(sizeof(struct mrpc_rules), 8);
	at->conds = at->rules + r->nr_rules * sizeof(struct mrpc_rule);
	at->paths = at->conds + r->nr_conds * sizeof(struct mrpc_cond);
	at->sets = at->paths + r->nr_conds * sizeof(void *);
	at->set_names = at->sets + r->nr_sets * sizeof(void *);
	at->binary = ALIGN(at->set_names + r->nr_sets * sizeof(void *), 8);
	at->names = at->binary + r->len;
	at->end = at->names + r->names_len;
}

/* -- paths ------------------------------------------------------------------ */

static int rules_path_order(const struct mrpc_cond *a, const struct mrpc_cond *b)
{
	if (a->name_len != b->name_len)
		return a->name_len < b->name_len ? -1 : 1;
	return memcmp(a->name, b->name, a->name_len);
}

static void rules_path_sift(struct mrpc_cond **heap, u32 root, u32 n)
{
	struct mrpc_cond *moved = heap[root];
	u32 child;

	while ((child = 2 * root + 1) < n) {
		if (child + 1 < n && rules_path_order(heap[child], heap[child + 1]) < 0)
			child++;
		if (rules_path_order(moved, heap[child]) >= 0)
			break;
		heap[root] = heap[child];
		root = child;
	}
	heap[root] = moved;
}

/* Numbers the different paths: each is compiled once, however many conditions have it. */
static void rules_paths(struct mrpc_rules *rules, struct mrpc_cond *conds)
{
	struct mrpc_cond **heap = (struct mrpc_cond **)rules->paths;
	u32 n = 0, i;

	for (i = 0; i < rules->nr_conds; i++)
		if (conds[i].what == MRPC_COND_FIELD)
			heap[n++] = &conds[i];
	for (i = n / 2; i-- > 0;)
		rules_path_sift(heap, i, n);
	for (i = n; i-- > 1;) {
		struct mrpc_cond *largest = heap[0];

		heap[0] = heap[i];
		heap[i] = largest;
		rules_path_sift(heap, 0, i);
	}
	for (i = 0; i < n; i++) {
		struct mrpc_cond *c = heap[i];

		if (!i || rules_path_order(heap[rules->nr_paths - 1], c))
			heap[rules->nr_paths++] = c;
		c->path = rules->nr_paths - 1;
	}
}

/* Counts; at the end @r is as after the header. */
static int rules_count(struct rules_reader *r, struct rules_places *at)
{
	u32 start;
	int ret;

	ret = rules_header(r);
	start = r->pos;
	if (!ret)
		ret = rules_read(r);
	if (ret)
		return ret;
	rules_places(r, at);
	r->pos = start;
	r->nr_conds = 0;
	r->names_len = 0;
	return 0;
}

/* Checks the whole, and says where everything will be. */
static int rules_open(struct rules_reader *r, struct rules_places *at)
{
	*r->err = (struct mrpc_rules_error){ .rule = U32_MAX, .cond = U32_MAX };
	if (r->len > MRPC_RULES_MAX_LEN) {
		rules_refuse(r, r->len, "is longer than rules may be");
		return -E2BIG;
	}
	return rules_count(r, at);
}

s64 mrpc_rules_size(const void *buf, size_t len, struct mrpc_rules_error *err)
{
	struct rules_reader r = { .err = err, .buf = buf, .len = len };
	struct rules_places at;
	int ret = rules_open(&r, &at);

	return ret ? ret : (s64)at.end;
}

int mrpc_rules_compile(const void *buf, size_t len, void *mem, size_t mem_len,
		       struct mrpc_rules_error *err)
{
	struct rules_reader r = { .err = err, .buf = buf, .len = len };
	struct mrpc_rules *rules = mem;
	struct rules_places at;
	int ret = rules_open(&r, &at);

	if (ret)
		return ret;
	if (mem_len < at.end) {
		rules_refuse(&r, mem_len, "needs more memory than there is");
		return -E2BIG;
	}
	/* The second time, the copy is read: conditions point into it. */
	memcpy(mem + at.binary, buf, len);
	r.buf = mem + at.binary;
	r.rules = mem + at.rules;
	r.conds = mem + at.conds;
	r.names = mem + at.names;
	r.out = rules;
	rules->nr_rules = r.nr_rules;
	rules->nr_sets = r.nr_sets;
	rules->rules = r.rules;
	rules->conds = r.conds;
	rules->sets = mem + at.sets;
	rules->set_names = mem + at.set_names;
	rules->binary = r.buf;
	rules->binary_len = len;
	ret = rules_read(&r);
	rules->nr_conds = r.nr_conds;
	rules->paths = mem + at.paths;
	rules->nr_paths = 0;
	if (!ret)
		rules_paths(rules, r.conds);
	return ret;
}

void mrpc_rules_set_put(struct mrpc_rules *rules, u32 index, const struct mrpc_set *set)
{
	/* Readers follow the pointer: that orders what they read after it. */
	smp_store_release(&rules->sets[index], set);
}
