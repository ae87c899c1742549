// SPDX-License-Identifier: GPL-2.0
/* mrpc top: what there is at a moment, as the kernel counts it. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/clock.h"
#include "cli/util.h"
#include "engine/find.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/objects.h"
#include "top/sample.h"

#define TIMED_MAX	64	/* connections whose own histograms are asked for */

/* -- lists of entries -------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->key, ((const struct entry *)b)->key);
}

static void sort_entries(struct entries *list)
{
	if (list->nr)
		qsort(list->entry, list->nr, sizeof(*list->entry), compare_keys);
}

/* What a sorted list has under @key, or NULL. */
const struct entry *entries_find(const struct entries *list, const char *key)
{
	const struct entry wanted = { .key = (char *)key };

	return list->nr ? bsearch(&wanted, list->entry, list->nr, sizeof(wanted), compare_keys) :
			  NULL;
}

static struct entry *new_entry(struct entries *list, char *key)
{
	/* Doubled at each power of two. */
	if (!(list->nr & (list->nr - 1)))
		list->entry = realloc(list->entry, (2 * list->nr + 1) * sizeof(*list->entry));
	if (!list->entry)
		fail("out of memory");
	list->entry[list->nr] = (struct entry) { .key = key, .row = json_object_new_object() };
	return &list->entry[list->nr++];
}

static void free_entries(struct entries *list)
{
	size_t i;

	for (i = 0; i < list->nr; i++) {
		free(list->entry[i].key);
		free(list->entry[i].hist);
		json_object_put(list->entry[i].row);
	}
	free(list->entry);
}

static void put_text(struct entry *e, const char *key, char *text)
{
	json_object_object_add(e->row, key, json_object_new_string(text));
	free(text);
}

static void put_number(struct entry *e, const char *key, uint64_t value)
{
	json_object_object_add(e->row, key, json_object_new_uint64(value));
}

/* -- histograms ----------------------------------------------------------------------- */

static uint64_t series_count(struct json_object *series)
{
	struct json_object *buckets = json_at(series, "buckets");
	uint64_t count = 0;
	size_t i;

	for (i = 0; buckets && i < json_object_array_length(buckets); i++)
		count += number_at(json_object_array_get_idx(buckets, i), "count");
	return count;
}

static void add_hist(struct entry *e, struct json_object *series)
{
	struct json_object *buckets = json_at(series, "buckets"), *bucket;
	size_t i;

	if (!e->hist)
		e->hist = calloc(1, sizeof(*e->hist));
	if (!e->hist)
		fail("out of memory");
	for (i = 0; buckets && i < json_object_array_length(buckets); i++) {
		bucket = json_object_array_get_idx(buckets, i);
		e->hist->count[mrpc_hist_index(number_at(bucket, "most"))] +=
			number_at(bucket, "count");
	}
	if (number_at(series, "most") > e->hist->max)
		e->hist->max = number_at(series, "most");
}

static struct json_object *ask_series(const char *engine, uint32_t datapath)
{
	struct body body = { };
	struct answer a;

	body_text(&body, MRPC_A_SERIES_ENGINE, engine);
	if (datapath)
		body_u32(&body, MRPC_A_SERIES_DATAPATH, datapath);
	a = ask(MRPC_CMD_SERIES_GET, true, &set_series, &body);
	body_free(&body);
	free(a.why);		/* it was removed meanwhile */
	return a.array;
}

/* -- connections -------------------------------------------------------------------------- */

/* What all queues of a datapath have together. */
struct load {
	uint32_t datapath;
	uint64_t queued;
	uint64_t oldest;
};

static int compare_loads(const void *a, const void *b)
{
	uint32_t x = ((const struct load *)a)->datapath, y = ((const struct load *)b)->datapath;

	return x < y ? -1 : x > y;
}

/* Sorted, one for each datapath. */
static struct load *take_loads(size_t *nr)
{
	struct json_object *queues = ask_all(MRPC_CMD_QUEUE_GET, &set_queue, NULL), *queue;
	size_t i, to = 0, all = json_object_array_length(queues);
	struct load *loads = calloc(all + 1, sizeof(*loads));

	if (!loads)
		fail("out of memory");
	for (i = 0; i < all; i++) {
		queue = json_object_array_get_idx(queues, i);
		loads[i].datapath = number_at(queue, "datapath");
		loads[i].queued = number_at(queue, "depth") + number_at(queue, "kept");
		loads[i].oldest = number_at(queue, "age_ns");
	}
	json_object_put(queues);
	qsort(loads, all, sizeof(*loads), compare_loads);
	for (i = 0; i < all; i++) {
		if (to && loads[to - 1].datapath == loads[i].datapath) {
			loads[to - 1].queued += loads[i].queued;
			if (loads[i].oldest > loads[to - 1].oldest)
				loads[to - 1].oldest = loads[i].oldest;
		} else {
			loads[to++] = loads[i];
		}
	}
	*nr = to;
	return loads;
}

