/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A change of a group's strategy, as one rank sees it: the barrier of MCCS, section 4.2.3.
 *
 * Ranks begin operations at different times. If each rank took a new strategy when it learns of it,
 * some would do an operation by the old one, and others by the new one. So all ranks agree on the
 * last operation that is done by the old strategy:
 *
 *  1. A rank learns of a change from its operator, or from another rank. From then on it begins no
 *     operation that it does not know to be one of the old strategy.
 *  2. It reports to all others the number of the last operation that it has begun.
 *  3. When it has the reports of all, the greatest number in them is the last operation of the old
 *     strategy. The rank begins those up to it, and uses the new strategy for those behind it.
 *
 * Nothing is sent if there is no change. Where the text is silent:
 *
 *  - The rank sends its report to each other rank, and not around a ring: one round, and no rank
 *    depends on what another one forwards.
 *  - Several operators. A report has the proposal that its sender knows, with the rank that made it.
 *    All ranks have all reports, so all take the proposal of the lowest rank.
 *  - A change while another one is under way is refused. But a rank may have finished a change before
 *    others. Its report for the change after it is kept. There is one at most: a rank reports for a
 *    change only when all have reported for the one before.
 *  - A rank that has begun less than others may have to begin an operation before it has all reports:
 *    while a chunk waits for its turn, nothing behind it is read from that rank, and a report may be
 *    behind it. That chunk was sent before the report. So its operation is one of the old strategy,
 *    and may begin.
 *  - A report that comes twice, or has no place in this order, is an error of its sender.
 *
 *  - Ranks may have no connection yet. The report is sent when there is one.
 *  - A rank that names this one as the proposer of what it has not proposed is wrong, too.
 *
 * This needs of a connection only that a report overtakes or stays behind what was sent before it,
 * and that nothing that is sent later overtakes it.
 *
 * The caller serialises all calls.
 */
#ifndef MRPC_LIB_GROUP_CHANGE_H
#define MRPC_LIB_GROUP_CHANGE_H

#include "lib/group/strategy.h"

/**
 * struct mrpc_change_peer - what is known of another rank
 * @seen: the operation of the latest chunk that has come from it
 * @told: the own report for the change that is under way was sent to it
 * @reported: it has reported for that change
 * @ahead: it has reported for the change after that one
 */
struct mrpc_change_peer {
	u64 seen;
	bool told;
	bool reported;
	bool ahead;
};

/**
 * struct mrpc_change - strategies of a rank, and the change that may be under way
 * @ranks: of the group
 * @rank: this one
 * @version: of @use; 0: the first one
 * @proposer: the rank that has proposed @use; of version 0: 0
 * @open: a change to @version + 1 is under way
 * @proposed: if @open: this rank has proposed a strategy
 * @owed: if @open: how many other ranks were not told
 * @reports: if @open: how many other ranks have reported
 * @own: if @open: the own report
 * @last: if @open: the operations up to it are known to be of @use
 * @aheads: how many ranks are ahead
 * @ahead: what they report, in one: the greatest @last, the lowest @proposer
 * @use: the strategy of operations that begin
 * @next: if @open: of those behind @last
 * @after: if @aheads: of the change after that
 * @spare: the caller may fill it in
 * @peers: of each rank; the own one is not used
 */
struct mrpc_change {
	u32 ranks;
	u32 rank;
	u32 version;
	u32 proposer;
	bool open;
	bool proposed;
	u32 owed;
	u32 reports;
	struct mrpc_report own;
	u64 last;
	u32 aheads;
	struct mrpc_report ahead;
	struct mrpc_strategy *use;
	struct mrpc_strategy *next;
	struct mrpc_strategy *after;
	struct mrpc_strategy *spare;
	struct mrpc_change_peer peers[];
};

/** enum mrpc_change_verdict - what becomes of a report */
enum mrpc_change_verdict {
	MRPC_CHANGE_TAKEN,	/* the rank has to look what it may do now */
	MRPC_CHANGE_WRONG,	/* it has no place in the order of changes */
	MRPC_CHANGE_DIFFERS,	/* another rank has reported another strategy of the same proposer */
};

/** mrpc_change_bytes() - the memory of a group of @ranks ranks */
size_t mrpc_change_bytes(u32 ranks);

/** mrpc_change_init() - begin; @c: mrpc_change_bytes() bytes, zero */
void mrpc_change_init(struct mrpc_change *c, u32 ranks, u32 rank);

/**
 * mrpc_change_propose() - the operator asks for the strategy in @c->spare, which can be used
 * @c: the change
 * @begun: number of the last operation that this rank has begun
 *
 * Return: 0; -EBUSY: a change is under way; -EOVERFLOW: there is no version left.
 */
int mrpc_change_propose(struct mrpc_change *c, u64 begun);

/**
 * mrpc_change_report() - the report of another rank has come; its strategy is in @c->spare
 * @c: the change
 * @rank: the other rank
 * @r: its report
 * @begun: number of the last operation that this rank has begun
 */
enum mrpc_change_verdict mrpc_change_report(struct mrpc_change *c, u32 rank,
					    const struct mrpc_report *r, u64 begun);

/**
 * mrpc_change_saw() - a chunk has come
 * @c: the change
 * @rank: from which rank
 * @seq: of which operation
 *
 * Return: whether the rank may begin more operations than before.
 */
bool mrpc_change_saw(struct mrpc_change *c, u32 rank, u64 seq);

/** mrpc_change_owes() - whether @c->own is to be sent, with @c->next, to @rank */
static inline bool mrpc_change_owes(const struct mrpc_change *c, u32 rank)
{
	return c->open && rank != c->rank && !c->peers[rank].told;
}

/**
 * mrpc_change_tell() - the own report is sent to @rank now
 * @c: the change
 * @rank: the rank, which is owed it
 *
 * The report of that rank for the next change may come before the caller has returned from sending.
 * The caller sends before it calls mrpc_change_finish(), and before it sends anything of a later
 * operation.
 */
void mrpc_change_tell(struct mrpc_change *c, u32 rank);

/**
 * mrpc_change_finish() - use the new strategy, if all reports and the operations of the old one allow
 * @c: the change
 * @begun: number of the last operation that this rank has begun; it is complete
 *
 * Return: whether it does. The next change may be under way then.
 */
bool mrpc_change_finish(struct mrpc_change *c, u64 begun);

/** mrpc_change_allows() - whether operation @seq may begin, by @c->use */
static inline bool mrpc_change_allows(const struct mrpc_change *c, u64 seq)
{
	return !c->open || seq <= c->last;
}

/** mrpc_change_awaits() - a rank that has not reported; MRPC_NO_RANK: all others have */
u32 mrpc_change_awaits(const struct mrpc_change *c);

#endif /* MRPC_LIB_GROUP_CHANGE_H */
