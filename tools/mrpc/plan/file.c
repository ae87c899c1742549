// SPDX-License-Identifier: GPL-2.0
/*
 * mrpc plan: from YAML to a plan. Each error is printed with its place in the file, and with what
 * would be right.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <yaml.h>

#include "cli/util.h"
#include "engine/latency.h"
#include "plan/file.h"
#include "plan/words.h"
#include "mrpcc/sha256.h"
#include "show/print.h"
#include "show/values.h"

#define WITHIN		10000000000	/* ns, the default */

/**
 * struct reading - a file being read
 * @plan: the result
 * @doc: the YAML
 */
struct reading {
	struct plan *plan;
	yaml_document_t doc;
};

void plan_bad(const struct plan *p, struct mark mark, const char *fmt, ...)
{
	va_list ap;
	char *why;

	va_start(ap, fmt);
	if (vasprintf(&why, fmt, ap) < 0)
		fail("out of memory");
	va_end(ap);
	fail("%s:%zu:%zu: %s", p->file, mark.line, mark.column, why);
}

/* -- nodes ---------------------------------------------------------------------------- */

static struct mark mark_of(const yaml_node_t *node)
{
	return (struct mark) { node->start_mark.line + 1, node->start_mark.column + 1 };
}

static yaml_node_t *node_at(struct reading *r, int index)
{
	return yaml_document_get_node(&r->doc, index);
}

static int nr_items(const yaml_node_t *node)
{
	return node->data.sequence.items.top - node->data.sequence.items.start;
}

static yaml_node_t *item_at(struct reading *r, const yaml_node_t *node, int i)
{
	return node_at(r, node->data.sequence.items.start[i]);
}

static int nr_pairs(const yaml_node_t *node)
{
	return node->data.mapping.pairs.top - node->data.mapping.pairs.start;
}

static const char *scalar(struct reading *r, const yaml_node_t *node, const char *what)
{
	if (node->type != YAML_SCALAR_NODE)
		plan_bad(r->plan, mark_of(node), "%s must be a text", what);
	if (strlen((char *)node->data.scalar.value) != node->data.scalar.length)
		plan_bad(r->plan, mark_of(node), "%s has a NUL in it", what);
	return (char *)node->data.scalar.value;
}

static bool is_null(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE &&
	       node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (!node->data.scalar.length || !strcmp((char *)node->data.scalar.value, "~") ||
		!strcmp((char *)node->data.scalar.value, "null"));
}

/* Gets the key and the value of a pair. Does not return if a key is given twice. */
static const char *pair_at(struct reading *r, const yaml_node_t *node, int i, yaml_node_t **key,
			   yaml_node_t **value)
{
	const yaml_node_pair_t *pairs = node->data.mapping.pairs.start;
	const char *name;
	int j;

	*key = node_at(r, pairs[i].key);
	*value = node_at(r, pairs[i].value);
	name = scalar(r, *key, "a key");
	for (j = 0; j < i; j++)
		if (!strcmp(name, scalar(r, node_at(r, pairs[j].key), "a key")))
			plan_bad(r->plan, mark_of(*key), "'%s' is given twice", name);
	return name;
}

static void need_mapping(struct reading *r, const yaml_node_t *node, const char *what)
{
	if (node->type != YAML_MAPPING_NODE)
		plan_bad(r->plan, mark_of(node), "%s must be a mapping, 'key: value'", what);
}

static uint64_t time_of(struct reading *r, const yaml_node_t *node, const char *what)
{
	const char *word = scalar(r, node, what);
	uint64_t value;
	char *why;

	if (!parse_value(word, "ns", &value, &why) || value == UINT64_MAX ||
	    strspn(word, "0123456789.") == strlen(word))
		plan_bad(r->plan, mark_of(node), "%s: '%s' is not a time with its unit, as 10s",
			 what, word);
	return value;
}

static bool bool_of(struct reading *r, const yaml_node_t *node, const char *what)
{
	const char *word = scalar(r, node, what);
	bool yes = !strcmp(word, "yes") || !strcmp(word, "true");

	if (!yes && strcmp(word, "no") && strcmp(word, "false"))
		plan_bad(r->plan, mark_of(node), "%s: '%s' must be yes or no", what, word);
	return yes;
}

