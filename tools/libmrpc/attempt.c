// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Attempts: a name can stand for several addresses. They are tried in the order in which they
 * come, and the next one begins when the one before has failed, or has not answered for a moment:
 * so a silent one costs no more than that (RFC 8305).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "addr.h"
#include "attempt.h"
#include "clock.h"
#include "dial.h"
#include "sock.h"

#define NEXT_NS		250000000u	/* after which the next address is tried, too */
#define TURN_NS		20000000u	/* of each attempt while several are under way */
#define STOP_NS		100000000u	/* after which a wait asks whether it is to end */

/**
 * struct attempt - one address of a name
 * @arg: for the kernel, which says there under what number it is under way
 * @err: -ETIME: it is under way; else how it ended
 * @why: what the kernel explained, or the TLS handshake
 * @dial: with TLS: what comes before the kernel's part
 */
struct attempt {
	struct mrpc_connect arg;
	int err;
	char why[EXPLAIN_LEN];
	struct dial dial;
};

static void prepare_attempt(struct attempt *a, const struct mrpc_connect *arg,
			    const struct address *address)
{
	a->arg = *arg;
	a->arg.size = sizeof(a->arg);
	memcpy(a->arg.transport, address->transport, sizeof(a->arg.transport));
	memcpy(a->arg.addr, address->addr, sizeof(a->arg.addr));
	a->arg.addr_len = address->len;
	a->arg.explain.buf = (uintptr_t)a->why;
	a->arg.explain.len = sizeof(a->why);
	a->why[0] = '\0';
}

static int say_why(const struct attempt *a, int nr, const char *what, const char *address)
{
	const char *why = a->why[0] ? a->why : strerror(-a->err);
	char text[MRPC_ADDR_TEXT];

	mrpc_addr_format(a->arg.transport, a->arg.addr, text, sizeof(text));
	if (nr == 1 || !strcmp(address, text))
		return fail(-a->err, "%s %s: %s", what, address, why);
	return fail(-a->err, "%s %s (%s): %s", what, address, text, why);
}

/* Makes the TLS handshake, and gives the kernel the socket. */
static int hand_over(struct mrpc_session *session, struct attempt *a, u64 until)
{
	const struct secure *s;
	int err = dial_step(&a->dial, until, a->why, sizeof(a->why));

	if (err)
		return err;
	s = a->dial.secure;
	a->arg.flags |= MRPC_CONNECT_ADOPT;
	a->arg.fd = s->fd;
	a->arg.identity = (uintptr_t)s->identity;
	a->arg.identity_len = s->identity_len;
	err = secure_adopt(session, MRPC_IOC_CONNECT, &a->arg, &a->arg.fd);
	dial_end(&a->dial, a->arg.fd == -1);
	a->arg.flags &= ~MRPC_CONNECT_ADOPT;
	a->arg.fd = 0;
	a->arg.identity = 0;
	a->arg.identity_len = 0;
	return err;
}

/* Begins it, or goes on with it. Return: it is under way. */
static bool go_on(struct mrpc_session *session, struct attempt *a, u64 until)
{
	a->arg.until_ns = until;
	a->err = a->dial.tls ? hand_over(session, a, until) :
			       session_ioctl(session, MRPC_IOC_CONNECT, &a->arg);
	return a->err == -ETIME;
}

static void give_up(struct mrpc_session *session, struct attempt *a)
{
	dial_end(&a->dial, false);
	if (a->arg.id && (a->err == -ETIME || a->err == -EINTR))
		session_close_id(session, a->arg.id, 0);
}

/* What another address does not help against. */
static bool is_final(int err)
{
	return !err || err == -EINTR || err == -EINVAL || err == -ENOMEM;
}

/*
 * Tries until one works, none is left, it is @end, or @stopped says so.
 * Return: which one decides: the one that works, or the one that says most of why none does.
 */
static int try_all(struct mrpc_session *session, struct attempt *a, int nr, u64 end,
		   bool (*stopped)(void *ctx), void *ctx)
{
	int begun = 0, under_way = 0, last = 0, i;
	u64 now = clock_ns(), next = now, turn;

	while (now < end && (begun < nr || under_way) && !(stopped && stopped(ctx))) {
		if (begun < nr && (now >= next || !under_way)) {
			next = now + NEXT_NS;
			i = begun++;
			under_way++;
		} else {
			do
				last = (last + 1) % begun;
			while (a[last].err != -ETIME);
			i = last;
		}
		/* Alone, one waits for as long as it may; the others have their turns. */
		turn = under_way > 1 ? now + TURN_NS : begun < nr ? next : end;
		if (stopped && turn > now + STOP_NS)
			turn = now + STOP_NS;
		if (!go_on(session, &a[i], turn < end ? turn : end)) {
			if (is_final(a[i].err))
				return i;
			under_way--;
		}
		now = clock_ns();
	}
	for (i = 0; i < begun; i++)
		if (a[i].err != -ETIME)
			return i;
	return 0;
}

