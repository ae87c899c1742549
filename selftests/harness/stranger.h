/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer of the transport prio that speaks its protocol by hand over a plain UDP socket: just
 * enough of it to send messages, as well or as badly as a test wants. What it is sent it does not
 * read, but for handshakes.
 */
#ifndef STRANGER_H
#define STRANGER_H

#include <sys/socket.h>

#include "raw.h"
#include "lib/prio/wire.h"

#define STRANGER_BUF	65000	/* bytes of a train */

/**
 * struct stranger - one association, and a connection over it
 * @fd: the socket, which several may have
 * @to: to which it sends, on lo
 * @to_len: bytes of that
 * @from: its address if it is not the socket's, of 127.0.0.0/8 in host byte order, or 0
 * @token: its own
 * @remote: the server's
 * @conn: of its messages: the last connection
 * @msg: number of the last message
 * @answer: that of the answer to its last handshake, which is repeated until it is acknowledged
 * @features: what its hellos offer
 */
struct stranger {
	int fd;
	struct sockaddr_storage to;
	socklen_t to_len;
	u32 from;
	u64 token;
	u64 remote;
	u64 conn;
	u64 msg;
	u64 answer;
	u64 features;
};

/**
 * struct stranger_train - datagrams, to be sent as one packet that is segmented or one by one
 * @buf: all of them, one behind the other
 * @len: bytes of these
 * @segment: bytes of each but the last
 * @nr: how many
 */
struct stranger_train {
	u8 buf[STRANGER_BUF];
	u32 len;
	u32 segment;
	u32 nr;
};

/* A socket that nobody knows, of AF_INET or AF_INET6. */
void stranger_new(struct stranger *s, int family, u16 port);
/* Asks for an association with this cookie. Return: the answer, which must be of type @type. */
struct mrpc_prio_packet stranger_ask(const struct stranger *s, u64 cookie, u32 epoch, u8 type);
/* The handshake of the association; dies if it fails. */
void stranger_associate(struct stranger *s);
/* The handshake of a connection over it, of which further messages are. */
void stranger_connect(struct stranger *s);
/* Both. */
void stranger_meet(struct stranger *s);
/* It has forgotten everything, which it says; or without a word. */
void stranger_leave(struct stranger *s);
void stranger_close(struct stranger *s);

/* The first packet of a new message, of @len bytes of it; all of it unscheduled. */
struct mrpc_prio_packet stranger_message(struct stranger *s, u8 kind, u32 total, u32 len);

/* A packet of one entry, without payload. */
void stranger_say(const struct stranger *s, const struct mrpc_prio_note *note);
/* A packet that has come, or none. Return: whether there was one that can be read. */
bool stranger_heard(const struct stranger *s, struct mrpc_prio_packet *p);

/* Begins a train of datagrams of @segment bytes. */
void stranger_train(struct stranger_train *t, u32 segment);
/* A datagram more: @p, of the message at @message. Return: where it begins. */
u8 *stranger_put(struct stranger_train *t, const struct mrpc_prio_packet *p, const u8 *message);
/* Sends all of it, @singly or as one packet. */
void stranger_send(const struct stranger *s, const struct stranger_train *t, bool singly);

#endif /* STRANGER_H */
