// SPDX-License-Identifier: GPL-2.0
/*
 * The services that call no other one.
 */
#include "mrpc_services.h"
#include "stock.h"

int read_hotels(const void *root, struct mrpc_ref ids, unsigned int *hotels)
{
	const struct mrpc_ref *refs = mrpc_ref_ptr(root, ids);
	uint32_t i;

	if (ids.len > HOTELS)
		return -1;
	for (i = 0; i < ids.len; i++) {
		hotels[i] = hotel_number(mrpc_ref_str(root, refs[i]));
		if (!hotels[i])
			return -1;
	}
	return (int)ids.len;
}

void write_hotels(struct mrpc_msg *msg, struct mrpc_ref *ids, const unsigned int *hotels,
		  unsigned int nr)
{
	struct mrpc_ref *refs = mrpc_msg_alloc_array(msg, ids, nr, sizeof(*refs), 8);
	unsigned int i;

	for (i = 0; i < nr; i++)
		mrpc_msg_set_str(msg, &refs[i], hotel_id(hotels[i]));
}

int refuse(struct mrpc_call *call, const char *why)
{
	mrpc_call_set_detail(call, "%s", why);
	return MRPC_INVALID_ARGUMENT;
}

/* -- geo ---------------------------------------------------------------------------- */

static int nearby(struct mrpc_call *call, const struct hotel_GeoRequest *req,
		  struct hotel_GeoReply *reply)
{
	unsigned int found[GEO_RESULTS];

	write_hotels(mrpc_call_msg(call), &reply->hotel_ids, found,
		     geo_nearby(req->lat, req->lon, found));
	return MRPC_OK;
}

const struct hotel_Geo_ops geo_ops = { .Nearby = nearby };

/* -- rate --------------------------------------------------------------------------- */

static void fill_plan(struct mrpc_msg *msg, struct hotel_RatePlan *to, const struct rate_plan *from)
{
	struct hotel_RoomType *room = hotel_RatePlan_alloc_room_type(msg, to);

	hotel_RatePlan_set_hotel_id(msg, to, hotel_id(from->hotel));
	hotel_RatePlan_set_code(msg, to, from->code);
	hotel_RatePlan_set_in_date(msg, to, from->in_date);
	hotel_RatePlan_set_out_date(msg, to, from->out_date);
	room->bookable_rate = from->bookable_rate;
	room->total_rate = from->total_rate;
	room->total_rate_inclusive = from->total_rate_inclusive;
	hotel_RoomType_set_code(msg, room, from->room_code);
	hotel_RoomType_set_room_description(msg, room, from->room_description);
}

static int get_rates(struct mrpc_call *call, const struct hotel_RateRequest *req,
		     struct hotel_RateReply *reply)
{
	struct mrpc_msg *msg = mrpc_call_msg(call);
	struct hotel_RatePlan *to;
	struct rate_plan plans[HOTELS];
	unsigned int hotels[HOTELS];
	int nr = read_hotels(req, req->hotel_ids, hotels);
	size_t nr_plans, i;

	if (nr < 0)
		return refuse(call, "no such hotels");
	nr_plans = stock_rates(hotels, (size_t)nr, plans);
	to = hotel_RateReply_alloc_rate_plans(msg, reply, nr_plans);
	for (i = 0; i < nr_plans; i++)
		fill_plan(msg, &to[i], &plans[i]);
	return MRPC_OK;
}

const struct hotel_Rate_ops rate_ops = { .GetRates = get_rates };

/* -- profile ------------------------------------------------------------------------ */

static void fill_hotel(struct mrpc_msg *msg, struct hotel_Hotel *to, unsigned int hotel,
		       const struct profile *from)
{
	struct hotel_Address *address = hotel_Hotel_alloc_address(msg, to);

	hotel_Hotel_set_id(msg, to, hotel_id(hotel));
	hotel_Hotel_set_name(msg, to, from->name);
	hotel_Hotel_set_phone_number(msg, to, from->phone_number);
	hotel_Hotel_set_description(msg, to, from->description);
	hotel_Address_set_street_number(msg, address, from->street_number);
	hotel_Address_set_street_name(msg, address, from->street_name);
	hotel_Address_set_city(msg, address, from->city);
	hotel_Address_set_state(msg, address, from->state);
	hotel_Address_set_country(msg, address, from->country);
	hotel_Address_set_postal_code(msg, address, from->postal_code);
	address->lat = from->lat;
	address->lon = from->lon;
}

