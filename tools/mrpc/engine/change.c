// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of engines: at once, or step by step while it watches the latencies. It takes a change
 * back if they get worse or the operator interrupts it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "engine/change.h"
#include "engine/latency.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/print.h"
#include "show/values.h"

static uint32_t need_percent(struct args *args)
{
	const char *word = need_word(args, "the share after '--step'");
	uint64_t value;
	char *why;

	if (!parse_value(word, "%", &value, &why) || !value || value > 100)
		usage("'%s' is not a share: it must be 1%% to 100%%", word);
	return value;
}

/**
 * change_option() - parse an option of gradual changes
 * @c: receives the option
 * @args: the words; those of the option are taken
 *
 * Return: false if the next word is not such an option.
 */
bool change_option(struct change *c, struct args *args)
{
	const char *word = peek_word(args);

	if (!word)
		return false;
	if (!strcmp(word, "--step")) {
		next_word(args);
		c->step = need_percent(args);
	} else if (!strcmp(word, "--every")) {
		next_word(args);
		c->every = need_time(args, "the time after '--every'");
	} else if (!strcmp(word, "--abort-if")) {
		next_word(args);
		c->abort_if = need_word(args, "the rule after '--abort-if'");
	} else {
		return false;
	}
	return true;
}

/* -- what a request did --------------------------------------------------------- */

static void print_pauses(struct json_object *change)
{
	char *p50, *p99, *max;

	if (!json_at(change, "pause_max_ns"))
		return;
	p50 = text_time(number_at(change, "pause_p50_ns"));
	p99 = text_time(number_at(change, "pause_p99_ns"));
	max = text_time(number_at(change, "pause_max_ns"));
	printf(", each paused for %s (p99 %s, at most %s)", p50, p99, max);
	free(p50);
	free(p99);
	free(max);
}

static void print_change(const char *what, struct json_object *reply)
{
	struct json_object *change = json_at(reply, "change");
	unsigned int matched = number_at(change, "matched");
	unsigned int changed = number_at(change, "changed");
	unsigned int leaked = number_at(change, "leaked");
	char *duration = text_time(number_at(change, "duration_ns"));

	printf("%s %s", string_at(reply, "name"), what);
	if (string_at(reply, "type"))
		printf(" (%s@%s)", string_at(reply, "type"), string_at(reply, "version"));
	if (!matched) {
		puts(": no datapath is in its scope now");
	} else {
		printf(": %u of %u datapaths changed in %s", changed, matched, duration);
		print_pauses(change);
		putchar('\n');
	}
	if (leaked)
		printf("%s: %u messages were found again that the engine had lost\n",
		       string_at(reply, "name"), leaked);
	free(duration);
}

/* Reports a request that failed half-way: first what is known of it, then the reason. */
static void complain(const struct change *c, const struct answer *a)
{
	struct json_object *change = NULL;

	if (json_object_array_length(a->array))
		change = json_at(json_object_array_get_idx(a->array, 0), "change");
	if (!change || !json_at(change, "failed")) {
		fprintf(stderr, "mrpc: %s\n", a->why);
		return;
	}
	fprintf(stderr, "mrpc: '%s' failed at datapath %s: %s; %s\n", c->name,
		string_at(change, "failed"), a->why,
		json_at(change, "rolled_back") ? "all datapaths are as they were before" :
		"some datapaths could not be changed back");
}

/* Makes one request. Return: the kernel's reply, or NULL: the reason has been printed. */
static struct json_object *request(const struct change *c, int cmd, const struct body *body)
{
	struct answer a = ask(cmd, false, &set_engine, body);
	struct json_object *reply = NULL;

	if (a.err)
		complain(c, &a);
	else
		reply = json_object_get(json_object_array_get_idx(a.array, 0));
	free(a.why);
	json_object_put(a.array);
	return reply;
}

