// SPDX-License-Identifier: GPL-2.0
/*
 * What the services know, and their cache.
 */
#include <arpa/inet.h>
#include <math.h>
#include <pthread.h>
#include <sys/socket.h>

#include "cache.h"
#include "random.h"
#include "stock.h"
#include "tap.h"

/* -- data ---------------------------------------------------------------------------- */

TEST(ids)
{
	unsigned int hotel;

	for (hotel = 1; hotel <= HOTELS; hotel++)
		CHECK_EQ(hotel_number(hotel_id(hotel)), hotel);
	CHECK_EQ(hotel_number(""), 0);
	CHECK_EQ(hotel_number("0"), 0);
	CHECK_EQ(hotel_number("01"), 0);
	CHECK_EQ(hotel_number("81"), 0);
	CHECK_EQ(hotel_number("100"), 0);
	CHECK_EQ(hotel_number("7x"), 0);
	CHECK_EQ(hotel_number("-1"), 0);
}

TEST(profiles_are_the_same_each_time)
{
	struct profile a, b;
	unsigned int hotel;

	for (hotel = 1; hotel <= HOTELS; hotel++) {
		hotel_profile(hotel, &a);
		hotel_profile(hotel, &b);
		CHECK(!memcmp(&a, &b, sizeof(a)));
		CHECK(a.name[0] && a.street_name[0] && a.lat > 37 && a.lon < -121);
	}
	hotel_profile(3, &a);
	CHECK_EQ(strlen(a.description), 171);
	hotel_profile(70, &a);
	CHECK_EQ(strlen(a.description), 225);
}

TEST(rate_plans)
{
	unsigned int hotel, nr = 0;
	struct rate_plan plan;

	for (hotel = 1; hotel <= HOTELS; hotel++)
		nr += hotel_rate_plan(hotel, &plan);
	CHECK_EQ(nr, 3 + 24);
	CHECK(hotel_rate_plan(9, &plan));
	CHECK(plan.total_rate == 232 && plan.total_rate_inclusive == 258);
	CHECK(!hotel_rate_plan(4, &plan) && !hotel_rate_plan(10, &plan));
}

/* Kilometres on a great circle, as the textbook has it. */
static double haversine(double lat1, double lon1, double lat2, double lon2)
{
	double rad = M_PI / 180;
	double dlat = sin((lat2 - lat1) * rad / 2), dlon = sin((lon2 - lon1) * rad / 2);

	return 2 * 6371 * asin(sqrt(dlat * dlat + cos(lat1 * rad) * cos(lat2 * rad) * dlon * dlon));
}

struct far {
	double km;
	unsigned int hotel;
};

static int nearer(const void *a, const void *b)
{
	const struct far *x = a, *y = b;

	return x->km < y->km ? -1 : x->km > y->km;
}

static void check_nearby(double lat, double lon)
{
	unsigned int found[GEO_RESULTS], nr = geo_nearby(lat, lon, found), i, expected = 0;
	struct far all[HOTELS];
	double hlat, hlon;

	for (i = 0; i < HOTELS; i++) {
		hotel_position(i + 1, &hlat, &hlon);
		all[i] = (struct far){ haversine(lat, lon, hlat, hlon), i + 1 };
	}
	qsort(all, HOTELS, sizeof(*all), nearer);
	while (expected < GEO_RESULTS && all[expected].km <= GEO_RADIUS_KM)
		expected++;
	CHECK_EQ(nr, expected);
	for (i = 0; i < nr; i++)
		CHECK_EQ(found[i], all[i].hotel);
}

TEST(nearest_as_by_brute_force)
{
	uint64_t random = sim_seed(5, 0);
	int i;

	data_init();
	for (i = 0; i < 20000; i++)
		check_nearby(37.7 + 0.7 * sim_uniform(&random), -122.6 + sim_uniform(&random));
	check_nearby(0, 0);
	check_nearby(90, 0);
	CHECK_EQ(geo_nearby(NAN, 0, (unsigned int[GEO_RESULTS]){ 0 }), 0);
	CHECK_EQ(geo_nearby(0, INFINITY, (unsigned int[GEO_RESULTS]){ 0 }), 0);
}

TEST(recommendations)
{
	unsigned int found[HOTELS];
	double lat, lon;

	data_init();
	CHECK_EQ(recommend("rate", 0, 0, found), 5);
	CHECK(found[0] == 9 && found[1] == 24 && found[4] == 69);
	CHECK_EQ(recommend("price", 0, 0, found), 1);
	CHECK_EQ(found[0], 2);
	hotel_position(33, &lat, &lon);
	CHECK_EQ(recommend("dis", lat + 0.001, lon, found), 1);
	CHECK_EQ(found[0], 33);
	CHECK_EQ(recommend("", 0, 0, found), -1);
}

