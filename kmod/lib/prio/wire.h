/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets of the prio transport, all integers little-endian. A UDP datagram has one packet, or
 * several, one behind the other: then all but the last are DATA. Documentation/prio-protocol.rst
 * describes the packets for other implementations. All packets begin with
 *
 *   struct mrpc_prio_hdr	24 bytes
 *
 * and continue with
 *
 *   DATA			struct mrpc_prio_data, then payload: @nr bytes, or to the end
 *   CONTROL			@nr times struct mrpc_prio_entry
 *   HELLO, COOKIE, WELCOME	struct mrpc_prio_body
 *   RESET			nothing
 *
 * A token is a random number that an end draws for each association with a peer. So it identifies
 * the incarnation of that end: after a restart the token is different. A sender knows the token
 * of an end only from that end. No other host can make packets that have an effect.
 */
#ifndef MRPC_LIB_PRIO_WIRE_H
#define MRPC_LIB_PRIO_WIRE_H

#include <linux/mrpc.h>
#include "lib/ds/types.h"

#define MRPC_PRIO_MAGIC		0x506d		/* "mP" */
#define MRPC_PRIO_VERSION	1
#define MRPC_PRIO_MAX_MSG	(1ULL << 62)	/* never reached */
#define MRPC_PRIO_WINDOW	1024		/* messages of a sender that may be unseen */
#define MRPC_PRIO_MAX_TOTAL	(MRPC_MAX_MESSAGE + 32768)	/* with the upper layer's header */
#define MRPC_PRIO_MAX_SHARED	1200		/* bytes of a datagram of several packets */
#define MRPC_PRIO_MAX_CONTROL	56		/* entries of a packet: 1368 bytes */

enum mrpc_prio_type {
	MRPC_PRIO_DATA = 1,
	MRPC_PRIO_CONTROL,
	MRPC_PRIO_HELLO,	/* asks for an association */
	MRPC_PRIO_COOKIE,	/* answers a HELLO without a valid cookie; no state is kept */
	MRPC_PRIO_WELCOME,	/* answers one with a valid cookie: the association is made */
	MRPC_PRIO_RESET,	/* answers a packet with an unknown token */
	MRPC_PRIO_TYPE_MAX = MRPC_PRIO_RESET,
};

/* mrpc_prio_hdr.flags */
#define MRPC_PRIO_CRC		BIT(0)	/* @crc is set; always in a handshake */
#define MRPC_PRIO_AGAIN		BIT(1)	/* DATA: sent before */
#define MRPC_PRIO_URGE		BIT(2)	/* DATA: acknowledge without delay, answer with the state */
#define MRPC_PRIO_ECN		BIT(3)	/* CONTROL: congestion was experienced since the last one */
#define MRPC_PRIO_FLAGS		(MRPC_PRIO_CRC | MRPC_PRIO_AGAIN | MRPC_PRIO_URGE | MRPC_PRIO_ECN)

/**
 * struct mrpc_prio_hdr - 24 bytes
 * @magic: MRPC_PRIO_MAGIC
 * @version: MRPC_PRIO_VERSION
 * @type: enum mrpc_prio_type
 * @flags: MRPC_PRIO_*
 * @priority: DATA: of the message, 0 (least) to 255
 * @nr: CONTROL: entries, 1 to MRPC_PRIO_MAX_CONTROL. DATA: bytes of payload, if another packet
 *	follows; 0: the payload goes to the end of the datagram
 * @to: token of the receiver. HELLO: 0. RESET: @to of the packet that it answers
 * @crc: crc32c, or 0
 * @from: DATA and CONTROL: the lower half of the sender's token. Other types: 0
 */
struct mrpc_prio_hdr {
	__le16 magic;
	u8 version;
	u8 type;
	u8 flags;
	u8 priority;
	__le16 nr;
	__le64 to;
	__le32 crc;
	__le32 from;
};

static_assert(sizeof(struct mrpc_prio_hdr) == 24);

