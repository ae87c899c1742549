// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a google.protobuf.Any holds: a type URL, and a message of that type in protobuf's encoding. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "any.h"
#include "error.h"
#include "text.h"

#define URL_PREFIX	"type.googleapis.com/"
#define URL_SHOWN	200	/* bytes of a type URL in an error */

/* A type URL in an error; of a long one the end, which names the type. */
struct shown {
	char text[URL_SHOWN + 4];
};

static struct shown show(const char *url, size_t len)
{
	struct shown shown = { 0 };
	size_t skip = len > URL_SHOWN ? len - URL_SHOWN : 0, i;

	strcpy(shown.text, skip ? "..." : "");
	for (i = skip; i < len; i++)
		shown.text[i - skip + (skip ? 3 : 0)] = url[i] < ' ' || url[i] > '~' ? '?' : url[i];
	return shown;
}

/* The name behind the last '/'; it can have NULs in it, as no name has. */
static const char *name_in(const char *url, size_t len)
{
	const char *slash = len && !memchr(url, 0, len) ? memrchr(url, '/', len) : NULL;

	return slash ? slash + 1 : NULL;
}

const struct mrpc_message_desc *any_find(const char *url, size_t len, struct any_why *why)
{
	const char *name = name_in(url, len);
	const struct mrpc_message_desc *desc;
	char *copy;

	if (!name) {
		snprintf(why->text, sizeof(why->text), "'%s' is no type URL of a google.protobuf.Any: it "
			 "must be as in " URL_PREFIX "pkg.Message", show(url, len).text);
		return NULL;
	}
	copy = strndup(name, url + len - name);
	desc = copy ? mrpc_message_find(copy) : NULL;
	free(copy);
	if (!desc)
		snprintf(why->text, sizeof(why->text), "the type of '%s', a google.protobuf.Any, is not "
			 "known: the program must be linked with what mrpcc makes of its .proto",
			 show(url, len).text);
	return desc;
}

void *any_open(struct scratch *s, struct scratch_mark *mark, const struct mrpc_message_desc *desc,
	       const void *root, const struct any *any)
{
	void *m = scratch_enter(s, desc->size, mark);

	if (m && !mrpc_from_protobuf(&s->msg, m, desc, mrpc_ref_ptr(root, any->value),
				     any->value.len))
		return m;
	return NULL;
}

void any_put(struct mrpc_msg *msg, struct any *any, const char *url, size_t url_len,
	     const void *data, size_t len)
{
	mrpc_msg_set_bytes(msg, &any->type_url, url, url_len);
	mrpc_msg_set_bytes(msg, &any->value, data, len);
}

/* -- for programs ------------------------------------------------------------- */

int mrpc_any_pack(struct mrpc_msg *msg, struct google_protobuf_Any *any,
		  const struct mrpc_message_desc *desc, const void *root, const void *m)
{
	struct text url = { 0 };
	size_t len = 0;
	void *data;

	if (!any)
		return msg->err ? msg->err : -ENOMEM;
	text_printf(&url, URL_PREFIX "%s", desc->name);
	data = url.err ? NULL : mrpc_to_protobuf(desc, root, m, &len);
	if (data)
		any_put(msg, (struct any *)any, url.data, url.len, data, len);
	else if (!msg->err)
		msg->err = url.err ? -url.err : -errno;
	free(data);
	free(url.data);
	return msg->err;
}

const struct mrpc_message_desc *mrpc_any_type(const void *root,
					      const struct google_protobuf_Any *any)
{
	struct mrpc_ref url = ((const struct any *)any)->type_url;
	const struct mrpc_message_desc *desc;
	struct any_why why;

	desc = any_find(mrpc_ref_str(root, url), url.len, &why);
	if (!desc)
		set_error("%s", why.text);
	return desc;
}

int mrpc_any_unpack(struct mrpc_msg *msg, void *to, const struct mrpc_message_desc *desc,
		    const void *root, const struct google_protobuf_Any *any)
{
	const struct any *from = (const struct any *)any;
	const char *url = mrpc_ref_str(root, from->type_url), *name = name_in(url, from->type_url.len);
	size_t len = name ? url + from->type_url.len - name : 0;

	if (len == strlen(desc->name) && !memcmp(name, desc->name, len))
		return mrpc_from_protobuf(msg, to, desc, mrpc_ref_ptr(root, from->value),
					  from->value.len);
	if (!msg->err) {
		msg->err = -EINVAL;
		set_error("the google.protobuf.Any holds '%s': it must hold a %s",
			  show(url, from->type_url.len).text, desc->name);
	}
	return msg->err;
}
