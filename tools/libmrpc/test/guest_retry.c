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