/* A text with words, or a list of them. */
static struct command words_of(struct reading *r, const yaml_node_t *node, const char *what)
{
	struct command c = { };
	char *why = NULL;
	int i;

	if (node->type == YAML_SEQUENCE_NODE) {
		for (i = 0; i < nr_items(node); i++)
			words_add(&c, scalar(r, item_at(r, node, i), what));
	} else if (node->type == YAML_MAPPING_NODE) {
		plan_bad(r->plan, mark_of(node),
			 "%s must be a text or a list of words; a text with ': ' in it needs quotes", what);
	} else if (!words_split(scalar(r, node, what), &c, &why)) {
		plan_bad(r->plan, mark_of(node), "%s: %s", what, why);
	}
	return c;
}

/* -- hosts -------------------------------------------------------------------------------- */

static bool is_ssh(const struct host *h)
{
	const char *slash = h->nr_via ? strrchr(h->via[0], '/') : NULL;

	return h->nr_via && !strcmp(slash ? slash + 1 : h->via[0], "ssh");
}

static void read_host(struct reading *r, struct host *h, const yaml_node_t *node)
{
	yaml_node_t *key, *value;
	struct command via;
	bool quote = false;
	int i;

	if (is_null(node))
		return;
	need_mapping(r, node, "a host");
	for (i = 0; i < nr_pairs(node); i++) {
		const char *name = pair_at(r, node, i, &key, &value);

		if (!strcmp(name, "via")) {
			via = words_of(r, value, "via");
			h->via = via.words;
			h->nr_via = via.nr;
		} else if (!strcmp(name, "quote")) {
			h->quote = bool_of(r, value, "quote");
			quote = true;
		} else {
			plan_bad(r->plan, mark_of(key), "a host has no '%s': it must be via or quote",
				 name);
		}
	}
	if (!quote)
		h->quote = is_ssh(h);
}

static void read_hosts(struct reading *r, const yaml_node_t *node)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
	struct plan *p = r->plan;
	yaml_node_t *key, *value;
	int i;

	need_mapping(r, node, "hosts");
	p->hosts = calloc(nr_pairs(node) + 1, sizeof(*p->hosts));
	if (!p->hosts)
		fail("out of memory");
	for (i = 0; i < nr_pairs(node); i++) {
		const char *name = pair_at(r, node, i, &key, &value);
		struct host *h = &p->hosts[p->nr_hosts++];

		if (!*name || strspn(name, letters) != strlen(name))
			plan_bad(p, mark_of(key),
				 "'%s' is not a name: it must have letters, digits or _.-", name);
		h->name = text_printf("%s", name);
		h->mark = mark_of(key);
		read_host(r, h, value);
	}
	if (!p->nr_hosts)
		plan_bad(p, mark_of(node), "there are no hosts; '{ here: }' is the one that this runs on");
}

/* If the plan names no hosts, there is one: the host that it runs on. */
static void default_hosts(struct plan *p)
{
	if (p->hosts)
		return;
	p->hosts = calloc(1, sizeof(*p->hosts));
	if (!p->hosts)
		fail("out of memory");
	p->hosts[0].name = text_printf("here");
	p->nr_hosts = 1;
}

static int host_of(struct reading *r, const yaml_node_t *node)
{
	const char *name = scalar(r, node, "a host");
	int i;

	for (i = 0; i < r->plan->nr_hosts; i++)
		if (!strcmp(r->plan->hosts[i].name, name))
			return i;
	plan_bad(r->plan, mark_of(node), "there is no host '%s' in 'hosts'", name);
}

