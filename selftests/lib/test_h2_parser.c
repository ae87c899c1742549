// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/http2/parser kmod/lib/http2/frame */
/* Frames of HTTP/2: written, and parsed whatever pieces they come in. */
#include "h2_end.h"
#include "h2_text.h"
#include "rnd.h"
#include "tap.h"

#define FRAMES	2000

/* What the parser returned: pieces of DATA are one. */
struct seen {
	u32 stream, len, total, pad, sum;
	u8 type, flags, code;
	bool end;
};

static struct mrpc_h2_parser p;
static struct mrpc_h2_frame f;

static void seen_add(struct seen *s, const struct mrpc_h2_frame *frame)
{
	u32 i;

	if (frame->type != MRPC_H2_DATA || frame->first)
		*s = (struct seen){ .stream = frame->stream, .total = frame->total, .pad = frame->pad,
			.type = frame->type, .flags = frame->flags, .code = frame->code };
	CHECK_EQ(frame->stream, s->stream);
	CHECK_EQ(frame->total, s->total);
	CHECK(frame->last || !frame->end || frame->type != MRPC_H2_DATA);
	s->len += frame->len;
	s->end = frame->end;
	for (i = 0; i < frame->len; i++)
		s->sum = s->sum * 31 + frame->data[i];
}

/* Returns how many frames came, and which. */
static u32 parse_all(const u8 *in, u32 len, u64 *rnd, struct seen *seen)
{
	u32 nr = 0, at = 0;

	mrpc_h2_parser_init(&p, false);
	while (at < len) {
		u32 n = rnd ? min(len - at, rnd_below(rnd, rnd_below(rnd, 3) ? 12 : 5000) + 1) : len - at;
		u8 *exact = malloc(n);
		int used;

		memcpy(exact, in + at, n);
		used = mrpc_h2_parse(&p, exact, n, &f);
		if (used == -ENOBUFS) {
			CHECK(!p.block);
			mrpc_h2_parser_give(&p, malloc(MRPC_H2_MAX_BLOCK));
			used = mrpc_h2_parse(&p, exact, n, &f);
		}
		CHECK_MSG(used > 0 && (u32)used <= n, "%d of %u: %s", used, n, p.why ? p.why : "");
		at += used;
		if (f.type != MRPC_H2_NO_FRAME) {
			CHECK(nr < FRAMES);
			seen_add(&seen[nr], &f);
			nr += f.type != MRPC_H2_DATA || f.last;
		}
		free(exact);
		free(mrpc_h2_parser_take_back(&p));
	}
	CHECK(!mrpc_h2_parser_in_block(&p));
	return nr;
}

static u32 add_frame(u8 *out, u64 *rnd, u8 type, u8 flags, u32 stream, u32 len)
{
	u8 *at = mrpc_h2_put_frame(out, len, type, flags, stream);
	u32 i;

	for (i = 0; i < len; i++)
		at[i] = rnd_next(rnd);
	return MRPC_H2_FRAME_HEADER + len;
}

