// SPDX-License-Identifier: MIT
/*
 * echo-server [ADDRESS]: says everything back.
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>

#include "echo.mrpc.h"

static struct mrpc_server *server;

static void on_signal(int sig)
{
	(void)sig;
	mrpc_server_stop(server);
}

static int say(struct mrpc_call *call, const struct echo_EchoRequest *req,
	       struct echo_EchoReply *reply)
{
	struct mrpc_msg *msg = mrpc_call_msg(call);
	char caller[MRPC_ADDR_TEXT];

	echo_EchoReply_set_text(msg, reply, echo_EchoRequest_text(req, req));
	echo_EchoReply_set_caller(msg, reply, mrpc_call_peer(call, caller, sizeof(caller)));
	return MRPC_OK;
}

int main(int argc, char **argv)
{
	static const struct echo_Echo_ops ops = { .Say = say };
	const char *address = argc > 1 ? argv[1] : "tcp:127.0.0.1:7001";
	struct mrpc_session *session = mrpc_session_open(NULL);
	char text[MRPC_ADDR_TEXT];

	if (!session)
		errx(1, "%s", mrpc_last_error());
	server = mrpc_server_new(session);
	if (!server || echo_Echo_add(server, &ops, NULL) ||
	    mrpc_server_listen(server, address, NULL))
		errx(1, "%s", mrpc_last_error());
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	fprintf(stderr, "echo-server: listening at %s\n",
		mrpc_server_address(server, text, sizeof(text)));
	if (mrpc_server_run(server, 1))
		errx(1, "%s", mrpc_last_error());
	mrpc_session_close(session);
	return 0;
}
