// SPDX-License-Identifier: GPL-2.0
/*
 * Egress domains in a configuration: 'config save' and 'config restore'. A pause is not a
 * setting, for domains as for queues: no operator wants a pause back after a boot.
 */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/options.h"
#include "cli/util.h"
#include "engine/egress.h"
#include "engine/egress_config.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"

static const char *const settings[] = {
	"dev", "discipline", "fair", "chunk", "limit", "rate"
};

#define NR_SETTINGS	(sizeof(settings) / sizeof(*settings))

static struct json_object *saved_domain(struct json_object *domain)
{
	struct json_object *saved = json_object_new_object();
	size_t i;

	for (i = 0; i < NR_SETTINGS; i++)
		json_object_object_add(saved, settings[i],
				       json_object_get(json_at(domain, settings[i])));
	return saved;
}

/**
 * domains_saved() - get all egress domains with their settings, for a file
 *
 * Return: an array.
 */
struct json_object *domains_saved(void)
{
	struct json_object *now = ask_all(MRPC_CMD_EGRESS_GET, &set_egress, NULL);
	struct json_object *saved = json_object_new_array();
	size_t i;

	for (i = 0; i < json_object_array_length(now); i++)
		json_object_array_add(saved, saved_domain(json_object_array_get_idx(now, i)));
	json_object_put(now);
	return saved;
}

static void __attribute__((noreturn)) bad_setting(struct json_object *domain, const char *name)
{
	fail("the file has an egress domain whose \"%s\" is none: %s", name,
	     json_object_to_json_string(domain));
}

static uint64_t need_bytes(struct json_object *domain, const char *name, uint64_t most)
{
	struct json_object *value = json_at(domain, name);
	int64_t bytes = json_object_get_int64(value);

	if (!json_object_is_type(value, json_type_int) || bytes < 0 || (uint64_t)bytes > most)
		bad_setting(domain, name);
	return bytes;
}

/* Requires all settings. So the domain's state before does not matter. */
static struct body need_settings(struct json_object *domain)
{
	struct body body = { };

	if (!json_object_is_type(json_at(domain, "dev"), json_type_string))
		bad_setting(domain, "dev");
	if (!json_object_is_type(json_at(domain, "discipline"), json_type_string))
		bad_setting(domain, "discipline");
	if (!json_object_is_type(json_at(domain, "fair"), json_type_boolean))
		bad_setting(domain, "fair");
	body_text(&body, MRPC_A_EGRESS_DEV, string_at(domain, "dev"));
	body_text(&body, MRPC_A_EGRESS_DISCIPLINE, string_at(domain, "discipline"));
	body_u8(&body, MRPC_A_EGRESS_FAIR, json_object_get_boolean(json_at(domain, "fair")));
	body_u32(&body, MRPC_A_EGRESS_CHUNK, need_bytes(domain, "chunk", UINT32_MAX));
	body_u32(&body, MRPC_A_EGRESS_LIMIT, need_bytes(domain, "limit", UINT32_MAX));
	body_u64(&body, MRPC_A_EGRESS_RATE, need_bytes(domain, "rate", INT64_MAX));
	return body;
}

static bool request(int cmd, const char *dev, const char *what, const struct body *body)
{
	struct answer a = ask(cmd, false, &set_egress, body);
	char *words = domain_words(dev);

	if (a.err)
		fprintf(stderr, "mrpc: the egress domain '%s' could not be %s: %s\n", words, what,
			a.why);
	else if (!options.json)
		printf("egress %s: %s\n", words, what);
	free(words);
	free(a.why);
	json_object_put(a.array);
	return !a.err;
}

/* Do both have the same settings? Other values in the file do not count. */
static bool same_domain(struct json_object *domain, struct json_object *have)
{
	struct json_object *wanted = saved_domain(domain), *saved = saved_domain(have);
	bool same = json_object_equal(wanted, saved);

	json_object_put(wanted);
	json_object_put(saved);
	return same;
}

static bool restore_domain(struct json_object *domain, struct json_object *now)
{
	struct body body = need_settings(domain);
	const char *dev = string_at(domain, "dev");
	struct json_object *have = domain_find(now, dev);
	bool ok = true;

	if (!have || !same_domain(domain, have))
		ok = request(MRPC_CMD_EGRESS_SET, dev, have ? "changed" : "made", &body);
	body_free(&body);
	return ok;
}

static bool del_domain(const char *dev)
{
	struct body body = { };
	bool ok;

	body_text(&body, MRPC_A_EGRESS_DEV, dev);
	ok = request(MRPC_CMD_EGRESS_DEL, dev, "removed", &body);
	body_free(&body);
	return ok;
}

/**
 * domains_restore() - make the egress domains as in a file
 * @domains: made by domains_saved()
 * @exact: first delete other domains
 *
 * Return: false if a domain could not be restored; the reason has been printed.
 */
bool domains_restore(struct json_object *domains, bool exact)
{
	struct json_object *now = ask_all(MRPC_CMD_EGRESS_GET, &set_egress, NULL);
	bool ok = true;
	size_t i;

	for (i = 0; exact && i < json_object_array_length(now); i++) {
		const char *dev = string_at(json_object_array_get_idx(now, i), "dev");

		if (!domain_find(domains, dev))
			ok &= del_domain(dev);
	}
	for (i = 0; i < json_object_array_length(domains); i++)
		ok &= restore_domain(json_object_array_get_idx(domains, i), now);
	json_object_put(now);
	return ok;
}
