// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/http2/parser kmod/lib/http2/hear kmod/lib/http2/owed kmod/lib/http2/stream */
/* The table of h2_conform.h, against a connection in memory. */
#include "h2_conform.h"
#include "h2_end.h"
#include "h2_text.h"
#include "tap.h"

#define TEXT	4096
#define WHOLE	(1 << 20)

static struct h2_end e;
static char said[TEXT], heard[TEXT];
static bool alive;	/* the last PING is answered */

static __attribute__((__format__(__printf__, 2, 3))) void add(char *text, const char *fmt, ...)
{
	u32 len = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + len, TEXT - len, fmt, ap);
	va_end(ap);
}

static void say_frame(const struct h2_sent *f, u32 *acks)
{
	const char *sep = said[0] ? "; " : "";
	static const char probe[] = "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f";
	u32 i;

	if (f->type == MRPC_H2_PING && !memcmp(f->data, probe, 8)) {
		alive = true;
		return;
	}
	if (f->type == MRPC_H2_RST_STREAM)
		add(said, "%sRST %u %u", sep, f->stream, get_unaligned_be32(f->data));
	if (f->type == MRPC_H2_GOAWAY)
		add(said, "%sGOAWAY %u", sep, get_unaligned_be32(f->data + 4));
	if (f->type == MRPC_H2_SETTINGS && f->flags && (*acks)++)
		add(said, "%sACK", sep);
	if (f->type == MRPC_H2_PING && f->flags) {
		add(said, "%sPONG ", sep);
		for (i = 0; i < f->len; i++)
			add(said, "%02x", f->data[i]);
	}
}

static void say_events(void)
{
	u32 i;

	for (i = 0; i < min_t(u32, e.nr_events, H2_EVENTS); i++) {
		const struct mrpc_h2_event *ev = &e.events[i];
		char what = " rHDRGdpOS"[ev->type];

		if (ev->type == MRPC_H2_EV_READY)
			continue;
		if (ev->type == MRPC_H2_EV_HEADERS && ev->stream)
			what = ev->trailers ? 't' : 'h';
		add(heard, "%s%c", heard[0] ? " " : "", what);
		if (ev->id || ev->type == MRPC_H2_EV_GOAWAY)
			add(heard, "%u", ev->id);
		add(heard, "%s%s", ev->end ? "e" : "", ev->closed ? "." : "");
	}
}

/* As a peer would say it. Returns false if the end does not want more. */
static bool feed(const char *text, u32 piece)
{
	u8 *in = NULL;
	int len = h2_text(text, &in), ret;

	CHECK_MSG(len >= 0, "no such frames: %s", text);
	ret = h2_end_feed_in(&e, in, len, piece);
	free(in);
	CHECK_MSG(ret < 0 || ret == len, "%d of %d bytes are taken of: %s", ret, len, text);
	return ret >= 0;
}

static void open_streams(const char *open)
{
	int ret;

	for (; open && *open; open++) {
		CHECK(h2_end_open(&e, *open == 'e', &ret));
		CHECK_EQ(ret, 0);
	}
}

static void run_case(const struct h2_case *c, u32 piece)
{
	const u8 *at;
	struct h2_sent f;
	u32 acks = 0;

	said[0] = heard[0] = 0;
	alive = false;
	h2_end_init(&e, !c->client, piece);
	h2_end_flush(&e);
	if (!c->raw)
		CHECK(feed(c->client ? "SETTINGS - 0; SETTINGS a 0" : "PREFACE; SETTINGS - 0; SETTINGS a 0", piece));
	open_streams(c->open);
	if (feed(c->in, piece))
		feed("PING - 0 7f7f7f7f7f7f7f7f", piece);
	h2_end_flush(&e);
	at = e.out + (c->client ? MRPC_H2_PREFACE_LEN : 0);
	while (h2_next_sent(&at, e.out + e.out_len, &f))
		say_frame(&f, &acks);
	CHECK(at == e.out + e.out_len);
	say_events();
	CHECK_MSG(!h2_end_check(&e), "%s %s: %s", c->section, c->name, h2_end_check(&e));
	h2_end_free(&e);
}

static void check_case(const struct h2_case *c, u32 piece)
{
	bool ends = strstr(c->out, "GOAWAY");

	run_case(c, piece);
	CHECK_MSG(!strcmp(said, c->out), "%s %s: says \"%s\"", c->section, c->name, said);
	CHECK_MSG(alive != ends, "%s %s: does not answer", c->section, c->name);
	/* Pieces of DATA are events, too. */
	if (c->heard && piece == WHOLE)
		CHECK_MSG(!strcmp(heard, c->heard), "%s %s: hears \"%s\"", c->section, c->name, heard);
}

static void check_all(u32 piece)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(h2_cases); i++)
		check_case(&h2_cases[i], piece);
}

TEST(whole)
{
	NOTE("%zu cases", ARRAY_SIZE(h2_cases));
	check_all(WHOLE);
}

/* What comes in pieces of any size makes no difference. */
TEST(pieces)
{
	check_all(1);
	check_all(2);
	check_all(3);
	check_all(7);
	check_all(10);
	check_all(100);
}
