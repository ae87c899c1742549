// SPDX-License-Identifier: GPL-2.0
/*
 * What mrpc is compared with: blocking send and recv on a stream socket, one of
 * each per message, with TCP_NODELAY; or an event loop with many of them.
 */
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "measure.h"
#include "memory.h"
#include "tcp_bench.h"

static const char usage[] =
	"Usage: tcp_bench [OPTION...] MODE ADDRESS\n"
	"\n"
	"  serve  answer until SIGTERM, with a thread for each connection\n"
	"  hold   answer each connection once, and keep it\n"
	"  call   requests and replies; with several in flight not batched\n"
	"  serve-events  as serve, with one thread and epoll\n"
	"  call-events   as call, over -c connections in turn, with epoll\n"
	"  serve-busy, call-busy  as serve and call, looking for input without sleeping\n"
	"  bulk   requests only\n"
	"  connect  as call, each over a new connection\n"
	"  idle   memory of -n connections over which one call was made\n"
	"\n"
	"ADDRESS is tcp:HOST:PORT, udp:HOST:PORT (numbers) or unix:PATH; of udp only serve\n"
	"and call, one in flight.\n"
	"\n"
	"  -c NUMBER  call-events: of connections (1)\n"
	"  -v         idle: also by kind of memory\n";

static char *make_buffer(size_t len)
{
	char *buf = malloc(len ? len : 1);

	if (!buf)
		err(1, "buffer");
	memset(buf, 'm', len);
	return buf;
}

static bool is_udp(const char *address)
{
	return !strncmp(address, "udp:", 4);
}

static int make_socket(const char *address, struct sockaddr_storage *addr, socklen_t *len)
{
	struct sockaddr_un *un = (struct sockaddr_un *)addr;
	int type = is_udp(address) ? SOCK_DGRAM : SOCK_STREAM;
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
					.ai_socktype = type };
	struct addrinfo *found;
	char host[128], *port;
	int fd, ret;

	memset(addr, 0, sizeof(*addr));
	if (!strncmp(address, "unix:", 5)) {
		un->sun_family = AF_UNIX;
		snprintf(un->sun_path, sizeof(un->sun_path), "%s", address + 5);
		*len = sizeof(*un);
	} else {
		if (strncmp(address, "tcp:", 4) && !is_udp(address))
			errx(1, "what kind of address is %s?", address);
		snprintf(host, sizeof(host), "%s", address + 4);
		port = strrchr(host, ':');
		if (!port)
			errx(1, "%s has no port", address);
		*port++ = '\0';
		ret = getaddrinfo(host, port, &hints, &found);
		if (ret)
			errx(1, "%s: %s", address, gai_strerror(ret));
		memcpy(addr, found->ai_addr, found->ai_addrlen);
		*len = found->ai_addrlen;
		freeaddrinfo(found);
	}
	fd = socket(addr->ss_family, type, 0);
	if (fd < 0)
		err(1, "socket");
	return fd;
}

void no_delay(int fd)
{
	int one = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) && errno != EOPNOTSUPP)
		err(1, "TCP_NODELAY");
}

bool send_all(int fd, const char *buf, size_t len)
{
	ssize_t n;

	while (len) {
		n = send(fd, buf, len, MSG_NOSIGNAL);
		if (n < 0)
			return false;
		buf += n;
		len -= (size_t)n;
	}
	return true;
}

static int recv_flags;	/* MSG_DONTWAIT: does not sleep */

/* Return: false at the end of the stream, or when the peer is gone. */
static bool recv_all(int fd, char *buf, size_t len)
{
	ssize_t n;

	while (len) {
		n = recv(fd, buf, len, recv_flags);
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n <= 0)
			return false;
		buf += n;
		len -= (size_t)n;
	}
	return true;
}

void lost(void)
{
	errx(1, "the server has closed the connection");
}

/* -- server ------------------------------------------------------------------------ */

static void drain(int fd, char *buf, size_t len)
{
	while (recv(fd, buf, len, 0) > 0)
		;
	send_all(fd, buf, 1);
}

static void serve_one(int fd)
{
	struct greeting g;
	char *in, *out;

	if (!recv_all(fd, (char *)&g, sizeof(g)))
		return;
	in = make_buffer(g.request);
	out = make_buffer(g.reply);
	if (!g.reply)
		drain(fd, in, g.request);
	else
		while (recv_all(fd, in, g.request) && send_all(fd, out, g.reply))
			;
	free(in);
	free(out);
}

static void *serve_thread(void *arg)
{
	int fd = (int)(long)arg;

	serve_one(fd);
	close(fd);
	return NULL;
}

static void serve_apart(int fd)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, serve_thread, (void *)(long)fd))
		errx(1, "a thread does not start");
	pthread_detach(thread);
}

/* The connection stays until the process ends. */
static void answer_once(int fd)
{
	static char buf[65536];
	struct greeting g;

	if (!recv_all(fd, (char *)&g, sizeof(g)) || g.request > sizeof(buf) || g.reply > sizeof(buf) ||
	    !recv_all(fd, buf, g.request) || !send_all(fd, buf, g.reply))
		warnx("a connection to hold has ended");
}

