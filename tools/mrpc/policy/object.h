/* SPDX-License-Identifier: GPL-2.0 */
/* Object files with policies: their content, and loading them into the kernel. */
#ifndef MRPC_TOOL_POLICY_OBJECT_H
#define MRPC_TOOL_POLICY_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <linux/mrpc_policy.h>

struct policy_type;

/**
 * struct policy - one policy of an object file
 * @map: map of its struct
 * @type: type of that struct
 * @ops: the struct; members that are functions point to struct bpf_program
 * @decl: its declaration, in @ops
 * @name: from the declaration
 * @version: from the declaration, from 1
 * @link: while it is attached
 */
struct policy {
	struct bpf_map *map;
	const struct policy_type *type;
	const void *ops;
	const struct mrpc_policy_decl *decl;
	const char *name;
	uint32_t version;
	struct bpf_link *link;
};

/**
 * struct policy_file - an object file
 * @path: as the operator has named it
 * @object: libbpf's object
 * @policies: the policies that are wanted
 * @nr: number of @policies
 */
struct policy_file {
	const char *path;
	struct bpf_object *object;
	struct policy *policies;
	int nr;
};

void policy_open(struct policy_file *f, const char *path, bool debug);
void policy_choose(struct policy_file *f, const char *name, uint32_t version);
void policy_give(struct policy_file *f);
bool map_is_state(const struct bpf_map *map);
bool map_is_global(const struct bpf_map *map);
const char *map_label(const struct bpf_map *map);
char *map_pin_name(const struct bpf_map *map);

#endif /* MRPC_TOOL_POLICY_OBJECT_H */
