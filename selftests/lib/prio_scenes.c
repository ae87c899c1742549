// SPDX-License-Identifier: GPL-2.0
/* Scenes between two endpoints of the prio transport: see prio_scenes.h. */
#include <stdlib.h>
#include <string.h>

#include "prio_net.h"
#include "prio_scenes.h"

#define US	1000ULL
#define DELAY	(50 * US)	/* of a packet */

static char other(char end)
{
	return end == 'A' ? 'B' : 'A';
}

static void wait_ns(struct trace *t, u64 ns)
{
	trace_event(t, "time %llu", (unsigned long long)(t->now + ns));
}

/* Until one of them says something, or has nothing to wait for */
static void timer(struct trace *t)
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

static void deliver(struct trace *t, u32 nr)
{
	trace_event(t, "%c take packet=%u", other(t->packets[nr].from), nr);
}

static void lose(struct trace *t, u32 nr)
{
	char text[64];

	t->packets[nr].flies = false;
	snprintf(text, sizeof(text), "packet %u is lost", nr);
	trace_say(t, text);
}

/* All that flies comes, in order. Return: packets */
static u32 fly(struct trace *t)
{
	u32 last = t->nr_packets, i, n = 0;

	for (i = 1; i <= last; i++)
		n += t->packets[i].flies;
	if (!n)
		return 0;
	wait_ns(t, DELAY);
	for (i = 1; i <= last; i++)
		if (t->packets[i].flies)
			deliver(t, i);
	return n;
}

/* Until nothing flies and no acknowledgement waits */
static void talk(struct trace *t)
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

static void start(struct trace *t, const char *settings)
{
	trace_event(t, "time 1000000");
	trace_event(t, "A start secret=1 knows=1%s%s", *settings ? " " : "", settings);
	trace_event(t, "B start secret=2 knows=0%s%s", *settings ? " " : "", settings);
}

/* An association, made by an empty message. */
static void start_up(struct trace *t, const char *settings)
{
	start(t, settings);
	trace_say(t, "an association");
	trace_event(t, "A submit m=0 conn=1 kind=0 total=0 priority=0");
	talk(t);
	trace_say(t, "");
}

static void message(struct trace *t, char end, u32 m, u32 total, u32 priority)
{
	trace_event(t, "%c submit m=%u conn=1 kind=%u total=%u priority=%u", end, m,
		    end == 'A' ? MRPC_PRIO_REQUEST : MRPC_PRIO_REPLY, total, priority);
}

/* -- packets that no end made -------------------------------------------------- */

/* As @end would send it to the other */
static struct mrpc_prio_packet own(struct trace *t, char end, u8 type)
{
	const struct mrpc_prio_peer *peer = &t->end[end - 'A'].peer;
	struct mrpc_prio_packet p = { .type = type, .to = peer->remote };

	if (type == MRPC_PRIO_DATA || type == MRPC_PRIO_CONTROL)
		p.from = peer->local;
	return p;
}

/* It comes to @end from the address of @from */
static void forge_from(struct trace *t, char end, char from, const struct mrpc_prio_packet *p,
		       u32 payload)
{
	u8 buf[TRACE_PACKET] __attribute__((__aligned__(8))) = { 0 };
	u32 len = mrpc_prio_encode(p, buf) + payload;

	pnet_set_sum(buf, len);
	trace_event(t, "%c take packet=%u from=%c", end, trace_forge(t, buf, len), from);
}

static void forge(struct trace *t, char end, const struct mrpc_prio_packet *p, u32 payload)
{
	forge_from(t, end, other(end), p, payload);
}

static void forge_entry(struct trace *t, char end, const struct mrpc_prio_note *note)
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

static void forge_note(struct trace *t, char end, u8 op, u64 msg, u32 from, u32 to, u16 code)
{
	struct mrpc_prio_note note = { .op = op, .msg = msg, .from = from, .to = to, .code = code };

	forge_entry(t, end, &note);
}

/* A message that @end begins */
static struct mrpc_prio_packet own_data(struct trace *t, char end, u64 msg, u32 total)
{
	struct mrpc_prio_packet p = own(t, end, MRPC_PRIO_DATA);

