// SPDX-License-Identifier: GPL-2.0
#include "random.h"
#include "workload.h"

static int april(unsigned int day)
{
	return date_parse("2015-04-01") + (int)day - 1;
}

static void somewhere(struct request *r, uint64_t *random)
{
	r->lat = 38.0235 + (rnd_below(random, 482) - 240.5) / 1000;
	r->lon = -122.095 + (rnd_below(random, 326) - 157.0) / 1000;
}

static void somebody(struct request *r, uint64_t *random)
{
	unsigned int user = rnd_below(random, USERS);

	user_name(user, r->username);
	user_password(user, r->password);
}

static void search(struct request *r, uint64_t *random)
{
	unsigned int in = 9 + rnd_below(random, 15);

	r->kind = REQUEST_HOTELS;
	date_format(april(in), r->in_date);
	date_format(april(in + 1 + rnd_below(random, 24 - in)), r->out_date);
	somewhere(r, random);
}

static void recommendation(struct request *r, uint64_t *random)
{
	double coin = sim_uniform(random);

	r->kind = REQUEST_RECOMMEND;
	r->require = coin < 0.33 ? "dis" : coin < 0.66 ? "rate" : "price";
	somewhere(r, random);
}

static void reservation(struct request *r, uint64_t *random)
{
	unsigned int in = 9 + rnd_below(random, 15);

	r->kind = REQUEST_RESERVE;
	date_format(april(in), r->in_date);
	date_format(april(in + 1 + rnd_below(random, 5)), r->out_date);
	r->hotel = 1 + rnd_below(random, HOTELS);
	r->rooms = 1;
	somebody(r, random);
}

void request_next(struct request *r, uint64_t *random)
{
	double coin = sim_uniform(random);

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
