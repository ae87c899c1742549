// SPDX-License-Identifier: GPL-2.0
/* C names for the things of a .proto. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

/*
 * Keywords of C (to C23) and C++ (to C++20), and macros of the C library and of
 * gcc's default mode that look like names. Sorted, for bsearch.
 */
static const char *const reserved[] = {
	"EOF", "I", "NULL", "_Alignas", "_Alignof", "_Atomic", "_Bool", "_Complex",
	"_Generic", "_Imaginary", "_Noreturn", "_Static_assert", "_Thread_local",
	"alignas", "alignof", "and", "and_eq", "asm", "assert", "auto", "bitand",
	"bitor", "bool", "break", "case", "catch", "char", "char16_t", "char32_t",
	"char8_t", "class", "co_await", "co_return", "co_yield", "compl", "complex",
	"concept", "const", "const_cast", "consteval", "constexpr", "constinit",
	"continue", "decltype", "default", "delete", "do", "double", "dynamic_cast",
	"else", "enum", "errno", "explicit", "export", "extern", "false", "float",
	"for", "friend", "goto", "i386", "if", "imaginary", "inline", "int", "linux",
	"long", "mutable", "namespace", "new", "noexcept", "noreturn", "not", "not_eq",
	"nullptr", "offsetof", "operator", "or", "or_eq", "private", "protected",
	"public", "register", "reinterpret_cast", "requires", "restrict", "return",
	"short", "signed", "sizeof", "static", "static_assert", "static_cast",
	"stderr", "stdin", "stdout", "struct", "switch", "template", "this",
	"thread_local", "throw", "true", "try", "typedef", "typeid", "typename",
	"typeof", "typeof_unqual", "union", "unix", "unsigned", "using", "virtual",
	"void", "volatile", "wchar_t", "while", "xor", "xor_eq",
};

const char *const accessor_prefixes[] = {
	"has_", "clear_", "set_", "setn_", "alloc_", "attach_", "find_", NULL
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char *cname_escape(const char *name)
{
	bool found = bsearch(&name, reserved, ARRAY_SIZE(reserved), sizeof(*reserved),
			     compare_names);

	return xasprintf("%s%s", name, found ? "_" : "");
}

char *cname_of(const char *full_name)
{
	char *name = xasprintf("%s", full_name), *p;

	for (p = name; *p; p++)
		if (*p == '.')
			*p = '_';
	return cname_escape(name);
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
	for (i = 0; i < message->nr_oneofs; i++)
		set_add(set, xasprintf("%s_case", message->oneofs[i].cname));
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
		char *name = cname_escape(field->name);

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
		set_add(&set, xasprintf("invoke_%s", service->methods[i].name));
	}
	for (i = 0; i < service->nr_methods; i++) {
		char *name = cname_escape(service->methods[i].name);

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

void name_take(const char *cname, struct where at, const char *what)
{
	struct taken *taken = xalloc(1, sizeof(*taken)), **found;

	*taken = (struct taken){ cname, what };
	found = tsearch(taken, &all_taken, compare_taken);
	if (!found)
		abort();
	if (*found != taken)
		complain(at, "the C name %s of %s is also that of %s: rename one", cname, what,
			 (*found)->what);
}

void names_forget(void)
{
	all_taken = NULL;
}
