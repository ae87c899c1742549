// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "random.h"
#include "sha256.h"

/* Seven to eighty stand on a line; the others, in the town, are these. */
static const struct {
	double lat;
	double lon;
	double rate;
	double price;
	unsigned short description;	/* bytes */
} town[] = {
	{ 37.7867, -122.4112, 109, 150, 208 },
	{ 37.7854, -122.4005, 139, 120, 116 },
	{ 37.7834, -122.4071, 109, 190, 171 },
	{ 37.7936, -122.3930, 129, 160, 129 },
	{ 37.7831, -122.4181, 119, 140, 250 },
	{ 37.7863, -122.4015, 149, 200, 225 },
};

#define TOWN	(sizeof(town) / sizeof(*town))

const char *hotel_id(unsigned int hotel)
{
	static const char ids[HOTELS + 1][3] = {
		"", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15",
		"16", "17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29",
		"30", "31", "32", "33", "34", "35", "36", "37", "38", "39", "40", "41", "42", "43",
		"44", "45", "46", "47", "48", "49", "50", "51", "52", "53", "54", "55", "56", "57",
		"58", "59", "60", "61", "62", "63", "64", "65", "66", "67", "68", "69", "70", "71",
		"72", "73", "74", "75", "76", "77", "78", "79", "80",
	};

	return ids[hotel];
}

unsigned int hotel_number(const char *id)
{
	unsigned int hotel = 0;
	const char *c;

	for (c = id; *c >= '0' && *c <= '9' && c < id + 2; c++)
		hotel = hotel * 10 + (unsigned int)(*c - '0');
	return *c || *id == '0' || hotel > HOTELS ? 0 : hotel;
}

void hotel_position(unsigned int hotel, double *lat, double *lon)
{
	if (hotel <= TOWN) {
		*lat = town[hotel - 1].lat;
		*lon = town[hotel - 1].lon;
	} else {
		*lat = 37.7835 + hotel / 500.0 * 3;
		*lon = -122.41 + hotel / 500.0 * 4;
	}
}

/* Words up to @len bytes. */
static void words(uint64_t *random, char *text, size_t len)
{
	static const char *const some[] = {
		"a", "quiet", "hotel", "near", "the", "park", "with", "large", "rooms", "and",
		"view", "of", "bay", "minutes", "from", "station", "by", "foot", "breakfast",
		"museum", "garden", "in", "old", "district", "for", "travellers",
	};
	size_t at = 0, word;
	const char *next;

	while (at < len) {
		next = some[rnd_below(random, sizeof(some) / sizeof(*some))];
		if (at)
			text[at++] = ' ';
		word = strnlen(next, len - at);
		memcpy(text + at, next, word);
		at += word;
	}
	text[len] = 0;
}

void hotel_profile(unsigned int hotel, struct profile *p)
{
	uint64_t random = sim_seed(hotel, 0);
	double lat, lon;

	memset(p, 0, sizeof(*p));
	words(&random, p->name, hotel < TOWN ? 13 : 23);
	snprintf(p->phone_number, sizeof(p->phone_number), "(415) 284-40%u", hotel);
	words(&random, p->description, town[hotel < TOWN ? hotel - 1 : TOWN - 1].description);
	snprintf(p->street_number, sizeof(p->street_number), "%u",
		 1 + rnd_below(&random, 999));
	words(&random, p->street_name, 6);
	strcpy(p->city, "San Francisco");
	strcpy(p->state, "CA");
	strcpy(p->country, "United States");
	snprintf(p->postal_code, sizeof(p->postal_code), "941%02u",
		 2 + rnd_below(&random, 8));
	hotel_position(hotel, &lat, &lon);
	p->lat = (float)lat;
	p->lon = (float)lon;
}

/* Of hotels on the line that have a rate of their own. */
static double line_rate(unsigned int hotel, double *inclusive)
{
	static const double rates[][2] = {
		{ 109, 123.17 }, { 120, 140 }, { 124, 144 }, { 132, 158 }, { 232, 258 },
	};

	*inclusive = rates[hotel % 5][1];
	return rates[hotel % 5][0];
}

