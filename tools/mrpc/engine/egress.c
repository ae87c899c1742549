// SPDX-License-Identifier: GPL-2.0
/* Egress domains: which of the datapaths that leave by one device sends next. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>
#include <linux/mrpc_policy.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "engine/egress.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/print.h"
#include "show/values.h"

/**
 * domain_words() - a domain as the command line takes it
 * @dev: its device, "": loop links
 *
 * Return: "dev NAME" or "loop", to be freed.
 */
char *domain_words(const char *dev)
{
	return *dev ? text_printf("dev %s", dev) : text_printf("loop");
}

/* The domain of @dev, or NULL. */
struct json_object *domain_find(struct json_object *array, const char *dev)
{
	struct json_object *domain;
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		domain = json_object_array_get_idx(array, i);
		if (!strcmp(string_at(domain, "dev") ?: "", dev))
			return domain;
	}
	return NULL;
}

/* -- show --------------------------------------------------------------------------- */

static char *dev_text(struct json_object *domain)
{
	const char *dev = string_at(domain, "dev");

	return text_printf("%s", dev && *dev ? dev : "(loop)");
}

static char *rate_text(struct json_object *domain)
{
	uint64_t rate = number_at(domain, "rate");
	char *bytes, *text;

	if (!rate)
		return text_printf("unlimited");
	bytes = text_value(rate, "bytes");
	text = text_printf("%s/s", bytes);
	free(bytes);
	return text;
}

static const struct column columns[] = {
	{ "DEV", .text = dev_text },
	{ "DISCIPLINE", "discipline" },
	{ "FAIR", "fair" },
	{ "PAUSED", "paused" },
	{ "CHUNK", "chunk" },
	{ "LIMIT", "limit" },
	{ "RATE", .text = rate_text },
	{ "DATAPATHS", "datapaths" },
	{ "TENANTS", "tenants" },
	{ "WAITING", "waiting" },
	{ "OUT", "out" },
	{ "SENT", "sent" },
	{ "GRANTS", "grants", .stats = true },
	{ "EXPIRED", "expired", .stats = true },
	{ "WASTED", "wasted", .stats = true },
	{ }
};

static const struct column queue_columns[] = {
	{ "POSITION", "position" },
	{ "DATAPATH", "datapath" },
	{ "SESSION", "session" },
	{ "CONN", "conn" },
	{ "TENANT", "tenant" },
	{ "WEIGHT", "weight" },
	{ "STATE", "state" },
	{ "PRIORITY", "priority" },
	{ "LEFT", "left" },
	{ "CREDIT", "credit" },
	{ "BELOW", "below" },
	{ "SENT", "sent" },
	{ "GRANTS", "grants", .stats = true },
	{ "AHEAD", "ahead", .stats = true },
	{ }
};

/* Which domain is meant: "loop", or "dev NAME". */
static void need_dev(struct args *args, struct body *body, int attr)
{
	static const struct word words[] = { { "dev" }, { "loop" }, { } };
	const char *word = need_word(args, "'dev NAME' or 'loop'");

	if (!strcmp(find_word(words, word, "a domain")->name, "dev"))
		body_text(body, attr, need_word(args, "the name of the device"));
	else
		body_text(body, attr, "");
}

static void show(const struct set *set, const struct column *what, struct json_object *array)
{
	if (options.json)
		print_json(array);
	else
		print_table(set, what, array);
	json_object_put(array);
}

static int run_show(struct args *args)
{
	struct body body = { };
	bool one = peek_word(args);

	if (one)
		need_dev(args, &body, MRPC_A_EGRESS_DEV);
	no_more_words(args);
	show(&set_egress, columns, one ? ask_one(MRPC_CMD_EGRESS_GET, &set_egress, &body) :
	     ask_all(MRPC_CMD_EGRESS_GET, &set_egress, &body));
	body_free(&body);
	return 0;
}

