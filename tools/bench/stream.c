// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of one stream, measured: those that are answered one by one, and those that are only
 * read.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

/* -- server ------------------------------------------------------------------------ */

int do_chat(struct mrpc_call *call)
{
	const struct options *o = mrpc_call_ctx(call);
	struct bench_Reply *reply;
	struct mrpc_msg msg;

	while (bench_Bench_Chat_get(call)) {
		reply = bench_Reply_new(&msg, session);
		bench_Reply_set_payload(&msg, reply, content, o->reply);
		/* It leaves with the wait for the next one. */
		if (bench_Bench_Chat_put(call, &msg, MRPC_STREAM_MORE))
			break;
	}
	return MRPC_OK;
}

int do_collect(struct mrpc_call *call, struct bench_Reply *reply)
{
	const struct options *o = mrpc_call_ctx(call);

	while (bench_Bench_Collect_get(call))
		;
	bench_Reply_set_payload(mrpc_call_msg(call), reply, content, o->reply);
	return MRPC_OK;
}

/* -- client ------------------------------------------------------------------------ */

static void send_one(struct mrpc_stream *stream, const struct options *o, unsigned int flags)
{
	struct mrpc_msg msg;

	make_request(o, o->request, &msg);
	if (mrpc_stream_send(stream, &msg, flags))
		errx(1, "%s", mrpc_last_error());
}

static void finish(struct mrpc_stream *stream)
{
	struct mrpc_result res;

	if (mrpc_stream_finish(stream, &res) != MRPC_OK)
		errx(1, "%s: %s", mrpc_status_name(res.status), res.detail);
	mrpc_result_release(&res);
}

static void run_collect(struct measure *m, const struct options *o, struct mrpc_conn *conn)
{
	struct mrpc_stream *stream = bench_Bench_Collect_open(conn, NULL);
	uint64_t began;

	if (!stream)
		errx(1, "%s", mrpc_last_error());
	do {
		began = ticks();
		send_one(stream, o, o->together ? MRPC_STREAM_MORE : 0);
	} while (measure_call(m, began));
	measure_end(m);
	finish(stream);
}

static void run_chat(struct measure *m, const struct options *o, struct mrpc_conn *conn)
{
	struct mrpc_stream *stream = bench_Bench_Chat_open(conn, NULL);
	const struct bench_Reply *reply;
	unsigned int i;
	uint64_t began;
	size_t len;

	if (!stream)
		errx(1, "%s", mrpc_last_error());
	for (i = 1; i < o->in_flight; i++)
		send_one(stream, o, MRPC_STREAM_MORE);
	do {
		began = ticks();
		send_one(stream, o, MRPC_STREAM_MORE);	/* as the server */
		reply = bench_Bench_Chat_next(stream);
		if (!reply)
			errx(1, "the stream ends: %s", mrpc_last_error());
		bench_Reply_payload(reply, reply, &len);
		if (!len)
			errx(1, "a reply is empty");
	} while (measure_call(m, began));
	measure_end(m);
	finish(stream);
}

/* With several in flight, times mean nothing. */
void run_stream(struct measure *m, const struct options *o)
{
	struct mrpc_conn **conns = connect_all(o);

	measure_init(m, o);
	if (!strcmp(o->mode, "chat"))
		run_chat(m, o, conns[0]);
	else
		run_collect(m, o, conns[0]);
	free(conns);
}
