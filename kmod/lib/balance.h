/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Choosing among replicas: which member gets the next call, and which members are fit for one.
 *
 * Three policies, all of them by weight:
 *
 *  - WRR: smooth weighted round robin. Of any w1 + w2 + ... picks in a row with the same fit
 *    members, member i gets wi, spread evenly;
 *  - LEAST: the member with the fewest outstanding calls for its weight; equal members take
 *    turns;
 *  - HASH: weighted rendezvous. Each member computes a number from the key and its own name.
 *    The best number wins. If a member comes, goes or changes its weight, only the keys move
 *    that it wins or loses. All hosts that know the same names decide alike.
 *
 * A member is fit when it has a link and a weight, and has not failed too often. Failures in a
 * row eject it for a time that doubles. After that it is on trial: it gets one call at a time
 * until one succeeds. A link that ends or cannot be made ejects the member at once.
 *
 * The code here does not lock, allocate or read a clock. Times are ns of one clock.
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
	MRPC_MEMBER_SUSPECT,	/* its last call failed, maybe also some before it */
	MRPC_MEMBER_EJECTED,	/* gets no call before @until */
	MRPC_MEMBER_TRIAL,	/* gets one call at a time, until one succeeds */
};

/**
 * struct mrpc_member - a replica, as the policies see it
 * @weight: share of the calls; 0: it gets no new ones
 * @key: of its name, for HASH
 * @key: hash of its name, for HASH
 * @linked: it has a link over which calls can go
 * @state: enum mrpc_member_state
 * @outstanding: calls given to it that have not ended there
 * @bad: calls that failed in a row
 * @ejections: ejections in a row, without a success in between
 * @until: EJECTED: end of the ejection
 * @owed: WRR: the member's current weight, its claim on the next picks
 * @picks: calls given to it
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
 * @skip: BIT(index) of members that must not be chosen
 * @keyed: the call has a key
 * @key: its hash. HASH treats a call without a key as WRR does
 *
 * Return: the member's index; the caller then calls mrpc_member_give(). -1: no member is fit.
 */
int mrpc_balance_pick(struct mrpc_balance *b, u64 now, u32 skip, bool keyed, u64 key);

/**
 * mrpc_balance_spin() - start at another member
 * @b: the members; none has been picked yet
 * @seed: any number
 *
 * Many hosts balance over the same members. They must not all start with the first one.
 */
void mrpc_balance_spin(struct mrpc_balance *b, u32 seed);

/**
 * mrpc_balance_hope() - no member is fit: is it worth waiting?
 * @b: the members
 *
 * Return: true if a member on trial has a call, or the link of a member is being made.
 */
bool mrpc_balance_hope(const struct mrpc_balance *b);

/**
 * mrpc_balance_due() - tell when a member that has a link may be tried again
 * @b: the members
 * @now: the time
 *
 * If the time of a member has come, but it still has earlier calls, it waits for their end. Such
 * a member does not count here.
 *
 * Return: the earliest time after @now; 0: never.
 */
u64 mrpc_balance_due(const struct mrpc_balance *b, u64 now);

/** mrpc_member_key() - the key of a member from its name of @len bytes */
u64 mrpc_member_key(const void *name, size_t len);

/** mrpc_member_fit() - can the member be given a call at @now? */
bool mrpc_member_fit(const struct mrpc_member *m, u64 now);

/** mrpc_member_give() - the caller has given the member a call */
void mrpc_member_give(struct mrpc_member *m);

/** mrpc_member_take_back() - a call given to the member was not sent to it */
void mrpc_member_take_back(struct mrpc_member *m);

/** mrpc_member_good() - a call given to the member has succeeded */
void mrpc_member_good(struct mrpc_member *m);

/** mrpc_member_bad() - a call given to the member has failed through the member's fault */
void mrpc_member_bad(const struct mrpc_balance *b, struct mrpc_member *m, u64 now);

/**
 * mrpc_member_took() - a call given to the member has taken @ns
 *
 * Moves the smoothed latency an eighth of the way to @ns.
 */
void mrpc_member_took(struct mrpc_member *m, u64 ns);

/** mrpc_member_up() - the member has a link now */
void mrpc_member_up(struct mrpc_member *m);

/**
 * mrpc_member_down() - the member's link has ended, or could not be made
 *
 * The calls on the link still end by mrpc_member_take_back() or mrpc_member_bad(). If calls have
 * already failed and ejected the member before, it is not ejected a second time.
 */
void mrpc_member_down(const struct mrpc_balance *b, struct mrpc_member *m, u64 now);

#endif /* MRPC_LIB_BALANCE_H */
