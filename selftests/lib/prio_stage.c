// SPDX-License-Identifier: GPL-2.0
/* How a scene of the prio transport is played: see prio_stage.h. */
#include <string.h>

#include "prio_net.h"
#include "prio_stage.h"

char other(char end)
{
	return end == 'A' ? 'B' : 'A';
}

void wait_ns(struct trace *t, u64 ns)
{
	trace_event(t, "time %llu", (unsigned long long)(t->now + ns));
}

void timer(struct trace *t)
{
	u32 before = t->nr_packets;
	u64 when;

	while (t->nr_packets == before) {
		when = min(mrpc_prio_deadline(&t->end[0].ep), mrpc_prio_deadline(&t->end[1].ep));
		if (when == U64_MAX)
			return;
		wait_ns(t, when > t->now ? when - t->now : 1);
	}
}

void deliver(struct trace *t, u32 nr)
{
	trace_event(t, "%c take packet=%u", other(t->packets[nr].from), nr);
}

void lose(struct trace *t, u32 nr)
{
	char text[64];

	t->packets[nr].flies = false;
	snprintf(text, sizeof(text), "packet %u is lost", nr);
	trace_say(t, text);
}

u32 fly(struct trace *t)
{
	u32 last = t->nr_packets, i, n = 0;

	for (i = 1; i <= last; i++)
		n += t->packets[i].flies;
	if (!n)
		return 0;
	wait_ns(t, STAGE_DELAY);
	for (i = 1; i <= last; i++)
		if (t->packets[i].flies)
			deliver(t, i);
	return n;
}

void talk(struct trace *t)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		while (fly(t))
			;
		if (t->end[0].peer.nr_acks || t->end[1].peer.nr_acks)
			timer(t);
	}
	while (fly(t))
		;
}

void start(struct trace *t, const char *settings)
{
	trace_event(t, "time 1000000");
	trace_event(t, "A start secret=1 knows=1%s%s", *settings ? " " : "", settings);
	trace_event(t, "B start secret=2 knows=0%s%s", *settings ? " " : "", settings);
}

void start_up(struct trace *t, const char *settings)
{
	start(t, settings);
	trace_say(t, "an association");
	trace_event(t, "A submit m=0 conn=1 kind=0 total=0 priority=0");
	talk(t);
	trace_say(t, "");
}

void message(struct trace *t, char end, u32 m, u32 total, u32 priority)
{
	trace_event(t, "%c submit m=%u conn=1 kind=%u total=%u priority=%u", end, m,
		    end == 'A' ? MRPC_PRIO_REQUEST : MRPC_PRIO_REPLY, total, priority);
}

/* -- packets that no end made -------------------------------------------------- */

struct mrpc_prio_packet own(struct trace *t, char end, u8 type)
{
	const struct mrpc_prio_peer *peer = &t->end[end - 'A'].peer;
	struct mrpc_prio_packet p = { .type = type, .to = peer->remote };

	if (type == MRPC_PRIO_DATA || type == MRPC_PRIO_CONTROL)
		p.from = peer->local;
	return p;
}

void forge_from(struct trace *t, char end, char from, const struct mrpc_prio_packet *p,
		u32 payload)
{
	u8 buf[TRACE_PACKET] __attribute__((__aligned__(8))) = { 0 };
	u32 len = mrpc_prio_encode(p, buf) + payload;

	pnet_set_sum(buf, len);
	trace_event(t, "%c take packet=%u from=%c", end, trace_forge(t, buf, len), from);
}

void forge(struct trace *t, char end, const struct mrpc_prio_packet *p, u32 payload)
{
	forge_from(t, end, other(end), p, payload);
}

void forge_entry(struct trace *t, char end, const struct mrpc_prio_note *note)
{
	struct mrpc_prio_packet p = own(t, other(end), MRPC_PRIO_CONTROL);
	u8 buf[MRPC_PRIO_BODY_LEN] __attribute__((__aligned__(8)));
	u32 len;

	p.nr = 1;
	len = mrpc_prio_encode(&p, buf);
	mrpc_prio_note_put(note, buf + len);
	trace_event(t, "%c take packet=%u", end,
		    trace_forge(t, buf, len + sizeof(struct mrpc_prio_entry)));
}

void forge_note(struct trace *t, char end, u8 op, u64 msg, u32 from, u32 to, u16 code)
{
	struct mrpc_prio_note note = { .op = op, .msg = msg, .from = from, .to = to, .code = code };

	forge_entry(t, end, &note);
}

struct mrpc_prio_packet own_data(struct trace *t, char end, u64 msg, u32 total)
{
	struct mrpc_prio_packet p = own(t, end, MRPC_PRIO_DATA);

	p.conn = 1;
	p.msg = msg;
	p.total = total;
	p.unscheduled = min_t(u32, total, 512);
	p.kind = MRPC_PRIO_REQUEST;
	return p;
}

void alter(struct trace *t, u32 nr, u32 at, u8 value, const char *about)
{
	u8 buf[TRACE_PACKET] __attribute__((__aligned__(8)));

	memcpy(buf, t->packets[nr].buf, t->packets[nr].len);
	buf[at] = value;
	trace_say(t, about);
	trace_event(t, "%c take packet=%u", other(t->packets[nr].from),
		    trace_forge(t, buf, t->packets[nr].len));
}

void alter_len(struct trace *t, u32 nr, u32 len, const char *about)
{
	u8 buf[TRACE_PACKET] __attribute__((__aligned__(8))) = { 0 };

	memcpy(buf, t->packets[nr].buf, min(len, t->packets[nr].len));
	trace_say(t, about);
	trace_event(t, "%c take packet=%u", other(t->packets[nr].from), trace_forge(t, buf, len));
}
