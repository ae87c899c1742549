// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a service config makes of calls, with the module, over each transport.
 */
#include <errno.h>

#include "guest_ends.h"
#include "guest_grpc.h"
#include "clock.h"
#include "lot.h"

#define CONFIG	"{\"methodConfig\":[{\"name\":[{\"service\":\"guest.Echo\"}],\"retryPolicy\":{" \
		"\"maxAttempts\":3,\"initialBackoff\":\"0.01s\",\"maxBackoff\":\"0.1s\"," \
		"\"backoffMultiplier\":2,\"retryableStatusCodes\":[\"UNAVAILABLE\"]}}," \
		"{\"name\":[{\"service\":\"guest.Echo\",\"method\":\"Nothing\"}]," \
		"\"maxRequestMessageBytes\":50000,\"maxResponseMessageBytes\":1000," \
		"\"timeout\":\"0.3s\"}]}"

static struct mrpc_conn *channel;
static unsigned int served, nr_ended;

/* Fails @what times, and says in its reply what the attempt has said of those before it. */
static int say(struct mrpc_call *call, const struct guest_Request *req, struct guest_Reply *reply)
{
	const char *pushback = guest_Request_text(req, req), *previous;
	__u32 len;

	if (served++ < req->what) {
		if (*pushback)
			mrpc_call_add_meta(call, "grpc-retry-pushback-ms", pushback,
					   strlen(pushback));
		return MRPC_UNAVAILABLE;
	}
	previous = mrpc_call_meta_find(call, "grpc-previous-rpc-attempts", &len);
	mrpc_msg_set_strn(mrpc_call_msg(call), &reply->text, previous, previous ? len : 0);
	return MRPC_OK;
}

/* Replies with @what bytes; a million of them: too late. */
static int nothing(struct mrpc_call *call, const struct guest_Request *req,
		   struct guest_Reply *reply)
{
	if (req->what == 1000000)
		usleep(600000);
	else if (req->what)
		memset(guest_Reply_alloc_data(mrpc_call_msg(call), reply, req->what), 'x', req->what);
	return MRPC_OK;
}

static void begin(const char *address)
{
	static const struct mrpc_service_desc *const services[] = { &guest_Echo_service };
	static const struct guest_Echo_ops ops = { .Say = say, .Nothing = nothing };
	const struct mrpc_channel_opts opts = { .service_config = CONFIG };

	open_server();
	CHECK_EQ(guest_Echo_add(server, &ops, NULL), 0);
	start_ends(address, 1, &guest_Echo_service);
	channel = mrpc_channel_open(session, server_address, services, 1, &opts);
	CHECK_MSG(channel, "%s", mrpc_last_error());
}

static void end(void)
{
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	end_ends();
}

/* How a call must end. */
struct expected {
	int status;
	const char *text;	/* of the reply */
	__u32 least;		/* attempts before the one that replies */
	bool ended;
};

static void on_done(void *user, struct mrpc_result *res)
{
	struct expected *e = user;

	CHECK_MSG(res->status == e->status, "%s: %s", mrpc_status_name(res->status), res->detail);
	if (e->text && !res->status)
		CHECK_STR(guest_Reply_text(res->reply, res->reply), e->text);
	if (e->least)
		CHECK((__u32)*guest_Reply_text(res->reply, res->reply) >= '0' + e->least);
	__atomic_add_fetch(&nr_ended, 1, __ATOMIC_RELAXED);
	e->ended = true;
}

/* Makes the call in both ways. The request has @len bytes besides what says what is to be done. */
static void calls(unsigned int method, unsigned int what, const char *text, size_t len,
		  struct expected e)
{
	struct mrpc_result res;
	struct mrpc_msg msg;
	int async;

