/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_TARGET_H
#define LIBMRPC_TARGET_H

#include "addr.h"

#define TARGET_FILE_MAX	65536	/* bytes of a file with addresses */

/*
 * Is it a target? @secure: its connections must be able to have TLS. 0 or -errno, with the error set.
 * Looks no name up, and reads no file.
 */
int target_check(const char *target, bool secure);

/*
 * Finds the addresses of a target, in their order. A part that has none is left out if another
 * part has some. A file must be right as a whole. Return: how many, at most @max; or -errno with the
 * error set.
 */
int target_resolve(const char *target, bool secure, struct address *list, int max);

/* The path of the file that has the addresses of a target; NULL: the target has them itself. */
const char *target_file(const char *target);

#endif /* LIBMRPC_TARGET_H */
