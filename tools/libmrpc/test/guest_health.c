// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The service grpc.health.v1.Health with the module, over mrpc's transports and stubs. The server has
 * one worker.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "grpc/health/v1/health.mrpc.h"
#include "guest_ends.h"

#define CONNS		5
#define PER_CONN	205	/* below the limit of calls */
#define WATCHES_MAX	1024

#define SERVICE_UNKNOWN	grpc_health_v1_HealthCheckResponse_SERVICE_UNKNOWN

static const struct mrpc_service_desc *const services[] = { &grpc_health_v1_Health_service };

static void up(const char *at)
{
	static const struct guest_Echo_ops ops = { 0 };

	open_server();
	CHECK_EQ(mrpc_health_set(server, "", MRPC_HEALTH_SERVING), -EINVAL);
	CHECK_MSG(!mrpc_server_add_health(server), "%s", mrpc_last_error());
	CHECK_EQ(mrpc_server_add_health(server), -EEXIST);
	CHECK_EQ(guest_Echo_add(server, &ops, NULL), 0);
	start_ends(at, 1, services[0]);
}

/* Return: the status of the service, or minus that of the call. */
static int check(const char *name)
{
	const struct grpc_health_v1_HealthCheckResponse *reply;
	struct mrpc_result res;
	struct mrpc_msg msg;
	int status;

	grpc_health_v1_HealthCheckRequest_set_service(&msg,
		grpc_health_v1_HealthCheckRequest_new(&msg, session), name);
	status = -grpc_health_v1_Health_Check(conn, &msg, NULL, &res);
	reply = grpc_health_v1_Health_Check_reply(&res);
	if (!status)
		status = reply->status;
	mrpc_result_release(&res);
	return status;
}

static struct mrpc_stream *watch_at(struct mrpc_conn *at, const char *name, struct mrpc_qp *qp)
{
	struct mrpc_call_opts opts = { .qp = qp };
	struct mrpc_stream *st;
	struct mrpc_msg msg;

	grpc_health_v1_HealthCheckRequest_set_service(&msg,
		grpc_health_v1_HealthCheckRequest_new(&msg, session), name);
	st = grpc_health_v1_Health_Watch_open(at, &msg, &opts);
	CHECK_MSG(st, "%s", mrpc_last_error());
	return st;
}

static struct mrpc_stream *watch(const char *name)
{
	return watch_at(conn, name, NULL);
}

static void next_is(struct mrpc_stream *st, int status)
{
	const struct grpc_health_v1_HealthCheckResponse *reply = grpc_health_v1_Health_Watch_next(st);

	CHECK_MSG(reply, "no message, status %d", mrpc_stream_status(st));
	CHECK_EQ(reply->status, status);
}

static void ends(struct mrpc_stream *st, int status)
{
	struct mrpc_result res;

	CHECK(!grpc_health_v1_Health_Watch_next(st));
	mrpc_stream_finish(st, &res);
	CHECK_MSG(res.status == status, "%s: %s", mrpc_status_name(res.status), res.detail);
	mrpc_result_release(&res);
}

/* Such a call does not end by itself. */
static void leave(struct mrpc_stream *st)
{
	mrpc_stream_cancel(st);
	CHECK_EQ(mrpc_stream_finish(st, NULL), MRPC_CANCELLED);
}