	for (async = 0; async < 2; async++) {
		struct guest_Request *req = guest_Request_new(&msg, session);

		served = 0;
		req->what = what;
		guest_Request_set_text(&msg, req, text);
		if (len)
			memset(guest_Request_alloc_data(&msg, req, len), 'x', len);
		e.ended = false;
		if (!async) {
			mrpc_call_sync(channel, &guest_Echo_service, method, &msg, NULL, &res);
			on_done(&e, &res);
			mrpc_result_release(&res);
		} else if (mrpc_call_async(channel, &guest_Echo_service, method, &msg, NULL, on_done,
					   &e, NULL) == MRPC_OK) {
			CHECK_EQ(mrpc_run_all(mrpc_qp_self(session), 10000000), 0);
			CHECK(e.ended);
		} else {
			CHECK_MSG(len > 50000, "%s", mrpc_last_error());
		}
	}
}

static void again(const char *address)
{
	u64 before;

	begin(address);
	calls(guest_Echo_METHOD_Say, 0, "", 0, (struct expected){ .text = "" });
	calls(guest_Echo_METHOD_Say, 1, "", 0, (struct expected){ .text = "1" });
	calls(guest_Echo_METHOD_Say, 2, "", 200000, (struct expected){ .text = "2" });
	calls(guest_Echo_METHOD_Say, 3, "", 0, (struct expected){ .status = MRPC_UNAVAILABLE });
	CHECK_EQ(served, 3);
	before = clock_ns();
	calls(guest_Echo_METHOD_Say, 1, "300", 0, (struct expected){ .text = "1" });
	CHECK(clock_ns() - before >= 600000000);
	calls(guest_Echo_METHOD_Say, 1, "-1", 0, (struct expected){ .status = MRPC_UNAVAILABLE });
	CHECK_EQ(served, 1);
	end();
}

static void limits(const char *address)
{
	const unsigned int method = guest_Echo_METHOD_Nothing;

	begin(address);
	calls(method, 100, "", 40000, (struct expected){ 0 });
	calls(method, 2000, "", 0, (struct expected){ .status = MRPC_RESOURCE_EXHAUSTED });
	calls(method, 0, "", 60000, (struct expected){ .status = MRPC_RESOURCE_EXHAUSTED });
	calls(method, 1000000, "", 0, (struct expected){ .status = MRPC_DEADLINE_EXCEEDED });
	end();
}

/* -- streams ------------------------------------------------------------------------------------ */

#define STREAMS	"{\"methodConfig\":[{\"name\":[{}],\"retryPolicy\":{" \
		"\"maxAttempts\":3,\"initialBackoff\":\"0.01s\",\"maxBackoff\":\"0.1s\"," \
		"\"backoffMultiplier\":2,\"retryableStatusCodes\":[\"UNAVAILABLE\"]}}]}"

static bool is_number(const struct guest_Request *req, __u32 number)
{
	const __u8 *data;
	size_t len, i;

	data = guest_Request_data(req, req, &len);
	for (i = 0; i < len; i++)
		if (data[i] != (__u8)(number + i))
			return false;
	return req->what == number;
}

static void say_previous(struct mrpc_call *call, struct mrpc_msg *msg, struct guest_Reply *reply,
			 __u32 nr)
{
	const char *previous;
	char text[32];
	__u32 len;

	previous = mrpc_call_meta_find(call, "grpc-previous-rpc-attempts", &len);
	snprintf(text, sizeof(text), "%u %.*s", nr, previous ? (int)len : 0, previous);
	guest_Reply_set_text(msg, reply, text);
}

/* The text of the first message says how many attempts fail, and after how many messages. */
static int collect(struct mrpc_call *call, struct guest_Reply *reply)
{
	unsigned int fails = 0, reads = 0, attempt = served++, nr = 0;
	const struct guest_Request *req;

	while ((req = guest_Streams_Collect_get(call))) {
		if (!nr)
			sscanf(guest_Request_text(req, req), "%u %u", &fails, &reads);
		if (!is_number(req, nr))
			return MRPC_DATA_LOSS;
		if (++nr == reads && attempt < fails)
			return MRPC_UNAVAILABLE;
	}
	if (mrpc_stream_status(mrpc_call_stream(call)))
		return MRPC_ABORTED;
	say_previous(call, mrpc_call_msg(call), reply, nr);
	return MRPC_OK;
}

