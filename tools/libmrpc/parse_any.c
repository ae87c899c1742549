// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading what a google.protobuf.Any holds as a message of its type. */
#include <stdlib.h>

#include "parse_any.h"

char *parse_any_begin(struct parse *p, struct parse_any *a, char *m)
{
	struct any_why why;
	char *root;

	*a = (struct parse_any){ .any = (struct any *)m, .around = p->msg };
	a->desc = any_find(p->buf.data, p->buf.len, &why);
	if (!a->desc) {
		parse_fail(p, "%s", why.text);
		return NULL;
	}
	text_add(&a->url, p->buf.data, p->buf.len);
	if (a->url.err) {
		parse_no_memory(p);
		return NULL;
	}
	a->entered = true;
	root = scratch_enter(&p->scratch, a->desc->size, &a->mark);
	p->msg = &p->scratch.msg;
	if (!root)
		put_done(p);
	return root;
}

bool parse_any_end(struct parse *p, struct parse_any *a, bool was_read)
{
	const void *root = p->msg->root;
	void *data = NULL;
	size_t len = 0;

	if (was_read) {
		data = mrpc_to_protobuf(a->desc, root, root, &len);
		if (!data)
			parse_no_memory(p);
	}
	if (a->entered)
		scratch_leave(&p->scratch, &a->mark);
	p->msg = a->around;
	if (data)
		any_put(p->msg, a->any, a->url.data, a->url.len, data, len);
	free(a->url.data);
	free(data);
	return was_read && put_done(p);
}
