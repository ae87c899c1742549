// SPDX-License-Identifier: GPL-2.0
/* mrpc top: activity, as a live screen or, for scripts, a number of times. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "nl/attrs.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/print.h"
#include "show/values.h"
#include "top/rates.h"
#include "top/sample.h"
#include "top/screen.h"
#include "top/top.h"

#define FIRST	500000000	/* limit of the first picture's period, ns */

/**
 * struct top - settings of the output
 * @view: kind of rows
 * @sort: index in @orders
 * @every: ns between two pictures
 * @batch: number of pictures on standard output; 0: a screen, until the operator ends it
 */
struct top {
	enum view view;
	int sort;
	uint64_t every;
	uint32_t batch;
};

/* -- columns -------------------------------------------------------------------------- */

enum { ROW_SESSION = 1, ROW_CONN, ROW_DATAPATH, ROW_SERVICE, ROW_METHOD, ROW_ROLE, ROW_PEER,
       ROW_CONNS, ROW_ACTIVE, ROW_QUEUED, ROW_OLDEST, ROW_P50, ROW_P99 };

static const struct attr row[] = {
	[ROW_SESSION] = NUMBER("session"),
	[ROW_CONN] = NUMBER("conn"),
	[ROW_DATAPATH] = NUMBER("datapath"),
	[ROW_SERVICE] = TEXT("service"),
	[ROW_METHOD] = TEXT("method"),
	[ROW_ROLE] = TEXT("role"),
	[ROW_PEER] = TEXT("peer"),
	[ROW_CONNS] = NUMBER("conns"),
	[ROW_ACTIVE] = NUMBER("active"),
	[ROW_QUEUED] = NUMBER("queued"),
	[ROW_OLDEST] = TIME("oldest_ns"),
	[ROW_P50] = TIME("p50_ns"),
	[ROW_P99] = TIME("p99_ns"),
};
static const struct set set_row = SET(row);

static char *text_rate(struct json_object *object, const char *key)
{
	double rate = json_object_get_double(json_at(object, key));

	return text_printf(rate > 0 && rate < 9.95 ? "%.1f" : "%.0f", rate);
}

static char *calls(struct json_object *object)
{
	return text_rate(object, "calls_s");
}

static char *errors(struct json_object *object)
{
	return text_rate(object, "errors_s");
}

static char *bytes(struct json_object *object)
{
	return text_bytes(json_object_get_double(json_at(object, "bytes_s")) + 0.5);
}

#define RATES { "CALLS/S", .text = calls, .right = true },	\
	{ "ERRORS/S", .text = errors, .right = true },		\
	{ "BYTES/S", .text = bytes, .right = true }
#define STATE { "ACTIVE", "active" }, { "QUEUED", "queued" }, { "OLDEST", "oldest_ns" }
#define TIMES { "P50", "p50_ns" }, { "P99", "p99_ns" }

static const struct column conn_columns[] = {
	{ "SESSION", "session" }, { "CONN", "conn" }, { "DATAPATH", "datapath" },
	{ "ROLE", "role" }, { "SERVICES", "service" }, { "PEER", "peer" }, RATES, STATE, TIMES, { }
};

static const struct column service_columns[] = {
	{ "SERVICES", "service" }, { "ROLE", "role" }, { "CONNS", "conns" }, RATES, STATE, TIMES,
	{ }
};

static const struct column method_columns[] = {
	{ "SERVICE", "service" }, { "METHOD", "method" }, { "ROLE", "role" }, RATES, TIMES, { }
};

static const struct {
	const char *name;
	const struct column *columns;
	char key;
} views[NR_VIEWS] = {
	[VIEW_CONNS] = { "connections", conn_columns, 'c' },
	[VIEW_SERVICES] = { "services", service_columns, 'v' },
	[VIEW_METHODS] = { "methods", method_columns, 'm' },
};

/* -- order ------------------------------------------------------------------------------- */

