/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Call tables: ids, exactly-one completion and duplicate detection, with state
 * that is bounded by the number of slots (the idea of NFSv4.1's sessions).
 *
 * A call id is sequence << 16 | slot. The caller's kernel owns the slots: a
 * slot carries one call at a time, and each use has a higher sequence. The
 * slot is free again only when the peer's terminal REPLY has come (the peer
 * always sends one, for cancelled calls too, of which it need not have heard
 * before: CANCEL takes their place), so a peer that sees a slot's sequence not
 * rise, or a busy slot used again, sees a duplicate, whatever was reordered.
 *
 * Neither table locks: the owner holds its call-table lock, except where said.
 */
#ifndef MRPC_LIB_MESSAGE_CALLTABLE_H
#define MRPC_LIB_MESSAGE_CALLTABLE_H

#include "lib/ds/types.h"

#define MRPC_CALL_SLOT_BITS	16
#define MRPC_CALL_MAX_SLOTS	(1U << MRPC_CALL_SLOT_BITS)

static inline u32 mrpc_call_slot(u64 id)
{
	return id & (MRPC_CALL_MAX_SLOTS - 1);
}

static inline u64 mrpc_call_seq(u64 id)
{
	return id >> MRPC_CALL_SLOT_BITS;
}

/*
 * Caller's side. A slot is FREE, ACTIVE (the application waits), or ZOMBIE (the
 * application has its completion, the peer's terminal reply has not come).
 */
enum mrpc_call_state {
	MRPC_CALL_FREE = 0,
	MRPC_CALL_ACTIVE,
	MRPC_CALL_ZOMBIE,
};

struct mrpc_call_slot {
	u64 id;		/* of the present or last use; 0: never used */
	void *call;	/* ACTIVE: the owner's object */
	u32 next;	/* FREE: next free slot */
	u8 state;	/* enum mrpc_call_state */
};

struct mrpc_call_table {
	struct mrpc_call_slot *slots;
	u32 nr;		/* size of slots[] */
	u32 limit;	/* of calls: the smaller of ours and the peer's; slots[] may be smaller */
	u32 free;	/* head of the free list, U32_MAX: none */
	u32 fresh;	/* slots never used start here */
	u32 active;	/* ACTIVE slots */
	u32 zombies;	/* ZOMBIE slots */
	u64 seq;	/* last sequence given */
};

/** mrpc_call_init() - @slots: zeroed array of @nr, owned by the caller; @nr is the limit, too */
void mrpc_call_init(struct mrpc_call_table *t, struct mrpc_call_slot *slots, u32 nr);

/**
 * mrpc_call_grow() - more slots
 * @slots: zeroed array of @nr, more than there are, owned by the caller
 * Return: the array that was used until now.
 */
struct mrpc_call_slot *mrpc_call_grow(struct mrpc_call_table *t, struct mrpc_call_slot *slots,
				      u32 nr);

/**
 * mrpc_call_start() - a new call
 * Return: its id (never 0), or 0 if all slots are taken: below the limit more
 * can be made with mrpc_call_grow().
 */
u64 mrpc_call_start(struct mrpc_call_table *t, void *call);

/**
 * mrpc_call_abandon() - the application's side ends: deadline, cancel
 * Return: the owner's object if the call was ACTIVE (exactly one caller ever
 * gets it), else NULL. The slot becomes a ZOMBIE.
 */
void *mrpc_call_abandon(struct mrpc_call_table *t, u64 id);

/**
 * mrpc_call_finish() - the peer's terminal reply has come, or will never come
 * @known: out: false if the id is not of a call in flight (a protocol error)
 * Return: the owner's object if the call was ACTIVE, NULL for a ZOMBIE or an
 * unknown id. The slot becomes FREE.
 */
void *mrpc_call_finish(struct mrpc_call_table *t, u64 id, bool *known);

/** mrpc_call_find() - the object of an ACTIVE call, or NULL */
void *mrpc_call_find(const struct mrpc_call_table *t, u64 id);

/** mrpc_call_known() - is or was @id that of a call of this table? */
static inline bool mrpc_call_known(const struct mrpc_call_table *t, u64 id)
{
	return mrpc_call_slot(id) < t->fresh && mrpc_call_seq(id) - 1 < t->seq;
}

/**
 * mrpc_call_next() - iterate: the id of the first ACTIVE call whose slot is
 * at least *@pos, or 0; *@pos moves behind it
 */
u64 mrpc_call_next(const struct mrpc_call_table *t, u32 *pos);

/*
 * Server's side: one entry per slot of the peer.
 */
struct mrpc_serve_slot {
	u64 id;		/* highest id seen in this slot */
	void *call;	/* the owner's object while the call is being served */
};

struct mrpc_serve_table {
	struct mrpc_serve_slot *slots;
	u32 nr;		/* size of slots[] */
	u32 limit;	/* slots that the peer may use; slots[] may be smaller */
	u32 active;
};

/** mrpc_serve_init() - as mrpc_call_init() */
void mrpc_serve_init(struct mrpc_serve_table *t, struct mrpc_serve_slot *slots, u32 nr);

/** mrpc_serve_grow() - as mrpc_call_grow() */
struct mrpc_serve_slot *mrpc_serve_grow(struct mrpc_serve_table *t, struct mrpc_serve_slot *slots,
					u32 nr);

/**
 * mrpc_serve_start() - a CALL came
 * Return: 0: new, to be executed; -EALREADY: a duplicate, not to be executed
 * (harmless on transports that can duplicate, a protocol error on a stream);
 * -EBUSY: a newer call in a slot that is still being served (the peer breaks
 * the rules); -ERANGE: no such slot, yet, if it is below the limit.
 */
int mrpc_serve_start(struct mrpc_serve_table *t, u64 id, void *call);

/**
 * mrpc_serve_end() - the terminal reply is made
 * Return: the owner's object if @id was being served (exactly one caller ever
 * gets it), else NULL.
 */
void *mrpc_serve_end(struct mrpc_serve_table *t, u64 id);

/** mrpc_serve_find() - the object being served under @id, or NULL */
void *mrpc_serve_find(const struct mrpc_serve_table *t, u64 id);

/** mrpc_serve_known() - has a CALL with @id come, or a later one in its slot? */
static inline bool mrpc_serve_known(const struct mrpc_serve_table *t, u64 id)
{
	u32 slot = mrpc_call_slot(id);

	return slot < t->nr && mrpc_call_seq(id) <= mrpc_call_seq(t->slots[slot].id);
}

/** mrpc_serve_next() - iterate, as mrpc_call_next() */
u64 mrpc_serve_next(const struct mrpc_serve_table *t, u32 *pos);

#endif /* MRPC_LIB_MESSAGE_CALLTABLE_H */
