/* SPDX-License-Identifier: GPL-2.0 */
/* What the vectors of Documentation/prio-vectors show, each a trace: see prio_trace.h. */
#ifndef PRIO_SCENES_H
#define PRIO_SCENES_H

#include "prio_trace.h"

struct prio_scene {
	const char *name;	/* of the file, without .txt */
	const char *about;
	void (*run)(struct trace *t);
};

/* Of prio_scenes_bad.c */
void scene_malformed(struct trace *t);
void scene_foreign(struct trace *t);
void scene_no_effect(struct trace *t);
void scene_gaps(struct trace *t);

extern const struct prio_scene prio_scenes[];
extern const u32 nr_prio_scenes;

/* All of the file of a scene. The caller frees it. */
char *prio_scene_text(const struct prio_scene *scene);

#endif /* PRIO_SCENES_H */
