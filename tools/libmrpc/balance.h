/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_BALANCE_H
#define LIBMRPC_BALANCE_H

#include "link.h"

#define LINKS_MAX	(2 * ADDRESSES_MAX)	/* while those of one look-up replace another's */

/**
 * struct balance - the links of a channel; its lock protects all of it
 * @round_robin: calls go in turn over all links; else there is one link
 * @links: the first @nr; links of round_robin differ in their address
 * @nr: how many; 0: the channel was closed
 * @turn: counts calls
 * @left: links that end
 * @changes: a thread adds or removes links. A forked child that sees it set never has a whole list
 */
struct balance {
	bool round_robin;
	struct link *links[LINKS_MAX];
	u32 nr;
	u32 turn;
	struct link *left;
	bool changes;
};

/**
 * struct avoid - connections that a call is not to take
 * @nr: how many @ids
 * @ids: the kernel's numbers
 */
struct avoid {
	u32 nr;
	u32 ids[2 * LINKS_MAX];
};

/* Adds one, if there is room. Return: false: it was there before, or there is none. */
bool avoid_add(struct avoid *avoid, u32 id);

/* The enum mrpc_channel_state of all links together. */
int balance_state(const struct balance *b);

/* Begins to connect, unless that is done or under way. Return: as link_begin(). */
int balance_begin(struct balance *b);

/* Finds out which connections take no calls any more. */
void balance_check(struct balance *b);
/* A call over connection @id was not sent. Return: @id takes no calls any more. */
bool balance_lost(struct balance *b, u32 id);

/* With MRPC_CHANNEL_READY: the link that has the turn. @avoid: as in channel_try(). */
const struct link *balance_next(struct balance *b, const struct avoid *avoid);

/* The reason of a link's failure, or "". */
const char *balance_why(const struct balance *b);

/* round_robin: makes a link for each address, at most ADDRESSES_MAX, and ends those of others. */
void balance_follow(struct balance *b, const struct address *list, int nr);

/*
 * pick_first: the target has other addresses. Gives the connection up if its address is none of
 * them, and makes another one.
 */
void balance_keep(struct balance *b, const struct address *list, int nr);

/* Gives all connections up, until balance_begin(). */
void balance_rest(struct balance *b);

/* Takes out the links that have ended. Return: a list of them, for link_free(). */
struct link *balance_reap(struct balance *b);

/*
 * Takes all links out. Return: a list of them, for link_free(). In a forked child, without the lock:
 * none, if the parent was changing them.
 */
struct link *balance_end(struct balance *b);

#endif /* LIBMRPC_BALANCE_H */
