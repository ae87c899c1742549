// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are written.
 *
 * A regular file is replaced as a whole, so that its readers find the old text or the
 * new one. The new file has the owner and the mode of the old one, and stands where a
 * symbolic link points. What is no regular file (a terminal, a pipe, a device) is
 * written to.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/file.h"
#include "cli/util.h"

static bool write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t nr = write(fd, text, len);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return false;
		text += nr;
		len -= nr;
	}
	return true;
}

static void write_through(const char *name, const char *text, size_t len)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0 || !write_all(fd, text, len) || close(fd))
		fail("cannot write to '%s': %s", name, strerror(errno));
}

/* A name as /dev/stdout is the file that standard output is already open for. */
static bool is_stdout(const struct stat *st)
{
	struct stat out;

	return !fstat(STDOUT_FILENO, &out) && out.st_dev == st->st_dev && out.st_ino == st->st_ino;
}

/* Also after a crash the directory has the old name or the new one. */
static bool sync_directory(const char *file)
{
	char *copy = text_printf("%s", file);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ok = fd >= 0 && !fsync(fd);

	if (fd >= 0)
		close(fd);
	free(copy);
	return ok;
}

/* @st: what the old file is, or NULL */
static bool fill(int fd, const struct stat *st, const char *text, size_t len)
{
	mode_t mask = umask(0);

	umask(mask);
	/* The owner first: a change of the owner takes bits of the mode away. */
	if (st && (st->st_uid != geteuid() || st->st_gid != getegid()) &&
	    fchown(fd, st->st_uid, st->st_gid))
		return false;
	return !fchmod(fd, st ? st->st_mode & 07777 : 0666 & ~mask) && write_all(fd, text, len) &&
	       !fsync(fd);
}

static void replace(const char *name, const struct stat *st, const char *text, size_t len)
{
	char *new = text_printf("%s.XXXXXX", name);
	int fd = mkostemp(new, O_CLOEXEC), err;

	if (fd < 0)
		fail("cannot write beside '%s': %s", name, strerror(errno));
	if (fill(fd, st, text, len) && !close(fd) && !rename(new, name) && sync_directory(name)) {
		free(new);
		return;
	}
	err = errno;
	unlink(new);
	fail("cannot write '%s': %s", name, strerror(err));
}

/* Makes the file that a dangling link points to; it is replaced afterwards. */
static void make_target(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);

	if (fd < 0 || close(fd))
		fail("cannot write '%s': %s", name, strerror(errno));
}

/**
 * write_file() - make a text what a file has
 * @name: the file
 * @text: the text
 * @len: its bytes
 *
 * Does not return if it cannot.
 */
void write_file(const char *name, const char *text, size_t len)
{
	struct stat st, link;
	char *target;

	if (stat(name, &st)) {
		if (errno != ENOENT)
			fail("cannot write '%s': %s", name, strerror(errno));
		if (lstat(name, &link)) {
			replace(name, NULL, text, len);
			return;
		}
		make_target(name);
		if (stat(name, &st))
			fail("cannot write '%s': %s", name, strerror(errno));
	}
	if (is_stdout(&st)) {
		if (fwrite(text, 1, len, stdout) < len || fflush(stdout))
			fail("cannot write to '%s': %s", name, strerror(errno));
		return;
	}
	if (!S_ISREG(st.st_mode)) {
		write_through(name, text, len);
		return;
	}
	target = realpath(name, NULL);
	if (!target)
		fail("cannot write '%s': %s", name, strerror(errno));
	replace(target, &st, text, len);
	free(target);
}
