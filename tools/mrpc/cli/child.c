// SPDX-License-Identifier: GPL-2.0
/* A command in a process of its own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/util.h"

/**
 * run_child() - run a command so that one that fails does not end this one
 * @run: the command
 * @args: its words
 *
 * It has no standard input: the caller may be reading that.
 *
 * Return: its exit status.
 */
int run_child(int (*run)(struct args *args), struct args *args)
{
	int status, null;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child < 0)
		fail("cannot start a process: %s", strerror(errno));
	if (!child) {
		null = open("/dev/null", O_RDONLY);
		if (null >= 0)
			dup2(null, STDIN_FILENO);
		exit(run(args));
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			fail("cannot wait for a process: %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}
