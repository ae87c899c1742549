// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/group/progress */
/*
 * The position of one rank in a schedule: kmod/lib/group/progress.c. test_schedule runs whole worlds
 * of ranks on it. Here are turns of one rank, written by hand.
 *
 * A turn is a call and its answer. Bytes are buffer, offset, "+" and length; the buffers are S(end),
 * R(eceive) and W(ork):
 *
 *	"send 0: S4+1 to 1"	slot 0, to rank 1
 *	"recv R4+1 from 2"	store
 *	"recv R4+1 = S4 * 2"	reduce with what comes from rank 2
 *	"recv R4+1 = S4"	copy
 *	"send waits", "send none", the same of recv
 *	"free 0"		slot 0
 */
#include "lib/group/progress.h"
#include "rnd.h"
#include "tap.h"

static const char letter[] = "SRW";

static void answer_send(struct mrpc_progress *p, char *text, size_t size)
{
	struct mrpc_chunk c;

	switch (mrpc_progress_send(p, &c)) {
	case MRPC_NEXT_CHUNK:
		snprintf(text, size, "send %u: %c%llu+%u to %u", c.slot, letter[c.at.buf],
			 (long long)c.at.off, c.len, c.peer);
		return;
	case MRPC_NEXT_WAITS:
		snprintf(text, size, "send waits");
		return;
	case MRPC_NEXT_NONE:
		snprintf(text, size, "send none");
	}
}

/* Return: whether there is a chunk. */
static bool answer_recv(const struct mrpc_progress *p, char *text, size_t size)
{
	enum mrpc_progress_next next;
	struct mrpc_chunk c;
	char *end = text + size;

	next = mrpc_progress_recv(p, &c);
	if (next != MRPC_NEXT_CHUNK) {
		snprintf(text, size, next == MRPC_NEXT_WAITS ? "recv waits" : "recv none");
		return false;
	}
	text += snprintf(text, size, "recv %c%llu+%u", letter[c.at.buf], (long long)c.at.off, c.len);
	if (c.action == MRPC_STEP_STORE)
		snprintf(text, end - text, " from %u", c.peer);
	else
		text += snprintf(text, end - text, " = %c%llu", letter[c.with.buf],
				 (long long)c.with.off);
	if (c.action == MRPC_STEP_REDUCE)
		snprintf(text, end - text, " * %u", c.peer);
	else if (c.action == MRPC_STEP_COPY)
		CHECK_EQ(c.peer, MRPC_NO_RANK);
	return true;
}

/* What is received is asked for twice. */
static void do_turn(struct mrpc_progress *p, const char *want, char *got, size_t size)
{
	bool receives;

	snprintf(got, size, "%s", want);
	if (!strncmp(want, "free ", 5)) {
		mrpc_progress_freed(p, atoi(want + 5));
	} else if (!strncmp(want, "send ", 5)) {
		answer_send(p, got, size);
	} else {
		receives = answer_recv(p, got, size);
		CHECK_EQ(answer_recv(p, got, size), receives);
		if (receives)
			mrpc_progress_received(p);
	}
}

static void begin(struct mrpc_progress *p, struct mrpc_schedule *s,
		  struct mrpc_schedule_config c, u32 chunk)
{
	c.elem_size = 1;
	CHECK_EQ(mrpc_schedule_init(s, &c), MRPC_SCHEDULE_OK);
	mrpc_progress_init(p, s, chunk);
}

/* All is over with the last turn, not before. */
static void run(struct mrpc_schedule_config c, u32 chunk, const char *const *turn)
{
	struct mrpc_schedule s;
	struct mrpc_progress p;
	char got[64];
	u32 i;

	begin(&p, &s, c, chunk);
	for (i = 0; turn[i]; i++) {
		CHECK_MSG(!mrpc_progress_over(&p), "over before turn %u", i);
		do_turn(&p, turn[i], got, sizeof(got));
		CHECK_MSG(!strcmp(got, turn[i]), "turn %u: '%s' instead of '%s'", i, got, turn[i]);
	}
	CHECK(mrpc_progress_over(&p));
}

#define RUN(chunk, turns, ...)	run((struct mrpc_schedule_config){ __VA_ARGS__ }, chunk, turns)

