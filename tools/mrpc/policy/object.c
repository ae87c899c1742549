// SPDX-License-Identifier: GPL-2.0
/* Object files with policies: what is in them, and giving them to the kernel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "cli/util.h"
#include "nl/decode.h"
#include "policy/check.h"
#include "policy/log.h"
#include "policy/name.h"
#include "policy/object.h"
#include "policy/type.h"

#define LOG_SIZE	(1 << 20)	/* the end is what counts, and is kept */
#define MAP_LINK	(1U << 13)	/* BPF_F_LINK, which older headers do not have */

/* What libbpf says: it is printed, or kept in case that something fails. */
static struct {
	bool debug;
	char *text;
	size_t len;
	FILE *out;
} said;

static int __attribute__((format(printf, 2, 0))) hear(enum libbpf_print_level level,
						      const char *fmt, va_list args)
{
	va_list again;

	va_copy(again, args);
	if (said.debug)
		vfprintf(stderr, fmt, args);
	if (level == LIBBPF_WARN)
		vfprintf(said.out, fmt, again);
	va_end(again);
	return 0;
}

/* What libbpf said first, which is nearest to the cause, without its name. */
static char *first_said(void)
{
	const char *line;

	fflush(said.out);
	line = said.text;
	if (!strncmp(line, "libbpf: ", 8))
		line += 8;
	return clean_text(line, strcspn(line, "\n"));
}

static char *error_text(int err)
{
	char text[128];

	libbpf_strerror(err, text, sizeof(text));
	return text_printf("%s", text);
}

/* What policy a map is, or NULL. */
static const struct policy_type *type_of(const struct bpf_object *object, const struct bpf_map *map)
{
	const struct btf *btf = bpf_object__btf(object);
	const struct policy_type *type;
	const struct btf_type *t;
	const char *name;

	if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS)
		return NULL;
	t = btf__type_by_id(btf, bpf_map__btf_value_type_id(map));
	name = t ? btf__name_by_offset(btf, t->name_off) : NULL;
	for (type = policy_types; name && type->name; type++)
		if (!strcmp(name, type->ops))
			return type;
	return NULL;
}

/* Does not return if it cannot be read. */
static void look_at(const struct policy_file *f, struct policy *p, struct bpf_map *map)
{
	size_t size;

	p->map = map;
	p->ops = bpf_map__initial_value(map, &size);
	if (!p->ops || size != p->type->size)
		fail("%s: the struct %s '%s' has %zu bytes, not %zu: compile it with this "
		     "version's header",
		     f->path, p->type->ops, bpf_map__name(map), size, p->type->size);
	p->decl = p->ops + size - sizeof(*p->decl);
	p->name = text_printf("%.*s", MRPC_POLICY_NAME, p->decl->name);
	p->version = p->decl->version ?: 1;
}

/* Does not return if a policy is declared wrongly. */
static void look_through(const struct policy_file *f)
{
	const char *map;
	char *why;
	int i;

	for (i = 0; i < f->nr; i++) {
		map = bpf_map__name(f->policies[i].map);
		why = policy_check(&f->policies[i]);
		if (why)
			fail("%s: the policy '%s' is declared wrongly: %s", f->path, map, why);
		if (!(bpf_map__map_flags(f->policies[i].map) & MAP_LINK))
			fail("%s: the policy '%s' is in the section '.struct_ops': it must be in "
			     "'.struct_ops.link', as MRPC_POLICY_OPS says",
			     f->path, map);
	}
}

/**
 * policy_open() - see what policies an object file has
 * @f: out
 * @path: the file
 * @debug: print all that libbpf says
 *
 * Does not return if there is none.
 */
void policy_open(struct policy_file *f, const char *path, bool debug)
{
	const struct policy_type *type;
	struct bpf_map *map;

	if (access(path, R_OK))
		fail("cannot open '%s': %s", path, strerror(errno));
	said.debug = debug;
	said.out = open_text(&said.text, &said.len);
	libbpf_set_print(hear);
	*f = (struct policy_file) { .path = path, .object = bpf_object__open_file(path, NULL) };
	if (!f->object)
		fail("'%s' is no BPF object (%s): 'clang -target bpf -O2 -g -c' makes one", path,
		     *first_said() ? first_said() : error_text(errno));
	bpf_object__for_each_map(map, f->object) {
		type = type_of(f->object, map);
		if (!type)
			continue;
		f->policies = realloc(f->policies, (f->nr + 1) * sizeof(*f->policies));
		if (!f->policies)
			fail("out of memory");
		f->policies[f->nr] = (struct policy) { .type = type };
		look_at(f, &f->policies[f->nr++], map);
	}
	if (!f->nr)
		fail("%s: there is no policy in it: no 'MRPC_POLICY_OPS struct mrpc_policy_ops', "
		     "nor of another type",
		     path);
}

static char *list_policies(const struct policy_file *f)
{
	size_t len = 0;
	char *text = NULL;
	FILE *out = open_text(&text, &len);
	int i;

	for (i = 0; i < f->nr; i++)
		fprintf(out, "%s'%s'", i ? ", " : "",
			policy_label(f->policies[i].name, f->policies[i].version));
	fclose(out);
	return text;
}

