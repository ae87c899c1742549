// SPDX-License-Identifier: GPL-2.0
/* mrpc plan: what takes changes of egress domains back. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/util.h"
#include "engine/egress.h"
#include "plan/egress.h"
#include "plan/file.h"
#include "plan/run.h"
#include "plan/words.h"
#include "show/json.h"

/* The device of the domain that a command is about, "" for loop links; or NULL and why. */
static const char *domain_dev(const struct command *run, char **why)
{
	if (!strcmp(run->words[2], "loop"))
		return "";
	if (!strcmp(run->words[2], "dev") && run->nr > 3)
		return run->words[3];
	*why = text_printf("'%s' names no egress domain in full: it must be 'dev NAME' or 'loop'",
			   run->words[2]);
	return NULL;
}

static struct command on_domain(const char *what, const char *dev)
{
	return *dev ? command("egress", what, "dev", dev, NULL) :
		      command("egress", what, "loop", NULL);
}

static bool add_domain_setting(struct command *c, struct json_object *domain, const char *name,
			       char **why)
{
	static const char *const names[] = { "discipline", "fair", "chunk", "limit", "rate" };
	bool fair = json_object_get_boolean(json_at(domain, "fair"));
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i], name))
			continue;
		words_add(c, name);
		words_add(c, strcmp(name, "fair") ? string_at(domain, name) : fair ? "on" : "off");
		return true;
	}
	*why = text_printf("'%s' is no setting of an egress domain, in full", name);
	return false;
}

/* The settings that the command gives, as they are now. */
static struct command undo_domain_set(const struct command *run, struct json_object *domain,
				      const char *dev, char **why)
{
	struct command c = on_domain("set", dev);
	int i;

	for (i = *dev ? 4 : 3; i + 1 < run->nr; i += 2)
		if (!add_domain_setting(&c, domain, run->words[i], why))
			break;
	return c;
}

static struct command undo_domain_del(struct json_object *domain, const char *dev, char **why)
{
	struct command c = on_domain("set", dev);

	add_domain_setting(&c, domain, "discipline", why);
	add_domain_setting(&c, domain, "fair", why);
	add_domain_setting(&c, domain, "chunk", why);
	add_domain_setting(&c, domain, "limit", why);
	add_domain_setting(&c, domain, "rate", why);
	if (json_object_get_boolean(json_at(domain, "paused")))
		*why = text_printf("the egress domain is paused, and one that is made is not");
	return c;
}

static struct command undo_domain_hold(const struct command *run, struct json_object *domain,
				       const char *dev)
{
	bool pause = !strcmp(run->words[1], "pause");

	if (json_object_get_boolean(json_at(domain, "paused")) == pause)
		return (struct command) { };
	return on_domain(pause ? "resume" : "pause", dev);
}

/**
 * undo_egress() - what takes a change of an egress domain back
 * @h: where
 * @run: the change
 * @inverse: how
 * @why: out: it cannot be taken back
 */
struct command undo_egress(const struct host *h, const struct command *run, enum inverse inverse,
			   char **why)
{
	struct command show = command("egress", "show", NULL), c = { };
	const char *dev = domain_dev(run, why);
	struct json_object *array = dev ? host_ask(h, &show, why) : NULL, *domain;
	char *words;

	if (!array)
		return c;
	domain = domain_find(array, dev);
	if (!domain && inverse == INVERSE_EGRESS_SET) {
		c = on_domain("del", dev);
	} else if (!domain) {
		words = domain_words(dev);
		*why = text_printf("there is no egress domain '%s'", words);
		free(words);
	} else if (inverse == INVERSE_EGRESS_SET) {
		c = undo_domain_set(run, domain, dev, why);
	} else if (inverse == INVERSE_EGRESS_DEL) {
		c = undo_domain_del(domain, dev, why);
	} else {
		c = undo_domain_hold(run, domain, dev);
	}
	json_object_put(array);
	return c;
}

/* What a change of an egress domain changes; empty if it is not there. */
struct json_object *egress_state(const struct host *h, const struct command *run)
{
	static const char *const keys[] = {
		"dev", "discipline", "fair", "paused", "chunk", "limit", "rate", NULL
	};
	struct command show = command("egress", "show", NULL);
	char *why = NULL;
	const char *dev = domain_dev(run, &why);
	struct json_object *array = dev ? host_ask(h, &show, &why) : NULL, *state;

	state = json_part(array ? domain_find(array, dev) : NULL, keys);
	json_object_put(array);
	free(why);
	return state;
}