/* The kind of a message. Only the upper layer uses the kinds; the parser checks their range. */
enum mrpc_prio_kind {
	MRPC_PRIO_OPEN,		/* may make a connection: the upper layer's HELLO */
	MRPC_PRIO_REQUEST,
	MRPC_PRIO_REPLY,
	MRPC_PRIO_OTHER,	/* the upper layer's control frames */
	MRPC_PRIO_KIND_MAX = MRPC_PRIO_OTHER,
};

/**
 * struct mrpc_prio_data - a piece of a message; 40 bytes
 * @conn: connection; the client that chose it never uses it again
 * @msg: number of the message: 1, 2, ... in each association and direction, in the order
 *	in which the first packets were sent
 * @ack: a message of the other direction that is received completely, or 0
 * @total: bytes of the message, at most MRPC_PRIO_MAX_TOTAL
 * @offset: of the payload in the message
 * @unscheduled: bytes from 0 that the sender sends without a grant, at most @total
 * @kind: enum mrpc_prio_kind
 * @resv: zero
 * @behind: all messages before @msg - @behind are known to be seen, or are abandoned;
 *	less than MRPC_PRIO_WINDOW
 */
struct mrpc_prio_data {
	__le64 conn;
	__le64 msg;
	__le64 ack;
	__le32 total;
	__le32 offset;
	__le32 unscheduled;
	u8 kind;
	u8 resv;
	__le16 behind;
};

static_assert(sizeof(struct mrpc_prio_data) == 40);

#define MRPC_PRIO_BODY_LEN	(sizeof(struct mrpc_prio_hdr) + 40)
#define MRPC_PRIO_DATA_HDR	(sizeof(struct mrpc_prio_hdr) + sizeof(struct mrpc_prio_data))

/* First the ops of a receiver of a message to its sender, then the reverse, then both. */
enum mrpc_prio_op {
	MRPC_PRIO_GRANT = 1,	/* may be sent up to @to; all bytes before @from are received */
	MRPC_PRIO_RESEND,	/* @from to @to is missing, and is granted */
	/* @msg is received completely or over; bit i of @from and then @to: so is @msg + 1 + i */
	MRPC_PRIO_ACK,
	MRPC_PRIO_REFUSE,	/* @code: enum mrpc_prio_refusal */
	MRPC_PRIO_BUSY,		/* the bytes asked for will come; higher ranks go first */
	MRPC_PRIO_ABORT,	/* the sender has given up @msg, or does not know it */
	MRPC_PRIO_PING,		/* @msg: any value; answered by PONG with the same */
	MRPC_PRIO_PONG,
	MRPC_PRIO_OP_MAX = MRPC_PRIO_PONG,
};

enum mrpc_prio_refusal {
	MRPC_PRIO_LATER = 1,	/* no room: announce it again later */
	MRPC_PRIO_UNKNOWN,	/* no such connection */
	MRPC_PRIO_TOO_BIG,	/* larger than is accepted */
	MRPC_PRIO_REJECTED,	/* begun, and then rejected by the receiver */
	MRPC_PRIO_REFUSAL_MAX = MRPC_PRIO_REJECTED,
};

/**
 * struct mrpc_prio_entry - entry of a CONTROL packet; 24 bytes. An op sets unused fields to 0
 * @msg: number of the message
 * @from: see the ops
 * @to: see the ops
 * @op: enum mrpc_prio_op
 * @class: GRANT: network priority of the granted bytes, 0 to MRPC_PRIO_CLASSES - 2
 * @code: REFUSE: why
 * @resv: zero
 */
struct mrpc_prio_entry {
	__le64 msg;
	__le32 from;
	__le32 to;
	u8 op;
	u8 class;
	__le16 code;
	__le32 resv;
};

static_assert(sizeof(struct mrpc_prio_entry) == 24);

/* Network priorities: the highest is for packets that are not DATA. */
#define MRPC_PRIO_CLASSES	8
#define MRPC_PRIO_CONTROL_CLASS	(MRPC_PRIO_CLASSES - 1)