	p.conn = 1;
	p.msg = msg;
	p.total = total;
	p.unscheduled = min_t(u32, total, 512);
	p.kind = MRPC_PRIO_REQUEST;
	return p;
}

/* Packet @nr with one byte changed comes to the other end */
static void alter(struct trace *t, u32 nr, u32 at, u8 value, const char *about)
{
	u8 buf[TRACE_PACKET] __attribute__((__aligned__(8)));

	memcpy(buf, t->packets[nr].buf, t->packets[nr].len);
	buf[at] = value;
	trace_say(t, about);
	trace_event(t, "%c take packet=%u", other(t->packets[nr].from),
		    trace_forge(t, buf, t->packets[nr].len));
}

static void alter_len(struct trace *t, u32 nr, u32 len, const char *about)
{
	u8 buf[TRACE_PACKET] __attribute__((__aligned__(8))) = { 0 };

	memcpy(buf, t->packets[nr].buf, min(len, t->packets[nr].len));
	trace_say(t, about);
	trace_event(t, "%c take packet=%u", other(t->packets[nr].from), trace_forge(t, buf, len));
}

/* -- associations -------------------------------------------------------------- */

static void first_contact(struct trace *t)
{
	start(t, "");
	trace_say(t, "the first HELLO is lost");
	message(t, 'A', 1, 100, 5);
	lose(t, 1);
	timer(t);
	fly(t);
	trace_say(t, "B has answered with a cookie, and has no state");
	fly(t);
	fly(t);
	trace_say(t, "B has an association; its WELCOME is lost");
	lose(t, t->nr_packets);
	timer(t);
	talk(t);
}

static void both_ask(struct trace *t)
{
	trace_event(t, "time 1000000");
	trace_event(t, "A start secret=1 knows=1");
	trace_event(t, "B start secret=2 knows=1");
	message(t, 'A', 1, 100, 5);
	message(t, 'B', 1, 100, 5);
	talk(t);
}

static void restart_is_told(struct trace *t)
{
	start_up(t, "");
	trace_say(t, "B has lost its state, and A does not know");
	message(t, 'A', 1, 100, 5);
	trace_event(t, "B start secret=3 knows=0");
	trace_say(t, "what B may have received ends; what was not sent goes on");
	fly(t);
	message(t, 'A', 2, 100, 5);
	talk(t);
}

static void restart_asks(struct trace *t)
{
	start_up(t, "");
	message(t, 'B', 1, 100, 5);
	lose(t, t->nr_packets);
	trace_say(t, "A has lost its state, and asks as if it had never known B");
	trace_event(t, "A start secret=4 knows=1");
	message(t, 'A', 1, 100, 5);
	talk(t);
}

static void silence(struct trace *t)
{
	start_up(t, "silence=400000000");
	message(t, 'A', 1, 100, 5);
	lose(t, t->nr_packets);
	trace_say(t, "nothing comes from B any more; A asks whether it lives");
	while (t->end[0].peer.state == MRPC_PRIO_PEER_UP) {
		u32 nr = t->nr_packets;

		timer(t);
		while (nr < t->nr_packets)
			t->packets[++nr].flies = false;
	}
}

static void ping(struct trace *t)
{
	start_up(t, "silence=400000000");
	trace_say(t, "B wants no more than 128 bytes as yet: does it live?");
	trace_event(t, "B policy limit=128");
	message(t, 'A', 1, 1000, 5);
	talk(t);
	timer(t);
	talk(t);
	trace_event(t, "B want msg=2 limit=1000");
	talk(t);
}

static void checksums(struct trace *t)
{
	u32 nr;

	start_up(t, "crc=1");
	message(t, 'A', 1, 300, 5);
	nr = t->nr_packets;
	alter(t, nr, 100, 0xff, "one byte of the payload is another");
	alter(t, nr, 16, 0, "one byte of the sum is");
	trace_say(t, "no sum, although one was agreed on");
	{
		struct mrpc_prio_packet p = own_data(t, 'A', 3, 100);

		forge(t, 'B', &p, 100);
	}
	trace_say(t, "and the right ones");
	talk(t);
}

