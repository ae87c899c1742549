/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules as people write them, and the binary form of kmod/lib/rule/rule.h. The
 * grammar is in Documentation/rules.rst.
 */
#ifndef MRPC_RULE_TEXT_H
#define MRPC_RULE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define RULE_TAKES_STATUS	1	/* status NAME */
#define RULE_TAKES_DETAIL	2	/* detail "TEXT" */
#define RULE_TAKES_SHARE	4	/* percent NUMBER */
#define RULE_TAKES_NUMBER	8	/* a number behind the name: arg */
#define RULE_TAKES_TIME		16	/* a time behind the name: arg, in ns */

/**
 * struct rule_verb - an action of an engine; an array ends with a NULL name
 * @name: the word
 * @action: for the binary form
 * @takes: RULE_TAKES_*
 * @status: when none is given
 */
struct rule_verb {
	const char *name;
	uint32_t action;
	uint32_t takes;
	uint16_t status;
};

/**
 * struct rule_text_error - where and why a text was refused
 * @line: from 1
 * @column: from 1, in bytes
 * @what: what was found and what would be right
 */
struct rule_text_error {
	unsigned int line;
	unsigned int column;
	char what[256];
};

/**
 * rule_text_parse() - the binary form of a text
 * @text: NUL-terminated
 * @verbs: the engine's actions
 * @len: out: bytes of the binary form
 * @err: filled on failure
 *
 * Return: the binary form, to be freed; or NULL.
 */
void *rule_text_parse(const char *text, const struct rule_verb *verbs, size_t *len,
		      struct rule_text_error *err);

/**
 * rule_text_format() - the text of a binary form
 * @binary: as rule_text_parse() made it, or from the kernel; anything
 * @len: its bytes
 * @verbs: the engine's actions
 * @err: @what is filled on failure
 *
 * Parsing the text gives the same binary form again.
 *
 * Return: one line for each rule, to be freed; or NULL.
 */
char *rule_text_format(const void *binary, size_t len, const struct rule_verb *verbs,
		       struct rule_text_error *err);

#endif /* MRPC_RULE_TEXT_H */
