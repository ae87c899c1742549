/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer that speaks the native wire format by hand over a plain TCP socket, as
 * well or as badly as a test wants.
 */
#ifndef PEER_H
#define PEER_H

#include "raw.h"
#include "lib/message/handshake.h"
#include "lib/message/wire.h"

#define PEER_BUF	(1 << 20)

/**
 * struct peer - one end of a connection
 * @fd: the socket
 * @seq: sequence of the last call id given
 * @features: what its hellos offer, or choose
 * @sums: its calls and replies have checksums
 * @spoil: what is wrong with the next one's: nothing, the head's, that of the bytes, or
 *	what stands behind that
 * @frame: what peer_recv() got
 * @body: and what followed its header
 */
struct peer {
	int fd;
	u64 seq;
	u64 features;
	bool sums;
	enum { PEER_FINE, PEER_HEAD, PEER_BYTES, PEER_RESV } spoil;
	struct mrpc_frame frame;
	u32 body_len;
	u8 body[PEER_BUF];
};

/* CRC-32C, bit by bit; from ~0, and to be inverted at the end. */
u32 peer_sum(u32 sum, const void *data, size_t len);

/* SHA-256 of a service's schema, as the kernel computes it. */
void peer_hash(unsigned int service, u8 *hash);

int peer_listen(u16 *port);			/* on 127.0.0.1; the socket */
bool peer_accept(struct peer *p, int listener, unsigned int ms);
void peer_connect(struct peer *p, u16 port);	/* TCP only */
void peer_connect_small(struct peer *p, u16 port, int room);	/* a receive buffer of @room bytes */
void peer_close(struct peer *p);
void peer_reset(struct peer *p);		/* with a RST */

/* Everything, or dies; false: the other side has closed. */
bool peer_send(struct peer *p, const void *buf, size_t len);

/* A header and what follows it. */
bool peer_send_frame(struct peer *p, const struct mrpc_frame *f, const void *body, u32 len);
bool peer_send_control(struct peer *p, u8 type, u64 call_id);

/*
 * 1: a frame; 0: end of the stream or reset; -1: nothing in @ms. Dies if it has a
 * checksum that is wrong.
 */
int peer_recv(struct peer *p, unsigned int ms);
/* Dies unless the next frame, PINGs answered, is of @type. */
void peer_expect(struct peer *p, u8 type);
/* Waits until the other side closes, reading; false: it did not in @ms. */
bool peer_closed(struct peer *p, unsigned int ms);

/* How the stream ends: 0 in order, or an errno; dies if it does not. */
int peer_end(struct peer *p);

/* HELLO for both services, and its body; then the whole handshake. */
u32 peer_hello_body(void *buf);
void peer_hello(struct peer *p);
void peer_shake(struct peer *p, u16 port);
/* The server's side: reads HELLO, answers. */
void peer_welcome(struct peer *p);

/* The next call id in @slot. */
u64 peer_id(struct peer *p, u16 slot);

/**
 * peer_blob() - a Blob as on the wire
 * @buf: where to: raw_blob_size() bytes
 * Return: its bytes; @len: of its sections.
 */
u32 peer_blob(void *buf, struct mrpc_msg_len *len, u64 tag, u32 data, const char *text);

/* CALL of @method with a Blob; a good frame's header, to be spoilt. */
struct mrpc_frame peer_call_frame(u64 id, u32 method, const struct mrpc_msg_len *len);
bool peer_call(struct peer *p, u64 id, u32 method, u64 tag, u32 data);
/* REPLY with status OK and a Blob. */
bool peer_reply(struct peer *p, u64 id, u64 tag, u32 data);

/* Calls Echo and checks what comes back; dies if it does not. */
void peer_echo(struct peer *p, u16 slot, u64 tag, u32 data);

#endif /* PEER_H */
