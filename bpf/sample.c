// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrpc-sample: prints what the policy "sample" sees, a line for each message, until it is
 * interrupted. Its argument is where the policy's ring is pinned.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "sample.h"

#define RING	"/sys/fs/bpf/mrpc/sample/maps/samples"

static volatile sig_atomic_t stop;

static void interrupted(int signal)
{
	(void)signal;
	stop = 1;
}

static void print_peer(const struct sample *s)
{
	char text[INET6_ADDRSTRLEN];

	if (!s->peer_family || !inet_ntop(s->peer_family, s->peer, text, sizeof(text)))
		printf(" peer=local");
	else if (s->peer_family == AF_INET6)
		printf(" peer=[%s]:%u", text, s->peer_port);
	else
		printf(" peer=%s:%u", text, s->peer_port);
}

static int print_sample(void *ctx, void *data, size_t size)
{
	const struct sample *s = data;

	(void)ctx;
	if (size < sizeof(*s))
		errx(1, "a sample of %zu bytes, not %zu: is the policy of another version?", size,
		     sizeof(*s));
	printf("%llu.%06llu %s %s-%s call=%llu:%llu datapath=%llu uid=%u pid=%u",
	       s->time / 1000000000, s->time / 1000 % 1000000, s->method,
	       s->reply ? "reply" : "request", s->transmit ? "tx" : "rx", s->call >> 16,
	       s->call & 0xffff, s->datapath, s->uid, s->pid);
	print_peer(s);
	printf(" bytes=%u priority=%u age=%lluus", s->size, s->priority, s->age / 1000);
	if (s->left)
		printf(" left=%lluus", s->left / 1000);
	if (s->reply)
		printf(" status=%u", s->status);
	putchar('\n');
	return 0;
}

int main(int argc, char **argv)
{
	const char *path = argc == 2 ? argv[1] : RING;
	struct sigaction action = { .sa_handler = interrupted };
	struct ring_buffer *ring;
	int fd, err = 0;

	if (argc > 2 || (argc == 2 && *argv[1] == '-'))
		errx(2, "usage: mrpc-sample [PINNED-RING]");
	fd = bpf_obj_get(path);
	if (fd < 0)
		errx(1, "cannot open %s: %s; is the policy loaded ('mrpc policy load sample.bpf.o')?",
		     path, strerror(errno));
	ring = ring_buffer__new(fd, print_sample, NULL, NULL);
	if (!ring)
		errx(1, "cannot read %s: %s: it must be a ring", path, strerror(errno));
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (!stop && (err >= 0 || err == -EINTR)) {
		err = ring_buffer__poll(ring, 200);
		fflush(stdout);
	}
	ring_buffer__free(ring);
	if (err < 0 && err != -EINTR)
		errx(1, "reading %s: %s", path, strerror(-err));
	return ferror(stdout) != 0;
}