static void take_conn(struct sample *s, struct json_object *conn, const struct load *load)
{
	const char *role = json_at(conn, "listener") ? "server" : "client";
	struct entry *e;

	e = new_entry(&s->conns, text_printf("%s/%s", string_at(conn, "session"),
					     string_at(conn, "id")));
	e->calls = number_at(conn, "stats.calls");
	e->errors = number_at(conn, "stats.failed");
	e->bytes = number_at(conn, "stats.tx_bytes") + number_at(conn, "stats.rx_bytes");
	put_number(e, "session", number_at(conn, "session"));
	put_number(e, "conn", number_at(conn, "id"));
	put_number(e, "datapath", number_at(conn, "datapath"));
	put_text(e, "role", text_printf("%s", role));
	put_text(e, "service", conn_services(conn));
	put_text(e, "peer", text_end(conn, "peer"));
	put_number(e, "active", number_at(conn, "calls_active"));
	put_number(e, "queued", load ? load->queued : 0);
	put_number(e, "oldest_ns", load ? load->oldest : 0);
}

static void take_conns(struct sample *s)
{
	struct json_object *conns = ask_all(MRPC_CMD_CONN_GET, &set_conn, NULL), *conn;
	struct load *loads, wanted = { };
	size_t i, nr;

	loads = take_loads(&nr);
	for (i = 0; i < json_object_array_length(conns); i++) {
		conn = json_object_array_get_idx(conns, i);
		/* What the link of a replica carries is counted where it was called. */
		if (!strcmp(string_at(conn, "state") ?: "", "closed") || json_at(conn, "parent"))
			continue;
		wanted.datapath = number_at(conn, "datapath");
		take_conn(s, conn, bsearch(&wanted, loads, nr, sizeof(wanted), compare_loads));
	}
	free(loads);
	json_object_put(conns);
}

/* Only an engine that keeps them for each connection has these. */
static void time_conns(struct sample *s, const char *engine)
{
	struct json_object *array, *series;
	size_t i, j;

	if (s->conns.nr > TIMED_MAX)
		return;
	for (i = 0; i < s->conns.nr; i++) {
		struct entry *e = &s->conns.entry[i];

		array = ask_series(engine, number_at(e->row, "datapath"));
		for (j = 0; j < json_object_array_length(array); j++) {
			series = json_object_array_get_idx(array, j);
			if (!strcmp(string_at(series, "name") ?: "", "total"))
				add_hist(e, series);
		}
		json_object_put(array);
	}
}

/* -- methods --------------------------------------------------------------------------------- */

static struct entry *method_entry(struct sample *s, struct json_object *series,
				  const char *engine)
{
	struct json_object *sides = json_at(series, "side");
	const char *side = sides && json_object_array_length(sides) ?
			   json_object_get_string(json_object_array_get_idx(sides, 0)) : "?";
	char *key = text_printf("%s/%s %s", string_at(series, "service"),
				string_at(series, "method"), side);
	struct entry *e;
	size_t i;

	/* From the last one on, because those of one method come together. */
	for (i = s->methods.nr; i; i--) {
		e = &s->methods.entry[i - 1];
		if (strcmp(e->key, key))
			continue;
		free(key);
		/* Another engine that measures the same does not count twice. */
		return strcmp(string_at(e->row, "engine"), engine) ? NULL : e;
	}
	e = new_entry(&s->methods, key);
	put_text(e, "service", text_printf("%s", string_at(series, "service")));
	put_text(e, "method", text_printf("%s", string_at(series, "method")));
	put_text(e, "role", text_printf("%s", side));
	put_text(e, "engine", text_printf("%s", engine));
	return e;
}

static void take_methods(struct sample *s, const char *engine)
{
	struct json_object *array = ask_series(engine, 0), *series;
	const char *name;
	struct entry *e;
	uint64_t count;
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		series = json_object_array_get_idx(array, i);
		name = string_at(series, "name") ?: "";
		e = method_entry(s, series, engine);
		if (!e)
			continue;
		if (!strcmp(name, "total")) {
			add_hist(e, series);
		} else if (!strcmp(name, "request")) {	/* each call has one */
			count = series_count(series);
			e->calls += count;
			if (strcmp(string_at(series, "status") ?: "", "OK"))
				e->errors += count;
		}
		if (!strcmp(string_at(series, "unit") ?: "", "bytes"))
			e->bytes += number_at(series, "sum");
	}
	json_object_put(array);
}

/* -- all --------------------------------------------------------------------------------------- */

static void take_engines(struct sample *s)
{
	struct json_object *engines = engine_array(), *engine;
	const char *name;
	size_t i;

	s->engines = json_object_array_length(engines);
	for (i = 0; i < s->engines; i++) {
		engine = json_object_array_get_idx(engines, i);
		name = string_at(engine, "name");
		s->bypassed += number_at(engine, "bypassed");
		if (strcmp(string_at(engine, "type") ?: "", "metrics"))
			continue;
		take_methods(s, name);
		if (number_at(engine, "values.per_connection.num"))
			time_conns(s, name);
	}
	json_object_put(engines);
}

/* What there is now; does not return if the kernel cannot be asked. */
struct sample *sample_take(void)
{
	struct json_object *sessions = ask_all(MRPC_CMD_SESSION_GET, &set_session, NULL);
	struct sample *s = calloc(1, sizeof(*s));

	if (!s)
		fail("out of memory");
	s->sessions = json_object_array_length(sessions);
	json_object_put(sessions);
	take_conns(s);
	s->at = clock_ns();
	take_engines(s);
	sort_entries(&s->conns);
	sort_entries(&s->methods);
	return s;
}

void sample_free(struct sample *s)
{
	if (!s)
		return;
	free_entries(&s->conns);
	free_entries(&s->methods);
	free(s);
}
