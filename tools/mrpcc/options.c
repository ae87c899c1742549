// SPDX-License-Identifier: GPL-2.0
/*
 * Options of methods, services, messages and enums. The parser of descriptors does not know these
 * fields, and keeps them as they are on the wire. The compiler of protobuf has checked that they
 * match mrpc/options.proto. A caller that gives the plugin its own request may not have checked
 * them.
 */
#include <string.h>

#include "names.h"
#include "options.h"

#define OPTION_PRIORITY	50611	/* mrpc.priority, mrpc.default_priority */
#define OPTION_CNAME	50612	/* mrpc.c_message, mrpc.c_enum, mrpc.c_service */

#define MAX_PRIORITY	255

/* Return: its length in bytes, 0 if it is not a varint */
static size_t varint(const uint8_t *bytes, size_t len, uint64_t *value)
{
	size_t i;

	*value = 0;
	for (i = 0; i < len && i < 10; i++) {
		*value |= (uint64_t)(bytes[i] & 0x7f) << 7 * i;
		if (!(bytes[i] & 0x80))
			return i + 1;
	}
	return 0;
}

/* Return: the priority that the options @base have, or @otherwise. */
static int priority_of(const struct file *file, const ProtobufCMessage *base, struct path path,
		       const char *what, const char *name, int otherwise)
{
	int priority = otherwise;
	unsigned int i;

	for (i = 0; base && i < base->n_unknown_fields; i++) {
		const ProtobufCMessageUnknownField *field = &base->unknown_fields[i];
		uint64_t value;

		if (field->tag != OPTION_PRIORITY)
			continue;
		if (field->wire_type != PROTOBUF_C_WIRE_TYPE_VARINT ||
		    varint(field->data, field->len, &value) != field->len)
			complain(file_where(file, path),
				 "the priority of %s %s is not a number: import mrpc/options.proto",
				 what, name);
		else if (value > MAX_PRIORITY)
			complain(file_where(file, path),
				 "the priority of %s %s is %llu: say 0 (least) to %d", what, name,
				 (unsigned long long)value, MAX_PRIORITY);
		else
			priority = value;
	}
	return priority;
}

/* A text has its length before it. Return: NULL: it is not a text. */
static const char *text_of(const ProtobufCMessageUnknownField *field)
{
	uint64_t len;
	size_t start;

	if (field->wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
		return NULL;
	start = varint(field->data, field->len, &len);
	if (!start || len != field->len - start)
		return NULL;
	return xasprintf("%.*s", (int)len, (const char *)field->data + start);
}

const char *options_cname(const struct file *file, const ProtobufCMessage *base, struct path path,
			  const char *what, const char *full_name)
{
	const char *cname = cname_of(full_name);
	unsigned int i;

	for (i = 0; base && i < base->n_unknown_fields; i++) {
		const ProtobufCMessageUnknownField *field = &base->unknown_fields[i];
		struct where where = file_where(file, path_add(path, OPTION_CNAME, -1));
		const char *text;

		if (field->tag != OPTION_CNAME)
			continue;
		text = text_of(field);
		if (!text)
			complain(where, "the C name of %s %s is not a text: import mrpc/options.proto",
				 what, full_name);
		else if (!mrpc_name_valid(text, strlen(text), false))
			complain(where, "the C name of %s %s is '%s': say letters, digits and '_', not a digit first",
				 what, full_name, text);
		else if (strcmp(cname_of(text), text))
			complain(where, "the C name of %s %s is '%s', which C or the library has taken: say another",
				 what, full_name, text);
		else
			cname = text;
	}
	return cname;
}

void options_of_service(struct service *service)
{
	const Google__Protobuf__ServiceOptions *options = service->proto->options;
	int otherwise = priority_of(service->file, options ? &options->base : NULL,
				    path_add(path_add(service->path, PB_SERVICE_OPTIONS, -1),
					     OPTION_PRIORITY, -1),
				    "service", service->full_name, -1);
	size_t i;

	for (i = 0; i < service->nr_methods; i++) {
		struct method *method = &service->methods[i];
		const Google__Protobuf__MethodOptions *own = method->proto->options;

		method->priority = priority_of(service->file, own ? &own->base : NULL,
					       path_add(path_add(method->path, PB_METHOD_OPTIONS,
								 -1), OPTION_PRIORITY, -1),
					       "method",
					       xasprintf("%s.%s", service->full_name,
							 method->name), otherwise);
	}
}
