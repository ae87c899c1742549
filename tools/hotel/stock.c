// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "stock.h"

#define RECORD	640	/* bytes of a profile or a rate plan as text, at most */
#define FIELDS	12

/* -- records in the cache: fields with tabs between them ----------------------------- */

/* Ends each field of @text with a NUL. Return: whether there are @nr. */
static bool split(char *text, char *fields[FIELDS], size_t nr)
{
	size_t i = 0;
	char *tab;

	for (;;) {
		fields[i++] = text;
		tab = strchr(text, '\t');
		if (!tab || i == FIELDS)
			return !tab && i == nr;
		*tab = 0;
		text = tab + 1;
	}
}

/* A copy that split() can take apart. */
static bool copy_record(char text[RECORD], const struct cached *cached)
{
	if (!cached->data || cached->len >= RECORD)
		return false;
	memcpy(text, cached->data, cached->len);
	text[cached->len] = 0;
	return true;
}

static bool copy_field(char *to, size_t size, const char *field)
{
	return (size_t)snprintf(to, size, "%s", field) < size;
}

#define COPY(to, field)		copy_field(to, sizeof(to), field)

/* Keys of hotels are their ids. */
static void hotel_keys(const unsigned int *hotels, size_t nr, char keys[][CACHE_KEY])
{
	size_t i;

	for (i = 0; i < nr; i++)
		strcpy(keys[i], hotel_id(hotels[i]));
}

/* -- rate plans --------------------------------------------------------------------- */

static size_t rate_to_text(const struct rate_plan *p, char text[RECORD])
{
	return (size_t)snprintf(text, RECORD, "%s\t%s\t%s\t%.17g\t%.17g\t%.17g\t%s\t%s", p->code,
				p->in_date, p->out_date, p->bookable_rate, p->total_rate,
				p->total_rate_inclusive, p->room_code, p->room_description);
}

static bool rate_from_text(char *text, unsigned int hotel, struct rate_plan *p)
{
	char *f[FIELDS];

	if (!split(text, f, 8))
		return false;
	p->hotel = hotel;
	p->bookable_rate = strtod(f[3], NULL);
	p->total_rate = strtod(f[4], NULL);
	p->total_rate_inclusive = strtod(f[5], NULL);
	return COPY(p->code, f[0]) && COPY(p->in_date, f[1]) && COPY(p->out_date, f[2]) &&
	       COPY(p->room_code, f[6]) && COPY(p->room_description, f[7]);
}

size_t stock_rates(const unsigned int *hotels, size_t nr, struct rate_plan *plans)
{
	char keys[HOTELS][CACHE_KEY], text[RECORD];
	bool missed[HOTELS] = { false };
	struct cached found[HOTELS];
	size_t i, nr_plans = 0;

	hotel_keys(hotels, nr, keys);
	cache_get(keys, nr, found);
	for (i = 0; i < nr; i++) {
		/* That a hotel has none is known by an empty text. */
		if (found[i].data && !found[i].len)
			continue;
		missed[i] = !copy_record(text, &found[i]) ||
			    !rate_from_text(text, hotels[i], &plans[nr_plans]);
		nr_plans += !missed[i];
	}
	for (i = 0; i < nr; i++) {
		if (!missed[i])
			continue;
		if (hotel_rate_plan(hotels[i], &plans[nr_plans]))
			cache_set(keys[i], text, rate_to_text(&plans[nr_plans++], text));
		else
			cache_set(keys[i], "", 0);
	}
	qsort(plans, nr_plans, sizeof(*plans), rate_plan_order);
	return nr_plans;
}

/* -- profiles ----------------------------------------------------------------------- */

static size_t profile_to_text(const struct profile *p, char text[RECORD])
{
	return (size_t)snprintf(text, RECORD, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.9g\t%.9g",
				p->name, p->phone_number, p->description, p->street_number,
				p->street_name, p->city, p->state, p->country, p->postal_code,
				p->lat, p->lon);
}

static bool profile_from_text(char *text, struct profile *p)
{
	char *f[FIELDS];

	if (!split(text, f, 11))
		return false;
	p->lat = strtof(f[9], NULL);
	p->lon = strtof(f[10], NULL);
	return COPY(p->name, f[0]) && COPY(p->phone_number, f[1]) && COPY(p->description, f[2]) &&
	       COPY(p->street_number, f[3]) && COPY(p->street_name, f[4]) && COPY(p->city, f[5]) &&
	       COPY(p->state, f[6]) && COPY(p->country, f[7]) && COPY(p->postal_code, f[8]);
}

void stock_profiles(const unsigned int *hotels, size_t nr, struct profile *profiles)
{
	char keys[HOTELS][CACHE_KEY], text[RECORD];
	bool missed[HOTELS] = { false };
	struct cached found[HOTELS];
	size_t i;

	hotel_keys(hotels, nr, keys);
	cache_get(keys, nr, found);
	for (i = 0; i < nr; i++)
		missed[i] = !copy_record(text, &found[i]) || !profile_from_text(text, &profiles[i]);
	for (i = 0; i < nr; i++) {
		if (!missed[i])
			continue;
		hotel_profile(hotels[i], &profiles[i]);
		cache_set(keys[i], text, profile_to_text(&profiles[i], text));
	}
}

