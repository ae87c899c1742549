// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Listeners with TLS, or for both transports: a thread of this process accepts the connections,
 * makes their handshakes, and gives them to a listener in the kernel. Without TLS, first_byte.c
 * takes the place of a handshake.
 *
 * No handshake blocks the thread, and SHAKES_MAX are under way at most. At the limit, the thread
 * drops the oldest handshake of the peer that has most of them: a peer that opens many connections
 * and says nothing loses them first. A handshake that is younger than a second keeps its place, and
 * new connections wait: else many clients that come at a time would end each other.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "acceptor.h"
#include "clock.h"

#define SHAKES_MAX	128
#define SHAKE_NS	10000000000u	/* in which a handshake must end */
#define YOUNG_NS	1000000000u	/* in which it keeps its place */
#define LINGER_NS	1000000000u	/* in which a peer can read why it is refused */
#define PAUSE_NS	100000000u	/* without accepting, when there are no descriptors left */
#define ACCEPT_MAX	16		/* before handshakes have a turn */
#define FDS_OTHER	2		/* the thread's descriptors before those of handshakes */

/**
 * struct shake - one connection that is not the kernel's yet
 * @secure: its handshake
 * @until: when it must have ended
 * @refused: the handshake has failed, and the peer may read the alert that says why
 * @peer: the peer's address
 */
struct shake {
	struct secure *secure;
	u64 until;
	bool refused;
	struct sockaddr_storage peer;
};

/**
 * struct acceptor - what accepts the connections of one listener
 * @session: of the listener
 * @tls: the configuration, a reference
 * @transport: of the listener
 * @listener: the kernel's number
 * @grpc: the same, for peers that speak HTTP/2
 * @fd: the listening socket
 * @stop_fd: eventfd that ends the thread
 * @pause: until when the thread accepts nothing
 * @nr: how many @shakes
 * @shakes: the oldest first
 * @thread: the thread
 */
struct acceptor {
	const struct mrpc_session *session;
	struct mrpc_tls *tls;
	char transport[MRPC_TRANSPORT_LEN];
	u32 listener;
	u32 grpc;
	int fd;
	int stop_fd;
	u64 pause;
	u32 nr;
	struct shake shakes[SHAKES_MAX];
	pthread_t thread;
};

/* Ends a handshake. @taken: the kernel has the socket. */
static void drop(struct acceptor *a, u32 i, bool taken)
{
	struct secure *s = a->shakes[i].secure;
	int fd = s->fd;

	/* A child that is forked at any moment finds no handshake here that was freed. */
	a->nr--;
	memmove(&a->shakes[i], &a->shakes[i + 1], (a->nr - i) * sizeof(a->shakes[0]));
	s->ops->end(s);
	if (!taken)
		close(fd);
}

static void note(struct acceptor *a, const struct shake *sh, const char *why)
{
	char text[MRPC_ADDR_TEXT + EXPLAIN_LEN], peer[MRPC_ADDR_TEXT];

	mrpc_addr_format(a->transport, &sh->peer, peer, sizeof(peer));
	snprintf(text, sizeof(text), "%s: %s", peer, why);
	a->tls->ops->refused(a->tls, text);
}

/*
 * The handshake has failed. A socket that is closed with bytes that were not read resets the
 * connection, and the peer may then not read the alert. So the thread first reads what comes.
 */
static void refuse(struct acceptor *a, struct shake *sh)
{
	note(a, sh, sh->secure->why);
	shutdown(sh->secure->fd, SHUT_WR);
	sh->secure->events = POLLIN;
	sh->refused = true;
	sh->until = clock_ns() + LINGER_NS;
}