/* Any frame that is right, or several that make a header block. */
static u32 random_frame(u8 *out, u64 *rnd)
{
	u32 stream = rnd_below(rnd, 100) + 1, n = rnd_below(rnd, 4) ? rnd_below(rnd, 300) : 0, len, i, pad;

	switch (rnd_below(rnd, 10)) {
	case 0: case 1:
		pad = rnd_below(rnd, 2);
		len = add_frame(out, rnd, MRPC_H2_DATA, (pad ? 8 : 0) | rnd_below(rnd, 2), stream, n + pad);
		if (pad)
			out[MRPC_H2_FRAME_HEADER] = rnd_below(rnd, min(n, 255U) + 1);
		return len;
	case 2:
		pad = rnd_below(rnd, 2);
		len = add_frame(out, rnd, MRPC_H2_HEADERS, 4 | (pad ? 8 : 0) | 32 | rnd_below(rnd, 2), stream,
				n + pad + 5);
		if (pad)
			out[MRPC_H2_FRAME_HEADER] = rnd_below(rnd, min(n, 255U) + 1);
		return len;
	case 3:
		len = add_frame(out, rnd, MRPC_H2_HEADERS, rnd_below(rnd, 2), stream, n);
		for (i = rnd_below(rnd, 6); i; i--)
			len += add_frame(out + len, rnd, MRPC_H2_CONTINUATION, 0, stream, rnd_below(rnd, 300));
		return len + add_frame(out + len, rnd, MRPC_H2_CONTINUATION, 4, stream, rnd_below(rnd, 300));
	case 4:
		return add_frame(out, rnd, MRPC_H2_SETTINGS, 0, 0, 6 * rnd_below(rnd, 33));
	case 5:
		return add_frame(out, rnd, MRPC_H2_GOAWAY, 0, 0, 8 + n);
	case 6:
		return add_frame(out, rnd, 10 + rnd_below(rnd, 246), rnd_next(rnd), stream, n);
	case 7:
		return add_frame(out, rnd, MRPC_H2_PRIORITY, 0, stream, rnd_below(rnd, 8));
	case 8:
		return add_frame(out, rnd, MRPC_H2_PING, rnd_below(rnd, 2), 0, 8);
	}
	return add_frame(out, rnd, rnd_below(rnd, 2) ? MRPC_H2_RST_STREAM : MRPC_H2_WINDOW_UPDATE, 0, stream, 4);
}

TEST(pieces)
{
	static struct seen whole[FRAMES], split[FRAMES];
	static u8 in[FRAMES * 1000];
	u64 rnd = 7;
	u32 round, i, len, nr;

	for (round = 0; round < 60; round++) {
		len = add_frame(in, &rnd, MRPC_H2_SETTINGS, 0, 0, 0);
		for (i = 0; i < 200; i++)
			len += random_frame(in + len, &rnd);
		CHECK(len < sizeof(in));
		memset(whole, 0, sizeof(whole));
		memset(split, 0, sizeof(split));
		nr = parse_all(in, len, NULL, whole);
		CHECK_EQ(nr, 201);
		for (i = 0; i < 3; i++) {
			CHECK_EQ(parse_all(in, len, &rnd, split), nr);
			CHECK(!memcmp(whole, split, nr * sizeof(whole[0])));
		}
	}
}

static const u8 *one(const char *text, u32 *len)
{
	static u8 *in;
	int n;

	free(in);
	n = h2_text(text, &in);
	CHECK(n >= 0);
	*len = n;
	mrpc_h2_parser_init(&p, false);
	CHECK_EQ(mrpc_h2_parse(&p, (const u8 *)"\0\0\0\4\0\0\0\0\0", 9, &f), 9);
	CHECK_EQ(f.type, MRPC_H2_SETTINGS);
	return in;
}

/* A block needs the buffer only if it comes in pieces. */
TEST(buffer)
{
	u8 block[MRPC_H2_MAX_BLOCK];
	const u8 *in;
	u32 len;

	in = one("HEADERS eh 1 z100", &len);
	CHECK_EQ(mrpc_h2_parse(&p, in, len, &f), len);
	CHECK(f.type == MRPC_H2_HEADERS && f.len == 100 && f.data == in + 9 && f.end);

	in = one("HEADERS eh 1 z100", &len);
	/* The header is used, the block is not: it says so at the next call. */
	CHECK_EQ(mrpc_h2_parse(&p, in, 50, &f), 9);
	CHECK(f.type == MRPC_H2_NO_FRAME && mrpc_h2_parser_in_block(&p));
	CHECK_EQ(mrpc_h2_parse(&p, in + 9, 41, &f), -ENOBUFS);
	CHECK_EQ(mrpc_h2_parse(&p, in + 9, 41, &f), -ENOBUFS);
	mrpc_h2_parser_give(&p, block);
	CHECK_EQ(mrpc_h2_parse(&p, in + 9, 41, &f), 41);
	CHECK(f.type == MRPC_H2_NO_FRAME && !mrpc_h2_parser_take_back(&p));
	CHECK_EQ(mrpc_h2_parse(&p, in + 50, len - 50, &f), len - 50);
	CHECK(f.type == MRPC_H2_HEADERS && f.len == 100 && f.data == block);
	CHECK(mrpc_h2_parser_take_back(&p) == block && !p.block);

	/* 16 KiB in 8 frames is the most. */
	in = one("HEADERS e 1 z9000; 6*CONT - 1 z1000; CONT h 1 z1384", &len);
	mrpc_h2_parser_give(&p, block);
	CHECK_EQ(mrpc_h2_parse(&p, in, len, &f), len);
	CHECK(f.type == MRPC_H2_HEADERS && f.len == MRPC_H2_MAX_BLOCK && f.data == block);
}

