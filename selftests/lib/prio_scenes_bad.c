// SPDX-License-Identifier: GPL-2.0
/* Scenes of the prio transport: what has no effect, and why. See prio_scenes.h. */
#include <string.h>

#include "prio_scenes.h"
#include "prio_stage.h"

void scene_malformed(struct trace *t)
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
	alter(t, data, 6, 100, "nr: nothing follows the payload");
	alter(t, data, 6, 101, "nr: more than there is");
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

void scene_foreign(struct trace *t)
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

void scene_no_effect(struct trace *t)
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

void scene_gaps(struct trace *t)
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
