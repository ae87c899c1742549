/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of HTTP/2 as text, for tables of tests. Frames are separated by ";". A frame is
 *
 *	TYPE FLAGS STREAM [PAYLOAD...] [len=N]
 *
 * TYPE is a name (DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, UPDATE, CONT) or a number.
 * FLAGS and STREAM are numbers; the flags of a name can be letters: e END_STREAM, h END_HEADERS,
 * p PADDED, r PRIORITY, a ACK, "-" none. PAYLOAD is made of hexadecimal bytes, "zN" N bytes of 0,
 * "uN" N as four bytes, REQUEST a header block of a call, REPLY and TRAILERS those of its answer.
 * "len=N" puts another length into the header. "RAW" and then PAYLOAD is no frame but bytes.
 * "PREFACE" is that of a client. "N*" before a frame repeats it, each time with the next odd stream if
 * STREAM ends in "+".
 */
#ifndef H2_TEXT_H
#define H2_TEXT_H

#include "lib/ds/types.h"

/* Returns bytes at *@out, to be freed; -1: @text is not such text. */
int h2_text(const char *text, u8 **out);

#endif /* H2_TEXT_H */