TEST(users)
{
	char name[USER_TEXT], password[USER_TEXT];

	data_init();
	user_name(500, name);
	user_password(500, password);
	CHECK_STR(password, "500500500500500500500500500500");
	CHECK(user_check(name, password));
	CHECK(!user_check(name, ""));
	CHECK(!user_check("Cornell_499", password));
	CHECK(!user_check("Cornell_501", password));
	CHECK(!user_check("Cornell_0500", password));
	CHECK(!user_check("Cornell_-1", password));
	CHECK(!user_check("", password));
}

TEST(dates)
{
	static const char *const none[] = {
		"", "2015-04-0", "2015-04-099", "2015-13-01", "2015-00-01", "2015-02-29",
		"2015-04-31", "2015-04-00", "1969-12-31", "2015/04/09", "2015-04-9x", "x015-04-09",
	};
	char text[DATE_LEN + 1];
	unsigned int i;
	int day;

	CHECK_EQ(date_parse("1970-01-01"), 0);
	CHECK_EQ(date_parse("2015-04-09"), 16534);
	CHECK_EQ(date_parse("2016-02-29"), 16860);
	for (day = 0; day < 60000; day++) {
		date_format(day, text);
		CHECK_EQ(date_parse(text), day);
	}
	for (i = 0; i < sizeof(none) / sizeof(*none); i++)
		CHECK(date_parse(none[i]) < 0);
}

/* -- reservations, without a cache ---------------------------------------------------- */

TEST(rooms_run_out)
{
	const unsigned int hotels[] = { 1, 4, 7 };
	unsigned int left[3];

	data_init();
	stock_init();
	CHECK_EQ(stock_available(hotels, 3, "2015-04-09", "2015-04-10", 1, left), 3);
	/* Of 200 rooms one is taken, in the first night. */
	CHECK_EQ(stock_reserve(4, "2015-04-09", "2015-04-11", 100), 1);
	CHECK_EQ(stock_reserve(4, "2015-04-09", "2015-04-11", 100), 0);
	CHECK_EQ(stock_reserve(4, "2015-04-10", "2015-04-11", 100), 1);
	CHECK_EQ(stock_available(hotels, 3, "2015-04-08", "2015-04-11", 1, left), 2);
	CHECK(left[0] == 1 && left[1] == 7);
	CHECK_EQ(stock_available(hotels, 3, "2015-04-11", "2015-04-12", 1, left), 3);
	CHECK_EQ(stock_available(hotels, 3, "2015-04-09", "2015-04-10", 99, left), 3);
	CHECK_EQ(stock_available(hotels, 3, "2015-04-09", "2015-04-10", 100, left), 2);
}

TEST(stays_that_cannot_be)
{
	unsigned int hotel = 1, left;

	data_init();
	stock_init();
	CHECK(stock_available(&hotel, 1, "2015-04-09", "2015-04-09", 1, &left) < 0);
	CHECK(stock_available(&hotel, 1, "2015-04-09", "2015-04-08", 1, &left) < 0);
	CHECK(stock_available(&hotel, 1, "2014-12-31", "2015-01-01", 1, &left) < 0);
	CHECK(stock_available(&hotel, 1, "2016-12-31", "2017-01-02", 1, &left) < 0);
	CHECK(stock_available(&hotel, 1, "2015-04-09", "2015-06-09", 1, &left) < 0);
	CHECK(stock_available(&hotel, 1, "today", "tomorrow", 1, &left) < 0);
	CHECK(stock_available(&hotel, 1, "2015-04-09", "2015-04-10", 0, &left) < 0);
	CHECK(stock_reserve(1, "2015-04-09", "2015-04-10", 101) < 0);
	CHECK_EQ(stock_available(&hotel, 0, "2015-04-09", "2015-04-10", 1, &left), 0);
}

/* -- memcached's answers --------------------------------------------------------------- */

static char keys[3][CACHE_KEY] = { "1", "22", "22_cap" };
static struct cached found[3];

/* A copy, so that reading beyond it is seen. */
static long parse(const char *text, size_t len)
{
	static char *copy;

	free(copy);
	copy = malloc(len + 1);
	memcpy(copy, text, len);
	copy = realloc(copy, len ? len : 1);
	return cache_parse(copy, len, keys, 3, found);
}

