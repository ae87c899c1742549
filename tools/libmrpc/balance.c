// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which link of a channel a call goes over.
 *
 * With gRPC's pick_first a channel has one link, which tries all addresses in order. With its
 * round_robin a channel has a link for each address, and calls go in turn over those that are
 * ready. Before attempts of any link the names are looked up: then links of new addresses
 * begin, and those of addresses that are gone end.
 */
#include <string.h>

#include "balance.h"

/* gRPC's rule: a link that has failed counts as such until it is ready. */
static int state_of_all(const struct balance *b)
{
	bool connects = false, failed = false;
	u32 i;

	for (i = 0; i < b->nr; i++) {
		if (b->links[i]->state == MRPC_CHANNEL_READY)
			return MRPC_CHANNEL_READY;
		failed |= !!b->links[i]->why[0];
		connects |= b->links[i]->state == MRPC_CHANNEL_CONNECTING && !b->links[i]->why[0];
	}
	return connects ? MRPC_CHANNEL_CONNECTING :
	       failed ? MRPC_CHANNEL_TRANSIENT_FAILURE : MRPC_CHANNEL_IDLE;
}

int balance_state(const struct balance *b)
{
	return b->round_robin ? state_of_all(b) : b->links[0]->state;
}

int balance_begin(struct balance *b)
{
	u32 i;

	/* A call can do without the others. */
	for (i = 1; i < b->nr; i++)
		link_begin(b->links[i]);
	return b->nr ? link_begin(b->links[0]) : 0;
}

static void check(struct balance *b, struct link *link)
{
	bool ready = link->state == MRPC_CHANNEL_READY;

	link_check(link);
	/* As gRPC's round_robin, which does not wait for a call. */
	if (b->round_robin && ready && link->state == MRPC_CHANNEL_IDLE)
		link_begin(link);
}

void balance_check(struct balance *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		check(b, b->links[i]);
}

bool balance_lost(struct balance *b, u32 id)
{
	u32 i;

	for (i = 0; i < b->nr; i++) {
		if (b->links[i]->id != id)
			continue;
		check(b, b->links[i]);
		return b->links[i]->id != id;
	}
	return true;
}

static bool is_avoided(const struct avoid *avoid, u32 id)
{
	u32 i;

	for (i = 0; i < avoid->nr; i++)
		if (avoid->ids[i] == id)
			return true;
	return false;
}

bool avoid_add(struct avoid *avoid, u32 id)
{
	if (is_avoided(avoid, id) || avoid->nr == ARRAY_SIZE(avoid->ids))
		return false;
	avoid->ids[avoid->nr++] = id;
	return true;
}

const struct link *balance_next(struct balance *b, const struct avoid *avoid)
{
	const struct link *link;
	u32 i;

	for (i = 0; avoid && i < b->nr; i++) {
		link = b->links[(b->turn + i) % b->nr];
		if (link->state != MRPC_CHANNEL_READY || is_avoided(avoid, link->id))
			continue;
		b->turn += i + 1;
		return link;
	}
	do
		link = b->links[b->turn++ % b->nr];
	while (link->state != MRPC_CHANNEL_READY);
	return link;
}

const char *balance_why(const struct balance *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		if (b->links[i]->why[0])
			return b->links[i]->why;
	return "";
}

/* Atomic: the stores between must not move out, for the sake of a forked child. */
static void set_changes(struct balance *b, bool changes)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&b->changes, changes, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Removes a link, which ends by and by. */
static void drop(struct balance *b, u32 i)
{
	struct link *link = b->links[i];

	b->nr--;
	memmove(&b->links[i], &b->links[i + 1], (b->nr - i) * sizeof(b->links[0]));
	link->next = b->left;
	b->left = link;
	link_leave(link);
}

static bool is_in(const struct address *list, int nr, const struct address *address)
{
	int i;

	for (i = 0; i < nr; i++)
		if (list[i].len == address->len &&
		    !memcmp(list[i].addr, address->addr, sizeof(address->addr)) &&
		    !strcmp(list[i].transport, address->transport) &&
		    !strcmp(list[i].host, address->host))	/* TLS compares it */
			return true;
	return false;
}

static bool has_link(const struct balance *b, const struct address *address)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		if (is_in(address, 1, &b->links[i]->address))
			return true;
	return false;
}

void balance_follow(struct balance *b, const struct address *list, int nr)
{
	struct links *all = b->links[0]->all;
	struct link *link;
	u32 had, i;
	int j;

	/* The first link of the channel, which has been made without knowing any. */
	if (!b->links[0]->has_address) {
		b->links[0]->address = list[0];
		b->links[0]->has_address = true;
	}
	set_changes(b, true);
	had = b->nr;
	for (j = 0; j < nr; j++) {
		link = has_link(b, &list[j]) ? NULL : link_new(all, &list[j]);
		if (!link)
			continue;	/* without memory: the next look-up finds it again */
		b->links[b->nr++] = link;
		link_begin(link);
	}
	/* At least one stays: without memory for its successor it does so, whatever its address. */
	for (i = had; i-- > 0; )
		if (b->nr > 1 && !is_in(list, nr, &b->links[i]->address))
			drop(b, i);
	set_changes(b, false);
}

void balance_keep(struct balance *b, const struct address *list, int nr)
{
	struct link *link = b->links[0];
	int i;

	if (link->state == MRPC_CHANNEL_TRANSIENT_FAILURE)
		link->begin_ns = 0;	/* at once: there may be a better one now */
	if (link->state != MRPC_CHANNEL_READY)
		return;
	for (i = 0; i < nr; i++)
		if (!strcmp(list[i].transport, link->address.transport) &&
		    !memcmp(list[i].addr, link->address.addr, sizeof(list[i].addr)))
			return;
	link_rest(link);
	link_begin(link);
}

void balance_rest(struct balance *b)
{
	set_changes(b, true);
	while (b->nr > 1)
		drop(b, b->nr - 1);
	set_changes(b, false);
	link_rest(b->links[0]);
}

struct link *balance_reap(struct balance *b)
{
	struct link **p = &b->left, *link, *ended = NULL;

	set_changes(b, true);
	while ((link = *p)) {
		if (link->has_thread && !link->has_ended) {
			p = &link->next;
			continue;
		}
		*p = link->next;
		link->next = ended;
		ended = link;
	}
	set_changes(b, false);
	return ended;
}

struct link *balance_end(struct balance *b)
{
	struct link *all = b->left;

	if (__atomic_load_n(&b->changes, __ATOMIC_SEQ_CST))
		return NULL;
	set_changes(b, true);
	b->left = NULL;
	while (b->nr) {
		struct link *link = b->links[--b->nr];

		link->next = all;
		all = link;
	}
	set_changes(b, false);
	return all;
}
