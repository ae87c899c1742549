// SPDX-License-Identifier: GPL-2.0
/* Sets of keys, which rules of engines refer to by their names. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>
#include <netlink/attr.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "nl/body.h"
#include "nl/decode.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "rules/keyset.h"
#include "rules/keyset_keys.h"
#include "show/json.h"
#include "show/print.h"

#define BATCH		49152		/* bytes of keys in one request */
#define FILE_MAX	(512 << 20)

/* -- the kernel's sets ------------------------------------------------------------------ */

/* All sets, without their keys. */
struct json_object *keyset_array(void)
{
	return ask_all(MRPC_CMD_KEYSET_GET, &set_keyset, NULL);
}

/* The one of that name, or NULL. */
struct json_object *keyset_find(struct json_object *array, const char *name)
{
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		struct json_object *keyset = json_object_array_get_idx(array, i);

		if (!strcmp(string_at(keyset, "name") ?: "", name))
			return keyset;
	}
	return NULL;
}

/* Does not return if there is none of that name. */
static struct json_object *keyset_get(const char *name)
{
	struct json_object *array = keyset_array(), *found = keyset_find(array, name);

	if (!found)
		fail("there is no set '%s'; 'mrpc set create' makes one", name);
	json_object_get(found);
	json_object_put(array);
	return found;
}

/* MRPC_KEYSET_KIND_*, of the kernel's or a file's set. */
uint32_t keyset_kind(struct json_object *keyset)
{
	return strcmp(string_at(keyset, "kind"), "integer") ? MRPC_KEYSET_KIND_TEXT :
							      MRPC_KEYSET_KIND_INTEGER;
}

static void add_key(const struct nlattr *attrs, int len, void *arg)
{
	const struct nlattr *key = nla_find(attrs, len, MRPC_A_KEYSET_KEY);

	if (key)
		body_put(arg, MRPC_A_KEYSET_KEY, nla_data(key), nla_len(key));
}

/* All keys of a set, of one moment, as attributes. */
struct body keyset_keys(const char *name)
{
	struct body request = { }, keys = { };

	body_text(&request, MRPC_A_KEYSET_NAME, name);
	while (!ask_each(MRPC_CMD_KEY_GET, &request, add_key, &keys))
		body_free(&keys);
	body_free(&request);
	return keys;
}

/* -- changing ------------------------------------------------------------------------------ */

static void progress(const char *name, size_t done, size_t all)
{
	if (isatty(STDERR_FILENO) && all > BATCH)
		fprintf(stderr, "\r%s: %zu%%\033[K%s", name, done * 100 / all,
			done == all ? "\r\033[K" : "");
}

/* In requests that are not too long. Does not return if one is refused. */
void keyset_send(int cmd, const char *name, const struct body *keys)
{
	size_t at = 0, from, size;
	struct body body = { };
	struct nlattr *nla;
	struct answer a;

	while (at < keys->len) {
		body_text(&body, MRPC_A_KEYSET_NAME, name);
		for (from = at; at < keys->len; at += size) {
			nla = (void *)(keys->data + at);
			size = NLA_ALIGN(nla->nla_len);
			if (at + size - from > BATCH)
				break;
		}
		body.data = realloc(body.data, body.len + at - from);
		if (!body.data)
			fail("out of memory");
		memcpy(body.data + body.len, keys->data + from, at - from);
		body.len += at - from;
		a = ask(cmd, false, &set_keyset, &body);
		if (a.err)
			fail("%s: %s%s", name, a.why, from ? "; some of the keys are changed" : "");
		json_object_put(a.array);
		body_free(&body);
		progress(name, at, keys->len);
	}
}

static size_t count_keys(const struct body *keys)
{
	size_t at, nr = 0;

	for (at = 0; at < keys->len; at += NLA_ALIGN(((struct nlattr *)(keys->data + at))->nla_len))
		nr++;
	return nr;
}

/* Makes the change, and says what it did. */
static int change_keys(int cmd, const char *name, struct json_object *before, struct body *keys)
{
	struct json_object *after, *object;
	uint64_t was = number_at(before, "keys"), is, given = count_keys(keys);
	const char *what = cmd == MRPC_CMD_KEYSET_INSERT ? "added" : "removed";

	keyset_send(cmd, name, keys);
	after = keyset_get(name);
	is = number_at(after, "keys");
	if (options.json) {
		object = json_object_new_object();
		json_object_object_add(object, "name", json_object_new_string(name));
		json_object_object_add(object, "given", json_object_new_uint64(given));
		json_object_object_add(object, what,
				       json_object_new_uint64(is > was ? is - was : was - is));
		json_object_object_add(object, "keys", json_object_new_uint64(is));
		print_json(object);
		json_object_put(object);
	} else {
		printf("%s: %llu keys given, %llu %s; it has %llu\n", name, (unsigned long long)given,
		       (unsigned long long)(is > was ? is - was : was - is), what,
		       (unsigned long long)is);
	}
	json_object_put(before);
	json_object_put(after);
	body_free(keys);
	return 0;
}

