// SPDX-License-Identifier: GPL-2.0
/*
 * Call tables: see calltable.h for the contract.
 *
 * Ids come from outside (the wire, or an application's cancel), so every
 * lookup compares the whole id with the one the slot holds: a slot number
 * alone proves nothing.
 */
#include "lib/message/calltable.h"

#define CALL_NONE	U32_MAX
#define CALL_MAX_SEQ	((1ULL << (64 - MRPC_CALL_SLOT_BITS)) - 1)

void mrpc_call_init(struct mrpc_call_table *t, struct mrpc_call_slot *slots, u32 nr)
{
	memset(t, 0, sizeof(*t));
	t->slots = slots;
	t->nr = min(nr, MRPC_CALL_MAX_SLOTS);
	t->limit = t->nr;
	t->free = CALL_NONE;
}

struct mrpc_call_slot *mrpc_call_grow(struct mrpc_call_table *t, struct mrpc_call_slot *slots,
				      u32 nr)
{
	struct mrpc_call_slot *old = t->slots;

	memcpy(slots, old, t->fresh * sizeof(*slots));
	t->slots = slots;
	t->nr = min(nr, MRPC_CALL_MAX_SLOTS);
	return old;
}

u64 mrpc_call_start(struct mrpc_call_table *t, void *call)
{
	struct mrpc_call_slot *s;
	u32 slot;

	/* A sequence must never come back: the peer would take the call for a
	 * duplicate and not run it.
	 */
	if (t->seq == CALL_MAX_SEQ)
		return 0;

	/* The slot freed last first: it is the one that caches hold. */
	if (t->free != CALL_NONE) {
		slot = t->free;
		t->free = t->slots[slot].next;
	} else if (t->fresh < min(t->nr, t->limit)) {
		slot = t->fresh++;
	} else {
		return 0;
	}

	s = &t->slots[slot];
	s->id = ++t->seq << MRPC_CALL_SLOT_BITS | slot;
	s->call = call;
	s->next = CALL_NONE;
	s->state = MRPC_CALL_ACTIVE;
	t->active++;
	return s->id;
}

/* The slot whose present or last use is @id, or NULL. */
static struct mrpc_call_slot *call_lookup(const struct mrpc_call_table *t, u64 id)
{
	u32 slot = mrpc_call_slot(id);

	/* Slots from fresh on hold no id; this also keeps out id 0. */
	if (slot >= t->fresh || t->slots[slot].id != id)
		return NULL;
	return &t->slots[slot];
}

void *mrpc_call_abandon(struct mrpc_call_table *t, u64 id)
{
	struct mrpc_call_slot *s = call_lookup(t, id);
	void *call;

	if (!s || s->state != MRPC_CALL_ACTIVE)
		return NULL;
	call = s->call;
	s->call = NULL;
	s->state = MRPC_CALL_ZOMBIE;
	t->active--;
	t->zombies++;
	return call;
}

void *mrpc_call_finish(struct mrpc_call_table *t, u64 id, bool *known)
{
	struct mrpc_call_slot *s = call_lookup(t, id);
	void *call;

	*known = s && s->state != MRPC_CALL_FREE;
	if (!*known)
		return NULL;
	if (s->state == MRPC_CALL_ACTIVE)
		t->active--;
	else
		t->zombies--;
	call = s->call;
	s->call = NULL;
	s->state = MRPC_CALL_FREE;
	s->next = t->free;
	t->free = mrpc_call_slot(id);
	return call;
}

void *mrpc_call_find(const struct mrpc_call_table *t, u64 id)
{
	const struct mrpc_call_slot *s = call_lookup(t, id);

	return s && s->state == MRPC_CALL_ACTIVE ? s->call : NULL;
}

u64 mrpc_call_next(const struct mrpc_call_table *t, u32 *pos)
{
	while (*pos < t->fresh) {
		const struct mrpc_call_slot *s = &t->slots[(*pos)++];

		if (s->state == MRPC_CALL_ACTIVE)
			return s->id;
	}
	return 0;
}

void mrpc_serve_init(struct mrpc_serve_table *t, struct mrpc_serve_slot *slots, u32 nr)
{
	t->slots = slots;
	t->nr = min(nr, MRPC_CALL_MAX_SLOTS);
	t->limit = t->nr;
	t->active = 0;
}

struct mrpc_serve_slot *mrpc_serve_grow(struct mrpc_serve_table *t, struct mrpc_serve_slot *slots,
					u32 nr)
{
	struct mrpc_serve_slot *old = t->slots;

	memcpy(slots, old, t->nr * sizeof(*slots));
	t->slots = slots;
	t->nr = min(nr, MRPC_CALL_MAX_SLOTS);
	return old;
}

int mrpc_serve_start(struct mrpc_serve_table *t, u64 id, void *call)
{
	u32 slot = mrpc_call_slot(id);
	struct mrpc_serve_slot *s;

	if (slot >= t->nr)
		return -ERANGE;
	s = &t->slots[slot];
	/* Sequences start at 1, so a forged 0 counts as seen in a slot never used. */
	if (mrpc_call_seq(id) <= mrpc_call_seq(s->id))
		return -EALREADY;
	if (s->call)
		return -EBUSY;
	s->id = id;
	s->call = call;
	t->active++;
	return 0;
}

/* The slot in which @id is being served, or NULL. */
static struct mrpc_serve_slot *serve_lookup(const struct mrpc_serve_table *t, u64 id)
{
	u32 slot = mrpc_call_slot(id);

	if (slot >= t->nr || t->slots[slot].id != id || !t->slots[slot].call)
		return NULL;
	return &t->slots[slot];
}

void *mrpc_serve_end(struct mrpc_serve_table *t, u64 id)
{
	struct mrpc_serve_slot *s = serve_lookup(t, id);
	void *call;

	if (!s)
		return NULL;
	/* The id stays: it is what a late duplicate is compared with. */
	call = s->call;
	s->call = NULL;
	t->active--;
	return call;
}

void *mrpc_serve_find(const struct mrpc_serve_table *t, u64 id)
{
	const struct mrpc_serve_slot *s = serve_lookup(t, id);

	return s ? s->call : NULL;
}

u64 mrpc_serve_next(const struct mrpc_serve_table *t, u32 *pos)
{
	while (*pos < t->nr) {
		const struct mrpc_serve_slot *s = &t->slots[(*pos)++];

		if (s->call)
			return s->id;
	}
	return 0;
}
