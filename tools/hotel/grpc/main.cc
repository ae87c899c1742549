// SPDX-License-Identifier: GPL-2.0
/*
 * hotel_grpc: the hotel reservation application on gRPC.
 */
#include <err.h>
#include <time.h>
#include <unistd.h>

#include "services.h"

/* -- a service ---------------------------------------------------------------------- */

static void serve(const struct service_options *o)
{
	std::unique_ptr<grpc::Service> service = make_leaf(o->service);
	grpc::ServerBuilder builder;

	if (!service)
		service = make_caller(o);
	builder.AddListeningPort(o->listen, grpc::InsecureServerCredentials());
	builder.RegisterService(service.get());
	std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
	if (!server)
		errx(1, "%s: no server", o->listen);
	program_ready();
	server->Wait();
}

/* Without waiting for connections that clients keep. */
static void stop(void)
{
	_exit(0);
}

/* -- requests ----------------------------------------------------------------------- */

static std::unique_ptr<hotel::Frontend::Stub> frontend;

static void connect_frontend(const char *address)
{
	frontend = hotel::Frontend::NewStub(connect_to(FRONTEND, address));
}

static void build(const struct request *r, hotel::HotelsRequest *to)
{
	to->set_lat((float)r->lat);
	to->set_lon((float)r->lon);
	to->set_in_date(r->in_date);
	to->set_out_date(r->out_date);
	to->set_locale("en");
}

static void build(const struct request *r, hotel::RecommendRequest *to)
{
	to->set_require(r->require);
	to->set_lat(r->lat);
	to->set_lon(r->lon);
	to->set_locale("en");
}

static void build(const struct request *r, hotel::UserRequest *to)
{
	to->set_username(r->username);
	to->set_password(r->password);
}

static void build(const struct request *r, hotel::ReserveRequest *to)
{
	to->set_customer_name(r->username);
	to->set_username(r->username);
	to->set_password(r->password);
	to->set_hotel_id(hotel_id(r->hotel));
	to->set_in_date(r->in_date);
	to->set_out_date(r->out_date);
	to->set_room_number(r->rooms);
}

template <class Request, class Reply, class Method>
static void submit_as(struct load_call *call, Method method)
{
	auto *c = new Call<Request, Reply>;

	build(&call->request, &c->request);
	method(&c->context, &c->request, &c->reply, [=](grpc::Status status) {
		load_done(call, !status.ok());
		delete c;
	});
}

static void submit(struct load_call *call)
{
	auto *stub = frontend->async();

	switch (call->request.kind) {
	case REQUEST_HOTELS:
		submit_as<hotel::HotelsRequest, hotel::PlacesReply>(call,
			[=](auto... args) { stub->Hotels(args...); });
		break;
	case REQUEST_RECOMMEND:
		submit_as<hotel::RecommendRequest, hotel::PlacesReply>(call,
			[=](auto... args) { stub->Recommend(args...); });
		break;
	case REQUEST_LOGIN:
		submit_as<hotel::UserRequest, hotel::TextReply>(call,
			[=](auto... args) { stub->Login(args...); });
		break;
	default:
		submit_as<hotel::ReserveRequest, hotel::TextReply>(call,
			[=](auto... args) { stub->Reserve(args...); });
	}
}

/* Calls end in threads of the library. */
static void wait_until(uint64_t until)
{
	struct timespec ts = { (time_t)(until / 1000000000), (long)(until % 1000000000) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, nullptr);
}

static void take(const hotel::PlacesReply &reply, struct answer *a)
{
	for (const hotel::Place &from : reply.places()) {
		if (a->nr == HOTELS)
			break;
		struct place *to = &a->places[a->nr++];

		TAKE(to->id, from.id().c_str());
		TAKE(to->profile.name, from.name().c_str());
		TAKE(to->profile.phone_number, from.phone_number().c_str());
		to->profile.lat = from.lat();
		to->profile.lon = from.lon();
	}
}

static void take(const hotel::TextReply &reply, struct answer *a)
{
	TAKE(a->text, reply.text().c_str());
}

template <class Request, class Reply, class Method>
static void ask_as(const struct request *r, struct answer *a, Method method)
{
	Call<Request, Reply> c;

	build(r, &c.request);
	grpc::Status status = method(&c.context, c.request, &c.reply);
	a->nr = 0;
	a->status = status.error_code();
	TAKE(a->detail, status.error_message().c_str());
	if (status.ok())
		take(c.reply, a);
}

static void ask(const struct request *r, struct answer *a)
{
	switch (r->kind) {
	case REQUEST_HOTELS:
		ask_as<hotel::HotelsRequest, hotel::PlacesReply>(r, a,
			[](auto *c, auto &q, auto *p) { return frontend->Hotels(c, q, p); });
		break;
	case REQUEST_RECOMMEND:
		ask_as<hotel::RecommendRequest, hotel::PlacesReply>(r, a,
			[](auto *c, auto &q, auto *p) { return frontend->Recommend(c, q, p); });
		break;
	case REQUEST_LOGIN:
		ask_as<hotel::UserRequest, hotel::TextReply>(r, a,
			[](auto *c, auto &q, auto *p) { return frontend->Login(c, q, p); });
		break;
	default:
		ask_as<hotel::ReserveRequest, hotel::TextReply>(r, a,
			[](auto *c, auto &q, auto *p) { return frontend->Reserve(c, q, p); });
	}
}

int main(int argc, char **argv)
{
	struct peer peer = {};

	peer.serve = serve;
	peer.stop = stop;
	peer.connect = connect_frontend;
	peer.load.submit = submit;
	peer.load.wait = wait_until;
	peer.load.now = now_ns;
	peer.ask = ask;
	return program_main(argc, argv, &peer);
}
