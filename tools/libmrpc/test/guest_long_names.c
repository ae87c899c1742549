// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of MRPC_NAME_LEN bytes, with the module: a call over each transport, the operator's command
 * and its rules. LONG_FIELD and LONG_METHOD are such names, see the Makefile.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest_ends.h"
#include "guest_grpc.h"
#include "long_names.mrpc.h"

#define LINE	(8 * MRPC_NAME_LEN)

#define PASTE_(a, b, c)	a ## b ## c
#define PASTE(a, b, c)	PASTE_(a, b, c)
#define TEXT_(a)	#a
#define TEXT(a)		TEXT_(a)

/* -- a call ---------------------------------------------------------------------------------- */

static int say(struct mrpc_call *call, const struct long_Request *req, struct long_Nested *reply)
{
	CHECK_EQ(strlen(mrpc_call_method(call)->name), MRPC_NAME_LEN);
	PASTE(long_Nested_set_, LONG_FIELD,)(mrpc_call_msg(call), reply,
					     PASTE(long_Request_, LONG_FIELD,)(req, req));
	return MRPC_OK;
}

static void up(const char *address)
{
	static const struct long_Names_ops ops = { .LONG_METHOD = say };

	open_server();
	CHECK_EQ(long_Names_add(server, &ops, NULL), 0);
	start_ends(address, 1, &long_Names_service);
}

/* Return: the status of a call with this text; the reply must have it, too. */
static int call(const char *text)
{
	struct mrpc_msg msg;
	struct mrpc_result res;
	struct long_Request *req = long_Request_new(&msg, session);
	const struct long_Nested *reply;
	int status;

	PASTE(long_Request_set_, LONG_FIELD,)(&msg, req, text);
	status = PASTE(long_Names_, LONG_METHOD,)(conn, &msg, NULL, &res);
	if (!status) {
		reply = PASTE(long_Names_, LONG_METHOD, _reply)(&res);
		CHECK_STR(PASTE(long_Nested_, LONG_FIELD,)(reply, reply), text);
	}
	mrpc_result_release(&res);
	return status;
}

/* -- the operator's command ------------------------------------------------------------------ */

/* Runs the command. Return: its exit status; @out gets what it prints, with NUL. */
static int operate(char *out, size_t room, const char *fmt, ...)
{
	static char line[LINE];
	va_list ap;
	size_t len;
	FILE *in;
	int n;

	n = snprintf(line, sizeof(line), "%s/tools/mrpc/mrpc ", getenv("MRPC_BUILD"));
	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	va_end(ap);
	CHECK(n < (int)sizeof(line));
	in = popen(line, "r");
	CHECK(in != NULL);
	len = fread(out, 1, room - 1, in);
	out[len] = 0;
	return pclose(in);
}

/* JSON has whole names. In a table each line stays below a few hundred columns. */
static void shown(const char *what, const char *name)
{
	static char out[16 * LINE];
	char *line;

	CHECK_EQ(operate(out, sizeof(out), "-j %s", what), 0);
	CHECK_MSG(strstr(out, name), "%s: %.200s", what, out);
	CHECK_EQ(operate(out, sizeof(out), "%s", what), 0);
	for (line = strtok(out, "\n"); line; line = strtok(NULL, "\n"))
		CHECK_MSG(strlen(line) < 300, "%s: %.400s", what, line);
}

static void all(void)
{
	const char *service = long_Names_service.name;
	static char out[LINE];

	CHECK_EQ(strlen(service), MRPC_NAME_LEN);
	CHECK_EQ(call("first"), MRPC_OK);
	shown("service show", service);
	shown("schema list", service);

	CHECK_EQ(operate(out, sizeof(out), "engine add acl name long scope service %s side server"
			 " rules 'deny status NOT_FOUND if service %s and field " TEXT(LONG_FIELD)
			 " prefix \"no\"'", service, service), 0);
	CHECK_EQ(operate(out, sizeof(out), "-j engine show long"), 0);
	CHECK(strstr(out, service));
	CHECK_EQ(call("yes"), MRPC_OK);
	CHECK_EQ(call("no"), MRPC_NOT_FOUND);
	CHECK_EQ(operate(out, sizeof(out), "engine del long"), 0);
	CHECK_EQ(call("no"), MRPC_OK);
	end_ends();
}

TEST(tcp)
{
	up("tcp:127.0.0.1:0");
	all();
}

TEST(grpc)
{
	load_grpc();
	up("grpc:127.0.0.1:0");
	all();
}

TEST(loop)
{
	up("loop:long-names");
	all();
}

TEST(prio)
{
	up("prio:127.0.0.1:0");
	all();
}

/* A server that does not have the service says so, with the name's beginning. */
TEST(unknown)
{
	const struct mrpc_service_desc *service = &long_Names_service;
	const char *what = "the peer does not serve s";

	open_server();
	CHECK_EQ(mrpc_server_add_health(server), 0);
	CHECK_MSG(!mrpc_server_listen(server, "tcp:127.0.0.1:0", NULL), "%s", mrpc_last_error());
	mrpc_server_address(server, server_address, sizeof(server_address));
	start_server(1);
	session = mrpc_session_open(NULL);
	CHECK(session != NULL);
	CHECK(!mrpc_connect(session, server_address, &service, 1, NULL));
	CHECK_MSG(strstr(mrpc_last_error(), what), "%s", mrpc_last_error());
	end_ends();
}
