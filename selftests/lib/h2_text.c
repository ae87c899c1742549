// SPDX-License-Identifier: GPL-2.0
/* Frames of HTTP/2 as text; see h2_text.h. */
#include <stdio.h>
#include <stdlib.h>

#include "h2_text.h"
#include "lib/http2/frame.h"

/* Header blocks that leave the dynamic table alone. */
static const char request[] =
	"\x83\x86\x04\x0a/t.Echo/Do\x01\x01t\x00\x02te\x08trailers"
	"\x0f\x10\x10" "application/grpc";
static const char reply[] = "\x88\x0f\x10\x10" "application/grpc";
static const char trailers[] = "\x00\x0bgrpc-status\x01" "0";

static const char *const types[] = {
	[MRPC_H2_DATA]		= "DATA",
	[MRPC_H2_HEADERS]	= "HEADERS",
	[MRPC_H2_PRIORITY]	= "PRIORITY",
	[MRPC_H2_RST_STREAM]	= "RST",
	[MRPC_H2_SETTINGS]	= "SETTINGS",
	[MRPC_H2_PUSH_PROMISE]	= "PUSH",
	[MRPC_H2_PING]		= "PING",
	[MRPC_H2_GOAWAY]	= "GOAWAY",
	[MRPC_H2_WINDOW_UPDATE]	= "UPDATE",
	[MRPC_H2_CONTINUATION]	= "CONT",
};

struct text {
	u8 *out;
	u32 len, room;
};

static void text_add(struct text *t, const void *bytes, u32 n)
{
	while (t->room < t->len + n) {
		t->room = t->room * 2 + 256;
		t->out = realloc(t->out, t->room);
	}
	if (n)
		memcpy(t->out + t->len, bytes, n);
	t->len += n;
}

static bool text_hex(struct text *t, const char *word)
{
	unsigned int byte;

	if (strlen(word) % 2)
		return false;
	for (; *word; word += 2) {
		if (strspn(word, "0123456789abcdef") < 2 || sscanf(word, "%2x", &byte) != 1)
			return false;
		text_add(t, &(u8){ byte }, 1);
	}
	return true;
}

static bool text_payload(struct text *t, const char *word)
{
	u8 be[4];
	u32 n;

	if (!strcmp(word, "REQUEST")) {
		text_add(t, request, sizeof(request) - 1);
	} else if (!strcmp(word, "REPLY")) {
		text_add(t, reply, sizeof(reply) - 1);
	} else if (!strcmp(word, "TRAILERS")) {
		text_add(t, trailers, sizeof(trailers) - 1);
	} else if (word[0] == 'z') {
		for (n = strtoul(word + 1, NULL, 0); n; n--)
			text_add(t, "", 1);
	} else if (word[0] == 'u') {
		put_unaligned_be32(strtoul(word + 1, NULL, 0), be);
		text_add(t, be, 4);
	} else {
		return text_hex(t, word);
	}
	return true;
}

static int text_type(const char *word)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(word, types[i]))
			return i;
	return word[0] >= '0' && word[0] <= '9' ? (int)strtoul(word, NULL, 0) : -1;
}

static int text_flags(const char *word)
{
	int flags = 0;

	if (*word >= '0' && *word <= '9')
		return strtoul(word, NULL, 0);
	for (; *word; word++) {
		switch (*word) {
		case 'e': case 'a':
			flags |= MRPC_H2_FLAG_END_STREAM;
			break;
		case 'h':
			flags |= MRPC_H2_FLAG_END_HEADERS;
			break;
		case 'p':
			flags |= MRPC_H2_FLAG_PADDED;
			break;
		case 'r':
			flags |= MRPC_H2_FLAG_PRIORITY;
			break;
		case '-':
			break;
		default:
			return -1;
		}
	}
	return flags;
}

/* The payload of a frame, and its length if that is to be another. */
static bool text_rest(struct text *t, char **save, s64 *len)
{
	char *word;

	while ((word = strtok_r(NULL, " ", save))) {
		if (!strncmp(word, "len=", 4))
			*len = strtoul(word + 4, NULL, 0);
		else if (!text_payload(t, word))
			return false;
	}
	return true;
}

static bool text_frame(struct text *t, char *text, u32 round)
{
	char *save, *word = strtok_r(text, " ", &save), *flags, *stream;
	u8 header[MRPC_H2_FRAME_HEADER] = { 0 };
	u32 at = t->len, id;
	s64 len = -1;

	if (!word)
		return true;
	if (!strcmp(word, "PREFACE")) {
		text_add(t, MRPC_H2_PREFACE, MRPC_H2_PREFACE_LEN);
		return true;
	}
	if (!strcmp(word, "RAW"))
		return text_rest(t, &save, &len);
	flags = strtok_r(NULL, " ", &save);
	stream = strtok_r(NULL, " ", &save);
	if (text_type(word) < 0 || !flags || text_flags(flags) < 0 || !stream)
		return false;
	id = strtoul(stream, NULL, 0);
	if (strchr(stream, '+'))
		id += 2 * round;
	text_add(t, header, sizeof(header));
	if (!text_rest(t, &save, &len))
		return false;
	if (len < 0)
		len = t->len - at - sizeof(header);
	mrpc_h2_put_frame(t->out + at, len, text_type(word), text_flags(flags), id);
	return true;
}

int h2_text(const char *text, u8 **out)
{
	char *copy = strdup(text), *save, *frame;
	struct text t = { 0 };
	bool good = true;

	for (frame = strtok_r(copy, ";", &save); frame && good; frame = strtok_r(NULL, ";", &save)) {
		u32 i, times = 1;
		char *one;
		int skip = 0;

		if (sscanf(frame, " %u*%n", &times, &skip) != 1 || !skip) {
			times = 1;
			skip = 0;
		}
		for (i = 0; i < times && good; i++) {
			one = strdup(frame + skip);
			good = text_frame(&t, one, i);
			free(one);
		}
	}
	free(copy);
	*out = t.out;
	if (good)
		return t.len;
	free(t.out);
	return -1;
}
