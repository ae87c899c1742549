/* SPDX-License-Identifier: GPL-2.0 */
/* Pins: what keeps a policy attached when the command has ended. */
#ifndef MRPC_TOOL_POLICY_PIN_H
#define MRPC_TOOL_POLICY_PIN_H

#include <stdbool.h>
#include <stdint.h>

struct policy;
struct policy_file;

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
char *pin_source(const struct policy_file *f, const struct policy *p);
char *pin_source_of(const char *name, uint32_t version);
char *pin_policy(const struct policy_file *f, const struct policy *p);
char *pin_maps(const struct policy_file *f, const struct policy *p, const char *where);
void pin_swap_maps(const struct policy *p, const char *where);
void pin_remove(const char *name, uint32_t version);
void pin_remove_tree(const char *path);

#endif /* MRPC_TOOL_POLICY_PIN_H */
