// SPDX-License-Identifier: GPL-2.0
/*
 * hotel_mrpc: the hotel reservation application on mrpc.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mrpc_services.h"

#define WORKERS	2	/* of a service */

static struct mrpc_session *session;
static struct mrpc_server *server;

struct mrpc_conn *mrpc_conns[SERVICES];

const struct mrpc_service_desc *const mrpc_services[SERVICES] = {
	[FRONTEND] = &hotel_Frontend_service,
	[SEARCH] = &hotel_Search_service,
	[GEO] = &hotel_Geo_service,
	[RATE] = &hotel_Rate_service,
	[PROFILE] = &hotel_Profile_service,
	[RECOMMENDATION] = &hotel_Recommendation_service,
	[RESERVATION] = &hotel_Reservation_service,
	[USER] = &hotel_User_service,
};

static const void *const operations[SERVICES] = {
	[FRONTEND] = &frontend_ops,
	[SEARCH] = &search_ops,
	[GEO] = &geo_ops,
	[RATE] = &rate_ops,
	[PROFILE] = &profile_ops,
	[RECOMMENDATION] = &recommendation_ops,
	[RESERVATION] = &reservation_ops,
	[USER] = &user_ops,
};

static void open_session(const char *name)
{
	session = mrpc_session_open(&(struct mrpc_session_opts){ .name = name });
	if (!session)
		errx(1, "%s", mrpc_last_error());
}

static void connect_to(enum service service, const char *address)
{
	mrpc_conns[service] = mrpc_connect(session, address, &mrpc_services[service], 1, NULL);
	if (!mrpc_conns[service])
		errx(1, "%s: %s", service_names[service], mrpc_last_error());
}

static void serve(const struct service_options *o)
{
	int i;

	open_session(service_names[o->service]);
	for (i = 0; i < SERVICES; i++)
		if (o->addresses[i])
			connect_to((enum service)i, o->addresses[i]);
	server = mrpc_server_new(session);
	if (!server ||
	    mrpc_server_add(server, mrpc_services[o->service], operations[o->service], NULL) ||
	    mrpc_server_listen(server, o->listen, NULL))
		errx(1, "%s", mrpc_last_error());
	program_ready();
	if (mrpc_server_run(server, WORKERS))
		errx(1, "%s", mrpc_last_error());
	mrpc_session_close(session);
}

static void stop(void)
{
	/* A signal may come before there is one. */
	if (!server)
		exit(0);
	mrpc_server_stop(server);
}

/* -- requests ----------------------------------------------------------------------- */

static struct mrpc_qp *qp;

static void connect_frontend(const char *address)
{
	open_session("hotel-load");
	qp = mrpc_qp_self(session);
	if (!qp)
		errx(1, "%s", mrpc_last_error());
	connect_to(FRONTEND, address);
}

static unsigned int build_hotels(struct mrpc_msg *msg, const struct request *r)
{
	struct hotel_HotelsRequest *req = hotel_HotelsRequest_new(msg, session);

	req->lat = (float)r->lat;
	req->lon = (float)r->lon;
	hotel_HotelsRequest_set_in_date(msg, req, r->in_date);
	hotel_HotelsRequest_set_out_date(msg, req, r->out_date);
	hotel_HotelsRequest_set_locale(msg, req, "en");
	return hotel_Frontend_METHOD_Hotels;
}

static unsigned int build_recommend(struct mrpc_msg *msg, const struct request *r)
{
	struct hotel_RecommendRequest *req = hotel_RecommendRequest_new(msg, session);

	req->lat = r->lat;
	req->lon = r->lon;
	hotel_RecommendRequest_set_require(msg, req, r->require);
	hotel_RecommendRequest_set_locale(msg, req, "en");
	return hotel_Frontend_METHOD_Recommend;
}

static unsigned int build_login(struct mrpc_msg *msg, const struct request *r)
{
	struct hotel_UserRequest *req = hotel_UserRequest_new(msg, session);

	hotel_UserRequest_set_username(msg, req, r->username);
	hotel_UserRequest_set_password(msg, req, r->password);
	return hotel_Frontend_METHOD_Login;
}

