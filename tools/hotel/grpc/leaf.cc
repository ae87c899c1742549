// SPDX-License-Identifier: GPL-2.0
/*
 * The services that call no other one.
 */
#include "services.h"
#include "stock.h"

using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

static ServerUnaryReactor *finish(CallbackServerContext *context, const grpc::Status &status)
{
	ServerUnaryReactor *reactor = context->DefaultReactor();

	reactor->Finish(status);
	return reactor;
}

static ServerUnaryReactor *refuse(CallbackServerContext *context, const char *why)
{
	return finish(context, grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, why));
}

/* As on mrpc. */
static int read_hotels(const Ids &ids, unsigned int *hotels)
{
	int i;

	if (ids.size() > HOTELS)
		return -1;
	for (i = 0; i < ids.size(); i++) {
		hotels[i] = hotel_number(ids[i].c_str());
		if (!hotels[i])
			return -1;
	}
	return i;
}

static void write_hotels(Ids *ids, const unsigned int *hotels, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		ids->Add(hotel_id(hotels[i]));
}

class Geo final : public hotel::Geo::CallbackService {
	ServerUnaryReactor *Nearby(CallbackServerContext *context, const hotel::GeoRequest *request,
				   hotel::GeoReply *reply) override
	{
		unsigned int found[GEO_RESULTS];
		int nr = (int)geo_nearby(request->lat(), request->lon(), found);

		write_hotels(reply->mutable_hotel_ids(), found, nr);
		return finish(context, grpc::Status::OK);
	}
};

class Rate final : public hotel::Rate::CallbackService {
	static void fill(hotel::RatePlan *to, const struct rate_plan &from)
	{
		hotel::RoomType *room = to->mutable_room_type();

		to->set_hotel_id(hotel_id(from.hotel));
		to->set_code(from.code);
		to->set_in_date(from.in_date);
		to->set_out_date(from.out_date);
		room->set_bookable_rate(from.bookable_rate);
		room->set_total_rate(from.total_rate);
		room->set_total_rate_inclusive(from.total_rate_inclusive);
		room->set_code(from.room_code);
		room->set_room_description(from.room_description);
	}

	ServerUnaryReactor *GetRates(CallbackServerContext *context,
				     const hotel::RateRequest *request,
				     hotel::RateReply *reply) override
	{
		struct rate_plan plans[HOTELS];
		unsigned int hotels[HOTELS];
		int nr = read_hotels(request->hotel_ids(), hotels);
		size_t i, nr_plans;

		if (nr < 0)
			return refuse(context, "no such hotels");
		nr_plans = stock_rates(hotels, (size_t)nr, plans);
		for (i = 0; i < nr_plans; i++)
			fill(reply->add_rate_plans(), plans[i]);
		return finish(context, grpc::Status::OK);
	}
};

class Profile final : public hotel::Profile::CallbackService {
	static void fill(hotel::Hotel *to, unsigned int hotel, const struct profile &from)
	{
		hotel::Address *address = to->mutable_address();

		to->set_id(hotel_id(hotel));
		to->set_name(from.name);
		to->set_phone_number(from.phone_number);
		to->set_description(from.description);
		address->set_street_number(from.street_number);
		address->set_street_name(from.street_name);
		address->set_city(from.city);
		address->set_state(from.state);
		address->set_country(from.country);
		address->set_postal_code(from.postal_code);
		address->set_lat(from.lat);
		address->set_lon(from.lon);
	}

	ServerUnaryReactor *GetProfiles(CallbackServerContext *context,
					const hotel::ProfileRequest *request,
					hotel::ProfileReply *reply) override
	{
		struct profile profiles[HOTELS];
		unsigned int hotels[HOTELS];
		int nr = read_hotels(request->hotel_ids(), hotels), i;

		if (nr < 0)
			return refuse(context, "no such hotels");
		stock_profiles(hotels, (size_t)nr, profiles);
		for (i = 0; i < nr; i++)
			fill(reply->add_hotels(), hotels[i], profiles[i]);
		return finish(context, grpc::Status::OK);
	}
};

class Recommendation final : public hotel::Recommendation::CallbackService {
	ServerUnaryReactor *GetRecommendations(CallbackServerContext *context,
					       const hotel::RecommendationRequest *request,
					       hotel::RecommendationReply *reply) override
	{
		unsigned int found[HOTELS];
		int nr = recommend(request->require().c_str(), request->lat(), request->lon(),
				   found);

		if (nr < 0)
			return refuse(context, "recommendations are by dis, rate or price");
		write_hotels(reply->mutable_hotel_ids(), found, nr);
		return finish(context, grpc::Status::OK);
	}
};

class Reservation final : public hotel::Reservation::CallbackService {
	ServerUnaryReactor *CheckAvailability(CallbackServerContext *context,
					      const hotel::ReservationRequest *request,
					      hotel::ReservationReply *reply) override
	{
		unsigned int hotels[HOTELS], found[HOTELS];
		int nr = read_hotels(request->hotel_ids(), hotels);

		if (nr >= 0)
			nr = stock_available(hotels, (size_t)nr, request->in_date().c_str(),
					     request->out_date().c_str(), request->room_number(),
					     found);
		return answer(context, reply, found, nr);
	}

	ServerUnaryReactor *MakeReservation(CallbackServerContext *context,
					    const hotel::ReservationRequest *request,
					    hotel::ReservationReply *reply) override
	{
		unsigned int hotels[HOTELS];
		int nr = read_hotels(request->hotel_ids(), hotels);

		nr = nr != 1 ? -1 : stock_reserve(hotels[0], request->in_date().c_str(),
						  request->out_date().c_str(),
						  request->room_number());
		return answer(context, reply, hotels, nr);
	}

	static ServerUnaryReactor *answer(CallbackServerContext *context,
					  hotel::ReservationReply *reply,
					  const unsigned int *hotels, int nr)
	{
		if (nr < 0)
			return refuse(context, "no such dates, hotels or number of rooms");
		write_hotels(reply->mutable_hotel_ids(), hotels, nr);
		return finish(context, grpc::Status::OK);
	}
};

class User final : public hotel::User::CallbackService {
	ServerUnaryReactor *CheckUser(CallbackServerContext *context,
				      const hotel::UserRequest *request,
				      hotel::UserReply *reply) override
	{
		reply->set_correct(user_check(request->username().c_str(),
					      request->password().c_str()));
		return finish(context, grpc::Status::OK);
	}
};

std::unique_ptr<grpc::Service> make_leaf(enum service service)
{
	switch (service) {
	case GEO: return std::make_unique<Geo>();
	case RATE: return std::make_unique<Rate>();
	case PROFILE: return std::make_unique<Profile>();
	case RECOMMENDATION: return std::make_unique<Recommendation>();
	case RESERVATION: return std::make_unique<Reservation>();
	case USER: return std::make_unique<User>();
	default: return nullptr;
	}
}
