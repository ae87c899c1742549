// SPDX-License-Identifier: GPL-2.0
/*
 * What memory is used for: by cache of the kernel's slab allocator, and what it has
 * apart from them.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"
#include "memory.h"

/* Of /proc/meminfo, none of which contains another. The rest are pages that it does not list. */
static const char *const apart[] = {
	"AnonPages:", "Mapped:", "PageTables:", "KernelStack:", "VmallocUsed:", "Percpu:",
	"Shmem:",
};

static void add(struct memory *m, const char *name, uint64_t bytes)
{
	if (m->nr == MEMORY_KINDS)
		errx(1, "more than %d kinds of memory", MEMORY_KINDS);
	snprintf(m->kinds[m->nr].name, sizeof(m->kinds[0].name), "%s", name);
	m->kinds[m->nr++].bytes = bytes;
}

static void add_slabs(struct memory *m)
{
	unsigned long long size, objects, pages, slabs;
	FILE *f = fopen("/proc/slabinfo", "r");
	char line[512], name[64];

	if (!f)
		err(1, "/proc/slabinfo");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %*u %*u %llu %llu %llu : tunables %*u %*u %*u : slabdata %*u %llu",
			   name, &size, &objects, &pages, &slabs) == 5)
			add(m, name, slabs * pages * (uint64_t)sysconf(_SC_PAGESIZE));
	fclose(f);
}

static void add_apart(struct memory *m)
{
	unsigned int i;

	for (i = 0; i < sizeof(apart) / sizeof(*apart); i++)
		add(m, apart[i], 1024 * read_counts("/proc/meminfo", apart[i], NULL));
}

struct memory *memory_now(void)
{
	struct memory *m = calloc(1, sizeof(*m));

	if (!m)
		err(1, "kinds of memory");
	add_slabs(m);
	add_apart(m);
	return m;
}

static uint64_t bytes_of(const struct memory *m, const char *name)
{
	unsigned int i;

	for (i = 0; i < m->nr; i++)
		if (!strcmp(m->kinds[i].name, name))
			return m->kinds[i].bytes;
	return 0;
}

void memory_more(const struct memory *before, uint64_t conns)
{
	struct memory *after = memory_now();
	unsigned int i;

	for (i = 0; i < after->nr; i++) {
		double more = ((double)after->kinds[i].bytes -
			       (double)bytes_of(before, after->kinds[i].name)) / (double)conns / 2;

		if (more >= 1)
			printf("%-24s %8.0f\n", after->kinds[i].name, more);
	}
	free(after);
}
