// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Looking into the descriptions of .proto files that generated code has. mrpcc has made them of what
 * protoc said. So they are not checked beyond their bounds.
 */
#include <string.h>

#include "protos.h"

/* Field numbers of google/protobuf/descriptor.proto */
enum {
	SET_FILE = 1,
	NAME = 1,		/* of a file and of all that is declared */
	FILE_PACKAGE = 2,
	FILE_DEPENDENCY = 3,
	ENUM_VALUE = 2,
};

/* What a declaration is: what can be in it. */
enum kind { NOTHING, IN_FILE, IN_MESSAGE, IN_SERVICE, IN_ENUM, LEAF };

static const struct {
	u8 in;
	u8 field;
	u8 kind;
} declarations[] = {
	{ IN_FILE, 4, IN_MESSAGE },
	{ IN_FILE, 5, IN_ENUM },
	{ IN_FILE, 6, IN_SERVICE },
	{ IN_FILE, 7, LEAF },		/* extension */
	{ IN_MESSAGE, 2, LEAF },	/* field */
	{ IN_MESSAGE, 3, IN_MESSAGE },
	{ IN_MESSAGE, 4, IN_ENUM },
	{ IN_MESSAGE, 6, LEAF },	/* extension */
	{ IN_MESSAGE, 8, LEAF },	/* oneof */
	{ IN_SERVICE, 2, LEAF },	/* method */
};

static enum kind kind_of(enum kind in, u32 field)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(declarations); i++)
		if (declarations[i].in == in && declarations[i].field == field)
			return declarations[i].kind;
	return NOTHING;
}

static u64 take_varint(struct bytes *in)
{
	u64 value = 0;
	u32 shift;
	u8 byte;

	for (shift = 0; in->len && shift < 64; shift += 7) {
		byte = *in->data++;
		in->len--;
		value |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

/* Takes the next field off. @value: its content, empty if it is a number. Return: its number, or 0. */
static u32 take_field(struct bytes *in, struct bytes *value)
{
	static const u8 fixed[8] = { [1] = 8, [5] = 4 };
	u64 tag = take_varint(in), len;

	*value = (struct bytes){ in->data, 0 };
	if ((tag & 7) == 0) {
		take_varint(in);
		return (u32)(tag >> 3);
	}
	len = (tag & 7) == 2 ? take_varint(in) : fixed[tag & 7];
	if (len > in->len)
		return 0;
	if ((tag & 7) == 2)
		*value = (struct bytes){ in->data, len };
	in->data += len;
	in->len -= len;
	return (u32)(tag >> 3);
}

/* The first field of this number; empty if there is none. */
static struct bytes find_field(struct bytes in, u32 number)
{
	struct bytes value;
	u32 n;

	while ((n = take_field(&in, &value)))
		if (n == number)
			return value;
	return (struct bytes){ 0 };
}

static bool same_text(struct bytes a, const char *b, size_t len)
{
	return a.len == len && (!len || !memcmp(a.data, b, len));
}

bool protos_next(struct bytes *set, struct bytes *file)
{
	return take_field(set, file) == SET_FILE;
}

bool protos_is_named(struct bytes file, const char *name)
{
	return same_text(find_field(file, NAME), name, strlen(name));
}

bool protos_imports(struct bytes file, struct bytes import)
{
	struct bytes name = find_field(import, NAME), value;
	u32 n;

	while ((n = take_field(&file, &value)))
		if (n == FILE_DEPENDENCY && same_text(value, (const char *)name.data, name.len))
			return true;
	return false;
}

/* Values are declared where their enum is. */
static bool has_value(struct bytes enumeration, const char *symbol)
{
	struct bytes value;
	u32 n;

	while ((n = take_field(&enumeration, &value)))
		if (n == ENUM_VALUE && protos_is_named(value, symbol))
			return true;
	return false;
}

/* What follows "@prefix." in @text; NULL if it begins otherwise. */
static const char *behind(const char *text, struct bytes prefix)
{
	if (!prefix.len || strncmp(text, (const char *)prefix.data, prefix.len) ||
	    text[prefix.len] != '.')
		return NULL;
	return text + prefix.len + 1;
}

static bool declares(enum kind in, struct bytes scope, const char *symbol)
{
	struct bytes value, name;
	const char *rest;
	enum kind kind;
	u32 n;

	while ((n = take_field(&scope, &value))) {
		kind = kind_of(in, n);
		if (kind == NOTHING)
			continue;
		name = find_field(value, NAME);
		if (same_text(name, symbol, strlen(symbol)))
			return true;
		rest = behind(symbol, name);
		if (kind == IN_ENUM ? has_value(value, symbol) : rest && declares(kind, value, rest))
			return true;
	}
	return false;
}

bool protos_declares(struct bytes file, const char *symbol)
{
	struct bytes package = find_field(file, FILE_PACKAGE);

	if (package.len)
		symbol = behind(symbol, package);
	return symbol && declares(IN_FILE, file, symbol);
}