/* A host, or a list of them. */
static int *hosts_of(struct reading *r, const yaml_node_t *node, int *nr)
{
	bool list = node->type == YAML_SEQUENCE_NODE;
	int *hosts, i, j;

	*nr = list ? nr_items(node) : 1;
	hosts = calloc(*nr + 1, sizeof(*hosts));
	if (!hosts)
		fail("out of memory");
	if (!*nr)
		plan_bad(r->plan, mark_of(node), "there are no hosts in this list");
	for (i = 0; i < *nr; i++) {
		const yaml_node_t *item = list ? item_at(r, node, i) : node;

		hosts[i] = host_of(r, item);
		for (j = 0; j < i; j++)
			if (hosts[j] == hosts[i])
				plan_bad(r->plan, mark_of(item), "'%s' is given twice",
					 r->plan->hosts[hosts[i]].name);
	}
	return hosts;
}

/* -- conditions ----------------------------------------------------------------------------- */

/* "no errors for 5s" */
static void read_quiet(struct reading *r, struct condition *c, const yaml_node_t *node)
{
	static const char start[] = "no errors for ";
	const char *text = scalar(r, node, "a check");
	char *why;

	c->text = text_printf("%s", text);
	if (strncmp(text, start, strlen(start)) ||
	    !parse_value(text + strlen(start), "ns", &c->quiet, &why) || !c->quiet ||
	    c->quiet == UINT64_MAX || strspn(text + strlen(start), "0123456789.") ==
	    strlen(text + strlen(start)))
		plan_bad(r->plan, mark_of(node),
			 "'%s' is not a check: it must be as 'engine show NAME: version == 2' or 'no errors for 5s'",
			 text);
}

/* "counters.calls >= 5" */
static void read_comparison(struct reading *r, struct condition *c, const yaml_node_t *node)
{
	static const char *const ops[] = { "==", "!=", "<=", ">=", "<", ">", NULL };
	const char *text = scalar(r, node, "what a check compares");
	struct command words = { };
	char *why;
	int i = 0;

	if (!words_split(text, &words, &why))
		plan_bad(r->plan, mark_of(node), "%s", why);
	while (words.nr == 3 && ops[i] && strcmp(ops[i], words.words[1]))
		i++;
	if (words.nr != 3 || !ops[i])
		plan_bad(r->plan, mark_of(node),
			 "'%s' is not a comparison: it must be PATH OP VALUE with blanks between, as 'counters.calls >= 5'; OP is ==, !=, <, <=, > or >=",
			 text);
	c->path = words.words[0];
	c->op = words.words[1];
	c->value = words.words[2];
}

static void read_condition(struct reading *r, struct condition *c, const yaml_node_t *node)
{
	yaml_node_t *key, *value;
	const char *name;
	char *why;
	int i;

	c->mark = mark_of(node);
	if (node->type != YAML_MAPPING_NODE) {
		read_quiet(r, c, node);
		return;
	}
	for (i = 0; i < nr_pairs(node); i++) {
		name = pair_at(r, node, i, &key, &value);
		if (!strcmp(name, "on")) {
			c->hosts = hosts_of(r, value, &c->nr_hosts);
			continue;
		}
		if (c->text)
			plan_bad(r->plan, mark_of(key), "each check is an item of its own, with '- ' before it");
		if (!strcmp(name, "rule")) {
			read_quiet(r, c, value);
			continue;
		}
		if (!words_split(name, &c->show, &why) || !words_show(&c->show, &why))
			plan_bad(r->plan, mark_of(key), "%s", why);
		read_comparison(r, c, value);
		c->text = text_printf("%s: %s %s %s", name, c->path, c->op, c->value);
	}
	if (!c->text)
		plan_bad(r->plan, mark_of(node), "nothing is checked here");
}

static void read_checks(struct reading *r, struct step *s, const yaml_node_t *node)
{
	int i, nr = node->type == YAML_SEQUENCE_NODE ? nr_items(node) : 0;

	if (node->type != YAML_SEQUENCE_NODE)
		plan_bad(r->plan, mark_of(node), "check must be a list, each item with '- ' before it");
	s->checks = calloc(nr + 1, sizeof(*s->checks));
	if (!s->checks)
		fail("out of memory");
	s->nr_checks = nr;
	for (i = 0; i < nr; i++)
		read_condition(r, &s->checks[i], item_at(r, node, i));
}

/* -- steps -------------------------------------------------------------------------------------- */