int attempt_connect(struct mrpc_session *session, const char *name, struct mrpc_tls *tls,
		    const struct address *list, int nr, u64 until, bool (*stopped)(void *ctx),
		    void *ctx, struct mrpc_connect *arg)
{
	struct attempt attempts[ADDRESSES_MAX], *a;
	bool shakes;
	int i;

	for (i = 0; i < nr; i++) {
		prepare_attempt(&attempts[i], arg, &list[i]);
		dial_init(&attempts[i].dial, tls, &list[i]);
		attempts[i].arg.flags = MRPC_CONNECT_KEEP;
		attempts[i].err = -ETIME;
	}
	a = &attempts[try_all(session, attempts, nr, until, stopped, ctx)];
	shakes = a->dial.secure;
	for (i = 0; i < nr; i++)
		give_up(session, &attempts[i]);
	if (!a->err) {
		*arg = a->arg;
		return 0;
	}
	if (a->err == -ETIME) {
		a->err = -ETIMEDOUT;
		snprintf(a->why, sizeof(a->why), shakes ? "the TLS handshake did not end in time" :
							  "no answer in time");
	}
	return say_why(a, nr, "cannot connect to", name);
}

/* Adds a listener that has no socket. Return: 0 or -errno. */
static int serve_without(struct mrpc_session *session, struct attempt *a, const char *transport)
{
	snprintf(a->arg.transport, sizeof(a->arg.transport), "%.*s", MRPC_TRANSPORT_LEN - 1,
		 transport);
	a->arg.flags = MRPC_CONNECT_ADOPT;
	a->arg.fd = -1;
	return session_ioctl(session, MRPC_IOC_SERVE, &a->arg);
}

/* Adds one for each transport. @grpc becomes the number of that for gRPC. Return: 0 or -errno. */
static int serve_both(struct mrpc_session *session, struct attempt *a, u32 *grpc)
{
	int err = serve_without(session, a, "grpc");

	if (err)
		return err;
	*grpc = a->arg.id;
	err = serve_without(session, a, "tcp");
	if (err)
		session_close_id(session, *grpc, 0);
	return err;
}

/*
 * This process listens, for listeners that have no socket. @grpc: as for attempt_serve().
 * Return: the socket or -errno.
 */
static int serve_here(struct mrpc_session *session, struct attempt *a, struct address *at,
		      u32 *grpc)
{
	int fd = sock_listen(at, a->arg.backlog);

	if (fd < 0)
		return fd;
	memcpy(a->arg.addr, at->addr, sizeof(a->arg.addr));
	a->arg.addr_len = at->len;
	a->err = strcmp(at->transport, ADDR_BOTH) ? serve_without(session, a, at->transport) :
						    serve_both(session, a, grpc);
	/* The address is shown as it was given. */
	memcpy(a->arg.transport, at->transport, sizeof(a->arg.transport));
	if (!a->err)
		return fd;
	close(fd);
	return a->err;
}

/*
 * The next address is tried only where this host does not have the one before: a server that cannot
 * have it must not listen, silently, at less than what was asked for.
 */
int attempt_serve(struct mrpc_session *session, const char *address, struct mrpc_connect *arg,
		  int *fd, u32 *grpc)
{
	struct address list[ADDRESSES_MAX];
	struct attempt a;
	int nr, i;

	nr = addr_resolve(address, true, list, ADDRESSES_MAX);
	if (nr < 0)
		return nr;
	for (i = 0; i < nr; i++) {
		prepare_attempt(&a, arg, &list[i]);
		if (fd) {
			*fd = serve_here(session, &a, &list[i], grpc);
			a.err = *fd < 0 ? *fd : 0;
		} else {
			a.err = session_ioctl(session, MRPC_IOC_SERVE, &a.arg);
		}
		if (a.err != -EAFNOSUPPORT && a.err != -EADDRNOTAVAIL)
			break;
	}
	if (a.err)
		return say_why(&a, nr, "cannot listen at", address);
	*arg = a.arg;
	return 0;
}
