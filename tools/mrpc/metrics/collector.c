// SPDX-License-Identifier: GPL-2.0
/*
 * The half of the exporter that may query the kernel. It never sees what a client of the other
 * half sends. Each byte that comes asks for all metrics. The answer is a file in memory. A new
 * process collects each time, so that a failure ends nothing else.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/util.h"
#include "metrics/collector.h"
#include "metrics/families.h"
#include "metrics/privileges.h"

#define SECONDS		10		/* limit for collecting */
#define BYTES		(64 << 20)	/* limit of the file */

static void __attribute__((noreturn)) collect(int file)
{
	struct rlimit size = { BYTES, BYTES };

	setrlimit(RLIMIT_FSIZE, &size);
	alarm(SECONDS);
	if (dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0)
		_exit(EXIT_FAILED);
	print_metrics(stdout);
	exit(fflush(stdout) || ferror(stdout) ? EXIT_FAILED : 0);
}

static void send_answer(int fd, bool good, int file)
{
	union {
		struct cmsghdr hdr;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .hdr = {
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)),
	} };
	struct iovec iov = { &good, sizeof(good) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};

	memcpy(CMSG_DATA(&control.hdr), &file, sizeof(file));
	if (sendmsg(fd, &msg, MSG_NOSIGNAL) < 0)
		_exit(EXIT_FAILED);	/* the other half has gone */
}

static void answer(int fd)
{
	int file = memfd_create("mrpc-metrics", MFD_CLOEXEC), status = -1;
	pid_t pid;

	if (file < 0)
		fail("cannot make a file in memory: %s", strerror(errno));
	pid = fork();
	if (!pid)
		collect(file);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	send_answer(fd, !status, file);
	close(file);
}

/**
 * collector_run() - answer until the other half closes the socket
 * @fd: a connected socket of datagrams to collector_receive()'s side
 */
void collector_run(int fd)
{
	char byte;

	keep_only(CAP_NET_ADMIN);
	while (recv(fd, &byte, 1, 0) == 1)
		answer(fd);
	exit(0);
}

/**
 * collector_receive() - receive an answer
 * @fd: the socket
 * @good: out: true if the file has metrics; otherwise it says what went wrong
 *
 * Return: the file; -1: the collector has ended.
 */
int collector_receive(int fd, bool *good)
{
	union {
		struct cmsghdr hdr;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { };
	struct iovec iov = { good, sizeof(*good) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	int file;

	if (recvmsg(fd, &msg, MSG_CMSG_CLOEXEC) != sizeof(*good) || !CMSG_FIRSTHDR(&msg))
		return -1;
	memcpy(&file, CMSG_DATA(&control.hdr), sizeof(file));
	return file;
}
