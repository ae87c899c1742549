// SPDX-License-Identifier: GPL-2.0
/* Rules of engines: names of the actions of each type, and their forms. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/mrpc.h>

#include "cli/util.h"
#include "rules/rules.h"
#include "rules/text.h"
#include "rules/token.h"

#define MAX_TEXT	(4 << 20)

static const struct rule_verb acl_verbs[] = {
	{ "allow", 0 },
	{ "deny", 1, RULE_TAKES_STATUS | RULE_TAKES_DETAIL, MRPC_PERMISSION_DENIED },
	{ }
};

static const struct rule_verb fault_verbs[] = {
	{ "none", 0 },
	{ "abort", 1, RULE_TAKES_STATUS | RULE_TAKES_SHARE },
	{ "delay", 2, RULE_TAKES_TIME | RULE_TAKES_SHARE },
	{ }
};

static const struct rule_verb qos_verbs[] = {
	{ "keep", 0 },
	{ "rank", 1, RULE_TAKES_NUMBER },
	{ "deadline", 2 },
	{ }
};

static const struct rule_verb *verbs_of(const char *type)
{
	if (!strcmp(type, "acl"))
		return acl_verbs;
	if (!strcmp(type, "fault"))
		return fault_verbs;
	if (!strcmp(type, "qos"))
		return qos_verbs;
	return NULL;
}

static bool is_binary(const char *text, size_t len)
{
	return len >= 4 && !memcmp(text, "MRRR", 4);
}

static void *parse(const char *type, const char *name, const char *text, size_t *len)
{
	const struct rule_verb *verbs = verbs_of(type);
	struct rule_text_error err;
	void *binary;

	if (!verbs)
		fail("%s: this command does not know the actions of %s; binary rules are taken", name,
		     type);
	binary = rule_text_parse(text, verbs, len, &err);
	if (!binary)
		fail("%s:%u:%u: %s", name, err.line, err.column, err.what);
	return binary;
}

/* First word after blanks, ends of lines and comments. */
static struct rule_token first_word(const char *text)
{
	struct rule_reader in = { text, text };

	while (rule_at_end(&in) && *in.pos)
		in.pos++;
	return rule_peek(&in);
}

/*
 * Rules begin with an action. Anything else is a file, unless there is no file of this name and a
 * file is unlikely to have it. Then the word is treated as text, and its mistake is shown so.
 */
static bool is_text(const char *type, const char *word)
{
	const struct rule_verb *v = verbs_of(type);
	struct rule_token first = first_word(word);

	for (; v && v->name; v++)
		if (rule_is(first, v->name))
			return true;
	return strcmp(word, "-") && access(word, F_OK) &&
	       (!strchr(word, '/') || strpbrk(word, " \t\n;\""));
}

/**
 * rules_from_word() - make the binary form of rules from the command line
 * @type: of the engine
 * @word: their text, or a file ("-": standard input) with their text or binary form
 * @len: out: its bytes
 *
 * Return: memory to be freed. Does not return on an error.
 */
void *rules_from_word(const char *type, const char *word, size_t *len)
{
	char *text;
	void *binary;

	if (is_text(type, word))
		return parse(type, "rules", word, len);
	text = read_file(word, MAX_TEXT, len);
	if (is_binary(text, *len))
		return text;
	text[*len] = 0;
	if (strlen(text) != *len)
		fail("'%s' is neither text nor rules in binary form", word);
	binary = parse(type, word, text, len);
	free(text);
	return binary;
}

/* As rules_from_word(), for a text that 'config save' wrote. */
void *rules_from_text(const char *type, const char *text, size_t *len)
{
	return parse(type, "rules", text, len);
}

/* The text of a binary form, to be freed; NULL: the type's actions are not known here. */
char *rules_to_text(const char *type, const void *binary, size_t len)
{
	const struct rule_verb *verbs = verbs_of(type);
	struct rule_text_error err;

	return verbs ? rule_text_format(binary, len, verbs, &err) : NULL;
}