#define RING_OF_3	.collective = MRPC_ALLREDUCE, .algorithm = MRPC_RING, .ranks = 3

/* Blocks of two bytes. What is received in a step is sent in the next one. */
TEST(sends_follow_receives)
{
	static const char *const turns[] = {
		"send 0: S4+1 to 1", "send 1: S5+1 to 1", "send waits",
		"recv R2+1 = S2 * 2", "send 2: R2+1 to 1", "send waits",
		"recv R3+1 = S3 * 2", "recv R0+1 = S0 * 2", "send 3: R3+1 to 1",
		"send 4: R0+1 to 1", "send waits",
		"recv R1+1 = S1 * 2", "recv waits",	/* for step 0: slots 0 and 1 */
		"free 1", "recv waits", "free 0", "recv R4+1 from 2",
		"send 0: R1+1 to 1", "send 1: R4+1 to 1", "send waits",
		"recv R5+1 from 2", "recv waits",	/* for step 1: slots 2 and 3 */
		"free 3", "recv waits", "free 4", "recv waits", "free 2", "recv R2+1 from 2",
		"send 2: R5+1 to 1", "send none", "recv R3+1 from 2", "recv none",
		"free 1", "free 0", "free 2", NULL
	};

	RUN(1, turns, RING_OF_3, .count = 6);
}

/* A receive waits also for what is not sent yet, and for the rest of a message. */
TEST(receives_wait_for_sends)
{
	static const char *const turns[] = {
		"recv R2+1 = S2 * 2", "recv R3+1 = S3 * 2", "recv R0+1 = S0 * 2",
		"recv R1+1 = S1 * 2", "recv waits",
		"send 0: S4+1 to 1", "free 0", "recv waits",
		"send 0: S5+1 to 1", "recv waits", "free 0", "recv R4+1 from 2", "recv R5+1 from 2",
		"recv waits", "send 0: R2+1 to 1", "send 1: R3+1 to 1", "recv waits",
		"send 2: R0+1 to 1", "free 0", "recv waits", "free 1",
		"recv R2+1 from 2", "recv R3+1 from 2", "recv none",
		"send 0: R1+1 to 1", "send 1: R4+1 to 1", "send 3: R5+1 to 1", "send none",
		"free 0", "free 1", "free 2", "free 3", NULL
	};

	RUN(1, turns, RING_OF_3, .count = 6);
}

/* The last chunk of a message has what is left. */
TEST(long_chunks)
{
	static const char *const turns[] = {
		"send 0: S14+4 to 1", "send 1: S18+3 to 1", "send waits",
		"recv R7+4 = S7 * 2", "send 2: R7+4 to 1", "send waits",
		"recv R11+3 = S11 * 2", "send 3: R11+3 to 1", "send waits",
		"recv R0+4 = S0 * 2", "recv R4+3 = S4 * 2", "send 4: R0+4 to 1",
		"send 5: R4+3 to 1", "free 0", "free 1", "recv R14+4 from 2",
		"recv R18+3 from 2", "send 0: R14+4 to 1", "send 1: R18+3 to 1", "send none",
		"free 2", "free 3", "recv R7+4 from 2", "recv R11+3 from 2", "recv none",
		"free 0", "free 1", "free 4", "free 5", NULL
	};

	RUN(4, turns, RING_OF_3, .count = 21);
}

TEST(barriers_wait_for_all_of_a_message)
{
	static const char *const turns[] = {
		"send 0: S0+0 to 1", "send waits", "recv R0+0 from 3",
		"send 1: S0+0 to 2", "send none", "recv R0+0 from 2", "recv none",
		"free 1", "free 0", NULL
	};

	RUN(1, turns, .collective = MRPC_BARRIER, .algorithm = MRPC_RECURSIVE, .ranks = 4);
}

TEST(copies_are_chunks)
{
	static const char *const turns[] = {
		"recv R5+2 = S0", "recv R7+2 = S2", "send 0: S0+2 to 0", "recv R9+1 = S4",
		"recv R0+2 from 0", "recv R2+2 from 0", "recv R4+1 from 0", "recv none",
		"send 1: S2+2 to 0", "send 2: S4+1 to 0", "send none",
		"free 0", "free 1", "free 2", NULL
	};

	RUN(2, turns, .collective = MRPC_ALLGATHER, .algorithm = MRPC_RING, .ranks = 2, .rank = 1,
	    .count = 5);
}