static void read_change(struct reading *r, struct command *c, const yaml_node_t *node,
			const char *what, enum inverse *inverse)
{
	char *why;

	*c = words_of(r, node, what);
	if (!words_change(c, inverse, &why))
		plan_bad(r->plan, mark_of(node), "%s: %s", what, why);
}

static void read_undo(struct reading *r, struct step *s, const yaml_node_t *node)
{
	enum inverse inverse;

	if (node->type == YAML_SCALAR_NODE && !strcmp((char *)node->data.scalar.value, "none"))
		s->no_undo = true;
	else
		read_change(r, &s->undo, node, "undo", &inverse);
}

static void read_rule(struct reading *r, struct step *s, const yaml_node_t *node)
{
	char *why;

	s->abort_if = text_printf("%s", scalar(r, node, "abort-if"));
	why = latency_check(s->abort_if);
	if (why)
		plan_bad(r->plan, mark_of(node), "abort-if: %s", why);
}

static void read_field(struct reading *r, struct step *s, const char *name,
		       const yaml_node_t *key, const yaml_node_t *value, enum inverse *inverse)
{
	if (!strcmp(name, "name")) {
		s->name = text_printf("%s", scalar(r, value, "name"));
	} else if (!strcmp(name, "hosts")) {
		s->hosts = hosts_of(r, value, &s->nr_hosts);
	} else if (!strcmp(name, "run")) {
		s->run_mark = mark_of(value);
		read_change(r, &s->run, value, "run", inverse);
	} else if (!strcmp(name, "undo")) {
		read_undo(r, s, value);
	} else if (!strcmp(name, "check")) {
		read_checks(r, s, value);
	} else if (!strcmp(name, "within")) {
		s->within = time_of(r, value, "within");
	} else if (!strcmp(name, "pause")) {
		s->pause = time_of(r, value, "pause");
	} else if (!strcmp(name, "abort-if")) {
		read_rule(r, s, value);
	} else {
		plan_bad(r->plan, mark_of(key),
			 "a step has no '%s': it must be name, hosts, run, undo, check, within, pause or abort-if",
			 name);
	}
}

/* Checks and defaults that depend on several parts of a step. */
static void complete_step(struct reading *r, struct step *s, enum inverse inverse)
{
	int i;

	if (!s->run.nr)
		plan_bad(r->plan, s->mark, "this step has no 'run'");
	if (!s->hosts && r->plan->nr_hosts != 1)
		plan_bad(r->plan, s->mark, "this step has no 'hosts', and there are %d to choose from",
			 r->plan->nr_hosts);
	if (!s->hosts) {
		s->hosts = calloc(1, sizeof(*s->hosts));
		s->nr_hosts = 1;
	}
	if (inverse == INVERSE_GIVEN && !s->undo.nr && !s->no_undo)
		plan_bad(r->plan, s->run_mark,
			 "what takes '%s %s' back cannot be found out: this step needs 'undo', which can be none",
			 s->run.words[0], s->run.words[1]);
	if (s->abort_if && !s->pause)
		plan_bad(r->plan, s->mark, "abort-if needs 'pause': for so long calls are measured, before and after");
	for (i = 0; i < s->nr_checks; i++) {
		struct condition *c = &s->checks[i];

		if (!c->hosts) {
			c->hosts = s->hosts;
			c->nr_hosts = s->nr_hosts;
		}
		if (s->within && c->quiet > s->within)
			plan_bad(r->plan, c->mark, "'%s' cannot become true within %s", c->text,
				 text_time(s->within));
		if (c->quiet + WITHIN > s->within && !s->within)
			s->within = c->quiet + WITHIN;
	}
	if (!s->within)
		s->within = WITHIN;
	if (!s->name)
		s->name = words_text(&s->run);
}

static void read_step(struct reading *r, struct step *s, const yaml_node_t *node)
{
	enum inverse inverse = INVERSE_NONE;
	yaml_node_t *key, *value;
	const char *name;
	int i;

	s->mark = mark_of(node);
	need_mapping(r, node, "a step");
	for (i = 0; i < nr_pairs(node); i++) {
		name = pair_at(r, node, i, &key, &value);
		read_field(r, s, name, key, value, &inverse);
	}
	complete_step(r, s, inverse);
}

