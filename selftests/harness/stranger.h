/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer of the transport prio that a test plays by hand over a plain UDP socket. It has just
 * enough of the protocol to send messages, right or wrong as the test wants. It reads only
 * handshakes.
 */
#ifndef STRANGER_H
#define STRANGER_H

#include <sys/socket.h>

#include "raw.h"
#include "lib/prio/wire.h"

#define STRANGER_BUF	65000	/* bytes of a train */

/**
 * struct stranger - one association, and a connection over it
 * @fd: the socket, which several strangers may share
 * @to: address to which it sends, on lo
 * @to_len: bytes of that
 * @from: its address if it is not the socket's, of 127.0.0.0/8 in host byte order, or 0
 * @token: its own
 * @remote: the server's token
 * @conn: connection of its messages: the last one
 * @msg: number of the last message
 * @answer: number of the answer to its last handshake, which repeats until it is acknowledged
 * @features: features that its HELLOs offer
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
 * struct stranger_train - datagrams, to be sent as one segmented packet or one by one
 * @buf: all of them, one behind the other
 * @len: bytes of these
 * @segment: bytes of each but the last
 * @nr: number of datagrams
 */
struct stranger_train {
	u8 buf[STRANGER_BUF];
	u32 len;
	u32 segment;
	u32 nr;
};

/* Makes a new socket of AF_INET or AF_INET6, unknown to the server. */
void stranger_new(struct stranger *s, int family, u16 port);
/* Asks for an association with this cookie. Return: the answer; it must be of type @type. */
struct mrpc_prio_packet stranger_ask(const struct stranger *s, u64 cookie, u32 epoch, u8 type);
/* Does the handshake of the association; dies if it fails. */
void stranger_associate(struct stranger *s);
/* Does the handshake of a connection over it, for further messages. */
void stranger_connect(struct stranger *s);
/* Does both. */
void stranger_meet(struct stranger *s);
/* It forgets everything and says so with a RESET; stranger_close() is silent. */
void stranger_leave(struct stranger *s);
void stranger_close(struct stranger *s);

/* The first packet of a new message, with @len bytes of it; all of it is unscheduled. */
struct mrpc_prio_packet stranger_message(struct stranger *s, u8 kind, u32 total, u32 len);

/* Sends a packet of one entry, without payload. */
void stranger_say(const struct stranger *s, const struct mrpc_prio_note *note);
/* Receives a packet, if there is one. Return: there was one that can be parsed. */
bool stranger_heard(const struct stranger *s, struct mrpc_prio_packet *p);

/* Begins a train of datagrams of @segment bytes. */
void stranger_train(struct stranger_train *t, u32 segment);
/* Adds a datagram: @p, of the message at @message. Return: its beginning. */
u8 *stranger_put(struct stranger_train *t, const struct mrpc_prio_packet *p, const u8 *message);
/* Sends the train, @singly or as one packet. */
void stranger_send(const struct stranger *s, const struct stranger_train *t, bool singly);

#endif /* STRANGER_H */