static int listen_at(const struct options *o, struct sockaddr_storage *addr)
{
	int fd, one = 1;
	socklen_t len;

	fd = make_socket(o->address, addr, &len);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (addr->ss_family == AF_UNIX)
		unlink(((struct sockaddr_un *)addr)->sun_path);
	if (bind(fd, (struct sockaddr *)addr, len) || (!is_udp(o->address) && listen(fd, 128)))
		err(1, "%s", o->address);
	puts("ready");
	fflush(stdout);
	return fd;
}

static int serve(const struct options *o, void (*serve_conn)(int fd))
{
	struct sockaddr_storage addr;
	int fd = listen_at(o, &addr), conn;

	for (;;) {
		conn = accept(fd, NULL, NULL);
		if (conn < 0)
			err(1, "accept");
		no_delay(conn);
		serve_conn(conn);
	}
}

static int serve_udp(const struct options *o)
{
	struct sockaddr_storage addr, peer;
	static char buf[65536];
	int fd = listen_at(o, &addr);
	socklen_t len;

	for (;;) {
		len = sizeof(peer);
		if (recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&peer, &len) < 0 ||
		    sendto(fd, buf, o->reply, 0, (struct sockaddr *)&peer, len) < 0)
			err(1, "%s", o->address);
	}
}

/* -- client ------------------------------------------------------------------------ */

int start_client(const struct options *o)
{
	struct greeting g = { .request = o->request, .reply = o->reply };
	struct sockaddr_storage addr;
	socklen_t len;
	int fd;

	fd = make_socket(o->address, &addr, &len);
	if (connect(fd, (struct sockaddr *)&addr, len))
		err(1, "%s", o->address);
	if (is_udp(o->address))
		return fd;
	no_delay(fd);
	if (!send_all(fd, (char *)&g, sizeof(g)))
		lost();
	return fd;
}

/* Calls until enough is measured, with several in flight. */
static void run_calls(struct measure *m, const struct options *o)
{
	char *out = make_buffer(o->request), *in = make_buffer(o->reply);
	uint64_t *began = calloc(o->in_flight, sizeof(*began)), sent = 0, ended = 0;
	int fd;

	if (!o->reply || !began)
		errx(1, "calls need a reply, and memory");
	fd = start_client(o);
	measure_init(m, o);
	do {
		for (; sent - ended < o->in_flight; sent++) {
			began[sent % o->in_flight] = ticks();
			if (!send_all(fd, out, o->request))
				lost();
		}
		if (!recv_all(fd, in, o->reply))
			lost();
	} while (measure_call(m, began[ended++ % o->in_flight]));
	measure_end(m);
	close(fd);
	free(began);
	free(out);
	free(in);
}

static void run_bulk(struct measure *m, const struct options *o)
{
	char *out = make_buffer(o->request);
	uint64_t began;
	int fd;

	fd = start_client(o);
	measure_init(m, o);
	do {
		began = ticks();
		if (!send_all(fd, out, o->request))
			lost();
	} while (measure_call(m, began));
	/* Until the last byte has arrived. */
	shutdown(fd, SHUT_WR);
	if (!recv_all(fd, out, 1))
		lost();
	measure_end(m);
	close(fd);
	free(out);
}

static int connect_and_call(const struct options *o)
{
	static char buf[65536];
	int fd = start_client(o);

	if (o->request > sizeof(buf) || o->reply > sizeof(buf) || !send_all(fd, buf, o->request) ||
	    !recv_all(fd, buf, o->reply))
		lost();
	return fd;
}

static void run_connect(struct measure *m, const struct options *o)
{
	uint64_t began;
	bool more;
	int fd;

	measure_init(m, o);
	do {
		began = ticks();
		fd = connect_and_call(o);
		more = measure_call(m, began);
		close(fd);
	} while (more);
	measure_end(m);
}

static void idle(const struct options *o)
{
	struct memory *kinds = o->kinds ? memory_now() : NULL;
	uint64_t i, before;

	connect_and_call(o);
	before = memory_used();
	for (i = 0; i < o->calls; i++)
		connect_and_call(o);
	memory_report(before, o->calls);
	if (kinds)
		memory_more(kinds, o->calls);
	free(kinds);
}

int main(int argc, char **argv)
{
	struct options o;

	options_parse(&o, argc, argv, usage);
	if (!o.address)
		errx(2, "which address?");
	if (!strcmp(o.mode, "serve-busy") || !strcmp(o.mode, "call-busy"))
		recv_flags = MSG_DONTWAIT;
	if (!strcmp(o.mode, "serve") || !strcmp(o.mode, "serve-busy"))
		return is_udp(o.address) ? serve_udp(&o) : serve(&o, serve_apart);
	if (!strcmp(o.mode, "hold"))
		return serve(&o, answer_once);
	if (!strcmp(o.mode, "serve-events")) {
		struct sockaddr_storage addr;

		return serve_events(listen_at(&o, &addr));
	}
	if (!strcmp(o.mode, "call") || !strcmp(o.mode, "call-busy")) {
		measure_run(&o, run_calls);
	} else if (!strcmp(o.mode, "call-events")) {
		measure_run(&o, run_events);
	} else if (!strcmp(o.mode, "bulk")) {
		o.reply = 0;
		measure_run(&o, run_bulk);
	} else if (!strcmp(o.mode, "connect")) {
		measure_run(&o, run_connect);
	} else if (!strcmp(o.mode, "idle")) {
		idle(&o);
	} else {
		fputs(usage, stderr);
		return 2;
	}
	return 0;
}