static void read_steps(struct reading *r, const yaml_node_t *node)
{
	struct plan *p = r->plan;
	int i;

	if (node->type != YAML_SEQUENCE_NODE)
		plan_bad(p, mark_of(node), "steps must be a list, each step with '- ' before it");
	p->nr_steps = nr_items(node);
	if (!p->nr_steps)
		plan_bad(p, mark_of(node), "there are no steps");
	p->steps = calloc(p->nr_steps, sizeof(*p->steps));
	if (!p->steps)
		fail("out of memory");
	for (i = 0; i < p->nr_steps; i++)
		read_step(r, &p->steps[i], item_at(r, node, i));
}

/* -- the file ------------------------------------------------------------------------------------ */

static void read_document(struct reading *r)
{
	yaml_node_t *root = yaml_document_get_root_node(&r->doc), *key, *value, *steps = NULL;
	const char *name;
	int i;

	if (!root)
		plan_bad(r->plan, (struct mark) { 1, 1 }, "the file is empty; it must have 'steps'");
	need_mapping(r, root, "a plan");
	for (i = 0; i < nr_pairs(root); i++) {
		name = pair_at(r, root, i, &key, &value);
		if (!strcmp(name, "hosts"))
			read_hosts(r, value);
		else if (!strcmp(name, "steps"))
			steps = value;
		else
			plan_bad(r->plan, mark_of(key), "a plan has no '%s': it must be hosts or steps",
				 name);
	}
	if (!steps)
		plan_bad(r->plan, mark_of(root), "the plan has no 'steps'");
	default_hosts(r->plan);
	read_steps(r, steps);
}

static void parse(struct reading *r, const char *text, size_t len)
{
	struct plan *p = r->plan;
	yaml_document_t more;
	yaml_parser_t parser;
	struct mark mark;

	if (!yaml_parser_initialize(&parser))
		fail("out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (!yaml_parser_load(&parser, &r->doc) ||
	    (yaml_document_get_root_node(&r->doc) && !yaml_parser_load(&parser, &more))) {
		mark = (struct mark) { parser.problem_mark.line + 1, parser.problem_mark.column + 1 };
		plan_bad(p, mark, "this is not YAML: %s%s%s", parser.context ?: "",
			 parser.context ? ", " : "", parser.problem ?: "out of memory");
	}
	if (yaml_document_get_root_node(&r->doc) && yaml_document_get_root_node(&more))
		plan_bad(p, mark_of(yaml_document_get_root_node(&more)), "a file has one plan only");
	yaml_parser_delete(&parser);
}

static void hash_text(struct plan *p, const char *text, size_t len)
{
	uint8_t hash[SHA256_LEN];
	int i;

	sha256(text, len, hash);
	for (i = 0; i < SHA256_LEN; i++)
		sprintf(p->hash + 2 * i, "%02x", hash[i]);
}

/**
 * plan_lock() - keep other commands from a plan, until this process ends
 * @file: its name
 *
 * Return: 0, or a negative errno: the file cannot be opened.
 */
int plan_lock(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB))
		fail("another command works on '%s' at this moment", file);
	return 0;	/* stays open */
}

/**
 * plan_read() - read a plan and lock its file
 * @file: its name
 *
 * Does not return if the plan is wrong, or another command works on it.
 */
struct plan *plan_read(const char *file)
{
	struct plan *p = calloc(1, sizeof(*p));
	struct reading r = { .plan = p };
	size_t len;
	char *text;
	int err;

	if (!p)
		fail("out of memory");
	p->file = file;
	err = plan_lock(file);
	if (err)
		fail("cannot open '%s': %s", file, strerror(-err));
	text = read_file(file, PLAN_FILE_MAX, &len);
	hash_text(p, text, len);
	parse(&r, text, len);
	read_document(&r);
	yaml_document_delete(&r.doc);
	free(text);
	return p;
}
