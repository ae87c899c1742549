// SPDX-License-Identifier: GPL-2.0
/* What commands share. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"

int command_usage(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "mrpc-sim: ");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "; 'mrpc-sim --help' shows how to use it\n");
	return 2;
}

bool command_number(const char *option, const char *text, double low, double high, double *value)
{
	char *end;

	*value = strtod(text, &end);
	if (end != text && !*end && *value >= low && *value <= high)
		return true;
	command_usage("--%s %s: not a number from %g to %g", option, text, low, high);
	return false;
}