static int produce(struct mrpc_call *call, const struct guest_Request *req)
{
	struct guest_Reply *reply;
	struct mrpc_msg msg;

	if (served++ < req->what)
		return MRPC_UNAVAILABLE;
	reply = guest_Reply_new(&msg, mrpc_call_session(call));
	say_previous(call, &msg, reply, 0);
	guest_Streams_Produce_put(call, &msg, 0);
	/* Too late for another attempt. */
	return !strcmp(guest_Request_text(req, req), "fail") ? MRPC_UNAVAILABLE : MRPC_OK;
}

static void number(struct mrpc_msg *msg, __u32 what, size_t len, const char *text)
{
	struct guest_Request *req = guest_Request_new(msg, session);
	__u8 *data = guest_Request_alloc_data(msg, req, len);
	size_t i;

	req->what = what;
	guest_Request_set_text(msg, req, text);
	for (i = 0; i < len; i++)
		data[i] = (__u8)(what + i);
}

/* Sends @nr messages of @len bytes, of a call that fails so many times after so many of them. */
static void collects(unsigned int nr, size_t len, unsigned int fails, unsigned int reads,
		     int status)
{
	struct mrpc_result res;
	struct mrpc_stream *st;
	struct mrpc_msg msg;
	unsigned int i;
	char text[32];

	served = 0;
	st = guest_Streams_Collect_open(channel, NULL);
	CHECK_MSG(st, "%s", mrpc_last_error());
	snprintf(text, sizeof(text), "%u %u", fails, reads);
	for (i = 0; i < nr; i++) {
		number(&msg, i, len, text);
		if (guest_Streams_Collect_send(st, &msg, i % 3 ? MRPC_STREAM_MORE : 0))
			break;
	}
	CHECK(i == nr || status);
	mrpc_stream_finish(st, &res);
	CHECK_MSG(res.status == status, "%s: %s", mrpc_status_name(res.status), res.detail);
	snprintf(text, sizeof(text), "%u %.*u", nr, fails ? 1 : 0, fails);
	if (!status)
		CHECK_STR(guest_Reply_text(guest_Streams_Collect_reply(&res),
					   guest_Streams_Collect_reply(&res)), text);
	mrpc_result_release(&res);
}

static void produces(unsigned int fails, size_t len, const char *text, int status)
{
	const struct guest_Reply *reply;
	struct mrpc_result res;
	struct mrpc_stream *st;
	struct mrpc_msg msg;
	char want[32];

	served = 0;
	number(&msg, fails, len, text);
	st = guest_Streams_Produce_open(channel, &msg, NULL);
	CHECK_MSG(st, "%s", mrpc_last_error());
	reply = guest_Streams_Produce_next(st);
	snprintf(want, sizeof(want), "0 %.*u", fails ? 1 : 0, fails);
	CHECK(!reply == (fails > 2));
	if (reply)
		CHECK_STR(guest_Reply_text(reply, reply), want);
	CHECK_EQ(mrpc_stream_finish(st, &res), status);
	mrpc_result_release(&res);
	CHECK_EQ(served, fails < 2 ? fails + 1 : 3);
}

static void streams(const char *address)
{
	static const struct mrpc_service_desc *const services[] = { &guest_Streams_service };
	static const struct guest_Streams_ops ops = { .Collect = collect, .Produce = produce };
	const struct mrpc_channel_opts opts = { .service_config = STREAMS };
	const size_t lens[] = { 0, 100, 5000, 20000 };
	u32 i;

	open_server();
	CHECK_EQ(guest_Streams_add(server, &ops, NULL), 0);
	start_ends(address, 1, &guest_Streams_service);
	channel = mrpc_channel_open(session, server_address, services, 1, &opts);
	CHECK_MSG(channel, "%s", mrpc_last_error());
	for (i = 0; i < 4; i++) {
		collects(10, lens[i], 0, 0, MRPC_OK);
		collects(10, lens[i], 1, 1, MRPC_OK);
		collects(10, lens[i], 2, 7, MRPC_OK);
		collects(10, lens[i], 2, 10, MRPC_OK);
		collects(10, lens[i], 3, 10, MRPC_UNAVAILABLE);
		produces(0, lens[i], "", MRPC_OK);
		produces(2, lens[i], "", MRPC_OK);
		produces(3, lens[i], "", MRPC_UNAVAILABLE);
		produces(1, lens[i], "fail", MRPC_UNAVAILABLE);
	}
	collects(500, 100, 2, 300, MRPC_OK);
	/* More than is kept. */
	collects(100, 20000, 1, 90, MRPC_UNAVAILABLE);
	CHECK_EQ(served, 1);
	end();
}

