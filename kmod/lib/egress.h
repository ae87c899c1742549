/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The core of the egress scheduler: it decides which chunk leaves next. It serves all queues of
 * one network namespace and egress device, the domain. A queue is the transmit direction of one
 * datapath. A queue can send its head message.
 *
 * The layers below the scheduler cannot be preempted, so the scheduler lets little go there. The
 * bytes granted, plus those sent and not yet gone, are at most @limit for the domain. A grant
 * allows one queue one chunk of its head message:
 *
 *	      work, credit            next              take           dequeued
 *	IDLE ------------> LISTED ----------> GRANTED -------> SENDING --------> LISTED
 *	                                         |                              or IDLE
 *	                                         | expire: IDLE, and late until
 *	                                         v the owner calls take
 *
 * Invariant: a queue is LISTED if and only if it has work and credit, and is not paused, late,
 * granted or sending. So mrpc_egress_next() never finds a queue that cannot send. A queue that
 * loses its credit or is paused loses its place among equals. Bytes sent count against @limit
 * until mrpc_egress_gone().
 *
 * The core calls no other code, except a ranker. After any event the caller calls
 * mrpc_egress_next() until it returns NULL, and kicks each queue that it returned. A kick makes
 * the owner of the queue run. The owner takes its grant with mrpc_egress_take().
 *
 * An owner may be late: it does not take its grant (its task is throttled), or takes it and does
 * not report. It then holds its share of @limit until the domain's patience ends. After that the
 * share is free for other queues (mrpc_egress_expire()). A grant that was not taken becomes void,
 * so the limit holds. A grant that was taken may still be used. So each such owner can exceed
 * the limit by one chunk. The core makes no more grants until that chunk is gone.
 *
 * A message of several chunks resumes at the head of its level after each chunk, whatever came
 * in between. Only a higher rank preempts it. A grant is for one chunk, so up to limit / chunk
 * messages of one level can be under way.
 *
 * Costs are bytes. The core charges them with the grant, and settles the difference when the
 * grant is used.
 *
 * Not locked: the domain's lock protects the domain, its queues and tenants. Only the owner of a
 * queue calls take, dequeued, work and remove for it, from one context at a time. It does not
 * call work or remove between take and dequeued. Any context may call the other functions.
 */
#ifndef MRPC_LIB_EGRESS_H
#define MRPC_LIB_EGRESS_H

#include "lib/ds/bucket.h"
#include "lib/ds/order.h"

#define MRPC_EGRESS_CHUNK	(16U << 10)
#define MRPC_EGRESS_LIMIT	(2 * MRPC_EGRESS_CHUNK)
#define MRPC_EGRESS_AGAIN	8	/* times that a ranker can put off a grant */
#define MRPC_EGRESS_EVEN	8	/* last chunks of a message, which are equally long */

/**
 * struct mrpc_egress_rule - the settings of a domain
 * @within: enum mrpc_order_within
 * @ranker: for MRPC_ORDER_RANKED, else NULL; it finds the queue by mrpc_egress_of()
 * @fair: share between tenants by weight
 * @chunk: bytes of a grant at most, 1 to MRPC_ORDER_MAX_QUANTUM
 * @limit: bytes below the scheduler, at least @chunk
 * @patience: nanoseconds that a grant may hold its share of @limit
 * @rate: bytes granted per second at most, up to MRPC_BUCKET_MAX_RATE; 0: no limit. The bytes of
 *	a millisecond, or a chunk, can be made up for
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
 * @order: @order.left, @order.priority and @order.deadline belong to the head message
 * @grant: in the domain's list of grants, while @held
 * @granted_at: time of the grant
 * @credit: bytes that the transport takes now; SENDING: only what it has reported since
 * @turn: bytes of the grant; GRANTED and SENDING only
 * @below: bytes sent and not gone
 * @state: enum mrpc_egress_state
 * @held: @turn counts against the limit
 * @paused: by the operator
 * @late: its grant became void before the owner took it; the owner has not called take since
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
 * @grants: grants that are held, the oldest first
 * @nr_grants: grants made
 * @nr_expired: grants whose share was taken away
 * @nr_wasted: turns in which nothing was sent
 * @pace: token bucket for @rule.rate
 * @paced: time until which @pace allows no grant, ns
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
 * mrpc_egress_set() - change the settings
 * Listed queues are reordered as in mrpc_order_set(), some in each call. Grants stay.
 * Return: 0; -EINVAL if the rule is out of range; -EBUSY while d->order has stale entities. On
 * failure nothing has changed.
 */
int mrpc_egress_set(struct mrpc_egress *d, const struct mrpc_egress_rule *rule);

