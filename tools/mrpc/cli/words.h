/* SPDX-License-Identifier: GPL-2.0 */
/* Words of the command line. */
#ifndef MRPC_TOOL_CLI_WORDS_H
#define MRPC_TOOL_CLI_WORDS_H

#include <stdbool.h>
#include <stdint.h>

struct args {
	int nr;
	char **words;
};

/* A word of the grammar; an array of them ends with a NULL name. */
struct word {
	const char *name;
	int (*run)(struct args *args);
	const char *also;	/* another name */
	bool whole;		/* cannot be shortened */
};

const struct word *find_word(const struct word *words, const char *text, const char *what);
const char *peek_word(const struct args *args);
const char *next_word(struct args *args);
const char *need_word(struct args *args, const char *what);
uint32_t need_number(struct args *args, const char *what);
uint32_t need_id(struct args *args, const char *what);
void no_more_words(const struct args *args);
bool is_help(const char *text);

#endif /* MRPC_TOOL_CLI_WORDS_H */
