/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages under construction without a session, for targets that link parts of libmrpc: the
 * functions that those call, with an arena in which AddressSanitizer sees each piece.
 */
#ifndef MSG_ARENA_H
#define MSG_ARENA_H

#include "mrpc_message.h"

/* Drops all messages. */
void arena_reset(void);

#endif /* MSG_ARENA_H */
