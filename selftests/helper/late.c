// SPDX-License-Identifier: GPL-2.0
/*
 * late DEVICE: messages in a paused egress domain may go, but for a third of a second nothing else
 * runs on processor 0, where a runtime is to send them: so grants expire.
 *
 * Not a script: beginning a command reads files, and what reads them may need that processor.
 */
#include <err.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "operator.h"
#include "raw.h"

#define LATE_LONG	(350 * RAW_MS)
#define LATE_MOST	(900 * RAW_MS)	/* real-time tasks may run for 0.95 of each second */

static struct {
	bool holds;	/* the processor */
	bool may_go;	/* the messages */
} *at;

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "processor %d", cpu);
}

static void hold(void)
{
	const struct sched_param first = { .sched_priority = 50 };
	uint64_t end = raw_now() + LATE_MOST, now;

	run_on(0);
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		err(1, "SCHED_FIFO");
	__atomic_store_n(&at->holds, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&at->may_go, __ATOMIC_ACQUIRE) && raw_now() < end)
		;
	now = raw_now();
	end = now + LATE_LONG < end ? now + LATE_LONG : end;
	while (raw_now() < end)
		;
}

int main(int argc, char **argv)
{
	pid_t pid;
	int status;

	if (argc != 2)
		errx(2, "Usage: late DEVICE");
	at = mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		err(1, "memory");
	/* What this opens and maps is there when it matters. */
	op_must_egress(MRPC_CMD_EGRESS_SET, argv[1], "paused=1");
	if (!op_egress_reaches(argv[1], MRPC_A_EGRESS_WAITING, 2))
		errx(1, "no messages wait");
	run_on(1);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		hold();
		_exit(0);
	}
	while (!__atomic_load_n(&at->holds, __ATOMIC_ACQUIRE)) {
		if (waitpid(pid, &status, WNOHANG))
			return 1;	/* it has said why */
		usleep(1000);
	}
	op_must_egress(MRPC_CMD_EGRESS_SET, argv[1], "paused=0");
	__atomic_store_n(&at->may_go, true, __ATOMIC_RELEASE);
	return waitpid(pid, &status, 0) != pid || status;
}
