/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Streams that this end has reset: what RST_STREAM is still to be written of, and what the peer may
 * still send frames of.
 *
 * A ring that forgets the oldest. Not locked: the owner's lock protects it.
 */
#ifndef MRPC_LIB_HTTP2_GONE_H
#define MRPC_LIB_HTTP2_GONE_H

#include "lib/ds/types.h"

/**
 * struct mrpc_h2_gone - a stream that this end reset
 * @id: its number
 * @code: enum mrpc_h2_error, sent or to be sent
 */
struct mrpc_h2_gone {
	u32 id;
	u32 code;
};

/**
 * struct mrpc_h2_gone_ring - the streams reset last
 * @of: memory of the caller
 * @nr: entries of @of, a power of two
 * @head: streams reset so far, wraps
 * @sent: of these, RST_STREAM is written; at most @nr behind @head
 */
struct mrpc_h2_gone_ring {
	struct mrpc_h2_gone *of;
	u32 nr;
	u32 head;
	u32 sent;
};

static inline void mrpc_h2_gone_init(struct mrpc_h2_gone_ring *r, struct mrpc_h2_gone *of, u32 nr)
{
	*r = (struct mrpc_h2_gone_ring){ .of = of, .nr = nr };
	memset(of, 0, nr * sizeof(*of));
}

/** mrpc_h2_gone_owed() - Return: RST_STREAM frames to be written */
static inline u32 mrpc_h2_gone_owed(const struct mrpc_h2_gone_ring *r)
{
	return r->head - r->sent;
}

/** mrpc_h2_gone_add() - stream @id is reset; fewer than @r->nr are owed */
static inline void mrpc_h2_gone_add(struct mrpc_h2_gone_ring *r, u32 id, u32 code)
{
	r->of[r->head++ & (r->nr - 1)] = (struct mrpc_h2_gone){ .id = id, .code = code };
}

/** mrpc_h2_gone_next() - Return: the oldest of which RST_STREAM is owed; it counts as written */
static inline const struct mrpc_h2_gone *mrpc_h2_gone_next(struct mrpc_h2_gone_ring *r)
{
	return &r->of[r->sent++ & (r->nr - 1)];
}

/** mrpc_h2_gone_has() - Return: stream @id is remembered */
static inline bool mrpc_h2_gone_has(const struct mrpc_h2_gone_ring *r, u32 id)
{
	u32 i;

	for (i = 0; i < r->nr; i++)
		if (r->of[i].id == id)
			return true;
	return false;
}

#endif /* MRPC_LIB_HTTP2_GONE_H */