/* -- messages ------------------------------------------------------------------ */

static const char frame_hello[] =
	"6d50524301010000000000000000000000000000000000000000000000000000"
	"4700000000000000000000000000000000000000000000000000000000000000"
	"01010100000000040000000000000000000100000000000009d582f4791220f7"
	"83f72a710715031496cd1b8df8e9a0fbd537e4b13aa70dd4000d67726565742e"
	"4772656574657200";
static const char frame_hello_ack[] =
	"6d50524301020000000000000000000000000000000000000000000000000000"
	"4700000000000000000000000000000000000000000000000000000000000000"
	"01010100000000040000000000000000000100000000000009d582f4791220f7"
	"83f72a710715031496cd1b8df8e9a0fbd537e4b13aa70dd4000d67726565742e"
	"4772656574657200";
static const char frame_call[] =
	"6d50524301030300000001000000000000000000000000000000800000000000"
	"000000000800000005000000000000000000000400000000"
	"40420f0000000000080000000400000062617368"
	"00000000";
static const char frame_reply[] =
	"6d50524301040300000001000000000000000000000000000000000000000000"
	"000000000800000007000000000000000000000000000000"
	"000000000000000008000000060000006869206261736800";

/* The frames are those of wire.rst: a connection, and one call. */
static void small_call(struct trace *t)
{
	start(t, "payload=1400");
	trace_event(t, "A submit m=1 conn=7 kind=0 priority=255 content=%s", frame_hello);
	talk(t);
	trace_event(t, "B submit m=1 conn=7 kind=3 priority=255 content=%s", frame_hello_ack);
	talk(t);
	trace_say(t, "");
	trace_say(t, "the call; its reply acknowledges it");
	trace_event(t, "A submit m=2 conn=7 kind=1 priority=128 content=%s", frame_call);
	fly(t);
	trace_event(t, "B submit m=2 conn=7 kind=2 priority=128 content=%s", frame_reply);
	talk(t);
}

