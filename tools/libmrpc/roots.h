/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which memory belongs to which message, for programs that are built with MRPC_DEBUG. */
#ifndef LIBMRPC_ROOTS_H
#define LIBMRPC_ROOTS_H

#include "internal.h"

/* Is there such code in the program? If not, nothing below is called. */
extern bool roots_watched;

/* Begins a message: what was known of @root is of an older one. */
void roots_begin(const struct mrpc_session *session, const void *root, const void *mem, size_t len);

/* More memory of the message */
void roots_add(const void *root, const void *mem, size_t len);

/* It is sent, freed or released. NULL and what is unknown do nothing. */
void roots_remove(const void *root);

/* So are all of a session. */
void roots_remove_session(const struct mrpc_session *session);

#endif /* LIBMRPC_ROOTS_H */
