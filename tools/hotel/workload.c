// SPDX-License-Identifier: GPL-2.0
#include "random.h"
#include "workload.h"

static int april(unsigned int day)
{
	return date_parse("2015-04-01") + (int)day - 1;
}

static void somewhere(struct request *r, uint64_t *random)
{
	r->lat = 38.0235 + (random_range(random, 0, 481) - 240.5) / 1000;
	r->lon = -122.095 + (random_range(random, 0, 325) - 157.0) / 1000;
}

static void somebody(struct request *r, uint64_t *random)
{
	unsigned int user = random_range(random, 0, USERS - 1);

	user_name(user, r->username);
	user_password(user, r->password);
}

static void search(struct request *r, uint64_t *random)
{
	unsigned int in = random_range(random, 9, 23);

	r->kind = REQUEST_HOTELS;
	date_format(april(in), r->in_date);
	date_format(april(random_range(random, in + 1, 24)), r->out_date);
	somewhere(r, random);
}

static void recommendation(struct request *r, uint64_t *random)
{
	double coin = random_unit(random);

	r->kind = REQUEST_RECOMMEND;
	r->require = coin < 0.33 ? "dis" : coin < 0.66 ? "rate" : "price";
	somewhere(r, random);
}

static void reservation(struct request *r, uint64_t *random)
{
	unsigned int in = random_range(random, 9, 23);

	r->kind = REQUEST_RESERVE;
	date_format(april(in), r->in_date);
	date_format(april(in + random_range(random, 1, 5)), r->out_date);
	r->hotel = random_range(random, 1, HOTELS);
	r->rooms = 1;
	somebody(r, random);
}

void request_next(struct request *r, uint64_t *random)
{
	double coin = random_unit(random);

	if (coin < 0.6) {
		search(r, random);
	} else if (coin < 0.99) {
		recommendation(r, random);
	} else if (coin < 0.995) {
		r->kind = REQUEST_LOGIN;
		somebody(r, random);
	} else {
		reservation(r, random);
	}
}