/* A frame in hexadecimal: a header, and after it @behind, which is padded. */
static void frame(char *hex, u8 type, u8 flags, u8 status, const u32 lens[5], const char *behind)
{
	u8 buf[512] = { 0x6d, 0x50, 0x52, 0x43, 1, type, flags, 0, 0, 0, 1 };
	u32 len = 64, i;

	buf[24] = status;
	for (i = 0; i < 5; i++)
		buf[28 + 4 * i] = lens[i];
	for (i = 0; behind[i]; i++)
		buf[len++] = behind[i] == '_' ? 0 : behind[i];
	for (i = 0; i < lens[4]; i++)
		buf[len++] = i;
	for (i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", buf[i]);
}

/* Metadata "user" = "me" and 200 bytes; the reply has a status and a sentence. */
static void large_call(struct trace *t)
{
	static const u32 call[5] = { 0, 10, 8, 0, 200 }, reply[5] = { 11, 0, 0, 0, 0 };
	char hex[1100];
	u32 nr;

	start_up(t, "");
	nr = t->nr_packets + 2;
	frame(hex, 3, 3, 0, call, "\4_\2_userme______" "________");
	trace_event(t, "A submit m=1 conn=7 kind=1 priority=128 content=%s", hex);
	lose(t, nr);
	talk(t);
	while (t->end[0].ep.nr_tx) {
		timer(t);
		talk(t);
	}
	frame(hex, 4, 1, 5, reply, "no such key_____");
	trace_event(t, "B submit m=1 conn=7 kind=2 priority=128 content=%s", hex);
	talk(t);
}

static void large_message(struct trace *t)
{
	start_up(t, "");
	message(t, 'A', 1, 2000, 5);
	talk(t);
}

/* Of two, the more urgent one is granted first, though it begins later and is larger. */
static void priorities(struct trace *t)
{
	start_up(t, "");
	message(t, 'A', 1, 1500, 10);
	fly(t);
	trace_say(t, "a more urgent one, larger than what remains of the first");
	message(t, 'A', 2, 1600, 200);
	talk(t);
}

static void acknowledgements(struct trace *t)
{
	u32 i;

	start_up(t, "");
	trace_say(t, "ten messages, of which the third is lost and the sixth is large");
	for (i = 1; i <= 10; i++) {
		message(t, 'A', i, i == 6 ? 600 : 10, 5);
		if (i == 3)
			lose(t, t->nr_packets);
	}
	talk(t);
	trace_say(t, "it is announced again, and acknowledged at once");
	timer(t);
	talk(t);
}

static void loss_in_the_middle(struct trace *t)
{
	u32 nr;

	start_up(t, "");
	message(t, 'A', 1, 1500, 5);
	nr = t->nr_packets;
	lose(t, nr - 1);
	talk(t);
	trace_say(t, "all came but the second: it was asked for when others were beyond it");
}

static void loss_at_the_end(struct trace *t)
{
	start_up(t, "");
	message(t, 'A', 1, 512, 5);
	lose(t, t->nr_packets);
	fly(t);
	trace_say(t, "nothing comes: B asks for what was announced");
	timer(t);
	talk(t);
}

static void loss_of_the_first(struct trace *t)
{
	start_up(t, "");
	message(t, 'A', 1, 100, 5);
	lose(t, t->nr_packets);
	trace_say(t, "nothing is heard of it: A sends its first packet again, with AGAIN and URGE");
	timer(t);
	talk(t);
}

static void loss_of_a_grant(struct trace *t)
{
	start_up(t, "");
	message(t, 'A', 1, 900, 5);
	fly(t);
	while (t->packets[t->nr_packets].flies && t->packets[t->nr_packets].from == 'B')
		lose(t, t->nr_packets);
	trace_say(t, "B asks for what it has granted; A has not sent it yet, and says so");
	timer(t);
	talk(t);
}

/* The ack is lost, and the message looks new to nobody. */
static void duplicates(struct trace *t)
{
	u32 nr;

	start_up(t, "");
	message(t, 'A', 1, 300, 5);
	nr = t->nr_packets;
	deliver(t, nr);
	deliver(t, nr - 2);
	trace_say(t, "the same once more");
	deliver(t, nr - 2);
	deliver(t, nr - 1);
	trace_say(t, "complete; and all of them again");
	deliver(t, nr);
	deliver(t, nr - 1);
	talk(t);
}

static void path_mtu(struct trace *t)
{
	start_up(t, "payload=128 chunk=512");
	trace_say(t, "a chunk is 512 bytes: four packets, one of which is lost");
	message(t, 'A', 1, 1000, 5);
	lose(t, t->nr_packets - 2);
	trace_say(t, "the path takes less now: other boundaries, also of what is sent again");
	trace_event(t, "A path payload=96");
	talk(t);
	trace_say(t, "and more");
	trace_event(t, "A path payload=200");
	message(t, 'A', 2, 1000, 5);
	talk(t);
}

static void congestion(struct trace *t)
{
	u32 nr;

	start_up(t, "window=2048 outstanding=4096 unscheduled=2048");
	nr = t->nr_packets + 1;
	message(t, 'A', 1, 4000, 5);
	wait_ns(t, DELAY);
	trace_say(t, "the first packet comes with congestion experienced; smaller grants follow");
	trace_event(t, "B take packet=%u ecn=1", nr);
	talk(t);
}

static void refusals(struct trace *t)
{
	start_up(t, "max_total=4000");
	trace_say(t, "no such connection");
	trace_event(t, "B policy refuse=%u", MRPC_PRIO_UNKNOWN);
	message(t, 'A', 1, 100, 5);
	talk(t);
	trace_say(t, "too big for B's upper layer");
	trace_event(t, "B policy refuse=%u", MRPC_PRIO_TOO_BIG);
	message(t, 'A', 2, 100, 5);
	talk(t);
	trace_say(t, "later; its number is new still");
	trace_event(t, "B policy refuse=%u", MRPC_PRIO_LATER);
	message(t, 'A', 3, 600, 5);
	fly(t);
	fly(t);
	trace_event(t, "B policy refuse=0");
	timer(t);
	talk(t);
	trace_say(t, "begun, and thrown away");
	message(t, 'A', 4, 1500, 5);
	fly(t);
	trace_event(t, "B reject msg=5");
	talk(t);
}

static void aborts(struct trace *t)
{
	start_up(t, "");
	trace_say(t, "while it is sent");
	message(t, 'A', 1, 1500, 5);
	fly(t);
	trace_event(t, "A abort m=1");
	talk(t);
	trace_say(t, "before the receiver has seen it: its ABORT comes first");
	message(t, 'A', 2, 100, 5);
	trace_event(t, "A abort m=2");
	deliver(t, t->nr_packets);
	talk(t);
	trace_say(t, "before it was sent: nobody hears of it");
	trace_event(t, "A submit m=3 conn=1 kind=1 total=100 priority=5");
	talk(t);
	trace_say(t, "a RESEND for a message that is over");
	forge_note(t, 'A', MRPC_PRIO_RESEND, 4, 0, 50, 0);
	talk(t);
}

/* -- what has no effect -------------------------------------------------------- */

static void malformed(struct trace *t)
{
	u32 data, control, hello = 1;

	start_up(t, "");
	control = t->nr_packets;
	message(t, 'A', 1, 100, 5);
	data = t->nr_packets;
	alter_len(t, data, 0, "an empty datagram");
	alter_len(t, data, 23, "ends in the header");
	alter_len(t, data, 63, "ends in what follows it");
	alter(t, data, 0, 0x6e, "magic");
	alter(t, data, 2, 2, "version");
	alter(t, data, 3, 0, "type");
	alter(t, data, 3, 7, "type");
	alter(t, data, 4, 0x10, "a flag that does not exist");
	alter(t, data, 4, 0x08, "a flag of another type: ECN");
	alter(t, data, 16, 1, "a crc without the flag");
	alter(t, data, 6, 1, "nr, which DATA does not have");
	alter(t, data, 60, 4, "kind");
	alter(t, data, 61, 1, "reserved");
	alter(t, data, 24, 0, "conn is 0");
	alter(t, data, 32, 0, "msg is 0");
	alter(t, data, 51, 0x41, "total: above the limit");
	alter(t, data, 57, 1, "unscheduled: more than total");
	alter(t, data, 62, 3, "behind: not less than msg");
	alter(t, data, 52, 1, "offset: the payload ends beyond total");
	alter_len(t, data, 64 + 101, "a payload that is longer than total");

	trace_say(t, "");
	trace_say(t, "CONTROL");
	alter(t, control, 4, 2, "a flag of another type: AGAIN");
	alter(t, control, 5, 1, "priority, which CONTROL does not have");
	alter(t, control, 6, 0, "no entries");
	alter(t, control, 6, 57, "too many entries");
	alter(t, control, 6, 2, "fewer entries than it says");
	alter_len(t, control, t->packets[control].len + 1, "and a byte more");
	alter(t, control, 24 + 16, 0, "op");
	alter(t, control, 24 + 16, 9, "op");
	alter(t, control, 24 + 17, 1, "class, which only GRANT has");
	alter(t, control, 24 + 18, 1, "code, which only REFUSE has");
	alter(t, control, 24 + 16, MRPC_PRIO_REFUSE, "REFUSE without a code");
	alter(t, control, 24 + 20, 1, "reserved");
	alter(t, control, 24, 0, "msg is 0");
	trace_say(t, "GRANT: from more than to; to above the limit; class of control");
	forge_note(t, 'A', MRPC_PRIO_GRANT, 2, 101, 100, 0);
	forge_note(t, 'A', MRPC_PRIO_GRANT, 2, 0, 0x41000000, 0);
	forge_entry(t, 'A', &(struct mrpc_prio_note){ .op = MRPC_PRIO_GRANT, .msg = 2, .to = 100,
						      .class = MRPC_PRIO_CONTROL_CLASS });
	trace_say(t, "RESEND of nothing");
	forge_note(t, 'A', MRPC_PRIO_RESEND, 2, 100, 100, 0);
	trace_say(t, "BUSY with a range");
	forge_note(t, 'B', MRPC_PRIO_BUSY, 2, 0, 100, 0);
	trace_say(t, "REFUSE with a code that does not exist");
	forge_note(t, 'A', MRPC_PRIO_REFUSE, 2, 0, 0, 5);

	trace_say(t, "");
	trace_say(t, "HELLO, COOKIE, WELCOME, RESET");
	alter_len(t, hello, 63, "too short");
	alter_len(t, hello, 65, "too long");
	alter(t, hello, 4, 0, "no sum");
	alter(t, hello, 8, 1, "to is not 0 in HELLO");
	alter(t, hello, 20, 1, "from, which HELLO does not have");
	alter(t, hello, 56, 0xff, "the sum is wrong");
	trace_say(t, "token is 0");
	{
		struct mrpc_prio_packet p = { .type = MRPC_PRIO_HELLO, .flags = MRPC_PRIO_CRC };

		forge(t, 'B', &p, 0);
	}
	trace_say(t, "a COOKIE with a token; a WELCOME with a cookie; one to nobody");
	{
		struct mrpc_prio_packet p = own(t, 'B', MRPC_PRIO_COOKIE);

		p.flags = MRPC_PRIO_CRC;
		p.token = 1;
		forge(t, 'A', &p, 0);
		p.type = MRPC_PRIO_WELCOME;
		p.cookie = 1;
		forge(t, 'A', &p, 0);
		p.cookie = 0;
		p.to = 0;
		forge(t, 'A', &p, 0);
	}
	trace_say(t, "a RESET with something behind it");
	{
		struct mrpc_prio_packet p = own(t, 'B', MRPC_PRIO_RESET);

		p.flags = MRPC_PRIO_CRC;
		forge(t, 'A', &p, 8);
	}
	trace_say(t, "");
	trace_say(t, "none of it mattered");
	talk(t);
}

static void foreign(struct trace *t)
{
	struct mrpc_prio_packet p;
	u32 data;

	start_up(t, "");
	message(t, 'A', 1, 900, 5);
	data = t->nr_packets;
	alter(t, data, 8, t->packets[data].buf[8] ^ 1,
	      "not B's token: RESET, which A does not believe");
	fly(t);
	trace_say(t, "the lower half of another token than A's: RESET, which is lost");
	alter(t, data, 20, t->packets[data].buf[20] ^ 1,
	      "(A would believe it, as it has B's token)");
	lose(t, t->nr_packets);
	trace_say(t, "from an address that B has no association with: RESET");
	trace_event(t, "B take packet=%u from=C", data);
	lose(t, t->nr_packets);
	trace_say(t, "RESET by a stranger has no effect, and no answer");
	p = own(t, 'A', MRPC_PRIO_RESET);
	p.flags = MRPC_PRIO_CRC;
	forge_from(t, 'B', 'C', &p, 0);
	trace_say(t, "a WELCOME that nobody asked for");
	p = own(t, 'B', MRPC_PRIO_WELCOME);
	p.flags = MRPC_PRIO_CRC;
	p.token = 5;
	forge(t, 'A', &p, 0);
	trace_say(t, "a HELLO with a cookie that B has not made: answered by a new one");
	p = (struct mrpc_prio_packet){ .type = MRPC_PRIO_HELLO, .flags = MRPC_PRIO_CRC, .token = 9,
				       .cookie = 10 };
	forge(t, 'B', &p, 0);
	lose(t, t->nr_packets);
	talk(t);
}

static void no_effect(struct trace *t)
{
	struct mrpc_prio_packet p;
	u32 i;

	start_up(t, "max_rx=2");
	trace_event(t, "B policy limit=200");
	message(t, 'A', 1, 900, 5);
	talk(t);
	trace_say(t, "another total than before");
	p = own_data(t, 'A', 2, 800);
	forge(t, 'B', &p, 0);
	trace_say(t, "beyond what was granted");
	p = own_data(t, 'A', 2, 900);
	p.offset = 800;
	forge(t, 'B', &p, 100);
	trace_say(t, "beyond the window of numbers");
	forge_note(t, 'B', MRPC_PRIO_ABORT, 2000, 0, 0, 0);
	trace_say(t, "more unscheduled than B allows");
	p = own_data(t, 'A', 3, 600);
	p.unscheduled = 600;
	forge(t, 'B', &p, 100);
	trace_say(t, "about messages that are not there");
	forge_note(t, 'A', MRPC_PRIO_GRANT, 77, 0, 100, 0);
	forge_note(t, 'A', MRPC_PRIO_ACK, 77, 0, 0, 0);
	forge_note(t, 'B', MRPC_PRIO_BUSY, 77, 0, 0, 0);
	trace_say(t, "a grant of more than there is; one that says more is here than was sent");
	forge_note(t, 'A', MRPC_PRIO_GRANT, 2, 0, 901, 0);
	forge_note(t, 'A', MRPC_PRIO_GRANT, 2, 600, 900, 0);
	trace_say(t, "a third message, where two may be received at a time: LATER");
	trace_event(t, "B policy limit=10");
	message(t, 'A', 2, 300, 5);
	fly(t);
	message(t, 'A', 3, 300, 5);
	fly(t);
	trace_say(t, "the rest of all of them");
	trace_event(t, "B policy limit=4294967295");
	trace_event(t, "B want msg=2 limit=900");
	trace_event(t, "B want msg=3 limit=300");
	for (i = 0; i < 3; i++) {
		talk(t);
		if (t->end[0].ep.nr_tx)
			timer(t);
	}
	talk(t);
}

static void gaps(struct trace *t)
{
	struct mrpc_prio_packet p;
	u32 i;

	start_up(t, "unscheduled=512 reorder=0");
	trace_say(t, "every second byte of a message, one by one: B remembers 30 pieces");
	for (i = 0; i < 31; i++) {
		p = own_data(t, 'A', 2, 500);
		p.offset = 1 + 2 * i;
		forge(t, 'B', &p, 1);
	}
}

#define SCENE(name, about) { #name, about, name }
const struct prio_scene prio_scenes[] = {
	SCENE(first_contact, "HELLO, COOKIE, HELLO, WELCOME, each lost once or repeated"),
	SCENE(both_ask, "both ends ask at once"),
	SCENE(restart_is_told, "the receiver restarts: RESET, and another association"),
	SCENE(restart_asks, "the sender restarts: a HELLO with another token and the right cookie"),
	SCENE(silence, "a peer that answers no more is given up after 3 s"),
	SCENE(ping, "a peer that has nothing to say is asked whether it lives"),
	SCENE(checksums, "crc32c end to end; wrong and missing ones are dropped"),
	SCENE(small_call, "a connection and a call: frames of the native wire format"),
	SCENE(large_call, "a call of several packets, one of which is lost; a reply with a status"),
	SCENE(large_message, "unscheduled bytes, then grants"),
	SCENE(priorities, "an urgent message overtakes one that began before"),
	SCENE(acknowledgements, "ACK of several messages, late and at once"),
	SCENE(loss_in_the_middle, "RESEND of a gap"),
	SCENE(loss_at_the_end, "RESEND when nothing comes"),
	SCENE(loss_of_the_first, "a message that its receiver has never heard of"),
	SCENE(loss_of_a_grant, "RESEND of what was not sent: BUSY"),
	SCENE(duplicates, "reordered and repeated packets"),
	SCENE(path_mtu, "the path's MTU changes while a message is sent"),
	SCENE(congestion, "congestion experienced: smaller grants, and an echo"),
	SCENE(refusals, "UNKNOWN, TOO_BIG, LATER, REJECTED"),
	SCENE(aborts, "ABORT, early and late"),
	SCENE(malformed, "packets that break a rule of their own: dropped, no answer"),
	SCENE(foreign, "packets of no association, or not this one"),
	SCENE(no_effect, "packets and entries that do not fit the state"),
	SCENE(gaps, "more pieces of a message than are remembered"),
};

const u32 nr_prio_scenes = ARRAY_SIZE(prio_scenes);

char *prio_scene_text(const struct prio_scene *scene)
{
	struct trace *t;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "# SPDX-License-Identifier: GPL-2.0\n# %s: %s\n\n", scene->name, scene->about);
	t = trace_new(out);
	scene->run(t);
	trace_free(t);
	fclose(out);
	return text;
}
