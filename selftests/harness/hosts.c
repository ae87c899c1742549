// SPDX-License-Identifier: GPL-2.0
/*
 * A second host; see hosts.h.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "hosts.h"
#include "raw.h"

void host_sh(const char *fmt, ...)
{
	char command[512];
	va_list ap;
	int status;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	status = system(command);
	if (status)
		raw_die("%s: status %x", command, status);
}

bool host_new(struct host *h)
{
	int up[2], down[2];

	if (pipe(up) || pipe(down))
		raw_die("no pipes: %s", strerror(errno));
	h->pid = fork();
	if (h->pid < 0)
		raw_die("no process: %s", strerror(errno));
	h->in = h->pid ? up[0] : down[0];
	h->out = h->pid ? down[1] : up[1];
	close(h->pid ? up[1] : down[1]);
	close(h->pid ? down[0] : up[0]);
	if (!h->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWNET))
			raw_die("no network namespace: %s", strerror(errno));
		host_say(h);
	} else {
		host_wait(h);
	}
	return !h->pid;
}

void host_say(struct host *h)
{
	if (write(h->out, "x", 1) != 1)
		raw_die("the other host does not hear");
}

void host_wait(struct host *h)
{
	char c;

	if (read(h->in, &c, 1) != 1)
		raw_die("the other host has ended");
}

void host_join(const struct host *h)
{
	host_sh("ip link add veth0 type veth peer name veth0 netns %d", h->pid);
	host_sh("ip addr add 10.9.0.1/24 dev veth0");
	host_sh("ip addr add fd09::1/64 dev veth0 nodad");
	host_sh("ip link set veth0 up");
	host_sh("ip link set lo up");
	host_sh("nsenter -t %d -n sh -c 'ip addr add " HOST_ADDR "/24 dev veth0;"
		" ip addr add " HOST_ADDR6 "/64 dev veth0 nodad;"
		" ip link set veth0 up; ip link set lo up'", h->pid);
}

struct host_queue host_queue(pid_t pid, const char *dev, const char *kind)
{
	unsigned long long bytes, packets, dropped, backlog;
	struct host_queue q = {};
	bool found = false;
	char line[400], unit;
	FILE *tc;

	snprintf(line, sizeof(line), "nsenter -t %d -n tc -s qdisc show dev %s", pid, dev);
	tc = popen(line, "r");
	while (tc && fgets(line, sizeof(line), tc)) {
		if (!strncmp(line, "qdisc ", 6)) {
			if (found)
				break;
			found = !strncmp(line + 6, kind, strlen(kind)) &&
				line[6 + strlen(kind)] == ' ';
		} else if (found && sscanf(line, " Sent %llu bytes %llu pkt (dropped %llu", &bytes,
					   &packets, &dropped) == 3) {
			q.bytes = bytes;
			q.packets = packets;
			q.dropped = dropped;
		} else if (found && sscanf(line, " backlog %llu%c", &backlog, &unit) == 2) {
			q.backlog = unit == 'K' ? backlog << 10 : backlog;
		}
	}
	while (tc && fgets(line, sizeof(line), tc))
		;
	if (!tc || pclose(tc) || !found)
		raw_die("%s has no %s", dev, kind);
	return q;
}

uint64_t host_lost(pid_t pid, const char *dev, const char *kind)
{
	struct host_queue q = host_queue(pid, dev, kind);

	return q.packets ? q.dropped * q.bytes / q.packets : 0;
}

void host_end(struct host *h)
{
	int status;

	host_say(h);
	if (waitpid(h->pid, &status, 0) != h->pid || status)
		raw_die("the other host has ended with status %x", status);
	close(h->in);
	close(h->out);
	host_sh("ip link del veth0 2>/dev/null || :");	/* else it goes later, with the namespace */
	if (!raw_sessions(0, 10000))
		raw_die("sessions are left");
}
