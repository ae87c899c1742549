// SPDX-License-Identifier: MIT
/* Calls of any method, from JSON to JSON: by the descriptions of the messages. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json-call.h"
#include "kv.mrpc.h"

static const struct method {
	const char *name;
	const struct mrpc_message_desc *request;
	const struct mrpc_message_desc *reply;
} methods[] = {
	{ "Delete", &kv_DeleteRequest__desc, &kv_DeleteReply__desc },
	{ "Get", &kv_GetRequest__desc, &kv_GetReply__desc },
	{ "List", &kv_ListRequest__desc, &kv_ListReply__desc },
	{ "Put", &kv_PutRequest__desc, &kv_PutReply__desc },
};

static const struct method *find_method(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	errx(2, "kv.Store has no method '%s': it must be Delete, Get, List or Put", name);
}

static __u32 index_of(const char *name)
{
	__u32 i = 0;

	while (strcmp(kv_Store_service.methods[i].name, name))
		i++;
	return i;
}

void json_call(struct mrpc_session *session, struct mrpc_conn *conn, const char *method,
	       const char *request)
{
	const struct method *m = find_method(method);
	struct mrpc_result res;
	struct mrpc_msg msg;
	void *root = mrpc_msg_new(&msg, session, m->request->size, 0);
	char *reply;

	if (mrpc_from_json(&msg, root, m->request, request, strlen(request), 0))
		errx(2, "the request is wrong: %s", mrpc_last_error());
	if (mrpc_call_sync(conn, &kv_Store_service, index_of(method), &msg, NULL, &res) != MRPC_OK)
		errx(1, "%s: %s", mrpc_status_name(res.status), res.detail);
	reply = mrpc_to_json(m->reply, res.reply, res.reply);
	if (!reply)
		err(1, "the reply");
	puts(reply);
	free(reply);
	mrpc_result_release(&res);
}
