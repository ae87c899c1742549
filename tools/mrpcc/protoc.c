// SPDX-License-Identifier: GPL-2.0
/* Running protoc, which parses .proto files for us. */
#include <errno.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protoc.h"
#include "slurp.h"
#include "lib/ds/types.h"

extern char **environ;

/* Its answer comes through a pipe, what it says goes to the file @said. */
static pid_t start(char **argv, int fds[2], int said)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int ret;

	if (pipe(fds)) {
		perror("mrpcc: pipe");
		return -1;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
	posix_spawn_file_actions_addclose(&actions, fds[0]);
	posix_spawn_file_actions_addclose(&actions, fds[1]);
	ret = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (!ret)
		return pid;
	close(fds[0]);
	fprintf(stderr, "mrpcc: cannot run %s: %s%s\n", argv[0], strerror(ret),
		ret == ENOENT ? " (it is in the package protobuf-compiler)" : "");
	return -1;
}

/* Where mrpc/options.proto is: beside bin/ as installed, or beside the program as built. */
static char *own_includes(void)
{
	static const char *const places[] = { "../include", "include" };
	char exe[4096], *dir;
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	size_t i;

	if (len < 0)
		return NULL;
	exe[len] = '\0';
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		dir = xasprintf("%s/%s", dirname(strcpy(xalloc(len + 1, 1), exe)), places[i]);
		if (!access(xasprintf("%s/mrpc/options.proto", dir), R_OK))
			return dir;
	}
	return NULL;
}

/* -- what protoc says ------------------------------------------------------------- */

#define NOT_FOUND	": File not found."

static void advise(struct buf *out, const char *line, const struct search *search)
{
	const char *end = strstr(line, NOT_FOUND);
	size_t i;

	if (!end)
		return;
	buf_printf(out, "mrpcc: %.*s is in none of the directories searched (", (int)(end - line),
		   line);
	for (i = 0; i < search->nr; i++)
		buf_printf(out, "%s%s", i ? ", " : "", search->dirs[i]);
	buf_printf(out, "): give the one that it is in with -I\n");
}

/* Errors stand before warnings, which did not stop it. */
static void sort_lines(struct protoc_says *says, char *text, const struct search *search)
{
	char *line;

	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		bool warning = strstr(line, ": warning: ") || strstr(line, "libprotobuf WARNING");

		buf_printf(warning ? &says->warnings : &says->errors, "%s\n", line);
		if (!warning)
			advise(&says->errors, line, search);
	}
}

static void hear(FILE *file, struct protoc_says *says, const struct search *search)
{
	struct buf text = { 0 };

	rewind(file);
	if (!slurp(file, &text))
		perror("mrpcc: reading what protoc says");
	if (text.len)
		sort_lines(says, text.data, search);
}

/* -- running it ------------------------------------------------------------------- */

struct search search_in(char **includes, size_t nr_includes)
{
	struct search search = { xalloc(nr_includes + 2, sizeof(*search.dirs)), 0 };
	char *own = own_includes();
	size_t i;

	for (i = 0; i < nr_includes; i++)
		search.dirs[search.nr++] = includes[i];
	/* protoc looks in the current directory only if it is told none. */
	if (!nr_includes)
		search.dirs[search.nr++] = ".";
	if (own)
		search.dirs[search.nr++] = own;
	return search;
}

const char *search_find(const struct search *search, const char *name)
{
	size_t i;

	for (i = 0; i < search->nr; i++) {
		const char *dir = search->dirs[i];
		char *path = strcmp(dir, ".") ? xasprintf("%s/%s", dir, name) :
						xasprintf("%s", name);

		if (!access(path, R_OK))
			return path;
	}
	return NULL;
}

static char **arguments(const struct search *search, const char *path)
{
	char **argv = xalloc(search->nr + 6, sizeof(*argv));
	size_t n = 0, i;

	argv[n++] = "protoc";
	argv[n++] = "--descriptor_set_out=/dev/stdout";
	argv[n++] = "--include_imports";
	argv[n++] = "--include_source_info";
	for (i = 0; i < search->nr; i++)
		argv[n++] = xasprintf("-I%s", search->dirs[i]);
	/* It has no "--" to end the options. */
	argv[n] = xasprintf("%s%s", *path == '-' ? "./" : "", path);
	return argv;
}

/* Return: whether it ended well. */
static bool run(char **argv, FILE *said, struct buf *out)
{
	int fds[2], status;
	FILE *stream;
	pid_t pid = start(argv, fds, fileno(said));

	if (pid < 0)
		return false;
	stream = fdopen(fds[0], "r");
	if (!stream || !slurp(stream, out)) {
		perror("mrpcc: reading from protoc");
		out->len = 0;
	}
	if (stream)
		fclose(stream);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

FileSetProto *protoc_parse(const struct search *search, const char *path, struct protoc_says *says)
{
	FileSetProto *set = NULL;
	struct buf out = { 0 };
	FILE *said = tmpfile();
	bool ok;

	if (!said) {
		perror("mrpcc: no file for what protoc says");
		return NULL;
	}
	ok = run(arguments(search, path), said, &out);
	hear(said, says, search);
	fclose(said);
	if (!ok)
		return NULL;
	if (out.len)
		set = google__protobuf__file_descriptor_set__unpack(NULL, out.len,
								    (uint8_t *)out.data);
	if (!set || !set->n_file) {
		buf_printf(&says->errors, "mrpcc: protoc's answer about %s makes no sense\n", path);
		return NULL;
	}
	return set;
}
