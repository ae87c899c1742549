/* SPDX-License-Identifier: GPL-2.0 */
/* An engine "null" whose queues the operator holds. Include after tap.h. */
#ifndef HELD_H
#define HELD_H

#include "operator.h"
#include "raw.h"

#define TX	1
#define RX	2
#define HELD_WAIT	(10 * RAW_S)

static inline void hold(unsigned int dir)
{
	int err = op_pause("null", dir, true);

	CHECK_MSG(!err, "pause: %s", op_why);
}

static inline void let_go(unsigned int dir)
{
	int err = op_pause("null", dir, false);

	CHECK_MSG(!err, "resume: %s", op_why);
}

static inline void queued(bool rx, unsigned int nr)
{
	uint64_t until = raw_now() + HELD_WAIT * raw_patience();

	while (op_dir("null", rx, MRPC_A_ENGINE_DIR_QUEUED) != nr) {
		CHECK_MSG(raw_now() < until, "%lld rpcs are queued, not %u",
			  (long long)op_dir("null", rx, MRPC_A_ENGINE_DIR_QUEUED), nr);
		raw_sleep(RAW_MS);
	}
}

#endif /* HELD_H */
