// SPDX-License-Identifier: GPL-2.0
/*
 * What a policy declares: the kernel looks at it too, but can only say that something
 * is wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/util.h"
#include "lib/message/schema.h"
#include "nl/decode.h"
#include "policy/check.h"
#include "policy/object.h"
#include "policy/type.h"

#define MSEC	1000000ULL
#define HOUR	3600000000000ULL

/* Why @word is none, which is at most @size bytes with its NUL, or NULL. */
static char *check_word(const char *what, const char *word, size_t size)
{
	size_t len = strnlen(word, size), i;

	if (!len)
		return text_printf("%s is empty: it must be 1 to %zu characters", what, size - 1);
	if (len == size)
		return text_printf("%s is too long: it must be at most %zu characters", what,
				   size - 1);
	for (i = 0; i < len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_-", word[i]))
			return text_printf("%s '%s' has a character that is none of a-z, 0-9, _ "
					   "and -",
					   what, clean_text(word, len));
	return NULL;
}

static char *check_field(const struct mrpc_policy_decl *decl, int i)
{
	const char *field = decl->fields[i], *path = field, *bracket, *colon, *text;

	if (!memchr(field, 0, MRPC_POLICY_PATH))
		return text_printf("fields[%d] is too long: it must be at most %d characters", i,
				   MRPC_POLICY_PATH - 1);
	text = clean_text(field, strlen(field));
	bracket = strchr(field, '[');
	colon = strchr(field, ':');
	if (colon && (!bracket || colon < bracket)) {	/* one in a map's key is none */
		path = colon + 1;
		if (!mrpc_name_valid(field, colon - field, true))
			return text_printf("fields[%d] '%s': '%.*s' is no name of a type of "
					   "message, as package.Request",
					   i, text, (int)(colon - field), text);
	}
	if (!*path)
		return text_printf("fields[%d] '%s' has no path: like package.Request:user.name",
				   i, text);
	return NULL;
}

static char *check_fields(const struct mrpc_policy_decl *decl)
{
	char *why = NULL;
	int i, gap = -1;

	for (i = 0; i < MRPC_POLICY_FIELDS && !why; i++) {
		if (!*decl->fields[i]) {
			gap = gap < 0 ? i : gap;
			continue;
		}
		if (gap >= 0)
			return text_printf("fields[%d] is given, and fields[%d] is not: they "
					   "must have no gap",
					   i, gap);
		why = check_field(decl, i);
	}
	return why;
}

static char *check_counters(const struct mrpc_policy_decl *decl)
{
	char what[32], *why = NULL;
	int i, gap = -1;

	for (i = 0; i < MRPC_POLICY_COUNTERS && !why; i++) {
		if (!*decl->counters[i]) {
			gap = gap < 0 ? i : gap;
			continue;
		}
		if (gap >= 0)
			return text_printf("counters[%d] is given, and counters[%d] is not: they "
					   "must have no gap",
					   i, gap);
		snprintf(what, sizeof(what), "counters[%d]", i);
		why = check_word(what, decl->counters[i], MRPC_POLICY_COUNTER);
	}
	return why;
}

static char *check_tick(const struct policy *p)
{
	unsigned long long period = p->decl->period;

	if (!policy_has(p, "tick"))
		return period ? text_printf("period is %llu, and there is no tick: it must be 0",
					    period) : NULL;
	if (period >= MSEC && period <= HOUR)
		return NULL;
	return text_printf("period is %llu ns: with a tick it must be %llu (1ms) to %llu (1h)",
			   period, MSEC, HOUR);
}

/**
 * policy_check() - is what a policy declares right?
 * @p: it
 *
 * Return: NULL; or which member is wrong, and what would be right: to be freed.
 */
char *policy_check(const struct policy *p)
{
	const struct mrpc_policy_decl *decl = p->decl;
	char *why = check_word("name", decl->name, MRPC_POLICY_NAME);

	if (why)
		return why;
	if (decl->storage > MRPC_POLICY_STORAGE)
		return text_printf("storage is %u bytes: it must be at most %d", decl->storage,
				   MRPC_POLICY_STORAGE);
	if (decl->budget > p->type->budget)
		return text_printf("budget is %u: it must be at most %u ns", decl->budget,
				   p->type->budget);
	why = p->type->check(p);
	if (!why)
		why = check_tick(p);
	if (!why)
		why = check_fields(decl);
	return why ?: check_counters(decl);
}
