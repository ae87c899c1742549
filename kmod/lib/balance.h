/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Choosing among replicas: who gets the next call, and who is fit for one.
 *
 * Three policies, all of them by weight:
 *
 *  - WRR: smooth weighted round robin. Of any w1 + w2 + ... picks in a row, with
 *    the same members fit, member i gets wi, spread evenly;
 *  - LEAST: the fewest calls outstanding for its weight; those that are equal
 *    take turns;
 *  - HASH: weighted rendezvous. Every member draws a number from the key and its
 *    own name, and the best one wins. So when a member comes, goes or changes its
 *    weight, only keys that it wins or loses move, and every host that knows the
 *    same names decides alike.
 *
 * A member is fit when it has a link, a weight, and has not failed too often.
 * Failures in a row eject it for a time that doubles; then it gets one call at a
 * time until one succeeds (on trial). The loss of a link, or a link that cannot be
 * made, ejects at once.
 *
 * Nothing here locks, allocates or reads a clock. Times are ns of one clock.
 */
#ifndef MRPC_LIB_BALANCE_H
#define MRPC_LIB_BALANCE_H

#include "lib/ds/types.h"

#define MRPC_BALANCE_MEMBERS	16	/* what fits into one answer to the operator */
#define MRPC_BALANCE_WEIGHT	100	/* the largest */
#define MRPC_BALANCE_DOUBLINGS	6	/* of the time of an ejection */

enum mrpc_balance_policy {
	MRPC_BALANCE_WRR,
	MRPC_BALANCE_LEAST,
	MRPC_BALANCE_HASH,
};

enum mrpc_member_state {
	MRPC_MEMBER_NEW,	/* has never had a link */
	MRPC_MEMBER_OK,
	MRPC_MEMBER_SUSPECT,	/* its last call failed, or some before it */
	MRPC_MEMBER_EJECTED,	/* gets nothing before @until */
	MRPC_MEMBER_TRIAL,	/* one call at a time, until one succeeds */
};

/**
 * struct mrpc_member - a replica, as the policies see it
 * @weight: share of the calls; 0: it gets no new ones
 * @key: of its name, for HASH
 * @linked: it has a link over which calls can go
 * @state: enum mrpc_member_state
 * @outstanding: calls that it has been given and that have not ended there
 * @bad: calls that failed in a row
 * @ejections: in a row, without a success between them
 * @until: EJECTED: until when
 * @owed: WRR: what it is owed
 * @picks: calls that it was given
 * @failures: calls that failed, and links that ended or could not be made
 * @latency: how long calls take, smoothed, ns; 0: not known
 */
struct mrpc_member {
	u32 weight;
	u64 key;
	bool linked;
	u8 state;
	u32 outstanding;
	u32 bad;
	u32 ejections;
	u64 until;
	s64 owed;
	u64 picks;
	u64 failures;
	u64 latency;
};

/**
 * struct mrpc_balance - members and how to choose among them
 * @policy: enum mrpc_balance_policy
 * @max_bad: calls that fail in a row before a member is ejected, not 0
 * @backoff: how long it is ejected for the first time, ns
 * @nr: members
 * @members: the owner's
 */
struct mrpc_balance {
	u8 policy;
	u32 max_bad;
	u64 backoff;
	u32 nr;
	struct mrpc_member *members[MRPC_BALANCE_MEMBERS];
};

/**
 * mrpc_balance_pick() - choose a member for a call
 * @b: the members
 * @now: the time
 * @skip: BIT(index) of members that are not to be chosen
 * @keyed: the call has a key
 * @key: its hash. With HASH, a call without a key goes as with WRR
 *
 * Return: its index, after which mrpc_member_give() follows; or -1: none is fit.
 */
int mrpc_balance_pick(struct mrpc_balance *b, u64 now, u32 skip, bool keyed, u64 key);

/**
 * mrpc_balance_spin() - begin somewhere else
 * @b: the members, of which none has been picked
 * @seed: anything
 *
 * Many who balance over the same members must not all begin with the first.
 */
void mrpc_balance_spin(struct mrpc_balance *b, u32 seed);

/**
 * mrpc_balance_hope() - nobody is fit: is it worth waiting?
 * @b: the members
 *
 * Return: one of them is on trial with a call, or its link is being made.
 */
bool mrpc_balance_hope(const struct mrpc_balance *b);

/**
 * mrpc_balance_due() - when a member that has a link may be tried again
 * @b: the members
 * @now: the time
 *
 * One whose time has come, but which still has calls from before, waits for
 * their end and not for a time.
 *
 * Return: the earliest time after @now, 0: never.
 */
u64 mrpc_balance_due(const struct mrpc_balance *b, u64 now);

/** mrpc_member_key() - the key of a member from its name of @len bytes */
u64 mrpc_member_key(const void *name, size_t len);

/** mrpc_member_fit() - can it be given a call at @now? */
bool mrpc_member_fit(const struct mrpc_member *m, u64 now);

/** mrpc_member_give() - it was given a call */
void mrpc_member_give(struct mrpc_member *m);

/** mrpc_member_take_back() - a call that it was given was not sent to it */
void mrpc_member_take_back(struct mrpc_member *m);

/** mrpc_member_good() - a call that it was given has ended well */
void mrpc_member_good(struct mrpc_member *m);

/** mrpc_member_bad() - a call that it was given has failed, and it is to blame */
void mrpc_member_bad(const struct mrpc_balance *b, struct mrpc_member *m, u64 now);

/**
 * mrpc_member_took() - a call that it was given has taken @ns
 *
 * What is known moves an eighth of the way to it.
 */
void mrpc_member_took(struct mrpc_member *m, u64 ns);

/** mrpc_member_up() - it has a link */
void mrpc_member_up(struct mrpc_member *m);

/**
 * mrpc_member_down() - its link has ended, or could not be made
 *
 * The calls on it end by mrpc_member_take_back() or mrpc_member_bad() all the same. If
 * they have ended so before, and have had it ejected, it is not ejected twice.
 */
void mrpc_member_down(const struct mrpc_balance *b, struct mrpc_member *m, u64 now);

#endif /* MRPC_LIB_BALANCE_H */
