// SPDX-License-Identifier: GPL-2.0
/* mrpc top: differences between two samples: a line for each connection, service or method. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/util.h"
#include "show/json.h"
#include "top/rates.h"
#include "top/sample.h"

static double per_second(uint64_t from, uint64_t to, double seconds)
{
	return to > from && seconds > 0 ? (to - from) / seconds : 0;
}

static void put_double(struct json_object *row, const char *key, double value)
{
	json_object_object_add(row, key, json_object_new_double(value));
}

static void put_number(struct json_object *row, const char *key, uint64_t value)
{
	json_object_object_add(row, key, json_object_new_uint64(value));
}

/* Adds what @to has more than @from, which may be NULL. */
static void hist_since(struct mrpc_hist *since, const struct mrpc_hist *from,
		       const struct mrpc_hist *to)
{
	int i;

	for (i = 0; i < MRPC_HIST_BUCKETS; i++)
		since->count[i] += to->count[i] - (from ? from->count[i] : 0);
	if (to->max > since->max)
		since->max = to->max;
}

/* Adds nothing if there were no calls. */
static void put_quantiles(struct json_object *row, const struct mrpc_hist *hist)
{
	if (!mrpc_hist_total(hist))
		return;
	put_number(row, "p50_ns", mrpc_hist_quantile(hist, 500000));
	put_number(row, "p99_ns", mrpc_hist_quantile(hist, 990000));
}

/* An entry with its rates. An entry without @before began in between. */
static struct json_object *rated(const struct entry *before, const struct entry *e,
				 double seconds)
{
	static const struct entry nothing;
	const struct entry *b = before ?: &nothing;
	struct json_object *row = NULL;
	struct mrpc_hist hist = { };

	if (json_object_deep_copy(e->row, &row, NULL))
		fail("out of memory");
	put_double(row, "calls_s", per_second(b->calls, e->calls, seconds));
	put_double(row, "errors_s", per_second(b->errors, e->errors, seconds));
	put_double(row, "bytes_s", per_second(b->bytes, e->bytes, seconds));
	if (e->hist) {
		hist_since(&hist, b->hist, e->hist);
		put_quantiles(row, &hist);
	}
	return row;
}

static double seconds_between(const struct sample *from, const struct sample *to)
{
	return (to->at - from->at) / 1e9;
}

static struct json_object *rated_entries(const struct entries *from, const struct entries *to,
					 double seconds)
{
	struct json_object *rows = json_object_new_array();
	size_t i;

	for (i = 0; i < to->nr; i++)
		json_object_array_add(rows, rated(entries_find(from, to->entry[i].key),
						  &to->entry[i], seconds));
	return rows;
}

/* -- services ---------------------------------------------------------------------------- */

static struct json_object *find_service(struct json_object *services, struct json_object *conn)
{
	struct json_object *service;
	size_t i;

	for (i = 0; i < json_object_array_length(services); i++) {
		service = json_object_array_get_idx(services, i);
		if (!strcmp(string_at(service, "service"), string_at(conn, "service")) &&
		    !strcmp(string_at(service, "role"), string_at(conn, "role")))
			return service;
	}
	service = json_object_new_object();
	json_object_object_add(service, "service", json_object_get(json_at(conn, "service")));
	json_object_object_add(service, "role", json_object_get(json_at(conn, "role")));
	json_object_array_add(services, service);
	return service;
}

/* Adds the values of a connection to those of its service. */
static void add_conn(struct json_object *service, struct json_object *conn)
{
	static const char *const rates[] = { "calls_s", "errors_s", "bytes_s" };
	uint64_t oldest = number_at(conn, "oldest_ns");
	size_t i;

	put_number(service, "conns", number_at(service, "conns") + 1);
	put_number(service, "active", number_at(service, "active") + number_at(conn, "active"));
	put_number(service, "queued", number_at(service, "queued") + number_at(conn, "queued"));
	if (oldest >= number_at(service, "oldest_ns"))
		put_number(service, "oldest_ns", oldest);
	for (i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		put_double(service, rates[i],
			   json_object_get_double(json_at(service, rates[i])) +
			   json_object_get_double(json_at(conn, rates[i])));
}

/* Adds times from the methods of a service at one side; NULL for any service. */
static void put_times(struct json_object *row, const char *service, const char *role,
		      const struct sample *from, const struct sample *to)
{
	struct mrpc_hist hist = { };
	size_t i;

	for (i = 0; i < to->methods.nr; i++) {
		const struct entry *e = &to->methods.entry[i], *before;

		if (!e->hist || strcmp(string_at(e->row, "role"), role) ||
		    (service && strcmp(string_at(e->row, "service"), service)))
			continue;
		before = entries_find(&from->methods, e->key);
		hist_since(&hist, before ? before->hist : NULL, e->hist);
	}
	put_quantiles(row, &hist);
}

static struct json_object *service_rows(const struct sample *from, const struct sample *to)
{
	struct json_object *conns = rated_entries(&from->conns, &to->conns,
						  seconds_between(from, to));
	struct json_object *services = json_object_new_array(), *row;
	size_t i;

	for (i = 0; i < json_object_array_length(conns); i++) {
		row = json_object_array_get_idx(conns, i);
		add_conn(find_service(services, row), row);
	}
	for (i = 0; i < json_object_array_length(services); i++) {
		row = json_object_array_get_idx(services, i);
		put_times(row, string_at(row, "service"), string_at(row, "role"), from, to);
	}
	json_object_put(conns);
	return services;
}

/**
 * rates_rows() - make the rows of a view
 * @from: the earlier sample
 * @to: the later sample
 * @view: kind of the rows
 *
 * Return: an array; rows that no engine measures have no times.
 */
struct json_object *rates_rows(const struct sample *from, const struct sample *to, enum view view)
{
	double seconds = seconds_between(from, to);

	if (view == VIEW_CONNS)
		return rated_entries(&from->conns, &to->conns, seconds);
	if (view == VIEW_METHODS)
		return rated_entries(&from->methods, &to->methods, seconds);
	return service_rows(from, to);
}

/**
 * rates_sums() - make the sums of all rows
 * @from: the earlier sample
 * @to: the later sample
 *
 * Return: an object, with "client" and "server", for calls that go out and come in.
 */
struct json_object *rates_sums(const struct sample *from, const struct sample *to)
{
	struct json_object *services = service_rows(from, to), *sums = json_object_new_object();
	struct json_object *row, *side;
	static const char *const sides[] = { "client", "server" };
	size_t i, j;

	put_number(sums, "sessions", to->sessions);
	put_number(sums, "datapaths", to->conns.nr);
	put_number(sums, "engines", to->engines);
	put_number(sums, "bypassed", to->bypassed);
	for (i = 0; i < 2; i++) {
		side = json_object_new_object();
		for (j = 0; j < json_object_array_length(services); j++) {
			row = json_object_array_get_idx(services, j);
			if (!strcmp(string_at(row, "role"), sides[i]))
				add_conn(side, row);
		}
		json_object_object_del(side, "conns");
		put_times(side, NULL, sides[i], from, to);
		json_object_object_add(sums, sides[i], side);
	}
	json_object_put(services);
	return sums;
}
