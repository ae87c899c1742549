// SPDX-License-Identifier: GPL-2.0
/* Entries of policies' maps, typed as the map's types say. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <json-c/json.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "engine/params.h"
#include "policy/btf_value.h"
#include "policy/map.h"
#include "policy/name.h"
#include "policy/pin.h"
#include "show/json.h"
#include "show/print.h"

/**
 * struct map - an open map
 * @name: as the operator has named it
 * @fd: it
 * @info: what it is
 * @btf: its types, or NULL
 */
struct map {
	const char *name;
	int fd;
	struct bpf_map_info info;
	struct btf *btf;
};

/* The words "NAME[@VERSION] MAP". */
static struct map need_map(struct args *args)
{
	const char *policy = need_word(args, "the name of the policy");
	struct map m = { .name = need_word(args, "the name of the map") };
	uint32_t len = sizeof(m.info), version;
	char *name, *path;

	split_type(policy, &name, &version);
	if (strchr(m.name, '/'))
		usage("'%s' is not the name of a map", m.name);
	path = pin_path(name, version ?: 1, text_printf("maps/%s", m.name));
	m.fd = bpf_obj_get(path);
	if (m.fd < 0)
		fail("the policy '%s' has no map '%s': %s: %s", policy_label(name, version ?: 1),
		     m.name, path, strerror(errno));
	if (bpf_obj_get_info_by_fd(m.fd, &m.info, &len))
		fail("cannot look at the map '%s': %s", m.name, strerror(errno));
	if (m.info.type == BPF_MAP_TYPE_PERCPU_HASH || m.info.type == BPF_MAP_TYPE_PERCPU_ARRAY ||
	    m.info.type == BPF_MAP_TYPE_LRU_PERCPU_HASH || !m.info.key_size)
		fail("'%s' is of type %s, whose entries this command cannot handle: bpftool can",
		     m.name, libbpf_bpf_map_type_str(m.info.type));
	m.btf = m.info.btf_id ? btf__load_from_kernel_by_id(m.info.btf_id) : NULL;
	free(path);
	return m;
}

static void *room(size_t size)
{
	void *data = calloc(1, size);

	if (!data)
		fail("out of memory");
	return data;
}

static void *need_key(const struct map *m, struct args *args)
{
	void *key = room(m->info.key_size);

	btf_value_parse(m->btf, m->info.btf_key_type_id, need_word(args, "the key"), key,
			m->info.key_size);
	return key;
}

static int map_set(struct args *args)
{
	struct map m = need_map(args);
	void *key = need_key(&m, args), *value = room(m.info.value_size);

	btf_value_parse(m.btf, m.info.btf_value_type_id, need_word(args, "the value"), value,
			m.info.value_size);
	no_more_words(args);
	if (bpf_map_update_elem(m.fd, key, value, BPF_ANY))
		fail("cannot set the entry of '%s': %s", m.name, errno == E2BIG ?
		     text_printf("it has %u entries already, or the key is beyond them",
				 m.info.max_entries) : strerror(errno));
	return 0;
}

static int map_del(struct args *args)
{
	struct map m = need_map(args);
	void *key = need_key(&m, args);

	no_more_words(args);
	if (bpf_map_delete_elem(m.fd, key))
		fail("cannot delete the entry of '%s': %s", m.name,
		     errno == ENOENT ? "it has none with this key" : strerror(errno));
	return 0;
}

static char *text_of_value(const struct map *m, uint32_t id, const void *data, size_t size)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_text(&text, &len);

	btf_value_print(out, m->btf, id, data, size);
	fclose(out);
	return text;
}

static char *entry_key(struct json_object *entry)
{
	return text_printf("%s", string_at(entry, "key"));
}

static char *entry_value(struct json_object *entry)
{
	return text_printf("%s", string_at(entry, "value"));
}

static int map_show(struct args *args)
{
	static const struct column columns[] = {
		{ "KEY", .text = entry_key }, { "VALUE", .text = entry_value }, { }
	};
	struct json_object *array = json_object_new_array(), *entry;
	struct map m = need_map(args);
	void *key = room(m.info.key_size), *value = room(m.info.value_size), *before = NULL;

	uint32_t i;

	no_more_words(args);
	/* Where an entry is deleted meanwhile, the walk may begin again. */
	for (i = 0; i < m.info.max_entries && !bpf_map_get_next_key(m.fd, before, key); i++) {
		before = key;
		if (bpf_map_lookup_elem(m.fd, key, value))
			continue;	/* deleted meanwhile */
		entry = json_object_new_object();
		json_object_object_add(entry, "key", json_object_new_string(
			text_of_value(&m, m.info.btf_key_type_id, key, m.info.key_size)));
		json_object_object_add(entry, "value", json_object_new_string(
			text_of_value(&m, m.info.btf_value_type_id, value, m.info.value_size)));
		json_object_array_add(array, entry);
	}
	if (options.json)
		print_json(array);
	else
		print_table(NULL, columns, array);
	json_object_put(array);
	return 0;
}

int policy_map(struct args *args)
{
	static const struct word commands[] = {
		{ "show", map_show, "list" },
		{ "set", map_set },
		{ "del", map_del, "delete" },
		{ "help" },
		{ }
	};

	return run_command(args, "policy", commands, "help");
}
