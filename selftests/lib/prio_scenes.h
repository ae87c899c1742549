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

extern const struct prio_scene prio_scenes[];
extern const u32 nr_prio_scenes;

/* All of the file of a scene. The caller frees it. */
char *prio_scene_text(const struct prio_scene *scene);

#endif /* PRIO_SCENES_H */