bool hotel_rate_plan(unsigned int hotel, struct rate_plan *plan)
{
	if (hotel > 3 && (hotel <= TOWN || hotel % 3))
		return false;
	memset(plan, 0, sizeof(*plan));
	plan->hotel = hotel;
	strcpy(plan->code, "RACK");
	strcpy(plan->in_date, "2015-04-09");
	if (hotel <= TOWN) {
		strcpy(plan->out_date, "2015-04-10");
		plan->total_rate = town[hotel - 1].rate;
		plan->total_rate_inclusive = plan->total_rate + 14.17;
	} else {
		strcpy(plan->out_date, hotel % 2 ? "2015-04-24" : "2015-04-17");
		plan->total_rate = line_rate(hotel, &plan->total_rate_inclusive);
	}
	plan->bookable_rate = plan->total_rate;
	strcpy(plan->room_code, hotel == 2 ? "QN" : "KNG");
	strcpy(plan->room_description, hotel == 2 ? "Queen sized bed" : "King sized bed");
	return true;
}

int rate_plan_order(const void *a, const void *b)
{
	const struct rate_plan *x = a, *y = b;

	if (x->total_rate != y->total_rate)
		return x->total_rate < y->total_rate ? 1 : -1;
	return (int)x->hotel - (int)y->hotel;
}

unsigned int hotel_capacity(unsigned int hotel)
{
	static const unsigned short rooms[] = { 200, 300, 250 };

	return hotel <= TOWN ? 200 : rooms[hotel % 3];
}

/* -- where -------------------------------------------------------------------------- */

#define EARTH_KM	6371

/* A point of the unit sphere. The nearer two are, the nearer they are through it, too. */
struct point {
	double x;
	double y;
	double z;
};

static struct point points[HOTELS + 1];

static struct point point_of(double lat, double lon)
{
	double phi = lat * (M_PI / 180), lambda = lon * (M_PI / 180);

	return (struct point){ cos(phi) * cos(lambda), cos(phi) * sin(lambda), sin(phi) };
}

static double square_between(const struct point *a, const struct point *b)
{
	double x = a->x - b->x, y = a->y - b->y, z = a->z - b->z;

	return x * x + y * y + z * z;
}

static void points_init(void)
{
	unsigned int hotel;
	double lat, lon;

	for (hotel = 1; hotel <= HOTELS; hotel++) {
		hotel_position(hotel, &lat, &lon);
		points[hotel] = point_of(lat, lon);
	}
}

unsigned int geo_nearby(double lat, double lon, unsigned int found[GEO_RESULTS])
{
	double chord = 2 * sin(GEO_RADIUS_KM / 2.0 / EARTH_KM), at[GEO_RESULTS], square;
	struct point here = point_of(lat, lon);
	unsigned int hotel, nr = 0, i;

	for (hotel = 1; hotel <= HOTELS; hotel++) {
		square = square_between(&here, &points[hotel]);
		/* Not a number is nowhere. */
		if (!(square <= chord * chord) || (nr == GEO_RESULTS && square >= at[nr - 1]))
			continue;
		if (nr < GEO_RESULTS)
			nr++;
		for (i = nr - 1; i && at[i - 1] > square; i--) {
			at[i] = at[i - 1];
			found[i] = found[i - 1];
		}
		at[i] = square;
		found[i] = hotel;
	}
	return nr;
}

/* -- recommendations ---------------------------------------------------------------- */

static void recommended(unsigned int hotel, double *rate, double *price)
{
	if (hotel <= TOWN) {
		*rate = town[hotel - 1].rate;
		*price = town[hotel - 1].price;
	} else if (hotel % 3 == 0) {
		*rate = line_rate(hotel, price);
	} else {
		*rate = 135;
		*price = 179;
	}
}

