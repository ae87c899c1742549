/* SPDX-License-Identifier: GPL-2.0 */
/* The text of rules, word by word. */
#ifndef MRPC_RULE_TOKEN_H
#define MRPC_RULE_TOKEN_H

#include <stdbool.h>

#include "lib/rule/rule.h"
#include "rules/text.h"

/**
 * struct rule_reader - how far a text has been read
 * @text: all of it
 * @pos: what comes next
 * @err: filled when it is refused
 */
struct rule_reader {
	const char *text;
	const char *pos;
	struct rule_text_error *err;
};

struct rule_token {
	const char *p;
	size_t len;
};

/* Says what is wrong at @at. Always false, so that it can be returned. */
bool __attribute__((format(printf, 3, 4)))
rule_refuse(struct rule_reader *p, const char *at, const char *fmt, ...);
/* The same of what comes next, where @what should be. */
bool rule_expected(struct rule_reader *p, const char *what);

void rule_skip_blanks(struct rule_reader *p);
bool rule_at_end(struct rule_reader *p);
bool rule_is_word(char c);
/* The next word, which may be empty. */
struct rule_token rule_peek(struct rule_reader *p);
bool rule_is(struct rule_token t, const char *word);
/* Goes behind the next word, if it is this one. */
bool rule_eat(struct rule_reader *p, const char *word);
/* A text in quotes; to be freed. NULL: refused. */
char *rule_quoted(struct rule_reader *p, size_t max, size_t *len);

enum { FOR_FIELD, FOR_COUNT, FOR_SIZE };

/* A whole number from 0. */
bool rule_count(struct rule_reader *p, uint64_t *count);
/* [=] N, N-M, >= N, <= N, > N or < N. */
bool rule_range(struct rule_reader *p, int what, struct mrpc_cond_range *range, uint8_t *op);

#endif /* MRPC_RULE_TOKEN_H */
