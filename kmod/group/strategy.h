/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_GROUP_STRATEGY_H
#define MRPC_GROUP_STRATEGY_H

#include <linux/mrpc.h>
#include <linux/types.h>

struct mrpc_conn;
struct mrpc_member;
struct mrpc_refusal;

/**
 * struct mrpc_strategy_request - what an operator asks for
 * @order: the rank at each place; NULL: as it is
 * @nr: number of ranks in @order
 * @algorithm: enum mrpc_algorithm of each collective
 * @changes: a bit for each collective that gets @algorithm; the others stay as they are
 */
struct mrpc_strategy_request {
	const u32 *order;
	u32 nr;
	u8 algorithm[MRPC_NR_COLLECTIVES];
	u32 changes;
};

/**
 * struct mrpc_strategy_view - the strategy of a rank at one moment
 * @version: of the one in use
 * @proposer: the rank that has proposed it, if @version is not 0
 * @algorithm: enum mrpc_algorithm of each collective
 * @open: a change to @version + 1 is under way
 * @awaits: if @open: a rank that has not reported, or MRPC_NO_RANK
 * @last: if @open: the last operation that is known to be of the strategy in use
 */
struct mrpc_strategy_view {
	u32 version;
	u32 proposer;
	u8 algorithm[MRPC_NR_COLLECTIVES];
	bool open;
	u32 awaits;
	u64 last;
};

int mrpc_strategy_set(struct mrpc_member *m, const struct mrpc_strategy_request *request,
		      u32 *version, struct mrpc_refusal *r);
int mrpc_strategy_head(struct mrpc_conn *conn, const u8 *body);
void mrpc_strategy_go_on(struct mrpc_member *m);
u32 mrpc_strategy_lacks(struct mrpc_member *m);
void mrpc_strategy_view(struct mrpc_member *m, struct mrpc_strategy_view *view, u32 *order);

#endif /* MRPC_GROUP_STRATEGY_H */
