/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second host: a process of the test in a network namespace of its own, joined to the test's
 * by a cable. Both are of one kernel.
 */
#ifndef HOSTS_H
#define HOSTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HOST_ADDR	"10.9.0.2"	/* the other's; ours is 10.9.0.1 */
#define HOST_ADDR6	"fd09::2"

/**
 * struct host - the other one, as both sides see it
 * @pid: of its process; 0 in it
 * @in, @out: pipes between the two
 */
struct host {
	pid_t pid;
	int in;
	int out;
};

/* Runs a command; dies if it fails. */
__attribute__((__format__(__printf__, 1, 2)))
void host_sh(const char *fmt, ...);

/* Return: true in the process of the new host, which dies with the test's. */
bool host_new(struct host *h);
/* A word to the other side, and from it; dies if it has ended. */
void host_say(struct host *h);
void host_wait(struct host *h);
/* Lays the cable, "veth0" at both ends. Call it on the test's side, after host_new(). */
void host_join(const struct host *h);

/**
 * struct host_queue - what a queueing discipline says of itself
 * @bytes, @packets: that it has sent
 * @dropped: packets; a train of segments counts as one
 * @backlog: bytes that it has now
 */
struct host_queue {
	uint64_t bytes;
	uint64_t packets;
	uint64_t dropped;
	uint64_t backlog;
};

/* The first discipline of this @kind at a device of process @pid's namespace; dies if there is none. */
struct host_queue host_queue(pid_t pid, const char *dev, const char *kind);
/*
 * Bytes that such a one has lost: packets, at the mean length of those that it let through. It must
 * get packets one by one.
 */
uint64_t host_lost(pid_t pid, const char *dev, const char *kind);
/* Says the last word, and waits for the process; dies unless it ends well. */
void host_end(struct host *h);

#endif /* HOSTS_H */
