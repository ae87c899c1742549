// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random.h"

/* gRPC's numbers. */
#define OK			0
#define INVALID_ARGUMENT	3

static unsigned int wrong;

static __attribute__((format(printf, 1, 2))) void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	wrong++;
}

/* -- what is expected --------------------------------------------------------------- */

/* All have room: fewer rooms are reserved than they have. */
static unsigned int expect_hotels(const struct request *r, unsigned int *hotels)
{
	struct rate_plan plans[GEO_RESULTS];
	unsigned int near[GEO_RESULTS], nr, nr_plans = 0, i;

	/* Positions travel as floats. */
	nr = geo_nearby((float)r->lat, (float)r->lon, near);
	for (i = 0; i < nr; i++)
		nr_plans += hotel_rate_plan(near[i], &plans[nr_plans]);
	qsort(plans, nr_plans, sizeof(*plans), rate_plan_order);
	for (i = 0; i < nr_plans; i++)
		hotels[i] = plans[i].hotel;
	return nr_plans;
}

static bool same_place(const struct place *place, unsigned int hotel)
{
	struct profile p;

	hotel_profile(hotel, &p);
	return !strcmp(place->id, hotel_id(hotel)) && !strcmp(place->profile.name, p.name) &&
	       !strcmp(place->profile.phone_number, p.phone_number) &&
	       place->profile.lat == p.lat && place->profile.lon == p.lon;
}

static void check_places(const char *what, const struct answer *a, const unsigned int *hotels,
			 unsigned int nr)
{
	unsigned int i;

	if (a->status != OK) {
		complain("%s: status %d, %s", what, a->status, a->detail);
		return;
	}
	if (a->nr != nr)
		complain("%s: %u places, not %u", what, a->nr, nr);
	for (i = 0; i < nr && i < a->nr; i++)
		if (!same_place(&a->places[i], hotels[i]))
			complain("%s: place %u is %s (%s), not hotel %u", what, i, a->places[i].id,
				 a->places[i].profile.name, hotels[i]);
}

static void check_text(const char *what, const struct answer *a, const char *text)
{
	if (a->status != OK || strncmp(a->text, text, strlen(text)))
		complain("%s: status %d, '%s', not '%s'", what, a->status, a->text, text);
}

static void check_request(const struct peer *peer, const struct request *r)
{
	unsigned int hotels[HOTELS];
	struct answer a = { 0 };

	peer->ask(r, &a);
	switch (r->kind) {
	case REQUEST_HOTELS:
		check_places("search", &a, hotels, expect_hotels(r, hotels));
		break;
	case REQUEST_RECOMMEND:
		check_places(r->require, &a, hotels,
			     (unsigned int)recommend(r->require, r->lat, r->lon, hotels));
		break;
	case REQUEST_LOGIN:
		check_text("login", &a, "Login successfully");
		break;
	default:
		check_text("reserve", &a, "Reserve successfully");
	}
}

/* -- what fails --------------------------------------------------------------------- */

static void check_invalid(const struct peer *peer, const struct request *r, const char *what)
{
	struct answer a = { 0 };

	peer->ask(r, &a);
	if (a.status != INVALID_ARGUMENT || !a.detail[0])
		complain("%s: status %d, '%s'", what, a.status, a.detail);
}

/* Near hotel 9, which has 200 rooms and a rate plan. */
static void check_full_hotel(const struct peer *peer)
{
	struct request r = { .kind = REQUEST_RESERVE, .hotel = 9, .rooms = 100,
			     .in_date = "2015-05-10", .out_date = "2015-05-12",
			     .username = "Cornell_1", .password = "1111111111" };
	struct request search = { .kind = REQUEST_HOTELS, .in_date = "2015-05-11",
				  .out_date = "2015-05-12" };
	unsigned int hotels[HOTELS], nr, i, left = 0;
	struct answer a = { 0 };

	hotel_position(9, &search.lat, &search.lon);
	nr = expect_hotels(&search, hotels);
	check_request(peer, &search);
	check_request(peer, &r);
	check_request(peer, &r);
	peer->ask(&r, &a);
	check_text("a third hundred of rooms", &a, "Failed. Already reserved");
	for (i = 0; i < nr; i++)
		if (hotels[i] != 9)
			hotels[left++] = hotels[i];
	if (left != nr - 1)
		complain("hotel 9 is not near itself");
	memset(&a, 0, sizeof(a));
	peer->ask(&search, &a);
	check_places("a search while hotel 9 is full", &a, hotels, left);
}

static void check_failures(const struct peer *peer)
{
	struct request r = { .kind = REQUEST_LOGIN, .username = "Cornell_1", .password = "2" };
	struct answer a = { 0 };

	peer->ask(&r, &a);
	check_text("a wrong password", &a, "Failed. Please check");
	r = (struct request){ .kind = REQUEST_RESERVE, .hotel = 1, .rooms = 1, .username = "nobody",
			      .in_date = "2015-04-09", .out_date = "2015-04-10" };
	memset(&a, 0, sizeof(a));
	peer->ask(&r, &a);
	check_text("an unknown customer", &a, "Failed. Please check");
	r = (struct request){ .kind = REQUEST_RECOMMEND, .require = "colour" };
	check_invalid(peer, &r, "recommendation by colour");
	r = (struct request){ .kind = REQUEST_HOTELS, .in_date = "2015-04-10",
			      .out_date = "2015-04-09" };
	check_invalid(peer, &r, "a stay that ends before it begins");
	check_full_hotel(peer);
}

bool check_answers(const struct peer *peer, unsigned int nr)
{
	unsigned int i, kind, kinds[REQUEST_KINDS] = { 0 };
	struct request_mix mix;
	struct request r;

	mix_init(&mix, sim_seed(1, 0));
	/* Some kinds are rare. */
	for (i = 0; i < nr; i++) {
		kind = i % REQUEST_KINDS;
		do {
			request_next(&r, &mix);
		} while (r.kind != kind);
		kinds[kind]++;
		check_request(peer, &r);
	}
	check_failures(peer);
	printf("check: %u searches, %u recommendations, %u logins, %u reservations, %u wrong\n",
	       kinds[0], kinds[1], kinds[2], kinds[3], wrong);
	return !wrong;
}

void check_status(const struct peer *peer)
{
	struct request r = { .kind = REQUEST_HOTELS, .in_date = "2015-04-10",
			     .out_date = "2015-04-11" };
	struct answer a = { 0 };

	hotel_position(9, &r.lat, &r.lon);
	peer->ask(&r, &a);
	printf("status=%d places=%u %s\n", a.status, a.nr, a.detail);
}
