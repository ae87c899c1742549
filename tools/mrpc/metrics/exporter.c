// SPDX-License-Identifier: GPL-2.0
/*
 * The exporter: a small HTTP/1.1 server with one path, /metrics.
 *
 * This process has no privileges. It holds a few clients at a time. Each has a fixed buffer and a
 * time limit for each action. When all places are taken, a new client replaces the one that has
 * taken longest with its request. All waiting clients get the same answer, which another process
 * collects (collector.c).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/util.h"
#include "metrics/collector.h"
#include "metrics/exporter.h"
#include "metrics/http.h"
#include "metrics/privileges.h"

#define CLIENTS		8
#define READ_TIME	5000	/* ms for a request */
#define WAIT_TIME	15000	/* for the kernel's answer */
#define WRITE_TIME	10000	/* for the client to take the answer */
#define LINGER_TIME	1000	/* for the client to take the rest, after all is in the socket */

enum state { FREE, READING, WAITING, WRITING, LINGERING };

/**
 * struct client - a connected client
 * @fd: the socket
 * @state: its present action
 * @since: ms; time of its accept
 * @until: ms; time limit of the present action
 * @text: READING: what has come; WRITING: the head of the answer
 * @len: bytes of @text
 * @sent: WRITING: bytes of @text that are sent
 * @file: WRITING: what follows @text; or -1
 * @at: next byte of @file
 * @end: end of @file
 */
struct client {
	int fd;
	enum state state;
	int64_t since;
	int64_t until;
	char text[HTTP_MAX];
	size_t len;
	size_t sent;
	int file;
	off_t at;
	off_t end;
};

static struct client clients[CLIENTS];
static int collector;
static bool collecting;

static int64_t now(void)
{
	return clock_ns() / 1000000;
}

/* -- a client ---------------------------------------------------------------------- */

static void drop(struct client *c)
{
	close(c->fd);
	if (c->file >= 0)
		close(c->file);
	*c = (struct client) { .file = -1 };
}

static void enter(struct client *c, enum state state, int64_t time)
{
	c->state = state;
	c->until = now() + time;
}

/* All is in the socket. Closing it now could make the peer lose what it has not read. */
static void linger(struct client *c)
{
	shutdown(c->fd, SHUT_WR);
	enter(c, LINGERING, LINGER_TIME);
}

static void write_some(struct client *c)
{
	ssize_t n;

	while (c->sent < c->len) {
		n = send(c->fd, c->text + c->sent, c->len - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0) {
			if (errno != EAGAIN && errno != EINTR)
				drop(c);
			return;
		}
		c->sent += n;
	}
	while (c->at < c->end) {
		n = sendfile(c->fd, c->file, &c->at, c->end - c->at);
		if (n <= 0) {
			if (!n || (errno != EAGAIN && errno != EINTR))
				drop(c);
			return;
		}
	}
	linger(c);
}

static void begin_answer(struct client *c, int status, const char *type, size_t size)
{
	c->len = snprintf(c->text, sizeof(c->text),
			  "HTTP/1.1 %d %s\r\nContent-Type: %s; charset=utf-8\r\n"
			  "Content-Length: %zu\r\n%sConnection: close\r\n\r\n",
			  status, http_reason(status), type, size,
			  status == 405 ? "Allow: GET\r\n" : "");
	c->sent = 0;
	enter(c, WRITING, WRITE_TIME);
}

static void refuse(struct client *c, int status)
{
	const char *hint = status == 404 ? "; it is at /metrics" : "";
	size_t size = strlen(http_reason(status)) + strlen(hint) + 1;

	begin_answer(c, status, "text/plain", size);
	c->len += snprintf(c->text + c->len, sizeof(c->text) - c->len, "%s%s\n",
			   http_reason(status), hint);
	write_some(c);
}

static void read_some(struct client *c)
{
	ssize_t n = recv(c->fd, c->text + c->len, sizeof(c->text) - c->len, MSG_DONTWAIT);
	int status;

	if (n <= 0) {
		if (!n || (errno != EAGAIN && errno != EINTR))
			drop(c);
		return;
	}
	c->len += n;
	status = http_parse(c->text, c->len);
	if (!status && c->len == sizeof(c->text))
		status = 431;
	if (status == 200)
		enter(c, WAITING, WAIT_TIME);
	else if (status)
		refuse(c, status);
}

/* Takes and ignores what the client sends after its request. */
static void discard(struct client *c)
{
	ssize_t n = recv(c->fd, c->text, sizeof(c->text), MSG_DONTWAIT);

	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
		drop(c);
}

static void timed_out(struct client *c)
{
	if (c->state == READING)
		refuse(c, 408);
	else if (c->state == WAITING)
		refuse(c, 503);
	else
		drop(c);
}

static void serve(struct client *c, short events)
{
	if (!events)
		return;
	if (c->state == READING)
		read_some(c);
	else if (c->state == WRITING)
		write_some(c);
	else if (c->state == LINGERING)
		discard(c);
	else if (events & (POLLHUP | POLLERR))
		drop(c);
}

/* -- all clients --------------------------------------------------------------------- */

/* A free place, or that of the client that has taken longest with its request; or NULL. */
static struct client *find_place(void)
{
	struct client *c, *oldest = NULL;

	for (c = clients; c < clients + CLIENTS; c++) {
		if (c->state == FREE)
			return c;
		if (c->state == READING && (!oldest || c->since < oldest->since))
			oldest = c;
	}
	return oldest;
}

