// SPDX-License-Identifier: GPL-2.0
/*
 * Policies in eBPF for the time of a measurement.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "operator.h"
#include "place.h"

static struct bpf_object *object;
static struct bpf_object *other;	/* the same programs, once more; NULL until wanted */
static struct bpf_link *link;

static void fill(int map)
{
	unsigned char one = 1;
	char key[32];
	unsigned int i;

	for (i = 0; i < PLACE_KEYS; i++) {
		memset(key, 0, sizeof(key));
		snprintf(key, sizeof(key), "blocked-%u", i);
		if (bpf_map_update_elem(map, key, &one, 0))
			err(1, "a map's key");
	}
}

static struct bpf_object *load_policies(void)
{
	const char *file = getenv("MRPC_BENCH_POLICIES");
	struct bpf_object *loaded = file ? bpf_object__open_file(file, NULL) : NULL;

	if (!loaded || bpf_object__load(loaded))
		err(1, "policies in '%s'", file ?: "");
	return loaded;
}

void prepare_policy(const char *engine)
{
	struct bpf_map *ops;

	if (strncmp(engine, "bpf_", 4))
		return;
	object = load_policies();
	if (!strcmp(engine, "bpf_acl"))
		fill(bpf_object__find_map_fd_by_name(object, "blocked"));
	ops = bpf_object__find_map_by_name(object, engine);
	link = ops ? bpf_map__attach_struct_ops(ops) : NULL;
	if (!link)
		err(1, "policy '%s'", engine);
}

void replace_policy(const char *engine)
{
	struct bpf_object *before = object;
	struct bpf_map *ops;

	if (!other)
		other = load_policies();
	ops = bpf_object__find_map_by_name(other, engine);
	if (!ops || bpf_link__update_map(link, ops))
		err(1, "other programs of policy '%s'", engine);
	object = other;
	other = before;
}

void forget_policy(void)
{
	bpf_link__destroy(link);
	bpf_object__close(object);
	bpf_object__close(other);
	link = NULL;
	object = other = NULL;
}