/*
 * Rank 2 of a tree: a copy, then two steps for what rank 3 sends, of which one is empty. The send
 * follows the receive all the same.
 */
TEST(sends_follow_receives_before_empty_steps)
{
	static const char *const turns[] = {
		"send waits", "recv W0+1 = S0", "send waits", "recv W1+1 = S1",
		"send 0: W0+1 to 0", "send 1: W1+1 to 0", "send waits",
		"recv W2+1 from 3", "send 2: W2+1 to 0", "send waits",
		"recv W3+1 from 3", "recv none", "send 3: W3+1 to 0", "send none",
		"free 3", "free 2", "free 1", "free 0", NULL
	};

	RUN(1, turns, .collective = MRPC_GATHER, .algorithm = MRPC_BINOMIAL, .ranks = 4, .rank = 2,
	    .count = 2);
}

/* No schedule receives to another buffer than the one that the waiting send reads. */
TEST(sends_do_not_follow_other_buffers)
{
	struct mrpc_schedule s;
	struct mrpc_progress p;
	struct mrpc_chunk c;

	begin(&p, &s, (struct mrpc_schedule_config){ RING_OF_3, .count = 3 }, 1);
	CHECK_EQ(mrpc_progress_send(&p, &c), MRPC_NEXT_CHUNK);
	CHECK_EQ(mrpc_progress_send(&p, &c), MRPC_NEXT_WAITS);
	p.recv.step.recv.at.buf = MRPC_BUF_WORK;
	CHECK_EQ(mrpc_progress_send(&p, &c), MRPC_NEXT_CHUNK);
}

/* A rank without peers, and messages of nothing, which are not sent. */
TEST(nothing_to_do)
{
	static const char *const turns[] = { NULL };
	u32 collective;

	for (collective = 0; collective < MRPC_NR_COLLECTIVES; collective++) {
		RUN(1, turns, .collective = collective, .algorithm = MRPC_DIRECT, .ranks = 1,
		    .in_place = true, .count = 1);
		if (collective != MRPC_BARRIER)
			RUN(1, turns, .collective = collective, .algorithm = MRPC_DIRECT,
			    .ranks = 5);
	}
}

/* Sends that are over in random order: no slot is in use twice, and all slots are used. */
static void check_slots(struct mrpc_progress *p, u32 sends, u64 *rnd)
{
	bool busy[MRPC_PROGRESS_SENDS] = { false };
	struct mrpc_chunk c;
	u32 sent = 0, at_a_time = 0, slot;

	while (sent < sends || at_a_time) {
		if (at_a_time < MRPC_PROGRESS_SENDS && sent < sends) {
			CHECK_EQ(mrpc_progress_send(p, &c), MRPC_NEXT_CHUNK);
			CHECK(c.slot < MRPC_PROGRESS_SENDS && !busy[c.slot]);
			busy[c.slot] = true;
			at_a_time++;
			sent++;
		} else {
			CHECK_EQ(mrpc_progress_send(p, &c),
				 sent < sends ? MRPC_NEXT_WAITS : MRPC_NEXT_NONE);
			do
				slot = rnd_below(rnd, MRPC_PROGRESS_SENDS);
			while (!busy[slot]);
			mrpc_progress_freed(p, slot);
			busy[slot] = false;
			at_a_time--;
		}
	}
}

/* Chunks of one message, and of as many messages. */
TEST(sends_wait_for_slots)
{
	struct mrpc_schedule_config c = {
		.collective = MRPC_BROADCAST, .algorithm = MRPC_DIRECT, .in_place = true,
	};
	struct mrpc_schedule s;
	struct mrpc_progress p;
	u64 rnd = 51;
	u32 n;

	for (n = 1; n < 100; n++) {
		c.ranks = 2;
		c.count = n;
		begin(&p, &s, c, 1);
		check_slots(&p, n, &rnd);
		CHECK(mrpc_progress_over(&p));
		c.ranks = n + 1;
		c.count = 1;
		begin(&p, &s, c, 1);
		check_slots(&p, n, &rnd);
		CHECK(mrpc_progress_over(&p));
	}
}
