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

static pid_t start(char **argv, int fds[2])
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

FileSetProto *protoc_parse(char **includes, size_t nr_includes, const char *path)
{
	char **argv = xalloc(nr_includes + 8, sizeof(*argv));
	char *own = own_includes();
	FileSetProto *set = NULL;
	struct buf out = { 0 };
	int fds[2], status;
	size_t n = 0, i;
	FILE *stream;
	pid_t pid;

	argv[n++] = "protoc";
	argv[n++] = "--descriptor_set_out=/dev/stdout";
	argv[n++] = "--include_imports";
	argv[n++] = "--include_source_info";
	for (i = 0; i < nr_includes; i++)
		argv[n++] = xasprintf("-I%s", includes[i]);
	/* protoc looks in the current directory only if it is told none. */
	if (own && !nr_includes)
		argv[n++] = "-I.";
	if (own)
		argv[n++] = xasprintf("-I%s", own);
	/* It has no "--" to end the options. */
	argv[n++] = xasprintf("%s%s", *path == '-' ? "./" : "", path);
	pid = start(argv, fds);
	if (pid < 0)
		return NULL;

	stream = fdopen(fds[0], "r");
	if (!stream || !slurp(stream, &out)) {
		perror("mrpcc: reading from protoc");
		out.len = 0;
	}
	if (stream)
		fclose(stream);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		return NULL;	/* protoc has said why */
	if (out.len)
		set = google__protobuf__file_descriptor_set__unpack(NULL, out.len,
								    (uint8_t *)out.data);
	if (!set || !set->n_file) {
		fprintf(stderr, "mrpcc: protoc's answer about %s makes no sense\n", path);
		return NULL;
	}
	return set;
}