static const struct word order_words[] = {
	{ "calls" }, { "errors" }, { "bytes" }, { "active" }, { "queued" }, { "oldest" },
	{ "p50" }, { "p99" }, { }
};
static const char *const orders[] = {
	"calls_s", "errors_s", "bytes_s", "active", "queued", "oldest_ns", "p50_ns", "p99_ns"
};
#define NR_ORDERS	(int)(sizeof(orders) / sizeof(*orders))

static const char *order;	/* for compare_rows() */

/* The largest first. Equal rows keep a fixed order, so that lines do not jump. */
static int compare_rows(const void *a, const void *b)
{
	struct json_object *x = *(struct json_object *const *)a, *y = *(struct json_object *const *)b;
	double p = json_object_get_double(json_at(x, order));
	double q = json_object_get_double(json_at(y, order));
	static const char *const names[] = { "session", "conn", "service", "method", "role" };
	size_t i;
	int cmp;

	if (p != q)
		return p > q ? -1 : 1;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct json_object *m = json_at(x, names[i]), *n = json_at(y, names[i]);

		cmp = json_object_is_type(m, json_type_int) ?
		      (int)json_object_get_int64(m) - (int)json_object_get_int64(n) :
		      strcmp(string_at(x, names[i]) ?: "", string_at(y, names[i]) ?: "");
		if (cmp)
			return cmp;
	}
	return 0;
}

/* -- a picture ---------------------------------------------------------------------------- */

static void print_side(struct json_object *sums, const char *side, const char *what)
{
	struct json_object *s = json_at(sums, side);
	char *c = calls(s), *e = errors(s), *b = bytes(s);
	char *oldest = text_time(number_at(s, "oldest_ns")), *p50, *p99;

	printf("%s: %s calls/s, %s errors/s, %s bytes/s, %llu in flight, %llu queued", what, c, e, b,
	       (unsigned long long)number_at(s, "active"),
	       (unsigned long long)number_at(s, "queued"));
	if (number_at(s, "oldest_ns"))
		printf(", oldest %s", oldest);
	if (json_at(s, "p99_ns")) {
		p50 = text_time(number_at(s, "p50_ns"));
		p99 = text_time(number_at(s, "p99_ns"));
		printf(", p50 %s, p99 %s", p50, p99);
		free(p50);
		free(p99);
	}
	putchar('\n');
	free(c);
	free(e);
	free(b);
	free(oldest);
}

static void print_picture(const struct top *t, struct json_object *sums, struct json_object *rows)
{
	char clock[16];
	time_t now = time(NULL);

	strftime(clock, sizeof(clock), "%T", localtime(&now));
	printf("%s  %s sessions, %s datapaths, %s engines", clock, string_at(sums, "sessions"),
	       string_at(sums, "datapaths"), string_at(sums, "engines"));
	if (number_at(sums, "bypassed"))
		printf(", bypassed on %s datapaths", string_at(sums, "bypassed"));
	putchar('\n');
	print_side(sums, "client", "out");
	print_side(sums, "server", "in ");
	printf("%s by %s%s\n\n", views[t->view].name, order_words[t->sort].name,
	       t->batch ? "" : "   (c connections, v services, m methods, s sort, q quit)");
	if (t->view == VIEW_METHODS && !json_object_array_length(rows))
		puts("No calls were measured; 'mrpc engine add metrics' places an engine that does.");
	else
		print_table(&set_row, views[t->view].columns, rows);
}

static void print_batch(const struct top *t, struct json_object *sums, struct json_object *rows)
{
	struct json_object *object;

	if (!options.json) {
		print_picture(t, sums, rows);
		return;
	}
	object = json_object_new_object();
	json_object_object_add(object, "sums", json_object_get(sums));
	json_object_object_add(object, views[t->view].name, json_object_get(rows));
	print_json(object);
	json_object_put(object);
}

