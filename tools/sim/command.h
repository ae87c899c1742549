/* SPDX-License-Identifier: GPL-2.0 */
/* The command line: one function for each command, and what they share. */
#ifndef SIM_COMMAND_H
#define SIM_COMMAND_H

#include "fit.h"
#include "sim.h"

/** command_run(), command_faults(), command_group() - Return: the exit status */
int command_run(int argc, char **argv);
int command_faults(int argc, char **argv);
int command_group(int argc, char **argv);

/** command_usage() - prints what is wrong with the command line; Return: 2 */
int command_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * command_number() - an option's value
 * @option: its name
 * @text: its value
 * Return: true; or false: it is not from @low to @high, and that is printed
 */
bool command_number(const char *option, const char *text, double low, double high, double *value);

#endif /* SIM_COMMAND_H */