static long parse_text(const char *text)
{
	return parse(text, strlen(text));
}

TEST(cached_values)
{
	static const char text[] = "VALUE 1 0 3\r\nabc\r\nVALUE 22_cap 5 0\r\n\r\nEND\r\nmore";
	size_t len;

	CHECK_EQ(parse_text(text), (long)strlen(text) - 4);
	CHECK(found[0].len == 3 && !memcmp(found[0].data, "abc", 3));
	CHECK(!found[1].data);
	CHECK(found[2].data && !found[2].len);
	for (len = 0; len < strlen(text) - 4; len++)
		CHECK_EQ(parse(text, len), 0);
	CHECK_EQ(parse_text("END\r\n"), 5);
	CHECK(!found[0].data && !found[1].data && !found[2].data);
	CHECK_EQ(parse_text("VALUE 22 0 5\r\nEND\r\n\r\nEND\r\n"), 26);
}

TEST(answers_that_are_none)
{
	static const char *const bad[] = {
		"ERROR\r\n", "VALUE 1 0\r\n", "VALUE 1 0 x\r\n", "VALUE 1  3\r\nabc\r\nEND\r\n",
		"VALUE 3 0 1\r\na\r\nEND\r\n", "VALUE 22 0 1\r\na\r\nVALUE 1 0 1\r\na\r\nEND\r\n",
		"VALUE 1 0 99999999999999\r\n", "VALUE 1 0 -1\r\n", "VALUE 1 0 1 \r\na\r\nEND\r\n",
		"VALUE 1 0 1\r\nabEND\r\n", "VALUE \r\n", "\r\n", "VALUE 1 0 999999\r\n",
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_EQ(parse_text(bad[i]), -1);
}

/* -- a cache that knows it better ------------------------------------------------------ */

static int listener;

/* Answers each line with the next of these, then hangs up. */
static const char *const *answers;

static void *cache_main(void *arg)
{
	int fd = accept(listener, NULL, NULL);
	char buf[4096];

	(void)arg;
	for (; *answers; answers++) {
		if (recv(fd, buf, sizeof(buf), 0) <= 0)
			break;
		send(fd, *answers, strlen(*answers), 0);
	}
	close(fd);
	close(listener);
	return NULL;
}

static pthread_t cache_start(const char *const *list)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof(in);
	char address[40];
	pthread_t thread;

	answers = list;
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	bind(listener, (struct sockaddr *)&in, sizeof(in));
	listen(listener, 1);
	getsockname(listener, (struct sockaddr *)&in, &len);
	snprintf(address, sizeof(address), "127.0.0.1:%u", ntohs(in.sin_port));
	cache_init(address);
	pthread_create(&thread, NULL, cache_main, NULL);
	return thread;
}

/* What it has counts; what it lacks it is told; without it all is as before. */
TEST(rates_come_from_the_cache)
{
	static const char *const list[] = {
		"VALUE 9 0 65\r\nRACK\t2015-04-09\t2015-04-10\t1.5\t"
		"2.5\t3.5\tKNG\tKing sized bed, "
		"cached\r\nVALUE 10 0 0\r\n\r\nEND\r\n",
		"STORED\r\n", NULL,
	};
	const unsigned int hotels[] = { 9, 10, 12 };
	pthread_t thread = cache_start(list);
	struct rate_plan plans[3];

	data_init();
	CHECK_EQ(stock_rates(hotels, 3, plans), 2);
	CHECK_EQ(plans[0].hotel, 12);
	CHECK_EQ(plans[1].hotel, 9);
	CHECK(plans[1].total_rate == 2.5);
	CHECK_STR(plans[1].room_description, "King sized bed, cached");
	pthread_join(thread, NULL);
	CHECK_EQ(stock_rates(hotels, 3, plans), 2);
	CHECK_EQ(plans[0].hotel, 9);
}

/* Records that cannot be read are as good as none. */
TEST(what_the_cache_garbles_is_looked_up)
{
	static const char *const list[] = {
		"VALUE 9 0 5\r\na\tb\tc\r\nEND\r\n", "STORED\r\n", NULL,
	};
	const unsigned int hotel = 9;
	pthread_t thread = cache_start(list);
	struct profile profile, expected;

	data_init();
	hotel_profile(9, &expected);
	stock_profiles(&hotel, 1, &profile);
	CHECK_STR(profile.description, expected.description);
	CHECK(profile.lat == expected.lat);
	pthread_join(thread, NULL);
}
