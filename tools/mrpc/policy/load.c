// SPDX-License-Identifier: GPL-2.0
/* Loading policies, and replacing their programs while calls pass. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "engine/params.h"
#include "policy/load.h"
#include "policy/log.h"
#include "policy/name.h"
#include "policy/object.h"
#include "policy/pin.h"
#include "show/json.h"
#include "show/print.h"

#define NEXT_MAPS	"maps_next"	/* pins on their way to be "maps" */

struct words {
	bool debug;
	bool fresh;
	const char *name;
};

static void parse_words(struct words *w, struct args *args, bool replace)
{
	const char *word;

	while ((word = next_word(args))) {
		if (!strcmp(word, "--debug") || !strcmp(word, "-d"))
			w->debug = true;
		else if (replace && !strcmp(word, "fresh"))
			w->fresh = true;
		else if (!replace && !strcmp(word, "name"))
			w->name = need_word(args, "the name after 'name'");
		else
			usage("'%s' is not known here: it must be %s or --debug", word,
			      replace ? "fresh" : "name");
	}
}

static struct json_object *json_policy(const struct policy *p, struct json_object *kept)
{
	struct json_object *object = json_object_new_object();
	char *pinned = pin_path(p->name, p->version, NULL);

	json_object_object_add(object, "name", json_object_new_string(p->name));
	json_object_object_add(object, "version", json_object_new_uint64(p->version));
	json_object_object_add(object, "pinned", json_object_new_string(pinned));
	if (kept)
		json_object_object_add(object, "kept", kept);
	free(pinned);
	return object;
}

/* -- load ------------------------------------------------------------------------------ */

/* Why @p cannot be attached; the kernel's word is @err. */
static char *why_not_attached(const struct policy *p, int err)
{
	struct json_object *type = policy_find(p->name, p->version);
	const char *label = policy_label(p->name, p->version);

	if (err == -EEXIST && type && !json_at(type, "policy"))
		return text_printf("there is an engine type '%s' version %u of the module %s "
				   "already: a policy needs another name, or another version",
				   p->name, p->version, string_at(type, "module") ?: "?");
	if (err == -EEXIST)
		return text_printf("there is a policy '%s' already, which another program has "
				   "attached: 'mrpc policy unload %s' detaches it",
				   label, label);
	if (err == -EINVAL && type && number_at(type, "policy.storage") != p->decl->storage)
		return text_printf("engines use the policy '%s', with %s bytes of storage for "
				   "each datapath: this one has %u",
				   label, string_at(type, "policy.storage"), p->decl->storage);
	if (err == -EAGAIN)
		return text_printf("the policy '%s' that was there before is just going: try again",
				   label);
	if (err == -EPERM)
		return text_printf("%s", explain_words(strerror(EPERM)));
	return text_printf("the kernel does not attach '%s': %s", label, strerror(-err));
}

static char *attach(const struct policy_file *f, struct policy *p)
{
	p->link = bpf_map__attach_struct_ops(p->map);
	if (!p->link)
		return why_not_attached(p, -errno);
	return pin_policy(f, p);
}

/* All of them, or none. */
static void attach_all(struct policy_file *f)
{
	char *why;
	int i;

	for (i = 0; i < f->nr; i++) {
		why = attach(f, &f->policies[i]);
		if (!why)
			continue;
		while (i--)	/* links end with this process */
			pin_remove(f->policies[i].name, f->policies[i].version);
		fail("%s: %s", f->path, why);
	}
}

static void say_loaded(const struct policy_file *f)
{
	struct json_object *array = json_object_new_array();
	char *pinned;
	int i;

	for (i = 0; i < f->nr; i++) {
		const struct policy *p = &f->policies[i];

		json_object_array_add(array, json_policy(p, NULL));
		if (options.json)
			continue;
		pinned = pin_path(p->name, p->version, NULL);
		printf("%s loaded: version %u, pinned at %s\n", p->name, p->version, pinned);
		free(pinned);
	}
	if (options.json)
		print_json(array);
	json_object_put(array);
}

int policy_load(struct args *args)
{
	const char *path = need_word(args, "the object file"), *label;
	struct words words = { };
	struct policy_file file;
	uint32_t version = 0;
	char *name;
	int i;

	parse_words(&words, args, false);
	if (words.name)
		split_type(words.name, &name, &version);
	policy_open(&file, path, words.debug);
	if (words.name)
		policy_choose(&file, name, version);
	pin_need_fs();
	for (i = 0; i < file.nr; i++) {
		label = policy_label(file.policies[i].name, file.policies[i].version);
		if (pin_state(file.policies[i].name, file.policies[i].version) == PIN_ALIVE)
			fail("%s: the policy '%s' is loaded already: 'mrpc policy replace %s %s' "
			     "gives it these programs",
			     path, label, label, path);
	}
	policy_give(&file);
	attach_all(&file);
	say_loaded(&file);
	return 0;
}

/* -- replace ------------------------------------------------------------------------------ */

