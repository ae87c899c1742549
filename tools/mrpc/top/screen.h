/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc top: the terminal. */
#ifndef MRPC_TOOL_TOP_SCREEN_H
#define MRPC_TOOL_TOP_SCREEN_H

#include <stdint.h>

/* What screen_wait() returns beside keys. */
#define SCREEN_TIME	0	/* the time is over */
#define SCREEN_END	-1	/* the terminal is gone */
#define SCREEN_DRAW	-2	/* the size has changed, or we were stopped */

void screen_begin(void);
void screen_show(const char *text);
int screen_wait(uint64_t until_ns);

#endif /* MRPC_TOOL_TOP_SCREEN_H */
