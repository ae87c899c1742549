// SPDX-License-Identifier: GPL-2.0
/* mrpc plan: commands as words, and which ones a plan may have. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/util.h"
#include "plan/words.h"

void words_add(struct command *c, const char *word)
{
	c->words = realloc(c->words, (c->nr + 2) * sizeof(*c->words));
	if (!c->words)
		fail("out of memory");
	c->words[c->nr++] = text_printf("%s", word);
	c->words[c->nr] = NULL;
}

/* Words up to a NULL. */
struct command command(const char *word, ...)
{
	struct command c = { };
	va_list ap;

	va_start(ap, word);
	for (; word; word = va_arg(ap, const char *))
		words_add(&c, word);
	va_end(ap);
	return c;
}

/* The end of a word that begins at @text; quotes in it are left out of @to. */
static const char *one_word(const char *text, char *to, char **why)
{
	const char *end;

	while (*text && !strchr(" \t\n", *text)) {
		if (*text != '\'' && *text != '"') {
			*to++ = *text++;
			continue;
		}
		end = strchr(text + 1, *text);
		if (!end) {
			*why = text_printf("the quote %c has no end", *text);
			return NULL;
		}
		memcpy(to, text + 1, end - text - 1);
		to += end - text - 1;
		text = end + 1;
	}
	*to = 0;
	return text;
}

/**
 * words_split() - words with blanks between; in quotes blanks are part of a word
 * @text: the words
 * @c: gets them
 * @why: out, on failure
 *
 * There is no shell: nothing else means something special.
 */
bool words_split(const char *text, struct command *c, char **why)
{
	char *word = malloc(strlen(text) + 1);

	if (!word)
		fail("out of memory");
	for (;;) {
		text += strspn(text, " \t\n");
		if (!*text)
			break;
		text = one_word(text, word, why);
		if (!text)
			break;
		words_add(c, word);
	}
	free(word);
	return text;
}

/* A word as words_split() takes it; of two kinds of quotes the other one goes around. */
static void print_word(FILE *out, const char *word)
{
	bool plain = *word && !strpbrk(word, " \t\n'\"");
	char quote = strchr(word, '\'') && !strchr(word, '"') ? '"' : '\'';

	if (plain) {
		fputs(word, out);
		return;
	}
	putc(quote, out);
	for (; *word; word++) {
		if (*word == quote)
			fputs("'\"'\"'", out);
		else
			putc(*word, out);
	}
	putc(quote, out);
}

/* Words as words_split() takes them. */
char *words_text(const struct command *c)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_text(&text, &len);
	int i;

	for (i = 0; i < c->nr; i++) {
		if (i)
			putc(' ', out);
		print_word(out, c->words[i]);
	}
	fclose(out);
	return text;
}

struct json_object *words_json(const struct command *c)
{
	struct json_object *array = json_object_new_array();
	int i;

	for (i = 0; i < c->nr; i++)
		json_object_array_add(array, json_object_new_string(c->words[i]));
	return array;
}

struct command words_from_json(struct json_object *array)
{
	struct command c = { };
	size_t i;

	for (i = 0; array && i < json_object_array_length(array); i++)
		words_add(&c, json_object_get_string(json_object_array_get_idx(array, i)));
	return c;
}

/* -- which commands ------------------------------------------------------------------ */

static const struct {
	const char *object;
	const char *command;
	enum inverse inverse;
	int least;		/* words */
} changes[] = {
	{ "engine", "add", INVERSE_ADD, 3 },
	{ "engine", "set", INVERSE_SET, 5 },
	{ "engine", "replace", INVERSE_REPLACE, 4 },
	{ "engine", "del", INVERSE_DEL, 3 },
	{ "engine", "step", INVERSE_GIVEN, 4 },
	{ "queue", "pause", INVERSE_PAUSE, 3 },
	{ "queue", "resume", INVERSE_RESUME, 3 },
	{ "runtime", "add", INVERSE_RUNTIME_ADD, 3 },
	{ "runtime", "set", INVERSE_RUNTIME_SET, 5 },
	{ "runtime", "del", INVERSE_RUNTIME_DEL, 3 },
	{ "egress", "set", INVERSE_EGRESS_SET, 3 },
	{ "egress", "del", INVERSE_EGRESS_DEL, 3 },
	{ "egress", "pause", INVERSE_EGRESS_HOLD, 3 },
	{ "egress", "resume", INVERSE_EGRESS_HOLD, 3 },
	{ "set", "create", INVERSE_CREATE, 3 },
	{ "set", "destroy", INVERSE_GIVEN, 3 },
	{ "set", "add", INVERSE_GIVEN, 4 },
	{ "set", "del", INVERSE_GIVEN, 4 },
	{ "set", "load", INVERSE_GIVEN, 4 },
	{ "set", "flush", INVERSE_GIVEN, 3 },
	{ "config", "restore", INVERSE_GIVEN, 3 },
	{ "schema", "load", INVERSE_NONE, 3 },
	{ }
};

static char *list_changes(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_text(&text, &len);
	int i;

	for (i = 0; changes[i].object; i++) {
		if (!i || strcmp(changes[i].object, changes[i - 1].object))
			fprintf(out, "%s%s ", i ? ", " : "", changes[i].object);
		else
			putc('|', out);
		fputs(changes[i].command, out);
	}
	fclose(out);
	return text;
}

/**
 * words_change() - is this a command that changes something?
 * @c: the command
 * @inverse: out: how it is taken back
 * @why: out, on failure: what would be right
 */
bool words_change(const struct command *c, enum inverse *inverse, char **why)
{
	int i;

	for (i = 0; changes[i].object; i++) {
		if (c->nr < 2 || strcmp(c->words[0], changes[i].object) ||
		    strcmp(c->words[1], changes[i].command))
			continue;
		*inverse = changes[i].inverse;
		if (c->nr >= changes[i].least)
			return true;
		*why = text_printf("'%s %s' is not complete; 'mrpc help %s' says what it takes",
				   c->words[0], c->words[1], c->words[0]);
		return false;
	}
	*why = text_printf("'%s%s%s' is not a change: it must be, in full words, one of %s",
			   c->nr ? c->words[0] : "", c->nr > 1 ? " " : "", c->nr > 1 ? c->words[1] : "",
			   list_changes());
	return false;
}

/* Is this a command that only shows something? */
bool words_show(const struct command *c, char **why)
{
	static const char *const objects[] = {
		"session", "qp", "conn", "service", "schema", "datapath", "engine", "queue",
		"runtime", "egress", "set"
	};
	size_t i;

	for (i = 0; c->nr && i < sizeof(objects) / sizeof(*objects); i++)
		if (!strcmp(c->words[0], objects[i]) && (c->nr == 1 || !strcmp(c->words[1], "show")))
			return true;
	*why = text_printf("'%s%s%s' shows nothing: it must be, in full words, OBJECT or OBJECT show ..., as 'engine show NAME'",
			   c->nr ? c->words[0] : "", c->nr > 1 ? " " : "", c->nr > 1 ? c->words[1] : "");
	return false;
}
