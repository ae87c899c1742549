/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc plan: how far it has come. */
#ifndef MRPC_TOOL_PLAN_STATE_H
#define MRPC_TOOL_PLAN_STATE_H

#include <stdbool.h>

struct before;
struct host;
struct json_object;
struct plan;
struct step;

enum done { NOT_DONE, BEGUN, DONE, UNDONE };

struct state;

char *state_file(const char *plan);
struct state *state_new(const struct plan *p);
struct state *state_read(const char *plan);
const char *state_hash(const struct state *s);
const char *state_end(const struct state *s);
void state_begin(struct state *s, int step, const struct step *what, const struct host *h,
		 const struct before *before);
void state_mark(struct state *s, int step, const char *host, const char *what);
void state_finish(struct state *s, const char *how);
enum done state_done(const struct state *s, int step, const char *host);
bool state_checked(const struct state *s, int step);
bool state_undoing(const struct state *s);
struct json_object *state_change(const struct state *s, int step, const char *host);
struct json_object *state_changes(const struct state *s);
struct host *state_host(const struct state *s, const char *name);

#endif /* MRPC_TOOL_PLAN_STATE_H */
