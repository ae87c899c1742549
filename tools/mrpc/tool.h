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
	bool whole;		/* cannot be shortened */
};

const struct word *find_word(const struct word *words, const char *text, const char *what);
const char *peek_word(const struct args *args);
const char *next_word(struct args *args);
const char *need_word(struct args *args, const char *what);
uint32_t need_number(struct args *args, const char *what);
uint32_t need_id(struct args *args, const char *what);
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
	ATTR_MAP,		/* several nests with a name: an object of them */
	ATTR_FLAG,
	ATTR_BOOL,
	ATTR_WORDS,		/* several texts */
	ATTR_DATA,		/* bytes, in hexadecimal */
};

struct attr {
	const char *key;	/* in JSON */
	enum attr_kind kind;
	const struct set *set;		/* ADDR, NEST, LIST, MAP */
	const char *const *names;	/* ENUM, FLAGS */
};

struct set {
	int max;
	const struct attr *attrs;	/* by number, up to max */
};

extern const struct set set_session, set_qp, set_conn, set_service, set_schema, set_method,
			set_datapath, set_type, set_engine, set_queue, set_rpc, set_fault,
			set_param, set_series, set_runtime, set_keyset, set_egress,
			set_egress_queue, set_transport;

const struct attr *set_find(const struct set *set, const char *key, size_t len);

/* -- decode.c --------------------------------------------------------------- */

struct json_object *decode(const struct set *set, const struct nlattr *attrs, int len);
char *clean_text(const char *text, size_t len);

/* -- nl.c: requests and events ---------------------------------------------- */

/* The attributes of a request; all zero: none. */
struct body {
	uint8_t *data;
	size_t len;
};

void body_put(struct body *b, int attr, const void *data, size_t len);
void body_u8(struct body *b, int attr, uint8_t value);
void body_u32(struct body *b, int attr, uint32_t value);
void body_u64(struct body *b, int attr, uint64_t value);
void body_text(struct body *b, int attr, const char *text);
size_t body_nest(struct body *b, int attr);
void body_end(struct body *b, size_t start);
void body_free(struct body *b);

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
struct json_object *ask_all(int cmd, const struct set *set, const struct body *body);

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
/* What is printed there is @text, to be freed, when the file is closed. */
FILE *open_text(char **text, size_t *len);
char *text_joined(struct json_object *array, const char *between);
struct json_object *json_at(struct json_object *object, const char *path);
/*
 * An object for each entry of the objects' maps at @key: its "name", its "value", and the
 * object that it is "of".
 */
struct json_object *entries_of(struct json_object *array, const char *key);
uint64_t number_at(struct json_object *object, const char *path);
const char *string_at(struct json_object *object, const char *path);

/* -- values.c: numbers with units, and scopes -------------------------------- */

bool parse_value(const char *word, const char *unit, uint64_t *value, char **why);
char *text_value(uint64_t value, const char *unit);
uint64_t need_time(struct args *args, const char *what);
void parse_scope(struct args *args, struct body *b);
void put_scope(struct body *b, struct json_object *scope);
struct json_object *portable_scope(struct json_object *scope);
char *text_scope(struct json_object *scope);

/* -- params.c: parameters of engine types ------------------------------------- */

struct json_object *type_get(const char *name, uint32_t version);
void split_type(const char *word, char **name, uint32_t *version);
void put_param(struct body *b, struct json_object *type, const char *name, const char *word);
void put_param_json(struct body *b, struct json_object *type, const char *name,
		    struct json_object *value);
void add_rule_texts(struct json_object *engine);
char *text_params(struct json_object *values, struct json_object *type);

/* -- rules.c: rules of engines ------------------------------------------------- */

void *rules_from_word(const char *type, const char *word, size_t *len);
void *rules_from_text(const char *type, const char *text, size_t *len);
char *rules_to_text(const char *type, const void *binary, size_t len);

/* -- latency.c: whether a change makes things worse --------------------------- */

struct latency;

struct latency *latency_open(const char *rule, struct json_object *scope);
struct latency *latency_open_at(const char *rule, const char *where,
				struct json_object *(*series)(void *arg), void *arg);
char *latency_check(const char *rule);
void latency_free(struct latency *l);
char *latency_begin(struct latency *l);
void latency_step(struct latency *l);
char *latency_judge(struct latency *l);
char *latency_text(const struct latency *l);

/* -- change.c: changes of engines, at once or gradually ------------------------ */

/**
 * struct change - a change to make
 * @cmd: MRPC_CMD_ENGINE_*
 * @what: in the past tense, for people
 * @name: of the engine
 * @scope: of it, as JSON, or NULL
 * @body: the request, without percent
 * @step: percent in each step; 0: all at once
 * @every: ns between them
 * @abort_if: rule, or NULL
 */
struct change {
	int cmd;
	const char *what;
	const char *name;
	struct json_object *scope;
	struct body body;
	uint32_t step;
	uint64_t every;
	const char *abort_if;
};

bool change_option(struct change *c, struct args *args);
int change_run(struct change *c);

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
void print_blocks(const char *name, const struct set *set, struct json_object *array);
char *text_end(struct json_object *object, const char *key);
char *conn_services(struct json_object *conn);
int do_dump(struct args *args);

int do_schema(struct args *args);
struct json_object *schema_array(bool methods);
void schema_blocks(struct json_object *array);
int schema_check(struct args *args);
int schema_load(struct args *args);

int do_monitor(struct args *args);

int do_help(struct args *args);
void help_object(const char *object);

/*
 * The command that comes next, or @preset if there is none, of an object that the help
 * knows as @object. One that nothing runs, "help", and help asked for behind another,
 * print its help.
 */
int run_command(struct args *args, const char *object, const struct word *commands,
		const char *preset);

/* -- engine.c, queue.c, runtime.c, egress.c, transport.c, config.c -------------------------- */

int do_engine(struct args *args);
struct json_object *engine_array(void);
struct json_object *engine_get(const char *name);
void engine_blocks(struct json_object *array);
void queue_table(struct json_object *array);
char *queue_name(struct json_object *queue);
int do_queue(struct args *args);
int do_runtime(struct args *args);
int do_egress(struct args *args);
int do_transport(struct args *args);
int do_config(struct args *args);

/* -- policy.c, or policy_none.c -------------------------------------------------------------- */

int do_policy(struct args *args);

/* -- keyset.c, keyset_config.c --------------------------------------------------------------- */

int do_keyset(struct args *args);
struct json_object *keyset_saved(void);
bool keyset_restore(struct json_object *sets, bool exact);
bool keyset_remove_others(struct json_object *sets);

/* -- egress_config.c ------------------------------------------------------------------------- */

struct json_object *domains_saved(void);
bool domains_restore(struct json_object *domains, bool exact);

/* -- metrics.c ------------------------------------------------------------------------------- */

int do_metrics(struct args *args);

/* -- plan.c --------------------------------------------------------------------------------- */

int do_plan(struct args *args);

/* -- top.c ---------------------------------------------------------------------------------- */

int do_top(struct args *args);

/* The bytes of a file, at most @max; does not return if it cannot. */
void *read_file(const char *name, size_t max, size_t *len);

#endif /* MRPC_TOOL_H */