/* -- reservations -------------------------------------------------------------------- */

#define NIGHTS	32	/* most of one stay, and one */
#define DAYS	731
#define ROOMS	100	/* most that are reserved at once */

/*
 * Rooms taken in the nights of two years from 2015 on. @lock protects them, and keeps the
 * cache from being told of older numbers after newer ones.
 */
static struct {
	pthread_mutex_t lock;
	int first;
	int rooms[HOTELS + 1][DAYS];
} taken = { .lock = PTHREAD_MUTEX_INITIALIZER };

void stock_init(void)
{
	taken.first = date_parse("2015-01-01");
	taken.rooms[4][date_parse("2015-04-09") - taken.first] = 1;
}

/* From the first night's index. Return: how many nights; negative if that is not possible. */
static int stay(const char *in, const char *out, int *first)
{
	int from = date_parse(in), until = date_parse(out);

	if (from < taken.first || until <= from || until - from >= NIGHTS ||
	    until - taken.first >= DAYS)
		return -1;
	*first = from - taken.first;
	return until - from;
}

/* "HOTEL_IN_OUT" */
static void night_key(char key[CACHE_KEY], unsigned int hotel, int night)
{
	char *at = stpcpy(key, hotel_id(hotel));

	*at++ = '_';
	date_format(taken.first + night, at);
	at[DATE_LEN] = '_';
	date_format(taken.first + night + 1, at + DATE_LEN + 1);
}

static bool number_from(const struct cached *cached, int *number)
{
	char text[RECORD];

	if (!copy_record(text, cached))
		return false;
	*number = atoi(text);
	return true;
}

static void set_number(const char *key, int number)
{
	char text[16];

	cache_set(key, text, (size_t)snprintf(text, sizeof(text), "%d", number));
}

static void capacities(const unsigned int *hotels, size_t nr, int *capacity)
{
	char keys[HOTELS][CACHE_KEY];
	struct cached found[HOTELS];
	size_t i;

	for (i = 0; i < nr; i++)
		snprintf(keys[i], CACHE_KEY, "%s_cap", hotel_id(hotels[i]));
	cache_get(keys, nr, found);
	for (i = 0; i < nr; i++)
		if (!number_from(&found[i], &capacity[i]))
			capacity[i] = -1;
	for (i = 0; i < nr; i++) {
		if (capacity[i] >= 0)
			continue;
		capacity[i] = (int)hotel_capacity(hotels[i]);
		set_number(keys[i], capacity[i]);
	}
}

/* Of all @nights of each hotel, one hotel after the other. */
static void taken_rooms(const unsigned int *hotels, size_t nr, int first, int nights, int *rooms)
{
	size_t i, nr_keys = nr * (size_t)nights;
	char keys[CACHE_KEYS][CACHE_KEY];
	struct cached found[CACHE_KEYS];
	bool missed = false;

	for (i = 0; i < nr_keys; i++)
		night_key(keys[i], hotels[i / (size_t)nights], first + (int)i % nights);
	cache_get(keys, nr_keys, found);
	for (i = 0; i < nr_keys; i++) {
		if (number_from(&found[i], &rooms[i]))
			continue;
		rooms[i] = -1;
		missed = true;
	}
	if (!missed)
		return;
	pthread_mutex_lock(&taken.lock);
	for (i = 0; i < nr_keys; i++) {
		if (rooms[i] >= 0)
			continue;
		rooms[i] = taken.rooms[hotels[i / (size_t)nights]][first + (int)i % nights];
		set_number(keys[i], rooms[i]);
	}
	pthread_mutex_unlock(&taken.lock);
}

int stock_available(const unsigned int *hotels, size_t nr, const char *in, const char *out,
		    int rooms, unsigned int *available)
{
	int first, nights = stay(in, out, &first), i, found = 0;
	int capacity[HOTELS], others[CACHE_KEYS];
	size_t hotel;

	if (nights < 0 || rooms < 1 || rooms > ROOMS || nr > HOTELS ||
	    nr * (size_t)nights > CACHE_KEYS)
		return -1;
	capacities(hotels, nr, capacity);
	taken_rooms(hotels, nr, first, nights, others);
	for (hotel = 0; hotel < nr; hotel++) {
		for (i = 0; i < nights; i++)
			if (others[(int)hotel * nights + i] + rooms > capacity[hotel])
				break;
		if (i == nights)
			available[found++] = hotels[hotel];
	}
	return found;
}

/* The cache may be behind: what is taken decides. */
int stock_reserve(unsigned int hotel, const char *in, const char *out, int rooms)
{
	int found, first = 0, nights, night;
	char key[CACHE_KEY];
	int *others;

	found = stock_available(&hotel, 1, in, out, rooms, &(unsigned int){ 0 });
	if (found < 1)
		return found;
	nights = stay(in, out, &first);
	others = taken.rooms[hotel];
	pthread_mutex_lock(&taken.lock);
	for (night = first; night < first + nights; night++)
		if (others[night] + rooms > (int)hotel_capacity(hotel))
			found = 0;
	for (night = first; found && night < first + nights; night++) {
		others[night] += rooms;
		night_key(key, hotel, night);
		set_number(key, others[night]);
	}
	pthread_mutex_unlock(&taken.lock);
	return found;
}
