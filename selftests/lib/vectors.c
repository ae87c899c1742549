// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the vectors of the prio transport's protocol to a directory, one file for each scene:
 * "vectors DIR". test_prio_vectors compares them with what the code does.
 */
#include <stdlib.h>

#include "prio_scenes.h"

int main(int argc, char **argv)
{
	u32 i;

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	for (i = 0; i < nr_prio_scenes; i++) {
		char path[4096], *text = prio_scene_text(&prio_scenes[i]);
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s.txt", argv[1], prio_scenes[i].name);
		f = fopen(path, "w");
		if (!f || fputs(text, f) == EOF || fclose(f)) {
			perror(path);
			return 1;
		}
		free(text);
	}
	return 0;
}
