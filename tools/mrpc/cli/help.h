/* SPDX-License-Identifier: GPL-2.0 */
/* What 'help' says. */
#ifndef MRPC_TOOL_CLI_HELP_H
#define MRPC_TOOL_CLI_HELP_H

struct args;
struct word;

int do_help(struct args *args);
void help_object(const char *object);

/*
 * The command that comes next, or @preset if there is none, of an object that the help
 * knows as @object. One that nothing runs, "help", and help asked for behind another,
 * print its help.
 */
int run_command(struct args *args, const char *object, const struct word *commands,
		const char *preset);

#endif /* MRPC_TOOL_CLI_HELP_H */
