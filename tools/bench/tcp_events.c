// SPDX-License-Identifier: GPL-2.0
/*
 * Bare TCP with many connections, as a server with an event loop has them: one thread
 * at each end waits in epoll, reads what there is, and answers in one system call all
 * requests that it has read. Nothing is gathered over several connections: each is a
 * stream of its own.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tcp_bench.h"

#define EVENTS	256		/* taken from epoll at once */
#define BYTES	65536		/* read at once */

static char in[BYTES], out[BYTES];

/* One end of a connection. Its thread owns it; the server's is freed at its end. */
struct stream {
	int fd;
	size_t have;		/* bytes of a message of which the rest has not come */
	struct greeting g;	/* server: said first, of which @greeted bytes have come */
	size_t greeted;
	uint64_t sent, ended;	/* client: calls */
	uint64_t *began;	/* client: when, of call n at n % in_flight */
};

static void watch(int poll, int fd, void *what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };

	if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll");
}

static int make_poll(void)
{
	int poll = epoll_create1(0);

	if (poll < 0)
		err(1, "epoll");
	return poll;
}

static int wait_for(int poll, struct epoll_event *events)
{
	int n;

	do
		n = epoll_wait(poll, events, EVENTS, -1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		err(1, "epoll");
	return n;
}

/* -- server ------------------------------------------------------------------------ */

/* Return: false at the end of the stream. */
static bool greeted(struct stream *s)
{
	ssize_t n = recv(s->fd, (char *)&s->g + s->greeted, sizeof(s->g) - s->greeted, 0);

	if (n <= 0)
		return false;
	s->greeted += (size_t)n;
	return s->greeted < sizeof(s->g) || (s->g.request && s->g.reply && s->g.reply <= BYTES);
}

/* Return: false at the end of the stream. */
static bool answer(struct stream *s)
{
	size_t requests, some;
	ssize_t n;

	if (s->greeted < sizeof(s->g))
		return greeted(s);
	n = recv(s->fd, in, sizeof(in), 0);
	if (n <= 0)
		return false;
	s->have += (size_t)n;
	requests = s->have / s->g.request;
	s->have %= s->g.request;
	for (; requests; requests -= some) {
		some = requests < BYTES / s->g.reply ? requests : BYTES / s->g.reply;
		if (!send_all(s->fd, out, some * s->g.reply))
			return false;
	}
	return true;
}

static void take(int poll, int listener)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		err(1, "a connection");
	s->fd = accept(listener, NULL, NULL);
	if (s->fd < 0)
		err(1, "accept");
	no_delay(s->fd);
	watch(poll, s->fd, s);
}

int serve_events(int listener)
{
	struct epoll_event events[EVENTS];
	int poll = make_poll(), i, n;
	struct stream *s;

	watch(poll, listener, NULL);
	for (;;) {
		n = wait_for(poll, events);
		for (i = 0; i < n; i++) {
			s = events[i].data.ptr;
			if (!s) {
				take(poll, listener);
			} else if (!answer(s)) {
				close(s->fd);
				free(s);
			}
		}
	}
}

/* -- client ------------------------------------------------------------------------ */

static struct stream *connect_all(const struct options *o, int poll)
{
	struct stream *all = calloc(o->conns, sizeof(*all));
	unsigned int i;

	if (!all)
		err(1, "connections");
	for (i = 0; i < o->conns; i++) {
		all[i].fd = start_client(o);
		all[i].began = calloc(o->in_flight, sizeof(*all[i].began));
		if (!all[i].began)
			err(1, "connections");
		watch(poll, all[i].fd, &all[i]);
	}
	return all;
}

static void begin(struct stream *s, const struct options *o)
{
	s->began[s->sent++ % o->in_flight] = ticks();
	if (!send_all(s->fd, out, o->request))
		lost();
}

/* What has come on @s. Return: whether to go on; @ended: counts calls. */
static bool harvest(struct stream *s, struct measure *m, const struct options *o, uint64_t *ended)
{
	ssize_t n = recv(s->fd, in, sizeof(in), 0);

	if (n <= 0)
		lost();
	for (s->have += (size_t)n; s->have >= o->reply; s->have -= o->reply) {
		++*ended;
		if (!measure_call(m, s->began[s->ended++ % o->in_flight]))
			return false;
	}
	return true;
}

void run_events(struct measure *m, const struct options *o)
{
	struct epoll_event events[EVENTS];
	uint64_t sent = 0, ended = 0;
	int poll = make_poll(), i, n;
	struct stream *all;
	bool more = true;

	if (!o->reply || o->reply > BYTES || o->request > BYTES)
		errx(1, "requests and replies of 1 to %d bytes", BYTES);
	all = connect_all(o, poll);
	measure_init(m, o);
	while (more) {
		for (; sent - ended < o->in_flight; sent++)
			begin(&all[sent % o->conns], o);
		n = wait_for(poll, events);
		for (i = 0; i < n && more; i++)
			more = harvest(events[i].data.ptr, m, o, &ended);
	}
	measure_end(m);
	for (i = 0; i < (int)o->conns; i++) {
		close(all[i].fd);
		free(all[i].began);
	}
	free(all);
	close(poll);
}
