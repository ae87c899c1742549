// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which forms types have in JSON: the well-known types have forms of their own. */
#include <stdlib.h>

#include "json_form.h"

#define PREFIX	"google.protobuf."

static const struct known {
	const char *name;
	enum json_form form;
} known[] = {
	{ "Any", JSON_ANY },
	{ "BoolValue", JSON_ONLY_FIELD },
	{ "BytesValue", JSON_ONLY_FIELD },
	{ "DoubleValue", JSON_ONLY_FIELD },
	{ "Duration", JSON_DURATION },
	{ "FieldMask", JSON_FIELD_MASK },
	{ "FloatValue", JSON_ONLY_FIELD },
	{ "Int32Value", JSON_ONLY_FIELD },
	{ "Int64Value", JSON_ONLY_FIELD },
	{ "ListValue", JSON_ONLY_FIELD },
	{ "StringValue", JSON_ONLY_FIELD },
	{ "Struct", JSON_ONLY_FIELD },
	{ "Timestamp", JSON_TIMESTAMP },
	{ "UInt32Value", JSON_ONLY_FIELD },
	{ "UInt64Value", JSON_ONLY_FIELD },
	{ "Value", JSON_VALUE },
};

static int compare(const void *name, const void *k)
{
	return strcmp(name, ((const struct known *)k)->name);
}

enum json_form json_form_of(const struct mrpc_message_desc *desc)
{
	const struct known *found;

	if (strncmp(desc->name, PREFIX, strlen(PREFIX)))
		return JSON_FIELDS;
	found = bsearch(desc->name + strlen(PREFIX), known, sizeof(known) / sizeof(*known),
			sizeof(*known), compare);
	return found ? found->form : JSON_FIELDS;
}
