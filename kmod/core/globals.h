/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_GLOBALS_H
#define MRPC_CORE_GLOBALS_H

#include <linux/types.h>

struct workqueue_struct;

#define MRPC_CALLS_LIMIT	8192	/* calls in flight on one connection */

struct mrpc_knobs {
	uint copy_threshold;
	uint max_calls;
	uint max_sessions;	/* per user */
	uint max_conns;		/* per user */
	uint max_listeners;	/* per user */
	ulong max_heap;		/* bytes per user */
	uint busy_poll;		/* us that a thread looks before it sleeps */
};

extern struct mrpc_knobs mrpc_knobs;

extern struct workqueue_struct *mrpc_wq;	/* runs datapaths */

extern struct workqueue_struct *mrpc_end_wq;	/* ends connections; may wait */

/* The knob, within what a call table can hold. */
static inline u32 mrpc_max_calls(void)
{
	return clamp(READ_ONCE(mrpc_knobs.max_calls), 1U, MRPC_CALLS_LIMIT);
}

#endif /* MRPC_CORE_GLOBALS_H */
