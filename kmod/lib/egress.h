/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The core of the egress scheduler: which chunk leaves next, over all queues of
 * one network namespace and egress device, the domain. A queue is the transmit
 * direction of one datapath; its head message is what it can send.
 *
 * What is below the scheduler cannot be preempted, so little is let below: at
 * most @limit bytes of the domain are granted, or sent and not yet gone. A grant
 * allows one queue one chunk of its head message:
 *
 *	      work, credit            next              take           dequeued
 *	IDLE ------------> LISTED ----------> GRANTED -------> SENDING --------> LISTED
 *	                                         |                              or IDLE
 *	                                         | expire: IDLE, and late until
 *	                                         v its owner shows up
 *
 * LISTED if and only if the queue has work and credit, and is not paused, late,
 * granted or sending: mrpc_egress_next() never meets a queue that cannot send. Who
 * loses its credit or is paused loses its place among equals. The bytes sent count
 * against @limit until mrpc_egress_gone().
 *
 * The core calls nobody but a ranker. After any event the caller asks mrpc_egress_next() until
 * it returns NULL, and kicks the queues that it returned: has their owners run,
 * who come to mrpc_egress_take() their grants. An owner who does not come (its
 * task is throttled) or does not report after it took a grant holds its share of
 * @limit until the domain's patience ends. Then the share is free for others
 * (mrpc_egress_expire()). A grant that was not taken is void: the limit holds. One
 * that was taken may still be used, so each owner who is that late can exceed the
 * limit by one chunk; no more is granted until that is gone.
 *
 * A message of several chunks resumes at the head of its level after each, and
 * whatever came between: only what ranks higher preempts it. As grants are for one
 * chunk, up to limit / chunk messages of one level can be under way.
 *
 * Costs are bytes, charged with the grant and settled when it is used.
 *
 * Not locked: the domain's lock protects the domain, its queues and tenants. Of
 * one queue, take, dequeued, work and remove come from its owner, who is one
 * context at a time; no work or remove between take and dequeued. The other
 * functions are for everybody.
 */
#ifndef MRPC_LIB_EGRESS_H
#define MRPC_LIB_EGRESS_H

#include "lib/ds/bucket.h"
#include "lib/ds/order.h"

#define MRPC_EGRESS_CHUNK	(16U << 10)
#define MRPC_EGRESS_LIMIT	(2 * MRPC_EGRESS_CHUNK)
#define MRPC_EGRESS_AGAIN	8	/* times that a ranker puts off a grant */
#define MRPC_EGRESS_EVEN	8	/* chunks at the end of a message, equally long */

/**
 * struct mrpc_egress_rule - the settings of a domain
 * @within: enum mrpc_order_within
 * @ranker: of MRPC_ORDER_RANKED, else NULL; it finds the queue by mrpc_egress_of()
 * @fair: share between tenants by weight
 * @chunk: bytes of a grant at most, 1 to MRPC_ORDER_MAX_QUANTUM
 * @limit: bytes below the scheduler, at least @chunk
 * @patience: nanoseconds that a grant may hold its share of @limit
 * @rate: bytes a second that are granted at most, to MRPC_BUCKET_MAX_RATE; 0: as many as
 *	there are. What a millisecond is worth, or a chunk, may be made up for
 */
struct mrpc_egress_rule {
	u8 within;
	const struct mrpc_order_ranker *ranker;
	bool fair;
	u32 chunk;
	u32 limit;
	u64 patience;
	u64 rate;
};

enum mrpc_egress_state {
	MRPC_EGRESS_IDLE,
	MRPC_EGRESS_LISTED,
	MRPC_EGRESS_GRANTED,
	MRPC_EGRESS_SENDING,
};

/**
 * struct mrpc_egress_queue - one datapath's transmit direction; embedded
 * @order: @order.left, @order.priority and @order.deadline are the head message's
 * @grant: in the domain's list of grants, while @held
 * @granted_at: when
 * @credit: bytes that the transport takes now; SENDING: only what it has said since
 * @turn: bytes of the grant; GRANTED and SENDING only
 * @below: bytes sent and not gone
 * @state: enum mrpc_egress_state
 * @held: @turn counts against the limit
 * @paused: by the operator
 * @late: its grant was void before it was taken; its owner has not shown up since
 * @begun: the head message has had a grant: it resumes at the head of its level
 */
struct mrpc_egress_queue {
	struct mrpc_order_entity order;
	struct mrpc_order_link grant;
	u64 granted_at;
	u32 credit;
	u32 turn;
	u64 below;
	u8 state;
	bool held;
	bool paused;
	bool late;
	bool begun;
};

/**
 * struct mrpc_egress - a domain
 * @rule: settings
 * @paused: by the operator: no grants
 * @out: bytes granted and held, or sent and not gone
 * @grants: those held, the oldest first
 * @nr_grants: grants made
 * @nr_expired: grants whose share was taken away
 * @nr_wasted: turns in which nothing was sent
 * @pace: of @rule.rate
 * @paced: until then nothing is granted for want of that, ns
 * @order: of the queues; tenants are made and changed there
 */
struct mrpc_egress {
	struct mrpc_egress_rule rule;
	bool paused;
	u64 out;
	struct mrpc_order_link grants;
	u64 nr_grants;
	u64 nr_expired;
	u64 nr_wasted;
	struct mrpc_bucket pace;
	u64 paced;
	struct mrpc_order order;
};