/* What of a map differs, so that the next programs cannot have it; or NULL. */
static char *map_differs(const struct bpf_map *map, const struct bpf_map_info *now)
{
	uint32_t entries = bpf_map__max_entries(map);

	if (bpf_map__type(map) != now->type)
		return text_printf("it is of type %s, and was of %s",
				   libbpf_bpf_map_type_str(bpf_map__type(map)),
				   libbpf_bpf_map_type_str(now->type));
	if (bpf_map__key_size(map) != now->key_size)
		return text_printf("its keys have %u bytes, and had %u", bpf_map__key_size(map),
				   now->key_size);
	if (bpf_map__value_size(map) != now->value_size)
		return text_printf("its values have %u bytes, and had %u",
				   bpf_map__value_size(map), now->value_size);
	if (entries && entries != now->max_entries)
		return text_printf("it has %u entries at most, and had %u", entries,
				   now->max_entries);
	if (bpf_map__map_flags(map) != now->map_flags)
		return text_printf("its flags are %#x, and were %#x", bpf_map__map_flags(map),
				   now->map_flags);
	return NULL;
}

/* The next programs have the map that is pinned, if it is. Return: it is. */
static bool keep_map(const struct policy_file *f, const struct policy *p, struct bpf_map *map)
{
	char *what = text_printf("maps/%s", map_pin_name(map));
	char *path = pin_path(p->name, p->version, what), *why;
	struct bpf_map_info info = { };
	uint32_t len = sizeof(info);
	int fd = bpf_obj_get(path);

	if (fd == -ENOENT)
		return false;
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		fail("cannot open the map '%s': %s", path, strerror(errno));
	why = map_differs(map, &info);
	if (why && map_is_global(map))
		fail("%s: the global variables in '%s' are others than those of the programs "
		     "before (%s): with 'fresh' they begin anew",
		     f->path, map_label(map), why);
	if (why)
		fail("%s: the map '%s' is another than that of the programs before (%s): it "
		     "needs another name",
		     f->path, map_label(map), why);
	if (bpf_map__reuse_fd(map, fd))
		fail("%s: the map '%s' cannot be kept: %s", f->path, bpf_map__name(map),
		     strerror(errno));
	close(fd);
	free(path);
	free(what);
	return true;
}

/* Return: the names of those that are kept. */
static struct json_object *keep_maps(const struct policy_file *f, const struct policy *p,
				     bool fresh)
{
	struct json_object *kept = json_object_new_array();
	struct bpf_map *map;

	bpf_object__for_each_map(map, f->object)
		if (map_is_state(map) && !(fresh && map_is_global(map)) && keep_map(f, p, map))
			json_object_array_add(kept, json_object_new_string(map_label(map)));
	return kept;
}

/* The kernel has refused an update, and may know why. */
static char *why_not_updated(const struct policy *p, int err)
{
	struct json_object *type = policy_find(p->name, p->version);
	const char *why = string_at(type, "policy.why");

	if (err == -EINVAL && why)
		return text_printf("%s", why);
	if (err == -ENOLINK)
		return text_printf("its programs have just been thrown out%s%s", why ? ": " : "",
				   why ?: "");
	return text_printf("%s", strerror(-err));
}

/*
 * libbpf gives the kernel the content of the map when it attaches it: that it does not
 * attach a second policy of this name is what we want. If there is none any more, since
 * it was thrown out, it does.
 */
static char *update(const struct policy_file *f, struct policy *p)
{
	char *path = pin_path(p->name, p->version, "link"), *why;
	int fd, err;

	p->link = bpf_map__attach_struct_ops(p->map);
	if (p->link)
		return pin_policy(f, p);
	if (errno != EEXIST)
		return why_not_attached(p, -errno);
	why = pin_maps(f, p, NEXT_MAPS);
	if (why)
		return why;
	fd = bpf_obj_get(path);
	err = fd < 0 ? fd : bpf_link_update(fd, bpf_map__fd(p->map), NULL);
	if (!err) {
		pin_swap_maps(p, NEXT_MAPS);
		why = pin_source(f, p);
	} else {
		why = why_not_updated(p, err);
		free(path);
		path = pin_path(p->name, p->version, NEXT_MAPS);
		pin_remove_tree(path);
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return why;
}

static void say_replaced(const struct policy *p, struct json_object *kept)
{
	struct json_object *type = policy_find(p->name, p->version), *array;
	uint64_t generation = number_at(type, "policy.generation");

	if (options.json) {
		array = json_object_new_array();
		json_object_array_add(array, json_policy(p, json_object_get(kept)));
		json_object_object_add(json_object_array_get_idx(array, 0), "generation",
				       json_object_new_uint64(generation));
		print_json(array);
		json_object_put(array);
	} else {
		printf("%s replaced: generation %llu, maps kept: %s\n", p->name,
		       (unsigned long long)generation,
		       json_object_array_length(kept) ? text_joined(kept, ", ") : "none");
	}
}

int policy_replace(struct args *args)
{
	const char *word = need_word(args, "the name of the policy");
	const char *path = need_word(args, "the object file");
	struct words words = { };
	struct policy_file file;
	struct json_object *kept;
	uint32_t version;
	char *name, *why;

	parse_words(&words, args, true);
	split_type(word, &name, &version);
	policy_open(&file, path, words.debug);
	policy_choose(&file, name, version);
	pin_need_fs();
	if (pin_state(name, file.policies->version) == PIN_NONE)
		fail("there is no policy '%s' that 'mrpc policy load' has loaded",
		     policy_label(name, file.policies->version));
	kept = keep_maps(&file, file.policies, words.fresh);
	policy_give(&file);
	why = update(&file, file.policies);
	if (why)
		fail("%s: '%s' keeps the programs that it has: %s", path,
		     policy_label(name, file.policies->version), why);
	say_replaced(file.policies, kept);
	json_object_put(kept);
	return 0;
}
