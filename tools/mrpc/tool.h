/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrpc, the operator's command: what its files share.
 *
 * Whatever the kernel says becomes a JSON object (decode.c, following the tables
 * of sets.c), and that is printed as JSON, as a table or as blocks (print.c).
 */
#ifndef MRPC_TOOL_H
#define MRPC_TOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

struct nlattr;

/* Exit statuses. */
#define EXIT_FAILED	1
#define EXIT_USAGE	2

struct options {
	bool json;
	bool pretty;
	bool stats;
	bool timestamp;
};
extern struct options options;

/* -- words.c: the command line --------------------------------------------- */

struct args {
	int nr;
	char **words;
};

/* A word of the grammar; an array of them ends with a NULL name. */
struct word {
	const char *name;
	int (*run)(struct args *args);
	const char *also;	/* another name */
};

const struct word *find_word(const struct word *words, const char *text, const char *what);
const char *peek_word(const struct args *args);
const char *next_word(struct args *args);
const char *need_word(struct args *args, const char *what);
uint32_t need_number(struct args *args, const char *what);
void no_more_words(const struct args *args);
bool is_help(const char *text);
void __attribute__((noreturn, format(printf, 1, 2))) usage(const char *fmt, ...);
void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *fmt, ...);

/* -- sets.c: what the kernel's attributes mean ------------------------------ */

enum attr_kind {
	ATTR_NONE,
	ATTR_NUMBER,
	ATTR_BYTES,		/* a number of bytes */
	ATTR_TIME,		/* a number of nanoseconds */
	ATTR_TEXT,
	ATTR_HASH,
	ATTR_ENUM,
	ATTR_FLAGS,
	ATTR_ADDR,		/* a nest, of the set of addresses */
	ATTR_NEST,
	ATTR_LIST,		/* several nests */
};

struct attr {
	const char *key;	/* in JSON */
	enum attr_kind kind;
	const struct set *set;		/* ADDR, NEST, LIST */
	const char *const *names;	/* ENUM, FLAGS */
};

struct set {
	int max;
	const struct attr *attrs;	/* by number, up to max */
};

extern const struct set set_session, set_qp, set_conn, set_service, set_schema, set_method,
			set_datapath;

const struct attr *set_find(const struct set *set, const char *key, size_t len);

/* -- decode.c --------------------------------------------------------------- */

struct json_object *decode(const struct set *set, const struct nlattr *attrs, int len);
char *clean_text(const char *text, size_t len);

/* -- nl.c: requests and events ---------------------------------------------- */

/* An attribute of a request. */
struct ask {
	int attr;
	uint32_t value;
	const uint8_t *hash;	/* instead of value */
};

void enter_netns(const char *name);
struct json_object *ask_one(int cmd, const struct set *set, const struct ask *asks, int nr);
struct json_object *ask_all(int cmd, const struct set *set, const struct ask *asks, int nr);

/* Calls @event for each, until it returns non-zero or the module goes. */
int listen_to(int (*event)(int cmd, const struct nlattr *attrs, int len));

/* -- print.c ---------------------------------------------------------------- */

struct column {
	const char *head;
	const char *path;	/* keys, with dots between */
	bool stats;		/* only with -s */
	/* What to print instead of the value at @path; the caller frees it. */
	char *(*text)(struct json_object *object);
	bool right;		/* alignment of @text */
};

void print_json(struct json_object *object);
void print_table(const struct set *set, const struct column *columns,
		 struct json_object *array);
void print_block(const struct set *set, struct json_object *object, int indent);
char *text_of(const struct attr *attr, struct json_object *value);
char *text_bytes(uint64_t bytes);
char *text_time(uint64_t ns);
char __attribute__((format(printf, 1, 2))) *text_printf(const char *fmt, ...);
struct json_object *json_at(struct json_object *object, const char *path);
uint64_t number_at(struct json_object *object, const char *path);
const char *string_at(struct json_object *object, const char *path);

/* -- objects.c, schemas.c, schema_file.c, monitor.c, help.c --------------------------------- */

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

int do_session(struct args *args);
int do_qp(struct args *args);
int do_conn(struct args *args);
int do_service(struct args *args);
int do_datapath(struct args *args);
int do_dump(struct args *args);

int do_schema(struct args *args);
struct json_object *schema_array(bool methods);
void schema_blocks(struct json_object *array);
int schema_check(struct args *args);
int schema_load(struct args *args);

int do_monitor(struct args *args);

int do_help(struct args *args);
void help_object(const char *object);

/* The bytes of a file, at most @max; does not return if it cannot. */
void *read_file(const char *name, size_t max, size_t *len);

#endif /* MRPC_TOOL_H */