static int run_dump(struct args *args)
{
	struct body body = { };

	need_dev(args, &body, MRPC_A_EGRESS_QUEUE_DEV);
	no_more_words(args);
	show(&set_egress_queue, queue_columns,
	     ask_all(MRPC_CMD_EGRESS_QUEUE_GET, &set_egress_queue, &body));
	body_free(&body);
	return 0;
}

/* -- set, del, pause and resume --------------------------------------------------------- */

static void put_fair(struct body *b, const char *word)
{
	static const struct word words[] = { { "off", NULL, "no" }, { "on", NULL, "yes" }, { } };

	body_u8(b, MRPC_A_EGRESS_FAIR, find_word(words, word, "on or off") - words);
}

static uint64_t need_bytes(const char *name, const char *word)
{
	uint64_t bytes;
	char *why;

	if (!parse_value(word, "bytes", &bytes, &why))
		usage("%s: %s", name, why);
	return bytes;
}

static void put_bytes(struct body *b, int attr, const char *name, const char *word)
{
	uint64_t bytes = need_bytes(name, word);

	if (bytes > UINT32_MAX)
		usage("%s: '%s' is more than 4GiB", name, word);
	body_u32(b, attr, bytes);
}

static void put_rate(struct body *b, const char *word)
{
	uint64_t rate = need_bytes("rate", word);

	body_u64(b, MRPC_A_EGRESS_RATE, rate == UINT64_MAX ? 0 : rate);
}

static void put_discipline(struct body *b, const char *name)
{
	if (strlen(name) >= MRPC_POLICY_NAME)
		usage("'%s' is no name of a discipline: it must be at most %d characters", name,
		      MRPC_POLICY_NAME - 1);
	body_text(b, MRPC_A_EGRESS_DISCIPLINE, name);
}

static int run_set(struct args *args)
{
	static const struct word words[] = {
		{ "discipline" }, { "fair" }, { "chunk" }, { "limit" }, { "rate" }, { }
	};
	const char *word, *name, *value;
	struct body body = { };

	need_dev(args, &body, MRPC_A_EGRESS_DEV);
	while ((word = next_word(args))) {
		name = find_word(words, word, "a setting")->name;
		value = need_word(args, text_printf("a value after '%s'", name));
		if (!strcmp(name, "discipline"))
			put_discipline(&body, value);
		else if (!strcmp(name, "fair"))
			put_fair(&body, value);
		else if (!strcmp(name, "rate"))
			put_rate(&body, value);
		else
			put_bytes(&body, !strcmp(name, "chunk") ? MRPC_A_EGRESS_CHUNK :
				  MRPC_A_EGRESS_LIMIT, name, value);
	}
	json_object_put(ask_one(MRPC_CMD_EGRESS_SET, &set_egress, &body));
	body_free(&body);
	return 0;
}

static int run_del(struct args *args)
{
	struct body body = { };

	need_dev(args, &body, MRPC_A_EGRESS_DEV);
	no_more_words(args);
	json_object_put(ask_one(MRPC_CMD_EGRESS_DEL, &set_egress, &body));
	body_free(&body);
	return 0;
}

/* One that is not there is not made for this. */
static int hold(struct args *args, bool paused)
{
	struct body body = { };

	need_dev(args, &body, MRPC_A_EGRESS_DEV);
	no_more_words(args);
	json_object_put(ask_one(MRPC_CMD_EGRESS_GET, &set_egress, &body));
	body_u8(&body, MRPC_A_EGRESS_PAUSED, paused);
	json_object_put(ask_one(MRPC_CMD_EGRESS_SET, &set_egress, &body));
	body_free(&body);
	return 0;
}

static int run_pause(struct args *args)
{
	return hold(args, true);
}

static int run_resume(struct args *args)
{
	return hold(args, false);
}

int do_egress(struct args *args)
{
	static const struct word commands[] = {
		{ "show", run_show, "list" },
		{ "set", run_set },
		{ "del", run_del },
		{ "pause", run_pause },
		{ "resume", run_resume },
		{ "dump", run_dump },
		{ "help" },
		{ }
	};

	return run_command(args, "egress", commands, "show");
}
