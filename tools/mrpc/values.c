// SPDX-License-Identifier: GPL-2.0
/* Numbers with units, and scopes, as people write them. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/mrpc_netlink.h>

#include "tool.h"

#define FILEID_KERNFS	0xfe	/* of the kernel: a handle that is a cgroup's id */

/* -- numbers ------------------------------------------------------------------ */

struct suffix {
	const char *name;
	uint64_t factor;
};

/* From large to small, as they are looked for when a value is shown. */
static const struct suffix times[] = {
	{ "h", 3600000000000 }, { "m", 60000000000 }, { "s", 1000000000 }, { "ms", 1000000 },
	{ "us", 1000 }, { "ns", 1 }, { }
};
static const struct suffix thousands[] = {
	{ "T", 1000000000000 }, { "G", 1000000000 }, { "M", 1000000 }, { "k", 1000 },
	{ "K", 1000 }, { "", 1 }, { }
};
static const struct suffix powers[] = {
	{ "Ti", 1ULL << 40 }, { "Gi", 1 << 30 }, { "Mi", 1 << 20 }, { "Ki", 1 << 10 }, { }
};

static const struct suffix *find_suffix(const struct suffix *s, const char *text, size_t len)
{
	for (; s->name; s++)
		if (strlen(s->name) == len && !memcmp(s->name, text, len))
			return s;
	return NULL;
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	return len >= strlen(end) && !memcmp(text + len - strlen(end), end, strlen(end));
}

/* What 1 of @unit is, in the unit's smallest: ns for times, parts for percentages. */
static const struct suffix *time_unit(const char *unit)
{
	return unit ? find_suffix(times, unit, strlen(unit)) : NULL;
}

/* "0.01%": the numbers are hundredths of a percent. Return: 100; 1 for "%"; 0: another unit. */
static uint64_t percent_parts(const char *unit)
{
	double part;
	char *end;

	if (!unit || !ends_with(unit, strlen(unit), "%"))
		return 0;
	part = strtod(unit, &end);
	return end == unit || part <= 0 ? 1 : (uint64_t)(1 / part + 0.5);
}

/* The factor of what stands behind the digits; 0: it is no such thing. */
static uint64_t suffix_factor(const char *text, const char *unit)
{
	const struct suffix *s;
	size_t len = strlen(text);

	if (time_unit(unit)) {
		s = len ? find_suffix(times, text, len) : time_unit(unit);
		return s ? s->factor : 0;
	}
	if (percent_parts(unit))
		return !len || !strcmp(text, "%") ? percent_parts(unit) : 0;
	if (unit && ends_with(unit, strlen(unit), "/s") && ends_with(text, len, "/s"))
		len -= 2;
	if (unit && !strncmp(unit, "bytes", 5) && ends_with(text, len, "B"))
		len--;
	s = find_suffix(thousands, text, len) ?: find_suffix(powers, text, len);
	return s ? s->factor : 0;
}

static const char *unit_help(const char *unit)
{
	if (time_unit(unit))
		return "a time, as 200ms";
	if (percent_parts(unit))
		return "a percentage, as 10%";
	if (unit && !strncmp(unit, "bytes", 5))
		return "a number of bytes, as 64k or 16MiB";
	return "a number, as 500 or 10k";
}

/* @digits, of which @point (if any) are before a point, times @factor. */
static bool scale(const char *digits, size_t len, uint64_t factor, unsigned __int128 *value)
{
	unsigned __int128 v = 0, fraction = 1;
	bool behind = false;
	size_t i;

	for (i = 0; i < len; i++) {
		if (digits[i] == '.') {
			behind = true;
			continue;
		}
		v = v * 10 + (digits[i] - '0');
		if (behind)
			fraction *= 10;
	}
	v *= factor;
	*value = v / fraction;
	return !(v % fraction);
}

/**
 * parse_value() - a number as people write it
 * @word: "500", "1.5k", "16MiB", "200ms", "10%", "unlimited"
 * @unit: what the number counts, or NULL
 * @value: out; all ones for "unlimited"
 * @why: out, on failure: what would be right
 */
bool parse_value(const char *word, const char *unit, uint64_t *value, char **why)
{
	size_t len = strspn(word, "0123456789.");
	uint64_t factor = suffix_factor(word + len, unit);
	const struct suffix *time = time_unit(unit);
	unsigned __int128 v;

	if (!strcmp(word, "unlimited")) {
		*value = UINT64_MAX;
		return true;
	}
	/* 20 digits are more than any number has, and times a factor no overflow. */
	if (!len || *word == '.' || len > 20 || memchr(word, '.', len) != memrchr(word, '.', len) ||
	    word[len - 1] == '.' || !factor) {
		*why = text_printf("'%s' is not %s", word, unit_help(unit));
		return false;
	}
	if (!scale(word, len, factor, &v) || (time && v % time->factor)) {
		*why = text_printf("'%s' is not a whole number of %s", word,
				   unit && *unit != '/' ? unit : "these");
		return false;
	}
	if (time)
		v /= time->factor;
	if (v >= UINT64_MAX) {
		*why = text_printf("'%s' is too large; the word for no limit is 'unlimited'", word);
		return false;
	}
	*value = v;
	return true;
}

static char *text_suffix(uint64_t value, const struct suffix *s, const char *more)
{
	while (s->factor > 1 && value % s->factor)
		s++;
	return s->name ? text_printf("%llu%s%s", (unsigned long long)(value / s->factor), s->name,
				     more) : NULL;
}

/* A number so that parse_value() gives it again; the caller frees it. */
char *text_value(uint64_t value, const char *unit)
{
	const struct suffix *time = time_unit(unit);
	uint64_t parts = percent_parts(unit);
	char *text = NULL;

	if (value == UINT64_MAX)
		return text_printf("unlimited");
	if (!value)
		return text_printf("0");
	if (time && value <= UINT64_MAX / time->factor)
		return text_suffix(value * time->factor, times, "");
	if (parts > 1)
		return text_printf("%g%%", (double)value / parts);
	if (parts)
		return text_printf("%llu%%", (unsigned long long)value);
	if (unit && !strncmp(unit, "bytes", 5) && !(value & 1023))
		text = text_suffix(value, powers, "B");
	return text ?: text_suffix(value, thousands, "");
}

/* A time with its unit, in ns. */
uint64_t need_time(struct args *args, const char *what)
{
	const char *word = need_word(args, what);
	uint64_t value;
	char *why;

	if (!parse_value(word, "ns", &value, &why) || value == UINT64_MAX ||
	    strspn(word, "0123456789.") == strlen(word))
		usage("'%s' is not %s: it must be a time with its unit, as 200ms", word, what);
	return value;
}

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

static bool is_scope_word(const char *word)
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
