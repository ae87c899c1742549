// SPDX-License-Identifier: GPL-2.0
/*
 * Pins: they keep a policy attached when the command has ended. /sys/fs/bpf/mrpc/NAME/ has its
 * link, and maps/ in it has its maps. The directory is NAME@VERSION for versions other than 1.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/util.h"
#include "policy/name.h"
#include "policy/object.h"
#include "policy/pin.h"

#define BPF_FS		"/sys/fs/bpf"
#define BPF_FS_TYPE	0xcafe4a11
#define PINS		BPF_FS "/mrpc"

/* The path of a policy's directory, or of @what in it. */
char *pin_path(const char *name, uint32_t version, const char *what)
{
	return text_printf(PINS "/%s%s%s", policy_label(name, version), what ? "/" : "",
			   what ?: "");
}

/* Return: false: it is not a link of a struct_ops, or this process may not know. */
bool link_info(int fd, struct ops_link_info *info)
{
	uint32_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return !bpf_obj_get_info_by_fd(fd, info, &len) && info->type == BPF_LINK_TYPE_STRUCT_OPS;
}

enum pin pin_state(const char *name, uint32_t version)
{
	char *dir = pin_path(name, version, NULL), *link = pin_path(name, version, "link");
	int fd = bpf_obj_get(link);
	struct ops_link_info info;
	enum pin state = PIN_STALE;

	if (fd >= 0 && link_info(fd, &info) && info.map_id)
		state = PIN_ALIVE;
	else if (fd < 0 && access(dir, F_OK))
		state = PIN_NONE;
	if (fd >= 0)
		close(fd);
	free(dir);
	free(link);
	return state;
}

/* Are mounts of this process visible to all? Otherwise they vanish with it. */
static bool is_host_mounts(void)
{
	struct stat mine, first;

	return !stat("/proc/self/ns/mnt", &mine) && !stat("/proc/1/ns/mnt", &first) &&
	       mine.st_ino == first.st_ino;
}

/*
 * Checks the owner of the directory. In a BPF file system every user may be allowed to make
 * directories. In a directory of another user, links could lead anywhere.
 */
static char *check_owner(void)
{
	struct stat st;

	if (lstat(PINS, &st))
		return errno == ENOENT ? NULL : text_printf("'" PINS "': %s", strerror(errno));
	if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022))
		return NULL;
	return text_printf("'" PINS "' belongs to another user, or others may write to "
			   "it: remove it");
}

static void mount_fs(void)
{
	struct statfs fs;

	if (!statfs(BPF_FS, &fs) && (unsigned long)fs.f_type == BPF_FS_TYPE)
		return;
	if (!is_host_mounts())
		fail("there is no BPF file system at " BPF_FS " here, as in 'ip netns exec': "
		     "policies are the host's, load them outside");
	if (mount("bpf", BPF_FS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700"))
		fail("there is no BPF file system at " BPF_FS ", and it cannot be mounted: %s",
		     strerror(errno));
}

/* Makes sure that there is a place for pins. Does not return if there is none. */
void pin_need_fs(void)
{
	char *why;

	mount_fs();
	why = check_owner();
	if (why)
		fail("%s", why);
}

/* -- removing ------------------------------------------------------------------------- */

/* Removes a directory with all its content, as far as possible. */
void pin_remove_tree(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char *sub = text_printf("%s/%s", path, e->d_name);

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			;
		else if (unlink(sub) && errno == EISDIR)
			pin_remove_tree(sub);
		free(sub);
	}
	if (dir)
		closedir(dir);
	rmdir(path);
}

void pin_remove(const char *name, uint32_t version)
{
	char *dir = pin_path(name, version, NULL), *why = check_owner();

	if (!why)
		pin_remove_tree(dir);
	free(why);
	free(dir);
	rmdir(PINS);	/* if it was the last one */
}

/* -- pinning ---------------------------------------------------------------------------- */

static char *make_dir(const char *path)
{
	if (!mkdir(path, 0700) || errno == EEXIST)
		return NULL;
	return text_printf("cannot make the directory '%s': %s", path, strerror(errno));
}

static char *pin_fd(int fd, const char *path)
{
	int err = bpf_obj_pin(fd, path);

	return err ? text_printf("cannot pin '%s': %s", path, strerror(-err)) : NULL;
}

/**
 * pin_maps() - pin all maps of a file for one of its policies
 * @f: the file, loaded
 * @p: the policy
 * @where: the name of the new directory for them
 *
 * Return: NULL, or why not, to be freed; then some of the pins may exist.
 */
char *pin_maps(const struct policy_file *f, const struct policy *p, const char *where)
{
	char *dir = pin_path(p->name, p->version, where), *why, *path;
	struct bpf_map *map;

	pin_remove_tree(dir);	/* left by an interrupted command */
	why = make_dir(dir);
	bpf_object__for_each_map(map, f->object) {
		if (why || !map_is_state(map))
			continue;
		path = text_printf("%s/%s", dir, map_pin_name(map));
		why = pin_fd(bpf_map__fd(map), path);
		free(path);
	}
	free(dir);
	return why;
}

/**
 * pin_source() - make a link to the object file beside a policy's pins
 * @f: the file
 * @p: the policy
 *
 * Return: NULL, or why not, to be freed.
 */
char *pin_source(const struct policy_file *f, const struct policy *p)
{
	char *path = realpath(f->path, NULL), *link = pin_path(p->name, p->version, "source");
	char *why = NULL;

	unlink(link);
	if (!path || symlink(path, link))
		why = text_printf("cannot note the file at '%s': %s", link, strerror(errno));
	free(path);
	free(link);
	return why;
}

/* The object file of a policy, to be freed; NULL: another program has loaded it. */
char *pin_source_of(const char *name, uint32_t version)
{
	char *link = pin_path(name, version, "source"), path[PATH_MAX];
	ssize_t len = readlink(link, path, sizeof(path) - 1);

	free(link);
	return len > 0 ? text_printf("%.*s", (int)len, path) : NULL;
}

/**
 * pin_policy() - pin a policy that is attached, and its maps
 * @f: its file
 * @p: the policy
 *
 * Removes stale pins in its place. Return: NULL, or why not, to be freed; then nothing is
 * pinned.
 */
char *pin_policy(const struct policy_file *f, const struct policy *p)
{
	char *dir = pin_path(p->name, p->version, NULL);
	char *link = pin_path(p->name, p->version, "link"), *why;

	why = make_dir(PINS);
	if (!why)
		why = check_owner();
	if (!why) {
		pin_remove_tree(dir);
		why = make_dir(dir);
	}
	if (!why)
		why = pin_maps(f, p, "maps");
	if (!why)
		why = pin_fd(bpf_link__fd(p->link), link);
	if (!why)
		why = pin_source(f, p);
	if (why)
		pin_remove(p->name, p->version);
	free(dir);
	free(link);
	return why;
}

/* Makes the directory @where, which pin_maps() has made, the one of the maps. */
void pin_swap_maps(const struct policy *p, const char *where)
{
	char *maps = pin_path(p->name, p->version, "maps");
	char *next = pin_path(p->name, p->version, where);

	pin_remove_tree(maps);
	if (rename(next, maps))
		fail("'%s' has its new programs, but the pins of its maps stay at '%s': "
		     "%s", p->name,
		     next, strerror(errno));
	free(maps);
	free(next);
}
