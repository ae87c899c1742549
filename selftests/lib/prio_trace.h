/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traces of the prio transport: what happens to two endpoints, and what they do about it, as
 * text. Documentation/prio-protocol.rst (Vectors) describes it. Everything that an end does
 * follows from the events before, so the events of a trace make the same trace again, and those of
 * one end, with the packets that come to it, that end's half of it.
 */
#ifndef PRIO_TRACE_H
#define PRIO_TRACE_H

#include <stdio.h>

#include "lib/prio/prio.h"

#define TRACE_PACKET	1500	/* bytes at most */
#define TRACE_PACKETS	512	/* of a trace */
#define TRACE_MESSAGES	128	/* of an end, in each direction */
#define TRACE_BUCKETS	64
#define TRACE_TOGETHER	8	/* messages of a datagram */

struct trace_packet {
	u32 len;
	u8 buf[TRACE_PACKET] __attribute__((__aligned__(8)));
	char from;		/* 'A', 'B', or 'X': a third host */
	bool flies;		/* it was sent by an end, and has neither come nor been lost */
};

struct trace_tx {
	struct mrpc_prio_tx tx;
	u8 *content;
};

struct trace_rx {
	struct mrpc_prio_rx rx;
	u8 *content;
};

struct trace_end {
	char name;
	struct mrpc_prio ep;
	struct mrpc_order_link hash[TRACE_BUCKETS];
	struct mrpc_prio_peer peer;
	bool started;
	bool there;		/* @peer is */
	u32 payload;		/* of a packet */
	u32 refuse;		/* new messages: enum mrpc_prio_refusal, or 0 */
	u32 limit;		/* of new messages: mrpc_prio_accept() */
	struct trace_tx tx[TRACE_MESSAGES];
	struct trace_rx rx[TRACE_MESSAGES];
	u32 nr_rx;
	u64 drops[MRPC_PRIO_NR_DROPS];	/* as shown */
	u32 answer_len;
	u8 answer[MRPC_PRIO_BODY_LEN] __attribute__((__aligned__(8)));
};

struct trace {
	u64 now;
	struct trace_end end[2];
	struct trace_packet packets[TRACE_PACKETS + 1];	/* from 1 */
	u32 nr_packets;
	FILE *out;
};

/* An empty trace that goes to @out. */
struct trace *trace_new(FILE *out);
/* Frees all of it; @out is the caller's. */
void trace_free(struct trace *t);

/* One event, as text: shows it, lets it happen, and shows what the ends do about it. */
void trace_event(struct trace *t, const char *fmt, ...)
	__attribute__((__format__(__printf__, 2, 3)));
/* Shows a packet: @line, its fields, and all its bytes. */
void trace_show_packet(FILE *out, const char *line, const u8 *buf, u32 len);
/* A packet that neither end sent. Return: its number */
u32 trace_forge(struct trace *t, const u8 *buf, u32 len);
/* A remark, or an empty line. */
void trace_say(struct trace *t, const char *text);

/*
 * The events of the trace @text that concern the end @only, once more: what comes to it are the
 * packets of @text. Return: false: @text is not a trace
 */
bool trace_replay(struct trace *t, const char *text, char only);
/* What of the trace @text concerns the end @only. */
void trace_filter(const char *text, char only, FILE *out);

/* The next line of @text, without its end, to @line. Return: what follows it, or NULL: none */
const char *trace_line(const char *text, char *line, u32 size);
/* The value of @key in @line. Return: whether it is there */
bool trace_number(const char *line, const char *key, u64 *value);
bool trace_word(const char *line, const char *key, char *word, u32 size);
/* The bytes of the hexadecimal digits in @digits. Return: how many, 0 if something else is there */
u32 trace_bytes(const char *digits, u8 *buf, u32 size);

#endif /* PRIO_TRACE_H */
