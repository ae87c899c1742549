// SPDX-License-Identifier: GPL-2.0
/*
 * Words of the command line. As with ip, a word may be shortened as long as it
 * is clear which one is meant.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/util.h"
#include "cli/words.h"

static bool is_listed(const struct word *w, const char *text)
{
	return !text || (!w->whole && !strncmp(w->name, text, strlen(text)));
}

/* "a, b or c", of all words or of those that @text can be short for */
static char *list_words(const struct word *words, const char *text)
{
	const struct word *w, *last = NULL;
	char *list = NULL;
	size_t len = 0, nr = 0;
	FILE *out = open_text(&list, &len);

	for (w = words; w->name; w++)
		if (is_listed(w, text))
			last = w;
	for (w = words; w->name; w++)
		if (is_listed(w, text))
			fprintf(out, "%s%s", !nr++ ? "" : w == last ? " or " : ", ", w->name);
	fclose(out);
	return list;
}

/**
 * find_word() - which word is meant
 * @words: those that are possible here
 * @text: what was typed
 * @what: what is looked for, as in "an object"
 *
 * Does not return if there is none, or more than one.
 */
const struct word *find_word(const struct word *words, const char *text, const char *what)
{
	const struct word *w, *found = NULL;
	int nr = 0;

	for (w = words; w->name; w++) {
		if (!strcmp(w->name, text) || (w->also && !strcmp(w->also, text)))
			return w;
		if (*text && !w->whole && (!strncmp(w->name, text, strlen(text)) ||
			      (w->also && !strncmp(w->also, text, strlen(text))))) {
			found = w;
			nr++;
		}
	}
	if (nr == 1)
		return found;
	if (nr)
		usage("'%s' can be %s", text, list_words(words, text));
	usage("'%s' is not %s: it must be %s", text, what, list_words(words, NULL));
}

const char *peek_word(const struct args *args)
{
	return args->nr ? args->words[0] : NULL;
}

const char *next_word(struct args *args)
{
	if (!args->nr)
		return NULL;
	args->nr--;
	return *args->words++;
}

const char *need_word(struct args *args, const char *what)
{
	const char *word = next_word(args);

	if (!word)
		usage("%s is missing", what);
	return word;
}

uint32_t need_number(struct args *args, const char *what)
{
	const char *word = need_word(args, what);
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(word, &end, 10);
	if (*word < '0' || *word > '9' || *end)
		usage("'%s' is not %s: it must be a number", word, what);
	if (errno || value > UINT32_MAX)
		usage("'%s' is not %s: the largest number is %u", word, what, UINT32_MAX);
	return value;
}

/* The number after @what of something that the kernel numbers. */
uint32_t need_id(struct args *args, const char *what)
{
	uint32_t id = need_number(args, text_printf("the number after '%s'", what));

	if (!id)
		usage("numbers after '%s' begin at 1", what);
	return id;
}

void no_more_words(const struct args *args)
{
	if (args->nr)
		usage("'%s' is one word too many", args->words[0]);
}

bool is_help(const char *text)
{
	return text && (!strcmp(text, "help") || !strcmp(text, "-h") || !strcmp(text, "--help"));
}
