// SPDX-License-Identifier: GPL-2.0
/* Streams with a window: what the sender does with what it hears, and with silence. */
#include "memory.h"
#include "window.h"

#define GAIN (1.0 / 16)	/* of the average of marks */

static void lose_all(struct window *w)
{
	u32 i;

	if (w->state) {
		for (i = w->una; i < w->next; i++) {
			if (w->state[i] == PACKET_SENT || w->state[i] == PACKET_AGAIN) {
				w->state[i] = PACKET_LOST;
				w->lost++;
			}
		}
	} else {
		window_transport(w)->again += (u64)(w->next - w->una) * sim_segment();
		w->next = w->una;
		w->rewinds++;
	}
	w->flying = 0;
}

static void set_timer(struct window *w);

/* The deadline may have moved on since the timer was set. */
static void expire(void *who, void *what)
{
	struct window *w = who;

	(void)what;
	w->timed = false;
	if (w->una < w->packets && w->sim->clock.now < w->deadline) {
		set_timer(w);
	} else if (w->una < w->packets) {
		window_transport(w)->timeouts++;
		w->backoff += w->backoff < 6;
		lose_all(w);
		if (window_transport(w)->kind == WINDOW_DCTCP) {
			w->threshold = max(w->window / 2, 2.0);
			w->window = 1;
		}
		window_arm(w);
		window_ready(w);
	}
	window_put(w);
}

static void set_timer(struct window *w)
{
	if (w->timed)
		return;
	w->timed = true;
	w->refs++;
	sim_at(&w->sim->clock, w->deadline, expire, w, NULL);
}

void window_arm(struct window *w)
{
	w->deadline = w->sim->clock.now + (WINDOW_TIMEOUT << w->backoff);
	set_timer(w);
}

/* ---- DCTCP's window --------------------------------------------------------- */

static void cut(struct window *w, double part)
{
	if (w->cut)
		return;
	w->cut = true;
	w->window = max(w->window * (1 - part), 1.0);
	w->threshold = w->window;
}

static void adapt(struct window *w, u32 number, bool marked)
{
	w->acked++;
	w->marked += marked;
	if (marked)
		cut(w, w->alpha / 2);
	else if (w->window < w->threshold)
		w->window++;
	else
		w->window += 1 / w->window;
	if (number < w->until)
		return;
	w->alpha += GAIN * ((double)w->marked / w->acked - w->alpha);
	w->acked = 0;
	w->marked = 0;
	w->cut = false;
	w->until = w->next;
}

/* ---- selective repeat ------------------------------------------------------- */

/* What was overtaken far enough is lost; what was sent again is left to the timer. */
static void find_lost(struct window *w, u32 number)
{
	u32 i;

	for (i = w->una; i + WINDOW_REORDER < number; i++) {
		if (w->state[i] != PACKET_SENT)
			continue;
		w->state[i] = PACKET_LOST;
		w->lost++;
		w->flying--;
		if (window_transport(w)->kind == WINDOW_DCTCP)
			cut(w, 0.5);
	}
}

static void ack_one(struct window *w, u32 number)
{
	u8 *state = &w->state[number];

	if (*state == PACKET_LOST)
		w->lost--;
	else if (*state == PACKET_SENT || *state == PACKET_AGAIN)
		w->flying--;
	*state = PACKET_ACKED;
	while (w->una < w->packets && w->state[w->una] == PACKET_ACKED)
		w->una++;
}

/* ---- events ----------------------------------------------------------------- */

void window_ack(struct window *w, u32 number, u32 expected, bool marked)
{
	u32 before = w->una;

	if (before == w->packets)
		return;
	if (w->state) {
		if (w->state[number] != PACKET_ACKED) {
			ack_one(w, number);
			find_lost(w, number);
		}
	} else {
		w->una = max(w->una, expected);
		w->next = max(w->next, w->una);
		w->flying = w->next - w->una;
	}
	if (window_transport(w)->kind == WINDOW_DCTCP)
		adapt(w, number, marked);
	if (w->una == w->packets) {
		window_put(w);
		return;
	}
	if (w->una > before) {
		w->backoff = 0;
		window_arm(w);
	}
	window_ready(w);
}

void window_nack(struct window *w, u32 expected, u32 rewinds)
{
	if (expected < w->una || rewinds != w->rewinds || w->next <= expected)
		return;
	window_transport(w)->again += (u64)(w->next - expected) * sim_segment();
	w->una = expected;
	w->next = expected;
	w->flying = 0;
	w->rewinds++;
	window_ready(w);
}
