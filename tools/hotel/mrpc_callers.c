// SPDX-License-Identifier: GPL-2.0
/*
 * The services that call others: search and frontend.
 */
#include <stdlib.h>

#include "mrpc_services.h"

/**
 * struct step - where a call is that needs others
 * @call: it
 * @to: the service that was called last
 * @began: when
 * @next: what follows when that has been answered
 *
 * Lives from begin() to finish(). No other thread uses it while a call is in flight.
 */
struct step {
	struct mrpc_call *call;
	enum service to;
	uint64_t began;
	void (*next)(struct step *step, const struct mrpc_result *res);
};

static struct step *begin(struct mrpc_call *call)
{
	struct step *step = malloc(sizeof(*step));

	if (step)
		step->call = call;
	return step;
}

static void finish(struct step *step, int status)
{
	mrpc_call_reply(step->call, status);
	free(step);
}

/* A call that failed fails the one that needed it. */
static void on_done(void *user, struct mrpc_result *res)
{
	struct step *step = user;

	hop_ended(step->to, step->began);
	if (res->status == MRPC_OK) {
		step->next(step, res);
		return;
	}
	mrpc_call_set_detail(step->call, "%s: %s", service_names[step->to], res->detail);
	finish(step, res->status);
}

/* Calls @to; @next follows. */
static void step_call(struct step *step, enum service to, unsigned int method, struct mrpc_msg *msg,
		      void (*next)(struct step *step, const struct mrpc_result *res))
{
	int status;

	step->to = to;
	step->next = next;
	step->began = now_ns();
	status = mrpc_call_async(mrpc_conns[to], mrpc_services[to], method, msg, NULL, on_done,
				 step, NULL);
	if (status == MRPC_OK)
		return;
	mrpc_call_set_detail(step->call, "%s: %s", service_names[to], mrpc_last_error());
	finish(step, status);
}

/* -- search ------------------------------------------------------------------------- */

static void found_rates(struct step *step, const struct mrpc_result *res)
{
	const struct hotel_RateReply *rates = hotel_Rate_GetRates_reply(res);
	struct hotel_SearchReply *reply = mrpc_call_reply_root(step->call);
	struct mrpc_msg *msg = mrpc_call_msg(step->call);
	uint32_t i, nr = rates->rate_plans.len;

	hotel_SearchReply_alloc_hotel_ids(msg, reply, nr);
	for (i = 0; i < nr; i++)
		hotel_SearchReply_set_hotel_ids(msg, reply, i, hotel_RatePlan_hotel_id(rates,
						hotel_RateReply_rate_plans(rates, rates, i)));
	finish(step, MRPC_OK);
}

static void found_near(struct step *step, const struct mrpc_result *res)
{
	const struct hotel_SearchRequest *req = mrpc_call_request(step->call);
	const struct hotel_GeoReply *near = hotel_Geo_Nearby_reply(res);
	struct hotel_RateRequest *ask;
	unsigned int hotels[HOTELS];
	int nr = read_hotels(near, near->hotel_ids, hotels);
	struct mrpc_msg msg;

	if (nr < 0) {
		mrpc_call_set_detail(step->call, "geo has found what is no hotel");
		finish(step, MRPC_INTERNAL);
		return;
	}
	ask = hotel_RateRequest_new(&msg, mrpc_call_session(step->call));
	write_hotels(&msg, &ask->hotel_ids, hotels, (unsigned int)nr);
	hotel_RateRequest_set_in_date(&msg, ask, hotel_SearchRequest_in_date(req, req));
	hotel_RateRequest_set_out_date(&msg, ask, hotel_SearchRequest_out_date(req, req));
	step_call(step, RATE, hotel_Rate_METHOD_GetRates, &msg, found_rates);
}

static int search(struct mrpc_call *call, const struct hotel_SearchRequest *req,
		  struct hotel_SearchReply *reply)
{
	struct step *step = begin(call);
	struct hotel_GeoRequest *ask;
	struct mrpc_msg msg;

	(void)reply;
	if (!step)
		return MRPC_RESOURCE_EXHAUSTED;
	ask = hotel_GeoRequest_new(&msg, mrpc_call_session(call));
	ask->lat = req->lat;
	ask->lon = req->lon;
	step_call(step, GEO, hotel_Geo_METHOD_Nearby, &msg, found_near);
	return MRPC_DEFER;
}

const struct hotel_Search_ops search_ops = { .Nearby = search };

/* -- frontend: places --------------------------------------------------------------- */

