// SPDX-License-Identifier: GPL-2.0
/* C names for the things of a .proto. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "reserved.h"

const char *const accessor_prefixes[] = {
	"has_", "clear_", "set_", "setn_", "alloc_", "add_", "attach_", "find_", NULL
};

/* A member's name: what the whole program sees is not in its way. */
static char *member_name(const char *name)
{
	return xasprintf("%s%s", name, reserved_for_members(name) ? "_" : "");
}

char *cname_of(const char *full_name)
{
	char *name = xasprintf("%s", full_name), *p;

	for (p = name; *p; p++)
		if (*p == '.')
			*p = '_';
	return xasprintf("%s%s", name, reserved_as_prefix(name) ? "_" : "");
}

/* -- names within one message or service ------------------------------------- */

struct set {
	void *root;	/* of tsearch() */
};

static int compare_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void set_add(struct set *set, const char *name)
{
	if (!tsearch(name, &set->root, compare_text))
		abort();
}

static bool set_has(const struct set *set, const char *name)
{
	return tfind(name, &set->root, compare_text);
}

/* The names that generated code needs besides the fields' own. */
static void reserve_in_message(const struct message *message, struct set *set)
{
	const char *const *prefix;
	size_t i;

	set_add(set, "new");
	set_add(set, "_has");
	set_add(set, "_empty");
	set_add(set, "_desc");
	for (i = 0; i < message->nr_oneofs; i++)
		set_add(set, xasprintf("%s_case", message->oneofs[i].cname));
	/* C++ has no union with a member of the name of the class that it is in. */
	if (message->nr_oneofs)
		set_add(set, message->cname);
	for (i = 0; i < message->nr_fields; i++)
		for (prefix = accessor_prefixes; *prefix; prefix++)
			set_add(set, xasprintf("%s%s", *prefix, message->fields[i].name));
}

void names_of_message(struct message *message)
{
	struct set set = { NULL }, written = { NULL };
	size_t i;

	for (i = 0; i < message->nr_oneofs; i++)
		message->oneofs[i].cname = message->oneofs[i].proto->name;
	reserve_in_message(message, &set);
	for (i = 0; i < message->nr_fields; i++)
		set_add(&written, message->fields[i].name);
	for (i = 0; i < message->nr_fields; i++) {
		struct field *field = &message->fields[i];
		char *name = member_name(field->name);

		/* A name made by escaping must not displace one written so. */
		while (set_has(&set, name) ||
		       (strcmp(name, field->name) && set_has(&written, name)))
			name = xasprintf("%s_", name);
		field->cname = name;
	}
	for (i = 0; i < message->nr_fields; i++) {
		struct field *field = &message->fields[i];

		if (set_has(&set, field->cname))
			complain(file_where(message->file, field->path),
				 "the C name of field %s is %s, which another field of %s has too: rename one",
				 field->name, field->cname, message->full_name);
		set_add(&set, field->cname);
	}
}

void names_of_service(struct service *service)
{
	static const char *const own[] = {
		"add", "service", "ops", "method", "methods", "schema"
	};
	struct set set = { NULL };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(own); i++)
		set_add(&set, own[i]);
	for (i = 0; i < service->nr_methods; i++) {
		set_add(&set, xasprintf("%s_async", service->methods[i].name));
		set_add(&set, xasprintf("%s_reply", service->methods[i].name));
		set_add(&set, xasprintf("_invoke_%s", service->methods[i].name));
	}
	for (i = 0; i < service->nr_methods; i++) {
		char *name = member_name(service->methods[i].name);

		while (set_has(&set, name))
			name = xasprintf("%s_", name);
		service->methods[i].cname = name;
	}
}

/* -- names of everything ------------------------------------------------------ */

struct taken {
	const char *cname;
	const char *what;
};

static void *all_taken;	/* of tsearch() */

static int compare_taken(const void *a, const void *b)
{
	return strcmp(((const struct taken *)a)->cname, ((const struct taken *)b)->cname);
}

static void take(const char *cname, struct where at, const char *what, const char *otherwise)
{
	struct taken *taken = xalloc(1, sizeof(*taken)), **found;

	if (reserved_whole(cname)) {
		complain(at, "the C name %s of %s is also one of the C library: rename it%s",
			 cname, what, otherwise);
		return;
	}
	*taken = (struct taken){ cname, what };
	found = tsearch(taken, &all_taken, compare_taken);
	if (!found)
		abort();
	if (*found != taken)
		complain(at, "the C name %s of %s is also that of %s: rename one%s", cname, what,
			 (*found)->what, otherwise);
}

void name_take(const char *cname, struct where at, const char *what)
{
	take(cname, at, what, ", or its message, enum or service in C (options c_*, mrpcc(1))");
}

void name_take_macro(const char *macro, struct where at, const char *what)
{
	take(macro, at, what, "");
}

void names_forget(void)
{
	all_taken = NULL;
}