TEST(streams_tcp)
{
	streams("tcp:127.0.0.1:0");
}

TEST(streams_loop)
{
	streams("loop:retried-streams");
}

TEST(streams_prio)
{
	streams("prio:127.0.0.1:0");
}

TEST(streams_grpc)
{
	load_grpc();
	streams("grpc:127.0.0.1:0");
}

/* -- hedging ------------------------------------------------------------------------------------ */

#define HEDGED	"{\"methodConfig\":[{\"name\":[{}],\"hedgingPolicy\":{\"maxAttempts\":3," \
		"\"hedgingDelay\":\"0.1s\",\"nonFatalStatusCodes\":[\"UNAVAILABLE\"]}}]}"

/* The first @what attempts of a call end after it. */
static int say_late(struct mrpc_call *call, const struct guest_Request *req,
		    struct guest_Reply *reply)
{
	unsigned int ended = __atomic_load_n(&nr_ended, __ATOMIC_RELAXED);
	const char *previous;
	__u32 len;

	previous = mrpc_call_meta_find(call, "grpc-previous-rpc-attempts", &len);
	while ((previous ? (__u32)*previous - '0' : 0) < req->what &&
	       __atomic_load_n(&nr_ended, __ATOMIC_RELAXED) == ended)
		usleep(1000);
	mrpc_msg_set_strn(mrpc_call_msg(call), &reply->text, previous, previous ? len : 0);
	return MRPC_OK;
}

/* The kernel has finished with what it read, and no call is left to it. */
static void must_be_free(void)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	u64 until = clock_ns() + 20000000000ull;

	while (qp->lots && clock_ns() < until)
		CHECK(mrpc_run(qp, 10000) >= -ETIME);
	CHECK(!qp->lots);
}

static void hedged(const char *address)
{
	static const struct mrpc_service_desc *const services[] = { &guest_Echo_service };
	static const struct guest_Echo_ops ops = { .Say = say_late };
	const struct mrpc_channel_opts opts = { .service_config = HEDGED };
	const size_t lens[] = { 0, 300000 };
	u64 before;
	u32 i;

	open_server();
	CHECK_EQ(guest_Echo_add(server, &ops, NULL), 0);
	start_ends(address, 8, &guest_Echo_service);
	channel = mrpc_channel_open(session, server_address, services, 1, &opts);
	CHECK_MSG(channel, "%s", mrpc_last_error());
	for (i = 0; i < 2; i++) {
		calls(guest_Echo_METHOD_Say, 0, "", lens[i], (struct expected){ 0 });
		before = clock_ns();
		calls(guest_Echo_METHOD_Say, 1, "", lens[i], (struct expected){ .least = 1 });
		CHECK(clock_ns() - before >= 200000000);
		calls(guest_Echo_METHOD_Say, 2, "", lens[i], (struct expected){ .text = "2" });
	}
	must_be_free();
	end();
}

TEST(hedged_tcp)
{
	hedged("tcp:127.0.0.1:0");
}

TEST(hedged_loop)
{
	hedged("loop:hedged");
}

TEST(hedged_prio)
{
	hedged("prio:127.0.0.1:0");
}

TEST(hedged_grpc)
{
	load_grpc();
	hedged("grpc:127.0.0.1:0");
}

TEST(again_tcp)
{
	again("tcp:127.0.0.1:0");
}

TEST(again_loop)
{
	again("loop:retry");
}

TEST(again_grpc)
{
	load_grpc();
	again("grpc:127.0.0.1:0");
}

TEST(limits_tcp)
{
	limits("tcp:127.0.0.1:0");
}

TEST(limits_grpc)
{
	load_grpc();
	limits("grpc:127.0.0.1:0");
}
