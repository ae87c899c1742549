/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies in eBPF, between the files of their command:
 *
 * policy.c		the command's words; show and unload
 * policy_load.c	load and replace
 * policy_object.c	object files: what is in them, giving them to the kernel
 * policy_type.c	the struct_ops types that there are
 * policy_check.c	is what a policy declares right?
 * policy_log.c		why the kernel does not take one, in words
 * policy_pin.c		pins in the BPF file system
 * policy_none.c	instead of all, where libbpf is missing or too old
 */
#ifndef MRPC_TOOL_POLICY_H
#define MRPC_TOOL_POLICY_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <linux/mrpc_policy.h>

#include "tool.h"

struct policy;

/**
 * struct policy_type - a struct_ops type that policies are of
 * @name: as the kernel calls it in policies: "policy"
 * @ops: the name of the struct
 * @size: its bytes
 * @nr_hooks: functions, which are its first members
 * @hooks: their names
 * @budget: ns that a run may take, at most
 * @check: why what is its alone is declared wrongly, to be freed; or NULL
 */
struct policy_type {
	const char *name;
	const char *ops;
	size_t size;
	size_t nr_hooks;
	const char *const *hooks;
	uint32_t budget;
	char *(*check)(const struct policy *p);
};

#define MAX_HOOKS	16

/**
 * struct policy - one of an object file
 * @map: its struct
 * @type: what that is
 * @ops: the struct; members that are functions point to struct bpf_program
 * @decl: what it declares, in @ops
 * @name: of it
 * @version: likewise, from 1
 * @link: when it is attached
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
 * @object: what libbpf makes of it
 * @policies: those that are wanted
 * @nr: how many
 */
struct policy_file {
	const char *path;
	struct bpf_object *object;
	struct policy *policies;
	int nr;
};

/* policy_type.c */
extern const struct policy_type policy_types[];	/* ends with one without a name */

/* Has it the function of that name? */
bool policy_has(const struct policy *p, const char *hook);

/* policy.c */
struct json_object *policy_find(const char *name, uint32_t version);
char *policy_label(const char *name, uint32_t version);

/* policy_load.c */
int policy_load(struct args *args);
int policy_replace(struct args *args);

/* policy_object.c */
void policy_open(struct policy_file *f, const char *path, bool debug);
void policy_choose(struct policy_file *f, const char *name, uint32_t version);
void policy_give(struct policy_file *f);
bool map_is_state(const struct bpf_map *map);
bool map_is_global(const struct bpf_map *map);
const char *map_label(const struct bpf_map *map);
char *map_pin_name(const struct bpf_map *map);

/* policy_check.c */
char *policy_check(const struct policy *p);

/* policy_log.c */
const char *explain_words(const char *text);
char *explain_log(const char *log, char **source);

/* policy_pin.c */
enum pin { PIN_NONE, PIN_STALE, PIN_ALIVE };

/* The kernel's struct bpf_link_info of such a link; older headers do not know it. */
struct ops_link_info {
	uint32_t type;
	uint32_t id;
	uint32_t prog_id;
	uint32_t pad;
	uint32_t map_id;	/* 0: detached */
	uint32_t pad2;
};

bool link_info(int fd, struct ops_link_info *info);
char *pin_path(const char *name, uint32_t version, const char *what);
enum pin pin_state(const char *name, uint32_t version);
void pin_need_fs(void);
char *pin_policy(const struct policy_file *f, const struct policy *p);
char *pin_maps(const struct policy_file *f, const struct policy *p, const char *where);
void pin_swap_maps(const struct policy *p, const char *where);
void pin_remove(const char *name, uint32_t version);
void pin_remove_tree(const char *path);

#endif /* MRPC_TOOL_POLICY_H */
