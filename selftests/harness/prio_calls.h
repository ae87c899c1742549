/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client and a server over prio, on lo with a queueing discipline, and what must hold when all
 * calls have ended. Include after tap.h.
 */
#ifndef PRIO_CALLS_H
#define PRIO_CALLS_H

#include "lo.h"
#include "operator.h"
#include "prio_tells.h"
#include "raw.h"

#define WAIT	(10 * RAW_S)

static struct raw_pair p;
static struct raw_qp qp;

static inline void bend(const char *qdisc)
{
	if (!lo_bend(qdisc))
		SKIP("there is no '%s' here", qdisc);
}

/* Begins with a limit of @calls calls at a time. */
static inline void begin(const char *qdisc, const char *calls)
{
	op_del_all();
	op_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);	/* left by a failed test */
	bend(qdisc);
	CHECK(raw_file_write(RAW_KNOBS "max_calls", calls));
	raw_server_open(&p.srv, 8 << 20, 32 << 20);
	raw_open(&p.c, 32 << 20, 32 << 20);
	raw_pair_start(&p, "prio", 1);
	CHECK(raw_file_write(RAW_KNOBS "max_calls", "256"));
	raw_qp(&qp, &p.c, 64, 256, 0);
}

static inline void end(void)
{
	raw_pair_end(&p);
	CHECK(raw_sessions(0, 10000));
}

static inline struct mrpc_sqe request(uint64_t tag, uint32_t len, uint64_t timeout_us)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ACK, raw_blob(&p.c, tag, len, NULL));

	sqe.user_data = tag;
	sqe.timeout_us = timeout_us;
	return sqe;
}

/* The connection works, and a slot is free, possibly after a while. */
static inline void works(void)
{
	uint64_t until = raw_now() + WAIT * raw_patience();
	struct mrpc_cqe cqe;

	do {
		struct mrpc_sqe sqe = request(999, 100, 0);

		CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
		raw_done(&p.c, &cqe);
		raw_free(&p.c, sqe.root);
		CHECK_MSG(raw_now() < until, "the slot does not come back: status %u", cqe.status);
	} while (cqe.status == MRPC_RESOURCE_EXHAUSTED);
	CHECK_EQ(cqe.status, MRPC_OK);
}

/* The server has run @nr requests and no others. */
static inline void has_run(uint64_t nr)
{
	CHECK(raw_server_calls(&p.srv, 0, 10000));
	CHECK_EQ(raw_server_requests(&p.srv), nr);
}

/* Neither end has a message left. */
static inline void nothing_left(void)
{
	CHECK(gauge_becomes("messages_out", 0, 5000));
	CHECK(gauge_becomes("messages_in", 0, 5000));
	CHECK(gauge_becomes("staged", 0, 5000));
	CHECK(gauge_becomes("outstanding", 0, 5000));
}

#endif /* PRIO_CALLS_H */
