// SPDX-License-Identifier: GPL-2.0
/*
 * The services that call others: search and frontend.
 */
#include <err.h>

#include <chrono>
#include <string>

#include "services.h"

using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

/* One channel to each service: calls share it. */
std::shared_ptr<grpc::Channel> connect_to(enum service service, const char *address)
{
	grpc::ChannelArguments args;

	args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
	args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
	auto channel = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), args);
	if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(20)))
		errx(1, "%s: no connection to %s", service_names[service], address);
	return channel;
}

/* A call to another service; it lives until that has been answered. */
template <class Request, class Reply> struct Hop : Call<Request, Reply> {
	uint64_t began;
};

/*
 * Makes @call, of service @to; @next(reply) follows. A call that fails fails the one that
 * needed it.
 */
template <class Request, class Reply, class Call, class Next>
static void hop(ServerUnaryReactor *reactor, enum service to, Hop<Request, Reply> *h, Call call,
		Next next)
{
	h->began = now_ns();
	call(&h->context, &h->request, &h->reply, [=](grpc::Status status) {
		hop_ended(to, h->began);
		if (status.ok())
			next(h->reply);
		else
			reactor->Finish(grpc::Status(status.error_code(),
						     std::string(service_names[to]) + ": " +
						     status.error_message()));
		delete h;
	});
}

/* -- search ------------------------------------------------------------------------- */

class Search final : public hotel::Search::CallbackService {
public:
	explicit Search(const struct service_options *o)
		: geo(hotel::Geo::NewStub(connect_to(GEO, o->addresses[GEO]))),
		  rate(hotel::Rate::NewStub(connect_to(RATE, o->addresses[RATE])))
	{
	}

private:
	std::unique_ptr<hotel::Geo::Stub> geo;
	std::unique_ptr<hotel::Rate::Stub> rate;

	ServerUnaryReactor *Nearby(CallbackServerContext *context,
				   const hotel::SearchRequest *request,
				   hotel::SearchReply *reply) override
	{
		ServerUnaryReactor *reactor = context->DefaultReactor();
		auto *h = new Hop<hotel::GeoRequest, hotel::GeoReply>;

		h->request.set_lat(request->lat());
		h->request.set_lon(request->lon());
		hop(reactor, GEO, h, [this](auto... args) { geo->async()->Nearby(args...); },
		    [=](const hotel::GeoReply &near) { rates(reactor, request, near, reply); });
		return reactor;
	}

	void rates(ServerUnaryReactor *reactor, const hotel::SearchRequest *request,
		   const hotel::GeoReply &near, hotel::SearchReply *reply)
	{
		auto *h = new Hop<hotel::RateRequest, hotel::RateReply>;

		*h->request.mutable_hotel_ids() = near.hotel_ids();
		h->request.set_in_date(request->in_date());
		h->request.set_out_date(request->out_date());
		hop(reactor, RATE, h, [this](auto... args) { rate->async()->GetRates(args...); },
		    [=](const hotel::RateReply &rates) {
			for (const hotel::RatePlan &plan : rates.rate_plans())
				reply->add_hotel_ids(plan.hotel_id());
			reactor->Finish(grpc::Status::OK);
		});
	}
};

/* -- frontend ----------------------------------------------------------------------- */

static const char wrong_password[] = "Failed. Please check your username and password.";

class Frontend final : public hotel::Frontend::CallbackService {
public:
	explicit Frontend(const struct service_options *o)
		: search(hotel::Search::NewStub(connect_to(SEARCH, o->addresses[SEARCH]))),
		  profile(hotel::Profile::NewStub(connect_to(PROFILE, o->addresses[PROFILE]))),
		  recommendation(hotel::Recommendation::NewStub(
			connect_to(RECOMMENDATION, o->addresses[RECOMMENDATION]))),
		  reservation(hotel::Reservation::NewStub(
			connect_to(RESERVATION, o->addresses[RESERVATION]))),
		  user(hotel::User::NewStub(connect_to(USER, o->addresses[USER])))
	{
	}

private:
	std::unique_ptr<hotel::Search::Stub> search;
	std::unique_ptr<hotel::Profile::Stub> profile;
	std::unique_ptr<hotel::Recommendation::Stub> recommendation;
	std::unique_ptr<hotel::Reservation::Stub> reservation;
	std::unique_ptr<hotel::User::Stub> user;

	/* Replies with the places of these hotels. */
	void places(ServerUnaryReactor *reactor, const Ids &ids, const std::string &locale,
		    hotel::PlacesReply *reply)
	{
		auto *h = new Hop<hotel::ProfileRequest, hotel::ProfileReply>;

		*h->request.mutable_hotel_ids() = ids;
		h->request.set_locale(locale);
		hop(reactor, PROFILE, h,
		    [this](auto... args) { profile->async()->GetProfiles(args...); },
		    [=](const hotel::ProfileReply &profiles) {
			for (const hotel::Hotel &hotel : profiles.hotels()) {
				hotel::Place *place = reply->add_places();

				place->set_id(hotel.id());
				place->set_name(hotel.name());
				place->set_phone_number(hotel.phone_number());
				place->set_lat(hotel.address().lat());
				place->set_lon(hotel.address().lon());
			}
			reactor->Finish(grpc::Status::OK);
		});
	}

