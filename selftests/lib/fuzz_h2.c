// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/http2/parser kmod/lib/http2/hear kmod/lib/http2/connection kmod/lib/http2/owed */
/*
 * An HTTP/2 connection: what a hostile peer sends, with what the other owner does between. The first
 * byte says which end this is and how it behaves. Then come steps. A step is a byte that says
 * what happens, and a byte of its argument. Bytes of the peer follow those of a step that takes them.
 */
#include <stdlib.h>
#include <stdio.h>

#include "fuzz.h"
#include "fuzz_h2.h"
#include "h2_end.h"

static struct h2_end e;

static struct h2_stream *fuzz_stream(u8 which)
{
	u32 i;

	for (i = 0; i < H2_STREAMS; i++)
		if (e.live[(which + i) % H2_STREAMS])
			return e.live[(which + i) % H2_STREAMS];
	return NULL;
}

static void fuzz_open(bool end)
{
	int ret = 0;

	if (e.conn.server || e.conn.streams.nr == H2_STREAMS)
		return;
	check(h2_end_open(&e, end, &ret) || ret, "a stream is refused without an error");
}

/* What the owner of a stream does. */
static void fuzz_act(u8 what, u8 arg)
{
	struct h2_stream *s = fuzz_stream(arg);

	if (!s)
		return;
	switch (what % 5) {
	case 0:
		h2_end_send(&e, s, arg * 128, arg & 1);
		break;
	case 1:
		h2_end_headers(&e, s, arg & 1);
		break;
	case 2:
		h2_end_reset(&e, s, arg % 14);
		break;
	case 3:
		h2_end_read(&e, s, 1 << arg % 20);
		break;
	case 4:
		if (!e.conn.server)
			mrpc_h2_informational(&e.conn, &s->s, e.now);
		break;
	}
}

static void fuzz_time(u8 arg)
{
	struct mrpc_h2_event ev;
	int ret;

	e.now += 1ULL << arg % 40;
	ret = mrpc_h2_expire(&e.conn, e.now, &ev);
	check(ret == (e.conn.why ? -EPROTO : 0), "time returned something else");
	check(mrpc_h2_deadline(&e.conn) > e.now, "a time that is over");
}

static void fuzz_step(u8 what, u8 arg)
{
	u32 least, last;

	switch (what % 8) {
	case 0:
		fuzz_act(what / 8, arg);
		break;
	case FUZZ_OPEN:
		fuzz_open(arg & 1);
		break;
	case 2:
		fuzz_time(arg);
		break;
	case 3:
		mrpc_h2_goaway(&e.conn, e.now);
		break;
	case 4:
		mrpc_h2_ping(&e.conn);
		break;
	case 5:
		h2_end_drop(&e);
		break;
	case 6:
		mrpc_h2_grow_window(&e.conn, arg << 23, arg << 19);
		break;
	case 7:
		if (mrpc_h2_table_size(&e.conn, &least, &last))
			check(least <= last, "the smallest size is not the smallest");
		h2_end_flush(&e);
		check(e.conn.why || !mrpc_h2_congested(&e.conn),
		      "congested with nothing to send");
		e.out_len = 0;
		break;
	}
}

static void fuzz_begin(u8 mode)
{
	static const u8 settings[] = "\0\0\0\4\0\0\0\0\0";
	u32 len = MRPC_H2_PREFACE_LEN;

	h2_end_init(&e, mode & FUZZ_SERVER, mode);
	e.greedy = mode & FUZZ_GREEDY;
	e.shy = mode & FUZZ_SHY;
	e.careless = mode & FUZZ_CARELESS;
	if (!(mode & FUZZ_BEGUN))
		return;
	if (mode & FUZZ_SERVER)
		check(h2_end_feed(&e, (const u8 *)MRPC_H2_PREFACE, len) == (int)len, "preface");
	check(h2_end_feed(&e, settings, 9) == 9, "settings");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	size_t at = 1;

	if (!len)
		return 0;
	fuzz_begin(data[0]);
	while (at + 2 <= len) {
		u8 what = data[at], arg = data[at + 1];
		const char *wrong;
		u32 n;

		at += 2;
		if (what & FUZZ_INPUT) {
			n = min_t(size_t, (what & ~FUZZ_INPUT) << 8 | arg, len - at);
			h2_end_feed_in(&e, data + at, n, arg % 32 ? n : 1);
			at += n;
		} else {
			fuzz_step(what, arg);
		}
		wrong = h2_end_check(&e);
		check(!wrong, wrong);
	}
	h2_end_flush(&e);
	h2_end_free(&e);
	return 0;
}
