// SPDX-License-Identifier: GPL-2.0
/* Scopes, as people write them: which datapaths a placement is for. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/util.h"
#include "cli/words.h"
#include "engine/scope.h"
#include "nl/body.h"
#include "show/json.h"

#define FILEID_KERNFS	0xfe	/* of the kernel: a handle that is a cgroup's id */

/* -- cgroups -------------------------------------------------------------------- */

union cgroup_handle {
	struct file_handle handle;
	struct {
		unsigned int bytes;
		int type;
		uint64_t id;
	} __attribute__((packed)) kernfs;
};

static const char cgroup_root[] = "/sys/fs/cgroup";

/* A path below the cgroup file system, with or without its own path before it. */
static uint64_t cgroup_id(const char *path)
{
	bool whole = !strncmp(path, cgroup_root, strlen(cgroup_root));
	char *full = text_printf("%s%s%s", whole ? "" : cgroup_root, whole || *path == '/' ? "" : "/",
				 path);
	union cgroup_handle h = { .kernfs.bytes = sizeof(h.kernfs.id) };
	int mount;

	if (name_to_handle_at(AT_FDCWD, full, &h.handle, &mount, 0))
		fail("there is no cgroup '%s': %s: %s", path, full, strerror(errno));
	if (h.kernfs.type != FILEID_KERNFS)
		fail("'%s' is not a cgroup", full);
	free(full);
	return h.kernfs.id;
}

