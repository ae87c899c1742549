// SPDX-License-Identifier: GPL-2.0
/* Signals that stop a long command between two steps. */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <time.h>

#include "cli/clock.h"
#include "cli/interrupt.h"

/* A signal has come that asks the command to stop. */
volatile sig_atomic_t interrupted;

static void interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

/**
 * interrupt_catch() - make SIGINT, SIGTERM and SIGHUP set @interrupted from now on
 */
void interrupt_catch(void)
{
	struct sigaction sa = { .sa_handler = interrupt };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

/**
 * interrupt_wait() - wait, unless a signal asks the command to stop
 * @ns: how long
 *
 * The signals are blocked but in ppoll(), so none comes between the check and the sleep.
 *
 * Return: false: the command is to stop.
 */
bool interrupt_wait(uint64_t ns)
{
	uint64_t end = clock_ns() + ns, now;
	sigset_t block, old;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGHUP);
	sigprocmask(SIG_BLOCK, &block, &old);
	while (!interrupted && (now = clock_ns()) < end) {
		struct timespec left = { (end - now) / 1000000000, (end - now) % 1000000000 };

		if (!ppoll(NULL, 0, &left, &old) || errno != EINTR)
			break;
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return !interrupted;
}
