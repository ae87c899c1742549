// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Streams over a channel, with the module. A test kills the server while it gets one.
 */
#include "guest_servers.h"
#include "guest_grpc.h"

static void send_to(struct mrpc_stream *st, unsigned int from, unsigned int to)
{
	struct guest_Request *req;
	struct mrpc_msg msg;

	for (; from < to; from++) {
		req = guest_Request_new(&msg, session);
		req->what = from;
		memset(guest_Request_alloc_data(&msg, req, 10000), 'x', 10000);
		guest_Streams_Collect_send(st, &msg, 0);
	}
}

/* A stream is sent to the next server, from its beginning, if the service config says so. */
static void upload(const char *address, const struct mrpc_channel_opts *opts, int status)
{
	pid_t pid = server_up(address);
	struct mrpc_stream *st;
	struct mrpc_result res;
	unsigned int i;

	open_channel(address, opts);
	must_work(MRPC_CALL_WAIT_READY);
	for (i = 0; i < RESTARTS; i++) {
		st = guest_Streams_Collect_open(channel, &(struct mrpc_call_opts){
						.flags = MRPC_CALL_WAIT_READY });
		CHECK_MSG(st, "%s", mrpc_last_error());
		send_to(st, 0, 10);
		usleep(S / 20 * i);
		server_down(pid, SIGKILL);
		send_to(st, 10, 20);
		pid = server_up(address);
		send_to(st, 20, 25);
		mrpc_stream_finish(st, &res);
		CHECK_MSG(res.status == status, "%s: %s", mrpc_status_name(res.status),
			  res.detail);
		CHECK(!res.unsent);
		if (!status)
			CHECK_STR(guest_Reply_text(res.reply, guest_Streams_Collect_reply(&res)),
				  "25");
		mrpc_result_release(&res);
		must_work(MRPC_CALL_WAIT_READY);
	}
	close_channel();
	server_down(pid, SIGTERM);
}

/* A stream that meets a lost connection is not sent: it goes to the next server by itself. */
static void upload_late(const char *address)
{
	pid_t pid = server_up(address);
	struct mrpc_stream *st;
	struct mrpc_result res;
	unsigned int i;

	open_channel(address, &hasty);
	must_work(MRPC_CALL_WAIT_READY);
	for (i = 0; i < RESTARTS; i++) {
		server_down(pid, i % 2 ? SIGTERM : SIGKILL);
		pid = server_up(address);
		usleep(S / 2);	/* the kernel learns of the end */
		st = guest_Streams_Collect_open(channel, &(struct mrpc_call_opts){
						.flags = MRPC_CALL_WAIT_READY });
		CHECK_MSG(st, "%s", mrpc_last_error());
		send_to(st, 0, 10);
		mrpc_stream_finish(st, &res);
		CHECK_MSG(!res.status, "%s: %s", mrpc_status_name(res.status), res.detail);
		CHECK_STR(guest_Reply_text(res.reply, guest_Streams_Collect_reply(&res)), "10");
		mrpc_result_release(&res);
	}
	close_channel();
	server_down(pid, SIGTERM);
}

TEST(upload_late_tcp)
{
	upload_late(TCP);
}

TEST(upload_late_loop)
{
	upload_late(LOOP);
}

TEST(upload_late_grpc)
{
	load_grpc();
	upload_late(GRPC);
}

TEST(upload_tcp)
{
	upload(TCP, &hasty, MRPC_UNAVAILABLE);
}

TEST(upload_retried_tcp)
{
	upload(TCP, &stubborn, MRPC_OK);
}

TEST(upload_retried_loop)
{
	upload(LOOP, &stubborn, MRPC_OK);
}

TEST(upload_grpc)
{
	load_grpc();
	upload(GRPC, &hasty, MRPC_UNAVAILABLE);
}

TEST(upload_retried_grpc)
{
	load_grpc();
	upload(GRPC, &stubborn, MRPC_OK);
}