/** mrpc_egress_add() - add a queue without work or credit; @t: as for mrpc_order_join() */
void mrpc_egress_add(struct mrpc_egress *d, struct mrpc_egress_queue *q,
		     struct mrpc_order_tenant *t);

/**
 * mrpc_egress_remove() - remove the queue, with its grant and its place
 * The owner does not report its bytes below as gone. So they no longer count.
 */
void mrpc_egress_remove(struct mrpc_egress *d, struct mrpc_egress_queue *q);

/**
 * mrpc_egress_work() - set the queue's head message, or none
 * @deadline: of the message; U64_MAX: it has none
 * @left: bytes to send, headers included; 0: no message
 *
 * The owner calls it once for each message: a listed queue goes behind its equals.
 */
void mrpc_egress_work(struct mrpc_egress *d, struct mrpc_egress_queue *q, u8 priority,
		      u64 deadline, u64 left);

/** mrpc_egress_rank() - change the priority of the same head message */
void mrpc_egress_rank(struct mrpc_egress *d, struct mrpc_egress_queue *q, u8 priority);

/**
 * mrpc_egress_offer() - set the bytes left of the same head message to @left, and the credit
 * @credit: as for mrpc_egress_credit()
 * For messages whose bytes can come back: lost bytes must be sent again.
 */
void mrpc_egress_offer(struct mrpc_egress *d, struct mrpc_egress_queue *q, u64 left, u32 credit);

/**
 * mrpc_egress_credit() - the transport now takes @credit bytes in total
 * A grant is never for more than the credit. A transport that wants whole chunks gives 0 until
 * it takes a whole one.
 */
void mrpc_egress_credit(struct mrpc_egress *d, struct mrpc_egress_queue *q, u32 credit);

/**
 * mrpc_egress_next() - grant a chunk, if a queue is listed and the limit allows it
 * @now: nanoseconds, never less than before
 *
 * A queue is not passed over for a smaller chunk that would fit. If there is room for three
 * quarters of a chunk, the grant is for what fits. If the rate does not allow a grant,
 * @d->paced is the time until which it does not.
 *
 * Return: the queue to kick, or NULL.
 */
struct mrpc_egress_queue *mrpc_egress_next(struct mrpc_egress *d, u64 now);

/**
 * mrpc_egress_take() - the owner takes its grant; it can send at once
 * Return: bytes that it may send, and must report by mrpc_egress_dequeued(). 0: there is no
 * grant, or it has become void. Then the owner waits for another kick.
 */
u32 mrpc_egress_take(struct mrpc_egress *d, struct mrpc_egress_queue *q);

/**
 * mrpc_egress_dequeued() - end the turn of a queue
 * @sent: bytes sent, at most what was taken
 * @credit: credit after that, as for mrpc_egress_credit(). If nothing was sent it counts as 0:
 *	the queue waits until its transport has credit again
 *
 * If mrpc_egress_credit() was called since the queue took its grant, the greater of the two
 * values counts. Otherwise credit that came after the owner looked would be lost. At worst that
 * costs a turn.
 */
void mrpc_egress_dequeued(struct mrpc_egress *d, struct mrpc_egress_queue *q, u32 sent,
			  u32 credit);

/** mrpc_egress_gone() - @bytes of the queue have left the layers below; too many count as all */
void mrpc_egress_gone(struct mrpc_egress *d, struct mrpc_egress_queue *q, u64 bytes);

/**
 * mrpc_egress_hand_over() - move the bytes that @from has below to @to
 * For several queues that are one below the scheduler. @to need not be in the domain; it is zero
 * at first.
 */
static inline void mrpc_egress_hand_over(struct mrpc_egress_queue *from,
					 struct mrpc_egress_queue *to)
{
	to->below += from->below;
	from->below = 0;
}

/**
 * mrpc_egress_expire() - free the shares of grants that are older than the patience
 * Return: when to call it again, or U64_MAX: no grant is held. A later grant expires at its time
 * plus the patience at the earliest.
 */
u64 mrpc_egress_expire(struct mrpc_egress *d, u64 now);

/** mrpc_egress_pause() - stop all grants; the order stays, and what is granted is sent */
void mrpc_egress_pause(struct mrpc_egress *d, bool paused);

/**
 * mrpc_egress_pause_queue() - stop grants for one queue; what is granted is sent
 * When it resumes, its head message goes behind its equals, unless it has had a grant.
 */
void mrpc_egress_pause_queue(struct mrpc_egress *d, struct mrpc_egress_queue *q, bool paused);

/** mrpc_egress_of() - the queue of an entity; for walks over &d->order */
static inline struct mrpc_egress_queue *mrpc_egress_of(struct mrpc_order_entity *e)
{
	return container_of(e, struct mrpc_egress_queue, order);
}

#endif /* MRPC_LIB_EGRESS_H */
