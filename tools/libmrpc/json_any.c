// SPDX-License-Identifier: LGPL-2.1-or-later
/* JSON of a google.protobuf.Any: {"@type": URL}, with the fields of what it holds, or its "value". */
#include <errno.h>
#include <stdio.h>

#include "any.h"
#include "error.h"
#include "json.h"
#include "json_form.h"

/* Behind the "@type" */
static void write_content(struct json *j, const struct mrpc_message_desc *desc, const char *m)
{
	if (json_form_of(desc) != JSON_FIELDS) {
		text_add(&j->t, ",\"value\":", 9);
		json_block(j, desc, m);
	} else if (j->depth >= MRPC_MAX_DEPTH) {
		json_refuse(j, "messages are nested deeper than %u levels", MRPC_MAX_DEPTH);
	} else {
		j->depth++;
		json_fields(j, desc, m, false);
		j->depth--;
	}
}

/* The decoder has said what is wrong, and where in the content. */
static void refuse_content(struct json *j, const struct mrpc_message_desc *desc)
{
	int err = -j->scratch.msg.err;
	char why[400];

	snprintf(why, sizeof(why), "%s", mrpc_last_error());
	json_refuse(j, err == EINVAL ? "the content of a google.protobuf.Any is no %s: %s" :
		    "the content of a google.protobuf.Any, a %s, cannot be read: %s", desc->name, why);
	j->t.err = err;
}

void json_any(struct json *j, const char *m)
{
	const struct any *any = (const struct any *)m;
	const char *url = mrpc_ref_str(j->root, any->type_url);
	const struct mrpc_message_desc *desc;
	const void *root = j->root;
	struct scratch_mark mark;
	struct any_why why;

	if (!any->type_url.len && !any->value.len) {
		text_add(&j->t, "{}", 2);
		return;
	}
	desc = any_find(url, any->type_url.len, &why);
	if (!desc) {
		json_refuse(j, "%s", why.text);
		return;
	}
	text_add(&j->t, "{\"@type\":", 9);
	json_string(j, url, any->type_url.len);
	j->root = any_open(&j->scratch, &mark, desc, root, any);
	if (j->root)
		write_content(j, desc, j->root);
	else
		refuse_content(j, desc);
	j->root = root;
	scratch_leave(&j->scratch, &mark);
	text_add(&j->t, "}", 1);
}
