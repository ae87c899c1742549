/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_TARGET_H
#define LIBMRPC_TARGET_H

#include "addr.h"

/*
 * Is it a target? @secure: its connections must be able to have TLS. 0 or -errno, with the error set.
 * Looks no name up.
 */
int target_check(const char *target, bool secure);

/*
 * Finds the addresses of a target, in their order. A part that has none is left out if another
 * part has some. Return: how many, at most @max; or -errno with the error set.
 */
int target_resolve(const char *target, struct address *list, int max);

#endif /* LIBMRPC_TARGET_H */
