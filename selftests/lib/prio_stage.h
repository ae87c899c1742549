/* SPDX-License-Identifier: GPL-2.0 */
/* How a scene of the prio transport is played: see prio_scenes.h. */
#ifndef PRIO_STAGE_H
#define PRIO_STAGE_H

#include "prio_trace.h"

#define STAGE_DELAY	50000ULL	/* ns that a packet flies */

char other(char end);
void wait_ns(struct trace *t, u64 ns);
/* Until one of them says something, or has nothing to wait for. */
void timer(struct trace *t);
void deliver(struct trace *t, u32 nr);

/* Packet @nr is lost. */
void lose(struct trace *t, u32 nr);
/* All that flies comes, in order. Return: packets */
u32 fly(struct trace *t);
/* Until nothing flies and no acknowledgement waits. */
void talk(struct trace *t);
/* Both ends, with settings as of the event "start". */
void start(struct trace *t, const char *settings);
/* And an association, made by an empty message. */
void start_up(struct trace *t, const char *settings);
void message(struct trace *t, char end, u32 m, u32 total, u32 priority);

/* A packet as @end would send it to the other. */
struct mrpc_prio_packet own(struct trace *t, char end, u8 type);
/* A packet that neither sent comes to @end, from the address of the other or of @from. */
void forge(struct trace *t, char end, const struct mrpc_prio_packet *p, u32 payload);
void forge_from(struct trace *t, char end, char from, const struct mrpc_prio_packet *p,
		u32 payload);
/* A CONTROL packet of one entry comes to @end. */
void forge_entry(struct trace *t, char end, const struct mrpc_prio_note *note);
void forge_note(struct trace *t, char end, u8 op, u64 msg, u32 from, u32 to, u16 code);
/* The first of a message that @end begins. */
struct mrpc_prio_packet own_data(struct trace *t, char end, u64 msg, u32 total);
/* Packet @nr with one byte changed comes to the other end. */
void alter(struct trace *t, u32 nr, u32 at, u8 value, const char *about);
/* The same with another length: less of it, or zeros behind it. */
void alter_len(struct trace *t, u32 nr, u32 len, const char *about);

#endif /* PRIO_STAGE_H */