/**
 * policy_choose() - which of a file's policies are wanted
 * @f: the file
 * @name: of the only one
 * @version: of it; 0: any
 *
 * Does not return if it is not there.
 */
void policy_choose(struct policy_file *f, const char *name, uint32_t version)
{
	struct policy *chosen = NULL;
	int i;

	for (i = 0; i < f->nr; i++) {
		struct policy *p = &f->policies[i];

		if (strcmp(p->name, name) || (version && p->version != version))
			continue;
		if (chosen)
			fail("%s: it has %s: which of them?", f->path, list_policies(f));
		chosen = p;
	}
	if (!chosen)
		fail("%s: there is no policy '%s' in it, but %s", f->path,
		     version ? policy_label(name, version) : name, list_policies(f));
	for (i = 0; i < f->nr; i++)
		if (&f->policies[i] != chosen)
			bpf_map__set_autocreate(f->policies[i].map, false);
	f->policies[0] = *chosen;
	f->nr = 1;
}

/* -- to the kernel ------------------------------------------------------------------ */

/* The module that has the types must be there before libbpf looks for them, and be seen. */
static void need_types(const struct policy_file *f)
{
	uint32_t id;

	if (access("/sys/module/mrpc", F_OK))
		fail("the kernel does not know mrpc; is the module loaded ('modprobe mrpc')?");
	if (access("/sys/kernel/btf/mrpc", F_OK))
		fail("the kernel, or its module mrpc, has no BTF: policies cannot be loaded");
	if (bpf_btf_get_next_id(0, &id) == -EPERM)
		fail("%s: it cannot be loaded: %s", f->path, explain_words(strerror(EPERM)));
}

/* The program that the verifier has refused, and what it says. */
static void __attribute__((noreturn)) refused(const struct policy_file *f,
					      const struct bpf_program *prog, const char *log)
{
	char *source, *found = explain_log(log, &source);
	const char *words = explain_words(found);

	if (said.debug)
		fputs(log, stderr);
	fail("%s: the kernel's verifier refuses the program '%s'%s%s%s%s%s%s", f->path,
	     bpf_program__name(prog), words ? ": " : "", words ?: "", source ? "\n    " : "",
	     source ?: "", found, said.debug ? "" : "\n'--debug' prints its whole log");
}

static void __attribute__((noreturn)) not_loaded(const struct policy_file *f, int err)
{
	struct bpf_program *prog, *last = NULL;
	const char *words, *log;
	size_t size;

	/* They are loaded in their order: the last one that the verifier has looked at. */
	bpf_object__for_each_program(prog, f->object) {
		log = bpf_program__log_buf(prog, &size);
		if (log && *log)
			last = prog;
	}
	if (last)
		refused(f, last, bpf_program__log_buf(last, &size));
	fflush(said.out);
	words = explain_words(said.text);
	if (err == -EPERM)
		words = explain_words(strerror(EPERM));
	fail("%s: it cannot be loaded: %s\n    %s", f->path, words ?: error_text(-err),
	     first_said());
}

/**
 * policy_give() - have the kernel verify the programs, and make the maps
 * @f: the file
 *
 * Does not return if a policy is declared wrongly, or refused; nothing is attached yet.
 */
void policy_give(struct policy_file *f)
{
	struct bpf_program *prog;
	int err;

	look_through(f);
	need_types(f);
	bpf_object__for_each_program(prog, f->object) {
		char *log = calloc(1, LOG_SIZE);

		if (!log)
			fail("out of memory");
		bpf_program__set_log_buf(prog, log, LOG_SIZE);
		if (said.debug)
			bpf_program__set_log_level(prog, 1);
	}
	err = bpf_object__load(f->object);
	if (err)
		not_loaded(f, err);
	if (!said.debug)
		return;
	bpf_object__for_each_program(prog, f->object) {
		size_t size;

		fprintf(stderr, "%s:\n%s", bpf_program__name(prog),
			bpf_program__log_buf(prog, &size));
	}
}

/* -- its maps --------------------------------------------------------------------------- */

/* Does it have global variables in it? */
bool map_is_global(const struct bpf_map *map)
{
	return bpf_map__is_internal(map);
}

/* Is it something that a policy knows, and the next one is to know? Not constants. */
bool map_is_state(const struct bpf_map *map)
{
	const char *name = bpf_map__name(map);

	if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS || !bpf_map__autocreate(map))
		return false;
	return !bpf_map__is_internal(map) || (!strstr(name, ".rodata") && !strstr(name, ".kconfig"));
}

/* Its name, in which that of the object, which global variables have, does not matter. */
const char *map_label(const struct bpf_map *map)
{
	const char *dot = map_is_global(map) ? strchr(bpf_map__name(map), '.') : NULL;

	return dot ?: bpf_map__name(map);
}

/* What its pin is called: dots are not allowed there. */
char *map_pin_name(const struct bpf_map *map)
{
	char *name = text_printf("%s", map_label(map)), *at;

	for (at = name; (at = strchr(at, '.'));)
		*at = '_';
	return name;
}