static int get_profiles(struct mrpc_call *call, const struct hotel_ProfileRequest *req,
			struct hotel_ProfileReply *reply)
{
	struct mrpc_msg *msg = mrpc_call_msg(call);
	struct profile profiles[HOTELS];
	unsigned int hotels[HOTELS];
	int nr = read_hotels(req, req->hotel_ids, hotels), i;
	struct hotel_Hotel *to;

	if (nr < 0)
		return refuse(call, "no such hotels");
	stock_profiles(hotels, (size_t)nr, profiles);
	to = hotel_ProfileReply_alloc_hotels(msg, reply, (size_t)nr);
	for (i = 0; i < nr; i++)
		fill_hotel(msg, &to[i], hotels[i], &profiles[i]);
	return MRPC_OK;
}

const struct hotel_Profile_ops profile_ops = { .GetProfiles = get_profiles };

/* -- recommendation ----------------------------------------------------------------- */

static int get_recommendations(struct mrpc_call *call,
			       const struct hotel_RecommendationRequest *req,
			       struct hotel_RecommendationReply *reply)
{
	unsigned int found[HOTELS];
	int nr = recommend(hotel_RecommendationRequest_require(req, req), req->lat, req->lon,
			   found);

	if (nr < 0)
		return refuse(call, "recommendations are by dis, rate or price");
	write_hotels(mrpc_call_msg(call), &reply->hotel_ids, found, (unsigned int)nr);
	return MRPC_OK;
}

const struct hotel_Recommendation_ops recommendation_ops = {
	.GetRecommendations = get_recommendations,
};

/* -- reservation -------------------------------------------------------------------- */

static const char bad_stay[] = "no such dates, hotels or number of rooms";

static int check_availability(struct mrpc_call *call, const struct hotel_ReservationRequest *req,
			      struct hotel_ReservationReply *reply)
{
	unsigned int hotels[HOTELS], found[HOTELS];
	int nr = read_hotels(req, req->hotel_ids, hotels);

	if (nr >= 0)
		nr = stock_available(hotels, (size_t)nr, hotel_ReservationRequest_in_date(req, req),
				     hotel_ReservationRequest_out_date(req, req), req->room_number,
				     found);
	if (nr < 0)
		return refuse(call, bad_stay);
	write_hotels(mrpc_call_msg(call), &reply->hotel_ids, found, (unsigned int)nr);
	return MRPC_OK;
}

static int make_reservation(struct mrpc_call *call, const struct hotel_ReservationRequest *req,
			    struct hotel_ReservationReply *reply)
{
	unsigned int hotels[HOTELS];
	int nr = read_hotels(req, req->hotel_ids, hotels);

	nr = nr != 1 ? -1 : stock_reserve(hotels[0], hotel_ReservationRequest_in_date(req, req),
					  hotel_ReservationRequest_out_date(req, req),
					  req->room_number);
	if (nr < 0)
		return refuse(call, bad_stay);
	write_hotels(mrpc_call_msg(call), &reply->hotel_ids, hotels, (unsigned int)nr);
	return MRPC_OK;
}

const struct hotel_Reservation_ops reservation_ops = {
	.CheckAvailability = check_availability,
	.MakeReservation = make_reservation,
};

/* -- user --------------------------------------------------------------------------- */

static int check_user(struct mrpc_call *call, const struct hotel_UserRequest *req,
		      struct hotel_UserReply *reply)
{
	(void)call;
	reply->correct = user_check(hotel_UserRequest_username(req, req),
				    hotel_UserRequest_password(req, req));
	return MRPC_OK;
}

const struct hotel_User_ops user_ops = { .CheckUser = check_user };
