/* SPDX-License-Identifier: GPL-2.0 */
/*
 * C names for the things of a .proto. The rule is the full name with dots
 * turned into underscores: kv.Put.Kind is kv_Put_Kind. What C, C++ or the
 * generated code itself uses already gets an underscore at its end.
 */
#ifndef MRPCC_NAMES_H
#define MRPCC_NAMES_H

#include <stdbool.h>

#include "model.h"

/* "kv.Put" -> "kv_Put" */
char *cname_of(const char *full_name);

/* Names the members and accessors of a message, those of a service. */
void names_of_message(struct message *message);
void names_of_service(struct service *service);

/* The functions that a field can have are its message's and these before it. */
extern const char *const accessor_prefixes[];

/*
 * Takes a name in the one namespace of C, and complains if something else has
 * it. @what: for example "message kv.Put".
 */
void name_take(const char *cname, struct where at, const char *what);

/* The same for a macro of a path, which no option gives another name. */
void name_take_macro(const char *macro, struct where at, const char *what);

/* Starts with no name taken. */
void names_forget(void);

#endif /* MRPCC_NAMES_H */