static unsigned int build_reserve(struct mrpc_msg *msg, const struct request *r)
{
	struct hotel_ReserveRequest *req = hotel_ReserveRequest_new(msg, session);

	hotel_ReserveRequest_set_customer_name(msg, req, r->username);
	hotel_ReserveRequest_set_username(msg, req, r->username);
	hotel_ReserveRequest_set_password(msg, req, r->password);
	hotel_ReserveRequest_set_hotel_id(msg, req, hotel_id(r->hotel));
	hotel_ReserveRequest_set_in_date(msg, req, r->in_date);
	hotel_ReserveRequest_set_out_date(msg, req, r->out_date);
	req->room_number = r->rooms;
	return hotel_Frontend_METHOD_Reserve;
}

/* Return: the method. */
static unsigned int (*const build[REQUEST_KINDS])(struct mrpc_msg *, const struct request *) = {
	[REQUEST_HOTELS] = build_hotels,
	[REQUEST_RECOMMEND] = build_recommend,
	[REQUEST_LOGIN] = build_login,
	[REQUEST_RESERVE] = build_reserve,
};

static void on_done(void *user, struct mrpc_result *res)
{
	load_done(user, res->status != MRPC_OK);
}

static void submit(struct load_call *call)
{
	struct mrpc_msg msg;
	unsigned int method = build[call->request.kind](&msg, &call->request);

	if (mrpc_call_async(mrpc_conns[FRONTEND], &hotel_Frontend_service, method, &msg, NULL,
			    on_done, call, NULL) != MRPC_OK)
		load_done(call, 1);
	/* A request leaves when it is due. */
	mrpc_poll(qp);
}

/* With nothing in flight mrpc_run() would not wait. */
static void wait_until(uint64_t until)
{
	struct timespec ts = { .tv_sec = (time_t)(until / 1000000000),
			       .tv_nsec = (long)(until % 1000000000) };
	uint64_t now;

	if (!mrpc_qp_in_flight(qp)) {
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		return;
	}
	now = now_ns();
	mrpc_run(qp, until > now ? (int64_t)(until - now + 999) / 1000 : 0);
}

static void take_places(struct answer *a, const struct hotel_PlacesReply *reply)
{
	const struct hotel_Place *from;
	struct place *to;

	for (a->nr = 0; a->nr < reply->places.len && a->nr < HOTELS; a->nr++) {
		from = hotel_PlacesReply_places(reply, reply, a->nr);
		to = &a->places[a->nr];
		TAKE(to->id, hotel_Place_id(reply, from));
		TAKE(to->profile.name, hotel_Place_name(reply, from));
		TAKE(to->profile.phone_number, hotel_Place_phone_number(reply, from));
		to->profile.lat = from->lat;
		to->profile.lon = from->lon;
	}
}

static void ask(const struct request *r, struct answer *a)
{
	const struct hotel_TextReply *reply;
	struct mrpc_result res;
	struct mrpc_msg msg;
	unsigned int method = build[r->kind](&msg, r);

	a->status = mrpc_call_sync(mrpc_conns[FRONTEND], &hotel_Frontend_service, method, &msg,
				   NULL, &res);
	TAKE(a->detail, res.detail);
	if (a->status == MRPC_OK && r->kind <= REQUEST_RECOMMEND) {
		take_places(a, res.reply);
	} else if (a->status == MRPC_OK) {
		reply = res.reply;
		TAKE(a->text, hotel_TextReply_text(reply, reply));
	}
	mrpc_result_release(&res);
}

int main(int argc, char **argv)
{
	static const struct peer peer = {
		.serve = serve,
		.stop = stop,
		.connect = connect_frontend,
		.load = { .submit = submit, .wait = wait_until, .now = now_ns },
		.ask = ask,
	};

	return program_main(argc, argv, &peer);
}