static void fill_place(struct mrpc_msg *msg, struct hotel_Place *to,
		       const struct hotel_ProfileReply *from, const struct hotel_Hotel *hotel)
{
	const struct hotel_Address *address = hotel_Hotel_address(from, hotel);

	hotel_Place_set_id(msg, to, hotel_Hotel_id(from, hotel));
	hotel_Place_set_name(msg, to, hotel_Hotel_name(from, hotel));
	hotel_Place_set_phone_number(msg, to, hotel_Hotel_phone_number(from, hotel));
	if (address) {
		to->lat = address->lat;
		to->lon = address->lon;
	}
}

static void found_profiles(struct step *step, const struct mrpc_result *res)
{
	const struct hotel_ProfileReply *from = hotel_Profile_GetProfiles_reply(res);
	struct hotel_PlacesReply *reply = mrpc_call_reply_root(step->call);
	struct mrpc_msg *msg = mrpc_call_msg(step->call);
	uint32_t i, nr = from->hotels.len;
	struct hotel_Place *to;

	to = hotel_PlacesReply_alloc_places(msg, reply, nr);
	for (i = 0; i < nr; i++)
		fill_place(msg, &to[i], from, hotel_ProfileReply_hotels(from, from, i));
	finish(step, MRPC_OK);
}

/* Goes on with the profiles of @ids, which are those of a reply with @root. */
static void ask_profiles(struct step *step, const void *root, struct mrpc_ref ids,
			 const char *locale)
{
	struct hotel_ProfileRequest *ask;
	unsigned int hotels[HOTELS];
	int nr = read_hotels(root, ids, hotels);
	struct mrpc_msg msg;

	if (nr < 0) {
		mrpc_call_set_detail(step->call, "%s has found what is no hotel",
				     service_names[step->to]);
		finish(step, MRPC_INTERNAL);
		return;
	}
	ask = hotel_ProfileRequest_new(&msg, mrpc_call_session(step->call));
	write_hotels(&msg, &ask->hotel_ids, hotels, (unsigned int)nr);
	hotel_ProfileRequest_set_locale(&msg, ask, locale);
	step_call(step, PROFILE, hotel_Profile_METHOD_GetProfiles, &msg, found_profiles);
}

static void found_available(struct step *step, const struct mrpc_result *res)
{
	const struct hotel_HotelsRequest *req = mrpc_call_request(step->call);
	const struct hotel_ReservationReply *from = hotel_Reservation_CheckAvailability_reply(res);

	ask_profiles(step, from, from->hotel_ids, hotel_HotelsRequest_locale(req, req));
}

static void found_hotels(struct step *step, const struct mrpc_result *res)
{
	const struct hotel_HotelsRequest *req = mrpc_call_request(step->call);
	const struct hotel_SearchReply *from = hotel_Search_Nearby_reply(res);
	struct hotel_ReservationRequest *ask;
	struct mrpc_msg msg;
	uint32_t i;

	ask = hotel_ReservationRequest_new(&msg, mrpc_call_session(step->call));
	hotel_ReservationRequest_alloc_hotel_ids(&msg, ask, from->hotel_ids.len);
	for (i = 0; i < from->hotel_ids.len; i++)
		hotel_ReservationRequest_set_hotel_ids(&msg, ask, i,
						       hotel_SearchReply_hotel_ids(from, from, i));
	hotel_ReservationRequest_set_in_date(&msg, ask, hotel_HotelsRequest_in_date(req, req));
	hotel_ReservationRequest_set_out_date(&msg, ask, hotel_HotelsRequest_out_date(req, req));
	ask->room_number = 1;
	step_call(step, RESERVATION, hotel_Reservation_METHOD_CheckAvailability, &msg,
		  found_available);
}

static int hotels(struct mrpc_call *call, const struct hotel_HotelsRequest *req,
		  struct hotel_PlacesReply *reply)
{
	struct step *step = begin(call);
	struct hotel_SearchRequest *ask;
	struct mrpc_msg msg;

	(void)reply;
	if (!step)
		return MRPC_RESOURCE_EXHAUSTED;
	ask = hotel_SearchRequest_new(&msg, mrpc_call_session(call));
	ask->lat = req->lat;
	ask->lon = req->lon;
	hotel_SearchRequest_set_in_date(&msg, ask, hotel_HotelsRequest_in_date(req, req));
	hotel_SearchRequest_set_out_date(&msg, ask, hotel_HotelsRequest_out_date(req, req));
	step_call(step, SEARCH, hotel_Search_METHOD_Nearby, &msg, found_hotels);
	return MRPC_DEFER;
}