/* mrpc_prio_body.features */
#define MRPC_PRIO_FEATURE_CRC	BIT(0)	/* all packets after WELCOME are to have a crc */
#define MRPC_PRIO_FEATURES	MRPC_PRIO_FEATURE_CRC

/**
 * struct mrpc_prio_body - body of HELLO, COOKIE, WELCOME; 40 bytes
 * @token: of the sender. COOKIE: 0
 * @cookie: HELLO: as received, or 0. COOKIE: to be sent back. WELCOME: 0
 * @epoch: belongs to @cookie
 * @features: HELLO, WELCOME: MRPC_PRIO_FEATURE_* that the sender wants; COOKIE: 0
 * @unscheduled: HELLO, WELCOME: bytes that the sender takes without a grant, of all
 *	messages together; COOKIE: 0
 * @max_total: HELLO, WELCOME: largest message that the sender takes; COOKIE: 0
 * @stamp: HELLO: any value; COOKIE and WELCOME: the same value
 */
struct mrpc_prio_body {
	__le64 token;
	__le64 cookie;
	__le32 epoch;
	__le32 features;
	__le32 unscheduled;
	__le32 max_total;
	__le64 stamp;
};

static_assert(sizeof(struct mrpc_prio_body) == 40);

/* Why a packet, or an entry of one, had no effect. */
enum mrpc_prio_drop {
	MRPC_PRIO_DROP_SHORT,		/* ends in its header */
	MRPC_PRIO_DROP_MAGIC,		/* wrong magic */
	MRPC_PRIO_DROP_VERSION,		/* another version */
	MRPC_PRIO_DROP_TYPE,		/* unknown type, op, kind or code */
	MRPC_PRIO_DROP_FLAGS,		/* unknown flags, or not of this type */
	MRPC_PRIO_DROP_RESERVED,	/* a reserved or unused field is not zero */
	MRPC_PRIO_DROP_LENGTH,		/* longer or shorter than its header says */
	MRPC_PRIO_DROP_RANGE,		/* a field is out of range */
	MRPC_PRIO_DROP_CRC,		/* wrong, or missing although agreed on */
	MRPC_PRIO_DROP_STRANGER,	/* no such peer */
	MRPC_PRIO_DROP_TOKEN,		/* not the token that the peer was given */
	MRPC_PRIO_DROP_COOKIE,		/* wrong or too old; answered with a new one */
	MRPC_PRIO_DROP_STATE,		/* not in this state of the association */
	MRPC_PRIO_DROP_WINDOW,		/* a message number beyond the window */
	MRPC_PRIO_DROP_MISMATCH,	/* differs from earlier packets in total, kind, ... */
	MRPC_PRIO_DROP_DUPLICATE,	/* all its bytes are already received */
	MRPC_PRIO_DROP_UNGRANTED,	/* beyond what was granted */
	MRPC_PRIO_DROP_UNKNOWN,		/* about a message that does not exist (any more) */
	MRPC_PRIO_DROP_STALE,		/* an old grant, or a range that makes no sense */
	MRPC_PRIO_DROP_LIMIT,		/* too many messages at once */
	MRPC_PRIO_DROP_GAPS,		/* too many gaps in one message */
	MRPC_PRIO_DROP_MEMORY,		/* no memory */
	MRPC_PRIO_DROP_REFUSED,		/* by the upper layer */
	MRPC_PRIO_NR_DROPS,
};

const char *mrpc_prio_drop_name(u32 drop);

/**
 * struct mrpc_prio_packet - a checked packet in host byte order
 * @len: bytes of payload (DATA)
 * @size: bytes of the whole packet; if the datagram has more, another packet follows
 * @train: number of datagrams that came with it and continue where it ends, one behind the other,
 *	each with @len bytes but the last: see mrpc_prio_follows(). The code that finds the train
 *	sets this; the parser sets 0
 * @train_len: bytes of payload of the train
 * @crc: as received; the caller of the parser checks it, see mrpc_prio_parse()
 * @entries: CONTROL: @nr of them, in the buffer, each checked
 * The other fields are as on the wire.
 */
