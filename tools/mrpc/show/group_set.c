// SPDX-License-Identifier: GPL-2.0
/* Changing the strategy of a group. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>
#include <linux/mrpc.h>
#include <linux/mrpc_netlink.h>

#include "cli/clock.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/group_set.h"
#include "show/json.h"
#include "show/print.h"
#include "show/topology.h"
#include "show/values.h"

#define LOOK	10000000ULL	/* ns between two looks at a change */
#define LIMIT	10000000000ULL	/* ns that a change may take, unless the operator says it */

/**
 * struct wish - what the operator wants
 * @session: number of the session
 * @id: the group in that session
 * @order: the rank at each place
 * @nr: ranks in it; 0: the order stays
 * @choices: attributes
 * @limit: ns that the change may take
 */
struct wish {
	uint32_t session;
	uint32_t id;
	uint32_t order[MRPC_GROUP_RANKS];
	uint32_t nr;
	struct body choices;
	uint64_t limit;
};

static struct body group_body(const struct wish *w)
{
	struct body body = { };

	body_u32(&body, MRPC_A_GROUP_SESSION, w->session);
	body_u32(&body, MRPC_A_GROUP_ID, w->id);
	return body;
}

static struct json_object *get_group(const struct wish *w)
{
	struct body body = group_body(w);
	struct json_object *group = ask_object(MRPC_CMD_GROUP_GET, &set_group, &body);

	body_free(&body);
	return group;
}

/* -- words -------------------------------------------------------------------------------- */

static void order_add(struct wish *w, uint32_t rank)
{
	if (w->nr == MRPC_GROUP_RANKS)
		usage("a group has at most %u ranks", MRPC_GROUP_RANKS);
	w->order[w->nr++] = rank;
}

/* "2,0,1,3" */
static void parse_order(struct wish *w, const char *text)
{
	const char *at = text;
	unsigned long rank;
	char *end;

	do {
		rank = strtoul(at, &end, 10);
		if (*at < '0' || *at > '9' || (*end && *end != ',') || rank > UINT32_MAX)
			usage("'%s' is no order: it must be ranks with commas between, as 2,0,1, or 'default'",
			      text);
		order_add(w, rank);
		at = end + 1;
	} while (*end);
}

/* The ranks in the order of their numbers, or of their places in a file. */
static void order_of_group(struct wish *w, const char *file)
{
	struct json_object *group = get_group(w);
	uint32_t ranks = number_at(group, "ranks"), rank;

	if (file)
		topology_order(file, group, w->order);
	for (rank = 0; !file && rank < ranks; rank++)
		w->order[rank] = rank;
	w->nr = ranks;
	json_object_put(group);
}

static uint32_t find_name(const char *const *names, const char *text, const char *what)
{
	uint32_t i;

	for (i = 0; names[i]; i++)
		if (!strcasecmp(names[i], text))
			return i;
	usage("'%s' is not %s", text, what);
}

static void add_choice(struct wish *w, struct args *args)
{
	const char *collective = need_word(args, "the collective after 'algorithm'");
	const char *algorithm = need_word(args, "the algorithm of the collective");
	size_t nest = body_nest(&w->choices, MRPC_A_GROUP_STRATEGY_CHOICE);

	body_u32(&w->choices, MRPC_A_GROUP_CHOICE_COLLECTIVE,
		 find_name(group_collectives, collective, "a collective, as AllReduce"));
	body_u32(&w->choices, MRPC_A_GROUP_CHOICE_ALGORITHM,
		 find_name(group_algorithms, algorithm,
			   "an algorithm: ring, recursive, binomial, direct or chosen"));
	body_end(&w->choices, nest);
}

static void parse_wish(struct wish *w, struct args *args)
{
	static const struct word words[] = {
		{ "order" }, { "topology" }, { "algorithm" }, { "timeout" }, { }
	};
	const char *order;

	if (!peek_word(args))
		usage("say what is to change: order, topology or algorithm");
	while (peek_word(args)) {
		switch (find_word(words, next_word(args), "what a strategy has") - words) {
		case 0:
			if (w->nr)
				usage("the order is given twice");
			order = need_word(args, "the order");
			if (strcmp(order, "default"))
				parse_order(w, order);
			else
				order_of_group(w, NULL);
			break;
		case 1:
			if (w->nr)
				usage("the order is given twice");
			order_of_group(w, need_word(args, "the file after 'topology'"));
			break;
		case 2:
			add_choice(w, args);
			break;
		default:
			w->limit = need_time(args, "the time after 'timeout'");
		}
	}
}

/* -- the change --------------------------------------------------------------------------- */

/* Asks for it. Return: its version; @rank: that of the session. */
static uint64_t ask_change(const struct wish *w, uint64_t *rank)
{
	struct body body = group_body(w);
	size_t nest = body_nest(&body, MRPC_A_GROUP_STRATEGY);
	struct json_object *reply;
	uint64_t version;

	if (w->nr)
		body_put(&body, MRPC_A_GROUP_STRATEGY_ORDER, w->order, w->nr * sizeof(*w->order));
	body_append(&body, &w->choices);
	body_end(&body, nest);
	reply = ask_object(MRPC_CMD_GROUP_SET, &set_group, &body);
	version = number_at(reply, "strategy.version");
	*rank = number_at(reply, "rank");
	json_object_put(reply);
	body_free(&body);
	return version;
}

static void __attribute__((noreturn)) fail_late(struct json_object *group, uint64_t version)
{
	unsigned long long v = version;

	if (json_at(group, "status"))
		fail("the group has ended: %s", string_at(group, "detail") ?: "");
	if (json_at(group, "strategy.awaits"))
		fail("strategy %llu is not used yet: rank %s has not reported; it goes on", v,
		     string_at(group, "strategy.awaits"));
	fail("strategy %llu is not used yet: it is used after operation %s; it goes on", v,
	     string_at(group, "strategy.last"));
}

/* Waits until the strategy is used. Of two operators at once, one has to learn that it is not. */
static struct json_object *wait_change(const struct wish *w, uint64_t version, uint64_t rank)
{
	const struct timespec pause = { .tv_nsec = LOOK };
	uint64_t until = clock_ns() + w->limit;
	struct json_object *group = get_group(w);

	while (number_at(group, "strategy.version") < version) {
		if (json_at(group, "status") || clock_ns() >= until)
			fail_late(group, version);
		json_object_put(group);
		nanosleep(&pause, NULL);
		group = get_group(w);
	}
	if (number_at(group, "strategy.version") == version &&
	    number_at(group, "strategy.proposer") != rank)
		fail("the operator of rank %s has changed the strategy at the same time: strategy %llu is that one",
		     string_at(group, "strategy.proposer"), (unsigned long long)version);
	return group;
}

int group_set(struct args *args, uint32_t session, uint32_t id)
{
	struct wish w = { .session = session, .id = id, .limit = LIMIT };
	struct json_object *group;
	uint64_t version, rank;

	parse_wish(&w, args);
	version = ask_change(&w, &rank);
	group = wait_change(&w, version, rank);
	if (options.json)
		print_json(json_at(group, "strategy"));
	json_object_put(group);
	body_free(&w.choices);
	return 0;
}
