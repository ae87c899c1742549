// SPDX-License-Identifier: GPL-2.0
/* Scenes between two endpoints of the prio transport: see prio_scenes.h. */
#include <stdlib.h>

#include "prio_scenes.h"
#include "prio_stage.h"

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
	"4800000000000000000000000000000000000000000000000000000000000000"
	"01010100000000040000000000000000000100000000000009d582f4791220f7"
	"83f72a710715031496cd1b8df8e9a0fbd537e4b13aa70dd4000d006772656574"
	"2e47726565746572";
static const char frame_hello_ack[] =
	"6d50524301020000000000000000000000000000000000000000000000000000"
	"4800000000000000000000000000000000000000000000000000000000000000"
	"01010100000000040000000000000000000100000000000009d582f4791220f7"
	"83f72a710715031496cd1b8df8e9a0fbd537e4b13aa70dd4000d006772656574"
	"2e47726565746572";
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

/* The ack is lost, and the message does not look new. */
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
	wait_ns(t, STAGE_DELAY);
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

static void together(struct trace *t)
{
	u32 m, nr;

	start(t, "payload=400");
	trace_say(t, "these wait for the association; they leave in their order, the last alone");
	message(t, 'A', 1, 300, 5);
	for (m = 2; m <= 4; m++)
		message(t, 'A', m, 20 * m, 9);
	for (m = 0; m < 4; m++)
		fly(t);
	nr = t->nr_packets - 1;
	alter(t, nr, 64 + 40, 0x6e, "the second one's magic: only the first counts");
	lose(t, nr);
	trace_say(t, "what is missing is sent again, each by itself");
	talk(t);
	for (m = 0; m < 2; m++) {
		timer(t);
		talk(t);
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
	SCENE(together, "several messages in a datagram"),
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
	{ "malformed", "packets that break a rule of their own: dropped, no answer", scene_malformed },
	{ "foreign", "packets of no association, or not this one", scene_foreign },
	{ "no_effect", "packets and entries that do not fit the state", scene_no_effect },
	{ "gaps", "more pieces of a message than are remembered", scene_gaps },
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
