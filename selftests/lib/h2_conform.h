/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an end of an HTTP/2 connection answers to frames, by sections of RFC 7540 as h2spec numbers them.
 *
 * The table needs no more than bytes in and frames out, so it is good for a socket as well. The end
 * that is tested leaves calls unanswered. A client has opened streams 1, 3 and so on, for each
 * letter of @open: "o" without END_STREAM, "e" with it.
 *
 * Unless a case is RAW, the preface, empty SETTINGS and the acknowledgement of the end's SETTINGS
 * precede @in.
 *
 * @out says which frames come, separated by ";": GOAWAY CODE, RST STREAM CODE, PONG BYTES, ACK.
 * The end's first SETTINGS, its first ACK, WINDOW_UPDATE, HEADERS and DATA are not told. An end
 * that does not say GOAWAY must answer a PING at the end of the case.
 *
 * @heard says which events come, for a test of the connection without a socket: H headers of a new
 * stream, h others, t trailers, D data, R reset, G GOAWAY, O opened, S stream error, each followed by the
 * stream if it has one, then "e" for END_STREAM and "." if the stream is closed. NULL: not told.
 */
#ifndef H2_CONFORM_H
#define H2_CONFORM_H

#include <stdbool.h>
#include <stddef.h>

/* One more than the streams that the end allows, and the id of that stream. */
#ifndef H2_CONFORM_MORE
#define H2_CONFORM_MORE	"17"
#define H2_CONFORM_OVER	"33"
#endif

struct h2_case {
	const char *section;
	const char *name;
	const char *open;
	const char *in;
	const char *out;
	const char *heard;
	bool client;
	bool raw;
};

#define H2_SERVER(s, n, i, o, h) { .section = s, .name = n, .in = i, .out = o, .heard = h }
#define H2_SERVER_RAW(s, n, i, o, h) \
	{ .section = s, .name = n, .in = i, .out = o, .heard = h, .raw = true }
#define H2_CLIENT(s, n, op, i, o, h) \
	{ .section = s, .name = n, .open = op, .in = i, .out = o, .heard = h, .client = true }
#define H2_CLIENT_RAW(s, n, op, i, o, h) \
	{ .section = s, .name = n, .open = op, .in = i, .out = o, .heard = h, .client = true, .raw = true }