TEST(rest)
{
	const u8 *in;
	u32 len;

	in = one("DATA ep 1 04 z100 z4", &len);
	CHECK_EQ(mrpc_h2_parser_rest(&p), 0);
	/* The first piece comes with its length, even without content. */
	CHECK_EQ(mrpc_h2_parse(&p, in, 10, &f), 10);
	CHECK(f.type == MRPC_H2_DATA && f.first && !f.last && !f.len && f.total == 105 && f.pad == 5);
	CHECK_EQ(mrpc_h2_parser_rest(&p), 100);
	CHECK_EQ(mrpc_h2_parse(&p, in + 10, 60, &f), 60);
	CHECK(!f.first && !f.last && !f.end && f.data == in + 10 && f.len == 60);
	CHECK_EQ(mrpc_h2_parser_rest(&p), 40);
	CHECK_EQ(mrpc_h2_parse(&p, in + 70, len - 70, &f), 40);
	CHECK(f.last && f.end && f.len == 40);
	CHECK_EQ(mrpc_h2_parser_rest(&p), 0);
	CHECK_EQ(mrpc_h2_parse(&p, in + 110, 4, &f), 4);
	CHECK_EQ(f.type, MRPC_H2_NO_FRAME);
	CHECK_EQ(mrpc_h2_parse(&p, in, 0, &f), 0);
}

/* GOAWAY's text is cut, the type 255 is not "no frame". */
TEST(odd)
{
	const u8 *in;
	u32 len;

	in = one("GOAWAY - 0 u7 u2 z200; 255 - 9 z3", &len);
	CHECK_EQ(mrpc_h2_parse(&p, in, len, &f), 9 + 8 + 128);
	CHECK(f.type == MRPC_H2_GOAWAY && f.len == 8 + 128);
	CHECK_EQ(mrpc_h2_parse(&p, in + 145, len - 145, &f), 72 + 9);
	CHECK(f.type > MRPC_H2_CONTINUATION && f.type != MRPC_H2_NO_FRAME && f.stream == 9);
}

TEST(write_headers)
{
	static const u32 lens[] = { 0, 1, 16383, 16384, 16385, 32768, 40000 };
	u8 *block = malloc(40000), *out = malloc(50000);
	u32 i, j, size, at;
	struct h2_sent sent;

	for (j = 0; j < 40000; j++)
		block[j] = j * 7;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		const u8 *pos = out;

		size = mrpc_h2_headers_size(lens[i]);
		CHECK_EQ(mrpc_h2_put_headers(out, size - 1, 5, block, lens[i], true), 0);
		CHECK_EQ(mrpc_h2_put_headers(out, size, 5, block, lens[i], i % 2), size);
		for (at = 0, j = 0; h2_next_sent(&pos, out + size, &sent); at += sent.len, j++) {
			CHECK_EQ(sent.type, j ? MRPC_H2_CONTINUATION : MRPC_H2_HEADERS);
			CHECK_EQ(sent.flags, (j || !(i % 2) ? 0 : 1) | (pos == out + size ? 4 : 0));
			CHECK_EQ(sent.stream, 5);
			CHECK(!memcmp(sent.data, block + at, sent.len));
		}
		CHECK_EQ(at, lens[i]);
		CHECK(pos == out + size);
	}
	CHECK_EQ(mrpc_h2_put_headers(out, 100, 5, block, U32_MAX, true), 0);
	free(block);
	free(out);
}