	ServerUnaryReactor *Hotels(CallbackServerContext *context,
				   const hotel::HotelsRequest *request,
				   hotel::PlacesReply *reply) override
	{
		ServerUnaryReactor *reactor = context->DefaultReactor();
		auto *h = new Hop<hotel::SearchRequest, hotel::SearchReply>;

		h->request.set_lat(request->lat());
		h->request.set_lon(request->lon());
		h->request.set_in_date(request->in_date());
		h->request.set_out_date(request->out_date());
		hop(reactor, SEARCH, h, [this](auto... args) { search->async()->Nearby(args...); },
		    [=](const hotel::SearchReply &found) {
			available(reactor, request, found, reply);
		});
		return reactor;
	}

	void available(ServerUnaryReactor *reactor, const hotel::HotelsRequest *request,
		       const hotel::SearchReply &found, hotel::PlacesReply *reply)
	{
		auto *h = new Hop<hotel::ReservationRequest, hotel::ReservationReply>;

		*h->request.mutable_hotel_ids() = found.hotel_ids();
		h->request.set_in_date(request->in_date());
		h->request.set_out_date(request->out_date());
		h->request.set_room_number(1);
		hop(reactor, RESERVATION, h,
		    [this](auto... args) { reservation->async()->CheckAvailability(args...); },
		    [=](const hotel::ReservationReply &left) {
			places(reactor, left.hotel_ids(), request->locale(), reply);
		});
	}

	ServerUnaryReactor *Recommend(CallbackServerContext *context,
				      const hotel::RecommendRequest *request,
				      hotel::PlacesReply *reply) override
	{
		ServerUnaryReactor *reactor = context->DefaultReactor();
		auto *h = new Hop<hotel::RecommendationRequest, hotel::RecommendationReply>;

		h->request.set_require(request->require());
		h->request.set_lat(request->lat());
		h->request.set_lon(request->lon());
		hop(reactor, RECOMMENDATION, h,
		    [this](auto... args) { recommendation->async()->GetRecommendations(args...); },
		    [=](const hotel::RecommendationReply &best) {
			places(reactor, best.hotel_ids(), request->locale(), reply);
		});
		return reactor;
	}

	template <class Next>
	void check_user(ServerUnaryReactor *reactor, const std::string &name,
			const std::string &password, Next next)
	{
		auto *h = new Hop<hotel::UserRequest, hotel::UserReply>;

		h->request.set_username(name);
		h->request.set_password(password);
		hop(reactor, USER, h, [this](auto... args) { user->async()->CheckUser(args...); },
		    next);
	}

	ServerUnaryReactor *Login(CallbackServerContext *context, const hotel::UserRequest *request,
				  hotel::TextReply *reply) override
	{
		ServerUnaryReactor *reactor = context->DefaultReactor();

		check_user(reactor, request->username(), request->password(),
			   [=](const hotel::UserReply &checked) {
			reply->set_text(checked.correct() ? "Login successfully!" : wrong_password);
			reactor->Finish(grpc::Status::OK);
		});
		return reactor;
	}

	ServerUnaryReactor *Reserve(CallbackServerContext *context,
				    const hotel::ReserveRequest *request,
				    hotel::TextReply *reply) override
	{
		ServerUnaryReactor *reactor = context->DefaultReactor();

		check_user(reactor, request->username(), request->password(),
			   [=](const hotel::UserReply &checked) {
			if (checked.correct()) {
				make_reservation(reactor, request, reply);
				return;
			}
			reply->set_text(wrong_password);
			reactor->Finish(grpc::Status::OK);
		});
		return reactor;
	}

	void make_reservation(ServerUnaryReactor *reactor, const hotel::ReserveRequest *request,
			      hotel::TextReply *reply)
	{
		auto *h = new Hop<hotel::ReservationRequest, hotel::ReservationReply>;

		h->request.set_customer_name(request->customer_name());
		h->request.add_hotel_ids(request->hotel_id());
		h->request.set_in_date(request->in_date());
		h->request.set_out_date(request->out_date());
		h->request.set_room_number(request->room_number());
		hop(reactor, RESERVATION, h,
		    [this](auto... args) { reservation->async()->MakeReservation(args...); },
		    [=](const hotel::ReservationReply &made) {
			reply->set_text(made.hotel_ids_size() ? "Reserve successfully!" :
								"Failed. Already reserved.");
			reactor->Finish(grpc::Status::OK);
		});
	}
};

std::unique_ptr<grpc::Service> make_caller(const struct service_options *o)
{
	switch (o->service) {
	case SEARCH: return std::make_unique<Search>(o);
	case FRONTEND: return std::make_unique<Frontend>(o);
	default: return nullptr;
	}
}
