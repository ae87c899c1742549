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

	date_format(april(in), r->in_date);
	date_format(april(in + 1 + rnd_below(random, 24 - in)), r->out_date);
	somewhere(r, random);
}

static void recommendation(struct request *r, uint64_t *random)
{
	double coin = sim_uniform(random);

	r->require = coin < 0.33 ? "dis" : coin < 0.66 ? "rate" : "price";
	somewhere(r, random);
}

static void reservation(struct request *r, uint64_t *random)
{
	unsigned int in = 9 + rnd_below(random, 15);

	date_format(april(in), r->in_date);
	date_format(april(in + 1 + rnd_below(random, 5)), r->out_date);
	r->hotel = 1 + rnd_below(random, HOTELS);
	r->rooms = 1;
	somebody(r, random);
}

static const unsigned int cards[REQUEST_KINDS] = {
	[REQUEST_HOTELS] = 120,
	[REQUEST_RECOMMEND] = 78,
	[REQUEST_LOGIN] = 1,
	[REQUEST_RESERVE] = 1,
};

void mix_init(struct request_mix *mix, uint64_t random)
{
	unsigned int nr = 0, kind, i;

	mix->random = random;
	mix->left = 0;
	for (kind = 0; kind < REQUEST_KINDS; kind++)
		for (i = 0; i < cards[kind]; i++)
			mix->deck[nr++] = (unsigned char)kind;
}

static void shuffle(struct request_mix *mix)
{
	unsigned int i, other;
	unsigned char card;

	for (i = MIX_DECK - 1; i; i--) {
		other = rnd_below(&mix->random, i + 1);
		card = mix->deck[i];
		mix->deck[i] = mix->deck[other];
		mix->deck[other] = card;
	}
	mix->left = MIX_DECK;
}

void request_next(struct request *r, struct request_mix *mix)
{
	if (!mix->left)
		shuffle(mix);
	r->kind = (enum request_kind)mix->deck[--mix->left];
	switch (r->kind) {
	case REQUEST_HOTELS:
		search(r, &mix->random);
		break;
	case REQUEST_RECOMMEND:
		recommendation(r, &mix->random);
		break;
	case REQUEST_RESERVE:
		reservation(r, &mix->random);
		break;
	default:
		somebody(r, &mix->random);
	}
}
