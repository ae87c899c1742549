/* SPDX-License-Identifier: GPL-2.0 */
/* What the ways of using a socket have in common: one message a time, or an event loop. */
#ifndef _TCP_BENCH_H
#define _TCP_BENCH_H

#include "measure.h"

/* What a client says first. */
struct greeting {
	uint64_t request;
	uint64_t reply;		/* 0: no replies, but one byte at the end of the stream */
};

/* A socket of the client that has said its greeting. */
int start_client(const struct options *o);

void no_delay(int fd);

/* Return: false when the peer is gone. */
bool send_all(int fd, const char *buf, size_t len);

/* Says that the server is gone, and exits. */
void lost(void);

/* tcp_events.c: serves all connections of @listener in one thread, until SIGTERM. */
int serve_events(int listener);

/* tcp_events.c: calls over @o->conns connections in turn, in one thread. */
void run_events(struct measure *m, const struct options *o);

#endif
