// SPDX-License-Identifier: GPL-2.0
/* Connections: showing and ending them. */
#include <string.h>
#include <time.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/clock.h"
#include "cli/help.h"
#include "cli/util.h"
#include "cli/words.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/conn.h"
#include "show/json.h"
#include "show/objects.h"
#include "show/values.h"

#define LOOK	20000000ULL	/* ns between two looks at a connection that drains */

static int conn_show(struct args *args)
{
	return show_object("conn", args, false);
}

static int conn_dump(struct args *args)
{
	return show_object("conn", args, true);
}

/* "session NUMBER id NUMBER" */
static struct body need_conn(struct args *args)
{
	static const struct word words[] = { { "session" }, { "id" }, { } };
	uint32_t numbers[2] = { };
	struct body body = { };
	int i, at;

	for (i = 0; i < 2; i++) {
		at = find_word(words, need_word(args, "'session NUMBER id NUMBER'"),
			       "part of 'session NUMBER id NUMBER'") - words;
		if (numbers[at])
			usage("'%s' is given twice", words[at].name);
		numbers[at] = need_id(args, words[at].name);
	}
	body_u32(&body, MRPC_A_CONN_SESSION, numbers[0]);
	body_u32(&body, MRPC_A_CONN_ID, numbers[1]);
	return body;
}

static int conn_del(struct args *args)
{
	struct body body = need_conn(args);

	no_more_words(args);
	json_object_put(ask_one(MRPC_CMD_CONN_DEL, &set_conn, &body));
	body_free(&body);
	return 0;
}

/* Calls in flight. A connection that has ended has none, and need not be there. */
static uint64_t calls_left(const struct body *body)
{
	struct answer a = ask(MRPC_CMD_CONN_GET, false, &set_conn, body);
	struct json_object *conn = json_object_array_get_idx(a.array, 0);
	uint64_t left = 0;

	if (conn && strcmp(string_at(conn, "state") ?: "", "closed"))
		left = number_at(conn, "calls_active");
	json_object_put(a.array);
	return left;
}

/* Its calls finish, and then it ends; at the latest when the time is over. */
static int conn_drain(struct args *args)
{
	static const struct word words[] = { { "timeout" }, { } };
	const struct timespec pause = { .tv_nsec = LOOK };
	struct body body = need_conn(args);
	uint64_t until = clock_ns(), left;
	const char *word = next_word(args);

	if (word)
		find_word(words, word, "an option");
	until += word ? need_time(args, "the time after 'timeout'") : 5000000000ULL;
	no_more_words(args);
	json_object_put(ask_one(MRPC_CMD_CONN_DRAIN, &set_conn, &body));
	while ((left = calls_left(&body)) && clock_ns() < until)
		nanosleep(&pause, NULL);
	ask(MRPC_CMD_CONN_DEL, false, &set_conn, &body);	/* the peer may have ended it */
	if (left)
		fail("%llu calls were in flight when the time was over; the connection was ended",
		     (unsigned long long)left);
	body_free(&body);
	return 0;
}

int do_conn(struct args *args)
{
	static const struct word commands[] = {
		{ "show", conn_show, "list" },
		{ "dump", conn_dump },
		{ "del", conn_del, "delete" },
		{ "drain", conn_drain },
		{ "help" },
		{ }
	};

	return run_command(args, "conn", commands, "show");
}