static int change_at_once(struct change *c)
{
	struct json_object *reply = request(c, c->cmd, &c->body);

	if (!reply)
		return EXIT_FAILED;
	if (options.json)
		print_json(reply);
	else
		print_change(c->what, reply);
	json_object_put(reply);
	return 0;
}

/* -- step by step ------------------------------------------------------------------ */

static struct json_object *step_to(const struct change *c, uint32_t percent)
{
	struct body body = { };
	struct json_object *reply;

	body_text(&body, MRPC_A_ENGINE_NAME, c->name);
	body_u32(&body, MRPC_A_ENGINE_PERCENT, percent);
	reply = request(c, MRPC_CMD_ENGINE_STEP, &body);
	body_free(&body);
	return reply;
}

/* The reply to the first request has already printed the name and the type. */
static void print_step(uint32_t percent, struct json_object *reply, struct latency *l)
{
	struct json_object *change = json_at(reply, "change");
	char *seen = l ? latency_text(l) : NULL;

	if (options.json) {
		if (seen)
			json_object_object_add(reply, "latency", json_object_new_string(seen));
		print_json(reply);
	} else {
		printf("%s: %u%%: %s of %s datapaths changed", string_at(reply, "name"), percent,
		       string_at(change, "changed"), string_at(change, "matched"));
		print_pauses(change);
		printf("%s%s\n", seen ? "; before: " : "", seen ?: "");
	}
	fflush(stdout);
	free(seen);
}

static int take_back(const struct change *c, const char *why)
{
	struct json_object *reply;

	fprintf(stderr, "mrpc: %s: %s; taking the change back\n", c->name, why);
	reply = step_to(c, 0);
	if (!reply)
		fail("'%s' could not be changed back; 'mrpc engine step %s 0' tries again",
		     c->name, c->name);
	if (options.json)
		print_json(reply);
	else
		print_change("is as before", reply);
	json_object_put(reply);
	return EXIT_FAILED;
}

/*
 * At 100 % the change cannot be taken back. So a judged change stops at 99 % first.
 */
static uint32_t next_percent(uint32_t percent, uint32_t step, bool judged)
{
	uint32_t last = judged && percent < 99 ? 99 : 100;

	return percent + step > last ? last : percent + step;
}

static int change_gradually(struct change *c, struct latency *l)
{
	uint32_t percent = next_percent(0, c->step, l);
	struct json_object *reply;
	char *why;

	body_u32(&c->body, MRPC_A_ENGINE_PERCENT, percent);
	reply = request(c, c->cmd, &c->body);
	if (!reply)
		return EXIT_FAILED;
	for (;;) {
		if (l)
			latency_step(l);
		print_step(percent, reply, l);
		json_object_put(reply);
		if (percent == 100)
			return 0;
		if (!interrupt_wait(c->every))
			return take_back(c, "interrupted");
		why = l ? latency_judge(l) : NULL;
		if (why)
			return take_back(c, why);
		percent = next_percent(percent, c->step, l);
		reply = step_to(c, percent);
		if (!reply)
			return take_back(c, "a step failed");
	}
}

/**
 * change_run() - make a change, and print what it did
 * @c: the change
 *
 * Return: exit status.
 */
int change_run(struct change *c)
{
	struct latency *l = NULL;
	char *why;

	if (!c->step) {
		if (c->every || c->abort_if)
			usage("'%s' needs '--step', as in '--step 10%%'",
			      c->every ? "--every" : "--abort-if");
		return change_at_once(c);
	}
	if (!c->every)
		c->every = 1000000000;
	interrupt_catch();
	if (c->abort_if) {
		l = latency_open(c->abort_if, c->scope);
		/* Measures the usual latencies for as long as a step lasts. */
		if (!interrupt_wait(c->every))
			fail("interrupted before anything was changed");
		why = latency_begin(l);
		if (why)
			fail("%s; nothing was changed", why);
	}
	return change_gradually(c, l);
}