static const struct h2_case h2_cases[] = {
	/* 3.5 The preface. */
	H2_SERVER_RAW("3.5", "preface and SETTINGS", "PREFACE; SETTINGS - 0", "", ""),
	H2_SERVER_RAW("3.5", "another preface", "RAW 494e56414c494420", "GOAWAY 1", ""),
	H2_SERVER_RAW("3.5", "HTTP/1.1", "RAW 474554202f20485454502f312e310d0a0d0a", "GOAWAY 1", ""),
	H2_SERVER_RAW("3.5", "a TLS ClientHello", "RAW 16030100a5010000a10303", "GOAWAY 1", ""),
	H2_SERVER_RAW("3.5", "wrong last byte of the preface",
		      "RAW 505249202a20485454502f322e300d0a0d0a534d0d0a0d0b", "GOAWAY 1", ""),
	H2_SERVER_RAW("3.5", "no SETTINGS, HEADERS", "PREFACE; HEADERS eh 1 REQUEST", "GOAWAY 1", ""),
	H2_SERVER_RAW("3.5", "no SETTINGS, PING", "PREFACE; PING - 0 z8", "GOAWAY 1", ""),
	H2_SERVER_RAW("3.5", "acknowledgement before SETTINGS", "PREFACE; SETTINGS a 0", "GOAWAY 1", ""),
	H2_CLIENT_RAW("3.5", "SETTINGS", "", "SETTINGS - 0", "", ""),
	H2_CLIENT_RAW("3.5", "HTTP/1.1", "", "RAW 485454502f312e31203430302042", "GOAWAY 1", ""),
	H2_CLIENT_RAW("3.5", "no SETTINGS, GOAWAY", "", "GOAWAY - 0 u0 u0", "GOAWAY 1", ""),

	/* 4.1 Frame format. */
	H2_SERVER("4.1", "unknown type", "0x16 - 0 z8", "", ""),
	H2_SERVER("4.1", "unknown type of a stream", "HEADERS h 1 REQUEST; 0x16 0xff 1 z100; DATA e 1 00",
		  "", "H1 D1e"),
	H2_SERVER("4.1", "the largest type", "255 0xff 0 z8", "", ""),
	H2_SERVER("4.1", "undefined flags of PING", "PING 0xfe 0 z8", "PONG 0000000000000000", ""),
	H2_SERVER("4.1", "undefined flags of HEADERS", "HEADERS 0xd7 1 REQUEST", "", "H1e"),
	H2_SERVER("4.1", "reserved bit of the stream", "PING - 0x80000000 z8", "PONG 0000000000000000", ""),
	H2_SERVER("4.1", "reserved bit of HEADERS' stream", "HEADERS eh 0x80000001 REQUEST", "", "H1e"),

	/* 4.2 Frame size. */
	H2_SERVER("4.2", "DATA of 16384 bytes", "HEADERS h 1 REQUEST; DATA e 1 z16384", "", NULL),
	H2_SERVER("4.2", "DATA of 16385 bytes", "HEADERS h 1 REQUEST; DATA e 1 z16385", "GOAWAY 6", NULL),
	H2_SERVER("4.2", "HEADERS of 16385 bytes", "HEADERS eh 1 z16385", "GOAWAY 6", ""),
	H2_SERVER("4.2", "unknown type of 16385 bytes", "0x16 - 0 z16385", "GOAWAY 6", ""),
	H2_SERVER("4.2", "the longest frame", "DATA - 1 len=0xffffff", "GOAWAY 6", ""),

	/* 4.3 Header blocks. */
	H2_SERVER("4.3", "a block in pieces", "HEADERS e 1 8386; CONT - 1 040a2f742e4563686f2f446f; CONT h 1 0100",
		  "", "H1e"),
	H2_SERVER("4.3", "a block of empty pieces", "HEADERS e 1; CONT - 1; CONT h 1 REQUEST", "", "H1e"),
	H2_SERVER("4.3", "PRIORITY inside a block", "HEADERS e 1 REQUEST; PRIORITY - 1 u0 0f; CONT h 1",
		  "GOAWAY 1", ""),
	H2_SERVER("4.3", "SETTINGS inside a block", "HEADERS e 1 REQUEST; SETTINGS - 0; CONT h 1", "GOAWAY 1", ""),
	H2_SERVER("4.3", "HEADERS of another stream inside a block", "HEADERS e 1 REQUEST; HEADERS eh 3 REQUEST",
		  "GOAWAY 1", ""),
	H2_SERVER("4.3", "an unknown type inside a block", "HEADERS e 1 REQUEST; 0x16 - 0; CONT h 1", "GOAWAY 1", ""),

	/* 5.1 States of a stream. */
	H2_SERVER("5.1", "idle: DATA", "DATA e 1 00", "GOAWAY 1", ""),
	H2_SERVER("5.1", "idle: RST_STREAM", "RST - 1 u8", "GOAWAY 1", ""),
	H2_SERVER("5.1", "idle: WINDOW_UPDATE", "UPDATE - 1 u100", "GOAWAY 1", ""),
	H2_SERVER("5.1", "idle: CONTINUATION", "CONT eh 1 REQUEST", "GOAWAY 1", ""),
	H2_SERVER("5.1", "idle: PRIORITY", "PRIORITY - 1 u0 0f; HEADERS eh 1 REQUEST", "", "H1e"),
	H2_SERVER("5.1", "open: DATA", "HEADERS h 1 REQUEST; DATA - 1 00; DATA e 1 00", "", "H1 D1 D1e"),
	H2_SERVER("5.1", "open: trailers", "HEADERS h 1 REQUEST; DATA - 1 00; HEADERS eh 1 TRAILERS", "", "H1 D1 t1e"),
	H2_SERVER("5.1", "open: HEADERS without END_STREAM", "HEADERS h 1 REQUEST; HEADERS h 1 TRAILERS",
		  "RST 1 1", "H1 S1."),
	H2_SERVER("5.1", "open: RST_STREAM", "HEADERS h 1 REQUEST; RST - 1 u8", "", "H1 R1."),
	H2_SERVER("5.1", "open: WINDOW_UPDATE", "HEADERS h 1 REQUEST; UPDATE - 1 u100", "", "H1 O1"),
	H2_SERVER("5.1", "half-closed (remote): DATA", "HEADERS eh 1 REQUEST; DATA e 1 00", "RST 1 5", "H1e S1."),
	H2_SERVER("5.1", "half-closed (remote): HEADERS", "HEADERS eh 1 REQUEST; HEADERS eh 1 REQUEST",
		  "RST 1 5", "H1e S1."),
	H2_SERVER("5.1", "half-closed (remote): CONTINUATION", "HEADERS eh 1 REQUEST; CONT eh 1 REQUEST",
		  "GOAWAY 1", "H1e"),
	H2_SERVER("5.1", "half-closed (remote): WINDOW_UPDATE", "HEADERS eh 1 REQUEST; UPDATE - 1 u1", "", "H1e O1"),
	H2_SERVER("5.1", "half-closed (remote): PRIORITY", "HEADERS eh 1 REQUEST; PRIORITY - 1 u0 0f", "", "H1e"),
	H2_SERVER("5.1", "half-closed (remote): RST_STREAM", "HEADERS eh 1 REQUEST; RST - 1 u8", "", "H1e R1."),
	H2_SERVER("5.1", "closed by RST_STREAM: DATA", "HEADERS h 1 REQUEST; RST - 1 u8; DATA e 1 00",
		  "GOAWAY 5", "H1 R1."),
	H2_SERVER("5.1", "closed by RST_STREAM: HEADERS", "HEADERS h 1 REQUEST; RST - 1 u8; HEADERS eh 1 REQUEST",
		  "GOAWAY 5", "H1 R1."),
	H2_SERVER("5.1", "closed by RST_STREAM: CONTINUATION", "HEADERS h 1 REQUEST; RST - 1 u8; CONT eh 1 REQUEST",
		  "GOAWAY 1", "H1 R1."),
	H2_SERVER("5.1", "closed by RST_STREAM: PRIORITY", "HEADERS h 1 REQUEST; RST - 1 u8; PRIORITY - 1 u0 0f",
		  "", "H1 R1."),
	H2_SERVER("5.1", "closed by RST_STREAM: WINDOW_UPDATE", "HEADERS h 1 REQUEST; RST - 1 u8; UPDATE - 1 u9",
		  "", "H1 R1."),
	H2_SERVER("5.1", "closed by RST_STREAM: RST_STREAM", "HEADERS h 1 REQUEST; RST - 1 u8; RST - 1 u8",
		  "", "H1 R1."),
	H2_SERVER("5.1", "reset by this end: DATA", "HEADERS eh 1 REQUEST; DATA - 1 00; DATA e 1 z100", "RST 1 5",
		  "H1e S1."),
	H2_SERVER("5.1", "reset by this end: HEADERS", "HEADERS eh 1 REQUEST; DATA - 1 00; HEADERS eh 1 TRAILERS",
		  "RST 1 5", "H1e S1."),
	H2_SERVER("5.1", "reset by this end: RST_STREAM, WINDOW_UPDATE",
		  "HEADERS eh 1 REQUEST; DATA - 1 00; RST - 1 u5; UPDATE - 1 u1; UPDATE - 1 u0", "RST 1 5", "H1e S1."),
	H2_CLIENT("5.1", "open: the answer", "o", "HEADERS h 1 REPLY; DATA - 1 00; HEADERS eh 1 TRAILERS", "",
		  "h1 D1 t1e"),
	H2_CLIENT("5.1", "half-closed (local): the answer", "e", "HEADERS h 1 REPLY; DATA - 1 00; HEADERS eh 1 TRAILERS",
		  "", "h1 D1 t1e."),
	H2_CLIENT("5.1", "half-closed (local): only trailers", "e", "HEADERS eh 1 TRAILERS", "", "h1e."),
	/* gRPC's servers answer twice now and then: that must not end other calls. */
	H2_CLIENT("5.1", "closed: DATA", "e", "HEADERS eh 1 TRAILERS; DATA e 1 00", "", "h1e."),
	H2_CLIENT("5.1", "closed: HEADERS", "e", "HEADERS eh 1 TRAILERS; HEADERS eh 1 TRAILERS", "", "h1e."),
	H2_CLIENT("5.1", "closed: answered twice", "e", "HEADERS eh 1 TRAILERS; RST - 1 u0; HEADERS eh 1 TRAILERS; RST - 1 u0",
		  "", "h1e."),
	H2_CLIENT("5.1", "closed: RST_STREAM, WINDOW_UPDATE", "e", "HEADERS eh 1 REPLY; RST - 1 u0; UPDATE - 1 u1", "",
		  "h1e."),
	H2_CLIENT("5.1", "half-closed (remote): DATA", "o", "HEADERS eh 1 TRAILERS; DATA e 1 00", "RST 1 5", "h1e S1."),
	H2_CLIENT("5.1", "half-closed (remote): RST_STREAM", "o", "HEADERS eh 1 TRAILERS; RST - 1 u0", "", "h1e R1."),
	H2_CLIENT("5.1", "half-closed (local): WINDOW_UPDATE", "e", "UPDATE - 1 u100", "", ""),
	H2_CLIENT("5.1", "idle: DATA", "o", "DATA e 3 00", "GOAWAY 1", ""),
	H2_CLIENT("5.1", "idle: HEADERS", "o", "HEADERS eh 3 REPLY", "GOAWAY 1", ""),
	H2_CLIENT("5.1", "idle: RST_STREAM", "o", "RST - 3 u7", "GOAWAY 1", ""),
	H2_CLIENT("5.1", "idle: WINDOW_UPDATE", "o", "UPDATE - 3 u7", "GOAWAY 1", ""),

	/* 5.1.1 Stream identifiers. */
	H2_SERVER("5.1.1", "an even stream", "HEADERS eh 2 REQUEST", "GOAWAY 1", ""),
	H2_SERVER("5.1.1", "a smaller stream", "HEADERS eh 5 REQUEST; HEADERS eh 3 REQUEST", "GOAWAY 5", "H5e"),
	H2_SERVER("5.1.1", "streams with gaps", "HEADERS eh 1 REQUEST; HEADERS eh 101 REQUEST", "", "H1e H101e"),
	H2_SERVER("5.1.1", "the largest stream", "HEADERS eh 0x7fffffff REQUEST", "", "H2147483647e"),
	H2_SERVER("5.1.1", "behind the largest stream", "HEADERS eh 0x7fffffff REQUEST; HEADERS eh 5 REQUEST",
		  "GOAWAY 5", "H2147483647e"),
	H2_CLIENT("5.1.1", "an even stream", "o", "HEADERS eh 2 REPLY", "GOAWAY 1", ""),
	H2_SERVER("5.1.1", "RST_STREAM of an even stream", "HEADERS eh 5 REQUEST; RST - 2 u8", "GOAWAY 1", "H5e"),

	/* 5.1.2 Stream concurrency. */
	H2_SERVER("5.1.2", "one stream too many", H2_CONFORM_MORE "*HEADERS eh 1+ REQUEST",
		  "RST " H2_CONFORM_OVER " 7", NULL),
	H2_SERVER("5.1.2", "frames of the stream too many",
		  H2_CONFORM_MORE "*HEADERS h 1+ REQUEST; DATA - " H2_CONFORM_OVER " z10; DATA e " H2_CONFORM_OVER " 00",
		  "RST " H2_CONFORM_OVER " 7", NULL),
	H2_SERVER("5.1.2", "one after a reset",
		  H2_CONFORM_MORE "*HEADERS h 1+ REQUEST; RST - 1 u8; HEADERS h 1001 REQUEST",
		  "RST " H2_CONFORM_OVER " 7", NULL),

	/* 5.3 Priority: its content has no meaning. */
	H2_SERVER("5.3.1", "HEADERS depend on themselves", "HEADERS ehr 1 u1 0f REQUEST", "", "H1e"),
	H2_SERVER("5.3.1", "PRIORITY depends on itself", "PRIORITY - 1 u1 0f", "", ""),

	/* 5.4 Errors. */
	H2_SERVER("5.4.1", "GOAWAY ends it", "DATA e 1 00; PING - 0 z8", "GOAWAY 1", ""),
	H2_SERVER("5.4.2", "a stream error leaves the others",
		  "HEADERS h 1 REQUEST; HEADERS h 3 REQUEST; UPDATE - 1 u0; DATA e 3 00", "RST 1 1", "H1 H3 S1. D3e"),

	/* 5.5 Extensions. */
	H2_SERVER("5.5", "ALTSVC", "10 - 0 0000", "", ""),
	H2_SERVER("5.5", "ORIGIN", "12 - 0", "", ""),
	H2_SERVER("5.5", "PRIORITY_UPDATE", "16 - 0 u1 753d30", "", ""),
	H2_SERVER("5.5", "an unknown setting", "SETTINGS - 0 00ff u1", "ACK", "O"),

	/* 6.1 DATA. */
	H2_SERVER("6.1", "stream 0", "DATA e 0 00", "GOAWAY 1", ""),
	H2_SERVER("6.1", "padding", "HEADERS h 1 REQUEST; DATA ep 1 03 aabbcc 000000", "", "H1 D1e"),
	H2_SERVER("6.1", "padding alone", "HEADERS h 1 REQUEST; DATA ep 1 03 000000", "", "H1 D1e"),
	H2_SERVER("6.1", "padding as long as the payload", "HEADERS h 1 REQUEST; DATA ep 1 05 z4", "GOAWAY 1", "H1"),
	H2_SERVER("6.1", "padding longer than the payload", "HEADERS h 1 REQUEST; DATA ep 1 ff z4", "GOAWAY 1", "H1"),
	H2_SERVER("6.1", "no length of padding", "HEADERS h 1 REQUEST; DATA ep 1", "GOAWAY 6", "H1"),
	H2_SERVER("6.1", "nothing", "HEADERS h 1 REQUEST; DATA - 1; DATA e 1", "", "H1 D1 D1e"),
	H2_CLIENT("6.1", "DATA before HEADERS", "o", "DATA - 1 00", "RST 1 1", "S1."),

	/* 6.2 HEADERS. */
	H2_SERVER("6.2", "stream 0", "HEADERS eh 0 REQUEST", "GOAWAY 1", ""),
	H2_SERVER("6.2", "padding", "HEADERS ehp 1 04 REQUEST z4", "", "H1e"),
	H2_SERVER("6.2", "padding longer than the payload", "HEADERS ehp 1 ff 8386", "GOAWAY 1", ""),
	H2_SERVER("6.2", "padding and priority", "HEADERS ehpr 1 02 u0 0f REQUEST z2", "", "H1e"),
	H2_SERVER("6.2", "padding that reaches into priority", "HEADERS ehpr 1 02 u0 0f 00", "GOAWAY 1", ""),
	H2_SERVER("6.2", "no priority", "HEADERS ehr 1 000000", "GOAWAY 6", ""),
	H2_SERVER("6.2", "no length of padding", "HEADERS ehp 1", "GOAWAY 6", ""),
	H2_SERVER("6.2", "padding and a block in pieces", "HEADERS ep 1 02 8386 z2; CONT h 1 040a2f742e4563686f2f446f",
		  "", "H1e"),

	/* 6.3 PRIORITY. */
	H2_SERVER("6.3", "stream 0", "PRIORITY - 0 u0 0f", "GOAWAY 1", ""),
	H2_SERVER("6.3", "4 bytes", "HEADERS h 1 REQUEST; PRIORITY - 1 u0", "RST 1 6", "H1 S1."),
	H2_SERVER("6.3", "6 bytes", "HEADERS h 1 REQUEST; PRIORITY - 1 u0 0f0f", "RST 1 6", "H1 S1."),
	H2_SERVER("6.3", "4 bytes, idle", "PRIORITY - 1 u0", "GOAWAY 6", ""),

	/* 6.4 RST_STREAM. */
	H2_SERVER("6.4", "stream 0", "RST - 0 u8", "GOAWAY 1", ""),
	H2_SERVER("6.4", "3 bytes", "HEADERS h 1 REQUEST; RST - 1 000000", "GOAWAY 6", "H1"),
	H2_SERVER("6.4", "5 bytes", "HEADERS h 1 REQUEST; RST - 1 u0 00", "GOAWAY 6", "H1"),
	H2_SERVER("6.4", "unknown code", "HEADERS h 1 REQUEST; RST - 1 u0xffffffff", "", "H1 R1."),

	/* 6.5 SETTINGS. */
	H2_SERVER("6.5", "acknowledgement with payload", "SETTINGS a 0 0001 u0", "GOAWAY 6", ""),
	H2_SERVER("6.5", "a stream", "SETTINGS - 1", "GOAWAY 1", ""),
	H2_SERVER("6.5", "5 bytes", "SETTINGS - 0 000100", "GOAWAY 6", ""),
	H2_SERVER("6.5", "acknowledged", "SETTINGS - 0; SETTINGS - 0 0003 u100", "ACK; ACK", "O O"),
	H2_SERVER("6.5", "32 entries", "SETTINGS - 0 0003 z190", "ACK", "O"),
	H2_SERVER("6.5", "33 entries", "SETTINGS - 0 0003 z196", "GOAWAY 11", ""),
	H2_SERVER("6.5.2", "ENABLE_PUSH 0 and 1", "SETTINGS - 0 0002 u0 0002 u1", "ACK", "O"),
	H2_SERVER("6.5.2", "ENABLE_PUSH 2", "SETTINGS - 0 0002 u2", "GOAWAY 1", ""),
	H2_CLIENT("6.5.2", "ENABLE_PUSH 1 of a server", "", "SETTINGS - 0 0002 u1", "GOAWAY 1", ""),
	H2_CLIENT("6.5.2", "ENABLE_PUSH 0 of a server", "", "SETTINGS - 0 0002 u0", "ACK", "O"),
	H2_SERVER("6.5.2", "INITIAL_WINDOW_SIZE 2^31-1", "SETTINGS - 0 0004 u0x7fffffff", "ACK", "O"),
	H2_SERVER("6.5.2", "INITIAL_WINDOW_SIZE 2^31", "SETTINGS - 0 0004 u0x80000000", "GOAWAY 3", ""),
	H2_SERVER("6.5.2", "MAX_FRAME_SIZE 16383", "SETTINGS - 0 0005 u16383", "GOAWAY 1", ""),
	H2_SERVER("6.5.2", "MAX_FRAME_SIZE 2^24-1", "SETTINGS - 0 0005 u16777215", "ACK", "O"),
	H2_SERVER("6.5.2", "MAX_FRAME_SIZE 2^24", "SETTINGS - 0 0005 u16777216", "GOAWAY 1", ""),
	H2_SERVER("6.5.3", "more than one value", "SETTINGS - 0 0004 u100 0004 u1", "ACK", "O"),
	H2_SERVER("6.5.3", "acknowledgement of nothing", "SETTINGS a 0", "", ""),

	/* 6.6 PUSH_PROMISE. */
	H2_SERVER("6.6", "of a client", "PUSH h 1 u2 REQUEST", "GOAWAY 1", ""),
	H2_CLIENT("6.6", "not allowed", "o", "PUSH h 1 u2 REQUEST", "GOAWAY 1", ""),

	/* 6.7 PING. */
	H2_SERVER("6.7", "answered", "PING - 0 6832737065630000", "PONG 6832737065630000", ""),
	H2_SERVER("6.7", "answered in order", "PING - 0 u1 u2; PING - 0 u3 u4",
		  "PONG 0000000100000002; PONG 0000000300000004", ""),
	H2_SERVER("6.7", "an answer to nothing", "PING a 0 z8; PING a 0 6d727063627965 00", "", ""),
	H2_SERVER("6.7", "a stream", "PING - 1 z8", "GOAWAY 1", ""),
	H2_SERVER("6.7", "6 bytes", "PING - 0 z6", "GOAWAY 6", ""),
	H2_SERVER("6.7", "9 bytes", "PING - 0 z9", "GOAWAY 6", ""),
	H2_SERVER("6.7", "an answer of 7 bytes", "PING a 0 z7", "GOAWAY 6", ""),

	/* 6.8 GOAWAY. */
	H2_SERVER("6.8", "a stream", "GOAWAY - 1 u0 u0", "GOAWAY 1", ""),
	H2_SERVER("6.8", "7 bytes", "GOAWAY - 0 z7", "GOAWAY 6", ""),
	H2_SERVER("6.8", "streams go on", "HEADERS h 1 REQUEST; GOAWAY - 0 u0 u0; DATA e 1 00", "", "H1 G0 D1e"),
	H2_SERVER("6.8", "with text", "GOAWAY - 0 u0 u0 74657874", "", "G0"),
	H2_SERVER("6.8", "with a long text", "GOAWAY - 0 u0 u11 z16376", "", "G0"),
	H2_CLIENT("6.8", "twice", "oo", "GOAWAY - 0 u0x7fffffff u0; GOAWAY - 0 u1 u0; GOAWAY - 0 u3 u0; HEADERS h 1 REPLY",
		  "", "G2147483647 G1 G1 h1"),

	/* 6.9 WINDOW_UPDATE. */
	H2_SERVER("6.9", "of nothing, connection", "UPDATE - 0 u0", "GOAWAY 1", ""),
	H2_SERVER("6.9", "of nothing, stream", "HEADERS h 1 REQUEST; UPDATE - 1 u0", "RST 1 1", "H1 S1."),
	H2_SERVER("6.9", "3 bytes", "UPDATE - 0 000001", "GOAWAY 6", ""),
	H2_SERVER("6.9", "5 bytes, stream", "HEADERS h 1 REQUEST; UPDATE - 1 u1 00", "GOAWAY 6", "H1"),
	H2_SERVER("6.9", "reserved bit", "UPDATE - 0 u0x80000001", "", "O"),
	H2_SERVER("6.9", "reserved bit and nothing", "UPDATE - 0 u0x80000000", "GOAWAY 1", ""),
	H2_SERVER("6.9.1", "connection's window of 2^31-1", "UPDATE - 0 u2147418112", "", "O"),
	H2_SERVER("6.9.1", "connection's window of 2^31", "UPDATE - 0 u2147418112; UPDATE - 0 u1", "GOAWAY 3", "O"),
	H2_SERVER("6.9.1", "stream's window of 2^31-1", "HEADERS h 1 REQUEST; UPDATE - 1 u2147418112", "", "H1 O1"),
	H2_SERVER("6.9.1", "stream's window of 2^31", "HEADERS h 1 REQUEST; UPDATE - 1 u2147418113", "RST 1 3", "H1 S1."),
	H2_SERVER("6.9.2", "INITIAL_WINDOW_SIZE makes a window negative",
		  "HEADERS h 1 REQUEST; SETTINGS - 0 0004 u0; UPDATE - 1 u1", "ACK", "H1 O O1"),
	H2_SERVER("6.9.2", "INITIAL_WINDOW_SIZE makes a window too large",
		  "HEADERS h 1 REQUEST; UPDATE - 1 u1; SETTINGS - 0 0004 u0x7fffffff", "GOAWAY 3", "H1 O1"),

	/* 6.10 CONTINUATION. */
	H2_SERVER("6.10", "some", "HEADERS e 1 REQUEST; CONT - 1; CONT h 1", "", "H1e"),
	H2_SERVER("6.10", "PING inside", "HEADERS e 1 REQUEST; PING - 0 z8", "GOAWAY 1", ""),
	H2_SERVER("6.10", "stream 0", "HEADERS e 1 REQUEST; CONT h 0", "GOAWAY 1", ""),
	H2_SERVER("6.10", "another stream", "HEADERS e 1 REQUEST; CONT h 3", "GOAWAY 1", ""),
	H2_SERVER("6.10", "behind END_HEADERS", "HEADERS eh 1 REQUEST; CONT h 1", "GOAWAY 1", "H1e"),
	H2_SERVER("6.10", "behind CONTINUATION with END_HEADERS", "HEADERS e 1 REQUEST; CONT h 1; CONT h 1",
		  "GOAWAY 1", "H1e"),
	H2_SERVER("6.10", "behind DATA", "HEADERS h 1 REQUEST; DATA - 1 00; CONT h 1", "GOAWAY 1", "H1 D1"),
	H2_SERVER("6.10", "8 frames", "HEADERS e 1 REQUEST; 6*CONT - 1; CONT h 1", "", "H1e"),
	H2_SERVER("6.10", "9 frames", "HEADERS e 1 REQUEST; 7*CONT - 1; CONT h 1", "GOAWAY 11", ""),
	H2_SERVER("6.10", "16385 bytes", "HEADERS e 1 z16384; CONT h 1 00", "GOAWAY 11", ""),

	/* 7 Error codes. */
	H2_SERVER("7", "unknown code of GOAWAY", "GOAWAY - 0 u0 u0xff", "", "G0"),

	/* 8.1 Requests and answers. */
	H2_SERVER("8.1", "trailers without END_STREAM", "HEADERS h 1 REQUEST; DATA - 1 00; HEADERS h 1 TRAILERS",
		  "RST 1 1", "H1 D1 S1."),
	H2_SERVER("8.1", "DATA behind trailers", "HEADERS h 1 REQUEST; HEADERS eh 1 TRAILERS; DATA e 1 00",
		  "RST 1 5", "H1 t1e S1."),
	H2_CLIENT("8.1", "trailers without END_STREAM", "e", "HEADERS h 1 REPLY; HEADERS h 1 TRAILERS", "RST 1 1",
		  "h1 S1."),
	H2_CLIENT("8.1", "the answer before the request's end, then RST_STREAM", "o",
		  "HEADERS eh 1 TRAILERS; RST - 1 u0", "", "h1e R1."),
};

#endif /* H2_CONFORM_H */
