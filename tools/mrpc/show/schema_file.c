// SPDX-License-Identifier: GPL-2.0
/*
 * Binary schemas in files, as mrpcc --schema-out writes them: checking one as
 * the kernel would, and having the kernel compile it in advance.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <json-c/json.h>

#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "lib/message/schema.h"
#include "mrpcc/sha256.h"
#include "show/json.h"
#include "show/print.h"
#include "show/schema_file.h"

static const char *const kinds[] = {
	[MRPC_KIND_BOOL] = "bool", [MRPC_KIND_INT32] = "int32", [MRPC_KIND_SINT32] = "sint32",
	[MRPC_KIND_UINT32] = "uint32", [MRPC_KIND_FIXED32] = "fixed32",
	[MRPC_KIND_SFIXED32] = "sfixed32", [MRPC_KIND_FLOAT] = "float",
	[MRPC_KIND_ENUM] = "enum", [MRPC_KIND_INT64] = "int64", [MRPC_KIND_SINT64] = "sint64",
	[MRPC_KIND_UINT64] = "uint64", [MRPC_KIND_FIXED64] = "fixed64",
	[MRPC_KIND_SFIXED64] = "sfixed64", [MRPC_KIND_DOUBLE] = "double",
	[MRPC_KIND_STRING] = "string", [MRPC_KIND_BYTES] = "bytes",
	[MRPC_KIND_MESSAGE] = "message",
};

static void __attribute__((noreturn)) fail_schema(const char *file,
						  const struct mrpc_schema_error *err)
{
	fail("%s: %s %u: %s (%llu)", file, err->table, err->index, err->what,
	     (unsigned long long)err->value);
}

static struct mrpc_schema_plan *compile(const char *file, const void *data, size_t len,
					size_t *plan_len)
{
	struct mrpc_schema_error err = { };
	struct mrpc_schema_plan *plan;
	s64 size = mrpc_schema_size(data, len, &err);

	if (size < 0)
		fail_schema(file, &err);
	plan = calloc(1, size);
	if (!plan)
		fail("out of memory");
	if (mrpc_schema_compile(data, len, plan, size, &err))
		fail_schema(file, &err);
	*plan_len = size;
	return plan;
}

static void add_string(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, json_object_new_string(text));
}

static void add_number(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static struct json_object *json_methods(const struct mrpc_schema_plan *plan)
{
	struct json_object *array = json_object_new_array();
	u32 i;

	for (i = 0; i < plan->nr_methods; i++) {
		const struct mrpc_method *m = &plan->methods[i];
		struct json_object *object = json_object_new_object();

		add_number(object, "index", i);
		add_string(object, "name", plan->names + m->name);
		add_string(object, "request", plan->names + plan->types[m->request].name);
		add_number(object, "request_size", plan->types[m->request].size);
		add_string(object, "reply", plan->names + plan->types[m->reply].name);
		add_number(object, "reply_size", plan->types[m->reply].size);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *json_field(const struct mrpc_schema_plan *plan,
				      const struct mrpc_field *f)
{
	struct json_object *object = json_object_new_object();

	add_string(object, "name", plan->names + f->name);
	add_number(object, "number", f->number);
	add_string(object, "type", f->kind == MRPC_KIND_MESSAGE ?
		   plan->names + plan->types[f->type].name : kinds[f->kind]);
	add_number(object, "offset", f->offset);
	if (f->flags & MRPC_FIELD_REPEATED)
		json_object_object_add(object, "repeated", json_object_new_boolean(1));
	if (f->flags & MRPC_FIELD_OPTIONAL)
		json_object_object_add(object, "optional", json_object_new_boolean(1));
	if (f->oneof != MRPC_SCHEMA_NO_ONEOF)
		add_number(object, "oneof", f->oneof);
	return object;
}

static struct json_object *json_types(const struct mrpc_schema_plan *plan)
{
	struct json_object *array = json_object_new_array();
	u32 i, k;

	for (i = 0; i < plan->nr_types; i++) {
		const struct mrpc_type *type = &plan->types[i];
		struct json_object *object = json_object_new_object();
		struct json_object *fields = json_object_new_array();

		add_string(object, "name", plan->names + type->name);
		add_number(object, "size", type->size);
		json_object_object_add(object, "map_entry", json_object_new_boolean(
				       type->flags & MRPC_TYPE_MAP_ENTRY));
		for (k = 0; k < type->nr_fields; k++)
			json_object_array_add(fields,
					      json_field(plan, &plan->fields[type->first_field +
									     k]));
		json_object_object_add(object, "fields", fields);
		json_object_array_add(array, object);
	}
	return array;
}

/* -- as text ---------------------------------------------------------------- */

static int longest(const struct mrpc_schema_plan *plan)
{
	size_t max = 0;
	u32 i;

	for (i = 0; i < plan->nr_methods; i++)
		max = max_t(size_t, max, strlen(plan->names + plan->methods[i].name));
	for (i = 0; i < plan->nr_types; i++)
		max = max_t(size_t, max, strlen(plan->names + plan->types[i].name));
	return max;
}

static void print_fields(struct json_object *fields)
{
	size_t i;

	for (i = 0; i < json_object_array_length(fields); i++) {
		struct json_object *f = json_object_array_get_idx(fields, i);

		printf("        @%-5s %s%s%s %s = %s\n", string_at(f, "offset"),
		       json_at(f, "repeated") ? "repeated " : "",
		       json_at(f, "optional") ? "optional " : "", string_at(f, "type"),
		       string_at(f, "name"), string_at(f, "number"));
	}
}