#define EACH(name)							\
	TEST(name##_tcp) { up("tcp:127.0.0.1:0"); name(); end_ends(); }	\
	TEST(name##_loop) { up("loop:health-" #name); name(); end_ends(); }	\
	TEST(name##_prio) { up("prio:127.0.0.1:0"); name(); end_ends(); }

static void checks(void)
{
	CHECK_EQ(check(""), MRPC_HEALTH_SERVING);
	CHECK_EQ(check("guest.Echo"), MRPC_HEALTH_SERVING);
	CHECK_EQ(check("grpc.health.v1.Health"), MRPC_HEALTH_SERVING);
	CHECK_EQ(check("guest.Other"), -MRPC_NOT_FOUND);
	CHECK_EQ(mrpc_health_set(server, "guest.Echo", MRPC_HEALTH_NOT_SERVING), 0);
	CHECK_EQ(mrpc_health_set(server, "guest.Other", MRPC_HEALTH_UNKNOWN), 0);
	CHECK_EQ(mrpc_health_set(server, "", (enum mrpc_health)SERVICE_UNKNOWN), -EINVAL);
	CHECK_EQ(check("guest.Echo"), MRPC_HEALTH_NOT_SERVING);
	CHECK_EQ(check("guest.Other"), MRPC_HEALTH_UNKNOWN);
	CHECK_EQ(check(""), MRPC_HEALTH_SERVING);
}

EACH(checks)

/* Each change is told to those that watch this service, and no other. */
static void watches(void)
{
	struct mrpc_stream *all = watch(""), *echo = watch("guest.Echo");
	struct mrpc_stream *later = watch("later"), *again = watch("guest.Echo");
	int i;

	next_is(all, MRPC_HEALTH_SERVING);
	next_is(echo, MRPC_HEALTH_SERVING);
	next_is(later, SERVICE_UNKNOWN);
	next_is(again, MRPC_HEALTH_SERVING);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(mrpc_health_set(server, "guest.Echo", MRPC_HEALTH_NOT_SERVING), 0);
		CHECK_EQ(mrpc_health_set(server, "guest.Echo", MRPC_HEALTH_NOT_SERVING), 0);
		CHECK_EQ(mrpc_health_set(server, "guest.Echo", MRPC_HEALTH_SERVING), 0);
	}
	CHECK_EQ(mrpc_health_set(server, "later", MRPC_HEALTH_SERVING), 0);
	for (i = 0; i < 3; i++) {
		next_is(echo, MRPC_HEALTH_NOT_SERVING);
		next_is(again, MRPC_HEALTH_NOT_SERVING);
		next_is(echo, MRPC_HEALTH_SERVING);
		next_is(again, MRPC_HEALTH_SERVING);
	}
	next_is(later, MRPC_HEALTH_SERVING);
	leave(again);
	CHECK_EQ(mrpc_health_set(server, "", MRPC_HEALTH_NOT_SERVING), 0);
	next_is(all, MRPC_HEALTH_NOT_SERVING);
	leave(all);
	leave(echo);
	leave(later);
}

EACH(watches)

/* Callers that watch learn of the stop, and do not delay it. The server can run again. */
static void stops(void)
{
	struct mrpc_stream *all = watch(""), *echo = watch("guest.Echo");
	struct timespec begin, end;

	next_is(all, MRPC_HEALTH_SERVING);
	next_is(echo, MRPC_HEALTH_SERVING);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	stop_server();
	clock_gettime(CLOCK_MONOTONIC, &end);
	CHECK_MSG(end.tv_sec - begin.tv_sec < 4, "it took %ld s", (long)(end.tv_sec - begin.tv_sec));
	next_is(all, MRPC_HEALTH_NOT_SERVING);
	next_is(echo, MRPC_HEALTH_NOT_SERVING);
	ends(all, MRPC_UNAVAILABLE);
	ends(echo, MRPC_UNAVAILABLE);
	CHECK_MSG(!mrpc_server_listen(server, server_address, NULL), "%s", mrpc_last_error());
	start_server(1);
	conn = mrpc_connect(session, server_address, services, 1, NULL);
	CHECK_MSG(conn, "%s", mrpc_last_error());
	CHECK_EQ(check("guest.Echo"), MRPC_HEALTH_SERVING);
}

EACH(stops)

/* The calls of Watch have a limit, which counts those that are open. */
TEST(most_watches)
{
	static struct mrpc_stream *st[WATCHES_MAX];
	/* The ends of all calls need room, too. */
	struct mrpc_qp_opts opts = { .cq_entries = 4096 };
	struct mrpc_conn *conns[CONNS];
	struct mrpc_qp *qp;
	int i;

	up("loop:health-most");
	qp = mrpc_qp_new(session, &opts);
	CHECK_MSG(qp, "%s", mrpc_last_error());
	for (i = 0; i < CONNS; i++) {
		conns[i] = mrpc_connect(session, server_address, services, 1, NULL);
		CHECK_MSG(conns[i], "%s", mrpc_last_error());
	}
	for (i = 0; i < WATCHES_MAX; i++)
		st[i] = watch_at(conns[i / PER_CONN], "guest.Echo", qp);
	for (i = 0; i < WATCHES_MAX; i++)
		next_is(st[i], MRPC_HEALTH_SERVING);
	ends(watch(""), MRPC_RESOURCE_EXHAUSTED);
	leave(st[0]);
	/* The server may learn of that later. */
	for (i = 0; !grpc_health_v1_Health_Watch_next(st[0] = watch("")); i++) {
		ends(st[0], MRPC_RESOURCE_EXHAUSTED);
		CHECK(i < 5000);
		usleep(1000);
	}
	end_ends();
}

TEST(long_names)
{
	char name[MRPC_NAME_LEN + 2] = "";

	up("loop:health-long");
	memset(name, 'n', MRPC_NAME_LEN + 1);
	ends(watch(name), MRPC_INVALID_ARGUMENT);
	next_is(watch(name + 1), SERVICE_UNKNOWN);
	CHECK_EQ(mrpc_health_set(server, name, MRPC_HEALTH_SERVING), -EINVAL);
	CHECK_EQ(mrpc_health_set(server, name + 1, MRPC_HEALTH_SERVING), 0);
	CHECK_EQ(check(name), -MRPC_NOT_FOUND);
	CHECK_EQ(check(name + 1), MRPC_HEALTH_SERVING);
	end_ends();
}

/* A client that does not read loses its call, and the server nothing. */
TEST(unread)
{
	struct mrpc_stream *st;
	struct mrpc_result res;
	int i;

	up("loop:health-unread");
	st = watch("");
	next_is(st, MRPC_HEALTH_SERVING);
	for (i = 0; i < 2000; i++)
		CHECK_EQ(mrpc_health_set(server, "", i % 2 ? MRPC_HEALTH_SERVING :
					 MRPC_HEALTH_NOT_SERVING), 0);
	CHECK_EQ(check(""), MRPC_HEALTH_SERVING);
	for (i = 0; grpc_health_v1_Health_Watch_next(st); i++)
		;
	CHECK_MSG(i > 0 && i < 2000, "%d messages", i);
	mrpc_stream_finish(st, &res);
	CHECK_EQ(res.status, MRPC_RESOURCE_EXHAUSTED);
	mrpc_result_release(&res);
	end_ends();
}
