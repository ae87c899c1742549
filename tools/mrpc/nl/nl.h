/* SPDX-License-Identifier: GPL-2.0 */
/* Generic netlink: requests, the kernel's explanations, events. */
#ifndef MRPC_TOOL_NL_NL_H
#define MRPC_TOOL_NL_NL_H

#include <stdbool.h>

struct body;
struct json_object;
struct nlattr;
struct set;

/**
 * struct answer - what the kernel said
 * @array: objects; there can be some although it failed
 * @err: 0 or a negative errno
 * @why: it failed: in words
 */
struct answer {
	struct json_object *array;
	int err;
	char *why;
};

void enter_netns(const char *name);
struct answer ask(int cmd, bool dump, const struct set *set, const struct body *body);
bool ask_each(int cmd, const struct body *body,
	      void (*each)(const struct nlattr *attrs, int len, void *arg), void *arg);
struct json_object *ask_one(int cmd, const struct set *set, const struct body *body);
struct json_object *ask_object(int cmd, const struct set *set, const struct body *body);
struct json_object *ask_all(int cmd, const struct set *set, const struct body *body);

/* Calls @event for each, until it returns non-zero or the module goes. */
int listen_to(int (*event)(int cmd, const struct nlattr *attrs, int len));

#endif /* MRPC_TOOL_NL_NL_H */
