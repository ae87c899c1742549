/* SPDX-License-Identifier: GPL-2.0 */
/* Options of every command. */
#ifndef MRPC_TOOL_CLI_OPTIONS_H
#define MRPC_TOOL_CLI_OPTIONS_H

#include <stdbool.h>

struct options {
	bool json;
	bool pretty;
	bool stats;
	bool timestamp;
	bool version;
	bool help;
	bool oneline;
	bool force;
	const char *batch;	/* file of commands, or NULL */
	const char *netns;	/* NULL: the one we are in */
};

extern struct options options;

int parse_options(int argc, char **argv);
int parse_flags(int nr, char **words);

#endif /* MRPC_TOOL_CLI_OPTIONS_H */