int recommend(const char *require, double lat, double lon, unsigned int found[HOTELS])
{
	bool by_distance = !strcmp(require, "dis"), by_rate = !strcmp(require, "rate");
	struct point here = point_of(lat, lon);
	double best = 0, worth, rate, price;
	unsigned int hotel, nr = 0;

	if (!by_distance && !by_rate && strcmp(require, "price"))
		return -1;
	for (hotel = 1; hotel <= HOTELS; hotel++) {
		recommended(hotel, &rate, &price);
		worth = by_rate ? rate : -price;
		if (by_distance)
			worth = -square_between(&here, &points[hotel]);
		if (nr && worth > best)
			nr = 0;
		if (nr && worth < best)
			continue;
		best = worth;
		found[nr++] = hotel;
	}
	return (int)nr;
}

/* -- users -------------------------------------------------------------------------- */

#define USER_PREFIX	"Cornell_"

static uint8_t passwords[USERS][SHA256_LEN];

void user_name(unsigned int user, char name[USER_TEXT])
{
	snprintf(name, USER_TEXT, USER_PREFIX "%u", user);
}

/* The number, ten times. */
void user_password(unsigned int user, char password[USER_TEXT])
{
	int at = 0, i;

	for (i = 0; i < 10; i++)
		at += snprintf(password + at, (size_t)(USER_TEXT - at), "%u", user);
}

bool user_check(const char *name, const char *password)
{
	char expected[USER_TEXT];
	uint8_t hash[SHA256_LEN];
	unsigned long user;

	if (strncmp(name, USER_PREFIX, strlen(USER_PREFIX)))
		return false;
	user = strtoul(name + strlen(USER_PREFIX), NULL, 10);
	if (user >= USERS)
		return false;
	user_name((unsigned int)user, expected);
	sha256(password, strlen(password), hash);
	return !strcmp(name, expected) && !memcmp(hash, passwords[user], sizeof(hash));
}

/* -- dates -------------------------------------------------------------------------- */

static const unsigned char month_days[2][12] = {
	{ 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 },
	{ 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 },
};

static bool is_leap(int year)
{
	return year % 4 == 0 && (year % 100 || year % 400 == 0);
}

static int days_before(int year)
{
	year--;
	return year * 365 + year / 4 - year / 100 + year / 400;
}

int date_parse(const char *text)
{
	int year, month, day, i;

	for (i = 0; i < DATE_LEN; i++)
		if (i == 4 || i == 7 ? text[i] != '-' : text[i] < '0' || text[i] > '9')
			return -1;
	if (text[DATE_LEN])
		return -1;
	year = atoi(text);
	month = atoi(text + 5);
	day = atoi(text + 8);
	if (year < 1970 || month < 1 || month > 12 || day < 1 ||
	    day > month_days[is_leap(year)][month - 1])
		return -1;
	for (i = 0; i < month - 1; i++)
		day += month_days[is_leap(year)][i];
	return day - 1 + days_before(year) - days_before(1970);
}

static void put_digits(char *text, int nr, int value)
{
	for (; nr--; value /= 10)
		text[nr] = (char)('0' + value % 10);
}

void date_format(int day, char text[DATE_LEN + 1])
{
	int year = 1970 + day / 366, month = 0;

	while (days_before(year + 1) - days_before(1970) <= day)
		year++;
	day -= days_before(year) - days_before(1970);
	while (day >= month_days[is_leap(year)][month])
		day -= month_days[is_leap(year)][month++];
	/* Years have four digits from 1970 until long after. */
	put_digits(text, 4, year);
	text[4] = '-';
	put_digits(text + 5, 2, month + 1);
	text[7] = '-';
	put_digits(text + 8, 2, day + 1);
	text[DATE_LEN] = 0;
}

/* -- the start ---------------------------------------------------------------------- */

void data_init(void)
{
	char password[USER_TEXT];
	unsigned int user;

	points_init();
	for (user = 0; user < USERS; user++) {
		user_password(user, password);
		sha256(password, strlen(password), passwords[user]);
	}
}
