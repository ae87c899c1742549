// SPDX-License-Identifier: GPL-2.0
/* The last operations of ranks, as a table and as Chrome reads them. */
#include <stdint.h>
#include <time.h>

#include <json-c/json.h>

#include "cli/util.h"
#include "nl/sets.h"
#include "show/group_trace.h"
#include "show/json.h"
#include "show/print.h"

static char *trace_group(struct json_object *record)
{
	return text_printf("%llu:%llu", (unsigned long long)number_at(record, "session"),
			   (unsigned long long)number_at(record, "group"));
}

/* The time of day, to the microsecond. */
static char *trace_began(struct json_object *record)
{
	uint64_t ns = number_at(record, "began_ns");
	time_t s = ns / 1000000000;
	char text[16];

	strftime(text, sizeof(text), "%T", localtime(&s));
	return text_printf("%s.%06u", text, (unsigned int)(ns / 1000 % 1000000));
}

static char *trace_status(struct json_object *record)
{
	return text_printf("%s", string_at(record, "status") ?: "runs");
}

static const struct column trace_columns[] = {
	{ "GROUP", .text = trace_group },
	{ "RANK", "rank" },
	{ "NUMBER", "operation.number" },
	{ "COLLECTIVE", "operation.collective" },
	{ "ALGORITHM", "operation.algorithm" },
	{ "ELEM", "operation.elem" },
	{ "REDUCE", "operation.reduce", .stats = true },
	{ "ROOT", "operation.root", .stats = true },
	{ "PRIORITY", "operation.priority", .stats = true },
	{ "BYTES", "operation.bytes" },
	{ "TX-BYTES", "operation.tx_bytes" },
	{ "RX-BYTES", "operation.rx_bytes" },
	{ "TX-CHUNKS", "operation.tx_chunks", .stats = true },
	{ "RX-CHUNKS", "operation.rx_chunks", .stats = true },
	{ "BEGAN", .text = trace_began },
	{ "FIRST-SENT", "first_sent_ns" },
	{ "LAST-RECEIVED", "last_received_ns" },
	{ "DURATION", "duration_ns" },
	{ "STATUS", .text = trace_status },
	{ }
};

void group_trace_table(struct json_object *records)
{
	print_table(&set_group_trace, trace_columns, records);
}

/* -- Chrome ------------------------------------------------------------------------------ */

static uint64_t real_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Microseconds, as Chrome counts them. A double would lose some digits of a time of day. */
static struct json_object *microseconds(uint64_t ns)
{
	char *text = text_printf("%llu.%03u", (unsigned long long)(ns / 1000),
				 (unsigned int)(ns % 1000));

	return json_object_new_double_s(ns / 1e3, text);
}

/* One that runs has lasted until now. */
static struct json_object *chrome_event(struct json_object *record, uint64_t now)
{
	uint64_t began = number_at(record, "began_ns"), duration = number_at(record, "duration_ns");
	struct json_object *event = json_object_new_object();

	if (!json_at(record, "duration_ns"))
		duration = now > began ? now - began : 0;
	json_object_object_add(event, "name",
			       json_object_get(json_at(record, "operation.collective")));
	json_object_object_add(event, "cat", json_object_new_string("mrpc"));
	json_object_object_add(event, "ph", json_object_new_string("X"));
	json_object_object_add(event, "ts", microseconds(began));
	json_object_object_add(event, "dur", microseconds(duration));
	json_object_object_add(event, "pid", json_object_get(json_at(record, "session")));
	json_object_object_add(event, "tid", json_object_get(json_at(record, "rank")));
	json_object_object_add(event, "args", json_object_get(record));
	return event;
}

/**
 * group_trace_chrome() - what Chrome's viewer of traces, and Perfetto, load
 * @records: operations
 *
 * Return: an array of complete events ("X"): the process is the session, the thread the rank.
 */
struct json_object *group_trace_chrome(struct json_object *records)
{
	struct json_object *events = json_object_new_array();
	uint64_t now = real_ns();
	size_t i;

	for (i = 0; i < json_object_array_length(records); i++)
		json_object_array_add(events,
				      chrome_event(json_object_array_get_idx(records, i), now));
	return events;
}
