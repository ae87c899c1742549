/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_OP_H
#define LIBMRPC_OP_H

#include "qp.h"

/* Takes a completion that is not a request into account. */
void qp_complete(struct mrpc_qp *qp, const struct mrpc_cqe *cqe);
void qp_harvest(struct mrpc_qp *qp);

/* Ends a call: its callback comes next. Its blocks are freed if @cqe says so. */
void op_end(struct mrpc_qp *qp, struct op *op, const struct mrpc_cqe *cqe);

/* Calls the callbacks of calls that have ended; returns how many. */
int qp_run_done(struct mrpc_qp *qp);

struct op *op_new(struct mrpc_qp *qp);
void op_free(struct mrpc_qp *qp, struct op *op);
struct op *op_find(struct mrpc_qp *qp, u64 id);

/*
 * The kernel has got a call over a channel: it takes room of its connection until its end, even if
 * no caller waits for it any more.
 */
void op_begun(struct mrpc_qp *qp, struct op *op);

/* Has connection @conn, which takes @max calls at a time, room for one more of the queue pair? */
bool ops_have_room(const struct mrpc_qp *qp, u32 conn, u32 max);

/* Calls under way on a connection, by its number. Looks at all of the queue pair's. */
u32 ops_under_way(const struct mrpc_qp *qp, u32 conn);

#endif /* LIBMRPC_OP_H */