static void recommended(struct step *step, const struct mrpc_result *res)
{
	const struct hotel_RecommendRequest *req = mrpc_call_request(step->call);
	const struct hotel_RecommendationReply *from =
		hotel_Recommendation_GetRecommendations_reply(res);

	ask_profiles(step, from, from->hotel_ids, hotel_RecommendRequest_locale(req, req));
}

static int recommendations(struct mrpc_call *call, const struct hotel_RecommendRequest *req,
			   struct hotel_PlacesReply *reply)
{
	struct step *step = begin(call);
	struct hotel_RecommendationRequest *ask;
	struct mrpc_msg msg;

	(void)reply;
	if (!step)
		return MRPC_RESOURCE_EXHAUSTED;
	ask = hotel_RecommendationRequest_new(&msg, mrpc_call_session(call));
	hotel_RecommendationRequest_set_require(&msg, ask,
						hotel_RecommendRequest_require(req, req));
	ask->lat = req->lat;
	ask->lon = req->lon;
	step_call(step, RECOMMENDATION, hotel_Recommendation_METHOD_GetRecommendations, &msg,
		  recommended);
	return MRPC_DEFER;
}

/* -- frontend: users ---------------------------------------------------------------- */

static void answer_text(struct step *step, const char *text)
{
	hotel_TextReply_set_text(mrpc_call_msg(step->call), mrpc_call_reply_root(step->call), text);
	finish(step, MRPC_OK);
}

static const char wrong_password[] = "Failed. Please check your username and password.";

static void ask_user(struct step *step, const char *username, const char *password,
		     void (*next)(struct step *step, const struct mrpc_result *res))
{
	struct hotel_UserRequest *ask;
	struct mrpc_msg msg;

	ask = hotel_UserRequest_new(&msg, mrpc_call_session(step->call));
	hotel_UserRequest_set_username(&msg, ask, username);
	hotel_UserRequest_set_password(&msg, ask, password);
	step_call(step, USER, hotel_User_METHOD_CheckUser, &msg, next);
}

static void logged_in(struct step *step, const struct mrpc_result *res)
{
	answer_text(step, hotel_User_CheckUser_reply(res)->correct ? "Login successfully!" :
								     wrong_password);
}

static int login(struct mrpc_call *call, const struct hotel_UserRequest *req,
		 struct hotel_TextReply *reply)
{
	struct step *step = begin(call);

	(void)reply;
	if (!step)
		return MRPC_RESOURCE_EXHAUSTED;
	ask_user(step, hotel_UserRequest_username(req, req), hotel_UserRequest_password(req, req),
		 logged_in);
	return MRPC_DEFER;
}

static void reserved(struct step *step, const struct mrpc_result *res)
{
	const struct hotel_ReservationReply *from = hotel_Reservation_MakeReservation_reply(res);

	answer_text(step, from->hotel_ids.len ? "Reserve successfully!" :
						"Failed. Already reserved.");
}

static void may_reserve(struct step *step, const struct mrpc_result *res)
{
	const struct hotel_ReserveRequest *req = mrpc_call_request(step->call);
	struct hotel_ReservationRequest *ask;
	struct mrpc_msg msg;

	if (!hotel_User_CheckUser_reply(res)->correct) {
		answer_text(step, wrong_password);
		return;
	}
	ask = hotel_ReservationRequest_new(&msg, mrpc_call_session(step->call));
	hotel_ReservationRequest_set_customer_name(&msg, ask,
						   hotel_ReserveRequest_customer_name(req, req));
	hotel_ReservationRequest_alloc_hotel_ids(&msg, ask, 1);
	hotel_ReservationRequest_set_hotel_ids(&msg, ask, 0,
					       hotel_ReserveRequest_hotel_id(req, req));
	hotel_ReservationRequest_set_in_date(&msg, ask, hotel_ReserveRequest_in_date(req, req));
	hotel_ReservationRequest_set_out_date(&msg, ask, hotel_ReserveRequest_out_date(req, req));
	ask->room_number = req->room_number;
	step_call(step, RESERVATION, hotel_Reservation_METHOD_MakeReservation, &msg, reserved);
}

static int reserve(struct mrpc_call *call, const struct hotel_ReserveRequest *req,
		   struct hotel_TextReply *reply)
{
	struct step *step = begin(call);

	(void)reply;
	if (!step)
		return MRPC_RESOURCE_EXHAUSTED;
	ask_user(step, hotel_ReserveRequest_username(req, req),
		 hotel_ReserveRequest_password(req, req), may_reserve);
	return MRPC_DEFER;
}

const struct hotel_Frontend_ops frontend_ops = {
	.Hotels = hotels,
	.Recommend = recommendations,
	.Login = login,
	.Reserve = reserve,
};
