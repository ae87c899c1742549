// SPDX-License-Identifier: MIT
/*
 * echo-client TEXT [ADDRESS]: has it said back.
 */
#include <err.h>
#include <stdio.h>

#include "echo.mrpc.h"

int main(int argc, char **argv)
{
	static const struct mrpc_service_desc *const services[] = { &echo_Echo_service };
	const char *address = argc > 2 ? argv[2] : "tcp:127.0.0.1:7001";
	const struct echo_EchoReply *reply;
	struct echo_EchoRequest *req;
	struct mrpc_session *session;
	struct mrpc_conn *conn;
	struct mrpc_result res;
	struct mrpc_msg msg;

	if (argc < 2)
		errx(2, "usage: echo-client TEXT [ADDRESS]");
	session = mrpc_session_open(NULL);
	if (!session)
		errx(1, "%s", mrpc_last_error());
	conn = mrpc_connect(session, address, services, 1, NULL);
	if (!conn)
		errx(1, "%s", mrpc_last_error());

	req = echo_EchoRequest_new(&msg, session);
	echo_EchoRequest_set_text(&msg, req, argv[1]);
	if (echo_Echo_Say(conn, &msg, NULL, &res) != MRPC_OK)
		errx(1, "%s: %s", mrpc_status_name(res.status), res.detail);
	reply = echo_Echo_Say_reply(&res);
	printf("%s (to %s)\n", echo_EchoReply_text(reply, reply),
	       echo_EchoReply_caller(reply, reply));
	mrpc_result_release(&res);
	mrpc_session_close(session);
	return 0;
}
