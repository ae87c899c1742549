/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the peers' programs have in common: what a mode is, and how one is chosen.
 */
#ifndef PEER_H
#define PEER_H

#include <err.h>
#include <stdio.h>
#include <string.h>

#include <initializer_list>

#include "measure.h"

/**
 * struct mode - what a program does
 * @name: how it is asked for
 * @run: does it, and returns the program's status; NULL for what is measured
 * @calls: what each thread of the measurement does
 */
struct mode {
	const char *name;
	int (*run)(const struct options &o);
	void (*calls)(struct measure *m, const struct options *o);
};

/* Does what @o asks for: "settings", or one of @modes. Return: the program's status. */
inline int run_mode(const struct options &o, const char *usage, int (*settings)(void),
		    std::initializer_list<struct mode> modes)
{
	if (!strcmp(o.mode, "settings"))
		return settings();
	if (!o.address)
		errx(2, "which address?");
	for (const struct mode &mode : modes) {
		if (strcmp(o.mode, mode.name))
			continue;
		if (mode.run)
			return mode.run(o);
		measure_run(&o, mode.calls);
		return 0;
	}
	fputs(usage, stderr);
	return 2;
}

#endif /* PEER_H */
