// SPDX-License-Identifier: GPL-2.0
/*
 * The file that keeps a network namespace's configuration.
 *
 * That of the host, and of a container for its own processes, is /etc/mrpc/config.json.
 * A namespace of 'ip netns' has a file of its own below /etc/netns/NAME, which 'ip netns
 * exec NAME' shows at /etc. Any other namespace has none: the operator names a file.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/options.h"
#include "cli/util.h"
#include "config/file_name.h"

#define NETNS_DIR	"/run/netns"

static bool is_ours(const char *path)
{
	struct stat ours, st;

	return !stat("/proc/self/ns/net", &ours) && !stat(path, &st) &&
	       ours.st_dev == st.st_dev && ours.st_ino == st.st_ino;
}

/* What 'ip netns' calls the namespace that this process is in, to be freed; or NULL. */
static char *netns_name(void)
{
	DIR *dir = opendir(NETNS_DIR);
	struct dirent *entry;
	char *name = NULL, *path;

	while (dir && !name && (entry = readdir(dir))) {
		path = text_printf(NETNS_DIR "/%s", entry->d_name);
		if (*entry->d_name != '.' && is_ours(path))
			name = text_printf("%s", entry->d_name);
		free(path);
	}
	if (dir)
		closedir(dir);
	return name;
}

/**
 * config_file() - the file of the network namespace that this process is in
 *
 * Does not return if the namespace has none.
 */
const char *config_file(void)
{
	const char *name = options.netns && !strchr(options.netns, '/') ? options.netns : NULL;

	/* With -n an operator means the namespace, even if it is also that of the host. */
	if (!options.netns && is_ours("/proc/1/ns/net"))
		return "/etc/mrpc/config.json";
	if (!name)
		name = netns_name();
	if (!name)
		usage("this network namespace has no name in " NETNS_DIR ", and so no file of its own: name one, or '-'");
	return text_printf("/etc/netns/%s/mrpc/config.json", name);
}

/* The directories before the last part of @path. */
static void make_directories(const char *path)
{
	char *copy = text_printf("%s", path), *slash;

	for (slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(copy, 0755) && errno != EEXIST)
			fail("cannot make the directory '%s': %s", copy, strerror(errno));
		*slash = '/';
	}
	free(copy);
}

/* The same, in a directory that exists. */
const char *config_file_to_write(void)
{
	const char *file = config_file();

	make_directories(file);
	return file;
}