static void accept_one(int listener)
{
	struct client *c = find_place();
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;		/* the client has gone again, or there is no memory */
	if (c->state != FREE)
		drop(c);
	*c = (struct client) { .fd = fd, .file = -1, .since = now() };
	enter(c, READING, READ_TIME);
	read_some(c);
}

static void ask_collector(void)
{
	struct client *c;

	for (c = clients; c < clients + CLIENTS && !collecting; c++) {
		if (c->state != WAITING)
			continue;
		if (send(collector, "", 1, MSG_NOSIGNAL) != 1)
			fail("the collecting process has ended");
		collecting = true;
	}
}

static void take_answer(void)
{
	struct client *c;
	struct stat st;
	bool good;
	int file = collector_receive(collector, &good);

	collecting = false;
	if (file < 0 || fstat(file, &st))
		fail("the collecting process has ended");
	for (c = clients; c < clients + CLIENTS; c++) {
		if (c->state != WAITING)
			continue;
		c->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
		c->at = 0;
		c->end = c->file < 0 ? 0 : st.st_size;
		begin_answer(c, good && c->file >= 0 ? 200 : 503,
			     good ? "text/plain; version=0.0.4" : "text/plain", c->end);
		write_some(c);
	}
	close(file);
}

/* -- the loop ------------------------------------------------------------------------- */

static int next_timeout(void)
{
	int64_t least = INT64_MAX, t = now();
	struct client *c;

	for (c = clients; c < clients + CLIENTS; c++)
		if (c->state != FREE && c->until < least)
			least = c->until;
	if (least == INT64_MAX)
		return -1;
	return least > t ? least - t : 0;
}

static void loop(int listener)
{
	struct pollfd p[CLIENTS + 2];
	int i;

	for (;;) {
		ask_collector();
		p[0] = (struct pollfd) { find_place() ? listener : -1, POLLIN };
		p[1] = (struct pollfd) { collector, POLLIN };
		for (i = 0; i < CLIENTS; i++)
			p[i + 2] = (struct pollfd) {
				.fd = clients[i].state == FREE ? -1 : clients[i].fd,
				.events = clients[i].state == WRITING ? POLLOUT :
					  clients[i].state == WAITING ? 0 : POLLIN,
			};
		if (poll(p, CLIENTS + 2, next_timeout()) < 0 && errno != EINTR)
			fail("cannot wait for clients: %s", strerror(errno));
		for (i = 0; i < CLIENTS; i++)
			if (p[i + 2].fd >= 0)
				serve(&clients[i], p[i + 2].revents);
		for (i = 0; i < CLIENTS; i++)
			if (clients[i].state != FREE && clients[i].until <= now())
				timed_out(&clients[i]);
		if (p[1].revents)
			take_answer();
		if (p[0].revents && find_place())
			accept_one(listener);
	}
}

/* -- the beginning ---------------------------------------------------------------------- */

/* "127.0.0.1:9469", "[::1]:9469", or ":9469" for all addresses. */
static int open_listener(const char *address)
{
	struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM,
	}, *found;
	const char *colon = strrchr(address, ':');
	char *host = text_printf("%.*s", colon ? (int)(colon - address) : 0, address);
	size_t len = strlen(host);
	int fd, one = 1;

	if (len > 1 && host[0] == '[' && host[len - 1] == ']') {
		host[len - 1] = 0;
		memmove(host, host + 1, len - 1);
	} else if (strchr(host, ':')) {
		colon = NULL;
	}
	if (!colon || !colon[1] || getaddrinfo(*host ? host : NULL, colon + 1, &hints, &found))
		usage("'%s' is not an address: it must be as 127.0.0.1:9469, [::1]:9469 or :9469",
		      address);
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		fail("cannot open a socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, 64))
		fail("cannot listen at %s: %s", address, strerror(errno));
	freeaddrinfo(found);
	free(host);
	return fd;
}

/* The socket that systemd has opened for this process, or -1. */
static int passed_listener(void)
{
	const char *pid = getenv("LISTEN_PID"), *nr = getenv("LISTEN_FDS");
	const int first = 3;

	if (!pid || !nr || atoi(pid) != getpid() || atoi(nr) < 1)
		return -1;
	if (atoi(nr) > 1)
		fail("systemd has passed %s sockets, and only one can be served", nr);
	if (fcntl(first, F_SETFD, FD_CLOEXEC) || fcntl(first, F_SETFL, O_NONBLOCK))
		fail("the socket that systemd has passed is not open");
	return first;
}

/* Makes the kernel report a client only when it has sent something. */
static void defer_accept(int listener)
{
	int seconds = READ_TIME / 1000;

	setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof(seconds));
}

/**
 * exporter_run() - serve until a signal comes
 * @address: address to listen at, if systemd has not passed a socket
 */
int exporter_run(const char *address)
{
	int listener = passed_listener(), pair[2], i;

	if (listener < 0)
		listener = open_listener(address);
	defer_accept(listener);
	signal(SIGPIPE, SIG_IGN);	/* of sendfile() */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		fail("cannot make a pair of sockets: %s", strerror(errno));
	switch (fork()) {
	case -1:
		fail("cannot make a process: %s", strerror(errno));
	case 0:
		close(listener);
		close(pair[0]);
		collector_run(pair[1]);
	}
	close(pair[1]);
	collector = pair[0];
	keep_only(-1);
	for (i = 0; i < CLIENTS; i++)
		clients[i].file = -1;
	loop(listener);
	return 0;
}
