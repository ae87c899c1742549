/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policies of bpf/, one at a time, over a pair of sessions: for their tests.
 */
#ifndef EXAMPLES_H
#define EXAMPLES_H

#include "policies.h"
#include "raw.h"

#define KEY_LEN	64	/* of texts in maps */

extern struct raw_pair p;
extern struct policy ex;
/* Of the last call that failed. */
extern char ex_detail[MRPC_MAX_DETAIL + 1];

/* Two sessions, and an example that is not loaded yet: its fields may still be named. */
void ex_begin(const char *name);
void ex_name_field(unsigned int field, const char *path);
void ex_place(const char *words);
void ex_end(void);

/* Of the example, an entry under a number. */
void ex_set(const char *map, uint32_t key, const void *value);
void ex_set_u32(const char *map, uint32_t key, uint32_t value);
/* A text as a key, until the next one. */
const char *ex_key_of(const char *text);

/* The status of a call of @s, as @sqe, but that the message is made here: root is its tag. */
unsigned int ex_call_as(struct raw *s, struct mrpc_sqe sqe, uint32_t len, const char *text);
unsigned int ex_call(uint32_t method, uint64_t tag, uint32_t len, const char *text);
/* Echo, with a deadline. */
unsigned int ex_call_for(uint64_t timeout_us);

/* A session of another user, whose process it is all the same; its connection is returned. */
int ex_as_user(struct raw *s, uid_t uid);

/* Dies unless @n of @all is what comes of a share, give or take six standard deviations. */
void ex_check_share(uint64_t n, uint64_t all, double percent);

#endif /* EXAMPLES_H */
