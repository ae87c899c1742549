/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock and what is to happen, ordered by time; what is for one time happens in
 * the order in which it was asked for. Together with seeded random numbers that makes
 * a run the same each time.
 */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include "lib/ds/types.h"

/* Times are in picoseconds: a byte at 100 Gb/s is 80. They last for 213 days. */
#define SIM_NS	1000ULL
#define SIM_US	(1000 * SIM_NS)
#define SIM_MS	(1000 * SIM_US)
#define SIM_S	(1000 * SIM_MS)

/**
 * struct sim_event - something to happen
 * @at: when
 * @number: of the request, which orders those of one time
 * @run: what
 * @who: its argument
 * @what: its other argument
 */
struct sim_event {
	u64 at;
	u64 number;
	void (*run)(void *who, void *what);
	void *who;
	void *what;
};

#define SIM_SLOTS	4096
#define SIM_SLOT_SHIFT	10	/* a slot is 1024 ps: the next 4.2 us are in slots */

/** struct sim_soon - an event in a slot; @next: index of another one, 0: none */
struct sim_soon {
	struct sim_event event;
	u32 next;
};

/**
 * struct sim_clock - what is soon is in slots by time, the rest in a heap
 * @now: the time of the event that happens
 * @count: events asked for, ever
 * @slots: first of each slot, index in @soon; 0: empty
 * @used: slots that are not empty, a bit each
 * @soon: events in slots; [0] is not used
 * @soon_room: for so many
 * @free: index of the first one that is free; 0: none
 * @nr_soon: in slots
 * @heap: the others, of four children per node
 * @nr: of them
 * @room: for so many
 */
struct sim_clock {
	u64 now;
	u64 count;
	u32 slots[SIM_SLOTS];
	u64 used[SIM_SLOTS / 64];
	struct sim_soon *soon;
	u32 soon_room;
	u32 free;
	u32 nr_soon;
	struct sim_event *heap;
	u32 nr;
	u32 room;
};

/** sim_at() - @run(@who, @what) at @at, or now if that is past */
void sim_at(struct sim_clock *c, u64 at, void (*run)(void *who, void *what), void *who,
	    void *what);

/** sim_step() - the next event happens; Return: false: there is none */
bool sim_step(struct sim_clock *c);

/** sim_each() - @visit for all that waits for @run, in any order; nothing may be asked for */
void sim_each(struct sim_clock *c, void (*run)(void *who, void *what),
	      void (*visit)(void *context, void *who, void *what), void *context);

/** sim_clock_fini() - forgets what waits */
void sim_clock_fini(struct sim_clock *c);

#endif /* SIM_EVENT_H */