static void adopt(struct acceptor *a, u32 i)
{
	const struct secure *s = a->shakes[i].secure;
	char why[EXPLAIN_LEN] = "";
	struct mrpc_adopt arg = {
		.size = sizeof(arg),
		.listener = s->http2 ? a->grpc : a->listener,
		.fd = s->fd,
		.identity = (uintptr_t)s->identity,
		.identity_len = s->identity_len,
		.explain = { .buf = (uintptr_t)why, .len = sizeof(why) },
	};
	int err = secure_adopt(a->session, MRPC_IOC_ADOPT, &arg, &arg.fd);

	if (err)
		note(a, &a->shakes[i], why[0] ? why : strerror(-err));
	drop(a, i, arg.fd == -1);
}

/* Its socket is ready. */
static void go_on(struct acceptor *a, u32 i)
{
	struct shake *sh = &a->shakes[i];
	struct secure *s = sh->secure;
	char ignored[4096];
	int err;

	if (sh->refused) {
		if (recv(s->fd, ignored, sizeof(ignored), MSG_DONTWAIT) <= 0)
			drop(a, i, false);
		return;
	}
	err = s->ops->step(s);
	if (!err)
		adopt(a, i);
	else if (err != -EAGAIN)
		refuse(a, sh);
}

static void time_out(struct acceptor *a, u32 i)
{
	if (!a->shakes[i].refused)
		note(a, &a->shakes[i], "the peer did not end the TLS handshake in 10 s");
	drop(a, i, false);
}

/* -- new connections ------------------------------------------------------------------------ */

/* Which peer: one of IPv6 has all addresses of a /64. */
static void peer_key(const struct shake *sh, u8 key[16])
{
	const struct sockaddr_in6 *in6 = (const void *)&sh->peer;
	const struct sockaddr_in *in4 = (const void *)&sh->peer;

	memset(key, 0, 16);
	if (sh->peer.ss_family == AF_INET)
		memcpy(key, &in4->sin_addr, sizeof(in4->sin_addr));
	else
		memcpy(key, &in6->sin6_addr, IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr) ? 16 : 8);
}

/* The oldest handshake of a peer that has most of them. */
static u32 find_victim(const struct acceptor *a)
{
	u32 i, j, nr, most = 0, victim = 0;
	u8 keys[SHAKES_MAX][16];

	for (i = 0; i < a->nr; i++)
		peer_key(&a->shakes[i], keys[i]);
	for (i = 0; i < a->nr; i++) {
		for (j = i, nr = 0; j < a->nr; j++)
			nr += !memcmp(keys[i], keys[j], sizeof(keys[i]));
		if (nr > most) {
			most = nr;
			victim = i;
		}
	}
	return victim;
}

/* From when on there is a place for a new connection. */
static u64 room_at(const struct acceptor *a)
{
	const struct shake *victim;

	if (a->nr < SHAKES_MAX)
		return 0;
	victim = &a->shakes[find_victim(a)];
	return victim->refused ? 0 : victim->until - SHAKE_NS + YOUNG_NS;
}

static void add(struct acceptor *a, int fd, const struct sockaddr_storage *peer)
{
	struct secure *s;
	u32 victim;

	if (a->nr == SHAKES_MAX) {
		victim = find_victim(a);
		if (!a->shakes[victim].refused)
			note(a, &a->shakes[victim], "too many TLS handshakes are under way");
		drop(a, victim, false);
	}
	s = a->tls->ops->begin(a->tls, fd, a->transport, "");
	if (!s) {
		close(fd);
		return;
	}
	a->shakes[a->nr] = (struct shake){
		.secure = s, .until = clock_ns() + SHAKE_NS, .peer = *peer,
	};
	/* A child that is forked at any moment finds only handshakes that are complete. */
	__atomic_store_n(&a->nr, a->nr + 1, __ATOMIC_RELEASE);
}

/* A connection that has ended before is no reason to stop; anything else may not go away soon. */
static void accept_some(struct acceptor *a)
{
	struct sockaddr_storage peer;
	socklen_t len;
	int fd, i;

	for (i = 0; i < ACCEPT_MAX && room_at(a) <= clock_ns(); i++) {
		len = sizeof(peer);
		fd = accept4(a->fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			add(a, fd, &peer);
		} else if (errno != ECONNABORTED && errno != EINTR) {
			if (errno != EAGAIN)
				a->pause = clock_ns() + PAUSE_NS;
			return;
		}
	}
}