struct mrpc_prio_packet {
	u8 type;
	u8 flags;
	u8 priority;
	u8 kind;
	u16 nr;
	u16 behind;
	u32 crc;
	u32 from;
	u32 len;
	u32 size;
	u32 train;
	u32 train_len;
	u64 to;
	union {
		struct {
			u64 conn;
			u64 msg;
			u64 ack;
			u32 total;
			u32 offset;
			u32 unscheduled;
		};
		struct {
			u64 token;
			u64 cookie;
			u64 stamp;
			u32 epoch;
			u32 features;
			u32 budget;
			u32 max_total;
		};
		const u8 *entries;
	};
};

/* struct mrpc_prio_entry in host byte order */
struct mrpc_prio_note {
	u64 msg;
	u32 from;
	u32 to;
	u8 op;
	u8 class;
	u16 code;
};

/** mrpc_prio_note_get() - get entry @i, less than @p->nr, of a CONTROL packet */
void mrpc_prio_note_get(const struct mrpc_prio_packet *p, u32 i, struct mrpc_prio_note *note);

/** mrpc_prio_note_put() - write an entry of 24 bytes */
void mrpc_prio_note_put(const struct mrpc_prio_note *note, void *buf);

/**
 * mrpc_prio_parse() - check a packet, without any state
 * @buf: its beginning: all but the payload of DATA. Need not be aligned
 * @linear: bytes at @buf, at least MRPC_PRIO_DATA_HDR or the whole datagram
 * @len: bytes of the datagram, from @buf on
 *
 * With MRPC_PRIO_CRC in @p->flags the caller must compare the crc32c of @p->size bytes,
 * the field @crc taken as zero, with @p->crc, and count MRPC_PRIO_DROP_CRC.
 *
 * Return: 0, or -EPROTO and *@why is an enum mrpc_prio_drop.
 */
int mrpc_prio_parse(const void *buf, u32 linear, u32 len, struct mrpc_prio_packet *p, u32 *why);

/**
 * mrpc_prio_follows() - does a packet continue where another one ends?
 * @p: a packet that mrpc_prio_parse() has accepted
 * @head: its MRPC_PRIO_DATA_HDR bytes of header, if it is DATA
 * @next: as many bytes of another datagram, as received
 * @at: bytes of payload from the first of @p to the first of that
 * @len: bytes of payload of that datagram
 *
 * True if both are DATA with payload, alone in their datagrams, without a crc, and the headers
 * are the same, except the offset, which is greater by @at. mrpc_prio_parse() of the other packet
 * would then tell nothing new.
 */
bool mrpc_prio_follows(const struct mrpc_prio_packet *p, const void *head, const void *next,
		       u32 at, u32 len);

/** mrpc_prio_encode() - make a packet without payload and entries. Return: its bytes */
u32 mrpc_prio_encode(const struct mrpc_prio_packet *p, void *buf);

/** mrpc_prio_has_crc() - must the caller set the crc of a packet that was made here? */
static inline bool mrpc_prio_has_crc(const void *buf)
{
	return ((const u8 *)buf)[offsetof(struct mrpc_prio_hdr, flags)] & MRPC_PRIO_CRC;
}

/** mrpc_prio_set_crc() - write @crc into the header; it covers the packet with that field zero */
static inline void mrpc_prio_set_crc(void *buf, u32 crc)
{
	put_unaligned_le32(crc, (u8 *)buf + offsetof(struct mrpc_prio_hdr, crc));
}

#define MRPC_PRIO_OFFSET_AT	(sizeof(struct mrpc_prio_hdr) + offsetof(struct mrpc_prio_data, offset))

/** mrpc_prio_set_offset() - write another @offset into a DATA header; its crc becomes wrong */
static inline void mrpc_prio_set_offset(void *buf, u32 offset)
{
	put_unaligned_le32(offset, (u8 *)buf + MRPC_PRIO_OFFSET_AT);
}

#endif /* MRPC_LIB_PRIO_WIRE_H */
