/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which forms types have in JSON. */
#ifndef LIBMRPC_JSON_FORM_H
#define LIBMRPC_JSON_FORM_H

#include "desc.h"

#define NANOS		1000000000
#define MIN_TIMESTAMP	(-62135596800LL)	/* 0001-01-01T00:00:00Z */
#define MAX_TIMESTAMP	253402300799LL		/* 9999-12-31T23:59:59Z */
#define MAX_DURATION	315576000000LL		/* 10,000 years of seconds */

enum json_form {
	JSON_FIELDS,		/* an object with all that is set */
	JSON_ANY,		/* "@type", and what is of that type */
	JSON_DURATION,		/* "1.5s" */
	JSON_FIELD_MASK,	/* "a.fooBar,b" */
	JSON_ONLY_FIELD,	/* what it wraps, a Struct's map, a ListValue's array */
	JSON_TIMESTAMP,		/* "1970-01-01T00:00:00Z" */
	JSON_VALUE,		/* any value */
};

enum json_form json_form_of(const struct mrpc_message_desc *desc) HIDDEN;

static inline bool json_is_null_value(const struct mrpc_enum_desc *e)
{
	return e && !strcmp(e->name, "google.protobuf.NullValue");
}

#endif /* LIBMRPC_JSON_FORM_H */