static void print_check(struct json_object *object, const struct mrpc_schema_plan *plan)
{
	struct json_object *methods = json_at(object, "methods");
	struct json_object *types = json_at(object, "types");
	int width = longest(plan);
	size_t i;

	printf("service   %s\n", string_at(object, "service"));
	printf("hash      %s\n", string_at(object, "hash"));
	printf("size      %s bytes, %s compiled\n", string_at(object, "bytes"),
	       string_at(object, "plan_bytes"));
	printf("methods   %zu\n", json_object_array_length(methods));
	for (i = 0; i < json_object_array_length(methods); i++) {
		struct json_object *m = json_object_array_get_idx(methods, i);

		printf("    %-*s  %s (%s bytes) -> %s (%s bytes)\n", width,
		       string_at(m, "name"), string_at(m, "request"),
		       string_at(m, "request_size"), string_at(m, "reply"),
		       string_at(m, "reply_size"));
	}
	printf("types     %zu\n", json_object_array_length(types));
	for (i = 0; i < json_object_array_length(types); i++) {
		struct json_object *t = json_object_array_get_idx(types, i);
		struct json_object *fields = json_at(t, "fields");

		printf("    %-*s  %5s bytes, %zu field%s%s\n", width, string_at(t, "name"),
		       string_at(t, "size"), json_object_array_length(fields),
		       json_object_array_length(fields) == 1 ? "" : "s",
		       json_object_get_boolean(json_at(t, "map_entry")) ? ", map entry" : "");
		if (options.stats)
			print_fields(fields);
	}
}

/**
 * schema_check() - mrpc schema check FILE
 *
 * What the kernel would say, without the kernel: the same code verifies it.
 */
int schema_check(struct args *args)
{
	const char *file = need_word(args, "the file to check");
	struct json_object *object = json_object_new_object();
	char hex[2 * SHA256_LEN + 1];
	struct mrpc_schema_plan *plan;
	uint8_t hash[SHA256_LEN];
	size_t len, plan_len;
	void *data;
	int i;

	no_more_words(args);
	data = read_file(file, MRPC_SCHEMA_MAX_LEN, &len);
	plan = compile(file, data, len, &plan_len);
	sha256(data, len, hash);
	for (i = 0; i < SHA256_LEN; i++)
		sprintf(hex + 2 * i, "%02x", hash[i]);
	add_string(object, "service", mrpc_schema_service(plan));
	add_string(object, "hash", hex);
	add_number(object, "bytes", len);
	add_number(object, "plan_bytes", plan_len);
	json_object_object_add(object, "methods", json_methods(plan));
	json_object_object_add(object, "types", json_types(plan));
	if (options.json)
		print_json(object);
	else
		print_check(object, plan);
	json_object_put(object);
	free(plan);
	free(data);
	return 0;
}

/* -- loading ---------------------------------------------------------------- */

static int open_session(void)
{
	struct mrpc_setup setup = { .size = sizeof(setup), .name = "mrpc schema" };
	int fd = open("/dev/mrpc", O_RDWR | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		fail("there is no /dev/mrpc; is the module loaded ('modprobe mrpc')?");
	if (fd < 0)
		fail("cannot open /dev/mrpc: %s", strerror(errno));
	if (ioctl(fd, MRPC_IOC_SETUP, &setup))
		fail("cannot set up a session: %s", strerror(errno));
	return fd;
}

static struct json_object *load(int fd, const char *file)
{
	struct json_object *object = json_object_new_object();
	struct mrpc_bind bind = { .size = sizeof(bind) };
	char why[MRPC_MAX_DETAIL] = "";
	char hex[2 * MRPC_HASH_LEN + 1];
	const struct mrpc_schema_plan *plan;
	size_t len, plan_len;
	void *data;
	int i;

	data = read_file(file, MRPC_SCHEMA_MAX_LEN, &len);
	bind.schema = (uintptr_t)data;
	bind.len = len;
	bind.explain.buf = (uintptr_t)why;
	bind.explain.len = sizeof(why);
	if (ioctl(fd, MRPC_IOC_BIND, &bind))
		fail("%s: %s", file, why[0] ? why : strerror(errno));
	plan = compile(file, data, len, &plan_len);
	for (i = 0; i < MRPC_HASH_LEN; i++)
		sprintf(hex + 2 * i, "%02x", bind.hash[i]);
	add_string(object, "service", mrpc_schema_service(plan));
	add_string(object, "hash", hex);
	json_object_object_add(object, "hit", json_object_new_boolean(bind.hit));
	add_number(object, "bind_ns", bind.bind_ns);
	free((void *)plan);
	free(data);
	return object;
}

/**
 * schema_load() - mrpc schema load FILE...
 *
 * The schemas stay in the kernel's cache when this session ends, as long as not
 * too many others come.
 */
int schema_load(struct args *args)
{
	struct json_object *array = json_object_new_array();
	const char *file = need_word(args, "the file to load");
	int fd = open_session();
	size_t i;

	for (; file; file = next_word(args))
		json_object_array_add(array, load(fd, file));
	for (i = 0; !options.json && i < json_object_array_length(array); i++) {
		struct json_object *object = json_object_array_get_idx(array, i);
		char *time = text_time(number_at(object, "bind_ns"));

		printf("%s: %s in %s, hash %s\n", string_at(object, "service"),
		       json_object_get_boolean(json_at(object, "hit")) ?
		       "hit, was in the cache," : "miss, compiled", time,
		       string_at(object, "hash"));
		free(time);
	}
	if (options.json)
		print_json(array);
	json_object_put(array);
	close(fd);
	return 0;
}