/* Prints into memory first, and then onto the screen at once. */
static void draw(const struct top *t, struct json_object *sums, struct json_object *rows)
{
	FILE *terminal = stdout, *memory;
	char *text = NULL;
	size_t len = 0;

	memory = open_text(&text, &len);
	stdout = memory;
	print_picture(t, sums, rows);
	stdout = terminal;
	fclose(memory);
	screen_show(text);
	free(text);
}

static void show(const struct top *t, const struct sample *from, const struct sample *to)
{
	struct json_object *rows = rates_rows(from, to, t->view), *sums = rates_sums(from, to);

	order = orders[t->sort];
	json_object_array_sort(rows, compare_rows);
	if (t->batch)
		print_batch(t, sums, rows);
	else
		draw(t, sums, rows);
	json_object_put(rows);
	json_object_put(sums);
}

/* -- the loop -------------------------------------------------------------------------------- */

static void wait_until(uint64_t ns)
{
	struct timespec until = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

static int run_batch(struct top *t)
{
	struct sample *from = sample_take(), *to;
	uint32_t i;

	for (i = 0; i < t->batch; i++) {
		wait_until(from->at + t->every);
		to = sample_take();
		if (i && !options.json)
			putchar('\n');
		show(t, from, to);
		/* The reader of the output has gone. */
		if (fflush(stdout) || ferror(stdout))
			return EXIT_FAILED;
		sample_free(from);
		from = to;
	}
	sample_free(from);
	return 0;
}

/* Return: true if the picture must be drawn again. */
static bool got_key(struct top *t, int key)
{
	int i;

	for (i = 0; i < NR_VIEWS; i++) {
		if (key != views[i].key)
			continue;
		t->view = i;
		return true;
	}
	if (key == 's')
		t->sort = (t->sort + 1) % NR_ORDERS;
	return key == 's' || key == SCREEN_DRAW;
}

static int run_screen(struct top *t)
{
	struct sample *from, *to;
	uint64_t next;
	int key;

	screen_begin();
	from = sample_take();
	next = from->at + (t->every < FIRST ? t->every : FIRST);
	do {
		key = screen_wait(next);
	} while (key != SCREEN_TIME && key != SCREEN_END && key != 'q');
	to = sample_take();
	while (key != SCREEN_END && key != 'q') {
		show(t, from, to);
		next = to->at + t->every;
		while ((key = screen_wait(next)) && key != SCREEN_END && key != 'q')
			if (got_key(t, key))
				show(t, from, to);
		if (key)
			break;
		sample_free(from);
		from = to;
		to = sample_take();
	}
	sample_free(from);
	sample_free(to);
	return 0;
}

static void parse_option(struct top *t, const char *name, struct args *args)
{
	int i;

	if (!strcmp(name, "--every")) {
		t->every = need_time(args, "the time after '--every'");
		if (t->every < 1000000)
			usage("the time after '--every' must be at least 1ms");
	} else if (!strcmp(name, "--batch")) {
		t->batch = need_number(args, "the number after '--batch'");
		if (!t->batch)
			usage("the number after '--batch' must be at least 1");
	} else if (!strcmp(name, "--sort")) {
		t->sort = find_word(order_words, need_word(args, "what follows '--sort'"),
				    "an order") - order_words;
	} else {
		for (i = 0; i < NR_VIEWS; i++)
			if (!strcmp(views[i].name, name))
				t->view = i;
	}
}

int do_top(struct args *args)
{
	static const struct word words[] = {
		{ "connections" }, { "services" }, { "methods" }, { "--every" },
		{ "--batch", NULL, "-b" }, { "--sort" }, { }
	};
	struct top t = { .every = 1000000000 };
	const char *word;

	while ((word = next_word(args))) {
		if (is_help(word)) {
			help_object("top");
			return 0;
		}
		parse_option(&t, find_word(words, word, "an option of top")->name, args);
	}
	if (options.json && !t.batch)
		usage("with -j, top needs '--batch N'");
	return t.batch ? run_batch(&t) : run_screen(&t);
}
