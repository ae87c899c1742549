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

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

/* nohup has SIGHUP ignored: it stays so. */
static void handle_signals(void (*handler)(int))
{
	struct sigaction sa = { .sa_handler = handler }, old;
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaction(signals[i], NULL, &old);
		if (signals[i] != SIGHUP || old.sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
	}
}

/**
 * interrupt_catch() - make SIGINT, SIGTERM and SIGHUP set @interrupted from now on
 */
void interrupt_catch(void)
{
	handle_signals(interrupt);
}

/**
 * interrupt_release() - let these signals end the process again
 */
void interrupt_release(void)
{
	handle_signals(SIG_DFL);
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
	size_t i;

	sigemptyset(&block);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&block, signals[i]);
	sigprocmask(SIG_BLOCK, &block, &old);
	while (!interrupted && (now = clock_ns()) < end) {
		struct timespec left = { (end - now) / 1000000000, (end - now) % 1000000000 };

		if (!ppoll(NULL, 0, &left, &old) || errno != EINTR)
			break;
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return !interrupted;
}
