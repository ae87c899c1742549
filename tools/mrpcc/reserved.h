/* SPDX-License-Identifier: GPL-2.0 */
/* Names that the languages, the compiler, the C library or libmrpc have taken. */
#ifndef MRPCC_RESERVED_H
#define MRPCC_RESERVED_H

#include <stdbool.h>

/* Keywords and macros: in the way of a member of a structure. */
bool reserved_for_members(const char *name);

/* The same, and what is declared: in the way of a name that the whole program sees. */
bool reserved_whole(const char *name);

/* The same, and what begins names of others, such as libmrpc's mrpc_*. */
bool reserved_as_prefix(const char *name);

#endif /* MRPCC_RESERVED_H */
