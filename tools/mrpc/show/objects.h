/* SPDX-License-Identifier: GPL-2.0 */
/* Sessions, queue pairs, connections, services, datapaths and groups: show and dump. */
#ifndef MRPC_TOOL_SHOW_OBJECTS_H
#define MRPC_TOOL_SHOW_OBJECTS_H

#include <stdbool.h>

struct args;
struct column;
struct json_object;
struct set;

/* An object whose commands are show and dump. */
struct object {
	const char *name;
	int cmd;
	const struct set *set;
	const struct column *columns;
	int attr_session;	/* the request's filter */
	int attr_id;		/* 0: no single one can be asked for */
	const char *id;		/* the word for it */
};

/* They end with one without a name. */
extern const struct object object_kinds[];

int show_object(const char *name, struct args *args, bool dump);
int do_session(struct args *args);
int do_qp(struct args *args);
int do_service(struct args *args);
int do_datapath(struct args *args);
void print_blocks(const char *name, const struct set *set, struct json_object *array);
char *text_end(struct json_object *object, const char *key);
char *conn_services(struct json_object *conn);

#endif /* MRPC_TOOL_SHOW_OBJECTS_H */
