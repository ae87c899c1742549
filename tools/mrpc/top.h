/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc top: what its files share. */
#ifndef MRPC_TOOL_TOP_H
#define MRPC_TOOL_TOP_H

#include "tool.h"

/* -- top_sample.c: what there is at a moment --------------------------------------- */

struct sample;

struct sample *sample_take(void);
void sample_free(struct sample *s);

/* -- top_rates.c: what happened between two moments ---------------------------------- */

enum view { VIEW_CONNS, VIEW_SERVICES, VIEW_METHODS, NR_VIEWS };

struct json_object *rates_rows(const struct sample *from, const struct sample *to,
			       enum view view);
struct json_object *rates_sums(const struct sample *from, const struct sample *to);

/* -- top_screen.c: the terminal --------------------------------------------------------- */

/* What screen_wait() returns beside keys. */
#define SCREEN_TIME	0	/* the time is over */
#define SCREEN_END	-1	/* the terminal is gone */
#define SCREEN_DRAW	-2	/* the size has changed, or we were stopped */

void screen_begin(void);
void screen_show(const char *text);
int screen_wait(uint64_t until_ns);

uint64_t clock_ns(void);

#endif /* MRPC_TOOL_TOP_H */