/* Its path below the root, or NULL: it is gone, or we may not look. */
static char *cgroup_path(uint64_t id)
{
	union cgroup_handle h = {
		.kernfs = { .bytes = sizeof(id), .type = FILEID_KERNFS, .id = id },
	};
	int root = open(cgroup_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
	char link[64], path[4096], *result = NULL;
	ssize_t len;

	if (root >= 0)
		fd = open_by_handle_at(root, &h.handle, O_PATH | O_CLOEXEC);
	if (fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		len = readlink(link, path, sizeof(path) - 1);
		path[len > 0 ? len : 0] = 0;
		if (!strncmp(path, cgroup_root, strlen(cgroup_root)))
			result = text_printf("%s", path[strlen(cgroup_root)] ?
					     path + strlen(cgroup_root) : "/");
		close(fd);
	}
	if (root >= 0)
		close(root);
	return result;
}

/* -- scopes ---------------------------------------------------------------------- */

static uint32_t need_user(struct args *args)
{
	const char *word = need_word(args, "the user after 'uid'");
	struct passwd *user;
	char *end;
	unsigned long uid = strtoul(word, &end, 10);

	if (*word >= '0' && *word <= '9' && !*end && uid < UINT32_MAX)
		return uid;
	user = getpwnam(word);
	if (!user)
		usage("there is no user '%s'", word);
	return user->pw_uid;
}

static uint64_t need_cgroup(struct args *args)
{
	const char *word = need_word(args, "the path after 'cgroup'");
	char *end;
	uint64_t id = strtoull(word, &end, 10);

	return *word >= '0' && *word <= '9' && !*end ? id : cgroup_id(word);
}

static uint32_t need_side(struct args *args)
{
	static const struct word sides[] = { { "client" }, { "server" }, { } };
	const char *word = need_word(args, "'client' or 'server' after 'side'");

	return !strcmp(find_word(sides, word, "a side")->name, "client") ?
	       MRPC_SCOPE_SIDE_CLIENT : MRPC_SCOPE_SIDE_SERVER;
}

static const struct word scope_words[] = {
	{ "service" }, { "session" }, { "pid" }, { "uid" }, { "cgroup" }, { "datapath" }, { "side" },
	{ }
};

bool is_scope_word(const char *word)
{
	const struct word *w;

	for (w = scope_words; word && w->name; w++)
		if (!strcmp(w->name, word))
			return true;
	return false;
}

/**
 * parse_scope() - the words after 'scope'
 * @args: the words; those of the scope are taken
 * @b: gets the scope
 */
void parse_scope(struct args *args, struct body *b)
{
	size_t nest = body_nest(b, MRPC_A_ENGINE_SCOPE);
	unsigned int seen = 0, bit;
	const char *word;

	if (!is_scope_word(peek_word(args)))
		find_word(scope_words, need_word(args, "what follows 'scope'"), "a scope");
	while (is_scope_word(peek_word(args))) {
		word = next_word(args);
		bit = 1 << (find_word(scope_words, word, "a scope") - scope_words);
		if (seen & bit)
			usage("'%s' is given twice", word);
		seen |= bit;
		if (!strcmp(word, "service"))
			body_text(b, MRPC_A_SCOPE_SERVICE,
				  need_word(args, "the name after 'service'"));
		else if (!strcmp(word, "session"))
			body_u32(b, MRPC_A_SCOPE_SESSION, need_id(args, word));
		else if (!strcmp(word, "pid"))
			body_u32(b, MRPC_A_SCOPE_PID, need_id(args, word));
		else if (!strcmp(word, "uid"))
			body_u32(b, MRPC_A_SCOPE_UID, need_user(args));
		else if (!strcmp(word, "cgroup"))
			body_u64(b, MRPC_A_SCOPE_CGROUP, need_cgroup(args));
		else if (!strcmp(word, "datapath"))
			body_u32(b, MRPC_A_SCOPE_DATAPATH, need_id(args, word));
		else
			body_u32(b, MRPC_A_SCOPE_SIDE, need_side(args));
	}
	body_end(b, nest);
}

/**
 * portable_scope() - a scope that means the same after the next boot
 * @scope: as the kernel gave it
 *
 * Return: a new object with the path of a cgroup, not its number; NULL if it names
 * a session, process or datapath, which will be gone.
 */
struct json_object *portable_scope(struct json_object *scope)
{
	struct json_object *copy = NULL;
	char *path;

	if (json_at(scope, "session") || json_at(scope, "pid") || json_at(scope, "datapath"))
		return NULL;
	if (json_object_deep_copy(scope, &copy, NULL))
		fail("out of memory");
	if (!json_at(copy, "cgroup"))
		return copy;
	path = cgroup_path(number_at(copy, "cgroup"));
	if (!path) {
		json_object_put(copy);
		return NULL;
	}
	json_object_object_add(copy, "cgroup", json_object_new_string(path));
	free(path);
	return copy;
}

/* A scope that portable_scope() has made, into a request. */
void put_scope(struct body *b, struct json_object *scope)
{
	struct json_object *side = json_at(scope, "side");
	size_t nest = body_nest(b, MRPC_A_ENGINE_SCOPE);

	if (json_at(scope, "service"))
		body_text(b, MRPC_A_SCOPE_SERVICE, string_at(scope, "service"));
	if (json_at(scope, "uid"))
		body_u32(b, MRPC_A_SCOPE_UID, number_at(scope, "uid"));
	if (json_at(scope, "cgroup"))
		body_u64(b, MRPC_A_SCOPE_CGROUP, cgroup_id(string_at(scope, "cgroup")));
	if (side && json_object_is_type(side, json_type_array) && json_object_array_length(side))
		body_u32(b, MRPC_A_SCOPE_SIDE,
			 !strcmp(json_object_get_string(json_object_array_get_idx(side, 0)),
				 "client") ? MRPC_SCOPE_SIDE_CLIENT : MRPC_SCOPE_SIDE_SERVER);
	body_end(b, nest);
}

/* "service=kv.Store,side=client", or "all" */
char *text_scope(struct json_object *scope)
{
	char *text = NULL, *path;
	size_t len = 0;
	int nr = 0;
	FILE *out;

	if (!scope || !json_object_object_length(scope))
		return text_printf("all");
	out = open_text(&text, &len);
	json_object_object_foreach(scope, key, value) {
		fprintf(out, "%s%s=", nr++ ? "," : "", key);
		path = !strcmp(key, "cgroup") ? cgroup_path(json_object_get_uint64(value)) : NULL;
		if (json_object_is_type(value, json_type_array))
			value = json_object_array_get_idx(value, 0);
		fputs(path ?: json_object_get_string(value), out);
		free(path);
	}
	fclose(out);
	return text;
}
