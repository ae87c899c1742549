/* SPDX-License-Identifier: GPL-2.0 */
/* A group of two ranks: a session of this process is rank 0, and a peer is to be rank 1. */
#ifndef PEER_RANK_H
#define PEER_RANK_H

#include "peer.h"
#include "ranks.h"

/* Begins: a server with @heap bytes to send, which joins, and the peer's connection to it. */
void peer_rank_begin(struct peer *p, uint64_t key, uint32_t heap);
/* Ends both. Checks that no session is left. */
void peer_rank_end(struct peer *p);

#endif /* PEER_RANK_H */