/** mrpc_egress_init() - Return: 0, or -EINVAL if the rule is out of range */
int mrpc_egress_init(struct mrpc_egress *d, const struct mrpc_egress_rule *rule);

/**
 * mrpc_egress_set() - other settings
 * What is listed is ordered anew as of mrpc_order_set(), a little in each call; grants stay.
 * Return: 0; -EINVAL if the rule is out of range; -EBUSY while d->order has something stale:
 * then nothing has changed.
 */
int mrpc_egress_set(struct mrpc_egress *d, const struct mrpc_egress_rule *rule);

/** mrpc_egress_add() - a new queue without work or credit; @t: as mrpc_order_join() */
void mrpc_egress_add(struct mrpc_egress *d, struct mrpc_egress_queue *q,
		     struct mrpc_order_tenant *t);

/**
 * mrpc_egress_remove() - the queue is gone, with grant and list
 * Nobody will report what it has below as gone, so that counts no longer.
 */
void mrpc_egress_remove(struct mrpc_egress *d, struct mrpc_egress_queue *q);

/**
 * mrpc_egress_work() - the queue has a new head message, or none
 * @deadline: of the message, U64_MAX: it has none
 * @left: bytes to send, headers included; 0: none
 *
 * For each message once: a listed queue goes behind its equals.
 */
void mrpc_egress_work(struct mrpc_egress *d, struct mrpc_egress_queue *q, u8 priority,
		      u64 deadline, u64 left);

/** mrpc_egress_rank() - another priority for the same head message */
void mrpc_egress_rank(struct mrpc_egress *d, struct mrpc_egress_queue *q, u8 priority);

/**
 * mrpc_egress_offer() - the same head message has @left bytes to send, and the transport takes
 * @credit of them, as of mrpc_egress_credit()
 * For messages of which bytes can come back: what was lost is to be sent again.
 */
void mrpc_egress_offer(struct mrpc_egress *d, struct mrpc_egress_queue *q, u64 left, u32 credit);

/**
 * mrpc_egress_credit() - the transport takes @credit bytes now, all in all
 * A grant is not for more than that: a transport that wants whole chunks says 0
 * until it takes one.
 */
void mrpc_egress_credit(struct mrpc_egress *d, struct mrpc_egress_queue *q, u32 credit);

/**
 * mrpc_egress_next() - grants a chunk, if somebody waits and the limit allows it
 * @now: nanoseconds, never less than before
 *
 * Nobody is passed over for a smaller chunk that would fit. Where there is room for three
 * quarters of a chunk the grant is for what fits. Where it is the rate that does not allow it,
 * @d->paced says until when.
 *
 * Return: whom to kick, or NULL.
 */
struct mrpc_egress_queue *mrpc_egress_next(struct mrpc_egress *d, u64 now);

/**
 * mrpc_egress_take() - the owner is here and can send at once
 * Return: bytes that it may send, and must report by mrpc_egress_dequeued(); or 0:
 * there is no grant, or it has become void. The owner waits for another kick.
 */
u32 mrpc_egress_take(struct mrpc_egress *d, struct mrpc_egress_queue *q);

/**
 * mrpc_egress_dequeued() - the end of a turn
 * @sent: bytes sent, at most what was taken
 * @credit: as of mrpc_egress_credit(), after that. If nothing was sent it counts as
 *	0: the queue waits for its transport to have credit again
 *
 * If mrpc_egress_credit() was called since the queue took its grant, the greater of
 * the two counts, lest credit that came after the owner looked be lost. At worst
 * that costs a turn.
 *
 * When all of the head message is sent, the queue is idle until mrpc_egress_work().
 */
void mrpc_egress_dequeued(struct mrpc_egress *d, struct mrpc_egress_queue *q, u32 sent,
			  u32 credit);

/** mrpc_egress_gone() - @bytes of the queue have left what is below; more than all is all */
void mrpc_egress_gone(struct mrpc_egress *d, struct mrpc_egress_queue *q, u64 bytes);

/**
 * mrpc_egress_hand_over() - what @from has below is @to's from now on
 * Where several queues are one below the scheduler. @to: need not be in the domain, zero at first
 */
static inline void mrpc_egress_hand_over(struct mrpc_egress_queue *from,
					 struct mrpc_egress_queue *to)
{
	to->below += from->below;
	from->below = 0;
}

/**
 * mrpc_egress_expire() - frees what grants have held for longer than the patience
 * Return: when to call it again, or U64_MAX: no grant is out. A grant that is
 * made later expires no earlier than its time plus the patience.
 */
u64 mrpc_egress_expire(struct mrpc_egress *d, u64 now);

/** mrpc_egress_pause() - no grants at all; the order stays, and what is granted is sent */
void mrpc_egress_pause(struct mrpc_egress *d, bool paused);

/**
 * mrpc_egress_pause_queue() - no more grants for one queue; what is granted is sent
 * When it resumes, its head message goes behind its equals, unless it has begun.
 */
void mrpc_egress_pause_queue(struct mrpc_egress *d, struct mrpc_egress_queue *q, bool paused);

/** mrpc_egress_of() - the queue of an entity, as found by a walk over &d->order */
static inline struct mrpc_egress_queue *mrpc_egress_of(struct mrpc_order_entity *e)
{
	return container_of(e, struct mrpc_egress_queue, order);
}

#endif /* MRPC_LIB_EGRESS_H */