/* -- the thread ------------------------------------------------------------------------------ */

/* Fills in what the thread waits for. Return: for how many milliseconds, -1: for ever. */
static int prepare(const struct acceptor *a, struct pollfd *fds)
{
	u64 now = clock_ns(), next = FOR_EVER, room = room_at(a);
	u32 i;

	if (room < a->pause)
		room = a->pause;
	fds[0] = (struct pollfd){ .fd = a->stop_fd, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = room > now ? -1 : a->fd, .events = POLLIN };
	if (room > now)
		next = room;
	for (i = 0; i < a->nr; i++) {
		fds[FDS_OTHER + i] = (struct pollfd){
			.fd = a->shakes[i].secure->fd, .events = a->shakes[i].secure->events,
		};
		if (a->shakes[i].until < next)
			next = a->shakes[i].until;
	}
	if (next == FOR_EVER)
		return -1;
	return next > now ? (int)((next - now + 999999) / 1000000) : 0;
}

static void *acceptor_main(void *arg)
{
	static const struct timespec out_of_memory = { .tv_nsec = PAUSE_NS };
	struct pollfd fds[FDS_OTHER + SHAKES_MAX];
	struct acceptor *a = arg;
	int wait;
	u64 now;
	u32 i;

	for (;;) {
		wait = prepare(a, fds);
		if (poll(fds, FDS_OTHER + a->nr, wait) < 0) {
			nanosleep(&out_of_memory, NULL);
			continue;
		}
		if (fds[0].revents)
			return NULL;
		now = clock_ns();
		/* From the end: each that is dropped moves those behind it. */
		for (i = a->nr; i-- > 0;) {
			if (a->shakes[i].until <= now)
				time_out(a, i);
			else if (fds[FDS_OTHER + i].revents)
				go_on(a, i);
		}
		if (fds[1].revents)
			accept_some(a);
	}
}

static int start_thread(struct acceptor *a)
{
	int err = thread_start(&a->thread, acceptor_main, a);

	if (!err)
		pthread_setname_np(a->thread, "mrpc-accept");
	return err;
}

struct acceptor *acceptor_new(const struct mrpc_session *session, struct mrpc_tls *tls,
			      const struct mrpc_connect *serve, u32 grpc, int fd)
{
	struct acceptor *a = calloc(1, sizeof(*a));
	int err;

	if (!a) {
		fail(ENOMEM, "out of memory");
		return NULL;
	}
	a->session = session;
	a->tls = tls;
	tls->ops->get(tls);
	memcpy(a->transport, serve->transport, sizeof(a->transport));
	a->listener = serve->id;
	a->grpc = grpc;
	a->fd = fd;
	a->stop_fd = eventfd(0, EFD_CLOEXEC);
	err = a->stop_fd < 0 ? errno : start_thread(a);
	if (err) {
		fail(err, "cannot start a thread to accept connections: %s", strerror(err));
		if (a->stop_fd >= 0)
			close(a->stop_fd);
		tls->ops->put(tls);
		free(a);
		errno = err;
		return NULL;
	}
	return a;
}

/* In a forked child the thread does not exist, and may have been anywhere: only sockets end. */
static void close_shakes(struct acceptor *a)
{
	u32 i;

	for (i = 0; i < a->nr; i++)
		close(a->shakes[i].secure->fd);
}

void acceptor_free(struct acceptor *a)
{
	u64 one = 1;

	if (!a)
		return;
	if (session_is_foreign(a->session)) {
		close_shakes(a);
	} else {
		/* The counter of the eventfd has room. */
		while (write(a->stop_fd, &one, sizeof(one)) < 0)
			;
		pthread_join(a->thread, NULL);
		while (a->nr)
			drop(a, a->nr - 1, false);
	}
	close(a->stop_fd);
	close(a->fd);
	a->tls->ops->put(a->tls);
	free(a);
}
