// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A google.protobuf.Any from JSON. Its type says what its other members are, and "@type" can stand
 * behind them. So the object is looked through for it first.
 */
#include "json_read.h"
#include "parse_any.h"

static bool is_member(const struct parse *p, const char *name)
{
	return p->buf.len == strlen(name) && !memcmp(p->buf.data, name, p->buf.len);
}

/* Reads the type URL to @buf, and goes back to where the object begins. */
static bool find_type(struct parse *p, bool *is_empty)
{
	const char *begin = p->pos;
	bool more;

	if (!json_expect(p, '{', "'{'"))
		return false;
	more = !json_take(p, '}');
	*is_empty = !more;
	while (more) {
		if (!json_name_token(p))
			return false;
		if (is_member(p, "@type")) {
			if (!json_expect(p, ':', "':'") || !json_string_token(p, "a type URL in quotes"))
				return false;
			break;
		}
		if (!json_expect(p, ':', "':'") || !json_skip(p) || !json_more(p, '}', &more))
			return false;
	}
	if (!*is_empty && !more) {
		p->pos = begin;
		json_peek(p);
		return parse_fail(p, "the google.protobuf.Any has no \"@type\": it must have one, as in "
				  "\"type.googleapis.com/pkg.Message\"");
	}
	if (!*is_empty)
		p->pos = begin;
	return true;
}

/* Steps over the "@type", which stands there once. */
static bool read_type(struct parse *p, bool *seen)
{
	if (*seen)
		return parse_fail(p, "\"@type\" is there twice: one must go");
	*seen = true;
	return json_expect(p, ':', "':'") && json_skip(p);
}

/* A type with a form of its own has that as "value". */
static bool read_value(struct parse *p, const struct mrpc_message_desc *desc, char *m, bool *seen)
{
	if (!is_member(p, "value")) {
		if (!(p->flags & MRPC_PARSE_IGNORE_UNKNOWN))
			return parse_fail(p, "a google.protobuf.Any with a %s has no field '%s': it must have "
					  "\"@type\" and \"value\"", desc->name, parse_buf(p));
		return json_expect(p, ':', "':'") && json_skip(p);
	}
	if (*seen)
		return parse_fail(p, "field 'value' is there twice: one must go");
	*seen = true;
	return json_expect(p, ':', "':'") && json_read_block(p, desc, m);
}

static bool read_members(struct parse *p, const struct mrpc_message_desc *desc, char *m)
{
	bool is_known = json_form_of(desc) != JSON_FIELDS, has_type = false, has_value = false, more;
	struct block b;

	if (!is_known && !block_begin(p, &b, desc, m))
		return false;
	for (more = true; more;) {
		if (!json_name_token(p))
			break;
		if (is_member(p, "@type") ? !read_type(p, &has_type) :
		    is_known ? !read_value(p, desc, m, &has_value) : !json_read_member(p, &b))
			break;
		if (!json_more(p, '}', &more))
			break;
	}
	if (!is_known)
		block_end(p, &b);
	if (!p->err && is_known && !has_value)
		return parse_fail(p, "a google.protobuf.Any with a %s has no \"value\": it must have one",
				  desc->name);
	return !p->err;
}

/* Return: false, there is an error. */
static bool read_any(struct parse *p, char *m)
{
	bool is_empty, was_read;
	struct parse_any a;
	char *root;

	if (!find_type(p, &is_empty) || is_empty)
		return !p->err;
	root = parse_any_begin(p, &a, m);
	was_read = root && json_expect(p, '{', "'{'") && read_members(p, a.desc, root);
	return parse_any_end(p, &a, was_read);
}

/* It counts as a level, as it does when it is written: it can hold another one. */
bool json_read_any(struct parse *p, char *m)
{
	bool ok;

	if (!block_has_level(p))
		return false;
	p->depth++;
	ok = read_any(p, m);
	p->depth--;
	return ok;
}
