// SPDX-License-Identifier: MIT
/*
 * kv-server: a key-value store in memory, served over mrpc.
 */
#include <err.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv-table.h"
#include "kv.mrpc.h"

#define LIST_DEFAULT	100
#define LIST_MAX	10000

static struct mrpc_server *server;

/* -- the service ------------------------------------------------------------------- */

static int put(struct mrpc_call *call, const struct kv_PutRequest *req, struct kv_PutReply *reply)
{
	const char *key = kv_PutRequest_key(req, req);
	size_t len;
	const void *value = kv_PutRequest_value(req, req, &len);
	int ret;

	if (!key[0]) {
		mrpc_call_set_detail(call, "the key is empty");
		return MRPC_INVALID_ARGUMENT;
	}
	ret = kv_table_put(mrpc_call_ctx(call), key, value, len);
	if (ret < 0)
		return MRPC_RESOURCE_EXHAUSTED;
	reply->replaced = ret;
	return MRPC_OK;
}

struct get {
	struct mrpc_msg *msg;
	struct kv_GetReply *reply;
};

static void copy_value(void *ctx, const void *value, size_t len)
{
	struct get *get = ctx;

	kv_GetReply_set_value(get->msg, get->reply, value, len);
}

static int get(struct mrpc_call *call, const struct kv_GetRequest *req, struct kv_GetReply *reply)
{
	const char *key = kv_GetRequest_key(req, req);
	struct get get = { .msg = mrpc_call_msg(call), .reply = reply };

	if (kv_table_get(mrpc_call_ctx(call), key, copy_value, &get))
		return MRPC_OK;
	mrpc_call_set_detail(call, "there is no '%s'", key);
	return MRPC_NOT_FOUND;
}

static int delete(struct mrpc_call *call, const struct kv_DeleteRequest *req,
		  struct kv_DeleteReply *reply)
{
	const char *key = kv_DeleteRequest_key(req, req);

	(void)reply;
	if (kv_table_delete(mrpc_call_ctx(call), key))
		return MRPC_OK;
	mrpc_call_set_detail(call, "there is no '%s'", key);
	return MRPC_NOT_FOUND;
}

struct list {
	const char *prefix;
	size_t prefix_len;
	size_t limit;
	size_t nr;
	bool more;
	struct {
		char *key;
		size_t size;
	} *found;
};

static bool remember(void *ctx, const char *key, size_t len)
{
	struct list *list = ctx;

	if (strncmp(key, list->prefix, list->prefix_len))
		return true;
	if (list->nr == list->limit) {
		list->more = true;
		return false;
	}
	list->found[list->nr].key = strdup(key);
	list->found[list->nr].size = len;
	return list->found[list->nr++].key;
}

static int list(struct mrpc_call *call, const struct kv_ListRequest *req,
		struct kv_ListReply *reply)
{
	struct list l = { .prefix = kv_ListRequest_prefix(req, req) };
	struct mrpc_msg *msg = mrpc_call_msg(call);
	struct kv_Entry *entries;
	size_t i;

	l.prefix_len = strlen(l.prefix);
	l.limit = req->limit ? req->limit : LIST_DEFAULT;
	if (l.limit > LIST_MAX)
		l.limit = LIST_MAX;
	l.found = calloc(l.limit, sizeof(*l.found));
	if (!l.found)
		return MRPC_RESOURCE_EXHAUSTED;
	kv_table_walk(mrpc_call_ctx(call), remember, &l);

	reply->more = l.more;
	entries = kv_ListReply_alloc_entries(msg, reply, l.nr);
	for (i = 0; i < l.nr; i++) {
		kv_Entry_set_key(msg, &entries[i], l.found[i].key);
		entries[i].size = l.found[i].size;
		free(l.found[i].key);
	}
	free(l.found);
	return MRPC_OK;
}

static const struct kv_Store_ops ops = {
	.Put = put,
	.Get = get,
	.Delete = delete,
	.List = list,
};

/* -- the program -------------------------------------------------------------------- */

static void on_signal(int sig)
{
	(void)sig;
	mrpc_server_stop(server);
}

static void usage(FILE *out)
{
	fputs("Usage: kv-server [-l ADDRESS]... [-t THREADS]\n"
	      "\n"
	      "  -l ADDRESS  where to listen: tcp:HOST:PORT or loop:NAME; may be given several\n"
	      "              times (default tcp:0.0.0.0:7000)\n"
	      "  -t THREADS  worker threads (default: one per processor)\n"
	      "  -h          this text\n", out);
}

static void listen_at(const char *address)
{
	char text[MRPC_ADDR_TEXT];

	if (mrpc_server_listen(server, address, NULL))
		errx(1, "%s", mrpc_last_error());
	fprintf(stderr, "kv-server: listening at %s\n",
		mrpc_server_address(server, text, sizeof(text)));
}

int main(int argc, char **argv)
{
	const char *addresses[16] = { "tcp:0.0.0.0:7000" };
	struct sigaction sa = { .sa_handler = on_signal };
	struct kv_table *table = kv_table_new();
	struct mrpc_session *session;
	unsigned long threads = 0;
	int opt, nr = 0, i;

	while ((opt = getopt(argc, argv, "l:t:h")) != -1) {
		switch (opt) {
		case 'l':
			if (nr == 16)
				errx(2, "too many addresses");
			addresses[nr++] = optarg;
			break;
		case 't':
			threads = strtoul(optarg, NULL, 10);
			if (threads < 1 || threads > 64)
				errx(2, "THREADS is '%s'; it can be 1 to 64", optarg);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind < argc || !table) {
		usage(stderr);
		return 2;
	}

	session = mrpc_session_open(&(struct mrpc_session_opts){ .name = "kv-server" });
	if (!session)
		errx(1, "%s", mrpc_last_error());
	server = mrpc_server_new(session);
	if (!server || kv_Store_add(server, &ops, table))
		errx(1, "%s", mrpc_last_error());
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	for (i = 0; i < (nr ? nr : 1); i++)
		listen_at(addresses[i]);
	if (mrpc_server_run(server, (unsigned int)threads))
		errx(1, "%s", mrpc_last_error());
	mrpc_session_close(session);
	kv_table_free(table);
	fputs("kv-server: stopped\n", stderr);
	return 0;
}