static int edit(struct args *args, int cmd)
{
	const char *name = need_word(args, "the name of the set"), *word, *why;
	struct json_object *keyset;
	struct body keys = { };

	if (!peek_word(args))
		usage("a key is missing");
	keyset = keyset_get(name);
	while ((word = next_word(args))) {
		why = key_put(&keys, keyset_kind(keyset), word, strlen(word));
		if (why)
			usage("'%s' is not a key of '%s': %s", word, name, why);
	}
	return change_keys(cmd, name, keyset, &keys);
}

static int run_add(struct args *args)
{
	return edit(args, MRPC_CMD_KEYSET_INSERT);
}

static int run_del(struct args *args)
{
	return edit(args, MRPC_CMD_KEYSET_REMOVE);
}

/* A key in each line. All are looked at before the first one is added. */
static int run_load(struct args *args)
{
	const char *name = need_word(args, "the name of the set");
	const char *file = need_word(args, "the file with the keys"), *why;
	struct json_object *keyset;
	struct body keys = { };
	size_t len, at, size, line = 0;
	char *text, *end;

	no_more_words(args);
	keyset = keyset_get(name);
	text = read_file(file, FILE_MAX, &len);
	for (at = 0; at < len; at += size + 1) {
		end = memchr(text + at, '\n', len - at);
		size = end ? (size_t)(end - text) - at : len - at;
		line++;
		why = size ? key_put(&keys, keyset_kind(keyset), text + at, size) : NULL;
		if (why)
			fail("%s:%zu: '%s' is not a key of '%s': %s", file, line,
			     clean_text(text + at, size > 64 ? 64 : size), name, why);
	}
	free(text);
	return change_keys(MRPC_CMD_KEYSET_INSERT, name, keyset, &keys);
}

static int run_flush(struct args *args)
{
	const char *name = need_word(args, "the name of the set");
	struct json_object *keyset;
	struct body keys;

	no_more_words(args);
	keyset = keyset_get(name);
	keys = keyset_keys(name);
	return change_keys(MRPC_CMD_KEYSET_REMOVE, name, keyset, &keys);
}

static int run_create(struct args *args)
{
	static const struct word kinds[] = { { "text" }, { "integer" }, { } };
	const char *name = need_word(args, "the name of the set"), *kind = next_word(args) ?: "text";
	struct body body = { };

	no_more_words(args);
	kind = find_word(kinds, kind, "a kind of keys")->name;
	body_text(&body, MRPC_A_KEYSET_NAME, name);
	body_u32(&body, MRPC_A_KEYSET_KIND, strcmp(kind, "text") ? MRPC_KEYSET_KIND_INTEGER :
								   MRPC_KEYSET_KIND_TEXT);
	json_object_put(ask_one(MRPC_CMD_KEYSET_NEW, &set_keyset, &body));
	body_free(&body);
	return 0;
}

static int run_destroy(struct args *args)
{
	struct body body = { };

	body_text(&body, MRPC_A_KEYSET_NAME, need_word(args, "the name of the set"));
	no_more_words(args);
	json_object_put(ask_one(MRPC_CMD_KEYSET_DEL, &set_keyset, &body));
	body_free(&body);
	return 0;
}

/* -- show ------------------------------------------------------------------------------------ */

static const struct column columns[] = {
	{ "SET", "name" }, { "KIND", "kind" }, { "KEYS", "keys" }, { "USERS", "users" }, { }
};

/* There may be a million: each is printed as it is found. */
static void show_keys(const char *name)
{
	struct json_object *keyset = keyset_get(name);
	struct body keys = keyset_keys(name);
	uint32_t kind = keyset_kind(keyset);
	struct nlattr *nla;
	size_t at;

	if (options.json)
		putchar('[');
	for (at = 0; at < keys.len; at += NLA_ALIGN(nla->nla_len)) {
		nla = (void *)(keys.data + at);
		if (!options.json) {
			key_print(kind, nla_data(nla), nla_len(nla));
			continue;
		}
		if (at)
			putchar(',');
		key_print_json(kind, nla_data(nla), nla_len(nla));
	}
	if (options.json)
		puts("]");
	body_free(&keys);
	json_object_put(keyset);
}

static int run_show(struct args *args)
{
	const char *name = next_word(args);
	struct json_object *array;

	no_more_words(args);
	if (name) {
		show_keys(name);
		return 0;
	}
	array = keyset_array();
	if (options.json)
		print_json(array);
	else
		print_table(&set_keyset, columns, array);
	json_object_put(array);
	return 0;
}

int do_keyset(struct args *args)
{
	static const struct word commands[] = {
		{ "show", run_show, "list" },
		{ "create", run_create },
		{ "destroy", run_destroy, .whole = true },
		{ "add", run_add },
		{ "del", run_del, "delete", .whole = true },
		{ "load", run_load },
		{ "flush", run_flush },
		{ "help" },
		{ }
	};

	return run_command(args, "set", commands, "show");
}
